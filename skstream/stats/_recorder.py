"""Recorder of a curve at checkpoints, of limited size."""

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from skstream.stats._checks import FloatArray

MOST_CHECKPOINTS = 1024


class CurveRecorder:
    """Keeps the values of a curve at checkpoints and at the last row.

    Which rows are kept depends on the number of rows, never on how they were divided into calls.

    Parameters
    ----------
    record_every : int or None
        Keep every row whose number is a multiple of this. None keeps at most 1,024 rows: the
        interval doubles whenever they would become more.
    """

    def __init__(self, record_every: int | None) -> None:
        if record_every is not None and not (
            isinstance(record_every, Integral) and record_every >= 1
        ):
            raise ValueError(
                f"record_every must be a positive integer or None. Got {record_every!r} instead."
            )
        self._thins = record_every is None
        self._interval = 1 if record_every is None else int(record_every)
        self._blocks: list[FloatArray] = []
        self._last: FloatArray | None = None
        self.n_rows = 0

    def record(self, *columns: FloatArray) -> None:
        """Take the values of the next rows, one array of equal length per quantity."""
        block = np.column_stack(columns)
        if not len(block):
            return
        before, self.n_rows = self.n_rows, self.n_rows + len(block)
        if self._thins:
            self._thin()
        first = self._interval - 1 - before % self._interval
        self._blocks.append(block[first :: self._interval].copy())
        self._last = block[-1].copy()

    def _thin(self) -> None:
        # One place is reserved for the last row, which need not be a multiple of the interval.
        while self.n_rows // self._interval > MOST_CHECKPOINTS - 1:
            self._interval *= 2
            self._blocks = [np.concatenate(self._blocks)[1::2]] if self._blocks else []

    def curve(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the rows kept, counted from 1, and their values, one column per quantity.

        Raises
        ------
        ValueError
            If nothing was recorded yet.
        """
        if self._last is None:
            raise ValueError("No rows were compared yet; call update with their losses first.")
        values = np.concatenate(self._blocks)
        rows = np.arange(1, len(values) + 1, dtype=np.int64) * self._interval
        if self.n_rows % self._interval:
            rows = np.append(rows, self.n_rows)
            values = np.vstack([values, self._last])
        return rows, values
