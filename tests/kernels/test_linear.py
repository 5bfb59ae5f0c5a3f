"""The kernels of the linear models against scikit-learn itself, row by row, to the last bit."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

from skstream.core.engine.block import Block
from skstream.kernels import Declined, Task
from tests._examples import examples
from tests.kernels import _reference as ref
from tests.kernels._linear_reference import (
    PATHS,
    aggressive,
    assert_same_answers,
    classifiers,
    path,
    regressors,
    run_row_by_row,
)

pytestmark = pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")


@st.composite
def cases(draw: Any) -> tuple[Any, Task, Block, np.random.Generator]:
    """An estimator, what is asked of it, and a block of learns and asks."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.sampled_from([0, 2, 2, 3, 5, 25]))
    n = draw(st.integers(2, 30 if n_classes <= 3 else 8))
    d = draw(st.sampled_from([1, 3, 8]))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([1.0, 0.01, 30.0]))
    X[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.5]))] = 0.0
    if n_classes == 0:
        estimator = draw(regressors())
        task = Task(None)
        y = rng.normal(size=n) * 3
    else:
        labels = rng.choice(1000, n_classes, replace=False)
        if draw(st.booleans()):
            labels = np.array([f"class {label}" for label in labels])
        classes = np.unique(labels)
        estimator = draw(classifiers(classes))
        methods = ["predict", "decision_function"]
        if getattr(estimator, "loss", "") in ("log_loss", "modified_huber"):
            methods.append("predict_proba")
        task = Task(classes, draw(st.sampled_from(methods)))
        y = rng.integers(0, n_classes, n)
    kind = draw(st.sampled_from(["dense", "csr_array", "csr_matrix", "integers"]))
    storage: Any = X
    if kind == "integers":
        storage = (X * 3).astype(np.int64)
    elif kind != "dense":
        storage = getattr(sparse, kind)(X)
    weights = draw(st.sampled_from(["none", "whole", "real"]))
    weight = None
    if weights == "whole":
        weight = rng.integers(1, 4, n).astype(np.float64)
    elif weights == "real" and not type(estimator).__name__.startswith("Passive"):
        weight = rng.exponential(size=n)
    block = ref.make_block(storage, y, draw(st.sampled_from(ref.TIMELINES)), rng, weight)
    return estimator, task, block, rng


def size_of(X: Any, model: Any) -> float:
    """Size of the terms that decision values are added up from."""
    return float(1.0 + abs(X).max() * np.abs(model.coef_).max() + np.abs(model.intercept_).max())


@examples(15)
@given(case=cases())
def test_kernel_is_the_loop(case: Any) -> None:
    estimator, task, block, rng = case
    plain = copy.deepcopy(estimator)
    before = vars(copy.deepcopy(estimator))
    overflow = False
    try:
        expected, scores = run_row_by_row(plain, block, task)
    except ValueError as error:
        assert "overflow occurred" in str(error)
        overflow = True
    for name in PATHS:
        with path(name):
            model = copy.deepcopy(estimator)
            kernel = ref.running(model, task)
            if overflow:
                with pytest.raises(Declined):
                    kernel.run(block)
                assert kernel.state.memory is None
                continue
            answers = kernel.run(block)
            assert vars(model).keys() == before.keys(), "the estimator changes only at export"
            kernel.export()
            ref.assert_same_state(model, plain)
            size = size_of(block.learn_X, plain) if len(scores) == 0 else np.abs(scores).max()
            size = max(size, size_of(block.learn_X, plain))
            assert_same_answers(answers, expected, scores, task, size)

            again = ref.running(copy.deepcopy(estimator), task)
            parts = ref.cut(block, ref.random_cuts(block, rng), own_storage=bool(rng.integers(2)))
            in_parts = np.concatenate([again.run(part) for part in parts])
            np.testing.assert_array_equal(in_parts, answers)
            again.export()
            ref.assert_same_state(again.estimator, plain)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_many_asks_between_learns(name: str, storage: Any) -> None:
    rng = np.random.default_rng(4)
    X, y = storage(rng.normal(size=(200, 4)).round(1)), rng.integers(0, 3, 200)
    stamp = np.sort(np.concatenate([np.full(300, 17), rng.integers(1, 201, 60), [200] * 20]))
    ask_index = rng.integers(0, 200, len(stamp))
    learn_index = rng.permutation(200)
    block = Block(X, learn_index, y[learn_index], None, X, ask_index, stamp)
    task = Task(np.arange(3), "decision_function")
    plain = SGDClassifier(loss="log_loss")
    expected, scores = run_row_by_row(plain, block, task)
    with path(name):
        kernel = ref.running(SGDClassifier(loss="log_loss"), task)
        answers = kernel.run(block)
        kernel.export()
    assert_same_answers(answers, expected, scores, task, size_of(X, plain))
    ref.assert_same_state(kernel.estimator, plain)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_learnt_and_asked_rows_may_differ(name: str, storage: Any) -> None:
    rng = np.random.default_rng(5)
    learn_X, ask_X = storage(rng.normal(size=(60, 4))), storage(rng.normal(size=(60, 4)))
    index = np.arange(60)
    y = rng.normal(size=60)
    block = Block(learn_X, index, y, None, ask_X, index[1:], index[1:])
    plain = SGDRegressor(penalty="elasticnet", alpha=0.1)
    expected, scores = run_row_by_row(plain, block, Task(None))
    with path(name):
        answers = ref.running(SGDRegressor(penalty="elasticnet", alpha=0.1), Task(None)).run(block)
    assert_same_answers(answers, expected, scores, Task(None), 1.0)


