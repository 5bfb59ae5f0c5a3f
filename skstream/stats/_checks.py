"""Validation of what users pass to the tests; every message says what came."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.utils._masked import refuse_masked

FloatArray = NDArray[np.float64]


def check_alpha(alpha: float) -> float:
    """Return alpha as a float, or raise if it is not strictly between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be in (0, 1). Got {alpha!r} instead.")
    return float(alpha)


def check_names(names: Sequence[str], n_models: int) -> tuple[str, ...]:
    """Return the names as a tuple of strings, one per model."""
    checked = tuple(str(name) for name in names)
    if len(checked) != n_models:
        raise ValueError(
            f"names must hold one name per model: {n_models} models, got {len(checked)} names "
            f"{checked}."
        )
    return checked


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Return the values as finite floats in one dimension; a scalar is one value."""
    refuse_masked(values, name)
    vector = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional. Got shape {vector.shape} instead.")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(
            f"{name}[{bad[0]}] is {vector[bad[0]]}; every value must be finite. "
            f"Drop the entries without a value from both models."
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


def read_only(array: NDArray[np.generic]) -> None:
    """Forbid writing to an array held by a frozen result."""
    array.flags.writeable = False
