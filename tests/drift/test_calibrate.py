"""Detectors at equal caution."""

import numpy as np
import pytest

from skstream.drift import DDM, ErrorRatio, PageHinkley, RandomAlarm, calibrate


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
    assert isinstance(found.value, type(bounds[0]))
    rng = np.random.default_rng(5)
    other = found.detector.update_many((rng.random(100_000) < 0.1).astype(float))
    assert 500 < 100_000 / len(other) < 2000  # 30 alarms say no more


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
        ({"error_rate": 2}, ValueError, r"error_rate must be in \[0, 1\]. Got 2"),
        ({"losses": []}, ValueError, "losses must not be empty"),
        ({"n_values": 0}, ValueError, "n_values must be an integer of at least 1. Got 0"),
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
