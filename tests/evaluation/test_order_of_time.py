"""Times of arrival that go back are refused on every path; tables in another order are named."""

import warnings
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import TimeSeriesSplit

import skstream as sk
from skstream.core.evaluators.evaluator import StreamEvaluator
from skstream.streams import as_stream, shuffle_rows, take_rows, with_delay
from tests._examples import examples

N = 40
X = np.random.default_rng(0).random((N, 2))
Y = np.arange(N) // 2 % 2
EVALUATORS: dict[Any, dict[str, Any]] = {
    sk.PrequentialEvaluator: {},
    sk.KFoldEvaluator: {"n_folds": 2},
    sk.HoldoutEvaluator: {"holdout": "next", "every": 5},
    sk.DelayedEvaluator: {"delay": 0, "polling": sk.Polling(n_bins=2)},
}


def pieces(arrival: Any, size: int) -> list[Any]:
    starts = range(0, N, size)
    return [(X[i : i + size], Y[i : i + size], {"arrival": arrival[i : i + size]}) for i in starts]


def evaluated(kind: Any, *data: Any, **meta: Any) -> None:
    kind("accuracy", **EVALUATORS[kind]).evaluate(sk.MajorityClass(), *data, classes=[0, 1], **meta)


def live(arrival: Any, size: int) -> None:
    run = sk.PrequentialEvaluator("accuracy").start(sk.MajorityClass(), classes=[0, 1])
    for rows, y, meta in pieces(arrival, size):
        run.update(rows, y, **meta)


def log(arrival: Any, size: int) -> None:
    frames = [{"y": y, "p": y, "t": meta["arrival"]} for _, y, meta in pieces(arrival, size)]
    sk.PredictionLog(frames, target="y", predictions="p", arrival="t", classes=[0, 1]).score()


def search(arrival: Any, size: int) -> None:
    candidates = sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [3, 5]})
    candidates.fit(as_stream(X, Y, arrival=arrival, chunk_size=size))


PATHS: dict[str, Any] = {
    **{
        f"{kind.__name__}, {how}": path
        for kind in EVALUATORS
        for how, path in {
            "chunks": lambda t, size, kind=kind: evaluated(kind, pieces(t, size)),
            "arrays": lambda t, size, kind=kind: evaluated(kind, X, Y, arrival=t),
        }.items()
    },
    **{"live": live, "log": log, "search": search},
    "score_predictions": lambda t, size: sk.score_predictions(Y, Y, arrival=t),
    "prequential_predict": lambda t, size: sk.prequential_predict(
        sk.MajorityClass(), pieces(t, size), classes=[0, 1]
    ),
    "composition": lambda t, size: list(with_delay(take_rows(pieces(t, size), N), 3)),
    "iteration": lambda t, size: list(as_stream(pieces(t, size))),
}


def test_every_evaluator_is_tried() -> None:
    assert set(EVALUATORS) == {one for one in StreamEvaluator.__subclasses__()}


@pytest.mark.parametrize("path", PATHS)
@examples(8)
@given(data=st.data())
def test_times_that_go_back_are_refused_and_equal_ones_are_not(path: str, data: Any) -> None:
    size, row = data.draw(st.integers(1, N)), data.draw(st.integers(1, N - 1))
    arrival = np.cumsum(data.draw(st.lists(st.integers(0, 1), min_size=N, max_size=N))) + 1.0
    PATHS[path](arrival, size)
    for wrong, words in (
        (0, f"arrival goes back at row {row}, from"),
        (np.nan, f"arrival is missing at row {row}"),
        (np.inf, f"arrival is missing at row {row}"),
    ):
        bad = arrival.copy()
        bad[row] = wrong
        with pytest.raises(ValueError, match=words):
            PATHS[path](bad, size)


def test_rows_before_the_wrong_one_come_whatever_the_chunks_are() -> None:
    arrival = np.arange(N)
    arrival[30] = 0
    for size in (1, 7, N):
        assert sum(len(y) for _, y, _ in take_rows(pieces(arrival, size), 30)) == 30


