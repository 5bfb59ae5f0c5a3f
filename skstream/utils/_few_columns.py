"""Reductions along rows of few columns, which NumPy takes one row at a time."""

import numpy as np
from numpy.typing import NDArray


def row_sums(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """``X.sum(axis=1, keepdims=True)``, to the last bit."""
    if X.shape[1] != 2:  # of more, the order of the sum is NumPy's own
        total: NDArray[np.float64] = X.sum(axis=1, keepdims=True)
        return total
    return X[:, :1] + X[:, 1:]


def best_columns(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """``X.argmax(axis=1)``: of equal numbers the first, and NaN before any number."""
    if X.shape[1] != 2:
        best: NDArray[np.int64] = X.argmax(axis=1).astype(np.int64, copy=False)
        return best
    first, second = X[:, 0], X[:, 1]
    is_second: NDArray[np.bool_] = ~(second <= first) & (first == first)
    return is_second.astype(np.int64)
