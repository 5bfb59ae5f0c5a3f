"""Values of the measures at checkpoints of a stream."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.rows import Floats
from skstream.utils._checkpoints import CheckpointRecorder

#: More periods than these between two rows are a mistake.
_MOST_PERIODS = 10_000_000

#: By mechanism and measure, one array of values for each model.
Values = dict[str, dict[str, list[Floats]]]


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
        return Curves(
            checkpoints=self.checkpoints,
            values={
                forgetting: {metric: table[:, models] for metric, table in by_metric.items()}
                for forgetting, by_metric in self.values.items()
            },
            times=self.times,
        )

    @classmethod
    def of(
        cls,
        checkpoints: NDArray[np.int64],
        columns: Floats,
        like: Values,
        time_type: np.dtype[Any] | None = None,
    ) -> Self:
        """Curves of columns that stand in the order of some values, read-only; times come last."""
        checkpoints.flags.writeable = columns.flags.writeable = False
        times = None
        if time_type is not None:
            times, columns = of_floats(columns[-1], time_type), columns[:-1]
        n_tables = sum(map(len, like.values()))
        n_models = len(columns) // n_tables
        rest = iter(columns.reshape(n_tables, n_models, len(checkpoints)))
        values = {f: {metric: next(rest).T for metric in tables} for f, tables in like.items()}
        return cls(checkpoints=checkpoints, values=values, times=times)


def as_floats(times: NDArray[Any]) -> Floats:
    """Times as floats: datetimes in microseconds."""
    return (times.astype(np.int64) if times.dtype.kind == "M" else times).astype(np.float64)


def of_floats(times: Floats, time_type: np.dtype[Any]) -> NDArray[Any]:
    """Times of such floats."""
    whole = times.astype(np.int64) if time_type.kind == "M" else times
    return whole.astype(time_type)


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
        self.skip()  # checkpoints are not multiples of a number of rows
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
                f"record_every has {n_periods:,} periods of {self.period} from "
                f"{times[0]} to {times[-1]}: choose a longer one."
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


def joined_values(first: Values, second: Values) -> Values:
    """Values at some checkpoints, then at those that follow."""
    if not first:
        return second
    return {
        forgetting: {
            metric: [
                np.concatenate(parts)
                for parts in zip(first[forgetting][metric], values, strict=True)
            ]
            for metric, values in by_metric.items()
        }
        for forgetting, by_metric in second.items()
    }


def columns_of(values: Values) -> list[Floats]:
    """All columns, in their order: by mechanism, measure and model."""
    return [
        column
        for by_metric in values.values()
        for of_models in by_metric.values()
        for column in of_models
    ]
