"""Evaluations that are broken off: by Ctrl-C, by the stream, by workers that die or disagree."""

import os
import signal
import threading
import time
import warnings
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.engine.run import Engine
from skstream.core.evaluators.execution import portable_errors
from skstream.core.rows.chunk import Chunk
from skstream.core.run.run import TARGET, Pace
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import StreamError, make_demo_stream
from skstream.utils._sklearn import QuietParallel
from tests.evaluation._models import KilledWorker

DEMO = make_demo_stream(600)
CLASSES = ["DOWN", "UP"]


class Looped(ClassifierMixin, BaseEstimator):
    """Repeats the label learnt last; has no kernel, and may do something at a row."""

    def __init__(self, at=-1, does=None):
        self.at = at
        self.does = does

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(classes) if classes is not None else self.classes_
        self.n_ = getattr(self, "n_", 0) + len(y)
        if 0 <= self.at <= self.n_ < self.at + len(y):
            self.does()
        self.newest_ = y[-1]
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.newest_)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def die():
    os._exit(1)


class Source:
    """A stream that can travel to workers."""

    def __init__(self, after=400):
        self.after = after

    def __iter__(self):
        X, y = DEMO.X, DEMO.y
        for start in range(0, len(y), 100):
            if start == self.after:
                raise OSError("the disk is gone")
            yield X[start : start + 100], y[start : start + 100]


def models():
    return {"sgd": SGDClassifier(), "a": Looped(), "b": Looped(), "last": sk.Persistent()}


KEEP = sk.RunOptions(keep_tape=True)
EVALUATORS = [
    sk.PrequentialEvaluator("accuracy", random_state=0, run=KEEP),
    sk.PrequentialEvaluator("accuracy", batch_size=30, random_state=0, run=KEEP),
    sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0, run=KEEP),
    sk.DelayedEvaluator(
        "accuracy", delay=7, random_state=0, run=KEEP, polling=sk.Polling(n_bins=2)
    ),
]
every_protocol = pytest.mark.parametrize(
    "evaluator", EVALUATORS, ids=lambda evaluator: type(evaluator).__name__
)


def with_options(evaluator, **options):
    return clone(evaluator).set_params(**options)


@every_protocol
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stream_that_fails_leaves_the_result_so_far(evaluator, n_jobs):
    evaluator = with_options(evaluator, n_jobs=n_jobs)
    with parallel_config(backend="threading"), pytest.raises(StreamError, match="disk") as caught:
        evaluator.evaluate(models(), Source(), classes=CLASSES)
    result = caught.value.result
    if n_jobs > 1:  # no model had finished
        assert result is None
        return
    assert "attribute 'result'" in caught.value.__notes__[0]
    assert result.model_names == list(models())
    run = with_options(evaluator, n_jobs=1).start(models(), classes=CLASSES)
    run.feed(Chunk.of(DEMO.X[:400], DEMO.y[:400]))
    expected = run.result()
    assert result.checkpoints.tolist() == expected.checkpoints.tolist()
    for name in models():
        np.testing.assert_array_equal(result.tape.answers[name], expected.tape.answers[name])
    assert result.scores == expected.scores


@every_protocol
def test_ctrl_c_leaves_all_rows_done(evaluator):
    with pytest.raises(sk.EvaluationInterrupted) as caught:
        evaluator.evaluate({**models(), "stops": Looped(at=300, does=interrupt)}, DEMO.X, DEMO.y)
    result = caught.value.result
    # The piece in which the signal came is lost, and no other.
    assert 0 < result.n_rows <= 305
    assert result.model_names == [*models(), "stops"]
    assert result.tape.n_rows == result.n_rows
    assert {answers.shape[:2] for answers in result.tape.answers.values()} == {
        (result.n_folds, result.n_rows)
    }


