"""``previous_label="predicted"``: the model's own answers stand in for labels that are late."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import MinMaxScaler

import skstream as sk
from tests._examples import examples
from tests.evaluation import _delayed_oracle
from tests.evaluation.test_delayed import X as DELAYED_X
from tests.evaluation.test_delayed import Y as DELAYED_Y
from tests.evaluation.test_delayed import delays, evaluated

RNG = np.random.default_rng(0)
N = 70
X = RNG.random((N, 3))
Y = np.array(["a", "b", "c"])[np.repeat(RNG.integers(0, 3, N // 2), 2)]
CLASSES = ["a", "b", "c"]
SGD = SGDClassifier(loss="log_loss", random_state=0)


def models(previous_label):
    """Models whose answers follow the labels before, alone and nested."""
    augmented = sk.TemporallyAugmented(MultinomialNB(), n_lags=2, previous_label=previous_label)
    corrected = sk.TemporalCorrection(SGD, fading_factor=0.9, previous_label=previous_label)
    return {
        "augmented": augmented,
        "corrected": corrected,
        "piped": sk.make_stream_pipeline(MinMaxScaler(clip=True), clone(corrected)),
        "wrapped": sk.TemporallyAugmented(clone(corrected)),
    }


PREDICTED, KNOWN = models("predicted"), models("known")


@pytest.mark.parametrize("name", PREDICTED)
def test_row_by_row_it_is_known_and_as_fast(name) -> None:
    for evaluator in (
        sk.PrequentialEvaluator("accuracy", random_state=0),
        sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0),
        sk.PrequentialEvaluator("accuracy", random_state=0, run=sk.RunOptions(kernels=False)),
    ):
        result = evaluator.evaluate({"m": PREDICTED[name]}, X[:40], Y[:40])
        known = evaluator.evaluate({"m": KNOWN[name]}, X[:40], Y[:40])
        np.testing.assert_array_equal(result.tape.answers["m"], known.tape.answers["m"])
        assert result.paths == known.paths
        assert ("kernel" in str(result.paths)) == (evaluator.run is None)
    method = "predict_proba"
    loop, kernel = (
        sk.prequential_predict(
            PREDICTED[name], X[:40], Y[:40], method=method, kernels=engine == "auto"
        )
        for engine in ("loop", "auto")
    )
    np.testing.assert_allclose(kernel, loop, rtol=1e-9)


@pytest.mark.parametrize("name", PREDICTED)
def test_within_a_batch_answers_stand_in_for_labels(name) -> None:
    model, expected = clone(PREDICTED[name]), []
    model.partial_fit(X[:10], Y[:10], classes=CLASSES)
    for begin in range(10, N, 10):
        batch = slice(begin, begin + 10)
        expected.extend(model.predict(X[batch]))  # one call: answers stand in for labels
        model.partial_fit(X[batch], Y[batch])
    options = {"batch_size": 10, "n_warmup": 10, "random_state": None}
    answers = sk.prequential_predict(PREDICTED[name], X, Y, **options)
    np.testing.assert_array_equal(answers, expected)
    chunks = [(X[i : i + 3], Y[i : i + 3]) for i in range(0, N, 3)]
    again = sk.prequential_predict(PREDICTED[name], chunks, classes=CLASSES, **options)
    np.testing.assert_array_equal(again, expected)
    known = sk.prequential_predict(KNOWN[name], X, Y, **options)
    assert (known != answers).any()


@pytest.mark.parametrize("name", PREDICTED)
@given(delays(max_rows=10), st.one_of(st.none(), st.integers(1, 4)))
@examples(6)
def test_under_delay_rows_waiting_are_answered_first(name, times, every) -> None:
    arrival, label_time = times
    n = len(arrival)
    _, table, _ = _delayed_oracle.evaluate(
        clone(PREDICTED[name]),
        DELAYED_X[:n],
        DELAYED_Y[:n],
        arrival,
        label_time,
        classes=CLASSES,
        n_bins=3,
        poll_every=every,
        reduce="dominant",
        chained=True,
    )
    evaluator = sk.DelayedEvaluator(
        "accuracy", random_state=0, polling=sk.Polling(n_bins=3, poll_every=every)
    )
    result = evaluated(evaluator, PREDICTED[name], n, arrival, label_time)
    expected = [[-1 if p is None else CLASSES.index(p) for p in row] for row in table]
    assert result.tape.answers["m"][0].tolist() == expected


@pytest.mark.parametrize("name", PREDICTED)
def test_rows_whose_label_never_comes_wait_as_in_a_live_run(name) -> None:
    never = np.random.default_rng(1).random(N) < 0.3
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        random_state=0,
        polling=sk.Polling(n_bins=2, poll_every=6),
        run=sk.RunOptions(keep_tape=True),
    )
    times = np.arange(N) + 5.0
    late = evaluator.evaluate(
        {"m": PREDICTED[name]}, X, Y, label_time=np.where(never, np.inf, times)
    )
    run = evaluator.start({"m": PREDICTED[name]}, classes=CLASSES)
    events = [(row, row, False) for row in range(N)]
    events += [(row + 5, row, True) for row in range(N) if not never[row]]
    for time, row, is_label in sorted(events):
        if is_label:
            run.label([row], Y[[row]], t=time)
        else:
            run.ask(X[[row]], [row], t=time)
    live = run.result()
    np.testing.assert_array_equal(late.tape.answers["m"], live.tape.answers["m"])


def test_live_answers_out_of_turn_and_refused_rows() -> None:
    warm = clone(PREDICTED["corrected"]).partial_fit(X[:20], Y[:20], classes=CLASSES)
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2, poll_every=None))
    run = evaluator.start({"m": warm}, classes=CLASSES, warm_start=True)
    first = run.ask(X[20:23], [0, 1, 2], t=0)["m"]  # nothing is learnt in this run yet
    second = run.ask(X[23:24], [3], t=1)["m"]
    np.testing.assert_array_equal([*first, *second], warm.predict(X[20:24]))
    run.label([0], Y[20:21], t=2)
    learnt = clone(warm)
    learnt.partial_fit(X[:20], Y[:20], classes=CLASSES).partial_fit(X[20:21], Y[20:21])
    bad = X[24:27].copy()
    bad[1, 0] = np.nan
    with pytest.raises(sk.ModelError) as error:
        run.ask(bad, [4, 5, 6], t=3)
    assert error.value.row == 5
    answers = run.ask(bad[[0, 2]], [4, 6], t=3)["m"]
    expected = learnt.predict(np.concatenate([X[21:24], bad[[0, 2]]]))
    np.testing.assert_array_equal(answers, expected[-2:])
