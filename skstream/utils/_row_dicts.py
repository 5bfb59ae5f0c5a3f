"""Rows as dictionaries of Python values, as libraries that learn one row at a time take them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.utils._labels import is_missing
from skstream.utils._rows import is_frame, take_rows

# Values turned into Python objects at once, and parts of the rows kept that way: rows are asked
# when they come and learnt when their label comes, which may be much later.
_VALUES_AT_ONCE = 20_000
_PARTS_KEPT = 4


class RowDicts:
    """Rows of one container, by their position; each is turned into a dictionary once.

    Parameters
    ----------
    X : {ndarray, sparse matrix, dataframe} with rows
        Names of features are those of the columns of a frame, else 0, 1, 2, ...
    missing : {"omit", "none"}
        Whether a missing value (NaN, None) is left out of its row, or is None there. The values
        that a sparse matrix does not store are left out.
    names : sequence, optional
        Names of the columns of an array or sparse matrix, if they are known.
    """

    def __init__(self, X: Any, missing: str, names: Sequence[Any] | None = None):
        self.X = X
        self._source = X.tocsr() if sparse.issparse(X) else X
        self._missing = missing
        self._names = names
        width = X.shape[1] if len(X.shape) > 1 else 1
        self._n_rows = max(1, _VALUES_AT_ONCE // max(1, width))
        self._part = lru_cache(_PARTS_KEPT)(self._made)

    def rows(self, index: NDArray[np.intp]) -> Iterator[Any]:
        """Yield rows in the order of their positions."""
        number, part = -1, []
        for row in index.tolist():
            if row // self._n_rows != number:
                number = row // self._n_rows
                part = self._part(number)
            yield part[row - number * self._n_rows]

    def _made(self, number: int) -> list[Any]:
        begin = number * self._n_rows
        rows = take_rows(self._source, slice(begin, begin + self._n_rows))
        return dicts_of(rows, self._missing, self._names)


def dicts_of(X: Any, missing: str, known: Sequence[Any] | None = None) -> list[Any]:
    """Rows as dictionaries; texts of an array without columns stay what they are."""
    if sparse.issparse(X):
        return _sparse_dicts(X, missing, range(X.shape[1]) if known is None else known)
    if not is_frame(X):
        if X.ndim == 1:
            return list(X.tolist())
        names, rows = [*(range(X.shape[1]) if known is None else known)], X.tolist()
        if X.dtype.kind != "f":
            gaps = _gaps(rows) if X.dtype.kind == "O" else {}
        else:
            holes = np.isnan(X)
            with_gaps = np.flatnonzero(holes.any(axis=1)).tolist()
            gaps = {row: np.flatnonzero(holes[row]).tolist() for row in with_gaps}
    elif hasattr(X, "iloc"):
        names = list(X.columns)
        columns = [X.iloc[:, place].tolist() for place in range(len(names))]
        rows = list(zip(*columns, strict=True)) if columns else [()] * len(X)
        gaps = _gaps(rows)
    else:
        names, rows = X.columns, X.rows()
        gaps = _gaps(rows)
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    for row, places in gaps.items():
        for place in places:
            if missing == "omit":
                del dicts[row][names[place]]
            else:
                dicts[row][names[place]] = None
    return dicts


def _gaps(rows: list[Any]) -> dict[int, list[int]]:
    """Places of missing values by row."""
    found = {}
    for number, row in enumerate(rows):
        places = [place for place, value in enumerate(row) if is_missing(value)]
        if places:
            found[number] = places
    return found


def _sparse_dicts(X: Any, missing: str, names: Sequence[Any]) -> list[dict[Any, Any]]:
    if not X.has_canonical_format:  # a feature that is stored twice has the sum of both
        X = X.copy()
        X.sum_duplicates()
    bounds, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    if X.data.dtype.kind == "f" and np.isnan(X.data).any():
        if missing == "omit":
            known = ~np.isnan(X.data)
            bounds = np.concatenate([[0], np.cumsum(known)])[X.indptr].tolist()
            columns, values = X.indices[known].tolist(), X.data[known].tolist()
        else:
            values = [None if value != value else value for value in values]
    columns = [names[column] for column in columns]
    return [
        dict(zip(columns[begin:end], values[begin:end], strict=True))
        for begin, end in pairwise(bounds)
    ]
