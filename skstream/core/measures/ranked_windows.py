"""Measures of rankings in every window of rows: pairs in the right order, and average precision.

The area under the ROC curve is the weight of the pairs in which the positive row has the higher
score, and half that of ties, among all pairs. A row changes the sum of a window by as many pairs as
the window has rows, so that pairs are not counted one by one. Windows that follow each other share
most of their rows, their core. The core is sorted and summed once for a group of windows; each row
that leaves or enters is looked up in it; and the pairs among these rows form the same problem
again, with windows a sixteenth as long. No sum is the difference of larger ones, so that weights of
any size lose no digits, and sums of rows without weights are exact.

Average precision is formed from all rows in a window each time: a new row changes the precision at
all rows below. The compiled loop needs no table of windows by rows; it adds the same numbers in the
same order as `skstream.core.measures.rankings.average_precision`.
"""

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.rows import Floats, Integers
from skstream.utils._numba import jit, numba_enabled

# Groups of windows per length of a window.
_GROUPS = 8
# Pairs within windows of so many rows are taken one by one.
_FEW = 16
# Numbers in a table: a few tables fit the cache.
_TABLE = 1 << 16
# Numba is imported for no fewer windows; once it is, the loop over pairs is compiled.
_PAIRS_COMPILED_FROM, _PRECISION_COMPILED_FROM = 1 << 14, 1 << 11


class _Sorted(NamedTuple):
    """Some sequences of rows, each sorted by score; all arrays of shape (n_sequences, n_rows).

    Attributes
    ----------
    position : ndarray of int32
        Position of each row in its sequence.
    rank : ndarray of int32
        Equal for equal scores, and not decreasing.
    positive, negative : ndarray of float64
        Weight of each row of the positive and of the negative class; 0 for any other.
    """

    position: NDArray[np.int32]
    rank: NDArray[np.int32]
    positive: Floats
    negative: Floats


