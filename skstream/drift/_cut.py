"""ADWIN's test of a window at the bucket boundaries."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skstream.drift._histogram import MAX_BUCKETS, Floats, Moments, Table

MIN_WIDTH = 10  # a window must be wider to be tested, as in MOA


@dataclass(frozen=True)
class CutRule:
    """The test of ADWIN: whether the means of two parts of a window differ too much."""

    delta: float
    min_window: int
    bound: str

    def cuts(self, table: Table) -> NDArray[np.bool_]:
        """Tell which windows have a boundary whose two sides differ.

        Every number is found by a fixed sequence of operations from the window's own buckets
        (running sums, never a reduction whose order depends on the shape), so that the
        verdict does not depend on which windows are tested together.
        """
        n0 = table.sizes.cumsum(axis=1)
        sum0 = table.sums.cumsum(axis=1)
        n, total = n0[:, -1:], sum0[:, -1:]
        n1 = n - n0
        allowed = (n0 >= self.min_window) & (n1 >= self.min_window) & (n > MIN_WIDTH)
        with np.errstate(divide="ignore", invalid="ignore"):  # where it is not allowed
            gap = np.abs(sum0 / n0 - (total - sum0) / n1)
            cut = allowed & (gap > self._threshold(table, n0, n1, total))
        return np.asarray(cut.any(axis=1))

    def _threshold(self, table: Table, n0: Floats, n1: Floats, total: Floats) -> Floats:
        n = n0[:, -1:]
        log = self._log(n)
        if self.theorem:
            return np.sqrt((0.5 * log) * (1 / n0 + 1 / n1))
        deviation = table.sums - table.sizes * (total / n)
        spread = table.spreads + deviation * deviation / np.maximum(table.sizes, 1.0)
        variance = spread.cumsum(axis=1)[:, -1:] / n
        reciprocal = 1 / (n0 - 4) + 1 / (n1 - 4)
        return np.sqrt((2 * variance * log) * reciprocal) + (2 / 3 * log) * reciprocal

    @property
    def theorem(self) -> bool:
        """Whether the bound is that of the theorem."""
        return self.bound == "theorem"

    def logarithm(self, width: float) -> float:
        """Return the bound's logarithm, by the C library: bit-equal for one window or many."""
        if self.theorem:
            return math.log(4 * width / self.delta)
        return math.log(2 * math.log(width) / self.delta)

    def _log(self, n: Floats) -> Floats:
        widths = np.maximum(n[:, 0], MIN_WIDTH).tolist()  # smaller windows are not tested
        return np.array([self.logarithm(width) for width in widths]).reshape(-1, 1)

    def suspects(self, moments: Moments, squares: Floats) -> NDArray[np.intp]:
        """Find the windows that `cuts` could possibly cut, with less work.

        Let q = n / (n0 n1), which the bound's sum of reciprocals never falls below, and D the
        sum of the older side less its share of the total, so that the means differ by D q. A
        cut then needs |D| > sqrt(2 log variance / q) + 2/3 log by the "moa" bound, and
        |D| > sqrt(log / (2 q)) by the "theorem". The guards are far larger than rounding errors.

        Parameters
        ----------
        moments : Moments
            The windows.
        squares : ndarray of shape (n_moments,)
            Sum of the squares of each window's centred values.

        Returns
        -------
        ndarray of shape (n_suspects,), dtype intp
            Which of the moments.
        """
        n0 = moments.sizes.cumsum(axis=1)
        excess = moments.sums().cumsum(axis=1)
        n, total = n0[:, -1:], excess[:, -1:]
        squares = squares[:, None]
        guard = 1e-12 * np.sqrt(n * squares)
        if self.theorem:
            factor = 0.5 * np.log(4 * n / self.delta) / n
        else:
            log = np.log(2 * np.log(np.maximum(n, MIN_WIDTH)) / self.delta)
            spread = np.maximum((1 - 1e-9) * squares - total * total / n, 0.0)
            factor = 2 * log * spread / (n * n)
            guard -= 2 / 3 * log
        # The buckets of one value end at boundaries with at most 4 values on the newer side.
        n0, excess = n0[:, :-MAX_BUCKETS], excess[:, :-MAX_BUCKETS]
        excess = np.maximum(np.abs(excess - n0 * (total / n)) + guard, 0.0)
        innocent = excess * excess <= ((1 - 1e-9) * factor) * n0 * (n - n0)
        return np.flatnonzero(~innocent.all(axis=1))
