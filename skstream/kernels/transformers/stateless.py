"""Kernel for transformers that learn nothing from a row: a block's rows are transformed once.

A function of NumPy may have several loops, and the layout in memory decides which one runs: the
vector loop of ``exp`` differs from the plain one by a unit in the last place. The loop shows a
transformer one row at a time, in the layout of the user's own storage. So rows are taken together
only where every row lies in memory as all of them do, and this machine has been seen to round
alike; else the function is called row by row, where the rows are.
"""

import copy
import functools
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import FunctionTransformer, Normalizer

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined, TransformKernel
from skstream.core.engine.loop import changed_methods
from skstream.kernels.input import refused_output, used_rows, value_of
from skstream.utils._optional import optional_import
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted, reads_frame_as_names

_COPIED = {"copy": True}
# Parameters with which encoders and imputers take nothing from the rows, as in `StreamPipeline`.
_ENCODER = {"min_frequency": None, "max_categories": None}
_IMPUTER = {"strategy": "constant", "keep_empty_features": True, "add_indicator": False}

# Transformers whose answer to a row depends on that row alone, to the last bit (nothing goes
# through a matrix product), and the parameters that they must have.
_STATELESS: dict[str, dict[str, Any]] = {
    "Binarizer": _COPIED,
    "DatetimeFeatures": {},
    "FeatureHasher": {},
    "FunctionTransformer": {},
    "HashingVectorizer": {},
    "Normalizer": _COPIED,
    "OneHotEncoder": _ENCODER,
    "OrdinalEncoder": _ENCODER,
    "PolynomialFeatures": {},
    "SimpleImputer": {**_IMPUTER, **_COPIED},
}
# The same once they are fitted.
_COPYING = ["MaxAbsScaler", "MinMaxScaler", "RobustScaler", "SimpleImputer", "StandardScaler"]
_OTHERS = ["CountVectorizer", "KBinsDiscretizer", "OneHotEncoder", "OrdinalEncoder"]
_FITTED: dict[str, dict[str, Any]] = {
    **_STATELESS,
    **dict.fromkeys(_COPYING, _COPIED),
    **{name: {} for name in (*_OTHERS, "TfidfTransformer", "TfidfVectorizer")},
}


def _refused(transformer: Any, fixed: dict[str, Any]) -> str | None:
    """Which parameter, or function, has no kernel."""
    for name, value in fixed.items():
        if getattr(transformer, name) != value:
            return value_of(transformer, name)
    if fixed is _ENCODER and isinstance(transformer.categories, str):
        return value_of(transformer, "categories")
    if isinstance(transformer, FunctionTransformer):
        function = transformer.func
        is_ufunc = isinstance(function, np.ufunc) and function.nin == function.nout == 1
        if function is not None and function is not np.ravel and not is_ufunc:
            return "a function other than a ufunc of NumPy"  # it may look at other rows
        for name in ("kw_args", "inverse_func"):
            if getattr(transformer, name):
                return name
    return None


