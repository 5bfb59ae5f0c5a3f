"""Rows as the linear kernels need them, or a refusal where scikit-learn must speak."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.engine.block import take_rows
from skstream.engine.kernels._base import Declined


class SparseRows(NamedTuple):
    """Rows of a CSR matrix.

    Attributes
    ----------
    values : ndarray of shape (n_stored,), dtype float64
        Stored values, row after row.
    at : ndarray of shape (n_stored,), dtype int32 or int64
        Column of every value.
    bounds : ndarray of shape (n_rows + 1,), dtype int64
        Row ``i`` has the values ``bounds[i]`` to ``bounds[i + 1]``.
    """

    values: NDArray[np.float64]
    at: NDArray[np.integer[Any]]
    bounds: NDArray[np.int64]


Rows = NDArray[np.float64] | SparseRows


def read_rows(X: Any, index: NDArray[np.intp]) -> Rows:
    """Rows of `X` at `index` as scikit-learn would convert them for SGD.

    Parameters
    ----------
    X : {ndarray, CSR matrix, pandas DataFrame} with rows
        Storage.
    index : ndarray of shape (n,)
        Rows wanted.

    Returns
    -------
    ndarray of shape (n, n_features), dtype float64, C order, or SparseRows

    Raises
    ------
    Declined
        For everything that scikit-learn refuses, warns about, or computes in other ways
        (float32): NaN, infinity, texts, other containers.
    """
    if type(X) in (np.ndarray, np.memmap):
        rows = _read_array(take_rows(X, index)) if X.ndim == 2 else None
    elif sparse.issparse(X):
        rows = _read_csr(X, index)
    elif hasattr(X, "iloc"):
        rows = _read_frame(X, index)
    else:
        rows = None
    if rows is None:
        raise Declined
    return rows


def feature_names_of(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a frame that scikit-learn takes note of: all of them texts.

    Raises
    ------
    Declined
        If only some are: scikit-learn refuses them.
    """
    if not hasattr(X, "columns"):
        return None
    is_text = [isinstance(name, str) for name in X.columns]
    if all(is_text) and is_text:
        return tuple(X.columns)
    if any(is_text):
        raise Declined
    return None


def _is_convertible(dtype: Any) -> bool:
    """Whether float64 holds what scikit-learn computes with (float32 it leaves as it is)."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype != np.float32


def _is_finite(values: NDArray[np.float64]) -> bool:
    # A finite sum needs one pass and no memory; only an infinite one may be overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def _read_array(X: NDArray[Any]) -> Rows | None:
    if not _is_convertible(X.dtype) or X.shape[1] == 0:
        return None
    rows = np.ascontiguousarray(X, dtype=np.float64)
    return rows if _is_finite(rows) else None


def _read_frame(X: Any, index: NDArray[np.intp]) -> Rows | None:
    dtypes = list(X.dtypes)
    if not dtypes or not all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return None
    if not all(map(_is_convertible, [*dtypes, np.result_type(*dtypes)])):
        return None
    return _read_array(np.asarray(take_rows(X, index), dtype=np.float64))


def _read_csr(X: Any, index: NDArray[np.intp]) -> Rows | None:
    if X.format != "csr" or X.ndim != 2 or X.shape[1] == 0:
        return None
    # Repeated or unsorted columns within a row are rare and not worth a case of their own.
    if not _is_convertible(X.dtype) or X.indices.dtype != np.int32 or not X.has_canonical_format:
        return None
    taken = take_rows(X, index)
    values = np.ascontiguousarray(taken.data, dtype=np.float64)
    if not _is_finite(values):
        return None
    return SparseRows(values, taken.indices, taken.indptr.astype(np.int64))
