"""How good the alarms of a detector are, beside alarms that know nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.rows.stream import Drift, as_drifts
from skstream.utils._choices import check_count
from skstream.utils._tables import filled

#: Share of shifts below which a detector is said to be above chance.
LEVEL = 0.05
PER_ROWS = 100_000
#: Below this a number is the rounding of 0.
_ROUNDING = 1e-12
#: Streams to which alarms are moved at most: enough for small shares, and quick.
_MOST_STEPS = 20


@dataclass(frozen=True, kw_only=True)
class DetectionScores:
    """Counts of alarms and drifts, and what follows from them.

    Counts are whole numbers where they were counted, and expected values where alarms at random are
    meant. A value is NaN where it has none: a delay if nothing was detected, the precision without
    alarms, the recall without drifts.

    Attributes
    ----------
    true : float
        Drifts that were detected: alarms that are the first in the zone of a drift.
    false : float
        Alarms outside all zones.
    repeated : float
        Further alarms in the zone of a drift that was detected already. They are neither true nor
        false.
    missed : float
        Drifts that were not detected.
    mean_delay, std_delay : float
        Mean and standard deviation (with ``true - 1``) of the number of rows from the start of a
        drift to the alarm that detected it. For alarms at random: of that number where a drift was
        detected.
    false_alarm_rate : float
        False alarms per 100,000 rows outside the zones.
    precision : float
        ``true / (true + false)``.
    recall : float
        ``true / (true + missed)``.
    f1 : float
        Harmonic mean of precision and recall, ``2 true / (2 true + false + missed)``.

    See Also
    --------
    score_detections : Makes them.
    """

    true: float
    false: float
    repeated: float
    missed: float
    mean_delay: float
    std_delay: float
    false_alarm_rate: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, kw_only=True, repr=False)
class DetectionResult:
    """Scores of the alarms of one detector on one stream.

    ``print`` shows each value beside that of alarms at random, and says in a sentence whether the
    alarms are above chance.

    Attributes
    ----------
    scores : DetectionScores
        The scores of the alarms.
    random : DetectionScores
        What as many alarms get that are spread at random over the rows: counts, recall and delay
        are expected values, precision and F1 the ratios of expected counts.
    pvalue : float
        Share of all shifts of the alarms along the stream (all by the same number of rows, its
        end joined to its start, the shift by 0 among them) with an F1 at least as large. A shift
        keeps the distances between alarms, so that alarms at regular distances have no advantage.
    delays : tuple of int
        Rows from the start of each detected drift to its alarm, in the order of the drifts.
    drifts : tuple of Drift
        The drifts.
    detected : tuple of bool
        Whether each of them was detected.
    tolerance : int
        Rows after the end of a drift in which an alarm belongs to it.
    n_rows : int
        Rows of the stream.

    See Also
    --------
    score_detections : Makes it.
    """

    scores: DetectionScores
    random: DetectionScores
    pvalue: float
    delays: tuple[int, ...]
    drifts: tuple[Drift, ...]
    detected: tuple[bool, ...]
    tolerance: int
    n_rows: int

    @property
    def n_alarms(self) -> int:
        """Number of alarms."""
        return int(self.scores.true + self.scores.repeated + self.scores.false)

    @property
    def above_chance(self) -> bool:
        """Whether the alarms find drifts better than alarms that know nothing.

        True if F1 is larger than that of alarms at random and `pvalue` is below .05.
        """
        return self.pvalue < LEVEL and self.scores.f1 > self.random.f1

    @property
    def verdict(self) -> str:
        """A sentence that says whether the alarms are above chance."""
        if not self.drifts:
            return "There is no drift to detect: all alarms are false."
        if not self.n_alarms:
            return "Not above chance: there is no alarm."
        answer = "Above chance" if self.above_chance else "Not above chance"
        return (
            f"{answer}: F1 is {self.scores.f1:.3f}, that of as many alarms at random "
            f"{self.random.f1:.3f}; of all shifts of these alarms along the stream "
            f"{_percent(self.pvalue)} have an F1 as large."
        )

    def __str__(self) -> str:
        """Return the values beside those of alarms at random, and the verdict."""
        heading = (
            f"{self.n_alarms:,} alarms, {len(self.drifts):,} drifts, {self.n_rows:,} rows, "
            f"tolerance {self.tolerance:,}"
        )
        lines = [f"{'':<17}{'alarms':>10}{'at random':>12}"]
        for one, own, other in zip(
            fields(DetectionScores), astuple(self.scores), astuple(self.random), strict=True
        ):
            name = one.name.replace("_", " ")
            lines.append(f"{name:<17}{_number(own):>10}{_number(other):>12}")
        return "\n".join([heading, *lines, filled(self.verdict, 88)])

    def __repr__(self) -> str:
        """Return the verdict, and where to find the rest."""
        return f"DetectionResult({self.verdict} print() it for all values)"


def score_detections(
    alarms: ArrayLike, drifts: Any, *, tolerance: int, n_rows: int
) -> DetectionResult:
    """Score the alarms of a detector on a stream whose drifts are known.

    The zone of a drift begins at its start and ends `tolerance` rows after its end, or before the
    next drift starts. The first alarm in a zone detects the drift, later ones in the zone are
    repeated, and all others are false. Each value is shown with that of the same number of random
    alarms, because if drifts are dense, any alarm is near one.

    Parameters
    ----------
    alarms : array-like of shape (n_alarms,)
        Rows that raised an alarm, counted from 0, in order, as `update_many` returns them.
    drifts : int, Drift, or sequence of (int, Drift or pair of int)
        True drifts, in the order of their rows: rows of abrupt drifts, pairs ``(start, end)``, or
        the `drifts` of a stream.
    tolerance : int
        Number of rows after the end of a drift within which an alarm still detects it, at least 0.
    n_rows : int
        Rows of the stream.

    Returns
    -------
    DetectionResult
        The scores, those of random alarms, and whether the alarms are better than chance.

    Raises
    ------
    ValueError
        If rows are not integers, out of order, or outside the stream, or two drifts start at
        the same row.

    See Also
    --------
    RandomAlarm : A detector that ignores the values.

    Notes
    -----
    Of `n` alarms at random among `N` rows, each choice of rows as probable as any other, at least
    one lies in a zone of `L` rows with probability ``1 - C(N - L, n) / C(N, n)``; the first lies
    ``d`` rows after its start with probability ``C(N - d - 1, n - 1) / C(N, n)``; and ``n (N - S) /
    N`` lie outside all zones, which have `S` rows.

    Regularly spaced alarms find more drifts than random ones, though they contain no more
    information: each zone as long as the spacing has one. That is why `above_chance` also compares
    the alarms with their own shifts along the stream. It takes ``n_alarms * n_drifts`` steps.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import PageHinkley, score_detections
    >>> errors = np.random.default_rng(0).random(8000) < np.repeat([0.1, 0.5, 0.1, 0.5], 2000)
    >>> alarms = PageHinkley(threshold=20).update_many(errors)
    >>> result = score_detections(alarms, [2000, 6000], tolerance=300, n_rows=8000)
    >>> result.delays
    (47, 224)
    >>> result.scores.f1, round(result.random.f1, 3)
    (1.0, 0.074)
    >>> result.above_chance
    True
    """
    n_rows = check_count(n_rows, "n_rows", 1)
    tolerance = check_count(tolerance, "tolerance", 0)
    rows = checked_alarms(alarms, n_rows)
    found = checked_drifts(drifts, n_rows)
    zones = zones_of(found, tolerance, n_rows)
    scores, detected, delays = counted(zones, rows)
    return DetectionResult(
        scores=scores,
        random=at_random(zones, len(rows)),
        pvalue=share_of_shifts(zones, rows),
        delays=tuple(delays.tolist()),
        drifts=found,
        detected=tuple(detected.tolist()),
        tolerance=tolerance,
        n_rows=n_rows,
    )


def counted(
    zones: Zones, rows: NDArray[np.int64]
) -> tuple[DetectionScores, NDArray[np.bool_], NDArray[np.int64]]:
    """Scores of alarms at some rows, whether each drift was detected, and the delays of those."""
    first = np.searchsorted(rows, zones.starts)
    after = np.searchsorted(rows, zones.starts + zones.lengths)
    detected = after > first
    delays = rows[first[detected]] - zones.starts[detected]
    n = len(delays)
    scores = _scores(
        zones,
        true=n,
        n_within=int((after - first).sum()),
        n_alarms=len(rows),
        mean_delay=float(delays.mean()) if n else np.nan,
        std_delay=float(delays.std(ddof=1)) if n > 1 else np.nan,
    )
    return scores, detected, delays


def at_random(zones: Zones, n_alarms: int) -> DetectionScores:
    """Scores of as many alarms at random rows."""
    true, delays, squares = first_at_random(zones, n_alarms).tolist()
    mean = _ratio(delays, true)
    return _scores(
        zones,
        true=true,
        n_within=n_alarms * int(zones.lengths.sum()) / zones.n_rows,
        n_alarms=n_alarms,
        mean_delay=mean,
        std_delay=float(np.sqrt(max(_ratio(squares, true) - mean**2, 0.0))) if true else np.nan,
    )


def _scores(
    zones: Zones,
    *,
    true: float,
    n_within: float,
    n_alarms: int,
    mean_delay: float,
    std_delay: float,
) -> DetectionScores:
    n_drifts, false = len(zones.starts), n_alarms - n_within
    return DetectionScores(
        true=true,
        false=false,
        repeated=max(n_within - true, 0.0),  # expected values have errors of rounding
        missed=max(n_drifts - true, 0.0),
        mean_delay=mean_delay,
        std_delay=std_delay,
        false_alarm_rate=_ratio(PER_ROWS * false, zones.n_rows - int(zones.lengths.sum())),
        precision=_ratio(true, true + false),
        recall=_ratio(true, n_drifts),
        f1=_ratio(2 * true, true + n_drifts + false),
    )


def _ratio(a: float, b: float) -> float:
    return a / b if b else np.nan


def _number(value: float) -> str:
    if np.isnan(value):
        return "-"
    if abs(value) < _ROUNDING:
        return "0"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"


def _percent(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"


class Zones(NamedTuple):
    """Rows of each drift: from its start, `lengths` rows. They do not overlap."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    n_rows: int


