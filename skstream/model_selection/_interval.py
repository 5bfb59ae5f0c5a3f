"""Intervals around the honest score of a search."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from skstream.evaluation._results._result import EvaluationResult
from skstream.forgetting import Cumulative
from skstream.metrics import Measure
from skstream.metrics._rows import ScoredRows
from skstream.metrics._running import RunningMeasures
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.utils._label_space import LabelSpace, is_given

#: Blocks of rows, each of which is left out once.
N_BLOCKS = 20


class Interval(NamedTuple):
    """An interval and how it was made, or why there is none.

    Attributes
    ----------
    low, high : float
        Its ends; NaN where there is none.
    method : str
        In words.
    """

    low: float
    high: float
    method: str

    @classmethod
    def none(cls, reason: str) -> "Interval":
        """No interval, for a reason."""
        return cls(np.nan, np.nan, f"no interval: {reason}")


class HonestLoss:
    """Confidence sequence for the mean loss of the chosen model, row by row in constant memory.

    Parameters
    ----------
    loss : {"zero_one", "absolute"}
        Loss of a row.
    is_accuracy : bool
        Whether the score is one minus the mean loss.
    bounds : tuple of two float
        Smallest and largest possible loss.
    alpha : float
        One minus the probability with which the interval is right at all rows at once.
    """

    def __init__(
        self, loss: str, is_accuracy: bool, bounds: tuple[float, float], alpha: float
    ) -> None:
        self.loss = loss
        self.is_accuracy = is_accuracy
        self.bounds = bounds
        self.problem = ""
        self._of_nothing = bounds[0]
        self._running = RunningAnytimeComparison(bounds=bounds, alpha=alpha, record_every=1 << 40)
        self._weight: float | None = None

    def read(self, rows: ScoredRows) -> None:
        """Read rows that were asked after the choice."""
        scored = is_given(rows.y) & is_given(rows.answers[0])
        if rows.weight is not None:
            scored &= rows.weight > 0
            if scored.any():
                self._read_weights(rows.weight[scored])
        y, p = rows.y[scored], rows.answers[0][scored]
        losses = (p != y).astype(np.float64) if self.loss == "zero_one" else np.abs(p - y)
        low, high = self.bounds
        if len(losses) and not (losses.min() >= low and losses.max() <= high):
            self.problem = f"a loss is outside loss_bounds=({low:g}, {high:g})"
        if not self.problem:
            self._running.update(losses, np.full(len(losses), self._of_nothing))

    def _read_weights(self, weight: np.ndarray) -> None:
        first = float(weight[0]) if self._weight is None else self._weight
        self._weight = first
        if (weight != first).any():
            self.problem = "the rows have different weights"

    def interval(self) -> Interval:
        """Return the interval so far."""
        if self.problem or not self._running.n_rows:
            return Interval.none(self.problem or "no row was scored after the tuning rows")
        result = self._running.result()
        low, high = (self._of_nothing + end for end in result.interval)
        low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        if self.is_accuracy:
            low, high = 1.0 - high, 1.0 - low
        share = 100 * (1 - self._running.alpha)
        return Interval(
            float(low),
            float(high),
            f"{share:g} % confidence sequence of the rows that came, valid at all rows at once; "
            "where errors depend on each other, the score of the long run is in long_run_interval_",
        )


def jackknife(result: EvaluationResult, metric: str, measure: Measure, alpha: float) -> Interval:
    """Interval from the values of a measure without one block of rows after the other.

    A block is left out of the scores as rows that were not asked: baselines know its labels.
    """
    (name,) = result.model_names
    score = result.scores[name][metric]
    tape = result.tape
    if tape is None:
        return Interval.none("it needs the answers; keep them with keep_tape=True")
    y, answers = np.asarray(tape.y), np.asarray(tape.answers[name][0])
    weight = None if tape.weight is None else np.asarray(tape.weight)
    scored = is_given(y) & is_given(answers)
    if weight is not None:
        scored &= weight > 0
    rows = np.flatnonzero(scored)
    if len(rows) < 2 * N_BLOCKS:
        return Interval.none(f"fewer than {2 * N_BLOCKS} rows were scored after the tuning rows")
    table = np.repeat(answers[np.newaxis], N_BLOCKS, axis=0)
    for line, block in zip(table, np.array_split(rows, N_BLOCKS), strict=True):
        line[block] = LabelSpace(tape.classes).nothing
    scores, method = tape.scores.get(name), tape.methods.get(name)
    if scores is not None:
        scores = np.broadcast_to(np.asarray(scores[0]), (N_BLOCKS, *scores[0].shape))
    running = RunningMeasures(
        {metric: measure},
        {"": Cumulative()},
        classes=tape.classes,
        n_models=N_BLOCKS,
        methods=None if scores is None else [method] * N_BLOCKS,
    )
    running.read(ScoredRows(y, table, weight, scores=scores))
    values = np.asarray(running.final()[""][metric])
    if not (np.isfinite(values).all() and np.isfinite(score)):
        return Interval.none("the measure is undefined without some of the rows")
    spread = float(np.sum((values - values.mean()) ** 2))
    if not spread:
        return Interval.none("all blocks of rows have the same score, which tells no spread")
    error = np.sqrt((N_BLOCKS - 1) / N_BLOCKS * spread)
    half = float(stats.t.ppf(1 - alpha / 2, N_BLOCKS - 1) * error)
    low, high = measure.bounds
    return Interval(
        float(max(score - half, low)),
        float(min(score + half, high)),
        f"about {100 * (1 - alpha):g} %, from leaving out each of {N_BLOCKS} blocks of rows; "
        "blocks of dependent rows make it too narrow where the dependence is longer than a block",
    )
