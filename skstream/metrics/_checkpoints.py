"""Values of the measures at checkpoints of a stream."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._columns import Floats

Values = dict[str, dict[str, Floats]]


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

    @classmethod
    def of(cls, checkpoints: NDArray[np.int64], columns: Floats, like: Values) -> Self:
        """Curves of columns that stand in the order of some values; read-only."""
        checkpoints.flags.writeable = columns.flags.writeable = False
        rest = iter(columns)
        values = {f: {metric: next(rest) for metric in by_metric} for f, by_metric in like.items()}
        return cls(checkpoints=checkpoints, values=values)


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


def columns_of(values: Values) -> list[Floats]:
    """All columns, in their order."""
    return [column for by_metric in values.values() for column in by_metric.values()]
