"""Columns that measures of probabilities make of the scores of every row, once for all mechanisms.

A column reads rows in their order. What it makes of a row may depend on the rows before it, such as
a threshold that was the best so far, but never on a later one, nor on the forgetting.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.rows import Array, Derived, Floats, Integers, ScoredRows
from skstream.utils._label_space import NO_LABEL, UNANSWERED


class Column(ABC):
    """Makes arrays of the rows of one model.

    Subclasses are frozen dataclasses of their parameters: those of the same parameters are equal,
    and are read once for all measures.

    Attributes
    ----------
    of_labels : bool
        Whether it reads labels alone: all labelled rows, scored or not, the same for all models.
    of_scores : bool
        Whether it reads scores, and not only answers.
    follows : bool
        Whether a row's values depend on the rows before.
    baseline : {"previous"} or None
        The baseline that it reads.
    takes_any_scores : bool
        Whether it reads decision values, too, and not probabilities alone.
    """

    of_labels: ClassVar[bool] = False
    of_scores: ClassVar[bool] = True
    takes_any_scores: ClassVar[bool] = False
    follows: ClassVar[bool] = False
    baseline: ClassVar[Literal["previous"] | None] = None

    def start(self, n_classes: int) -> Any:
        """Return the state before the first row, which is never written into."""
        return None

    @abstractmethod
    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, ...], Any]:
        """Return arrays of a value, or values of several classes, per row; and the state then."""


@dataclass(frozen=True)
class OfColumn:
    """A kind of elementary series: an array of a column, perhaps divided by the codes in another.

    Attributes
    ----------
    column : Column
        Where its values come from.
    output : int or None, default=0
        Which of the column's arrays is summed; None: rows are counted.
    by : int, default=None
        Which of them says to which series of the kind each row belongs.
    n_codes : int, default=1
        Number of codes there are.
    per_class : bool, default=False
        Whether the arrays have a column per class (of two, the second alone), each divided so.
    """

    column: Column
    output: int | None = 0
    by: int | None = None
    n_codes: int = 1
    per_class: bool = False

    by_class: ClassVar[bool] = False

    @property
    def of_labels(self) -> bool:
        """Whether it depends on labels and weights alone."""
        return self.column.of_labels

    @property
    def baseline(self) -> Literal["previous"] | None:
        """The baseline that it needs."""
        return self.column.baseline

    def codes(self, n_classes: int) -> Sequence[int]:
        """Return the codes of its series."""
        if self.by is None:
            return (NO_LABEL,)
        n_tables = n_classes if self.per_class and n_classes > 2 else 1
        return range(n_tables * self.n_codes)

    def values(self, rows: ScoredRows, code: int) -> Array:
        """Return its values in the rows of one model, before weighting."""
        assert rows.derived is not None, "the caller makes the columns that its series need"
        arrays = rows.derived[self.column]
        values = None if self.output is None else arrays[self.output][0]
        if self.by is None:
            assert values is not None
            whole: Array = values
            return whole
        codes = arrays[self.by][0]
        if self.per_class:
            number, code = divmod(code, self.n_codes)
            codes = codes[:, number]
            values = None if values is None else values[:, number]
        here: Array = codes == code
        chosen: Array = here
        if values is not None:
            chosen = here & values if values.dtype == bool else np.where(here, values, 0.0)
        if codes.dtype.kind == "f":  # some rows have no scores
            chosen = np.where(np.isnan(codes), np.nan, chosen)
        return chosen


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

    def read(
        self, rows: ScoredRows, scored: Integers | None, are_others: NDArray[np.bool_] | None = None
    ) -> Derived:
        """Return the columns of the next rows; of rows that are not scored they hold anything.

        Of models whose scores are no probabilities they are NaN, unless a column takes any scores.
        """
        if rows.scores is None and not len(rows):  # no row has come that could have some
            width = 1 if self.n_classes <= 2 else self.n_classes
            rows = rows.models(slice(None))
            rows.scores = np.empty((len(rows.answers), 0, width))
        hidden = rows
        if are_others is not None and are_others.any() and rows.scores is not None:
            hidden = rows.models(slice(None))
            hidden.scores = np.where(are_others[:, np.newaxis, np.newaxis], np.nan, rows.scores)
        derived: dict[Hashable, tuple[Array, ...]] = {}
        for column, states in self.states.items():
            if column.of_labels:
                arrays, after = column.read(rows, states[0])
                derived[column] = tuple(
                    np.broadcast_to(array, (len(states), len(rows))) for array in arrays
                )
                self.states = {**self.states, column: [after] * len(states)}
            else:
                shown = rows if column.takes_any_scores else hidden
                derived[column] = self._of_answers(column, shown, scored)
        return derived

    def _of_answers(
        self, column: Column, rows: ScoredRows, scored: Integers | None
    ) -> tuple[Array, ...]:
        lines, after = [], []
        for number, state in enumerate(self.states[column]):
            one = rows.model(number)
            one = one if scored is None else one[scored]
            arrays, state = read_scores(column, one, state, self.n_classes)
            lines.append([_placed(array, scored, len(rows)) for array in arrays])
            after.append(state)
        self.states = {**self.states, column: after}
        if len(lines) == 1:
            return tuple(array[np.newaxis] for array in lines[0])
        return tuple(np.stack(of_models) for of_models in zip(*lines, strict=True))

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = self.copy()
        copied.states = {c: [states[n] for n in numbers] for c, states in self.states.items()}
        return copied

    def copy(self) -> Self:
        """Return a copy that can read on independently: states are replaced, not written into."""
        return copy(self)


def _placed(array: Array, scored: Integers | None, n_rows: int) -> Array:
    """Values of scored rows in an array of all rows."""
    if scored is None:
        return array
    placed = np.zeros((n_rows, *array.shape[1:]), dtype=array.dtype)
    placed[scored] = array
    return placed


def read_scores(
    column: Column, rows: ScoredRows, state: Any, n_classes: int
) -> tuple[Sequence[Array], Any]:
    """Return the arrays of a column, NaN in rows whose model has no scores."""
    if not column.of_scores:
        return column.read(rows, state)
    missing = np.isnan(rows.s[:, 0])
    if not missing.any():
        return column.read(rows, state)
    unanswered = missing & (rows.p == UNANSWERED)
    filled = rows.models(slice(None))
    filled.scores = rows.s.copy()[np.newaxis]
    filled.scores[0, unanswered] = all_wrong(rows.y[unanswered], n_classes)
    known = np.flatnonzero(~missing | unanswered)
    arrays, state = column.read(filled[known], state)
    if len(known) == len(rows):
        return arrays, state
    tables = []
    for array in arrays:
        table = np.full((len(rows), *array.shape[1:]), np.nan)
        table[known] = array
        tables.append(table)
    return tables, state


def all_wrong(y: Array, n_classes: int) -> Floats:
    """Scores of rows without an answer, which count as wrong: all others, equally probable."""
    if n_classes <= 2:
        return np.where(y == 0, n_classes - 1.0, 0.0)[:, np.newaxis]
    scores = np.full((len(y), n_classes), 1.0 / (n_classes - 1))
    scores[np.arange(len(y)), y] = 0.0
    return scores