def test_a_run_that_was_saved_remembers_the_last_time(tmp_path: Path) -> None:
    run = sk.PrequentialEvaluator("accuracy").start(sk.MajorityClass(), classes=[0, 1])
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    run.update(X[:2], Y[:2], arrival=[noon] * 2)
    run.update(X[2:3], Y[2:3])  # does not say when it came
    run.save(tmp_path / "run")
    loaded = sk.load_run(tmp_path / "run")
    for one in (run, loaded):
        with pytest.raises(ValueError, match=r"goes back at row 3, from 2024-01-01T12.* UTC to"):
            one.update(X[3:4], Y[3:4], arrival=[noon - timedelta(hours=1)])
        with pytest.raises(ValueError, match="holds datetimes with a time zone up to row 2, and"):
            one.update(X[3:4], Y[3:4], arrival=[datetime(2025, 1, 1)])
        one.update(X[3:4], Y[3:4], arrival=[noon])
        assert one.n_rows == 4


def test_times_with_a_zone_go_on_over_the_borders_of_chunks() -> None:
    hours = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=i) for i in range(N)]
    evaluator = sk.PrequentialEvaluator("accuracy", forgetting="window:10h")
    scores = [
        evaluator.evaluate(sk.MajorityClass(), pieces(hours, size), classes=[0, 1]).scores
        for size in (7, N)
    ]
    assert scores[0] == scores[1]


def frames() -> dict[str, Any]:
    """Tables whose times go back at row 3, by how they hold them."""
    pd = pytest.importorskip("pandas")
    hours = pd.Series(pd.date_range("2024-01-01", periods=N, freq="h"))
    hours[3] = hours[0] - pd.Timedelta("1h")
    plain = pd.DataFrame(X, columns=["a", "b"])
    return {
        "the index": plain.set_axis(pd.DatetimeIndex(hours)),
        "the index ": plain.set_axis(pd.DatetimeIndex(hours).tz_localize("UTC")),
        "the index  ": plain.set_axis(pd.PeriodIndex(hours, freq="h")),
        "column 'when'": plain.assign(when=hours),
        "column 'when' ": plain.assign(when=hours.where(hours.index != 2)),
        "the index   ": plain.set_axis(hours.astype(str)),
        "the index    ": plain.set_axis(pd.Index(hours.dt.to_pydatetime(), dtype=object)),
        "column 'when'  ": plain.assign(when=pd.PeriodIndex(hours, freq="h")),
        "column 'when'   ": plain.assign(when=hours.dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")),
        "column 'when'    ": plain.assign(when=hours.dt.to_pydatetime().astype(object)),
    }


@pytest.mark.parametrize("kind", EVALUATORS)
def test_a_frame_in_another_order_than_its_times_is_named(kind: Any) -> None:
    for where, frame in frames().items():
        words = rf"times in {where.strip()} go back at row 3, from 2024-.* sort the table"
        with pytest.warns(UserWarning, match=words):
            evaluated(kind, frame, Y)
        with pytest.warns(UserWarning, match=words):
            evaluated(kind, as_stream([(frame[:3], Y[:3]), (frame[3:], Y[3:])]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            in_order = frame.sort_index() if "index" in where else frame.sort_values("when")
            evaluated(kind, in_order, Y)
            if kind is not sk.DelayedEvaluator:  # whose delay is one of rows
                evaluated(kind, frame, Y, arrival=np.arange(N))


def test_frames_that_do_not_say_their_order_are_not_named() -> None:
    frame = frames()["column 'when'"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluated(sk.PrequentialEvaluator, frame.assign(born=frame["when"]), Y)
        evaluated(sk.PrequentialEvaluator, frame[["a"]].iloc[::-1], Y)
        evaluated(sk.PrequentialEvaluator, frame.assign(when=frame["when"].dt.time), Y)


def test_logs_and_searches_name_the_order_of_a_frame() -> None:
    frame = frames()["column 'when'"]
    log = sk.PredictionLog(frame.assign(y=Y, p=Y), target="y", predictions="p")
    for call in (
        lambda: log.score(),
        lambda: sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [3, 5]}).fit(frame, Y),
        lambda: sk.prequential_predict(sk.MajorityClass(), frame, Y),
        lambda: evaluated(sk.PrequentialEvaluator, take_rows(as_stream(frame, Y), 20)),
    ):
        with pytest.warns(UserWarning, match="times in column 'when' go back at row 3"):
            call()


def test_the_order_is_said_once_and_not_of_held_out_rows() -> None:
    frame = frames()["column 'when'"].iloc[::-1]
    stream = as_stream([(frame[i : i + 4], Y[i : i + 4]) for i in range(0, N, 4)])
    with pytest.warns(UserWarning, match="go back at row 1, from") as warned:
        list(stream)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = sk.HoldoutEvaluator("accuracy", holdout=(frame, Y), every=10)
        held.evaluate(sk.MajorityClass(), frame.sort_values("when"), Y)


def live_run(frame: Any, y: Any) -> Any:
    run = sk.PrequentialEvaluator("accuracy").start(sk.MajorityClass(), classes=[0, 1])
    run.update(frame, y)
    return run


def live_search(frame: Any, y: Any) -> Any:
    search = sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [3, 5]})
    return search.partial_fit(frame, y, classes=[0, 1])