@pytest.mark.parametrize(
    ("evaluator", "timing"),
    [
        (sk.PrequentialEvaluator("accuracy"), {}),
        (sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0), {}),
        (
            sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2, poll_every=None)),
            {"delay": 3},
        ),
        # All labels come at once: at the end, or before a row in the middle.
        (
            sk.DelayedEvaluator(
                "accuracy", n_warmup=20, polling=sk.Polling(n_bins=2, poll_every=None)
            ),
            {"delay": 200},
        ),
        (
            sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2, poll_every=None)),
            {"at": 150.5},
        ),
    ],
)
def test_pieces_are_cut_by_time(evaluator, timing, monkeypatch):
    """With a clock that only the model moves, no piece takes long, whatever the chunks."""
    clock = [0.0]
    for name in ("perf_counter", "thread_time"):
        monkeypatch.setattr(f"skstream.core.run.run.{name}", lambda: clock[0])
    ticks = []

    class Ticking(Looped):
        def partial_fit(self, X, y, classes=None):
            clock[0] += 0.01
            return super().partial_fit(X, y, classes)

        def predict(self, X):
            clock[0] += 0.01 * len(X)
            return super().predict(X)

    rows = slice(0, 300)
    options = {}
    if "at" in timing:
        arrival = np.arange(300.0)
        label_time = np.where(arrival < timing["at"], timing["at"], arrival + 0.5)
        options = {"arrival": arrival, "label_time": label_time}
    elif timing:
        evaluator = with_options(evaluator, **timing)
    original = Engine.execute

    def timed(engine, *event):
        started = clock[0]
        step = original(engine, *event)
        ticks.append(clock[0] - started)
        return step

    monkeypatch.setattr(Engine, "execute", timed)
    result = evaluator.evaluate(Ticking(), DEMO.X[rows], DEMO.y[rows], **options)
    # The first piece is one row, and each later one is as long as the last was quick.
    assert max(ticks) <= 4 * TARGET
    assert len(ticks) > 8
    assert result.n_rows == 300


def test_a_pace_does_not_shrink_where_beginning_a_piece_is_what_takes_long():
    for fixed, per_row, least, most in (
        (0.1, 0.001, 200, 1000),  # a tenth of a second for any piece, as for frames of many columns
        (0.5, 1e-4, 5000, 10_000),
        (0.0, 0.05, 3, 5),  # a slow model and nothing else
        (0.0, 2.0, 1, 1),
        (1e-5, 1e-6, 10_000, 10_000),
    ):
        pace = Pace(10_000)
        for _ in range(60):
            seconds = fixed + per_row * pace.size
            pace.took(pace.size, seconds, seconds)
        assert least <= pace.size <= most, (fixed, per_row, pace.size)


def test_a_pace_does_not_shrink_where_others_use_the_machine():
    for seed in range(20):
        slowed = np.random.default_rng(seed)
        pace, n_rows, work = Pace(10_000), 0, 0.0
        while n_rows < 8000 and work < 60.0:
            worked = 0.3 + 5e-4 * pace.size
            n_rows, work = n_rows + pace.size, work + worked
            pace.took(pace.size, slowed.lognormal(1.5) * worked, worked)
        assert work < 14.0  # 4.3 in one step


def test_a_model_that_waits_is_asked_in_steps_by_the_clock():
    pace = Pace(10_000)
    for _ in range(60):
        pace.took(pace.size, 0.05 * pace.size, 1e-5 * pace.size)
    assert 3 <= pace.size <= 5


class Uneven:
    """A stream of which one pass, in another thread, differs from the others."""

    def __init__(self, change, meta):
        self.change = change
        self.meta = meta
        self.n_passes = 0
        self.lock = threading.Lock()

    def __iter__(self):
        parts = {"X": DEMO.X.copy(), "y": DEMO.y.copy(), **self.meta}
        size = 100
        if threading.current_thread() is not threading.main_thread():
            with self.lock:
                self.n_passes += 1
                if self.n_passes == 1:
                    size = self.change(parts) or size
        for start in range(0, len(parts["y"]), size):
            X, y, *meta = (values[start : start + size] for values in parts.values())
            yield X, y, dict(zip(self.meta, meta, strict=True))


def change_at_300(name, by):
    def change(parts):
        parts[name] = parts[name].copy()
        parts[name][300] = by(parts[name][300])

    return change


def shorten(parts):
    parts.update({name: values[:400] for name, values in parts.items()})


WEIGHTS = np.arange(600) % 3 + 1.0
DIFFERENCES = [
    (shorten, {}, "400 and 600 rows|600 and 400 rows"),
    (change_at_300("y", lambda y: "UP" if y == "DOWN" else "DOWN"), {}, "with other labels"),
    (change_at_300("X", lambda x: x + 1), {}, "with other features"),
    (
        change_at_300("sample_weight", lambda w: w + 1),
        {"sample_weight": WEIGHTS},
        "with other weights",
    ),
]


