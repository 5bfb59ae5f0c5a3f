"""Decisions that probabilities lead to: their costs, hits by class, and the k best classes."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skstream.metrics._columns import Column, OfColumn
from skstream.metrics._formulas import Sums, geometric_mean, ratio
from skstream.metrics._rows import UNANSWERED, Array, Floats, ScoredRows
from skstream.utils._running_sums import running_sums

#: The best threshold so far is looked for among the multiples of one over this, and "never".
GRID = 100
#: Row and column of a cost matrix: the class that came, and the one that was decided for.
Matrix = tuple[tuple[float, ...], ...]
# 0.29 * 100 is less than 29.
_ROUNDING = 1e-9
# Rows whose costs at all thresholds are formed at a time: a table that fits the cache.
_ROWS_AT_A_TIME = 512


@dataclass(frozen=True)
class TopK(Column):
    """Whether the label is among the k most probable classes; ties as in scikit-learn."""

    k: int

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array], Any]:
        """Return whether each row is a hit."""
        scores, y = rows.s, rows.y
        if scores.shape[1] == 1:  # of two classes the first wins ties, else the last
            hit = (scores[:, 0] > 0.5) == (y == 1)
            return (hit if self.k == 1 else np.ones(len(y), dtype=bool),), state
        own = scores[np.arange(len(y)), y][:, np.newaxis]
        later = np.arange(scores.shape[1]) > y[:, np.newaxis]
        better = np.count_nonzero((scores > own) | ((scores == own) & later), axis=1)
        return (better < self.k,), state


@dataclass(frozen=True)
class AnswerCosts(Column):
    """Cost of each answer; of no answer that of the dearest one."""

    matrix: Matrix

    of_scores: ClassVar[bool] = False

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the cost of every row."""
        costs = np.asarray(self.matrix)
        of_rows = costs[rows.y, rows.p]
        return (np.where(rows.p == UNANSWERED, costs.max(axis=1)[rows.y], of_rows),), state


@dataclass(frozen=True)
class ExpectedCosts(Column):
    """Cost of the class that has the smallest expected cost by the probabilities."""

    matrix: Matrix

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the cost of every row."""
        costs, scores = np.asarray(self.matrix), rows.s
        if scores.shape[1] == 1 and len(costs) == 2:
            scores = np.column_stack((1.0 - scores[:, 0], scores[:, 0]))
        expected = scores @ costs
        # Of equal ones the last, as where a probability is at the threshold.
        decided = expected.shape[1] - 1 - expected[:, ::-1].argmin(axis=1)
        return (costs[rows.y, decided],), state


@dataclass(frozen=True)
class ThresholdCosts(Column):
    """Cost of deciding for the second of two classes from a probability on."""

    matrix: Matrix
    threshold: float

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the cost of every row."""
        decided = (rows.s[:, 0] >= self.threshold).astype(np.intp)
        return (np.asarray(self.matrix)[rows.y, decided],), state


@dataclass(frozen=True)
class ThresholdHits(Column):
    """The label, and whether the decision at a threshold is right."""

    threshold: float

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, Array], Any]:
        """Return labels and hits."""
        return (rows.y, (rows.s[:, 0] >= self.threshold) == (rows.y == 1)), state


@dataclass(frozen=True)
class BestThresholdCosts(Column):
    """Cost at the threshold that had cost least in the rows before."""

    matrix: Matrix

    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> Floats:
        """Return no cost at any threshold."""
        return np.zeros(GRID + 2)

    def read(self, rows: ScoredRows, state: Floats) -> tuple[tuple[Floats], Floats]:
        """Return the cost of every row."""
        (miss_or_right, false_or_right) = np.asarray(self.matrix).T
        order = _order(_elkan(self.matrix))
        cells, decided = _cells(rows), np.empty(len(rows), dtype=np.intp)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            y, above = rows.y[some, np.newaxis], order <= cells[some, np.newaxis]
            costs = np.where(above, false_or_right[y], miss_or_right[y])
            totals = running_sums(state, _weighted(costs, rows, some))
            best = order[totals[:-1].argmin(axis=1)]
            decided[some] = best <= cells[some]
            state = totals[-1].copy()
        return (np.asarray(self.matrix)[rows.y, decided],), state


class _Rates(NamedTuple):
    """Weights of right rows of either class at every threshold."""

    first: Floats
    second: Floats


@dataclass(frozen=True)
class BestThresholdHits(Column):
    """The label, and the hit at the threshold that had the best geometric mean before."""

    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> _Rates:
        """Return no rows."""
        return _Rates(np.zeros(GRID + 2), np.zeros(GRID + 2))

    def read(self, rows: ScoredRows, state: _Rates) -> tuple[tuple[Array, Array], _Rates]:
        """Return labels and hits."""
        order, cells = _order(0.5), _cells(rows)
        hits = np.empty(len(rows), dtype=bool)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            second, above = rows.y[some] == 1, order <= cells[some, np.newaxis]
            right = [~second[:, np.newaxis] & ~above, second[:, np.newaxis] & above]
            totals = [
                running_sums(before, _weighted(of_class, rows, some))
                for before, of_class in zip(state, right, strict=True)
            ]
            # Both shares have the same denominators at all thresholds. Before both classes have
            # come all products are 0, and the first threshold is the one in the middle.
            best = order[(totals[0][:-1] * totals[1][:-1]).argmax(axis=1)]
            hits[some] = (best <= cells[some]) == second
            state = _Rates(totals[0][-1].copy(), totals[1][-1].copy())
        return (rows.y, hits), state


@dataclass(frozen=True)
class GeometricMean:
    """Geometric mean of the shares of hits in the classes that came.

    Attributes
    ----------
    hits : OfColumn
        Series of the hits by class.
    """

    hits: OfColumn

    def __call__(self, sums: Sums) -> Floats:
        """Return the mean at every checkpoint."""
        label = sums.table("label")
        hits = sums.table(self.hits)[: len(label)]
        mean = geometric_mean(ratio(hits, label, sums["rows"]))
        return np.where(np.isnan(hits).any(axis=0), np.nan, mean)


def _cells(rows: ScoredRows) -> Array:
    """Number of the last threshold of the grid that each probability reaches."""
    cells: Array = np.floor(rows.s[:, 0] * GRID + _ROUNDING).astype(np.int16)
    return cells


def _order(wanted: float) -> Array:
    """Numbers of the thresholds, those nearest to the wanted one first; the last is "never"."""
    away = np.abs(np.arange(GRID + 2) / GRID - wanted)
    return np.argsort(away, kind="stable").astype(np.int16)


def _elkan(matrix: Matrix) -> float:
    """Threshold at which both decisions have the same expected cost, where there is one."""
    (right_first, false_alarm), (miss, right_second) = matrix
    saved = (false_alarm - right_first) + (miss - right_second)
    return float(np.clip((false_alarm - right_first) / saved, 0.0, 1.0)) if saved > 0.0 else 0.5


def _weighted(values: Array, rows: ScoredRows, some: slice) -> Array:
    return values if rows.weight is None else values * rows.weight[some, np.newaxis]
