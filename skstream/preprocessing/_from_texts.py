"""Numbers out of columns that hold something else: texts around a number, truth values."""

import re
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._values import column_lists, is_missing

_DIGITS = r"\d+"
_THOUSANDS = r"\d{1,3}(?:%s\d{3})+"
# 1,234.5 and 1.234,5 and 1 234,5 have marks between thousands; 12.5, 12,5 and .5 have none.
_NUMBER = re.compile(
    rf"[-+]?(?:{_THOUSANDS % ','}(?:\.\d*)?|{_THOUSANDS % '[.]'},\d+|{_THOUSANDS % ' '}(?:[.,]\d+)?"
    rf"|{_DIGITS}(?:[.,]\d*)?|[.,]{_DIGITS})(?:[eE][-+]?\d+)?"
)
#: Least share of a column's values that are numbers for it to be taken for one of numbers.
_SHARE_OF_NUMBERS = 0.5
#: Most texts that are shown.
_SHOWN = 3


def number_in(text: str) -> float:
    """The number in a text, such as 12.5 in "12.50 EUR"; NaN if there is none, or several."""
    found = _NUMBER.findall(text)
    if len(found) != 1:
        return np.nan
    number = found[0].replace(" ", "")
    if "," in number:
        if re.fullmatch(rf"[-+]?{_THOUSANDS % ','}(\.\d*)?([eE][-+]?\d+)?", number):
            number = number.replace(",", "")
        else:  # the comma stands before the decimals
            number = number.replace(".", "").replace(",", ".")
    return float(number)


def is_number(value: Any) -> bool:
    """Whether a value is a number, or a text of nothing else."""
    if isinstance(value, str):
        try:
            return bool(np.isfinite(float(value)))
        except ValueError:
            return False
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def odd_texts(values: Sequence[Any]) -> str:
    """Texts among numbers, in words with their shares; empty if most values are no numbers.

    `values` are those of a column that are not missing.
    """
    others = [value for value in values if not is_number(value)]
    if len(others) == len(values) or len(others) > (1 - _SHARE_OF_NUMBERS) * len(values):
        return ""
    counts = {value: others.count(value) for value in dict.fromkeys(others)}
    most = sorted(counts, key=lambda value: -counts[value])[:_SHOWN]
    listed = [f"{value!r} ({counts[value] / len(values):.1%})" for value in most]
    more = len(counts) - len(most)
    return ", ".join(listed) + (f" and {more} more" if more else "")


def numbers_of_texts(X: Any) -> NDArray[np.float64]:
    """Columns of numbers and texts as numbers; NaN where there is none or several in a text."""
    return _converted(X, lambda value: number_in(value) if isinstance(value, str) else float(value))


def numbers_of_booleans(X: Any) -> NDArray[np.float64]:
    """Columns of truth values as 1, 0, and NaN where they are missing."""

    def number(value: Any) -> float:
        if not isinstance(value, bool | np.bool_) and not (
            isinstance(value, Real) and value in (0, 1)
        ):
            raise ValueError
        return float(value)

    return _converted(X, number)


def _converted(X: Any, number: Any) -> NDArray[np.float64]:
    out = np.full(X.shape, np.nan)
    for place, column in enumerate(column_lists(X)):
        for row, value in enumerate(column):
            if is_missing(value):
                continue
            try:
                out[row, place] = number(value)
            except (TypeError, ValueError):
                name = X.columns[place] if hasattr(X, "columns") else place
                raise ValueError(
                    f"Column {name!r} holds {value!r}, which is neither what its kind takes "
                    "(numbers or texts; True and False) nor missing. Choose another kind for it by "
                    "kinds=."
                ) from None
    return out
