"""Kernels of ensembles = their loop, for every timeline, cut and replacement of members."""

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

from skstream import (
    DelayedEvaluator,
    DynamicWeightedMajority,
    HoldoutEvaluator,
    KFoldEvaluator,
    MajorityClass,
    OnlineBagging,
    Persistent,
    PrequentialEvaluator,
    TemporalCorrection,
    load_run,
    make_stream_pipeline,
)
from skstream.drift import ADWIN, PageHinkley
from skstream.engine.kernels import Task
from skstream.engine.kernels.naive_bayes.gaussian import IncrementalGaussianKernel
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
# Raise many alarms, so that members are replaced again and again.
JUMPY = ADWIN(delta=0.99, clock=1, min_window=5)
ENSEMBLES = {
    "bag": OnlineBagging(MajorityClass(), 3),
    "bag of votes": OnlineBagging(Perceptron(), 2),
    "bag of pipelines": OnlineBagging(make_stream_pipeline(StandardScaler(), SGD), 2),
    "one member": OnlineBagging(Persistent(), 1, detector=PageHinkley(threshold=0.5)),
    "ADWIN": OnlineBagging(Persistent(), 3, detector=JUMPY),
    "ADWIN of linear models": OnlineBagging(SGD, 2, detector=JUMPY),
    "Page-Hinkley": OnlineBagging(MajorityClass(), 3, detector=PageHinkley(threshold=0.5)),
    "in a pipeline": make_stream_pipeline(StandardScaler(), OnlineBagging(SGD, 2, detector=JUMPY)),
    "corrected": TemporalCorrection(OnlineBagging(MajorityClass(), 2, detector=JUMPY)),
    "majority": DynamicWeightedMajority(Persistent(), period=4, max_estimators=4),
    "at every row": DynamicWeightedMajority(MajorityClass(), period=1, max_estimators=3),
    "majority of linear models": DynamicWeightedMajority(SGD, period=3, max_estimators=3),
    "majority in a pipeline": make_stream_pipeline(
        StandardScaler(), DynamicWeightedMajority(SGD, period=3, max_estimators=3)
    ),
    "majority of a bag": DynamicWeightedMajority(
        OnlineBagging(Persistent(), 2), period=5, max_estimators=2
    ),
}


def seeded(model: Any) -> Any:
    """A copy with integer seeds; without one there is no kernel."""
    model = copy.deepcopy(model)
    unset = [name for name in model.get_params() if name.endswith("random_state")]
    return model.set_params(**dict.fromkeys(unset, 5))


