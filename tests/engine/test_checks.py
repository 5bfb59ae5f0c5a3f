"""Checks that are made for a block once leave every error of scikit-learn as it is."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB

from skstream import ModelError, PrequentialEvaluator
from skstream.engine.loop import Loop

X = np.random.default_rng(0).normal(size=(20, 3))
Y = (X[:, 0] > 0).astype(np.int64)
MODELS = [SGDClassifier(random_state=0), BernoulliNB(), SGDRegressor(random_state=0)]


def by_loop(model: Any, rows: Any, labels: Any) -> Any:
    evaluator = PrequentialEvaluator(engine="loop", return_models=True)
    return evaluator.evaluate({"m": clone(model)}, rows, labels).models["m"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_error_about_a_row_is_that_of_the_model(model: Any, value: float) -> None:
    rows = X.copy()
    rows[18, 1] = value
    labels = Y.astype(float) if model is MODELS[2] else Y
    fitted = by_loop(model, X, labels)
    with pytest.raises(ValueError, match="X contains") as expected:
        fitted.predict(rows[18:19])
    with pytest.raises(ModelError, match="row 18") as found:
        by_loop(model, rows, labels)
    assert str(found.value.__cause__) == str(expected.value)


def test_parameters_are_checked_by_the_first_call() -> None:
    with pytest.raises(ModelError, match=r"row 0.*'alpha' parameter"):
        by_loop(SGDClassifier(alpha=-1.0), X, Y)


def test_only_finite_rows_are_not_checked_again(monkeypatch: Any) -> None:
    seen = []
    ask = Loop._answers
    monkeypatch.setattr(
        Loop, "_answers", lambda *given: seen.append(get_config()["assume_finite"]) or ask(*given)
    )
    by_loop(MODELS[0], X, Y)
    assert seen[-1] and not get_config()["assume_finite"]
    by_loop(MODELS[0], sparse.csr_matrix(X), Y)
    assert seen[-1]
    seen.clear()
    with pytest.raises(ModelError):
        by_loop(MODELS[0], np.where(np.arange(60).reshape(20, 3) == 59, np.nan, X), Y)
    assert not seen[-1]

    class Own(SGDClassifier):
        """Anything may hang on what it checks."""

    by_loop(Own(random_state=0), X, Y)
    assert not seen[-1]
