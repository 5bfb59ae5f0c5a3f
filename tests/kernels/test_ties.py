"""Answers where classes tie: the order in which a sum is taken decides, as in scikit-learn."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier

from skstream.kernels import Task
from skstream.kernels.linear import rows as linear_rows
from tests.kernels._linear_reference import TRIED, path, run_row_by_row
from tests.kernels._reference import cut, make_block, running

MODELS = [
    SGDClassifier(learning_rate="constant", eta0=0.1, penalty=None, random_state=0),
    Perceptron(eta0=0.1, random_state=0),
]


def rows(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    numbers = rng.integers(0, 2, (n, d)) if kind == "01" else rng.integers(-3, 4, (n, d))
    return numbers.astype(np.float64)


def stored(X: np.ndarray, storage: str) -> Any:
    if storage == "integers":
        return X.astype(np.int64)
    if storage == "fortran":
        return np.asfortranarray(X)
    if storage == "negative":
        return np.ascontiguousarray(X[:, ::-1])[:, ::-1]
    if storage == "frame":
        names = [f"f{j}" for j in range(X.shape[1])]
        return pytest.importorskip("pandas").DataFrame(X, columns=names)
    return sparse.csr_array(X) if storage == "csr" else X


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["01", "integers"])
def test_no_answer_differs(model: Any, n_classes: int, kind: str, rng: np.random.Generator) -> None:
    """Between .4 and 1.5 percent of them did."""
    n, d = 150, 20
    y = rng.integers(0, n_classes, n)
    X = rows(kind, n, d, rng)
    task = Task(np.arange(n_classes))
    block = make_block(X, y, "polls" if kind == "01" else "prequential", rng)
    expected, _ = run_row_by_row(copy.deepcopy(model), block, task)
    for name in TRIED:
        with path(name):
            for parts in ([block], cut(block, [50, 51, 140], own_storage=True)):
                kernel = running(copy.deepcopy(model), task)
                answers = np.concatenate([kernel.run(part) for part in parts])
                np.testing.assert_array_equal(answers, expected)


@pytest.mark.parametrize("storage", ["integers", "fortran", "negative", "frame", "csr"])
def test_every_storage(storage: str) -> None:
    rng = np.random.default_rng(1)
    n, d = 150, 20
    y = rng.integers(0, 3, n)
    X = stored(rows("01", n, d, rng), storage)
    block = make_block(X, y, "prequential", rng)
    task = Task(np.arange(3))
    expected, _ = run_row_by_row(copy.deepcopy(MODELS[1]), block, task)
    for name in TRIED:
        with path(name):
            answers = running(copy.deepcopy(MODELS[1]), task).run(block)
            np.testing.assert_array_equal(answers, expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_fault_shows_without_a_second_look(n_classes: int, monkeypatch: Any) -> None:
    learn = linear_rows.learn_dense
    monkeypatch.setattr(linear_rows, "learn_dense", lambda *arguments: learn(*arguments[:9]))
    task = Task(np.arange(n_classes))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        block = make_block(rows("01", 250, 20, rng), rng.integers(0, n_classes, 250), "polls", rng)
        expected, _ = run_row_by_row(copy.deepcopy(MODELS[1]), block, task)
        answers = running(copy.deepcopy(MODELS[1]), task).run(block)
        if (answers != expected).any():
            return
    pytest.skip("this machine's BLAS adds in the order of the features")
