"""Live use of the delayed evaluator: weights, mistakes, containers, checkpoints, bounds."""

import datetime
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import SGDClassifier, SGDRegressor

import skstream as sk
from skstream.core.rows.chunk import Chunk
from skstream.naive_bayes import IncrementalGaussianNB
from tests._examples import examples, newest_alone
from tests.evaluation import _models
from tests.evaluation._late_rows import events_of, go_on, stream_rows, times_of
from tests.evaluation._models import Breaks, FailsLater

CLASSES = ["down", "up"]


def assert_same(found, expected):
    for name in expected.tape.answers:
        np.testing.assert_array_equal(found.tape.answers[name], expected.tape.answers[name])
    np.testing.assert_array_equal(found.tape.y, expected.tape.y)
    if expected.tape.weight is None:
        assert found.tape.weight is None
    else:
        np.testing.assert_array_equal(found.tape.weight, expected.tape.weight)
    assert found.scores == expected.scores
    for name, values in expected.waits.poll_costs.items():
        np.testing.assert_array_equal(found.waits.poll_costs[name], values)
    assert found.waits.n_labelled == expected.waits.n_labelled
    assert found.waits.n_unanswered == expected.waits.n_unanswered


@newest_alone
@given(
    st.integers(0, 1000),
    st.one_of(st.none(), st.integers(1, 6)),
    st.sampled_from([[1.0], [0.0, 1.0], [0.0, 0.5, 2.0]]),
    st.sampled_from(["auto", "loop"]),
)
@examples(12)
def test_weights_of_labels_are_those_of_the_batch_call(seed, every, choices, engine):
    n = 40
    rows, y = stream_rows(n, seed)
    arrival, label_time = times_of(n, seed)
    weight = np.random.default_rng(seed).choice(choices, n)
    weight[:10] = 1.0
    models = {"sgd": SGDClassifier(), "nb": IncrementalGaussianNB(), "last": sk.Persistent()}
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        random_state=0,
        run=sk.RunOptions(kernels=engine == "auto", keep_tape=True),
        polling=sk.Polling(n_bins=3, poll_every=every),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch = evaluator.evaluate(
            models, rows, y, arrival=arrival, label_time=label_time, sample_weight=weight
        )
        run = evaluator.start(models, classes=CLASSES)
        events = events_of(arrival, label_time)
        found = go_on(run, events, rows, y, weight).close().result()
    assert_same(found, batch)


def test_weights_may_begin_with_a_later_label():
    rows, y = stream_rows(80)
    arrival, label_time = times_of(80)
    events = events_of(arrival, label_time)
    order = [m for _, m, is_label in events if is_label]
    weight = np.ones(80)
    weight[order[30:]] = np.random.default_rng(0).integers(0, 3, 50)
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=3, poll_every=4),
    )
    model = {"m": IncrementalGaussianNB()}
    batch = evaluator.evaluate(
        model, rows, y, arrival=arrival, label_time=label_time, sample_weight=weight
    )
    run = evaluator.start(model, classes=CLASSES)
    n_labels = 0
    for event in events:
        n_labels += event[2]
        go_on(run, [event], rows, y, weight if n_labels > 30 else None)
        if n_labels == 20:
            run.result()  # scores the rows so far: later ones are not when weights begin
    found = run.result()
    np.testing.assert_array_equal(found.tape.weight, batch.tape.weight)
    np.testing.assert_array_equal(found.tape.answers["m"], batch.tape.answers["m"])
    np.testing.assert_allclose(found.by_bin("m", "accuracy"), batch.by_bin("m", "accuracy"))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"shape \(1,\), but there are 2 labels"),
        ([1.0, -1.0], r"sample_weight\[1\] is -1"),
        ([np.nan, 1.0], r"sample_weight\[0\] is nan"),
    ],
)
def test_bad_weights_change_nothing(weight, message):
    rows, y = stream_rows(3)
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        sk.MajorityClass(), classes=CLASSES
    )
    run.ask(rows, ["p", "q", "r"])
    with pytest.raises(ValueError, match=message):
        run.label(["p", "q"], y[:2], sample_weight=weight)
    assert run.n_pending == 3
    assert run.label(["p", "q"], y[:2], sample_weight=[1.0, 0.0]).n_pending == 1


