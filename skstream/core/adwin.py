"""The ADWIN drift detector.

Row r of its exponential histogram holds buckets of ``2**r`` consecutive values. New values enter
row 0 as buckets of one; a row that would hold more than five buckets merges its two oldest into one
bucket of the next row. So the number of buckets in each row depends only on the number of values,
and a bucket is a binary tree over its values, for any division into calls.

The loops over buckets are compiled where numba is installed and there are many checks. Compiled or
not, they carry out the same operations in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.detector import DRIFT, LARGEST, NORMAL, DetectorState, DriftDetector, Levels
from skstream.utils._numba import jit, numba_enabled, numba_in_use
from skstream.utils._sklearn import Interval, StrOptions

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BUCKETS = 5  # per row; the constant M of Bifet & Gavaldà (2007), as in MOA
MIN_WIDTH = 10  # a window must be wider to be tested, as in MOA
_MOST_ROWS = 64
_SLOTS = np.arange(MAX_BUCKETS)
#: Largest distance of mean and centre, in standard deviations.
_FAR = 8.0
# Importing numba and loading machine code takes as long as some ten thousand plain checks, once in
# a process, and loading alone as long as two hundred: a detector compiles after so many checks of
# its own, or once another detector has done so.
_COMPILED_AFTER, _LOADED_AFTER = 1_000, 100
_FEW = 16  # checks
#: Values that may be read.
RANGES = {"moa": (-LARGEST, LARGEST), "theorem": (0.0, 1.0)}


@jit
def _insert(values, centre, lengths, sums, spreads):  # type: ignore[no-untyped-def]
    """Put values into the buckets.

    A bucket has the sum of its values less the centre, and their spread, the sum of squared
    deviations from their mean. Row r has its buckets from position ``5 r`` on, oldest first. The
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
    """Return whether some boundary between the buckets cuts the window of n values."""
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
def _read_until_cut(values, clock, centre, lengths, sums, spreads, n, logs, least, theorem):  # type: ignore[no-untyped-def]
    """Make checks until one cuts; return how many were made, and whether the last one did."""
    for i in range(len(logs)):
        _insert(values[i * clock : (i + 1) * clock], centre, lengths, sums, spreads)
        n += clock
        if _cuts(lengths, sums, spreads, n, logs[i], least, theorem):
            return i + 1, True
    return len(logs), False


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


