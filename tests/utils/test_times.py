"""One reader of times and durations, whatever holds them."""

import datetime
import math
import pickle

import numpy as np
import pytest

from skstream.utils._times import (
    AWARE,
    DATETIMES,
    DURATIONS,
    MISSING,
    NUMBERS,
    UtcTimes,
    as_microseconds,
    duration_column,
    kind_of,
    time_column,
)

BERLIN = datetime.timezone(datetime.timedelta(hours=1))
NAIVE = [datetime.datetime(2024, 1, 1, 12), None, datetime.datetime(2024, 1, 3, 12, 0, 0, 7)]
ZONED = [None if time is None else time.replace(tzinfo=BERLIN) for time in NAIVE]
MICROS = [1704110400000000.0, np.inf, 1704283200000007.0]
WAITS = [datetime.timedelta(hours=3), None, datetime.timedelta(microseconds=1)]


def containers(values, arrow_type):
    """The same values in every container at hand."""
    yield "list", values
    yield "objects", np.array(values, dtype=object)
    pandas = pytest.importorskip("pandas")
    yield "pandas", pandas.Series(values)
    yield "pandas index", pandas.Index(pandas.Series(values))
    yield "pandas list", pandas.Series(values).tolist()
    yield "polars", pytest.importorskip("polars").Series(values)
    pa = pytest.importorskip("pyarrow")
    array = pa.array(values, type=arrow_type(pa))
    yield "pyarrow", array
    yield "pyarrow chunks", pa.chunked_array([array])
    yield "pandas of pyarrow", pandas.Series(values, dtype=pandas.ArrowDtype(array.type))


def test_datetimes_of_every_container_are_the_same():
    for name, values in containers(NAIVE, lambda pa: pa.timestamp("us")):
        times = time_column(values, "arrival")
        assert kind_of(times) == DATETIMES, name
        assert as_microseconds(times).tolist() == MICROS, name


def test_time_zones_are_kept_apart_and_gaps_stay():
    utc = [micros - 3_600_000_000 for micros in MICROS]
    for name, values in containers(ZONED, lambda pa: pa.timestamp("us", tz="+01:00")):
        times = time_column(values, "arrival")
        assert kind_of(times) == AWARE, name
        assert as_microseconds(times).tolist() == utc, name
        assert isinstance(pickle.loads(pickle.dumps(times[1:])), UtcTimes)
        assert time_column(times, "arrival") is times


def test_durations_of_every_container_are_the_same():
    for name, values in containers(WAITS, lambda pa: pa.duration("us")):
        durations = duration_column(values, "delay")
        assert kind_of(durations) == DURATIONS, name
        assert as_microseconds(durations).tolist() == [3 * 3.6e9, np.inf, 1.0], name


def test_nanoseconds_lose_no_microsecond():
    micros = 1_700_000_000_000_000 + np.arange(5000, dtype=np.int64)
    times = (micros * 1000).astype("datetime64[ns]")
    np.testing.assert_array_equal(as_microseconds(times), micros)
    np.testing.assert_array_equal(as_microseconds(micros.astype("m8[us]").astype("m8[ns]")), micros)
    stamps = [None, pytest.importorskip("pandas").Timestamp(1_000_000_007, unit="ns")]
    assert time_column(stamps, "arrival")[1] == np.datetime64(1_000_000_007, "ns")


def test_dates_numbers_and_gaps():
    dates = time_column([datetime.date(2024, 1, 1), np.inf, math.nan], "arrival")
    assert np.isnat(dates).tolist() == [False, True, True]
    assert kind_of(time_column([1, None, 2.5], "arrival")) == NUMBERS
    assert time_column([1, None, np.inf], "arrival").tolist()[::2] == [1.0, np.inf]
    for missing in ([None, math.nan], [np.inf] * 2, np.array(["NaT"], "M8[s]")):
        assert kind_of(time_column(missing, "label_time")) == MISSING
    masked = np.ma.array([1, 2], mask=[True, False])
    np.testing.assert_array_equal(time_column(masked, "arrival"), [np.nan, 2.0])
    for single in (3, datetime.timedelta(1), np.timedelta64(1, "h"), np.inf):
        assert duration_column(single, "delay").ndim == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2024-01-01"], "arrival must be numbers or datetimes.*Convert texts"),
        ([True], "must be numbers or datetimes. Got dtype bool"),
        ([None, "x", 1], "Got 'x' at position 1"),
        ([1, NAIVE[0]], r"mixes numbers \(at position 0\) and datetimes without .* position 1"),
        ([NAIVE[0], None, ZONED[0]], "datetimes without a time zone.*with a time zone.* position"),
        ([[1.0]], "one-dimensional"),
        (WAITS, "timedelta.* at position 0"),
    ],
)
def test_what_is_no_column_of_times_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        time_column(values, "arrival")


def test_what_is_no_duration_is_named():
    for wrong in ("soon", [datetime.datetime(2024, 1, 1)], [1, WAITS[0]], [[1.0]]):
        with pytest.raises(ValueError, match="delay"):
            duration_column(wrong, "delay")
