"""Conversion of columns of Arrow tables to arrays."""

from bisect import bisect_left
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._optional import optional_import
from skstream.utils._times import LARGEST_EXACT, check_exact, time_column
from skstream.utils._warnings import warn

NOMINAL = "nominal"
NUMBER = "number"
INTEGER = "integer"
BOOLEAN = "boolean"
TIME = "time"
TEXT = "text"

_WRITTEN = (
    "a format of strptime, such as '%d/%m/%Y %H:%M' or '%m/%d/%Y %I:%M %p', or the unit of numbers "
    "since 1970 in UTC: 's', 'ms', 'us' or 'ns'"
)
_USUAL_DATES = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
_USUAL_TIMES = ("", " %H:%M", " %H:%M:%S")
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NULL = -1
_UNDECLARED = -2
_SHOWN = 20
_ROWS_AT_ONCE = 8192


def _pyarrow() -> Any:
    return optional_import("pyarrow", "Reading tables")


def role_of(name: str, kind: Any) -> str:
    """Say what a column of an Arrow type is: nominal, number, integer, boolean or time."""
    types = _pyarrow().types
    if types.is_dictionary(kind) or is_text(kind):
        return NOMINAL
    if types.is_boolean(kind):
        return BOOLEAN
    if types.is_integer(kind):
        return INTEGER
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return NUMBER
    if types.is_temporal(kind) and not types.is_interval(kind):
        return TIME
    raise TypeError(
        f"Column {name!r} has the type {kind}, which is neither a number, a time nor a category. "
        f"Name it in exclude=."
    )


def numbers(column: Any, name: str = "", first_row: int = 0) -> NDArray[np.float64]:
    """Column as float64; nulls as NaN.

    Dates are days and timestamps seconds since 1970-01-01 (UTC where the zone is known), times of
    day and durations are seconds, booleans 0 and 1. Texts must be numbers; `name` and `first_row`
    say in the error which one is not.
    """
    pa = _pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    scale = 1.0
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_date(kind):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_temporal(kind):
        scale = _PER_SECOND[kind.unit]
        column = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    elif is_text(kind):
        column = numbers_of(column, name, first_row)
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return values / scale if scale != 1.0 else values


def numbers_of(
    texts: Any, name: str, first_row: int, *, decimal: str = ".", whole: bool = False
) -> Any:
    """Column of texts as numbers; an error names the first row whose text is none.

    `whole`: integers stay integers, where all of these are.
    """
    pa, compute = _pyarrow(), optional_import("pyarrow.compute", "Reading tables")
    plain_texts = compute.utf8_trim_whitespace(texts)
    if decimal != ".":
        # A point is then no part of a number: of 1.234 a thousand would become one.
        plain_texts = compute.replace_substring(plain_texts, ".", " ")
        plain_texts = compute.replace_substring(plain_texts, decimal, ".")
    for kind in (pa.int64(), pa.uint64()) if whole else ():
        with suppress(pa.ArrowInvalid):
            return plain_texts.cast(kind)
    try:
        found = plain_texts.cast(pa.float64())
    except pa.ArrowInvalid:
        raise misfit(texts, plain_texts, pa.float64(), name, first_row, "a number") from None
    if whole:
        _refuse_lost_digits(found, plain_texts, name)
    return found


def misfit(
    texts: Any, plain_texts: Any, kind: Any, name: str, first_row: int, wanted: str
) -> ValueError:
    """Return the error for the first of some texts that cannot be cast to a type."""

    def cannot_be_cast(row: int) -> bool:
        try:
            plain_texts.slice(0, row + 1).cast(kind)
        except _pyarrow().ArrowInvalid:
            return True
        return False

    row = bisect_left(range(len(texts)), True, key=cannot_be_cast)
    return ValueError(
        f"Row {first_row + row} has the text {texts[row].as_py()!r} in column {name!r}, which is "
        f"not {wanted}."
    )


def _refuse_lost_digits(found: Any, texts: Any, name: str) -> None:
    """Raise an error for whole numbers that are not the same as floats, unless some have more."""
    values = numbers(found.drop_null())
    if np.abs(values).max(initial=0) < LARGEST_EXACT or (values % 1 > 0).any():
        return
    for text in texts.drop_null().to_pylist():
        if text.lstrip("-").isdecimal() and int(float(text)) != int(text):
            raise ValueError(
                f"Column {name!r} holds {text}, a whole number that would lose digits as a float. "
                f"If it is a label, pass nominal=[{name!r}]; if a number, numeric=[{name!r}]."
            )