def window_pairs(scores: Floats, positive: Floats, negative: Floats, size: int) -> Floats:
    """Weight of the pairs in the right order, in every complete window.

    Parameters
    ----------
    scores : ndarray of shape (n,), dtype float64
        Finite, or infinite.
    positive, negative : ndarray of shape (n,), dtype float64
        Weight of each row as one of the positive class, and as one of the negative class; at
        least one of both is 0.
    size : int
        Rows of a window, at most n.

    Returns
    -------
    ndarray of shape (n - size + 1,)
        A tie counts one half.
    """
    n_windows = len(scores) - size + 1
    if _counts_compiled(n_windows, positive, negative):
        return _counted(scores, positive, negative, size)
    if size <= _FEW:
        ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
        return _one_by_one(ranks[:, None], positive[:, None], negative[:, None], size)[:, 0]
    sums = np.empty(n_windows)
    # Windows are taken in runs as long as a window, several runs side by side.
    length = 2 * size - 1
    at_once = max(_TABLE // (2 * _GROUPS * length), 1)
    for first in range(0, n_windows, at_once * size):
        stop = min(first + at_once * size, n_windows)
        n_runs = -(-(stop - first) // size)
        rows = _runs((scores, positive, negative), first, n_runs, size, length)
        order: NDArray[np.int32] = rows[0].argsort(axis=1, kind="stable").astype(np.int32)
        values, first_side, other_side = (np.take_along_axis(a, order, axis=1) for a in rows)
        rank = np.zeros(order.shape, dtype=np.int32)
        np.cumsum(values[:, 1:] != values[:, :-1], axis=1, out=rank[:, 1:])
        found = _in_groups(_Sorted(order, rank, first_side, other_side), size)
        sums[first:stop] = found.ravel()[: stop - first]
    return sums


def cost_of_row() -> float:
    """Microseconds, roughly, for each of the windows that follow each other."""
    return 0.2 if _count.is_compiled and numba_enabled() else 1.2


def _counts_compiled(n_windows: int, *weights: Floats) -> bool:
    """Whether pairs are counted by a compiled loop: rows without weights alone, many of them."""
    many = n_windows >= _PAIRS_COMPILED_FROM or "numba" in sys.modules
    return many and numba_enabled() and all(((w == 0.0) | (w == 1.0)).all() for w in weights)


def _counted(scores: Floats, positive: Floats, negative: Floats, size: int) -> Floats:
    """Count the pairs of rows without weights: the same numbers, exactly."""
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.int32)
    sides = (positive - negative).astype(np.int8)
    twice = np.empty(len(scores), dtype=np.int64)
    _count(ranks, sides, size, np.zeros((2, int(ranks.max()) + 2), dtype=np.int64), twice)
    return np.multiply(twice[size - 1 :], 0.5)


@jit
def _count(ranks, sides, size, trees, twice):  # type: ignore[no-untyped-def]
    """Count twice the pairs in the right order in the last `size` rows, after every row.

    The trees (Fenwick's) hold the positive and the negative rows of the window by rank; `sides`
    are 1, -1, or 0 for a row of neither class.
    """
    top = trees.shape[1] - 1
    pairs = 0
    n_inside = np.zeros(2, dtype=np.int64)
    for row in range(len(ranks)):
        for change in (-1, 1):
            at = row - size if change < 0 else row
            if at < 0 or sides[at] == 0:
                continue
            own = 0 if sides[at] > 0 else 1
            leaf = ranks[at] + 1
            if change < 0:
                n_inside[own] -= 1
                node = leaf
                while node <= top:
                    trees[own, node] -= 1
                    node += node & -node
            below, up_to = 0, 0
            node = leaf - 1
            while node > 0:
                below += trees[1 - own, node]
                node -= node & -node
            node = leaf
            while node > 0:
                up_to += trees[1 - own, node]
                node -= node & -node
            if own == 0:
                pairs += change * (below + up_to)
            else:
                pairs += change * (2 * n_inside[0] - below - up_to)
            if change > 0:
                n_inside[own] += 1
                node = leaf
                while node <= top:
                    trees[own, node] += 1
                    node += node & -node
        twice[row] = pairs


def _runs(
    arrays: tuple[Floats, ...], first: int, n_runs: int, size: int, length: int
) -> list[Floats]:
    """Rows of some runs of windows; beyond the last row there are rows without weight."""
    stop = first + (n_runs - 1) * size + length
    runs = []
    for array in arrays:
        part = array[first:stop]
        if len(part) < stop - first:
            part = np.concatenate((part, np.zeros(stop - first - len(part))))
        runs.append(np.lib.stride_tricks.sliding_window_view(part, length)[::size])
    return runs


def _in_groups(rows: _Sorted, size: int) -> Floats:
    """Sums of all windows of every sequence, shape (n_sequences, n_rows - size + 1)."""
    if size <= _FEW:
        rank, positive, negative = _by_position(rows)
        return _one_by_one(rank, positive, negative, size).T
    n_sequences, length = rows.position.shape
    n_windows = length - size + 1
    group = -(-size // _GROUPS)
    n_groups = -(-n_windows // group)
    rows = _padded(rows, n_groups * group + size - 1)
    sums = np.empty((n_sequences, n_groups, group))
    at_once = max(_TABLE // rows.position.size, 1)
    for first in range(0, n_groups, at_once):
        numbers = np.arange(first, min(first + at_once, n_groups), dtype=np.int32)
        sums[:, numbers] = _some_groups(rows, size, group, numbers)
    return sums.reshape(n_sequences, -1)[:, :n_windows]


def _padded(rows: _Sorted, length: int) -> _Sorted:
    """Rows with as many more without weight as are missing."""
    n_sequences, n_rows = rows.position.shape
    if n_rows == length:
        return rows
    shape = (n_sequences, length - n_rows)
    positions = np.broadcast_to(np.arange(n_rows, length, dtype=np.int32), shape)
    ranks = np.broadcast_to(rows.rank[:, -1:], shape)
    nothing = np.zeros(shape)
    return _Sorted(
        np.concatenate((rows.position, positions), axis=1),
        np.concatenate((rows.rank, ranks), axis=1),
        np.concatenate((rows.positive, nothing), axis=1),
        np.concatenate((rows.negative, nothing), axis=1),
    )


def _some_groups(rows: _Sorted, size: int, group: int, numbers: NDArray[np.int32]) -> Floats:
    """Sums of the windows of some groups, shape (n_sequences, n_numbers, group)."""
    n_sequences, length = rows.position.shape
    shape = (n_sequences, len(numbers), length)
    # Position of each row counted from the first row of the group's first window.
    position = rows.position[:, None, :] - (numbers * np.int32(group))[:, None]
    inside = (position >= group - 1) & (position < size)
    below, above = np.zeros((2, *shape[:2], length + 1))
    positive = inside * rows.positive[:, None, :]
    np.cumsum(inside * rows.negative[:, None, :], axis=2, out=below[:, :, 1:])
    np.cumsum(positive[:, :, ::-1], axis=2, out=above[:, :, -2::-1])
    tied = _ties(rows.rank)
    if tied is None:
        total = np.einsum("sbr,sbr->sb", positive, below[:, :, 1:])
    else:
        first, after = (np.broadcast_to(ends[:, None, :], shape) for ends in tied)
        both = np.take_along_axis(below, first, axis=2) + np.take_along_axis(below, after, axis=2)
        total = 0.5 * np.einsum("sbr,sbr->sb", positive, both)
    if group == 1:
        return np.asarray(total)[:, :, None]
    # The rows that leave and that enter within a group, still sorted.
    moving = (position >= 0) & (position < size + group - 1) & ~inside
    which = np.nonzero(moving.ravel())[0]
    n_moving = 2 * (group - 1)
    table, at = np.divmod(which.astype(np.int32), np.int32(length))
    which_row = at + table // np.int32(len(numbers)) * np.int32(length)
    of_rows = [array.ravel()[which_row] for array in rows]
    positions = position.ravel()[which]
    positions -= (positions >= size) * np.int32(size - group + 1)
    start = table * np.int32(length + 1)
    if tied is None:
        gains = of_rows[2] * below.ravel()[start + at] + of_rows[3] * above.ravel()[start + at]
    else:
        first, after = (start + ends.ravel()[which_row].astype(np.int32) for ends in tied)
        gains = 0.5 * (
            of_rows[2] * (below.ravel()[first] + below.ravel()[after])
            + of_rows[3] * (above.ravel()[first] + above.ravel()[after])
        )
    by_position = np.empty((n_sequences * len(numbers), n_moving))
    by_position.ravel()[table * np.int32(n_moving) + positions] = gains
    moved = [positions, *of_rows[1:]]
    sums = _in_groups(_Sorted(*(a.reshape(-1, n_moving) for a in moved)), group - 1)
    sums = sums + total.reshape(-1, 1)
    sums[:, 1:] += np.cumsum(by_position[:, group - 1 :], axis=1)
    sums[:, :-1] += np.cumsum(by_position[:, group - 2 :: -1], axis=1)[:, ::-1]
    return sums.reshape(n_sequences, len(numbers), group)


def _ties(rank: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """First row of equal score, and the first one after them; None where no scores are equal."""
    other = rank[:, 1:] != rank[:, :-1]
    if other.all():
        return None
    at = np.arange(1, rank.shape[1])
    first, after = np.zeros((2, *rank.shape), dtype=np.intp)
    np.maximum.accumulate(np.where(other, at, 0), axis=1, out=first[:, 1:])
    after[:, -1] = rank.shape[1]
    backward = np.where(other, at, rank.shape[1])[:, ::-1]
    after[:, :-1] = np.minimum.accumulate(backward, axis=1)[:, ::-1]
    return first, after


def _by_position(rows: _Sorted) -> list[Floats]:
    """Ranks and weights in the order of the rows, shape (n_rows, n_sequences)."""
    n_sequences, length = rows.position.shape
    target = rows.position * np.int32(n_sequences) + np.arange(n_sequences, dtype=np.int32)[:, None]
    arrays = []
    for array in (rows.rank, rows.positive, rows.negative):
        by_position = np.empty((length, n_sequences))
        by_position.ravel()[target.ravel()] = array.ravel()
        arrays.append(by_position)
    return arrays


def _one_by_one(rank: Floats, positive: Floats, negative: Floats, size: int) -> Floats:
    """Sums of all windows of sequences that lie in columns; every pair is looked at."""
    n_windows = len(rank) - size + 1
    sums = np.zeros((n_windows, rank.shape[1]))
    for apart in range(1, size):
        earlier, later = slice(len(rank) - apart), slice(apart, None)
        higher = np.sign(rank[later] - rank[earlier])
        rising = positive[later] * negative[earlier]
        falling = negative[later] * positive[earlier]
        pairs = 0.5 * ((rising + falling) + higher * (rising - falling))
        for first in range(size - apart):
            sums += pairs[first : first + n_windows]
    return sums


def many_precisions(
    scores: Floats, positive: Floats, negative: Floats, starts: Integers, ends: Integers
) -> Floats | None:
    """Average precision of the rows from each start to before each end.

    Parameters
    ----------
    scores, positive, negative : ndarray of shape (n,)
        Scores of the rows, and their weights as rows of the one and of the other class.
    starts, ends : ndarray of shape (n_windows,)
        Neither decreases.

    Returns
    -------
    ndarray of shape (n_windows,), or None
        NaN where a class has no row. None where the windows are few, or there is no numba.
    """
    # The choice depends on nothing but the installation and the number of windows.
    if len(ends) < _PRECISION_COMPILED_FROM or not numba_enabled():
        return None
    order = scores.argsort(kind="stable")
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order))
    in_order = scores[order]
    rank = np.zeros(len(order), dtype=np.int32)
    np.cumsum(in_order[1:] != in_order[:-1], out=rank[1:])
    values = np.empty(len(ends))
    _precisions(position, rank, positive[order], negative[order], starts, ends, values)
    return values


@jit
def _precisions(position, rank, positive, negative, starts, ends, values):  # type: ignore[no-untyped-def]
    """Insert rows into and remove them from the sorted positions of a window, and read it."""
    inside = np.empty(len(position), dtype=np.int32)
    n, first, last = 0, 0, 0
    for number in range(len(ends)):
        for change in (1, -1):
            begin, stop = (last, ends[number]) if change > 0 else (first, starts[number])
            for row in range(begin, stop):
                at = position[row]
                if positive[at] == 0.0 and negative[at] == 0.0:
                    continue
                low, high = 0, n
                while low < high:
                    middle = (low + high) // 2
                    if inside[middle] < at:
                        low = middle + 1
                    else:
                        high = middle
                if change > 0:
                    for index in range(n, low, -1):
                        inside[index] = inside[index - 1]
                    inside[low] = at
                else:
                    for index in range(low, n - 1):
                        inside[index] = inside[index + 1]
                n += change
        first, last = starts[number], ends[number]
        above, wrong, total = 0.0, 0.0, 0.0
        index = n - 1
        while index >= 0:
            here, right, other = rank[inside[index]], 0.0, 0.0
            while index >= 0 and rank[inside[index]] == here:
                right += positive[inside[index]]
                other += negative[inside[index]]
                index -= 1
            above += right
            wrong += other
            if right > 0.0:
                total += above / (wrong + above) * right
        values[number] = total / above if above > 0.0 and wrong > 0.0 else np.nan
