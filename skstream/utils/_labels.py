"""Labels as the user gave them, and the classes among them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._masked import is_missing as is_missing
from skstream.utils._masked import unmasked
from skstream.utils._times import LARGEST_EXACT, was_whole

#: Integer labels that span less than this are looked up in a table instead of being sorted.
TABLE_SPAN = 1 << 20


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    r"""Labels or targets as a one-dimensional array that keeps their types.

    ``np.asarray(["a", np.nan])`` holds the string "nan", ``np.asarray([1, "a"])`` the string "1"
    and ``np.asarray(["a\0"])`` the string "a"; here such lists become arrays of objects, and a
    missing label stays missing.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        List, array, or pandas or polars series. Arrays are not copied, but for masked arrays: a
        masked entry is a missing label.
    name : str, default="y"
        What the argument is called in error messages.

    Returns
    -------
    ndarray of shape (n_rows,)
        The same labels. Integers or strings among which some are missing have dtype object.

    Raises
    ------
    ValueError
        If `y` is not one-dimensional.
    TypeError
        If `y` is one text, or nothing that holds labels.
    """
    if type(y) is np.ndarray and y.ndim == 1:
        return y
    refuse_single(y, name)
    y = unmasked(y)
    if isinstance(y, np.ndarray):
        labels = y
    elif type(y).__module__.partition(".")[0] == "pyarrow":
        labels = _from_sequence(y.to_pylist())  # to_numpy refuses what it would have to copy
    elif hasattr(y, "to_numpy"):
        if hasattr(y, "columns"):
            raise ValueError(f"{name} is a frame, and one column is needed: pass frame['...'].")
        labels = _object_array(_without_na(y)) if _has_nulls(y) else y.to_numpy()
    else:
        labels = _from_sequence(y)
    if labels.ndim != 1:
        hint = f" Pass {name}.ravel()." if labels.ndim == 2 and labels.shape[1] == 1 else ""
        raise ValueError(f"{name} must be one-dimensional. Got shape {labels.shape} instead.{hint}")
    return labels


def refuse_single(values: Any, name: str) -> None:
    """Raise an error for one text, whose letters would be read as labels, or one number.

    Parameters
    ----------
    values : object
        What was given where an array-like of shape (n_rows,) belongs.
    name : str
        What the argument is called in the error message.

    Raises
    ------
    TypeError
        If `values` is a text, bytes, None or another object that cannot be iterated.
    """
    if isinstance(values, (str, bytes, bytearray)):
        raise TypeError(
            f"{name} is the text {values!r}, but one value per row is needed. For a single row, "
            f"pass [{values!r}]."
        )
    if values is None:
        raise TypeError(f"{name} is None, but one value per row is needed.")
    if not (hasattr(values, "__iter__") or hasattr(values, "__array__")):
        raise TypeError(
            f"{name} is {values!r} ({type(values).__name__}), but one value per row is needed. "
            f"For a single row, pass [{values!r}]."
        )


def _has_nulls(y: Any) -> bool:
    """Whether a series has missing values beside integers, of which `to_numpy` makes floats."""
    if hasattr(y, "null_count") and hasattr(y, "to_list"):  # of polars
        return bool(y.null_count() > 0)
    kind = getattr(y.dtype, "categories", y).dtype
    is_own = not isinstance(y.dtype, np.dtype)  # of pandas, and not of NumPy
    return is_own and getattr(kind, "kind", "") in tuple("iu") and bool(y.isna().any())


def _without_na(y: Any) -> list[Any]:
    """Values of a series, None where one is missing."""
    values = y.to_list() if hasattr(y, "to_list") else y.tolist()
    return [None if is_missing(one) else one for one in values]


def _from_sequence(y: Any) -> NDArray[Any]:
    values = y if hasattr(y, "__array__") else list(y)
    try:
        labels = np.asarray(values)
    except ValueError:  # rows of unequal length
        return _object_array(values)
    if labels.ndim != 1:
        return labels  # the caller says so
    kind = labels.dtype.kind
    if kind in "US" and not all(map(_fits_text_array, values)):
        return _object_array(values)
    return _object_array(values) if lose_digits(values, labels) else labels


def lose_digits(values: Any, numbers: NDArray[Any]) -> bool:
    """Whether some of the values are integers that lost digits when they became numbers.

    Parameters
    ----------
    values : list
        What the user gave.
    numbers : ndarray of shape (n_values,)
        The array that was made of it.

    Returns
    -------
    lost : bool
        Whether there are integers beyond 2**53 that are floats now.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.utils._labels import lose_digits
    >>> [lose_digits(some, np.array(some)) for some in ([2**60, np.nan], [1, np.nan], [2.0**60])]
    [True, False, False]
    """
    large = np.abs(numbers) >= LARGEST_EXACT if numbers.dtype.kind == "f" else np.zeros(0)
    return bool(large.any()) and bool(was_whole(values, large).any())


def joined_classes(parts: Iterable[NDArray[Any]], name: str = "y") -> NDArray[Any]:
    """Sorted distinct labels of all parts; integers of two types do not become floats."""
    parts = list(parts)
    if len({part.dtype.kind for part in parts} & set("iuf")) > 1:
        parts = [part.astype(object) for part in parts]
    classes = distinct_labels(np.concatenate(parts), name)
    is_text = classes.dtype == object and all(isinstance(one, str) for one in classes)
    return array_of(classes.tolist()) if is_text else classes


def _fits_text_array(label: Any) -> bool:
    """Whether a NumPy array of texts gives a label back: they lose NUL characters at the end."""
    return isinstance(label, (str, bytes)) and label[-1:] not in ("\0", b"\0")


def array_of(values: Any) -> NDArray[Any]:
    """Return labels, answers or numbers of any shape as an array; lists of texts keep them."""
    if type(values) is np.ndarray:
        return values
    values = unmasked(values)
    array = np.asarray(values)
    if array.dtype.kind in "US" and array.ndim == 1 and isinstance(values, (list, tuple)):
        return array if all(map(_fits_text_array, values)) else _object_array(list(values))
    return array


def _object_array(values: list[Any]) -> NDArray[Any]:
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels


def find_classes(y: Any, name: str = "y") -> NDArray[Any]:
    """Sorted distinct labels; missing ones (None, NaN, ``pandas.NA``) left out.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels: integers, booleans, strings, or whole numbers stored as floats.
    name : str, default="y"
        What the argument is called in error messages.

    Returns
    -------
    ndarray of shape (n_classes,)
        The classes in the order of ``np.unique``.

    Raises
    ------
    ValueError
        If no label is there, or if the labels are fractional numbers (regression targets).
    TypeError
        If the labels cannot be sorted because their types are mixed.

    Examples
    --------
    >>> from skstream.utils._labels import find_classes
    >>> find_classes([3, 1, None, 3]).tolist()
    [1, 3]
    """
    classes = distinct_labels(as_labels(y, name), name)
    if len(classes) == 0:
        advice = (
            "Name every label that may come." if name == "classes" else "Pass classes= instead."
        )
        raise ValueError(
            f"{name} holds no label: it is empty, or all its labels are missing. {advice}"
        )
    return classes


def distinct_labels(labels: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Sorted distinct labels, none where all are missing; errors as in `find_classes`."""
    kind = labels.dtype.kind
    if kind == "f":
        return _whole_numbers(labels[~np.isnan(labels)], name)
    if kind in "iu":
        return _distinct_integers(labels)
    if kind in "bUS":
        return np.unique(labels)
    if kind in "OT":
        return _distinct_objects(labels, name)
    raise TypeError(
        f"{name} has dtype {labels.dtype}, which cannot hold class labels. Use integers, booleans "
        f"or strings."
    )


