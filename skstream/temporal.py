"""Models that use the last labels: corrected and augmented classifiers."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream._meta import InnerMethods, MetaClassifier, inner_has, warn_if_scored_in_one_call
from skstream.base import check_rows, nested
from skstream.utils._labels import LabelSpace, array_of, lags_after
from skstream.utils._masked import refuse_masked
from skstream.utils._numba import jit
from skstream.utils._optional import optional_import
from skstream.utils._rows import row_sums
from skstream.utils._sklearn import (
    Interval,
    StrOptions,
    column_positions,
    is_column_transformer,
    rows_of,
)
from skstream.utils._warnings import warn

__all__ = ["TemporalCorrection", "TemporallyAugmented"]


def append_columns(X: Any, values: NDArray[np.int64], names: list[str]) -> Any:
    """Append columns on the right; the result is of the kind of `X`.

    Parameters
    ----------
    X : {ndarray, sparse matrix, pandas or polars dataframe} of shape (n_rows, n_features)
        The rows. They are not changed.
    values : ndarray of shape (n_rows, n_columns), dtype int64
        What the new columns hold. Floating-point arrays and sparse matrices keep their dtype.
    names : list of str
        Names of the new columns, for data frames. In a pandas frame without string names they
        are numbered instead, since names of mixed types are not accepted by scikit-learn.

    Returns
    -------
    {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features + n_columns)
        Sparse matrices come back as CSR.

    Raises
    ------
    ValueError
        If a data frame already has a column of one of the names.
    """
    if not names:
        return X
    if hasattr(X, "columns"):
        return _append_to_frame(X, values, names)
    if sparse.issparse(X):
        columns = sparse.csr_matrix(values, dtype=_dtype_beside(X.dtype))
        if not sparse.isspmatrix(X):
            columns = sparse.csr_array(columns)
        return sparse.hstack([X, columns], format="csr")
    width = X.shape[1]
    extended = np.empty((len(X), width + len(names)), dtype=_dtype_beside(X.dtype))
    extended[:, :width] = X
    extended[:, width:] = values
    return extended


def _dtype_beside(dtype: Any) -> Any:
    """Dtype that holds the values of an array and small integers beside them."""
    if dtype.kind == "f":
        return dtype
    return np.result_type(dtype, np.int64) if dtype.kind in "biu" else np.dtype(object)


def _append_to_frame(X: Any, values: NDArray[np.int64], names: list[str]) -> Any:
    taken = [name for name in names if name in X.columns]
    if taken:
        raise ValueError(
            f"The data frame already has columns named {taken}, the names of columns to append. "
            "Rename them."
        )
    if not hasattr(X, "iloc"):
        polars = optional_import("polars", "Appending columns to a polars frame")
        return X.hstack([polars.Series(name, values[:, i]) for i, name in enumerate(names)])
    pandas = optional_import("pandas", "Appending columns to a pandas frame")
    named = any(isinstance(column, str) for column in X.columns)
    columns = names if named else range(X.shape[1], X.shape[1] + len(names))
    return pandas.concat([X, pandas.DataFrame(values, index=X.index, columns=columns)], axis=1)


class TemporalClassifier(MetaClassifier):
    """A classifier that wraps another one and keeps the labels learnt last."""

    previous_label: str
    previous_labels_: NDArray[Any]

    @property
    def _asks_row_by_row(self) -> bool:
        return self.previous_label == "predicted"

    def _previous_codes(self) -> NDArray[np.int64]:
        """Codes of the labels learnt last, newest first."""
        return LabelSpace(self.classes_).encode(getattr(self, "previous_labels_", []))

    def _labels_before(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Codes of the labels before each row, newest first, where those of a call are known."""
        codes = LabelSpace(self.classes_).encode_answers(y)
        known = codes >= 0  # a label that is no class is left out
        lags = lags_after(self._previous_codes(), codes[known], getattr(self, "n_lags", 1))
        return lags[np.cumsum(known) - known]


