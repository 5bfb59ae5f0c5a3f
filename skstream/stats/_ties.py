"""Ties among values that differ by rounding alone.

Scores that reach us by different but equivalent summations agree to about 1e-12 of their size.
Without an allowance for that, 0.3 - 0.2 and 0.2 - 0.1 would not be tied, and how a stream was cut
into chunks could change a rank. The allowance belongs to each value, in the measure of what it was
computed from, and two values tie when their allowances overlap: one fold of 1e14 ties nothing else.

To be tied so is not transitive. Nothing is merged, therefore: a value takes its rank from its
pairs, one for every value below it and a half for every other one tied with it. Where ties are
transitive these are the usual average ranks, and always they add up to n (n + 1) / 2; a value of
which little is known shares ranks with all that it might equal, and lets them keep their order.
"""

import numpy as np

from skstream.stats._checks import FloatArray

# Half of 1e-12, as each of the two values that are compared has its part.
_ROUNDING = 0.5e-12


def rounding_of(values: FloatArray) -> FloatArray:
    """Return how far each value may be off."""
    return _ROUNDING * np.abs(values)


def average_ranks(values: FloatArray, rounding: FloatArray) -> FloatArray:
    """Rank values from the smallest (rank 1); tied values share theirs, pair by pair.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values to rank.
    rounding : ndarray of shape (n,)
        How far each may be off. Two values tie where they differ by no more than theirs together.

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
    """Return ``a - b``, 0 where the two are tied, and how far each difference may be off."""
    rounding = rounding_of(a) + rounding_of(b)
    difference = a - b
    zero = np.abs(difference) <= rounding
    return np.where(zero, 0.0, difference), np.where(zero, 0.0, rounding)


def tie_sizes(ranks: FloatArray) -> tuple[int, ...]:
    """Return how many entries share each rank that is shared, lowest rank first."""
    counts = np.unique(ranks, return_counts=True)[1]
    return tuple(int(count) for count in counts if count > 1)
