"""Marks of known drifts and of what monitors found, a detector at work, and times along an axis."""

from typing import Any

import numpy as np
import pytest

import skstream as sk
from skstream.core.rows.arrays import ArrayStream
from skstream.drift import DDM, RandomAlarm
from skstream.drift._detect import Detections
from skstream.plotting import ComparisonDisplay, FoldDisplay, PrequentialDisplay
from skstream.streams import SEA, Drift

pyplot = pytest.importorskip("matplotlib.pyplot")
dates = pytest.importorskip("matplotlib.dates")

MODELS = {"a": sk.Persistent(), "b": sk.MajorityClass()}


def entries(drawn):
    return [text.get_text() for text in drawn.legend_.get_texts()]


def display(**options):
    """One model whose curve is flat."""
    return PrequentialDisplay(
        checkpoints=np.arange(10, 1001, 10),
        curves={"a": np.full((100, 1), 0.5)},
        metric="accuracy",
        forgetting="cumulative",
        **options,
    )


# --- what monitors found ------------------------------------------------------------------------

MONITORS = {
    "random": sk.DriftMonitor(RandomAlarm(0.05, warm_up=0, random_state=0)),
    "ddm": sk.DriftMonitor(DDM(min_values=5)),
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


def test_every_alarm_and_warning_is_marked_in_the_lane_of_its_monitor() -> None:
    result = sk.PrequentialEvaluator("accuracy").evaluate(MODELS, STREAM)
    detections = sk.detect(result, MONITORS)
    drawn = result.plot(detections=detections)
    (above,) = lanes(drawn.ax_)
    assert [label.get_text() for label in above.get_yticklabels()] == ["random", "ddm"]
    found = marks(above)
    wanted = {}
    for lane, monitor in enumerate(MONITORS):
        for part, model in enumerate(MODELS):
            one = detections[monitor][model]
            for rows, what in ((one.alarms, "alarm"), (one.warnings, "warning")):
                if len(rows):
                    wanted[lane, part, what] = (rows + 1).tolist()
    assert found == wanted
    assert (1, 1, "warning") in wanted
    assert entries(drawn)[-2:] == ["alarm", "warning"]
    assert lanes(result.plot().ax_) == []
    (above,) = lanes(result.plot(models="b", detections={"ddm": detections["ddm"]}).ax_)
    assert {lane for lane, _, _ in marks(above)} == {0}


def test_folds_and_labelled_rows_are_marked_too() -> None:
    random = {"random": MONITORS["random"]}
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0)
    folds = evaluator.evaluate(MODELS["a"], STREAM)
    detections = sk.detect(folds, random)
    found = detections["random"]["Persistent"]
    (above,) = lanes(folds.plot(detections=detections).ax_)
    rows = [row + 1 for one in found for row in one.alarms.tolist()]
    assert marks(above) == {(0, 0, "alarm"): rows}
    late = sk.DelayedEvaluator("accuracy", delay=7, polling=sk.Polling(n_bins=2)).evaluate(
        MODELS, STREAM
    )
    detections = sk.detect(late, random)
    (above,) = lanes(late.plot(kind="time", detections=detections).ax_)
    rows = detections["random"]["a"].alarms
    assert marks(above)[0, 0, "alarm"] == (rows + 1).tolist()
    assert lanes(late.plot().ax_) == []  # by bin: there are no rows along the axis


def test_in_axes_of_the_user_the_lanes_are_within() -> None:
    result = sk.PrequentialEvaluator("accuracy").evaluate(MODELS, STREAM)
    figure, ax = pyplot.subplots()
    result.plot(ax=ax, detections=sk.detect(result, MONITORS))
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
        display(detections=wrong)


def test_detections_without_a_row_leave_an_empty_lane() -> None:
    none = np.empty(0, dtype=np.int64)
    silent = {"ddm": {"a": Detections(monitor="ddm", model="a", alarms=none, warnings=none.copy())}}
    drawn = display(detections=silent).plot()
    (above,) = lanes(drawn.ax_)
    assert marks(above) == {}
    assert entries(drawn) == ["a"]


# --- known drifts ---------------------------------------------------------------------------------


class Drifting(ArrayStream):
    """Rows in memory whose truth is said to change."""

    drifts = (Drift(150, 160),)


