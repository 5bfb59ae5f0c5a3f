"""The best possible answers on a stream whose truth is known: the error that no model can beat."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream.base import ForgetfulFit, check_labels
from skstream.streams import Stream
from skstream.streams._composition._runs import FirstRows
from skstream.utils._labels import find_classes
from skstream.utils._sklearn import HasMethods

__all__ = ["BayesOptimal"]

_TIME = "takes the number of training rows as the number of the row to predict"


class BayesOptimal(ForgetfulFit, ClassifierMixin, BaseEstimator):
    """The Bayes-optimal predictor of a stream whose distribution is known at every row.

    Evaluated next to models, it shows how much of their error is noise that no model can avoid. It
    is not trained; it only counts: the number of training rows is taken as the number of the row to
    predict. This is correct in prequential evaluation of the whole stream, or of its first rows,
    where the row to predict is always the next training row.

    Parameters
    ----------
    stream : stream
        The stream that is evaluated, with ``posterior(X, t)``, `classes` and `feature_names`, like
        `GaussianMixtureStream`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the stream, sorted.
    n_rows_learnt_ : int
        Number of training rows: the time.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    skstream.streams.GaussianMixtureStream : A stream whose distribution is known.
    skstream.streams.load_testbed : Nine such streams.

    Notes
    -----
    If the training rows are not exactly the rows before the one to predict, the predictions are for
    another row, and the error is too high. Evaluators refuse this

    - with ``missing_labels="skip"``: rows without a label are not used for training;
    - with folds, which are trained on some of the rows or draw weights for them;
    - on a stream whose first or last row is known to have another number in its source, as with
      `skstream.streams.drop_rows`, or to come from a mixture of other components;
    - with weights other than 0 and 1;
    - in `DriftReset` and ensembles, whose fresh members would count from 0 again.

    Avoid the following cases yourself: evaluators cannot detect them, or predictions lag by a few
    rows:

    - rows of weight 0, which are skipped in training;
    - arrays or live rows that start in the middle of the stream, or are not its rows in order;
    - delayed labels and ``batch_size=``: rows are predicted before training on earlier ones;
    - a held-out part: its rows have other numbers than the training rows.

    References
    ----------
    Cervantes, A., Gagné, C., Isasi, P. and Parizeau, M. Evaluating and characterizing incremental
    learning from non-stationary data. Section 3.3.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.optimal import BayesOptimal
    >>> from skstream.streams import load_testbed
    >>> stream = load_testbed("NSGT")
    >>> models = {"best": BayesOptimal(stream), "naive Bayes": IncrementalGaussianNB()}
    >>> result = PrequentialEvaluator("error").evaluate(models, stream)
    >>> [round(scores["error"], 2) for scores in result.scores.values()]
    [0.03, 0.26]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"stream": [HasMethods("posterior")]}

    #: Evaluators refuse rows that are no time.
    _rows_are_time = True

    classes_: NDArray[Any]
    n_rows_learnt_: int

    def __init__(self, stream: Any):
        self.stream = stream

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "BayesOptimal":
        """Count some rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows of the stream, in their order.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            Labels; not needed, as those of the stream are known.
        sample_weight : None
            Weights are refused.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If there are weights, a label that the stream does not have, or rows with a different
            number of columns.
        """
        first = not hasattr(self, "n_rows_learnt_")
        if first:
            self._validate_params()
        if sample_weight is not None:
            raise ValueError(
                "BayesOptimal takes no sample_weight: it counts the rows of its stream, each "
                "once. If you gave no weights, they were drawn by an ensemble around it, such as "
                "OnlineBagging, or by folds: neither works. Evaluate it on its own, with "
                "PrequentialEvaluator and no weights, next to the other models."
            )
        y = check_labels(self, y)
        X = self._check_rows(X, reset=first)
        labels = np.asarray(self.stream.classes)
        _check_known(y, labels)
        if classes is not None:
            _check_known(classes, labels)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows, and y has {len(y)} labels.")
        self.classes_ = labels
        self.n_rows_learnt_ = getattr(self, "n_rows_learnt_", 0) + len(y)
        return self

    def why_not_evaluated(
        self, stream: Any, protocol: str, missing_labels: str, fitted: bool
    ) -> str | None:
        """Return why its predictions would be for other rows, and its error too high.

        Parameters
        ----------
        stream : Stream or None
            The stream to evaluate on; None in a live run.
        protocol : str
            Name of the protocol.
        missing_labels : str
            How rows without a label are handled.
        fitted : bool
            Whether it continues from earlier training rows.

        Returns
        -------
        reason : str or None
            None if it can be evaluated.
        """
        if protocol == "k-fold":
            why: str | None = (
                "A fold is trained on only some of the rows, or with random weights, so "
                "BayesOptimal cannot be used with folds. Evaluate it with PrequentialEvaluator."
            )
        else:
            why = _why_not_skip(stream, missing_labels)
            if why is None and stream is not None:
                why = _why_not_rows(self.stream, stream, self.n_rows_learnt_ if fitted else 0)
        return why and f"{_TIME}. {why}"

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the highest posterior probability.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows of the time right after the training rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; ties go to the first in `classes_`.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the posterior probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows of the time right after the training rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return self.stream.posterior(X, self.n_rows_learnt_)

    def _check_rows(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        n_features = len(self.stream.feature_names)
        if X.shape[1] != n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the stream of BayesOptimal has {n_features}."
            )
        moved = moved_columns(getattr(self, "feature_names_in_", None), self.stream)
        if moved is not None:
            raise ValueError(moved)
        return X.toarray() if sparse.issparse(X) else X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def moved_columns(names: Any, stream: Any) -> str | None:
    """What is wrong if columns have the names of the stream's features in another order."""
    own = list(stream.feature_names)
    if names is None or list(names) == own or not set(names) & set(own):
        return None
    return (
        f"The columns are {list(names)}, and the features of BayesOptimal's stream {own}: it reads "
        "them by position. Give the columns in the order of the stream."
    )


