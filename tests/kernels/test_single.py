"""Kernels of float32 rows: the precision of scikit-learn, step by step."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from skstream.engine.kernels import Declined, Task
from skstream.naive_bayes import IncrementalGaussianNB
from tests.kernels._linear_reference import PATHS, path
from tests.kernels._reference import (
    assert_same_rows,
    assert_same_state,
    cut,
    make_block,
    random_cuts,
    run_literally,
    running,
    running_transformer,
    transform_literally,
)
from tests.kernels.test_layouts import TRANSFORMERS

SCALERS: list[Any] = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler(),
    MinMaxScaler((-0.1, 0.7), clip=True),
    MaxAbsScaler(),
    MaxAbsScaler(clip=True),
]


def numbers(n_rows: int = 150, n_columns: int = 5, seed: int = 0) -> np.ndarray:
    """Columns of several sizes, among them a constant one and one of very small numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, n_columns) + 0.3
    X[:, 1] = 0.1
    X[:, 2] *= 1e-20
    return X.astype(np.float32)


def frame(X: np.ndarray) -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))


def frame_of_several_types(X: np.ndarray) -> Any:
    return frame(X).assign(b=X[:, 1] > 0, c=np.arange(len(X), dtype=np.int8))


LAYOUTS: dict[str, Any] = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "the other byte order": lambda X: X.astype(">f4"),
    "frame": frame,
    "frame of several types": frame_of_several_types,
}


@pytest.mark.parametrize("run", PATHS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("timeline", ["prequential", "polls"])
@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
def test_scalers(scaler: Any, timeline: str, layout: str, run: str) -> None:
    rng = np.random.default_rng(1)
    X = LAYOUTS[layout](numbers(60))
    block = make_block(X, rng.integers(0, 2, 60), timeline, rng)
    literal = copy.deepcopy(scaler)
    learnt, asked = transform_literally(literal, block)
    with path(run):
        kernel = running_transformer(copy.deepcopy(scaler), Task(np.arange(2)))
        done, questions = 0, 0
        for part in cut(block, random_cuts(block, rng)):
            out = kernel.run(part)
            last, stop = done + part.n_learns, questions + part.n_asks
            assert_same_rows(out.learn_X, out.learn_index, learnt[done:last])
            assert_same_rows(out.ask_X, out.ask_index, asked[questions:stop])
            assert not part.n_learns or out.learn_X.dtype == learnt[0].dtype
            assert not part.n_asks or out.ask_X.dtype == learnt[0].dtype
            done, questions = last, stop
    kernel.export()
    assert_same_state(kernel.estimator, literal)
    again = running_transformer(literal, Task(np.arange(2)))
    assert again is not None
    again.run(block)


@pytest.mark.parametrize("run", PATHS)
@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 0.5], [3.0, 2.0**23]])
def test_weights_of_a_standard_scaler(weights: list[float], run: str) -> None:
    rng = np.random.default_rng(2)
    X = numbers(40)
    block = make_block(X, rng.integers(0, 2, 40), "delayed", rng, rng.choice(weights, 40))
    for scaler in SCALERS[:4]:
        literal = copy.deepcopy(scaler)
        learnt, asked = transform_literally(literal, block)
        with path(run):
            kernel = running_transformer(copy.deepcopy(scaler), Task(np.arange(2)))
            try:
                out = kernel.run(block)
            except Declined as declined:
                assert weights != [1.0] and "weights" in declined.reason
                continue
        assert_same_rows(out.learn_X, out.learn_index, learnt)
        assert_same_rows(out.ask_X, out.ask_index, asked)
        kernel.export()
        assert_same_state(kernel.estimator, literal)


@pytest.mark.parametrize("scaler", SCALERS[4:], ids=repr)
def test_two_precisions_in_one_stream(scaler: Any) -> None:
    """Range scalers go on in float64 from the first row of it: for the loop."""
    kernel = running_transformer(scaler, Task(np.arange(2)))
    y, rng = np.zeros(30, np.int64), np.random.default_rng(0)
    kernel.run(make_block(numbers(30), y, "polls", rng))
    with pytest.raises(Declined, match="float32 and float64"):
        kernel.run(make_block(numbers(30).astype(float), y, "polls", rng))
    with pytest.raises(Declined, match="sparse"):
        kernel.run(make_block(sparse.csr_array(numbers(30)), y, "polls", rng))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: repr(t)[:40])
def test_transformers(transformer: Any, layout: str) -> None:
    """Those that are not scalers, too."""
    kernel = running_transformer(copy.deepcopy(transformer), Task(np.arange(2)))
    X = LAYOUTS[layout]((np.abs(numbers(40)) + 0.01).astype(np.float32))
    block = make_block(X, np.zeros(40, np.int64), "prequential", np.random.default_rng(0))
    literal = copy.deepcopy(transformer)
    is_frame = hasattr(X, "iloc")
    if is_frame and isinstance(transformer, FrozenEstimator | ColumnTransformer):
        return
    with np.errstate(all="ignore"):
        try:
            learnt, asked = transform_literally(literal, block)
        except (TypeError, ValueError):
            with pytest.raises((Declined, TypeError, ValueError)):
                kernel.run(block)
            return
        try:
            out = kernel.run(block)
        except Declined:
            assert not isinstance(transformer, StandardScaler | MinMaxScaler | MaxAbsScaler)
            return
    assert_same_rows(out.learn_X, out.learn_index, learnt)
    assert_same_rows(out.ask_X, out.ask_index, asked)
    row = out.learn_X if hasattr(out.learn_X, "dtype") else out.learn_X.to_numpy()
    wanted = learnt[0] if hasattr(learnt[0], "dtype") else learnt[0].to_numpy()
    assert row.dtype == wanted.dtype


@pytest.mark.parametrize("run", PATHS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_naive_bayes_that_computes_with_float64(layout: str, run: str) -> None:
    rng = np.random.default_rng(3)
    X = LAYOUTS[layout](numbers(80))
    block = make_block(X, rng.integers(0, 3, 80), "polls", rng)
    literal, task = IncrementalGaussianNB(), Task(np.arange(3), "predict_proba")
    expected = run_literally(literal, block, task)
    with path(run):
        kernel = running(IncrementalGaussianNB(), task)
        np.testing.assert_allclose(kernel.run(block), expected, rtol=1e-6, atol=1e-9)
    kernel.export()
    assert_same_state(kernel.estimator, literal, rtol=1e-9)
