"""Checks of the arguments of the tests; every message shows the wrong value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.utils._choices import is_real
from skstream.utils._masked import refuse_masked

FloatArray = NDArray[np.float64]


def check_alpha(alpha: float) -> float:
    """Return alpha as a float, or raise if it is not strictly between 0 and 1."""
    if not (is_real(alpha) and 0 < alpha < 1):
        raise ValueError(f"alpha must be in (0, 1). Got {alpha!r} instead.")
    return float(alpha)


def check_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds of a loss as floats, or raise if they are not finite and increasing."""
    if not isinstance(bounds, str) and np.shape(bounds) == (2,):
        low, high = bounds
        if is_real(low) and is_real(high) and -math.inf < low < high < math.inf:
            return float(low), float(high)
    raise ValueError(f"bounds must be two finite, increasing numbers. Got {bounds!r} instead.")


def check_names(names: Sequence[str], n_models: int) -> tuple[str, ...]:
    """Return the names as a tuple of strings, one per model."""
    if isinstance(names, str):
        raise ValueError(f"names must be a sequence of names, such as a list. Got {names!r}.")
    checked = tuple(str(name) for name in names)
    if len(checked) != n_models:
        raise ValueError(
            f"names must contain one name per model: {n_models} models, got {len(checked)} names "
            f"{checked}."
        )
    return checked


def check_direction(higher_is_better: bool) -> bool:
    """Return whether a larger value is better, or raise if it is neither true nor false."""
    if not isinstance(higher_is_better, (bool, np.bool_)):
        raise ValueError(f"higher_is_better must be True or False. Got {higher_is_better!r}.")
    return bool(higher_is_better)


def as_floats(values: ArrayLike, name: str) -> FloatArray:
    """Return numbers as floats, in the same shape; missing values are NaN."""
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of unequal length
        raise ValueError(f"{name} must contain numbers, in rows of the same length.") from error
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind != "O":  # NumPy would read "0.5" as a number, and drop imaginary parts
        raise ValueError(f"{name} must contain numbers. Got values of dtype {array.dtype} instead.")
    numbers = [_as_float(value, name) for value in array.ravel()]
    return np.array(numbers, dtype=np.float64).reshape(array.shape)


def _as_float(value: Any, name: str) -> float:
    if value is None or type(value).__name__ == "NAType":
        return math.nan
    if not isinstance(value, (Real, np.bool_)):
        raise ValueError(
            f"{name} must contain numbers. Got {value!r} of type {type(value).__name__} among them."
        )
    return float(value)


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Return the values as finite floats in one dimension; a scalar is one value."""
    vector = np.atleast_1d(as_floats(values, name))
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional. Got shape {vector.shape} instead.")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(
            f"{name}[{bad[0]}] is {vector[bad[0]]}; every value must be finite. Drop entries "
            "without a value from both models."
        )
    return vector


def as_pair(a: ArrayLike, b: ArrayLike, name_a: str, name_b: str) -> tuple[FloatArray, FloatArray]:
    """Return two finite vectors of equal length."""
    vector_a, vector_b = as_vector(a, name_a), as_vector(b, name_b)
    if vector_a.shape != vector_b.shape:
        raise ValueError(
            f"{name_a} and {name_b} must be paired, entry by entry. Got shapes "
            f"{vector_a.shape} and {vector_b.shape}."
        )
    return vector_a, vector_b
