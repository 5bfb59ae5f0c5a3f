"""The laws of the design over every evaluator, found by introspection.

Each law is a function that raises AssertionError for an evaluation that breaks it; a broken twin
shows that it would be noticed.
"""

import pickle
import warnings
from inspect import signature
from itertools import pairwise

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

import skstream
import skstream as sk
import skstream.forgetting as mechanisms
from skstream.core.rows.chunk import Chunk
from tests._examples import examples, newest_alone
from tests.evaluation._models import Diary
from tests.metrics._streams import MECHANISMS

EVALUATORS = {
    "PrequentialEvaluator": [{}, {"batch_size": 4, "n_warmup": 3}],
    "KFoldEvaluator": [
        {"n_folds": 2, "strategy": "bootstrap"},
        {"n_folds": 2, "strategy": "cross:held_out"},
        {"n_folds": 3, "strategy": "split:trained"},
    ],
    "HoldoutEvaluator": [
        {"holdout": "next", "every": 4, "batch_size": 2},
        {"holdout": (np.eye(3), np.array(["a", "b", "c"])), "every": 4, "batch_size": 2},
    ],
    "DelayedEvaluator": [
        {"delay": 3, "polling": sk.Polling(n_bins=2, poll_every=2)},
        {"delay": 0, "polling": sk.Polling(n_bins=1)},
    ],
}
FORGETTING = {
    "Cumulative": sk.Cumulative(),
    "SlidingWindow": sk.SlidingWindow(7),
    "TumblingWindow": sk.TumblingWindow(7),
    "FadingFactor": sk.FadingFactor(0.9),
    "AdaptiveWindow": sk.AdaptiveWindow(0.3),
}
MODELS = {
    "sgd": SGDClassifier(),
    "log": SGDClassifier(loss="log_loss", penalty="l1"),
    "perceptron": Perceptron(),
    "multinomial": MultinomialNB(),
    "bernoulli": BernoulliNB(),
    "last": sk.Persistent(),
    "season": sk.Persistent(lag=9),
    "majority": sk.MajorityClass(),
    "window": sk.MajorityWindow(5),
    "scaled": sk.make_stream_pipeline(StandardScaler(), SGDClassifier()),
    "corrected": sk.TemporalCorrection(MultinomialNB()),
    "augmented": sk.TemporallyAugmented(SGDClassifier(), n_lags=2),
    "predicted": sk.TemporallyAugmented(MultinomialNB(), previous_label="predicted"),
}
# One of each way through the engine: kernels and the loop agree about all of them (L1).
FEW = {
    name: model
    for name, model in MODELS.items()
    if name not in ("log", "perceptron", "bernoulli", "majority")
}
METRICS = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "f1_macro", "geometric_accuracy"]
CASES = [(name, options) for name, all_options in EVALUATORS.items() for options in all_options]

every_evaluator = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=[f"{n}-{k}" for k, (n, _) in enumerate(CASES)]
)


def test_no_evaluator_and_no_forgetting_is_forgotten():
    public = [name for name in skstream.__all__ if name.endswith("Evaluator")]
    assert sorted(public) == sorted(EVALUATORS)
    known = {name: getattr(mechanisms, name) for name in mechanisms.__all__}
    kinds = [n for n, kind in known.items() if isinstance(kind, type) and n != "Forgetting"]
    assert sorted(kinds) == sorted(FORGETTING)
    # Values under each are compared with their definition in tests/metrics.
    assert sorted({type(one).__name__ for one in MECHANISMS.values()}) == sorted(kinds)


@st.composite
def small_streams(draw, max_rows=30):
    n = draw(st.integers(3, max_rows))
    seed = draw(st.integers(0, 2**16))
    n_classes = draw(st.integers(2, 4))
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n, 3))).round(1)
    y = np.array(["d", "c", "b", "a"])[rng.integers(0, n_classes, n)]
    weight = draw(st.none() | st.just(rng.choice([0.0, 1.0, 2.0], n)))
    return X, y, weight


def made(name, **options):
    """Evaluator with the parameters that it has: sets of held-out rows are scored as wholes."""
    kind = getattr(skstream, name)
    known = signature(kind).parameters
    given = {"forgetting": FORGETTING, **options}
    return kind(METRICS, **{key: value for key, value in given.items() if key in known})


