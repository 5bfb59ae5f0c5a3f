"""The kernel of PrequentialCalibrator = its loop, for every timeline and cut."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skstream import (
    DelayedEvaluator,
    DriftReset,
    HoldoutEvaluator,
    KFoldEvaluator,
    PrequentialCalibrator,
    PrequentialEvaluator,
    load_run,
    make_stream_pipeline,
)
from skstream.drift import RandomAlarm
from skstream.engine.kernels import Declined, Task, find_kernel
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.utils._calibration_maps import METHODS
from tests._examples import examples
from tests.kernels._reference import (
    TIMELINES,
    assert_equals_loop,
    assert_same_state,
    cut,
    make_block,
    random_cuts,
    run_kernel,
    running,
)

CLASSES = np.array(["a", "b", "c"])
BAYES = IncrementalGaussianNB()
SGD = SGDClassifier(loss="log_loss", random_state=0)
MODELS = {
    **{
        method: PrequentialCalibrator(BAYES, method=method, forgetting="window:9", every=4)
        for method in METHODS
    },
    "linear": PrequentialCalibrator(SGD, forgetting="fading:0.5", every=3),
    "votes": PrequentialCalibrator(Perceptron(random_state=0), forgetting="cumulative", every=5),
    "in a pipeline": make_stream_pipeline(StandardScaler(), PrequentialCalibrator(SGD, every=1)),
    "reset": DriftReset(
        PrequentialCalibrator(BAYES, every=2), detector=RandomAlarm(0.1, warm_up=0, random_state=3)
    ),
}


@pytest.mark.parametrize("name", MODELS)
@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    weighted=st.booleans(),
    has_learnt=st.booleans(),
)
@examples(2)
def test_kernel_is_the_loop(
    name: str, seed: int, timeline: str, method: str, weighted: bool, has_learnt: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 40)), int(rng.integers(2, 4))
    task = Task(CLASSES[:n_classes], method)
    model = copy.deepcopy(MODELS[name])
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    X, y = rng.normal(size=(n, 2)), rng.integers(0, n_classes, n)
    block = make_block(X, y, timeline, rng, weight)
    if has_learnt:
        model.partial_fit(X[:2], task.classes[y[:2]], classes=task.classes)
        model.partial_fit(X[2:9], task.classes[y[2:9]]) if n > 2 else None
    assert_equals_loop(
        model,
        block,
        task,
        random_cuts(block, rng),
        scores="predict_proba",
        rtol=1e-6,
        atol=1e-9,
        state_rtol=1e-6,
    )


@pytest.mark.parametrize("name", ["sigmoid", "isotonic", "beta", "temperature", "linear"])
def test_the_division_into_blocks_changes_no_bit(name: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    block = make_block(X, y, "polls", rng)
    task = Task(CLASSES, "predict", scores="predict_proba")
    whole, parts = (running(copy.deepcopy(MODELS[name]), task) for _ in range(2))
    expected = run_kernel(whole, [block])
    answers = run_kernel(parts, cut(block, [1, 2, 30, 31, 64]))
    assert expected.shape[1] == 4
    np.testing.assert_array_equal(answers, expected)
    for one in (whole, parts):
        one.export()
    assert_same_state(whole.estimator, parts.estimator)


def stream(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 1)).repeat(4, axis=1) + 0.5 * y[:, np.newaxis], CLASSES[y]


CALIBRATED = {
    "isotonic": PrequentialCalibrator(BAYES, method="isotonic", every=10),
    "beta": PrequentialCalibrator(BAYES, method="beta", every=10),
    "linear": PrequentialCalibrator(SGD, forgetting="fading:0.9", every=7),
}
MEASURES = ["accuracy", "log_loss"]
EVALUATORS = {
    "prequential": PrequentialEvaluator(MEASURES, random_state=0),
    "skip": PrequentialEvaluator(MEASURES, missing_labels="skip", random_state=0),
    "folds": KFoldEvaluator(MEASURES, n_folds=2, random_state=0),
    "holdout": HoldoutEvaluator(MEASURES, holdout="next", every=20, random_state=0),
    "delayed": DelayedEvaluator(MEASURES, delay=7, n_bins=3, poll_every=5, random_state=0),
}


@pytest.mark.parametrize("name", EVALUATORS)
def test_protocols_agree_between_kernel_and_loop(name: str) -> None:
    X, y = stream(60)
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], 60)
    known = {"sample_weight": weight} if name in ("prequential", "folds") else {}
    if name == "skip":
        y = np.where(np.arange(60) % 3 == 1, None, y)
        known["classes"] = CLASSES[:2]
    results = [
        clone(EVALUATORS[name])
        .set_params(engine=engine, keep_tape=True)
        .evaluate(CALIBRATED, X, y, **known)
        for engine in ("auto", "loop")
    ]
    assert set(results[0].paths.values()) == {"kernel"}
    for model in CALIBRATED:
        np.testing.assert_array_equal(*(result.tape.answers[model] for result in results))
        scores = [result.tape.scores[model] for result in results]
        np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-12)


def test_a_run_goes_on_after_saving(tmp_path: Any) -> None:
    X, y = stream(90)
    evaluator = PrequentialEvaluator("log_loss", random_state=0, keep_tape=True)
    whole = evaluator.evaluate(CALIBRATED, X, y)
    run = evaluator.start(CALIBRATED, classes=CLASSES[:2])
    run.update(X[:65], y[:65])
    run.save(tmp_path / "run")
    run = load_run(tmp_path / "run")
    run.update(X[65:], y[65:])
    for model in CALIBRATED:
        scores = [result.tape.scores[model] for result in (run.result(), whole)]
        np.testing.assert_array_equal(*scores)


def test_it_mends_naive_bayes_on_repeated_columns() -> None:
    X, y = stream(2000)
    models = {"alone": BAYES, "mended": PrequentialCalibrator(BAYES)}
    result = PrequentialEvaluator(["log_loss", "brier"], random_state=0).evaluate(models, X, y)
    for measure in ("log_loss", "brier"):
        assert result.scores["mended"][measure] < 0.9 * result.scores["alone"][measure]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (PrequentialCalibrator(DecisionTreeClassifier()), "DecisionTreeClassifier has no kernel"),
        (PrequentialCalibrator(SGD, forgetting="adwin"), "parameters that it refuses"),
        (PrequentialCalibrator(SGDClassifier(average=True)), "average=True"),
    ],
    ids=repr,
)
def test_what_has_no_kernel(model: Any, reason: str) -> None:
    with pytest.raises(Declined, match=reason):
        find_kernel(model, Task(CLASSES))


def test_batches_are_looped() -> None:
    X, y = stream(60)
    result = PrequentialEvaluator(batch_size=4).evaluate({"m": CALIBRATED["beta"]}, X, y)
    assert result.paths == {
        "m": "loop: PrequentialCalibrator with batch_size=4 has no kernel",
    }