def check_roles(roles: dict[str, str], used: dict[str, str]) -> None:
    """Raise an error if the target or a column of meta data has a role that it cannot have."""
    refused = {"target": {TIME}, "sample_weight": {TIME, NOMINAL}}
    refused |= {key: {NOMINAL} for key in ("arrival", "label_time", "sort_by")}
    for key, name in used.items():
        if roles[name] in refused.get(key, ()):
            held = {TIME: "times", NOMINAL: "categories"}[roles[name]]
            how = " If these are times, give their format, options={'time_format': ...}: "
            how = f"{how}{_WRITTEN}." if refused[key] == {NOMINAL} else ""
            raise TypeError(f"{key} names the column {name!r}, which holds {held}.{how}")


def texts_of(column: Any, name: str, first_row: int, missing: str | float) -> NDArray[Any]:
    """Column of texts as an array of objects; an empty text where there is none."""
    texts = np.array(column.to_pylist(), dtype=object)
    absent = np.array([text is None for text in texts.tolist()], dtype=bool)
    refuse_gap(missing, name, absent, first_row)
    texts[absent] = ""
    return texts


def refuse_gap(missing: str | float, name: str, absent: NDArray[np.bool_], first_row: int) -> None:
    """Raise an error if a value is absent and the option missing is "error"."""
    if missing == "error" and absent.any():
        row = first_row + int(np.flatnonzero(absent)[0])
        raise ValueError(
            f"Row {row} has no value in column {name!r}, and missing='error' refuses "
            f"that. Use options={{'missing': 'nan'}} (which makes an empty text of a missing one), "
            f"or a number that fills the gaps."
        )


