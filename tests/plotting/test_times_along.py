"""Times along the axis, where a result has them."""

from typing import Any

import numpy as np
import pytest

from skstream import (
    DriftMonitor,
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    PrequentialEvaluator,
    score_slices,
)
from skstream.drift import DDM

pytest.importorskip("matplotlib")
dates = pytest.importorskip("matplotlib.dates")

N = 400
Y = np.random.default_rng(0).integers(0, 2, N)
TIMES = np.datetime64("2025-01-01", "us") + np.arange(N) * np.timedelta64(6, "h")
MODELS = {"last": Persistent(), "most": MajorityClass()}


def evaluated(evaluator: Any) -> Any:
    return evaluator.evaluate(MODELS, np.zeros((N, 1)), Y, arrival=TIMES)


def test_curves_events_and_limits_stand_at_their_times() -> None:
    monitors = {"ddm": DriftMonitor(DDM())}
    result = evaluated(PrequentialEvaluator("accuracy", forgetting="window:7D", monitors=monitors))
    shown = result.plot(drifts=[200])
    x = shown.lines_["last"].get_xdata()
    np.testing.assert_allclose(x, dates.date2num(result.times))
    assert shown.ax_.get_xlim() == (x[0], x[-1])
    assert shown.ax_.get_xlabel() == "time"
    drift = next(line for line in shown.ax_.lines if len(set(line.get_xdata())) == 1)
    assert drift.get_xdata()[0] == pytest.approx(dates.date2num(TIMES[199]))
    pandas = pytest.importorskip("pandas")
    assert pandas.api.types.is_datetime64_any_dtype(shown.to_frame()["time"])


def test_folds_and_groups_too() -> None:
    folds = evaluated(KFoldEvaluator("accuracy", n_folds=3, forgetting="window:7D", random_state=0))
    shown = folds.plot(spread="lines")
    expected = dates.date2num(folds.times)
    for line in shown.ax_.lines[:8]:
        np.testing.assert_allclose(line.get_xdata(), expected)
    result = evaluated(PrequentialEvaluator("accuracy", record_every="7D"))
    groups = score_slices(result, np.arange(N) % 2, record_every="7D").plot()
    for line in groups.lines_.values():
        np.testing.assert_allclose(line.get_xdata(), dates.date2num(result.times))
