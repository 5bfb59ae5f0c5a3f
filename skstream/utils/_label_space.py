"""Codes of labels: positions in the sorted classes, or targets as they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from skstream.utils._labels import (
    TABLE_SPAN,
    as_labels,
    distinct_labels,
    find_classes,
    is_missing,
    joined_classes,
)
from skstream.utils._masked import unmasked
from skstream.utils._times import LARGEST_EXACT

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
    >>> from skstream.utils._label_space import LabelSpace
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
            table = np.append(self._codes(as_labels(y.cat.categories)), NO_LABEL)
            codes: NDArray[Any] = table.take(y.cat.codes.to_numpy())
        else:
            y = as_labels(y)
            codes = self._codes(y)
        if len(codes) and codes.min() == UNKNOWN:
            row = int(np.flatnonzero(codes == UNKNOWN)[0])
            label = as_labels(y)[row]
            message = self.unknown(label, f"Row {first_row + row} has the {what}")
            if not len(self.classes) or isinstance(label, str) == isinstance(self.classes[0], str):
                message += " Pass every label that can occur as classes=."
            raise ValueError(message)
        return codes

    def encode_answers(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Codes of a model's answers, `UNKNOWN` for what is none of the classes; never an error."""
        return self._codes(answers)

    def decode(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Labels of codes; where a code is below 0, all become objects, and those None."""
        if self.classes is None:
            return codes
        labels: NDArray[Any]
        if (codes >= 0).all():
            labels = self.classes[codes]
            return labels
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

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Codes of labels, `UNKNOWN` where one is none of the classes."""
        classes = self.classes
        assert classes is not None
        kinds = labels.dtype.kind + classes.dtype.kind
        if len(classes) and len(labels):
            if kinds in _INTEGERS and np.uint64 not in (labels.dtype, classes.dtype):
                low, high, table = self._table
                places = labels.astype(np.int64, copy=False)
                if table is None:
                    return _places(places, classes.astype(np.int64))
                if places.min() < low or places.max() > high:
                    inside = (places >= low) & (places <= high)
                    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
                    codes[inside] = table[places[inside] - low]
                    return codes
                return table[places - low if low else places]
            if kinds == "ff" or (kinds == "fi" and classes[-1] < LARGEST_EXACT):
                codes = _places(labels, classes.astype(np.float64, copy=False))
                codes[np.isnan(labels)] = NO_LABEL
                return codes
            if kinds == "UU":
                return _places(labels, classes)
            if kinds == "UO" and self._texts is not None:
                return _places(labels, self._texts)
        try:
            found = map(self._by_label.__getitem__, labels.tolist())
            return np.fromiter(found, np.int64, len(labels))
        except TypeError as error:
            raise TypeError(f"y holds something that is no label: {error}.") from error

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


def lags_before(
    history: NDArray[np.int64], codes: NDArray[np.int64], n_lags: int
) -> NDArray[np.int64]:
    """Codes of the newest labels before each of some labels; those that are no class are left out.

    Parameters
    ----------
    history : ndarray of shape (at most n_lags,), dtype int64
        Codes known before, newest first.
    codes : ndarray of shape (n_labels,), dtype int64
        Codes in their order, negative where a label is none of the classes.
    n_lags : int
        Number of labels remembered.

    Returns
    -------
    ndarray of shape (n_labels, n_lags), dtype int64
        As `lags_after` has them.
    """
    known = codes >= 0
    return lags_after(history, codes[known], n_lags)[np.cumsum(known) - known]


def ordered_classes(given: Any, name: str = "classes") -> NDArray[Any]:
    """Distinct labels in the order given, in which probabilities by position are."""
    classes = find_classes(given, name)
    codes = dict.fromkeys(LabelSpace(classes).encode(given).tolist())
    return classes[[code for code in codes if code != NO_LABEL]]


def listed(names: list[Any]) -> str:
    """Return the first classes in words, and how many there are."""
    more = f", ... ({len(names)} classes)" if len(names) > _SHOWN else ""
    return f"[{', '.join(map(repr, names[:_SHOWN]))}{more}]"


class _CodeTable(dict[Hashable, int]):
    """Codes of the known labels; missing and unseen ones have codes of their own."""

    def __missing__(self, label: Any) -> int:
        return NO_LABEL if is_missing(label) else UNKNOWN


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
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
    given: NDArray[np.bool_] = ~np.isnan(codes) if codes.dtype.kind == "f" else codes != NO_LABEL
    return given


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
    >>> from skstream.utils._label_space import encode_together
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
    return joined_classes(found.values())
