"""Values of any type: which are missing, which are numbers, and columns of them."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.utils._masked import is_missing as is_missing
from skstream.utils._rows import is_frame

#: What can be done about infinite values.
REPLACE_INFINITE = (
    "Replace it with a number or a missing value (NaN): skstream.preprocessing.StreamImputer "
    "fills missing values, and rejects infinite ones."
)

#: What can be done about values that are several ones.
ONE_VALUE = (
    "A value must be one number, text or date: split it into several columns (for a complex "
    "number, its real and imaginary part), or convert it to text with astype(str)."
)

_NUMBERS = "biuf"
_TIMES = "mM"
_TIME_TYPES = (np.datetime64, np.timedelta64)


def is_infinite(value: Any) -> bool:
    """Whether a value is infinite as a number of 64 bits."""
    try:
        return math.isinf(value)
    except OverflowError:  # a whole number that is too large for one
        return True
    except TypeError:
        return False


def is_several(value: Any) -> bool:
    """Whether a value is a list, a dict, an array or the like, or a complex number."""
    return isinstance(value, complex) or getattr(value, "__hash__", None) is None


def missing_among(values: Sequence[Any]) -> NDArray[np.bool_]:
    """Mask of the values that are missing."""
    return np.fromiter(map(is_missing, values), dtype=bool, count=len(values))


def holds_numbers(X: Any) -> bool:
    """Whether all columns of an array or a data frame are of numbers or booleans."""
    if not is_frame(X):
        return X.dtype.kind in _NUMBERS
    if hasattr(X, "iloc"):
        return all(getattr(dtype, "kind", "O") in _NUMBERS for dtype in X.dtypes)
    return all(d.is_numeric() or str(d) == "Boolean" for d in X.dtypes)


def column_at(X: Any, place: int) -> Any:
    """One column: of an array an array, of a data frame a series."""
    if not is_frame(X):
        return X[:, place]
    return X.iloc[:, place] if hasattr(X, "iloc") else X.to_series(place)


def holds_times(X: Any) -> bool:
    """Whether rows hold dates or durations of NumPy, pandas or polars, which are no numbers.

    NumPy would make integers of them without a word, and of NaT the smallest one.
    """
    if not is_frame(X):
        if isinstance(X, list | tuple):
            of_arrays = len(X) > 0 and isinstance(X[0], np.ndarray)
            X = np.array(X, dtype=None if of_arrays else object)
        kind = getattr(getattr(X, "dtype", None), "kind", None)
        if kind is None:  # an array by its __array__ alone
            kind = (X := np.asarray(X)).dtype.kind
        if kind != "O":
            return kind in _TIMES
        return any(isinstance(value, _TIME_TYPES) for value in X.flat)
    if not hasattr(X, "iloc"):
        return any(d.is_temporal() for d in X.dtypes)
    kinds = [getattr(dtype, "kind", "O") for dtype in X.dtypes]
    return any(kind in _TIMES for kind in kinds) or any(
        isinstance(value, _TIME_TYPES)
        for place, kind in enumerate(kinds)
        if kind == "O"
        for value in column_at(X, place)
    )


def column_lists(X: Any) -> list[list[Any]]:
    """Columns of an array or a data frame, each as a list of Python's own values.

    A value is the same whether its row comes alone or among others.
    """
    if not is_frame(X):
        if X.dtype.kind in _TIMES:  # as numbers, nanoseconds would be told from no other number
            return [list(column) for column in X.T]
        return X.T.tolist()
    if hasattr(X, "iloc"):
        return [X.iloc[:, place].tolist() for place in range(X.shape[1])]
    return [polars_list(column) for column in X.iter_columns()]


def polars_list(column: Any) -> list[Any]:
    """Values of a polars series; times in nanoseconds as NumPy's, since Python's are coarser."""
    if getattr(column.dtype, "time_unit", None) == "ns":
        return list(column.to_numpy())
    return column.to_list()


class Factorized(NamedTuple):
    """A column as positions in a list of values, not all of which need occur.

    No two values are equal, and all that are missing are one: None.
    """

    positions: NDArray[np.intp]
    values: list[Any]


def factorized_columns(X: Any) -> list[Factorized]:
    """Columns of an array or a data frame, each value looked at once.

    Raises
    ------
    TypeError
        If a value cannot be a key of a dict.
    """
    if not hasattr(X, "iloc"):
        return [_factorized(column) for column in column_lists(X)]
    return [factorized_column(X.iloc[:, place]) for place in range(X.shape[1])]


def joined_columns(parts: Sequence[Factorized]) -> Factorized:
    """Parts of a column as one."""
    if len(parts) == 1:
        return parts[0]
    place_of: dict[Any, int] = {}
    positions = []
    for part in parts:
        places = [place_of.setdefault(value, len(place_of)) for value in part.values]
        positions.append(np.array(places, dtype=np.intp)[part.positions])
    return Factorized(np.concatenate(positions), list(place_of))


def factorized_column(series: Any) -> Factorized:
    """Column, as `column_at` returns it, each value looked at once."""
    if type(series).__module__.partition(".")[0] == "polars":
        return _factorized(polars_list(series))
    if isinstance(series, np.ndarray):
        return _factorized(list(series) if series.dtype.kind in _TIMES else series.tolist())
    categories = getattr(series.dtype, "categories", None)
    if categories is None:
        return _factorized(series.tolist())
    positions = series.cat.codes.to_numpy().astype(np.intp)
    positions[positions < 0] = len(categories)
    return Factorized(positions, [*categories.tolist(), None])


def _factorized(column: list[Any]) -> Factorized:
    place_of: dict[Any, int] = dict.fromkeys(column, 0)
    values: dict[Any, int] = {}
    for value in place_of:
        key = None if is_missing(value) else value
        place_of[value] = values.setdefault(key, len(values))
    positions = np.fromiter(map(place_of.__getitem__, column), np.intp, len(column))
    return Factorized(positions, list(values))


def object_array(columns: Sequence[Sequence[Any]], n_rows: int) -> NDArray[Any]:
    """Array of shape (n_rows, n_columns) of columns of any values."""
    values = np.empty((n_rows, len(columns)), dtype=object)
    for place, column in enumerate(columns):
        values[:, place] = column
    return values


def first_of_no_number(X: Any) -> tuple[int, int, Any] | None:
    """Column, row and value of the first cell that is not a number; None if there is none."""
    for place, column in enumerate(column_lists(X)):
        for row, value in enumerate(column):
            try:
                if not is_missing(value):
                    if isinstance(value, _TIME_TYPES):
                        return place, row, value
                    float(value)
            except (TypeError, ValueError):
                return place, row, value
    return None
