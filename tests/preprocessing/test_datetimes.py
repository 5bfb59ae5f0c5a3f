"""DatetimeFeatures against the calendar of Python, for dates of every kind."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import ModelError, PrequentialEvaluator, RunOptions
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import DatetimeFeatures

NAMES = ["year", "month", "day", "weekday", "day_of_year", "hour", "minute", "second", "timestamp"]
RNG = np.random.default_rng(0)
SECONDS = [*RNG.integers(-(10**10), 10**10, 300).tolist(), 0, -1, 86_399, 86_400, 951_782_400]
MOMENTS = [datetime(1970, 1, 1) + timedelta(seconds=second) for second in SECONDS]


def by_calendar(moment: datetime) -> list[float]:
    year, month, day, hour, minute, second, weekday, of_year, _ = moment.timetuple()
    seconds = (moment - datetime(1970, 1, 1)).total_seconds()
    return [year, month, day, weekday, of_year, hour, minute, second, seconds]


def features(X: Any, **parameters: Any) -> np.ndarray:
    shown: np.ndarray = DatetimeFeatures(**parameters).fit_transform(X)
    return shown


def columns() -> dict[str, Any]:
    objects = np.array(MOMENTS, dtype=object)[:, np.newaxis]
    made = {
        "datetime64[s]": objects.astype("M8[s]"),
        "datetime64[ms]": objects.astype("M8[ms]"),
        "datetime objects": objects,
        "texts": np.array([[moment.isoformat()] for moment in MOMENTS]),
        "seconds": np.array(SECONDS, dtype=float)[:, np.newaxis],
        "whole seconds": np.array(SECONDS)[:, np.newaxis],
        "seconds among objects": np.array(SECONDS, dtype=object)[:, np.newaxis],
    }
    return made


@pytest.mark.parametrize("kind", columns())
def test_fields_are_those_of_the_calendar(kind: str) -> None:
    shown = features(columns()[kind], features=NAMES, cyclic=False)
    np.testing.assert_array_equal(shown, [by_calendar(moment) for moment in MOMENTS])


@pytest.mark.parametrize("dtype", ["datetime64[s]", "datetime64[ns]", "timestamp[us][pyarrow]"])
def test_fields_of_a_pandas_frame(dtype: str, pd: Any) -> None:
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    within = [moment for moment in MOMENTS if 1700 < moment.year < 2200]
    frame = pd.DataFrame({"paid": pd.Series(within).astype("datetime64[us]").astype(dtype)})
    shown = features(frame, features=NAMES, cyclic=False)
    np.testing.assert_array_equal(shown, [by_calendar(moment) for moment in within])


def test_fields_of_a_polars_frame(pl: Any) -> None:
    frame = pl.DataFrame({"paid": MOMENTS})
    frame = frame.with_columns(day=pl.col("paid").dt.date())
    shown = features(frame, features=NAMES, cyclic=False)
    np.testing.assert_array_equal(shown[:, :9], [by_calendar(moment) for moment in MOMENTS])
    days = [datetime(moment.year, moment.month, moment.day) for moment in MOMENTS]
    np.testing.assert_array_equal(shown[:, 9:], [by_calendar(day) for day in days])


def test_the_hour_is_that_of_the_clock_there(pd: Any, pl: Any) -> None:
    there = timezone(timedelta(hours=9))
    noon = datetime(2026, 3, 1, 3, tzinfo=UTC).astimezone(there)
    rows = np.array([[noon], [noon.isoformat()], [date(2026, 3, 1)]], dtype=object)
    assert features(rows, features="hour", cyclic=False).ravel().tolist() == [12.0, 12.0, 0.0]
    frame = pd.DataFrame({"paid": pd.to_datetime([noon]).tz_convert("Asia/Tokyo")})
    assert features(frame, features="hour", cyclic=False).item() == 12.0
    frame = pl.DataFrame({"paid": [noon]}).with_columns(
        pl.col("paid").dt.convert_time_zone("Asia/Tokyo")
    )
    assert features(frame, features="hour", cyclic=False).item() == 12.0


def test_what_comes_round_is_a_point_on_a_circle() -> None:
    hours = np.array([["2026-03-01T23:59"], ["2026-03-02T00:01"], ["NaT"]], dtype="M8[m]")
    encoder = DatetimeFeatures(["hour", "year"])
    shown = encoder.fit_transform(hours)
    assert encoder.get_feature_names_out(["t"]).tolist() == ["t_hour_sin", "t_hour_cos", "t_year"]
    angle = 2 * np.pi * 23 / 24
    wanted = [[np.sin(angle), np.cos(angle), 2026], [0.0, 1.0, 2026], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(shown, wanted, atol=1e-15)
    assert np.isnan(features(hours, fill_value=np.nan)[2]).all()


def test_errors_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"features are among 'year', .* Got 'week'"):
        features([["2026-03-01"]], features="week")
    with pytest.raises(ValueError, match="has a feature twice"):
        features([["2026-03-01"]], features=["hour", "hour"])
    with pytest.raises(ValueError, match="Column 0 holds 'spring' in row 1 of these rows"):
        features([["2026-03-01"], ["spring"]])
    with pytest.raises(ValueError, match=r"Column 0 holds 1700000000000.0 in row 0.* year 9999"):
        features([[1.7e12], [0.0]])  # milliseconds
    with pytest.raises(ValueError, match="Column 0 holds True"):
        features(np.array([[True]], dtype=object))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_time_zone_lost_midway_is_an_error(library: str, pd: Any) -> None:
    pytest.importorskip(library)
    clock = pd.DataFrame({"paid": pd.to_datetime(["2026-03-01T10:00"])})
    zoned = pd.DataFrame({"paid": clock["paid"].dt.tz_localize("UTC")})
    if library == "pyarrow":
        clock = clock.astype("timestamp[us][pyarrow]")
        zoned = zoned.astype("timestamp[us, tz=UTC][pyarrow]")
    if library == "polars":
        import polars

        clock, zoned = polars.from_pandas(clock), polars.from_pandas(zoned)
    for first, then in ((zoned, clock), (clock, zoned)):
        features = DatetimeFeatures().fit(first)
        features.partial_fit(first).transform(first)
        for method in (features.partial_fit, features.transform):
            with pytest.raises(
                ValueError, match=r"Column 'paid' holds dates with.* hours are not comparable"
            ):
                method(then)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_dates_alone_have_no_clock(library: str, pd: Any) -> None:
    pytest.importorskip(library)
    zoned = pd.DataFrame({"paid": pd.to_datetime(["2026-03-01T10:00"], utc=True)})
    missing = pd.DataFrame({"paid": [pd.NaT]})  # of its type: dates without a time zone
    if library == "polars":
        import polars

        zoned, missing = polars.from_pandas(zoned), polars.from_pandas(missing)
    features = DatetimeFeatures("hour", cyclic=False)
    assert features.partial_fit(zoned).partial_fit(missing).transform(missing).tolist() == [[0.0]]
    assert features.fit(missing).partial_fit(zoned).transform(zoned).tolist() == [[10.0]]


DAYS = np.array([["2026-03-01"], ["NaT"], ["2026-03-02"]], dtype="M8[ns]")


@pytest.mark.parametrize(
    ("dates", "numbers"),
    [
        (DAYS, np.arange(3)[:, np.newaxis]),
        (np.array([["2026-03-01"], [None], ["2026-03-02"]], dtype=object), np.array([[0.5]] * 3)),
        (DAYS.astype("M8[us]").astype(object), np.array([[7]] * 3, dtype=object)),
    ],
    ids=["dtypes", "texts", "objects"],
)
def test_numbers_among_dates_are_refused_and_dates_among_numbers(dates: Any, numbers: Any) -> None:
    for first, then, said in ((dates, numbers, "a date"), (numbers, dates, "a number")):
        fitted = DatetimeFeatures().fit(first)
        fitted.partial_fit(first[1:]).transform(first)
        for method in (fitted.partial_fit, fitted.transform):
            with pytest.raises(ValueError, match=f"^Column 0 holds .* in row 0 .* row had {said}"):
                method(then)
            with pytest.raises(
                ValueError, match=f"^Column 0 holds (?!.*in row).*, but the first row had {said}"
            ):
                method(then[:1])
    mixed = np.concatenate([dates.astype("M8[us]").astype(object), numbers.astype(object)])
    with pytest.raises(
        ValueError, match=r"Column 0 holds .* in row 3 of these rows, but the first"
    ):
        DatetimeFeatures().fit(mixed)
    # What is missing in the first row is neither.
    assert DatetimeFeatures("year").fit([[np.nan], [1.0]]).with_numbers_ == [None]


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_date_column_that_turns_into_numbers_is_named_with_its_row(engine: Any, pd: Any) -> None:
    dates = pd.DataFrame({"d": pd.date_range("2026-01-01", periods=20)})
    model = make_stream_pipeline(DatetimeFeatures(), SGDClassifier(random_state=0))
    run = PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).start(
        model, classes=[0, 1]
    )
    run.update(dates, [0, 1] * 10)
    with pytest.raises(
        ModelError, match=r"row 20: ValueError: Column 'd' holds 0, but the first row had"
    ):
        run.update(pd.DataFrame({"d": np.arange(20)}), [0, 1] * 10)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[True], [False]]),
        np.array([["2026-01-01"], ["300000-01-01"]], dtype="M8[s]"),
        np.array([["-30000-01-01"], ["2026-01-01"]], dtype="M8[D]"),
    ],
)
def test_booleans_and_dates_far_away_are_refused(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"Column 0 holds .* since 1970 up to the year 9999"):
        features(X, features="year")


def test_dates_of_pyarrow_are_those_of_python(pd: Any, pa: Any) -> None:
    dates = [date(2026, 3, 1), None, date(1912, 2, 29)]
    for kind in (pa.date32(), pa.date64()):
        frame = pd.DataFrame({"d": pd.Series(dates, dtype=pd.ArrowDtype(kind))})
        found = features(frame, features=["year", "day"], cyclic=False)
        assert found.tolist() == [[2026.0, 1.0], [0.0, 0.0], [1912.0, 29.0]]
    flags = pd.DataFrame({"b": pd.Series([True, None], dtype="bool[pyarrow]")})
    with pytest.raises(ValueError, match="Column 'b' holds True"):
        features(flags)
