"""Rows in which alarms belong to a drift, and what alarms at random would find there."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.streams._drifts import Drift, as_drifts

#: Streams to which alarms are moved at most: enough for small shares, and quick.
_MOST_STEPS = 20


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
                "drifts must be in the order of their rows, each at a later row than the one "
                f"before. Got a drift at row {after.start} after one at row {before.start}."
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
    total: NDArray[np.float64] = sums[:, zones.lengths - 1].sum(axis=1)
    return total


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