def is_text(kind: Any) -> bool:
    types = _pyarrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def as_matrix(columns: dict[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
    """Columns of numbers and codes side by side."""
    matrix = np.empty((n_rows, len(columns)))
    # Few rows at a time, so that they stay in the cache until all their columns are there.
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        for j, values in enumerate(columns.values()):
            matrix[rows, j] = values[rows]
    return matrix


def moments(column: Any) -> NDArray[Any]:
    """Column of arrival or label times: ``datetime64`` for dates and timestamps, else float64."""
    if is_date(column.type):
        return time_column(column, "A column of times")
    times = numbers(column)
    check_exact(times, column, "A column of times")
    return times


def iso_times(column: Any) -> NDArray[Any] | None:
    """Column of texts as `moments`; None if some of them are no dates as ISO writes them."""
    if _pyarrow().types.is_dictionary(column.type):
        column = column.dictionary_decode()
    for zone in (None, "UTC"):
        with suppress(ValueError):
            return moments(column.cast(_pyarrow().timestamp("us", zone)))
    return None


def is_date(kind: Any) -> bool:
    """Whether an Arrow type is one of dates or timestamps, and not of times of day or durations."""
    types = _pyarrow().types
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def time_formats(given: Any, columns: Iterable[str]) -> dict[str, str]:
    """Return how times are written by column; one text is about all the `columns` named as such."""
    by_column = dict(given) if isinstance(given, dict) else {}
    formats = dict.fromkeys(columns, given) if isinstance(given, str) else by_column
    for written in formats.values() if formats else [given] * (given is not None):
        if not isinstance(written, str) or not ("%" in written or written in _PER_SECOND):
            raise ValueError(
                f"time_format= must be {_WRITTEN}; or a dict of them by column. Got {written!r} "
                "instead."
            )
        if ("%p" in written) != ("%I" in written):
            has, needed = ("%p", "%I") if "%p" in written else ("%I", "%p")
            raise ValueError(
                f"time_format={written!r} has {has}, which needs {needed}: without it, half of the "
                "times would be misread. Hours from 1 to 12 are %I with %p (AM or PM), and those "
                "from 0 to 23 are %H alone."
            )
    if given and not formats:  # no column is named as a time
        raise ValueError(f"Name the column of these times: time_format={{'COLUMN': {given!r}}}.")
    return formats


def words_of_dates(name: str, texts: Iterable[Any]) -> str:
    """Say that all texts of a column are dates in a usual format, and how to read it, if so."""
    for written in (f"{date}{time}" for date in _USUAL_DATES for time in _USUAL_TIMES):
        with suppress(ValueError, TypeError):
            if all(datetime.strptime(text, written) for text in texts):
                return (
                    f"Column {name!r} has dates as texts. Read them with "
                    f"options={{'time_format': {{{name!r}: {written!r}}}}}. If rows arrived then, "
                    f"add roles={{'arrival': {name!r}}}. Or leave it out with exclude=[{name!r}]."
                )
    return ""


def warn_of_unit(times: Any, written: str, name: str) -> None:
    """Warn if all times that were read from numbers are in 1970."""
    first, last = (np.datetime64(f"{year}-01-01") for year in (1970, 1971))
    known = moments(times.drop_null())
    if len(known) and ((first <= known) & (known < last)).all():
        warn(
            f"All numbers in column {name!r} are times in 1970 as time_format={written!r} reads "
            f"them, as {known[-1]}. If they are current, give their unit: seconds since 1970 have "
            "10 digits ('s'), then there are 13 ('ms'), 16 ('us') or 19 ('ns')."
        )


def written_times(column: Any, written: str, name: str, first_row: int) -> Any:
    """Column of times that are written in a format, or as numbers since 1970, as timestamps."""
    pa = _pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    coded = column.dictionary_encode()
    found, zone = [], None if "%" in written else "UTC"
    for value in coded.dictionary.to_pylist():
        try:
            if "%" not in written:
                micro = Decimal(str(value)) * 10**6 / Decimal(_PER_SECOND[written])
                found.append(None if value != value else int(micro.to_integral_value()))
                continue
            time = datetime.strptime(str(value).strip(), written)
        except (ValueError, ArithmeticError):
            row = first_row + column.to_pylist().index(value)
            words = f"Row {row} has {str(value)!r} in column {name!r}"
            raise ValueError(f"{words}, which does not match time_format={written!r}.") from None
        zone, time = (None, time.replace(tzinfo=UTC)) if time.tzinfo is None else ("UTC", time)
        found.append((time - _EPOCH) // timedelta(microseconds=1))
    return pa.array(found, pa.timestamp("us", zone)).take(coded.indices)


def plain(column: Any) -> NDArray[Any]:
    """Column of labels or identifiers with its own values; an array of objects if some are null.

    Integers become int64 (uint64 stays), and Python's own where they are decimals; other numbers
    float64 with NaN for null, times ``datetime64``.
    """
    pa = _pyarrow()
    role = role_of("", column.type)
    if pa.types.is_decimal(column.type) and column.type.scale <= 0:
        values = [None if one is None else int(one) for one in column.to_pylist()]
        return np.array(values, dtype=object)
    if role == NUMBER:
        return numbers(column)
    if role == NOMINAL or (column.null_count and role != TIME):
        return np.array(column.to_pylist(), dtype=object)
    if role == INTEGER and not pa.types.is_uint64(column.type):
        column = column.cast(pa.int64())
    return column.to_numpy(zero_copy_only=False)


def values_of(column: Any) -> list[Any]:
    """Values of a nominal column: its whole dictionary, or its distinct values; no null or NaN."""
    declared = _pyarrow().types.is_dictionary(column.type)
    values = column.dictionary if declared else column.unique()
    return [value for value in values.to_pylist() if value is not None and value == value]


def codes(column: Any, index: dict[Any, int], name: str, first_row: int) -> NDArray[np.int64]:
    """Positions of the values of a nominal column among its categories; -1 for null."""
    pa = _pyarrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    positions = {None: _NULL, **index}
    table = [
        positions.get(value, _UNDECLARED) if value == value else _NULL
        for value in column.dictionary.to_pylist()
    ]
    places = column.indices
    if column.null_count:
        places = places.cast(pa.int64()).fill_null(len(table))
    found: NDArray[np.int64] = np.array([*table, _NULL], dtype=np.int64).take(
        places.to_numpy(zero_copy_only=False)
    )
    if _UNDECLARED in table and (found == _UNDECLARED).any():
        row = int((found == _UNDECLARED).argmax())
        shown = ", ".join(repr(value) for value in list(index)[:_SHOWN])
        raise ValueError(
            f"Row {first_row + row} has the value {column[row].as_py()!r} in column {name!r}, "
            f"which is not among its {len(index)} declared categories: {shown}"
            f"{', ...' if len(index) > _SHOWN else '.'}"
        )
    return found
