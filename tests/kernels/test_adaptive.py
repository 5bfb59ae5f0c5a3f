"""The kernel of DriftReset = its loop, resets included, for every timeline and cut."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skstream import (
    DelayedEvaluator,
    DriftReset,
    HoldoutEvaluator,
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    PrequentialEvaluator,
    TemporalCorrection,
    load_run,
    make_stream_pipeline,
)
from skstream.drift import ADWIN, DDM, PageHinkley, RandomAlarm
from skstream.engine.kernels import Declined, Task, find_kernel
from skstream.engine.kernels import adaptive as kernels
from skstream.naive_bayes import IncrementalGaussianNB
from tests._examples import examples
from tests.kernels._reference import (
    TIMELINES,
    assert_equals_loop,
    cut,
    make_block,
    random_cuts,
    running,
)

CLASSES = np.array(["a", "b", "c"])
SGD = SGDClassifier(loss="log_loss", random_state=0)
# They raise alarms and warnings again and again.
JUMPY = DDM(min_values=2, warning_level=0.3, drift_level=1.2)
RANDOM = RandomAlarm(0.2, warm_up=0, random_state=3)
MODELS = {
    "DDM": DriftReset(MajorityClass(), detector=JUMPY, warm_up=1),
    "DDM of linear models": DriftReset(SGD, detector=JUMPY, warm_up=0),
    "random": DriftReset(Persistent(), detector=RANDOM, warm_up=2),
    "ADWIN": DriftReset(
        MajorityClass(), detector=ADWIN(delta=0.99, clock=1, min_window=5), warm_up=0
    ),
    "Page-Hinkley of pipelines": DriftReset(
        make_stream_pipeline(StandardScaler(), SGD), detector=PageHinkley(threshold=0.5), warm_up=1
    ),
    "in a pipeline": make_stream_pipeline(
        StandardScaler(), DriftReset(SGD, detector=JUMPY, warm_up=0)
    ),
    "corrected": TemporalCorrection(DriftReset(MajorityClass(), detector=JUMPY, warm_up=0)),
}


@pytest.mark.parametrize("name", MODELS)
@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    weighted=st.booleans(),
    has_learnt=st.booleans(),
)
@examples(3)
def test_kernel_is_the_loop(
    name: str, seed: int, timeline: str, method: str, weighted: bool, has_learnt: bool
) -> None:
    if method == "predict_proba" and "random" in name:
        method = "predict"  # Persistent has no probabilities
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
    # Linear models round their probabilities otherwise; all else is to the last bit.
    rtol = 1e-9 if "linear" in name or "pipeline" in name else 0.0
    scores = None if "random" in name else "predict_proba"
    size = int(rng.choice([1, 3, 8192]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_AT_MOST", size)
        patch.setattr(kernels, "_AT_FIRST", min(size, 2))
        cuts = random_cuts(block, rng)
        assert_equals_loop(model, block, task, cuts, scores=scores, rtol=rtol, atol=rtol)


def stream(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    side = np.where(np.arange(n) // 30 % 2, y, 1 - y)  # the classes change places
    return np.abs(rng.normal(size=(n, 3)) + 2.0 * side[:, np.newaxis]), CLASSES[y]


WATCHED = {
    "DDM": DriftReset(IncrementalGaussianNB(), detector=DDM(min_values=10), warm_up=5),
    "random": DriftReset(MultinomialNB(), detector=RandomAlarm(0.05, warm_up=3), warm_up=3),
    "linear": DriftReset(SGDClassifier(loss="log_loss"), detector=JUMPY),
    "votes": DriftReset(Perceptron(), detector=JUMPY),
}
EVALUATORS = {
    "prequential": PrequentialEvaluator(["accuracy", "kappa"], random_state=0),
    "skip": PrequentialEvaluator("accuracy", missing_labels="skip", random_state=0),
    "folds": KFoldEvaluator("accuracy", n_folds=2, random_state=0),
    "holdout": HoldoutEvaluator("accuracy", holdout="next", every=20, random_state=0),
    "delayed": DelayedEvaluator("accuracy", delay=7, n_bins=3, poll_every=5, random_state=0),
}


@pytest.mark.parametrize("name", EVALUATORS)
def test_protocols_agree_between_kernel_and_loop(name: str) -> None:
    X, y = stream(90)
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], 90)
    known = {"sample_weight": weight} if name in ("prequential", "folds") else {}
    if name == "skip":
        y = np.where(np.arange(90) % 3 == 1, None, y)
        known["classes"] = CLASSES[:2]
    results = [
        clone(EVALUATORS[name])
        .set_params(engine=engine, return_models=True)
        .evaluate(WATCHED, X, y, **known)
        for engine in ("auto", "loop")
    ]
    assert set(results[0].paths.values()) == {"kernel"}
    for model in WATCHED:
        np.testing.assert_array_equal(*(result.tape.answers[model] for result in results))
        fitted = [result.models[model] for result in results]
        pairs = zip(*(one if isinstance(one, list) else [one] for one in fitted), strict=True)
        n_resets = [(one.n_resets_, other.n_resets_) for one, other in pairs]
        assert all(one == other for one, other in n_resets)
        assert any(n for n, _ in n_resets)


def test_batches_are_looped() -> None:
    X, y = stream(60)
    result = PrequentialEvaluator(batch_size=4).evaluate({"m": WATCHED["DDM"]}, X, y)
    assert result.paths == {"m": "loop: DriftReset with batch_size=4 has no kernel"}


def test_a_step_can_be_made_again() -> None:
    """A state is a value: no step changes it, nor the models and the detector in it."""
    rng = np.random.default_rng(1)
    block = make_block(rng.normal(size=(60, 2)), rng.integers(0, 2, 60), "polls", rng)
    first, second = cut(block, [50])
    for name in ("DDM", "random"):
        kernel = running(copy.deepcopy(MODELS[name]), Task(CLASSES[:2], "predict"))
        kernel.run(first)
        middle = kernel.state
        kernel.export()
        one = pickle.dumps(kernel.estimator)
        expected = kernel.run(second)
        kernel.state = middle
        kernel.export()
        assert pickle.dumps(kernel.estimator) == one
        np.testing.assert_array_equal(kernel.run(second), expected)


@pytest.mark.parametrize("kind", ["csr", "pandas"])
def test_containers(kind: str) -> None:
    X, y = stream(60)
    if kind == "csr":
        rows: Any = sparse.csr_array(X)
    else:
        rows = pytest.importorskip("pandas").DataFrame(X, columns=["u", "v", "w"])
    results = [
        PrequentialEvaluator(engine=engine, return_models=True, random_state=0).evaluate(
            {"m": WATCHED["random"]}, rows, y
        )
        for engine in ("auto", "loop")
    ]
    assert results[0].paths == {"m": "kernel"}
    np.testing.assert_array_equal(*(result.predictions("m") for result in results))
    assert len({result.models["m"].n_resets_ for result in results} - {0}) == 1


def test_a_run_goes_on_after_saving(tmp_path: Any) -> None:
    X, y = stream(90)
    evaluator = PrequentialEvaluator("accuracy", random_state=0, keep_tape=True)
    whole = evaluator.evaluate(WATCHED, X, y)
    run = evaluator.start(WATCHED, classes=CLASSES[:2])
    run.update(X[:65], y[:65])
    run.save(tmp_path / "run")
    run = load_run(tmp_path / "run")
    run.update(X[65:], y[65:])
    for model in WATCHED:
        assert run.result().predictions(model).tolist() == whole.predictions(model).tolist()


def test_rows_that_the_kernel_declines_are_looped() -> None:
    X, y = stream(100)
    X[70, 1] = 1e-200  # IncrementalGaussianNB has a kernel for usual numbers only
    results = [
        PrequentialEvaluator(engine=engine, return_models=True, random_state=0).evaluate(
            {"m": WATCHED["DDM"]}, X, y
        )
        for engine in ("auto", "loop")
    ]
    assert results[0].paths["m"].startswith("kernel and loop")
    np.testing.assert_array_equal(*(result.predictions("m") for result in results))
    assert results[0].models["m"].n_resets_ == results[1].models["m"].n_resets_ > 0


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (DriftReset(Persistent(), detector=RandomAlarm()), "a detector with random_state=None"),
        (DriftReset(DecisionTreeClassifier()), "DecisionTreeClassifier has no kernel"),
        (DriftReset(SGDClassifier(average=True)), "average=True"),
    ],
    ids=repr,
)
def test_what_has_no_kernel(model: Any, reason: str) -> None:
    with pytest.raises(Declined, match=reason):
        find_kernel(model, Task(CLASSES))