def evaluate(name, options, X, y=None, weight=None, models=MODELS, **more):
    evaluator = made(name, random_state=0, **options, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short streams leave measures undefined
        return evaluator.evaluate(models, X, y, classes=["a", "b", "c", "d"], sample_weight=weight)


def assert_same(first, second, rtol=1e-12):
    assert first.model_names == second.model_names
    np.testing.assert_array_equal(first.checkpoints, second.checkpoints)
    for model in first.model_names:
        np.testing.assert_array_equal(first.tape.answers[model], second.tape.answers[model])
        for forgetting in first.forgetting_names:
            for metric in first.metric_names:
                np.testing.assert_allclose(
                    first.curve(model, metric, forgetting=forgetting),
                    second.curve(model, metric, forgetting=forgetting),
                    rtol=rtol,
                    atol=1e-12,
                    equal_nan=True,
                )


@every_evaluator
@given(stream=small_streams(max_rows=20))
@examples(3)
def test_l1_kernels_give_the_answers_of_the_loop(name, options, stream):
    few = {"forgetting": FORGETTING["FadingFactor"]}  # scores know nothing of the engine
    by_kernels = evaluate(name, options, *stream, **few)
    assert_same(
        by_kernels, evaluate(name, options, *stream, run=sk.RunOptions(kernels=False), **few)
    )


@newest_alone
@every_evaluator
@given(stream=small_streams(max_rows=20), data=st.data())
@examples(3)
def test_l2_l6_l7_chunks_final_numbers_and_resumed_runs(name, options, stream, data):
    """The laws that hold a call over the whole stream against something share the call."""
    X, y, weight = stream
    whole = evaluate(name, options, X, y, weight, FEW)
    cuts = data.draw(st.sets(st.integers(1, len(y) - 1), max_size=6))
    check_l2_the_cutting_into_chunks_changes_nothing(name, options, stream, cuts, whole)
    check_l6_final_numbers_are_those_of_the_whole_batch(whole)
    k = data.draw(st.integers(0, len(y)))
    check_l7_a_run_can_be_saved_and_resumed_anywhere(name, options, stream, k, whole)


def check_l2_the_cutting_into_chunks_changes_nothing(name, options, stream, cuts, whole):
    X, y, weight = stream
    bounds = [0, *sorted(cuts), len(y)]

    def chunks():
        for begin, end in pairwise(bounds):
            meta = {} if weight is None else {"sample_weight": weight[begin:end]}
            yield X[begin:end], y[begin:end], meta

    assert_same(
        whole, evaluate(name, options, chunks, models=FEW, run=sk.RunOptions(keep_tape=True))
    )


@newest_alone
@every_evaluator
def test_l3_order_and_company_of_models_change_nothing(name, options, rng):
    X, y = np.abs(rng.normal(size=(30, 3))), np.array(["a", "b", "c"])[rng.integers(0, 3, 30)]
    together = evaluate(name, options, X, y)
    for model in ("sgd", "scaled", "predicted"):
        alone = evaluate(name, options, X, y, models={model: MODELS[model]})
        assert (alone.tape.answers[model] == together.tape.answers[model]).all()


@newest_alone
@every_evaluator
@given(stream=small_streams(max_rows=20), data=st.data())
@examples(2)
def test_l4_the_future_cannot_reach_the_past(name, options, stream, data):
    X, y, _ = stream
    n = len(y)
    t = data.draw(st.integers(1, n - 1))
    X_other, y_other = X.copy(), y.copy()
    X_other[t:] += 1.0
    y_other[t:] = data.draw(st.sampled_from(["a", "b", "c", "d"]))
    first = evaluate(name, options, X, y, models=FEW, record_every=1)
    second = evaluate(name, options, X_other, y_other, models=FEW, record_every=1)
    # Under delay, rows labelled by time t were all asked for the last time by then.
    until = t if name != "DelayedEvaluator" else max(0, t - options["delay"])
    answered = until
    if first.tape.sets is not None:
        ends, rows = first.tape.sets
        answered = int(ends[rows <= t].max(initial=0))
    for model in FEW:
        one, other = first.tape.answers[model], second.tape.answers[model]
        np.testing.assert_array_equal(one[:, :answered], other[:, :answered])
        for forgetting in first.forgetting_names:
            for metric in METRICS:
                known = first.checkpoints <= until
                np.testing.assert_array_equal(
                    first.curve(model, metric, forgetting=forgetting)[known],
                    second.curve(model, metric, forgetting=forgetting)[known],
                )


@newest_alone
@every_evaluator
def test_l5_memory_does_not_grow_with_the_stream(name, options, rng):
    if "delay" in options:
        options = {**options, "polling": sk.Polling(n_bins=1, poll_every=None)}
    if "every" in options:  # the curves have a value at each checkpoint
        options = {**options, "every": 3000}
    evaluator = made(name, run=sk.RunOptions(keep_tape=False), record_every=10**6, **options)
    models = {"last": sk.Persistent()}
    if "batch_size" not in options:  # batches take the loop
        models["sgd"] = SGDClassifier()
    run = evaluator.start(models, classes=["a", "b", "c", "d"])
    sizes = []
    for _ in range(6):
        X = np.abs(rng.normal(size=(9000, 3)))
        y = np.array(["a", "b", "c"])[rng.integers(0, 3, 9000)]
        run.feed(Chunk.of(X, y))
        sizes.append(len(pickle.dumps(run)))
    # Buffers fill and empty, how often depends on the pace; what piles up is three times as large.
    assert sizes[-1] < 2 * max(sizes[:2])


def check_l6_final_numbers_are_those_of_the_whole_batch(result):
    tape = result.tape
    if not len(result.checkpoints):
        return
    for model in FEW:
        for fold in range(result.n_folds):
            answers = tape.answers[model][fold]
            answers = answers if answers.ndim == 1 else answers[:, -1]
            scored = (answers >= 0) & (tape.y >= 0)
            w = np.ones(len(tape.y)) if tape.weight is None else tape.weight
            scored &= w > 0
            if tape.sets is not None:  # the last set alone
                scored[: [0, *tape.sets[0]][-2]] = False
            final = result.curve(model, "accuracy")[-1, fold]
            final = final if np.ndim(final) == 0 else final[-1]
            if not scored.any():
                assert np.isnan(final)
                continue
            truth, given_answers, w = tape.y[scored], answers[scored], w[scored]
            expected = accuracy_score(truth, given_answers, sample_weight=w)
            assert final == pytest.approx(expected, rel=1e-12)
            kappa = result.curve(model, "kappa")[-1, fold]
            kappa = kappa if np.ndim(kappa) == 0 else kappa[-1]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                twin = cohen_kappa_score(truth, given_answers, sample_weight=w, labels=[0, 1, 2, 3])
            np.testing.assert_allclose(kappa, twin, rtol=1e-9, atol=1e-9, equal_nan=True)


def check_l7_a_run_can_be_saved_and_resumed_anywhere(name, options, stream, k, whole):
    X, y, weight = stream
    evaluator = made(name, random_state=0, run=sk.RunOptions(keep_tape=True), **options)

    def meta(part):
        return {} if weight is None else {"sample_weight": weight[part]}

    run = evaluator.start(FEW, classes=["a", "b", "c", "d"])
    if k:
        run.feed(Chunk.of(X[:k], y[:k], meta(slice(0, k))))
    run = pickle.loads(pickle.dumps(run))
    if k < len(y):
        run.feed(Chunk.of(X[k:], y[k:], meta(slice(k, None))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        resumed = run.close().result()
    assert_same(whole, resumed, rtol=0)


@newest_alone
@every_evaluator
def test_weights_of_one_are_no_weights(name, options, rng):
    X, y = np.abs(rng.normal(size=(25, 3))), np.array(["a", "b"])[rng.integers(0, 2, 25)]
    results = [evaluate(name, options, X, y, weight, FEW) for weight in (None, np.ones(25))]
    assert_same(*results)


def changes_when_asked(model):
    rng = np.random.default_rng(0)
    X, y = np.abs(rng.normal(size=(30, 3))), np.array(["a", "b"])[rng.integers(0, 2, 30)]
    model.partial_fit(X, y, classes=["a", "b"])
    before = joblib.hash(model)
    model.predict(X)
    return joblib.hash(model) != before


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_asking_changes_nothing_to_any_depth(model):
    assert not changes_when_asked(clone(model))


# Broken twins: what the laws above would say of them.


class LearnsWhenAsked(Diary):
    """Counts how often it was asked, and answers by it."""

    def predict(self, X):
        self.asked_ = getattr(self, "asked_", 0) + 1
        return np.repeat(self.classes_[self.asked_ % 2], len(X))


class AnswersByTheCall(Diary):
    """Answers by the number of rows in the call: what a chunk is shows."""

    def predict(self, X):
        return np.repeat(self.classes_[len(X) % 2], len(X))


def test_a_model_that_learns_when_asked_is_noticed():
    assert changes_when_asked(LearnsWhenAsked())


def test_the_engine_hides_the_size_of_chunks_even_from_models_that_look_at_it(rng):
    X, y = np.abs(rng.normal(size=(30, 3))), np.array(["a", "b"])[rng.integers(0, 2, 30)]
    models = {"m": AnswersByTheCall()}
    for name, options in CASES:
        whole = evaluate(name, options, X, y, models=models)
        cut = evaluate(name, options, sk.as_stream(X, y, chunk_size=4), models=models)
        assert (whole.tape.answers["m"] == cut.tape.answers["m"]).all()


def test_answers_that_differ_are_noticed(rng):
    X, y = np.abs(rng.normal(size=(40, 3))), np.array(["a", "b"])[rng.integers(0, 2, 40)]
    first = evaluate("PrequentialEvaluator", {}, X, y)
    second = evaluate("PrequentialEvaluator", {}, X, y)
    second.tape.answers["sgd"][0, 20] ^= 1
    with pytest.raises(AssertionError):
        assert_same(first, second)
    third = evaluate("PrequentialEvaluator", {"n_warmup": 2}, X, y)
    with pytest.raises(AssertionError):
        assert_same(first, third)
