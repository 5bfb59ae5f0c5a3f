"""The rows that a model is fitted to again: parts of several calls, with weights and times."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._rows import copy_rows, own_rows, stack_rows

Floats = NDArray[np.float64]

#: A time where no clock says it; it is that of NaT.
NO_TIME = int(np.iinfo(np.int64).min)
#: Rows of several calls, the oldest first: values that are never changed. `weight` is None where
#: all are 1. The last are the times at which they came, in microseconds since 1970; under delayed
#: labels those of the labels.
Part = tuple[Any, NDArray[Any], Floats | None, NDArray[np.int64]]
Window = tuple[Part, ...]


def appended(window: Window, part: Part, most: int | None, since: int = NO_TIME) -> Window:
    """Append rows, which are not copied, and drop parts without any of the last `most`.

    Also those without any since a time. Parts are joined where the newer ones are as large, so that
    few are left, and each row is copied a few times only.
    """
    parts = list(window)
    while parts and len(parts[-1][1]) <= len(part[1]):
        part = _joined([parts.pop(), part])
    parts.append(part)
    n_rows = sum(len(its[1]) for its in parts)
    while most is not None and n_rows - len(parts[0][1]) >= most:
        n_rows -= len(parts.pop(0)[1])
    while parts[0][3][-1] < since:
        parts.pop(0)
    return tuple(parts)


def last_rows(window: Window, n_rows: int | None) -> Part:
    """Return the last rows in one part; None: all."""
    X, y, weight, time = _joined(list(window))
    first = 0 if n_rows is None else max(0, len(y) - n_rows)
    if first:
        X = copy_rows(X, np.arange(first, len(y)))
        y, weight = y[first:].copy(), None if weight is None else weight[first:].copy()
        time = time[first:].copy()
    return X, y, weight, time


def _joined(parts: list[Part]) -> Part:
    """Rows of several parts in one."""
    if len(parts) == 1:
        return parts[0]
    weight = None
    if any(part[2] is not None for part in parts):
        weight = np.concatenate([np.ones(len(y)) if w is None else w for _, y, w, _ in parts])
    y, time = (np.concatenate([part[at] for part in parts]) for at in (1, 3))
    return stack_rows([part[0] for part in parts]), y, weight, time


def kept_part(X: Any, y: NDArray[Any], weight: Floats | None, came: Any = NO_TIME) -> Part:
    """Copies of rows that are to be kept."""
    weight = None if weight is None else weight.copy()
    return own_rows(X), y.copy(), weight, np.full(len(y), came)