@every_protocol
@pytest.mark.parametrize(("change", "meta", "message"), DIFFERENCES)
def test_workers_that_read_other_rows_are_an_error(evaluator, change, meta, message):
    source = Uneven(change, meta)
    models = {"a": Looped(), "b": Looped()}
    evaluator = with_options(evaluator, n_jobs=2)
    message = rf"differs from pass to pass.*({message})\."
    with parallel_config(backend="threading"), pytest.raises(ValueError, match=message):
        evaluator.evaluate(models, source, classes=CLASSES)


def doing(monkeypatch, *actions):
    """Let groups be evaluated one after the other here; some do something instead."""

    def call(parallel, calls):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn, about its own Parallel
            for (function, args, kwargs), action in zip(calls, actions, strict=True):
                if action is not None:
                    raise action
                yield function(*args, **kwargs)

    monkeypatch.setattr(QuietParallel, "__call__", call)


def test_finished_models_are_kept_when_the_worker_of_others_dies(monkeypatch):
    doing(monkeypatch, None, KilledWorker("tcp://10.0.0.1:1234"), None)
    three = {"first": Looped(), "dies": Looped(), "last": Looped()}
    evaluator = sk.PrequentialEvaluator("accuracy", n_jobs=3)
    with parallel_config(backend="threading"), pytest.raises(KilledWorker) as caught:
        evaluator.evaluate(three, DEMO.X, DEMO.y)
    note = caught.value.__notes__[0]
    assert "A worker process died. These models had not finished: 'dies', 'last'." in note
    assert caught.value.result.model_names == ["first"]
    assert caught.value.result.left_out.keys() == {"dies", "last"}


def test_a_failure_in_a_worker_keeps_the_models_that_had_finished():
    def fail():
        raise ZeroDivisionError("by nothing")

    two = {"good": Looped(), "bad": Looped(at=599, does=fail)}
    slowly = {"good": Looped(), "bad": SlowToFail()}
    for chosen in (two, slowly):
        with parallel_config(backend="threading"), pytest.raises(sk.ModelError) as caught:
            sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(chosen, DEMO.X, DEMO.y)
        assert caught.value.model == "bad"
    assert caught.value.result.model_names == ["good"]
    assert "bad" in caught.value.result.left_out


class SlowToFail(Looped):
    """Fails at last."""

    def predict(self, X):
        if self.n_ == 599:
            time.sleep(0.2)
            raise ZeroDivisionError("by nothing")
        return super().predict(X)


def test_folds_that_learn_or_ask_nothing_are_refused():
    with pytest.raises(ValueError, match='n_folds=1 with strategy="cross" would train on nothing'):
        sk.KFoldEvaluator(n_folds=1, strategy="cross").evaluate(sk.Persistent(), DEMO.X, DEMO.y)
    with pytest.raises(ValueError, match="would predict nothing"):
        sk.KFoldEvaluator(n_folds=1, strategy="split:held_out").evaluate(
            sk.Persistent(), DEMO.X, DEMO.y
        )


def test_an_exception_that_cannot_travel_keeps_its_text():
    # What nothing can pickle, even where a library teaches exceptions to be pickled.
    lock = threading.Lock()
    with pytest.raises(RuntimeError, match="LookupError: <unlocked") as caught, portable_errors():
        raise LookupError(lock)
    assert type(caught.value) is RuntimeError
    error = sk.ModelError("text", "m", 1, 20)
    with pytest.raises(sk.ModelError) as caught, portable_errors():
        raise error
    assert caught.value is error


def fails_late(y_true, y_pred):
    if len(y_true) > 150:
        raise ZeroDivisionError("a bug")
    return float(np.mean(np.asarray(y_true) == y_pred))


@pytest.mark.parametrize(
    "evaluator",
    [
        sk.PrequentialEvaluator({"acc": "accuracy", "mine": fails_late}),
        sk.PrequentialEvaluator({"mine": fails_late}),
        sk.KFoldEvaluator({"acc": "accuracy", "mine": fails_late}, n_folds=2, random_state=0),
        sk.DelayedEvaluator(
            {"acc": "accuracy", "mine": fails_late}, delay=3, polling=sk.Polling(n_bins=2)
        ),
    ],
    ids=["prequential", "alone", "k-fold", "delayed"],
)
def test_a_measure_that_fails_does_not_lose_the_answers(evaluator):
    X, y, _ = next(iter(make_demo_stream(300)))
    with pytest.raises(RuntimeError, match="Measure 'mine' failed after") as raised:
        evaluator.evaluate(sk.Persistent(), X, y)
    result = raised.value.result
    assert "mine" not in result.metric_names
    again = result.rescore({"mine": "accuracy"})
    assert again.scores["Persistent"]["mine"] > 0.7
    assert result.tape.n_rows > 150


