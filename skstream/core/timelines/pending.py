"""Rows that wait for their label: columns of equal length, and the table that keeps them."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

#: A table this small is not worth compacting.
MIN_STORED = 64


class Columns:
    """Base of frozen dataclasses whose fields are arrays of one length, the first of them `row`.

    The first axis of every array runs over the entries.
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    row: Any

    def __len__(self) -> int:
        return len(self.row)

    def take(self, index: np.ndarray | slice) -> Self:
        """Entries at positions, or where a mask is true."""
        return type(self)(*[getattr(self, name)[index] for name in self.__match_args__])

    def look_up(self, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of rows, given by number, where `row` ascends."""
        positions: np.ndarray = self.row.searchsorted(numbers)
        return positions

    def followed_by(self, *others: Self) -> Self:
        """These entries, then others."""
        parts = [self, *(other for other in others if len(other))]
        if len(parts) == 1:
            return self
        return type(self)(
            *[np.concatenate([getattr(p, name) for p in parts]) for name in self.__match_args__]
        )


C = TypeVar("C", bound=Columns)


@dataclass(frozen=True, slots=True)
class PendingRows(Columns):
    """Rows that wait for their label, in the order of their numbers.

    Attributes
    ----------
    row, arrival, label_time : ndarray of shape (n_pending,)
        Number, arrival and time of the label (infinite: not known yet).
    labels_at_arrival : ndarray of shape (n_pending,), dtype int64
        How many labels had come before the row arrived.
    learnable : ndarray of shape (n_pending,), dtype bool
        Whether it will be learnt: it has a label and a positive weight.
    weight : ndarray of shape (n_pending,), dtype float64
        The user's weights.
    """

    row: np.ndarray
    arrival: np.ndarray
    label_time: np.ndarray
    labels_at_arrival: np.ndarray
    learnable: np.ndarray
    weight: np.ndarray

    @classmethod
    def empty(cls) -> "PendingRows":
        """No rows at all."""
        integers, numbers = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(integers, numbers, numbers, integers, np.empty(0, dtype=bool), numbers)


@dataclass(frozen=True, slots=True)
class PendingTable(Generic[C]):
    """Table of pending rows, ascending by number: a value, of which each change makes the next.

    Tables share the memory of their entries, so that a change costs no more than the rows added,
    and a byte per row when some are dropped. The table before a change stays as it was until
    another change of it is made. Dropped rows leave unused entries; the table is compacted when
    these are more than the rows, so every row is copied only a few times, and memory is
    proportional to the pending rows.

    Attributes
    ----------
    stored : Columns
        All entries, and unused space after them.
    is_pending : ndarray of shape (n_stored,), dtype bool
        Which entries are still pending.
    n : int
        Entries in use, dropped ones included.
    n_pending : int
        Entries that are pending.
    indexes : dict
        Whatever is known about the positions of these entries; empty when they have moved.
    """

    stored: C
    is_pending: np.ndarray
    n: int
    n_pending: int
    indexes: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: C) -> "PendingTable[C]":
        """Return a table of these rows; it takes over their arrays."""
        return cls(rows, np.ones(len(rows), dtype=bool), len(rows), len(rows))

    def __len__(self) -> int:
        return self.n_pending

    def numbers(self) -> np.ndarray:
        """Return the numbers of all pending rows."""
        numbers: np.ndarray = self.stored.row[: self.n][self.is_pending[: self.n]]
        return numbers

    def rows(self) -> C:
        """Return all pending rows; do not change them."""
        if self.n_pending == self.n:
            return self.stored.take(slice(self.n))
        return self.stored.take(np.flatnonzero(self.is_pending[: self.n]))

    def look_up(self, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of pending rows, given by number."""
        positions: np.ndarray = self.stored.row[: self.n].searchsorted(numbers)
        return positions

    def take(self, positions: np.ndarray) -> C:
        """Return the rows at positions."""
        return self.stored.take(positions)

    def append(self, rows: C) -> "PendingTable[C]":
        """Add rows with larger numbers than all others."""
        n = len(rows)
        if not n:
            return self
        if self.n + n > len(self.is_pending):
            return self._with_room(n).append(rows)
        begin, end = self.n, self.n + n
        for name in self.stored.__match_args__:
            getattr(self.stored, name)[begin:end] = getattr(rows, name)
        self.is_pending[begin:end] = True
        return PendingTable(self.stored, self.is_pending, end, self.n_pending + n, self.indexes)

    def drop(self, positions: np.ndarray) -> "PendingTable[C]":
        """Remove the rows at positions."""
        is_pending = self.is_pending.copy()
        is_pending[positions] = False
        n_pending = self.n_pending - len(positions)
        left = PendingTable(self.stored, is_pending, self.n, n_pending, self.indexes)
        if self.n > MIN_STORED and 2 * n_pending < self.n:
            return PendingTable.of(left.rows())
        return left

    def oldest(self, n: int) -> np.ndarray:
        """Return the positions of the first pending rows."""
        n = min(n, self.n_pending)
        begin = int(self.is_pending[: self.n].argmax()) if n else 0
        width = max(MIN_STORED, 2 * n)
        while True:
            found = np.flatnonzero(self.is_pending[begin : min(self.n, begin + width)])[:n]
            if len(found) == n:
                return begin + found
            width *= 2

    def _with_room(self, n: int) -> "PendingTable[C]":
        """Return the same rows with space for at least as many more."""
        rows = self.rows()
        n_rows = len(rows)
        capacity = max(MIN_STORED, 2 * (n_rows + n))
        columns = []
        for name in rows.__match_args__:
            values = getattr(rows, name)
            column = np.empty((capacity, *values.shape[1:]), dtype=values.dtype)
            column[:n_rows] = values
            columns.append(column)
        is_pending = np.zeros(capacity, dtype=bool)
        is_pending[:n_rows] = True
        return PendingTable(type(rows)(*columns), is_pending, n_rows, n_rows)


class PollIndex:
    """Finds the rows to poll at a label: those that arrived a multiple of `every` labels ago.

    Rows are in buckets, by the number of labels before their arrival modulo `every`, so that only
    one bucket is read at a label.

    Parameters
    ----------
    every : int
        Labels between two polls of a row.
    """

    def __init__(self, every: int):
        self.every = every
        self._n = 0
        self._old: dict[int, np.ndarray] = {}
        self._new: dict[int, list[int]] = {}

    @classmethod
    def of(cls, table: PendingTable[PendingRows], every: int) -> "PollIndex":
        """Return the index of a table, up to date."""
        index = table.indexes.get(every)
        if index is None:
            index = table.indexes[every] = cls(every)
        index._follow(table)
        return index

    def _follow(self, table: PendingTable[PendingRows]) -> None:
        """Add the entries that are new in the table."""
        first, self._n = self._n, table.n
        if first == table.n:
            return
        n_labels = table.stored.labels_at_arrival[first : table.n]
        if first == 0:
            bucket = n_labels % self.every
            order = np.argsort(bucket, kind="stable")
            names, starts = np.unique(bucket[order], return_index=True)
            self._old = dict(zip(names.tolist(), np.split(order, starts[1:]), strict=True))
        elif n_labels[0] == n_labels[-1]:
            new = self._new.setdefault(int(n_labels[0]) % self.every, [])
            new.extend(range(first, table.n))
        else:
            for position, one in enumerate(n_labels.tolist(), first):
                self._new.setdefault(one % self.every, []).append(position)

    def positions(self, label: int, is_pending: np.ndarray) -> np.ndarray:
        """Return the positions of the rows of a label's bucket that still wait, ascending."""
        bucket = label % self.every
        positions = self._old.get(bucket)
        new = self._new.pop(bucket, None)
        if new is not None:
            added = np.asarray(new, dtype=np.intp)
            positions = added if positions is None else np.concatenate([positions, added])
        if positions is None:
            return np.empty(0, dtype=np.intp)
        still: np.ndarray = positions[is_pending[positions]]
        self._old[bucket] = still
        return still
