"""`prequential_predict` moves a bar, and keeps its answers where something ends it."""

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB, MultinomialNB

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


def test_nothing_so_far() -> None:
    with pytest.raises(EvaluationInterrupted, match="nothing was finished") as caught:
        prequential_predict(Stops(at=0), X, Y)
    assert caught.value.result is None
    with pytest.raises(ModelError) as failed:
        prequential_predict(Stops(at=0, error=ValueError), X, Y)
    assert failed.value.result is None


def test_a_failing_model_carries_its_answers() -> None:
    with pytest.raises(ModelError, match="row 100") as caught:
        prequential_predict(Stops(error=ValueError), X, Y, return_rows=True)
    y_pred, rows = caught.value.result
    np.testing.assert_array_equal(rows, np.arange(1, 100))
    np.testing.assert_array_equal(y_pred, WHOLE[:99])


def test_a_row_without_a_label_carries_the_answers_before_its_chunk() -> None:
    labels = Y.astype(object)
    labels[250] = None
    chunks = [(X[:200], labels[:200]), (X[200:], labels[200:])]
    with pytest.raises(ValueError, match="250") as caught:
        prequential_predict(IncrementalGaussianNB(), chunks, classes=["a", "b"])
    np.testing.assert_array_equal(caught.value.result, WHOLE[:199])  # type: ignore[attr-defined]


def test_progress_moves(capsys: Any) -> None:
    pytest.importorskip("tqdm")
    y_pred = prequential_predict(IncrementalGaussianNB(), X, Y, progress=True)
    np.testing.assert_array_equal(y_pred, WHOLE)
    shown = capsys.readouterr().err
    assert "300/300" in shown and "kernel" in shown
    prequential_predict(IncrementalGaussianNB(), X, Y)
    assert not capsys.readouterr().err
    with pytest.raises(ValueError, match="'progress' parameter"):
        prequential_predict(GaussianNB(), X, Y, progress="yes")


@pytest.mark.parametrize("batch_size", [1, 7])
def test_pieces_change_nothing(batch_size: int, monkeypatch: Any) -> None:
    answers = [prequential_predict(MultinomialNB(), X, Y, batch_size=batch_size)]
    monkeypatch.setattr("skstream.evaluation._runs._pace.FIRST_SIZE", 1)
    monkeypatch.setattr("skstream.evaluation._runs._pace.TARGET", 1e-9)
    answers.append(prequential_predict(MultinomialNB(), X, Y, batch_size=batch_size))
    np.testing.assert_array_equal(*answers)
