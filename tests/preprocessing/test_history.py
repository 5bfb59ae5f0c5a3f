"""LagFeatures and RollingFeatures against plain loops and pandas, and what they refuse."""

import copy
import pickle
import zoneinfo
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import MultinomialNB

from skstream import PrequentialEvaluator
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import DatetimeFeatures, LagFeatures, RollingFeatures
from skstream.preprocessing._history import History
from tests._examples import examples
from tests.kernels._reference import both_ways

ROWS = [["a", 1.0, 10.0], ["b", 2.0, 20.0], ["a", 3.0, None], ["a", 5.0, 50.0]]


def plainly(keys: list[Any], values: Any, depth: int, most: int | None, events: Any) -> list[Any]:
    """The last rows of the key of every event, newest first, by a dict of lists."""
    known: OrderedDict[Any, list[float]] = OrderedDict()
    seen = []
    for is_learn, row in events:
        rows = known.get(keys[row], [])
        seen.append([*rows, *[np.nan] * depth][:depth])
        if is_learn:
            if keys[row] not in known and len(known) == most:
                known.popitem(last=False)
            known[keys[row]] = [values[row], *rows][:depth]
            known.move_to_end(keys[row])
    return seen


@examples(60)
@given(
    n=st.integers(1, 30),
    depth=st.integers(1, 4),
    most=st.sampled_from([None, 1, 2, 3]),
    size=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_event_sees_the_last_rows_of_its_key(n, depth, most, size, seed):
    rng = np.random.default_rng(seed)
    keys, values = rng.choice(["a", "b", "c", "d", None], n).tolist(), rng.normal(size=n)
    events = [(bool(rng.random() < 0.5), int(row)) for row in rng.integers(0, n, 2 * n)]
    history, seen = History(1, depth, most), []
    for begin in range(0, len(events), size):
        part = events[begin : begin + size]
        is_learn = np.array([one for one, _ in part])
        rows = np.array([row for _, row in part])
        stamp = is_learn.cumsum()[~is_learn]
        of_part = keys, values[:, np.newaxis], rows[is_learn], rows[~is_learn], stamp
        before = pickle.dumps(history)
        history.learn(keys[::-1], *of_part[1:])  # in vain: nobody goes on from what comes out
        assert pickle.dumps(history) == before
        history, past = history.learn(*of_part)
        found = np.stack([past.back(back)[0] for back in range(1, depth + 1)], axis=1)
        shown = np.empty((len(part), depth))
        shown[is_learn], shown[~is_learn] = found[past.learnt], found[past.asked]
        seen.append(shown)
    np.testing.assert_array_equal(np.vstack(seen), plainly(keys, values, depth, most, events))
    assert len(history.keys()) <= (most or n)


def test_rolling_features_are_those_of_pandas(pd: Any, rng: np.random.Generator) -> None:
    frame = pd.DataFrame({"key": rng.choice(list("abc"), 60), "x": rng.normal(size=60)})
    frame.loc[rng.random(60) < 0.2, "x"] = np.nan
    functions = ["count", "sum", "mean", "std", "min", "max"]
    rolling = RollingFeatures(
        "x", windows=[3, 5], functions=functions, key="key", fill_value=np.nan
    ).set_output(transform="pandas")
    shown = rolling.fit_transform(frame)
    assert [*shown.columns[:2]] == ["x_count_3", "x_sum_3"] and shown.shape == (60, 12)
    for window in (3, 5):
        windows = frame.groupby("key")["x"].rolling(window, min_periods=1, closed="left")
        for function in functions:
            options = {"ddof": 0} if function == "std" else {}
            wanted = getattr(windows, function)(**options).droplevel(0).sort_index()
            found = shown[f"x_{function}_{window}"]
            if function == "count":
                wanted = wanted.fillna(0.0)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-8)


def test_the_time_since_the_last_row_is_that_of_pandas(pd: Any, rng: np.random.Generator) -> None:
    seconds = rng.integers(0, 10**6, 40).cumsum()
    frame = pd.DataFrame({"key": rng.choice(list("abc"), 40), "x": 1.0, "number": seconds})
    frame["when"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(seconds, "s")
    wanted = frame.groupby("key")["number"].diff()
    for time in ("when", "number"):
        rolling = RollingFeatures("x", key="key", time=time, fill_value=np.nan)
        shown = rolling.fit_transform(frame)
        np.testing.assert_array_equal(shown[:, -1], wanted)
        assert rolling.get_feature_names_out()[-1] == f"{time}_since"
    assert (
        RollingFeatures(key=0, time=1).fit_transform([["a", 3.0, 1.0], ["a", 8.0, 1.0]])[1, 2] == 5
    )


def test_lags_are_those_of_pandas(pd: Any) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"key": rng.choice(list("abc"), 40), "x": rng.normal(size=40)})
    shown = LagFeatures("x", [1, 4], key="key", fill_value=np.nan).fit_transform(frame)
    for place, lag in enumerate([1, 4]):
        np.testing.assert_array_equal(shown[:, place], frame.groupby("key")["x"].shift(lag))


