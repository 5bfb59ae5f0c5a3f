"""Times and durations: from any container, as arrays whose dtype says what they are, or text."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from numbers import Integral, Number
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from skstream.utils._masked import is_missing, unmasked
from skstream.utils._optional import optional_import

NUMBERS = "numbers"
DATETIMES = "datetimes without a time zone"
AWARE = "datetimes with a time zone"
DURATIONS = "durations"
MISSING = "missing values"

#: Beyond it, not every whole number is a float.
LARGEST_EXACT = 2**53
_MOST_WEEKS = LARGEST_EXACT // (7 * 24 * 3600 * 10**6) + 1

#: Units of NumPy's durations that it converts at their average length.
VARIABLE_UNITS = {"M": "months", "Y": "years"}


_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_CONVERT = (
    " Convert texts first, with pandas.to_datetime(..., format='%d/%m/%Y'), or, if they look like "
    "2020-01-31T13:30, np.asarray(..., 'datetime64[s]')."
)


class UtcTimes(np.ndarray):
    """Array of ``datetime64`` in UTC, of datetimes that came with a time zone.

    NumPy's own ``datetime64`` has no time zone, so datetimes with and without one would look alike.
    """

    def __reduce__(self) -> Any:
        return _as_utc, (np.asarray(self),)


def _as_utc(times: np.ndarray) -> UtcTimes:
    return times.view(UtcTimes)


def time_column(values: Any, name: str) -> np.ndarray:
    """Times as an array of numbers, of ``datetime64``, or of `UtcTimes`.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        List, array, or pandas, polars or pyarrow column of numbers, dates or datetimes. None,
        NaN, NaT, ``pandas.NA`` and masked entries are missing times; so is infinity among
        datetimes.
    name : str
        Name of the parameter, for errors.

    Returns
    -------
    times : ndarray of shape (n_rows,)
        Numbers with NaN, or datetimes with NaT, where a time is missing.

    Raises
    ------
    ValueError
        If the values are something else, or of several kinds.
    """
    if isinstance(values, UtcTimes):
        return values
    given = values
    values = unmasked(values, numbers=True)
    if _has_time_zone(values):
        return _as_utc(_utc_of_column(values))
    times = np.asarray(values)
    if times.ndim == 1 and times.dtype == object:
        times = _from_objects(times, name, (NUMBERS, DATETIMES, AWARE), "numbers or datetimes")
    return _checked(times, given, name, "M", "numbers or datetimes")


def is_of_dates(kind: Any) -> bool:
    """Whether a dtype of pandas or polars is one of dates or datetimes."""
    return str(kind).lower().startswith(("date", "timestamp"))


def may_be_dates(kind: Any) -> bool:
    """Whether a column of a dtype can hold dates: as such, periods, objects or texts."""
    return is_of_dates(kind) or str(kind).lower().startswith(("period", "obj", "str"))


def dates_of(values: Any) -> np.ndarray | None:
    """Dates in a column or an index, as `time_column`; None if they are no dates or ISO texts."""
    kind = getattr(values, "dtype", "")
    if str(kind).startswith("period"):
        values = getattr(values, "dt", values).to_timestamp()
    elif not may_be_dates(kind):
        return None
    elif not is_of_dates(kind):
        first = next((one for one in values if not is_missing(one)), None)
        if not isinstance(first, date) and not (isinstance(first, str) and _ISO.match(first)):
            return None
        values = list(values)
    try:
        if isinstance(values, list):
            values = [datetime.fromisoformat(v) if isinstance(v, str) else v for v in values]
        return time_column(values, "times")
    except ValueError:  # of other texts, or of several kinds
        return None


def duration_column(values: Any, name: str) -> np.ndarray:
    """Durations as an array of numbers or of ``timedelta64``; as `time_column`, or one alone."""
    given = values
    values = unmasked(values, numbers=True)
    durations = np.asarray(values)
    _refuse_variable_lengths(durations, name)
    single = durations.ndim == 0
    given = [given] if single else given
    if durations.dtype == object:
        kinds = NUMBERS, DURATIONS
        durations = _from_objects(np.atleast_1d(durations), name, kinds, "numbers or timedeltas")
    durations = _checked(np.atleast_1d(durations), given, name, "m", "numbers or timedeltas")
    return durations[0:1].reshape(()) if single else durations


def _refuse_variable_lengths(durations: np.ndarray, name: str) -> None:
    """Raise an error for months and years, and for durations without a unit."""
    for value in durations.reshape(-1) if durations.dtype == object else [durations]:
        kind = getattr(value, "dtype", None)
        if kind is None or kind.kind != "m" or np.isnat(value).all():
            continue
        shown, unit = np.asarray(value)[()], np.datetime_data(kind)[0]
        if unit == "generic":
            raise ValueError(
                f"{name} is {shown!r}, a duration without a unit. Give it one, as in "
                "numpy.timedelta64(3, 'h')."
            )
        if unit in VARIABLE_UNITS:
            raise ValueError(
                f"{name} is {shown}, and {VARIABLE_UNITS[unit]} have no fixed length. Give days, "
                "as in numpy.timedelta64(30, 'D'), or label times."
            )


def kind_of(values: np.ndarray) -> str:
    """Kind of the values in an array of `time_column` or `duration_column`."""
    if isinstance(values, UtcTimes):
        return AWARE
    if values.dtype.kind in "mM":
        if values.dtype.kind == "m":
            return DURATIONS
        return DATETIMES if not np.isnat(values).all() else MISSING
    never = np.isnan(values) | (values == np.inf) if values.dtype.kind == "f" else np.zeros(1, bool)
    return MISSING if never.all() else NUMBERS


def as_microseconds(values: np.ndarray, name: str = "times", first_row: int = 0) -> np.ndarray:
    """Datetimes (since 1970) or durations as whole microseconds; infinite where missing.

    Raises
    ------
    ValueError
        If some are equal as floats; `name` is the name of the parameter, and `first_row` the
        row of its first value.
    """
    kind = values.dtype.kind
    values = np.asarray(values)
    whole, weeks = values.astype(f"{kind}8[us]"), values.astype(f"{kind}8[W]")
    is_missing, microseconds = np.isnat(values), whole.astype(np.int64)
    # Microseconds of times far away are beyond 64 bits, and look like other times.
    large = np.abs(weeks.astype(np.int64)) > _MOST_WEEKS
    large = ~is_missing & (large | (np.abs(microseconds) > LARGEST_EXACT))
    if large.any():
        at = int(large.argmax())
        which = "datetimes from 1684 to 2255" if kind == "M" else "durations of up to 285 years"
        raise ValueError(
            f"{name}[{first_row + at}] is {values.reshape(-1)[at]}: times are counted in "
            f"microseconds, as floats, which hold {which} exactly. Pass NaT for a label that never "
            "comes, or all times as numbers (of hours, say)."
        )
    return np.where(is_missing, np.inf, microseconds.astype(np.float64))


def as_numbers(values: np.ndarray, name: str, first_row: int = 0) -> np.ndarray:
    """Times or durations as floats, in microseconds where they have units; infinite if missing."""
    if values.dtype.kind in "mM":
        return as_microseconds(values, name, first_row)
    numbers: np.ndarray = values.astype(np.float64)
    return np.where(np.isnan(numbers), np.inf, numbers)


def clock(times: np.ndarray) -> np.ndarray:
    """Times of `time_column` for a clock: datetimes in microseconds, in UTC if aware, or floats."""
    times = np.asarray(times)
    return times.astype("datetime64[us]" if times.dtype.kind == "M" else np.float64)


def check_arrivals(given: np.ndarray, first_row: int, before: np.ndarray | None) -> None:
    """Raise an error where times of arrival are missing or go back; see `wrong_arrival`."""
    wrong = wrong_arrival(given, first_row, before)
    if wrong is not None:
        raise ValueError(wrong[1])


def wrong_arrival(
    given: np.ndarray, first_row: int, before: np.ndarray | None
) -> tuple[int, str] | None:
    """Find the first time of arrival that is missing or goes back; say what is wrong with it.

    Parameters
    ----------
    given : ndarray of shape (n_rows,)
        From `time_column`.
    first_row : int
        Number of the first of these rows.
    before : ndarray of shape (1,), or None
        The time before them.

    Returns
    -------
    (int, str) or None
        Its position in `given`, and a message. None: all times are there and in order.
    """
    if before is not None and len(given) and kind_of(before) != kind_of(given[:1]) != MISSING:
        return 0, (
            f"arrival holds {kind_of(before)} up to row {first_row - 1}, and {kind_of(given)} "
            "after it: use one kind."
        )
    is_time = _is_time(clock(given))
    n_given = len(given) if is_time.all() else int(is_time.argmin())
    back = where_back(given[:n_given], first_row, before) if n_given else None
    if back is not None:
        return back[0], (
            f"arrival goes back {back[1]}. Sort the rows by their arrival first; a stream of files "
            "does it with options={'sort_by': ...}."
        )
    if n_given < len(given):
        at = first_row + n_given
        return n_given, f"arrival is missing at row {at}: every row needs an arrival time."
    return None


def where_back(
    given: np.ndarray, first_row: int, before: np.ndarray | None
) -> tuple[int, str] | None:
    """Find the first time before the one above it; say at which row, from what to what.

    Parameters are as of `wrong_arrival`; missing times are passed over.
    """
    times = clock(given) if before is None else np.concatenate([clock(before), clock(given)])
    rows = np.flatnonzero(_is_time(times))
    back = np.flatnonzero(times[rows[1:]] < times[rows[:-1]])
    if not len(back):
        return None
    above, at = (rows[back[0] : back[0] + 2] - (before is not None)).tolist()
    earlier = before if before is not None and above < 0 else given[above:][:1]
    shown = f"from {shown_time(earlier)} to {shown_time(given[at:][:1])}"
    return at, f"at row {first_row + at}, {shown}"


def _is_time(times: np.ndarray) -> np.ndarray:
    return ~np.isnat(times) if times.dtype.kind == "M" else np.isfinite(times)


def shown_time(given: np.ndarray) -> str:
    """Show the one time in an array as the user wrote it."""
    (value,) = given.tolist() if given.dtype.kind in "fiu" else given
    if isinstance(given, UtcTimes):
        return f"{value} UTC"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _checked(values: np.ndarray, given: Any, name: str, kind: str, wanted: str) -> np.ndarray:
    if isinstance(given, str):
        raise ValueError(
            f"{name} must be {wanted}, one for each row. Got the text {given!r} instead; of a "
            f"column of a table, pass the column itself: X[{given!r}]."
        )
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional. Got shape {values.shape} instead.")
    if values.dtype.kind not in "iuf" + kind:
        hint = _CONVERT if values.dtype.kind in "UST" else ""
        raise ValueError(f"{name} must be {wanted}. Got dtype {values.dtype} instead.{hint}")
    check_exact(values, given, name)
    return values


def check_exact(numbers: np.ndarray, given: Any, name: str) -> None:
    """Raise an error for whole numbers that are not all different as floats.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        Times, or durations, read from a container.
    given : array-like of shape (n_rows,)
        The container, which tells whole numbers that became floats from floats.
    name : str
        Name of the parameter, for errors.
    """
    if numbers.dtype.kind == "f":
        large = np.isfinite(numbers) & (np.abs(numbers) >= LARGEST_EXACT)
        large &= large.any() and was_whole(given, large)
    elif numbers.dtype.kind in "iu":
        large = (numbers > LARGEST_EXACT) | (numbers < -LARGEST_EXACT)
    else:
        return
    if large.any():
        at = int(large.argmax())
        shown = np.asarray(numbers)[at].item() if numbers.dtype.kind in "iu" else list(given)[at]
        raise ValueError(
            f"{name}[{at}] is {shown}: times are counted as floats, which cannot represent all "
            "whole numbers above 2**53 (such as epoch nanoseconds): subtract the first time from "
            "all, or pass datetimes (numpy.datetime64)."
        )


def was_whole(given: Any, large: np.ndarray) -> np.ndarray:
    """Which values came as whole numbers, of those that are large."""
    kind = getattr(given, "dtype", None)
    kind = getattr(given, "type", None) if kind is None else kind  # of pyarrow
    if kind is not None and str(kind) != "object":
        return np.full(len(large), "int" in str(kind).lower())
    values = list(given)
    return np.array(
        [one and isinstance(value, Integral) for one, value in zip(large, values, strict=True)]
    )


def _has_time_zone(values: Any) -> bool:
    """Whether a pandas, polars or pyarrow column, or an index, has a time zone."""
    kind = getattr(values, "dtype", None) or getattr(values, "type", None)
    arrow = getattr(kind, "pyarrow_dtype", None)  # of pandas
    return any(
        getattr(one, zone, None) is not None
        for one in (kind, arrow)
        for zone in ("tz", "time_zone")
    )


def _utc_of_column(values: Any) -> np.ndarray:
    if hasattr(values, "dt") and hasattr(values.dt, "tz_convert"):
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    elif hasattr(values, "tz_convert"):  # an index, whose to_numpy would keep the zone
        values = values.tz_convert("UTC").tz_localize(None)
    times = np.asarray(values)
    if times.dtype.kind != "M":
        return times.astype("datetime64[us]")
    whole = times.astype("datetime64[us]")
    # Finer units only where there is something finer: that of pandas is often just its default.
    return times if (whole != times)[~np.isnat(times)].any() else whole


def _is_missing(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, float | np.floating) and value == math.inf)


def _kind_of_object(value: Any) -> str:
    if isinstance(value, datetime) and value.tzinfo is not None and value.utcoffset() is not None:
        return AWARE
    if isinstance(value, date | np.datetime64):
        return DATETIMES
    if isinstance(value, timedelta | np.timedelta64):
        return DURATIONS
    if isinstance(value, Number) and not isinstance(value, bool | complex):
        return NUMBERS
    return f"values of type {type(value).__name__}"


def _from_objects(values: np.ndarray, name: str, kinds: tuple[str, ...], wanted: str) -> np.ndarray:
    """Objects of one kind, some of them perhaps missing."""
    kind, first = None, 0
    for at, value in enumerate(values):
        if _is_missing(value):
            continue
        one = _kind_of_object(value)
        if one not in kinds:
            hint = _CONVERT if isinstance(value, str) else ""
            raise ValueError(
                f"{name} must be {wanted}. Got {value!r} at position {at} instead.{hint}"
            )
        if kind not in (None, one):
            raise ValueError(
                f"{name} mixes {kind} (at position {first}) and {one} (at position {at}). All its "
                "values must be of the same kind."
            )
        if kind is None:
            kind, first = one, at
    if kind is None:
        return np.full(len(values), np.nan)
    if kind == NUMBERS:
        return np.array([np.nan if is_missing(value) else float(value) for value in values])
    given: list[Any] = [None if _is_missing(value) else value for value in values]
    if kind == AWARE:
        given = [value and value.astimezone(UTC).replace(tzinfo=None) for value in given]
    # Times of pandas with nanoseconds become those of NumPy, which keep them.
    given = [
        value.asm8 if getattr(value, "nanosecond", getattr(value, "nanoseconds", 0)) else value
        for value in given
    ]
    fine = (value for value in given if isinstance(value, np.datetime64 | np.timedelta64))
    unit = "ns" if any(v != v.astype(f"{v.dtype.kind}8[us]") for v in fine) else "us"
    times = np.array(given, dtype=f"{'m' if kind == DURATIONS else 'M'}8[{unit}]")
    return _as_utc(times) if kind == AWARE else times


_UNITS = {
    **{"W": timedelta(weeks=1), "D": timedelta(days=1), "d": timedelta(days=1)},
    **{"h": timedelta(hours=1), "min": timedelta(minutes=1), "s": timedelta(seconds=1)},
    **{"ms": timedelta(milliseconds=1), "us": timedelta(microseconds=1)},
}
#: The units in words.
UNITS = "W (weeks), D or d (days), h, min, s, ms and us"
_PART = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})\s*")


def parse_duration(text: str) -> timedelta | None:
    """Duration of a text such as ``"30s"``, ``"7D"`` or ``"1D 12h"``; None if it is none.

    The units are those of pandas that have one fixed length: W, D (or d), h, min, s, ms and us.
    """
    duration, at = timedelta(0), 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        try:
            duration += float(part[1]) * _UNITS[part[2]]
        except OverflowError:  # more than 2.7 million years
            return None
        at = part.end()
    return duration if text.strip() else None


# -- periods of the calendar

_EPOCH = datetime(1970, 1, 1)
#: Periods of a fixed length are counted from a Monday, so that those of seven days are weeks.
_ORIGIN = datetime(1970, 1, 5)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Calendar:
    """Periods that follow one another.

    Attributes
    ----------
    length : timedelta or None
        Length of every period; None: those of `alias`.
    alias : str
        Periods of pandas, such as ``"M"``, or dates at which they begin, such as ``"MS"``.
    zone : ZoneInfo or None
        Time zone in which days begin; None: that of the times, UTC where they have a zone.
    """

    length: timedelta | None
    alias: str = ""
    zone: ZoneInfo | None = None

    def period(self, now: int) -> tuple[int, int]:
        """Return when the period of a time begins, and when the next one does.

        All times are microseconds since 1970, in UTC if they have a time zone.
        """
        wall = _EPOCH + now * _MICROSECOND
        if self.zone is not None:
            wall = wall.replace(tzinfo=UTC).astimezone(self.zone).replace(tzinfo=None)
        start, end = self.around(wall.replace(fold=0))
        after = self._counted(end)
        # An hour that comes twice, as clocks are set back: the end is that of its second time.
        return self._counted(start), after if after > now else self._counted(end.replace(fold=1))

    def around(self, wall: datetime) -> tuple[datetime, datetime]:
        """Return the first moment of the period of a time on the clock's face, and of the next."""
        if self.length is not None:
            start = _ORIGIN + (wall - _ORIGIN) // self.length * self.length
            return start, start + self.length
        pandas = optional_import("pandas", f"The period {self.alias!r}")
        offset = _beginning(pandas, self.alias)
        if offset is None:
            period = pandas.Period(wall, freq=self.alias)
            return period.start_time.to_pydatetime(), (period + 1).start_time.to_pydatetime()
        day = offset.rollback(pandas.Timestamp(wall).normalize())
        return day.to_pydatetime(), (day + offset).to_pydatetime()

    def _counted(self, wall: datetime) -> int:
        if self.zone is not None:
            wall = wall.replace(tzinfo=self.zone).astimezone(UTC).replace(tzinfo=None)
        return (wall - _EPOCH) // _MICROSECOND


