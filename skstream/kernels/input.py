"""Rows as kernels compute with them: finite floats, with the columns that were learnt first."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.schema import Columns
from skstream.utils._rows import is_frame, take_rows

# Integers and booleans become float64 exactly as scikit-learn's own arithmetic makes them.
EXACT = (np.float64, np.bool_, np.integer)
#: For models that turn float32 into float64 before they compute.
EXACT_OR_SINGLE = (*EXACT, np.float32)


class Learnt(NamedTuple):
    """The rows of a block as a kernel reads them; `columns` as they are after its learns."""

    learn: Any
    ask: Any
    columns: Columns


def read_block(
    block: Block,
    columns: Columns,
    *,
    accept_sparse: bool = False,
    dtypes: tuple[type, ...] = EXACT,
    finite: bool = True,
    keep_single: bool = False,
    sparse_single: bool = False,
) -> Learnt:
    """Rows that a block learns and asks, or `Declined` where the loop has to read them.

    Declined is whatever scikit-learn may treat otherwise than as float64: other containers and
    dtypes, NaN and infinity (unless `finite` is False: then the caller handles them), columns
    that do not match. With `keep_single`, dense rows of float32 stay float32, for models that
    compute in the precision of their rows; with `sparse_single`, sparse ones, too.
    """
    if keep_single:
        dtypes = EXACT_OR_SINGLE
    learn, ask, kept = None, None, (keep_single, sparse_single)
    if block.n_learns:
        values, seen = _read(block.learn_X, accept_sparse, dtypes)
        columns = columns.learn(seen)
        learn = _as_floats(take_rows(values, block.learn_index), *kept)
        if finite:
            _check_finite(learn)
    if block.n_asks:
        if not (block.n_learns and block.ask_X is block.learn_X):
            values, seen = _read(block.ask_X, accept_sparse, dtypes)
        columns.check(seen)
        same = learn is not None and block.ask_X is block.learn_X
        same = same and np.array_equal(block.ask_index, block.learn_index)
        ask = learn if same else _as_floats(take_rows(values, block.ask_index), *kept)
        if finite and not same:
            _check_finite(ask)
    like = learn if ask is None else ask
    nothing = np.empty((0, columns.number or 0), None if like is None else like.dtype)
    return Learnt(nothing if learn is None else learn, nothing if ask is None else ask, columns)


def _read(X: Any, accept_sparse: bool, dtypes: tuple[type, ...]) -> tuple[Any, Columns]:
    """Values of a container of rows, and its columns."""
    if isinstance(X, np.ndarray):
        _check_array(X)
        _check_dtype(X.dtype, dtypes)
        return X, Columns(X.shape[1])
    if sparse.issparse(X):
        if not accept_sparse:
            raise Declined("sparse rows have no kernel")
        if X.format != "csr":
            raise Declined(f"sparse rows in the format {X.format} have no kernel; CSR has")
        _check_dtype(X.dtype, dtypes)
        return X, Columns(X.shape[1])
    return _read_frame(X, dtypes)


def check_any_values(X: Any) -> None:
    """Decline rows of any values that are no data frame, and no plain array of rows."""
    if is_frame(X):
        return
    _check_array(X)
    if X.dtype.kind not in "biufOUSmM":
        raise Declined(f"{X.dtype} rows have no kernel")


def check_stored_once(X: Any) -> None:
    """Decline rows that store a column twice; in which order they store them does not matter."""
    if X.has_canonical_format:
        return
    # Sorted and still not canonical: some column is there twice.
    if X.has_sorted_indices or not X.sorted_indices().has_canonical_format:
        raise Declined("sparse rows that store a feature twice have no kernel")


def _check_array(X: Any) -> None:
    if not isinstance(X, np.ndarray) or isinstance(X, (np.matrix, np.ma.MaskedArray)):
        raise Declined(f"rows of {type(X).__name__} have no kernel")
    if X.ndim != 2 or X.shape[1] == 0:
        raise Declined(f"rows in an array of shape {X.shape} have no kernel")


def _check_dtype(dtype: Any, dtypes: tuple[type, ...]) -> None:
    if not isinstance(dtype, np.dtype) or not issubclass(dtype.type, dtypes):
        raise Declined(f"{dtype} rows have no kernel")


def _read_frame(X: Any, dtypes: tuple[type, ...]) -> tuple[NDArray[Any], Columns]:
    """Convert a frame whose columns are all numbers, as scikit-learn does."""
    is_polars = type(X).__module__.partition(".")[0] == "polars"
    if not hasattr(X, "iloc") and not is_polars:
        raise Declined(f"rows of {type(X).__name__} have no kernel")
    is_read = _is_number_of_polars if is_polars else _is_number_of_pandas
    for dtype in X.dtypes:
        if not is_read(dtype, dtypes):
            raise Declined(f"{dtype} columns have no kernel")
    reader = BaseEstimator()
    try:
        values = validate_data(reader, X, dtype="numeric", ensure_all_finite=False)
    except (TypeError, ValueError) as error:  # e.g. names of mixed types
        raise Declined("a data frame that scikit-learn refuses has no kernel") from error
    _check_dtype(values.dtype, dtypes)
    if is_polars and values.dtype == np.float32:
        # Models that take float32 or float64 get float64: of a polars frame scikit-learn does not
        # look up the types of the columns.
        values = values.astype(np.float64)
    return values, Columns.of(reader)


def _is_number_of_pandas(dtype: Any, dtypes: tuple[type, ...]) -> bool:
    """Whether a column is of NumPy's numbers, or of those that may be missing.

    scikit-learn makes float64 of every column as soon as one is of the second kind (Int64,
    boolean, double[pyarrow] and so on), and NaN of what is missing.
    """
    if isinstance(dtype, np.dtype):
        return issubclass(dtype.type, dtypes)
    return isinstance(getattr(dtype, "numpy_dtype", None), np.dtype) and dtype.kind in "biuf"


def _is_number_of_polars(dtype: Any, dtypes: tuple[type, ...]) -> bool:
    """Whether a column is of integers, floats or booleans.

    polars decides by the columns which NumPy type the rows get; that is checked later.
    """
    return bool(dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean")


def _as_floats(values: Any, keep_single: bool, sparse_single: bool) -> Any:
    """Rows as float64, or float32 where it is kept; dense rows contiguous."""
    is_single = keep_single and values.dtype == np.float32
    if not sparse.issparse(values):
        return np.ascontiguousarray(values, dtype=np.float32 if is_single else np.float64)
    if is_single and sparse_single:
        return values
    if is_single:
        raise Declined("sparse float32 rows have no kernel")
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _check_finite(values: Any) -> None:
    """Leave NaN and infinity to scikit-learn's own messages."""
    numbers = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum is cheaper than a test per number, and misses nothing.
        if not (np.isfinite(numbers.sum()) or np.isfinite(numbers).all()):
            raise Declined("rows with NaN or infinity have no kernel")
