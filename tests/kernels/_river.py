"""River's models by kernel and by River itself: hard rows, and objects compared to any depth."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream import PrequentialEvaluator
from skstream.kernels import Task
from tests.kernels._reference import (
    TIMELINES,
    cut,
    random_cuts,
    run_kernel,
    run_literally,
    running,
    twin,
)

KINDS = ("plain", "ties", "whole", "cancelling", "far", "constants")
any_case = given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    kind=st.sampled_from(KINDS),
    is_weighted=st.booleans(),
)


def tree_parameters(rng: np.random.Generator) -> dict[str, Any]:
    """Of River's tree, and of the trees of its forest."""
    return {
        "grace_period": int(rng.integers(2, 15)),
        "delta": float(rng.choice([1e-7, 0.1, 0.5])),
        "tau": float(rng.choice([0.05, 0.5])),
        "leaf_prediction": str(rng.choice(["mc", "nb", "nba"])),
        "max_depth": rng.choice([None, None, 0, 1, 2]),
        "split_criterion": str(rng.choice(["info_gain", "gini"])),
        "nb_threshold": int(rng.choice([0, 5])),
        "merit_preprune": bool(rng.random() < 0.8),
        "min_branch_fraction": float(rng.choice([0.01, 0.3])),
        "max_share_to_split": float(rng.choice([0.6, 0.99])),
    }


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


def evaluated_as_by_river(model: Any, stream: Any) -> tuple[Any, Any, str]:
    """Models after our evaluation and after River's, which agree, and how ours was executed."""
    rows, labels = zip(*stream, strict=True)
    X, literal = pytest.importorskip("pandas").DataFrame(rows), model.clone()
    rows = X.to_dict("records")  # in River's a column of floats has the integer 0, too
    evaluate = pytest.importorskip("river.evaluate").progressive_val_score
    metric = pytest.importorskip("river.metrics").Accuracy()
    expected = evaluate(zip(rows, labels, strict=True), literal, metric).get()
    result = PrequentialEvaluator("accuracy").evaluate(
        {"m": model}, X, np.array(labels), return_models=True
    )
    assert result.scores["m"]["accuracy"] == pytest.approx(expected, abs=1e-12)
    assert same(result.models["m"].model_, literal)
    return result.models["m"].model_, literal, result.paths["m"]


def bare(model: Any, X: Any, y: Any) -> tuple[list[Any], Any]:
    """River's own loop."""
    answers = []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        answers.append(model.predict_one(x))
        model.learn_one(x, label)
    return answers[1:], model
