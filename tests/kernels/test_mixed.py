"""Parts without a kernel are looped alone: the same as the loop of the whole, also in failure."""

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from skstream import (
    DelayedEvaluator,
    EvaluationInterrupted,
    HoldoutEvaluator,
    KFoldEvaluator,
    ModelError,
    PrequentialEvaluator,
)
from skstream.engine.kernels import looped
from skstream.noise import LabelNoise
from skstream.pipeline import StreamPipeline, make_stream_pipeline
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from tests.kernels._reference import assert_same_state


class Logs(ClassifierMixin, BaseEstimator):
    """Answers by all that it was shown, in whatever form; fails at a number of rows learnt."""

    def __init__(self, fails: str = "", at: int = -1):
        self.fails = fails
        self.at = at

    def fit(self, X: Any, y: Any) -> "Logs":
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Logs":
        if classes is not None:
            self.classes_, self.shown_, self.sum_, self.tries_ = classes, [], 0.0, 0
        self._fail("learn", TypeError("it is learning"), self.at)
        if self.fails == "half" and len(self.shown_) == self.at and not self.tries_:
            self.tries_, self.sum_ = 1, self.sum_ + 0.5
            raise ValueError("it has learnt half of the row")
        form = X.flags.c_contiguous if isinstance(X, np.ndarray) else list(X.columns)
        values = np.asarray(X, dtype=float)
        self.shown_.append((type(X).__name__, str(form), values.tobytes(), y.tolist()))
        self.sum_ += float(values.sum()) * len(self.shown_)
        return self

    def _fail(self, what: str, error: BaseException, at: int) -> None:
        if self.fails == what and len(self.shown_) == at:
            raise error

    def _score(self, X: Any) -> np.ndarray:
        self._fail("ask", ZeroDivisionError("it is asked"), self.at)
        self._fail("interrupt", KeyboardInterrupt(), self.at)
        self._fail("exit", SystemExit(3), self.at)
        return np.sin(self.sum_ + np.asarray(X, dtype=float).sum(axis=1))

    def predict(self, X: Any) -> np.ndarray:
        codes = (self._score(X) > 0).astype(int)
        answers: Any = self.classes_[codes]
        if len(self.shown_) == self.at:
            if self.fails == "label":
                return np.full(len(X), "none of them")
            if self.fails == "shape":
                return answers[:, None]
            if self.fails == "nothing":
                return np.full(len(X), None)
            if self.fails == "ragged":
                return np.array([[1], [2, 3]][: len(X)] + [object()] * len(X), dtype=object)[:0]
        return answers

    def predict_proba(self, X: Any) -> np.ndarray:
        p = (1 + self._score(X)) / 2
        if len(self.shown_) == self.at and self.fails == "shape":
            return p
        if len(self.shown_) == self.at and self.fails == "nothing":
            p = p * np.nan
        return np.column_stack([1 - p, p])


class Mean(RegressorMixin, BaseEstimator):
    """Answers the mean of the sums of rows learnt, by weight."""

    def fit(self, X: Any, y: Any) -> "Mean":
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Mean":
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        before, n = getattr(self, "state_", (0.0, 0.0))
        self.state_ = before + float((weight * X.sum(axis=1)).sum()), n + float(weight.sum())
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.state_[0] / self.state_[1] + X.sum(axis=1)


class Centre(TransformerMixin, BaseEstimator):
    """Subtracts the newest row; adds noise of its own, in the order of its calls."""

    def __init__(self, noise: float = 0.0, fails_at: int = -1):
        self.noise = noise
        self.fails_at = fails_at

    def fit(self, X: Any, y: Any = None) -> "Centre":
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any = None) -> "Centre":
        self.rng_ = getattr(self, "rng_", None) or np.random.default_rng(0)
        self.newest_ = np.asarray(X)[-1] / 2
        self.n_ = getattr(self, "n_", 0) + 1
        if self.n_ == self.fails_at:
            raise RuntimeError("it cannot learn this one")
        return self

    def transform(self, X: Any) -> Any:
        return X - self.newest_ + self.noise * self.rng_.normal(size=X.shape)


def double(X: Any) -> Any:
    return 2 * X


