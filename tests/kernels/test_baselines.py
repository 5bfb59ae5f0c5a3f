"""Kernels of the baselines answer and remember what the loop does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import skstream.kernels.baselines as kernels
from skstream.baselines import (
    MajorityClass,
    MajorityWindow,
    MeanRegressor,
    Persistent,
    PersistentRegressor,
    RandomClass,
)
from skstream.kernels import Declined, Task
from tests._examples import examples
from tests.kernels import _reference as ref

CLASSIFIERS = [
    *(Persistent(), Persistent(6), MajorityClass(), *(MajorityWindow(w) for w in (1, 3, 1000))),
    RandomClass(random_state=3),
]
REGRESSORS = [PersistentRegressor(), PersistentRegressor(6), MeanRegressor()]
LABELS = {"strings": "abcdefghijklmnopqrstuvwxy", "integers": range(-5, 20)}


def is_regression(estimator) -> bool:
    return isinstance(estimator, PersistentRegressor | MeanRegressor)


def random_task(estimator, rng, method: str, n_classes: int, labels: str) -> Task:
    if is_regression(estimator):
        return Task(None)
    return Task(np.array(list(LABELS[labels])[:n_classes]), method)


def random_labels(estimator, rng, n: int, n_classes: int) -> np.ndarray:
    return rng.normal(size=n) if is_regression(estimator) else rng.integers(0, n_classes, n)


def random_weights(kind: str, rng, n: int) -> np.ndarray | None:
    if kind == "none":
        return None
    weight = rng.integers(1, 4, n).astype(float)
    return weight if kind == "whole" else weight / 3


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=repr)
@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(ref.TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    n_classes=st.integers(2, 25),
    labels=st.sampled_from(list(LABELS)),
    weights=st.sampled_from(["none", "whole"]),
    has_learnt=st.booleans(),
)
@examples(15)
def test_kernel_is_the_loop_bit_for_bit(
    estimator, seed, timeline, method, n_classes, labels, weights, has_learnt
):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    task = random_task(estimator, rng, method, n_classes, labels)
    X = rng.normal(size=(n, 2))
    y = random_labels(estimator, rng, n, n_classes)
    block = ref.make_block(X, y, timeline, rng, random_weights(weights, rng, n))
    model = ref.twin(estimator)
    if has_learnt:
        known = {} if task.classes is None else {"classes": task.classes}
        past = random_labels(estimator, rng, 4, n_classes)
        model.partial_fit(np.zeros((4, 2)), past if not known else task.classes[past], **known)
    kernel, _ = ref.assert_equals_loop(model, block, task, ref.random_cuts(block, rng))
    # The user can go on with plain scikit-learn, and a kernel with the exported model.
    again = ref.running(kernel.estimator, task)
    ref.assert_untouched(again, kernel.state)


@pytest.mark.parametrize(
    "estimator", [MajorityClass(), MeanRegressor(), RandomClass(random_state=1)], ids=repr
)
def test_fractional_weights(estimator, rng: np.random.Generator) -> None:
    task = random_task(estimator, rng, "predict", 3, "strings")
    y = random_labels(estimator, rng, 30, 3)
    block = ref.make_block(np.zeros((30, 1)), y, "prequential", rng, rng.random(30))
    ref.assert_equals_loop(estimator, block, task, [7, 8, 31])


def test_window_leaves_fractional_weights_to_the_loop(rng: np.random.Generator) -> None:
    block = ref.make_block(np.zeros((9, 1)), rng.integers(0, 2, 9), "prequential", rng)
    kernel = ref.running(MajorityWindow(3), Task(np.array([0, 1])))
    kernel.run(block)
    before = kernel.state
    with pytest.raises(Declined):
        kernel.run(
            ref.make_block(
                np.zeros((9, 1)), rng.integers(0, 2, 9), "prequential", rng, rng.random(9) + 0.1
            )
        )
    ref.assert_untouched(kernel, before)


def test_rows_of_any_kind_are_taken_and_not_looked_at() -> None:
    task = Task(np.array(["a", "b"]))
    y = np.array([0, 1, 1, 0])
    rows = [
        np.full((4, 2), np.nan),
        np.array([["x", None]] * 4, dtype=object),
        sparse.csr_array(np.eye(4)),
    ]
    for X in rows:
        block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
        model = Persistent()
        kernel = ref.running(model, task)
        np.testing.assert_array_equal(kernel.run(block), y[:-1])
        kernel.export()
        assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("other", [np.zeros((4, 3)), "frame"])
def test_rows_of_another_shape_are_left_to_the_loop(other) -> None:
    if isinstance(other, str):
        other = pytest.importorskip("pandas").DataFrame(np.zeros((4, 2)), columns=["a", "b"])
    task, y, rng = Task(np.array([0, 1])), np.array([0, 1, 1, 0]), np.random.default_rng(0)
    kernel = ref.running(MajorityClass(), task)
    kernel.run(ref.make_block(np.zeros((4, 2)), y, "prequential", rng))
    before = kernel.state
    with pytest.raises(Declined):
        kernel.run(ref.make_block(other, y, "prequential", rng))
    ref.assert_untouched(kernel, before)


def test_a_broken_kernel_is_caught(monkeypatch) -> None:
    """A window one row too wide gives other answers than the loop."""
    task = Task(np.array([0, 1]))
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0])
    block = ref.make_block(np.zeros((10, 1)), y, "prequential", np.random.default_rng(0))
    expected = ref.run_literally(MajorityWindow(2), block, task)
    model = MajorityWindow(2)
    np.testing.assert_array_equal(ref.running(model, task).run(block), expected)
    broken = ref.Running(kernels.MajorityWindowKernel(MajorityWindow(3), task))
    assert (broken.run(block) != expected).any()


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("model", [MajorityClass(), MajorityWindow(7), MajorityWindow(100)])
def test_few_of_many_classes(model, method: str, rng: np.random.Generator) -> None:
    X, y = np.zeros((50, 1)), rng.choice([3, 40, 41, 90], 50)
    task = Task(np.arange(100), method)
    for timeline in ref.TIMELINES:
        weight = rng.integers(1, 3, 50).astype(float)
        block = ref.make_block(X, y, timeline, rng, weight)
        for cuts in (ref.random_cuts(block, rng), range(1, block.n_learns + block.n_asks)):
            ref.assert_equals_loop(model, block, task, cuts)
