"""Checks of inputs and parameters that all detectors share."""

import math
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


def as_number(x: Any) -> float:
    """Return one finite number as a float, or say what came instead."""
    value = _real(x)
    if value is None:
        raise ValueError(f"Expected a number, got {x!r} of type {type(x).__name__}.")
    if not math.isfinite(value):
        raise ValueError(f"Expected a finite number, got {value}. {_MISSING}")
    return value


def as_values(values: Any) -> NDArray[np.float64]:
    """Return a sequence of finite numbers as float64, or say which one is not."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of unequal length
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.ndim != 1:
        raise ValueError(
            f"Expected a one-dimensional sequence of numbers, got an array of shape {array.shape}."
            " Use update(x) for one number; turn an iterator into a list."
        )
    if array.dtype.kind not in "biuf" and len(array):
        array = _from_objects(array)
    array = array.astype(np.float64, copy=False)
    finite = np.isfinite(array)
    if not finite.all():
        position = int(finite.argmin())
        raise ValueError(
            f"values[{position}] is {array[position]}. {_MISSING} Nothing of this call was used."
        )
    return array


_MISSING = "Drop or impute missing and infinite values before they reach a detector."


def _real(x: Any) -> float | None:
    """Return a real number or truth value as a float, anything else as None."""
    return float(x) if isinstance(x, (Real, np.bool_)) else None


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    converted = np.empty(len(array))
    for position, item in enumerate(array):
        value = _real(item)
        if value is None:
            raise ValueError(
                f"values[{position}] is {item!r} of type {type(item).__name__}, not a number."
                " Nothing of this call was used."
            )
        converted[position] = value
    return converted


def check_real(owner: object, name: str, low: float, high: float, closed: str = "neither") -> float:
    """Return a real parameter within an interval, or raise scikit-learn's sentence."""
    value = getattr(owner, name)
    left, right = closed in ("left", "both"), closed in ("right", "both")
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if low < number < high or (left and number == low) or (right and number == high):
            return number
    interval = f"{'[' if left else '('}{low}, {high}{']' if right else ')'}"
    _refuse(owner, name, f"a float in the range {interval}")


def check_integer(owner: object, name: str, low: int) -> int:
    """Return an integer parameter of at least `low`, or raise scikit-learn's sentence."""
    value = getattr(owner, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
        _refuse(owner, name, f"an int of at least {low}")
    return int(value)


def check_option(owner: object, name: str, options: tuple[str, ...]) -> str:
    """Return a parameter that is one of a few strings, or raise scikit-learn's sentence."""
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in options:
        _refuse(owner, name, f"one of {', '.join(map(repr, options))}")
    return str(value)


def _refuse(owner: object, name: str, requirement: str) -> NoReturn:
    raise ValueError(
        f"The {name!r} parameter of {type(owner).__name__} must be {requirement}."
        f" Got {getattr(owner, name)!r} instead."
    )
