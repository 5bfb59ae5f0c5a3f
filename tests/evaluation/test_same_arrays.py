"""Models and transformers that return the same array again and again, with other numbers in it."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.naive_bayes import IncrementalGaussianNB

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=80) > 0).astype(int)


class Fresh(ClassifierMixin, BaseEstimator):
    """A naive Bayes of its own class, so that it has no kernel."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if not hasattr(self, "model_"):
            self.model_ = IncrementalGaussianNB()
        self.model_.partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def fit(self, X: Any, y: Any) -> Any:
        return self.partial_fit(X, y, classes=np.unique(y))

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)


class Reused(Fresh):
    """The same, with one array for all answers of a shape."""

    def predict(self, X: Any) -> Any:
        return self._into(super().predict(X))

    def predict_proba(self, X: Any) -> Any:
        return self._into(super().predict_proba(X))

    def _into(self, answer: Any) -> Any:
        held = self.__dict__.setdefault("held_", {}).setdefault(answer.shape, answer)
        held[...] = answer
        return held


class FreshSums(TransformerMixin, BaseEstimator):
    def fit(self, X: Any, y: Any = None) -> Any:
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        self.sum_ = getattr(self, "sum_", np.zeros(X.shape[1]))
        self.sum_ += np.sum(X, axis=0)
        return self

    def transform(self, X: Any) -> Any:
        return X - self.sum_ / 100.0

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "sum_")


class ReusedSums(FreshSums):
    def transform(self, X: Any) -> Any:
        self.out_ = getattr(self, "out_", np.empty((1, X.shape[1])))
        if len(X) > 1:
            return super().transform(X)
        self.out_[:] = super().transform(X)
        return self.out_


def pipeline(transformer: Any) -> Any:
    return sk.make_stream_pipeline(transformer, SGDClassifier(loss="log_loss", random_state=0))


PAIRS = {
    "model": (Fresh(), Reused()),
    "in a pipeline by kernel": (pipeline(FreshSums()), pipeline(ReusedSums())),
    "corrected": (sk.TemporalCorrection(Fresh()), sk.TemporalCorrection(Reused())),
    "noise": (sk.LabelNoise(Fresh(), noise=0.2), sk.LabelNoise(Reused(), noise=0.2)),
    "bag": (sk.OnlineBagging(Fresh(), n_estimators=3), sk.OnlineBagging(Reused(), n_estimators=3)),
    "calibrated": (
        sk.PrequentialCalibrator(Fresh(), forgetting="window:50", every=20),
        sk.PrequentialCalibrator(Reused(), forgetting="window:50", every=20),
    ),
}

EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(["accuracy", "log_loss"], random_state=0, n_warmup=20),
    "loop": sk.PrequentialEvaluator(
        ["accuracy", "log_loss"], random_state=0, n_warmup=20, run=sk.RunOptions(kernels=False)
    ),
    "labels alone": sk.PrequentialEvaluator("accuracy", random_state=0),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0, n_warmup=20),
    "late": sk.DelayedEvaluator(
        "accuracy", delay=7, random_state=0, polling=sk.Polling(n_bins=3, poll_every=3)
    ),
}


# Wrappers keep the answers of their models: tried row by row, and in every protocol one of them.
@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        (name, protocol)
        for name in PAIRS
        for protocol in EVALUATORS
        if name in ("model", "bag") or protocol in ("prequential", "loop")
    ],
)
def test_answers_are_those_of_fresh_arrays(name: str, protocol: str) -> None:
    evaluator = clone(EVALUATORS[protocol])
    fresh, reused = (evaluator.evaluate({"m": clone(one)}, X, Y) for one in PAIRS[name])
    for fold in range(fresh.n_folds):
        of = {} if fresh.n_folds == 1 else {"fold": fold}
        np.testing.assert_array_equal(
            fresh.predictions("m", **of, every_row=True),
            reused.predictions("m", **of, every_row=True),
        )
    assert fresh.scores == reused.scores
