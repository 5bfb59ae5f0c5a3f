"""Adaptive random forest: trees of random features, each replaced where its errors grow."""

import math
from collections.abc import Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream.core.detector import fresh_detector
from skstream.drift import ADWIN, DriftDetector
from skstream.tree._arrays import (
    Rows,
    Tree,
    check_limit,
    copied,
    execute,
    n_bytes,
    n_leaves,
    new_tree,
    with_known,
    with_nominal,
)
from skstream.tree._base import Bools, Codes, Floats, Read, TreeLearner
from skstream.utils._rows import best_columns
from skstream.utils._seeds import derive_seed, drawn_seed, poisson_weights
from skstream.utils._sklearn import HasMethods, Interval, StrOptions

# Rows that a tree learns before it is found out whether it has been replaced in between.
_AT_ONCE = 2048
_FEATURES = {"sqrt+1": lambda n: 1 + math.sqrt(n), "sqrt": math.sqrt, "log2": math.log2}


class Place(NamedTuple):
    """A place of the forest: its tree, and what is known of it. No step changes it.

    Attributes
    ----------
    tree : Tree
        The tree that answers.
    behind : Tree or None
        The tree that learns in the background since a warning.
    n_made : int
        Trees that have begun at this place; that is what their seeds depend on.
    warning, drift : DriftDetector or None
        What has read the errors of the tree.
    n_asked, n_right : int
        Rows that the tree was asked about before it learnt them, and how many it predicted right.
    n_warnings, n_drifts : int
        Alarms at this place.
    """

    tree: Tree
    behind: Tree | None
    n_made: int
    warning: DriftDetector | None
    drift: DriftDetector | None
    n_asked: int = 0
    n_right: int = 0
    n_warnings: int = 0
    n_drifts: int = 0


class Forest(NamedTuple):
    """Places of a forest, and the rows that it has learnt; no step changes it.

    Attributes
    ----------
    n_rows : int
        Their number.
    known : ndarray of shape (n_features,), dtype int64
        Categories of each feature in them; -1: a numeric one. A tree may know fewer.
    places : tuple of Place
    """

    n_rows: int
    known: Codes
    places: tuple[Place, ...]


class _Part(NamedTuple):
    """Rows to be learnt, and questions: those of the user, and one about each row to be learnt.

    Attributes
    ----------
    learn, ask : Rows
    y : ndarray of shape (n_learns,)
    weight : ndarray of shape (n_learns,)
    stamp : ndarray of shape (n_asks,)
        Rows learnt before each question.
    is_next : ndarray of shape (n_asks,)
        Whether the row asked is the one that is learnt next.
    asked : ndarray of shape (n_of_user,)
        Which questions are those of the user.
    tests : ndarray of shape (n_learns,)
        Which are those about the rows to be learnt; -1: a row has none.
    known : ndarray of shape (n_features,)
        Categories of each feature before these rows; -1: a numeric one.
    """

    learn: Rows
    ask: Rows
    y: Codes
    weight: Floats
    stamp: Codes
    is_next: Bools
    asked: Codes
    tests: Codes
    known: Codes

    def known_at(self, row: int) -> Codes:
        """Return the number of categories before a row."""
        if self.known.max(initial=-1) < 0 or not row:
            return self.known
        largest = np.nan_to_num(self.learn.X[:row], nan=-1.0).max(axis=0).astype(np.int64)
        return np.where(self.known < 0, -1, np.maximum(self.known, largest + 1))


