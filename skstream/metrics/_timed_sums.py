"""Running sums over the rows of a duration, and sums that fade with time."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from skstream.metrics._class_tables import Coded
from skstream.metrics._cumulative_sums import CumulativeSums
from skstream.metrics._rankings import (
    RankingValues,
    Sided,
    Target,
    in_ranges,
)
from skstream.metrics._rows import Array, Floats, Integers, ScoredRows
from skstream.metrics._series import KindOf, Series
from skstream.metrics._spread import SPREAD, Moments, all_weights
from skstream.metrics._sums import (
    Majority,
    RunningSums,
    SumsByKind,
    leading_code,
    scored_rows,
    sums_of_series,
)
from skstream.utils._running_sums import prefix_sums

Times = np.ndarray[Any, np.dtype[np.datetime64]]
Duration = np.timedelta64

#: Half-lives in which weights may grow: products of two of them are numbers, too.
_SPAN = 400.0


class WindowOfTimeSums(RunningSums):
    """Sums over the rows whose time is later than now less a duration.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    duration : timedelta64
        Length of the window.
    n_models : int, default=1
        Number of models.
    """

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, duration: Duration, n_models: int = 1
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.duration = duration
        # Of the latest call: numbers of scored rows, and of the oldest that counts.
        self._ends = self._oldest = np.zeros(0, dtype=np.intp)

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        remembered = rows.following(self.tail)
        n_old = len(remembered) - len(rows)
        codes = self._leading(remembered, n_old)
        if len(rows):
            self._remember(remembered, rows.time[-1:])  # type: ignore[index]
        self.n_rows += len(rows)
        return Majority.of(codes, rows, n_after=self.n_rows)

    def _leading(self, rows: ScoredRows, n_old: int) -> Array:
        stops = np.arange(n_old, len(rows) + 1)
        # After a row, the window is that of its time.
        starts = np.zeros(len(stops), dtype=np.intp)
        if len(rows):
            starts = self._starts(rows.time, rows.time[np.maximum(stops - 1, 0)])  # type: ignore[index, arg-type]
        if self.many_classes:
            return _leading_of_many(rows, starts, stops, self.n_classes)
        sums = self._sums(self.of_labels, rows, starts, stops)
        return leading_code([sums[series] for series in self.of_labels])

    def _starts(self, times: Times, now: Times) -> Integers:
        """Return the first row that counts at each time."""
        oldest: Integers = np.searchsorted(times, now - self.duration, "right")
        return oldest

    def _remember(self, rows: ScoredRows, now: Times) -> int:
        """Keep the rows that count at a time or later; return how many are left out."""
        assert rows.time is not None
        first = int(self._starts(rows.time, now[-1:])[0])
        self.tail = rows[first:].copy()
        return first

    def _note(self, n_old: int, ends: Integers, starts: Integers) -> None:
        """Note the oldest rows that count, numbered from the first of all."""
        before = self.n_rows - n_old
        self._ends, self._oldest = self.n_rows + ends, before + starts

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        rows = scored_rows(labelled, scored, majority).following(self.tail)
        n_old = len(rows) - (len(labelled) if scored is None else len(scored))
        stops, now = ends + n_old, labelled.now
        starts = np.zeros(len(ends), dtype=np.intp)
        if len(rows) and len(ends):
            starts = self._starts(rows.time, now)  # type: ignore[arg-type]
        self._note(n_old, ends, starts)
        labels = self._sums(self.of_labels, rows, starts, stops)
        if SPREAD in self.series:
            labels[SPREAD] = _spreads(rows.y, all_weights(rows), starts, stops)
        for number in range(self.n_models):
            one = rows.model(number)
            sums = self._sums(self.of_answers, one, starts, stops)
            tables = {
                kind: _tables(Coded.of(one, kind), starts, stops, self.n_classes)
                for kind in self.class_kinds
            }

            def rank(_: Target, sided: Sided, measures: list[str]) -> RankingValues:
                return in_ranges(sided, starts, stops, measures)

            ranked = self._rankings(one, rank)
            of_answers = {series: sums[series] for series in self.of_answers}
            yield self._by_kind({**labels, **of_answers, **ranked}, tables)
        if len(rows):
            self._remember(rows, rows.time[-1:])  # type: ignore[index]
        self.n_rows += len(rows) - n_old

    def _sums(
        self, wanted: list[Series], rows: ScoredRows, starts: Integers, stops: Integers
    ) -> dict[Series, Floats]:
        counts = (stops - starts).astype(np.float64) if rows.weight is None else None
        return sums_of_series(
            wanted,
            rows,
            lambda _, values: range_sums(values, starts, stops),
            {},
            counts,
            self.n_classes,
            {},
        )

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row that counts, at ends of the latest call."""
        if len(ends) == len(self._ends) and np.array_equal(ends, self._ends):
            return self._oldest
        kept = 0 if self.tail is None else len(self.tail)
        return np.full(len(ends), self.n_rows - kept)

    def merge(self, later: Self) -> None:
        """Append the rows that followed."""
        if later.tail is not None and later.tail.time is not None and len(later.tail):
            rows = later.tail.following(self.tail)
            self._remember(rows, later.tail.time[-1:])
        self.n_rows += later.n_rows