def test_an_unknown_id_loses_no_label_of_the_call():
    rows, y = stream_rows(12)
    evaluator = sk.DelayedEvaluator(
        "accuracy", run=sk.RunOptions(keep_tape=True), polling=sk.Polling(n_bins=2)
    )
    run = evaluator.start(sk.MajorityClass(), classes=CLASSES, max_pending=8)
    run.ask(rows[:1], ["first"])
    run.label(["first"], y[:1])
    for k in range(12):
        run.ask(rows[k : k + 1], [k])
    before = run.n_pending
    with pytest.raises(
        KeyError, match=r"id 2 waits.*\(2 ids of this call are like this\).*on_unknown"
    ):
        run.label([5, 2, 3, 6], y[[5, 2, 3, 6]])
    assert run.n_pending == before == 8
    run.label([5, 2, 3, 6], y[[5, 2, 3, 6]], on_unknown="ignore")
    assert run.n_pending == 6
    assert run.result().waits.n_labelled == 3
    assert run.result().tape.y.tolist() == [CLASSES.index(y[k]) for k in (0, 5, 6)]
    with pytest.raises(KeyError, match="already has its label; no label of this call"):
        run.label([7, 5], y[[7, 5]])
    assert run.n_pending == 6
    with pytest.raises(ValueError, match="on_unknown must be"):
        run.label([7], y[[7]], on_unknown="forget")
    with pytest.raises(ValueError, match="id 7 occurs twice"):
        run.label([7, 8, 7], y[[7, 8, 7]])
    before = run.result().waits.n_relabelled
    assert run.label([7, 8, 7], y[[7, 8, 7]], on_unknown="ignore").n_pending == 4
    assert run.result().waits.n_relabelled == before + 1


def test_dates_are_shown_as_they_were_given():
    rows, y = stream_rows(4)
    noon = datetime.datetime(2024, 5, 1, 12)
    evaluator = sk.DelayedEvaluator(
        "accuracy", delay=datetime.timedelta(days=-1), polling=sk.Polling(n_bins=2)
    )
    run = evaluator.start(sk.MajorityClass(), classes=CLASSES)
    run.ask(rows[:1], ["p"], noon)
    wrong = r"t is 2024-05-01 11:00:00, but the last event was at 2024-05-01 12:00:00"
    with pytest.raises(ValueError, match=wrong):
        run.ask(rows[1:2], ["q"], noon - datetime.timedelta(hours=1))
    with pytest.raises(ValueError, match=wrong):
        run.label(["p"], y[:1], noon - datetime.timedelta(hours=1))
    with pytest.raises(ValueError, match=r"row numbers \(1\), but t of the first event, .* holds"):
        run.ask(rows[1:2], ["q"])
    run.label(["p"], y[:1])  # at the time of the last event
    days = np.array(["2024-05-03", "2024-05-02", "2024-05-04", "2024-05-05"], "datetime64[D]")
    with pytest.raises(ValueError, match="at row 1, from 2024-05-03 to 2024-05-02"):
        evaluator.evaluate(sk.MajorityClass(), rows, y, arrival=days)
    sooner = days[[1, 0, 2, 3]] - np.array([0, 2, 0, 0])
    with pytest.raises(
        ValueError, match=r"label_time\[1\] is 2024-05-01, before arrival\[1\] = 2024-05-03"
    ):
        sk.DelayedEvaluator("accuracy").evaluate(
            sk.MajorityClass(), rows, y, arrival=days[[1, 0, 2, 3]], label_time=sooner
        )
    with pytest.raises(
        ValueError, match=r"label_time\[0\] is 2024-05-01T.*before arrival\[0\] = 2024-05-02"
    ):
        evaluator.evaluate(sk.MajorityClass(), rows, y, arrival=days[[1, 0, 2, 3]])


def contained(kind, rows):
    if kind == "csr":
        return sparse.csr_matrix(rows)
    module = pytest.importorskip(kind)
    return module.DataFrame(dict(zip("uvw", rows.T, strict=True)))


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("kind", ["csr", "pandas", "polars"])
def test_rows_may_wait_in_any_container(kind, engine):
    rows, y = stream_rows(45)
    X = contained(kind, rows)
    arrival, label_time = times_of(45, longest=40)
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        random_state=0,
        run=sk.RunOptions(kernels=engine == "auto", keep_tape=True),
        polling=sk.Polling(n_bins=3, poll_every=3),
    )
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    batch = evaluator.evaluate(models, X, y, arrival=arrival, label_time=label_time)
    run = evaluator.start(models, classes=CLASSES)
    events = events_of(arrival, label_time)
    assert_same(go_on(run, events, X, y).close().result(), batch)


