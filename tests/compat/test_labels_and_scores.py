"""Models of River give labels and probabilities at once, called directly as through the checks."""

from typing import Any

import numpy as np
import pytest

from skstream import PrequentialEvaluator, RunOptions
from skstream.core.engine.answers import ModelError

naive_bayes = pytest.importorskip("river.naive_bayes")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = RNG.integers(0, 3, 60)


class Doubling(naive_bayes.GaussianNB):  # type: ignore[misc]
    """Its probabilities do not sum to one after 20 rows."""

    def predict_proba_one(self, x: Any) -> Any:
        factor = 2 if sum(self.class_counts.values()) == 20 else 1
        return {label: factor * share for label, share in super().predict_proba_one(x).items()}


def evaluated(model: Any, engine: Any) -> Any:
    evaluator = PrequentialEvaluator(
        ["accuracy", "log_loss"], random_state=0, run=RunOptions(kernels=engine == "auto")
    )
    return evaluator.evaluate(model, X, Y)


def test_both_ways_of_calling_agree() -> None:
    model = naive_bayes.GaussianNB()
    direct, checked = evaluated(model, "auto"), evaluated(model, "loop")
    assert direct.scores == checked.scores
    alone = PrequentialEvaluator("accuracy", random_state=0).evaluate(model, X, Y)
    (name,) = alone.model_names
    np.testing.assert_array_equal(
        alone.predictions(name, every_row=True), direct.predictions(name, every_row=True)
    )


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_bad_probabilities_are_an_error_at_their_row(engine: str) -> None:
    with pytest.raises(ModelError, match=r"row 20: predict_proba returned") as caught:
        evaluated(Doubling(), engine)
    assert caught.value.result.n_rows == 20
    assert np.isfinite(caught.value.result.scores["Doubling"]["log_loss"])
