"""Recorder of curves at checkpoints and at the last row."""

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from skstream.stats._checks import FloatArray
from skstream.utils._checkpoints import CheckpointRecorder


class CurveRecorder:
    """Keeps the values of curves at checkpoints and at the last row.

    Parameters
    ----------
    n_columns : int
        Number of curves.
    record_every : int or None
        Keep every row whose number is a multiple of this. None keeps at most 1,024 rows: the
        interval doubles whenever they would become more.
    """

    def __init__(self, n_columns: int, record_every: int | None) -> None:
        if record_every is not None and not (
            isinstance(record_every, Integral) and record_every >= 1
        ):
            raise ValueError(
                f"record_every must be a positive integer or None. Got {record_every!r} instead."
            )
        self._kept = CheckpointRecorder(n_columns, record_every)
        self._newest: list[float] = []
        self.n_rows = 0

    def record(self, *columns: FloatArray) -> None:
        """Take the values of the next rows, one array of equal length per curve."""
        if not len(columns[0]):
            return
        self._kept.follow(self.n_rows, *columns)
        self.n_rows += len(columns[0])
        self._newest = [column[-1] for column in columns]

    def curves(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the rows kept, counted from 1, and their values, of shape (n_columns, n_rows).

        Raises
        ------
        ValueError
            If nothing was recorded yet.
        """
        if not self.n_rows:
            raise ValueError("No rows were compared yet; call update with their losses first.")
        rows, values = self._kept.curves()
        if self._kept.last < self.n_rows:
            rows = np.append(rows, self.n_rows)
            values = np.column_stack((values, self._newest))
        return rows.copy(), values.copy()
