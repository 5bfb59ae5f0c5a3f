"""Store of rows: those that just arrived, and those still waiting."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.core.engine.block import Block
from skstream.core.timelines.timeline import Operations, no_rows
from skstream.utils._rows import copy_rows, stack_rows, take_rows

#: Segments not worth merging: a live run makes one per call.
MAX_SMALL_SEGMENTS = 16


@dataclass(slots=True, eq=False)
class _Segment:
    """Consecutive rows stored together, some of which may not be needed any more."""

    first: int
    numbers: np.ndarray
    X: Any
    y: np.ndarray
    needed: np.ndarray
    n_needed: int

    @classmethod
    def of(cls, numbers: np.ndarray, X: Any, y: np.ndarray) -> "_Segment":
        """Store rows, all of which are needed."""
        n = len(numbers)
        return cls(int(numbers[0]), numbers, X, y, np.ones(n, dtype=bool), n)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Positions of rows that are stored here."""
        if self.numbers[-1] - self.first == len(self.numbers) - 1:
            return rows - self.first
        return np.searchsorted(self.numbers, rows)

    def compacted(self) -> "_Segment":
        """Return a copy of the rows that are still needed."""
        at = np.flatnonzero(self.needed)
        return _Segment.of(self.numbers[at], copy_rows(self.X, at), self.y[at])


class RowStore:
    """Keeps rows and their labels as long as a timeline may need them.

    Memory is that of the newest chunk and about twice that of the rows waiting. Waiting rows are
    stored in segments that are merged when they are many and small, and rewritten when most of
    their rows are not needed any more. So no step copies all waiting rows, and each row is copied
    only a few times.
    """

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._newest: tuple[int, Any, np.ndarray] | None = None  # number of the first, X and y

    def __len__(self) -> int:
        """Return the number of stored rows that are still needed."""
        return sum(segment.n_needed for segment in self._all())

    def _all(self) -> list[_Segment]:
        """Return the segments, that of the newest rows too."""
        if self._newest is None:
            return self._segments
        first, X, y = self._newest
        return [*self._segments, _Segment.of(np.arange(first, first + len(y)), X, y)]

    def add(self, first_row: int, X: Any, y: np.ndarray) -> None:
        """Add consecutive rows and their label codes or targets.

        They are not copied here; `release` copies those that still wait.
        """
        self._newest = (first_row, X, y) if len(y) else None

    def take_back(self) -> None:
        """Remove the newest rows."""
        self._newest = None

    def set_labels(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give labels to waiting rows, ascending."""
        for segment, part in _parts(self._segments, rows):
            segment.y[segment.places(rows[part])] = y[part]

    def release(self, rows: np.ndarray) -> None:
        """Remove these rows; store those of the newest that remain, and merge small segments."""
        newest = self._newest
        if not self._segments and (newest is None or len(rows) == len(newest[2])):
            self._newest = None
            return
        rows, segments = np.sort(rows), self._all()
        changed, self._newest = segments[len(self._segments) :], None
        for segment, part in _parts(segments, rows):
            segment.needed[segment.places(rows[part])] = False
            segment.n_needed -= part.stop - part.start
            if 2 * segment.n_needed < len(segment.numbers):
                changed.append(segment)
        if changed:
            self._segments = [
                one.compacted() if one in changed else one for one in segments if one.n_needed
            ]
        n = len(self._segments)
        if n > MAX_SMALL_SEGMENTS and n > MAX_SMALL_SEGMENTS + len(self).bit_length():
            self._segments = _merged(self._segments)

    def block(self, operations: Operations, ask_X: Any = None, ask_index: Any = None) -> Block:
        """Make the block of some operations.

        `ask_X` and `ask_index` are given where held-out rows are asked, which are not rows of the
        stream.
        """
        rows, n_learns = operations.learn_rows, len(operations.learn_rows)
        if ask_X is None:
            rows = np.concatenate([rows, operations.ask_rows])
        newest = self._newest
        if newest is not None and not (self._segments and (rows < newest[0]).any()):
            X, y, index = newest[1], newest[2], rows - newest[0]
        else:
            X, y, index = _gathered(self._all(), rows)
        learn_index = index[:n_learns].astype(np.intp, copy=False)
        return Block(
            learn_X=ask_X if X is None else X,
            learn_index=learn_index,
            y=y[learn_index],
            weight=operations.weight,
            ask_X=X if ask_X is None else ask_X,
            ask_index=index[n_learns:].astype(np.intp, copy=False) if ask_X is None else ask_index,
            stamp=operations.stamp,
            batches=operations.batches,
            groups=operations.groups,
            learn_rows=operations.learn_rows,
            ask_rows=operations.ask_rows,
            checkpoint=operations.checkpoint,
        )


def _gathered(segments: list[_Segment], rows: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Stored rows in one container, their labels, and the positions of the requested rows."""
    distinct, index = distinct_rows(rows)
    parts = _parts(segments, distinct)
    found = [(segment, segment.places(distinct[part])) for segment, part in parts]
    if not found:  # no row is requested; any rows give the columns
        return (segments[0].X, segments[0].y, index) if segments else (None, no_rows(), index)
    X = [take_rows(segment.X, places) for segment, places in found]
    y = [segment.y[places] for segment, places in found]
    return stack_rows(X), y[0] if len(y) == 1 else np.concatenate(y), index


def _parts(segments: list[_Segment], rows: np.ndarray) -> list[tuple[_Segment, slice]]:
    """Segments of rows, ascending, and which of the rows are in each."""
    if not len(rows):
        return []
    firsts = [segment.first for segment in segments]
    low, high = (bisect_right(firsts, int(rows[at])) for at in (0, -1))
    if low == high:
        return [(segments[low - 1], slice(0, len(rows)))]
    cuts = np.searchsorted(rows, firsts[low:high]).tolist()
    bounds = zip(segments[low - 1 : high], [0, *cuts], [*cuts, len(rows)], strict=True)
    return [(segment, slice(begin, end)) for segment, begin, end in bounds if begin < end]


def _merged(segments: list[_Segment]) -> list[_Segment]:
    """Merge segments so that each has more than twice as many rows as the one after it."""
    groups: list[list[_Segment]] = []
    size = 0
    for segment in reversed(segments):
        if groups and segment.n_needed <= 2 * size:
            groups[-1].append(segment)
            size += segment.n_needed
        else:
            groups.append([segment])
            size = segment.n_needed
    return [_joined(group[::-1]) for group in reversed(groups)]


def _joined(segments: list[_Segment]) -> _Segment:
    if len(segments) == 1:
        return segments[0]
    parts = [
        segment if segment.n_needed == len(segment.numbers) else segment.compacted()
        for segment in segments
    ]
    return _Segment.of(
        np.concatenate([part.numbers for part in parts]),
        stack_rows([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
    )


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct rows, and where in them each row is."""
    if not len(rows):
        return rows, rows
    first = rows.min()
    span = int(rows.max() - first) + 1
    if span > 8 * len(rows):
        distinct = np.sort(rows)
        distinct = distinct[np.flatnonzero(np.diff(distinct, prepend=-1))]
        return distinct, distinct.searchsorted(rows)
    among = np.zeros(span, dtype=bool)  # for a large share of the rows this is cheaper than sorting
    among[rows - first] = True
    place = np.cumsum(among) - 1
    return np.flatnonzero(among) + first, place[rows - first]
