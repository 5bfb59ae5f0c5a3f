"""Rows that wait for their label: as arrays, and as a table that changes in place."""

from dataclasses import dataclass, fields

import numpy as np

#: A table this small is not worth compacting.
MIN_STORED = 64


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that wait for their label, in the order of their numbers.

    Attributes
    ----------
    row, arrival, label_time : ndarray of shape (n_waiting,)
        Number, arrival and time of the label (infinite: not known yet).
    born : ndarray of shape (n_waiting,), dtype int64
        How many labels had come before the row arrived.
    learnable : ndarray of shape (n_waiting,), dtype bool
        Whether it will be learnt: it has a label and a positive weight.
    weight : ndarray of shape (n_waiting,), dtype float64
        The user's weights.
    """

    row: np.ndarray
    arrival: np.ndarray
    label_time: np.ndarray
    born: np.ndarray
    learnable: np.ndarray
    weight: np.ndarray

    @classmethod
    def empty(cls) -> "Waiting":
        """No rows at all."""
        integers, numbers = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(integers, numbers, numbers, integers, np.empty(0, dtype=bool), numbers)

    def __len__(self) -> int:
        return len(self.row)

    def take(self, index: np.ndarray | slice) -> "Waiting":
        """Rows at positions, or where a mask is true."""
        return Waiting(
            self.row[index],
            self.arrival[index],
            self.label_time[index],
            self.born[index],
            self.learnable[index],
            self.weight[index],
        )

    def followed_by(self, *others: "Waiting") -> "Waiting":
        """These rows, then others."""
        parts = [self, *(other for other in others if len(other))]
        if len(parts) == 1:
            return self
        return Waiting(
            np.concatenate([part.row for part in parts]),
            np.concatenate([part.arrival for part in parts]),
            np.concatenate([part.label_time for part in parts]),
            np.concatenate([part.born for part in parts]),
            np.concatenate([part.learnable for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )


class WaitingTable:
    """Table of waiting rows, changed in place: the cost is that of the rows added or removed.

    Removed rows leave unused entries. The table is compacted when these are more than the rows, so
    every row is copied only a few times, and memory is proportional to the waiting rows.

    Attributes
    ----------
    n_dated : int
        Number of waiting rows whose label time is known.
    """

    def __init__(self) -> None:
        self.n_dated = 0
        self._fill(Waiting.empty())

    def _fill(self, waiting: Waiting) -> None:
        self._stored = waiting
        self._n = self._n_alive = len(waiting)
        self._alive = np.ones(self._n, dtype=bool)
        self._begin = 0
        self._polls: PollCalendar | None = None

    def __len__(self) -> int:
        return self._n_alive

    def rows(self) -> np.ndarray:
        """Return the numbers of all rows waiting."""
        rows: np.ndarray = self._stored.row[: self._n][self._alive[: self._n]]
        return rows

    def all_rows(self) -> Waiting:
        """Return all waiting rows, without unused entries; do not change them."""
        if self._n_alive < self._n:
            self._compact()
        return self._stored.take(slice(self._n))

    def replace(self, waiting: Waiting) -> None:
        """Replace the content by these rows; the table takes over the arrays."""
        self._fill(waiting)
        self.n_dated = int(np.count_nonzero(np.isfinite(waiting.label_time)))

    def add(self, waiting: Waiting) -> None:
        """Add rows with larger numbers than all others."""
        n = len(waiting)
        if not n:
            return
        begin, end = self._n, self._n + n
        if end > len(self._alive):
            self._reserve(max(MIN_STORED, 2 * end))
        for column in fields(Waiting):
            getattr(self._stored, column.name)[begin:end] = getattr(waiting, column.name)
        self._alive[begin:end] = True
        self._n, self._n_alive = end, self._n_alive + n
        self.n_dated += int(np.count_nonzero(np.isfinite(waiting.label_time)))
        if self._polls is not None:
            self._polls.add(begin, waiting.born)

    def positions(self, rows: np.ndarray) -> np.ndarray:
        """Return where waiting rows are stored; valid until the table is changed."""
        return np.searchsorted(self._stored.row[: self._n], rows)

    def at(self, positions: np.ndarray) -> Waiting:
        """Return the rows at positions."""
        return self._stored.take(positions)

    def rows_at(self, positions: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows at positions."""
        rows: np.ndarray = self._stored.row[positions]
        return rows

    def born_at(self, positions: np.ndarray) -> np.ndarray:
        """Return how many labels had come before the rows at positions."""
        born: np.ndarray = self._stored.born[positions]
        return born

    def label(
        self, positions: np.ndarray, time: float, learnable: np.ndarray, weight: np.ndarray
    ) -> None:
        """Set the label time of rows for which it was unknown."""
        stored = self._stored
        self.n_dated += int(np.count_nonzero(np.isinf(stored.label_time[positions])))
        stored.label_time[positions] = time
        stored.learnable[positions] = learnable
        stored.weight[positions] = weight

    def remove(self, positions: np.ndarray) -> None:
        """Remove rows."""
        self.n_dated -= int(np.count_nonzero(np.isfinite(self._stored.label_time[positions])))
        self._alive[positions] = False
        self._n_alive -= len(positions)
        if self._n > MIN_STORED and 2 * self._n_alive < self._n:
            self._compact()

    def truncate(self, first_row: int) -> None:
        """Remove the rows from this number on, which were added last."""
        n = int(np.searchsorted(self._stored.row[: self._n], first_row))
        gone = slice(n, self._n)
        self.n_dated -= int(np.count_nonzero(np.isfinite(self._stored.label_time[gone])))
        self._n_alive -= int(np.count_nonzero(self._alive[gone]))
        self._alive[gone] = False
        self._n = n
        self._polls = None  # it knows where the rows were stored

    def oldest(self, n: int) -> np.ndarray:
        """Return the numbers of the first rows waiting."""
        n = min(n, self._n_alive)
        width = max(MIN_STORED, 2 * n)
        while True:
            alive = np.flatnonzero(self._alive[self._begin : min(self._n, self._begin + width)])
            if len(alive) >= n:
                break
            width *= 2
        found = self._begin + alive[:n]
        if n:
            self._begin = int(found[0])
        rows: np.ndarray = self._stored.row[found]
        return rows

    def positions_polled(self, label: int, every: int) -> np.ndarray:
        """Return the positions of the rows that may be polled at the label of this number."""
        if self._polls is None or self._polls.every != every:
            alive = np.flatnonzero(self._alive[: self._n])
            self._polls = PollCalendar(every, alive, self._stored.born[alive])
        return self._polls.on(label, self._alive)

    def _reserve(self, capacity: int) -> None:
        stored = self._stored.take(slice(self._n))
        empty = {
            column.name: np.empty(capacity, dtype=getattr(stored, column.name).dtype)
            for column in fields(Waiting)
        }
        for name, values in empty.items():
            values[: self._n] = getattr(stored, name)
        alive = np.zeros(capacity, dtype=bool)
        alive[: self._n] = self._alive[: self._n]
        self._stored, self._alive = Waiting(**empty), alive

    def _compact(self) -> None:
        self._fill(self._stored.take(np.flatnonzero(self._alive[: self._n])))


