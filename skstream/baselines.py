"""Baselines that ignore the features; a useful model has a better score."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstream._meta import OrderedScore, warn_if_scored_in_one_call
from skstream.base import (
    ForgetfulFit,
    check_classes,
    check_labels,
    check_rows,
    check_targets,
    check_weight,
    of_positive_weight,
)
from skstream.utils._labels import LabelSpace
from skstream.utils._running_sums import running_sums
from skstream.utils._seeds import drawn_seed, row_hashes, uniform_draws
from skstream.utils._sklearn import Interval

__all__ = [
    "MajorityClass",
    "MajorityWindow",
    "MeanRegressor",
    "Persistent",
    "PersistentRegressor",
    "RandomClass",
]


class _Baseline(ForgetfulFit, BaseEstimator):
    """An estimator that accepts rows of any kind and uses only their number."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    #: Tables and pictures show it as a naive guess.
    is_baseline: ClassVar[bool] = True
    #: What evaluators take as the answer before anything was learnt, where there is no warm-up: the
    #: position of the class, or the number; None: there is no answer. `predict` has none yet.
    first_answer: ClassVar[int | None] = 0
    #: An attribute that is there once a row was learnt.
    _learnt: ClassVar[str]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._learnt)

    def _check_input(
        self, X: Any, y: NDArray[Any], sample_weight: Any, *, first: bool
    ) -> NDArray[np.float64] | None:
        if first:
            self._validate_params()
        X = check_rows(self, X, reset=first, texts=True)
        check_consistent_length(X, y)
        return check_weight(sample_weight, len(y))

    def _check_question(self, X: Any) -> Any:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, texts=True)
        if hasattr(self, "_labels_before"):
            warn_if_scored_in_one_call(self, X.shape[0])
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class _LabelBaseline(ClassifierMixin, _Baseline):
    """A baseline for classification; subclasses learn codes and answer probabilities."""

    _learnt = "class_counts_"
    classes_: NDArray[Any]
    class_counts_: NDArray[np.float64]

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "_LabelBaseline":
        """Learn the labels of some rows, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Ignored, but for the number and names of the columns.
        y : array-like of shape (n_rows,)
            Labels: integers, booleans or strings.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, a label is not among them, or the rows have a
            different number of columns than before.
        """
        y = check_labels(self, y)
        weight = self._check_input(X, y, sample_weight, first=not hasattr(self, "classes_"))
        check_classes(self, classes)
        codes = LabelSpace(self.classes_).encode(y)
        codes, weight = of_positive_weight(weight, codes)
        if len(codes):
            self._learn(codes, weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the same label to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Ignored, but for the number of rows and the number and names of the columns.

        Returns
        -------
        ndarray of shape (n_rows,)
            The label, of the type the labels were learnt in.
        """
        n_rows = self._check_question(X).shape[0]
        # argmax takes the first of equal counts: ties go to the lowest class.
        return self.classes_[np.full(n_rows, self._class_weights().argmax(axis=-1))]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the same class probabilities to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Ignored, but for the number of rows and the number and names of the columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Share of each class among the labels that count, in the order of `classes_`.
        """
        n_rows = self._check_question(X).shape[0]
        weights = self._class_weights()
        shares: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
        return np.broadcast_to(shares, (n_rows, len(self.classes_))).copy()

    def _learn(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        raise NotImplementedError

    def _class_weights(self) -> NDArray[np.float64]:
        return self.class_counts_

    def _counts_with(
        self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Weight of each class in all rows learnt, these included."""
        counts = getattr(self, "class_counts_", np.zeros(len(self.classes_))).copy()
        # Added one by one in the order of the rows: dividing a call in two changes no bit.
        np.add.at(counts, codes, 1.0 if weight is None else weight)
        return counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def lagged(values: NDArray[Any], n_known: Any, lag: int) -> NDArray[Any]:
    """Values some rows before; the newest where fewer are known.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Labels or targets in their order.
    n_known : int or ndarray of shape (n_asks,)
        How many of them are known at each ask. Where none is, the answer is the last of `values`.
    lag : int
        How many rows before.

    Returns
    -------
    ndarray of shape (n_asks,)
        The values.
    """
    answers: NDArray[Any] = values[n_known - np.where(n_known < lag, 1, lag)]
    return answers


class _Lagged(OrderedScore):
    """What predicts the label or target of an earlier row; subclasses remember and show it."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "lag": [Interval(Integral, 1, None, closed="left")]
    }

    _learnt: ClassVar[str]

    def __init__(self, lag: int = 1):
        self.lag = lag

    def _learn(self, values: NDArray[Any], weight: NDArray[np.float64] | None) -> None:
        if self.lag > 1 and hasattr(self, self._learnt):
            values = np.concatenate([self._remembered(), values])
        self._keep(values[-self.lag :])

    def _answers(self, values: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
        """What is predicted for each row of a call, where those of rows before it are known."""
        before = self._remembered()
        n_known = len(before) + np.cumsum(known) - known
        return lagged(np.concatenate([before, values[known]]), n_known, self.lag)

    def _answer(self) -> NDArray[Any]:
        """What is predicted next."""
        return self._answers(self._remembered()[:1], np.zeros(1, bool))

    def _remembered(self) -> NDArray[Any]:
        """The newest labels or targets as they are remembered, at most `lag`, oldest first."""
        raise NotImplementedError

    def _keep(self, values: NDArray[Any]) -> None:
        """Remember these."""
        raise NotImplementedError


class Persistent(_Lagged, _LabelBaseline):
    """Predicts the previous label: that of the last training row, or of an earlier one.

    Also called the no-change classifier. Its accuracy is high on a stream with runs of equal
    labels; `kappa_temporal` measures how much better than it a model is. With a `lag`, it is the
    seasonal naive guess: of rows that are an hour each, ``lag=24`` predicts the label of the same
    hour of the day before.

    Parameters
    ----------
    lag : int, default=1
        Predict the label that was learnt `lag` rows before, at least 1. While fewer rows were
        learnt, the label learnt last is predicted.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    previous_label_ : object
        Label of the last training row. Set by the first one.
    window_codes_ : ndarray of shape (at most lag,), dtype int64
        Positions in `classes_` of the newest labels, oldest first. Only if `lag` is above 1.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    MajorityWindow : The same classifier if ``window_size=1``.
    PersistentRegressor : The same, for regression.

    Notes
    -----
    Weights only decide which rows count: those of weight 0 are skipped. ``predict`` gives every row
    of a call the same label, that of the last training row (with a `lag`, of the row that is `lag`
    before the next one). In ``score``, each label is known when the next row is predicted.

    The lag counts training rows: rows without a label are left out, and where labels are late, the
    newest one known is of an earlier row already.

    References
    ----------
    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer and G. Holmes (2015). Evaluation methods and
    decision theory for classification of streaming data with temporal dependence. Machine
    Learning 98, section 3.

    Examples
    --------
    >>> from skstream.baselines import Persistent
    >>> model = Persistent().partial_fit([[0], [0]], ["DOWN", "UP"], classes=["DOWN", "UP"])
    >>> model.predict([[0], [0]])
    array(['UP', 'UP'], dtype='<U4')
    >>> Persistent(lag=2).fit([[0]] * 3, ["DOWN", "DOWN", "UP"]).predict([[0]])
    array(['DOWN'], dtype='<U4')
    """

    _learnt = "previous_label_"
    previous_label_: Any
    window_codes_: NDArray[np.int64]

    def _keep(self, values: NDArray[np.int64]) -> None:
        if self.lag > 1:
            self.window_codes_ = values.copy()
        self.previous_label_ = self.classes_[values[-1]]

    def _labels_before(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Codes of the labels before each row, where those of a call are known."""
        codes = LabelSpace(self.classes_).encode_answers(y)
        return self._answers(codes, codes >= 0)

    def _remembered(self) -> NDArray[np.int64]:
        if self.lag > 1 and hasattr(self, "window_codes_"):
            return self.window_codes_
        # As a list: NumPy compares texts without the NUL characters at their ends.
        return np.array([self.classes_.tolist().index(self.previous_label_)])

    def _class_weights(self) -> NDArray[np.float64]:
        codes = vars(self).get("_shown")
        shares: NDArray[np.float64] = np.eye(len(self.classes_))
        return shares[self._answer() if codes is None else codes]


class MajorityClass(_LabelBaseline):
    """Predicts the most frequent training label so far; ties go to the lowest class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,), dtype float64
        Sum of the weights of the training rows, by class.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    MajorityWindow : The most frequent label of the latest rows only.
    MeanRegressor : The corresponding baseline for regression.

    Examples
    --------
    >>> from skstream.baselines import MajorityClass
    >>> model = MajorityClass().fit([[0], [0], [0]], ["DOWN", "UP", "UP"])
    >>> model.predict([[0]])
    array(['UP'], dtype='<U4')
    >>> model.predict_proba([[0]]).round(2)
    array([[0.33, 0.67]])
    """

    def _learn(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        self.class_counts_ = self._counts_with(codes, weight)


class MajorityWindow(_LabelBaseline):
    """Predicts the most frequent label of the latest training rows; ties go to the lowest class.

    Parameters
    ----------
    window_size : int, default=1000
        Number of rows remembered, at least 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,), dtype float64
        Sum of the weights of the rows remembered, by class.
    window_codes_ : ndarray of shape (at most window_size,), dtype int64
        Positions in `classes_` of the labels remembered, oldest first.
    window_weights_ : ndarray of shape (at most window_size,), dtype float64
        Weights of the rows remembered.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    MajorityClass : The most frequent of all training labels.
    Persistent : Equal to this class with ``window_size=1``.

    Notes
    -----
    The window counts rows. A row of weight k votes k times, as if repeated, but takes one place in
    the window; a row of weight 0 is skipped and takes none.

    Examples
    --------
    >>> from skstream.baselines import MajorityWindow
    >>> X, y = [[0]] * 5, ["UP", "UP", "UP", "DOWN", "DOWN"]
    >>> MajorityWindow(window_size=3).fit(X, y).predict([[0]])
    array(['DOWN'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "window_size": [Interval(Integral, 1, None, closed="left")]
    }

    window_codes_: NDArray[np.int64]
    window_weights_: NDArray[np.float64]

    def __init__(self, window_size: int = 1000):
        self.window_size = window_size

    def _learn(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        weight = np.ones(len(codes)) if weight is None else weight
        if hasattr(self, "window_codes_"):
            codes = np.concatenate([self.window_codes_, codes])
            weight = np.concatenate([self.window_weights_, weight])
        self.window_codes_ = codes[-self.window_size :].copy()
        self.window_weights_ = weight[-self.window_size :].copy()
        # Counted again from the window: subtracting fractional weights would leave rounding errors.
        self.class_counts_ = np.zeros(len(self.classes_))
        np.add.at(self.class_counts_, self.window_codes_, self.window_weights_)


class RandomClass(_LabelBaseline):
    """Predicts a random label; a class is drawn as often as it has occurred so far.

    The predictions ignore the features, and their class shares are those of the labels. If these
    shares do not change along the stream, the expected accuracy is the sum of their squares, and
    the expected kappa is 0.

    Cohen's kappa does not compare a model with this baseline, but with a guess drawn from the class
    shares of the model's own predictions, whose expected accuracy is the measure "chance_accuracy".
    For a model that predicts one class for 45 % of the rows, where 70 % of the labels are of that
    class, it is .7 * .45 + .3 * .55 = .48; the expected accuracy of `RandomClass` is .7² + .3² =
    .58.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,), dtype float64
        Sum of the weights of the training rows, by class.
    weight_learnt_ : float
        Sum of the weights of the training rows; their number if none had a weight.
    seed_ : int
        The seed used.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    MajorityClass : Predicts the most frequent class, with the shares as probabilities.
    skstream.noise.LabelNoise : Draws labels in the same way.

    Notes
    -----
    ``predict`` changes no state and does not know a row's position in the stream. A draw depends on
    the seed, on the content of the row, and on `weight_learnt_`: different rows get independent
    draws because their content differs, equal rows because of the training between them. Only equal
    rows predicted without training in between get the same draw. Weighting a row has the same
    effect as repeating it.

    ``predict_proba`` gives the drawn label probability 1, as does scikit-learn's
    :class:`~sklearn.dummy.DummyClassifier` with ``strategy="stratified"``.

    References
    ----------
    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer, G. Holmes (2015). Evaluation methods and
    decision theory for classification of streaming data with temporal dependence. Machine Learning
    98(3), Definition 4: the random classifier of kappa.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.baselines import RandomClass
    >>> model = RandomClass(random_state=0).fit([[0]] * 4, ["DOWN", "UP", "UP", "UP"])
    >>> answers = model.predict(np.arange(1000).reshape(-1, 1))
    >>> float((answers == "UP").mean())
    0.744
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"random_state": ["random_state"]}
    first_answer = None

    weight_learnt_: float
    seed_: int

    def __init__(self, *, random_state: Any = None):
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[Any]:
        """Draw a label for every row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows. A row gets the same label in every call, until the model is trained further.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels, of the type of the training labels.
        """
        codes = self._draw(X)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probability 1 for the label drawn for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            1 for the label that ``predict`` returns, 0 for the others, in the order of `classes_`.
        """
        codes = self._draw(X)
        onehot: NDArray[np.bool_] = codes[:, np.newaxis] == np.arange(len(self.classes_))
        return onehot.astype(np.float64)

    def _draw(self, X: Any) -> NDArray[np.int64]:
        X = self._check_question(X)
        uniform = uniform_draws(row_hashes(X), np.array([self.weight_learnt_]), self.seed_)
        return drawn_codes(self.class_counts_[:, np.newaxis], uniform)

    def _learn(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        if not hasattr(self, "seed_"):
            self.seed_ = drawn_seed(self.random_state)
        self.class_counts_ = self._counts_with(codes, weight)
        steps = np.ones(len(codes)) if weight is None else weight
        self.weight_learnt_ = float(running_sums(getattr(self, "weight_learnt_", 0.0), steps)[-1])


def drawn_codes(counts: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Classes drawn by their counts.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_asks) or (n_classes, 1), dtype float64
        Weight of each class; at every ask some weight is positive.
    uniform : ndarray of shape (n_asks,), dtype float64
        Numbers in [0, 1).

    Returns
    -------
    ndarray of shape (n_asks,), dtype int64
        The codes; never that of a class without weight.
    """
    sums = counts.cumsum(axis=0)
    # Rounded, the product of the smallest numbers may reach the sum: no class would have more.
    place = np.minimum(uniform * sums[-1], np.nextafter(sums[-1], 0.0))
    return (sums <= place).sum(axis=0, dtype=np.int64)


class _TargetBaseline(RegressorMixin, _Baseline):
    """A baseline for regression; subclasses learn targets and answer one number."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "_TargetBaseline":
        """Learn the targets of some rows, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Ignored, but for the number and names of the columns.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If the rows have a different number of columns than before.
        """
        y = check_targets(self, y)
        weight = self._check_input(X, y, sample_weight, first=not hasattr(self, "n_features_in_"))
        y, weight = of_positive_weight(weight, y)
        if len(y):
            self._learn(y, weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Give the same number to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Ignored, but for the number of rows and the number and names of the columns.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The number.
        """
        return np.full(self._check_question(X).shape[0], self._target())

    def _learn(self, y: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        raise NotImplementedError

    def _target(self) -> Any:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class PersistentRegressor(_Lagged, _TargetBaseline):
    """Predicts the previous target: that of the last training row, or of an earlier one.

    Parameters
    ----------
    lag : int, default=1
        Predict the target that was learnt `lag` rows before, at least 1: a seasonal naive forecast.
        While fewer rows were learnt, the target learnt last is predicted.

    Attributes
    ----------
    previous_target_ : float
        Target of the last training row. Set by the first one.
    window_targets_ : ndarray of shape (at most lag,), dtype float64
        The newest targets, oldest first. Only if `lag` is above 1.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    Persistent : The same, for classification.

    Notes
    -----
    Weights only decide which rows count: those of weight 0 are skipped. ``predict`` gives every row
    of a call the same target, that of the last training row (with a `lag`, of the row that is `lag`
    before the next one). In ``score``, each target is known when the next is predicted.

    Examples
    --------
    >>> from skstream.baselines import PersistentRegressor
    >>> PersistentRegressor().fit([[0], [0]], [1.5, 2.5]).predict([[0]])
    array([2.5])
    >>> PersistentRegressor(lag=2).fit([[0], [0]], [1.5, 2.5]).predict([[0]])
    array([1.5])
    """

    _learnt = "previous_target_"
    previous_target_: float
    window_targets_: NDArray[np.float64]

    def _keep(self, values: NDArray[np.float64]) -> None:
        if self.lag > 1:
            self.window_targets_ = values.astype(np.float64)
        self.previous_target_ = float(values[-1])

    def _labels_before(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Targets before each row, where those of a call are known."""
        return self._answers(y.astype(np.float64), np.ones(len(y), bool))

    def _remembered(self) -> NDArray[np.float64]:
        if self.lag > 1 and hasattr(self, "window_targets_"):
            return self.window_targets_
        return np.array([self.previous_target_])

    def _target(self) -> Any:
        shown = vars(self).get("_shown")
        return self._answer() if shown is None else shown


class MeanRegressor(_TargetBaseline):
    """Predicts the weighted mean of all training targets so far.

    Attributes
    ----------
    target_sum_ : float
        Sum of weight times target over the training rows.
    weight_sum_ : float
        Sum of their weights.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    MajorityClass : The corresponding baseline for classification.

    Examples
    --------
    >>> from skstream.baselines import MeanRegressor
    >>> model = MeanRegressor().partial_fit([[0], [0]], [1.0, 2.0])
    >>> model.partial_fit([[0]], [6.0]).predict([[0]])
    array([3.])
    """

    _learnt = "weight_sum_"
    target_sum_: float
    weight_sum_: float

    def _learn(self, y: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        weight = np.ones(len(y)) if weight is None else weight
        for name, values in (("target_sum_", weight * y), ("weight_sum_", weight)):
            setattr(self, name, float(running_sums(getattr(self, name, 0.0), values)[-1]))

    def _target(self) -> float:
        return self.target_sum_ / self.weight_sum_
