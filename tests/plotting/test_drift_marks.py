"""Marks of known drifts in the displays."""

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
from skstream.drift import DDM
from skstream.plotting import ComparisonDisplay, FoldDisplay, PrequentialDisplay
from skstream.streams import SEA, Drift
from skstream.streams._arrays import ArrayStream

pytest.importorskip("matplotlib")


class Drifting(ArrayStream):
    """Rows in memory whose truth is said to change."""

    drifts = (Drift(150, 160),)


def entries(legend) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def spans(ax) -> list[tuple[float, float, float]]:
    """Begin, end and bottom of the bands that mark gradual drifts."""
    boxes = [patch.get_bbox() for patch in ax.patches if patch.get_hatch()]
    return [(box.x0, box.x1, box.y0) for box in boxes]


def display(drifts):
    return PrequentialDisplay(
        checkpoints=np.arange(10, 1001, 10),
        curves={"model": np.full((100, 1), 0.5)},
        metric="accuracy",
        forgetting="cumulative",
        drifts=drifts,
    ).plot()


def test_gradual_drifts_are_bands_and_those_all_along_the_stream_a_strip() -> None:
    drawn = display([200, (400, 500), (900, 10**6), (10**6, 10**7)])
    assert entries(drawn.legend_) == ["model", "known drift", "known gradual drift"]
    end = float(drawn.checkpoints[-1])
    assert spans(drawn.ax_) == [(400, 500, 0), (900, end, 0)]
    ((start, stop, bottom),) = spans(display([(1, 10**6)]).ax_)
    assert (start, stop) == (1, end)
    assert bottom > 0.9


def test_drifts_of_the_stream_are_drawn_without_being_given() -> None:
    rows = SEA(300, thresholds=(8, 9)).rows(0, 300)
    stream = Drifting(*rows)
    two = {"a": Persistent(), "b": MajorityClass()}
    result = PrequentialEvaluator("accuracy", n_warmup=20).evaluate(two, stream)
    folds = KFoldEvaluator("accuracy", n_folds=2, random_state=0).evaluate(two, stream)
    late = DelayedEvaluator("accuracy", delay=7, n_bins=2).evaluate(two, stream)
    for drawn in (
        result.plot(),
        FoldDisplay.from_result(folds),
        late.plot(kind="time"),
        late.select(bins=0).plot(),
    ):
        assert spans(drawn.ax_) == [(150, 160, 0)]
        assert "known gradual drift" in entries(drawn.legend_)
    assert spans(result.plot(drifts=()).ax_) == []
    assert spans(result.plot(drifts=[(30, 40)]).ax_) == [(30, 40, 0)]
    assert spans(late.plot().ax_) == []
    found = {"ddm": late.detect(DriftMonitor(DDM()))}
    with pytest.raises(ValueError, match=r"kind='bins' has no time: .* result.select\(bins=b\)"):
        late.plot(detections=found)
    assert late.plot(detections=found, kind="time").detections is found
    # The rows of a comparison begin after the warm-up.
    drawn = ComparisonDisplay.from_evaluation(result, "a", "b")
    assert [spans(ax) for ax in drawn.axes_] == [[(130, 140, 0)]] * 3
    drawn = ComparisonDisplay.from_evaluation(result, "a", "b", drifts=[(30, 40)])
    assert spans(drawn.ax_) == [(10, 20, 0)]