class AdaptiveRandomForestClassifier(TreeLearner):
    """Adaptive random forest: Hoeffding trees with drift detectors.

    Every tree is trained on each row with its own Poisson weight, its leaves consider only random
    features, and two detectors read whether the tree predicted each row correctly before training
    on it. At a warning, a new tree starts training in the background; at a drift, it replaces the
    old one. Trees vote with their probabilities, weighted by their share of correct predictions
    (Gomes et al. 2017).

    Parameters
    ----------
    n_estimators : int, default=10
        Number of trees.
    max_features : {"sqrt+1", "sqrt", "log2"}, int, float or None, default="sqrt+1"
        Number of features considered by a leaf: the square root plus one, as in the paper, the
        square root or the logarithm, all rounded down; a number; a share, rounded; or None: all.
    subspace : {"leaf", "tree"}, default="leaf"
        Whether each leaf has its own random features, or all leaves of a tree share them, as in
        streaming random patches (Gomes, Read and Bifet 2019; their share of features is 0.6). Later
        trees draw new features.
    mean_weight : float, default=6
        Mean of the Poisson weights (the paper's lambda), at most 100.
    warning_detector : DriftDetector or None, default="default"
        Detector to copy, which starts a tree in the background. "default" is ``ADWIN(delta=0.01,
        direction="up")``. None: no tree is started before a drift.
    drift_detector : DriftDetector or None, default="default"
        Detector to copy, which replaces a tree. "default" is
        ``ADWIN(delta=0.001, direction="up")``. None: no tree is ever replaced.
    criterion : {"entropy", "gini"}, default="entropy"
        As for `HoeffdingTreeClassifier`, like the following parameters.
    grace_period : float, default=50
        Training weight at a leaf between two attempts to split.
    delta : float, default=0.01
        Allowed probability of a wrong choice at an attempt.
    tau : float, default=0.05
        Features count as equally good if the bound is below this.
    leaf_prediction : {"nba", "nb", "mc"}, default="nba"
        How leaves predict.
    max_depth : int, default=None
        Greatest depth of a leaf.
    n_splits : int, default=10
        Number of thresholds tried for a numeric feature.
    zero_variance : {"exclude", "ignore"}, default="exclude"
        How naive Bayes treats a feature that was constant in a class at a leaf.
    pre_prune : bool, default=False
        Whether "no split" is a candidate with gain 0.
    nominal_features : sequence of str or int, default=None
        Columns of numbers that are categories. Applies from the next ``fit`` on.
    max_categories : int, default=256
        Largest number of distinct categories in a column. Applies from the next ``fit`` on.
    max_bytes : int, default=None
        Memory limit of each tree, including those in the background. None: no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights and the features.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    forest_ : tuple
        The trees, their detectors, and their numbers of correct predictions.
    n_warnings_, n_drifts_ : ndarray of shape (n_estimators,), dtype int64
        Warnings and drifts of each tree so far.
    columns_ : tuple
        The nominal columns, and the codes of their categories.
    seed_ : int
        The seed used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.

    See Also
    --------
    HoeffdingTreeClassifier : One such tree, on all features.
    skstream.ensemble.OnlineBagging : Bagging of any models.

    Notes
    -----
    A row's weight depends on the seed, the number of the tree and the number of the row; a leaf's
    features depend on the seed, the number of the tree and the number of the leaf. So predictions
    depend only on the rows and their order, not on how the stream is divided.

    Parameters set after the first call: `n_estimators` must not change; detectors and feature
    settings apply to trees that start later; the seed and the mean weight apply as described above.

    Detectors read the predictions of a tree before training on a row; when a tree is replaced at a
    row, its successor starts by training on this row. A background tree is restarted at the next
    warning. The share of correct predictions of a tree is counted from when it took its place, as
    (right + 1) / (asked + 2).

    References
    ----------
    .. [1] Gomes, Bifet, Read, Barddal, Enembreck, Pfahringer, Holmes and Abdessalem, "Adaptive
       random forests for evolving data stream classification", Machine Learning 106, 2017.
    .. [2] Gomes, Read and Bifet, "Streaming random patches for evolving data stream
       classification", ICDM 2019.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.streams import make_demo_stream
    >>> from skstream.tree import AdaptiveRandomForestClassifier
    >>> forest = AdaptiveRandomForestClassifier(random_state=0)
    >>> evaluator = PrequentialEvaluator("accuracy")
    >>> result = evaluator.evaluate({"forest": forest}, make_demo_stream(2000))
    >>> round(result.scores["forest"]["accuracy"], 2)
    0.84
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeLearner._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": [
            StrOptions({*_FEATURES}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "subspace": [StrOptions({"leaf", "tree"})],
        "mean_weight": [Interval(Real, 0, 100, closed="right")],
        "warning_detector": [StrOptions({"default"}), HasMethods("update"), None],
        "drift_detector": [StrOptions({"default"}), HasMethods("update"), None],
        "random_state": ["random_state"],
    }

    _model_name = "forest_"
    forest_: Forest
    seed_: int

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        max_features: Any = "sqrt+1",
        subspace: str = "leaf",
        mean_weight: float = 6,
        warning_detector: Any = "default",
        drift_detector: Any = "default",
        criterion: str = "entropy",
        grace_period: float = 50,
        delta: float = 0.01,
        tau: float = 0.05,
        leaf_prediction: str = "nba",
        max_depth: int | None = None,
        n_splits: int = 10,
        zero_variance: str = "exclude",
        pre_prune: bool = False,
        nominal_features: Sequence[Any] | None = None,
        max_categories: int = 256,
        max_bytes: int | None = None,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.subspace = subspace
        self.mean_weight = mean_weight
        self.warning_detector = warning_detector
        self.drift_detector = drift_detector
        self.criterion = criterion
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.leaf_prediction = leaf_prediction
        self.max_depth = max_depth
        self.n_splits = n_splits
        self.zero_variance = zero_variance
        self.pre_prune = pre_prune
        self.nominal_features = nominal_features
        self.max_categories = max_categories
        self.max_bytes = max_bytes
        self.random_state = random_state

    @property
    def n_warnings_(self) -> NDArray[np.int64]:
        """Warnings of each tree so far."""
        return np.array([place.n_warnings for place in self.forest_.places])

    @property
    def n_drifts_(self) -> NDArray[np.int64]:
        """Drifts of each tree so far."""
        return np.array([place.n_drifts for place in self.forest_.places])

    def get_n_leaves(self) -> NDArray[np.int64]:
        """Return the number of leaves of each tree that predicts.

        Returns
        -------
        ndarray of shape (n_estimators,), dtype int64
            At least 1.
        """
        check_is_fitted(self)
        trees = [place.tree for place in self.forest_.places]
        return np.array([n_leaves(tree) for tree in trees])

    def get_n_bytes(self) -> int:
        """Return the memory of all trees, including those in the background.

        Returns
        -------
        int
            Bytes of the trees and of their working arrays.
        """
        check_is_fitted(self)
        trees = [tree for place in self.forest_.places for tree in place[:2] if tree is not None]
        return sum(map(n_bytes, trees))

    def _seed(self) -> int:
        if not hasattr(self, "seed_"):
            self.seed_ = drawn_seed(self.random_state)
        return self.seed_

    def _n_drawn(self, n_features: int) -> int:
        """Features that a leaf watches; 0: all."""
        if self.max_features is None:
            return 0
        if isinstance(self.max_features, str):
            n = _FEATURES[self.max_features](n_features)
        elif isinstance(self.max_features, Integral):
            n = int(self.max_features)
        else:
            n = round(self.max_features * n_features)
        n = max(1, int(n))
        return n if n < n_features else 0

    def _new_tree(self, place: int, n_made: int, n_features: int, n_classes: int) -> Tree:
        seed = derive_seed(self._seed(), "tree", place, n_made)
        n_drawn, is_patch = self._n_drawn(n_features), self.subspace == "tree"
        return new_tree(n_features, n_classes, n_drawn, seed, is_patch=is_patch)

    def _detector(self, which: str) -> DriftDetector | None:
        detector = getattr(self, f"{which}_detector")
        if isinstance(detector, str):
            delta = {"warning": 0.01, "drift": 0.001}[which]
            return ADWIN(delta=delta, direction="up")
        return None if detector is None else fresh_detector(detector)

    def _new_model(self, n_features: int, n_classes: int) -> Forest:
        places = []
        for number in range(self.n_estimators):
            tree = self._new_tree(number, 0, n_features, n_classes)
            check_limit(tree, self.max_bytes)
            detectors = self._detector("warning"), self._detector("drift")
            places.append(Place(tree, None, 1, *detectors))
        return Forest(0, np.full(n_features, -1), tuple(places))

    def _executed(
        self, model: Forest, read: Read, y: Codes, weight: Floats, stamp: Codes, is_next: Bools
    ) -> tuple[Forest, Floats]:
        if self.n_estimators != len(model.places):
            raise ValueError(
                f"n_estimators={self.n_estimators}, but the forest has {len(model.places)} trees. "
                "Their number is fixed by the first call: restore it, or start again with fit."
            )
        nominal = read.features.is_nominal
        learn, ask = Rows.of(read.learnt, True in nominal), Rows.of(read.asked, True in nominal)
        n_rows, known, places = model
        known = np.where((known < 0) & np.array([one is True for one in nominal]), 0, known)
        brought = [self._prepared(place, nominal, learns=len(y) > 0) for place in places]
        shares = np.zeros((len(stamp), places[0].tree.stats.shape[1]))
        start = a = 0
        while True:
            stop = min(start + _AT_ONCE, len(y))
            b = len(stamp) if stop == len(y) else int(np.searchsorted(stamp, stop, side="right"))
            part = _with_tests(
                *(learn.part(start, stop), ask.part(a, b), y[start:stop], weight[start:stop]),
                *(stamp[a:b] - start, is_next[a:b], known, n_rows == 0),
            )
            for number, place in enumerate(brought):
                brought[number], votes = self._brought(number, place, part, n_rows)
                shares[a:b] += votes
            n_rows, known = n_rows + stop - start, part.known_at(stop - start)
            start, a = stop, b
            if stop == len(y):
                break
        total = shares.sum(axis=1)
        shares[total <= 0.0] = 1.0
        shares /= shares.sum(axis=1, keepdims=True)
        return Forest(n_rows, known, tuple(brought)), shares

    def _prepared(self, place: Place, nominal: Sequence[bool | None], *, learns: bool) -> Place:
        """Trees of a place, to be brought forward: copies, which know the nominal features."""
        trees: list[Tree | None] = []
        for tree in (place.tree, place.behind):
            if tree is not None:
                tree = with_nominal(copied(tree) if learns else tree, nominal, self.max_bytes)
            trees.append(tree)
        assert trees[0] is not None
        return place._replace(tree=trees[0], behind=trees[1])

    def _brought(self, number: int, place: Place, part: _Part, n_rows: int) -> tuple[Place, Floats]:
        """Bring a place forward over some rows; return it, and its votes for the user's asks.

        The tree runs to the end, as if it were not replaced. Where the detector says that it is,
        its successor runs from that row on.
        """
        n, n_asks = len(part.y), len(part.stamp)
        drawn = poisson_weights(self._seed(), number, n_rows, n_rows + n, float(self.mean_weight))
        votes = np.zeros((len(part.asked), place.tree.stats.shape[1]))
        begin = first = 0
        is_fresh, rows = n_rows == 0, np.flatnonzero(part.tests >= 0)
        while True:
            tree, shares = self._run(place.tree, part, drawn, begin, n, is_fresh, first)
            wrong = best_columns(shares[part.tests[rows] - first]) != part.y[rows]
            at, drift = _first_alarm(place.drift, wrong)
            n_read, end, until = len(rows), n, n_asks
            if at is not None:
                n_read, end = at + 1, int(rows[at])
                until = int(np.searchsorted(part.stamp, end, side="right"))
            some = (part.asked >= first) & (part.asked < until)
            asked = part.asked[some]
            n_tested = np.searchsorted(rows, part.stamp[asked])
            n_right = np.concatenate([[0], np.cumsum(~wrong)])
            share = (place.n_right + n_right[n_tested] + 1) / (place.n_asked + n_tested + 2)
            votes[some] = shares[asked - first] * share[:, None]
            n_before = n_read - (at is not None)
            place = self._warned(
                *(number, place, part, drawn, begin, end),
                *(rows[:n_before], wrong[:n_before]),
            )
            if at is None:
                n_asked, n_right_now = place.n_asked + n_read, place.n_right + int(n_right[-1])
                place = place._replace(drift=drift, n_asked=n_asked, n_right=n_right_now)
                return place._replace(tree=tree), votes
            is_fresh = place.behind is None
            place = self._replaced(number, place, part, end)
            begin, first, rows = end, until, rows[n_read:]

    def _run(
        self,
        tree: Tree,
        part: _Part,
        drawn: Codes,
        begin: int,
        end: int,
        is_fresh: bool,
        first_ask: int | None = None,
    ) -> tuple[Tree, Floats]:
        """Learn some rows of a part, and answer its asks from one on; None: no asks."""
        weight = drawn[begin:end].astype(np.float64)
        if is_fresh and len(weight):  # so that it can be asked
            weight[0] = max(weight[0], 1.0)
        asks = slice(len(part.stamp) if first_ask is None else first_ask, None)
        learn, y = part.learn.part(begin, end), part.y[begin:end]
        weight = weight * part.weight[begin:end]
        ask, stamp = part.ask.part(asks.start, len(part.stamp)), part.stamp[asks] - begin
        is_next = part.is_next[asks]
        return execute(tree, self._settings, learn, y, weight, ask, stamp, is_next, self.max_bytes)

    def _warned(
        self,
        number: int,
        place: Place,
        part: _Part,
        drawn: Codes,
        begin: int,
        end: int,
        rows: Codes,
        wrong: Bools,
    ) -> Place:
        """Read warnings about some rows, and bring the tree in the background forward."""
        detector, since, n_done = place.warning, -1, 0
        while True:
            at, ahead = _first_alarm(detector, wrong[n_done:])
            if at is None:
                break
            since, n_done = int(rows[n_done + at]), n_done + at + 1
            detector = self._detector("warning")
            place = place._replace(n_made=place.n_made + 1, n_warnings=place.n_warnings + 1)
        behind = place.behind
        if since >= 0:
            behind = self._begun_tree(number, place, place.n_made - 1, part, since)
        if behind is not None:
            start = begin if since < 0 else since
            behind, _ = self._run(behind, part, drawn, start, end, since >= 0)
        return place._replace(warning=ahead, behind=behind)

    def _replaced(self, number: int, place: Place, part: _Part, row: int) -> Place:
        """Put the tree in the background, or a new one, in place of the old one."""
        tree, n_made = place.behind, place.n_made
        if tree is None:
            tree, n_made = self._begun_tree(number, place, n_made, part, row), n_made + 1
        return Place(
            *(tree, None, n_made, self._detector("warning"), self._detector("drift")),
            n_warnings=place.n_warnings,
            n_drifts=place.n_drifts + 1,
        )

    def _begun_tree(self, number: int, place: Place, n_made: int, part: _Part, row: int) -> Tree:
        """Make a tree for a place that begins with a row of a part."""
        tree = self._new_tree(number, n_made, len(part.known), place.tree.stats.shape[1])
        return with_known(tree, part.known_at(row), self.max_bytes)


def _first_alarm(
    detector: DriftDetector | None, wrong: Bools
) -> tuple[int | None, DriftDetector | None]:
    """Position of the first alarm, if there is one, and else the detector after all answers."""
    if detector is None or not len(wrong):
        return None, detector
    ahead = deepcopy(detector)
    alarms = ahead.update_many(wrong)
    return (int(alarms[0]) if len(alarms) else None), ahead


def _with_tests(
    learn: Rows,
    ask: Rows,
    y: Codes,
    weight: Floats,
    stamp: Codes,
    is_next: Bools,
    known: Codes,
    is_first: bool,
) -> _Part:
    """Ask about each row right before it is learnt, where this is not asked already."""
    n_asks = len(stamp)
    tests = np.full(len(y), -1)
    same = np.flatnonzero(is_next & (stamp < len(y)))
    tests[stamp[same]] = same
    others = np.flatnonzero(tests < 0)
    if is_first:  # nothing is learnt before the first row of all
        others = others[others > 0]
    asked = np.arange(n_asks)
    if len(others):
        tests[others] = n_asks + np.arange(len(others))
        stamp = np.concatenate([stamp, others])
        order = np.argsort(stamp, kind="stable")
        place = np.argsort(order)
        ask = ask.joined(learn, others, order)
        stamp, is_next = stamp[order], np.concatenate([is_next, np.ones(len(others), bool)])[order]
        asked, tests = place[asked], np.where(tests < 0, -1, place[tests])
    if is_first:
        tests[:1] = -1
    return _Part(learn, ask, y, weight, stamp, is_next, asked, tests, known)