def test_a_measure_without_weights_is_refused_at_the_first_weight():
    seen = []

    class Counts(sk.Persistent):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            seen.append(len(X))
            return super().partial_fit(X, y, classes)

    n = 5_000
    with pytest.raises(ValueError, match="'mine' has no sample_weight parameter"):
        sk.PrequentialEvaluator({"mine": fails_late}).evaluate(
            Counts(), np.zeros((n, 1)), np.arange(n) % 2, sample_weight=np.full(n, 2.0)
        )
    assert sum(seen) < n


def ends_itself():
    raise SystemExit(3)


@pytest.mark.parametrize("answering", [False, True])
def test_a_model_that_ends_the_program_is_a_failure_of_its_row(answering):
    class Ends(Looped):
        def predict(self, X):
            if answering and self.n_ == 250:
                raise SystemExit("enough")
            return super().predict(X)

    both = {"ends": Ends(at=-1 if answering else 251, does=ends_itself), "last": sk.Persistent()}
    message = "predicting row 250: SystemExit: enough" if answering else "row 250: SystemExit: 3"
    for n_jobs in (1, 2):
        evaluator = sk.PrequentialEvaluator("accuracy", n_jobs=n_jobs)
        with (
            parallel_config(backend="threading"),
            pytest.raises(sk.ModelError, match=message) as one,
        ):
            evaluator.evaluate(both, DEMO.X, DEMO.y)
        assert one.value.row == 250
        assert n_jobs > 1 or one.value.result.n_rows >= 250
        with parallel_config(backend="threading"), pytest.warns(FitFailedWarning, match=message):
            result = with_options(evaluator, error_score=np.nan).evaluate(both, DEMO.X, DEMO.y)
        assert result.failed_at == {"ends": [250]}
        assert result.scores["last"]["accuracy"] > 0


class Handler:
    def __call__(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(7)


def handle(code, number, frame):
    raise SystemExit(code)


@pytest.mark.parametrize(
    "handler",
    [Handler(), partial(handle, 7), lambda number, frame: handle(7, number, frame)],
    ids=["object", "partial", "lambda"],
)
@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_a_program_told_to_end_ends_though_a_model_runs(handler, error_score):
    def terminate():
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with pytest.raises(SystemExit) as caught:
            sk.PrequentialEvaluator("accuracy", error_score=error_score).evaluate(
                {"told": Looped(at=250, does=terminate), "last": sk.Persistent()}, DEMO
            )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert caught.value.code == 7


def test_a_stream_may_end_the_program_with_workers():
    class Ends(Source):
        def __iter__(self):
            yield from islice(super().__iter__(), 3)
            raise SystemExit(3)

    with parallel_config(backend="threading"), pytest.raises(SystemExit) as caught:
        sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(models(), Ends(), classes=CLASSES)
    assert caught.value.code == 3


def test_where_no_model_has_all_folds_those_are_the_result_that_are_there(tmp_path, monkeypatch):
    doing(monkeypatch, None, KeyboardInterrupt())
    chosen = {"first": Looped(), "second": Looped()}
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=4, random_state=0, n_jobs=2)
    threads = parallel_config(backend="threading")
    with threads, pytest.raises(sk.EvaluationInterrupted) as caught:
        evaluator.evaluate(chosen, DEMO.X, DEMO.y)
    result = caught.value.result
    assert result.folds == (0, 2)
    assert result.left_out == {}
    assert "mean of the folds 0, 2" in str(result)
    alone = with_options(evaluator, n_jobs=1)
    expected = alone.evaluate({"second": Looped()}, DEMO.X, DEMO.y).select(folds=(0, 2))
    assert result.scores["first"] == result.scores["second"] == expected.scores["second"]
    np.testing.assert_array_equal(result.tape.answers["second"], expected.tape.answers["second"])
    loaded = sk.load(result.save(tmp_path / "result.npz"))
    assert loaded.folds == result.folds
    assert loaded.rescore("accuracy").scores["second"] == result.scores["second"]


