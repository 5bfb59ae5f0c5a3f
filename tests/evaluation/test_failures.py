"""Models that fail in the middle, while others go on."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from skstream import DelayedEvaluator, KFoldEvaluator, Persistent, PrequentialEvaluator
from skstream.streams import as_stream, make_demo_stream


class FailsAfter(ClassifierMixin, BaseEstimator):
    """Repeats the label learnt last, until it has learnt so many rows."""

    def __init__(self, n_rows=100):
        self.n_rows = n_rows

    def partial_fit(self, X, y, classes=None):
        self.classes_ = getattr(self, "classes_", classes)
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + len(y)
        self.newest_ = y[-1]
        return self

    fit = partial_fit

    def predict(self, X):
        if self.n_learnt_ > self.n_rows:
            raise RuntimeError("worn out")
        return np.full(len(X), self.newest_)


@pytest.fixture(scope="module")
def rows():
    stream = make_demo_stream(300)
    return stream.X, stream.y


def evaluate(evaluator, rows, chunk_size=300):
    models = {"fails": FailsAfter(), "persistent": Persistent()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluator.evaluate(models, as_stream(*rows, chunk_size=chunk_size))


@pytest.mark.parametrize(
    "evaluator",
    [
        PrequentialEvaluator("accuracy", error_score=np.nan, random_state=0),
        KFoldEvaluator("accuracy", n_folds=3, error_score=np.nan, random_state=0),
        DelayedEvaluator("accuracy", delay=5, error_score=np.nan, random_state=0),
    ],
    ids=lambda evaluator: type(evaluator).__name__,
)
def test_what_a_failed_model_leaves_does_not_hang_on_the_chunks(evaluator, rows):
    results = [evaluate(evaluator, rows, size) for size in (300, 7)]
    for result in results:
        assert list(result.failures) == ["fails"]
        answers = result.tape.answers["fails"]
        assert (answers == -1).all()
        assert np.isnan(result.scores["fails"]["accuracy"])
    first, second = (result.tape.answers["persistent"] for result in results)
    np.testing.assert_array_equal(first, second)


def test_rescoring_keeps_the_score_of_a_failure(rows):
    evaluator = PrequentialEvaluator("accuracy", error_score=-1.0, random_state=0)
    result = evaluate(evaluator, rows)
    assert result.scores["fails"]["accuracy"] == -1.0
    assert result.rescore("accuracy").scores == result.scores


def test_rescoring_keeps_the_folds_that_did_not_fail(rows):
    evaluator = KFoldEvaluator(
        "accuracy",
        n_folds=2,
        strategy="split",
        assignment="round_robin",
        test_on="all",
        error_score=np.nan,
        random_state=0,
        missing_labels="skip",
    )
    X, y = rows
    y = y.astype(object)
    y[0:200:2] = None  # the first fold learns a third of what the second does
    result = evaluate(evaluator, (X, y))
    last = result.curve("fails", "accuracy")[-1]
    assert np.isnan(last).tolist() == [False, True]
    np.testing.assert_array_equal(result.rescore("accuracy").curve("fails", "accuracy")[-1], last)
