"""Average precision in many windows that follow each other, in a loop over their sorted rows.

Every value is formed from all rows in the window: each new row changes the precision at all rows
below. The loop, compiled, needs no table of windows by rows. It adds the same numbers in the same
order as `skstream.metrics._ranks.average_precision`.
"""

import numpy as np

from skstream.metrics._rows import Floats, Integers
from skstream.utils._numba import jit, numba_enabled

# Importing numba is worth it from so many windows on.
_COMPILED_FROM = 1 << 11


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
    if len(ends) < _COMPILED_FROM or not numba_enabled():
        return None
    order = scores.argsort(kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    in_order = scores[order]
    rank = np.zeros(len(order), dtype=np.int32)
    np.cumsum(in_order[1:] != in_order[:-1], out=rank[1:])
    values = np.empty(len(ends))
    _loop(place, rank, positive[order], negative[order], starts, ends, values)
    return values


@jit
def _loop(place, rank, positive, negative, starts, ends, values):  # type: ignore[no-untyped-def]
    """Insert rows into and remove them from the sorted places of a window, and read it."""
    inside = np.empty(len(place), dtype=np.int32)
    n, first, last = 0, 0, 0
    for number in range(len(ends)):
        for change in (1, -1):
            begin, stop = (last, ends[number]) if change > 0 else (first, starts[number])
            for row in range(begin, stop):
                at = place[row]
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
