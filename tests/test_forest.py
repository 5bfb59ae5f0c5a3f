"""The adaptive random forest: against a literal one, and what it promises."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skstream.drift import ADWIN, DDM, PageHinkley, RandomAlarm
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier
from skstream.utils._seeds import poisson_weights
from tests._examples import examples, newest_alone

CLASSES = [0, 1, 2]
DETECTORS = [
    None,
    RandomAlarm(0.1, warm_up=0, random_state=0),
    PageHinkley(1.0, delta=0.0),
    DDM(min_values=5),
    ADWIN(delta=0.9, clock=1, direction="up"),
]


class LiteralTree:
    """A place of a forest of all features: what the docstring says, row by row."""

    def __init__(self, number: int, forest: AdaptiveRandomForestClassifier) -> None:
        self.number, self.forest = number, forest
        self.n_rows = self.n_warnings = self.n_drifts = 0
        self.behind: Any = None
        self.begin(None)

    def begin(self, tree: Any) -> None:
        self.tree, self.n_right, self.n_asked = tree, 0, 0
        self.warning = copy.deepcopy(self.forest.warning_detector)
        self.drift = copy.deepcopy(self.forest.drift_detector)

    def vote(self, row: np.ndarray) -> np.ndarray:
        share = (self.n_right + 1) / (self.n_asked + 2)
        return share * self.tree.predict_proba(row)[0]

    def learn(self, row: np.ndarray, label: int, weight: float) -> None:
        drawn = poisson_weights(
            *(self.forest.seed_, self.number, self.n_rows, self.n_rows + 1),
            float(self.forest.mean_weight),
        )[0]
        self.n_rows += 1
        if self.tree is not None:
            self.read(int(self.tree.predict(row)[0] != label))
        names = ("grace_period", "delta", "tau", "leaf_prediction")
        parameters = {name: getattr(self.forest, name) for name in names}
        for which in ("tree", "behind"):
            tree, factor = getattr(self, which), drawn
            if tree == "new" or (which == "tree" and tree is None):
                tree, factor = HoeffdingTreeClassifier(**parameters), max(drawn, 1)
                setattr(self, which, tree)
            if tree is not None:
                tree.partial_fit(row, [label], classes=CLASSES, sample_weight=[weight * factor])

    def read(self, is_wrong: int) -> None:
        self.n_asked, self.n_right = self.n_asked + 1, self.n_right + 1 - is_wrong
        if self.drift is not None and len(self.drift.update_many([is_wrong])):
            self.begin(None if self.behind == "new" else self.behind)
            self.behind = None
            self.n_drifts += 1
            return
        if self.warning is not None and len(self.warning.update_many([is_wrong])):
            self.behind = "new"
            self.warning = copy.deepcopy(self.forest.warning_detector)
            self.n_warnings += 1


@given(
    seed=st.integers(0, 2**32 - 1),
    warning=st.sampled_from(DETECTORS),
    drift=st.sampled_from(DETECTORS),
    mean_weight=st.sampled_from([0.3, 1.0, 6.0]),
    leaf=st.sampled_from(["mc", "nb", "nba"]),
)
@examples(40)
def test_it_is_the_literal_forest(seed, warning, drift, mean_weight, leaf) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    X = rng.integers(0, 6, (n, 2)) / 3
    y = (X[:, 0].astype(int) + (np.arange(n) > n // 2) + rng.integers(0, 2, n)) % 3
    weight = rng.choice([1.0, 0.25, 2.0], n)
    forest = AdaptiveRandomForestClassifier(
        *(2,),
        max_features=None,
        mean_weight=mean_weight,
        warning_detector=warning,
        drift_detector=drift,
        grace_period=6,
        delta=0.4,
        tau=0.5,
        leaf_prediction=leaf,
        random_state=int(rng.integers(9)),
    )
    forest.partial_fit(X[:1], y[:1], classes=CLASSES, sample_weight=weight[:1])
    literal = [LiteralTree(number, forest) for number in range(2)]
    for place in literal:
        place.learn(X[:1], y[0], weight[0])
    begin = 1
    while begin < n:
        end = int(rng.integers(begin, n)) + 1
        votes = sum(place.vote(X[begin : begin + 1]) for place in literal)
        expected = votes / votes.sum()
        np.testing.assert_array_equal(forest.predict_proba(X[begin : begin + 1])[0], expected)
        forest.partial_fit(X[begin:end], y[begin:end], sample_weight=weight[begin:end])
        for t in range(begin, end):
            for place in literal:
                place.learn(X[t : t + 1], y[t], weight[t])
        begin = end
    np.testing.assert_array_equal(forest.n_drifts_, [place.n_drifts for place in literal])
    np.testing.assert_array_equal(forest.n_warnings_, [place.n_warnings for place in literal])


@pytest.mark.parametrize(
    ("max_features", "n"),
    [
        ("sqrt+1", 5),
        ("sqrt", 4),
        ("log2", 4),
        (3, 3),
        (0.5, 8),
        (0.6, 10),
        (0.01, 1),
        (99, 0),
        (1.0, 0),
        (None, 0),
    ],
)
def test_forms_of_max_features(max_features, n) -> None:
    forest = AdaptiveRandomForestClassifier(2, max_features=max_features, random_state=0)
    assert forest._n_drawn(16) == n


@newest_alone
def test_a_leaf_watches_its_own_features_only(rng: np.random.Generator) -> None:
    X = rng.random((4000, 3))
    y = (X[:, 0] > 0.5).astype(int)
    forest = AdaptiveRandomForestClassifier(
        12, max_features=1, leaf_prediction="nb", grace_period=1e9, random_state=0
    ).fit(X, y)
    shares = [
        (np.argmax(clone_with(forest, number).predict_proba(X), axis=1) == y).mean()
        for number in range(12)
    ]
    informed = np.array(shares) > 0.9
    assert 0 < informed.sum() < 12
    assert (np.array(shares)[~informed] < 0.7).all()


def test_a_patch_is_a_tree_of_some_features(rng: np.random.Generator) -> None:
    """Streaming random patches: all leaves of a tree watch the same features."""
    X = rng.random((1500, 6)).round(2)
    y = (X[:, 0] + X[:, 3] > 1).astype(int) + (X[:, 5] > 0.7)
    rules = {"grace_period": 30, "delta": 0.2, "tau": 0.3}
    forest = AdaptiveRandomForestClassifier(
        *(4,),
        **rules,
        max_features=0.5,
        subspace="tree",
        warning_detector=None,
        drift_detector=None,
        random_state=0,
    ).fit(X, y)
    drawn_by_all = set()
    for number, place in enumerate(forest.forest_.places):
        drawn = place.tree.drawn[0]
        drawn_by_all.add(tuple(drawn.tolist()))
        weight = poisson_weights(forest.seed_, number, 0, len(y), 6.0)
        weight[0] = max(weight[0], 1)
        alone = HoeffdingTreeClassifier(**rules)
        alone.partial_fit(X[:, drawn], y, classes=CLASSES, sample_weight=weight.astype(float))
        assert alone.get_n_leaves() > 4
        shares = clone_with(forest, number).predict_proba(X)  # a share of a share: rounded
        np.testing.assert_allclose(shares, alone.predict_proba(X[:, drawn]), 1e-13, 1e-300)
    assert len(drawn_by_all) > 1


def test_a_later_patch_has_other_features(rng: np.random.Generator) -> None:
    X, y = rng.random((600, 8)), np.arange(600) % 2
    forest = AdaptiveRandomForestClassifier(
        1,
        max_features=3,
        subspace="tree",
        drift_detector=RandomAlarm(0.02, warm_up=0, random_state=0),
    )
    draws = set()
    for begin in range(0, 600, 50):
        rows = slice(begin, begin + 50)
        forest.partial_fit(X[rows], y[rows], classes=[0, 1])
        draws.add(tuple(forest.forest_.places[0].tree.drawn[0].tolist()))
    assert forest.n_drifts_[0] > 3 and len(draws) > 3


def clone_with(forest: Any, number: int) -> Any:
    """Return a forest of one of the trees."""
    one = clone(forest).set_params(n_estimators=1)
    for name in ("classes_", "columns_", "n_features_in_", "seed_"):
        setattr(one, name, getattr(forest, name))
    one.forest_ = forest.forest_._replace(places=forest.forest_.places[number : number + 1])
    return one


def test_another_number_of_trees_has_a_sentence() -> None:
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 3
    forest = AdaptiveRandomForestClassifier(3, random_state=0).fit(X, y)
    forest.set_params(n_estimators=4)
    with pytest.raises(ValueError, match="n_estimators=4, but the forest has 3 trees"):
        forest.partial_fit(X, y)
    assert len(forest.fit(X, y).get_n_leaves()) == 4


@newest_alone
def test_each_tree_keeps_below_the_limit_of_memory(rng: np.random.Generator) -> None:
    X = rng.random((6000, 8))
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    limited = AdaptiveRandomForestClassifier(3, max_bytes=60_000, random_state=0).fit(X, y)
    free = AdaptiveRandomForestClassifier(3, random_state=0).fit(X, y)
    n_trees = sum(1 + (place.behind is not None) for place in limited.forest_.places)
    assert limited.get_n_bytes() <= 60_000 * n_trees < free.get_n_bytes()
    with pytest.raises(ValueError, match="max_bytes=10"):
        clone(limited).set_params(max_bytes=10).fit(X, y)


def test_a_seed_is_drawn_once_and_kept() -> None:
    X, y = np.random.default_rng(0).random((50, 2)), np.arange(50) % 3
    forest = AdaptiveRandomForestClassifier(2, random_state=np.random.RandomState(3))
    seed = forest.fit(X, y).seed_
    assert forest.partial_fit(X, y).seed_ == seed
    again = AdaptiveRandomForestClassifier(2, random_state=np.random.RandomState(3))
    again.fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
