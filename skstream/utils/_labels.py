"""Labels as the user gave them, and their codes: positions in the sorted classes."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.utils._masked import unmasked

MISSING = -1
#: Code of an answer that is not among the classes.
UNKNOWN = _UNSEEN = -2
# Integer labels that span less than this are looked up in a table instead of being sorted.
_TABLE_SPAN = 1 << 20
_SHOWN = 20


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """Labels or targets as a one-dimensional array that keeps their types.

    ``np.asarray(["a", np.nan])`` holds the string "nan" and ``np.asarray([1, "a"])`` the string
    "1"; here such lists become arrays of objects, and a missing label stays missing.

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
    refuse_single(y, name)
    y = unmasked(y)
    if isinstance(y, np.ndarray):
        labels = y
    elif type(y).__module__.partition(".")[0] == "pyarrow":
        labels = _from_sequence(y.to_pylist())  # to_numpy refuses what it would have to copy
    elif hasattr(y, "to_numpy"):
        # polars turns integers with nulls into floats: other labels than the user's.
        has_nulls = hasattr(y, "null_count") and hasattr(y, "to_list") and y.null_count() > 0
        labels = _object_array(y.to_list()) if has_nulls else y.to_numpy()
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


def _from_sequence(y: Any) -> NDArray[Any]:
    values = y if hasattr(y, "__array__") else list(y)
    try:
        labels = np.asarray(values)
    except ValueError:  # rows of unequal length
        return _object_array(values)
    if labels.ndim != 1:
        return labels  # the caller says so
    kind = labels.dtype.kind
    if kind in "US" and not all(isinstance(label, (str, bytes)) for label in values):
        return _object_array(values)
    if kind == "f" and not any(isinstance(label, (float, np.floating)) for label in values):
        return _object_array(values)  # integers beyond 64 bits, which would lose digits
    return labels


def _object_array(values: list[Any]) -> NDArray[Any]:
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, (float, np.floating)) and math.isnan(label)


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
    if high - low >= _TABLE_SPAN or high > np.iinfo(np.int64).max:
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
        distinct = [label for label in set(labels.tolist()) if not _is_missing(label)]
        distinct.sort()
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels if not _is_missing(label)})
        raise TypeError(
            f"The labels in {name} cannot be sorted: their types are {', '.join(kinds)} ({error}). "
            f"Convert them all to one type, for example str."
        ) from error
    if any(isinstance(label, str) for label in distinct):
        return _object_array(distinct)
    classes = np.asarray(distinct)
    return _whole_numbers(classes, name) if classes.dtype.kind == "f" else classes


def encode_together(
    columns: Mapping[str, Any],
) -> tuple[dict[str, NDArray[np.int64]], NDArray[Any]]:
    """Codes of labels and answers of the same classes, with none missing.

    Parameters
    ----------
    columns : dict of str to array-like of shape (n_rows,)
        Labels under the names that error messages use. Lengths may differ.

    Returns
    -------
    codes : dict of str to ndarray of shape (n_rows,), dtype int64
        Positions in `classes`.
    classes : ndarray of shape (n_classes,)
        Sorted classes of all columns together.

    Raises
    ------
    ValueError
        If there is no label at all, strings meet numbers, a number is fractional, or a label is
        missing; names the column, and the row where there is one.
    TypeError
        If labels cannot be sorted.

    Examples
    --------
    >>> from skstream.utils._labels import encode_together
    >>> codes, classes = encode_together({"y_true": ["a", "b"], "y_pred": ["b", "c"]})
    >>> classes.tolist(), codes["y_pred"].tolist()
    (['a', 'b', 'c'], [1, 2])
    """
    given = {name: as_labels(column, name) for name, column in columns.items()}
    classes = _classes_of_all(given)
    codes = {name: encode_labels(labels, classes) for name, labels in given.items()}
    for name, coded in codes.items():
        if len(coded) and coded.min() == MISSING:
            row = int(coded.argmin())
            label = given[name][row]
            shown = label.item() if isinstance(label, np.generic) else label
            raise ValueError(f"{name}[{row}] is {shown!r}: a label is missing. Drop the row.")
    return codes, classes


def _classes_of_all(given: dict[str, NDArray[Any]]) -> NDArray[Any]:
    found = {name: distinct_labels(labels, name) for name, labels in given.items()}
    found = {name: classes for name, classes in found.items() if len(classes)}
    if not found:
        raise ValueError(
            f"{' and '.join(list(given)[:2])} hold no label: there is nothing to score."
        )
    names = list(found)
    text = [found[name].dtype.kind in "USOT" for name in names]
    if len(set(text)) > 1:
        raise ValueError(
            f"{names[text.index(True)]} holds strings and {names[text.index(False)]} numbers. "
            "Labels and answers must be of one type; convert them, for example with "
            "astype(str)."
        )
    return find_classes(np.concatenate(list(found.values())))


