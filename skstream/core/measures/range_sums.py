"""Sums over ranges of rows: the last ones, those of a duration, and sets of rows."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from skstream.core.measures.class_tables import (
    Coded,
    a_few,
    leading_codes,
    leading_codes_in_window,
    sums_between,
    sums_in_window,
)
from skstream.core.measures.rankings import RankingValues, Sided, Target, in_ranges, in_windows
from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.core.measures.series import KindOf, Series, values_of
from skstream.core.measures.spread import Moments, all_weights, window_spreads
from skstream.core.measures.sums import LABELS, Ends, Majority, RunningSums, leading_code
from skstream.utils._running_sums import prefix_sums, window_sums

# With so many rows per range, counts are not formed at every row.
_MANY_ROWS = 8


class Ranges(NamedTuple):
    """Ranges of rows, among those remembered and the new ones.

    Attributes
    ----------
    n_old : int
        Number of rows remembered.
    starts, stops : ndarray of shape (n_ends,)
        The first row of each range, and the first after it; neither decreases.
    positions : slice or ndarray of shape (n_ends,)
        Numbers of new rows before the stops, as a slice where they follow on.
    """

    n_old: int
    starts: Integers
    stops: Integers
    positions: slice | Integers

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Start and stop of each range."""
        return zip(self.starts.tolist(), self.stops.tolist(), strict=True)


class RangeSums(RunningSums[Ranges]):
    """Sums over ranges of rows, formed from the rows, as far back as they are remembered.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    n_models : int
        Number of models.
    length : int or timedelta64, default=None
        Of a range: its rows, or a duration; None where rows do not say where it begins.
    """

    tail: ScoredRows | None = None
    # In the latest call: numbers of the scored rows, and of the oldest that counts.
    _noted: tuple[Integers, Integers] | None = None

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, n_models: int, length: Any = None
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.length = length

    @abstractmethod
    def _starts(self, rows: ScoredRows, stops: Integers, now: Array | None) -> Integers:
        """Return the first row that counts at each stop, at some time or that of the row before."""

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        remembered, counted = self._begin(rows, np.arange(len(rows) + 1), None)
        if self.many_classes:
            codes = self._leading(remembered, counted)
        else:
            self.latest = {
                series: self._sum(series, values_of(remembered, series), counted, LABELS)
                for series in self.of_labels
            }
            codes = leading_code([*self.latest.values()])
        self._noted = None  # as long as the rows
        self.n_rows += len(rows)
        return Majority.of(codes, rows, self.n_rows - len(rows))

    def _leading(self, rows: ScoredRows, counted: Ranges) -> Array:
        """Code of the most frequent label of each range, of many classes."""
        if rows.weight is not None:
            raise ValueError(
                "The majority of many classes in a window of time is not supported for weighted "
                "rows: leave out kappa_m, the weights, or the window."
            )
        y, counts, best = rows.y.tolist(), np.zeros(self.n_classes, dtype=np.int64), 0
        codes = np.empty(len(counted.stops), dtype=np.int64)
        first = stop = 0
        for position, (low, high) in enumerate(counted.pairs):
            lost = False
            while stop < high:
                code = y[stop]
                counts[code] += 1
                if counts[code] > counts[best] or (counts[code] == counts[best] and code < best):
                    best = code
                stop += 1
            while first < low:
                counts[y[first]] -= 1
                lost |= y[first] == best
                first += 1
            if lost:
                best = int(counts.argmax())
            codes[position] = best
        return codes

    def _begin(
        self, rows: ScoredRows, ends: Integers, now: Array | None
    ) -> tuple[ScoredRows, Ranges]:
        remembered = rows.after(self.tail)
        n_old = len(remembered) - len(rows)
        starts = self._starts(remembered, ends + n_old, now)
        self._noted = self.n_rows + ends, self.n_rows - n_old + starts
        if len(remembered):
            self._remember(remembered)
        return remembered, Ranges(n_old, starts, ends + n_old, Ends.of(ends).positions)

    def _remember(self, rows: ScoredRows) -> None:
        """Keep the rows that may still count after the last of them."""
        self.tail = rows[self._starts(rows, np.array([len(rows)]), None)[0] :].copy()

    def _sum(self, series: Series, values: Array, counted: Ranges, number: int) -> Floats:
        return range_sums(values, counted.starts, counted.stops)

    def _table(self, kind: str, rows: Coded, counted: Ranges, number: int) -> Iterator[Floats]:
        for start, stop in counted.pairs:
            yield sums_between(rows.part(slice(start, stop)), [stop - start], self.n_classes)

    def _take(self, series: Series, sums: Floats, counted: Ranges) -> Floats:
        return sums[counted.positions]

    def _spread(self, rows: ScoredRows, counted: Ranges) -> Floats:
        y, weight = rows.y, all_weights(rows)
        return np.array([Moments.of(y[a:b], weight[a:b]).spread for a, b in counted.pairs])

    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], counted: Ranges, number: int
    ) -> RankingValues:
        return in_ranges(rows, counted.starts, counted.stops, measures)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row that counts, at ends of the latest call."""
        if self._noted is not None and np.array_equal(ends, self._noted[0]):
            return self._noted[1]
        kept = 0 if self.tail is None else len(self.tail)
        return np.full(len(ends), self.n_rows - kept)

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = super().of_models(numbers)
        copied.tail = None if self.tail is None else self.tail.models(list(numbers))
        return copied


class SlidingSums(RangeSums):
    """Sums over the last rows."""

    labels_by_class: Array | None = None  # of the window, where there are many classes

    def _starts(self, rows: ScoredRows, stops: Integers, now: Array | None) -> Integers:
        return np.maximum(stops - self.length, 0)

    def _leading(self, rows: ScoredRows, counted: Ranges) -> Array:
        coded, before = Coded.of(rows, "label"), self.labels_by_class
        before = np.zeros(self.n_classes) if before is None else before
        codes, self.labels_by_class = leading_codes_in_window(
            coded, counted.n_old, before, self.length
        )
        return codes

    def _sum(self, series: Series, values: Array, counted: Ranges, number: int) -> Floats:
        if values.dtype == bool and _MANY_ROWS * len(counted.stops) < len(values):
            return range_sums(values, counted.starts, counted.stops)
        return window_sums(values, counted.n_old, self.length)[counted.positions]

    def _spread(self, rows: ScoredRows, counted: Ranges) -> Floats:
        spreads = window_spreads(rows.y, all_weights(rows), counted.n_old, self.length)
        return spreads[counted.positions]

    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], counted: Ranges, number: int
    ) -> RankingValues:
        ends = counted.stops - counted.n_old
        return in_windows(rows, counted.n_old, ends, self.length, measures)

    def _table(self, kind: str, rows: Coded, counted: Ranges, number: int) -> Iterator[Floats]:
        ends = counted.stops - counted.n_old
        return sums_in_window(rows, counted.n_old, ends, self.length, self.n_classes)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row in the window."""
        return np.maximum(ends - self.length, 0)