def zones_of(drifts: Sequence[Drift], tolerance: int, n_rows: int) -> Zones:
    """Return the zones: to `tolerance` rows after each end, and never into the next drift."""
    starts = np.array([drift.start for drift in drifts], dtype=np.int64)
    ends = np.array([drift.end for drift in drifts], dtype=np.int64)
    stops = np.minimum(ends + tolerance + 1, np.append(starts[1:], n_rows)[: len(starts)])
    return Zones(starts, stops - starts, n_rows)


def checked_drifts(drifts: Any, n_rows: int) -> tuple[Drift, ...]:
    """Return drifts in their order, all within the stream, or say what is wrong."""
    listed = [drifts] if isinstance(drifts, Drift) or not np.iterable(drifts) else list(drifts)
    found = as_drifts(listed)
    given = [as_drifts([one])[0] for one in listed]
    for before, after in pairwise(given):
        if after.start <= before.start:
            raise ValueError(
                "drifts must be in the order of their rows, each later than the one before. Got a "
                f"drift at row {after.start} after one at row {before.start}."
            )
    for drift in found:
        if drift.start < 0 or drift.start >= n_rows or drift.end > n_rows:
            raise ValueError(
                f"drifts must lie within the n_rows={n_rows} rows, which are counted from 0. Got "
                f"start={drift.start}, end={drift.end}."
            )
    return found


