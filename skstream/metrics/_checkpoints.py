"""Values of the measures at checkpoints of a stream."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._rows import Floats

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
    """

    checkpoints: NDArray[np.int64]
    values: dict[str, dict[str, Floats]]

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
        )

    @classmethod
    def of(cls, checkpoints: NDArray[np.int64], columns: Floats, like: Values) -> Self:
        """Curves of columns that stand in the order of some values; read-only."""
        checkpoints.flags.writeable = columns.flags.writeable = False
        n_tables = sum(map(len, like.values()))
        n_models = len(columns) // n_tables
        rest = iter(columns.reshape(n_tables, n_models, len(checkpoints)))
        values = {f: {metric: next(rest).T for metric in tables} for f, tables in like.items()}
        return cls(checkpoints=checkpoints, values=values)


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
