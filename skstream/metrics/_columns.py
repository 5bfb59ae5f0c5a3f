"""Scored rows as columns, and the elementary series whose running means make the measures."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

#: Codes of a row without label, answer or past; regression uses NaN.
NOTHING = -1


class Series(NamedTuple):
    """An elementary series: its kind and, for kinds that have one series per class, the class."""

    kind: str
    code: int = NOTHING


class Columns:
    """Consecutive scored rows.

    Parameters
    ----------
    y, p : ndarray of shape (n,)
        Labels and answers: codes, or targets.
    weight : ndarray of shape (n,), or None
        Scoring weights, all positive; None where all are 1.
    previous : ndarray of shape (n,), or None
        Label that preceded each row, `NOTHING` or NaN where none did.
    majority, inclusive : ndarray of shape (n,), or None
        What the majority baseline answered before it saw the row's label (`NOTHING` where it
        knew no label), and what it would have answered after.
    centre : float, default=0.0
        Origin from which targets are measured, so that their spread is not lost in rounding.
    """

    __slots__ = ("_wrong", "centre", "inclusive", "majority", "p", "previous", "weight", "y")

    def __init__(
        self,
        y: Array,
        p: Array,
        weight: Floats | None = None,
        previous: Array | None = None,
        majority: Array | None = None,
        inclusive: Array | None = None,
        centre: float = 0.0,
    ) -> None:
        self.y = y
        self.p = p
        self.weight = weight
        self.previous = previous
        self.majority = majority
        self.inclusive = inclusive
        self.centre = centre
        self._wrong: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice) -> "Columns":
        return Columns(*(None if a is None else a[rows] for a in self._arrays()), self.centre)

    def _arrays(self) -> tuple[Array | None, ...]:
        return self.y, self.p, self.weight, self.previous, self.majority, self.inclusive

    def following(self, earlier: "Columns | None") -> "Columns":
        """These rows behind earlier ones; weights of 1 are written out where only one has any."""
        if earlier is None or not len(earlier):
            return self
        pairs = list(zip(earlier._arrays(), self._arrays(), strict=True))
        if (earlier.weight is None) != (self.weight is None):
            pairs[2] = (_ones_if_none(earlier), _ones_if_none(self))
        return Columns(*(None if b is None else np.concatenate((a, b)) for a, b in pairs))

    def copy(self) -> "Columns":
        """These rows with memory of their own."""
        return Columns(*(None if a is None else a.copy() for a in self._arrays()), self.centre)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether each answer differs from the label."""
        if self._wrong is None:
            self._wrong = self.y != self.p
        return self._wrong

    def series(self, series: Series) -> Array:
        """Values of an elementary series: bool where all weights are 1 and it is 0/1."""
        values = _VALUES[series.kind](self, series.code)
        if self.weight is None:
            return values
        return self.weight * values

    def total(self, series: Series) -> float:
        """Sum of an elementary series over these rows."""
        values = self.series(series)
        return float(np.count_nonzero(values) if values.dtype == bool else values.sum())


def _ones_if_none(columns: Columns) -> Floats:
    return np.ones(len(columns)) if columns.weight is None else columns.weight


def _rows(columns: Columns, _: int) -> Array:
    return np.ones(len(columns), dtype=bool)


def _wrong(columns: Columns, _: int) -> Array:
    return columns.wrong


def _label(columns: Columns, code: int) -> Array:
    return columns.y == code


def _answer(columns: Columns, code: int) -> Array:
    return columns.p == code


def _hit(columns: Columns, code: int) -> Array:
    return (columns.y == code) & ~columns.wrong


def _wrong_where(columns: Columns, baseline: Array) -> Array:
    known = baseline != NOTHING
    # The very same array where all is known: its sums are then computed only once.
    return columns.wrong if known.all() else columns.wrong & known


def _baseline_wrong(columns: Columns, baseline: Array) -> Array:
    wrong = columns.y != baseline
    known = baseline != NOTHING
    return wrong if known.all() else wrong & known


def _persistent_error(columns: Columns, _: int) -> Array:
    error = columns.y - columns.previous
    return np.where(np.isnan(error), 0.0, error * error)


def _squared_error(columns: Columns, _: int) -> Array:
    error = columns.y - columns.p
    return error * error


_VALUES: dict[str, Callable[[Any, int], Array]] = {
    "rows": _rows,
    "wrong": _wrong,
    "label": _label,
    "answer": _answer,
    "hit": _hit,
    # A row without a past is left out of a baseline's errors and of the model's beside them.
    "persistent_wrong": lambda c, _: _baseline_wrong(c, c.previous),
    "wrong_beside_persistent": lambda c, _: _wrong_where(c, c.previous),
    "majority_wrong": lambda c, _: _baseline_wrong(c, c.majority),
    "wrong_beside_majority": lambda c, _: _wrong_where(c, c.majority),
    "inclusive_wrong": lambda c, _: c.y != c.inclusive,
    "absolute_error": lambda c, _: np.abs(c.y - c.p),
    "squared_error": _squared_error,
    "target": lambda c, _: c.y - c.centre,
    "target_squared": lambda c, _: np.square(c.y - c.centre),
    "persistent_error": _persistent_error,
    "error_beside_persistent": lambda c, i: np.where(
        np.isnan(c.previous), 0.0, _squared_error(c, i)
    ),
}

CLASSWISE = frozenset({"label", "answer", "hit"})
NEEDS_PREVIOUS = frozenset(
    {
        "persistent_wrong",
        "wrong_beside_persistent",
        "persistent_error",
        "error_beside_persistent",
    }
)
NEEDS_MAJORITY = frozenset({"majority_wrong", "wrong_beside_majority"})
NEEDS_INCLUSIVE = frozenset({"inclusive_wrong"})
#: Series that look across the seam between two parts of a stream.
CROSSING = NEEDS_PREVIOUS | NEEDS_MAJORITY | NEEDS_INCLUSIVE


def expand(kinds: Iterable[str], n_classes: int) -> list[Series]:
    """All series of the given kinds."""
    series = []
    for kind in sorted(kinds):
        if kind in CLASSWISE:
            series += [Series(kind, code) for code in range(n_classes)]
        else:
            series.append(Series(kind))
    return series
