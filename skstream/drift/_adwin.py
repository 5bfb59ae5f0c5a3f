"""The ADWIN drift detector."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from skstream.drift._base import DriftDetector
from skstream.drift._checks import LARGEST
from skstream.drift._cut import CutRule
from skstream.drift._histogram import (
    MAX_BUCKETS,
    Floats,
    Integers,
    Moments,
    Table,
    follow_lengths,
    histogram_at,
    sizes_of,
)
from skstream.drift._levels import DRIFT, NORMAL, Levels, levels_with_alarms
from skstream.drift._one_check import SingleChecks
from skstream.drift._small_windows import FAR, WIDEST, Shrink, Sums, follow, middle
from skstream.utils._sklearn import Interval, StrOptions

_CELLS = 40_000  # slots of the histogram processed together: arrays of 320 kB stay in the cache
_FEW = 16  # up to so many checks are made together without finding first which are needed
#: Values that may be read.
RANGES = {"moa": (-LARGEST, LARGEST), "theorem": (0.0, 1.0)}
# Running sums follow a window that has shrunk so often, through so many values at once: their
# thresholds take as long as some shrinks.
_OFTEN, _ENOUGH, _ENOUGH_COMPILED, _AT_MOST = 16, 256, 4096, 8192


class _Window:
    """The state of ADWIN: O(log width) buckets, and the values since the last check.

    It is a function of the values alone: every number comes from a fixed sequence of
    operations, however the values were cut into calls. How many checks are computed together
    changes the time that takes and nothing else.
    """

    def __init__(self, rule: CutRule, clock: int, direction: str, restarts: bool = False) -> None:
        self.rule = rule
        self.clock = clock
        self.direction = direction
        self.restarts = restarts  # at the input after an alarm, from an empty window
        self.lowest, self.highest = RANGES[rule.bound]
        self.centre = 0.0
        self.lengths: list[int] = []  # buckets in each row of the histogram, from row 0 on
        self.buckets = np.empty((2, 0))  # their sums less the centre, and spreads; oldest first
        self.pending: list[float] = []  # values since the last check, not in the buckets yet
        self.start = 0
        self.n_checked = 0  # inputs before those pending
        self.alarmed = False  # by the last check
        self.n_alarms = 0
        # Checks made one at a time use a second histogram; only one of the two is up to date.
        self._single = SingleChecks(rule)
        self._single_is_ahead = self._single_is_behind = False
        self._n_shrinks = 0  # made by the buckets, since running sums last left one to them

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the second histogram, which can be computed from this one."""
        self._settle()
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._single = SingleChecks(self.rule)
        self._single_is_ahead, self._single_is_behind = False, True
        self._n_shrinks = 0

    @property
    def n_seen(self) -> int:
        """Number of inputs."""
        return self.n_checked + len(self.pending)

    @property
    def alarm(self) -> bool:
        """Whether the value read last raised an alarm."""
        return self.alarmed and not self.pending

    @property
    def level(self) -> int:
        """Level after the value read last; there is no warning zone."""
        return DRIFT if self.alarm else NORMAL

    def feed(self, values: Floats) -> Integers:
        """Read values and return the positions that raised an alarm."""
        return self.advance(values)[2]

    def feed_levels(self, values: Floats) -> Levels:
        """Read values and return the level after each."""
        return levels_with_alarms(len(values), self.feed(values))

    def feed_one(self, value: float) -> None:
        """Read one value."""
        if not self.pending:
            self.begin_clock()
        self.pending.append(value)
        if len(self.pending) == self.clock:
            self.check()

    def check(self) -> None:
        """Make the check that is due, of the pending values alone."""
        if not self.lengths:  # the first of all chooses the centre
            self.advance(np.empty(0))
            return
        if self._single_is_behind:
            self._single.load(self.centre, self.lengths, self.buckets)
            self._single_is_behind = False
        cut = self._single.read(self.pending)
        self._single_is_ahead = True
        self.n_checked += self.clock
        self.pending.clear()
        self.alarmed = False
        if cut:
            self._settle()
            self._single_is_behind = True
            self.alarmed = self._raises_alarm(self._shrink(is_held=True))
            self.n_alarms += self.alarmed

    def _settle(self) -> None:
        if self._single_is_ahead:
            self.lengths, self.buckets = self._single.result()
            self._single_is_ahead = False

    def begin_clock(self) -> None:
        """Do what is due before the first value after a check."""
        if self.restarts and self.alarmed:
            self._restart(self.n_checked)

    def _restart(self, start: int) -> None:
        """Empty the window; it begins with input `start`, which comes next."""
        self.lengths, self.buckets = [], np.empty((2, 0))
        self.centre, self.start = 0.0, start
        self._single_is_ahead, self._single_is_behind = False, True

    def _raises_alarm(self, rise: bool) -> bool:
        return self.direction in ("both", "up" if rise else "down")

    def _begins_anew(self, rise: bool) -> bool:
        return self.restarts and self._raises_alarm(rise)

    def advance(self, values: Floats) -> tuple[Integers, Integers, Integers]:
        """Read values, with a check after every `clock`-th of all inputs.

        Returns
        -------
        positions, starts : ndarray of shape (n_shrinks,), dtype int64
            The values after which the window shrank, and the oldest input it then held.
        alarms : ndarray of shape (n_alarms,), dtype int64
            Those of the positions where the mean went in a direction that raises an alarm.
        """
        self._settle()
        self._single_is_behind = True
        if len(values) and not self.pending:
            self.begin_clock()
        n_old = len(self.pending)
        data = np.concatenate((self.pending, values))
        end = len(data) - len(data) % self.clock
        done = 0
        positions, starts, alarms = [], [], []
        while done < end:
            n_read, shrinks = self._read(data[done:end])
            for shrink in shrinks:
                position = done + shrink.end - n_old - 1
                positions.append(position)
                starts.append(shrink.start)
                if self._raises_alarm(shrink.rise):
                    alarms.append(position)
            done += n_read
            at_last = shrinks and shrinks[-1].end == n_read
            if at_last and done < len(data) and self._begins_anew(shrinks[-1].rise):
                self._restart(self.n_checked + done)
        self.pending = data[end:].tolist()
        self.n_checked += end
        self.n_alarms += len(alarms)
        if end:
            self.alarmed = alarms[-1:] == [end - n_old - 1]
        return _integers(positions), _integers(starts), _integers(alarms)

    def boundaries(self) -> Integers:
        """Return the first input of every bucket, once the pending values are put in."""
        self._settle()
        _, lengths = follow_lengths(self.lengths, np.array([len(self.pending)]))
        sizes = sizes_of(lengths[:, 0].tolist())
        return self.start + sizes.cumsum() - sizes

    def moments(self) -> tuple[float, float]:
        """Return mean and population variance of the window."""
        self._settle()
        pending = np.array(self.pending) - self.centre
        sizes = np.append(sizes_of(self.lengths), np.ones(len(pending), dtype=np.int64))
        sums = np.append(self.buckets[0], pending)
        spreads = np.append(self.buckets[1], np.zeros(len(pending)))
        offset, variance = _moments(sizes, sums, spreads)
        return self.centre + offset, variance

    def _width(self) -> int:
        """Return the number of values in the buckets."""
        return sum(length << row for row, length in enumerate(self.lengths))

    def _n_checks_together(self) -> int:
        """Choose a number of checks: few while the window is small, so that little is undone."""
        width = self._width()
        slots = MAX_BUCKETS * max(len(self.lengths), 10)
        return min(max(width // (4 * self.clock), _FEW), max(_CELLS // slots, 1))

    def _read(self, values: Floats) -> tuple[int, list[Shrink]]:
        """Read as many of some values as is best, at least those of one check.

        Returns
        -------
        n_read : int
            Number of values read.
        shrinks : list of Shrink
            After how many of them the window shrank, and its first input then.
        """
        if not self.lengths:  # the first check of all
            self.centre = middle(values[: self.clock])
        enough = _ENOUGH_COMPILED if self._single.compiled else _ENOUGH
        if self._n_shrinks < _OFTEN or len(values) < enough:
            return self._read_to_shrink(values)
        room = WIDEST - self._width()
        fits = room >= max(WIDEST // 2, _FEW * self.clock)
        return self._follow(values) if fits else self._read_to_shrink(values)

    def _read_to_shrink(self, values: Floats) -> tuple[int, list[Shrink]]:
        """Read values up to the first check that shrinks the window, or some of them."""
        values = values[: self.clock * self._n_checks_together()]
        if self._single.compiles_many():
            return self._read_compiled(values)
        centred = values - self.centre
        n_values = np.arange(self.clock, len(values) + 1, self.clock)
        moments = histogram_at(self.lengths, self.buckets, centred, n_values)
        if len(n_values) > _FEW:
            lines = self.rule.suspects(moments, self._squares(centred))
        else:
            lines = np.arange(len(n_values))
        hits = lines[self.rule.cuts(moments.table(lines))]
        line = int(hits[0]) if len(hits) else len(n_values) - 1
        self._hold(moments, line)
        n_read = int(n_values[line])
        self._single.count(line + 1, is_cut=len(hits) > 0)
        if not len(hits):
            return n_read, []
        self._n_shrinks += 1
        rise = self._shrink(is_held=False)
        return n_read, [Shrink(n_read, self.start, rise)]

    def _read_compiled(self, values: Floats) -> tuple[int, list[Shrink]]:
        """Read values up to the first check that shrinks the window, compiled."""
        self._single.load(self.centre, self.lengths, self.buckets)
        n_checks, is_cut = self._single.read_until_cut(values, self.clock)
        self.lengths, self.buckets = self._single.result()
        n_read = n_checks * self.clock
        if not is_cut:
            return n_read, []
        self._n_shrinks += 1
        rise = self._shrink(is_held=True)
        return n_read, [Shrink(n_read, self.start, rise)]

    def _follow(self, values: Floats) -> tuple[int, list[Shrink]]:
        """Read values by running sums, as far as these are sure of what the buckets would do."""
        values = values[: _AT_MOST - _AT_MOST % self.clock]
        sums = Sums(self.rule, self.lengths, self.buckets, values - self.centre)
        found = follow(sums, values, self.centre, self.clock, self._begins_anew)
        if not found.sure:
            self._n_shrinks = 0
        begin = self.start + sums.width  # the input that the values begin with
        if found.begun is not None:
            self._restart(begin + found.begun)
            self.centre = middle(values[found.begun : found.begun + self.clock])
        sizes = sizes_of(self.lengths)
        n_dropped = int(np.count_nonzero(self.start + sizes.cumsum() <= begin + found.start))
        self._drop(n_dropped, sizes)
        self.start = begin + found.start
        rest = values[max(found.start, 0) : found.end] - self.centre
        if len(rest):
            n_rest = np.array([len(rest)])
            self._hold(histogram_at(self.lengths, self.buckets, rest, n_rest), 0)
        return found.end, [shrink._replace(start=begin + shrink.start) for shrink in found.shrinks]

    def _squares(self, centred: Floats) -> Floats:
        """Return the sum of squares of the centred values of the window at each check."""
        sums, spreads = self.buckets
        before = float((spreads + sums * sums / sizes_of(self.lengths)).sum())
        chunks = centred.reshape(-1, self.clock)
        squares: Floats = np.einsum("ij,ij->i", chunks, chunks)
        return before + squares.cumsum()

    def _shrink(self, *, is_held: bool) -> bool:
        """Drop oldest buckets, at least one, until no boundary of the rest cuts.

        Parameters
        ----------
        is_held : bool
            Whether the histogram for single checks holds the window, too. It is stale afterwards.

        Returns
        -------
        bool
            Whether the mean of the window rose.
        """
        sizes = sizes_of(self.lengths)
        if is_held and self._single.compiled:
            n_dropped = self._single.drop_until_no_cut(sizes)
        else:
            order = np.arange(len(sizes))
            kept = order >= order[1:, None]  # line i is the window without its i + 1 oldest buckets
            rest = Table(*(np.where(kept, row, 0.0) for row in (sizes, *self.buckets)))
            n_dropped = 1 + int(self.rule.cuts(rest).argmin())
        mean_before, _ = _moments(sizes, *self.buckets)

        self._drop(n_dropped, sizes)
        sizes = sizes[n_dropped:]
        mean, variance = _moments(sizes, *self.buckets)
        if mean * mean > FAR * FAR * variance:
            # The mean has gone far from the centre. A lasting change makes the window shrink, so
            # checking the distance here is enough.
            centre = self.centre + mean
            self.buckets[0] -= sizes * (centre - self.centre)
            self.centre = centre
        return mean > mean_before

    def _drop(self, n_dropped: int, sizes: Integers) -> None:
        """Drop oldest buckets, of these sizes."""
        self.start += int(sizes[:n_dropped].sum())
        self.buckets = self.buckets[:, n_dropped:].copy()
        for _ in range(n_dropped):
            self.lengths[-1] -= 1
            if self.lengths[-1] == 0:
                self.lengths.pop()

    def _hold(self, moments: Moments, line: int) -> None:
        """Take the buckets of one moment."""
        self.lengths = [length for length in moments.lengths[:, line].tolist() if length]
        standing = moments.index[line][moments.sizes[line] > 0]
        self.buckets = moments.buckets.take(standing, axis=1)


def _moments(sizes: Integers, sums: Floats, spreads: Floats) -> tuple[float, float]:
    """Return mean and population variance of buckets together."""
    n = sizes.sum()
    mean = sums.sum() / n
    deviations = sums - sizes * mean
    return float(mean), float((spreads + deviations * deviations / sizes).sum() / n)


def _integers(values: list[int]) -> Integers:
    return np.array(values, dtype=np.int64)


class ADWIN(DriftDetector):
    """Detect changes of a mean with a window that adapts its width.

    The detector keeps the longest recent window in which no two parts have means that differ
    significantly. Every `clock` inputs it compares the older with the newer side at every bucket
    boundary of an exponential histogram; while the means of the two sides of some boundary differ
    by more than the bound, it drops the oldest bucket. A check that drops anything raises an alarm.
    There is no reset after an alarm, unless it is asked for.

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
        How far two means may differ. ``"moa"``: the normal approximation with the window's variance
        that MOA computes. ``"theorem"``: the bound of Theorem 3.1 of [1]_ for values in [0, 1],
        which has guarantees and raises far fewer alarms.
    direction : {"both", "up", "down"}, default="both"
        Which changes raise an alarm: whether the mean of the window rises or falls when it
        shrinks. It shrinks on all.
    after_alarm : {"shrink", "restart"}, default="shrink"
        What is left of the window after an alarm: what the check has left of it, as in MOA, or
        nothing, from the next input on, as in River.

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
        'ADWIN(bound="theorem") reads values in [0, 1], because the theorem holds only for '
        'them. Scale them, or use bound="moa".'
    )

    def _wrong(self, values: Any) -> Any:
        bound = self.bound if self._state is None else self._state.rule.bound
        low, high = RANGES.get(bound, (-LARGEST, LARGEST))
        return (values < low) | (values > high)

    def _start(self) -> _Window:
        rule = CutRule(float(self.delta), int(self.min_window), self.bound)
        restarts = self.after_alarm == "restart"
        return _Window(rule, int(self.clock), self.direction, restarts)

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
        """Whether the value read last raised an alarm."""
        state = self._state
        return state is not None and state.alarmed and not state.pending

    def advance(self, values: ArrayLike) -> tuple[Integers, Integers]:
        """Read many values and return how the window shrank.

        The same as :meth:`update_many`, but it returns all shrinks of the window, in any direction.
        A new start is one of the :meth:`boundaries` before the call, or lies within `values`.

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
