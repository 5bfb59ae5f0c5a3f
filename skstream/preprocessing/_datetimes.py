"""Columns of dates and times as numbers."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream.preprocessing._base import StreamTransformer, checked_values, chosen_names, holds
from skstream.streams._values import column_at, column_lists, holds_numbers, is_missing
from skstream.utils._sklearn import feature_names_in

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Days = NDArray[np.datetime64]

_MICROSECONDS = 1_000_000
_DAY = 86_400 * _MICROSECONDS
_NAT = np.iinfo(np.int64).min
# The year 10,000 begins. Milliseconds since 1970 are larger, and taken for no date.
_WEEK = 7 * 24 * 3600
_LARGEST_SECONDS = 253_402_300_800


def _since(days: Days, unit: str) -> Whole:
    """Days since the beginning of the month or year."""
    return (days - days.astype(f"M8[{unit}]").astype("M8[D]")).astype(np.int64)


# Each from days since 1970 and microseconds of the day: whole numbers from 0 on.
_FIELDS: dict[str, Callable[[Days, Whole], Whole]] = {
    "month": lambda days, within: days.astype("M8[M]").astype(np.int64) % 12,
    "day": lambda days, within: _since(days, "M"),
    "weekday": lambda days, within: (days.astype(np.int64) + 3) % 7,  # 1970 began on a Thursday
    "day_of_year": lambda days, within: _since(days, "Y"),
    "hour": lambda days, within: within // (3_600 * _MICROSECONDS),
    "minute": lambda days, within: within // (60 * _MICROSECONDS) % 60,
    "second": lambda days, within: within // _MICROSECONDS % 60,
}
_PERIODS = {"month": 12, "day": 31, "weekday": 7, "day_of_year": 366}
_PERIODS |= {"hour": 24, "minute": 60, "second": 60}
_FIRST = {"month": 1, "day": 1, "day_of_year": 1}  # where people begin to count
_NAMES = ("year", *_FIELDS, "timestamp")


class DatetimeFeatures(StreamTransformer):
    """Turn dates and times into hour, weekday, month and so on.

    The only state is the number and names of the columns, which have a time zone, and which contain
    numbers.

    Parameters
    ----------
    features : str or list of str, default=("month", "weekday", "hour")
        "year", "month" (1 to 12), "day" (1 to 31), "weekday" (0 is Monday), "day_of_year" (1 to
        366), "hour", "minute", "second", and "timestamp", the seconds since 1970 began.
    cyclic : bool, default=True
        Whether periodic features become points on a circle, sine and cosine: 23 h is then next to 0
        h, and December to January. Year and timestamp remain numbers.
    fill_value : float, default=0.0
        Value for a missing date (None, NaT, NaN). For points on a circle, 0 is the centre, equally
        far from every hour.

    Attributes
    ----------
    with_time_zone_ : list of {True, False, None}
        Whether each column of the first rows had a time zone; None if its type did not say, as for
        texts. A later contradiction is an error.
    with_numbers_ : list of {True, False, None}
        Whether each column had a number in the first row rather than a date or text; None if the
        value was missing. A later value of the other kind is an error.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    RollingFeatures : Earlier values of the same customer.

    Notes
    -----
    Columns hold datetimes of NumPy, pandas (with a time zone, too), polars or Arrow, `datetime` and
    `date` objects, texts in the format of ISO 8601 ("2026-03-01", "2026-03-01T13:30:00+01:00"), or
    numbers: seconds since 1970. With a time zone, the hour is local time, and the timestamp is
    seconds since 1970 in UTC. Fractions of a microsecond are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.preprocessing import DatetimeFeatures
    >>> times = np.array([["2026-03-01T13:30"], ["2026-03-02T00:00"]], dtype="datetime64[m]")
    >>> DatetimeFeatures(["weekday", "hour"], cyclic=False).fit_transform(times)
    array([[ 6., 13.],
           [ 0.,  0.]])
    >>> DatetimeFeatures("hour").fit(times).get_feature_names_out(["paid"])
    array(['paid_hour_sin', 'paid_hour_cos'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "features": [str, "array-like"],
        "cyclic": ["boolean"],
        "fill_value": [Real],
    }

    n_features_in_: int
    with_time_zone_: list[bool | None]
    with_numbers_: list[bool | None]

    def __init__(
        self,
        features: str | Sequence[str] = ("month", "weekday", "hour"),
        *,
        cyclic: bool = True,
        fill_value: float = 0.0,
    ):
        self.features = features
        self.cyclic = cyclic
        self.fill_value = fill_value

    def partial_fit(self, X: Any, y: Any = None) -> "DatetimeFeatures":
        """Check rows: the number and names of their columns, and whether these hold dates.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._validate_params()
        self._features()
        X = checked_values(self, X, reset=not hasattr(self, "n_features_in_"))
        self._moments(X)
        return self

    def _moments(self, X: Any) -> list[Whole]:
        """Microseconds since 1970 of each column, of the same kind as in the first rows."""
        series = [column_at(X, place) for place in range(X.shape[1])]
        columns = [*map(_array, series)]
        moments = [
            microseconds("DatetimeFeatures", X, place, column)
            for place, column in enumerate(columns)
        ]
        zoned = [*map(_known_time_zone, series, moments)]
        if not hasattr(self, "with_time_zone_"):
            self.with_time_zone_ = zoned
            self.with_numbers_ = [*map(_begins_with_numbers, columns, moments)]
        for place, now in enumerate(zoned):
            self._check_time_zone(X, place, now)
            self._check_kind(X, place, columns[place], moments[place])
        return moments

    def transform(self, X: Any) -> Floats:
        """Turn dates into numbers.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows of dates.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            The features of the first column, of the second, and so on.
        """
        check_is_fitted(self)
        X = checked_values(self, X, reset=False)
        columns: list[Floats] = []
        for place, moments in enumerate(self._moments(X)):
            missing = moments == _NAT
            absolute = moments
            if "timestamp" in self._features():
                array = _array(column_at(X, place), utc=True)
                absolute = microseconds("DatetimeFeatures", X, place, array, utc=True)
            of_column = self._numbers(*(np.where(missing, 0, one) for one in (moments, absolute)))
            for numbers in of_column:
                numbers[missing] = self.fill_value
            columns += of_column
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the input columns, if they have none of their own.

        Returns
        -------
        ndarray of shape (n_features_out,), dtype object
            The names.
        """
        check_is_fitted(self)
        names = []
        for name in feature_names_in(self, input_features):
            for feature in self._features():
                ends = ("_sin", "_cos") if self.cyclic and feature in _PERIODS else ("",)
                names += [f"{name}_{feature}{end}" for end in ends]
        return np.array(names, dtype=object)

    def _check_time_zone(self, X: Any, place: int, now: bool | None) -> None:
        """Raise an error if a column has lost its time zone, or got one: its clock changed."""
        before = self.with_time_zone_[place]
        if before is not None and now is not None and before != now:
            words = {True: "dates with a time zone", False: "dates without a time zone"}
            raise ValueError(
                f"Column {X.columns[place]!r} holds {words[now]}, but in the first rows "
                f"{words[before]}, so hours are not comparable. Use one time zone throughout, for "
                "example with pandas' dt.tz_localize."
            )

    def _check_kind(self, X: Any, place: int, column: NDArray[Any], moments: Whole) -> None:
        """Raise an error at a number in a column of dates, or at a date in one of numbers."""
        before = self.with_numbers_[place]
        kind = column.dtype.kind
        if before is None or (kind != "O" and (kind in "iuf") == before):
            return
        other = (_are_numbers(column) != before) & (moments != _NAT)
        if other.any():
            row = int(other.argmax())
            words = {True: "a number (seconds since 1970)", False: "a date"}
            value = column_lists(column[row : row + 1, np.newaxis])[0][0]
            raise ValueError(
                f"{holds(X, place, value, row)}, but the first row had {words[before]}. Use one "
                "kind throughout: pandas.to_datetime(..., unit=...) converts numbers to dates."
            )

    def _takes(self) -> tuple[str, ...]:
        return "allow_nan", "string"

    def _features(self) -> list[str]:
        return chosen_names(self.features, "feature", _NAMES)

    def _numbers(self, moments: Whole, absolute: Whole) -> list[Floats]:
        """Features of moments, in microseconds since 1970: by the clock, and by that of UTC."""
        since = moments // _DAY
        within = moments - since * _DAY
        days = since.astype("M8[D]")
        numbers: list[Any] = []
        for feature in self._features():
            if feature == "timestamp":
                numbers.append(absolute / _MICROSECONDS)
            elif feature == "year":
                numbers.append(days.astype("M8[Y]").astype(np.int64) + 1970.0)
            elif self.cyclic:
                circle = _circle(_PERIODS[feature])
                numbers += list(circle.take(_FIELDS[feature](days, within), axis=1))
            else:
                field = _FIELDS[feature](days, within) + _FIRST.get(feature, 0)
                numbers.append(field.astype(np.float64))
        return numbers


def _has_time_zone(column: Any) -> bool | None:
    """Whether a series of dates has a time zone; None if its type does not tell, as of arrays."""
    dtype = column.dtype
    if isinstance(column, np.ndarray):
        return None
    if hasattr(dtype, "kind"):
        arrow = getattr(dtype, "pyarrow_dtype", dtype)
        return getattr(arrow, "tz", None) is not None if dtype.kind == "M" else None
    return dtype.time_zone is not None if hasattr(dtype, "time_zone") else None


def _known_time_zone(column: Any, moments: Whole) -> bool | None:
    """Whether a series of dates has a time zone; None if its type and values do not tell.

    Where all dates are missing, pandas makes a column without a time zone of them.
    """
    zoned = _has_time_zone(column)
    return zoned if zoned or (moments != _NAT).any() else None


def _are_numbers(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values of a column are numbers, and no dates or texts."""
    if column.dtype.kind != "O":
        return np.full(len(column), column.dtype.kind in "iuf")
    kinds = [*map(type, column)]
    of_numbers = {kind for kind in set(kinds) if issubclass(kind, Real)}
    return np.array([kind in of_numbers for kind in kinds])


def _begins_with_numbers(column: NDArray[Any], moments: Whole) -> bool | None:
    """Whether the first value of a column is a number; None if it is missing."""
    is_unknown = column.dtype.kind != "M" and moments[0] == _NAT
    return None if is_unknown else bool(_are_numbers(column[:1])[0])


def _circle(period: int) -> Floats:
    """Sine and cosine of every step round a circle, of shape (2, period)."""
    angles = 2.0 * np.pi * np.arange(period) / period
    return np.array([np.sin(angles), np.cos(angles)])


def microseconds(
    reader: str, X: Any, place: int, column: NDArray[Any], *, utc: bool = False
) -> Whole:
    """One column of rows as microseconds since 1970, NaT where they are missing.

    By the clock of each value's time zone; with `utc`, by that of UTC. `reader` is the class that
    reads them, for the error; `column` is what stands at the place, as an array.
    """
    if column.dtype.kind == "M":
        whole: Whole = column.astype("M8[us]").astype(np.int64)
        # Microseconds of dates far away are beyond 64 bits, and look like other dates.
        far = np.abs(column.astype("M8[W]").astype(np.int64)) > _LARGEST_SECONDS / _WEEK
        far &= ~np.isnat(column)
        if far.any():
            row = int(far.argmax())
            raise _no_date(reader, X, place, row, column[row])
        return whole
    if column.dtype.kind == "b" and len(column):
        raise _no_date(reader, X, place, 0, bool(column[0]))
    if column.dtype.kind in "iuf":
        seconds = column.astype(np.float64)
        missing = np.isnan(seconds)
        wrong = np.flatnonzero(~missing & ~(np.abs(seconds) < _LARGEST_SECONDS))
        if len(wrong):
            raise _no_date(reader, X, place, int(wrong[0]), float(seconds[wrong[0]]))
        known = np.where(missing, 0.0, seconds)
        moments: Whole = np.floor(known * _MICROSECONDS).astype(np.int64)
        moments[missing] = _NAT
        return moments
    moments = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column_lists(column[:, np.newaxis])[0]):
        try:
            moments[row] = _moment(value, utc)
        except (TypeError, ValueError, OverflowError):
            raise _no_date(reader, X, place, row, value) from None
    return moments


def moments_of(reader: str, X: Any, place: int) -> tuple[Floats, Floats]:
    """One column of rows as whole seconds since 1970 in UTC, and nanoseconds beyond them.

    NaN where they are missing. As two numbers, since one of 64 bits does not hold both. The clock
    of a time zone is no measure of elapsed time: it is put forward and back.
    """
    column = _array(column_at(X, place), utc=True, unit=None)
    moments = microseconds(reader, X, place, column, utc=True)
    missing = moments == _NAT
    seconds, within = np.divmod(np.where(missing, 0, moments), _MICROSECONDS)
    nanoseconds = 1000.0 * within + _beyond_microseconds(column)
    return np.where(missing, np.nan, seconds), np.where(missing, np.nan, nanoseconds)


def _beyond_microseconds(column: NDArray[Any]) -> Any:
    """Nanoseconds of dates beyond their microseconds."""
    if column.dtype.kind == "M":
        return (column - column.astype("M8[us]")).astype("m8[ns]").astype(np.int64)
    if column.dtype.kind != "O":
        return 0
    return np.array(
        [
            int((value - value.astype("M8[us]")).astype("m8[ns]").astype(np.int64))
            if isinstance(value, np.datetime64)
            else getattr(value, "nanosecond", 0)
            for value in column
        ]
    )


def _no_date(reader: str, X: Any, place: int, row: int, value: Any) -> ValueError:
    return ValueError(
        f"{holds(X, place, value, row)}, but {reader} reads dates and times, texts such as "
        "'2026-03-01T13:30', and seconds since 1970 up to the year 9999. Convert it first, for "
        "example with pandas.to_datetime."
    )


def _array(series: Any, utc: bool = False, unit: str | None = "us") -> NDArray[Any]:
    """Datetimes, or numbers, of a series; else objects. Arrays stay as they are.

    Datetimes are those of the clock of the time zone, or with `utc` those of UTC; without a `unit`
    in that of the series.
    """
    into = None if unit is None else f"M8[{unit}]"
    if isinstance(series, np.ndarray):
        return series
    dtype = series.dtype
    if hasattr(series, "iloc"):
        kind, arrow = getattr(dtype, "kind", "O"), getattr(dtype, "pyarrow_dtype", None)
        if kind == "b" or (kind == "M" and arrow is not None and not hasattr(arrow, "tz")):
            return np.asarray(series.to_numpy(dtype=object))  # booleans; dates of pyarrow
        if kind == "M":
            is_numpy = isinstance(dtype, np.dtype)
            zone = series.dt.tz_convert if utc and _has_time_zone(series) else series.dt.tz_localize
            return np.asarray((series if is_numpy else zone(None)).to_numpy(), dtype=into)
        if holds_numbers(series.to_frame()) and not isinstance(dtype, np.dtype):
            return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    elif getattr(dtype, "time_zone", None) is not None:
        clock = series.dt.convert_time_zone("UTC") if utc else series
        return np.asarray(clock.dt.replace_time_zone(None).to_numpy(), dtype=into)
    return np.asarray(series.to_numpy())


def _moment(value: Any, utc: bool = False) -> int:
    """Microseconds since 1970 of one value, by the clock of its time zone or by that of UTC."""
    if is_missing(value):
        return _NAT
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if utc and isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    if isinstance(value, date):
        # Digits below a microsecond are left out, also those of pandas' timestamps.
        clock = value.time() if isinstance(value, datetime) else time()
        value = np.datetime64(datetime.combine(value, clock), "us")
    elif isinstance(value, Real) and not isinstance(value, bool):
        if not abs(float(value)) < _LARGEST_SECONDS:
            raise OverflowError
        return int(np.floor(float(value) * _MICROSECONDS))
    elif not isinstance(value, np.datetime64):
        raise TypeError
    return int(value.astype("M8[us]").astype(np.int64))