def range_sums(values: Array, starts: Integers, stops: Integers) -> Floats:
    """Sums of the values from each start to before each stop; no real number is subtracted.

    A range is put together from pieces whose lengths are powers of two, from its end on: a sum
    depends on the values in the range alone, and not on where they stand.
    """
    if values.dtype == bool:
        total = prefix_sums(values)
        counts: Floats = (total[stops] - total[starts]).astype(np.float64)
        return counts
    sums, lengths, stops = np.zeros(len(stops)), stops - starts, stops.copy()
    pieces, size = np.asarray(values, dtype=np.float64), 1
    while len(lengths) and size <= lengths.max():
        some = np.flatnonzero(lengths & size)
        stops[some] -= size
        sums[some] += pieces[stops[some]]
        pieces = pieces[:-size] + pieces[size:]
        size *= 2
    return sums


class FadingOfTimeSums(RunningSums):
    """Sums in which a row of age a weighs ``2 ** (-a / half_life)``.

    Measures depend on the ratios of weights alone. So the weight of a row grows with its time, and
    the sums are plain ones; before weights become too large, all are made smaller.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    half_life : timedelta64
        Age at which a row weighs one half.
    n_models : int, default=1
        Number of models.
    """

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, half_life: Duration, n_models: int = 1
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.half_life = half_life
        self._sums = CumulativeSums(kinds, n_classes, n_models)
        self._origin: Any = None  # time of a row that weighs 1

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        parts = [self._sums.majority(rows) for _, rows in self._growing(rows)]
        self.n_rows += len(rows)
        nothing = np.empty(0, dtype=rows.y.dtype)
        return Majority(
            np.concatenate([nothing, *(part.before for part in parts)]),
            np.concatenate([nothing, *(part.after for part in parts)]),
        )

    def _growing(self, rows: ScoredRows) -> Iterator[tuple[slice, ScoredRows]]:
        """Rows with weights that grow, in pieces between which the sums are made smaller."""
        if not len(rows):
            return
        assert rows.time is not None
        if self._origin is None:
            self._origin = rows.time[0]
        first = 0
        while first < len(rows):
            ages = (rows.time[first:] - self._origin) / self.half_life
            if ages[0] > _SPAN / 2:
                self._sums = self._sums.scaled(0.5 ** float(ages[0]))
                self._origin = rows.time[first]
                continue
            stop = first + int(np.searchsorted(ages, _SPAN, side="right"))
            part = rows[first:stop]
            part.weight = all_weights(part) * 2.0 ** ages[: stop - first]
            yield slice(first, stop), part
            first = stop

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        rows = scored_rows(labelled, scored, majority)
        by_model: list[list[SumsByKind]] = [[] for _ in range(self.n_models)]
        done = 0
        for here, part in self._growing(rows):
            stop = int(np.searchsorted(ends, here.stop, side="right"))
            advanced = self._sums.advance(part, None, ends[done:stop] - here.start, None)
            for found, of_model in zip(by_model, advanced, strict=True):
                found.extend(of_model)
            done = stop
        if not len(rows):
            for found, of_model in zip(
                by_model, self._sums.advance(rows, None, ends, None), strict=True
            ):
                found.extend(of_model)
        self.n_rows += len(rows)
        yield from by_model

    def oldest(self, number: int, ends: Integers) -> Integers:
        """All rows count."""
        return np.zeros_like(ends)

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        if self._origin is None or later._origin is None:
            apart = 0.0
        else:
            apart = float((later._origin - self._origin) / self.half_life)
        self._sums = self._sums.scaled(0.5**apart)
        self._sums.merge(later._sums)
        self._origin = self._origin if later._origin is None else later._origin
        self.n_rows += later.n_rows

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = super().of_models(numbers)
        twin._sums = self._sums.of_models(numbers)
        return twin

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        twin = super().copy()
        twin._sums = self._sums.copy()
        return twin


def _spreads(y: Floats, weight: Floats, starts: Integers, stops: Integers) -> Floats:
    ranges = zip(starts.tolist(), stops.tolist(), strict=True)
    return np.array([Moments.of(y[a:b], weight[a:b]).spread for a, b in ranges])


def _tables(rows: Coded, starts: Integers, stops: Integers, n_classes: int) -> Iterator[Floats]:
    """Sums by class from each start to before each stop."""
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        part = rows.part(slice(start, stop))
        counted = part.codes >= 0
        weight = None if part.weight is None else part.weight[counted]
        counts = np.bincount(part.codes[counted], weight, minlength=n_classes)
        yield counts.astype(np.float64)[np.newaxis]


def _leading_of_many(rows: ScoredRows, starts: Integers, stops: Integers, n_classes: int) -> Array:
    """Code of the most frequent label from each start to before each stop, of many classes."""
    if rows.weight is not None:
        raise ValueError(
            "The majority of many classes in a window of time is not defined for weighted rows "
            "here: leave out kappa_m, the weights, or the window."
        )
    y, counts, best = rows.y.tolist(), np.zeros(n_classes, dtype=np.int64), 0
    codes = np.empty(len(stops), dtype=np.int64)
    first = stop = 0
    for place, (low, high) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
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
        codes[place] = best
    return codes