def checked_alarms(alarms: Any, n_rows: int) -> NDArray[np.int64]:
    """Return rows of alarms, which increase and lie within the stream, or say what is wrong."""
    rows = np.asarray(alarms)
    if not rows.size and rows.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        mask = " np.flatnonzero turns a mask into such numbers." if rows.dtype.kind == "b" else ""
        raise ValueError(
            "alarms must be the numbers of the rows that raised one, as update_many returns them: "
            "a sequence of integers. "
            f"Got an array of shape {rows.shape} and dtype {rows.dtype}.{mask}"
        )
    outside = (rows < 0) | (rows >= n_rows)
    if outside.any():
        raise ValueError(
            f"alarms must lie within the n_rows={n_rows} rows, which are counted from 0. Got an "
            f"alarm at row {rows[outside.argmax()]}."
        )
    rows = rows.astype(np.int64)
    wrong = np.diff(rows) <= 0
    if wrong.any():
        place = int(wrong.argmax())
        raise ValueError(
            "alarms must be in the order of their rows, at most one at each. Got an alarm at row "
            f"{rows[place + 1]} after one at row {rows[place]}."
        )
    return rows


def first_at_random(zones: Zones, n_alarms: int) -> NDArray[np.float64]:
    """Sums over all drifts of P(found), E[delay; found] and E[delay^2; found].

    Of alarms at `n_alarms` different rows, any choice of rows as probable as any other.
    """
    if not len(zones.lengths) or not n_alarms:
        return np.zeros(3)
    # P(no alarm in the first d rows of a zone) = C(n_rows - d, n_alarms) / C(n_rows, n_alarms).
    before = np.arange(int(zones.lengths.max()))
    left = zones.n_rows - before
    none = np.append(1.0, np.cumprod(np.maximum(left - n_alarms, 0) / left))
    first = none[:-1] - none[1:]
    sums = np.cumsum([first, first * before, first * before**2.0], axis=1)
    return sums[:, zones.lengths - 1].sum(axis=1)


