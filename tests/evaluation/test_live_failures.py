"""Live runs that something stops: nothing is lost, nothing is counted twice, and they go on."""

import signal
import threading
from functools import cache

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.streams import make_demo_stream

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore:Measures .* cannot be updated row by row"),
]

CLASSES = ["DOWN", "UP"]
STREAM = make_demo_stream(90, random_state=3)
X, Y = STREAM.X, STREAM.y


class Trap:
    """Raises once, at the given call."""

    def __init__(self, at=None, error=None):
        self.at, self.error, self.n = at, error, 0

    def __call__(self):
        self.n += 1
        if self.n == self.at:
            raise self.error


TRAPS = {}


class Trapped(ClassifierMixin, BaseEstimator):
    """Repeats the label learnt last; may fail at a call of one of its methods."""

    def __init__(self, name="m"):
        self.name = name

    def partial_fit(self, X, y, classes=None):
        TRAPS.get((self.name, "learn"), Trap())()
        self.classes_ = getattr(self, "classes_", classes)
        self.newest_ = y[-1]
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + len(y)
        return self

    def predict(self, X):
        TRAPS.get((self.name, "ask"), Trap())()
        return np.full(len(X), self.newest_)


@pytest.fixture(autouse=True)
def no_traps():
    TRAPS.clear()
    yield
    TRAPS.clear()


def delayed_run(**options):
    polling = sk.Polling(n_bins=3, poll_every=2, reduce=options.pop("reduce", "auto"))
    options = {"metrics": "accuracy", "random_state": 0, "polling": polling, **options}
    evaluator = sk.DelayedEvaluator(run=sk.RunOptions(keep_tape=True), **options)
    return evaluator.start({"a": Trapped("a"), "b": Trapped("b")}, classes=CLASSES)


def events(n=30):
    """Asks and labels, each label two asks late and some of them together."""
    for k in range(n):
        yield "ask", [k]
        if k >= 3 and k % 3 == 0:
            yield "label", [k - 3, k - 2, k - 1]


def take(run, event, **options):
    kind, rows = event
    if kind == "ask":
        return run.ask(X[rows], rows, float(rows[-1]), **options)
    return run.label(rows, Y[rows], **options)


def assert_same(found, expected):
    assert found.scores == expected.scores
    for name in expected.model_names:
        np.testing.assert_array_equal(found.tape.answers[name], expected.tape.answers[name])
    np.testing.assert_array_equal(found.tape.y, expected.tape.y)
    assert {**vars(found.waits), "poll_costs": 0} == {**vars(expected.waits), "poll_costs": 0}
    for name, values in expected.waits.poll_costs.items():
        np.testing.assert_array_equal(found.waits.poll_costs[name], values)


@cache
def undisturbed(**options):
    run = delayed_run(**options)
    for event in events():
        take(run, event)
    return run.close().result()


