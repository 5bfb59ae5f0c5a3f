"""Rows of the stream with the answers of all models, and the buffer that collects them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.utils._rows import joined_weights

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Derived = Mapping[Hashable, tuple[Array, ...]]

#: Marks rows whose previous label is the label of the row before.
NOT_GIVEN = -2
NOT_GIVEN_TARGET = np.inf


class Sets(NamedTuple):
    """How rows are divided into sets, each scored on its own at a checkpoint.

    Attributes
    ----------
    ends : ndarray of shape (n_sets,), dtype intp
        Number of rows up to the end of each set.
    checkpoints : ndarray of shape (n_sets,), dtype int64
        Rows of the stream that had come.
    """

    ends: Integers
    checkpoints: NDArray[np.int64]


@dataclass(slots=True, eq=False, repr=False)
class ScoredRows:
    """Rows in the order of their labels, with the answers of all models.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Codes of the labels, `NO_LABEL` for none; or targets, NaN for none.
    answers : ndarray of shape (n_models, n_rows)
        Answers in the same form: `NO_LABEL` or NaN where a model was not asked or had failed,
        `UNANSWERED` where it was asked and gave none. A model that is measured in several ways,
        such as in the bins of a delay, has as many consecutive lines.
    weight : ndarray of shape (n_rows,), default=None
        Scoring weights; None where all are 1.
    previous : ndarray of shape (n_rows,), default=None
        Answers of the persistent baseline; None where they are the labels of the row before.
    majority, inclusive : ndarray of shape (n_rows,), default=None
        Answer of the majority baseline before the row's label (`NO_LABEL` where none was known),
        and its answer including that label; set by the mechanisms of forgetting, unless given.
    sets : Sets, default=None
        Of rows that come in sets; a part of the rows has none.
    scores : ndarray of shape (n_models, n_rows, n_columns), dtype float64, default=None
        Probabilities or decision values beside the answers. Of at most two classes one column, that
        of the second class (0 where there is only one class); else one column per class. NaN where
        a model was not asked, gave no answer, or has none. None where no measure needs them.
    derived : dict of Column to tuple of ndarray, default=None
        What measures of probabilities have made of the scores: see `core.measures.series`.
        Arrays of shape (n_models, n_rows).
    row : ndarray of shape (n_rows,), dtype int64, default=None
        Numbers of the rows in the stream, for the tape; None where they come in their order.
    time : ndarray of shape (n_rows,), dtype datetime64[us] or float64, default=None
        When the rows came, or with delayed labels, when their labels became known; not decreasing.
    now : ndarray of shape (n_ends,), default=None
        Times of the checkpoints among these rows; a part of the rows has none.
    """

    y: Array
    answers: Array
    weight: Floats | None = None
    previous: Array | None = None
    majority: Array | None = None
    inclusive: Array | None = None
    sets: Sets | None = None
    scores: Floats | None = None
    derived: Derived | None = None
    row: NDArray[np.int64] | None = None
    time: Array | None = None
    now: Array | None = None
    _wrong: NDArray[np.bool_] | None = field(default=None, init=False)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice | Integers) -> ScoredRows:
        part = ScoredRows(self.y[rows], self.answers[:, rows])
        for name in ("weight", "previous", "majority", "inclusive", "row", "time"):
            column = getattr(self, name)
            if column is not None:
                setattr(part, name, column[rows])
        if self.scores is not None:
            part.scores = self.scores[:, rows]
        if self.derived is not None:
            part.derived = _parts(self.derived, (slice(None), rows))
        return part

    def models(self, models: slice | Integers | list[int]) -> ScoredRows:
        """Return the same rows with the answers of some of the models; of none: the labels."""
        return ScoredRows(
            self.y,
            self.answers[models],
            self.weight,
            self.previous,
            self.majority,
            self.inclusive,
            scores=None if self.scores is None else self.scores[models],
            derived=None if self.derived is None else _parts(self.derived, models),
            time=self.time,
        )

    def copy(self) -> ScoredRows:
        """Return these rows with memory of their own."""
        return self[np.arange(len(self))]

    def after(self, earlier: ScoredRows | None) -> ScoredRows:
        """Return earlier rows of the same models, which have the same columns, then these."""
        if earlier is None or not len(earlier):
            return self
        if not len(self):  # which has perhaps not all columns
            return earlier
        joined = ScoredRows(
            np.concatenate((earlier.y, self.y)),
            np.concatenate((earlier.answers, self.answers), axis=1),
            joined_weights((earlier.weight, len(earlier)), (self.weight, len(self))),
        )
        for name in ("previous", "majority", "inclusive", "scores", "time"):
            first, second = getattr(earlier, name), getattr(self, name)
            if first is not None and second is not None:
                setattr(joined, name, np.concatenate((first, second), axis=int(name == "scores")))
        if earlier.derived is not None and self.derived is not None:
            joined.derived = {
                column: tuple(
                    np.concatenate(pair, axis=1)
                    for pair in zip(earlier.derived[column], tables, strict=True)
                )
                for column, tables in self.derived.items()
            }
        return joined

    @property
    def p(self) -> Array:
        """Answers of the first model."""
        return self.answers[0]

    @property
    def s(self) -> Floats:
        """Scores of the first model, shape (n_rows, n_columns)."""
        assert self.scores is not None, "only measures that need scores request them"
        return self.scores[0]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether each answer of the first model differs from the label."""
        if self._wrong is None:
            self._wrong = self.y != self.answers[0]
        return self._wrong


def _parts(derived: Derived, part: Any) -> Derived:
    return {column: tuple(table[part] for table in tables) for column, tables in derived.items()}


class Waiting:
    """Buffer of rows that are read together once it is full.

    Parameters
    ----------
    size : int
        Rows in a full buffer.
    dtype : dtype
        Type of the codes or targets.
    n_models : int
        Number of models.
    """

    def __init__(self, size: int, dtype: np.dtype[Any], n_models: int) -> None:
        self.n, self.size = 0, size
        self._y, self._answers = np.empty(size, dtype), np.empty((n_models, size), dtype)
        not_given = NOT_GIVEN_TARGET if dtype.kind == "f" else NOT_GIVEN
        #: What rows have in a column that only others bring.
        self._defaults = {"weight": 1.0, "previous": not_given, "scores": np.nan, "time": 0}
        self.size = size
        self._columns: dict[str, Array] = {}

    def append(self, rows: ScoredRows) -> None:
        """Add rows; the buffer must have space for them."""
        here = slice(self.n, self.n + len(rows))
        self._y[here] = rows.y
        self._answers[:, here] = rows.answers
        for name, default in self._defaults.items():
            given = getattr(rows, name)
            if given is None and name not in self._columns:
                continue
            axis = int(name == "scores")
            if name not in self._columns:
                shape = (*given.shape[:axis], len(self._y), *given.shape[axis + 1 :])
                self._columns[name] = np.full(shape, default, given.dtype)
            column = self._columns[name]
            (column[:, here] if axis else column[here])[...] = default if given is None else given
        self.n += len(rows)

    def rows(self) -> ScoredRows:
        """Return the buffered rows, as views."""
        rows = ScoredRows(self._y[: self.n], self._answers[:, : self.n])
        for name, column in self._columns.items():
            setattr(rows, name, column[:, : self.n] if name == "scores" else column[: self.n])
        return rows

    def clear(self) -> None:
        """Empty the buffer."""
        self.n, self._columns = 0, {}
