"""What a kernel of anyone does wrong is said with its name, and that of the model."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from skstream import ModelError, PrequentialEvaluator
from skstream.engine.kernels import Kernel, kernel_of, registry


class Seven(RegressorMixin, BaseEstimator):
    """Learns nothing, and answers 7."""

    def partial_fit(self, X: Any, y: Any) -> "Seven":
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), 7.0)


class SevenKernel(Kernel):
    @classmethod
    def refusal(cls, estimator: Any, task: Any) -> Any:
        return None

    def initial_state(self) -> Any:
        return 0

    def step(self, state: Any, block: Any) -> Any:
        return state, np.full(block.n_asks, 7.0)

    def export(self, state: Any) -> None:
        self.estimator.n_features_in_ = 1


def fails(*_: Any) -> Any:
    raise ZeroDivisionError("of a kernel\nand more")


def evaluated(**wrong: Any) -> Any:
    kernel = type("WrongKernel", (SevenKernel,), wrong)
    kernel_of(Seven)(kernel)
    try:
        evaluator = PrequentialEvaluator("mae", return_models=True)
        return evaluator.evaluate({"m": Seven()}, np.zeros((5, 1)), np.arange(5.0))
    finally:
        del registry._MODELS[Seven]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda k, s, b: (s, [7.0] * b.n_asks), "are of type list to a block of 4 asks.* float64"),
        (lambda k, s, b: (s, np.full(b.n_asks, "7")), r"shape \(4,\) and dtype <U1 to a block of"),
        (lambda k, s, b: (s, np.full(b.n_asks, 7)), "dtype int64 to a block of 4"),
        (lambda k, s, b: (s, np.full((b.n_asks, 1), 7.0)), r"an array of shape \(4, 1\) and"),
        (lambda k, s, b: (s, np.full(b.n_asks - 1, 7.0)), r"an array of shape \(3,\) and"),
        (lambda k, s, b: np.full(b.n_asks, 7.0), "returned an array of shape .* two values"),
        (lambda k, s, b: None, "returned None. A kernel returns two values: the next state, and"),
        (lambda k, s, b: (s, np.full(b.n_asks, 7.0), 1), "returned 3 values. A kernel returns two"),
    ],
)
def test_wrong_answers_name_the_kernel_and_the_model(step: Any, words: str) -> None:
    with pytest.raises(ModelError, match=f"Model 'm' failed .* WrongKernel.step .*{words}"):
        evaluated(step=step)


def test_what_a_kernel_raises_is_in_the_path() -> None:
    assert evaluated().paths == {"m": "kernel"}
    path = evaluated(step=fails).paths["m"]
    assert path == "loop: its kernel failed with a ZeroDivisionError: of a kernel"
    with pytest.raises(ModelError, match=r"Model 'm' failed while WrongKernel.export .* Zero"):
        evaluated(export=fails)


@pytest.mark.parametrize("reason", [True, ""])
def test_a_refusal_is_none_or_a_reason(reason: Any) -> None:
    path = evaluated(refusal=classmethod(lambda *_: reason)).paths["m"]
    assert f"WrongKernel.refusal returned {reason!r}; it returns None, or what cannot be" in path


@pytest.mark.parametrize(
    ("estimator", "kernel", "kind", "words"),
    [
        (Seven(), SevenKernel, TypeError, r"takes classes .* Got Seven\(\) of type Seven"),
        (Seven, int, TypeError, "subclass of Kernel or TransformKernel. Got <class 'int'>"),
        (Seven, None, TypeError, "subclass of Kernel or TransformKernel. Got None"),
        (
            "sklearn.linear_model.SGDRegressor",
            SevenKernel,
            ValueError,
            "SGDRegressor has a kernel, LinearRegressorKernel; an estimator cannot have SevenK",
        ),
    ],
)
def test_what_cannot_be_registered(estimator: Any, kernel: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        kernel_of(estimator)(kernel)


def test_a_second_kernel_is_refused_and_one_defined_anew_is_not() -> None:
    try:
        kernel_of(Seven)(SevenKernel)
        kernel_of(Seven)(type("SevenKernel", (SevenKernel,), {"__module__": __name__}))
        with pytest.raises(ValueError, match="Seven has a kernel, SevenKernel; an estimator cann"):
            kernel_of(Seven)(type("Another", (SevenKernel,), {}))
    finally:
        del registry._MODELS[Seven]
