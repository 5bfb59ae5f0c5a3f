"""Rows of numbers and categories as the numbers that a tree reads."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.preprocessing._categories import MISSING, MixedTypes, Numbering, encode, kind_of
from skstream.utils._rows import take_rows
from skstream.utils._values import Factorized, column_at, factorized_column, joined_columns

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Features(NamedTuple):
    """What is known of the columns.

    Attributes
    ----------
    is_nominal : tuple of bool or None
        By column; None as long as no value of it has been learnt.
    codes : tuple of dict
        Codes of the categories of each column.
    max_categories : int
        Codes of a column; the last one is for all categories that find no other left.
    """

    is_nominal: tuple[bool | None, ...]
    codes: tuple[dict[Any, int], ...]
    max_categories: int

    @classmethod
    def of(cls, n_features: int, nominal: Sequence[int], max_categories: int) -> "Features":
        """Columns that have shown no value yet, some of which are nominal."""
        is_nominal = [True if place in nominal else None for place in range(n_features)]
        return cls(tuple(is_nominal), tuple({} for _ in is_nominal), max_categories)

    def after_numbers(self, learnt: Floats) -> "Features":
        """Features after rows of numbers were learnt: they have turned out to be numeric."""
        if None not in self.is_nominal or not len(learnt):
            return self
        shown = np.flatnonzero(~np.isnan(learnt).all(axis=0)).tolist()
        found = [
            False if one is None and place in shown else one
            for place, one in enumerate(self.is_nominal)
        ]
        return self._replace(is_nominal=tuple(found))


class Read(NamedTuple):
    """Rows learnt and rows asked as numbers, and what is known of the columns afterwards."""

    features: Features
    learnt: Floats
    asked: Floats


def read_columns(
    features: Features,
    parts: Sequence[tuple[Any, Integers]],
    learnt: Integers,
    asked: Integers,
    stamp: Integers,
) -> Read:
    """Read rows column by column: numbers, or codes of categories in the order of learning.

    Parameters
    ----------
    features : Features
        What is known of the columns before.
    parts : sequence of tuple (X, index)
        Containers, and which of their rows are used; one after the other.
    learnt, asked : ndarray
        Which of these rows are learnt, and asked.
    stamp : ndarray of shape (n_asks,)
        Number of rows learnt before each ask.

    Returns
    -------
    Read
        NaN where a value is missing, negative codes for categories that are not known.

    Raises
    ------
    MixedTypes
        If a column holds texts and numbers, or values that are neither, or infinite numbers.
    """
    rows = [take_rows(X, index) for X, index in parts]
    n = len(features.is_nominal)
    of_learns, of_asks = np.empty((len(learnt), n)), np.empty((len(asked), n))
    is_nominal, codes = list(features.is_nominal), list(features.codes)
    numbering = Numbering(features.max_categories, counts_missing=False)  # a gap is no category
    for place in range(n):
        columns = [column_at(X, place) for X in rows]
        try:
            if is_nominal[place] is not True and all(map(_is_of_numbers, columns)):
                numbers = np.concatenate([np.asarray(one, dtype=np.float64) for one in columns])
                _check_finite(numbers)
                of_learns[:, place], of_asks[:, place] = numbers[learnt], numbers[asked]
                if is_nominal[place] is None and not np.isnan(of_learns[:, place]).all():
                    is_nominal[place] = False
                continue
            column = joined_columns([factorized_column(one) for one in columns])
            if is_nominal[place] is None:
                is_nominal[place] = _has_categories(column, learnt, columns)
            if is_nominal[place] is None:  # no value is learnt, so that none asked has a meaning
                of_learns[:, place] = of_asks[:, place] = np.nan
            elif is_nominal[place]:
                encoded = encode(codes[place], column, learnt, asked, stamp, numbering)
                codes[place] = encoded.known
                of_learns[:, place] = _as_numbers(encoded.learnt)
                of_asks[:, place] = _as_numbers(encoded.asked)
            else:
                numbers = _numbers(column, np.concatenate([learnt, asked]))
                of_learns[:, place] = numbers[column.positions[learnt]]
                of_asks[:, place] = numbers[column.positions[asked]]
        except MixedTypes as error:
            error.column = place
            raise
    after = features._replace(is_nominal=tuple(is_nominal), codes=tuple(codes))
    return Read(after, of_learns, of_asks)


def _is_of_numbers(column: Any) -> bool:
    """Whether the type of a column says that it holds numbers of NumPy."""
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"


def _check_finite(numbers: Floats) -> None:
    if np.isinf(numbers).any():
        raise MixedTypes("holds an infinite number")


def _has_categories(column: Factorized, learnt: Integers, columns: list[Any]) -> bool | None:
    """Whether the first value learnt is a category; None if none is learnt."""
    if any(hasattr(one.dtype, "categories") for one in columns):
        return True
    of_learns = column.positions[learnt]
    for place in of_learns[np.sort(np.unique(of_learns, return_index=True)[1])].tolist():
        value = column.values[place]
        if isinstance(value, date | timedelta):
            raise MixedTypes(f"holds {value!r}, which is neither a number nor a category")
        if value is not None:
            return kind_of(value) != "a number"
    return None


def _as_numbers(codes: NDArray[np.int64]) -> Floats:
    numbers = codes.astype(np.float64)
    numbers[codes == MISSING] = np.nan
    return numbers


def _numbers(column: Factorized, used: Integers) -> Floats:
    """Values of a column as numbers; NaN for those that are not used."""
    numbers = np.full(len(column.values), np.nan)
    for place in np.unique(column.positions[used]).tolist():
        value = column.values[place]
        if value is None:
            continue
        if kind_of(value) != "a number":
            raise MixedTypes(f"holds {value!r}, {kind_of(value)}, and in the rows before numbers")
        try:
            numbers[place] = value
        except (TypeError, OverflowError) as error:
            raise MixedTypes(f"holds {value!r}, which is no real number of 64 bits") from error
    _check_finite(numbers)
    return numbers
