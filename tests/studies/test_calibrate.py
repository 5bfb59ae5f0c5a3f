"""Detectors at equal caution."""

from typing import ClassVar

import numpy as np
import pytest

from skstream.drift import DDM, ErrorRatio, PageHinkley, RandomAlarm
from skstream.studies import calibrate


@pytest.mark.parametrize(
    ("detector", "parameter", "bounds"),
    [
        (PageHinkley(), "threshold", (0.5, 500.0)),
        (RandomAlarm(random_state=0), "probability", (1e-6, 0.5)),
        (ErrorRatio(short=5, long=50), "threshold", (20, 500)),
    ],
)
def test_false_alarms_are_as_far_apart_as_asked(detector, parameter, bounds):
    found = calibrate(detector, parameter, 1000, bounds=bounds, n_values=30_000)
    assert 700 < found.run_length < 1400
    assert found.value == found.detector.get_params()[parameter]
    assert isinstance(found.value, float)
    rng = np.random.default_rng(5)
    other = found.detector.update_many((rng.random(100_000) < 0.1).astype(float))
    assert 500 < 100_000 / len(other) < 2000  # 30 alarms say no more


def test_whole_bounds_of_a_real_parameter_are_no_grid():
    found = calibrate(PageHinkley(), "threshold", 500, bounds=(1, 50))
    assert found.value != round(found.value)
    assert abs(found.n_alarms - 20) <= 2


def test_a_whole_parameter_gets_whole_values_and_the_nearest_by_ratio():
    class Every(ErrorRatio):  # constraints of its own say nothing of `period`
        def __init__(self, period=3):
            self.period = period

        _parameter_constraints: ClassVar = {}

        def update_many(self, values):
            return np.arange(0, {1: 20, 2: 9, 3: 1}[self.period])

    with pytest.warns(UserWarning, match="wanted") as record:
        found = calibrate(Every(), "period", 250, bounds=(1, 3), losses=np.zeros(1000))
    assert (found.value, found.n_alarms) == (2, 9)  # 4 are wanted: 9 is farther than 1 by distance
    assert isinstance(found.value, int)
    assert len(record) == 1


def test_a_distance_that_cannot_be_met_is_told():
    with pytest.warns(UserWarning, match=r"714.3 values apart \(14 in 10,000.* 500 were"):
        calibrate(DDM(), "drift_level", 500, bounds=(2.0, 10.0))


def test_losses_of_ones_own():
    losses = np.random.default_rng(0).random(20_000)
    found = calibrate(PageHinkley(), "threshold", 1000, bounds=(0.1, 500.0), losses=losses)
    alarms = PageHinkley(threshold=found.value).update_many(losses)
    assert len(alarms) == found.n_alarms == 20


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"detector": PageHinkley}, TypeError, "detector is the class PageHinkley, not an inst"),
        ({"parameter": "lambda"}, ValueError, "PageHinkley has no parameter 'lambda'. It has .*"),
        ({"run_length": 0}, ValueError, "run_length must be a number of at least 1. Got 0"),
        ({"bounds": (5, 1)}, ValueError, r"bounds must be two numbers.*\(5, 1\)"),
        ({"bounds": 3}, ValueError, "bounds must be two numbers.*Got 3"),
        ({"bounds": (400.0, 500.0)}, ValueError, "No threshold in bounds.*Widen the bounds"),
        ({"error_rate": 2}, ValueError, r"error_rate must be a number from 0 to 1. Got 2"),
        ({"losses": []}, ValueError, "losses must not be empty"),
        ({"losses": [0, 1, np.nan]}, ValueError, r"^losses\[2\] is nan. A detector needs finite"),
        ({"losses": [0, None]}, ValueError, r"^losses\[1\] is None of type NoneType"),
        (
            {"losses": np.zeros(60), "run_length": 100},
            ValueError,
            "too short.* losses= gives 60 values.*0.6 are exp.*least 100 values.* 20 times as many",
        ),
        ({"n_values": 99}, ValueError, "too short.* n_values= gives 99 values"),
        (
            {"detector": DDM(), "parameter": "drift_level", "losses": np.full(100, 0.5)},
            ValueError,
            r"^losses\[0\] is 0.5. DDM reads 0/1 losses",
        ),
        ({"n_values": 0}, ValueError, "n_values must be an integer >= 1. Got 0"),
        ({"detector": DDM(), "losses": [0.5]}, ValueError, "has no parameter 'threshold'"),
    ],
)
def test_bad_input_is_named(change, error, message):
    values = {
        "detector": PageHinkley(),
        "parameter": "threshold",
        "run_length": 100,
        "bounds": (1.0, 500.0),
        **change,
    }
    with pytest.raises(error, match=message):
        calibrate(**values)
