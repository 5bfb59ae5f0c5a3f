"""Rows transformed many at a time, with the bits that each gets alone.

A function of NumPy may have several loops, and the layout in memory decides which one runs: the
vector loop of ``exp`` differs from the plain one by a unit in the last place. The loop shows a
transformer one row at a time, in the layout of the user's own storage. So rows are taken together
only where that cannot matter: where the function rounds correctly in any loop, or where every row
lies in memory as all of them do, and this machine has been seen to round alike.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import FunctionTransformer, Normalizer

from skstream.engine.kernels.base import Declined
from skstream.utils._optional import optional_import
from skstream.utils._rows import take_rows
from skstream.utils._validation import reads_frame_as_names

#: Functions whose results are exact or correctly rounded, whichever loop computes them.
_ROUNDED_CORRECTLY = frozenset(
    {
        *(np.absolute, np.fabs, np.negative, np.positive, np.conjugate, np.sign, np.signbit),
        *(np.sqrt, np.square, np.reciprocal, np.floor, np.ceil, np.trunc, np.rint),
        *(np.isfinite, np.isnan, np.isinf, np.logical_not, np.invert),
    }
)


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
        if function not in _ROUNDED_CORRECTLY:
            raise Declined(
                f"{function.__name__} of a data frame has no kernel "
                "where its columns do not lie in one array"
            )
        return laid_out_by_rows(function(take_rows(X, index)))
    answers = _function_of_values(function, values, index)
    return answers if values is X else _frame(answers, X.index[index], X.columns)


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


def _function_of_values(function: Any, X: NDArray[Any], index: NDArray[np.intp]) -> NDArray[Any]:
    lies_alike = X.strides[1:] == (X.itemsize,) and X.flags.aligned and X.dtype.isnative
    if function in _ROUNDED_CORRECTLY or (lies_alike and _rounds_alike(function, X.dtype)):
        answers: NDArray[Any] = function(np.ascontiguousarray(take_rows(X, index)))
        return answers
    first = function(X[index[0] : index[0] + 1])
    out = np.empty((len(index), *first.shape[1:]), first.dtype)
    for i, row in enumerate(index.tolist()):
        function(X[row : row + 1], out[i : i + 1])
    return out


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
