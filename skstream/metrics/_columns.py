"""Scored rows as columns, and the elementary series whose running means make the measures."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

#: Codes of a row without label, answer or past; regression uses NaN.
NOTHING = -1
#: Code of a row that was asked and got no answer, which counts as a wrong one.
UNANSWERED = -2


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
        Answer of the majority baseline before the row's label (`NOTHING` where no label was known),
        and its answer including that label.
    """

    __slots__ = ("_wrong", "inclusive", "majority", "p", "previous", "weight", "y")

    def __init__(
        self,
        y: Array,
        p: Array,
        weight: Floats | None = None,
        previous: Array | None = None,
        majority: Array | None = None,
        inclusive: Array | None = None,
    ) -> None:
        self.y = y
        self.p = p
        self.weight = weight
        self.previous = previous
        self.majority = majority
        self.inclusive = inclusive
        self._wrong: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "Columns":
        return self._map(lambda array: array[rows])

    def copy(self) -> "Columns":
        """Return these rows with memory of their own."""
        return self._map(np.copy)

    def _map(self, function: Callable[[Array], Array]) -> "Columns":
        def optional(array: Array | None) -> Array | None:
            return None if array is None else function(array)

        return Columns(
            function(self.y),
            function(self.p),
            optional(self.weight),
            optional(self.previous),
            optional(self.majority),
            optional(self.inclusive),
        )

    def following(self, earlier: "Columns | None") -> "Columns":
        """Return earlier rows, which have the same columns, followed by these."""
        if earlier is None or not len(earlier):
            return self
        return Columns(
            np.concatenate((earlier.y, self.y)),
            np.concatenate((earlier.p, self.p)),
            joined_weights([earlier, self]),
            _joined(earlier.previous, self.previous),
            _joined(earlier.majority, self.majority),
            _joined(earlier.inclusive, self.inclusive),
        )

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


def _joined(first: Array | None, second: Array | None) -> Array | None:
    return None if first is None or second is None else np.concatenate((first, second))


def joined_weights(pieces: Sequence[Columns]) -> Floats | None:
    """Weights of several pieces; where only some have any, 1 is written out for the others."""
    if all(piece.weight is None for piece in pieces):
        return None
    return np.concatenate([np.ones(len(c)) if c.weight is None else c.weight for c in pieces])


def _known(baseline: Array | None) -> tuple[Array, NDArray[np.bool_] | None]:
    """Answers of a baseline, and where it has one; None: everywhere."""
    assert baseline is not None, "the caller sets the baselines that its series need"
    known = ~np.isnan(baseline) if baseline.dtype.kind == "f" else baseline != NOTHING
    return baseline, None if known.all() else known


def _baseline_wrong(columns: Columns, baseline: Array | None) -> Array:
    answers, known = _known(baseline)
    wrong: Array = columns.y != answers
    return wrong if known is None else wrong & known


def _wrong_beside(columns: Columns, baseline: Array | None) -> Array:
    _, known = _known(baseline)
    # The same object if all is known: its sums are then computed only once.
    return columns.wrong if known is None else columns.wrong & known


def _hit(columns: Columns, code: int) -> Array:
    hit: Array = (columns.y == code) & ~columns.wrong
    return hit


def _squared_error(columns: Columns, _: int) -> Array:
    error: Array = columns.y - columns.p
    return error * error


def _persistent_error(columns: Columns, _: int) -> Array:
    forecasts, known = _known(columns.previous)
    error = columns.y - forecasts
    return error * error if known is None else np.where(known, error * error, 0.0)


def _error_beside_persistent(columns: Columns, code: int) -> Array:
    _, known = _known(columns.previous)
    error = _squared_error(columns, code)
    return error if known is None else np.where(known, error, 0.0)


_VALUES: dict[str, Callable[[Columns, int], Array]] = {
    "rows": lambda c, _: np.ones(len(c), dtype=bool),
    # Times its weight, as every value: the square. Forgetting squares its own weights, too.
    "squared_weights": lambda c, _: np.ones(len(c), dtype=bool) if c.weight is None else c.weight,
    "wrong": lambda c, _: c.wrong,
    "label": lambda c, code: c.y == code,
    "answer": lambda c, code: c.p == code,
    "hit": _hit,
    # A row without a previous label is left out of the errors of the baseline and of the model.
    "persistent_wrong": lambda c, _: _baseline_wrong(c, c.previous),
    "wrong_beside_persistent": lambda c, _: _wrong_beside(c, c.previous),
    "majority_wrong": lambda c, _: _baseline_wrong(c, c.majority),
    "wrong_beside_majority": lambda c, _: _wrong_beside(c, c.majority),
    "inclusive_wrong": lambda c, _: _baseline_wrong(c, c.inclusive),
    "absolute_error": lambda c, _: np.abs(c.y - c.p),
    "squared_error": _squared_error,
    "persistent_error": _persistent_error,
    "error_beside_persistent": _error_beside_persistent,
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
#: Series that do not depend on the answers.
LABEL_ONLY = frozenset(
    {
        "rows",
        "squared_weights",
        "label",
        "persistent_wrong",
        "majority_wrong",
        "inclusive_wrong",
        "target_spread",
        "target_moments",
        "persistent_error",
    }
)
#: Series that need the labels before a row, also across the border of two parts of a stream.
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