def share_of_shifts(zones: Zones, alarms: NDArray[np.int64]) -> float:
    """Share of all shifts of the alarms with an F1 at least as large as without a shift."""
    if not len(zones.starts) or not len(alarms):
        return 1.0
    widths, f1 = _f1_of_shifts(zones, alarms)
    unshifted = f1[np.flatnonzero(widths)[0]]
    return float(widths[f1 >= unshifted - 1e-12].sum() / zones.n_rows)


def share_of_rearrangements(zones: list[Zones], alarms: Sequence[NDArray[np.int64]]) -> float:
    """Share of all rearrangements of the alarms on several streams with as large a mean F1.

    A rearrangement moves all alarms by the same number of streams, and along these by the same
    number of rows. So it is no merit of alarms to be at the same good rows of every stream where
    the drifts of all are at the same rows, too. Where they are not, good alarms are good on their
    own stream alone. Streams of different lengths keep their alarms.
    """
    observed, share = 0.0, []
    for step in _steps(zones):
        total = _sum_of_shifts(zones[step:] + zones[:step], alarms)
        if not step:
            observed = float(total[0])
        share.append(np.mean(total >= observed - 1e-9))
    return float(np.mean(share))


def _sum_of_shifts(
    zones: Sequence[Zones], alarms: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Sum over the streams of the F1 of every shift; shorter streams begin again."""
    n_rows = max(one.n_rows for one in zones)
    total = np.zeros(n_rows)
    begins, jumps = [np.zeros(1, dtype=np.int64)], [np.zeros(1)]
    for one, rows in zip(zones, alarms, strict=True):
        if not len(one.starts) or not len(rows):
            continue
        widths, f1 = _f1_of_shifts(one, rows)
        if one.n_rows < n_rows:
            total += np.resize(np.repeat(f1, widths), n_rows)
            continue
        known = widths > 0
        begins.append((np.cumsum(widths) - widths)[known])
        jumps.append(np.diff(f1[known], prepend=0.0))
    steps = np.bincount(np.concatenate(begins), np.concatenate(jumps), minlength=n_rows)
    total += np.cumsum(steps)
    return total


def _steps(zones: Sequence[Zones]) -> list[int]:
    """By how many streams alarms are moved; 0 is the first."""
    first = zones[0]
    same_length = all(one.n_rows == first.n_rows for one in zones)
    if not same_length or all(np.array_equal(one.starts, first.starts) for one in zones):
        return [0]
    n = min(len(zones), _MOST_STEPS)
    return [k * len(zones) // n for k in range(n)]


def _f1_of_shifts(
    zones: Zones, alarms: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """F1 of all shifts of the alarms: numbers of shifts one after another, and their F1.

    A shift moves all alarms along the stream, its end joined to its start; the first is by 0 rows.
    The number of drifts found and of alarms within zones are sums of indicators of intervals of
    shifts: they change at the ends of these alone.
    """
    n_rows, n_drifts = zones.n_rows, len(zones.starts)
    gaps = np.diff(alarms, prepend=alarms[-1] - n_rows)
    starts = ((zones.starts[:, None] - alarms) % n_rows).ravel()
    within = np.repeat(zones.lengths, len(alarms))
    # An alarm is the first one of a zone while the one before it is still outside.
    first = np.minimum(within, np.tile(gaps, n_drifts))
    rows = np.concatenate([[0], starts, starts + first, starts + within])
    n_found, n_within = (
        np.concatenate([[0], np.ones_like(starts), *changes])
        for changes in (
            (-np.ones_like(starts), np.zeros_like(starts)),
            (np.zeros_like(starts), -np.ones_like(starts)),
        )
    )
    n_found[0] = np.count_nonzero(starts + first >= n_rows)  # those that go on at shift 0
    n_within[0] = np.count_nonzero(starts + within >= n_rows)
    rows %= n_rows
    order = np.argsort(rows, kind="stable")
    widths = np.diff(rows[order], append=n_rows)
    n_found, n_within = np.cumsum(n_found[order]), np.cumsum(n_within[order])
    return widths, 2 * n_found / (n_found + n_drifts + len(alarms) - n_within)
