"""Correction of a classifier's probabilities by the previous label."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream._meta import MetaClassifier, inner_has, warn_if_scored_in_one_call
from skstream.utils._label_space import LabelSpace, lags_before
from skstream.utils._masked import refuse_masked
from skstream.utils._numba import jit
from skstream.utils._rows import row_sums
from skstream.utils._sklearn import Interval, StrOptions


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
        return lags_before(self._previous_codes(), codes, getattr(self, "n_lags", 1))


class TemporalCorrection(TemporalClassifier):
    """Corrects a classifier's probabilities by the label learnt last.

    With x the row, j the previous label and i a class, the inner model's P(i | x) becomes P(i | x)
    P(i | j) / P(i), renormalised. P(i) and P(i | j) are estimated from the labels learnt. Until a
    label has been learnt, the inner probabilities are returned unchanged.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``partial_fit`` and ``predict_proba``. It is cloned.
    fading_factor : float in (0, 1], default=1.0
        With every row learnt, the earlier counts are multiplied by it. 1 forgets nothing.
    smoothing : float > 0, default=1.0
        Added to every count when a probability is estimated.
    previous_label : {"known", "predicted"}, default="known"
        The previous label of a row that is asked. "known": the label learnt last, the same for all
        rows of a call. "predicted": for a later row of the call, this classifier's own answer to
        the row before it. Evaluators ask in one call about a row and all rows before it that are
        not learnt yet, so that its answers replace labels that are not known yet. Without delayed
        labels both give the same answers, at the same speed. ``score`` knows the labels: with
        "known", each is the previous label of the next row.

    Attributes
    ----------
    estimator_ : estimator
        The fitted inner model.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,), dtype float64
        Faded sum of the weights of the rows learnt, by class.
    transition_counts_ : ndarray of shape (n_classes, n_classes), dtype float64
        The same for the rows with previous label j (row) and label i (column).
    previous_labels_ : ndarray of shape (1,)
        The label learnt last.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came in a data frame with string names.

    See Also
    --------
    TemporallyAugmented : Gives the previous labels to the inner model as features.

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
            f"TemporalCorrection corrects probabilities, and {type(self.estimator).__name__} "
            f"as it is gives none. {way_out} a model with predict_proba."
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
        """Predict the class of the highest corrected probability, of equal ones the lowest.

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
                f"predict_proba of {type(self.estimator_).__name__} answers with shape "
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
    factors: NDArray[np.float64] = given / prior
    return factors


def corrected(posterior: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inner model's probabilities, multiplied by their factors and normalised."""
    products: NDArray[np.float64] = posterior * factors
    products /= row_sums(products)
    return products