@pytest.mark.parametrize("name", PATHS)
def test_a_late_class_is_learnt_by_its_own_vector(name: str) -> None:
    # cuML updated the wrong row of the model.
    rng = np.random.default_rng(8)
    X = rng.normal(size=(90, 4))
    y = np.repeat([0, 2, 1], 30)
    block = ref.prequential_block(X, y)
    task = Task(np.arange(4), "predict_proba")
    plain = SGDClassifier(loss="modified_huber")
    expected, scores = run_row_by_row(plain, block, task)
    with path(name):
        kernel = ref.running(SGDClassifier(loss="modified_huber"), task)
        assert_same_answers(kernel.run(block), expected, scores, task, size_of(X, plain))
        kernel.export()
    ref.assert_same_state(kernel.estimator, plain)


@pytest.mark.parametrize("name", PATHS)
def test_whole_weights_repeat_rows_where_there_are_none(name: str) -> None:
    estimator = aggressive("PassiveAggressiveClassifier")
    if estimator is None:
        pytest.skip("scikit-learn has removed it")
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    block = Block(
        X,
        np.arange(3),
        np.array([0, 1, 1]),
        np.array([1.0, 3.0, 2.0]),
        X,
        np.array([2, 0, 1]),
        np.array([1, 2, 3]),
    )
    plain = copy.deepcopy(estimator)
    expected, _ = run_row_by_row(plain, block, Task(np.arange(2)))
    assert plain.t_ == 7
    with path(name):
        kernel = ref.running(estimator, Task(np.arange(2)))
        np.testing.assert_array_equal(kernel.run(block), expected)
        kernel.export()
    ref.assert_same_state(estimator, plain)


def test_paths_give_the_same_bits() -> None:
    if len(PATHS) == 1:
        pytest.skip("numba is not installed")
    rng = np.random.default_rng(9)
    dense = rng.normal(size=(3000, 12))
    y = rng.integers(0, 4, 3000)
    index = np.arange(3000)
    for X in (dense, sparse.csr_array(dense * (rng.random(dense.shape) < 0.3))):
        for estimator in (SGDClassifier(loss="log_loss"), Perceptron(penalty="l1")):
            values = []
            for name in PATHS:
                with path(name):
                    task = Task(np.arange(4), "decision_function")
                    kernel = ref.running(copy.deepcopy(estimator), task)
                    asks = index[1:] // 2  # rows learnt long ago
                    values.append(kernel.run(Block(X, index, y, None, X, asks, index[1:])))
            np.testing.assert_array_equal(*values)
