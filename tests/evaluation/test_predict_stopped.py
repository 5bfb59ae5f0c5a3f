"""`prequential_predict` moves a bar, and keeps its answers where something ends it."""

from typing import Any

import numpy as np
import pytest

from skstream import EvaluationInterrupted, ModelError, prequential_predict
from skstream.naive_bayes import IncrementalGaussianNB

X = np.arange(300.0)[:, np.newaxis]
Y = np.where(np.arange(300) % 3, "a", "b")
WHOLE = prequential_predict(IncrementalGaussianNB(), X, Y)


class Stops(IncrementalGaussianNB):
    """Raises an error while it learns a row."""

    def __init__(self, at: int = 100, error: Any = KeyboardInterrupt):
        super().__init__()
        self.at, self.error = at, error

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if X[0, 0] == self.at:
            raise self.error("no more")
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)


def test_ctrl_c_inside_a_model() -> None:
    with pytest.raises(EvaluationInterrupted, match="in its attribute 'result'") as caught:
        prequential_predict(Stops(), X, Y, return_rows=True)
    y_pred, rows = caught.value.result
    assert 0 < len(rows) < 100  # rows are cut by time
    np.testing.assert_array_equal(rows, np.arange(1, len(rows) + 1))
    np.testing.assert_array_equal(y_pred, WHOLE[: len(rows)])


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_ctrl_c_inside_the_stream(method: str) -> None:
    def chunks() -> Any:
        yield X[:150], Y[:150]
        raise KeyboardInterrupt

    with pytest.raises(EvaluationInterrupted) as caught:
        prequential_predict(IncrementalGaussianNB(), chunks(), classes=["a", "b"], method=method)
    expected = prequential_predict(IncrementalGaussianNB(), X[:150], Y[:150], method=method)
    np.testing.assert_array_equal(caught.value.result, expected)


def test_a_failing_model_carries_its_answers() -> None:
    with pytest.raises(ModelError, match="row 100") as caught:
        prequential_predict(Stops(error=ValueError), X, Y, return_rows=True)
    y_pred, rows = caught.value.result
    np.testing.assert_array_equal(rows, np.arange(1, 100))
    np.testing.assert_array_equal(y_pred, WHOLE[:99])
