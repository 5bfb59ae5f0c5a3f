"""Times of delayed evaluation: of one kind throughout, given to the user's functions as his own."""

import datetime

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.evaluators.delayed_times import shown_duration
from skstream.streams import as_stream, with_delay
from skstream.utils._times import time_column

HOUR = np.timedelta64(1, "h")
NOON = datetime.datetime(2024, 5, 1, 12)
UTC_NOON = NOON.replace(tzinfo=datetime.UTC)
CLASSES = ["down", "up"]
X = np.arange(20.0).reshape(-1, 1)
Y = np.tile(["up", "down", "up", "up"], 5)
ARRIVAL = np.datetime64("2024-05-01T12:00") + np.arange(20) * HOUR


def evaluate(evaluator=None, X=X, **times):
    evaluator = evaluator or sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2))
    return evaluator.evaluate({"m": sk.Persistent()}, X, Y, **times)


@pytest.mark.parametrize(
    ("delay", "times", "message"),
    [
        (datetime.timedelta(hours=2), {}, "delay is a duration .*arrival was not given.*datetimes"),
        (np.timedelta64(2, "h"), {"arrival": np.arange(20)}, "delay is a duration.*arrival holds"),
        (2, {"arrival": ARRIVAL}, "delay is a number, but arrival holds datetimes.*timedelta"),
        (lambda X, t: np.full(len(X), 2.0), {"arrival": ARRIVAL}, "delay is a number"),
        (None, {"label_time": ARRIVAL}, "label_time holds datetimes.*arrival was not given"),
        (
            None,
            {"arrival": np.arange(20), "label_time": ARRIVAL},
            "label_time holds datetimes without a time zone, but arrival holds numbers",
        ),
        (
            None,
            {"arrival": ARRIVAL, "label_time": np.arange(20)},
            "label_time holds numbers, but arrival holds datetimes",
        ),
        (
            None,
            {"arrival": ARRIVAL, "label_time": [UTC_NOON + datetime.timedelta(days=9)] * 20},
            "label_time holds datetimes with a time zone, but arrival holds datetimes without",
        ),
    ],
)
def test_mixed_kinds_of_times_are_refused(delay, times, message):
    with pytest.raises(ValueError, match=message):
        evaluate(
            sk.DelayedEvaluator("accuracy", delay=delay, polling=sk.Polling(n_bins=2)), **times
        )


@pytest.mark.parametrize(("hours", "delay"), [(3, "3h"), (1, "1h"), (1, "3h")])
def test_a_text_of_a_delay_is_a_duration_unless_a_column_has_its_name(hours, delay, pd):
    rows = X if f"{hours}h" == delay else pd.DataFrame({delay: [hours * HOUR] * 20})
    evaluator = sk.DelayedEvaluator("accuracy", delay=delay, polling=sk.Polling(n_bins=2))
    assert f" {hours}:00:00" in evaluate(evaluator, rows, arrival=ARRIVAL).waits.delays_as_text()
    (late,) = with_delay(as_stream(rows, Y, arrival=ARRIVAL), delay)
    assert (late.meta["label_time"] == ARRIVAL + hours * HOUR).all()


def test_a_text_that_is_no_delay_of_these_rows_is_refused():
    with pytest.raises(ValueError, match=r"delay is a duration .* arrival was not given"):
        evaluate(sk.DelayedEvaluator(delay="3h"))
    with pytest.raises(ValueError, match="neither a duration, such as '3D', nor a column of"):
        evaluate(sk.DelayedEvaluator(delay="3 moons"))
    with pytest.raises(ValueError, match="neither a duration, such as '3D', nor a feature of"):
        list(with_delay(as_stream(X, Y), "3 moons"))


def test_delay_and_label_times_are_not_combined():
    evaluator = sk.DelayedEvaluator("accuracy", delay=3, polling=sk.Polling(n_bins=2))
    with pytest.raises(ValueError, match="Both label_time and the evaluator's delay"):
        evaluate(evaluator, label_time=np.arange(20) + 5)
    chunk = X, Y, {"label_time": np.arange(20) + 5}
    with pytest.raises(ValueError, match="leave out label_time, or make the evaluator without"):
        evaluator.evaluate({"m": sk.Persistent()}, [chunk], classes=["up", "down"])


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        (np.timedelta64(1, "M"), "delay.*1 months, and months have no fixed length"),
        (np.array([1, 2] * 10, dtype="timedelta64[Y]"), "years have no fixed length"),
        ([datetime.timedelta(1), np.timedelta64(1, "M")] * 10, "months have no fixed length"),
        (lambda X, t: np.timedelta64(1, "Y"), "years have no fixed length"),
        (np.timedelta64(36), r"delay is np.timedelta64\(36\), a duration without a unit"),
    ],
)
def test_durations_without_a_fixed_length_are_refused(delay, message):
    with pytest.raises(ValueError, match=message):
        evaluate(
            sk.DelayedEvaluator("accuracy", delay=delay, polling=sk.Polling(n_bins=2)),
            arrival=ARRIVAL,
        )


