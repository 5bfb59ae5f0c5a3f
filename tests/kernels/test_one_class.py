"""Kernel of SGDOneClassSVM: answers and attributes of the loop, to the last bit."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import SGDOneClassSVM
from sklearn.preprocessing import StandardScaler

from skstream import LabelNoise, ModelError, PrequentialEvaluator, RunOptions, make_stream_pipeline
from skstream.adaptive import DriftReset
from skstream.ensemble import OnlineBagging
from skstream.kernels import Declined, Task, find_kernel
from skstream.temporal import TemporallyAugmented
from tests._examples import examples
from tests.kernels import _reference as ref

TASK = Task(np.array([-1, 1]))
SETTINGS: list[dict[str, Any]] = [
    {},
    {"nu": 0.1, "learning_rate": "constant", "eta0": 0.1},
    {"nu": 1.0, "learning_rate": "invscaling", "eta0": 2.0, "power_t": 0.3},
    {"nu": 0.01, "fit_intercept": False},
    {"nu": 0.9, "learning_rate": "adaptive", "eta0": 1.5},
]


@pytest.mark.parametrize("numba", ["0", "1"], ids=["compiled", "plain"])
@examples(15)
@given(
    seed=st.integers(0, 1000),
    setting=st.sampled_from(SETTINGS),
    timeline=st.sampled_from(ref.TIMELINES),
    weighted=st.booleans(),
    whole=st.booleans(),
)
def test_equals_the_loop(numba, seed, setting, timeline, weighted, whole):
    """Rows of zeros and ones, whose decision values lie on the plane, are asked of the model."""
    rng = np.random.default_rng(seed)
    n = 40
    X = rng.integers(0, 2, size=(n, 4)).astype(float) if whole else rng.normal(size=(n, 4))
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    block = ref.make_block(X, rng.integers(0, 2, n), timeline, rng, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKSTREAM_DISABLE_NUMBA", numba)
        model = SGDOneClassSVM(**setting)
        ref.assert_equals_loop(model, block, TASK, ref.random_cuts(block, rng))


def test_behind_a_scaler(rng: np.random.Generator) -> None:
    X = rng.normal(size=(60, 3)) * 100
    y = np.where(np.abs(X[:, 0]) < 100, 1, -1)
    model = make_stream_pipeline(StandardScaler(), SGDOneClassSVM())
    results = ref.both_ways(PrequentialEvaluator("accuracy", random_state=0), model, X, y)
    assert results[0].paths["m"] == "kernel"
    np.testing.assert_array_equal(*(result.predictions("m", every_row=True) for result in results))


@pytest.mark.parametrize(
    "meta", [TemporallyAugmented, OnlineBagging, DriftReset, partial(LabelNoise, noise=0.1)]
)
def test_inside_a_meta_classifier_it_is_refused(meta: Any) -> None:
    X, y = np.zeros((9, 2)), np.array([-1, 1, 1] * 3)
    for engine in ("auto", "loop"):
        with pytest.raises(ModelError, match=r"needs a classifier.*Got SGDOneClassSVM"):
            PrequentialEvaluator(
                "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto")
            ).evaluate({"m": meta(SGDOneClassSVM())}, X, y)


@pytest.mark.parametrize("labels", [[0, 1], ["bad", "good"]])
def test_other_labels_are_refused_in_a_sentence(labels: list[Any]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    for model in (SGDOneClassSVM(), make_stream_pipeline(StandardScaler(), SGDOneClassSVM())):
        said = (
            rf"{type(model).__name__} predicts 1 \(inlier\) and -1 \(outlier\): use labels 1 and -1"
        )
        with pytest.raises(ModelError, match=said):
            PrequentialEvaluator("accuracy", random_state=0).evaluate(
                {"m": model}, X, np.array(labels * 30)
            )


def test_what_has_no_kernel() -> None:
    for model, task, reason in (
        (SGDOneClassSVM(), Task(np.array([0, 1])), "other labels than -1 and 1"),
        (SGDOneClassSVM(average=True), TASK, "average=True"),
        (SGDOneClassSVM(nu=2.0), TASK, "parameters that it refuses"),
        (SGDOneClassSVM(learning_rate="invscaling", eta0=1.0, power_t=-1.0), TASK, "power_t=-1.0"),
        (SGDOneClassSVM(learning_rate="pa1", eta0=1.0), TASK, "learning_rate='pa1'"),
        (SGDOneClassSVM(), replace(TASK, batch_size=2), "batch_size=2"),
    ):
        with pytest.raises(Declined, match=reason):
            find_kernel(model, task)
    rows = np.random.default_rng(0).normal(size=(9, 3))
    for X in (rows.astype(np.float32), sparse.csr_array(rows)):
        block = ref.make_block(X, np.arange(9) % 2, "prequential", np.random.default_rng(0))
        with pytest.raises(Declined, match="rows have no kernel in SGDOneClassSVM"):
            ref.running(SGDOneClassSVM(), TASK).run(block)
