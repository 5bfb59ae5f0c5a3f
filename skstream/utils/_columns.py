"""Columns appended to whatever holds rows: arrays, sparse matrices, data frames."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.utils._optional import optional_import


def append_columns(X: Any, values: NDArray[np.int64], names: list[str]) -> Any:
    """Append columns on the right; the result is of the kind of `X`.

    Parameters
    ----------
    X : {ndarray, sparse matrix, pandas or polars dataframe} of shape (n_rows, n_features)
        The rows. They are not changed.
    values : ndarray of shape (n_rows, n_columns), dtype int64
        What the new columns hold. Floating-point arrays and sparse matrices keep their dtype.
    names : list of str
        Names of the new columns, for data frames. In a pandas frame without string names they
        are numbered instead, since names of mixed types are not accepted by scikit-learn.

    Returns
    -------
    {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features + n_columns)
        Sparse matrices come back as CSR.

    Raises
    ------
    ValueError
        If a data frame already has a column of one of the names.
    """
    if not names:
        return X
    if hasattr(X, "columns"):
        return _append_to_frame(X, values, names)
    if sparse.issparse(X):
        columns = sparse.csr_matrix(values, dtype=_dtype_beside(X.dtype))
        if not sparse.isspmatrix(X):
            columns = sparse.csr_array(columns)
        return sparse.hstack([X, columns], format="csr")
    width = X.shape[1]
    extended = np.empty((len(X), width + len(names)), dtype=_dtype_beside(X.dtype))
    extended[:, :width] = X
    extended[:, width:] = values
    return extended


def _dtype_beside(dtype: Any) -> Any:
    """Dtype that holds the values of an array and small integers beside them."""
    if dtype.kind == "f":
        return dtype
    return np.result_type(dtype, np.int64) if dtype.kind in "biu" else np.dtype(object)


def _append_to_frame(X: Any, values: NDArray[np.int64], names: list[str]) -> Any:
    taken = [name for name in names if name in X.columns]
    if taken:
        raise ValueError(
            f"The data frame already has columns named {taken}, which are to be appended. "
            f"Rename them."
        )
    if not hasattr(X, "iloc"):
        polars = optional_import("polars", "Appending columns to a polars frame")
        return X.hstack([polars.Series(name, values[:, i]) for i, name in enumerate(names)])
    pandas = optional_import("pandas", "Appending columns to a pandas frame")
    named = any(isinstance(column, str) for column in X.columns)
    columns = names if named else range(X.shape[1], X.shape[1] + len(names))
    return pandas.concat([X, pandas.DataFrame(values, index=X.index, columns=columns)], axis=1)
