"""Labels as the user gave them, the classes among them, and their codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

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
            raise ValueError(f"{name} is a frame, but one column is needed: pass frame['...'].")
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
        both = f", and X without it; as_stream(frame, target={values!r}) makes both"
        raise TypeError(
            f"{name} is the text {values!r}, but one value per row is needed. For a single row, "
            f"pass [{values!r}]; for a column, frame[{values!r}]{both if name == 'y' else ''}."
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
    kinds = {part.dtype.kind for part in parts}
    if len(kinds & set("iuf")) > 1:
        parts = [part.astype(object) for part in parts]
    classes = distinct_labels(np.concatenate(parts), name)
    if classes.dtype == object and kinds <= set("iuf"):  # integers that no float holds
        return _from_sequence(list(map(int, classes)))
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
            "List every label that can occur." if name == "classes" else "Pass classes= instead."
        )
        raise ValueError(
            f"{name} has no labels: it is empty, or all its labels are missing. {advice}"
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
        f"{name} has dtype {labels.dtype}, which cannot represent class labels. Use integers, "
        "booleans or strings."
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
            f"{name} contains the number {value}, which is not a class label: class labels stored "
            "as floats must be whole numbers. Fractional targets belong to regressors; their "
            "baselines are PersistentRegressor and MeanRegressor."
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


#: Code of a row without a label, or that was not asked, and of no class; regression uses NaN.
NO_LABEL = -1
#: Code of an answer that is not among the classes.
UNKNOWN = -2
#: Code of a row that was asked and got no answer, where that counts as a wrong one.
UNANSWERED = -2

_SHOWN = 20
_INTEGERS = frozenset(map("".join, product("biu", repeat=2)))


class LabelSpace:
    """What the labels of a stream can be: one of some classes, or any finite number.

    Parameters
    ----------
    classes : array-like of shape (n_classes,), or None
        Sorted classes, as from `find_classes`; a label's code is its position. None for
        regression, where targets are their own codes and NaN stands for none.

    Examples
    --------
    >>> from skstream.utils._labels import LabelSpace
    >>> space = LabelSpace(["DOWN", "UP"])
    >>> codes = space.encode(["UP", None, "DOWN"])
    >>> codes.tolist(), space.decode(codes).tolist()
    ([1, -1, 0], ['UP', None, 'DOWN'])
    """

    def __init__(self, classes: ArrayLike | None) -> None:
        self.classes = None if classes is None else as_labels(classes)
        #: Smallest type that holds all codes and the marks below zero; float64 for targets.
        self.dtype = np.dtype(np.float64)
        #: Code of no label: -1, or NaN.
        self.nothing: float = np.nan
        if self.classes is not None:
            self.dtype = np.min_scalar_type(-max(len(self.classes), -UNKNOWN))
            self.nothing = NO_LABEL

    def __reduce__(self) -> Any:
        return LabelSpace, (self.classes,)  # without the tables, which can be made again

    def encode(self, y: Any, first_row: int = 0, what: str = "label") -> NDArray[Any]:
        """Codes of labels; -1 (NaN for targets) where a label is missing.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Labels. None, NaN and ``pandas.NA`` are missing labels.
        first_row : int, default=0
            Row number of ``y[0]`` in the stream, for the error message.
        what : str, default="label"
            What a value is called there.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64 or float64
            Codes in ``[-1, n_classes)``, or targets.

        Raises
        ------
        ValueError
            If a label is not among the classes, or a target is no finite number. Names the row,
            the label and the classes.
        """
        if self.classes is None:
            return _targets(y, first_row)
        if hasattr(y, "cat") and hasattr(y.cat, "codes"):
            # A category that is declared but does not occur here may be unknown. The last entry of
            # the table serves the code -1, with which pandas marks a missing value.
            table = np.append(self.encode_answers(as_labels(y.cat.categories)), NO_LABEL)
            codes: NDArray[Any] = table.take(y.cat.codes.to_numpy())
        else:
            y = as_labels(y)
            codes = self.encode_answers(y)
        if np.count_nonzero(codes == UNKNOWN):
            row = int(np.flatnonzero(codes == UNKNOWN)[0])
            label = as_labels(y)[row]
            message = self.unknown(label, f"Row {first_row + row} has the {what}")
            if not len(self.classes) or isinstance(label, str) == isinstance(self.classes[0], str):
                message += " Pass every label that can occur as classes=."
            raise ValueError(message)
        return codes

    def decode(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Labels of codes; where a code is below 0, all become objects, and those None."""
        if self.classes is None:
            return codes
        if not np.count_nonzero(codes < 0):
            return self.classes[codes]
        labels = self.classes[codes].astype(object)
        labels[codes < 0] = None
        return labels

    def unknown(self, label: Any, subject: str) -> str:
        """Say in a sentence that begins with `subject` that a label is none of the classes."""
        assert self.classes is not None
        names = self.classes.tolist()
        if isinstance(label, np.generic):
            label = label.item()
        message = f"{subject} {label!r}, which is not among the classes: {listed(names)}."
        if names and isinstance(label, str) != isinstance(names[0], str):
            message += (
                f" Labels have the type {type(label).__name__}, classes "
                f"{type(names[0]).__name__}: use the same type for both."
            )
        return message

    def encode_answers(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Codes of labels, of a model's answers for one, `UNKNOWN` for what is none of the classes.

        Never an error about that.
        """
        classes = self.classes
        assert classes is not None
        kinds = labels.dtype.kind + classes.dtype.kind
        if len(classes) and len(labels) > 1:
            if kinds in _INTEGERS and np.uint64 not in (labels.dtype, classes.dtype):
                low, high, table = self._table
                values = labels.astype(np.int64, copy=False)
                if table is None:
                    return _codes_of(values, classes.astype(np.int64))
                if values.min() < low or values.max() > high:
                    inside = (values >= low) & (values <= high)
                    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
                    codes[inside] = table[values[inside] - low]
                    return codes
                return table[values - low if low else values]
            if kinds == "ff" or (kinds == "fi" and classes[-1] < LARGEST_EXACT):
                codes = _codes_of(labels, classes.astype(np.float64, copy=False))
                codes[np.isnan(labels)] = NO_LABEL
                return codes
            if kinds == "UU":
                return _codes_of(labels, classes)
            if kinds == "UO" and self._texts is not None:
                return _codes_of(labels, self._texts)
        try:
            found = map(self._by_label.__getitem__, labels.tolist())
            return np.fromiter(found, np.int64, len(labels))
        except TypeError as error:
            raise TypeError(f"y contains something that is not a label: {error}.") from error

    @cached_property
    def _table(self) -> tuple[int, int, NDArray[np.int64] | None]:
        """Least and greatest class, and the codes of the integers between; None if too many."""
        classes = self.classes
        assert classes is not None
        low, high = int(classes[0]), int(classes[-1])
        if high - low >= TABLE_SPAN:
            return low, high, None
        table = np.full(high - low + 1, UNKNOWN, dtype=np.int64)
        table[classes.astype(np.int64) - low] = np.arange(len(classes))
        return low, high, table

    @cached_property
    def _texts(self) -> NDArray[Any] | None:
        """Classes stored as objects that are all texts, as texts, if none ends in NUL."""
        assert self.classes is not None
        texts = all(isinstance(label, str) and label[-1:] != "\0" for label in self.classes)
        return self.classes.astype(str) if texts else None

    @cached_property
    def _by_label(self) -> _CodeTable:
        assert self.classes is not None
        return _CodeTable(zip(self.classes.tolist(), range(len(self.classes)), strict=True))


def lags_after(
    history: NDArray[np.int64], codes: NDArray[np.int64], n_lags: int
) -> NDArray[np.int64]:
    """Codes of the newest labels after none, one, two, ... of some labels have been learnt.

    Parameters
    ----------
    history : ndarray of shape (at most n_lags,), dtype int64
        Codes learnt before, newest first; -1 where missing.
    codes : ndarray of shape (n_labels,), dtype int64
        Codes in the order of learning.
    n_lags : int
        Number of labels remembered.

    Returns
    -------
    ndarray of shape (n_labels + 1, n_lags), dtype int64
        Row i holds the newest labels after i of `codes`, newest first; -1 where missing.
    """
    if n_lags == 0:
        return np.empty((len(codes) + 1, 0), np.int64)
    missing = np.full(n_lags - len(history), -1, dtype=np.int64)
    timeline = np.concatenate([missing, history[::-1], codes])
    return sliding_window_view(timeline, n_lags)[:, ::-1]


def listed(names: list[Any]) -> str:
    """Return the first classes in words, and how many there are."""
    more = f", ... ({len(names)} classes)" if len(names) > _SHOWN else ""
    return f"[{', '.join(map(repr, names[:_SHOWN]))}{more}]"


class _CodeTable(dict[Hashable, int]):
    """Codes of the known labels; missing and unseen ones have codes of their own."""

    def __missing__(self, label: Any) -> int:
        return NO_LABEL if is_missing(label) else UNKNOWN


def _codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    codes = np.searchsorted(classes, labels).astype(np.int64, copy=False)
    np.minimum(codes, len(classes) - 1, out=codes)
    codes[classes[codes] != labels] = UNKNOWN
    return codes


def _targets(y: Any, first_row: int) -> NDArray[np.float64]:
    try:
        targets = np.asarray(unmasked(y, numbers=True), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The targets from row {first_row} on are not numbers, but the models are "
            f"regressors: {error}"
        ) from error
    infinite = np.isinf(targets)
    if infinite.any():
        row = first_row + int(infinite.argmax())
        raise ValueError(f"The target of row {row} is {targets[infinite][0]}; it must be finite.")
    return targets


def is_given(codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is a label or an answer: a code that is not -1, or a number."""
    return ~np.isnan(codes) if codes.dtype.kind == "f" else codes != NO_LABEL


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
    classes = classes_of_all(given)
    space = LabelSpace(classes)
    codes = {name: space.encode(labels) for name, labels in given.items()}
    for name, coded in codes.items():
        if len(coded) and coded.min() == NO_LABEL:
            row = int(coded.argmin())
            label = given[name][row]
            shown = label.item() if isinstance(label, np.generic) else label
            raise ValueError(f"{name}[{row}] is {shown!r}: a label is missing. Drop the row.")
    return codes, classes


def classes_of_all(given: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Sorted classes of several columns together; an error where texts meet numbers."""
    found = {name: distinct_labels(labels, name) for name, labels in given.items()}
    found = {name: classes for name, classes in found.items() if len(classes)}
    if not found:
        raise ValueError(
            f"{' and '.join(list(given)[:2])} have no labels: there is nothing to score."
        )
    names = list(found)
    text = [found[name].dtype.kind in "USOT" for name in names]
    if len(set(text)) > 1:
        raise ValueError(
            f"{names[text.index(True)]} contains strings and {names[text.index(False)]} numbers. "
            "Labels and predictions must have the same type; convert them, for example with "
            "astype(str)."
        )
    return joined_classes(found.values())
