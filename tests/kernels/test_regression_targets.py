"""Targets of regressors are numbers of any sign: none of them stands for something else."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, SGDRegressor
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import skstream as sk
from skstream.kernels import Declined, Task, registered_kernels
from tests._examples import newest_alone
from tests.kernels import _reference as ref
from tests.kernels.test_support_table import KERNEL, frozen

N_ROWS = 30
X = np.random.default_rng(0).integers(0, 3, size=(N_ROWS, 3)).astype(float)
#: Of everything that has a kernel, what maps numbers to numbers.
TRANSFORMERS = [
    StandardScaler(with_mean=False),
    frozen(MaxAbsScaler(), sparse.csr_array(X)),
    *(
        estimator
        for estimator in KERNEL
        if hasattr(estimator, "transform")
        and not hasattr(estimator, "predict")
        and not isinstance(estimator, FeatureHasher)
        and "Vectorizer" not in repr(estimator)
    ),
]
TARGETS = {
    "both signs": X @ [1.0, -2.0, 3.0] - 1.0,
    "negative": np.resize([-1.0, -2.0, -0.5], N_ROWS),
}


def test_every_numeric_transformer_is_here() -> None:
    named = {type(transformer) for transformer in TRANSFORMERS}
    transforming = {kind for kind in registered_kernels() if hasattr(kind, "transform")}
    without = {kind for kind in transforming - named if not hasattr(kind, "predict")}
    assert {kind.__name__ for kind in without} <= {"FeatureHasher", "HashingVectorizer"}
    assert FrozenEstimator in named


@newest_alone
@pytest.mark.parametrize(
    ("targets", "timeline", "container"),
    [
        ("both signs", "prequential", np.asarray),
        ("negative", "polls", np.asarray),
        ("negative", "prequential", sparse.csr_array),
    ],
    ids=str,
)
@pytest.mark.parametrize("place", range(len(TRANSFORMERS)), ids=lambda i: repr(TRANSFORMERS[i]))
def test_transformers_ahead_of_a_regressor(place, targets, timeline, container):
    task = Task(None)
    block = ref.make_block(container(X), TARGETS[targets], timeline, np.random.default_rng(1))
    model = sk.make_stream_pipeline(copy.deepcopy(TRANSFORMERS[place]), SGDRegressor())
    kernel = ref.running(copy.deepcopy(model), task)
    try:
        expected = ref.run_literally(model, block, task)
    except (TypeError, ValueError):
        assert container is not np.asarray
        pytest.skip("not for sparse rows")
    try:
        answers = kernel.run(block)
    except Declined:
        assert container is not np.asarray
        return
    np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=1e-12)
    kernel.export()
    ref.assert_same_state(kernel.estimator, model)


MARKS = np.resize([-1.0, -2.0, 0.0, -2.0, -1.0, 3.0], N_ROWS)


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_answers_that_elsewhere_mark_something(engine: Any) -> None:
    errors = np.abs(np.diff(MARKS))
    fading = 0.9 ** np.arange(len(errors))[::-1]
    for forgetting, expected in (
        ("cumulative", errors.mean()),
        (sk.SlidingWindow(7), errors[-7:].mean()),
        (sk.FadingFactor(0.9), np.average(errors, weights=fading)),
    ):
        evaluator = sk.PrequentialEvaluator(
            "mae", forgetting=forgetting, run=sk.RunOptions(kernels=engine == "auto")
        )
        result = evaluator.evaluate({"persistent": sk.PersistentRegressor()}, X, MARKS)
        np.testing.assert_allclose(result.scores["persistent"]["mae"], expected)
    answers = sk.prequential_predict(sk.PersistentRegressor(), X, MARKS, kernels=engine == "auto")
    np.testing.assert_array_equal(answers, MARKS[:-1])


@pytest.mark.parametrize("evaluator", [sk.KFoldEvaluator, sk.DelayedEvaluator])
def test_answers_that_elsewhere_mark_something_in_other_protocols(evaluator: Any) -> None:
    late = {"delay": 3} if evaluator is sk.DelayedEvaluator else {"random_state": 0}
    models = {"persistent": sk.PersistentRegressor(), "sgd": SGDRegressor()}
    kernel, loop = ref.both_ways(evaluator("mae", **late), models, X, MARKS)
    for model, scores in loop.scores.items():
        np.testing.assert_allclose(kernel.scores[model]["mae"], scores["mae"], rtol=1e-9)


class MinusTwo(Perceptron):
    """Has no kernel, and decision values of -2."""

    def decision_function(self, X):
        return np.full(len(X), -2.0)


def test_a_decision_value_that_elsewhere_marks_something() -> None:
    labels = (MARKS < 0).astype(int)
    values = sk.prequential_predict(MinusTwo(), X, labels, method="decision_function")
    np.testing.assert_array_equal(values, np.full(N_ROWS - 1, -2.0))
