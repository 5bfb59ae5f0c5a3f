"""Checks of the parameters of generators."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def check_share(value: Any, name: str) -> float:
    """Return a number from 0 to 1, or raise an error."""
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = float("nan")
    if not 0 <= share <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1. Got {value!r} instead.")
    return share


def check_numbers(values: Any, name: str) -> tuple[float, ...]:
    """Return at least one finite number, or raise an error."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be a sequence of finite numbers. Got {values!r} instead.")
    return numbers


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
