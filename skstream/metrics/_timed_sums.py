"""Running sums over the rows of a duration, and sums that fade with time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from skstream.metrics._class_tables import Coded
from skstream.metrics._rankings import RankingValues, Sided, Target, in_ranges
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

#: Half-lives after which a row no longer counts: it weighs less than 1e-16.
_HALF_LIVES = 54
#: Half-lives that are summed at once: their weights differ by less than floats can hold.
_SPAN = 400.0


class TimedSums(RunningSums):
    """Sums of which the newest rows are kept: base of those that count time.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    duration : timedelta64
        Length of the window, or half-life.
    n_models : int, default=1
        Number of models.
    """

    #: Rows older than so many durations do not count.
    _durations: int

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, duration: Duration, n_models: int = 1
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.duration = duration
        self.tail: ScoredRows | None = None
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
        """Code of the most frequent label after 0, 1, ..., n of the new rows."""
        raise NotImplementedError

    def _starts(self, times: Times, now: Times) -> Integers:
        """Return the first row that counts at each time."""
        oldest: Integers = np.searchsorted(times, now - self._durations * self.duration, "right")
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

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = super().of_models(numbers)
        twin.tail = None if self.tail is None else self.tail.models(list(numbers))
        return twin


class WindowOfTimeSums(TimedSums):
    """Sums over the rows whose time is later than now less a duration."""

    _durations = 1

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
            starts = np.minimum(self._starts(rows.time, now), stops)  # type: ignore[arg-type]
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


class FadingOfTimeSums(TimedSums):
    """Sums in which a row of age a weighs ``2 ** (-a / half_life)``."""

    _durations = _HALF_LIVES

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, duration: Duration, n_models: int = 1
    ) -> None:
        super().__init__(kinds, n_classes, duration, n_models)
        self._time: np.datetime64 | None = None  # of the last row, at which the sums stand
        self._carried = dict.fromkeys(self.of_labels, 0.0)
        self._of_each = [dict.fromkeys(self.of_answers, 0.0) for _ in range(n_models)]
        nothing = np.zeros(n_classes if self.many_classes else 0)
        self._labels_by_class = nothing
        self._by_class = [dict.fromkeys(self.class_kinds, nothing) for _ in range(n_models)]
        # Rankings and spreads are formed of the rows themselves.
        self._needs_rows = bool(self.ranked) or SPREAD in self.series

    def _age(self, times: Any, now: Any) -> Any:
        """Age in half-lives."""
        return (now - times) / self.duration

    def _left_of(self, times: Any, now: Any) -> Any:
        """Return what is left of a weight of 1."""
        return 0.5 ** self._age(times, now)

    def _remember(self, rows: ScoredRows, now: Times) -> int:
        if self._needs_rows:
            return super()._remember(rows, now)
        self.tail = None
        return len(rows)

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        if not self.many_classes:
            sums = self._running(self.of_labels, rows, self._carried)
            codes = leading_code([sums[series] for series in self.of_labels])
            self._carried = {series: float(sums[series][-1]) for series in self.of_labels}
        else:
            coded = Coded.of(rows, "label")
            codes, self._labels_by_class = self._leading_by_class(coded, rows.time)
        self._go_on(rows)
        self.n_rows += len(rows)
        return Majority.of(codes, rows, n_after=self.n_rows)

    def _go_on(self, rows: ScoredRows) -> None:
        if len(rows):
            self._time = rows.time[-1]  # type: ignore[index]

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        rows = scored_rows(labelled, scored, majority)
        remembered = rows.following(self.tail)
        n_old, now = len(remembered) - len(rows), labelled.now
        stops, starts = ends + n_old, np.zeros(len(ends), dtype=np.intp)
        weights = np.ones(len(ends))  # what is left at the ends of the sums at the rows before
        if len(ends) and len(remembered):
            starts = np.minimum(self._starts(remembered.time, now), stops)  # type: ignore[arg-type]
        if len(ends):
            weights = self._left_of(self._times_at(rows, ends, now), now)
        self._note(n_old, ends, starts)
        labels = self._running(self.of_labels, rows, self._carried)
        at_ends = {s: self._left(s, sums[ends], weights) for s, sums in labels.items()}
        if SPREAD in self.series:
            at_ends[SPREAD] = self._spreads(remembered, starts, stops, now)
        of_each, by_class = [], []
        for number in range(self.n_models):
            one = rows.model(number)
            sums = self._running(self.of_answers, one, self._of_each[number])
            tables, after = {}, {}
            for kind, before in self._by_class[number].items():
                coded = Coded.of(one, kind)
                tables[kind], after[kind] = self._tables(coded, rows.time, before, ends, now)
            model = remembered.model(number)
            ranked = self._rankings(model, self._ranker(model, starts, stops, now))
            of_each.append({series: float(sums[series][-1]) for series in self.of_answers})
            by_class.append(after)
            found = {s: self._left(s, sums[s][ends], weights) for s in self.of_answers}
            yield self._by_kind({**at_ends, **found, **ranked}, tables)
        self._carried = {series: float(labels[series][-1]) for series in self.of_labels}
        self._of_each, self._by_class = of_each, by_class
        if len(remembered):
            self._remember(remembered, remembered.time[-1:])  # type: ignore[index]
        self._go_on(rows)
        self.n_rows += len(rows)

    def _times_at(self, rows: ScoredRows, ends: Integers, now: Any) -> Any:
        """Time of the last row before each end; that of the end where there is none."""
        first = now[:1] if self._time is None else np.array([self._time])
        times: Any = first[:0] if rows.time is None else rows.time
        return np.concatenate([first, times])[ends]

    def _left(self, series: Series, sums: Floats, weights: Floats) -> Floats:
        """What is left of sums at the ends: of squared weights, the square."""
        return sums * (weights**2 if series.kind == "squared_weights" else weights)

    def _running(
        self, wanted: list[Series], rows: ScoredRows, carried: Mapping[Series, float]
    ) -> dict[Series, Floats]:
        """Sums after 0, 1, ..., n of the rows, each at the time of the last of them."""
        if not len(rows):
            return {series: np.array([carried[series]]) for series in wanted}
        first = rows.time[0] if self._time is None else self._time  # type: ignore[index]
        ages = -self._age(rows.time, first)

        def run(series: Series, values: Array) -> Floats:
            squares = 2.0 if series.kind == "squared_weights" else 1.0
            return _faded(values, ages * squares, carried[series])

        return sums_of_series(wanted, rows, run, carried, None, self.n_classes, {})

    def _ranker(
        self, rows: ScoredRows, starts: Integers, stops: Integers, now: Any
    ) -> Callable[[Target, Sided, list[str]], RankingValues]:
        def rank(_: Target, sided: Sided, measures: list[str]) -> RankingValues:
            found: list[RankingValues] = []
            for place, (start, stop) in enumerate(zip(starts, stops, strict=True)):
                part = sided.part(slice(start, stop))
                weight = self._weights(rows, start, stop, now[place])
                part = Sided(part.scores, part.positive * weight, part.negative * weight)
                one = np.zeros(1, dtype=np.intp), np.array([stop - start])
                found.append(in_ranges(part, *one, measures))
            empty = np.empty(0)
            return {m: np.concatenate([empty, *(one[m] for one in found)]) for m in measures}

        return rank

    def _weights(self, rows: ScoredRows, start: int, stop: int, now: Any) -> Floats:
        times = rows.time[start:stop]  # type: ignore[index]
        weights: Floats = self._left_of(times, now)
        return weights

    def _spreads(self, rows: ScoredRows, starts: Integers, stops: Integers, now: Any) -> Floats:
        weight = all_weights(rows)
        return np.array(
            [
                Moments.of(
                    rows.y[start:stop],
                    weight[start:stop] * self._weights(rows, start, stop, now[place]),
                ).spread
                for place, (start, stop) in enumerate(zip(starts, stops, strict=True))
            ]
        )

    def _tables(
        self, coded: Coded, times: Any, before: Floats, ends: Integers, now: Any
    ) -> tuple[Iterator[Floats], Floats]:
        """Sums by class at some ends after the other, and after all rows."""
        tables, sums, done, stands = [], before, 0, self._time
        for place, stop in enumerate([*ends.tolist(), len(coded.codes)]):
            if stop > done:
                part, moment = coded.part(slice(done, stop)), times[stop - 1]
                if stands is not None:
                    sums = sums * float(self._left_of(stands, moment))
                weight = self._left_of(times[done:stop], moment)
                weight = weight if part.weight is None else weight * part.weight
                some = part.codes >= 0
                sums = sums + np.bincount(part.codes[some], weight[some], minlength=self.n_classes)
                done, stands = stop, moment
            if place < len(ends):
                left = 1.0 if stands is None else float(self._left_of(stands, now[place]))
                tables.append((sums * left)[np.newaxis])
        return iter(tables), sums

    def _leading_by_class(self, coded: Coded, times: Any) -> tuple[Array, Floats]:
        """Code of the class with the largest sum after 0, 1, ..., n rows, and the sums."""
        sums = self._labels_by_class.copy()
        best = int(sums.argmax())
        codes = np.empty(len(coded.codes) + 1, dtype=np.int64)
        codes[0] = best
        stands = self._time
        for place, code in enumerate(coded.codes.tolist()):
            if stands is not None:
                sums *= float(self._left_of(stands, times[place]))
            if code >= 0:
                sums[code] += 1.0 if coded.weight is None else coded.weight[place]
                if sums[code] > sums[best] or (sums[code] == sums[best] and code < best):
                    best = code
            stands, codes[place + 1] = times[place], best
        return codes, sums

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        if later._time is not None:
            left = 1.0 if self._time is None else float(self._left_of(self._time, later._time))
            weights = np.array([left])

            def merged(
                ours: Mapping[Series, float], theirs: Mapping[Series, float]
            ) -> dict[Series, float]:
                return {
                    s: float(self._left(s, np.array([ours[s]]), weights)[0]) + theirs[s]
                    for s in ours
                }

            self._carried = merged(self._carried, later._carried)
            pairs = zip(self._of_each, later._of_each, strict=True)
            self._of_each = [merged(*pair) for pair in pairs]
            self._labels_by_class = self._labels_by_class * left + later._labels_by_class
            self._by_class = [
                {kind: sums * left + theirs[kind] for kind, sums in ours.items()}
                for ours, theirs in zip(self._by_class, later._by_class, strict=True)
            ]
            self._time = later._time
        super().merge(later)

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = super().of_models(numbers)
        twin._of_each = [self._of_each[number] for number in numbers]
        twin._by_class = [self._by_class[number] for number in numbers]
        return twin


def _faded(values: Array, ages: Floats, start: float) -> Floats:
    """Sums after 0, 1, ..., n values, each faded to the time of the last of them.

    `ages` are the times of the values in half-lives, not decreasing, from that of the start on.
    Pieces of some hundred half-lives are summed with weights relative to their first.
    """
    sums = np.empty(len(values) + 1)
    sums[0], first, stands = start, 0, 0.0
    while first < len(values):
        origin = float(ages[first])
        stop = int(np.searchsorted(ages, origin + _SPAN, side="right"))
        growth = 2.0 ** (ages[first:stop] - origin)
        steps = values[first:stop] * growth
        steps[0] += sums[first] * 0.5 ** (origin - stands)
        np.cumsum(steps, out=steps)
        steps /= growth
        sums[first + 1 : stop + 1] = steps
        stands, first = float(ages[stop - 1]), stop
    return sums


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
