"""Checked rows of the stream, and the buffer that collects them into blocks."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.metrics._columns import NOTHING, UNANSWERED, Array, Floats
from skstream.utils._masked import refuse_masked

#: Marks rows whose previous label is the label of the row before.
NOT_GIVEN = -2
NOT_GIVEN_TARGET = np.inf


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Rows that are finished in every model, in the order of their labels, for the measures.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Codes of the labels, `NOTHING` for none; or targets, NaN for none.
    answers : ndarray of shape (n_models, n_rows)
        Answers in the same form: `NOTHING` or NaN where a model was not asked or had failed,
        `UNANSWERED` where it was asked and gave none. A model that is measured in several ways,
        such as in the bins of a delay, has as many consecutive lines.
    weight : ndarray of shape (n_rows,), or None
        Scoring weights; None where all are 1.
    previous : ndarray of shape (n_rows,), or None
        Answers of the persistent baseline; None where they are the labels of the row before.
    """

    y: Array
    answers: Array
    weight: Floats | None = None
    previous: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "ScoredRows":
        return ScoredRows(
            self.y[rows],
            self.answers[:, rows],
            None if self.weight is None else self.weight[rows],
            None if self.previous is None else self.previous[rows],
        )


class Rows:
    """Consecutive rows of the stream.

    Parameters
    ----------
    y, p : ndarray of shape (n,)
        Codes, `NOTHING` for none; or targets, NaN for none.
    weight : ndarray of shape (n,), or None
        Scoring weights; None where all are 1.
    previous : ndarray of shape (n,), or None
        Answers of the persistent baseline; None where they are the labels before.
    """

    __slots__ = ("p", "previous", "weight", "y")

    def __init__(
        self, y: Array, p: Array, weight: Floats | None = None, previous: Array | None = None
    ) -> None:
        self.y = y
        self.p = p
        self.weight = weight
        self.previous = previous

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "Rows":
        return Rows(
            self.y[rows],
            self.p[rows],
            None if self.weight is None else self.weight[rows],
            None if self.previous is None else self.previous[rows],
        )

    @classmethod
    def checked(
        cls,
        y: ArrayLike,
        p: ArrayLike,
        weight: ArrayLike | None,
        previous: ArrayLike | None,
        classes: Array | None,
        first_row: int,
    ) -> Self:
        """Rows from a caller; errors name the parameter, the row and what came."""
        given = {"y": y, "p": p, "weight": weight, "previous": previous}
        for name, values in given.items():
            refuse_masked(values, name)
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise ValueError(f"y must be one-dimensional. Got shape {labels.shape} instead.")
        columns = {"y": labels, "p": np.asarray(p)}
        if previous is not None:
            columns["previous"] = np.asarray(previous)
        weights = None if weight is None else np.asarray(weight, dtype=np.float64)
        for name, column in [*columns.items(), ("weight", weights)]:
            if column is not None and column.shape != labels.shape:
                raise ValueError(
                    f"{name} must have the shape of y, {labels.shape}. Got {column.shape} instead."
                )
        if weights is not None:
            _check_weights(weights, first_row)
        checked = {
            name: _as_targets(name, column, first_row)
            if classes is None
            else _as_codes(name, column, len(classes), first_row)
            for name, column in columns.items()
        }
        return cls(checked["y"], checked["p"], weights, checked.get("previous"))


def code_dtype(n_classes: int) -> np.dtype[Any]:
    """Smallest type that holds all codes and the marks below zero."""
    return np.min_scalar_type(-n_classes - 2)


def _as_codes(name: str, column: Array, n_classes: int, first_row: int) -> Array:
    if column.dtype.kind not in "iu" and len(column):
        raise ValueError(
            f"{name} must hold integer codes of the classes. Got dtype {column.dtype} instead; "
            "encode labels with numpy.searchsorted(classes, labels)."
        )
    lowest = UNANSWERED if name == "p" else NOTHING
    if len(column) and (column.min() < lowest or column.max() >= n_classes):
        row = int(np.flatnonzero((column < lowest) | (column >= n_classes))[0])
        raise ValueError(
            f"{name}[{row}] (row {first_row + row} of the stream) is {column[row]}. Codes of "
            f"{n_classes} classes are -1 (none) to {n_classes - 1}."
        )
    return column.astype(code_dtype(n_classes), copy=False)


def _as_targets(name: str, column: Array, first_row: int) -> Floats:
    targets = column.astype(np.float64, copy=False)
    if np.isinf(targets).any():
        row = int(np.flatnonzero(np.isinf(targets))[0])
        raise ValueError(
            f"{name}[{row}] (row {first_row + row} of the stream) is infinite. Clip targets and "
            "answers to finite numbers; use NaN for none."
        )
    return targets


def _check_weights(weights: Floats, first_row: int) -> None:
    valid = (weights >= 0.0) & (weights < np.inf)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(
            f"weight[{row}] (row {first_row + row} of the stream) is {weights[row]}. Weights "
            "must be finite and not negative; 0 leaves a row out."
        )


class Waiting:
    """Buffer of rows until a block is full.

    Parameters
    ----------
    size : int
        Rows in a block.
    n_classes : int or None
        Number of classes; None for regression.
    """

    def __init__(self, size: int, n_classes: int | None) -> None:
        dtype = np.dtype(np.float64) if n_classes is None else code_dtype(n_classes)
        self.not_given = NOT_GIVEN_TARGET if n_classes is None else NOT_GIVEN
        self.n = 0
        self._y = np.empty(size, dtype)
        self._p = np.empty(size, dtype)
        self._weight: Floats | None = None
        self._previous: Array | None = None

    def append(self, rows: Rows) -> None:
        """Add rows; the block must have space for them."""
        here = slice(self.n, self.n + len(rows))
        self._y[here] = rows.y
        self._p[here] = rows.p
        # Columns given for only some of the rows get default values for the others.
        if rows.weight is not None and self._weight is None:
            self._weight = np.ones(len(self._y))
        if self._weight is not None:
            self._weight[here] = 1.0 if rows.weight is None else rows.weight
        if rows.previous is not None and self._previous is None:
            self._previous = np.full_like(self._y, self.not_given)
        if self._previous is not None:
            self._previous[here] = self.not_given if rows.previous is None else rows.previous
        self.n += len(rows)

    def rows(self) -> Rows:
        """Return the buffered rows, as views."""
        return Rows(
            self._y[: self.n],
            self._p[: self.n],
            None if self._weight is None else self._weight[: self.n],
            None if self._previous is None else self._previous[: self.n],
        )

    def clear(self) -> None:
        """Empty the buffer."""
        self.n = 0
        self._weight = self._previous = None
