"""What ADWIN finds on known series: golden alarms, large values, directions, little memory."""

import pickle

import numpy as np
import pytest

from skstream.core.adwin import _Window
from skstream.drift import ADWIN
from tests.drift._checks import check_against_literal
from tests.drift._literal import UNIT


def gauss(n, level=0.0, seed=0):
    return np.round(np.random.default_rng(seed).normal(level, 1.0, n) / UNIT) * UNIT


def test_golden_alarms(rng):
    losses = np.concatenate((rng.random(500_000) < 0.2, rng.random(500_000) < 0.5))
    detector = ADWIN()
    assert detector.update_many(losses).tolist() == [500_095, 500_159, 500_191]
    start = len(losses) - detector.width
    assert 499_000 < start <= 500_191
    assert detector.mean == losses[start:].mean()
    assert detector.variance == pytest.approx(losses[start:].var(), rel=1e-12)


def test_no_false_alarm_around_a_billion():
    values = np.random.default_rng(0).normal(1e9, 1.0, 200_000)
    assert ADWIN().update_many(values).size == 0


@pytest.mark.parametrize("offset", [2.0**20, -(2.0**30), 2.0**40])
def test_an_offset_changes_nothing(offset):
    values = np.concatenate((gauss(3000), gauss(3000, 1.0, seed=1), gauss(3000, -3.0, seed=2)))
    here, there = ADWIN(), ADWIN()
    alarms = here.update_many(values)
    assert len(alarms) > 1
    assert np.array_equal(there.update_many(values + offset), alarms)
    assert there.width == here.width
    assert there.variance == here.variance


@pytest.mark.parametrize("levels", [(0.0, 1e9), (1e6, 2e6, 1e6), (0.0, 1e3, 1e12), (1e9, 0.0)])
def test_the_mean_may_move_far_away(levels):
    values = np.concatenate([gauss(2000, seed=i) + level for i, level in enumerate(levels)])
    literal = check_against_literal(ADWIN(), [values])
    assert all(alarm % 2000 < 300 for alarm in literal.alarms)


def test_one_first_value_far_away():
    values = gauss(3000)
    values[0] = 1e9
    check_against_literal(ADWIN(), [values])


def test_memory_does_not_grow(rng):
    detector = ADWIN()
    sizes = []
    for _ in range(10):
        detector.update_many(rng.random(100_000))
        sizes.append(len(pickle.dumps(detector)))
    assert detector.width == 1_000_000
    assert max(sizes) < 4000


def test_buckets_follow_the_window():
    detector = ADWIN()
    assert detector.boundaries().tolist() == []
    detector.update_many([])
    assert (detector.width, detector.boundaries().tolist()) == (0, [])
    assert np.isnan(detector.mean)
    assert np.isnan(detector.variance)
    detector.update_many([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    # Six buckets of one value are too many: the two oldest become one.
    assert detector.boundaries().tolist() == [0, 2, 3, 4, 5]
    assert (detector.width, detector.mean, detector.variance) == (6, 0.5, 0.25)


def alarms_per_check(draw, delta, n_streams=12):
    n = 4096
    alarms = [
        ADWIN(delta).update_many(draw(np.random.default_rng(seed), n)) for seed in range(n_streams)
    ]
    return sum(map(len, alarms)) / (n_streams * n // 32)


def test_alarms_on_stationary_values_are_as_rare_as_delta_says(monkeypatch):
    """More streams and kinds of values: benchmarks/adwin_levels.py."""
    delta = 0.002
    assert alarms_per_check(lambda rng, n: rng.random(n) < 0.2, delta) <= delta
    assert alarms_per_check(lambda rng, n: rng.normal(0.0, 1000.0, n), delta) <= delta
    right = _Window._logarithms
    smaller = lambda window, widths: [log / 9 for log in right(window, widths)]  # noqa: E731
    monkeypatch.setattr(_Window, "_logarithms", smaller)
    monkeypatch.setattr("skstream.core.adwin.numba_enabled", lambda: False)
    assert alarms_per_check(lambda rng, n: rng.normal(0.0, 1000.0, n), delta, 2) > delta
