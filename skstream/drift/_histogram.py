"""The exponential histogram of ADWIN, for many moments at once.

Row r of the histogram holds buckets of 2**r consecutive values. New values enter row 0 as
buckets of one; a row that would hold more than five buckets merges its two oldest into one
bucket of the next row. So how many buckets stand where depends on the number of values
alone, and a bucket's sums are those of a binary tree over its values, however the stream was
cut. A bucket is a column of two numbers: its sum, and its sum of squared deviations from its
own mean.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BUCKETS = 5  # per row; the constant M of Bifet & Gavaldà (2007), as in MOA


class Row(NamedTuple):
    """One row of the histogram at several moments."""

    left: Integers  # buckets that have left it for the next row
    length: Integers  # buckets in it


class Table(NamedTuple):
    """The histogram at several moments, one line per moment, oldest bucket first.

    Absent buckets have size 0, sum 0 and spread 0.
    """

    sizes: Floats  # (n_moments, n_slots)
    sums: Floats
    spreads: Floats  # sums of squared deviations from the bucket's mean

    def take(self, lines: NDArray[np.intp]) -> "Table":
        """Return some of the moments."""
        return Table(self.sizes[lines], self.sums[lines], self.spreads[lines])


def sizes_of(lengths: list[int]) -> Integers:
    """Return the sizes of all buckets, oldest first."""
    return np.repeat(1 << np.arange(len(lengths))[::-1], lengths[::-1])


def lengths_after(lengths: list[int], n_values: Integers) -> list[Row]:
    """Follow the rows of a histogram through further values.

    Parameters
    ----------
    lengths : list of int
        Buckets in each row now, from row 0 on.
    n_values : ndarray of shape (n_moments,), dtype int64
        Number of further values at each moment.

    Returns
    -------
    list of Row
        From row 0 on, one entry per moment in each.
    """
    rows = []
    arrived = n_values
    for length in lengths:
        rows.append(_after(length, arrived))
        arrived = rows[-1].left >> 1
    while arrived.any():
        rows.append(_after(0, arrived))
        arrived = rows[-1].left >> 1
    return rows


def _after(length: int, arrived: Integers) -> Row:
    present = arrived + length
    left = np.maximum(present - (MAX_BUCKETS - 1), 0) & ~1
    return Row(left, present - left)


def merge_tree(lengths: list[int], buckets: Floats, values: Floats) -> list[Floats]:
    """Form every bucket that the values lead to.

    Parameters
    ----------
    lengths : list of int
        Buckets in each row now, from row 0 on.
    buckets : ndarray of shape (2, n_buckets)
        Sums and spreads of these buckets, oldest first.
    values : ndarray of shape (n_values,)
        Further values.

    Returns
    -------
    list of ndarray of shape (2, n_formed)
        For each row, from row 0 on: its buckets now and those that will enter it, oldest
        first.
    """
    rows = []
    entering = np.zeros((2, len(values)))
    entering[0] = values
    end = buckets.shape[1]
    row = 0
    while row < len(lengths) or entering.shape[1]:
        length = lengths[row] if row < len(lengths) else 0
        nodes = np.concatenate((buckets[:, end - length : end], entering), axis=1)
        end -= length
        rows.append(nodes)
        leaving = max(nodes.shape[1] - (MAX_BUCKETS - 1), 0) & ~1
        entering = nodes[:, 0:leaving:2] + nodes[:, 1:leaving:2]
        gap = nodes[0, 0:leaving:2] - nodes[0, 1:leaving:2]
        entering[1] += gap * gap * 0.5 ** (row + 1)
        row += 1
    return rows


def histogram_at(rows: list[Row], tree: list[Floats]) -> Table:
    """Lay out the histogram at every moment.

    Parameters
    ----------
    rows : list of Row
        From `lengths_after`.
    tree : list of ndarray
        From `merge_tree`, for the same values.

    Returns
    -------
    Table
        With ``MAX_BUCKETS`` slots per row, the row of the largest buckets first.
    """
    n_rows = len(rows)
    nodes = np.concatenate([*tree, np.zeros((2, 1))], axis=1)  # the last stands for "absent"
    offsets = np.cumsum([0] + [level.shape[1] for level in tree])
    left = np.array([rows[r].left + offsets[r] for r in range(n_rows - 1, -1, -1)])
    length = np.array([rows[r].length for r in range(n_rows - 1, -1, -1)])
    slots = np.arange(MAX_BUCKETS)
    present = slots < length.T[:, :, None]
    index = np.where(present, left.T[:, :, None] + slots, nodes.shape[1] - 1)
    sizes = present * (2.0 ** np.arange(n_rows - 1, -1, -1))[:, None]
    n_moments = len(index)
    return Table(
        sizes.reshape(n_moments, -1),
        nodes[0].take(index).reshape(n_moments, -1),
        nodes[1].take(index).reshape(n_moments, -1),
    )
