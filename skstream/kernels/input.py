"""What kernels read, or refuse: columns, classes and parameters, rows as finite floats, and blocks.

Columns are those learnt first. Sentences that several kernels give as a reason are here, too.
"""

import functools
import pickle
from collections.abc import Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import validate_data

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block, distinct_rows
from skstream.core.engine.kernel import Declined, Kernel, TransformKernel
from skstream.utils._numba import numba_enabled
from skstream.utils._rows import is_frame, stack_rows, take_rows
from skstream.utils._sklearn import output_container
from skstream.utils._validation import is_classifier, is_fitted

#: Reasons that several kernels give.
OTHER_COLUMNS = "rows with other columns than the first have no kernel"
OTHER_PRECISION = "float32 and float64 rows together have no kernel"
DENSE_AND_SPARSE = "dense and sparse rows together have no kernel"
#: Why a fitted model is refused whose labels are others than those of the stream.
OTHER_CLASSES = "other classes_ than the labels of the stream"


class Columns(NamedTuple):
    """Number and names of the columns that a model knows; fixed by the first rows it learns.

    These are the names that scikit-learn keeps: None unless all are texts. The `Schema` of a stream
    also tells containers apart, which mean the same to a model.
    """

    number: int | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, estimator: Any) -> "Columns":
        """Columns that a fitted estimator knows; none for an unfitted one."""
        names = getattr(estimator, "feature_names_in_", None)
        number = getattr(estimator, "n_features_in_", None)
        return cls(number, None if names is None else tuple(names))

    @classmethod
    def of_rows(cls, X: Any) -> "Columns":
        """Columns that an estimator would learn from rows, as scikit-learn sees them."""
        if type(X) is np.ndarray and X.ndim == 2:  # scikit-learn takes long to find that out
            return cls(X.shape[1])
        reader = BaseEstimator()
        try:
            validate_data(reader, X, skip_check_array=True)
        except TypeError as error:  # for the loop to explain
            raise Declined("columns with names of several types have no kernel") from error
        return cls.of(reader)

    def learn(self, seen: "Columns") -> "Columns":
        """Take the columns from the first rows learnt; later, compare."""
        if self.number is None:
            return seen
        self.check(seen)
        return self

    def check(self, seen: "Columns") -> None:
        """Leave rows of another width, or with other names, to scikit-learn's own messages."""
        if seen != self:
            raise Declined(OTHER_COLUMNS)

    def after(self, block: Block) -> "Columns":
        """Columns known after a block whose values a model does not use."""
        known = self.learn(Columns.of_rows(block.learn_X)) if block.n_learns else self
        if block.n_asks and block.ask_X is not block.learn_X:
            known.check(Columns.of_rows(block.ask_X))
        return known

    def export(self, estimator: Any) -> None:
        """Write the attributes that validation by scikit-learn sets."""
        if self.number is not None:  # texts have no columns
            estimator.n_features_in_ = self.number
        if self.names is not None:
            estimator.feature_names_in_ = np.asarray(self.names, dtype=object)


def knows_classes(estimator: Any, task: Task) -> bool:
    """Whether an estimator is unfitted, or fitted with the classes of the task."""
    own = getattr(estimator, "classes_", None) if is_fitted(estimator) else None
    if own is None:
        return True
    return task.classes is not None and np.array_equal(own, class_labels(task))


def refused_task(
    estimator: Any, task: Task, methods: Sequence[str], *, one_by_one: bool = False
) -> str | None:
    """What of the task of a classifier has no kernel, for `Kernel.refusal`.

    Parameters
    ----------
    estimator : estimator
        Fitted or not.
    task : Task
    methods : sequence of str
        Those that the kernel answers.
    one_by_one : bool, default=False
        Whether a batch is one step, so that the kernel knows rows one by one only.
    """
    if task.classes is None:
        return "a regression task"
    if task.method not in methods:
        return f"{task.method} as the answer"
    if one_by_one and task.batch_size > 1:
        return f"batch_size={task.batch_size}"
    if not has_valid_parameters(estimator):
        return "parameters that it refuses"
    return None if knows_classes(estimator, task) else OTHER_CLASSES


def check_classifier(model: Any) -> None:
    """Decline what a meta-classifier refuses to wrap, for the loop to say so."""
    if not is_classifier(model):
        raise Declined(f"{type(model).__name__}, which is no classifier, has no kernel here")


def class_labels(task: Task) -> Any:
    """Class labels as an estimator keeps them."""
    return _unique_labels(pickle.dumps(task.classes)).copy()


@functools.lru_cache(maxsize=64)
def _unique_labels(classes: bytes) -> Any:
    """Unique labels of pickled ones: scikit-learn needs long to find their type."""
    return unique_labels(pickle.loads(classes))


