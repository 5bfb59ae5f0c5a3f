"""Parts without a kernel are looped alone: the same as the loop of the whole, also in failure."""

from copy import deepcopy
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

import skstream as sk
from skstream.kernels import registry
from skstream.kernels.transformers.scalers import StandardScalerKernel
from skstream.utils._optional import optional_import
from tests.kernels._reference import assert_same_state, both_ways


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
N = 24
X = rng.normal(size=(N, 4))
Y = np.array(["no", "yes"])[(X[:, 0] + 0.5 * rng.normal(size=N) > 0).astype(int)]
DOUBLE, NO_NAN = FunctionTransformer(double), FunctionTransformer(np.nan_to_num)
COLUMNS = ColumnTransformer(
    [("a", StandardScaler(), [0, 1]), ("b", DOUBLE, [2])], remainder="passthrough"
)
SCALED = sk.make_stream_pipeline(StandardScaler(), Logs())
SGD = SGDClassifier(loss="log_loss", random_state=0)
MODELS = {
    "model": SCALED,
    "transformer": sk.make_stream_pipeline(DOUBLE, MinMaxScaler(), SGD),
    "noise": sk.make_stream_pipeline(StandardScaler(), Centre(noise=1.0), Normalizer(), SGD),
    "columns": sk.make_stream_pipeline(COLUMNS, SGD),
    "both": sk.make_stream_pipeline(COLUMNS, Logs()),
    "nested": sk.make_stream_pipeline(sk.make_stream_pipeline(Centre(), StandardScaler()), Logs()),
    "corrected": sk.TemporalCorrection(SCALED, fading_factor=0.9),
    "augmented": sk.make_stream_pipeline(MinMaxScaler(), sk.TemporallyAugmented(SCALED)),
    "noisy": sk.LabelNoise(SCALED, noise=0.4, random_state=1),
    "wrapped": sk.TemporalCorrection(sk.TemporallyAugmented(Logs())),
    "wrapped noise": sk.LabelNoise(Logs(), noise=0.4, random_state=1),
    "corrected alone": sk.TemporalCorrection(Logs(), fading_factor=0.9),
    "augmented alone": sk.TemporallyAugmented(Logs(), n_lags=2),
    "noisy alone": sk.LabelNoise(Logs(), noise=0.4, random_state=1),
    "corrected and augmented": sk.TemporalCorrection(sk.TemporallyAugmented(Logs())),
}
if find_spec("pandas"):
    NAMED = StandardScaler().set_output(transform="pandas")
    MODELS["frames"] = sk.make_stream_pipeline(MinMaxScaler(), NAMED, Logs())
EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(random_state=0, n_warmup=3),
    "folds": sk.KFoldEvaluator(n_folds=3, random_state=0),
    "holdout": sk.HoldoutEvaluator(holdout=(X[:5], Y[:5]), every=7),
    "delayed": sk.DelayedEvaluator("accuracy", delay=4, polling=sk.Polling(poll_every=3)),
}


def assert_alike(mixed: Any, loop: Any) -> None:
    np.testing.assert_equal(mixed.scores, loop.scores)
    np.testing.assert_array_equal(
        mixed.predictions("m", every_row=True), loop.predictions("m", every_row=True)
    )
    assert_same_state(mixed.models["m"], loop.models["m"])


CASES = [
    *((name, "prequential") for name in MODELS),
    *((name, protocol) for name in ("noise", "both") for protocol in ("folds", "holdout")),
    *((name, "delayed") for name in ("noise", "corrected", "corrected alone", "augmented alone")),
    ("corrected alone", "folds"),
]


@pytest.mark.parametrize(("name", "protocol"), CASES)
def test_a_looped_part_is_the_loop(name: str, protocol: str) -> None:
    mixed, loop = both_ways(EVALUATORS[protocol], MODELS[name], X, Y)
    assert mixed.paths["m"].startswith("kernel; ") and " by loop: " in mixed.paths["m"]
    assert_alike(mixed, loop)


def live(evaluator: Any, model: Any, chunks: list[slice]) -> Any:
    """The failure that ends a live run, if one does, and what there is at its end."""
    run = evaluator.start({"m": model}, classes=["no", "yes"], return_models=True)
    for rows in chunks:
        try:
            run.update(X[rows], Y[rows])
        except sk.ModelError as error:
            return (str(error), error.row, type(error.__cause__).__name__), run.result()
    return None, run.result()


def live_both_ways(model: Any, chunks: list[slice]) -> list[Any]:
    evaluator = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True))
    return [
        live(clone(evaluator).set_params(run__kernels=engine == "auto"), deepcopy(model), chunks)
        for engine in ("auto", "loop")
    ]


FAILING = {
    "pipeline": lambda logs: sk.make_stream_pipeline(StandardScaler(), Centre(), logs),
    "corrected": lambda logs: sk.TemporalCorrection(
        sk.make_stream_pipeline(StandardScaler(), logs)
    ),
    "augmented": lambda logs: sk.TemporallyAugmented(
        sk.make_stream_pipeline(StandardScaler(), logs)
    ),
    "noisy": lambda logs: sk.LabelNoise(
        sk.make_stream_pipeline(StandardScaler(), logs), noise=0.4, random_state=1
    ),
    "corrected alone": sk.TemporalCorrection,
    "augmented alone": sk.TemporallyAugmented,
    "noisy alone": lambda logs: sk.LabelNoise(logs, noise=0.4, random_state=1),
}


