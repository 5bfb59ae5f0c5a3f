"""Store of rows: those that just arrived, and those still waiting."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.timeline import Operations
from skstream.utils._rows import copy_rows, stack_rows, take_rows

#: Segments not worth merging: a live run makes one per call.
MAX_SMALL_SEGMENTS = 16


@dataclass(slots=True)
class _Segment:
    """Consecutive rows stored together, some of which may not be needed any more."""

    first: int
    numbers: np.ndarray
    X: Any
    y: np.ndarray
    alive: np.ndarray
    n_alive: int

    @classmethod
    def of(cls, numbers: np.ndarray, X: Any, y: np.ndarray) -> "_Segment":
        """Store rows, all of which are needed."""
        n = len(numbers)
        return cls(int(numbers[0]), numbers, X, y, np.ones(n, dtype=bool), n)

    @property
    def wasteful(self) -> bool:
        """Whether most stored rows are not needed any more."""
        return 2 * self.n_alive < len(self.numbers)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Positions of rows that are stored here."""
        if self.numbers[-1] - self.first == len(self.numbers) - 1:
            return rows - self.first
        return np.searchsorted(self.numbers, rows)

    def forget(self, places: np.ndarray) -> None:
        """Note that rows are not needed any more."""
        self.alive[places] = False
        self.n_alive -= len(places)

    def compacted(self) -> "_Segment":
        """Return a copy of the rows that are still needed."""
        at = np.flatnonzero(self.alive)
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
        self._firsts: list[int] = []
        self._newest: _Segment | None = None

    def __len__(self) -> int:
        """Return the number of stored rows that are still needed."""
        newest = [] if self._newest is None else [self._newest]
        return sum(segment.n_alive for segment in self._segments + newest)

    def add(self, first_row: int, X: Any, y: np.ndarray) -> None:
        """Add consecutive rows and their label codes or targets.

        They are copied only after the operations of their arrival.
        """
        numbers = np.arange(first_row, first_row + len(y))
        self._newest = _Segment.of(numbers, X, y) if len(y) else None

    def take_back(self) -> None:
        """Remove the newest rows."""
        self._newest = None

    def set_labels(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give labels to waiting rows, ascending."""
        for segment, begin, end in self._parts(rows):
            segment.y[segment.places(rows[begin:end])] = y[begin:end]

    def release(self, rows: np.ndarray) -> None:
        """Remove these rows, and copy those of the newest that remain."""
        newest, self._newest = self._newest, None
        if not self._segments and (newest is None or len(rows) == newest.n_alive):
            return
        rows = np.sort(rows)
        if newest is not None:
            n_old = int(np.searchsorted(rows, newest.first))
            newest.forget(rows[n_old:] - newest.first)
            rows = rows[:n_old]
        parts = self._parts(rows)
        for segment, begin, end in parts:
            segment.forget(segment.places(rows[begin:end]))
        self._settle([segment for segment, _, _ in parts], newest)

    def block(self, operations: Operations) -> Block:
        """Make a block from the operations and their rows, with few other rows."""
        newest, n_learns = self._newest, len(operations.learn_rows)
        rows = np.concatenate([operations.learn_rows, operations.ask_rows])
        if newest is None and not self._segments:
            X, y, index = None, np.empty(0), rows
        elif newest is None:
            X, y, index = self._gathered(rows)
        else:
            index = rows - newest.first
            X, y = newest.X, newest.y
            old = index < 0 if self._segments else np.zeros(0, dtype=bool)
            if old.any():
                old_X, old_y, old_index = self._gathered(rows[old])
                index += len(old_y)
                index[old] = old_index
                X, y = stack_rows([old_X, X]), np.concatenate([old_y, y])
        index = index.astype(np.intp, copy=False)
        learn_index = index[:n_learns]
        return Block(
            learn_X=X,
            learn_index=learn_index,
            y=y[learn_index],
            weight=operations.weight,
            ask_X=X,
            ask_index=index[n_learns:],
            stamp=operations.stamp,
            batches=operations.batches,
            groups=operations.groups,
            learn_rows=operations.learn_rows,
            ask_rows=operations.ask_rows,
            checkpoint=operations.checkpoint,
        )

    def _gathered(self, rows: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Stored rows in one container, their labels, and the positions of the requested rows."""
        distinct, index = distinct_rows(rows)
        X, y = [], []
        for segment, begin, end in self._parts(distinct):
            places = segment.places(distinct[begin:end])
            X.append(take_rows(segment.X, places))
            y.append(segment.y[places])
        if not X:  # no row is requested; any rows give the columns
            return self._segments[0].X, self._segments[0].y, index
        return stack_rows(X), y[0] if len(y) == 1 else np.concatenate(y), index

    def _parts(self, rows: np.ndarray) -> list[tuple[_Segment, int, int]]:
        """Segments of rows, ascending, and which of the rows are in each."""
        n = len(rows)
        if n == 0:
            return []
        first = bisect_right(self._firsts, int(rows[0])) - 1
        last = bisect_right(self._firsts, int(rows[-1])) - 1
        if first == last:
            return [(self._segments[first], 0, n)]
        cuts = np.searchsorted(rows, self._firsts[first + 1 : last + 1]).tolist()
        bounds = zip(self._segments[first : last + 1], [0, *cuts], [*cuts, n], strict=True)
        return [(segment, begin, end) for segment, begin, end in bounds if begin < end]

    def _settle(self, changed: list[_Segment], newest: _Segment | None) -> None:
        """Store what is left of the newest rows; merge and rewrite segments if needed."""
        if any(segment.wasteful for segment in changed):
            self._segments = [
                segment.compacted() if segment.wasteful else segment
                for segment in self._segments
                if segment.n_alive
            ]
            self._firsts = [segment.first for segment in self._segments]
        if newest is None or not newest.n_alive:
            return
        self._segments.append(newest.compacted())
        self._firsts.append(self._segments[-1].first)
        n_segments = len(self._segments)
        if n_segments > MAX_SMALL_SEGMENTS and (
            n_segments > MAX_SMALL_SEGMENTS + len(self).bit_length()
        ):
            self._segments = _merged(self._segments)
            self._firsts = [segment.first for segment in self._segments]


def _merged(segments: list[_Segment]) -> list[_Segment]:
    """Merge segments so that each has more than twice as many rows as the one after it."""
    groups: list[list[_Segment]] = []
    size = 0
    for segment in reversed(segments):
        if groups and segment.n_alive <= 2 * size:
            groups[-1].append(segment)
            size += segment.n_alive
        else:
            groups.append([segment])
            size = segment.n_alive
    return [_joined(group[::-1]) for group in reversed(groups)]


def _joined(segments: list[_Segment]) -> _Segment:
    if len(segments) == 1:
        return segments[0]
    parts = [
        segment if segment.n_alive == len(segment.numbers) else segment.compacted()
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
