"""Kernels of ensembles = their loop, for every timeline, cut and replacement of members."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import (
    DynamicWeightedMajority,
    MajorityClass,
    OnlineBagging,
    Persistent,
    TemporalCorrection,
    make_stream_pipeline,
)
from skstream.drift import ADWIN, PageHinkley
from skstream.engine.kernels import Task
from tests._examples import examples
from tests.kernels._reference import (
    TIMELINES,
    assert_same_labels,
    assert_same_state,
    cut,
    make_block,
    random_cuts,
    run_kernel,
    run_literally,
    running,
    twin,
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
@examples(5)
def test_kernel_is_the_loop(
    name: str, seed: int, timeline: str, method: str, weighted: bool, has_learnt: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 30)), int(rng.integers(2, 4))
    task = Task(CLASSES[:n_classes], method)
    model = seeded(ENSEMBLES[name])
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    X, y = rng.normal(size=(n, 2)), rng.integers(0, n_classes, n)
    block = make_block(X, y, timeline, rng, weight)
    if has_learnt:
        model.partial_fit(X[:2], task.classes[y[:2]], classes=task.classes)
    literal = twin(model)
    expected, shares = run_literally(literal, block, task, "predict_proba")
    kernel = running(model, task)
    answers = run_kernel(kernel, cut(block, random_cuts(block, rng)))
    if method == "predict":
        assert_same_labels(answers, expected, shares)
    else:  # linear models round their probabilities otherwise; all else is to the last bit
        rtol = 1e-9 if "linear" in name or "pipeline" in name else 0.0
        np.testing.assert_allclose(answers, expected, rtol=rtol, atol=rtol)
    kernel.export()
    assert_same_state(kernel.estimator, literal)