def test_the_features_stand_column_by_column() -> None:
    lags = LagFeatures([2, 1], [1, 2], key=0, fill_value=-1.0)
    wanted = [[-1, -1, -1, -1], [-1, -1, -1, -1], [10, -1, 1, -1], [-1, 10, 3, 1]]
    np.testing.assert_array_equal(lags.fit_transform(ROWS), wanted)
    assert lags.get_feature_names_out().tolist() == ["x2_lag_1", "x2_lag_2", "x1_lag_1", "x1_lag_2"]


def test_without_a_key_all_rows_belong_together() -> None:
    shown = LagFeatures(fill_value=np.nan).fit_transform([[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(shown, [[np.nan], [1.0], [2.0]])


def test_a_missing_key_is_a_key() -> None:
    rows = np.array([[None, 1.0], ["a", 2.0], [np.nan, 3.0], [None, 4.0]], dtype=object)
    lags = LagFeatures(1, key=0)
    assert lags.fit_transform(rows).ravel().tolist() == [0.0, 0.0, 1.0, 3.0]
    assert lags.history_.keys() == [None, "a"]


def test_the_key_learnt_longest_ago_is_forgotten() -> None:
    lags = LagFeatures(1, key=0, max_keys=2)
    for key, value in [("a", 1.0), ("b", 2.0), ("a", 3.0), ("c", 4.0)]:
        lags.partial_fit([[key, value]])
    assert lags.history_.keys() == ["a", "c"]
    assert lags.transform([["a", 0.0], ["b", 0.0], ["c", 0.0]]).ravel().tolist() == [3.0, 0.0, 4.0]


def test_batches_have_a_kernel_too() -> None:
    """Within one, too, a row sees the rows before it."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (50, 2)).astype(float), rng.integers(0, 2, 50)
    lags = LagFeatures(1, [1, 2], key=0)
    shown = lags.fit_transform(X)
    np.testing.assert_array_equal(lags.fit(X[:6]).partial_fit_transform(X[6:]), shown[6:])
    model = make_stream_pipeline(lags, MultinomialNB())
    results = both_ways(PrequentialEvaluator("accuracy", batch_size=4), model, X, y)
    assert results[0].paths == {"m": "kernel"}
    np.testing.assert_array_equal(*(one.predictions("m", every_row=True) for one in results))


def test_a_failing_model_leaves_the_history_as_it_was() -> None:
    model = make_stream_pipeline(LagFeatures(1, key=0), SGDRegressor())
    model.partial_fit([["a", 1.0], ["b", 2.0]], [0.0, 1.0])
    before = model[0].history_
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([["a", 3.0]], [np.nan])
    assert model[0].history_ is before  # not a copy: it may hold 10^6 keys
    assert model[0].transform([["a", 0.0]]).ravel().tolist() == [1.0]


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (LagFeatures("x"), "columns has the name 'x', but the rows have no column names"),
        (LagFeatures(3), "columns has the position 3, but the rows have 3 columns"),
        (LagFeatures([]), "columns is empty"),
        (LagFeatures(), "Column 0 holds 'a' in row 0"),
        (LagFeatures(1, 0), "The 'lags' parameter"),
        (LagFeatures(1, [1, 0]), "lags are numbers of rows, 1 or more. Got 0"),
        (LagFeatures(1, [2, 2]), "has a number twice"),
        (LagFeatures(1, []), "has no number"),
        (RollingFeatures(1, functions="median"), "functions are among .* Got 'median'"),
        (RollingFeatures(1, functions=["min", "min"]), "has a function twice"),
        (RollingFeatures(1, windows=2.5), "The 'windows' parameter"),
    ],
    ids=repr,
)
def test_errors_say_what_to_do(transformer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transformer.fit(ROWS)
    assert not hasattr(transformer, "history_")


def test_other_errors_say_what_to_do(pd: Any) -> None:
    frame = pd.DataFrame(ROWS, columns=["who", "x", "y"])
    with pytest.raises(ValueError, match="key has 'whom', but the columns are 'who', 'x', 'y'"):
        LagFeatures("x", key="whom").fit(frame)
    with pytest.raises(TypeError, match=r"columns takes names or positions of columns. Got 1.5"):
        LagFeatures([1.5]).fit(ROWS)
    with pytest.raises(TypeError, match=r"A key of LagFeatures is \['a'\] of type list"):
        LagFeatures(1, key=0).fit(np.array([[["a"], 1.0]], dtype=object))
    lags = LagFeatures("x", key="who").fit(frame)
    with pytest.raises(ValueError, match="need the last 5 rows of each key, but it was fitted"):
        lags.set_params(lags=5).transform(frame)


@pytest.mark.parametrize(
    "changed", [{"columns": 0}, {"key": None}, {"time": None}, {"max_keys": 2}]
)
@pytest.mark.parametrize("by_kernel", [False, True])
def test_columns_key_and_time_belong_to_what_was_learnt(changed, by_kernel):
    X = np.array([[1.0, 2.0, 3.0], [1.0, 4.0, 4.0]])
    rolling = RollingFeatures(columns=[1], key=0, time=2, windows=[2])
    if by_kernel:
        evaluator = PrequentialEvaluator("accuracy")
        result = evaluator.evaluate(
            make_stream_pipeline(rolling, SGDClassifier()), X, [0, 1], return_models=True
        )
        assert "kernel" in result.paths["StreamPipeline"]
        rolling = result.models["StreamPipeline"][0]
    else:
        rolling.fit(X)
    rolling.set_params(**changed)
    (name,) = changed
    for call in (rolling.transform, rolling.partial_fit, rolling.partial_fit_transform):
        with pytest.raises(ValueError, match=f"{name}=.* was set after training with"):
            call(X)
    assert rolling.fit(X).transform(X) is not None


def test_copies_learn_on_their_own_in_threads():
    rows = np.arange(200.0)[:, np.newaxis]
    lags = LagFeatures().fit(rows)

    def learn(first):
        own = copy.copy(lags).partial_fit(rows + first)
        return own.transform(rows[:1]).item()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(learn, range(100)))
    assert found == [199.0 + first for first in range(100)]
    assert lags.transform(rows[:1]).item() == 199.0


@pytest.mark.parametrize("library", ["pandas", "polars", "texts", "objects"])
def test_elapsed_time_is_not_that_of_a_clock_which_is_put_forward_and_back(library):
    """Berlin, spring and autumn: an hour and a half, and an hour, of real time."""
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    spring = [datetime(2026, 3, 29, 1, 0, tzinfo=zone), datetime(2026, 3, 29, 3, 30, tzinfo=zone)]
    autumn = [datetime(2026, 10, 25, 2, 0, tzinfo=zone, fold=fold) for fold in (0, 1)]
    for times, elapsed in ((spring, 5400.0), (autumn, 3600.0)):
        values = [time.isoformat() for time in times] if library == "texts" else times
        library_of = pytest.importorskip("polars" if library == "polars" else "pandas")
        frame = library_of.DataFrame({"time": values, "amount": [1.0, 2.0]})
        if library == "pandas":
            utc = library_of.to_datetime([time.astimezone(UTC) for time in times], utc=True)
            frame["time"] = utc.tz_convert("Europe/Berlin")
        elif library == "objects":
            frame["time"] = frame["time"].astype(object)
        rolling = RollingFeatures("amount", windows=1, time="time")
        out = rolling.partial_fit_transform(frame)
        assert out[1, -1] == elapsed
        stamps = DatetimeFeatures("timestamp").fit(frame[["time"]]).transform(frame[["time"]])
        np.testing.assert_array_equal(stamps[:, 0], [time.timestamp() for time in times])


def since(times: Any, **parameters: Any) -> list[float]:
    rolling = RollingFeatures("x", windows=1, functions="count", time="t", **parameters)
    shown: list[float] = rolling.fit_transform(times)[:, -1].tolist()
    return shown


@pytest.mark.parametrize("kind", ["pandas", "zoned", "objects", "integers", "polars", "arrow"])
def test_differences_of_nanoseconds_are_exact(kind, pd):
    nanoseconds = 1_772_000_000_000_000_000 + np.array([0, 100, 1_100, 1_000_000_100])
    if kind == "polars":
        polars = pytest.importorskip("polars")
        times = polars.Series(nanoseconds).cast(polars.Datetime("ns"))
        frame = polars.DataFrame({"t": times, "x": [1.0] * 4})
        keyed = polars.DataFrame({"t": times, "x": [1.0] * 4})
        lags = LagFeatures("x", key="t", fill_value=-1.0).fit_transform(keyed)
        assert lags.ravel().tolist() == [-1.0] * 4  # four keys
    else:
        times = pd.Series(nanoseconds)
        if kind != "integers":
            times = pd.to_datetime(times)
        if kind == "zoned":
            times = times.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
        if kind == "objects":
            times = times.astype(object)
        if kind == "arrow":
            pyarrow = pytest.importorskip("pyarrow")
            times = times.astype(pd.ArrowDtype(pyarrow.timestamp("ns")))
        frame = pd.DataFrame({"t": times, "x": 1.0})
    expected = [0.0, 100.0, 1000.0, 999_999_000.0]
    if kind != "integers":
        expected = [one / 1e9 for one in expected]
    assert since(frame) == expected


def test_infinite_values_are_no_empty_window():
    rolling = RollingFeatures(windows=2, functions=["sum", "mean", "std", "max"], fill_value=-1.0)
    rows = rolling.fit_transform(np.array([[np.inf], [-np.inf], [1.0], [2.0]]))
    np.testing.assert_array_equal(rows[0], [-1.0] * 4)
    np.testing.assert_array_equal(rows[1], [np.inf, np.inf, np.nan, np.inf])
    np.testing.assert_array_equal(rows[2], [np.nan, np.nan, np.nan, np.inf])
    np.testing.assert_array_equal(rows[3], [-np.inf, -np.inf, np.nan, 1.0])
