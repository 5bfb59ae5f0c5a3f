"""Ties among values that differ by rounding alone.

Scores from different but equivalent summations agree to about 1e-12 of their size. Without an
allowance for that, 0.3 - 0.2 and 0.2 - 0.1 would not be tied, and the chunks of a stream could
change a rank. Each value has its own allowance, proportional to the numbers it was computed from,
and two values tie when their allowances overlap: a fold with values of 1e14 ties no other folds.

Ties in this sense are not transitive, so values are not merged into groups. The rank of a value is
the sum over its pairs: 1 for every value below it and 1/2 for every other value tied with it. Where
ties are transitive these are the usual average ranks, and they always add up to n (n + 1) / 2. A
value with a large rounding error shares ranks with all values that it might equal, and these keep
their order.
"""

import numpy as np

from skstream.stats._checks import FloatArray

# Half of 1e-12, because the allowances of the two compared values are added.
_ROUNDING = 0.5e-12


def rounding_of(values: FloatArray) -> FloatArray:
    """Return the possible rounding error of each value."""
    return _ROUNDING * np.abs(values)


def average_ranks(values: FloatArray, rounding: FloatArray) -> FloatArray:
    """Rank values from the smallest (rank 1); tied values share theirs, pair by pair.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values to rank.
    rounding : ndarray of shape (n,)
        Possible error of each. Two values tie if they differ by at most the sum of their errors.

    Returns
    -------
    ndarray of shape (n,)
        1/2, plus 1 for every value clearly below, plus 1/2 for every value tied, itself included.
    """
    low, high = values - rounding, values + rounding
    below = np.searchsorted(np.sort(high), low, side="left")
    not_above = np.searchsorted(np.sort(low), high, side="right")
    return np.asarray((below + not_above + 1) / 2)


def paired_differences(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``a - b``, 0 where the two are tied, and the possible error of each difference."""
    rounding = rounding_of(a) + rounding_of(b)
    difference = a - b
    zero = np.abs(difference) <= rounding
    return np.where(zero, 0.0, difference), np.where(zero, 0.0, rounding)


def tie_sizes(ranks: FloatArray) -> tuple[int, ...]:
    """Return the number of entries at each tied rank, lowest rank first."""
    counts = np.unique(ranks, return_counts=True)[1]
    return tuple(int(count) for count in counts if count > 1)
