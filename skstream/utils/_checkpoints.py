"""Checkpoints of a stream: the rows at which curves are kept."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Most checkpoints of curves whose interval doubles.
MAX_CHECKPOINTS = 1024


class CheckpointRecorder:
    """Keeps values at checkpoints: every so many rows, or at most `MAX_CHECKPOINTS` of them.

    Which rows are kept depends on the number of rows, never on how they were divided into calls.

    Parameters
    ----------
    n_columns : int
        Number of curves.
    record_every : int or None, default=None
        Distance of the checkpoints. None: a power of two that depends on the number of rows
        read so far alone.
    expected_rows : int, default=0
        Rows that will come, where that is known.
    """

    def __init__(
        self, n_columns: int, record_every: int | None = None, expected_rows: int = 0
    ) -> None:
        self.record_every = record_every
        self.expected = 0 if record_every is None else expected_rows // record_every
        self.interval = record_every or 1
        self.last = 0
        self.n_followed = 0
        self._newest: list[Any] = []
        self._n = 0
        self._rows: Numbers | None = None  # None: all multiples of the interval
        self._values = np.empty((n_columns, 0))

    def due(self, first: int, last: int) -> Numbers:
        """Checkpoints after row `first` and up to `last` that remain once `last` is reached."""
        interval = self.interval_at(last)
        return np.arange(first // interval + 1, last // interval + 1, dtype=np.int64) * interval

    def interval_at(self, n_rows: int) -> int:
        """Distance of the checkpoints after so many rows."""
        if self.record_every is not None:
            return self.record_every
        interval = self.interval
        while n_rows // interval >= MAX_CHECKPOINTS:  # one more may be needed for the last row
            interval *= 2
        return interval

    def record(self, rows: Numbers, *columns: NDArray[Any]) -> None:
        """Keep the values of all curves at further checkpoints."""
        if not len(rows):
            return
        self._append(int(rows[-1]), len(rows), columns)
        if self._rows is not None:
            self._rows = np.concatenate((self._rows, rows))

    def follow(self, *columns: NDArray[Any]) -> None:
        """Take the values after each of the next rows: those at the checkpoints are kept."""
        if not len(columns[0]):
            return
        first, last = self.n_followed, self.n_followed + len(columns[0])
        self.thin(last)
        n_new = last // self.interval - first // self.interval
        if n_new:
            due = slice(self.interval - 1 - first % self.interval, None, self.interval)
            self._append(last - last % self.interval, n_new, [column[due] for column in columns])
        self.n_followed, self._newest = last, [column[-1] for column in columns]

    def followed(self) -> tuple[Numbers, Floats]:
        """Return, of all rows that were followed, the checkpoints and the last; as `curves`."""
        rows, values = self.curves()
        if self.last < self.n_followed:
            rows = np.append(rows, self.n_followed)
            values = np.column_stack((values, self._newest))
        return rows, values

    def _append(self, last: int, n_new: int, columns: Sequence[NDArray[Any]]) -> None:
        self.last, start, stop = last, self._n, self._n + n_new
        if stop > self._values.shape[1]:
            self._make_room(stop)
        for kept, values in zip(self._values, columns, strict=True):
            kept[start:stop] = values
        self._n = stop

    def skip(self) -> None:
        """Skip rows at which nothing was measured."""
        self._rows = self._checkpoints()

    def _checkpoints(self) -> Numbers:
        if self._rows is not None:
            return self._rows
        return np.arange(1, self._n + 1, dtype=np.int64) * self.interval

    def _make_room(self, n: int) -> None:
        """Move to larger arrays.

        Only used entries are written: unused space in the array takes no physical memory. One
        large array for all curves, because the operating system uses large memory pages only in
        large arrays; with a value per row, small pages take longer than the arithmetic.
        """
        room = max(n, 4 * self._n, self.expected)
        values = np.empty((len(self._values), room))
        values[:, : self._n] = self._kept()
        self._values = values

    def _kept(self) -> Floats:
        return self._values[:, : self._n]

    def thin(self, n_read: int) -> None:
        """Drop the checkpoints that are not multiples of the larger interval after so many rows."""
        interval = self.interval_at(n_read)
        if interval == self.interval:
            return
        rows = self._checkpoints()
        kept = rows % interval == 0
        self.interval, self._values = interval, self._kept()[:, kept]
        self._n = self._values.shape[1]
        if self._rows is not None:
            self._rows = rows[kept]

    def curves(self) -> tuple[Numbers, Floats]:
        """Return the checkpoints, and the values kept there, of shape (n_columns, n_checkpoints).

        The arrays do not change later, because new values are written after them; do not write
        into them.
        """
        return self._checkpoints(), self._kept()

    def curves_with(
        self, rows: Numbers, columns: list[Floats], n_read: int
    ) -> tuple[Numbers, Floats]:
        """Return what is kept and some further values, as of so many rows."""
        all_rows, values = self.curves()
        if len(rows):
            all_rows = np.concatenate((all_rows, rows))
            values = np.concatenate((values, columns), axis=1)
        interval = self.interval_at(n_read)
        if interval != self.interval:
            newest = np.arange(len(all_rows)) >= len(all_rows) - len(rows)
            kept = newest | (all_rows % interval == 0)
            all_rows, values = all_rows[kept], values[:, kept]
        return all_rows, values

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_values": self._kept()}  # without the room for more