def refused_seed(estimator: Any) -> str | None:
    """Refuse a seed that would be drawn again, for `Kernel.refusal`."""
    known = is_fitted(estimator) or isinstance(estimator.random_state, Integral)
    return None if known else value_of(estimator, "random_state")


def refused_output(transformer: Any) -> str | None:
    """Refuse a transformer that was asked for data frames, for `TransformKernel.refusal`."""
    container = output_container(transformer)
    return None if container == "default" else f'set_output(transform="{container}")'


def refused_scaler(transformer: Any, task: Task, flags: Sequence[str]) -> str | None:
    """Refuse what no scaler's kernel knows, for `TransformKernel.refusal`.

    Parameters
    ----------
    transformer : estimator
        With a parameter `copy`, which must be True.
    task : Task
    flags : sequence of str
        Parameters that must be True or False.
    """
    if task.batch_size > 1:
        return f"batch_size={task.batch_size}"
    for name in flags:
        if not isinstance(getattr(transformer, name), bool | np.bool_):
            return value_of(transformer, name)
    return refused_output(transformer) if transformer.copy else value_of(transformer, "copy")


def has_valid_parameters(estimator: Any) -> bool:
    """Whether ``fit`` would accept the parameters; if not, the loop shows its error."""
    try:
        estimator._validate_params()
    except (TypeError, ValueError):
        return False
    return True


def decline_uncompiled(n: int, what: str, most: int) -> None:
    """Decline where loops would run uncompiled over more than `most` numbers at every row.

    There the estimator's own loop, whose inner loops are compiled, is no slower.
    """
    if n > most and not numba_enabled():
        raise Declined(f'{n} {what} have a kernel only with numba (pip install "skstream[fast]")')


def value_of(estimator: Any, name: str) -> str:
    """Name and value of a parameter that a kernel refuses."""
    value = repr(getattr(estimator, name))
    return f"{name}={value}" if len(value) <= 40 else f"this {name}"


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


def check_weights(block: Block) -> None:
    """Leave weights to the loop where metadata routing decides which model they reach."""
    if block.weight is not None and get_config()["enable_metadata_routing"]:
        raise Declined("weights have no kernel where metadata routing says which steps they reach")


def shared_step(
    kernel: Kernel | TransformKernel, likeness: bytes | None, state: Any, block: Block
) -> tuple[Any, Any]:
    """Step of a kernel, taken over from that of another model if it has made the same one."""
    return block.once(likeness, state, partial(kernel.step, state, block))


def used_rows(block: Block) -> tuple[list[tuple[Any, np.ndarray]], np.ndarray, np.ndarray]:
    """Return what a block uses of its storages, each row of the same storage once.

    Returns
    -------
    used : list of (rows, index)
        Storages, and positions in them.
    learnt, asked : ndarray of shape (n_learns,) and (n_asks,)
        Positions of the rows among all that are used.
    """
    n_learns = block.n_learns
    if block.ask_X is block.learn_X:
        rows, places = distinct_rows(np.concatenate([block.learn_index, block.ask_index]))
        return [(block.learn_X, rows)], places[:n_learns], places[n_learns:]
    used = [(block.learn_X, block.learn_index), (block.ask_X, block.ask_index)]
    asked = n_learns + np.arange(block.n_asks)
    return [part for part in used if len(part[1])], np.arange(n_learns), asked


def asks_of_next(block: Block) -> NDArray[np.bool_]:
    """Whether each ask is about the very row that is learnt next."""
    if block.ask_X is not block.learn_X or not block.n_learns:
        return np.zeros(block.n_asks, dtype=bool)
    following = block.learn_index.take(block.stamp, mode="clip")
    return (following == block.ask_index) & (block.stamp < block.n_learns)


def separate_rows(block: Block) -> tuple[Any, Any, np.ndarray]:
    """Rows of a block in the order of the learns, and those asked that are not the same.

    What a model makes of a row may depend on what it has learnt before. A row asked right before it
    is learnt is the same in both, and need not be computed twice.

    Returns
    -------
    learnt : rows
        The rows to learn.
    others : rows
        The rows asked that are not the next to be learnt.
    is_other : ndarray of shape (n_asks,), dtype bool
        Which asks they are.
    """
    is_other = ~asks_of_next(block)
    others = take_rows(block.ask_X, block.ask_index[is_other])
    return take_rows(block.learn_X, block.learn_index), others, is_other


def joined_rows(
    learnt: Any, others: Any, is_other: np.ndarray, stamp: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Storage for rows from `separate_rows`, and the position of every asked row in it."""
    if not is_other.any():
        return learnt, stamp.astype(np.intp)
    n_learns = learnt.shape[0]
    index = np.where(is_other, n_learns + np.cumsum(is_other) - 1, stamp).astype(np.intp)
    return stack_rows([learnt, others]) if n_learns else others, index
