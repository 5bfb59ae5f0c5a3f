"""Checks of the parameters of generators."""

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


def check_count(value: Any, name: str, least: int) -> int:
    """Return an integer that is not too small, or raise an error."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}. Got {value!r} instead.")
    return int(value)


def check_number(value: Any, name: str) -> float:
    """Return a finite number from 0 on, or raise an error."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} must be a finite number >= 0. Got {value!r} instead.")
    return number
