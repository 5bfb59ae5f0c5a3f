"""Marks of what drift monitors found, in the displays."""

import numpy as np
import pytest

from skstream import (
    DelayedEvaluator,
    DriftMonitor,
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    PrequentialEvaluator,
)
from skstream.drift import DDM, Detections, RandomAlarm
from skstream.plotting import PrequentialDisplay
from skstream.streams import SEA

pyplot = pytest.importorskip("matplotlib.pyplot")

MODELS = {"a": Persistent(), "b": MajorityClass()}
MONITORS = {
    "random": DriftMonitor(RandomAlarm(0.05, warm_up=0, random_state=0)),
    "ddm": DriftMonitor(DDM(min_values=5)),
}
STREAM = SEA(300, random_state=0)


def lanes(ax):
    """The axes that hold the marks, if there are any."""
    return [child for child in ax.child_axes if child.get_label() == "detections"]


def marks(above):
    """Rows marked, by lane, part of the lane (as 0 or 1) and width of the mark."""
    found = {}
    for collection in above.collections:
        segments = np.array(collection.get_segments())
        middle = segments[0, :, 1].mean()
        wide = float(collection.get_linewidth()[0]) > 1
        key = (int(middle), int(middle % 1 > 0.5), "alarm" if wide else "warning")
        found[key] = segments[:, 0, 0].tolist()
    return found


def entries(drawn):
    return [text.get_text() for text in drawn.legend_.get_texts()]


def test_every_alarm_and_warning_is_marked_in_the_lane_of_its_monitor() -> None:
    result = PrequentialEvaluator("accuracy", monitors=MONITORS).evaluate(MODELS, STREAM)
    drawn = result.plot()
    (above,) = lanes(drawn.ax_)
    assert [label.get_text() for label in above.get_yticklabels()] == ["random", "ddm"]
    found = marks(above)
    wanted = {}
    for lane, monitor in enumerate(MONITORS):
        for part, model in enumerate(MODELS):
            one = result.detections[monitor][model]
            for rows, what in ((one.alarms, "alarm"), (one.warnings, "warning")):
                if len(rows):
                    wanted[lane, part, what] = (rows + 1).tolist()
    assert found == wanted
    assert (1, 1, "warning") in wanted
    assert entries(drawn)[-2:] == ["alarm", "warning"]
    assert lanes(result.plot(detections={}).ax_) == []
    (above,) = lanes(result.plot(models="b", detections={"ddm": result.detections["ddm"]}).ax_)
    assert {lane for lane, _, _ in marks(above)} == {0}
    after = result.detect(MONITORS["random"])
    (above,) = lanes(result.plot(detections={"again": after}).ax_)
    assert marks(above)[0, 0, "alarm"] == wanted[0, 0, "alarm"]


def test_folds_and_labelled_rows_are_marked_too() -> None:
    options = {"monitors": {"random": MONITORS["random"]}}
    folds = KFoldEvaluator("accuracy", n_folds=2, random_state=0, **options).evaluate(
        MODELS["a"], STREAM
    )
    found = folds.detections["random"]["Persistent"]
    (above,) = lanes(folds.plot().ax_)
    rows = [row + 1 for one in found for row in one.alarms.tolist()]
    assert marks(above) == {(0, 0, "alarm"): rows}
    late = DelayedEvaluator("accuracy", delay=7, n_bins=2, **options).evaluate(MODELS, STREAM)
    (above,) = lanes(late.plot(kind="time").ax_)
    rows = late.detections["random"]["a"].alarms
    assert marks(above)[0, 0, "alarm"] == (rows + 1).tolist()
    assert lanes(late.plot().ax_) == []  # by bin: there are no rows along the axis


def test_in_axes_of_the_user_the_lanes_are_within() -> None:
    result = PrequentialEvaluator("accuracy", monitors=MONITORS).evaluate(MODELS, STREAM)
    figure, ax = pyplot.subplots()
    result.plot(ax=ax)
    figure.canvas.draw()
    (above,) = lanes(ax)
    assert above.get_window_extent().y1 <= ax.get_window_extent().y1 + 1
    before = result.plot(detections={}).ax_.get_ylim()
    assert ax.get_ylim()[0] == before[0]
    assert ax.transData.transform((0, before[1]))[1] <= above.get_window_extent().y0
    legend = ax.get_legend().get_window_extent()
    assert not above.get_window_extent().overlaps(legend)
    assert [text.get_text() for text in above.texts] == ["random", "ddm"]


@pytest.mark.parametrize("wrong", [[3], {"ddm": [3]}, {"ddm": {"a": [3]}}, {"ddm": {"a": []}}])
def test_what_are_no_detections_is_named(wrong) -> None:
    with pytest.raises(TypeError, match="detections must be a dict by monitor of dicts by model"):
        PrequentialDisplay(
            checkpoints=np.array([1]),
            curves={"a": np.array([[0.5]])},
            metric="accuracy",
            forgetting="cumulative",
            detections=wrong,
        )


def test_detections_without_a_row_leave_an_empty_lane() -> None:
    none = np.empty(0, dtype=np.int64)
    silent = {"ddm": {"a": Detections(monitor="ddm", model="a", alarms=none, warnings=none.copy())}}
    drawn = PrequentialDisplay(
        checkpoints=np.array([1, 2]),
        curves={"a": np.array([[0.5], [0.5]])},
        metric="accuracy",
        forgetting="cumulative",
        detections=silent,
    ).plot()
    (above,) = lanes(drawn.ax_)
    assert marks(above) == {}
    assert entries(drawn) == ["a"]
