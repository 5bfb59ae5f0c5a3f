"""Prediction intervals along a stream."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream import interval_scores
from skstream.baselines import MeanRegressor
from skstream.conformal import OnlineConformalRegressor


class Zero(RegressorMixin, BaseEstimator):
    """Answers 0 whatever it learns."""

    def partial_fit(self, X: Any, y: Any) -> "Zero":
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(len(X))


def rows(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X @ [1.0, 2.0] + rng.normal(size=n) * np.repeat([1.0, 4.0], n // 2)


def literal(y: np.ndarray, coverage: float, step: float, window: int) -> Any:
    """The algorithm for a model that always answers 0, as the paper writes it."""
    aim, step = 1 - Fraction(str(coverage)), Fraction(str(step))
    alpha, errors, intervals, levels = aim, [], [(-np.inf, np.inf)], []
    for target in y[1:]:
        kept = sorted(errors[-window:])
        rank = math.ceil((len(kept) + 1) * (1 - alpha))
        width = 0.0 if alpha >= 1 else kept[rank - 1] if rank <= len(kept) else np.inf
        intervals.append((-width, width))
        if kept:
            missed = alpha >= 1.0 or abs(target) > width
            alpha += step * (aim - missed)
            levels.append(float(missed))
        errors.append(abs(target))
    return np.array(intervals), levels, float(alpha)


@pytest.mark.parametrize(("step", "window"), [(0.0, 50), (0.02, 50), (0.3, 7), (0.05, 1000)])
def test_intervals_are_those_of_the_literal_algorithm(step: float, window: int) -> None:
    X, y = rows()
    model = OnlineConformalRegressor(Zero(), coverage=0.8, step_size=step, window_size=window)
    expected, _, _ = literal(y, 0.8, step, window)
    np.testing.assert_allclose(model.fit(X, y).intervals_, expected)


@pytest.mark.parametrize("coverage", [k / 100 for k in range(50, 100)])
def test_ranks_are_those_of_the_decimals(coverage: float) -> None:
    y = np.random.default_rng(0).permutation(np.arange(1.0, 121.0))
    for step in (0.0, 0.05):
        model = OnlineConformalRegressor(Zero(), coverage=coverage, step_size=step, window_size=99)
        expected, _, _ = literal(y, coverage, step, 99)
        np.testing.assert_array_equal(model.fit(np.zeros((len(y), 1)), y).intervals_, expected)


@given(
    st.lists(st.sampled_from([0.0, 1.0, 5.0, 1e6]), min_size=30, max_size=120),
    st.sampled_from([0.5, 0.8, 0.9]),
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_share_missed_is_bounded_on_any_stream(targets, coverage, step):
    y = np.array(targets)
    _, missed, level = literal(y, coverage, step, 20)
    model = OnlineConformalRegressor(Zero(), coverage=coverage, step_size=step, window_size=20)
    model.fit(np.zeros((len(y), 1)), y)
    bound = (max(coverage, 1 - coverage) + step) / (step * len(missed))
    assert abs(np.mean(missed) - (1 - coverage)) <= bound + 1e-12
    assert model.alpha_ == pytest.approx(level)
    assert -step - 1e-12 <= model.alpha_ <= 1 + step + 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 7])
def test_nothing_depends_on_calls(size: int, weighted: bool) -> None:
    X, y = rows(100)
    weight = np.arange(100) % 3 + 0.0 if weighted else None
    whole = OnlineConformalRegressor(SGDRegressor(random_state=0), window_size=30)
    parts = OnlineConformalRegressor(SGDRegressor(random_state=0), window_size=30)
    whole.partial_fit(X, y, sample_weight=weight)
    intervals = []
    for k in range(0, 100, size):
        own = None if weight is None else weight[k : k + size]
        parts.partial_fit(X[k : k + size], y[k : k + size], sample_weight=own)
        intervals.append(parts.intervals_)
    np.testing.assert_array_equal(np.concatenate(intervals), whole.intervals_)
    np.testing.assert_array_equal(parts.predict_interval(X), whole.predict_interval(X))
    assert parts.alpha_ == whole.alpha_
    assert whole.n_rows_learnt_ == (66 if weighted else 100)


def test_no_interval_uses_a_target_before_its_time() -> None:
    X, y = rows(80)
    other = y.copy()
    other[40:] += 100.0
    found = [
        OnlineConformalRegressor(SGDRegressor(random_state=0)).fit(X, one).intervals_
        for one in (y, other)
    ]
    np.testing.assert_array_equal(found[0][:41], found[1][:41])
    assert (found[0][41:] != found[1][41:]).any()


def test_intervals_of_the_next_rows_are_those_it_would_be_asked_for() -> None:
    X, y = rows(60)
    model = OnlineConformalRegressor(MeanRegressor(), coverage=0.7).fit(X[:50], y[:50])
    expected = model.predict_interval(X[50:51])
    np.testing.assert_array_equal(model.partial_fit(X[50:], y[50:]).intervals_[:1], expected)


def test_what_cannot_be_is_said() -> None:
    X, y = rows(10)
    with pytest.raises(TypeError, match="needs a regressor"):
        OnlineConformalRegressor(SGDClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        OnlineConformalRegressor(SGDRegressor()).fit(X, np.append(y[:9], np.nan))
    for wrong in ({"coverage": 1.0}, {"step_size": -1.0}, {"window_size": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            OnlineConformalRegressor(SGDRegressor(), **wrong).fit(X, y)


def test_scores_by_hand_and_along_the_stream() -> None:
    y = np.array([1.0, 5.0, np.nan, 2.0, 7.0])
    lower, upper = np.array([0.0, 1.0, 0.0, -np.inf, 3.0]), np.array([2.0, 3.0, 1.0, 9.0, 7.0])
    scores = interval_scores(y, lower, upper, coverage=0.9, record_every=1)
    np.testing.assert_allclose(scores.curves["coverage"], [1, 1 / 2, 1 / 2, 2 / 3, 3 / 4])
    np.testing.assert_allclose(scores.curves["mean_width"], [2, 2, 2, 2, 8 / 3])
    np.testing.assert_allclose(scores.curves["interval_score"], [2, 22, 22, 22, (2 + 42 + 4) / 3])
    assert (scores.n_infinite, scores.n_unlabelled) == (1, 1)
    assert "coverage 0.75, mean width 2.667, interval score 16" in str(scores)
    last = interval_scores(y, lower, upper, forgetting="window:1").scores
    assert last == {"coverage": 1.0, "mean_width": 4.0, "interval_score": 4.0}
    weighted = interval_scores(y, lower, upper, sample_weight=[1, 3, 1, 0, 0]).scores
    assert weighted["coverage"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lower": [0.0, 3.0]}, "Row 1 has the interval from 3 to 2"),
        ({"upper": [2.0, np.nan]}, r"upper\[1\] is missing"),
        ({"upper": [2.0]}, "there are 2 rows"),
        ({"coverage": 90}, r"in \(0, 1\)"),
        ({"lower": [-np.inf] * 2}, "finite ends"),
        ({"y_true": ["a", "b"]}, "are not numbers"),
    ],
)
def test_wrong_intervals_are_said(changed: dict[str, Any], message: str) -> None:
    given = {"y_true": [1.0, 2.0], "lower": [0.0, 1.0], "upper": [2.0, 2.0]} | changed
    with pytest.raises(ValueError, match=message):
        interval_scores(**given)


def test_intervals_are_drawn_and_exported(matplotlib: Any, pd: Any) -> None:
    X, y = rows()
    model = OnlineConformalRegressor(SGDRegressor(random_state=0)).fit(X, y)
    scores = interval_scores(y, *model.intervals_.T, forgetting="window:50")
    assert set(scores.plot().lines_) == {"intervals", "wanted"}
    assert list(scores.to_frame().columns) == ["row", "coverage", "mean_width", "interval_score"]
