"""Running sums over the window that ADWIN keeps on the 0/1 loss."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy, deepcopy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._class_tables import (
    Coded,
    leading_codes,
    sums_at_ends,
    sums_between,
)
from skstream.metrics._rankings import Parts, RankingValues, Sided, Target
from skstream.metrics._rows import Array, Floats, Integers, ScoredRows
from skstream.metrics._series import KindOf, Series, expand, values_of
from skstream.metrics._sums import (
    Majority,
    RunningSums,
    SumsByKind,
    as_slice,
    leading_code,
)
from skstream.utils._running_sums import prefix_sums


class _Segments:
    """Sums between the starts at which the window may be cut, for rows of one kind.

    Parameters
    ----------
    series : list of Series
        The series summed.
    """

    def __init__(self, series: list[Series]) -> None:
        self.n = 0
        self.starts = np.zeros(1, dtype=np.intp)
        self.sums: dict[Series, Floats] = dict.fromkeys(series, np.zeros(1))

    def read(
        self,
        rows: ScoredRows,
        cuts: Integers,
        starts: Integers,
        new_starts: Integers,
        places: Integers | slice,
    ) -> tuple["_Segments", dict[Series, Floats]]:
        """Read new rows.

        Parameters
        ----------
        rows : ScoredRows
            The rows.
        cuts, starts : ndarray of shapes (n_cuts,) and (n_cuts + 1,)
            After more than ``cuts[i]`` of the rows the window begins with row
            ``starts[i + 1]``; ``starts[0]`` is where it began before.
        new_starts : ndarray of shape (n_starts,)
            Where the window may be cut from now on.
        places : ndarray or slice
            Number of rows after which the sums are wanted.

        Returns
        -------
        segments : _Segments
            The sums between the new starts.
        sums : dict of Series to ndarray
            Sums over the window at the places.
        """
        twin = copy(self)
        twin.sums, sums = {}, {}
        inside = new_starts[new_starts >= max(self.n, 1)] - self.n
        kept = np.searchsorted(np.concatenate((self.starts, self.n + inside)), new_starts)
        for series in self.sums:
            values = values_of(rows, series)
            # Sums of real numbers are formed from the values, so that nothing is subtracted.
            total = prefix_sums(values) if values.dtype == bool else values
            sums[series] = self._running(series, values, total, cuts, starts)[places]
            head = int(inside[0]) if len(inside) else len(values)
            segments = np.concatenate((self.sums[series], _cut_up(values, total, inside)))
            segments[len(self.starts) - 1] += _between(values, total, 0, head)
            twin.sums[series] = np.add.reduceat(segments, kept)
        twin.starts = new_starts
        twin.n += len(rows)
        return twin, sums

    def _running(
        self, series: Series, values: Array, total: Array, cuts: Integers, starts: Integers
    ) -> Floats:
        """Return the sums over the window after 0, 1, ..., n of the new values."""
        sums = np.empty(len(values) + 1)
        bounds = [0, *(cuts + 1).tolist(), len(sums)]
        for piece, start in enumerate(starts.tolist()):
            first, stop = bounds[piece], bounds[piece + 1]
            if start >= self.n:
                base = _between(values, total, start - self.n, first)
            else:
                kept = self.sums[series][np.searchsorted(self.starts, start) :]
                base = float(kept.sum()) + _between(values, total, 0, first)
            if values.dtype == bool:
                np.add(total[first:stop], base - float(total[first]), out=sums[first:stop])
            else:  # summed again, so that nothing has to be subtracted
                np.add(prefix_sums(values[first : stop - 1]), base, out=sums[first:stop])
        return sums


class _ClassSegments:
    """Sums by class between the starts at which the window may be cut; of many classes.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    """

    def __init__(self, n_classes: int) -> None:
        self.n = 0
        self.starts = np.zeros(1, dtype=np.intp)
        self.sums = np.zeros((1, n_classes))

    def after(self, rows: Coded, new_starts: Integers) -> "_ClassSegments":
        """Return the sums between the new starts, with new rows."""
        twin = copy(self)
        inside = new_starts[new_starts >= max(self.n, 1)] - self.n
        kept = np.searchsorted(np.concatenate((self.starts, self.n + inside)), new_starts)
        added = sums_between(rows, [*inside, len(rows.codes)], self.sums.shape[1])
        added[0] += self.sums[-1]
        twin.sums = np.add.reduceat(np.concatenate((self.sums[:-1], added)), kept, axis=0)
        twin.starts = new_starts
        twin.n += len(rows.codes)
        return twin

    def pieces(
        self, n_rows: int, cuts: Integers, starts: Integers
    ) -> Iterator[tuple[range, int, Floats]]:
        """Numbers of new rows after which the window begins with one and the same row.

        Parameters
        ----------
        n_rows : int
            Number of new rows.
        cuts, starts : ndarray of shapes (n_cuts,) and (n_cuts + 1,)
            As in `_Segments.read`.

        Yields
        ------
        numbers : range
        first : int
            The first of the new rows in the window.
        sums : ndarray of shape (n_classes,)
            Of the earlier rows in the window.
        """
        bounds = [0, *(cuts + 1).tolist(), n_rows + 1]
        for piece, start in enumerate(starts.tolist()):
            kept = int(np.searchsorted(self.starts, start)) if start < self.n else len(self.sums)
            numbers = range(bounds[piece], bounds[piece + 1])
            yield numbers, max(start - self.n, 0), self.sums[kept:].sum(axis=0)

    def sums_at(
        self, rows: Coded, cuts: Integers, starts: Integers, ends: Integers
    ) -> Iterator[Floats]:
        """Sums by class over the window at some of the ends after the other."""
        for numbers, first, sums in self.pieces(len(rows.codes), cuts, starts):
            low, high = np.searchsorted(ends, [numbers.start, numbers.stop])
            yield from sums_at_ends(rows.part(slice(first, None)), ends[low:high] - first, sums)

    def leading(self, rows: Coded, cuts: Integers, starts: Integers) -> Array:
        """Code of the class with the largest sum after 0, 1, ..., n of the new rows."""
        codes = []
        for numbers, first, sums in self.pieces(len(rows.codes), cuts, starts):
            before = rows.part(slice(first, numbers.start))
            sums = sums + sums_between(before, [len(before.codes)], len(sums))[0]
            codes.append(leading_codes(rows.part(slice(numbers.start, numbers.stop - 1)), sums)[0])
        return np.concatenate(codes)


def _between(values: Array, total: Array, start: int, stop: int) -> float:
    """Sum of the values from `start` to before `stop`."""
    if values.dtype == bool:
        return float(total[stop] - total[start])
    return float(values[start:stop].sum())


def _cut_up(values: Array, total: Array, starts: Integers) -> Floats:
    """Sums of the values from each start to the next, and from the last one to the end."""
    if not len(starts):
        return np.empty(0)
    sums: Floats
    if values.dtype == bool:
        sums = np.diff(total[np.append(starts, len(values))]).astype(np.float64)
    else:
        sums = np.add.reduceat(values, starts)
    return sums


class _Window:
    """The window of one model.

    The detector has the starts of its buckets; this object has the sums between them, one number
    per bucket and series. The window of the majority baseline begins at the same scored row; before
    the first cut it also holds the labelled rows that came before any scored row.

    Parameters
    ----------
    sums : AdaptiveSums
        Says what is summed.
    detector : ADWIN
        A new detector.
    """

    def __init__(self, sums: "AdaptiveSums", detector: Any) -> None:
        self.detector = detector
        self.n_classes = sums.n_classes
        self.many_classes = sums.many_classes
        self.n_scored = 0
        self.n_labelled = 0
        self.scored = _Segments(sums.of_labels + sums.of_answers)
        self.labelled = _Segments(expand({} if sums.many_classes else {"label"}, self.n_classes))
        self.by_class = {kind: _ClassSegments(self.n_classes) for kind in sums.class_kinds}
        self.labels_by_class = _ClassSegments(self.n_classes if sums.many_classes else 0)
        self.rankings = {target: Parts() for target in sums.ranked}
        # Of the latest call: rows before it, cuts, starts of the window, starts of the buckets.
        self._n_before = 0
        self._cuts = np.empty(0, dtype=np.intp)
        self._starts = np.zeros(1, dtype=np.intp)
        self._buckets = np.zeros(1, dtype=np.intp)

    def detect(self, wrong: NDArray[np.bool_]) -> None:
        """Let the detector read the losses of the next scored rows."""
        self._n_before = self.n_scored
        cuts, starts = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        self._buckets = self.scored.starts
        if len(wrong):
            cuts, starts = self.detector.advance(wrong.astype(np.float64))
            self._buckets = np.asarray(self.detector.boundaries(), dtype=np.intp)
        self._cuts = np.asarray(cuts, dtype=np.intp)
        self._starts = np.concatenate((self.scored.starts[:1], starts)).astype(np.intp)

    def majority(self, labelled: ScoredRows, scored: Integers | None) -> Majority:
        """Read the labels of the rows; return the answers of the majority baseline."""
        segments = self.labels_by_class if self.many_classes else self.labelled
        among = np.arange(len(labelled)) if scored is None else scored
        cuts = among[self._cuts]
        starts = self._among_labelled(self._starts, among, segments.starts)
        new_starts = self._among_labelled(self._buckets, among, segments.starts)
        if isinstance(segments, _ClassSegments):
            coded = Coded.of(labelled, "label")
            self.labels_by_class = segments.after(coded, new_starts)
            leading = segments.leading(coded, cuts, starts)
        else:
            self.labelled, sums = segments.read(labelled, cuts, starts, new_starts, slice(None))
            leading = leading_code(list(sums.values()))
        return Majority.of(leading, labelled, n_after=self.n_labelled + len(labelled))

    def _among_labelled(self, starts: Integers, scored: Integers, known: Integers) -> Integers:
        """Numbers among the labelled rows of scored rows at which the window may begin."""
        numbers = np.zeros_like(starts)
        new = starts >= max(self.n_scored, 1)
        numbers[new] = self.n_labelled + scored[starts[new] - self.n_scored]
        # The segments of both kinds of rows begin at the same rows.
        numbers[~new] = known[np.searchsorted(self.scored.starts, starts[~new])]
        return numbers

    def tables(self, rows: ScoredRows, ends: Integers) -> dict[str, Iterator[Floats]]:
        """Sum the scored rows by class."""
        tables, after = {}, {}
        for kind, segments in self.by_class.items():
            coded = Coded.of(rows, kind)
            tables[kind] = segments.sums_at(coded, self._cuts, self._starts, ends)
            after[kind] = segments.after(coded, self._buckets)
        self.by_class = after
        return tables

    def rank(
        self, ends: Integers, target: Target, rows: Sided, measures: Sequence[str]
    ) -> RankingValues:
        """Rank the scored rows."""
        return self.rankings[target].read(
            rows, self._cuts, self._starts, self._buckets, ends, measures
        )

    def read(self, rows: ScoredRows, ends: Integers, n_labelled: int) -> dict[Series, Floats]:
        """Read the scored rows, and return the sums at the ends."""
        self.scored, sums = self.scored.read(
            rows, self._cuts, self._starts, self._buckets, as_slice(ends)
        )
        self.n_scored += len(rows)
        self.n_labelled += n_labelled
        return sums

    def oldest(self, ends: Integers) -> Integers:
        """Return the number of the oldest row in the window, at ends of the latest call."""
        oldest: Integers = self._starts[np.searchsorted(self._cuts, ends - self._n_before)]
        return oldest

    def copy(self) -> "_Window":
        """Return a copy that can be advanced on its own."""
        twin = copy(self)
        twin.detector = deepcopy(self.detector)
        twin.rankings = {target: copy(parts) for target, parts in self.rankings.items()}
        return twin


class AdaptiveSums(RunningSums):
    """Sums over the window of an ADWIN detector that reads the 0/1 loss of the scored rows.

    The window depends on the answers, so that every model has one of its own, also for the majority
    baseline.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes.
    make_detector : callable
        Makes a new detector.
    n_models : int, default=1
        Number of models.
    """

    def __init__(
        self,
        kinds: Iterable[KindOf],
        n_classes: int,
        make_detector: Callable[[], Any],
        n_models: int = 1,
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.windows = [_Window(self, make_detector()) for _ in range(n_models)]

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        for number, window in enumerate(self.windows):
            rows = labelled.model(number)
            window.detect(rows.wrong if scored is None else rows.wrong[scored])
            if self.needs_majority:
                majority_of_window = window.majority(rows, scored)
                rows.majority, rows.inclusive = majority_of_window.before, majority_of_window.after
            rows = rows if scored is None else rows[scored]
            tables = window.tables(rows, ends)
            ranked = self._rankings(rows, partial(window.rank, ends))
            sums = window.read(rows, ends, len(labelled))
            yield self._by_kind({**sums, **ranked}, tables)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row in a model's window."""
        return self.windows[number].oldest(ends)

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = super().of_models(numbers)
        twin.windows = [self.windows[number] for number in numbers]
        return twin

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        twin = super().copy()
        twin.windows = [window.copy() for window in self.windows]
        return twin
