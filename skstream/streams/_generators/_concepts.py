"""Concepts that follow one another: their rows, and the drifts between them."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

from skstream.streams._drifts import Drift


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


def drifts_between(concepts: Sequence[Any], change_rows: Sequence[int]) -> tuple[Drift, ...]:
    """Return an abrupt drift for each row at which another concept than before begins."""
    return tuple(
        Drift(row, row)
        for row, before, after in zip(change_rows, concepts, concepts[1:], strict=False)
        if before != after
    )


def continuous_drift(n_rows: int | None) -> tuple[Drift, ...]:
    """Return the drift of a truth that changes at every row but the first."""
    # The change of an endless stream ends at no row that can be reached.
    end = 2**63 - 1 if n_rows is None else n_rows
    return (Drift(1, end),) if end > 1 else ()


def parts_of_block(
    change_rows: Sequence[int], start: int, stop: int
) -> Iterator[tuple[int, slice]]:
    """Yield the number of each concept in a block of rows, and its rows counted from `start`."""
    begins = (0, *change_rows)
    for number, begin in enumerate(begins):
        end = begins[number + 1] if number + 1 < len(begins) else stop
        first, last = max(begin, start), min(end, stop)
        if first < last:
            yield number, slice(first - start, last - start)
