"""The statistic of a detector, against the value that raises an alarm."""

import numpy as np
import pytest

from skstream.drift import ADWIN, DDM, ErrorRatio, PageHinkley, RandomAlarm

VALUES = (np.random.default_rng(0).random(900) < np.repeat([0.1, 0.5, 0.1], 300)).astype(float)


@pytest.mark.parametrize(
    "detector",
    [
        PageHinkley(10, reset_after_alarm=False),
        PageHinkley(15, direction="both", reset_after_alarm=False),
        ErrorRatio(short=5, long=50, threshold=10, reset_after_alarm=False),
    ],
)
def test_an_alarm_is_where_the_statistic_reaches_its_critical_value(detector):
    for value in VALUES:
        detector.update(value)
        assert detector.drift_detected == (detector.statistic >= detector.critical_value)
    assert 0 < detector.n_detections < len(VALUES)
    assert detector.critical_value == detector.threshold


def test_the_statistic_of_ddm_exceeds_its_critical_value_with_the_next_alarm():
    detector = DDM()
    n = n_errors = 0
    lowest = np.inf, np.inf, np.inf
    for value in VALUES:
        detector.update(value)
        n, n_errors = n + 1, n_errors + value
        p = n_errors / n
        s = np.sqrt(p * (1 - p) / n)
        if n >= 30:
            lowest = min(lowest, (p + s, p, s))
        if detector.drift_detected:  # it begins anew
            assert p + s > lowest[1] + 3 * lowest[2]
            n = n_errors = 0
            lowest = np.inf, np.inf, np.inf
        if n < 30:
            assert np.isnan(detector.statistic)
            assert np.isnan(detector.critical_value)
        else:
            assert detector.statistic == p + s <= detector.critical_value
            assert detector.critical_value == pytest.approx(lowest[1] + 3 * lowest[2])
    assert detector.n_detections


def test_detectors_without_a_statistic_have_none():
    for detector in (ADWIN(), RandomAlarm(random_state=0), PageHinkley(), DDM()):
        assert np.isnan(detector.statistic)
        assert np.isnan(detector.critical_value)
    for detector in (ADWIN(), RandomAlarm(random_state=0)):
        detector.update_many(VALUES)
        assert np.isnan(detector.statistic)
