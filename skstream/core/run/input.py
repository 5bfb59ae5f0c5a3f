"""Labels and weights of the rows that enter a run."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstream.core.rows.chunk import Chunk
from skstream.utils._label_space import LabelSpace, is_given
from skstream.utils._labels import refuse_single
from skstream.utils._masked import unmasked
from skstream.utils._rows import take_rows


@dataclass(frozen=True)
class EncodedRows:
    """Rows of a chunk with encoded labels, for the engine.

    Attributes
    ----------
    X : container of shape (n_rows, n_features)
        Features as the user gave them.
    y : ndarray of shape (n_rows,)
        Codes (-1: no label) or targets (NaN: none).
    weight : ndarray of shape (n_rows,) or None
        The user's weights.
    time : ndarray of shape (n_rows,) or None
        When the rows came, where something counts time.
    came : ndarray of shape (n_rows,) or None
        When the rows came, as the user gave it.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    time: np.ndarray | None = None
    came: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def take(self, rows: slice | np.ndarray) -> Self:
        """Return some of the rows."""
        if isinstance(rows, slice) and len(self.y[rows]) == len(self.y):
            return self
        some: dict[str, Any] = {"X": take_rows(self.X, rows)}
        for name, column in vars(self).items():
            if name != "X" and column is not None:
                some[name] = column[rows]
        return replace(self, **some)


class MissingLabelError(ValueError):
    """A row without a label, where that is an error.

    Parameters
    ----------
    message : str
        What happened.
    row : int
        Number of the row in the stream.
    """

    def __init__(self, message: str, row: int = -1) -> None:
        super().__init__(message)
        self.row = row

    def add(self, place: str) -> None:
        """Let the message end with where the row is in its file, if that is known."""
        if place:
            mark = "its label is empty, or a mark of a gap, which nominal= reads as a label."
            self.args = (f"{self.args[0]} It is {place}: {mark}",)


def encoded(chunk: Chunk, space: LabelSpace, missing_labels: str, *, first_row: int) -> EncodedRows:
    """Encode the labels of a chunk; raises before anything is learnt."""
    codes = space.encode(chunk.y, first_row)
    if missing_labels == "error" and not (labelled := is_given(codes)).all():
        row = first_row + int(labelled.argmin())
        raise MissingLabelError(
            f"Row {row} has no label (None or NaN). A row without its label cannot be learnt or "
            'scored; drop it, or pass missing_labels="skip" to have it asked only.',
            row,
        )
    weight = chunk.meta.get("sample_weight")
    if weight is not None:
        weight = checked_weights(weight, lambda at: f"sample_weight of row {first_row + at}")
    return EncodedRows(chunk.X, codes, weight)


def encoded_labels(y: Any, space: LabelSpace) -> np.ndarray:
    """Encode labels or targets, none of which may be missing."""
    refuse_single(y, "y")
    codes = space.encode(y)
    given = is_given(codes)
    if not given.all():
        raise ValueError(f"Label {int(given.argmin())} of those given is missing (None or NaN).")
    return codes


def checked_weights(weight: Any, name: Callable[[int], str]) -> np.ndarray:
    """Return weights that are finite and not negative; `name` names a wrong one in the error."""
    values = np.asarray(unmasked(weight, numbers=True))
    try:
        weights: np.ndarray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        at = _first_no_number(values)
        value = values[at].item() if isinstance(values[at], np.generic) else values[at]
        raise ValueError(
            f"{name(at)} is {value!r}, which is no number; weights must be finite and not negative."
        ) from error
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"{name(at)} is {weights[at]}; weights must be finite and "
            "not negative (0: asked, but neither learnt nor scored)."
        )
    return weights


def why_no_weight(n_rows: int) -> str:
    """Say in a clause that no row has a weight above 0, and what that means."""
    return f"all {n_rows:,} weights are 0 (a row of weight 0 is neither learnt nor scored)."


def _first_no_number(values: Any) -> int:
    for at, value in enumerate(values):
        try:
            float(value)
        except (TypeError, ValueError):
            return at
    return 0