@pytest.mark.parametrize("name", ENSEMBLES)
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
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 20)), int(rng.integers(2, 4))
    task = Task(CLASSES[:n_classes], method)
    model = seeded(ENSEMBLES[name])
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    X, y = rng.normal(size=(n, 2)), rng.integers(0, n_classes, n)
    block = make_block(X, y, timeline, rng, weight)
    if has_learnt:
        model.partial_fit(X[:2], task.classes[y[:2]], classes=task.classes)
    # Linear models round their probabilities otherwise; all else is to the last bit.
    is_rounded = "linear" in name or "pipeline" in name
    rtol, scores = (1e-9, "predict_proba") if is_rounded else (0.0, None)
    cuts = random_cuts(block, rng)
    assert_equals_loop(model, block, task, cuts, scores=scores, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", ["Page-Hinkley", "majority", "bag of votes"])
def test_a_step_can_be_made_again(name: str) -> None:
    """A state is a value: no step changes it, nor the members and detectors in it."""
    rng = np.random.default_rng(1)
    block = make_block(rng.normal(size=(60, 2)), rng.integers(0, 2, 60), "polls", rng)
    first, second = cut(block, [30])
    kernel = running(seeded(ENSEMBLES[name]), Task(CLASSES[:2], "predict_proba"))
    kernel.run(first)
    middle = kernel.state
    kernel.export()
    one = pickle.dumps(kernel.estimator)
    expected = kernel.run(second)
    if name == "Page-Hinkley":
        now, before = (s.memory.of_members.n_replaced for s in (kernel.state, middle))
        assert (now > before).any()
    kernel.state = middle
    kernel.export()
    assert pickle.dumps(kernel.estimator) == one
    np.testing.assert_array_equal(kernel.run(second), expected)


MODELS = {
    "bag": OnlineBagging(MultinomialNB(), 2),
    "ADWIN": OnlineBagging(Persistent(), 2, detector=JUMPY),
    "majority": DynamicWeightedMajority(MajorityClass(), period=5, max_estimators=3),
}
EVALUATORS = {
    "batches": PrequentialEvaluator("accuracy", batch_size=4, random_state=0),
    "folds": KFoldEvaluator("accuracy", n_folds=2, random_state=0),
    "holdout": HoldoutEvaluator("accuracy", holdout="next", every=12, random_state=0),
    "delayed": DelayedEvaluator("accuracy", delay=7, poll_every=3, random_state=0),
}


@pytest.mark.parametrize("name", EVALUATORS)
def test_protocols_agree_between_kernel_and_loop(name: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(CLASSES[rng.integers(0, 3, 12)], 3)
    X = np.abs(rng.normal(size=(36, 3)) + (y[:, None] == CLASSES))
    results = [
        clone(EVALUATORS[name]).set_params(engine=engine).evaluate(MODELS, X, y)
        for engine in ("auto", "loop")
    ]
    expected = {"bag": "kernel", "ADWIN": "kernel", "majority": "kernel"}
    if name == "batches":
        expected["ADWIN"] = "loop: OnlineBagging with a detector and batch_size=4 has no kernel"
    assert results[0].paths == expected
    for model in MODELS:
        np.testing.assert_array_equal(*(result.tape.answers[model] for result in results))


@pytest.mark.parametrize("kind", ["csr", "pandas"])
def test_containers(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(30, 3)), rng.integers(0, 2, 30)
    if kind == "csr":
        rows: Any = sparse.csr_array(X)
    else:
        rows = pytest.importorskip("pandas").DataFrame(X, columns=["u", "v", "w"])
    models = {
        "bag": OnlineBagging(MultinomialNB(), 2, detector=JUMPY),
        "majority": DynamicWeightedMajority(Persistent(), period=7),
    }
    results = [
        PrequentialEvaluator(engine=engine, return_models=True, random_state=0).evaluate(
            models, rows, y
        )
        for engine in ("auto", "loop")
    ]
    assert set(results[0].paths.values()) == {"kernel"}
    for model in models:
        np.testing.assert_array_equal(*(result.predictions(model) for result in results))
        names = [getattr(r.models[model], "feature_names_in_", None) for r in results]
        np.testing.assert_array_equal(*names)


def test_a_run_goes_on_after_saving(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), CLASSES[rng.integers(0, 2, 90)]
    models = {"ADWIN": ENSEMBLES["ADWIN"], "majority": ENSEMBLES["majority"]}
    evaluator = PrequentialEvaluator("accuracy", random_state=0, keep_tape=True)
    whole = evaluator.evaluate(models, X, y)
    run = evaluator.start(models, classes=CLASSES[:2])
    run.update(X[:50], y[:50])
    run.save(tmp_path / "run")
    run = load_run(tmp_path / "run")
    run.update(X[50:], y[50:])
    for model in models:
        assert run.result().predictions(model).tolist() == whole.predictions(model).tolist()


def test_rows_that_a_kernel_declines_are_looped_and_members_go_on() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    X[30, 1] = 1e-200  # IncrementalGaussianNB has a kernel for usual numbers only
    detector = PageHinkley(threshold=0.5)
    model = OnlineBagging(IncrementalGaussianNB(), 2, detector=detector)
    results = [
        PrequentialEvaluator(engine=engine, return_models=True, random_state=0).evaluate(
            model, X, y
        )
        for engine in ("auto", "loop")
    ]
    assert results[0].paths["OnlineBagging"].startswith("kernel and loop")
    np.testing.assert_array_equal(*(r.predictions("OnlineBagging") for r in results))
    assert results[0].models["OnlineBagging"].n_replaced_.any()


def test_a_bag_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many calls of its members' kernels as parts: none for each row."""
    calls = []
    step = IncrementalGaussianKernel.step
    monkeypatch.setattr(
        IncrementalGaussianKernel,
        "step",
        lambda self, state, block: calls.append(block.n_learns) or step(self, state, block),
    )
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    result = evaluator.evaluate(OnlineBagging(IncrementalGaussianNB()), X, X[:, 0] > 0)
    assert result.paths["OnlineBagging"] == "kernel" and len(calls) < 1000