class TemporalCorrection(TemporalClassifier):
    """Correct a classifier's probabilities with the previous label.

    With x the row, j the previous label and i a class, the inner model's P(i | x) becomes P(i | x)
    P(i | j) / P(i), renormalised. P(i) and P(i | j) are estimated from the training labels. Before
    the first of them, the inner probabilities are returned unchanged.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``partial_fit`` and ``predict_proba``. It is cloned.
    fading_factor : float in (0, 1], default=1.0
        With every training row, the earlier counts are multiplied by this factor. 1 forgets
        nothing.
    smoothing : float > 0, default=1.0
        Added to every count when a probability is estimated.
    previous_label : {"known", "predicted"}, default="known"
        What is used as the previous label in prediction. "known": the newest training label, the
        same for all rows of a call. "predicted": for the second and later rows of a call, this
        classifier's own prediction for the row before. Evaluators then predict a row together with
        all earlier rows whose labels are still missing, so that predictions replace the missing
        labels. Without delayed labels both give the same predictions, at the same speed. ``score``
        knows the labels: with "known", each is the previous label of the next row.

    Attributes
    ----------
    estimator_ : estimator
        The fitted inner model.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,), dtype float64
        Faded sum of the weights of the training rows, by class.
    transition_counts_ : ndarray of shape (n_classes, n_classes), dtype float64
        The same, for rows with previous label j (row) and label i (column).
    previous_labels_ : ndarray of shape (1,)
        The newest training label.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    TemporallyAugmented : Gives the inner model the previous labels as features.

    Notes
    -----
    With N the class counts, N_j the transitions from j, k classes and smoothing s,
    P(i) = (N(i) + s) / (ΣN + k s) and P(i | j) = (N_j(i) + s) / (ΣN_j + k s).

    The expression printed in the paper is not normalised, and assumes that row and previous label
    are independent. Whether the correction helps depends on the inner model: one that already
    predicts runs of equal labels gains nothing.

    References
    ----------
    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer and G. Holmes (2015). Evaluation methods and
    decision theory for classification of streaming data with temporal dependence. Machine
    Learning 98, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skstream.temporal import TemporalCorrection
    >>> X = np.ones((6, 1))
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = TemporalCorrection(MultinomialNB()).fit(X, y)
    >>> model.transition_counts_
    array([[2., 1.],
           [0., 2.]])
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.25, 0.75]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "fading_factor": [Interval(Real, 0, 1, closed="right")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "previous_label": [StrOptions({"known", "predicted"})],
    }

    class_counts_: NDArray[np.float64]
    transition_counts_: NDArray[np.float64]

    def __init__(
        self,
        estimator: Any,
        *,
        fading_factor: float = 1.0,
        smoothing: float = 1.0,
        previous_label: str = "known",
    ):
        self.estimator = estimator
        self.fading_factor = fading_factor
        self.smoothing = smoothing
        self.previous_label = previous_label

    def _check_estimator(self) -> None:
        super()._check_estimator()
        if hasattr(self.estimator, "predict_proba"):
            return
        parameters: Any = getattr(self.estimator, "get_params", dict)()
        losses = [
            name
            for name, value in parameters.items()
            if name.split("__")[-1] == "loss" and value not in ("log_loss", "modified_huber")
        ]
        way_out = f'Set {losses[0]}="log_loss", or use' if losses else "Use"
        raise TypeError(
            f"TemporalCorrection corrects probabilities, and {type(self.estimator).__name__} as "
            f"set gives none. {way_out} a model with predict_proba."
        )

    def _check_inner_classes(self, model: Any) -> None:
        self._check_columns(model)  # they must have the order of the counts of the classes

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        if getattr(X, "ndim", 2) == 1:
            return X  # texts for a pipeline; anything else is refused by the inner model
        refuse_masked(X, "X")
        return validate_data(self, X, reset=reset, skip_check_array=True)

    def _remember(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        n_classes = len(self.classes_)
        counts = getattr(self, "class_counts_", np.zeros(n_classes)).copy()
        transitions = getattr(self, "transition_counts_", np.zeros((n_classes, n_classes))).copy()
        weights = np.ones(len(codes)) if weight is None else weight
        previous = int(self._previous_codes()[0]) if hasattr(self, "previous_labels_") else -1
        # One by one: faded sums then do not depend on how the rows were divided into calls.
        learns = codes, weights, np.empty(0, np.int64), float(self.fading_factor)
        nothing = np.empty((0, n_classes))
        previous = count_labels.plain(*learns, counts, transitions, previous, nothing, nothing)
        self.class_counts_ = counts
        self.transition_counts_ = transitions
        self.previous_labels_ = self.classes_[[previous]]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the highest corrected probability; ties go to the lowest class.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        best = self._posterior(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @inner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict corrected class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return self._posterior(X)

    def _posterior(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        # Contiguous: sums of a row's numbers then do not depend on how many rows there are.
        posterior = np.ascontiguousarray(self.estimator_.predict_proba(X))
        if posterior.shape[1:] != self.classes_.shape:
            raise ValueError(
                f"predict_proba of {type(self.estimator_).__name__} returned shape "
                f"{posterior.shape}, but there are {len(self.classes_)} classes."
            )
        shown = vars(self).get("_shown")
        counts = self.class_counts_[np.newaxis]
        previous = self._previous_codes() if shown is None else shown[:, 0]
        if self.previous_label == "known":
            warn_if_scored_in_one_call(self, len(posterior))
            transitions = self.transition_counts_[previous]
            return corrected(posterior, corrections(transitions, counts, self.smoothing))
        answers = np.empty(posterior.shape)
        for row in range(len(posterior)):
            transitions = self.transition_counts_[previous]
            factors = corrections(transitions, counts, self.smoothing)
            answers[row] = corrected(posterior[[row]], factors)[0]
            previous = answers[[row]].argmax(axis=1)
        if shown is not None:
            self._answered = previous[:, np.newaxis]
        return answers


@jit
def count_labels(  # type: ignore[no-untyped-def]
    codes, weights, stamp, fading, classes, transitions, last, given, prior
):
    """Count learns in their order, in place; returns the code learnt last.

    `given` and `prior` receive the counts of what followed the last class, and of the classes, at
    each ask.
    """
    done = 0
    for i in range(len(stamp) + 1):
        until = stamp[i] if i < len(stamp) else len(codes)
        for t in range(done, until):
            if fading != 1.0:
                classes *= fading
                transitions *= fading
            classes[codes[t]] += weights[t]
            if last >= 0:
                transitions[last, codes[t]] += weights[t]
            last = codes[t]
        done = until
        if i < len(stamp):
            given[i] = transitions[last]
            prior[i] = classes
    return last


def corrections(
    transitions: NDArray[np.float64], counts: NDArray[np.float64], smoothing: float
) -> NDArray[np.float64]:
    """What probabilities are multiplied by, from the counts of what followed the previous label.

    Parameters
    ----------
    transitions : ndarray of shape (n_rows or 1, n_classes)
        Counts of the classes that came after each row's previous label.
    counts : ndarray of shape (n_rows or 1, n_classes)
        Counts of the classes.
    smoothing : float
        Added to every count.

    Returns
    -------
    ndarray of shape (n_rows or 1, n_classes)
        Probabilities after the previous label, divided by those of all rows.
    """
    extra = smoothing * counts.shape[1]
    given = (transitions + smoothing) / (row_sums(transitions) + extra)
    prior = (counts + smoothing) / (row_sums(counts) + extra)
    return given / prior


def corrected(posterior: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inner model's probabilities, multiplied by their factors and normalised."""
    products: NDArray[np.float64] = posterior * factors
    products /= row_sums(products)
    return products