def live_asking(frame: Any, y: Any) -> Any:
    run = sk.DelayedEvaluator("accuracy").start(sk.MajorityClass(), classes=[0, 1])
    run.ask(frame, range(len(y)))
    return run


def go_on(one: Any, frame: Any, y: Any) -> None:
    if isinstance(one, sk.PrequentialSearch):
        one.partial_fit(frame, y)
    elif hasattr(one, "ask"):
        one.ask(frame, range(100, 100 + len(y)))
    else:
        one.update(frame, y)


@pytest.mark.parametrize("begin", [live_run, live_search, live_asking])
def test_live_rows_in_another_order_than_their_times_are_named(begin: Any, tmp_path: Path) -> None:
    for where, frame in frames().items():
        words = rf"times in {where.strip()} go back at row 3, from 2024-.* sort the table"
        with pytest.warns(UserWarning, match=words):
            one = begin(frame, Y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            go_on(one, frame, Y)  # it is said once
            one = begin(frame[:3], Y[:3])
            one.save(tmp_path / "saved")
        for again in (one, sk.load_run(tmp_path / "saved")):
            with pytest.warns(UserWarning, match=words):
                go_on(again, frame[3:], Y[3:])


def test_live_rows_in_order_are_not_named_nor_those_of_a_call_that_failed() -> None:
    frame = frames()["the index"].sort_index()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = live_run(frame[:9], Y[:9])
        with pytest.raises(ValueError, match="7"):
            run.update(frame[9:], [7] * (N - 9))
        run.update(frame[9:], Y[9:])
        run.update(frame[::-1], Y, arrival=np.arange(N))


def test_dates_without_a_time_and_the_index_of_labels_say_the_order(pd: Any) -> None:
    days = pd.Series(pd.date_range("2024-01-01", periods=N))[::-1].reset_index(drop=True)
    plain = pd.DataFrame(X, columns=["a", "b"])
    for when in (days.dt.date, days.dt.strftime("%Y-%m-%d")):
        with pytest.warns(UserWarning, match="times in column 'when' go back at row 1, from 2024"):
            evaluated(sk.PrequentialEvaluator, plain.assign(when=when), Y)
    y = pd.Series(Y, index=pd.DatetimeIndex(days))
    words = "times in the index of y go back at row 1, from 2024"
    for data in ((X, y), ([(X, y)],), (as_stream(X, y, chunk_size=7),)):
        with pytest.warns(UserWarning, match=words) as warned:
            evaluated(sk.PrequentialEvaluator, *data)
        assert len(warned) == 1
    with pytest.warns(UserWarning, match=words):
        live_run(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluated(sk.PrequentialEvaluator, X, y, arrival=np.arange(N))
        evaluated(
            sk.PrequentialEvaluator, plain.assign(when=["2024-01-02", *["none"] * (N - 1)]), Y
        )


def indexed(values: Any, frame: Any) -> Any:
    return pytest.importorskip("pandas").Series(values, index=frame.index)


def asked(frame: Any, y: Any, t: Any = None) -> None:
    run = sk.DelayedEvaluator("accuracy").start(sk.MajorityClass(), classes=[0, 1])
    run.ask(frame, range(N), t)
    run.label(indexed(range(N), frame), y)


def held_out(frame: Any, y: Any) -> None:
    evaluator = sk.HoldoutEvaluator("accuracy", holdout=(frame, y), every=9)
    evaluator.evaluate(sk.MajorityClass(), frame.copy(), Y)


def late(frame: Any, y: Any, delay: Any = None, label_time: Any = None) -> None:
    delay = 3 if label_time is delay else delay
    evaluator = sk.DelayedEvaluator("accuracy", delay=delay)
    evaluator.evaluate(sk.MajorityClass(), frame, y, label_time=label_time)


def searched(frame: Any, y: Any, **weight: Any) -> None:
    sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [3, 5]}).fit(frame, y, **weight)