class _Window(DetectorState):
    """The state of ADWIN: O(log width) buckets, and the values since the last check.

    It is a function of the values alone: every number comes from a fixed sequence of
    operations, however the values were cut into calls.
    """

    _compiled = False  # whether loops run compiled, and so the columns are arrays

    def __init__(
        self,
        delta: float,
        clock: int,
        min_window: int,
        bound: str,
        direction: str,
        restarts: bool,
    ) -> None:
        self.delta = delta
        self.clock = clock
        self.min_window = min_window
        self.bound = bound
        self.direction = direction
        self.restarts = restarts  # at the input after an alarm, from an empty window
        self.lowest, self.highest = RANGES[bound]
        self.pending: list[float] = []  # values since the last check, not in the buckets yet
        self.n_checked = 0  # inputs before those pending
        self.alarmed = False  # by the last check
        self.n_alarms = 0
        self._restart()

    def _restart(self) -> None:
        """Empty the window; it begins with the next input."""
        self.start = self.n_checked
        self.centre = 0.0  # near the mean: sums are taken about it
        self._load([], np.empty((2, 0)))

    def _load(self, lengths: list[int], buckets: Floats) -> None:
        """Take the number of buckets in each row, from row 0 on; and the buckets, oldest first."""
        columns = np.zeros((2, MAX_BUCKETS * _MOST_ROWS))
        columns[:, _positions(lengths)] = buckets
        padded = lengths + [0] * (_MOST_ROWS - len(lengths))
        self._columns = tuple(map(self._sequence, (padded, *columns)))

    @property
    def lengths(self) -> list[int]:
        """Number of buckets in each row, from row 0 on."""
        lengths: list[int] = np.asarray(self._columns[0]).tolist()
        return lengths[: lengths.index(0)]

    @property
    def buckets(self) -> Floats:
        """Sums less the centre, and spreads, of the buckets, oldest first."""
        positions = _positions(self.lengths)
        return np.array([np.asarray(column)[positions] for column in self._columns[1:]])

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**state, "lengths": self.lengths, "buckets": self.buckets}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        lengths, buckets = state.pop("lengths"), state.pop("buckets")
        self.__dict__.update(state)
        self._load(lengths, buckets)

    def __deepcopy__(self, memo: Any) -> Self:
        copied = object.__new__(type(self))  # as compiled as this one: it is copied often
        copied.__dict__.update(self.__dict__)
        copied.pending = self.pending.copy()
        copied._columns = tuple(column.copy() for column in self._columns)
        return copied

    @property
    def n_seen(self) -> int:
        """Number of inputs."""
        return self.n_checked + len(self.pending)

    @property
    def alarm(self) -> bool:
        """Whether the latest value raised an alarm."""
        return self.alarmed and not self.pending

    def feed_levels(self, values: Floats) -> Levels:
        """Read values and return the level after each; there is no warning zone."""
        levels = np.full(len(values), NORMAL, dtype=np.int8)
        levels[self.advance(values)[2]] = DRIFT
        return levels

    def feed_one(self, value: float) -> None:
        """Read one value."""
        if not self.pending:
            self.begin_clock()
        self.pending.append(value)
        if len(self.pending) == self.clock:
            self.check()

    def begin_clock(self) -> None:
        """Do what is due before the first value after a check."""
        if self.restarts and self.alarmed:
            self._restart()

    def check(self) -> None:
        """Make the check that is due, of the pending values."""
        _, is_cut = self._read(self.pending)
        self.pending.clear()
        self.n_checked += self.clock
        self.alarmed = is_cut and self._raises_alarm(self._shrink())
        self.n_alarms += self.alarmed

    def advance(self, values: Floats) -> tuple[Integers, Integers, Integers]:
        """Read values, with a check after every `clock`-th of all inputs.

        Returns
        -------
        positions, starts : ndarray of shape (n_shrinks,), dtype int64
            The values after which the window shrank, and the oldest input it then held.
        alarms : ndarray of shape (n_alarms,), dtype int64
            Those of the positions where the mean went in a direction that raises an alarm.
        """
        data = np.concatenate((self.pending, values))
        n_old, done = len(self.pending), 0
        positions, starts, alarms = [], [], []
        while len(data) - done >= self.clock:
            self.begin_clock()
            # Few checks while the window is small: their logarithms are for nothing if one cuts.
            n_together = max((self.n_checked - self.start) // (4 * self.clock), _FEW)
            part = data[done : done + n_together * self.clock]
            n_checks, is_cut = self._read(part[: len(part) // self.clock * self.clock])
            done += n_checks * self.clock
            self.n_checked += n_checks * self.clock
            self.alarmed = is_cut and self._raises_alarm(self._shrink())
            if is_cut:
                positions.append(done - n_old - 1)
                starts.append(self.start)
            if self.alarmed:
                alarms.append(positions[-1])
        self.pending = data[done:].tolist()
        if self.pending:
            self.begin_clock()
        self.n_alarms += len(alarms)
        return _integers(positions), _integers(starts), _integers(alarms)

    def _read(self, values: Any) -> tuple[int, bool]:
        """Make checks of `clock` values each until one cuts.

        Returns
        -------
        n_checks : int
            Checks that were made.
        is_cut : bool
            Whether the window should be cut after the last of them.
        """
        width = self.n_checked - self.start
        if not width:
            self.centre = float(np.sort(values[: self.clock])[self.clock // 2])
        n_plain = _LOADED_AFTER if numba_in_use() else _COMPILED_AFTER
        due = _read_until_cut.is_compiled or self.n_checked >= n_plain * self.clock
        if due and not self._compiled and numba_enabled():
            self._compiled = True
            self._load(self.lengths, self.buckets)
        widths = range(width + self.clock, width + len(values) + 1, self.clock)
        given = self._sequence(values), self.clock, self.centre
        rule = self._logarithms(widths), self.min_window, self.bound == "theorem"
        loop = self._form(_read_until_cut)
        n_checks, is_cut = loop(*given, *self._columns, float(width), *rule)
        return n_checks, bool(is_cut)

    def _sequence(self, values: Any) -> Any:
        """Return numbers as loops read them: an array where they are compiled, else a list."""
        return np.asarray(values) if self._compiled else np.asarray(values).tolist()

    def _form(self, loop: Any) -> Any:
        return loop.compiled if self._compiled else loop.uncompiled

    def _logarithms(self, widths: Iterable[int]) -> Any:
        """Return the logarithm in the bound for each width of the window, by the C library."""
        factor = 4 if self.bound == "theorem" else 2
        logs = []
        for n in widths:
            grown = n if self.bound == "theorem" else math.log(n)
            logs.append(math.log(factor * grown / self.delta) if n > MIN_WIDTH else math.inf)
        return self._sequence(logs)

    def _raises_alarm(self, rise: bool) -> bool:
        return self.direction in ("both", "up" if rise else "down")

    def _shrink(self) -> bool:
        """Drop oldest buckets, at least one, until no boundary cuts; tell if the mean rose."""
        sizes, buckets = _sizes(self.lengths), self.buckets
        before, _ = _moments(sizes, *buckets)
        width = int(sizes.sum())
        logs = self._logarithms((width - sizes[:-1].cumsum()).tolist())
        loop = self._form(_drop_until_no_cut)
        rule = self.min_window, self.bound == "theorem"
        n_dropped = loop(*self._columns, float(width), logs, *rule)
        self.start += int(sizes[:n_dropped].sum())
        sizes, buckets = sizes[n_dropped:], buckets[:, n_dropped:]
        mean, variance = _moments(sizes, *buckets)
        if mean * mean > _FAR * _FAR * variance:
            # The mean has gone far from the centre. A lasting change makes the window shrink, so
            # checking the distance here is enough.
            centre = self.centre + mean
            buckets[0] -= sizes * (centre - self.centre)
            self.centre = centre
            self._load(self.lengths, buckets)
        return mean > before

    def boundaries(self) -> Integers:
        """Return the first input of every bucket, once the pending values are put in."""
        lengths, sums, spreads = (list(column) for column in self._columns)
        _insert.uncompiled(self.pending, 0.0, lengths, sums, spreads)
        sizes = _sizes([int(length) for length in lengths if length])
        return self.start + sizes.cumsum() - sizes

    def moments(self) -> tuple[float, float]:
        """Return mean and population variance of the window."""
        pending = np.array(self.pending) - self.centre
        sizes = np.append(_sizes(self.lengths), np.ones(len(pending), dtype=np.int64))
        sums, spreads = self.buckets
        sums, spreads = np.append(sums, pending), np.append(spreads, np.zeros(len(pending)))
        offset, variance = _moments(sizes, sums, spreads)
        return self.centre + offset, variance


def _positions(lengths: list[int]) -> Integers:
    """Positions of the buckets of rows of these lengths, oldest first."""
    standing = _SLOTS < np.array(lengths)[:, None]
    return (_SLOTS + MAX_BUCKETS * np.arange(len(lengths))[:, None])[::-1][standing[::-1]]


def _sizes(lengths: list[int]) -> Integers:
    """Sizes of the buckets of rows of these lengths, oldest first."""
    return np.repeat(1 << np.arange(len(lengths))[::-1], lengths[::-1])


def _moments(sizes: Integers, sums: Floats, spreads: Floats) -> tuple[float, float]:
    """Return mean and population variance of buckets together."""
    n = sizes.sum()
    mean = sums.sum() / n
    deviations = sums - sizes * mean
    return float(mean), float((spreads + deviations * deviations / sizes).sum() / n)


def _integers(values: list[int]) -> Integers:
    return np.array(values, dtype=np.int64)


class ADWIN(DriftDetector):
    """Detect changes of a mean with a window of adaptive width.

    The detector keeps the longest recent window in which no two parts have means that differ
    significantly. Every `clock` inputs it compares the older and the newer side of every bucket
    boundary of an exponential histogram; while the means of the two sides of some boundary differ
    by more than the bound, it drops the oldest bucket. A check that drops anything raises an alarm.
    There is no reset after an alarm unless `after_alarm` says so.

    The series is usually a loss: 1 for an error, 0 for a correct answer, so a rise means
    deterioration.

    Parameters
    ----------
    delta : float, default=0.002
        Confidence parameter in (0, 1): smaller values give fewer false alarms and later
        detections.
    clock : int, default=32
        Number of inputs between checks, at least 1.
    min_window : int, default=7
        Smallest number of values on either side of a boundary, at least 5. The default is MOA's.
    bound : {"moa", "theorem"}, default="moa"
        How far two means may differ. ``"moa"``: the normal approximation with the window's variance
        that MOA computes. ``"theorem"``: the bound of Theorem 3.1 of [1]_ for values in [0, 1],
        which has guarantees and raises far fewer alarms.
    direction : {"both", "up", "down"}, default="both"
        Which changes raise an alarm: those in which the mean of the window rises, falls, or both.
        The window shrinks on all of them.
    after_alarm : {"shrink", "restart"}, default="shrink"
        What remains of the window after an alarm: what the check did not drop, as in MOA, or
        nothing, as in River (from the next input on).

    See Also
    --------
    PageHinkley : A sequential test of a rising mean in constant memory.
    DDM : Watches an error rate, with a warning zone.

    Notes
    -----
    With n0 and n1 values on the two sides, n = n0 + n1, and the window's population variance
    v, a boundary cuts where the means differ by more than sqrt(2 m v L) + 2/3 m L, with
    L = ln(2 ln(n) / delta) and m = 1/(n0 - 4) + 1/(n1 - 4); for ``"theorem"``, by more than
    sqrt(ln(4 n / delta) (1/n0 + 1/n1) / 2). A window of at most 10 values is not tested.

    Memory is O(log W) for a window of W values. :meth:`update_many` gives the same state, bit for
    bit, as the same number of calls of :meth:`update`. All sums are taken about a centre near the
    mean, so that a large offset of the values costs no precision. With numba installed, the loops
    over buckets are compiled; without it, they read some 600,000 values per second.

    References
    ----------
    .. [1] Bifet, A. & Gavaldà, R. (2007). Learning from time-changing data with adaptive
       windowing. SIAM International Conference on Data Mining, sections 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import ADWIN
    >>> rng = np.random.default_rng(0)
    >>> losses = np.r_[rng.random(2000) < 0.2, rng.random(1000) < 0.5]
    >>> detector = ADWIN()
    >>> detector.update_many(losses)
    array([2079, 2111])
    >>> detector.width
    1112
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "clock": [Interval(Integral, 1, None, closed="left")],
        "min_window": [Interval(Integral, 5, None, closed="left")],
        "bound": [StrOptions({"moa", "theorem"})],
        "direction": [StrOptions({"both", "up", "down"})],
        "after_alarm": [StrOptions({"shrink", "restart"})],
    }
    _state: _Window | None

    def __init__(
        self,
        delta: float = 0.002,
        *,
        clock: int = 32,
        min_window: int = 7,
        bound: str = "moa",
        direction: str = "both",
        after_alarm: str = "shrink",
    ) -> None:
        self.delta = delta
        self.clock = clock
        self.min_window = min_window
        self.bound = bound
        self.direction = direction
        self.after_alarm = after_alarm

    _wanted = (
        'ADWIN(bound="theorem") reads values in [0, 1], as the theorem holds only for these. '
        'Scale them, or use bound="moa".'
    )

    def _wrong(self, values: Any) -> Any:
        bound = self.bound if self._state is None else self._state.bound
        low, high = RANGES.get(bound, (-LARGEST, LARGEST))
        return (values < low) | (values > high)

    def _start(self) -> _Window:
        return _Window(
            float(self.delta),
            int(self.clock),
            int(self.min_window),
            self.bound,
            self.direction,
            self.after_alarm == "restart",
        )

    def update(self, x: float) -> Self:
        """Read one value.

        Parameters
        ----------
        x : float
            The next value of the series; a truth value counts as 0 or 1.

        Returns
        -------
        self
            The detector; see :attr:`drift_detected`.

        Raises
        ------
        ValueError
            If `x` is not a finite number, or outside [0, 1] with ``bound="theorem"``. The
            detector is then unchanged.
        """
        state = self._state
        # The base class says what is wrong with other values. Most calls do no more than this.
        if state is None or type(x) is not float or not state.lowest <= x <= state.highest:
            return super().update(x)
        pending = state.pending
        if not pending:
            state.begin_clock()
        pending.append(x)
        if len(pending) == state.clock:
            state.check()
        return self

    @property
    def drift_detected(self) -> bool:
        """Whether the latest value raised an alarm."""
        state = self._state
        return state is not None and state.alarmed and not state.pending

    def advance(self, values: ArrayLike) -> tuple[Integers, Integers]:
        """Read many values and return how the window shrank.

        The same as :meth:`update_many`, but it returns all shrinks of the window, in any direction.
        Each new start is one of the :meth:`boundaries` before the call, or lies within `values`.

        Parameters
        ----------
        values : array-like of shape (n_values,)
            The next values of the series, in order.

        Returns
        -------
        positions : ndarray of shape (n_shrinks,), dtype int64
            Positions within `values`, counted from 0, after which the window shrank.
        starts : ndarray of shape (n_shrinks,), dtype int64
            The oldest input in the window after it shrank, counted from 0 over all inputs since the
            start or the last :meth:`reset`.

        Raises
        ------
        ValueError
            If a value is not a finite number; the message gives its position. The detector
            is then unchanged.
        """
        checked = self._checked(values)
        positions, starts, _ = self._started().advance(checked)
        return positions, starts

    def boundaries(self) -> Integers:
        """Return where the buckets of the window begin.

        Returns
        -------
        ndarray of shape (n_buckets,), dtype int64
            The first input of every bucket, counted from 0 over all inputs since the start or
            the last :meth:`reset`, ascending; the first is the start of the window. Empty
            while the window is empty.
        """
        if self._state is None or self.width == 0:
            return _integers([])
        return self._state.boundaries()

    @property
    def width(self) -> int:
        """Number of values in the window."""
        return 0 if self._state is None else self._state.n_seen - self._state.start

    @property
    def mean(self) -> float:
        """Mean of the window; NaN while it is empty."""
        return math.nan if self._state is None or self.width == 0 else self._state.moments()[0]

    @property
    def variance(self) -> float:
        """Population variance of the window; NaN while it is empty."""
        return math.nan if self._state is None or self.width == 0 else self._state.moments()[1]