class PollCalendar:
    """Finds the rows to poll at a label: those that arrived a multiple of `every` labels ago.

    Rows are in buckets, by the number of labels before their arrival modulo `every`, so that only
    one bucket is read at a label.

    Parameters
    ----------
    every : int
        Labels between two polls of a row.
    positions, born : ndarray of shape (n,)
        Where the rows are stored, and how many labels had come before them; ascending.
    """

    def __init__(self, every: int, positions: np.ndarray, born: np.ndarray):
        self.every = every
        self._old: dict[int, np.ndarray] = {}
        self._new: dict[int, list[int]] = {}
        if len(positions):
            bucket = born % every
            order = np.argsort(bucket, kind="stable")
            names, starts = np.unique(bucket[order], return_index=True)
            parts = np.split(positions[order], starts[1:])
            self._old = dict(zip(names.tolist(), parts, strict=True))

    def add(self, begin: int, born: np.ndarray) -> None:
        """Add rows that are stored one after the other, from a position on."""
        if born[0] == born[-1]:
            new = self._new.setdefault(int(born[0]) % self.every, [])
            new.extend(range(begin, begin + len(born)))
            return
        for position, one in enumerate(born.tolist(), begin):
            self._new.setdefault(one % self.every, []).append(position)

    def on(self, label: int, alive: np.ndarray) -> np.ndarray:
        """Return the positions of the rows of a label's bucket that still wait, ascending."""
        bucket = label % self.every
        positions = self._old.get(bucket)
        new = self._new.pop(bucket, None)
        if new is not None:
            added = np.asarray(new, dtype=np.intp)
            positions = added if positions is None else np.concatenate([positions, added])
        if positions is None:
            return np.empty(0, dtype=np.intp)
        still: np.ndarray = positions[alive[positions]]
        self._old[bucket] = still
        return still