@pytest.mark.parametrize("error", [ValueError("broken line"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("at", [1, 2, 7, 12])
@pytest.mark.parametrize("model", ["a", "b"])
def test_an_ask_that_fails_never_was(error, at, model):
    expected = undisturbed()
    run = delayed_run()
    failed = 0
    for event in events():
        if event[0] == "ask":
            TRAPS[model, "ask"] = Trap(1 if event[1][0] == 2 * at else None, error)
        else:
            TRAPS.clear()
        before = run.n_pending
        try:
            take(run, event)
        except BaseException as caught:
            failed += 1
            assert caught is error or caught.__cause__ is error
            if isinstance(caught, sk.ModelError):
                assert (caught.model, caught.row) == (model, event[1][0])
                assert "id" in caught.__notes__[0]
            assert run.n_pending == before
            take(run, event)  # the trap is sprung
    assert failed == 1 or at == 1  # nothing is asked before the first label
    assert_same(run.close().result(), expected)


@pytest.mark.parametrize(("model", "at"), [("a", 1), ("b", 1), ("b", 2), ("a", 5), ("b", 14)])
def test_a_failed_learn_ends_the_run_and_the_last_save_goes_on(model, at, tmp_path):
    expected = undisturbed()
    run, path = delayed_run(), tmp_path / "run"
    TRAPS[model, "learn"] = Trap(at, RuntimeError("out of paper"))
    stopped = 0
    for event in events():
        if event[0] == "label":
            run.save(path)
        try:
            take(run, event)
        except sk.ModelError as error:
            stopped += 1
            assert (error.model, error.row) == (model, at - 1)
            assert run.result().waits.n_labelled <= at - 1
            with pytest.raises(RuntimeError, match="cannot continue"):
                run.ask(X[:1], ["more"])
            with pytest.raises(RuntimeError, match="cannot continue"):
                run.close()
            with pytest.raises(RuntimeError, match="cannot continue"):
                run.save(path)
            run = sk.load_run(path)
            take(run, event)
    assert stopped == 1
    assert_same(run.close().result(), expected)


def test_with_an_error_score_the_other_models_go_on():
    expected = undisturbed()
    run = delayed_run(error_score=np.nan)
    TRAPS["a", "learn"] = Trap(8, RuntimeError("worn out"))
    for event in events():
        take(run, event)
    with pytest.warns(Warning, match="worn out"):
        result = run.close().result()
    assert "worn out" in result.failures["a"]
    assert result.scores["b"] == expected.scores["b"]
    assert np.isnan(result.scores["a"]["accuracy"])


def test_rows_that_a_model_cannot_answer_leave_the_run_as_it_was():
    rows = X.copy()
    rows[[7, 8]] = np.nan
    evaluator = sk.DelayedEvaluator(
        "accuracy", random_state=0, run=sk.RunOptions(keep_tape=True), polling=sk.Polling(n_bins=2)
    )
    run, clean = (
        evaluator.start({"sgd": SGDClassifier(), "last": sk.Persistent()}, classes=CLASSES)
        for _ in range(2)
    )
    for one in (run, clean):
        one.ask(X[:1], [0])
        one.label([0], Y[:1])
    with pytest.raises(sk.ModelError, match="NaN") as caught:
        run.ask(rows[5:10], range(5, 10))
    assert "id 7" in caught.value.__notes__[0]
    assert run.n_pending == 0
    for one in (run, clean):
        one.ask(rows[[5, 6, 9]], [5, 6, 9])
        one.label([5, 6, 9], Y[[5, 6, 9]])
    assert_same(run.close().result(), clean.close().result())


@pytest.mark.parametrize("bad", [np.nan, None, [1], np.datetime64("NaT")])
def test_ids_that_cannot_be_found_again_are_refused(bad):
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        sk.MajorityClass(), classes=CLASSES
    )
    with pytest.raises(ValueError, match=r"ids\[1\] is"):
        run.ask(X[:2], [0, bad])
    run.ask(X[:1], [0])
    with pytest.raises(ValueError, match=r"ids\[0\] is"):
        run.label([bad], ["UP"])


@pytest.mark.parametrize("error", [RuntimeError("no bins"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", [1, 4, 9])
def test_a_reduce_that_fails_loses_no_label(error, at):
    def plain(answers, durations):
        return answers[0]

    trap = Trap(at, error)

    def reduce(answers, durations):
        trap()
        return answers[0]

    expected = undisturbed(reduce=plain)
    run = delayed_run(reduce=reduce)
    failed = 0
    for event in events():
        take(run, event)
        if event[0] == "label":
            try:
                run.result()
            except BaseException as caught:
                assert caught is error
                failed += 1
    assert failed == 1
    assert_same(run.close().result(), expected)


@pytest.mark.parametrize("n_models", [1, 3])
def test_a_measure_that_fails_in_update_loses_no_row(n_models, monkeypatch):
    monkeypatch.setattr("skstream.core.measures.running._BUFFER_SIZE", 16)
    trap = Trap()

    def hits(y_true, y_pred):
        trap()
        return float(np.mean(y_true == y_pred))

    evaluator = sk.PrequentialEvaluator(
        {"hits": hits}, random_state=0, run=sk.RunOptions(keep_tape=True)
    )
    models = {f"m{k}": sk.MajorityClass() for k in range(n_models)}
    expected = evaluator.evaluate(models, X, Y)
    for at in (1, 15, 40):
        trap.n, trap.at, trap.error = 0, at, ZeroDivisionError("no rows")
        run = evaluator.start(models, classes=CLASSES)
        failed = 0
        for begin in range(0, 90, 7):
            try:
                run.update(X[begin : begin + 7], Y[begin : begin + 7])
            except RuntimeError as caught:
                assert "were accepted" in caught.__notes__[0]
                failed += 1
        trap.at = None
        result = run.close().result()
        assert failed == 1
        np.testing.assert_array_equal(result.curve("m0", "hits"), expected.curve("m0", "hits"))
        assert result.scores == expected.scores


def test_features_that_fail_can_be_asked_again(tmp_path):
    trap = Trap()

    def features(rows, times):
        trap()
        return X[rows] + 0.1

    evaluator = sk.DelayedEvaluator(
        "accuracy",
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=2, poll_every=1, features=features),
    )
    results = []
    for at in (None, 1, 4):
        trap.n, trap.at, trap.error = 0, at, OSError("no weather")
        run = evaluator.start(sk.MajorityClass(), classes=CLASSES)
        for event in events():
            try:
                take(run, event)
            except OSError:
                run.result()
                take(run, event)  # nothing was learnt: the run is as before the call
        results.append(run.close().result())
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


@pytest.mark.parametrize(
    "evaluator",
    [
        sk.PrequentialEvaluator("accuracy", random_state=0, run=sk.RunOptions(keep_tape=True)),
        sk.PrequentialEvaluator(
            "accuracy", random_state=0, batch_size=4, run=sk.RunOptions(keep_tape=True)
        ),
        sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0, run=sk.RunOptions(keep_tape=True)),
    ],
    ids=["rows", "batches", "folds"],
)
@pytest.mark.parametrize("action", ["ask", "learn"])
@pytest.mark.parametrize("at", [1, 7, 15])
def test_a_failure_ends_a_run_and_the_last_save_goes_on(
    evaluator, action, at, tmp_path, monkeypatch
):
    monkeypatch.setattr("skstream.core.run.run.EvaluationRun._rows_per_step", 20)
    models = {"a": Trapped("a"), "b": Trapped("b")}
    expected = evaluator.evaluate(models, X, Y)
    run, path = evaluator.start(models, classes=CLASSES), tmp_path / "run"
    TRAPS["b", action] = Trap(at, RuntimeError("worn out"))
    stopped = 0
    for begin in (0, 45):
        run.save(path)
        try:
            run.update(X[begin : begin + 45], Y[begin : begin + 45])
        except sk.ModelError as error:
            stopped += 1
            assert error.model == "b"
            so_far = run.result()
            assert so_far.n_rows == run.n_rows <= error.row
            for name in models:  # what came before the failure
                np.testing.assert_array_equal(
                    so_far.tape.answers[name],
                    np.asarray(expected.tape.answers[name])[:, : so_far.tape.n_rows],
                )
            with pytest.raises(RuntimeError, match="cannot continue"):
                run.update(X[:1], Y[:1])
            run = sk.load_run(path)
            run.update(X[begin : begin + 45], Y[begin : begin + 45])
    assert stopped == 1
    result = run.close().result()
    assert run.n_rows == 90
    assert result.scores == expected.scores
    for name in models:
        np.testing.assert_array_equal(result.tape.answers[name], expected.tape.answers[name])


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
@pytest.mark.parametrize("action", ["ask", "learn"])
@pytest.mark.parametrize("at", [1, 6, 20])
def test_ctrl_c_waits_for_the_end_of_the_step_and_leaves_the_run_usable(action, at):
    class Pressed(Trapped):
        pass

    def press():
        if press.n == at:
            signal.raise_signal(signal.SIGINT)
        press.n += 1

    press.n = 0
    expected = undisturbed()
    TRAPS["a", action] = press
    run = delayed_run()
    interrupted = 0
    for event in events():
        before = run.n_pending, run.result().waits.n_labelled if run._scoring.steps else 0
        try:
            take(run, event)
        except KeyboardInterrupt:
            interrupted += 1
            if event[0] == "ask":  # refused: it is asked again
                assert run.n_pending == before[0]
                take(run, event)
    assert interrupted == 1
    assert_same(run.close().result(), expected)


def test_a_second_ctrl_c_breaks_a_call_that_does_not_end():
    class Endless(Trapped):
        def partial_fit(self, X, y, classes=None):
            if hasattr(self, "newest_"):
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
                raise AssertionError("the second one came through")
            return super().partial_fit(X, y, classes)

    run = sk.PrequentialEvaluator("accuracy").start(Endless(), classes=CLASSES)
    run.update(X[:1], Y[:1])
    with pytest.raises(KeyboardInterrupt):
        run.update(X[1:2], Y[1:2])
    with pytest.raises(RuntimeError, match="stopped in the middle of a row"):
        run.update(X[1:2], Y[1:2])


def test_several_threads_may_use_a_run():
    run = sk.DelayedEvaluator(
        "accuracy", run=sk.RunOptions(keep_tape=True), polling=sk.Polling(n_bins=2)
    ).start({"last": sk.Persistent()}, classes=CLASSES)
    errors = []

    def work(name):
        try:
            for k in range(40):
                run.ask(X[k : k + 1], [(name, k)])
                run.label([(name, k)], Y[k : k + 1])
                if k % 10 == 0:
                    run.result()
        except Exception as error:
            errors.append(error)

    with np.errstate(all="ignore"):
        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors
    result = run.close().result()
    assert (result.waits.n_labelled, result.waits.n_pending) == (160, 0)


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_fitted_model_answers_before_the_first_label(engine):
    fitted = SGDClassifier(random_state=0).fit(X, Y)
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        run=sk.RunOptions(kernels=engine == "auto", keep_tape=True),
        polling=sk.Polling(n_bins=2),
    )
    models = {"warm": fitted, "cold": sk.Persistent()}
    run = evaluator.start(models, classes=CLASSES, warm_start=True)
    answers = run.ask(X[:5], range(5), 0)
    assert answers["warm"].tolist() == fitted.predict(X[:5]).tolist()
    assert answers["cold"].tolist() == [None] * 5
    run.label(range(5), Y[:5], 1)
    assert run.result().waits.n_unanswered == 5  # as in evaluate
    times = {"arrival": np.zeros(5), "label_time": np.ones(5)}
    batch = evaluator.evaluate(models, X[:5], Y[:5], classes=CLASSES, **times, warm_start=True)
    np.testing.assert_array_equal(
        batch.tape.answers["warm"], run.close().result().tape.answers["warm"]
    )


@pytest.mark.parametrize("previous_label", ["known", "predicted"])
@pytest.mark.parametrize("together", [False, True])
def test_a_bad_row_of_the_warmup_stops_no_other_row(previous_label, together):
    model = sk.TemporallyAugmented(SGDClassifier(), previous_label=previous_label)
    evaluator = sk.DelayedEvaluator(
        "accuracy", random_state=0, polling=sk.Polling(n_bins=2, poll_every=1)
    )
    run = evaluator.start({"m": model}, classes=[0, 1])
    for i, x in enumerate([1.0, np.nan, 2.0, 3.0]):
        run.ask([[x]], [i], t=i)  # nothing can be answered yet
    if together:
        run.label([0, 2], [0, 1], t=10)
    else:
        run.label([0], [0], t=10)
        run.label([2], [1], t=12)
    assert run.ask([[1.5]], [4], t=13)["m"][0] in (0, 1)
    with pytest.raises(sk.ModelError, match="failed while training on row 1: ValueError") as caught:
        run.label([1], [0], t=14)
    assert caught.value.row == 1
