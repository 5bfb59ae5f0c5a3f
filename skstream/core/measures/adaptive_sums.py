"""Running sums over the window that ADWIN keeps on the 0/1 loss."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from skstream.core.measures.class_tables import Coded, leading_codes, sums_at_ends, sums_between
from skstream.core.measures.rankings import PARTS, Following, RankingValues, Ranks, Sided, Target
from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.core.measures.series import KindOf, Series, values_of
from skstream.core.measures.sums import Ends, Majority, RunningSums, SumsByKind, leading_code
from skstream.utils._running_sums import prefix_sums


class _Stretch(NamedTuple):
    """Some of the new rows, after which the window begins with one and the same row.

    Attributes
    ----------
    numbers : range
        Numbers of new rows after which it does.
    first : int
        The first of the new rows in the window.
    kept : slice
        The earlier segments in the window.
    """

    numbers: range
    first: int
    kept: slice


@dataclass
class _Cuts:
    """Where the window begins while some rows are read, and where it may begin afterwards.

    The earlier rows are known as segments alone, between the rows at which the window may be cut:
    their sums, or what else adds up.

    Parameters
    ----------
    known : ndarray of shape (n_segments,)
        The first row of each earlier segment.
    n_old, n_new : int
        Numbers of earlier and of new rows.
    cuts, starts : ndarray of shapes (n_cuts,) and (n_cuts + 1,)
        After more than ``cuts[i]`` of the new rows the window begins with row ``starts[i + 1]``;
        ``starts[0]`` is where it began before.
    new_starts : ndarray of shape (n_starts,)
        Where the window may be cut from now on.
    ends : slice or ndarray of int
        Numbers of new rows after which the sums are wanted.
    """

    known: Integers
    n_old: int
    n_new: int
    cuts: Integers
    starts: Integers
    new_starts: Integers
    ends: Integers | slice

    def __post_init__(self) -> None:
        known, n_old, starts, ends = self.known, self.n_old, self.starts, self.ends
        self.positions = Ends.of(ends).positions if isinstance(ends, np.ndarray) else ends
        bounds = [0, *(self.cuts + 1).tolist(), self.n_new + 1]
        kept = np.where(starts < n_old, np.searchsorted(known, starts), len(known)).tolist()
        firsts = np.maximum(starts - n_old, 0).tolist()
        self.stretches = [
            _Stretch(range(*numbers), first, slice(first_kept, None))
            for numbers, first, first_kept in zip(pairwise(bounds), firsts, kept, strict=True)
        ]
        #: New rows with which segments begin, but for those of the last earlier one.
        self.inside = self.new_starts[self.new_starts >= max(n_old, 1)] - n_old
        #: First of the earlier and these segments in each of those that there are from now on.
        self.groups = np.searchsorted(np.concatenate((known, n_old + self.inside)), self.new_starts)

    def ends_of(self, stretch: _Stretch) -> Integers:
        """Return the ends within a stretch."""
        assert isinstance(self.ends, np.ndarray)
        low, high = np.searchsorted(self.ends, [stretch.numbers.start, stretch.numbers.stop])
        return self.ends[low:high]


class _Window(RunningSums[_Cuts]):
    """The window of one model.

    The detector has the starts of its buckets; this object has the sums between them, one number
    per bucket and series. The window of the majority baseline begins at the same scored row; before
    the first cut it also holds the labelled rows that came before any scored row.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes.
    detector : ADWIN
        A new detector.
    """

    def __init__(self, kinds: Iterable[KindOf], n_classes: int, detector: Any) -> None:
        super().__init__(kinds, n_classes)
        self.detector = detector
        self.n_labelled = 0
        #: The first scored row, and the first labelled row, of each segment.
        self.starts = self.labelled_starts = np.zeros(1, dtype=np.intp)
        #: Sums of the segments, by series; or by kind, with a column for each class.
        self.segments: dict[Any, Floats] = dict.fromkeys(
            [*self.of_labels, *self.of_answers], np.zeros(1)
        )
        table = np.zeros((1, n_classes))
        self.segments |= dict.fromkeys(self.class_kinds, table)
        #: The same of labelled rows, by label.
        self.of_labelled: dict[Any, Floats] = {"label": table}
        if not self.many_classes:
            self.of_labelled = {Series("label", code): np.zeros(1) for code in range(n_classes)}
        #: Rankings of the segments, and of the window.
        self.rankings = {target: ([Ranks.none()], Following()) for target in self.ranked}
        nothing = np.zeros(0, dtype=np.intp)
        self._cuts = _Cuts(self.starts, 0, 0, nothing, self.starts, self.starts, nothing)

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield the sums after the first ``ends[i]`` scored ones."""
        wrong = labelled.wrong if scored is None else labelled.wrong[scored]
        cuts = starts = np.empty(0, dtype=np.intp)
        buckets = self.starts
        if len(wrong):
            cuts, starts = self.detector.advance(wrong.astype(np.float64))
            buckets = np.asarray(self.detector.boundaries(), dtype=np.intp)
        starts = np.concatenate((self.starts[:1], starts)).astype(np.intp)
        self._cuts = _Cuts(self.starts, self.n_rows, len(wrong), cuts, starts, buckets, ends)
        rows = labelled
        if self.needs_majority:
            rows = labelled.models(slice(None))
            rows.majority, rows.inclusive = self._majority(labelled, scored)
        yield from super().advance(rows, scored, ends)
        self.starts = buckets
        self.n_labelled += len(labelled)

    def _majority(self, labelled: ScoredRows, scored: Integers | None) -> Majority:
        """Read the labels of the rows; return the answers of the majority baseline."""
        among = np.arange(len(labelled)) if scored is None else scored

        def among_labelled(starts: Integers) -> Integers:
            """Numbers among the labelled rows of scored rows at which the window may begin."""
            numbers = np.zeros_like(starts)
            new = starts >= max(self.n_rows, 1)
            numbers[new] = self.n_labelled + among[starts[new] - self.n_rows]
            # The segments of both kinds of rows begin at the same rows.
            numbers[~new] = self.labelled_starts[np.searchsorted(self.starts, starts[~new])]
            return numbers

        cuts = _Cuts(
            self.labelled_starts,
            self.n_labelled,
            len(labelled),
            among[self._cuts.cuts],
            among_labelled(self._cuts.starts),
            among_labelled(self._cuts.new_starts),
            slice(None),
        )
        if self.many_classes:
            coded = Coded.of(labelled, "label")
            leading = _leading(coded, self.of_labelled["label"], cuts)
            self.of_labelled = {"label": _table_after(coded, self.of_labelled["label"], cuts)}
        else:
            both = {
                series: _running(values_of(labelled, series), segments, cuts)
                for series, segments in self.of_labelled.items()
            }
            leading = leading_code([sums for sums, _ in both.values()])
            self.of_labelled = {series: after for series, (_, after) in both.items()}
        self.labelled_starts = cuts.new_starts
        return Majority.of(leading, labelled, self.n_labelled)

    def _begin(
        self, rows: ScoredRows, ends: Integers, now: Array | None
    ) -> tuple[ScoredRows, _Cuts]:
        return rows, self._cuts

    def _sum(self, series: Series, values: Array, cuts: _Cuts, number: int) -> Floats:
        sums, self.segments[series] = _running(values, self.segments[series], cuts)
        return sums

    def _spread(self, rows: ScoredRows, cuts: _Cuts) -> Floats:
        raise NotImplementedError  # not for regression

    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], cuts: _Cuts, number: int
    ) -> RankingValues:
        segments, before = self.rankings[target]
        window, parts = before, []
        for number, stretch in enumerate(cuts.stretches):
            if number:
                kept = segments[stretch.kept]
                together = reduce(Ranks.then, kept) if kept else Ranks.none()
                window = Following(ranks=together.coarser(), known=before.known)
            here = slice(stretch.first, stretch.numbers.stop - 1)
            ends = cuts.ends_of(stretch)
            found, window = window.read(rows.part(here), ends - stretch.first, measures)
            parts.append(found)
        if window.known:
            bounds = [0, *cuts.inside.tolist(), len(rows.scores)]
            new = [Ranks.of(*rows.part(slice(*some)).counted) for some in pairwise(bounds)]
            ranks = [*segments[:-1], segments[-1].then(new[0]), *new[1:]]
            segments = [
                reduce(Ranks.then, ranks[first:stop]).coarser(PARTS)
                for first, stop in pairwise([*cuts.groups.tolist(), len(ranks)])
            ]
        self.rankings[target] = segments, window
        return {m: np.concatenate([part[m] for part in parts]) for m in measures}

    def _table(self, kind: str, rows: Coded, cuts: _Cuts, number: int) -> Iterator[Floats]:
        before = self.segments[kind]
        self.segments[kind] = _table_after(rows, before, cuts)
        return _tables(rows, before, cuts)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row in the window, at ends of the latest call."""
        latest = self._cuts
        return latest.starts[np.searchsorted(latest.cuts, ends - latest.n_old)]

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        copied = super().copy()
        copied.detector = deepcopy(self.detector)
        copied.segments, copied.rankings = dict(self.segments), dict(self.rankings)
        return copied


class AdaptiveSums:
    """Sums over the window of an ADWIN detector that reads the 0/1 loss of the scored rows.

    The window depends on the answers, so that every model has one of its own, also for the majority
    baseline.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes.
    n_models : int
        Number of models.
    make_detector : callable
        Makes a new detector.
    """

    alpha = 1.0
    needs_majority = False  # the windows read the labels themselves
    newest = RunningSums.newest

    def __init__(
        self,
        kinds: Iterable[KindOf],
        n_classes: int,
        n_models: int,
        make_detector: Callable[[], Any],
    ) -> None:
        self.windows = [_Window(kinds, n_classes, make_detector()) for _ in range(n_models)]

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        for number, window in enumerate(self.windows):
            yield from window.advance(labelled.models(slice(number, number + 1)), scored, ends)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row in a model's window."""
        return self.windows[number].oldest(0, ends)

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = copy(self)
        copied.windows = [self.windows[number].copy() for number in numbers]
        return copied

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        return self.of_models(range(len(self.windows)))


