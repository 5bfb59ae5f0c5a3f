"""Blocks in parts: what fits into memory, and what a kernel declined."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import skstream.core.engine.kernel as by_kernel
from skstream import PrequentialEvaluator, RunOptions, TemporalCorrection, TemporallyAugmented
from skstream.core.engine.block import cuts, part_of
from skstream.core.engine.run import ModelRun
from skstream.kernels import Declined, Task, find_kernel
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.pipeline import make_stream_pipeline
from tests._examples import newest_alone
from tests.kernels._reference import make_block

N = 1800
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = RNG.integers(0, 3, N)


def evaluate(model: Any, engine: str = "auto", X: Any = X, y: Any = Y, **how: Any) -> Any:
    evaluator = PrequentialEvaluator(
        "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto")
    )
    return evaluator.evaluate({"m": model}, X, y, **how, return_models=True)


@pytest.mark.parametrize("timeline", ["prequential", "polls", "holdout"])
def test_parts_are_the_whole(timeline: str) -> None:
    rng = np.random.default_rng(1)
    block = make_block(X[:100], Y[:100], timeline, rng)
    for n_rows in (1, 7, 50, 1000):
        parts = [part_of(block, *part) for part in cuts(block, n_rows)]
        learnt = 0
        stamps = []
        for part in parts:
            assert max(part.n_learns, part.n_asks) <= n_rows
            stamps.append(part.stamp + learnt)
            learnt += part.n_learns
        np.testing.assert_array_equal(np.concatenate(stamps), block.stamp)
        for name in ("learn_index", "ask_index", "y"):
            joined = np.concatenate([getattr(part, name) for part in parts])
            np.testing.assert_array_equal(joined, getattr(block, name))


def test_batches_and_groups_stay_together() -> None:
    block = make_block(X[:60], Y[:60], "holdout", np.random.default_rng(1))
    batches = np.append(np.arange(0, block.n_learns, 7), block.n_learns)
    stamp = batches[np.searchsorted(batches, block.stamp)]
    groups = np.append(np.flatnonzero(np.diff(stamp, prepend=-1)), block.n_asks)
    block = replace(block, batches=batches, stamp=stamp, groups=groups)
    for n_rows in (1, 5, 20):
        parts = list(cuts(block, n_rows))
        assert len(parts) > 2
        assert all(learns.stop in batches and asks.stop in groups for learns, asks in parts)
        whole = [part_of(block, *part) for part in parts]
        sizes = np.concatenate([np.diff(part.batches) for part in whole])
        np.testing.assert_array_equal(sizes[sizes > 0], np.diff(batches))
        sizes = np.concatenate([np.diff(part.groups) for part in whole])
        np.testing.assert_array_equal(sizes[sizes > 0], np.diff(groups))


WIDE = [
    make_stream_pipeline(PolynomialFeatures(2), SGDClassifier(random_state=0)),
    make_stream_pipeline(
        make_stream_pipeline(StandardScaler(), PolynomialFeatures(2)), SGDClassifier(random_state=0)
    ),
    TemporallyAugmented(SGDClassifier(random_state=0), n_lags=5),
    TemporalCorrection(SGDClassifier(loss="log_loss", random_state=0)),
    TemporalCorrection(TemporallyAugmented(IncrementalGaussianNB(), n_lags=3)),
]


@pytest.mark.parametrize("model", WIDE, ids=lambda model: type(model).__name__)
def test_parts_change_nothing(model: Any, monkeypatch: Any) -> None:
    whole = evaluate(model)
    monkeypatch.setattr(by_kernel, "_BYTES_AT_ONCE", 1 << 10)
    parts = []
    step = by_kernel.ByKernel.step
    monkeypatch.setattr(
        by_kernel.ByKernel,
        "step",
        lambda self, block: parts.append(block.n_learns) or step(self, block),
    )
    cut = evaluate(model)
    assert max(parts[1:]) <= 64 and cut.paths == {"m": "kernel"}
    np.testing.assert_array_equal(
        cut.predictions("m", every_row=True), whole.predictions("m", every_row=True)
    )


def peak_of(model: Any, X: Any, y: Any) -> float:
    tracemalloc.start()
    evaluate(model, X=X, y=y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


@newest_alone
def test_memory_is_bounded_by_the_width_of_what_comes_out(rng: np.random.Generator) -> None:
    """Of 54 columns `PolynomialFeatures(2)` makes 1,485: a chunk of 65,536 rows took 1.1 GB."""
    n = 8_000
    X, y = rng.normal(size=(n, 54)), rng.integers(0, 2, n)
    model = make_stream_pipeline(PolynomialFeatures(2), SGDClassifier(random_state=0))
    assert peak_of(model, X, y) < n * 1485 * 8 / 1e6
    many = rng.integers(0, 50, n)
    augmented = TemporallyAugmented(MultinomialNB(), n_lags=30)
    assert peak_of(augmented, np.abs(X[:, :3]), many) < n * 1500 * 8 / 1e6


class TestDeclined:
    """Rows that a kernel declines cost the loop for them alone."""

    @staticmethod
    def run_in_chunks(engine: str, odd: tuple[int, ...]) -> Any:
        """Chunks of 40 rows, some of them of a type that no kernel reads."""
        evaluator = PrequentialEvaluator(
            "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto", keep_tape=True)
        )
        model = make_stream_pipeline(StandardScaler(), SGDClassifier())
        run = evaluator.start({"m": model}, classes=[0, 1, 2])
        for k in range(10):
            rows = slice(40 * k, 40 * (k + 1))
            run.update(X[rows].astype(object) if k in odd else X[rows], Y[rows])
        return run.result()

    def test_the_kernel_goes_on_after_rows_that_it_declines(self) -> None:
        auto, loop = (self.run_in_chunks(engine, (3, 4, 8)) for engine in ("auto", "loop"))
        np.testing.assert_array_equal(
            auto.predictions("m", every_row=True), loop.predictions("m", every_row=True)
        )
        reason = "object rows have no kernel"
        assert auto.paths == {"m": f"kernel and loop: {reason}"}
        assert f"m (kernel and loop): {reason}" in str(auto)
        assert loop.paths == {"m": "loop"}

    def test_most_rows_go_through_the_kernel(self, monkeypatch: Any) -> None:
        looped = []
        run = ModelRun._run_loop
        monkeypatch.setattr(
            ModelRun,
            "_run_loop",
            lambda self, block: looped.append(block.n_learns) or run(self, block),
        )
        weight = np.ones(N)
        weight[1500] = 1e-7
        result = evaluate(IncrementalGaussianNB(), sample_weight=weight)
        assert 0 < sum(looped) <= 1100
        assert "below 1e-6" in result.paths["m"]
        expected = evaluate(IncrementalGaussianNB(), "loop", sample_weight=weight)
        assert (
            result.predictions("m", every_row=True) != expected.predictions("m", every_row=True)
        ).sum() == 0

    def test_a_kernel_that_declines_every_block_is_tried_ever_less(self, monkeypatch: Any) -> None:
        tried = []
        kernel = type(find_kernel(IncrementalGaussianNB(), Task(np.arange(3))))

        def decline(self: Any, state: Any, block: Any) -> Any:
            tried.append(block.n_learns)
            raise Declined("nothing has a kernel today")

        monkeypatch.setattr(kernel, "step", decline)
        evaluator = PrequentialEvaluator("accuracy", random_state=0)
        run = evaluator.start({"m": IncrementalGaussianNB()}, classes=[0, 1, 2])
        for begin in range(0, 1000, 10):
            run.update(X[begin : begin + 10], Y[begin : begin + 10])
        result = run.result()
        assert len(tried) < 12
        assert result.paths == {"m": "loop: nothing has a kernel today"}

    def test_a_failure_in_the_loop_names_its_row(self) -> None:
        bad = X.copy()
        bad[1200, 1] = np.nan
        evaluator = PrequentialEvaluator("accuracy", error_score=0.0, random_state=0)
        models = {"m": SGDClassifier(), "n": IncrementalGaussianNB()}
        with pytest.warns(FitFailedWarning):
            result = evaluator.evaluate(models, bad, Y)
        assert all("row 1200" in message for message in result.failures.values())
        assert len(result.failures) == 2
