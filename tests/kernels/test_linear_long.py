"""The linear kernels over many rows, where a single other rounding has made another model."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.linear_model._sgd_fast import _plain_sgd64
from sklearn.linear_model._stochastic_gradient import LEARNING_RATE_TYPES, PENALTY_TYPES
from sklearn.utils._seq_dataset import ArrayDataset64, CSRDataset64

from skstream.core.engine.block import Block
from skstream.kernels import Task
from skstream.kernels.linear import rows as linear_rows
from skstream.kernels.linear.loops import step_of
from skstream.kernels.linear.settings import Settings
from tests._examples import SCALE
from tests.kernels._linear_reference import TRIED, broken_scale, path, run_row_by_row
from tests.kernels._reference import prequential_block, running

#: 6,000 where few examples are wanted: as many make another model, too.
MANY = 20_000 if SCALE >= 1 else 6000
# Model, storage, number of classes (0: regression), number of rows.
LONG_RUNS: dict[str, tuple[Any, str, int, int]] = {
    "default schedule": (SGDClassifier(loss="log_loss"), "dense", 2, MANY),
    "one vector per class": (SGDClassifier(loss="log_loss"), "dense", 3, MANY),
    "sparse": (SGDClassifier(loss="log_loss"), "csr", 2, MANY),
    "sparse, one vector per class": (SGDClassifier(loss="log_loss"), "csr", 3, 3000),
    "hinge": (SGDClassifier(), "dense", 2, 3000),
    "elastic net": (SGDClassifier(loss="modified_huber", penalty="elasticnet"), "dense", 3, 3000),
    "l1": (SGDClassifier(loss="log_loss", penalty="l1", alpha=1e-3), "csr", 2, 3000),
    "perceptron": (Perceptron(), "dense", 3, 3000),
    "regression": (SGDRegressor(), "dense", 0, MANY),
    "Huber": (SGDRegressor(loss="huber", learning_rate="constant"), "csr", 0, 3000),
    "passive-aggressive": (
        SGDClassifier(loss="hinge", learning_rate="pa2", eta0=1.0, penalty=None),
        "csr",
        3,
        3000,
    ),
}


@functools.cache
def rows(kind: str, n_classes: int, n: int) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    d = 200 if kind == "csr" else 8
    X = rng.normal(size=(n, d))
    score = X[:, 0] + rng.normal(size=n)
    if n_classes == 0:
        y = score
    else:
        y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    if kind == "csr":
        X = sparse.csr_array(X * (rng.random(X.shape) < 0.05))
    return X, y


def compiled_loop(model: Any, X: Any, y: np.ndarray, n_classes: int) -> tuple[Any, Any]:
    """scikit-learn's compiled routine called once per row and class, without the validation.

    `partial_fit` does the same at a hundredth of the speed; the first test below sees to it.
    """
    n_vectors = n_classes if n_classes > 2 else 1
    coef, intercept = np.zeros((n_vectors, X.shape[1])), np.zeros(n_vectors)
    loss = model._get_loss_function(model.loss)
    low = 0.0 if model.loss == "log_loss" else -1.0
    penalty, rate = PENALTY_TYPES[str(model.penalty).lower()], LEARNING_RATE_TYPES
    one, nothing_held_back = np.ones(1), np.zeros(1, dtype=np.uint8)
    for i in range(len(y)):
        for k in range(n_vectors):
            target = y[i]
            if n_classes:
                target = 1.0 if y[i] == (1 if n_classes == 2 else k) else low
            target = np.array([target], dtype=np.float64)
            if sparse.issparse(X):
                begin, end = X.indptr[i], X.indptr[i + 1]
                bounds = np.array([0, end - begin], dtype=np.int32)
                part = X.data[begin:end], bounds, X.indices[begin:end]
                dataset, decay = CSRDataset64(*part, target, one, seed=1), 0.01
            else:
                dataset, decay = ArrayDataset64(X[i : i + 1], target, one, seed=1), 1.0
            learnt = _plain_sgd64(
                coef[k],
                intercept[k],
                None,
                0.0,
                loss,
                penalty,
                model.alpha,
                model.l1_ratio,
                dataset,
                nothing_held_back,
                False,
                None,
                5,
                1,
                1e-3,
                int(model.fit_intercept),
                0,
                1,
                1,
                1.0,
                1.0,
                rate[model.learning_rate],
                model.eta0,
                model.power_t,
                0,
                i + 1.0,
                decay,
                0,
            )
            intercept[k] = learnt[1]
    return coef, intercept


def task_of(n_classes: int) -> Task:
    return Task(np.arange(n_classes) if n_classes else None)


@functools.cache
def expected(name: str) -> tuple[Any, Any]:
    model, kind, n_classes, n = LONG_RUNS[name]
    return compiled_loop(model, *rows(kind, n_classes, n), n_classes)


def agrees(name: str) -> bool:
    """Whether the kernel leaves scikit-learn's bits after all rows."""
    model, kind, n_classes, n = LONG_RUNS[name]
    X, y = rows(kind, n_classes, n)
    kernel = running(model, task_of(n_classes))
    kernel.run(prequential_block(X, y))
    learnt = kernel.state.memory
    coef, intercept = expected(name)
    return np.array_equal(learnt.W.read(), coef) and np.array_equal(learnt.b, intercept)


@pytest.mark.parametrize("name", LONG_RUNS)
def test_partial_fit_is_the_compiled_loop(name: str) -> None:
    model, kind, n_classes, n = LONG_RUNS[name]
    X, y = (part[:100] for part in rows(kind, n_classes, n))
    model = type(model)(**model.get_params())
    run_row_by_row(model, replace_asks(prequential_block(X, y)), task_of(n_classes))
    coef, intercept = compiled_loop(model, X, y, n_classes)
    np.testing.assert_array_equal(np.atleast_2d(model.coef_), coef)
    np.testing.assert_array_equal(model.intercept_, intercept)


def replace_asks(block: Block) -> Block:
    none = np.empty(0, dtype=np.int64)
    return replace(block, ask_index=none, stamp=none)


@pytest.mark.parametrize("run", TRIED)
@pytest.mark.parametrize("name", LONG_RUNS)
def test_long_runs_agree_to_the_last_bit(name: str, run: str) -> None:
    with path(run):
        assert agrees(name)


def broken_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products added from the last feature to the first: another rounding on every processor."""

    def learn(X: Any, learns: Any, rule: Any, W: Any, b: Any, Q: Any, *others: Any) -> None:
        for i, x in enumerate(X):
            margin = sum((W[0] * x)[::-1].tolist()) + b[0]
            update = step_of.plain(rule, learns.target[i], margin, learns.eta[i], 0.0)
            update *= learns.own_weight[i]
            scale = learns.shrink[i]
            W[0] = (W[0] + x * (update / scale)) * scale
            b[0] += update

    monkeypatch.setattr(linear_rows, "learn_dense", learn)


def broken_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step counter off by one."""
    schedule = Settings.schedule
    monkeypatch.setattr(Settings, "schedule", lambda self, t, n: schedule(self, t + 1, n))


@pytest.mark.parametrize("run", TRIED)
@pytest.mark.parametrize("break_it", [broken_sums, broken_schedule, broken_scale])
def test_a_broken_twin_is_caught(break_it, run, monkeypatch):
    with path(run):
        assert agrees("default schedule")
        break_it(monkeypatch)
        assert not agrees("default schedule")
