"""Columns that measures of probabilities make of the scores of every row, once for all mechanisms.

A column reads rows in their order. What it makes of a row may depend on the rows before it, such as
a threshold that was the best so far, but never on a later one, nor on the forgetting.
"""

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from skstream.metrics._rows import UNANSWERED, Array, Derived, Floats, Integers, ScoredRows


class Column(Hashable, Protocol):
    """Makes arrays of the rows of one model; compares equal to another one of the same parameters.

    Attributes
    ----------
    n_outputs : int
        Number of arrays, each of shape (n_rows,).
    of_labels : bool
        Whether it reads labels alone: all labelled rows, scored or not, and the same for all
        models.
    follows : bool
        Whether a row's values depend on the rows before.
    """

    n_outputs: ClassVar[int]
    of_labels: ClassVar[bool]
    follows: ClassVar[bool]

    def start(self, n_classes: int) -> Any:
        """Return the state before the first row; it is never written into."""

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, ...], Any]:
        """Return the arrays of the next rows, and the state after them."""


@dataclass(frozen=True)
class OfColumn:
    """A kind of elementary series: an output of a column, perhaps divided by the code in another.

    Attributes
    ----------
    column : Column
        Where its values come from.
    output : int, default=0
        Which of the column's arrays is summed.
    by : int, default=None
        Which of them says to which series of the kind each row belongs.
    n_codes : int, default=1
        Number of series of the kind.
    """

    column: Column
    output: int = 0
    by: int | None = None
    n_codes: int = 1

    by_class: ClassVar[bool] = False
    baseline: ClassVar[None] = None

    @property
    def of_labels(self) -> bool:
        """Whether it depends on labels and weights alone."""
        return self.column.of_labels

    def values(self, rows: ScoredRows, code: int) -> Array:
        """Return its values in the rows of one model, before weighting."""
        assert rows.derived is not None, "the caller makes the columns that its series need"
        arrays = rows.derived[self.column]
        values: Array = arrays[self.output][0]
        if self.by is None:
            return values
        here = arrays[self.by][0] == code
        return here & values if values.dtype == bool else np.where(here, values, 0.0)


class ColumnStates:
    """The columns of some models that are scored on the same rows; a copy is independent.

    Parameters
    ----------
    columns : iterable of Column
        What is made of the rows.
    n_classes : int
        Number of classes.
    n_models : int
        Number of models.
    """

    def __init__(self, columns: Iterable[Column], n_classes: int, n_models: int) -> None:
        self.n_classes = n_classes
        self.states = {column: [column.start(n_classes)] * n_models for column in columns}

    def read(self, rows: ScoredRows, scored: Integers | None) -> Derived:
        """Return the columns of the next rows; of rows that are not scored they hold anything."""
        derived: dict[Hashable, tuple[Array, ...]] = {}
        for column, states in self.states.items():
            if column.of_labels:
                arrays, after = column.read(rows, states[0])
                derived[column] = tuple(
                    np.broadcast_to(array, (len(states), len(rows))) for array in arrays
                )
                self.states = {**self.states, column: [after] * len(states)}
            else:
                derived[column] = self._of_answers(column, rows, scored)
        return derived

    def _of_answers(
        self, column: Column, rows: ScoredRows, scored: Integers | None
    ) -> tuple[Array, ...]:
        lines, after = [], []
        for number, state in enumerate(self.states[column]):
            one = rows.model(number)
            one = one if scored is None else one[scored]
            arrays, state = _of_scores(column, one, state, self.n_classes)
            lines.append([_placed(array, scored, len(rows)) for array in arrays])
            after.append(state)
        self.states = {**self.states, column: after}
        if len(lines) == 1:
            return tuple(array[np.newaxis] for array in lines[0])
        return tuple(np.stack(of_models) for of_models in zip(*lines, strict=True))

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = self.copy()
        twin.states = {c: [states[n] for n in numbers] for c, states in self.states.items()}
        return twin

    def copy(self) -> Self:
        """Return a copy that can read on independently: states are replaced, not written into."""
        return copy(self)


def _placed(array: Array, scored: Integers | None, n_rows: int) -> Array:
    """Values of scored rows in an array of all rows."""
    if scored is None:
        return array
    placed = np.zeros(n_rows, dtype=array.dtype)
    placed[scored] = array
    return placed


def _of_scores(
    column: Column, rows: ScoredRows, state: Any, n_classes: int
) -> tuple[Sequence[Array], Any]:
    """Return the arrays of a column, NaN in rows whose model has no scores."""
    missing = np.isnan(rows.s[:, 0])
    if not missing.any():
        return column.read(rows, state)
    unanswered = missing & (rows.p == UNANSWERED)
    filled = rows.models(slice(None))
    filled.scores = rows.s.copy()[np.newaxis]
    filled.scores[0, unanswered] = _all_wrong(rows.y[unanswered], n_classes)
    known = np.flatnonzero(~missing | unanswered)
    arrays, state = column.read(filled[known], state)
    if len(known) == len(rows):
        return arrays, state
    tables = []
    for array in arrays:
        table = np.full(len(rows), np.nan)
        table[known] = array
        tables.append(table)
    return tables, state


def _all_wrong(y: Array, n_classes: int) -> Floats:
    """Scores of rows without an answer, which count as wrong: all others, equally probable."""
    if n_classes <= 2:
        return np.where(y == 0, n_classes - 1.0, 0.0)[:, np.newaxis]
    scores = np.full((len(y), n_classes), 1.0 / (n_classes - 1))
    scores[np.arange(len(y)), y] = 0.0
    return scores