def test_a_missing_duration_needs_no_unit():
    delay = [datetime.timedelta(hours=3), np.timedelta64("NaT")] * 10
    waits = evaluate(
        sk.DelayedEvaluator("accuracy", delay=delay, polling=sk.Polling(n_bins=2)), arrival=ARRIVAL
    ).waits
    assert (waits.n_labelled, waits.n_never) == (10, 10)
    with pytest.warns(UndefinedMetricWarning, match="20 rows will never get one"):
        evaluate(sk.DelayedEvaluator(delay=np.timedelta64("NaT")), arrival=ARRIVAL)


def test_times_with_a_zone_and_gaps_work():
    never = [3, 8]
    arrival = [UTC_NOON + datetime.timedelta(hours=k) for k in range(20)]
    label_time = [one + datetime.timedelta(hours=2.5) for one in arrival]
    number = np.arange(20) + 2.5
    for k in never:
        label_time[k], number[k] = None, np.inf
    expected = evaluate(arrival=np.arange(20), label_time=number)
    assert expected.waits.n_never == 2
    found = [evaluate(arrival=arrival, label_time=label_time)]
    try:
        import pandas

        found.append(
            evaluate(
                arrival=pandas.Series(arrival).dt.tz_convert("Asia/Tokyo"),
                label_time=pandas.Series(label_time).dt.tz_convert("Europe/Paris"),
            )
        )
    except ImportError:
        pass
    for result in found:
        assert result.scores == expected.scores
        assert result.tape.answers["m"].tolist() == expected.tape.answers["m"].tolist()
        assert result.waits.delays["max"] == datetime.timedelta(hours=2.5)


def test_a_refused_call_does_not_choose_the_kind_of_times():
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        sk.MajorityClass(), classes=CLASSES
    )
    run.ask([[0.0]], ["a"], 1)
    fresh = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        sk.MajorityClass(), classes=CLASSES
    )
    with pytest.raises(ValueError, match="is not a time"):
        fresh.ask([[0.0]], ["a"], np.datetime64("NaT"))
    fresh.ask([[0.0]], ["a"], NOON)
    with pytest.raises(ValueError, match="would arrive at their row numbers"):
        fresh.ask([[0.0]], ["b"])


@pytest.mark.parametrize("zone", [None, datetime.UTC])
def test_functions_of_the_user_get_datetimes_and_labels(zone):
    seen = {"delay": [], "features": [], "reduce": []}

    def delay(X, arrival):
        seen["delay"].append(arrival)
        return np.full(len(X), np.timedelta64(150, "m"))

    def features(rows, times):
        seen["features"].append((rows, times))
        return X[rows]

    def reduce(answers, durations):
        seen["reduce"].append((answers, durations))
        return answers[durations.argmax()]

    evaluator = sk.DelayedEvaluator(
        "accuracy",
        delay=delay,
        polling=sk.Polling(n_bins=2, poll_every=1, reduce=reduce, features=features),
    )
    arrival = [NOON.replace(tzinfo=zone) + datetime.timedelta(hours=k) for k in range(20)]
    result = evaluate(evaluator, arrival=arrival)
    (given,) = seen["delay"]
    assert given.dtype == "M8[us]"
    np.testing.assert_array_equal(given, ARRIVAL)
    for rows, times in seen["features"]:
        assert times.dtype == "M8[us]"
        assert (times >= ARRIVAL[rows]).all()
    for answers, durations in seen["reduce"]:
        assert set(answers) <= set(CLASSES)
        assert durations.dtype == "m8[us]"
        assert durations.sum() == np.timedelta64(75, "m")
    plain = sk.DelayedEvaluator("accuracy", delay=2.5, polling=sk.Polling(n_bins=2, poll_every=1))
    assert result.tape.answers["m"].tolist() == evaluate(plain).tape.answers["m"].tolist()


@pytest.mark.parametrize(("answer", "message"), [("side", "'side', which is not"), (None, "None")])
def test_a_reduce_that_returns_no_label_is_named(answer, message):
    evaluator = sk.DelayedEvaluator(
        "accuracy", delay=3, polling=sk.Polling(n_bins=2, poll_every=1, reduce=lambda a, d: answer)
    )
    with pytest.raises(ValueError, match=f"reduce.* returned {message}"):
        evaluate(evaluator)


def test_a_reduce_that_returns_nan_is_named():
    evaluator = sk.DelayedEvaluator(
        "mae",
        delay=3,
        polling=sk.Polling(n_bins=2, poll_every=1, reduce=lambda answers, durations: np.nan),
    )
    with pytest.raises(ValueError, match="returned nan"):
        evaluator.evaluate(sk.MeanRegressor(), X, X.ravel())


def test_delays_of_a_stream_of_unknown_length_are_not_too_many():
    evaluator = sk.DelayedEvaluator(
        "accuracy", delay=np.full(21, 2.0), polling=sk.Polling(n_bins=2)
    )
    with pytest.raises(ValueError, match="delay has 21 values, but the stream had 20 rows"):
        evaluator.evaluate(
            sk.Persistent(), ((X[k : k + 5], Y[k : k + 5]) for k in (0, 5, 10, 15)), classes=CLASSES
        )