KINDS = ("learn", "half", "ask", "exit", "label", "shape", "nothing")
FAILURES = [
    *(("pipeline", fails) for fails in KINDS),
    *((name, fails) for name in ("corrected", "noisy") for fails in ("half", "shape")),
    *(("augmented", fails) for fails in ("half", "ask")),
    *(("corrected alone", fails) for fails in ("learn", "half", "ask", "nothing")),
    *(("augmented alone", fails) for fails in ("half", "ask", "exit", "label")),
    *(("noisy alone", fails) for fails in ("learn", "ask", "label")),
]


@pytest.mark.filterwarnings("ignore:No row was scored")
@pytest.mark.parametrize(("name", "fails"), FAILURES)
def test_a_failure_is_that_of_the_loop(name: str, fails: str) -> None:
    chunks = [slice(0, 6), slice(6, 7), slice(7, 11)]
    for at in (1, 6, 8):
        model = FAILING[name](Logs(fails, at))
        (failure, mixed), (expected, loop) = live_both_ways(model, chunks)
        assert failure == expected, at
        assert failure is not None or fails == "nothing"
        # Bad answers are found at the end of a part: how long it is, is not promised.
        if fails not in ("label", "shape", "nothing"):
            assert_alike(mixed, loop)


@pytest.mark.parametrize("at", [2, 9])
def test_an_interrupt_leaves_the_result_so_far(at: int) -> None:
    results = []
    for engine in ("auto", "loop"):
        evaluator = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=engine == "auto"))
        model = sk.make_stream_pipeline(StandardScaler(), Logs("interrupt", at))
        with pytest.raises(sk.EvaluationInterrupted) as caught:
            evaluator.evaluate({"m": model}, X, Y)
        results.append(caught.value.result)
    assert [result is None for result in results] in ([True, True], [False, False])
    if results[0] is not None:
        np.testing.assert_equal(results[0].scores, results[1].scores)


def test_weights_batches_and_fitted_models() -> None:
    target, weight = X @ [1.0, 2.0, 0.0, 0.5], rng.choice([0.0, 1.0, 2.0, 3.0], N)
    model = sk.make_stream_pipeline(StandardScaler(), Mean())
    evaluator = sk.PrequentialEvaluator("mae")
    assert_alike(*both_ways(evaluator, model, X, target, sample_weight=weight))
    batches = sk.PrequentialEvaluator("accuracy", batch_size=5)
    model = sk.make_stream_pipeline(Normalizer(), Centre(), Logs())
    mixed, loop = both_ways(batches, model, X, Y)
    assert mixed.paths["m"].startswith("kernel; Centre by loop")
    assert_alike(mixed, loop)
    fitted = sk.make_stream_pipeline(COLUMNS, Logs()).partial_fit(X, Y, classes=np.unique(Y))
    results = both_ways(sk.PrequentialEvaluator("accuracy"), fitted, X, Y, warm_start=True)
    assert results[0].paths["m"].startswith("kernel; ")
    assert_alike(*results)


@pytest.mark.filterwarnings("ignore:No row was scored")
def test_a_transformer_that_fails_is_met_by_the_loop() -> None:
    for at in (2, 8):
        model = sk.make_stream_pipeline(StandardScaler(), Centre(noise=0.5, fails_at=at), Logs())
        (failure, mixed), (expected, loop) = live_both_ways(model, [slice(0, 12)])
        assert failure == expected and failure
        assert_alike(mixed, loop)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_rows_that_a_kernel_declines_go_through_the_loop() -> None:
    missing = X.copy()
    missing[11, 0] = np.nan
    model = sk.make_stream_pipeline(StandardScaler(), NO_NAN, SGD)
    mixed, loop = both_ways(sk.PrequentialEvaluator("accuracy"), model, missing, Y)
    path = mixed.paths["m"]
    assert path.startswith("kernel and loop; FunctionTransformer by loop: FunctionTransformer with")
    assert path.endswith("; some rows by loop: rows with NaN or infinity have no kernel")
    assert_alike(mixed, loop)


def test_a_run_goes_on_after_loading(tmp_path: Any) -> None:
    evaluator = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True))
    for engine in ("auto", "loop"):
        run = clone(evaluator).set_params(run__kernels=engine == "auto")
        run = run.start({"m": MODELS["both"]}, classes=["no", "yes"], return_models=True)
        run.update(X[:9], Y[:9])
        run.save(tmp_path / engine)
    runs = [sk.load_run(tmp_path / engine) for engine in ("auto", "loop")]
    for run in runs:
        run.update(X[9:], Y[9:])
    assert_alike(*(run.result() for run in runs))


def test_nothing_but_loops_is_the_loop() -> None:
    model = sk.make_stream_pipeline(Centre(), Logs())
    result = sk.PrequentialEvaluator("accuracy").evaluate({"m": model}, X, Y)
    assert result.paths == {"m": "loop: Centre has no kernel"}


class Shows(StandardScalerKernel):
    """A kernel that gives the next step a frame in place of an array."""

    def step(self, state: Any, block: Any) -> Any:
        state, scaled = super().step(state, block)
        frame = optional_import("pandas", "A frame").DataFrame
        return state, replace(scaled, learn_X=frame(scaled.learn_X), ask_X=frame(scaled.ask_X))


@pytest.mark.skipif(find_spec("pandas") is None, reason="makes a frame")
def test_a_part_that_would_be_shown_other_rows_is_not_looped_alone(monkeypatch: Any) -> None:
    monkeypatch.setitem(registry._TRANSFORMERS, StandardScaler, Shows)
    mixed, loop = both_ways(sk.PrequentialEvaluator("accuracy"), SCALED, X, Y)
    assert "rows that a part is shown otherwise in the loop" in mixed.paths["m"]
    assert_alike(mixed, loop)