class WindowOfTimeSums(RangeSums):
    """Sums over the rows whose time is later than now less a duration."""

    ends_at_rows = False  # an end may be later than the row before it, and the window with it

    def _starts(self, rows: ScoredRows, stops: Integers, now: Array | None) -> Integers:
        if not len(rows):
            return np.zeros(len(stops), dtype=np.intp)
        assert rows.time is not None
        now = rows.time[np.maximum(stops - 1, 0)] if now is None else now
        return np.searchsorted(rows.time, now - self.length, "right")


class BlockSums(RangeSums):
    """Sums over the last whole block of rows; before the first is whole, over all rows so far."""

    ends_at_rows = False  # the block may have ended before

    def _starts(self, rows: ScoredRows, stops: Integers, now: Array | None) -> Integers:
        first = self.n_rows - (0 if self.tail is None else len(self.tail))
        return np.maximum(self.newest(first + stops) - self.length, 0) - first

    def _begin(
        self, rows: ScoredRows, ends: Integers, now: Array | None
    ) -> tuple[ScoredRows, Ranges]:
        remembered, counted = super()._begin(rows, ends, now)
        stops = self.newest(self.n_rows + ends) - self.n_rows + counted.n_old
        return remembered, counted._replace(stops=stops)

    def newest(self, ends: Integers) -> Integers:
        """Return the number of rows up to the end of the last whole block."""
        return np.where(ends < self.length, ends, ends - ends % self.length)

    def _leading(self, rows: ScoredRows, counted: Ranges) -> Array:
        codes, starts = np.empty(len(counted.stops), dtype=np.int64), counted.starts
        for start in np.unique(starts).tolist():
            stops = counted.stops[starts == start]
            block = Coded.of(rows[start : int(stops[-1])], "label")
            codes[starts == start] = leading_codes(block, np.zeros(self.n_classes))[0][
                stops - start
            ]
        return codes


class SetSums(RangeSums):
    """Sums over the rows from one end to the next, and nothing before."""

    def _starts(self, rows: ScoredRows, stops: Integers, now: Array | None) -> Integers:
        return np.concatenate(([0], stops))[:-1].astype(np.intp)

    def _sum(self, series: Series, values: Array, counted: Ranges, number: int) -> Floats:
        if values.dtype == bool:
            return np.diff(prefix_sums(values)[counted.stops], prepend=0).astype(np.float64)
        return np.array([values[a:b].sum() for a, b in counted.pairs], dtype=np.float64)

    def _table(self, kind: str, rows: Coded, counted: Ranges, number: int) -> Iterator[Floats]:
        start = 0
        for some in a_few(counted.stops, self.n_classes):
            yield sums_between(rows.part(slice(start, None)), some - start, self.n_classes)
            start = int(some[-1])

    def _remember(self, rows: ScoredRows) -> None:
        """Keep nothing."""


def range_sums(values: Array, starts: Integers, stops: Integers) -> Floats:
    """Sums of the values from each start to before each stop; no real number is subtracted.

    A range is put together from parts whose lengths are powers of two, from its end on: a sum
    depends on the values in the range alone, not on where they are.
    """
    if values.dtype == bool:
        total = prefix_sums(values)
        return (total[stops] - total[starts]).astype(np.float64)
    sums, lengths, stops = np.zeros(len(stops)), stops - starts, stops.copy()
    parts, size = np.asarray(values, dtype=np.float64), 1
    while len(lengths) and size <= lengths.max():
        some = np.flatnonzero(lengths & size)
        stops[some] -= size
        sums[some] += parts[stops[some]]
        parts = parts[:-size] + parts[size:]
        size *= 2
    return sums