def encode_labels(y: Any, classes: ArrayLike, *, first_row: int = 0) -> NDArray[np.int64]:
    """Positions of the labels in the sorted classes; -1 where a label is missing.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels. None, NaN and ``pandas.NA`` are missing labels.
    classes : array-like of shape (n_classes,)
        Sorted classes, as from `find_classes`.
    first_row : int, default=0
        Row number of ``y[0]`` in the stream, for the error message.

    Returns
    -------
    ndarray of shape (n_rows,), dtype int64
        Codes in ``[-1, n_classes)``.

    Raises
    ------
    ValueError
        If a label is not among the classes. Names the row, the label and the classes.

    Examples
    --------
    >>> from skstream.utils._labels import encode_labels
    >>> encode_labels(["UP", None, "DOWN"], ["DOWN", "UP"]).tolist()
    [1, -1, 0]
    """
    known = as_labels(classes)
    if hasattr(y, "cat") and hasattr(y.cat, "codes"):
        codes = _encode_categories(y.cat.categories, y.cat.codes.to_numpy(), known)
        labels = y
    else:
        labels = as_labels(y)
        codes = _encode(labels, known)
    if len(codes) and codes.min() == _UNSEEN:
        row = int(np.flatnonzero(codes == _UNSEEN)[0])
        label = as_labels(labels)[row]
        message = unknown_label(label, known, f"Row {first_row + row} has the label")
        if not len(known) or isinstance(label, str) == isinstance(known[0], str):
            message += " Pass every label that can occur as classes=."
        raise ValueError(message)
    return codes


def encode_answers(answers: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Positions of a model's answers in the sorted classes, without raising an error.

    Parameters
    ----------
    answers : ndarray of shape (n_rows,)
        Labels; None and NaN where there is no answer.
    classes : ndarray of shape (n_classes,)
        Sorted classes.

    Returns
    -------
    ndarray of shape (n_rows,), dtype int64
        Codes; -1 where there is no answer, `UNKNOWN` where it is none of the classes.
    """
    return _encode(answers, as_labels(classes))


def _encode(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    kinds = labels.dtype.kind + classes.dtype.kind
    if len(classes) and len(labels):
        if set(kinds) <= set("biu") and np.uint64 not in (labels.dtype, classes.dtype):
            return _encode_integers(labels, classes)
        if kinds in ("ff", "fi"):
            return _encode_floats(labels, classes.astype(np.float64, copy=False))
        if kinds == "UU":
            return _encode_sorted(labels, classes)
        if kinds == "UO" and all(isinstance(label, str) for label in classes):
            return _encode_sorted(labels, classes.astype(str))
    return _encode_objects(labels, classes)


def _encode_integers(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    low, high = int(classes[0]), int(classes[-1])
    if high - low >= _TABLE_SPAN:
        return _encode_sorted(labels.astype(np.int64), classes.astype(np.int64))
    table = np.full(high - low + 1, _UNSEEN, dtype=np.int64)
    table[classes.astype(np.int64) - low] = np.arange(len(classes))
    positions = labels.astype(np.int64, copy=False)
    if positions.min() < low or positions.max() > high:
        inside = (positions >= low) & (positions <= high)
        codes = np.full(len(labels), _UNSEEN, dtype=np.int64)
        codes[inside] = table[positions[inside] - low]
        return codes
    return table[positions - low if low else positions]


def _encode_floats(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    codes = _encode_sorted(labels, classes)
    codes[np.isnan(labels)] = MISSING
    return codes


def _encode_sorted(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    codes = np.searchsorted(classes, labels).astype(np.int64, copy=False)
    np.minimum(codes, len(classes) - 1, out=codes)
    codes[classes[codes] != labels] = _UNSEEN
    return codes


class _CodeTable(dict[Hashable, int]):
    """Codes of the known labels; missing and unseen ones have codes of their own."""

    def __missing__(self, label: Any) -> int:
        return MISSING if _is_missing(label) else _UNSEEN


def _encode_objects(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    table = _CodeTable(zip(classes.tolist(), range(len(classes)), strict=True))
    try:
        return np.fromiter(map(table.__getitem__, labels.tolist()), np.int64, len(labels))
    except TypeError as error:
        raise TypeError(f"y holds something that is no label: {error}.") from error


def _encode_categories(
    categories: Any, codes: NDArray[Any], classes: NDArray[Any]
) -> NDArray[np.int64]:
    # A category that is declared but does not occur here may be unknown. The last entry of the
    # table serves the code -1, with which pandas marks a missing value.
    table: NDArray[np.int64] = np.append(_encode(as_labels(categories), classes), MISSING)
    return table.take(codes)


def unknown_label(label: Any, classes: NDArray[Any], subject: str) -> str:
    """Say in a sentence that begins with `subject` that a label is none of the classes."""
    names = classes.tolist()
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f", ... ({len(names)} classes)"
    if isinstance(label, np.generic):
        label = label.item()
    message = f"{subject} {label!r}, which is not among the classes: [{shown}]."
    if names and isinstance(label, str) != isinstance(names[0], str):
        message += (
            f" Labels have the type {type(label).__name__}, classes {type(names[0]).__name__}: "
            "use the same type for both."
        )
    return message