@pytest.mark.parametrize("models", [{"last": sk.Persistent()}, {"sgd": SGDRegressor()}])
def test_no_rows_are_no_event(models):
    classes = CLASSES if "last" in models else None
    run = sk.DelayedEvaluator(polling=sk.Polling(n_bins=2)).start(models, classes=classes)
    with pytest.raises(ValueError, match="0 rows, but 1 ids"):
        run.ask(np.empty((0, 7)), ["p"], 3)
    for _ in range(2):
        (answers,) = run.ask(np.empty((0, 4)), [], 100).values()
        assert answers.shape == (0,)
        run.ask(np.ones((1, 4)), [run.n_pending], 5)
    assert (run.n_rows, run.n_pending) == (2, 2)
    with pytest.raises(ValueError, match="has 7 features"):
        run.ask(np.empty((0, 7)), [])


def test_calls_with_many_rows_are_those_with_one(rng):
    rows, y = stream_rows(300)
    evaluator = sk.DelayedEvaluator(
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=3, poll_every=7),
    )
    one, many = (evaluator.start({"m": SGDClassifier()}, classes=CLASSES) for _ in range(2))
    waiting = []
    for time, begin in enumerate(range(0, 300, 30)):
        part = range(begin, begin + 30)
        answers = many.ask(rows[begin : begin + 30], part, time)["m"]
        singly = [one.ask(rows[m : m + 1], [m], time)["m"][0] for m in part]
        assert answers.tolist() == singly
        waiting.extend(part)
        chosen = sorted(rng.choice(waiting, 20, replace=False).tolist())
        waiting = [m for m in waiting if m not in chosen]
        shuffled = rng.permutation(chosen)
        many.label(shuffled, y[shuffled], time + 0.5)
        for m in chosen:
            one.label([m], y[m : m + 1], time + 0.5)
    assert_same(many.result(), one.result())


def test_a_run_stopped_in_the_middle_shows_what_came_before():
    rows, y = stream_rows(10)
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        run=sk.RunOptions(kernels=False, keep_tape=True),
        polling=sk.Polling(n_bins=2, poll_every=1),
    )
    run = evaluator.start({"m": FailsLater(3, KeyboardInterrupt)}, classes=CLASSES)
    run.ask(rows[:1], [0])
    run.label([0], y[:1])
    run.ask(rows[1:], range(1, 10))
    for k in range(1, 3):
        run.label([k], y[k : k + 1])
    with pytest.raises(KeyboardInterrupt):
        run.label([3], y[3:4])
    assert run.n_pending == 7
    with pytest.raises(RuntimeError, match="in the middle of a row"):
        run.label([4], y[4:5])
    with pytest.raises(RuntimeError, match="in the middle of a row"):
        run.ask(rows[:1], ["more"])
    result = run.result()
    assert (result.waits.n_labelled, result.waits.n_pending) == (3, 7)
    assert result.tape.y.tolist() == [CLASSES.index(label) for label in y[:3]]
    assert result.waits.n_polls == 8 + 7


@newest_alone
def test_memory_follows_the_rows_waiting(rng):
    rows, y = stream_rows(1500)
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2, poll_every=20))
    run = evaluator.start({"last": sk.Persistent()}, classes=CLASSES, max_pending=100)
    waiting = []
    for m in range(1500):
        run.ask(rows[m : m + 1], [m])
        waiting = [*waiting, m][-100:]
        if m % 3:  # the others are dropped in the end
            which = int(rng.integers(len(waiting)))
            one = waiting.pop(which)
            run.label([one], y[one : one + 1])
        assert run.n_pending == len(waiting)
    (state,) = run._engine.states
    assert state.pending.numbers().tolist() == waiting
    assert len(state.pending.is_pending) <= 200
    store = run._engine._store
    assert len(store) == len(waiting)
    assert sum(len(segment.numbers) for segment in store._segments) <= 200
    run.result()
    assert len(run._scoring._answers) <= 100 * (1 + 100 / 20 * 3)
    assert not run._scoring.steps
    assert len(run._ids._row_of) == len(waiting)
    assert run.result().waits.n_dropped == 1500 - 1000 - len(waiting)


@pytest.mark.parametrize(("n", "t", "newest"), [(1, 9, 4), (1, 10, 5), (3, 12, 7), (7, 12, 7)])
def test_rows_asked_after_a_stream_whose_labels_fall_due(n, t, newest):
    y = np.arange(10) % 2
    run = sk.DelayedEvaluator("accuracy", delay=5, polling=sk.Polling(poll_every=2)).start(
        sk.Persistent(), classes=[0, 1]
    )
    run.feed(Chunk.of(np.zeros((10, 1)), y))
    answers = run.ask(np.zeros((n, 1)), [f"id {k}" for k in range(n)], t)["Persistent"]
    np.testing.assert_array_equal(answers, np.full(n, y[newest]))


