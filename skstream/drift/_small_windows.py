"""ADWIN through values where the window is small and shrinks often.

The rows of the histogram hold four or five buckets each, but for the highest, so that the bounds of
all buckets follow from the width of the window alone. Means and variances between bounds come from
running sums of all values, so that a check needs no buckets, and many checks, or all windows that a
shrink may leave, are compared at once with thresholds that were computed once for each width.

Running sums round in other ways than buckets do. Where a difference of means is so near its
threshold that this could matter, nothing is decided here, and the buckets decide.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skstream.drift._cut import MIN_WIDTH, CutRule
from skstream.drift._histogram import MAX_BUCKETS, Floats, Integers, sizes_of

#: Windows up to this width are followed.
WIDEST = 2048
_TOGETHER = 32  # checks
#: Largest distance of mean and centre, in standard deviations.
FAR = 8.0
_EPSILON = float(np.finfo(np.float64).eps)


class _Thresholds(NamedTuple):
    """For each width of a window: its bounds, and how much the sums there may deviate.

    The sum of the older side less its share of the total may be as large as a slope times the
    standard deviation of the window, plus a constant: infinity for a bound that is not tested.
    """

    places: Integers  # (WIDEST + 1, n_bounds), values on the older side, ascending
    slopes: Floats  # (WIDEST + 1, n_bounds)
    constants: Floats  # (WIDEST + 1, n_bounds)
    steepest: float  # of the slopes


@lru_cache(maxsize=4)
def _thresholds(rule: CutRule) -> _Thresholds:
    widths = np.arange(WIDEST + 1)[:, None, None]
    # Of a window of n values ((n + 4) >> r) - 4 buckets of 2**r values have come to row r or
    # have been merged from there. Row 0 has no bound that is tested but its beginning.
    rows = np.arange(1, (WIDEST // MAX_BUCKETS).bit_length())[:, None]
    begin = np.maximum(((widths + 4) >> (rows + 1)) - 4, 0) << (rows + 1)
    places = begin + (np.arange(1, MAX_BUCKETS + 1) << rows)
    n = widths.reshape(-1, 1)
    n0 = np.sort(np.minimum(places.reshape(len(n), -1), n), axis=1)
    again = np.diff(n0, prepend=-1) == 0  # rows meet, and a fifth bucket may be of the next row
    n0 = np.sort(np.where(again, n, n0), axis=1)
    n1 = n - n0
    tested = (n0 >= rule.min_window) & (n1 >= rule.min_window) & (n > MIN_WIDTH)
    log = np.array([rule.logarithm(max(width, MIN_WIDTH)) for width in n[:, 0].tolist()])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # where it is not tested
        harmonic = n0 * n1 / n
        if rule.theorem:
            slopes, constants = np.zeros(n0.shape), np.sqrt(0.5 * log * harmonic)
        else:
            reciprocal = 1 / (n0 - 4) + 1 / (n1 - 4)
            slopes = np.sqrt(2 * log * reciprocal) * harmonic
            constants = 2 / 3 * log * reciprocal * harmonic
    slopes = np.where(tested, slopes, 0.0)
    return _Thresholds(n0, slopes, np.where(tested, constants, np.inf), float(slopes.max()))


class Shrink(NamedTuple):
    """A shrink of the window."""

    end: int  # after this number of values
    start: int  # the first value of what was left
    rise: bool


class Followed(NamedTuple):
    """How far the window was followed; values before those read have negative numbers."""

    shrinks: list[Shrink]
    start: int  # of the window
    end: int
    begun: int | None  # where the window last began anew, if it did
    sure: bool  # False if the buckets must decide the next check


class Sums:
    """Running sums of the values since the window began, known at its bounds and after it.

    Parameters
    ----------
    rule : CutRule
        The test.
    lengths, buckets : list of int, ndarray of shape (2, n_buckets)
        The window.
    centred : ndarray of shape (n,)
        Further values, less the centre of the buckets.
    """

    def __init__(self, rule: CutRule, lengths: list[int], buckets: Floats, centred: Floats) -> None:
        self.thresholds = _thresholds(rule)
        sizes = sizes_of(lengths)
        ends = sizes.cumsum()
        self.width = width = int(sizes.sum())
        self.n = n = width + len(centred)
        self.sums, self.squares = np.zeros((2, n + 1))
        sums, spreads = buckets
        self.sums[ends] = sums.cumsum()
        self.squares[ends] = (spreads + sums * sums / sizes).cumsum()
        for whole, part in ((self.sums, centred), (self.squares, centred * centred)):
            np.cumsum(part, out=whole[width + 1 :])
            whole[width + 1 :] += whole[width]
        # How far rounding may move a sum and a sum of squares: far more than it does.
        total = self.squares.item(-1)
        rounding = 16 * _EPSILON * n
        self.off_sums = rounding * math.sqrt(n * total)
        self.off_squares = rounding * math.sqrt(n) * total
        self.steepest = self.thresholds.steepest
        self.band = self._band(0.0, MIN_WIDTH)

    def _band(self, deviation: float, width: int) -> float:
        """Return how far rounding may move an excess, in windows of at least this width."""
        off = self.off_squares / width
        off_deviation = off / max(deviation, math.sqrt(off)) if off else 0.0
        relative = 1e-12 * (1 + self.steepest) * (1 + math.sqrt(self.squares.item(-1)))
        return self.off_sums + self.steepest * off_deviation + relative

    def first(self, starts: Integers, ends: Integers, *, that_cuts: bool) -> tuple[int, bool]:
        """Find the first window with a bound that cuts, or the first without.

        Returns
        -------
        line : int
            Which of the windows; their number if there is none.
        sure : bool
            False where rounding may decide of that window.
        """
        places, slopes, constants, _ = self.thresholds
        widths = ends - starts
        before = self.sums.take(starts)
        means: Floats = (self.sums.take(ends) - before) / widths
        variances = (self.squares.take(ends) - self.squares.take(starts)) / widths - means * means
        deviations = np.sqrt(np.maximum(variances, 0.0))
        allowed = slopes.take(widths, axis=0)
        allowed *= deviations[:, None]
        allowed += constants.take(widths, axis=0)
        at = places.take(widths, axis=0)
        expected: Floats = at * means[:, None]
        expected += before[:, None]
        at += starts[:, None]
        gap = self.sums.take(at)
        gap -= expected
        np.abs(gap, out=gap)
        gap -= allowed
        excess = gap.max(axis=1)
        possible = excess >= -self.band if that_cuts else excess <= self.band
        for line in np.flatnonzero(possible).tolist():
            value = excess.item(line)
            if abs(value) > self.band:
                return line, True
            band = self._band(deviations.item(line), widths.item(line))
            if abs(value) <= band:
                return line, False
            if (value > 0) == that_cuts:
                return line, True
        return len(excess), True

    def shrink(self, start: int, end: int) -> Shrink | None:
        """Drop oldest buckets until nothing cuts; None if rounding might decide."""
        width = end - start
        places = self.thresholds.places[width]
        starts = start + places[: places.searchsorted(width)]
        line, sure = self.first(starts, np.array([end]), that_cuts=False)
        if not sure:
            return None
        left = starts.item(line)
        before, _ = self.moments(start, end)
        after, _ = self.moments(left, end)
        if abs(after - before) <= 4 * self.off_sums / (end - left):
            return None
        return Shrink(end, left, after > before)

    def moments(self, start: int, end: int) -> tuple[float, float]:
        """Return mean and variance of a window, about the centre."""
        n = end - start
        mean = (self.sums.item(end) - self.sums.item(start)) / n
        return mean, (self.squares.item(end) - self.squares.item(start)) / n - mean * mean

    def is_near(self, start: int, end: int, centre: float) -> bool:
        """Tell whether the mean is certainly near a value, so that the centre need not move."""
        mean, variance = self.moments(start, end)
        far = abs(mean - centre) + self.off_sums / (end - start)
        return far * far < FAR * FAR * (variance - self.off_squares / (end - start))


def middle(values: Floats) -> float:
    """Return a value from the middle of some, the centre of a window that begins with them."""
    return float(np.sort(values)[len(values) // 2])


def follow(
    sums: Sums, values: Floats, centre: float, clock: int, begins_anew: Callable[[bool], bool]
) -> Followed:
    """Check the window after every `clock` values, as far as that is sure.

    Parameters
    ----------
    sums : Sums
        Those of the values.
    values : ndarray of shape (n,)
        The values after the window, not centred; a multiple of `clock`.
    centre : float
        What the values in `sums` are less than these.
    clock : int
        Number of values between checks.
    begins_anew : callable
        Tells, for the direction of a shrink, whether the window is then emptied.

    Returns
    -------
    Followed
        The shrinks, and the window at the end.
    """
    width = sums.width
    start, end, begun, moved, sure = 0, width, None, 0.0, True
    shrinks: list[Shrink] = []
    steps = clock * np.arange(1, _TOGETHER + 1)
    while end < sums.n:
        n = min(_TOGETHER, (sums.n - end) // clock, (WIDEST - end + start) // clock)
        if n < 1:
            break
        line, sure = sums.first(np.array([start]), end + steps[:n], that_cuts=True)
        end += line * clock  # all checks until here cut nothing
        if line == n:
            continue
        shrink = sums.shrink(start, end + clock) if sure else None
        anew = shrink is not None and shrink.end < sums.n and begins_anew(shrink.rise)
        sure = shrink is not None and (anew or sums.is_near(shrink.start, shrink.end, moved))
        if shrink is None or not sure:
            break
        shrinks.append(Shrink(shrink.end - width, shrink.start - width, shrink.rise))
        start, end = shrink.start, shrink.end
        if anew:
            start = end
            begun = end - width
            moved = middle(values[begun : begun + clock]) - centre
    return Followed(shrinks, start - width, end - width, begun, sure)
