"""Adaptive conformal sets of classes: how often they hold the label, and how large they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skstream.core.measures.measure import Measure
from skstream.core.measures.registry import offer_measure
from skstream.core.measures.rows import Array, Floats, ScoredRows
from skstream.core.measures.series import Column, OfColumn
from skstream.metrics._names import mean_of
from skstream.utils._choices import check_number, is_real


def coverage(alpha: float = 0.1, *, gamma: float = 0.005) -> Measure:
    """Share of the rows whose label is in the adaptive conformal set of classes.

    Parameters
    ----------
    alpha : float, default=0.1
        Share of labels that the sets may miss, in (0, 1).
    gamma : float, default=0.005
        Step of the level after every row, not negative.

    Returns
    -------
    Measure
        Called ``"coverage"``, or with another `alpha`, for example, ``"coverage:0.05"``. Evaluators
        accept both names.

    See Also
    --------
    set_size : The price of the coverage: the size of the sets.

    Notes
    -----
    A set contains every class for which one minus its probability is at most a quantile of one
    minus the probabilities of the true labels of earlier rows, a multiple of 0.001. After each row
    the level of the quantile moves by `gamma` times `alpha` minus 1 if the set missed the label, so
    that over T rows the share of misses differs from `alpha` by at most (1 + gamma) / (gamma T),
    whatever the stream does (Gibbs and Candes 2021). The sets depend on all scored rows of a model,
    each counting once, whatever the forgetting.

    References
    ----------
    I. Gibbs and E. Candes. Adaptive conformal inference under distribution shift. NeurIPS 2021.

    Examples
    --------
    >>> from skstream.metrics import coverage
    >>> coverage(0.05).name
    'coverage:0.05'
    """
    series = OfColumn(_sets(alpha, gamma, "coverage"), output=0)
    return mean_of("coverage", series, alpha, 0.1, higher_is_better=None, bounds=(0.0, 1.0))


def set_size(alpha: float = 0.1, *, gamma: float = 0.005) -> Measure:
    """Mean number of classes in the adaptive conformal sets.

    Parameters
    ----------
    alpha : float, default=0.1
        Share of labels that the sets may miss, in (0, 1).
    gamma : float, default=0.005
        Step of the level after every row, not negative.

    Returns
    -------
    Measure
        Called ``"set_size"``, or with another `alpha`, for example, ``"set_size:0.05"``. Evaluators
        accept both names.

    See Also
    --------
    coverage : How the sets are constructed.

    Examples
    --------
    >>> from skstream.metrics import set_size
    >>> set_size().higher_is_better
    False
    """
    series = OfColumn(_sets(alpha, gamma, "set_size"), output=1)
    return mean_of("set_size", series, alpha, 0.1, bounds=(0.0, math.inf))


def _sets(alpha: Any, gamma: Any, function: str) -> ConformalSets:
    if not is_real(alpha) or not 0.0 < alpha < 1.0:
        raise ValueError(
            f"The 'alpha' parameter of {function} must be within (0, 1). Got {alpha!r} instead."
        )
    gamma = check_number(gamma, f"The 'gamma' parameter of {function}")
    return ConformalSets(float(alpha), gamma)


#: Cells of equal width in which the quantile of the scores is looked for.
N_CELLS = 1000
#: A level may be that much off by rounding: ``25 * (1 - 0.44)`` is 14, and as floats a little more.
_ROUNDING = 1e-10


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
        cells = ((1.0 - scores) * N_CELLS + 10 * _ROUNDING).astype(np.int16)
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
            rank = ceil((n + 1) * (1.0 - alpha - _ROUNDING))
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


offer_measure(coverage(), "share of labels inside conformal sets", coverage, float)
offer_measure(set_size(), "mean number of classes in conformal sets", set_size, float)
