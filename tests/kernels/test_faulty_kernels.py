"""What a kernel of anyone does wrong is said with its name, and that of the model."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skstream import ModelError, PrequentialEvaluator
from skstream.kernels import Kernel, kernel_of, registry
from skstream.kernels.linear.kernel import LinearClassifierKernel
from skstream.kernels.transformers.scalers import StandardScalerKernel
from skstream.pipeline import make_stream_pipeline


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
        evaluator = PrequentialEvaluator("mae")
        return evaluator.evaluate(
            {"m": Seven()}, np.zeros((5, 1)), np.arange(5.0), return_models=True
        )
    finally:
        del registry._MODELS[Seven]


@pytest.mark.parametrize(
    "step",
    [
        lambda k, s, b: (s, [7.0] * b.n_asks),
        lambda k, s, b: (s, np.full(b.n_asks, "7")),
        lambda k, s, b: (s, np.full(b.n_asks, 7)),
        lambda k, s, b: (s, np.full((b.n_asks, 1), 7.0)),
        lambda k, s, b: (s, np.full(b.n_asks - 1, 7.0)),
        lambda k, s, b: np.full(b.n_asks, 7.0),
        lambda k, s, b: None,
        lambda k, s, b: (s, np.full(b.n_asks, 7.0), 1),
    ],
)
def test_wrong_answers_name_the_kernel_and_the_model(step: Any) -> None:
    words = r"WrongKernel.step returned [\s\S]* two values: .*; here float64 of shape \(4,\)"
    with pytest.raises(ModelError, match=f"Model 'm' failed .* {words}"):
        evaluated(step=step)


def test_what_a_kernel_raises_is_in_the_path() -> None:
    assert evaluated().paths == {"m": "kernel"}
    path = evaluated(step=fails).paths["m"]
    assert path == "loop: its kernel failed with a ZeroDivisionError: of a kernel"
    with pytest.warns(UserWarning, match=r"Model 'm' failed while WrongKernel.export .* Zero"):
        assert evaluated(export=fails).scores["m"]["mae"] > 0


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


class OfHingeAlone(LinearClassifierKernel):
    """Wrong from the third chunk on, and for one loss alone."""

    def step(self, state: Any, block: Any) -> Any:
        state, answers = super().step(state, block)
        late = self.estimator.loss != "hinge" and block.n_learns > 10
        return state, 1 - answers if late else answers


class WrongAtTheEnd(StandardScalerKernel):
    def export(self, state: Any) -> None:
        super().export(state)
        self.estimator.var_ = self.estimator.var_ * 1.001


class TestOtherVersion:
    """Beside a scikit-learn that is not known, a kernel has to agree with the estimator first."""

    @staticmethod
    def paths(**models: Any) -> Any:
        rng = np.random.default_rng(0)
        X, y = np.abs(rng.integers(0, 3, (60, 3))).astype(float), rng.integers(0, 2, 60)
        return PrequentialEvaluator("accuracy", random_state=0).evaluate(models, X, y)

    @pytest.fixture(autouse=True)
    def pretend(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(sklearn, "__version__", "99.1.dev0")

    def test_kernels_that_agree_are_used(self) -> None:
        result = self.paths(
            hinge=SGDClassifier(),
            scaled=make_stream_pipeline(StandardScaler(), MinMaxScaler(), Perceptron()),
            priors=BernoulliNB(class_prior=[0.1, 0.9]),
            columns=CategoricalNB(min_categories=[3, 4, 3]),  # not for the rows of the check
        )
        assert {*list(result.paths.values())[:3]} == {"kernel"}
        assert result.paths["columns"] == (
            "loop: the kernel of CategoricalNB of scikit-learn 99.1.dev0, newer than skstream, "
            "could not be compared with it"
        )

    def test_a_wrong_kernel_is_not_used(self, monkeypatch: Any) -> None:
        right = self.paths(a=SGDClassifier(loss="log_loss"))
        place = "sklearn.linear_model.SGDClassifier"
        monkeypatch.setitem(registry._MODELS, place, OfHingeAlone)
        place = "sklearn.preprocessing.StandardScaler"
        monkeypatch.setitem(registry._TRANSFORMERS, place, WrongAtTheEnd)
        result = self.paths(
            a=SGDClassifier(loss="log_loss"),
            b=SGDClassifier(),
            c=make_stream_pipeline(StandardScaler(), SGDClassifier()),
        )
        words = "of scikit-learn 99.1.dev0, newer than skstream, does not agree with it"
        assert result.paths == {
            "a": f"loop: the kernel of SGDClassifier {words}",
            "b": "kernel",
            "c": f"kernel; StandardScaler by loop: the kernel of StandardScaler {words}",
        }
        assert words in str(result)  # the table says why
        np.testing.assert_array_equal(
            result.predictions("a", every_row=True), right.predictions("a", every_row=True)
        )

    def test_a_kernel_that_cannot_be_made_is_none(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(LinearClassifierKernel, "refusal", fails)
        path = self.paths(a=SGDClassifier()).paths["a"]
        assert path == "loop: the kernel of SGDClassifier fails with this scikit-learn"
