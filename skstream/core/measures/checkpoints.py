"""Checkpoints of a stream: the rows at which curves are kept, and the curves."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.rows import Floats

#: Most checkpoints of curves whose interval doubles.
MAX_CHECKPOINTS = 1024
#: More periods than these between two rows are a mistake.
_MOST_PERIODS = 10_000_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Measures at checkpoints.

    Attributes
    ----------
    checkpoints : ndarray of shape (n_checkpoints,), dtype int64
        Rows of the stream read at each checkpoint, increasing; the last row is always one.
    values : dict of str to dict of str to ndarray
        ``values[forgetting][metric]``, shape (n_checkpoints,), or (n_checkpoints, n_models) of a
        table of models: NaN where it is undefined.
    times : ndarray of shape (n_checkpoints,), dtype datetime64[us] or float64, or None
        Time of each checkpoint, where rows say when they came.
    """

    checkpoints: NDArray[np.int64]
    values: dict[str, dict[str, Floats]]
    times: NDArray[Any] | None = None

    def of_models(self, models: int | slice) -> "Curves":
        """Return the curves of some models of a table, or of one.

        Parameters
        ----------
        models : int or slice
            Their lines in the table.

        Returns
        -------
        curves : Curves
            Of one model, without an axis of models.
        """
        values: dict[str, dict[str, Floats]] = {}
        for forgetting, by_metric in self.values.items():
            values[forgetting] = {}
            for metric, table in by_metric.items():
                values[forgetting][metric] = table[:, models]
        return Curves(checkpoints=self.checkpoints, values=values, times=self.times)

    @classmethod
    def of(
        cls,
        checkpoints: Numbers,
        columns: Floats,
        forgetting: Collection[str],
        metrics: Collection[str],
        times: NDArray[Any] | None = None,
    ) -> Self:
        """Curves of columns in the order of mechanisms, measures and models; read-only."""
        checkpoints.flags.writeable = columns.flags.writeable = False
        n_models = len(columns) // (len(forgetting) * len(metrics))
        shape = len(forgetting), len(metrics), n_models, len(checkpoints)
        values = {}
        for mechanism, tables in zip(forgetting, columns.reshape(shape), strict=True):
            values[mechanism] = dict(zip(metrics, tables.swapaxes(1, 2), strict=True))
        return cls(checkpoints=checkpoints, values=values, times=times)


def as_floats(times: NDArray[Any]) -> Floats:
    """Times as floats: datetimes in microseconds."""
    return (times.astype(np.int64) if times.dtype.kind == "M" else times).astype(np.float64)


def of_floats(times: Floats, time_type: np.dtype[Any]) -> NDArray[Any]:
    """Times of such floats."""
    whole = times.astype(np.int64) if time_type.kind == "M" else times
    return whole.astype(time_type)


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
        self._values = np.empty((1 + n_columns, 0))  # rows, then the values there

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

    def record(self, rows: Numbers, columns: Sequence[NDArray[Any]]) -> None:
        """Keep the values of all curves at further checkpoints.

        Only used entries are written: unused space in the array takes no physical memory. One
        large array for all curves, because the operating system uses large memory pages only in
        large arrays; with a value per row, small pages take longer than the arithmetic.
        """
        if not len(rows):
            return
        start, stop = self._n, self._n + len(rows)
        if stop > self._values.shape[1]:
            values = np.empty((len(self._values), max(stop, 4 * start, self.expected)))
            values[:, :start] = self._values[:, :start]
            self._values = values
        for kept, column in zip(self._values, (rows, *columns), strict=True):
            kept[start:stop] = column
        self.last, self._n = int(rows[-1]), stop

    def follow(self, *columns: NDArray[Any]) -> None:
        """Take the values after each of the next rows: those at the checkpoints are kept."""
        if not len(columns[0]):
            return
        first, last = self.n_followed, self.n_followed + len(columns[0])
        self.thin(last)
        due = slice(self.interval - 1 - first % self.interval, None, self.interval)
        self.record(self.due(first, last), [column[due] for column in columns])
        self.n_followed, self._newest = last, [column[-1] for column in columns]

    def followed(self) -> tuple[Numbers, Floats]:
        """Return, of all rows that were followed, the checkpoints and the last; as `curves`."""
        rows, values = self.curves()
        if self.last < self.n_followed:
            rows = np.append(rows, self.n_followed)
            values = np.column_stack((values, self._newest))
        return rows, values

    def thin(self, n_read: int) -> None:
        """Drop the checkpoints that are not multiples of the larger interval after so many rows."""
        interval = self.interval_at(n_read)
        if interval != self.interval:
            values = self._values[:, : self._n]
            self.interval, self._values = interval, values[:, values[0] % interval == 0]
            self._n = self._values.shape[1]

    def curves(self) -> tuple[Numbers, Floats]:
        """Return the checkpoints, and the values kept there, of shape (n_columns, n_checkpoints).

        The arrays do not change later, because new values are written after them; do not write
        into them.
        """
        values = self._values[:, : self._n]
        return values[0].astype(np.int64), values[1:]

    def curves_with(
        self, rows: Numbers, columns: Sequence[Floats], n_read: int
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
        values = self._values[:, : self._n]
        return {**self.__dict__, "_values": values}  # without the room for more


class PeriodRecorder(CheckpointRecorder):
    """Keeps values at the end of every period of time, such as a day.

    A period without rows has the scores at its end, too.

    Parameters
    ----------
    n_columns : int
        Number of curves.
    period : timedelta64
        Length of a period; periods are counted from 1970-01-01.
    """

    def __init__(self, n_columns: int, period: np.timedelta64) -> None:
        super().__init__(n_columns, 1)
        self.period = period
        self._current: int | None = None  # number of the period of the last row

    def ended(self, times: NDArray[Any], first: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Periods that end among the next rows.

        Parameters
        ----------
        times : ndarray of shape (n_rows,), dtype datetime64[us]
            Times of the rows.
        first : int
            Number of rows before them.

        Returns
        -------
        checkpoints : ndarray of shape (n_periods,), dtype int64
            Rows that had come at the end of each.
        now : ndarray of shape (n_periods,), dtype datetime64[us]
            The last microsecond of each.
        """
        numbers = times.astype("M8[us]").astype(np.int64) // self._length
        if not len(numbers):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype="M8[us]")
        start = int(numbers[0]) if self._current is None else self._current
        n_periods = int(numbers[-1]) - start
        if n_periods > _MOST_PERIODS:
            raise ValueError(
                f"record_every has {n_periods:,} periods of {self.period} from {times[0]} to "
                f"{times[-1]}: choose a longer period."
            )
        ended = np.arange(start, int(numbers[-1]), dtype=np.int64)
        rows = first + np.searchsorted(numbers, ended, side="right")
        return rows, ((ended + 1) * self._length - 1).astype("M8[us]")

    def go_on(self, times: NDArray[Any]) -> None:
        """Note that rows of these times were read."""
        if len(times):
            self._current = int(times[-1].astype("M8[us]").astype(np.int64) // self._length)

    @property
    def _length(self) -> int:
        return int(self.period.astype("m8[us]").astype(np.int64))