class TemporallyAugmented(InnerMethods, TemporalClassifier):
    """Give a classifier the previous labels as additional features.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``partial_fit``. It is cloned.
    n_lags : int, default=1
        Number of previous labels, at least 0.
    encoding : {"onehot", "ordinal"}, default="onehot"
        "onehot": for each previous label, a column per class; all 0 if the label is missing.
        "ordinal": one column per previous label, with its position in `classes_`, or the number of
        classes if the label is missing. New columns are appended on the right, those of the newest
        label first.
    previous_label : {"known", "predicted"}, default="known"
        What is used as previous labels in prediction. "known": the newest training labels, the same
        for all rows of a call. "predicted": for the second and later rows of a call, this
        classifier's own predictions for the rows before, followed by known labels. Evaluators then
        predict a row together with all earlier rows whose labels are still missing, so that
        predictions replace the missing labels. Without delayed labels both give the same
        predictions, at the same speed. ``score`` knows the labels: with "known", each is the
        previous label of the next row.

    Attributes
    ----------
    estimator_ : estimator
        The fitted inner model. It gets the ``n_features_in_`` columns and the new ones; in data
        frames the new ones are named ``previous_label_1=UP``, ... (onehot) or ``previous_label_1``
        (ordinal). With another TemporallyAugmented inside, they begin with ``outer_``, once for
        each one inside.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    previous_labels_ : ndarray of shape (at most n_lags,)
        The newest training labels, newest first.
    n_features_in_ : int
        Number of columns of the input rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    TemporalCorrection : Corrects the inner model's probabilities instead.

    Notes
    -----
    In training, a row gets the true labels of the rows before it, including earlier rows of the
    same call, never the model's own predictions.

    References
    ----------
    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer and G. Holmes (2015). Evaluation methods and
    decision theory for classification of streaming data with temporal dependence. Machine
    Learning 98, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skstream.temporal import TemporallyAugmented
    >>> X = np.ones((6, 1))
    >>> y = ["a", "b", "a", "b", "a", "b"]
    >>> model = TemporallyAugmented(MultinomialNB()).fit(X, y)
    >>> model.predict(X[:1]), model.previous_labels_
    (array(['a'], dtype='<U1'), array(['b'], dtype='<U1'))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "n_lags": [Interval(Integral, 0, None, closed="left")],
        "encoding": [StrOptions({"onehot", "ordinal"})],
        "previous_label": [StrOptions({"known", "predicted"})],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_lags: int = 1,
        encoding: str = "onehot",
        previous_label: str = "known",
    ):
        self.estimator = estimator
        self.n_lags = n_lags
        self.encoding = encoding
        self.previous_label = previous_label

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_rows(self, X, reset=reset)

    def _rows_to_learn(self, X: Any, codes: NDArray[np.int64]) -> Any:
        extended = self._extended(X, self._lags(codes)[:-1])
        if not hasattr(self, "estimator_"):
            warn_if_labels_are_dropped(self.estimator, extended, extended.shape[1] - X.shape[1])
        return extended

    def _remember(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        newest = self._lags(codes)[-1]
        self.previous_labels_ = self.classes_[newest[newest >= 0]]

    def _lags(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return lags_after(self._previous_codes(), codes, self.n_lags)

    def _extended(self, X: Any, lags: NDArray[np.int64]) -> Any:
        return extended_by_labels(X, lags, self.classes_, self)

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if method != "predict":
            self._check_columns(self.estimator_)
        ask = getattr(self.estimator_, method)
        shown = vars(self).get("_shown")
        newest = self._lags(np.empty(0, np.int64)) if shown is None else shown
        if self.previous_label == "known":
            warn_if_scored_in_one_call(self, X.shape[0])
            lags = np.broadcast_to(newest, (X.shape[0], self.n_lags))
            return array_of(ask(self._extended(X, lags)))
        answers = []
        for row in range(X.shape[0]):
            extended = self._extended(rows_of(X, [row]), newest)
            answers.append(array_of(ask(extended)))
            if row + 1 < X.shape[0] or shown is not None:
                labels = answers[-1] if method == "predict" else self.estimator_.predict(extended)
                codes = LabelSpace(self.classes_).encode(labels)
                newest = lags_after(newest[0], codes, self.n_lags)[-1:]
        if shown is not None:
            self._answered = newest
        return np.concatenate(answers)


def extended_by_labels(
    X: Any, lags: NDArray[np.int64], classes: NDArray[Any], model: TemporallyAugmented
) -> Any:
    """Rows with their previous labels as additional columns.

    Parameters
    ----------
    X : {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features)
        The rows.
    lags : ndarray of shape (n_rows, n_lags), dtype int64
        Codes of the previous labels, newest first; -1 where missing.
    classes : ndarray of shape (n_classes,)
        Labels of the codes.
    model : TemporallyAugmented
        Says how the labels become columns, and what those of data frames are called.

    Returns
    -------
    {ndarray, sparse matrix, dataframe}
        Of the kind of `X`, with the new columns on the right.
    """
    # Those inside append columns, too: to rows that have these already.
    inside = nested(model.estimator) if hasattr(X, "columns") else ()
    prefix = "outer_" * sum(isinstance(one, TemporallyAugmented) for one in inside)
    columns = [f"{prefix}previous_label_{lag}" for lag in range(1, lags.shape[1] + 1)]
    if model.encoding == "ordinal":
        return append_columns(X, np.where(lags < 0, len(classes), lags), columns)
    # No column for "missing": it would be 0 but for the first rows, and a Gaussian naive Bayes
    # takes the class that never saw the 1 to be certain of every row.
    onehot = lags[:, :, np.newaxis] == np.arange(len(classes))
    names = [f"{column}={label}" for column in columns for label in classes]
    return append_columns(X, onehot.reshape(len(lags), len(names)).astype(np.int64), names)


def warn_if_labels_are_dropped(model: Any, X: Any, n_appended: int) -> None:
    """Warn where a column transformer in front of a model leaves out the last columns of its rows.

    Parameters
    ----------
    model : estimator
        The inner model, a pipeline or not.
    X : {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features)
        Its first rows.
    n_appended : int
        How many of the last columns are previous labels.
    """
    while getattr(model, "steps", None):
        model = model.steps[0][1]
    if not n_appended or not is_column_transformer(model) or model.remainder != "drop":
        return
    used: set[int] = set()
    for _, part, given in model.transformers:
        if part != "drop":
            used.update(column_positions(X, given(X) if callable(given) else given))
    if not used & set(range(X.shape[1] - n_appended, X.shape[1])):
        warn(
            "The previous labels are appended as columns, but the ColumnTransformer in front of "
            "the model drops them, so TemporallyAugmented has no effect. Pass it "
            'remainder="passthrough", or put TemporallyAugmented around the last step.'
        )