def _distinct_integers(labels: NDArray[Any]) -> NDArray[Any]:
    if len(labels) == 0:
        return labels
    low, high = int(labels.min()), int(labels.max())
    if high - low >= TABLE_SPAN or high > np.iinfo(np.int64).max:
        return np.unique(labels)
    counts = np.bincount(labels.astype(np.int64, copy=False) - low)
    return (np.flatnonzero(counts) + low).astype(labels.dtype)


def _whole_numbers(labels: NDArray[Any], name: str) -> NDArray[Any]:
    whole = np.isfinite(labels) & (np.floor(labels) == labels)
    if not whole.all():
        value = labels[np.flatnonzero(~whole)[0]]
        raise ValueError(
            f"{name} holds the number {value}, which is no class label: class labels stored as "
            f"floats must be whole numbers. Fractional targets belong to regression."
        )
    if len(labels) and np.abs(labels).max() < 2**53:
        return _distinct_integers(labels.astype(np.int64)).astype(labels.dtype)
    return np.unique(labels)


def _distinct_objects(labels: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        distinct = [label for label in set(labels.tolist()) if not is_missing(label)]
        distinct.sort()
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels if not is_missing(label)})
        raise TypeError(
            f"The labels in {name} cannot be sorted: their types are {', '.join(kinds)} ({error}). "
            f"Convert them all to one type, for example str."
        ) from error
    if any(isinstance(label, str) for label in distinct):
        return _object_array(distinct)
    classes = _from_sequence(distinct)
    return _whole_numbers(classes, name) if classes.dtype.kind == "f" else classes