def _running(values: Array, segments: Floats, cuts: _Cuts) -> tuple[Floats, Floats]:
    """Sums of the values over the window at the ends; and of the segments, from now on."""
    n, inside, counts = len(values), cuts.inside, values.dtype == bool
    sums, total = np.empty(n + 1), prefix_sums(values) if counts else values
    for stretch in cuts.stretches:
        begin, stop = stretch.numbers.start, stretch.numbers.stop
        base = float(segments[stretch.kept].sum()) + _between(total, stretch.first, begin, counts)
        if counts:
            np.add(total[begin:stop], base - float(total[begin]), out=sums[begin:stop])
        else:  # summed again, so that nothing has to be subtracted
            np.add(prefix_sums(values[begin : stop - 1]), base, out=sums[begin:stop])
    after = np.concatenate((segments, np.zeros(len(inside))))
    after[len(segments) - 1] += _between(total, 0, int(inside[0]) if len(inside) else n, counts)
    if counts:
        after[len(segments) :] = np.diff(total[np.append(inside, n)])
    elif len(inside):
        after[len(segments) :] = np.add.reduceat(values, inside)
    return sums[cuts.positions], np.add.reduceat(after, cuts.groups)


def _between(total: Array, start: int, stop: int, counts: bool) -> float:
    """Sum of the values from `start` to before `stop`; of counts `total` has the running sums."""
    return float(total[stop] - total[start] if counts else total[start:stop].sum())