def spans(ax) -> list[tuple[float, float, float]]:
    """Begin, end and bottom of the bands that mark gradual drifts."""
    boxes = [patch.get_bbox() for patch in ax.patches if patch.get_hatch()]
    return [(box.x0, box.x1, box.y0) for box in boxes]


def test_gradual_drifts_are_bands_and_those_all_along_the_stream_a_strip() -> None:
    drawn = display(drifts=[200, (400, 500), (900, 10**6), (10**6, 10**7)]).plot()
    assert entries(drawn) == ["a", "known drift", "known gradual drift"]
    end = float(drawn.checkpoints[-1])
    assert spans(drawn.ax_) == [(400, 500, 0), (900, end, 0)]
    ((start, stop, bottom),) = spans(display(drifts=[(1, 10**6)]).plot().ax_)
    assert (start, stop) == (1, end)
    assert bottom > 0.9


def test_drifts_of_the_stream_are_drawn_without_being_given() -> None:
    rows = SEA(300, thresholds=(8, 9)).rows(0, 300)
    stream = Drifting(*rows)
    result = sk.PrequentialEvaluator("accuracy", n_warmup=20).evaluate(MODELS, stream)
    folds = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0).evaluate(MODELS, stream)
    late = sk.DelayedEvaluator("accuracy", delay=7, polling=sk.Polling(n_bins=2)).evaluate(
        MODELS, stream
    )
    for drawn in (
        result.plot(),
        FoldDisplay.from_result(folds),
        late.plot(kind="time"),
        late.select(bins=0).plot(),
    ):
        assert spans(drawn.ax_) == [(150, 160, 0)]
        assert "known gradual drift" in entries(drawn)
    assert spans(result.plot(drifts=()).ax_) == []
    assert spans(result.plot(drifts=[(30, 40)]).ax_) == [(30, 40, 0)]
    assert spans(late.plot().ax_) == []
    found = sk.detect(late, {"ddm": DDM()})
    with pytest.raises(ValueError, match=r"kind='bins' has no time: .* result.select\(bins=b\)"):
        late.plot(detections=found)
    assert late.plot(detections=found, kind="time").detections is found
    # The rows of a comparison begin after the warm-up.
    drawn = ComparisonDisplay.from_evaluation(result, "a", "b")
    assert [spans(ax) for ax in drawn.axes_] == [[(130, 140, 0)]] * 3
    drawn = ComparisonDisplay.from_evaluation(result, "a", "b", drifts=[(30, 40)])
    assert spans(drawn.ax_) == [(10, 20, 0)]


# --- times along the axis ---------------------------------------------------------------------

N = 400
Y = np.random.default_rng(0).integers(0, 2, N)
TIMES = np.datetime64("2025-01-01", "us") + np.arange(N) * np.timedelta64(6, "h")


def evaluated(evaluator: Any) -> Any:
    return evaluator.evaluate(MODELS, np.zeros((N, 1)), Y, arrival=TIMES)


def test_curves_events_and_limits_stand_at_their_times(pd: Any) -> None:
    result = evaluated(sk.PrequentialEvaluator("accuracy", forgetting="window:7D"))
    shown = result.plot(drifts=[200], detections=sk.detect(result, {"ddm": DDM()}))
    x = shown.lines_["a"].get_xdata()
    np.testing.assert_allclose(x, dates.date2num(result.times))
    assert shown.ax_.get_xlim() == (x[0], x[-1])
    assert shown.ax_.get_xlabel() == "time"
    drift = next(line for line in shown.ax_.lines if len(set(line.get_xdata())) == 1)
    assert drift.get_xdata()[0] == pytest.approx(dates.date2num(TIMES[199]))
    assert pd.api.types.is_datetime64_any_dtype(shown.to_frame()["time"])


def test_folds_and_groups_too() -> None:
    folds = evaluated(
        sk.KFoldEvaluator("accuracy", n_folds=3, forgetting="window:7D", random_state=0)
    )
    shown = folds.plot(spread="lines")
    expected = dates.date2num(folds.times)
    for line in shown.ax_.lines[:8]:
        np.testing.assert_allclose(line.get_xdata(), expected)
    result = evaluated(sk.PrequentialEvaluator("accuracy", record_every="7D"))
    groups = sk.score_slices(result, np.arange(N) % 2, record_every="7D").plot()
    for line in groups.lines_.values():
        np.testing.assert_allclose(line.get_xdata(), dates.date2num(result.times))
