"""Shared parts of the tests on one value per fold."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from skstream.stats._checks import FloatArray, as_pair, check_alpha, check_names
from skstream.stats._ties import paired_differences

FOLD_CAVEAT = (
    "Folds of one stream share rows and are not independent, so the p-value is approximate; "
    "it says nothing about how large or how useful the difference is."
)


def prepare(
    a: ArrayLike, b: ArrayLike, alpha: float, names: Sequence[str]
) -> tuple[FloatArray, FloatArray, float, tuple[str, ...]]:
    """Check the arguments of a fold test; return the differences and their rounding errors."""
    alpha, checked_names = check_alpha(alpha), check_names(names, 2)
    values_a, values_b = as_pair(a, b, "a", "b")
    if not len(values_a):
        raise ValueError("a and b are empty; give one value per fold.")
    return *paired_differences(values_a, values_b), alpha, checked_names
