"""Checkpoints of a stream, and the values of the measures there."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._columns import Array, Floats

Values = dict[str, dict[str, Floats]]

#: Most checkpoints of a curve whose interval doubles.
MAX_CHECKPOINTS = 1024


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Measures at checkpoints.

    Attributes
    ----------
    checkpoints : ndarray of shape (n_checkpoints,), dtype int64
        Rows of the stream read at each checkpoint, increasing; the last row is always one.
    values : dict of str to dict of str to ndarray
        ``values[forgetting][metric]``, shape (n_checkpoints,): NaN where it is undefined.
    """

    checkpoints: NDArray[np.int64]
    values: Values


def joined_values(first: Values, second: Values) -> Values:
    """Values at some checkpoints, then at those that follow."""
    if not first:
        return second
    return {
        forgetting: {
            metric: np.concatenate((first[forgetting][metric], values))
            for metric, values in by_metric.items()
        }
        for forgetting, by_metric in second.items()
    }


_MULTIPLES: WeakValueDictionary[tuple[int, int], Array] = WeakValueDictionary()


def multiples(interval: int, n: int) -> NDArray[np.int64]:
    """First multiples of an interval, read-only; one array for all who use them at a time."""
    numbers = _MULTIPLES.get((interval, n))
    if numbers is None:
        numbers = np.arange(1, n + 1, dtype=np.int64) * interval
        numbers.flags.writeable = False
        _MULTIPLES[interval, n] = numbers
    return numbers


class Recorder:
    """Keeps values at checkpoints: every so many rows, or at most `MAX_CHECKPOINTS` of them.

    Parameters
    ----------
    record_every : int or None
        Distance of the checkpoints. None: a power of two that depends on the number of rows
        read so far alone.
    forgetting, metrics : list of str
        What is recorded.
    expected_rows : int, default=0
        Rows that will come, where that is known.
    """

    def __init__(
        self,
        record_every: int | None,
        forgetting: list[str],
        metrics: list[str],
        expected_rows: int = 0,
    ) -> None:
        self.record_every = record_every
        self.expected = 0 if record_every is None else expected_rows // record_every
        self.columns = [(f, m) for f in forgetting for m in metrics]
        self.interval = record_every or 1
        self.last = 0
        self._n = 0
        self._n_rows: NDArray[np.int64] | None = None  # None: all multiples of the interval
        self._values = np.empty((len(self.columns), 0))

    def due(self, first: int, last: int) -> NDArray[np.int64]:
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

    def record(self, n_rows: NDArray[np.int64], values: Values) -> None:
        """Keep values."""
        if not len(n_rows):
            return
        self.last = int(n_rows[-1])
        n = self._n + len(n_rows)
        if n > self._values.shape[1]:
            self._make_room(n)
        new = slice(self._n, n)
        for row, (forgetting, metric) in zip(self._values, self.columns, strict=True):
            row[new] = values[forgetting][metric]
        self._n = n
        if self._n_rows is not None:
            self._n_rows = np.concatenate((self._n_rows, n_rows))

    def skip(self) -> None:
        """Skip rows at which nothing was measured."""
        self._n_rows = self._checkpoints()

    def _checkpoints(self) -> NDArray[np.int64]:
        return multiples(self.interval, self._n) if self._n_rows is None else self._n_rows

    def _make_room(self, n: int) -> None:
        """Move to larger arrays.

        Only used entries are written: unused space in the array takes no physical memory. One
        large array for all curves, because the operating system uses large memory pages only in
        large arrays; with a value per row, small pages take longer than the arithmetic.
        """
        room = max(n, 4 * self._n, self.expected)
        values = np.empty((len(self.columns), room))
        values[:, : self._n] = self._kept()
        self._values = values

    def _kept(self) -> Floats:
        return self._values[:, : self._n]

    def thin(self, n_read: int) -> None:
        """Drop the checkpoints that are not multiples of the larger interval after so many rows."""
        interval = self.interval_at(n_read)
        if interval == self.interval:
            return
        n_rows = self._checkpoints()
        kept = n_rows % interval == 0
        self.interval, self._values = interval, self._kept()[:, kept]
        self._n = self._values.shape[1]
        if self._n_rows is not None:
            self._n_rows = n_rows[kept]

    def curves(self, n_rows: NDArray[np.int64], values: Values, n_read: int) -> Curves:
        """Return the values kept and some further values, as of so many rows.

        The returned arrays do not change later, because new values are written after them; do not
        write into them.
        """
        rows, columns = self._checkpoints(), self._kept()
        if len(n_rows):
            more = np.array([values[forgetting][metric] for forgetting, metric in self.columns])
            rows, columns = np.concatenate((rows, n_rows)), np.concatenate((columns, more), axis=1)
        interval = self.interval_at(n_read)
        if interval != self.interval:
            newest = np.arange(len(rows)) >= len(rows) - len(n_rows)
            kept = newest | (rows % interval == 0)
            rows, columns = rows[kept], columns[:, kept]
        rows.flags.writeable = columns.flags.writeable = False
        by_name: Values = {}
        for column, (forgetting, metric) in zip(columns, self.columns, strict=True):
            by_name.setdefault(forgetting, {})[metric] = column
        return Curves(checkpoints=rows, values=by_name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_values": self._kept()}  # without the room for more
