"""River's models by kernel and by River itself: hard rows, and objects compared to any depth."""

import random
from typing import Any

import numpy as np

from skstream.kernels import Task
from tests.kernels._reference import cut, random_cuts, run_kernel, run_literally, running, twin


def rows_of(kind: str, n: int, rng: np.random.Generator, d: int = 3) -> Any:
    """Rows with what is hard: ties, constants, cancellation, huge and tiny numbers."""
    if kind == "ties":
        return rng.integers(0, 4, (n, d)).astype(float)
    if kind == "whole":
        return rng.integers(-1000, 1000, (n, d))
    if kind == "cancelling":
        return 1e9 + rng.normal(size=(n, d))
    if kind == "far":
        return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-120, 120, (n, d))
    X = rng.normal(size=(n, d))
    if kind == "constants":
        X[:, rng.integers(0, d)] = rng.choice([0.0, -0.0, 3.7])
    return X


def same(one: Any, other: Any) -> bool:
    """Whether two River objects are equal to any depth: types, bits, and orders of dicts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one).__name__ == "AdaptiveWindowing":  # of Rust
        return bool(one.__getstate__() == other.__getstate__())
    if hasattr(one, "__dict__"):
        return same(vars(one), vars(other))
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)


def run_both(model: Any, block: Any, task: Task, rng: np.random.Generator) -> tuple[Any, Any]:
    """Models after the kernel and after the loop, which have given the same answers."""
    literal, kernel = twin(model), running(twin(model), task)
    expected = run_literally(literal, block, task)
    answers = run_kernel(kernel, cut(block, random_cuts(block, rng)))
    np.testing.assert_array_equal(answers, expected)
    kernel.export()
    assert same(kernel.estimator.model_, literal.model_)
    if isinstance(seed := getattr(literal.model_, "_rng", None), random.Random):
        assert kernel.estimator.model_._rng.getstate() == seed.getstate()
    return kernel.estimator, literal


def bare(model: Any, X: Any, y: Any) -> tuple[list[Any], Any]:
    """River's own loop."""
    answers = []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        answers.append(model.predict_one(x))
        model.learn_one(x, label)
    return answers[1:], model