@pytest.mark.parametrize(
    ("hours", "words"), [(168, "7 days"), (24, "1 day"), (26, "1 day, 2:00:00"), (0, "0 s")]
)
def test_durations_are_plain(hours, words):
    assert shown_duration(datetime.timedelta(hours=hours)) == words


def test_waits_are_shown_in_a_line_and_delays_as_durations(tmp_path):
    delay = datetime.timedelta(days=1, hours=1, minutes=45, microseconds=5)
    result = evaluate(
        sk.DelayedEvaluator(
            "accuracy", delay=np.full(20, np.timedelta64(90, "m")), polling=sk.Polling(n_bins=2)
        ),
        arrival=ARRIVAL,
    )
    assert len(repr(result.waits)) < 200
    assert "n_labelled=20" in repr(result.waits)
    assert "mean 1:30:00, median 1:3" in str(result)
    loaded = sk.load(result.save(tmp_path / "r.npz"))
    assert loaded.waits.delays == result.waits.delays
    assert loaded.waits.delays["mean"] == datetime.timedelta(minutes=90)
    with pytest.warns(UserWarning, match="mean 1 day, 1:45:00"):
        evaluate(
            sk.DelayedEvaluator("accuracy", delay=delay, polling=sk.Polling(n_bins=2)),
            arrival=ARRIVAL,
        )


EPOCH = 1_700_000_000_000_000_000  # nanoseconds


@pytest.mark.parametrize("times", [EPOCH + np.arange(20), [EPOCH, *range(19)], [2**70] * 20])
def test_whole_numbers_that_floats_do_not_tell_apart_are_refused(times):
    evaluator = sk.DelayedEvaluator("accuracy", delay=3, polling=sk.Polling(n_bins=2))
    for name in ("arrival", "label_time"):
        with pytest.raises(ValueError, match=rf"{name}\[0\] is .*above 2\*\*53"):
            evaluate(evaluator, **{name: times})
    with pytest.raises(ValueError, match=r"delay\[0\] is .*above 2\*\*53"):
        evaluate(sk.DelayedEvaluator("accuracy", delay=times, polling=sk.Polling(n_bins=2)))
    kept = evaluate(evaluator, arrival=2**53 - 30 + np.arange(20))
    assert kept.tape.answers["m"].tolist() == evaluate(evaluator).tape.answers["m"].tolist()


def test_whole_numbers_with_gaps_are_not_rounded_either(pd):
    values = pd.Series([EPOCH, None, EPOCH + 1], dtype="Int64", index=[7, 8, 9])
    with pytest.raises(ValueError, match=rf"label_time\[0\] is {EPOCH}"):
        time_column(values, "label_time")
    assert time_column(pd.Series([1e300, None]), "label_time")[0] == 1e300


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_infinite_column_of_delays_is_named_where_a_model_cannot_take_it(n_jobs, pd):
    rows = pd.DataFrame({"x": np.arange(12.0), "wait": np.where(np.arange(12) == 4, np.inf, 2)})
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        delay="wait",
        n_jobs=n_jobs,
        run=sk.RunOptions(kernels=False),
        polling=sk.Polling(n_bins=2),
    )
    models = {"a": SGDClassifier(), "b": SGDClassifier()}
    threads = parallel_config(backend="threading")
    with threads, pytest.raises(sk.ModelError, match="row 4") as caught:
        evaluator.evaluate(models, rows, np.arange(12) % 2)
    assert "column 'wait', which holds the delays, is also a feature" in caught.value.__notes__[0]
    apart = sk.DelayedEvaluator(
        "accuracy", delay=rows["wait"].to_numpy(), polling=sk.Polling(n_bins=2)
    )
    result = apart.evaluate(models, rows.drop(columns=["wait"]), np.arange(12) % 2)
    assert result.waits.n_never == 1


@pytest.mark.parametrize("zone", [None, datetime.UTC])
def test_datetimes_that_floats_do_not_hold_are_refused(zone):
    arrival = [datetime.datetime(2020, 1, 1 + k, tzinfo=zone) for k in range(20)]
    never = [datetime.datetime(9999, 12, 31, tzinfo=zone)] * 20
    late = [datetime.datetime(2255, 6, 1, microsecond=k + 1, tzinfo=zone) for k in range(20)]
    result = evaluate(arrival=arrival, label_time=[*arrival[:2], *late[2:]])
    assert result.waits.n_labelled == 20
    with pytest.raises(ValueError, match=r"label_time\[0\] is 9999-12-31.*to 2255 exactly.*NaT"):
        evaluate(arrival=arrival, label_time=never)
    with pytest.raises(ValueError, match=r"delay\[0\] is .*285 years"):
        evaluate(sk.DelayedEvaluator(delay=datetime.timedelta(days=365_000)), arrival=arrival)
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        sk.Persistent(), classes=[0, 1]
    )
    with pytest.raises(ValueError, match=r"t\[0\] is 2300"):
        run.ask([[0.0]], ["a"], datetime.datetime(2300, 1, 1, tzinfo=zone))
    assert run.ask([[0.0]], ["a"], arrival[0])["Persistent"].tolist() == [None]
