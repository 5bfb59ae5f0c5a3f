"""The exponential histogram of ADWIN, at many moments at once.

Row r of the histogram holds buckets of 2**r consecutive values. New values enter row 0 as buckets
of one; a row that would hold more than five buckets merges its two oldest into one bucket of the
next row. So the number of buckets in each row depends only on the number of values, and a bucket is
a binary tree over its values, for any chunking.

Buckets are columns of two numbers, the sum of the values and their spread, the sum of squared
deviations from their mean; oldest buckets come first, so that rows come in descending order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BUCKETS = 5  # per row; the constant M of Bifet & Gavaldà (2007), as in MOA


class Table(NamedTuple):
    """Windows as lines of buckets, oldest first; absent buckets are all zero."""

    sizes: Floats  # (n_windows, n_slots)
    sums: Floats
    spreads: Floats


@dataclass(frozen=True)
class Moments:
    """The histogram at several moments, in MAX_BUCKETS slots per row."""

    buckets: Floats  # (2, n_formed + 1), all buckets of any moment, and an absent one
    index: Integers  # (n_moments, n_slots), indices of the buckets of each moment
    sizes: Floats  # (n_moments, n_slots), 0 for absent ones
    lengths: Integers  # (n_rows, n_moments), buckets in each row, from row 0 on

    def sums(self) -> Floats:
        """Return the sums of the buckets, 0 for absent ones."""
        sums: Floats = self.buckets[0].take(self.index)
        return sums

    def table(self, lines: NDArray[np.intp]) -> Table:
        """Return the windows at some of the moments."""
        index = self.index[lines]
        return Table(self.sizes[lines], self.buckets[0].take(index), self.buckets[1].take(index))


def sizes_of(lengths: list[int]) -> Integers:
    """Return the sizes of the buckets of rows of these lengths, from row 0 on."""
    return np.repeat(1 << np.arange(len(lengths))[::-1], lengths[::-1])


def follow_lengths(lengths: list[int], n_values: Integers) -> tuple[Integers, Integers]:
    """Follow the lengths of the rows through further values.

    Row r loses (arrived + length - 4) >> 1 pairs, where that is positive, and as many buckets
    arrive in row r + 1. The shifts of all rows can be computed as one shift: all rows
    but the highest hold at least 4 buckets, so that no negative number is ever passed on.

    Parameters
    ----------
    lengths : list of int
        Buckets in each row now, from row 0 on.
    n_values : ndarray of shape (n_moments,), dtype int64
        Number of further values at each moment, ascending; some unless there are buckets.

    Returns
    -------
    left : ndarray of shape (n_rows, n_moments), dtype int64
        Buckets that have left each row for the next.
    lengths : ndarray of shape (n_rows, n_moments), dtype int64
        Buckets in each row. The last row is the highest that ever holds one.
    """
    n_new = int(n_values[-1]).bit_length()
    before = np.array([*lengths, *[0] * n_new], dtype=np.int64)
    rows = np.arange(len(before))
    shift = ((before - (MAX_BUCKETS - 1)) << rows).cumsum()
    pairs = np.maximum((n_values + shift[:, None]) >> (rows + 1)[:, None], 0)
    left = 2 * pairs
    after = before[:, None] - left
    after[0] += n_values
    after[1:] += pairs[:-1]
    n_rows = max(len(lengths), int(np.count_nonzero(after[:, -1])))
    return left[:n_rows], after[:n_rows]


def histogram_at(
    lengths: list[int], buckets: Floats, values: Floats, n_values: Integers
) -> Moments:
    """Put values into a histogram and return its state at several moments.

    Parameters
    ----------
    lengths : list of int
        Buckets in each row now, from row 0 on.
    buckets : ndarray of shape (2, n_buckets)
        These buckets.
    values : ndarray of shape (n,)
        Further values.
    n_values : ndarray of shape (n_moments,), dtype int64
        How many of them are in at each moment, ascending; at last all.

    Returns
    -------
    Moments
        The histogram at these moments.
    """
    left, after = follow_lengths(lengths, n_values)
    n_rows = len(after)
    nodes, offsets = _merge(lengths, buckets, values)
    first = (left + offsets[:, None])[::-1].T[:, :, None]
    slots = np.arange(MAX_BUCKETS)
    present = slots < after[::-1].T[:, :, None]
    index = np.where(present, first + slots, nodes.shape[1] - 1)
    sizes = present * (2.0 ** np.arange(n_rows)[::-1])[:, None]
    n_slots = n_rows * MAX_BUCKETS
    return Moments(nodes, index.reshape(-1, n_slots), sizes.reshape(-1, n_slots), after)


def _merge(lengths: list[int], buckets: Floats, values: Floats) -> tuple[Floats, Integers]:
    """Form every bucket that the values lead to.

    Returns
    -------
    nodes : ndarray of shape (2, n_formed + 1)
        All buckets, row after row, the highest row first; then an absent one.
    offsets : ndarray of shape (n_rows,), dtype int64
        Where each row begins, from row 0 on.
    """
    arriving = np.zeros((2, len(values)))
    arriving[0] = values
    parts = [np.zeros((2, 1))]
    widths = lengths.copy()
    end = buckets.shape[1]
    row = 0
    while arriving.shape[1]:
        length = lengths[row] if row < len(lengths) else 0
        nodes = np.concatenate((buckets[:, end - length : end], arriving), axis=1)
        end -= length
        parts.append(nodes)
        widths[row : row + 1] = [nodes.shape[1]]
        leaving = max(nodes.shape[1] - (MAX_BUCKETS - 1), 0) & ~1
        older, newer = nodes[:, 0:leaving:2], nodes[:, 1:leaving:2]
        arriving = older + newer
        gap = older[0] - newer[0]
        arriving[1] += gap * gap * 0.5 ** (row + 1)
        row += 1
    parts.append(buckets[:, :end])
    return np.concatenate(parts[::-1], axis=1), sum(widths) - np.cumsum(widths)
