"""Ensembles that learn from streams."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import hash as hash_of
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skstream._meta import MetaClassifier, check_divisible_rows
from skstream.core.detector import as_detector, fresh_detector
from skstream.drift import DriftDetector
from skstream.utils._labels import LabelSpace
from skstream.utils._rows import best_columns, own_rows, row_sums
from skstream.utils._seeds import drawn_seed, poisson_weights, seed_estimator
from skstream.utils._sklearn import HasMethods, Interval, rows_of
from skstream.utils._validation import unfitted_copy

__all__ = ["DynamicWeightedMajority", "OnlineBagging"]


Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class Ensemble(MetaClassifier):
    """A classifier that asks and teaches several copies of another one, its members."""

    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False

    random_state: Any
    estimators_: list[Any]
    n_rows_learnt_: int
    seed_: int

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_divisible_rows(self, X, reset=reset)

    def _fitted_models(self) -> list[Any]:
        return self.estimators_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "Ensemble":
        """Train on rows in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is skipped and changes nothing.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        TypeError
            If the inner model is not a classifier with the required methods.
        ValueError
            If `classes` is missing in the first call, a label is not among them, or the rows have a
            different number of columns than before.
        """
        super().partial_fit(X, y, classes, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; ties go to the first class.
        """
        best = best_columns(self.predict_proba(X))  # raises NotFittedError first
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        return self._probabilities(self._check_rows(X, reset=False))

    def _probabilities(self, X: Any) -> Floats:
        """Return class probabilities of checked rows."""
        raise NotImplementedError


def start_seed(ensemble: Any) -> int:
    """Seed that an ensemble uses: the one in use, or a new one."""
    return int(ensemble.seed_) if hasattr(ensemble, "seed_") else drawn_seed(ensemble.random_state)


def fresh_member(ensemble: Any, seed: int, *place: int) -> Any:
    """Unfitted copy of the model of an ensemble, with the seeds of its place.

    All its seeds are replaced, also those that the user gave: members must not be alike.
    """
    model = unfitted_copy(ensemble.estimator)
    if hasattr(model, "get_params"):
        paths = model.get_params(deep=True)
        own = [p for p in paths if p == "random_state" or p.endswith("__random_state")]
        model.set_params(**dict.fromkeys(own))
    return seed_estimator(model, seed, "member", *place)


