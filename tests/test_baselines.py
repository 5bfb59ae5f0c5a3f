"""Baselines: hand-worked answers, ties, weights, any kind of rows."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import accuracy_score, r2_score

from skstream.baselines import (
    MajorityClass,
    MajorityWindow,
    MeanRegressor,
    Persistent,
    PersistentRegressor,
    RandomClass,
    drawn_codes,
)
from skstream.metrics import kappa_score
from tests._examples import examples

CLASSIFIERS = [Persistent(), Persistent(3), MajorityClass(), MajorityWindow(), MajorityWindow(2)]
X1 = [[0.0]]


def literal_window(labels: list[str], weights: list[float], size: int) -> str:
    """Most votes among the last `size` rows, of equals the lowest."""
    votes: Counter[str] = Counter()
    for label, weight in list(zip(labels, weights, strict=True))[-size:]:
        votes[label] += weight
    return min(votes, key=lambda label: (-votes[label], label))


@given(
    labels=st.lists(st.sampled_from("cab"), min_size=1, max_size=30),
    size=st.integers(1, 10),
    data=st.data(),
)
@examples(50)
def test_answers_are_those_of_the_definition(labels, size, data) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels)))
    window, whole, last = MajorityWindow(size), MajorityClass(), Persistent()
    known = {"classes": ["a", "b", "c"]}
    learnt: tuple[list[str], list[float]] = ([], [])
    for label, weight in zip(labels, weights, strict=True):
        for model in (window, whole, last):
            model.partial_fit(X1, [label], sample_weight=[weight], **known)
        known = {}
        if weight:
            learnt[0].append(label)
            learnt[1].append(weight)
            assert window.predict(X1) == [literal_window(*learnt, size)]
            assert whole.predict(X1) == [literal_window(*learnt, len(labels))]
            assert last.predict(X1) == [label]
    if learnt[0]:
        assert len(window.window_codes_) == min(size, len(learnt[0]))


@pytest.mark.parametrize("lag", [1, 2, 5, 70])
@pytest.mark.parametrize("kind", [Persistent, PersistentRegressor])
def test_a_lag_predicts_what_was_learnt_so_many_rows_before(kind, lag, rng) -> None:
    """In calls of several rows, without those of weight 0, and in score."""
    X, y, weight = np.zeros((60, 1)), rng.integers(0, 5, 60), np.arange(60) % 7
    learnt = y[weight > 0]
    wanted = [learnt[n - lag if n >= lag else n - 1] for n in range(1, len(learnt) + 1)]
    known = {"classes": np.arange(5)} if kind is Persistent else {}
    for cuts in ([*range(61)], [0, 2, 3, 30, 60]):
        model = kind(lag=lag)
        for start, stop in pairwise(cuts):
            part = slice(start, stop)
            model.partial_fit(X[part], y[part], sample_weight=weight[part], **known)
            if n_known := np.count_nonzero(weight[:stop]):
                assert model.predict(X1 * 2).tolist() == [wanted[n_known - 1]] * 2
    some = kind(lag=lag).partial_fit(X[:3], learnt[:3], **known)
    score = accuracy_score if known else r2_score
    assert some.score(X[3 : len(learnt)], learnt[3:]) == score(learnt[3:], wanted[2:-1])


@pytest.mark.parametrize("lag", [0, 1.5, "a day", None])
def test_a_lag_is_a_number_of_rows(lag) -> None:
    for model in (Persistent(lag), PersistentRegressor(lag)):
        with pytest.raises(ValueError, match="'lag' parameter"):
            model.fit(X1, [1])


def test_fractional_weights_leave_no_rounding_in_the_window(rng: np.random.Generator) -> None:
    weights = rng.random(3000) / 3
    model = MajorityWindow(5).fit(np.zeros((3000, 1)), rng.integers(0, 2, 3000), weights)
    again = MajorityWindow(5)
    again.partial_fit(
        np.zeros((5, 1)), model.window_codes_, classes=[0, 1], sample_weight=weights[-5:]
    )
    np.testing.assert_array_equal(model.class_counts_, again.class_counts_)


def test_regression() -> None:
    X, y = np.zeros((3, 1)), [1.0, 2.0, 6.0]
    assert PersistentRegressor().fit(X, y).predict(np.zeros((2, 1))).tolist() == [6.0, 6.0]
    assert MeanRegressor().fit(X, y).predict(X1).tolist() == [3.0]
    assert MeanRegressor().fit(X, y, sample_weight=[1, 0, 3]).predict(X1).tolist() == [4.75]
    assert PersistentRegressor().fit(X, y, sample_weight=[1, 1, 0]).predict(X1).tolist() == [2.0]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize(
    "X",
    [
        np.full((3, 2), np.nan),
        np.array([["x", "y"]] * 3),
        np.array([["x", None]] * 3, dtype=object),
        [["a", 1], ["b", 2], ["c", 3]],
        sparse.csr_array(np.eye(3)),
        sparse.coo_matrix(np.eye(3)),
    ],
    ids=["nan", "text", "objects", "lists", "csr", "coo"],
)
def test_rows_of_any_kind(model, X) -> None:
    model = type(model)().fit(X, ["b", "a", "a"])
    assert model.predict(X).tolist() == ["a"] * 3
    assert model.n_features_in_ == np.shape(X)[1] if not sparse.issparse(X) else X.shape[1]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_data_frames(kind) -> None:
    frames = pytest.importorskip(kind)
    columns = {"number": [1.5, None, 3.0], "word": ["x", "y", None]}
    X = frames.DataFrame(columns)
    y = frames.Series(["b", "a", "a"])
    for make in (Persistent, MajorityClass, MajorityWindow):
        model = make().partial_fit(X, y, classes=["a", "b"])
        assert model.predict(X).tolist() == ["a"] * 3
        assert model.feature_names_in_.tolist() == ["number", "word"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(X[["word", "number"]])
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(X[:0])


@pytest.mark.parametrize("model", [*CLASSIFIERS, RandomClass()], ids=repr)
def test_bad_input(model) -> None:
    # Other mistakes are those of the checks of all estimators.
    fresh = type(model)
    taught = fresh().fit([[0, 1]], ["a"])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        taught.partial_fit([[0, 1]], ["a"], classes=["b"])
    with pytest.raises(ValueError, match="Negative values"):
        taught.partial_fit([[0, 1]], ["a"], sample_weight=[-1.0])
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero"):
        fresh().fit([[0, 1]], ["a"], sample_weight=[0.0])


def test_classes_are_drawn_as_often_as_they_were_learnt(rng: np.random.Generator) -> None:
    y = rng.choice(["a", "b", "d"], 20_000, p=[0.7, 0.1, 0.2])
    X = rng.normal(size=(20_000, 2))
    model = RandomClass(random_state=0).partial_fit(X, y, classes=list("abcd"))
    answers = model.predict(X)
    for label, count in zip("abcd", model.class_counts_, strict=True):
        assert abs((answers == label).mean() - count / 20_000) < 0.012  # 3.7 standard errors
    assert abs(kappa_score(y, answers)) < 0.02
    shares = model.class_counts_ / 20_000
    assert np.mean(answers == y) == pytest.approx((shares**2).sum(), abs=0.014)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], answers)
    # Another call, another order; then more is learnt, and equal rows have new draws.
    np.testing.assert_array_equal(model.predict(X[::-1]), answers[::-1])
    model.partial_fit(X[:1], y[:1])
    assert 0.3 < (model.predict(X) == answers).mean() < 0.7
    other = RandomClass(random_state=1).fit(X, y)
    assert 0.3 < (other.predict(X) == answers).mean() < 0.7


def test_the_draws_are_those_of_the_first_release() -> None:
    model = RandomClass(random_state=0).fit([[0]] * 4, ["a", "b", "b", "c"])
    assert model.seed_ == 2357136044
    drawn = "".join(model.predict(np.arange(20.0).reshape(20, 1)))
    assert drawn == "acbbbabbbbaaabbbaabc"


def test_no_draw_is_a_class_without_weight() -> None:
    most = np.nextafter(1.0, 0.0)
    for counts in ([0.0, 3.0, 0.0, 5e-324, 0.0], [0.0, 1.0, 0.1, 0.0], [0.0, 5e-324, 0.0]):
        column = np.array(counts)[:, np.newaxis]
        codes = drawn_codes(column, np.array([0.0, 0.5, most]))
        assert (column[codes] > 0).all()


@pytest.mark.parametrize("window_size", [0, -1, 2.5, None])
def test_window_size_is_validated_at_fit(window_size) -> None:
    with pytest.raises(ValueError, match="'window_size' parameter of MajorityWindow must be"):
        MajorityWindow(window_size).fit(X1, ["a"])


def test_a_late_class_counts_as_itself() -> None:
    # In cuML a class that appeared late updated the wrong row (peers' fault 20).
    model = MajorityClass().partial_fit([[0], [0]], ["a", "c"], classes=["a", "b", "c"])
    model.partial_fit([[0]] * 3, ["b"] * 3)
    assert model.class_counts_.tolist() == [1.0, 3.0, 1.0]


@pytest.mark.parametrize("model", [MajorityClass(), MajorityWindow(10)])
@pytest.mark.parametrize(
    ("labels", "lowest"), [(["z", "a", "z", "a"], "a"), ([3, -1], -1), ([True, False], False)]
)
def test_ties_go_to_the_lowest_class(model, labels, lowest) -> None:
    # scikit-multiflow compared the order of arrival with the label itself (peers' fault 3).
    model = type(model)().fit(np.zeros((len(labels), 1)), labels)
    assert model.predict(X1)[0] == lowest


def test_probabilities_are_shares() -> None:
    X, y = np.zeros((4, 1)), ["a", "b", "b", "b"]
    weight = [3.0, 1.0, 1.0, 1.0]
    np.testing.assert_array_equal(MajorityClass().fit(X, y).predict_proba(X1), [[0.25, 0.75]])
    weighted = MajorityClass().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.predict_proba(X1), [[0.5, 0.5]])
    assert weighted.predict(X1) == ["a"]
    np.testing.assert_array_equal(Persistent().fit(X, y).predict_proba(X1), [[0.0, 1.0]])
