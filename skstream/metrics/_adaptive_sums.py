"""Running sums over the window that ADWIN keeps on the 0/1 loss."""

from collections.abc import Iterable
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from skstream.metrics._columns import Array, Columns, Floats, Series
from skstream.metrics._sums import (
    Integers,
    Labelled,
    RunningSums,
    SumsByKind,
    _SumsAt,
    prefix_sums,
)


class _Segments:
    """Sums between the starts at which the window may be cut, for rows of one kind.

    Parameters
    ----------
    keys : iterable of Series
        The series summed.
    """

    def __init__(self, keys: Iterable[Series]) -> None:
        self.n = 0
        self.starts = np.zeros(1, dtype=np.intp)
        self.sums: dict[Series, Floats] = {key: np.zeros(1) for key in keys}

    def since(self, key: Series, start: int, values: Array, total: Array, end: int) -> float:
        """Sum from `start` to the first `end` of the new values."""
        if start >= max(self.n, 1):
            return _between(values, total, start - self.n, end)
        carried = self.sums[key][np.searchsorted(self.starts, start) :].sum()
        return float(carried) + _between(values, total, 0, end)

    def running(self, key: Series, values: Array, cuts: Integers, starts: Integers) -> Floats:
        """Sums over the window after 0, 1, ..., n of the new values.

        After more than ``cuts[i]`` of them the window begins with row ``starts[i + 1]``;
        ``starts[0]`` is where it began before.
        """
        total = prefix_sums(values)
        sums = np.empty(len(total))
        bounds = [0, *(cuts + 1).tolist(), len(total)]
        for piece, start in enumerate(starts.tolist()):
            first, stop = bounds[piece], bounds[piece + 1]
            if first == stop:
                continue
            base = self.since(key, start, values, total, first)
            # Real numbers are added up afresh, so that nothing has to be subtracted.
            grown = total if values.dtype == bool else prefix_sums(values[first : stop - 1])
            offset = first if values.dtype == bool else 0
            sums[first:stop] = grown[offset : offset + stop - first]
            sums[first:stop] += base - float(grown[offset])
        return sums

    def settle(self, values: dict[Series, Array], n_new: int, starts: Integers) -> None:
        """Take up new values and keep the sums between the given starts alone."""
        inside = starts[starts >= max(self.n, 1)]
        bounds = [*(inside - self.n).tolist(), n_new]
        fine_starts = np.concatenate((self.starts, inside))
        kept = np.searchsorted(fine_starts, starts)
        sums = {}
        for key, series in values.items():
            fine = np.zeros(len(fine_starts))
            old = len(self.starts)
            fine[:old] = self.sums[key]
            total = prefix_sums(series)
            fine[old - 1] += _between(series, total, 0, bounds[0])
            for i in range(len(inside)):
                fine[old + i] = _between(series, total, bounds[i], bounds[i + 1])
            sums[key] = np.add.reduceat(fine, kept)
        self.sums = sums
        self.starts = starts
        self.n += n_new

    def copy(self) -> "_Segments":
        return copy(self)


def _between(values: Array, total: Array, start: int, stop: int) -> float:
    if values.dtype == bool:
        return float(total[stop] - total[start])
    return float(values[start:stop].sum())


class AdaptiveSums(RunningSums):
    """Sums over the window of an ADWIN detector that reads the 0/1 loss of the scored rows.

    The detector keeps the starts of its buckets; here are the sums between them, one number per
    bucket and series. The window of the majority baseline begins at the same scored row; before
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

    def __init__(self, kinds: Iterable[str], n_classes: int, detector: Any) -> None:
        super().__init__(kinds, n_classes)
        self.detector = detector
        self.scored = _Segments(self.series)
        self.labelled = _Segments(Series("label", code) for code in range(n_classes))
        self._cuts = np.empty(0, dtype=np.intp)
        self._starts = np.zeros(1, dtype=np.intp)
        self._buckets = np.zeros(1, dtype=np.intp)

    def advance(self, rows: Labelled, ends: Integers) -> SumsByKind:
        """Read rows and return the sums after the first ``ends[i]`` of their scored ones."""
        wrong = rows.columns(None, None).wrong
        cuts, starts = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        self._buckets = self.scored.starts
        if len(wrong):
            cuts, starts = self.detector.advance(wrong.astype(np.float64))
            self._buckets = np.asarray(self.detector.boundaries(), dtype=np.intp)
        self._cuts = np.asarray(cuts, dtype=np.intp)
        self._starts = np.concatenate((self.scored.starts[:1], starts)).astype(np.intp)
        return super().advance(rows, ends)

    def _label_sums(self, rows: Labelled) -> list[Array]:
        scored = np.arange(len(rows.y)) if rows.scored is None else rows.scored
        labels = Columns(rows.y, rows.y, rows.weight)
        values = {key: labels.series(key) for key in self.labelled.sums}
        starts = self._among_labelled(self._starts, scored)
        cuts = scored[self._cuts]
        sums: list[Array] = [
            self.labelled.running(key, values[key], cuts, starts) for key in values
        ]
        self.labelled = self.labelled.copy()
        self.labelled.settle(values, len(rows.y), self._among_labelled(self._buckets, scored))
        return sums

    def _among_labelled(self, starts: Integers, scored: Integers) -> Integers:
        """Numbers among the labelled rows of scored rows at which the window may begin."""
        numbers = np.zeros_like(starts)
        new = starts >= max(self.n_scored, 1)
        numbers[new] = self.n_labelled + scored[starts[new] - self.n_scored]
        # The segments of both kinds of rows begin at the same rows.
        numbers[~new] = self.labelled.starts[np.searchsorted(self.scored.starts, starts[~new])]
        return numbers

    def _advance(self, columns: Columns, ends: Integers, sums: _SumsAt) -> None:
        values = {series: columns.series(series) for series in self.series}
        for series in self.series:
            running = self.scored.running(series, values[series], self._cuts, self._starts)
            sums.of(series)[:] = running[ends]
        windows = np.searchsorted(self._cuts, ends, side="left")
        self._oldest = self._starts[windows]
        self.scored = self.scored.copy()
        self.scored.settle(values, len(columns), self._buckets)

    def oldest(self, ends: Integers) -> Integers:
        """Number of the oldest row of the window at the ends of the latest call."""
        return self._oldest

    def merge(self, later: Self) -> None:
        """Refuse: where the window would have been cut cannot be known from two summaries."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return a twin that can be advanced on its own."""
        twin = super().copy()
        twin.detector = deepcopy(self.detector)
        return twin
