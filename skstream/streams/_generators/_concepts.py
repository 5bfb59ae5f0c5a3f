"""Concepts that follow one another: their rows, and the drifts between them."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._drifts import Drift
from skstream.streams._generators._base import NumberedStream


def checked_change_rows(
    rows: Sequence[int] | None, n_concepts: int, n_rows: int | None
) -> tuple[int, ...]:
    """Return the first row of each concept but the first; equal parts where none are given."""
    if rows is None:
        if n_concepts > 1 and n_rows is None:
            raise ValueError(
                f"An endless stream of {n_concepts} concepts needs change_rows=: the first row of "
                f"each concept but the first."
            )
        return tuple(k * (n_rows or 0) // n_concepts for k in range(1, n_concepts))
    given = tuple(rows)
    if (
        len(given) != n_concepts - 1
        or not all(isinstance(row, Integral) for row in given)
        or any(after <= before for before, after in zip((0, *given), given, strict=False))
    ):
        raise ValueError(
            f"change_rows must be {n_concepts - 1} increasing row numbers >= 1, the first row of "
            f"each concept but the first. Got {rows!r} instead."
        )
    return tuple(int(row) for row in given)


def check_concepts(values: Any, name: str, allowed: range) -> tuple[int, ...]:
    """Return at least one integer of a range, one for each concept, or raise an error."""
    try:
        numbers = tuple(values)
    except TypeError:
        numbers = ()
    if not numbers or not all(isinstance(n, Integral) and int(n) in allowed for n in numbers):
        raise ValueError(
            f"{name} must be a sequence of integers from {allowed[0]} to {allowed[-1]}, one for "
            f"each concept. Got {values!r} instead."
        )
    return tuple(int(number) for number in numbers)


def continuous_drift(n_rows: int | None) -> tuple[Drift, ...]:
    """Return the drift of a truth that changes at every row but the first."""
    # The change of an endless stream ends at no row that can be reached.
    end = 2**63 - 1 if n_rows is None else n_rows
    return (Drift(1, end),) if end > 1 else ()


class ConceptStream(NumberedStream):
    """Generator of concepts that follow one another.

    A subclass calls `_follow`, and says in `_label` which labels a concept gives to rows, or uses
    `_parts`.
    """

    def _follow(self, concepts: Sequence[Any], change_rows: Sequence[int] | None) -> None:
        """Keep the concepts in their order, and their first rows."""
        self._concepts = concepts
        self.change_rows = checked_change_rows(change_rows, len(concepts), self.n_rows)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Rows at which another concept than before begins."""
        concepts = zip(self.change_rows, self._concepts, self._concepts[1:], strict=False)
        return tuple(Drift(row, row) for row, before, after in concepts if before != after)

    def bayes_error(self) -> float | None:
        """Return the error of the best possible answers.

        Returns
        -------
        error : float or None
            0 where the rule of a concept knows the label; None where it is not known.
        """
        return 0.0

    def _parts(self, start: int, stop: int) -> Iterator[tuple[Any, slice]]:
        """Yield each concept in a block of rows, and its rows counted from `start`."""
        begins = (0, *self.change_rows)
        for concept, begin, end in zip(self._concepts, begins, (*begins[1:], stop), strict=True):
            first, last = max(begin, start), min(end, stop)
            if first < last:
                yield concept, slice(first - start, last - start)

    def _labels(self, X: NDArray[np.float64], start: int) -> NDArray[np.int64]:
        """Return the labels of a block of rows."""
        y = np.empty(len(X), dtype=np.int64)
        for concept, part in self._parts(start, start + len(X)):
            y[part] = self._label(concept, X[part])
        return y

    def _label(self, concept: Any, X: NDArray[np.float64]) -> Any:
        """Return the labels that a concept gives to rows."""
        raise NotImplementedError
