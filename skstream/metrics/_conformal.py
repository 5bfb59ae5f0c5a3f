"""Adaptive conformal sets of classes, learnt from the rows before each row."""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar, NamedTuple

import numpy as np

from skstream.metrics._columns import Column
from skstream.metrics._rows import Array, Floats, ScoredRows

#: Cells of equal width in which the quantile of the scores is looked for.
N_CELLS = 1000


class _State(NamedTuple):
    """Where the quantile stands.

    Attributes
    ----------
    counts : tuple of int
        Rows in each cell.
    n_rows : int
        All rows.
    cell : int
        The cell of the latest quantile.
    reached : int
        Rows in the cells up to it.
    alpha : float
        Level that is aimed at for the next row.
    n_classes : int
        Number of classes.
    """

    counts: tuple[int, ...]
    n_rows: int
    cell: int
    reached: int
    alpha: float
    n_classes: int


@dataclass(frozen=True)
class ConformalSets(Column):
    """Sets of all classes whose probability is not much smaller than labels had before.

    A class belongs to the set if one minus its probability is at most the quantile of one minus
    the probabilities that the labels before had. The level moves after every row by `gamma` times
    alpha, less 1 where the set missed the label (Gibbs & Candes 2021).
    """

    alpha: float
    gamma: float

    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> _State:
        """Return a state without rows, in which a set holds all classes."""
        return _State((0,) * N_CELLS, 0, 0, 0, self.alpha, n_classes)

    def read(self, rows: ScoredRows, state: _State) -> tuple[tuple[Array, Floats], _State]:
        """Return whether the set of each row has the label, and its size."""
        scores = rows.s
        if scores.shape[1] == 1:
            scores = np.column_stack((1.0 - scores[:, 0], scores[:, 0]))[:, : state.n_classes]
        cells = ((1.0 - scores) * N_CELLS).astype(np.int16)
        np.clip(cells, 0, N_CELLS - 1, out=cells)
        of_labels = cells[np.arange(len(rows)), rows.y]
        quantiles, state = self._quantiles(of_labels.tolist(), state)
        limits = np.asarray(quantiles, dtype=np.int16)
        sizes = np.count_nonzero(cells <= limits[:, np.newaxis], axis=1)
        return (of_labels <= limits, sizes.astype(np.float64)), state

    def _quantiles(self, cells: list[int], state: _State) -> tuple[list[int], _State]:
        """Cell up to which classes belong to each row's set."""
        counts, (_, n, cell, reached, alpha, _) = list(state.counts), state
        quantiles = []
        for own in cells:
            rank = ceil((n + 1) * (1.0 - alpha))
            if rank > n:
                limit = N_CELLS
            elif rank <= 0:
                limit = -1
            else:
                while reached < rank:
                    cell += 1
                    reached += counts[cell]
                while reached - counts[cell] >= rank:
                    reached -= counts[cell]
                    cell -= 1
                limit = cell
            quantiles.append(limit)
            alpha += self.gamma * (self.alpha - (own > limit))
            counts[own] += 1
            n += 1
            reached += own <= cell
        after = _State(tuple(counts), n, cell, reached, alpha, state.n_classes)
        return quantiles, after
