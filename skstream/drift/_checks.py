"""Checks of the values that detectors read."""

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._masked import refuse_masked

LARGEST = 1e100  # squares and sums of such values are still far from overflow
_WANTED = (
    f"A detector needs finite numbers, of magnitude at most {LARGEST:g}; drop or impute others."
)
_UNCHANGED = "Nothing of this call was used."


def as_number(x: Any) -> float:
    """Return one usable number as a float, or say what came instead."""
    value = x if type(x) is float else _real(x)
    if value is None:
        raise ValueError(f"Expected a number, got {x!r} of type {type(x).__name__}.")
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(f"Got {value}. {_WANTED}")
    return value


def as_values(values: Any, name: str = "values") -> NDArray[np.float64]:
    """Return a sequence of usable numbers as float64, or say which one is not."""
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:  # sequences of unequal length
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.ndim != 1:
        raise ValueError(
            f"Expected a one-dimensional sequence of numbers, got an array of shape {array.shape}."
            " Use update(x) for one number, and turn an iterator into a list."
        )
    if array.dtype.kind not in "biuf":
        array = _from_objects(array, name)
    array = array.astype(np.float64, copy=False)
    refuse_where(~(np.abs(array) <= LARGEST), array, _WANTED, name)
    return array


def refuse_where(
    wrong: NDArray[np.bool_], values: NDArray[np.float64], wanted: str, name: str = "values"
) -> None:
    """Raise an error that names the first wrong value, if there is one."""
    if wrong.any():
        position = int(wrong.argmax())
        raise ValueError(f"{name}[{position}] is {values[position]:g}. {wanted} {_UNCHANGED}")


def _real(x: Any) -> float | None:
    """Return a real number or truth value as a float, anything else as None."""
    if not isinstance(x, (Real, np.bool_)):
        return None
    try:
        return float(x)
    except OverflowError:  # an int beyond all floats
        return math.inf
    except TypeError:  # a duration, which NumPy counts among the integers
        return None


def _from_objects(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    converted = np.empty(len(array))
    for position, item in enumerate(array):
        value = _real(item)
        if value is None:
            raise ValueError(
                f"{name}[{position}] is {item!r} of type {type(item).__name__}, not a number."
                f" {_UNCHANGED}"
            )
        converted[position] = value
    return converted
