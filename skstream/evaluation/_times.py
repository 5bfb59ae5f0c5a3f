"""Times as numbers: of arrival, and of labels."""

from datetime import timedelta
from typing import Any

import numpy as np

from skstream.utils._masked import unmasked

MICROSECOND = np.timedelta64(1, "us")


def as_times(values: Any, name: str) -> np.ndarray:
    """Numbers as they are; dates as microseconds since 1970; NaN and NaT as infinite.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Numbers, or datetimes.
    name : str
        Name for messages.

    Returns
    -------
    times : ndarray of shape (n_rows,), dtype float64
        Exact for whole numbers up to 2**53, and for dates to the microsecond.
    """
    values = np.asarray(unmasked(values, numbers=True))
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional. Got shape {values.shape} instead.")
    if values.dtype == object:
        values = _from_objects(values, name)
    if values.dtype.kind == "M":
        missing = np.isnat(values)
        since_1970 = (values - np.datetime64(0, "us")) / MICROSECOND
        times: np.ndarray = np.floor(np.where(missing, 0.0, since_1970))
        times[missing] = np.inf
        return times
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers or datetimes. Got dtype {values.dtype} instead.")
    times = values.astype(np.float64)
    times[np.isnan(times)] = np.inf
    return times


def as_time(value: Any, name: str) -> float:
    """One time as a number, as `as_times` gives it."""
    if isinstance(value, (int, float)):
        return float(value) if value == value else np.inf
    return float(as_times(np.asarray([value]), name)[0])


def given_at(given: Any, at: int, times: np.ndarray, like: Any = None) -> Any:
    """One of the times that the user gave; where they were not given, as those that were."""
    if given is not None:
        return np.asarray(given)[at]
    if like is not None and np.isfinite(times[at]):
        other = np.asarray(like)[at]
        if hasattr(other, "year") or isinstance(other, np.datetime64):
            return np.datetime64(int(times[at]), "us")
    return times[at]


def is_number(value: Any) -> bool:
    """Whether a time is a number; else it is a datetime."""
    return isinstance(value, (int, float, np.integer, np.floating))


def shown_time(value: Any) -> str:
    """Show a time as the user wrote it."""
    if is_number(value):
        return f"{value:.15g}"
    return str(value)


def _from_objects(values: np.ndarray, name: str) -> np.ndarray:
    """Lists of datetimes, or of numbers with None among them."""
    present = [value for value in values if value is not None]
    try:
        if present and hasattr(present[0], "year"):
            return np.array(
                ["NaT" if value is None else value for value in values], dtype="datetime64[us]"
            )
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers or datetimes: {error}") from error


def as_duration(value: Any) -> Any:
    """A delay in the units of `as_times`: numbers as they are, timedeltas in microseconds."""
    if isinstance(value, timedelta):
        return value / timedelta(microseconds=1)
    values = np.asarray(unmasked(value, numbers=True))
    if values.dtype.kind == "m":
        missing = np.isnat(values)
        micros = np.where(missing, np.timedelta64(0, "us"), values) / MICROSECOND
        return np.where(missing, np.inf, np.floor(micros))
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"A delay must be a number or a timedelta, or an array of them. Got {value!r} instead."
        )
    return values.astype(np.float64)