def test_rows_without_ids_are_refused_in_words():
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        sk.MajorityClass(), classes=["a", "b"]
    )
    with pytest.raises(TypeError, match=r"ids is missing: label\(\) finds the waiting rows"):
        run.ask([[0.0]], t=1)


def frames_of(rows, y, arrival, label_time, low, high, weight=None):
    """Rows and labels of a period as frames; labels not in the order of time."""
    pytest.importorskip("pandas")  # or polars
    new = np.flatnonzero((arrival > low) & (arrival <= high))
    labels = np.flatnonzero((label_time > low) & (label_time <= high) & np.isfinite(label_time))
    labels = np.random.default_rng(0).permutation(labels)
    come = {"order": [f"id {m}" for m in labels], "time": label_time[labels], "sold": y[labels]}
    if weight is not None:
        come["w"] = weight[labels]
    named = {f"x{j}": rows[new, j] for j in range(rows.shape[1])}
    return {"time": arrival[new], **named, "order": [f"id {m}" for m in new]}, come


@pytest.mark.parametrize("weighted", [False, True])
@given(st.integers(0, 50), st.integers(-1, 60), st.booleans())
@examples(6)
def test_frames_of_rows_and_labels_are_the_events_in_their_order(pd, weighted, seed, cut, loop):
    rows, y = stream_rows(40, seed)
    arrival, label_time = times_of(40, seed)
    label_time[::7] = np.inf
    weight = np.resize([1.0, 0.5, 0.0, 2.0], 40) if weighted else None
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        random_state=0,
        run=sk.RunOptions(kernels=not loop, keep_tape=True),
        polling=sk.Polling(n_bins=3, poll_every=2),
    )
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    one_by_one = evaluator.start(models, classes=CLASSES)
    frame = pd.DataFrame(rows, columns=["x0", "x1", "x2"])
    go_on(one_by_one, events_of(arrival, label_time), frame, y, weight)
    run = evaluator.start(models, classes=CLASSES)
    names = {"id": "order", "label": "sold", "sample_weight": "w" if weighted else None}
    for low, high in ((-1, cut), (cut, np.inf)):
        pair = frames_of(rows, y, arrival, label_time, low, high, weight)
        run.update(*pair, **names)
        run = pickle.loads(pickle.dumps(run))
    found, expected = run.result(), one_by_one.result()
    assert_same(found, expected)
    assert found.waits.n_pending == expected.waits.n_pending == np.isinf(label_time).sum()
    assert found.waits.n_never == 0


def test_an_evaluation_goes_on_as_a_live_run():
    rows, y = stream_rows(60)
    arrival, label_time = times_of(60)
    label_time[50:] += 1000  # not known yet
    evaluator = sk.DelayedEvaluator(
        "accuracy", run=sk.RunOptions(keep_tape=True), polling=sk.Polling(n_bins=2, poll_every=None)
    )
    past = evaluator.evaluate(
        {"last": sk.Persistent()}, rows, y, arrival=arrival, label_time=label_time, classes=CLASSES
    )
    run = evaluator.start({"last": sk.Persistent()}, classes=CLASSES)
    rows_of_past, labels = frames_of(rows, y, arrival, label_time, -1, 900)
    names = {"id": "order", "label": "sold"}
    run.update(rows_of_past, labels, **names)
    assert run.n_pending == 10
    run.label(["id 55"], [y[55]], 950)
    order = np.argsort(label_time[50:], kind="stable")
    ids = [f"id {50 + m}" for m in order if m != 5]
    times = [label_time[int(one[3:])] for one in ids]
    run.update(labels={"id": ids, "time": times, "label": [y[int(one[3:])] for one in ids]})
    assert run.n_pending == 0
    first = slice(0, 50)
    assert (
        run.result().predictions("last", every_row=True)[first]
        == past.predictions("last", every_row=True)[first]
    ).all()


def test_mistakes_in_frames_change_nothing(pd):
    rows = {"id": [1, 2], "time": [5, 3], "x": [0.1, 0.2]}
    run = sk.DelayedEvaluator("accuracy").start(sk.Persistent(), classes=CLASSES)
    mistakes = [
        ((rows, {"id": [1], "time": [4], "label": ["up"]}), {}, "id 1 comes at 4, before its row"),
        ((rows, {"id": [1, 1], "time": [6, 7], "label": ["up"] * 2}), {}, "1 occurs twice"),
        ((rows, {"id": [3], "time": [6], "label": ["up"]}), {}, "No row of id 3 waits"),
        ((rows, {"id": [1], "time": [np.nan], "label": ["up"]}), {}, "time of labels.0. is nan"),
        ((rows, {"id": [1], "time": [6], "label": ["off"]}), {}, "'off'"),
        ((rows,), {"id": "key"}, "id names the column 'key', which is not in rows"),
        (([[1, 2]],), {}, "rows is a list"),
        (({**rows, "label": ["up"] * 2},), {}, "rows has the column 'label', which is the label"),
    ]
    for frames, options, message in mistakes:
        with pytest.raises((ValueError, KeyError, TypeError), match=message):
            run.update(*frames, **options)
        assert run.n_rows == 0
    run.update(rows, {"id": [2], "time": [9], "label": ["up"]})
    assert (run.n_rows, run.n_pending) == (2, 1)
    with pytest.raises(ValueError, match=r"time of rows\[0\] is 8, but the last event was at 9"):
        run.update({"id": [4], "time": [8], "x": [0.3]})