def _table_after(rows: Coded, segments: Floats, cuts: _Cuts) -> Floats:
    """Sums by class of the segments, from now on."""
    added = sums_between(rows, [*cuts.inside, len(rows.codes)], segments.shape[1])
    added[0] += segments[-1]
    return np.add.reduceat(np.concatenate((segments[:-1], added)), cuts.groups, axis=0)


def _tables(rows: Coded, segments: Floats, cuts: _Cuts) -> Iterator[Floats]:
    """Sums by class over the window at some of the ends after the other."""
    for stretch in cuts.stretches:
        part, before = rows.part(slice(stretch.first, None)), segments[stretch.kept].sum(axis=0)
        yield from sums_at_ends(part, cuts.ends_of(stretch) - stretch.first, before)


def _leading(rows: Coded, segments: Floats, cuts: _Cuts) -> Array:
    """Code of the class with the largest sum after 0, 1, ..., n of the new rows."""
    codes = []
    for stretch in cuts.stretches:
        begin, stop = stretch.numbers.start, stretch.numbers.stop
        before = rows.part(slice(stretch.first, begin))
        sums = segments[stretch.kept].sum(axis=0)
        sums = sums + sums_between(before, [len(before.codes)], len(sums))[0]
        codes.append(leading_codes(rows.part(slice(begin, stop - 1)), sums)[0])
    return np.concatenate(codes)
