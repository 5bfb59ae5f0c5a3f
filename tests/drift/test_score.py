"""Scores of alarms, beside those of alarms that know nothing."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skstream.drift import RandomAlarm, score_detections
from skstream.drift._score import share_of_shifts, zones_of
from skstream.streams import SEA, Drift
from tests._examples import examples

COUNTS = ("true", "false", "repeated", "missed")


def counts(result):
    return [getattr(result.scores, name) for name in COUNTS]


@pytest.mark.parametrize(
    ("alarms", "drifts", "expected", "delays"),
    [
        ([5, 30], [], [0, 2, 0, 0], ()),  # no drift
        ([], [10, 50], [0, 0, 0, 2], ()),  # no alarm
        ([10, 20, 21], [10], [1, 1, 1, 0], (0,)),  # on the first row, on the last, past it
        ([20], [10], [1, 0, 0, 0], (10,)),
        ([9, 21], [10], [0, 2, 0, 1], ()),  # one row early, one row late
        ([16, 18], [10, 15], [1, 0, 1, 1], (1,)),  # within both zones: of the later drift alone
        ([14, 15], [10, 15], [2, 0, 0, 0], (4, 0)),
        ([12, 40], [(10, 30)], [1, 0, 1, 0], (2,)),  # within the transition
        ([41], [(10, 30)], [0, 1, 0, 1], ()),
        ([95, 99], [95], [1, 0, 1, 0], (0,)),  # the stream ends within the zone
    ],
)
def test_counts_worked_by_hand(alarms, drifts, expected, delays):
    result = score_detections(alarms, drifts, tolerance=10, n_rows=100)
    assert counts(result) == expected
    assert result.delays == delays
    assert result.n_alarms == len(alarms)
    assert sum(result.detected) == len(delays)


def test_values_worked_by_hand():
    result = score_detections([3, 12, 14, 60, 66], [10, 60, 80], tolerance=9, n_rows=130)
    scores = result.scores
    assert counts(result) == [2, 1, 2, 1]
    assert (scores.mean_delay, scores.std_delay) == (1.0, math.sqrt(2))
    assert scores.false_alarm_rate == 1e5 * 1 / 100  # three zones of ten rows
    assert (scores.precision, scores.recall, scores.f1) == (2 / 3, 2 / 3, 4 / 6)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0.0


def test_values_that_do_not_exist():
    alone = score_detections([5], [], tolerance=0, n_rows=9)
    assert math.isnan(alone.scores.recall)
    assert math.isnan(alone.scores.mean_delay)
    silent = score_detections([], [5], tolerance=8, n_rows=9)
    assert math.isnan(silent.scores.precision)
    assert math.isnan(silent.random.mean_delay)
    assert "There is no drift" in str(alone)
    assert "there is no alarm" in silent.verdict
    assert not alone.above_chance
    assert not silent.above_chance
    everywhere = score_detections([0], [0], tolerance=8, n_rows=9)
    assert math.isnan(everywhere.scores.false_alarm_rate)


def test_drifts_as_rows_pairs_and_of_a_stream():
    stream = SEA(400, thresholds=(8, 9, 7, 9), random_state=0)
    forms = [
        stream.drifts,
        [100, 200, 300],
        [(100, 100), Drift(200, 200), 300],
        np.arange(100, 400, 100),
    ]
    first, *others = [score_detections([120], form, tolerance=30, n_rows=400) for form in forms]
    assert first.scores.true == 1
    assert all(first == other for other in others)
    assert score_detections([120], 100, tolerance=30, n_rows=400).drifts == (Drift(100, 100),)


def simulated(drifts, tolerance, n_rows, n_alarms, n_times):
    """Scores of alarms at random rows, counted by a matrix of truth values."""
    rng = np.random.default_rng(0)
    rows = np.argpartition(rng.random((n_times, n_rows)), n_alarms, axis=1)[:, :n_alarms]
    raised = np.zeros((n_times, n_rows), dtype=bool)
    np.put_along_axis(raised, rows, True, axis=1)
    stops = [min(d + tolerance + 1, n) for d, n in zip(drifts, [*drifts[1:], n_rows], strict=True)]
    zones = [raised[:, start:stop] for start, stop in zip(drifts, stops, strict=True)]
    found = np.array([zone.any(axis=1) for zone in zones])
    delays = np.concatenate(
        [zone.argmax(axis=1)[hit] for zone, hit in zip(zones, found, strict=True)]
    )
    true = found.sum(axis=0)
    false = n_alarms - sum(zone.sum(axis=1) for zone in zones)
    return true, false, delays


@pytest.mark.parametrize("n_alarms", [1, 3, 20])
def test_alarms_at_random_against_10000_simulations(n_alarms):
    drifts, tolerance, n_rows = [10, 16, 60, 95], 9, 100
    true, false, delays = simulated(drifts, tolerance, n_rows, n_alarms, 10_000)
    random = score_detections(range(n_alarms), drifts, tolerance=tolerance, n_rows=n_rows).random

    def near(value, draws):
        return abs(value - draws.mean()) < 4.5 * max(draws.std(), 1e-9) / math.sqrt(len(draws))

    assert near(random.true, true)
    assert near(random.false, false)
    assert near(random.repeated, n_alarms - true - false)
    assert near(random.missed, 4 - true)
    assert near(random.recall, true / 4)
    assert near(random.mean_delay, delays)
    assert near(random.std_delay**2, (delays - delays.mean()) ** 2)
    assert near(random.false_alarm_rate, 1e5 * false / 69)
    # Ratios of expected counts, as many streams pooled; the mean over streams is not far.
    assert random.precision == pytest.approx(true.sum() / (true + false).sum(), rel=0.03)
    assert random.f1 == pytest.approx(2 * true.sum() / (true + false + 4).sum(), rel=0.03)
    assert random.precision == pytest.approx((true / (true + false)).mean(), abs=0.02)
    assert random.f1 == pytest.approx((2 * true / (true + false + 4)).mean(), abs=0.02)


@examples(40)
@given(
    st.integers(3, 9).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.sets(st.integers(0, n - 1), min_size=1, max_size=6).map(sorted),
            st.sets(st.integers(0, n - 1), min_size=1, max_size=4).map(sorted),
            st.integers(0, 9),
        )
    )
)
@example((12, [2, 3, 5, 9, 10], [0, 2, 7], 3))  # a zone that ends with the last row
def test_share_of_shifts_is_that_of_every_shift_tried(case):
    n_rows, alarms, drifts, tolerance = case

    def f1(shift):
        shifted = sorted((row + shift) % n_rows for row in alarms)
        return score_detections(shifted, drifts, tolerance=tolerance, n_rows=n_rows).scores.f1

    own = f1(0)
    share = np.mean([f1(shift) >= own - 1e-12 for shift in range(n_rows)])
    zones = zones_of([Drift(row, row) for row in drifts], tolerance, n_rows)
    assert share_of_shifts(zones, np.array(alarms)) == pytest.approx(share)


@pytest.mark.parametrize("every", [100, 200, 300, 1000, 5000])
@pytest.mark.parametrize("tolerance", [20, 50, 99, 150])
@pytest.mark.parametrize("offset", [0, 10, 99])
def test_an_alarm_every_100_rows_has_no_credit(every, tolerance, offset):
    result = score_detections(
        np.arange(offset, 20_000, 100),
        np.arange(every, 20_000, every),
        tolerance=tolerance,
        n_rows=20_000,
    )
    assert not result.above_chance
    assert result.verdict.startswith("Not above chance")
    assert "Not above chance" in str(result)


def test_a_detector_that_finds_the_drifts_has_credit():
    drifts = np.cumsum(np.random.default_rng(1).integers(500, 1500, 15))
    result = score_detections(drifts + 40, drifts, tolerance=200, n_rows=20_000)
    assert result.above_chance
    assert result.verdict.startswith("Above chance: F1 is 1.000")
    assert repr(result).startswith("DetectionResult(Above chance")


def test_random_alarms_seldom_have_credit():
    drifts = np.arange(500, 10_000, 500)
    found = [
        score_detections(
            RandomAlarm(0.002, random_state=seed).update_many(np.zeros(10_000)),
            drifts,
            tolerance=100,
            n_rows=10_000,
        ).above_chance
        for seed in range(100)
    ]
    assert np.mean(found) <= 0.12  # 5 % by chance, within three standard deviations


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alarms": [1.5]}, r"alarms must be the numbers of the rows.*shape \(1,\).*float64"),
        ({"alarms": [True, False]}, "np.flatnonzero turns a mask"),
        ({"alarms": ["a"]}, "alarms must be the numbers"),
        ({"alarms": 5}, r"alarms must be the numbers.*shape \(\)"),
        ({"alarms": [-1]}, "alarms must lie within the n_rows=100 rows.*row -1"),
        ({"alarms": [4, 100]}, "alarms must lie within the n_rows=100 rows.*row 100"),
        ({"alarms": [4, 4]}, "alarm at row 4 after one at row 4"),
        ({"alarms": [7, 4]}, "alarm at row 4 after one at row 7"),
        ({"drifts": [50, 20]}, "drift at row 20 after one at row 50"),
        ({"drifts": [50, (50, 60)]}, "drift at row 50 after one at row 50"),
        ({"drifts": [100]}, "drifts must lie within.*start=100, end=100"),
        ({"drifts": [(50, 101)]}, "drifts must lie within.*start=50, end=101"),
        ({"drifts": [-2]}, "drifts must lie within.*start=-2"),
        ({"drifts": [(30, 20)]}, "must not end before it starts"),
        ({"drifts": [2.5]}, r"drifts must be numbers of rows.*\[2.5\]"),
        ({"drifts": "ab"}, "drifts must be numbers of rows"),
        ({"tolerance": -1}, "tolerance must be an integer >= 0. Got -1"),
        ({"tolerance": 1.5}, "tolerance must be an integer"),
        ({"n_rows": 0}, "n_rows must be an integer >= 1. Got 0"),
        ({"n_rows": None}, "n_rows must be an integer >= 1. Got None"),
    ],
)
def test_bad_input_is_named(change, message):
    given_values = {"alarms": [12], "drifts": [10], "tolerance": 5, "n_rows": 100, **change}
    with pytest.raises(ValueError, match=message):
        score_detections(given_values.pop("alarms"), given_values.pop("drifts"), **given_values)


def test_expected_values_are_not_below_0():
    result = score_detections([5], [166], tolerance=3, n_rows=500)
    assert result.random.repeated == 0  # 4 / 500 less a sum of probabilities
    assert "e-" not in str(result)
