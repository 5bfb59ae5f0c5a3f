"""Kind of a column of texts: categories, numbers in another notation, or free text."""

import re
from collections.abc import Iterable
from typing import Any

_SIGN = r"[-+]?"
_PLAIN = re.compile(rf"{_SIGN}(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WRITTEN_OTHERWISE = {
    "a comma": re.compile(
        rf"{_SIGN}(\d*|\d{{1,3}}(\.\d{{3}})+),\d+|{_SIGN}\d{{1,3}}(,\d{{3}})+(\.\d+)?"
    ),
    "a separator of thousands": re.compile(
        rf"{_SIGN}\d{{1,3}}(['’ \u00a0\u202f]\d{{3}})+([.,]\d+)?|{_SIGN}\d{{1,3}}(\.\d{{3}}){{2,}}"
    ),
    "a percent sign": re.compile(rf"{_SIGN}\d*[.,]?\d+\s?%"),
    "a currency sign": re.compile(rf"{_SIGN}[$€£¥]\s?{_SIGN}\d[\d.,]*|{_SIGN}\d[\d.,]*\s?[$€£¥]"),
}

PLAIN = "digits alone"

# Common marks of a missing number that `null_values` does not include by default.
_MISSING_MARK = re.compile(
    r"\W*|#?n[./]?[ad]\.?|#n/?a!?|none|nil|missing|unknown|undefined|not available|#div/0!|#value!",
    re.IGNORECASE,
)
# Few texts among so many numbers are probably not categories.
_MANY_NUMBERS = 10
_FEW_TEXTS = 0.1


def numbers_with(values: Iterable[Any]) -> tuple[str, str] | None:
    """Return the notation of numbers in texts, if all of them are numbers.

    Parameters
    ----------
    values : iterable
        Distinct values of a column.

    Returns
    -------
    (str, str) or None
        The notation of the numbers, and one of them: "a comma", say, or `PLAIN`. None if
        some value is no number, or there are no texts.

    Examples
    --------
    >>> from skstream.streams._texts import numbers_with
    >>> numbers_with(["3", "2,75"]), numbers_with(["1", "2"]), numbers_with(["1", "A"])
    (('a comma', '2,75'), ('digits alone', '1'), None)
    """
    found: tuple[str, str] | None = None
    for value in values:
        if not isinstance(value, str):
            return None
        text = value.strip()
        if _PLAIN.fullmatch(text):
            if found is None or (found[0] == PLAIN and "." in value and "." not in found[1]):
                found = PLAIN, value
            continue
        marks = (mark for mark, form in _WRITTEN_OTHERWISE.items() if form.fullmatch(text))
        mark = next(marks, None)
        if mark is None:
            return None
        if found is None or found[0] == PLAIN:
            found = mark, value
    return found


def odd_among_numbers(values: Iterable[Any]) -> str | None:
    """Return a text that prevents a column from being numeric; None if there is none.

    Parameters
    ----------
    values : iterable
        Distinct values of a column.

    Returns
    -------
    str or None
        A mark of a missing value among numbers; or a text among ten numbers or more, where such
        texts are at most a tenth of the values.

    Examples
    --------
    >>> from skstream.streams._texts import odd_among_numbers
    >>> odd_among_numbers(["1.5", "N.A.", "2"]), odd_among_numbers(["1", "A"])
    ('N.A.', None)
    """
    texts = [value for value in values if isinstance(value, str)]
    odd = [text for text in texts if not _PLAIN.fullmatch(text.strip())]
    n_numbers = len(texts) - len(odd)
    if not odd or not n_numbers:
        return None
    marks = all(_MISSING_MARK.fullmatch(text.strip()) for text in odd)
    few = n_numbers >= _MANY_NUMBERS and len(odd) <= _FEW_TEXTS * len(texts)
    return min(odd) if marks or few else None


def in_order(values: Iterable[Any]) -> list[Any]:
    """Sort categories: by value where all are numbers, or texts of numbers; else as texts."""
    distinct = list(values)
    written = numbers_with(distinct)
    if written is not None and written[0] == PLAIN:
        return sorted(distinct, key=lambda text: (float(text), text))
    return sorted(distinct)
