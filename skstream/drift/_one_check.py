"""One check of ADWIN at a time, for values that come one by one.

The other way, `_histogram` and `_cut`, forms many checks at once with NumPy; for a single check
most of that time is overhead. Here a check is a loop over some sixty buckets, compiled where numba
is installed and there are many checks. Both ways carry out the same operations on the same numbers
in the same order, so that they lead to the same state, bit for bit.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from skstream.drift._cut import MIN_WIDTH, CutRule
from skstream.drift._histogram import MAX_BUCKETS, Floats, Integers, sizes_of
from skstream.utils._numba import jit, numba_enabled

_MOST_ROWS = 64
# Importing numba and loading machine code takes as long as some ten thousand plain checks, once in
# a process: a detector compiles after so many checks of its own, or once another detector has done
# so.
_COMPILED_AFTER = 1_000


@jit
def _insert_and_test(values, centre, lengths, sums, spreads, n, log, least, theorem):  # type: ignore[no-untyped-def]
    """Put values into the buckets, and return whether some boundary then cuts.

    Row r has its buckets, of ``2**r`` values each, from place ``5 r`` on, oldest first. The
    sequences are changed; they are arrays where this is compiled and lists where it is not.
    """
    for value in values:
        total, spread, row, half = value - centre, 0.0, 0, 0.5
        while lengths[row] == 5:
            at = 5 * row
            gap = sums[at] - sums[at + 1]
            merged = sums[at] + sums[at + 1]
            merged_spread = spreads[at] + spreads[at + 1]
            merged_spread += gap * gap * half
            sums[at], sums[at + 1], sums[at + 2] = sums[at + 2], sums[at + 3], sums[at + 4]
            spreads[at], spreads[at + 1] = spreads[at + 2], spreads[at + 3]
            spreads[at + 2] = spreads[at + 4]
            sums[at + 3], spreads[at + 3] = total, spread
            lengths[row] = 4
            total, spread, row, half = merged, merged_spread, row + 1, 0.5 * half
        at = 5 * row + lengths[row]
        sums[at], spreads[at] = total, spread
        lengths[row] += 1

    n_rows = 0
    while lengths[n_rows] > 0:
        n_rows += 1
    total = 0.0
    for row in range(n_rows - 1, -1, -1):
        for at in range(5 * row, 5 * row + lengths[row]):
            total += sums[at]
    mean, squares = total / n, 0.0
    if not theorem:
        size = 2.0 ** (n_rows - 1)
        for row in range(n_rows - 1, -1, -1):
            for at in range(5 * row, 5 * row + lengths[row]):
                deviation = sums[at] - size * mean
                squares += spreads[at] + deviation * deviation / size
            size *= 0.5
    factor, linear = 2.0 * (squares / n) * log, 2.0 / 3.0 * log
    n0, sum0 = 0.0, 0.0
    size = 2.0 ** (n_rows - 1)
    for row in range(n_rows - 1, -1, -1):
        for at in range(5 * row, 5 * row + lengths[row]):
            n0 += size
            sum0 += sums[at]
            n1 = n - n0
            if n1 < least:
                return False
            if n0 < least:
                continue
            gap = abs(sum0 / n0 - (total - sum0) / n1)
            if theorem:
                threshold = math.sqrt(0.5 * log * (1.0 / n0 + 1.0 / n1))
            else:
                reciprocal = 1.0 / (n0 - 4.0) + 1.0 / (n1 - 4.0)
                threshold = math.sqrt(factor * reciprocal) + linear * reciprocal
            if gap > threshold:
                return True
        size *= 0.5
    return False


class SingleChecks:
    """The histogram of one window, for checks made one at a time.

    Parameters
    ----------
    rule : CutRule
        The test.
    """

    def __init__(self, rule: CutRule) -> None:
        self.rule = rule
        self.n_checks = 0
        self._compiled = False
        self._run: Any = _insert_and_test.plain

    def load(self, centre: float, lengths: list[int], buckets: Floats) -> None:
        """Take a histogram: its origin, the lengths of its rows, its buckets, oldest first."""
        self.centre = centre
        self.width = int(sizes_of(lengths).sum())
        padded = np.array(lengths + [0] * (_MOST_ROWS - len(lengths)), dtype=np.int64)
        columns = np.zeros((2, MAX_BUCKETS * _MOST_ROWS))
        columns[:, _places(padded)] = buckets
        self._hold(padded, columns)

    def result(self) -> tuple[list[int], Floats]:
        """Return lengths and buckets as they were given."""
        lengths, *columns = self._columns
        places = _places(lengths)
        filled = [int(length) for length in lengths if length]
        return filled, np.array([[float(column[at]) for at in places] for column in columns])

    def _hold(self, lengths: Integers, columns: Floats) -> None:
        if self._compiled:
            self._columns: tuple[Any, ...] = (lengths, columns[0], columns[1])
        else:
            self._columns = (lengths.tolist(), *columns.tolist())

    def read(self, values: list[float]) -> bool:
        """Put values into the histogram, and return whether the window should now be cut."""
        self.width = n = self.width + len(values)
        self.n_checks += 1
        if not self._compiled and self._is_time_to_compile():
            self._run, self._compiled = _insert_and_test.compiled, True
            lengths, *columns = self._columns
            self._hold(np.array(lengths, dtype=np.int64), np.array(columns))
        rule = self.rule
        log = rule.logarithm(n) if n > MIN_WIDTH else math.inf
        given = np.array(values) if self._compiled else values
        lengths, sums, spreads = self._columns
        return bool(
            self._run(
                given,
                self.centre,
                lengths,
                sums,
                spreads,
                float(n),
                log,
                rule.min_window,
                rule.theorem,
            )
        )

    def _is_time_to_compile(self) -> bool:
        waited = self.n_checks >= _COMPILED_AFTER or _insert_and_test.is_compiled
        return waited and numba_enabled()


def _places(lengths: Iterable[int]) -> list[int]:
    """Positions of the buckets of rows of these lengths, oldest first."""
    rows = reversed([*enumerate(lengths)])
    return [MAX_BUCKETS * row + i for row, length in rows for i in range(length)]