def test_what_had_not_finished_at_ctrl_c_is_named_and_left_out(tmp_path, monkeypatch):
    doing(monkeypatch, None, KeyboardInterrupt())
    chosen = {"first": Looped(), "second": Looped()}
    evaluator = sk.PrequentialEvaluator("accuracy", n_jobs=2)
    with parallel_config(backend="threading"), pytest.raises(sk.EvaluationInterrupted) as caught:
        evaluator.evaluate(chosen, DEMO.X, DEMO.y)
    result = caught.value.result
    assert result.model_names == ["first"]
    assert result.left_out == {"second": "it had not finished when the evaluation was interrupted"}
    assert "second is left out: it had not finished" in str(result)
    assert sk.load(result.save(tmp_path / "result.npz")).left_out == result.left_out
    assert result.rescore("accuracy").scores == result.scores


@pytest.mark.parametrize("folder", [False, True])
def test_ctrl_c_with_workers_names_the_checkpoints(monkeypatch, tmp_path, folder):
    doing(monkeypatch, KeyboardInterrupt(), None)
    evaluator = sk.PrequentialEvaluator(
        "accuracy", n_jobs=2, run=tmp_path / "run" if folder else None
    )
    message = f"resumes from .* {tmp_path / 'run'}" if folder else "With checkpoint=, the same call"
    threads = parallel_config(backend="threading")
    with threads, pytest.raises(sk.EvaluationInterrupted, match=message):
        evaluator.evaluate(models(), DEMO.X, DEMO.y)


def test_what_no_process_can_be_sent_is_named_before_workers_start(monkeypatch):
    monkeypatch.setattr(QuietParallel, "__call__", lambda *_: pytest.fail("has started"))
    lock = threading.Lock()
    chosen = {"a": Looped(does=lambda: None), "b": Looped(does=lambda: lock)}
    message = "^Model 'b' cannot be sent .*: cannot pickle '_thread.lock' .* pass n_jobs=1"
    with pytest.raises(TypeError, match=message):
        sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(chosen, DEMO.X, DEMO.y)
    measures = {"mine": partial(fails_late, lock)}
    with pytest.raises(TypeError, match=r"^Measure 'mine' cannot be sent"):
        sk.PrequentialEvaluator(measures, n_jobs=2).evaluate(models(), DEMO.X, DEMO.y)


# -- `prequential_predict` moves a bar, and keeps its answers where something ends it


X = np.arange(300.0)[:, np.newaxis]
Y = np.where(np.arange(300) % 3, "a", "b")


@cache
def whole():
    """Answers to all rows."""
    return sk.prequential_predict(IncrementalGaussianNB(), X, Y)


class Stops(IncrementalGaussianNB):
    """Raises an error while it learns a row."""

    def __init__(self, at: int = 100, error: Any = KeyboardInterrupt):
        super().__init__()
        self.at, self.error = at, error

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if X[0, 0] == self.at:
            raise self.error("no more")
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)


def test_ctrl_c_inside_a_model() -> None:
    with pytest.raises(sk.EvaluationInterrupted, match="in its attribute 'result'") as caught:
        sk.prequential_predict(Stops(), X, Y, return_rows=True)
    y_pred, rows = caught.value.result
    assert 0 < len(rows) < 100  # rows are cut by time
    np.testing.assert_array_equal(rows, np.arange(1, len(rows) + 1))
    np.testing.assert_array_equal(y_pred, whole()[: len(rows)])


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_ctrl_c_inside_the_stream(method: str) -> None:
    def chunks() -> Any:
        yield X[:150], Y[:150]
        raise KeyboardInterrupt

    with pytest.raises(sk.EvaluationInterrupted) as caught:
        sk.prequential_predict(IncrementalGaussianNB(), chunks(), classes=["a", "b"], method=method)
    expected = sk.prequential_predict(IncrementalGaussianNB(), X[:150], Y[:150], method=method)
    np.testing.assert_array_equal(caught.value.result, expected)


def test_a_failing_model_carries_its_answers() -> None:
    with pytest.raises(sk.ModelError, match="row 100") as caught:
        sk.prequential_predict(Stops(error=ValueError), X, Y, return_rows=True)
    y_pred, rows = caught.value.result
    np.testing.assert_array_equal(rows, np.arange(1, 100))
    np.testing.assert_array_equal(y_pred, whole()[:99])