def _beginning(pandas: Any, alias: str) -> Any:
    """Return the offset of an alias that names the first days of periods, as "MS"; None: others."""
    try:
        offset = pandas.tseries.frequencies.to_offset(alias)
    except ValueError:  # "M" is a period, and no offset
        return None
    return offset if type(offset).__name__.endswith("Begin") else None


@lru_cache(maxsize=64)
def calendar_of(period: str | timedelta, zone: str | None = None) -> Calendar:
    """Return the periods of a length, or that a text names, as ``"7D"``, ``"12h"`` or ``"MS"`` do.

    Raises
    ------
    ValueError
        If there is no such period, or no such time zone.
    ImportError
        If the text is no duration, and pandas, which knows the others, is absent.
    """
    try:
        known_zone = None if zone is None else ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(
            f"time_zone={zone!r} is not a known time zone. Give its name, such as 'Europe/Berlin'; "
            "on Windows, time zones need the package tzdata."
        ) from error
    length: Any = period
    if isinstance(period, str):
        length = parse_duration(period if period[:1].isdigit() else f"1{period.strip()}")
    if length is not None and length > timedelta(0):
        return Calendar(length, "", known_zone)
    wrong = (
        f"{period!r} is not a period that a clock can count. Give a duration in {UNITS}, such as "
        "'7D' or '12h', or a pandas alias: of the date at which periods begin, such as 'MS' (the "
        "first of a month) or 'QS' (of a quarter), or of one period, such as 'W-SUN' (weeks up to "
        "Sunday)."
    )
    if length is not None:
        raise ValueError(wrong)
    found = Calendar(None, str(period), known_zone)
    try:
        for day in (5, 8):  # a Wednesday, and a Saturday, which some have not
            start, end = found.around(datetime(2020, 2, day, 13))
            follows = start <= datetime(2020, 2, day, 13) < end == found.around(end)[0]
            # Several periods in one, as "3M", begin at any of them.
            if not follows or found.alias.strip()[:1] in "+-123456789":
                raise ValueError(wrong)
    except ImportError:
        raise
    except Exception as error:  # pandas has several kinds of errors for what is no period
        raise ValueError(wrong) from error
    return found
