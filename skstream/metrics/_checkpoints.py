"""Where the measures are taken, and what was found there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._columns import Floats

Values = dict[str, dict[str, Floats]]

#: Most checkpoints of a curve whose interval doubles.
MAX_CHECKPOINTS = 1024


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Measures at checkpoints.

    Attributes
    ----------
    n_rows : ndarray of shape (n_checkpoints,), dtype int64
        Rows of the stream read at each checkpoint, increasing; the last row is always one.
    values : dict of str to dict of str to ndarray
        ``values[forgetting][metric]``, shape (n_checkpoints,): NaN where it is undefined.
    """

    n_rows: NDArray[np.int64]
    values: Values


class Recorder:
    """Keeps values at checkpoints: every so many rows, or at most `MAX_CHECKPOINTS` of them.

    Parameters
    ----------
    record_every : int or None
        Distance of the checkpoints. None: a power of two that depends on the number of rows
        read so far alone.
    forgetting, metrics : list of str
        What is recorded.
    """

    def __init__(self, record_every: int | None, forgetting: list[str], metrics: list[str]) -> None:
        self.record_every = record_every
        self.n_rows = [np.empty(0, dtype=np.int64)]
        self.values = {f: {m: [np.empty(0)] for m in metrics} for f in forgetting}
        self.interval = record_every or 1
        self.last = 0

    def due(self, first: int, last: int) -> NDArray[np.int64]:
        """Checkpoints after row `first` and up to `last` that remain once `last` is reached."""
        interval = self._interval_at(last)
        return np.arange(first // interval + 1, last // interval + 1, dtype=np.int64) * interval

    def _interval_at(self, n_rows: int) -> int:
        if self.record_every is not None:
            return self.record_every
        interval = self.interval
        while n_rows // interval >= MAX_CHECKPOINTS:  # one more may be needed for the last row
            interval *= 2
        return interval

    def record(self, n_rows: NDArray[np.int64], values: Values) -> None:
        """Keep values."""
        if len(n_rows):
            self.last = int(n_rows[-1])
            self.n_rows.append(n_rows)
            for forgetting, by_metric in values.items():
                for metric, array in by_metric.items():
                    self.values[forgetting][metric].append(array)

    def thin(self, n_read: int) -> None:
        """Drop the checkpoints that the interval has outgrown after so many rows."""
        interval = self._interval_at(n_read)
        if interval == self.interval:
            return
        self.interval = interval
        joined = np.concatenate(self.n_rows)
        kept = joined % interval == 0
        self.n_rows = [joined[kept]]
        for by_metric in self.values.values():
            for metric, arrays in by_metric.items():
                by_metric[metric] = [np.concatenate(arrays)[kept]]

    def curves(self, n_rows: NDArray[np.int64], values: Values, n_read: int) -> Curves:
        """Return what was kept and then further values, as they stand after so many rows."""
        joined = np.concatenate([*self.n_rows, n_rows])
        interval = self._interval_at(n_read)
        kept: slice | NDArray[np.bool_] = slice(None)
        if interval != self.interval:
            newest = np.arange(len(joined)) >= len(joined) - len(n_rows)
            kept = newest | (joined % interval == 0)
        return Curves(
            n_rows=joined[kept],
            values={
                forgetting: {
                    metric: np.concatenate([*arrays, values[forgetting][metric]])[kept]
                    for metric, arrays in by_metric.items()
                }
                for forgetting, by_metric in self.values.items()
            },
        )