def logged(frame: Any, y: Any, **meta: Any) -> None:
    sk.score_predictions(indexed(Y, frame), y, **meta)


def split(frame: Any, y: Any, **times: Any) -> None:
    sk.model_selection.SlidingWindowSplit(9, n_splits=2).split(frame, y, **times)


#: Doors for rows and labels, and what else of pandas they take.
DOORS: dict[Any, tuple[str, ...]] = {
    **{partial(evaluated, kind): ("sample_weight", "arrival") for kind in EVALUATORS},
    held_out: (),
    late: ("delay", "label_time"),
    lambda frame, y: list(as_stream([(frame, y)])): (),
    live_run: (),
    live_search: (),
    asked: ("t",),
    searched: ("sample_weight",),
    shuffle_rows: (),
    logged: ("sample_weight", "arrival"),
    split: ("times",),
    lambda frame, y: sk.model_selection.check_time_order(TimeSeriesSplit(3), frame, y): (),
}


@pytest.mark.parametrize("door", DOORS)
def test_the_same_index_in_another_order_is_refused(door: Any, pd: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(N) + 7)
    y, numbers = indexed(Y, frame), indexed(np.arange(N) + 1.0, frame)
    door(frame, y.reset_index(drop=True))  # an index made anew says nothing
    with pytest.raises(ValueError, match=r"order \(position 0: 46, and 7 in .*, but rows are mat"):
        door(frame, y[::-1])
    for other in DOORS[door]:
        door(frame, y, **{other: numbers})
        with pytest.raises(ValueError, match=rf"^{other} has .* Pass {other}.loc\[.*.index\]; or"):
            door(frame, y, **{other: numbers[::-1]})


def test_a_repeated_index_can_only_be_sorted(pd: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(N) // 2)
    with pytest.raises(ValueError, match=r"y has the index of X .* both sorted in one way; or"):
        evaluated(sk.PrequentialEvaluator, frame, indexed(Y, frame)[::-1])
    pairs = pd.MultiIndex.from_product([range(2), range(N // 2)])
    evaluated(sk.PrequentialEvaluator, frame, pd.Series(Y, index=pairs))


@pytest.mark.parametrize("door", [door for door in DOORS if door not in (asked, logged)])
def test_a_feature_that_is_the_label_is_named(door: Any, pd: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=Y)
    with pytest.warns(UserWarning, match=r"Column 'label' of X.* is y itself"):
        door(frame, frame["label"])
    door(frame, frame["label"].shift(1, fill_value=0))  # the previous label may be a feature
