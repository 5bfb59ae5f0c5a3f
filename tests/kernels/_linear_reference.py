"""Linear estimators for the tests of their kernels, and scikit-learn called row by row."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn import linear_model
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

from skstream.core.engine.block import Block
from skstream.kernels import Task
from skstream.kernels.linear.settings import Settings
from tests._examples import SCALE
from tests.kernels._reference import run_literally

PATHS = ("plain", "compiled") if find_spec("numba") else ("plain",)
#: Where few examples are wanted, the plain form is tried where numba is not installed.
TRIED = PATHS if SCALE >= 1 else PATHS[-1:]

REGRESSION_LOSSES = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")
CLASSIFICATION_LOSSES = (
    "log_loss",
    "hinge",
    "perceptron",
    "squared_hinge",
    "modified_huber",
    *REGRESSION_LOSSES,
)
PENALTIES = ("l2", "l1", "elasticnet", None)
RATES = ("optimal", "constant", "invscaling", "adaptive")


@contextmanager
def path(name: str) -> Iterator[None]:
    """Let kernels run "plain" or "compiled", by configuration."""
    with patch.dict(os.environ, {"SKSTREAM_DISABLE_NUMBA": "1" if name == "plain" else "0"}):
        yield


def aggressive(name: str, **parameters: Any) -> Any:
    """A passive-aggressive estimator; None where scikit-learn has none any more."""
    estimator_type = getattr(linear_model, name, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return estimator_type and estimator_type(**parameters)


def run_row_by_row(estimator: Any, block: Block, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Answers, and the decision values or targets behind them, of the estimator itself."""
    behind = "predict" if task.classes is None else "decision_function"
    answers: tuple[np.ndarray, np.ndarray] = run_literally(estimator, block, task, behind)
    return answers


def assert_same_answers(
    answers: np.ndarray, expected: np.ndarray, scores: np.ndarray, task: Task, size: float
) -> None:
    """Equal codes unless two scores tie; values equal to 1e-9 of the size of the products."""
    assert len(answers) == len(expected)
    if task.classes is None or task.method != "predict":
        bound = 1e-9 * (size if task.method != "predict_proba" else 1.0 + size)
        np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=bound)
        return
    for i in np.flatnonzero(answers != expected):
        two_best = np.sort(np.append(scores[i], 0.0) if scores.ndim == 1 else scores[i])[-2:]
        assert abs(two_best[1] - two_best[0]) <= 1e-9 * size, f"ask {i}: {scores[i]}"


@st.composite
def sgd_parameters(draw: Any, losses: tuple[str, ...], aggressive_loss: str) -> dict[str, Any]:
    loss = draw(st.sampled_from(losses))
    rates = (*RATES, "pa1", "pa2") if loss == aggressive_loss else RATES
    learning_rate = draw(st.sampled_from(rates))
    alphas = [1e-4, 1e-6, 0.01, 0.5, 3.0] + [0.0] * (learning_rate != "optimal")
    return {
        "loss": loss,
        "learning_rate": learning_rate,
        "penalty": draw(st.sampled_from(PENALTIES)),
        "alpha": draw(st.sampled_from(alphas)),
        "l1_ratio": draw(st.sampled_from([0.15, 0.0, 0.7, 1.0])),
        "eta0": draw(st.sampled_from([0.01, 1.0, 50.0])),
        "power_t": draw(st.sampled_from([0.5, 0.25, 0.0, 1.3])),
        "epsilon": draw(st.sampled_from([0.1, 0.0, 1.5])),
        "fit_intercept": draw(st.booleans()),
    }


@st.composite
def classifiers(draw: Any, classes: np.ndarray) -> Any:
    """SGDClassifier mostly, else Perceptron or PassiveAggressiveClassifier."""
    some = classes[: draw(st.integers(0, len(classes)))]
    class_weight = draw(
        st.sampled_from([None, {label: 0.5 + i for i, label in enumerate(some.tolist())}])
    )
    kind = draw(st.sampled_from(["sgd"] * 4 + ["perceptron", "aggressive"]))
    if kind == "perceptron":
        penalty = draw(st.sampled_from(PENALTIES))
        return Perceptron(penalty=penalty, alpha=0.01, class_weight=class_weight)
    if kind == "aggressive":
        loss = draw(st.sampled_from(["hinge", "squared_hinge"]))
        C = draw(st.sampled_from([0.1, 1.0]))
        name = "PassiveAggressiveClassifier"
        estimator = aggressive(name, loss=loss, C=C, class_weight=class_weight)
        if estimator is not None:
            return estimator
    parameters = draw(sgd_parameters(CLASSIFICATION_LOSSES, "hinge"))
    return SGDClassifier(**parameters, class_weight=class_weight)


@st.composite
def regressors(draw: Any) -> Any:
    """SGDRegressor mostly, else PassiveAggressiveRegressor."""
    if draw(st.integers(0, 4)) == 0:
        loss = draw(st.sampled_from(["epsilon_insensitive", "squared_epsilon_insensitive"]))
        estimator = aggressive("PassiveAggressiveRegressor", loss=loss)
        if estimator is not None:
            return estimator
    return SGDRegressor(**draw(sgd_parameters(REGRESSION_LOSSES, "epsilon_insensitive")))


def broken_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """l2 factors one rounding away."""
    schedule = Settings.schedule

    def shifted(self: Settings, t: float, n: int) -> Any:
        eta, shrink, cut = schedule(self, t, n)
        return eta, np.nextafter(shrink, 0.0), cut

    monkeypatch.setattr(Settings, "schedule", shifted)