class OnlineBagging(Ensemble):
    """Online bagging, optionally with a drift detector for each member.

    Every member is trained on every row with its own weight, drawn from a Poisson distribution.
    With mean 1, this is the limit of drawing rows with replacement as their number grows. The
    prediction is the class of the highest mean probability.

    With a `detector`, each member has a copy that is updated with 0 or 1 as the member predicts
    each row right or wrong before training on it. On an alarm, the member with the highest
    estimated error is replaced by a fresh one, together with its detector. With ADWIN this is ADWIN
    bagging, and with ADWIN and ``mean_weight=6`` leveraging bagging.

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit``; every member is a copy.
    n_estimators : int, default=10
        Number of members. Like the detector, it is fixed by the first ``partial_fit``.
    detector : DriftDetector or None, default=None
        Detector to copy, such as ``ADWIN(direction="up")``, which raises an alarm if a member is
        wrong more often than before; ``ADWIN()`` does so also if it is right more often. None: no
        member is ever replaced.
    mean_weight : float, default=1
        Mean of the Poisson weights, above 0 and at most 100. With 6, nearly every member is trained
        on nearly every row, each with a different weight.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights and of the members. Every `random_state` within the members is derived
        from it, even if one was given.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_rows_learnt_ : int
        Number of training rows; rows of weight 0 do not count.
    n_replaced_ : ndarray of shape (n_estimators,), dtype int64
        How often each member was replaced.
    detectors_ : list of DriftDetector
        The detectors of the members. Only with a `detector`, like the next two.
    n_asked_, n_wrong_ : ndarray of shape (n_estimators,), dtype int64
        Number of predictions that each detector has read, and how many of them were wrong.
    seed_ : int
        The seed used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    DynamicWeightedMajority : Members of different ages, weighted by their past errors.
    skstream.drift : The detectors.

    Notes
    -----
    The weight of a row in a member depends on the seed, the number of the member and the number of
    the training row, so predictions do not depend on how the stream is divided into calls. The
    first row of a member always has a weight of at least 1, so that every member can predict. A row
    of `sample_weight` w has w times the drawn weight; if the members take no weights, the row is
    repeated for them.

    In one call of ``partial_fit``, all rows are predicted first (except in the first call), then at
    most one member is replaced, then the members are trained on all rows. The estimated error is
    the detector's attribute `mean`, if it has one (for ADWIN, the mean of its window), else the
    share of wrong predictions since the member was made; among equal members, the first is
    replaced.

    If members have no ``predict_proba``, their predicted classes are counted as votes. A member
    whose probabilities are not finite, such as GaussianNB while a feature is constant, is ignored.

    With a `detector`, a single prediction can decide whether a member is replaced. For Gaussian
    naive Bayes without numba, the fast path may break a tie of two classes (scores that agree
    within 1e-9) differently than ``kernels=False``, and members differ from then on.

    References
    ----------
    Oza, N. C., & Russell, S. (2001). Online bagging and boosting. AISTATS.

    Bifet, A., Holmes, G., Pfahringer, B., Kirkby, R., & Gavaldà, R. (2009). New ensemble methods
    for evolving data streams. KDD. Section 4.

    Bifet, A., Holmes, G., & Pfahringer, B. (2010). Leveraging bagging for evolving data streams.
    ECML PKDD. Without its output codes.

    Examples
    --------
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.drift import ADWIN
    >>> from skstream.ensemble import OnlineBagging
    >>> from skstream.streams import make_demo_stream
    >>> bag = OnlineBagging(IncrementalGaussianNB(), detector=ADWIN(direction="up"))
    >>> evaluator = PrequentialEvaluator("accuracy", random_state=0)
    >>> result = evaluator.evaluate(bag, make_demo_stream(2000))
    >>> result.paths
    {'OnlineBagging': 'kernel'}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "detector": [HasMethods("update"), None],
        "mean_weight": [Interval(Real, 0, 100, closed="right")],
        "random_state": ["random_state"],
    }

    n_replaced_: Codes
    detectors_: list[DriftDetector]
    n_asked_: Codes
    n_wrong_: Codes

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 10,
        *,
        detector: DriftDetector | None = None,
        mean_weight: float = 1,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.detector = detector
        self.mean_weight = mean_weight
        self.random_state = random_state

    def _learn(self, X: Any, y: Any, codes: Codes, weight: Floats | None, *, first: bool) -> None:
        changed = None if first else changed_parameter(self)
        if changed is not None:
            raise ValueError(
                f"OnlineBagging has {changed}. This is fixed by the first call of partial_fit: "
                "restore it, or start again with fit."
            )
        seed = start_seed(self)
        if first:
            models, n_learnt = first_members(self, seed), 0
            new, n_replaced = set(range(len(models))), np.zeros(len(models), dtype=np.int64)
            errors = None if self.detector is None else Errors.none(self.detector, len(models))
        else:
            models, n_learnt = list(self.estimators_), self.n_rows_learnt_
            new, n_replaced, errors = set(), self.n_replaced_, Errors.of(self)
            if errors is not None and errors.read(self._wrong(X, codes)) is not None:
                worst = errors.worst()
                n_replaced[worst] += 1
                models[worst] = fresh_member(self, seed, worst, int(n_replaced[worst]))
                errors.begin(worst)
                new = {worst}
        with _routing_of(weight):
            weight = self._route_weight(models[0], weight)
            for member, model in enumerate(models):
                place = member, n_learnt, len(codes)
                drawn = member_weights(seed, *place, self.mean_weight, first=member in new)
                rows = np.flatnonzero(drawn)
                if len(rows):
                    own = (drawn if weight is None else drawn * weight)[rows]
                    self._teach(model, X, y, own, rows, first=member in new)
        self.estimators_, self.seed_, self.n_replaced_ = models, seed, n_replaced
        self.n_rows_learnt_ = n_learnt + len(codes)
        if errors is not None:
            errors.write(self)

    def _wrong(self, X: Any, codes: Codes) -> NDArray[np.bool_]:
        """Return which rows each member answers wrong, of shape (n_estimators, n_rows)."""
        return np.array([is_wrong(self._shares(model, X), codes) for model in self.estimators_])

    def _shares(self, model: Any, X: Any) -> Floats:
        """Return a member's probabilities, or its votes as probabilities of 0 and 1."""
        X = own_rows(X)  # the member may write into it
        if hasattr(model, "predict_proba"):
            self._check_columns(model)
            return np.array(model.predict_proba(X), dtype=np.float64)
        return votes(LabelSpace(self.classes_).encode(model.predict(X)), len(self.classes_))

    def _probabilities(self, X: Any) -> Floats:
        return mean_shares(self._shares(model, X) for model in self.estimators_)


