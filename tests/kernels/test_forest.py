"""The kernel of the adaptive random forest answers and remembers what the loop does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.drift import DDM, PageHinkley, RandomAlarm
from skstream.engine.kernels import Task
from skstream.tree import AdaptiveRandomForestClassifier
from skstream.tree import _forest as forest
from tests._examples import examples
from tests.kernels._reference import (
    TIMELINES,
    assert_equals_loop,
    assert_untouched,
    make_block,
    random_cuts,
    running,
)
from tests.kernels.test_tree import rows_of

LABELS = np.array(["a", "b", "c"])
DETECTORS = [
    None,
    RandomAlarm(0.1, warm_up=0, random_state=0),
    PageHinkley(1.0, delta=0.0),
    DDM(min_values=5),
]


@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    kind=st.sampled_from(["numbers", "gaps", "categories"]),
    warning=st.sampled_from(DETECTORS),
    drift=st.sampled_from(DETECTORS),
    is_weighted=st.booleans(),
    has_learnt=st.booleans(),
    at_once=st.sampled_from([3, 17, 2048]),
)
@examples(60)
def test_kernel_is_the_loop_bit_for_bit(
    seed, timeline, method, kind, warning, drift, is_weighted, has_learnt, at_once
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X = rows_of(kind, n, rng)
    first = np.array([len(str(value)) for value in X[:, 0]])
    y = (first + rng.integers(0, 2, n)) % 3
    block = make_block(X, y, timeline, rng, rng.random(n) + 0.1 if is_weighted else None)
    model = AdaptiveRandomForestClassifier(
        int(rng.integers(1, 4)),
        max_features=[None, "sqrt+1", "sqrt", 2, 0.7][rng.integers(5)],
        mean_weight=float(rng.choice([0.5, 6.0])),
        warning_detector=warning,
        drift_detector=drift,
        grace_period=float(rng.integers(2, 12)),
        delta=0.3,
        tau=0.5,
        leaf_prediction=str(rng.choice(["mc", "nb", "nba"])),
        max_depth=rng.choice([None, 2]),
        nominal_features=[2] if rng.random() < 0.3 else None,
        max_bytes=20_000 if rng.random() < 0.3 else None,
        random_state=int(rng.integers(9)),
    )
    if has_learnt:
        model.partial_fit(rows_of(kind, 9, rng), list("abcabcabc"), classes=LABELS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "_AT_ONCE", at_once)
        kernel, _ = assert_equals_loop(model, block, Task(LABELS, method), random_cuts(block, rng))
    assert_untouched(running(kernel.estimator, Task(LABELS, method)), kernel.state)


def test_a_broken_kernel_is_caught(monkeypatch) -> None:
    """Detectors that read a row too late replace a tree by another one."""
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 2)), rng.integers(0, 3, 90)
    block = make_block(X, y, "prequential", rng)
    model = AdaptiveRandomForestClassifier(
        2, grace_period=5, drift_detector=PageHinkley(1.0, delta=0.0), random_state=0
    )
    task = Task(LABELS, "predict_proba")
    assert_equals_loop(model, block, task, [])
    right = forest._first_alarm

    def late(detector: Any, wrong: Any) -> Any:
        at, ahead = right(detector, wrong)
        return (at if at is None else min(at + 1, len(wrong) - 1)), ahead

    monkeypatch.setattr(forest, "_first_alarm", late)
    with pytest.raises(AssertionError):
        assert_equals_loop(model, block, task, [])
