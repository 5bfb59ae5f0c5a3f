"""Dynamic weighted majority."""

from collections.abc import Iterable
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.ensemble._base import Codes, Ensemble, Floats, fresh_member, start_seed
from skstream.utils._label_space import LabelSpace
from skstream.utils._rows import own_rows, row_sums
from skstream.utils._sklearn import Interval, rows_of


class DynamicWeightedMajority(Ensemble):
    """Vote of models of different ages, whose weights fall with their errors.

    It begins with one member. At every `period`-th row, before the row is learnt, the weight of
    each member that answers it wrong is multiplied by `beta`, weights are divided by the greatest,
    members whose weight is below `threshold` are removed, and if the vote of all was wrong, a fresh
    member of weight 1 is added. Every member learns every row.

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit``; every member is a copy.
    beta : float, default=0.5
        Factor for the weight of a member that is wrong, in (0, 1).
    period : int, default=50
        Rows from one change of the weights and members to the next.
    threshold : float, default=0.01
        Least weight of a member, in [0, 1).
    max_estimators : int or None, default=25
        Most members. Where one more is to be added, the one with the least weight is removed, of
        equal ones the oldest. None: no limit, and no bound on memory.
    random_state : int, RandomState instance or None, default=None
        Seed of the members. Every `random_state` within them is set from it, also where one is
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
        Sorted labels.
    n_rows_learnt_ : int
        Rows learnt; those of weight 0 do not count.
    seed_ : int
        Seed in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they have any.

    See Also
    --------
    OnlineBagging : Members of one age, with different weights of the rows.

    Notes
    -----
    The vote that decides on a fresh member is taken after the weights have been multiplied, as in
    the paper. The rows of one call of ``partial_fit`` are learnt together up to the next row at
    which weights change; that row is asked when all before it have been learnt, as row by row.

    ``predict_proba`` returns the shares of the classes in the weighted vote.

    The paper sets no limit to the number of members. Where all members are wrong together, as on
    noisy labels, their weights stay equal and none is removed, so a limit is needed.

    `sample_weight` is for the members; a row of weight 0 does not count, any other counts once.

    Members are changed by single answers. Of Gaussian naive Bayes without numba, the fast path may
    decide a tie of two classes (scores that agree within 1e-9) in another way than
    ``engine="loop"``, and then members differ from there on.

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
    """What becomes of the members at a row: the numbers of those that stay, and the weights.

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
