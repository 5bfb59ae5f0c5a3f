"""Checks of the parameters of generators."""

from typing import Any

import numpy as np

from skstream.utils._choices import is_real


def check_share(value: Any, name: str) -> float:
    """Return a number from 0 to 1, or raise an error."""
    if not is_real(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1. Got {value!r} instead.")
    return float(value)


def check_numbers(values: Any, name: str) -> tuple[float, ...]:
    """Return at least one finite number, or raise an error."""
    given = tuple(values) if np.ndim(values) == 1 else ()
    numbers = tuple(float(value) for value in given) if all(map(is_real, given)) else ()
    if not numbers or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be a sequence of finite numbers. Got {values!r} instead.")
    return numbers


def check_number(value: Any, name: str) -> float:
    """Return a finite number from 0 on, or raise an error."""
    if not is_real(value) or not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be a finite number >= 0. Got {value!r} instead.")
    return float(value)