@pytest.mark.parametrize("numbers", [True, False])
def test_every_row_of_a_call_has_its_own_time(numbers):
    rows, y = stream_rows(3)
    day = np.datetime64("2026-01-01T00:00")
    t = [0, 2, 7] if numbers else [day, day + 2, day + 7]
    late = 9 if numbers else day + 9
    results = []
    for together in (True, False):
        evaluator = sk.DelayedEvaluator("accuracy", n_warmup=0, run=sk.RunOptions(keep_tape=True))
        run = evaluator.start(sk.Persistent(), classes=CLASSES)
        if together:
            run.ask(rows, [0, 1, 2], t)
        else:
            for m in range(3):
                run.ask(rows[[m]], [m], t[m])
        results.append(run.label([0, 1, 2], y, late).result())
    assert_same(*results)
    assert results[0].waits.delays == results[1].waits.delays
    run = sk.DelayedEvaluator("accuracy").start(sk.Persistent(), classes=CLASSES)
    with pytest.raises(ValueError, match=r"t\[1\] is .*, but the last event was at"):
        run.ask(rows, [0, 1, 2], t[::-1][1:] + t[:1])
    with pytest.raises(ValueError, match=r"t\[1\] is (nan|NaT), which is not a time"):
        run.ask(rows, [0, 1, 2], [t[0], np.nan if numbers else np.datetime64("NaT"), t[2]])
    with pytest.raises(ValueError, match="t has 2 times, but there are 3 rows"):
        run.ask(rows, [0, 1, 2], t[:2])
    assert run.n_rows == 0


class BreaksAt(Breaks):
    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(np.asarray(X), y, classes)


def test_with_an_error_score_frames_give_what_single_events_give():
    n = 20
    rows, y = _models.numbered_rows(n, 3), np.resize(["up", "down"], n)
    arrival, label_time = np.arange(0.0, 2 * n, 2), np.arange(0.0, 2 * n, 2) + 7
    models = {"breaks": BreaksAt(at=9), "fine": sk.Persistent()}
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        error_score=0.0,
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=2, poll_every=2),
    )
    expected = evaluator.start(models, classes=CLASSES)
    for time, m, is_label in events_of(arrival, label_time):
        if is_label:
            expected.label([f"id {m}"], y[m : m + 1], time)
        else:
            expected.ask(rows[m : m + 1], [f"id {m}"], time)
    run = evaluator.start(models, classes=CLASSES)
    run.update(*frames_of(rows, y, arrival, label_time, -1, 99), id="order", label="sold")
    with pytest.warns(Warning, match="'breaks' failed while training on row 9"):
        assert_same(run.result(), expected.result())
    assert run.n_pending == 0


def test_times_go_on_from_call_to_call(tmp_path):
    times = np.datetime64("2025-01-01", "us") + np.arange(6) * np.timedelta64(1, "D")
    evaluator = sk.PrequentialEvaluator("accuracy", forgetting="window:2D", record_every="1D")
    run = evaluator.start(sk.Persistent(), classes=[0, 1])
    X, y = np.zeros((6, 1)), [0, 1, 1, 0, 0, 0]
    for k in range(0, 6, 2):
        run.update(X[k : k + 2], y[k : k + 2], arrival=times[k : k + 2])
        run.save(tmp_path / "run")
        run = sk.load_run(tmp_path / "run")
    result = run.result()
    whole = evaluator.evaluate(sk.Persistent(), X, y, arrival=times)
    np.testing.assert_array_equal(result.times, whole.times)
    np.testing.assert_array_equal(result.curve("Persistent"), whole.curve("Persistent"))
    with pytest.raises(ValueError, match="goes back at row 6"):
        run.update(X[:1], y[:1], arrival=times[:1])
    with pytest.raises(ValueError, match="pass arrival="):
        run.update(X[:1], y[:1])
    assert run.result().n_rows == 6
