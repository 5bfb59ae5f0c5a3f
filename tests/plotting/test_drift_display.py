"""A drift detector at work, drawn."""

import numpy as np
import pytest

from skstream import (
    DelayedEvaluator,
    DriftMonitor,
    FadingFactor,
    KFoldEvaluator,
    PrequentialEvaluator,
)
from skstream.drift import ADWIN, DDM, ErrorRatio, PageHinkley, RandomAlarm
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import DriftDisplay
from skstream.streams import SEA

pytest.importorskip("matplotlib")

STREAM = SEA(3000, thresholds=(8, 9, 7), random_state=0)
MODEL = {"bayes": IncrementalGaussianNB()}
RESULT = PrequentialEvaluator("error", forgetting=["cumulative", "window:200"]).evaluate(
    MODEL, STREAM
)


@pytest.mark.parametrize(
    ("detector", "has_statistic", "has_critical"),
    [
        (PageHinkley(3, delta=0.005), True, True),
        (DDM(warning_level=1.0, drift_level=1.5), True, True),
        (ErrorRatio(threshold=3, delta=0.005), True, True),
        (ADWIN(delta=0.5), True, False),
        (RandomAlarm(0.01), False, False),
    ],
)
def test_the_statistic_reaches_its_critical_value_at_the_alarms_alone(
    detector, has_statistic, has_critical
):
    monitor = DriftMonitor(detector)
    drawn = DriftDisplay.from_result(RESULT, monitor=monitor)
    assert (drawn.statistic is not None, drawn.critical_value is not None) == (
        has_statistic,
        has_critical,
    )
    assert len(drawn.axes_) == 1 + has_statistic
    assert list(drawn.estimates) == ["cumulative", "window:200"]
    found = RESULT.detect(monitor)["bayes"]
    np.testing.assert_array_equal(drawn.detections.alarms, found.alarms)
    assert len(found.alarms)
    if has_critical:
        rows, statistic = drawn.statistic
        reached = rows[statistic >= drawn.critical_value]
        assert set(found.alarms + 1) <= set(reached)
        if not isinstance(detector, DDM):  # which begins anew at its least value, without errors
            assert set(reached) == set(found.alarms + 1)


def test_what_the_detector_reads_is_drawn_where_it_is_a_mean():
    monitor = DriftMonitor(PageHinkley(5, delta=0.005), on="window:200")
    drawn = DriftDisplay.from_result(RESULT, monitor=monitor, forgetting="window:200")
    assert list(drawn.estimates) == ["window:200", "read by the detector"]
    rows, values = drawn.estimates["read by the detector"]
    checkpoints, own = drawn.estimates["window:200"]
    both, at, among = np.intersect1d(rows, checkpoints, return_indices=True)
    assert len(both) > 50
    np.testing.assert_allclose(values[at], own[among], atol=1e-12)


def test_a_fold_and_other_measures():
    folds = KFoldEvaluator(["error", "kappa"], n_folds=2, random_state=0).evaluate(MODEL, STREAM)
    monitor = DriftMonitor(ADWIN(delta=0.5), on=("kappa", FadingFactor(0.99)))
    drawn = DriftDisplay.from_result(folds, "kappa", monitor=monitor, fold=1, drifts=())
    np.testing.assert_array_equal(
        drawn.estimates["cumulative"][1], folds.curve("bayes", "kappa")[:, 1]
    )
    assert drawn.detections.fold == 1
    assert drawn.metric == "kappa"


def test_the_frame_holds_lines_and_alarms():
    pytest.importorskip("pandas")
    drawn = DriftDisplay.from_result(RESULT, monitor=DriftMonitor(PageHinkley(3, delta=0.005)))
    frame = drawn.to_frame()
    assert set(frame.series) >= {"cumulative", "window:200", "statistic", "critical value", "alarm"}
    alarms = frame[frame.series == "alarm"].row
    assert alarms.tolist() == (drawn.detections.alarms + 1).tolist()


def test_bad_input_is_named():
    late = DelayedEvaluator("accuracy", delay=3, n_bins=2).evaluate(MODEL, STREAM)
    monitor = DriftMonitor(DDM())
    with pytest.raises(TypeError, match=r"without bins\. Got DelayedResult"):
        DriftDisplay.from_result(late, monitor=monitor)
    with pytest.raises(TypeError, match="must be a DriftMonitor"):
        DriftDisplay.from_result(RESULT, monitor=DDM())
    with pytest.raises(TypeError, match=r"Got 'ph': a result keeps.* Pass the DriftMonitor that"):
        DriftDisplay.from_result(RESULT, monitor="ph")
    two = PrequentialEvaluator("error").evaluate({"a": MODEL["bayes"], "b": MODEL["bayes"]}, STREAM)
    with pytest.raises(ValueError, match=r"several models, \['a', 'b'\].* pass model="):
        DriftDisplay.from_result(two, monitor=monitor)
    with pytest.raises(KeyError, match="sgd"):
        DriftDisplay.from_result(RESULT, monitor=monitor, model="sgd")
    with pytest.raises(ValueError, match="fold"):
        DriftDisplay.from_result(RESULT, monitor=monitor, fold=3)
    without = PrequentialEvaluator("error", keep_tape=False).evaluate(MODEL, STREAM)
    with pytest.raises(ValueError, match="keep_tape=True"):
        DriftDisplay.from_result(without, monitor=monitor)