def _check_known(labels: Any, known: NDArray[Any]) -> None:
    """Raise an error for a label that the stream does not have."""
    there = set(known.tolist())
    unknown = [label for label in find_classes(labels).tolist() if label not in there]
    if unknown:
        raise ValueError(
            f"The stream of BayesOptimal never generates the label {unknown[0]!r}: its labels are "
            f"{known.tolist()}. Pass the stream that is evaluated."
        )


def _why_not_skip(stream: Stream | None, missing_labels: str) -> str | None:
    inner = stream.parts[0] if isinstance(stream, FirstRows) else stream
    if missing_labels != "skip" or hasattr(inner, "posterior"):  # whose rows all have a label
        return None
    return (
        'With missing_labels="skip" a row without a label is not used for training, and then '
        "BayesOptimal predicts for an earlier row. Evaluate it on the stream with all its labels, "
        'without missing_labels="skip", and the other models separately.'
    )


def _why_not_rows(own: Any, stream: Stream, n_learnt: int) -> str | None:
    """Compare the first and the last row of a stream with those that a model takes them for."""
    last = [] if stream.n_rows is None else [stream.n_rows - 1]
    for row in [0, *last]:
        origin = stream.origin(row)
        if origin is None:
            continue
        source, number = origin
        if not hasattr(source, "posterior"):
            continue
        if number != n_learnt + row:
            return (
                f"Row {row:,} of the stream evaluated is row {number:,} of the "
                f"{type(source).__name__} that it is made of, but BayesOptimal would take it for "
                f"row {n_learnt + row:,}. Evaluate the stream from its first row on; of the "
                "functions that cut a stream, take_rows(stream, n) keeps the row numbers, and "
                "drop_rows(stream, n) does not."
            )
        if not _same_truth(own, source):
            return (
                f"Row {row:,} of the stream evaluated comes from another {type(source).__name__} "
                "than that of BayesOptimal: their components differ. Pass BayesOptimal the stream "
                "that is evaluated."
            )
    return None


def _same_truth(one: Any, other: Any) -> bool:
    """Whether two mixtures have the same components; of other streams it is not known."""
    if one is other or not (hasattr(one, "components") and hasattr(other, "components")):
        return True
    return bool(one.components == other.components and one.class_weights == other.class_weights)
