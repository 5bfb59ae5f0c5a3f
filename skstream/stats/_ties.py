"""Ties among values that differ by rounding alone."""

import numpy as np

from skstream.stats._checks import FloatArray

# Scores that reach us by different but equivalent summations agree to about this much, relative
# to their size. Without it 0.3 - 0.2 and 0.2 - 0.1 would not be tied, and how a stream was cut
# into chunks could change a rank.
RELATIVE_ROUNDING = 1e-12


def merge_rounding(values: FloatArray, scale: float) -> FloatArray:
    """Give one common value to entries that lie within rounding of their neighbour.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values to compare.
    scale : float
        Size of the numbers the values were computed from.

    Returns
    -------
    ndarray of shape (n,)
        The values, in the same order, with near-equal ones made equal.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.diff(ordered, prepend=-np.inf) > RELATIVE_ROUNDING * scale
    merged = np.empty_like(values)
    merged[order] = ordered[np.flatnonzero(starts)][np.cumsum(starts) - 1]
    return merged


def paired_differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``a - b`` with zeros and ties of size restored where only rounding hides them."""
    difference = a - b
    scale = max(float(np.max(np.abs(a))), float(np.max(np.abs(b))))
    # The zero takes part in the merging, so that differences within rounding of it vanish.
    sizes = merge_rounding(np.append(np.abs(difference), 0.0), scale)[:-1]
    return np.asarray(np.sign(difference) * sizes)


def tie_sizes(values: FloatArray) -> tuple[int, ...]:
    """Return how many entries share each tied value, smallest value first."""
    counts = np.unique(values, return_counts=True)[1]
    return tuple(int(count) for count in counts if count > 1)
