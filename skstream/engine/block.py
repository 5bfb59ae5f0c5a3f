"""What the engine hands to a model: learns and asks, interleaved, over a few rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstream.utils._optional import optional_import


@dataclass(frozen=True, slots=True)
class Company:
    """Rows of one call of ``predict``, not all of which are asked about.

    Attributes
    ----------
    index : ndarray of shape (n_rows,), dtype intp
        Position in ``ask_X`` of every row of the call.
    asked : ndarray of shape (n_asked,), dtype intp
        Which of them are the asks of the call, in their order.
    """

    index: np.ndarray
    asked: np.ndarray


@dataclass(frozen=True, slots=True)
class Block:
    """A run of learns and asks that one model executes in order.

    The order is given by the stamps: ask ``i`` is made after exactly ``stamp[i]`` of this
    block's learns. Learns and asks have rows of their own (``learn_X``, ``ask_X``, often the
    same object), because a transformer shows a model another row when it learns than when it
    is asked.

    Attributes
    ----------
    learn_X, ask_X : {ndarray, sparse matrix, dataframe} with rows
        Storage of the rows. Not every stored row need be used.
    learn_index : ndarray of shape (n_learns,), dtype intp
        Position in `learn_X` of every row to learn, in the order of learning.
    y : ndarray of shape (n_learns,)
        Class codes (positions in the sorted classes, int64), or targets (float64).
    weight : ndarray of shape (n_learns,), dtype float64, or None
        Learning weights, all positive; None where all are 1.
    ask_index : ndarray of shape (n_asks,), dtype intp
        Position in `ask_X` of every row asked. A row may be asked more than once.
    stamp : ndarray of shape (n_asks,), dtype int64
        Number of this block's learns made before each ask; non-decreasing.
    batches : ndarray of shape (n_batches + 1,), dtype int64, or None
        Bounds of the learns that form one ``partial_fit`` each; None: one row each.
    groups : ndarray of shape (n_groups + 1,), dtype int64, or None
        Bounds of the asks that share one ``predict`` call (all of one stamp); None: one row
        each. Part of the protocol, not of the chunking, so that a model whose answers hang
        on the size of the call answers alike however the stream is cut. Kernels ignore it.
    company : mapping of int to Company, or None
        For each call of ``predict``, by the number of asks left when it is made (which leaving out
        earlier asks does not change): the rows that it is about. None: those asked, no others.
    """

    learn_X: Any
    learn_index: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    ask_X: Any
    ask_index: np.ndarray
    stamp: np.ndarray
    batches: np.ndarray | None = None
    groups: np.ndarray | None = None
    company: Mapping[int, Company] | None = None

    @property
    def n_learns(self) -> int:
        """Number of rows learnt."""
        return len(self.learn_index)

    @property
    def n_asks(self) -> int:
        """Number of questions asked."""
        return len(self.ask_index)


def take_rows(X: Any, index: np.ndarray) -> Any:
    """Rows of `X` at `index`: a view where they are consecutive, else a copy."""
    n = len(index)
    rows: slice | np.ndarray
    if n and index[-1] - index[0] == n - 1 and (n < 3 or bool((np.diff(index) == 1).all())):
        start = int(index[0])
        rows = slice(start, start + n)
        if start == 0 and n == X.shape[0]:
            return X
    else:
        rows = index
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]


def stack_rows(parts: list[Any]) -> Any:
    """Rows of several containers of one kind, one below the other."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if hasattr(first, "iloc"):
        return optional_import("pandas", "Stacking data frames").concat(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return optional_import("polars", "Stacking data frames").concat(parts)


def own_rows(rows: Any) -> Any:
    """Rows with memory of their own, so that writing into them changes nothing else.

    Laid out alike: NumPy's arithmetic on columns that are not side by side, or backwards, may
    round the last digit otherwise.
    """
    if not isinstance(rows, np.ndarray):
        return rows.copy() if hasattr(rows, "iloc") or sparse.issparse(rows) else rows
    if rows.flags.c_contiguous:
        return rows.copy()
    forwards = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in rows.strides)
    ordered = rows[forwards]
    side_by_side = [
        n > 1 and s == rows.itemsize for n, s in zip(ordered.shape, ordered.strides, strict=True)
    ]
    if any(side_by_side):
        copied = ordered.copy(order="K")
    else:
        copied = np.empty((*ordered.shape, 2), dtype=ordered.dtype)[..., 0]
        copied[...] = ordered
    return copied[forwards]
