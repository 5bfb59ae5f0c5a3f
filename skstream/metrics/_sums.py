"""Running sums of elementary series under Cumulative, SlidingWindow and FadingFactor.

A mechanism reads blocks of labelled rows and returns the sums at the places asked for. Sums of
0/1 series are exact integers; nothing is ever subtracted from a sum of real numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._columns import (
    NEEDS_INCLUSIVE,
    NEEDS_MAJORITY,
    NOTHING,
    Array,
    Columns,
    Floats,
    Series,
    expand,
)

Integers = NDArray[np.intp]
SumsByKind = dict[str, Floats]

#: Weight below which a faded row no longer counts.
FADED = 1e-16
# With fewer checkpoints in a block than this it is quicker to sum what lies between them than to
# form the running sums at every row.
_DENSE = 16
# A fading sum below this is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-300


@dataclass(frozen=True, slots=True)
class Labelled:
    """Consecutive rows with a label and a positive weight; the scored ones are among them.

    Attributes
    ----------
    y, p, weight, previous
        As in `Columns`; `p` is `NOTHING` or NaN where a row was not asked.
    scored : ndarray of shape (n_scored,), dtype intp, or None
        Positions of the scored rows; None: all.
    """

    y: Array
    p: Array
    weight: Floats | None
    previous: Array | None
    scored: Integers | None

    @property
    def n_scored(self) -> int:
        """Number of scored rows."""
        return len(self.y) if self.scored is None else len(self.scored)

    def columns(self, majority: Array | None, inclusive: Array | None) -> Columns:
        """The scored rows, with the answers of the majority baseline."""
        arrays = (self.y, self.p, self.weight, self.previous, majority, inclusive)
        if self.scored is None:
            return Columns(*arrays)
        return Columns(*(None if a is None else a[self.scored] for a in arrays))


class RunningSums(ABC):
    """Sums of elementary series over what a forgetting mechanism remembers.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    """

    def __init__(self, kinds: Iterable[str], n_classes: int) -> None:
        kinds = frozenset(kinds)
        self.series = expand(kinds, n_classes)
        self.n_classes = n_classes
        self.n_scored = 0
        self.n_labelled = 0
        self.needs_majority = not kinds.isdisjoint(NEEDS_MAJORITY)
        self.needs_inclusive = not kinds.isdisjoint(NEEDS_INCLUSIVE)

    def advance(self, rows: Labelled, ends: Integers) -> SumsByKind:
        """Read rows and return the sums after the first ``ends[i]`` of their scored ones.

        Parameters
        ----------
        rows : Labelled
            The next rows.
        ends : ndarray of shape (n_ends,)
            Non-decreasing, in ``[0, rows.n_scored]``.

        Returns
        -------
        dict of str to ndarray
            By kind: shape (n_ends,), or (n_classes, n_ends) for series of every class.
        """
        majority, inclusive = self._majorities(rows)
        sums = _SumsAt(self.series, self.n_classes, len(ends))
        self._advance(rows.columns(majority, inclusive), ends, sums)
        self.n_scored += rows.n_scored
        self.n_labelled += len(rows.y)
        return sums.by_kind

    def _majorities(self, rows: Labelled) -> tuple[Array | None, Array | None]:
        if not (self.needs_majority or self.needs_inclusive):
            return None, None
        answers = leading_code(self._label_sums(rows)).astype(rows.y.dtype)
        inclusive = answers[1:] if self.needs_inclusive else None
        majority = answers[:-1]
        if self.n_labelled == 0 and len(majority):
            majority[0] = NOTHING
        return majority, inclusive

    @abstractmethod
    def _label_sums(self, rows: Labelled) -> list[Array]:
        """Sums of every label after 0, 1, ..., n of the labelled rows."""

    @abstractmethod
    def _advance(self, columns: Columns, ends: Integers, sums: "_SumsAt") -> None:
        """Read scored rows and fill in the sums at the ends."""

    @abstractmethod
    def oldest(self, ends: Integers) -> Integers:
        """Number of the oldest scored row that counts after ``ends[i]`` scored rows in all."""

    @abstractmethod
    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""

    def copy(self) -> Self:
        """Return a twin that can be advanced on its own.

        Every method replaces what it changes and writes into nothing, so the copy is shallow.
        """
        return copy(self)


class _SumsAt:
    """Sums at the ends, to be filled in series by series."""

    def __init__(self, series: Sequence[Series], n_classes: int, n_ends: int) -> None:
        self.by_kind: SumsByKind = {
            kind: np.empty(n_ends if code == NOTHING else (n_classes, n_ends))
            for kind, code in series
        }

    def of(self, series: Series) -> Floats:
        """Where the sums of a series belong."""
        array = self.by_kind[series.kind]
        return array if series.code == NOTHING else array[series.code]


class CumulativeSums(RunningSums):
    """Sums over all rows so far."""

    def __init__(self, kinds: Iterable[str], n_classes: int) -> None:
        super().__init__(kinds, n_classes)
        self.carried = dict.fromkeys(self.series, 0.0)
        self.labels = np.zeros(n_classes)
        self.centre = 0.0

    def _label_sums(self, rows: Labelled) -> list[Array]:
        labels = Columns(rows.y, rows.y, rows.weight)
        sums = [
            self._running(labels.series(Series("label", code)), self.labels[code])
            for code in range(self.n_classes)
        ]
        self.labels = np.array([s[-1] for s in sums])
        return sums

    def _advance(self, columns: Columns, ends: Integers, sums: _SumsAt) -> None:
        self._recentre(columns)
        columns.centre = self.centre
        if len(ends) < _DENSE:
            self._advance_between(columns, ends, sums)
            return
        at = as_slice(ends)
        carried = {}
        done: dict[tuple[int, float], tuple[Array, Array]] = {}
        for series in self.series:
            values = columns.series(series)
            token = id(values), self.carried[series]
            if token not in done:
                done[token] = values, self._running(values, self.carried[series])
            running = done[token][1]
            sums.of(series)[:] = running[at]
            carried[series] = float(running[-1])
        self.carried = carried

    def _advance_between(self, columns: Columns, ends: Integers, sums: _SumsAt) -> None:
        carried = dict(self.carried)
        start = 0
        for position, end in enumerate([*ends.tolist(), len(columns)]):
            if end > start:
                between = columns[start:end]
                for series in self.series:
                    carried[series] = self._extended(carried[series], between, series)
                start = end
            if position < len(ends):
                for series in self.series:
                    sums.of(series)[position] = carried[series]
        self.carried = carried

    def _running(self, values: Array, carried: float) -> Array:
        """Sum after 0, 1, ..., n of the values, behind what is carried."""
        running = prefix_sums(values)
        return np.add(running, carried, dtype=np.float64)

    def _extended(self, carried: float, columns: Columns, series: Series) -> float:
        """What is carried after more rows."""
        return carried + columns.total(series)

    def _recentre(self, columns: Columns) -> None:
        """Move the origin of the targets to their mean so far."""
        first, second = Series("target"), Series("target_squared")
        if first not in self.carried or not len(columns):
            return
        n, total = self.carried[Series("rows")], self.carried[first]
        shift = total / n if n > 0.0 else float(columns.y[0]) - self.centre
        self._shift(shift)
        self.centre += shift

    def _shift(self, shift: float) -> None:
        first, second = Series("target"), Series("target_squared")
        n, total = self.carried[Series("rows")], self.carried[first]
        squares = self.carried[second] - 2.0 * shift * total + shift * shift * n
        # Rounding must not leave a negative sum of squares behind.
        self.carried = {
            **self.carried,
            first: total - shift * n,
            second: max(squares, 0.0),
        }

    def oldest(self, ends: Integers) -> Integers:
        """All rows count."""
        return np.zeros_like(ends)

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        if Series("target") in self.carried:
            self._shift(later.centre - self.centre)
            self.centre = later.centre
        kept, kept_labels = self._kept(later)
        self.carried = {s: kept * self.carried[s] + later.carried[s] for s in self.series}
        self.labels = kept_labels * self.labels + later.labels
        self.n_scored += later.n_scored
        self.n_labelled += later.n_labelled

    def _kept(self, later: Self) -> tuple[float, float]:
        """What remains of these sums and label counts once the later rows are read."""
        return 1.0, 1.0


class FadingSums(CumulativeSums):
    """Sums in which a row that is k rows old weighs ``alpha ** k``."""

    def __init__(self, kinds: Iterable[str], n_classes: int, alpha: float) -> None:
        super().__init__(kinds, n_classes)
        self.alpha = alpha

    def _running(self, values: Array, carried: float) -> Array:
        from scipy.signal import lfilter  # slow to import, and needed here alone

        if abs(carried) < _SUBNORMAL:
            carried = 0.0
        running = np.empty(len(values) + 1)
        running[0] = carried
        if len(values):
            state = [self.alpha * carried]
            running[1:], _ = lfilter([1.0], [1.0, -self.alpha], values, zi=state)
        return running

    def _extended(self, carried: float, columns: Columns, series: Series) -> float:
        n = len(columns)
        powers = _powers(self.alpha, n)
        faded = carried * self.alpha**n
        return (0.0 if abs(faded) < _SUBNORMAL else faded) + float(columns.series(series) @ powers)

    def oldest(self, ends: Integers) -> Integers:
        """Rows count until their weight falls below `FADED`."""
        reach = ceil(log(FADED) / log(self.alpha))
        return np.maximum(ends - reach, 0)

    def _kept(self, later: Self) -> tuple[float, float]:
        return float(self.alpha**later.n_scored), float(self.alpha**later.n_labelled)


@lru_cache(maxsize=8)
def _powers(alpha: float, n: int) -> Floats:
    """Alpha ** (n - 1), ..., alpha, 1."""
    powers: Floats = alpha ** np.arange(n - 1, -1, -1.0)
    return powers


class SlidingSums(RunningSums):
    """Sums over the last `window_size` rows, formed afresh from those rows in every block."""

    def __init__(self, kinds: Iterable[str], n_classes: int, window_size: int) -> None:
        super().__init__(kinds, n_classes)
        self.window_size = window_size
        self.tail: Columns | None = None
        self.labelled_tail: Columns | None = None
        self.needs_centre = Series("target") in self.series

    def _label_sums(self, rows: Labelled) -> list[Array]:
        labels = Columns(rows.y, rows.y, rows.weight).following(self.labelled_tail)
        n_old = len(labels) - len(rows.y)
        self.labelled_tail = labels[-self.window_size :].copy()
        return [
            window_sums(
                labels.series(Series("label", code)), n_old, self.window_size, self.n_labelled
            )
            for code in range(self.n_classes)
        ]

    def _advance(self, columns: Columns, ends: Integers, sums: _SumsAt) -> None:
        n_new, size = len(columns), self.window_size
        rows = columns.following(self.tail)
        n_old = len(rows) - n_new
        if self.needs_centre and len(rows):
            rows.centre = float(np.median(rows.y))
        self.tail = rows[-size:].copy()
        if len(ends) < _DENSE and len(ends) * size < _DENSE * len(rows):
            for position, end in enumerate((ends + n_old).tolist()):
                window = rows[max(0, end - size) : end]
                for series in self.series:
                    sums.of(series)[position] = window.total(series)
            return
        at = as_slice(ends)
        done: dict[int, tuple[Array, Array]] = {}
        for series in self.series:
            values = rows.series(series)
            if id(values) not in done:
                done[id(values)] = values, window_sums(values, n_old, size, self.n_scored)
            sums.of(series)[:] = done[id(values)][1][at]

    def oldest(self, ends: Integers) -> Integers:
        """The last rows count."""
        return np.maximum(ends - self.window_size, 0)

    def merge(self, later: Self) -> None:
        """Append the rows that followed."""
        if later.tail is not None:
            self.tail = later.tail.following(self.tail)[-self.window_size :].copy()
        if later.labelled_tail is not None:
            tail = later.labelled_tail.following(self.labelled_tail)
            self.labelled_tail = tail[-self.window_size :].copy()
        self.n_scored += later.n_scored
        self.n_labelled += later.n_labelled


def prefix_sums(values: Array) -> Array:
    """Sum of the first 0, 1, ..., n values; 0/1 values as int32, which is fast and exact."""
    counts = values.dtype == bool
    sums = np.empty(len(values) + 1, dtype=np.int32 if counts else np.float64)
    sums[0] = 0
    np.cumsum(values, dtype=sums.dtype, out=sums[1:])
    return sums


def window_sums(values: Array, n_old: int, size: int, n_before: int) -> Floats:
    """Sums over a sliding window, after 0, 1, ..., n of the new values.

    Parameters
    ----------
    values : ndarray of shape (n_old + n,)
        The last `n_old` earlier values (as many as fit the window), then the new ones.
    n_old : int
        Number of earlier values.
    size : int
        Size of the window.
    n_before : int
        Number of all earlier values.

    Returns
    -------
    ndarray of shape (n + 1,), dtype float64
        The sums.
    """
    if values.dtype != bool:
        return _real_window_sums(values, n_old, size, n_before)
    total = prefix_sums(values)
    sums = total[n_old:].astype(np.float64)
    growing = size - n_old  # so many new rows leave the window incomplete or just full
    np.subtract(total[size:], total[: max(0, len(sums) - growing)], out=sums[growing:])
    return sums


def _real_window_sums(values: Floats, n_old: int, size: int, n_before: int) -> Floats:
    """Sums of real numbers: the end of one segment of the stream and the beginning of the next.

    The stream is cut into segments as long as the window. A window is then a suffix of one
    segment and a prefix of the next, and no large value has to be subtracted again.
    """
    first = (n_before - n_old) % size
    n_segments = -(-(first + len(values)) // size)
    padded = np.zeros(n_segments * size)
    padded[first : first + len(values)] = values
    segments = padded.reshape(n_segments, size)
    prefix = np.cumsum(segments, axis=1).ravel()
    suffix = np.cumsum(segments[:, ::-1], axis=1)[:, ::-1].copy()
    suffix[:, 0] = 0.0  # a window that begins with a segment is that segment's prefix
    suffix = suffix.ravel()
    # The window that ends with the last earlier value comes first.
    last = first + n_old - 1
    ends = np.arange(last, first + len(values))
    sums = np.where(ends >= 0, prefix[ends], 0.0)
    begins = ends - size + 1
    inside = begins >= 0
    sums[inside] += suffix[begins[inside]]
    return sums


def leading_code(sums: Sequence[Array]) -> Array:
    """Code of the largest sum at every place, the lowest among equals."""
    if len(sums) == 2:
        return (sums[1] > sums[0]).view(np.int8)
    best = sums[0].copy()
    code = np.zeros(len(best), dtype=np.min_scalar_type(len(sums)))
    for challenger in range(1, len(sums)):
        ahead = sums[challenger] > best
        np.maximum(best, sums[challenger], out=best)
        # Codes only grow, so the maximum is the code of the newest leader.
        np.maximum(code, ahead * code.dtype.type(challenger), out=code)
    return code


def as_slice(ends: Integers) -> slice | Integers:
    """The ends as a slice where they are consecutive."""
    if len(ends) and np.array_equal(ends, np.arange(ends[0], ends[0] + len(ends))):
        return slice(int(ends[0]), int(ends[-1]) + 1)
    return ends