def _routing_of(weight: Floats | None) -> AbstractContextManager[Any]:
    """Apply metadata routing only to the user's weights: those drawn are no metadata."""
    if weight is None and get_config()["enable_metadata_routing"]:
        return config_context(enable_metadata_routing=False)
    return nullcontext()


class Errors(NamedTuple):
    """Detectors of the members, and how many answers they have read; changed in place."""

    detectors: list[DriftDetector]
    n_asked: Codes
    n_wrong: Codes

    @classmethod
    def none(cls, detector: DriftDetector, n_members: int) -> "Errors":
        """Detectors that have read nothing."""
        detectors = [fresh_detector(detector) for _ in range(n_members)]
        return cls(detectors, *np.zeros((2, n_members), dtype=np.int64))

    @classmethod
    def of(cls, bag: OnlineBagging) -> "Errors | None":
        """Those of a fitted bag, if it has any."""
        return (
            cls(bag.detectors_, bag.n_asked_, bag.n_wrong_) if hasattr(bag, "detectors_") else None
        )

    def write(self, bag: OnlineBagging) -> None:
        """Write the fitted attributes."""
        bag.detectors_, bag.n_asked_, bag.n_wrong_ = self

    def read(self, wrong: NDArray[np.bool_]) -> int | None:
        """Read which rows the members answer wrong; return the first with an alarm, if any.

        `wrong` has the shape (n_members, n_rows).
        """
        pairs = zip(self.detectors, wrong, strict=True)
        alarms = [detector.update_many(values) for detector, values in pairs]
        self.n_asked[:] += wrong.shape[1]
        self.n_wrong[:] += np.count_nonzero(wrong, axis=1)
        return min((int(positions[0]) for positions in alarms if len(positions)), default=None)

    def worst(self) -> int:
        """Return the member with the highest estimated error."""
        shares = (self.n_wrong / np.maximum(self.n_asked, 1)).tolist()
        pairs = zip(self.detectors, shares, strict=True)
        estimates = [getattr(detector, "mean", share) for detector, share in pairs]
        return int(np.argmax(np.nan_to_num(estimates, nan=-1.0)))

    def begin(self, member: int) -> None:
        """Give a member a detector that has read nothing."""
        self.detectors[member] = clone(self.detectors[member])
        self.n_asked[member] = self.n_wrong[member] = 0


def changed_parameter(bag: OnlineBagging) -> str | None:
    """Say which parameter of a fitted bag is no longer that of its first call; None: neither."""
    if bag.n_estimators != len(bag.estimators_):
        return f"n_estimators={bag.n_estimators}, but {len(bag.estimators_)} members"
    begun = bag.detectors_[0] if hasattr(bag, "detectors_") else None
    given = None if bag.detector is None else as_detector(bag.detector)
    if not _are_alike(given, begun):
        return f"detector={bag.detector}, but its members began with {begun}"
    return None


def _are_alike(detector: DriftDetector | None, other: DriftDetector | None) -> bool:
    """Whether detectors have one type and equal parameters."""
    if detector is None or other is None or type(detector) is not type(other):
        return detector is other
    params, others = detector.get_params(), other.get_params()
    same = all(value is others[name] for name, value in params.items())
    return same or bool(hash_of(params) == hash_of(others))  # arrays have no plain equality


def first_members(bag: OnlineBagging, seed: int) -> list[Any]:
    """Members before the first row."""
    return [fresh_member(bag, seed, member, 0) for member in range(bag.n_estimators)]


def member_weights(
    seed: int, member: int, start: int, n_rows: int, mean: float, *, first: bool
) -> Floats:
    """Weights with which a member learns some rows; `first` says that it has learnt none before."""
    drawn = poisson_weights(seed, member, start, start + n_rows, float(mean))
    weights = drawn.astype(np.float64)
    if first and n_rows:
        weights[0] = max(weights[0], 1.0)
    return weights


def votes(codes: Codes, n_classes: int) -> Floats:
    """Votes for classes as probabilities of 0 and 1; NaN of a member that gives no answer."""
    shares = np.zeros((len(codes), n_classes))
    shares[np.arange(len(codes)), codes] = 1.0
    shares[codes < 0] = np.nan
    return shares


