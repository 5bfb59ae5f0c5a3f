"""Delayed labels: against an oracle of events, prequential evaluation, and live use."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import MultinomialNB

import skstream as sk
from skstream.core.engine.run import Engine
from skstream.core.evaluators.delayed_scoring import Shown, answers_by_bin
from skstream.core.evaluators.delayed_times import Clock, DelayCounts, LabelledDrifts
from skstream.core.rows.arrays import ArrayStream
from skstream.core.rows.stream import as_drifts
from skstream.streams import SEA, Drift, as_stream
from tests._examples import examples
from tests.evaluation import _delayed_oracle
from tests.evaluation._delayed_oracle import by_bin
from tests.evaluation._late_rows import events_of, go_on, stream_rows

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(40, 3))).round(2)
Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 40)]


@st.composite
def delays(draw, max_rows=25):
    n = draw(st.integers(2, max_rows))
    gaps = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    arrival = np.cumsum(gaps).astype(float)
    wait = draw(
        st.lists(st.one_of(st.integers(0, 15), st.just(np.inf)).map(float), min_size=n, max_size=n)
    )
    return arrival, arrival + np.asarray(wait)


@pytest.mark.parametrize("model", [MultinomialNB(), SGDClassifier(), sk.Persistent()])
@given(delays(), st.integers(1, 7), st.one_of(st.none(), st.integers(1, 4)))
@examples(15)
def test_answers_bins_and_counts_are_those_of_the_oracle(model, times, n_bins, every):
    from sklearn.base import clone

    arrival, label_time = times
    n = len(arrival)
    order, table, n_polls = _delayed_oracle.evaluate(
        clone(model),
        X[:n],
        Y[:n],
        arrival,
        label_time,
        classes=np.unique(Y),
        n_bins=n_bins,
        poll_every=every,
        reduce="dominant",
    )
    for engine in ("auto", "loop"):
        evaluator = sk.DelayedEvaluator(
            "accuracy",
            error_score="raise",
            run=sk.RunOptions(kernels=engine == "auto"),
            polling=sk.Polling(n_bins=n_bins, poll_every=every),
        )
        run_result = evaluated(evaluator, model, n, arrival, label_time)
        answers = run_result.tape.answers["m"][0]
        found = [[None if c < 0 else run_result.classes[c] for c in row] for row in answers]
        assert found == table
        assert run_result.classes[run_result.tape.y].tolist() == Y[order].tolist()
        assert run_result.waits.n_polls == n_polls
        assert run_result.waits.n_labelled == len(order)
        assert run_result.waits.n_never == n - len(order)
        assert run_result.waits.n_unanswered == sum(row[0] is None for row in table)
        assert run_result.waits.n_pending == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def evaluated(evaluator, model, n, arrival, label_time, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short streams leave measures undefined
        return evaluator.evaluate(
            {"m": model},
            X[:n],
            Y[:n],
            arrival=arrival,
            label_time=label_time,
            classes=np.unique(Y),
            **options,
        )


@given(delays(), st.integers(1, 30))
@examples(25)
def test_chunks_change_nothing(times, chunk_size):
    import warnings

    arrival, label_time = times
    n = len(arrival)
    evaluator = sk.DelayedEvaluator(
        ["accuracy", "kappa_temporal"], polling=sk.Polling(n_bins=4, poll_every=2)
    )
    whole = evaluated(evaluator, SGDClassifier(), n, arrival, label_time)
    stream = as_stream(X[:n], Y[:n], arrival=arrival, label_time=label_time, chunk_size=chunk_size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cut = evaluator.evaluate({"m": SGDClassifier()}, stream, classes=np.unique(Y))
    assert cut.tape.answers["m"].tolist() == whole.tape.answers["m"].tolist()
    np.testing.assert_array_equal(
        cut.curve("m", "kappa_temporal"), whole.curve("m", "kappa_temporal")
    )
    for name, values in whole.waits.poll_costs.items():
        np.testing.assert_array_equal(cut.waits.poll_costs[name], values)


@pytest.mark.parametrize("n_warmup", [1, 5])
def test_no_delay_is_prequential(n_warmup):
    rows, y = stream_rows(300)
    models = {"sgd": SGDClassifier(), "nb": MultinomialNB(), "last": sk.Persistent()}
    delayed = sk.DelayedEvaluator(
        delay=0, n_warmup=n_warmup, polling=sk.Polling(n_bins=3)
    ).evaluate(models, rows, y)
    plain = sk.PrequentialEvaluator(n_warmup=n_warmup).evaluate(models, rows, y)
    assert delayed.scores == plain.scores
    for name in models:
        answers = delayed.tape.answers[name][0]
        assert (answers == plain.tape.answers[name][0][:, None]).all()
        np.testing.assert_array_equal(
            delayed.curve(name, "kappa_m")[:, 0, 0], plain.curve(name, "kappa_m")[:, 0]
        )


def test_each_labelled_row_counts_once_in_every_bin():
    rows, y = stream_rows(200)
    wait = np.random.default_rng(1).integers(0, 40, 200).astype(float)
    wait[::9] = np.inf
    result = sk.DelayedEvaluator(
        "accuracy", delay=wait, polling=sk.Polling(n_bins=6, poll_every=3)
    ).evaluate({"m": sk.MajorityClass()}, rows, y)
    answers = result.tape.answers["m"][0]
    answered = answers[:, 0] >= 0
    assert ((answers >= 0) == answered[:, None]).all()
    right = answers[answered] == result.tape.y[answered][:, None]
    np.testing.assert_allclose(result.by_bin("m", "accuracy"), right.mean(axis=0), rtol=1e-12)
    assert result.summary("accuracy")["m"] == pytest.approx(result.by_bin("m", "accuracy").mean())
    first = result.summary("accuracy", weights="first")["m"]
    assert first == result.by_bin("m", "accuracy")[0]
    both = result.summary("accuracy", weights="first_and_last")["m"]
    assert both == pytest.approx(result.by_bin("m", "accuracy")[[0, -1]].mean())
    with pytest.raises(ValueError, match="weights must be one of"):
        result.summary("accuracy", weights="middle")


def test_the_persistent_baseline_knows_what_was_known():
    rows, y = stream_rows(300)
    evaluator = sk.DelayedEvaluator(
        "kappa_temporal",
        delay=20,
        polling=sk.Polling(n_bins=2, poll_every=None, previous_label="known_at_arrival"),
    )
    bins = evaluator.evaluate({"last": sk.Persistent()}, rows, y).by_bin("last", "kappa_temporal")
    assert bins.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_regression_takes_means_over_time(rng):
    rows = rng.normal(size=(60, 2))
    y = rows @ [1.0, -2.0]
    arrival = np.arange(60.0)
    label_time = arrival + rng.integers(0, 12, 60)
    order, table, _ = _delayed_oracle.evaluate(
        SGDRegressor(),
        rows,
        y,
        arrival,
        label_time,
        classes=None,
        n_bins=4,
        poll_every=2,
        reduce="mean",
    )
    evaluator = sk.DelayedEvaluator(polling=sk.Polling(n_bins=4, poll_every=2))
    result = evaluator.evaluate(
        {"sgd": SGDRegressor(), "mean": sk.MeanRegressor()}, rows, y, label_time=label_time
    )
    expected = np.array([[np.nan if a is None else a for a in row] for row in table])
    np.testing.assert_allclose(result.tape.answers["sgd"][0], expected, rtol=1e-9, equal_nan=True)
    assert list(result.scores["sgd"]) == ["mae", "rmse", "r2"]
    assert (result.tape.y == y[order]).all()


def test_features_may_change_while_a_row_waits():
    rows, y = stream_rows(80)

    def features(numbers, times):
        return rows[numbers] * (1 + 0.1 * (times - numbers))[:, None]

    still = sk.DelayedEvaluator("accuracy", delay=9, polling=sk.Polling(n_bins=3, poll_every=2))
    moving = sk.DelayedEvaluator(
        "accuracy", delay=9, polling=sk.Polling(n_bins=3, poll_every=2, features=features)
    )
    same = sk.DelayedEvaluator(
        "accuracy",
        delay=9,
        polling=sk.Polling(n_bins=3, poll_every=2, features=lambda numbers, times: rows[numbers]),
    )
    plain = still.evaluate({"m": SGDClassifier()}, rows, y).tape.answers["m"]
    assert (same.evaluate({"m": SGDClassifier()}, rows, y).tape.answers["m"] == plain).all()
    moved = moving.evaluate({"m": SGDClassifier()}, rows, y).tape.answers["m"]
    loop = moving.set_params(run__kernels=False).evaluate({"m": SGDClassifier()}, rows, y)
    assert (moved != plain).any()
    assert (loop.tape.answers["m"] == moved).all()


def test_dates_columns_and_functions_give_delays(pd):
    rows, y = stream_rows(60)
    hours = np.random.default_rng(0).integers(0, 30, 60)
    start = np.datetime64("2024-01-01T00:00", "ns")
    arrival = start + np.arange(60) * np.timedelta64(1, "h")
    label_time = (arrival + hours * np.timedelta64(1, "h")).copy()
    label_time[5] = np.datetime64("NaT")
    number = np.where(np.arange(60) == 5, np.inf, hours).astype(float)
    frame = pd.DataFrame(rows, columns=["u", "v", "w"])
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=4, poll_every=2))
    model = {"m": MultinomialNB()}
    expected = sk.DelayedEvaluator(
        "accuracy", delay=number, polling=sk.Polling(n_bins=4, poll_every=2)
    ).evaluate(model, rows, y)
    found = evaluator.evaluate(model, frame, y, arrival=pd.Series(arrival), label_time=label_time)
    assert found.tape.answers["m"].tolist() == expected.tape.answers["m"].tolist()
    day = sk.DelayedEvaluator(
        "accuracy", delay=datetime.timedelta(hours=7), polling=sk.Polling(n_bins=4, poll_every=2)
    )
    seven = sk.DelayedEvaluator("accuracy", delay=7, polling=sk.Polling(n_bins=4, poll_every=2))
    assert (
        day.evaluate(model, rows, y, arrival=arrival).scores
        == seven.evaluate(model, rows, y).scores
    )
    column = sk.DelayedEvaluator(
        "accuracy", delay="wait", polling=sk.Polling(n_bins=4, poll_every=2)
    )
    function = sk.DelayedEvaluator(
        "accuracy",
        delay=lambda X, arrival: X["wait"].to_numpy(),
        polling=sk.Polling(n_bins=4, poll_every=2),
    )
    frame["wait"] = number
    frame.loc[5, "wait"] = 3.0
    assert column.evaluate(model, frame, y).scores == function.evaluate(model, frame, y).scores


def test_live_mistakes_are_named():
    rows, _ = stream_rows(10)
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        SGDClassifier(), classes=["down", "up"]
    )
    run.ask(rows[:2], ["p", "q"], 5.0)
    with pytest.raises(ValueError, match="'p' is already waiting for its label"):
        run.ask(rows[:1], ["p"], 6.0)
    with pytest.raises(ValueError, match="in order of time"):
        run.ask(rows[:1], ["r"], 4.0)
    with pytest.raises(KeyError, match="never predicted"):
        run.label(["r"], ["up"], 6.0)
    with pytest.raises(ValueError, match="'sideways'"):
        run.label(["p"], ["sideways"], 6.0)
    with pytest.raises(ValueError, match="2 ids, but 1 labels"):
        run.label(["p", "q"], ["up"], 6.0)
    with pytest.raises(ValueError, match="2 rows, but 1 ids"):
        run.ask(rows[:2], ["r"], 6.0)
    with pytest.raises(ValueError, match="missing"):
        run.label(["p"], [None], 6.0)
    with pytest.raises(ValueError, match="in order of time"):
        run.label(["p"], ["up"], 4.0)
    run.label(["p"], ["up"], 6.0)
    with pytest.raises(KeyError, match="already has its label"):
        run.label(["p"], ["down"], 7.0)
    assert run.n_pending == 1


def test_corrected_labels_may_be_left_out_and_are_counted():
    rows, y = stream_rows(10)
    evaluator = sk.DelayedEvaluator(
        "accuracy", run=sk.RunOptions(keep_tape=True), polling=sk.Polling(n_bins=2)
    )
    run = evaluator.start(sk.MajorityClass(), classes=["down", "up"])
    for k in range(5):
        run.ask(rows[k : k + 1], [k]).__len__()
        run.label([k], y[k : k + 1])
    run.label([0], y[:1], on_unknown="ignore")
    waits = run.result().waits
    assert (waits.n_labelled, waits.n_relabelled) == (5, 1)
    with pytest.raises(KeyError, match="never predicted"):
        run.label([99], y[:1])


def test_too_many_pending_rows_drop_the_oldest_and_say_so():
    rows, y = stream_rows(20)
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
        SGDClassifier(), classes=["down", "up"], max_pending=3
    )
    for k in range(8):
        run.ask(rows[k : k + 1], [k])
    assert run.n_pending == 3
    with pytest.raises(KeyError, match="dropped"):
        run.label([0], y[:1])
    run.label([5, 6, 7], y[5:8])
    with pytest.warns(Warning, match="3 labels came, but all their rows had arrived before"):
        assert run.result().waits.n_dropped == 5


def test_bad_times_are_named():
    rows, y = stream_rows(5)
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2))
    arrival = [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match=r"label_time\[3\] is 2.*arrival\[3\] = 3"):
        evaluator.evaluate(
            sk.MajorityClass(), rows, y, arrival=arrival, label_time=[0.0, 1.0, 2.0, 2.0, 4.0]
        )
    with pytest.raises(ValueError, match="arrival goes back at row 2, from 1 to 0"):
        evaluator.evaluate(sk.MajorityClass(), rows, y, arrival=[0, 1, 0, 3, 4], label_time=[9] * 5)
    gap = np.array(["2020-01-01", "NaT", "2020-01-03", "2020-01-04", "2020-01-05"], "datetime64[D]")
    for times in (gap, [0.0, np.nan, 2.0, 3.0, 4.0]):
        with pytest.raises(
            ValueError, match="arrival is missing at row 1: every row needs an arrival"
        ):
            evaluator.evaluate(sk.MajorityClass(), rows, y, arrival=times, label_time=times)
    with pytest.raises(ValueError, match=r"arrival must be numbers .* Got the text 't' .*X\['t'\]"):
        evaluator.evaluate(sk.MajorityClass(), rows, y, arrival="t", label_time=[9] * 5)
    with pytest.raises(ValueError, match="pass label_time, or give the evaluator a delay"):
        evaluator.evaluate(sk.MajorityClass(), rows, y)
    with pytest.raises(ValueError, match="classes have no mean"):
        sk.DelayedEvaluator(delay=1, polling=sk.Polling(reduce="mean")).evaluate(
            sk.MajorityClass(), rows, y
        )


def test_delays_of_labelled_rows_are_summed_up():
    rows, y = stream_rows(200)
    wait = np.random.default_rng(2).integers(0, 900, 200).astype(float)
    wait[::7] = np.inf
    result = sk.DelayedEvaluator("accuracy", delay=wait, polling=sk.Polling(n_bins=2)).evaluate(
        sk.MajorityClass(), rows, y
    )
    came = wait[np.isfinite(wait)]
    assert result.waits.delays == {
        "mean": pytest.approx(came.mean(), rel=1e-12),
        "median": np.quantile(came, 0.5, method="inverted_cdf"),
        "max": came.max(),
    }
    assert f"{len(came):,} labels arrived" in str(result)
    assert "29 never labelled" in str(result)


@given(st.lists(st.floats(0, 1e15), min_size=1, max_size=50), st.integers(1, 50))
def test_the_median_delay_is_right_to_a_thousandth(values, cut):
    counts = DelayCounts()
    counts.add(np.array(values[:cut]))
    counts.add(np.array(values[cut:]))
    summary = counts.summary(Clock())
    exact = np.quantile(values, 0.5, method="inverted_cdf")
    assert summary["median"] == pytest.approx(exact, rel=1e-3)
    assert summary["max"] == max(values)
    assert min(values) <= summary["median"] <= max(values)


@given(delays(), st.integers(1, 4))
@examples(25)
def test_live_use_on_changing_features_is_the_batch_call(times, every):
    import warnings

    arrival, label_time = times
    n = len(arrival)

    def features(numbers, at):
        return X[numbers] * (1 + (at - arrival[numbers]))[:, None]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = sk.DelayedEvaluator(
            "accuracy",
            run=sk.RunOptions(keep_tape=True),
            polling=sk.Polling(n_bins=3, poll_every=every, features=features),
        )
        batch = evaluated(evaluator, MultinomialNB(), n, arrival, label_time)
        run = evaluator.start({"m": MultinomialNB()}, classes=np.unique(Y))
        result = go_on(run, events_of(arrival, label_time), X[:n], Y[:n]).result()
    assert result.tape.answers["m"].tolist() == batch.tape.answers["m"].tolist()
    assert result.waits.n_pending == batch.waits.n_never
    if np.isfinite(label_time).all():  # a live run also polls rows that get no label
        assert result.waits.n_polls == batch.waits.n_polls
    assert result.waits.n_unanswered == batch.waits.n_unanswered


def test_a_long_chunk_is_taken_in_pieces(monkeypatch):
    """A row has many answers while it waits, so memory follows the rows of a piece."""
    sizes = []
    original = Engine.execute

    def measured(engine, event, *rows):
        if rows:
            sizes.append(event.n_rows)
        return original(engine, event, *rows)

    monkeypatch.setattr(Engine, "execute", measured)
    evaluator = sk.DelayedEvaluator(
        "accuracy", delay=3, polling=sk.Polling(n_bins=1, poll_every=None)
    )
    evaluator.evaluate(sk.Persistent(), np.zeros((40_000, 1)), np.arange(40_000) % 2)
    assert sum(sizes) == 40_000
    assert max(sizes) <= 1 << 13


@pytest.mark.parametrize("chunk", [40, 7])
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_labels_that_are_known_after_the_last_arrival_are_pending(chunk, missing):
    y = Y.astype(object)
    y[33:] = None  # a label comes after 7 rows
    evaluator = sk.DelayedEvaluator(
        "accuracy", delay=7, missing_labels=missing, polling=sk.Polling(n_bins=2)
    )
    pieces = [(X[k : k + chunk], y[k : k + chunk]) for k in range(0, 40, chunk)]
    waits = evaluator.evaluate(sk.Persistent(), pieces, classes=np.unique(Y)).waits
    assert (waits.n_labelled, waits.n_pending, waits.n_never) == (33, 7, 0)
    y[32] = None
    pieces = [(X[k : k + chunk], y[k : k + chunk]) for k in range(0, 40, chunk)]
    if missing == "error":
        with pytest.raises(ValueError, match="Row 32 has no label"):
            evaluator.evaluate(sk.Persistent(), pieces, classes=np.unique(Y))
    else:
        waits = evaluator.evaluate(sk.Persistent(), pieces, classes=np.unique(Y)).waits
        assert (waits.n_labelled, waits.n_pending, waits.n_never) == (32, 7, 1)


def test_predictions_are_in_the_order_of_rows(tmp_path):
    delay = np.array([5, 0, np.inf, 1, 9, 0, np.inf, 2] * 5)
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        delay=delay,
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=2),
    )
    result = evaluator.evaluate({"nb": MultinomialNB()}, X, Y)
    result = sk.load(result.save(tmp_path / "result"))
    labelled = np.flatnonzero(np.isfinite(delay))
    order = labelled[np.lexsort((labelled, (np.arange(40) + delay)[labelled]))]
    by_label, by_row = (
        result.predictions("nb", order="labels", every_row=True),
        result.predictions("nb", every_row=True),
    )
    assert by_row.shape == (40, 4)
    assert by_label.shape == (30, 4)
    assert (by_row[order] == by_label).all()
    assert (by_row[delay == np.inf] == None).all()  # noqa: E711
    for at in (None, 0, 3):
        lines = by_row if at is None else by_row[:, at]
        there = (lines != None) if at is not None else (lines != None).all(axis=1)  # noqa: E711
        rows, answers = result.predictions("nb", bin=at)
        assert rows.tolist() == np.flatnonzero(there).tolist()
        assert answers.tolist() == lines[there].tolist() and answers.dtype.kind == Y.dtype.kind
        came, of_labels = result.predictions("nb", bin=at, order="labels")
        assert came.tolist() == [row for row in order if there[row]]
        assert of_labels.tolist() == lines[came].tolist()
    last = by_row[:, -1]
    n_scored = sum(answer is not None for answer in last)
    assert sum(last == Y) / n_scored == pytest.approx(result.scores["nb"]["accuracy"])
    with pytest.raises(ValueError, match="order must be"):
        result.predictions("nb", order="time", every_row=True)


def test_predictions_of_regressors_in_the_order_of_rows():
    y = np.arange(6.0)
    evaluator = sk.DelayedEvaluator(
        "mae", delay=[3, 0, 1, np.inf, 0, 0], polling=sk.Polling(n_bins=1)
    )
    answers = evaluator.evaluate(sk.PersistentRegressor(), np.zeros((6, 1)), y).predictions(
        "PersistentRegressor", every_row=True
    )
    np.testing.assert_array_equal(answers[:, -1], [np.nan, np.nan, 0, np.nan, 2, 4])


# -- answers by bin against exact rational arithmetic


def literal(since, answers, delay, n_bins, reduce):
    return by_bin(list(zip(since, answers, strict=True)), 0, delay, n_bins, reduce)


@st.composite
def waits(draw):
    delay = draw(st.integers(0, 20))
    n = draw(st.integers(1, 6))
    since = sorted(draw(st.lists(st.integers(0, delay), min_size=n - 1, max_size=n - 1)))
    answers = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return [0, *since], answers, delay


@pytest.mark.parametrize("reduce", ["dominant", "mean"])
@given(st.lists(waits(), min_size=1, max_size=6), st.integers(1, 9))
def test_bins_are_exact(reduce, rows, n_bins):
    shown = Shown(
        row=np.concatenate([np.full(len(s), k) for k, (s, _, _) in enumerate(rows)]),
        since=np.concatenate([np.asarray(s, dtype=float) for s, _, _ in rows]),
        answer=np.concatenate([np.asarray(a) for _, a, _ in rows]).astype(
            np.int64 if reduce == "dominant" else float
        ),
        delay=np.array([d for _, _, d in rows], dtype=float),
    )
    found = answers_by_bin(shown, n_bins, reduce, 3 if reduce == "dominant" else None)
    expected = [literal(*row, n_bins, reduce) for row in rows]
    if reduce == "dominant":
        assert found.tolist() == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_function_reduces_what_a_loop_by_hand_reduces():
    random = np.random.default_rng(0)
    delay = random.integers(0, 9, size=60).astype(float)
    waits = [
        np.append(0.0, np.sort(random.integers(0, d + 1, size=random.integers(4)))) for d in delay
    ]
    answers = [random.integers(0, 2, size=len(since)).astype(float) for since in waits]
    shown = Shown(
        np.repeat(np.arange(60), [len(since) for since in waits]),
        np.concatenate(waits),
        np.concatenate(answers),
        delay,
    )

    def share_of_ones(answers, durations):
        return 1 + np.average(answers, weights=durations if durations.any() else None)

    found = answers_by_bin(shown, 3, share_of_ones, None)
    expected = [
        [1 + mean for mean in literal(since.tolist(), values.tolist(), int(d), 3, "mean")]
        for since, values, d in zip(waits, answers, delay, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# -- where the truth of a stream changes: kept by evaluators, with the result, and drawn


DRIFTS = (Drift(100, 100), Drift(200, 250))
SEA_ROWS, SEA_LABELS = SEA(300).rows(0, 300)


class Changing(ArrayStream):
    """Rows in memory whose truth is said to change."""

    drifts = DRIFTS


CHANGING = Changing(SEA_ROWS, SEA_LABELS)


def test_a_search_keeps_them():
    search = sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [5, 50]}, metric="accuracy")
    assert search.fit(CHANGING).result_.drifts == DRIFTS


# --- in the order of labels -----------------------------------------------------------------------


def literal_drifts(drifts, rows):
    """First label of a row from the start on, and the end of the labels of rows before the end."""
    found = []
    for start, end in drifts:
        later = [k for k, row in enumerate(rows) if row >= start]
        earlier = [k + 1 for k, row in enumerate(rows) if row < end]
        if later and max(later[0], *earlier, 0) > 0:
            found.append(Drift(later[0], max(later[0], *earlier, 0)))
    return tuple(sorted(found))


@examples(40)
@given(
    rows=st.permutations(range(12)),
    n=st.integers(0, 12),
    cuts=st.lists(st.integers(0, 12), max_size=3),
    drifts=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=3),
)
def test_drifts_in_the_order_of_labels(rows, n, cuts, drifts):
    drifts = as_drifts([(start, start + width) for start, width in drifts])
    counted = LabelledDrifts(drifts)
    for piece in np.split(np.array(rows[:n], dtype=np.int64), sorted(min(c, n) for c in cuts)):
        counted.add(piece)
    assert counted.known() == literal_drifts(drifts, rows[:n])


def test_labels_that_overtake_each_other_make_an_abrupt_drift_gradual():
    delay = np.where(np.arange(300) < 90, 1, np.where(np.arange(300) < 100, 40, 5))
    delay = np.where(np.arange(300) == 299, np.inf, delay).astype(float)
    result = sk.DelayedEvaluator("accuracy", delay=delay, polling=sk.Polling(n_bins=2)).evaluate(
        sk.Persistent(), CHANGING
    )
    label_order = np.argsort(np.arange(300) + delay, kind="stable")[:299]
    assert result.drifts == literal_drifts(DRIFTS, label_order.tolist())
    assert result.drifts[0].start == 90
    assert result.drifts[0].end > 110


def test_all_labels_settled_before_the_end_leave_scores_to_probabilities():
    rows, labels = np.zeros((1000, 1)), np.arange(1000) % 2
    found = sk.DelayedEvaluator(["log_loss", "accuracy"], delay=600.0).evaluate(
        {"m": sk.MajorityClass()}, rows, labels
    )
    assert np.isfinite(found.scores["m"]["log_loss"])
