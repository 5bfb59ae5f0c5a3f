"""The ADWIN drift detector."""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.drift._base import DriftDetector
from skstream.drift._checks import (
    as_number,
    as_values,
    check_integer,
    check_option,
    check_real,
)
from skstream.drift._cut import CutRule
from skstream.drift._histogram import (
    MAX_BUCKETS,
    Floats,
    Integers,
    Table,
    histogram_at,
    lengths_after,
    merge_tree,
    sizes_of,
)


class _Shrinks(NamedTuple):
    """What happened to the window while values were read."""

    positions: Integers  # the value after which it shrank
    starts: Integers  # the oldest input it then held
    raised: NDArray[np.bool_]  # whether the change goes in a direction that raises an alarm


class _Window:
    """The state of ADWIN: O(log width) buckets, and the values since the last check.

    It is a function of the values alone: every number comes from a fixed sequence of
    operations, however the values were cut into calls. How many checks are computed together
    changes the time that takes and nothing else.
    """

    def __init__(self, rule: CutRule, clock: int, direction: str) -> None:
        self.rule = rule
        self.clock = clock
        self.direction = direction
        self.centre = 0.0
        self.lengths: list[int] = []  # buckets in each row of the histogram, from row 0 on
        self.buckets = np.empty((2, 0))  # their sums less the centre, and spreads; oldest first
        self.pending: list[float] = []  # values since the last check, not in the buckets yet
        self.start = 0
        self.n_seen = 0
        self.alarm = False
        self.n_alarms = 0

    def feed(self, values: Floats) -> Integers:
        """Read values and return the positions that raised an alarm."""
        shrinks = self.advance(values)
        return shrinks.positions[shrinks.raised]

    def feed_one(self, value: float) -> None:
        """Read one value; the cheap way where no check is due."""
        if len(self.pending) + 1 == self.clock or self.n_seen == 0:
            self.feed(np.array([value]))
        else:
            self.pending.append(value)
            self.n_seen += 1
            self.alarm = False

    def advance(self, values: Floats) -> _Shrinks:
        """Read values, with a check after every `clock`-th of all inputs."""
        if len(values) and self.n_seen == 0:
            self.centre = float(values[0])
        n_old = len(self.pending)
        data = np.concatenate((self.pending, values))
        end = len(data) - len(data) % self.clock
        done = 0
        shrinks: list[tuple[int, int, bool]] = []
        while done < end:
            n_values = min(end - done, self.clock * self._n_checks_together())
            n_read, rise = self._read(data[done : done + n_values])
            done += n_read
            if rise is not None:
                raised = self.direction in ("both", "up" if rise else "down")
                shrinks.append((done - n_old - 1, self.start, raised))
        self.pending = data[end:].tolist()
        self.n_seen += len(values)
        positions, starts, raised_ = np.array(shrinks, dtype=np.int64).reshape(-1, 3).T
        result = _Shrinks(positions, starts, raised_.astype(bool))
        if len(values):
            self.alarm = bool(result.raised[-1:].any()) and positions[-1] == len(values) - 1
        self.n_alarms += int(result.raised.sum())
        return result

    def boundaries(self) -> Integers:
        """Return the first input of every bucket, once the pending values are put in."""
        rows = lengths_after(self.lengths, np.array([len(self.pending)]))
        sizes = sizes_of([int(row.length[0]) for row in rows])
        return self.start + np.cumsum(sizes) - sizes

    def moments(self) -> tuple[float, float]:
        """Return mean and population variance of the window; exact sums, rounded once."""
        sums, spreads = self.buckets
        sizes = sizes_of(self.lengths)
        rest = np.array(self.pending) - self.centre
        n = self.n_seen - self.start
        offset = math.fsum([*sums, *rest]) / n
        deviations = sums - sizes * offset
        spread = math.fsum([*spreads, *(deviations**2 / sizes), *((rest - offset) ** 2)])
        return self.centre + offset, spread / n

    def _n_checks_together(self) -> int:
        """Choose a number of checks: few while the window is small, lest much is undone."""
        width = sum(length << row for row, length in enumerate(self.lengths))
        slots = MAX_BUCKETS * max(len(self.lengths), 10)
        return min(max(width // (4 * self.clock), 16), max(_CELLS // slots, 1))

    def _read(self, values: Floats) -> tuple[int, bool | None]:
        """Read values up to the first check that shrinks the window, or all of them.

        Returns
        -------
        n_read : int
            Number of values read.
        rise : bool or None
            Whether the mean rose at the shrink; None without one.
        """
        centred = values - self.centre
        n_values = np.arange(self.clock, len(values) + 1, self.clock)
        rows = lengths_after(self.lengths, n_values)
        table = histogram_at(rows, merge_tree(self.lengths, self.buckets, centred))
        if len(n_values) > 1:
            lines = self.rule.suspects(table, self._squares(centred))
        else:
            lines = np.zeros(1, dtype=np.intp)
        cut, rises = self.rule.cuts(table.take(lines))
        hit = int(cut.argmax()) if cut.any() else None
        line = len(n_values) - 1 if hit is None else int(lines[hit])

        self.lengths = [length for row in rows if (length := int(row.length[line]))]
        present = table.sizes[line] > 0
        self.buckets = np.stack((table.sums[line, present], table.spreads[line, present]))
        if hit is None:
            return len(values), None
        self._shrink()
        return int(n_values[line]), bool(rises[hit])

    def _squares(self, centred: Floats) -> Floats:
        """Return the sum of squares of the centred values of the window at each check."""
        sums, spreads = self.buckets
        before = float((spreads + sums * sums / sizes_of(self.lengths)).sum())
        chunks = centred.reshape(-1, self.clock)
        squares: Floats = np.einsum("ij,ij->i", chunks, chunks)
        return before + np.cumsum(squares)

    def _shrink(self) -> None:
        """Drop oldest buckets, at least one, until no boundary of the rest cuts."""
        sizes = sizes_of(self.lengths)
        # Line i is the window without its i oldest buckets.
        square = (len(sizes), len(sizes))
        windows = (np.triu(np.broadcast_to(row, square)) for row in (sizes * 1.0, *self.buckets))
        cut, _ = self.rule.cuts(Table(*windows))
        n_dropped = 1 + int(cut[1:].argmin())
        self.start += int(sizes[:n_dropped].sum())
        self.buckets = self.buckets[:, n_dropped:].copy()
        for _ in range(n_dropped):
            self.lengths[-1] -= 1
            while self.lengths and self.lengths[-1] == 0:
                self.lengths.pop()
        self._recentre(sizes[n_dropped:])

    def _recentre(self, sizes: Integers) -> None:
        """Move the centre to the mean where it has become far from all values.

        A series that leaves its centre by many standard deviations makes the window shrink,
        so that this is the moment to look.
        """
        sums, spreads = self.buckets
        offset = math.fsum(sums) / int(sizes.sum())
        deviations = sums - sizes * offset
        spread = math.fsum([*spreads, *(deviations**2 / sizes)])
        if offset * offset * sizes.sum() > _FAR**2 * spread:
            centre = self.centre + offset
            self.buckets[0] -= sizes * (centre - self.centre)
            self.centre = centre


_CELLS = 40_000  # slots of the histogram looked at together: arrays of 320 kB
_FAR = 8.0  # standard deviations between mean and centre; MOA's exactness is lost long after


class ADWIN(DriftDetector):
    """Detect changes of a mean with a window that adapts its width.

    The detector keeps the longest recent window in which no two parts have means that differ
    significantly. Every `clock` inputs it compares the older with the newer side at every
    bucket boundary of an exponential histogram; as long as some boundary separates two sides
    whose means differ by more than the bound, it drops the oldest bucket. A check that drops
    anything raises an alarm. There is no reset after an alarm.

    The series is usually a loss: 1 for an error, 0 for a correct answer, so that a rise is a
    deterioration.

    Parameters
    ----------
    delta : float, default=0.002
        Confidence parameter in (0, 1): smaller values give fewer false alarms and later
        detections.
    clock : int, default=32
        Number of inputs from one check to the next, at least 1.
    min_window : int, default=7
        Least number of values on either side of a boundary, at least 5. The default is MOA's.
    bound : {"moa", "theorem"}, default="moa"
        How far two means may differ. ``"moa"``: the normal approximation with the window's
        variance that MOA computes. ``"theorem"``: the bound of Theorem 3.1 of [1]_ for values
        in [0, 1], with guarantees and far more cautious.
    direction : {"both", "up", "down"}, default="both"
        Which changes of the mean raise an alarm, judged by the oldest boundary that cuts. The
        window shrinks on all.

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

    Memory is O(log W) for a window of W values. :meth:`update_many` computes many checks at
    once and gives the state, bit for bit, of as many calls of :meth:`update`. All sums are
    taken about a centre near the mean, so that a large offset of the values costs no
    precision.

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

    _state: _Window | None

    def __init__(
        self,
        delta: float = 0.002,
        *,
        clock: int = 32,
        min_window: int = 7,
        bound: str = "moa",
        direction: str = "both",
    ) -> None:
        self.delta = delta
        self.clock = clock
        self.min_window = min_window
        self.bound = bound
        self.direction = direction

    def _start(self) -> _Window:
        rule = CutRule(
            delta=check_real(self, "delta", 0.0, 1.0),
            min_window=check_integer(self, "min_window", 5),
            bound=check_option(self, "bound", ("moa", "theorem")),
        )
        return _Window(
            rule,
            clock=check_integer(self, "clock", 1),
            direction=check_option(self, "direction", ("both", "up", "down")),
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
            If `x` is not a finite number. The detector is then unchanged.
        """
        value = as_number(x)
        self._started().feed_one(value)
        return self

    def advance(self, values: ArrayLike) -> tuple[Integers, Integers]:
        """Read many values and tell how the window moved.

        The same as :meth:`update_many`, with another answer: all shrinks of the window,
        whatever their direction. A new start is one of the :meth:`boundaries` before the
        call, or lies within `values`.

        Parameters
        ----------
        values : array-like of shape (n_values,)
            The next values of the series, in order.

        Returns
        -------
        positions : ndarray of shape (n_shrinks,), dtype int64
            Positions within `values`, counted from 0, after which the window shrank.
        starts : ndarray of shape (n_shrinks,), dtype int64
            The oldest input that the window then held, counted from 0 over all inputs since
            the start or the last :meth:`reset`.

        Raises
        ------
        ValueError
            If a value is not a finite number; the message gives its position. The detector
            is then unchanged.
        """
        checked = as_values(values)
        shrinks = self._started().advance(checked)
        return shrinks.positions, shrinks.starts

    def boundaries(self) -> Integers:
        """Return where the buckets of the window begin.

        Returns
        -------
        ndarray of shape (n_buckets,), dtype int64
            The first input of every bucket, counted from 0 over all inputs since the start or
            the last :meth:`reset`, ascending; the first is the start of the window. Empty
            while the window is empty.
        """
        if self._state is None:
            return np.empty(0, dtype=np.int64)
        return self._state.boundaries()

    @property
    def width(self) -> int:
        """Number of values in the window."""
        return 0 if self._state is None else self._state.n_seen - self._state.start

    @property
    def mean(self) -> float:
        """Mean of the window; NaN while it is empty."""
        return math.nan if self._state is None else self._state.moments()[0]

    @property
    def variance(self) -> float:
        """Population variance of the window; NaN while it is empty."""
        return math.nan if self._state is None else self._state.moments()[1]