class StatelessKernel(TransformKernel):
    """Transformers without state, determined by their parameters, or frozen.

    They are fitted on the first row learnt, from which they take the number and names of the
    columns at most. The fitted transformer is the state; it does not change any more.
    """

    shareable = True

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse what may look at other rows than the one that it transforms."""
        refused = refused_output(transformer)
        if refused is not None or not isinstance(transformer, FrozenEstimator):
            return refused or _refused(transformer, _STATELESS[type(transformer).__name__])
        inner = transformer.estimator
        name = type(inner).__name__
        if name not in _FITTED or not type(inner).__module__.startswith(("sklearn.", "skstream.")):
            return f"{name} inside"
        if not is_fitted(inner):
            return f"an unfitted {name} inside"
        refused = changed_methods(inner) or refused_output(inner) or _refused(inner, _FITTED[name])
        return None if refused is None else f"a {name} inside with {refused}"

    def initial_state(self) -> Any:
        """Return the fitted transformer; None before the first row."""
        return self.estimator if _is_settled(self.estimator) else None

    def step(self, state: Any, block: Block) -> tuple[Any, Block]:
        """Transform every row of the block once."""
        if not block.n_learns and not block.n_asks:
            return state, block
        fitted = state
        try:
            if fitted is None:
                fitted = _fit(self.estimator, take_rows(block.learn_X, block.learn_index[:1]))
            if block.ask_X is block.learn_X:
                ((X, rows),), learn_index, ask_index = used_rows(block)
                learn = ask = transformed(fitted, X, rows)
            else:
                learn = transformed(fitted, block.learn_X, block.learn_index)
                ask = transformed(fitted, block.ask_X, block.ask_index)
                learn_index, ask_index = np.arange(block.n_learns), np.arange(block.n_asks)
        except Declined:
            raise
        except Exception as error:  # whatever it is, the loop meets it at its row
            name = type(self.estimator).__name__
            raise Declined(f"rows at which {name} fails have no kernel") from error
        shown = replace(
            block, learn_X=learn, learn_index=learn_index, ask_X=ask, ask_index=ask_index
        )
        return fitted if block.n_learns else state, shown

    def export(self, state: Any) -> None:
        """Write the fitted attributes."""
        if state is not None and not _is_settled(self.estimator):
            vars(self.estimator).update(vars(copy.deepcopy(state)))


def _is_settled(transformer: Any) -> bool:
    """Whether a transformer needs no fitting any more."""
    return isinstance(transformer, FrozenEstimator) or any(
        name.endswith("_") and not name.startswith("_") for name in vars(transformer)
    )


def _fit(transformer: Any, first_row: Any) -> Any:
    """Copy of a transformer that has learnt its first row."""
    fitted = copy.deepcopy(transformer)
    learn = getattr(fitted, "partial_fit", fitted.fit)
    learn(first_row)
    return fitted


def transformed(fitted: Any, X: Any, index: NDArray[np.intp]) -> Any:
    """Rows of `X` at `index` as a fitted transformer without state transforms each alone."""
    if not len(index):
        return X
    transformer = getattr(fitted, "estimator", fitted)
    if reads_frame_as_names(transformer, X):
        raise Declined(f"{type(transformer).__name__} has no kernel for data frames")
    if isinstance(transformer, FunctionTransformer):
        if transformer.validate:
            # Its own check of the rows may change their layout: for the loop to see.
            raise Declined("FunctionTransformer(validate=True) has no kernel")
        if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
            return _function_of_rows(transformer.func, X, index)
        if transformer.func is not None:
            raise Declined(f"a function of rows in a {type(X).__name__} has no kernel")
    rows = take_rows(X, index)
    if isinstance(rows, np.ndarray):
        # Sums along rows are rounded by the order in memory; a single row has but one.
        rows = np.ascontiguousarray(rows)
    elif isinstance(transformer, Normalizer) and not sparse.issparse(rows):
        raise Declined("Normalizer has no kernel for data frames")
    if isinstance(transformer, HashingVectorizer):
        return _each_text_once(fitted, list(rows))
    return fitted.transform(rows)


def _each_text_once(fitted: Any, texts: list[Any]) -> Any:
    """Rows of texts, of which equal ones are taken apart only once where they are many."""
    if not all(type(text) is str for text in texts):  # whatever else compares as equal
        return fitted.transform(texts)
    place_of = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    if 2 * len(place_of) > len(texts):
        return fitted.transform(texts)
    places = np.fromiter(map(place_of.__getitem__, texts), np.intp, len(texts))
    return fitted.transform(list(place_of))[places]


def _function_of_rows(function: Any, X: Any, index: NDArray[np.intp]) -> Any:
    if function is None:
        return take_rows(X, index)
    if function is np.ravel:
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != 1:
            raise Declined("ravel of anything but one column of an array has no kernel")
        return take_rows(X, index)[:, 0]
    values = X if isinstance(X, np.ndarray) else _values_in_place(X)
    if values is None:
        raise Declined(
            f"{function.__name__} of a data frame has no kernel "
            "where its columns do not lie in one array"
        )
    lies_alike = values.strides[1:] == (values.itemsize,) and values.flags.aligned
    if lies_alike and values.dtype.isnative and _rounds_alike(function, values.dtype):
        out = function(np.ascontiguousarray(take_rows(values, index)))
    else:
        first = function(values[index[0] : index[0] + 1])
        out = np.empty((len(index), *first.shape[1:]), first.dtype)
        for place, row in enumerate(index.tolist()):
            function(values[row : row + 1], out[place : place + 1])
    return out if values is X else _frame(out, X.index[index], X.columns)


def laid_out_by_rows(X: Any) -> Any:
    """Arrays and data frames of one type of number with the layout that a new row has."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X)
    if not hasattr(X, "iloc"):
        return X
    kinds = set(X.dtypes)
    if len(kinds) != 1 or not isinstance(kind := kinds.pop(), np.dtype) or kind.kind not in "biuf":
        return X
    return _frame(np.ascontiguousarray(X.to_numpy()), X.index, X.columns)


def _frame(values: NDArray[Any], index: Any, columns: Any) -> Any:
    pandas = optional_import("pandas", "A data frame")
    return pandas.DataFrame(values, index=index, columns=columns, copy=False)


def _values_in_place(X: Any) -> NDArray[Any] | None:
    """Values of a data frame as it holds them; None if there are several arrays of them.

    The function is called on the arrays that a frame consists of. Only where there is one does
    `X.to_numpy()` show how its rows lie in memory.
    """
    values: NDArray[Any] = X.to_numpy()
    first = X.iloc[:, 0].to_numpy()
    together = values.dtype.kind in "biuf" and np.may_share_memory(values, first)
    return values if together else None


@functools.cache
def _rounds_alike(function: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a function of contiguous numbers gives each what it gives it among others.

    A vector loop may hand the last numbers of an array to a plain one.
    """
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=131) * 10.0 ** rng.integers(-8, 9, size=131)
    if dtype.kind != "f":
        numbers = np.abs(numbers) % 100
    with np.errstate(all="ignore"):
        values = numbers.astype(dtype)
        together = function(values)
        return all(
            np.array_equal(
                np.concatenate([function(values[i : i + n]) for i in range(0, len(values), n)]),
                together,
                equal_nan=together.dtype.kind == "f",
            )
            for n in (1, 2, 3, 5, 7, 8, 13, 16, 33)
        )