def is_wrong(shares: Floats, codes: Codes) -> NDArray[np.bool_]:
    """Whether the best class is another one; also where probabilities are not finite."""
    right: NDArray[np.bool_] = best_columns(shares) == codes
    if not np.isfinite(shares.sum()):
        right &= np.isfinite(shares).all(axis=1)
    return ~right


def mean_shares(members: Iterable[Floats]) -> Floats:
    """Mean of the members' probabilities, of those that are finite; else all are equal.

    Parameters
    ----------
    members : iterable of ndarray of shape (n_asks, n_classes)
        Probabilities by every member, at least one.

    Returns
    -------
    ndarray of shape (n_asks, n_classes)
        The mean, added up in the order of the members.
    """
    total: Floats | None = None
    for shares in members:
        if total is None:
            total, n_finite = np.zeros(shares.shape), np.zeros((len(shares), 1))
        if np.isfinite(shares.sum()):
            total += shares
            n_finite += 1.0
        else:
            finite = np.isfinite(shares).all(axis=1)
            total[finite] += shares[finite]
            n_finite[finite] += 1.0
    assert total is not None
    silent = n_finite[:, 0] == 0.0
    if silent.any():
        total[silent], n_finite[silent] = 1.0, total.shape[1]
    total /= n_finite
    return total


