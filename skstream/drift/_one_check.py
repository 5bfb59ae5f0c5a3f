"""One check of ADWIN at a time, for values that come one by one.

The other way, `_histogram` and `_cut`, forms many checks at once with NumPy; for a single check
most of that time is overhead. Here a check is a loop over some sixty buckets, compiled where numba
is installed and there are many checks. Both ways carry out the same operations on the same numbers
in the same order, so that they lead to the same state, bit for bit.
"""

import math
import sys
from typing import Any, ClassVar

import numpy as np

from skstream.drift._cut import MIN_WIDTH, CutRule
from skstream.drift._histogram import MAX_BUCKETS, Floats, Integers
from skstream.utils._numba import jit, numba_enabled

_MOST_ROWS = 64
_SLOTS = np.arange(MAX_BUCKETS)
# Importing numba and loading machine code takes as long as some ten thousand plain checks, once in
# a process: a detector compiles after so many checks of its own, or once another detector has done
# so.
_COMPILED_AFTER = 1_000
# Many checks at once are fast without compiling, so that numba is not imported for them. Where it
# is there, loading machine code pays after so many, made by all detectors of this process; making
# a window smaller takes as long as a hundred.
_MANY_COMPILED_AFTER = 20_000
_OF_A_SHRINK = 100


@jit
def _insert(values, centre, lengths, sums, spreads):  # type: ignore[no-untyped-def]
    """Put values into the buckets.

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


@jit
def _cuts(lengths, sums, spreads, n, log, least, theorem):  # type: ignore[no-untyped-def]
    """Return whether some boundary between the buckets cuts."""
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


@jit
def _insert_and_test(values, centre, lengths, sums, spreads, n, log, least, theorem):  # type: ignore[no-untyped-def]
    """Put values into the buckets, and return whether some boundary then cuts."""
    _insert(values, centre, lengths, sums, spreads)
    return _cuts(lengths, sums, spreads, n, log, least, theorem)


@jit
def _read_until_cut(values, clock, centre, lengths, sums, spreads, n, logs, least, theorem):  # type: ignore[no-untyped-def]
    """Make checks until one cuts; return how many were made, and whether the last one did."""
    n_checks = len(values) // clock
    for i in range(n_checks):
        part = values[i * clock : (i + 1) * clock]
        n += clock
        if _insert_and_test(part, centre, lengths, sums, spreads, n, logs[i], least, theorem):
            return i + 1, True
    return n_checks, False


@jit
def _drop_until_no_cut(lengths, sums, spreads, n, logs, least, theorem):  # type: ignore[no-untyped-def]
    """Drop the oldest bucket, and more until no boundary cuts; return how many were dropped."""
    row = 0
    while lengths[row + 1] > 0:
        row += 1
    for i in range(len(logs)):
        for at in range(5 * row, 5 * row + lengths[row] - 1):
            sums[at], spreads[at] = sums[at + 1], spreads[at + 1]
        lengths[row] -= 1
        n -= 2.0**row
        if lengths[row] == 0:
            row -= 1
        if not _cuts(lengths, sums, spreads, n, logs[i], least, theorem):
            return i + 1
    return len(logs)


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
        self.compiled = False
        self._run: Any = _insert_and_test.uncompiled

    def load(self, centre: float, lengths: list[int], buckets: Floats) -> None:
        """Take a histogram: its origin, the lengths of its rows, its buckets, oldest first."""
        self.centre = centre
        self.width = sum(length << row for row, length in enumerate(lengths))
        padded = np.array(lengths + [0] * (_MOST_ROWS - len(lengths)), dtype=np.int64)
        columns = np.zeros((2, MAX_BUCKETS * _MOST_ROWS))
        columns[:, _places(lengths)] = buckets
        self._hold(padded, columns)

    def result(self) -> tuple[list[int], Floats]:
        """Return lengths and buckets as they were given."""
        lengths, *columns = self._columns
        filled = [int(length) for length in lengths if length]
        places = _places(filled)
        return filled, np.array([np.asarray(column)[places] for column in columns])

    def _hold(self, lengths: Integers, columns: Floats) -> None:
        if self.compiled:
            self._columns: tuple[Any, ...] = (lengths, columns[0], columns[1])
        else:
            self._columns = (lengths.tolist(), *columns.tolist())

    def read(self, values: list[float]) -> bool:
        """Put values into the histogram, and return whether the window should now be cut."""
        self.width = n = self.width + len(values)
        self.n_checks += 1
        if self._is_time_to_compile():
            self._compile()
        rule = self.rule
        log = rule.logarithm(n) if n > MIN_WIDTH else math.inf
        given = np.array(values) if self.compiled else values
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

    #: Checks that all detectors have made by NumPy, many at once.
    n_made_at_once: ClassVar[int] = 0

    def compiles_many(self) -> bool:
        """Whether many checks at once run compiled."""
        if self.compiled or _read_until_cut.is_compiled:
            return numba_enabled()
        waited = SingleChecks.n_made_at_once >= _MANY_COMPILED_AFTER
        return waited and "numba" in sys.modules and numba_enabled()

    @staticmethod
    def count(n_checks: int, *, is_cut: bool) -> None:
        """Count checks that were made at once by NumPy."""
        SingleChecks.n_made_at_once += n_checks + is_cut * _OF_A_SHRINK

    def read_until_cut(self, values: Floats, clock: int) -> tuple[int, bool]:
        """Make checks of `clock` values each until one cuts, compiled.

        Returns
        -------
        n_checks : int
            Checks that were made.
        is_cut : bool
            Whether the window should be cut after the last of them.
        """
        self._compile()
        n, rule = self.width, self.rule
        widths = range(n + clock, n + len(values) + 1, clock)
        logs = np.array([rule.logarithm(n) if n > MIN_WIDTH else math.inf for n in widths])
        lengths, sums, spreads = self._columns
        n_checks, is_cut = _read_until_cut.compiled(
            *(values, clock, self.centre, lengths, sums, spreads, float(n), logs),
            *(rule.min_window, rule.theorem),
        )
        self.width = n + n_checks * clock
        return n_checks, bool(is_cut)

    def drop_until_no_cut(self, sizes: Integers) -> int:
        """Drop oldest buckets, of these sizes, compiled: at least one, until no boundary cuts."""
        widths, rule = (self.width - sizes[:-1].cumsum()).tolist(), self.rule
        logs = np.array([rule.logarithm(n) if n > MIN_WIDTH else math.inf for n in widths])
        lengths, sums, spreads = self._columns
        n_dropped: int = _drop_until_no_cut.compiled(
            lengths, sums, spreads, float(self.width), logs, rule.min_window, rule.theorem
        )
        return n_dropped

    def _compile(self) -> None:
        if not self.compiled:
            self._run, self.compiled = _insert_and_test.compiled, True
            lengths, *columns = self._columns
            self._hold(np.array(lengths, dtype=np.int64), np.array(columns))

    def _is_time_to_compile(self) -> bool:
        waited = self.compiled or self.n_checks >= _COMPILED_AFTER or _insert_and_test.is_compiled
        return waited and numba_enabled()


def _places(lengths: list[int]) -> Integers:
    """Positions of the buckets of rows of these lengths, oldest first."""
    n_rows = len(lengths)
    standing = _SLOTS < np.array(lengths)[:, None]
    return (_SLOTS + MAX_BUCKETS * np.arange(n_rows)[:, None])[::-1][standing[::-1]]