rng = np.random.default_rng(3)
N = 40
X = rng.normal(size=(N, 4))
Y = np.array(["no", "yes"])[(X[:, 0] + 0.5 * rng.normal(size=N) > 0).astype(int)]
CONSTANT = SimpleImputer(strategy="constant", fill_value=0.5, keep_empty_features=True)
COLUMNS = ColumnTransformer(
    [("a", StandardScaler(), [0, 1]), ("b", CONSTANT, [2])], remainder="passthrough"
)
SCALED = make_stream_pipeline(StandardScaler(), Logs())
SGD = SGDClassifier(loss="log_loss", random_state=0)
NAMED = StandardScaler().set_output(transform="pandas")
MODELS = {
    "model": SCALED,
    "transformer": make_stream_pipeline(FunctionTransformer(double), MinMaxScaler(), SGD),
    "noise": make_stream_pipeline(StandardScaler(), Centre(noise=1.0), Normalizer(), SGD),
    "columns": make_stream_pipeline(COLUMNS, SGD),
    "both": make_stream_pipeline(COLUMNS, Logs()),
    "frames": make_stream_pipeline(MinMaxScaler(), NAMED, Logs()),
    "nested": make_stream_pipeline(make_stream_pipeline(Centre(), StandardScaler()), Logs()),
    "corrected": TemporalCorrection(SCALED, fading_factor=0.9),
    "augmented": make_stream_pipeline(MinMaxScaler(), TemporallyAugmented(SCALED)),
    "noisy": LabelNoise(SCALED, noise=0.4, random_state=1),
}
EVALUATORS = {
    "prequential": PrequentialEvaluator(random_state=0, return_models=True, n_warmup=3),
    "folds": KFoldEvaluator(n_folds=3, random_state=0, return_models=True),
    "holdout": HoldoutEvaluator(holdout=(X[:5], Y[:5]), every=7, return_models=True),
    "delayed": DelayedEvaluator("accuracy", delay=4, poll_every=3, return_models=True),
}


def both_ways(evaluator: Any, model: Any, *data: Any, **options: Any) -> list[Any]:
    """Results with kernels where there are any, and by the loop."""
    return [
        clone(evaluator).set_params(engine=engine).evaluate({"m": model}, *data, **options)
        for engine in ("auto", "loop")
    ]


def assert_alike(mixed: Any, loop: Any) -> None:
    np.testing.assert_equal(mixed.scores, loop.scores)
    assert mixed.predictions("m").tolist() == loop.predictions("m").tolist()
    models = [result.models["m"] for result in (mixed, loop)]
    if not isinstance(models[0], list):
        models = [[one] for one in models]
    for one, other in zip(*models, strict=True):
        assert_same_state(one, other)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("protocol", EVALUATORS)
def test_a_looped_part_is_the_loop(name: str, protocol: str) -> None:
    mixed, loop = both_ways(EVALUATORS[protocol], MODELS[name], X, Y)
    assert mixed.paths["m"].startswith("kernel; ") and " by loop: " in mixed.paths["m"]
    assert_alike(mixed, loop)


def live(evaluator: Any, model: Any, decision: str, chunks: list[slice]) -> Any:
    """Failures on the way, and what there is at the end of a run that goes on after them."""
    run = evaluator.start({"m": model}, classes=["no", "yes"])
    failures = []
    for rows in chunks:
        try:
            run.update(X[rows], Y[rows])
        except ModelError as error:
            for _ in range(3):
                cause = error.__cause__
                failures.append((str(error), error.row, type(cause).__name__, run.n_rows))
                try:
                    run.go_on(decision)
                    break
                except ModelError as again:
                    error = again
            else:
                run.go_on("leave_out")
    return failures, run.result()


FAILING = {
    "pipeline": lambda logs: make_stream_pipeline(StandardScaler(), Centre(), logs),
    "corrected": lambda logs: TemporalCorrection(make_stream_pipeline(StandardScaler(), logs)),
    "augmented": lambda logs: TemporallyAugmented(make_stream_pipeline(StandardScaler(), logs)),
    "noisy": lambda logs: LabelNoise(
        make_stream_pipeline(StandardScaler(), logs), noise=0.4, random_state=1
    ),
}


@pytest.mark.parametrize("fails", ["learn", "half", "ask", "exit", "label", "shape", "nothing"])
@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("decision", ["skip", "retry"])
def test_a_failure_is_that_of_the_loop(name: str, fails: str, decision: str) -> None:
    chunks = [slice(0, 7), slice(7, 8), slice(8, 13)]
    for at in (0, 1, 3, 6, 7, 9, 12):
        found = []
        for engine in ("auto", "loop"):
            evaluator = PrequentialEvaluator(
                "accuracy", engine=engine, return_models=True, keep_tape=True
            )
            found.append(live(evaluator, FAILING[name](Logs(fails, at)), decision, chunks))
        (failures, mixed), (expected, loop) = found
        assert failures == expected, at
        assert_alike(mixed, loop)