class DynamicWeightedMajority(Ensemble):
    """Vote of models of different ages, whose weights fall with their errors.

    It starts with one member. At every `period`-th row, before training on it, the weight of each
    member that predicts it wrong is multiplied by `beta`, the weights are divided by the largest,
    members whose weight is below `threshold` are removed, and if the vote of all was wrong, a fresh
    member of weight 1 is added. Every member is trained on every row.

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit``; every member is a copy.
    beta : float, default=0.5
        Factor in (0, 1) for the weight of a member that is wrong.
    period : int, default=50
        Number of rows between changes of weights and members.
    threshold : float, default=0.01
        Smallest weight of a member, in [0, 1).
    max_estimators : int or None, default=25
        Largest number of members. To make room for a new one, the member of least weight is
        removed, the oldest of equal ones. None: no limit, so memory is unbounded.
    random_state : int, RandomState instance or None, default=None
        Seed of the members. Every `random_state` within them is derived from it, even if one was
        given.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members, oldest first.
    weights_ : ndarray of shape (n_members,)
        Their weights, at most 1.
    n_made_ : int
        Number of members made so far.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_rows_learnt_ : int
        Number of training rows; rows of weight 0 do not count.
    seed_ : int
        The seed used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    OnlineBagging : Members of the same age, with different row weights.

    Notes
    -----
    The vote that decides whether to add a member is taken after the weights have been multiplied,
    as in the paper. Within one call of ``partial_fit``, members are trained on all rows up to the
    next row at which weights change; that row is predicted after training on all rows before it, as
    it would be row by row.

    ``predict_proba`` returns the shares of the classes in the weighted vote.

    The paper does not limit the number of members. If all members are wrong together, as on noisy
    labels, their weights stay equal and none is removed, so a limit is needed.

    `sample_weight` is passed to the members; a row of weight 0 does not count, any other counts
    once. A single prediction can change the members. For Gaussian naive Bayes without numba, the
    fast path may break a tie of two classes (scores that agree within 1e-9) differently than
    ``kernels=False``, and members differ from then on.

    References
    ----------
    Kolter, J. Z., & Maloof, M. A. (2007). Dynamic weighted majority: an ensemble method for
    drifting concepts. Journal of Machine Learning Research, 8. Figure 1.

    Examples
    --------
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.ensemble import DynamicWeightedMajority
    >>> from skstream.streams import make_demo_stream
    >>> X, y = next(iter(make_demo_stream(1000).chunks()))[:2]
    >>> vote = DynamicWeightedMajority(IncrementalGaussianNB(), random_state=0).fit(X, y)
    >>> vote.n_made_, len(vote.estimators_)
    (9, 9)
    """

    _makes_fresh_models = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "beta": [Interval(Real, 0, 1, closed="neither")],
        "period": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "max_estimators": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    weights_: Floats
    n_made_: int

    def __init__(
        self,
        estimator: Any,
        *,
        beta: float = 0.5,
        period: int = 50,
        threshold: float = 0.01,
        max_estimators: int | None = 25,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.beta = beta
        self.period = period
        self.threshold = threshold
        self.max_estimators = max_estimators
        self.random_state = random_state

    def _learn(self, X: Any, y: Any, codes: Codes, weight: Floats | None, *, first: bool) -> None:
        seed = start_seed(self)
        if first:
            models, weights, n_made, n_learnt = [fresh_member(self, seed, 0)], np.ones(1), 1, 0
        else:
            models, weights = list(self.estimators_), self.weights_
            n_made, n_learnt = self.n_made_, self.n_rows_learnt_
        new = {0} if first else set()
        n_rows, n_classes = len(codes), len(self.classes_)
        updates = set(rows_of_update(n_learnt, n_rows, self.period).tolist())
        for begin, end in pairwise(sorted({0, n_rows, *updates})):
            rows = np.arange(begin, end)
            if begin in updates:
                answers = self._answers(models, rows_of(X, rows[:1]))[:, 0]
                after = changed_weights(self, weights, answers, int(codes[begin]), n_classes)
                models, weights = [models[member] for member in after.kept], after.weights
                if after.adds:
                    models.append(fresh_member(self, seed, n_made))
                    new, n_made = {len(models) - 1}, n_made + 1
            own = self._route_weight(models[0], None if weight is None else weight[rows])
            for member, model in enumerate(models):
                self._teach(model, X, y, own, rows, first=member in new)
            new = set()
        self.estimators_, self.weights_, self.n_made_ = models, weights, n_made
        self.n_rows_learnt_, self.seed_ = n_learnt + n_rows, seed

    def _answers(self, models: list[Any], X: Any) -> Codes:
        """Return the codes that members answer, of shape (n_members, n_rows)."""
        space = LabelSpace(self.classes_)
        # Copies: a member may write into what it is given.
        return np.array([space.encode(model.predict(own_rows(X))) for model in models])

    def _probabilities(self, X: Any) -> Floats:
        answers = self._answers(self.estimators_, X)
        sums = no_votes(answers.shape[1], len(self.classes_))
        add_votes(sums, answers, self.weights_)
        return shares_of_votes(sums)


class Change(NamedTuple):
    """How the members change at a row: the numbers of those that stay, and the weights.

    With `adds`, the last of the weights is that of a fresh member.
    """

    kept: list[int]
    weights: Floats
    adds: bool


def rows_of_update(n_learnt: int, n_rows: int, period: int) -> NDArray[np.int64]:
    """Which of the next rows change the weights: every `period`-th, but never the very first."""
    numbers = np.arange(n_learnt + 1, n_learnt + n_rows + 1)  # counted from 1, as in the paper
    return np.flatnonzero((numbers % period == 0) & (numbers > 1))


def no_votes(n_rows: int, n_classes: int) -> Floats:
    """Sums to add votes to: a column per class, and one of members that give no answer (-1)."""
    return np.zeros((n_rows, n_classes + 1))


def add_votes(sums: Floats, answers: Iterable[Codes], weights: Floats) -> None:
    """Add the weights of the members to the sums of the classes that they answer, in place.

    `sums` is from `no_votes`; `answers` has codes of shape (n_rows,) per member.
    """
    rows = np.arange(len(sums))
    for codes, weight in zip(answers, weights.tolist(), strict=True):
        sums[rows, codes] += weight


def shares_of_votes(sums: Floats) -> Floats:
    """Class probabilities by sums of votes; of rows that no member answers, all are equal."""
    shares: Floats = sums[:, :-1].copy()
    shares[~shares.any(axis=1)] = 1.0
    shares /= row_sums(shares)
    return shares


def changed_weights(
    ensemble: DynamicWeightedMajority, weights: Floats, answers: Codes, code: int, n_classes: int
) -> Change:
    """Weights and members after a row.

    Parameters
    ----------
    ensemble : DynamicWeightedMajority
        For its parameters.
    weights : ndarray of shape (n_members,)
        Weights before.
    answers : ndarray of shape (n_members,)
        Codes that the members answer.
    code : int
        Code of the label.
    n_classes : int
        Number of classes.
    """
    weights = np.where(answers == code, weights, weights * ensemble.beta)
    votes = np.bincount(answers + 1, weights, n_classes + 1)[1:]  # without those that give none
    weights = weights / weights.max()
    kept = np.flatnonzero(weights >= ensemble.threshold)
    adds = int(votes.argmax()) != code
    most = ensemble.max_estimators
    if adds and most is not None:
        while len(kept) and len(kept) >= most:
            kept = np.delete(kept, weights[kept].argmin())
    weights = weights[kept]
    return Change(kept.tolist(), np.append(weights, 1.0) if adds else weights, adds)
