"""What fills the gaps of each column: from the values learnt so far, and at each moment of a block.

A strategy learns an array of values of shape (n_rows, n_columns) and the mask of those that are
missing. It returns what it remembers afterwards, and a function that tells what a column was filled
with after any number of these rows. The memory that comes in is never changed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.utils._running_sums import running_sums

#: ``fills(after, columns)``: what columns are filled with, each after a number of the rows.
Fills = Callable[[NDArray[np.integer[Any]], NDArray[np.integer[Any]]], NDArray[Any]]
Mask = NDArray[np.bool_]
Weight = NDArray[np.float64] | None


class Memory(NamedTuple):
    """What has been learnt: what fills each column now, and what that is computed from.

    `of_values` holds sums and weights for the mean, weights by value for the most frequent one.
    """

    statistics: NDArray[Any]
    of_values: Any = None


def start(strategy: str, n_columns: int, fill_value: Any, dtype: Any) -> Memory:
    """Memory before the first row: every column is filled with `fill_value`."""
    statistics = np.empty(n_columns, dtype=dtype)
    statistics[:] = [fill_value] * n_columns
    if strategy == "mean":
        return Memory(statistics, tuple(np.zeros((2, n_columns))))
    return Memory(statistics, [{} for _ in range(n_columns)] if strategy in _BY_VALUE else None)


def learn(
    strategy: str, memory: Memory, values: NDArray[Any], missing: Mask, weight: Weight
) -> tuple[Memory, Fills]:
    """Learn rows; return the memory after them, and the fills at each moment."""
    return _STRATEGIES[strategy](memory, values, missing, weight)


def _means(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    known = np.where(missing, 0.0, values)
    counts = (~missing).astype(np.float64)
    if weight is not None:
        known *= weight[:, np.newaxis]
        counts *= weight[:, np.newaxis]
    sums, counts = (
        running_sums(before, steps)
        for before, steps in zip(memory.of_values, (known, counts), strict=True)
    )
    start_of = memory.statistics

    def fills(after: Any, columns: Any) -> NDArray[Any]:
        n = counts[after, columns]
        out: NDArray[Any] = start_of[columns]
        np.divide(sums[after, columns], n, out=out, where=n > 0.0)
        return out

    n_rows, every = np.full(values.shape[1], len(values)), np.arange(values.shape[1])
    return Memory(fills(n_rows, every), (sums[-1].copy(), counts[-1].copy())), fills


def _modes(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    weights_of = [dict(known) for known in memory.of_values]
    statistics = memory.statistics.copy()
    changes: list[tuple[NDArray[np.int64], NDArray[Any]]] = []
    for place, known in enumerate(weights_of):
        rows = np.flatnonzero(~missing[:, place])
        moments, modes = [0], [statistics[place]]
        top, mode = known.get(modes[0], 0.0), modes[0]
        added = [1.0] * len(rows) if weight is None else weight[rows].tolist()
        for row, value, w in zip(rows.tolist(), values[rows, place].tolist(), added, strict=True):
            total = known[value] = known.get(value, 0.0) + w
            if total < top:
                continue
            if value != mode and (total > top or _is_smaller(value, mode)):
                mode = value
                moments.append(row + 1)
                modes.append(mode)
            if value == mode:
                top = total
        statistics[place] = mode
        history = np.empty(len(modes), dtype=statistics.dtype)
        history[:] = modes
        changes.append((np.array(moments), history))

    def fills(after: Any, columns: Any) -> NDArray[Any]:
        out = np.empty(len(columns), dtype=statistics.dtype)
        for place, (moments, modes) in enumerate(changes):
            of_column = columns == place
            out[of_column] = modes[np.searchsorted(moments, after[of_column], side="right") - 1]
        return out

    return Memory(statistics, weights_of), fills


def _is_smaller(value: Any, other: Any) -> bool:
    """Whether a value comes before another one; values of two types have no order."""
    try:
        return bool(value < other)
    except TypeError:
        return False


def _last(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    n_rows, n_columns = values.shape
    newest = np.zeros((n_rows + 1, n_columns), dtype=np.intp)  # 0: none of these rows
    newest[1:] = np.where(missing, 0, np.arange(1, n_rows + 1)[:, np.newaxis])
    np.maximum.accumulate(newest, axis=0, out=newest)
    start_of = memory.statistics

    def fills(after: Any, columns: Any) -> NDArray[Any]:
        row = newest[after, columns]
        out: NDArray[Any] = start_of[columns]
        seen = row > 0
        out[seen] = values[row[seen] - 1, columns[seen]]
        return out

    return Memory(fills(np.full(n_columns, n_rows), np.arange(n_columns))), fills


def _constants(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    def fills(after: Any, columns: Any) -> NDArray[Any]:
        fixed: NDArray[Any] = memory.statistics[columns]
        return fixed

    return memory, fills


_BY_VALUE = ("most_frequent",)
_STRATEGIES = {
    "mean": _means,
    "most_frequent": _modes,
    "last": _last,
    "constant": _constants,
}
