"""Speed of many candidates along one stream: what a search does.

1. 100 candidates of scaler and corrected SGD on Electricity (where SKSTREAM_DATA names the folder
   that holds it): together, each alone, and by a loop of scikit-learn's calls, extrapolated from
   the first rows.
2. 50 candidates on generated rows, without a tape: rows times candidates per second, and memory.

    python -m benchmarks.bench_search
    python -m benchmarks.bench_search --rows 1000000 --repeat 1
"""

import argparse
import itertools
import os
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._kernel_speed import versions
from benchmarks.bench_folds import electricity, median_seconds
from skstream import (
    PrequentialEvaluator,
    RunOptions,
    TemporalCorrection,
    as_stream,
    make_stream_pipeline,
)

N_FEATURES = 20
CHUNK_ROWS = 1 << 16
# Rows of scikit-learn's loop.
LOOP_ROWS = 500
ALPHAS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
MORE_ALPHAS = tuple(float(alpha) for alpha in np.logspace(-6, -2, 10))
RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
SCHEDULES = ("constant", "invscaling")


def candidates(
    fading_factors: tuple[float, ...], alphas: tuple[float, ...] = ALPHAS
) -> dict[str, Pipeline]:
    """Candidates by schedules, five rates, penalties and fading factors."""
    return {
        f"{schedule}, eta0={eta0}, alpha={alpha}, fading={fading}": make_stream_pipeline(
            StandardScaler(),
            TemporalCorrection(
                SGDClassifier(loss="log_loss", alpha=alpha, eta0=eta0, learning_rate=schedule),
                fading_factor=fading,
            ),
        )
        for schedule, eta0, alpha, fading in itertools.product(
            SCHEDULES, RATES, alphas, fading_factors
        )
    }


def evaluate(models: dict[str, Any], X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Scores of models together; every one must have run on its kernel."""
    result = PrequentialEvaluator("accuracy", random_state=0).evaluate(models, X, y)
    assert set(result.paths.values()) == {"kernel"}
    return result.scores


def loop_seconds(model: Pipeline, X: np.ndarray, y: np.ndarray) -> float:
    """Processor time per row of scikit-learn's own calls, without a correction of the answers."""
    scaler, sgd = clone(model[0]), clone(model[-1].estimator)
    classes = np.unique(y)
    begin = time.process_time()
    for i in range(LOOP_ROWS):
        row = X[i : i + 1]
        if i:
            sgd.predict_proba(scaler.transform(row))
        sgd.partial_fit(scaler.partial_fit(row).transform(row), y[i : i + 1], classes)
    return (time.process_time() - begin) / LOOP_ROWS


class Chunks:
    """Generated rows, never held together; the label depends on five features and its past."""

    def __init__(self, rows: int):
        self.rows = rows

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the same chunks at every call."""
        rng = np.random.default_rng(0)
        for first in range(0, self.rows, CHUNK_ROWS):
            X = rng.normal(size=(min(CHUNK_ROWS, self.rows - first), N_FEATURES))
            yield X, (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(np.int64)


def on_electricity(repeat: int) -> None:
    """Print the first table."""
    stream = electricity()
    if stream is None:
        print("Electricity is not there: set SKSTREAM_DATA.")
        return
    X, y = stream
    models = candidates((0.99, 1.0))
    n_answers = len(y) * len(models)
    print(f"\nElectricity, {len(y):,} rows, {len(models)} candidates, one process")
    print(f"{'':24}{'seconds':>10}{'processor':>11}{'rows x candidates / s':>24}")
    for label, those in (
        ("together, 50 SGDs", models),
        ("together, 100 SGDs", candidates((0.99,), MORE_ALPHAS)),
    ):
        clock, processor = median_seconds(lambda those=those: evaluate(those, X, y), repeat)
        print(f"{label:24}{clock:10.2f}{processor:11.2f}{n_answers / processor:24,.0f}")
    alone: dict[str, Any] = {}

    def one_by_one() -> None:
        for name, model in models.items():
            alone.update(evaluate({name: model}, X, y))

    clock, processor = median_seconds(one_by_one, 1)
    print(f"{'one by one':24}{clock:10.2f}{processor:11.2f}{n_answers / processor:24,.0f}")
    assert alone == evaluate(models, X, y), "candidates together are not candidates alone"
    seconds = loop_seconds(next(iter(models.values())), X, y) * n_answers
    label = f"loop, from {LOOP_ROWS} rows"
    print(f"{label:24}{'':10}{seconds:11,.0f}{n_answers / seconds:24,.0f}")


def on_generated_rows(rows: int, repeat: int) -> None:
    """Print the second table."""
    models = candidates((1.0,))
    print(f"\n{rows:,} x {N_FEATURES} generated rows, {len(models)} candidates, no tape")
    print(f"{'rows':24}{'seconds':>10}{'processor':>11}{'rows x candidates / s':>24}{'peak MB':>9}")
    evaluator = PrequentialEvaluator("accuracy", random_state=0, run=RunOptions(keep_tape=False))
    for n in (rows // 10, rows):
        stream = as_stream(Chunks(n))
        clock, processor = median_seconds(
            lambda stream=stream: evaluator.evaluate(models, stream, classes=[0, 1]), repeat
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
        rate = n * len(models) / processor
        print(f"{n:<24,}{clock:10.2f}{processor:11.2f}{rate:24,.0f}{peak:9,.0f}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(versions("scikit-learn", "numpy", "numba"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    X, y = next(Chunks(500)())
    evaluate(dict(itertools.islice(candidates((0.99, 1.0)).items(), 4)), X, y)  # compiles
    on_electricity(options.repeat)
    on_generated_rows(options.rows, options.repeat)


if __name__ == "__main__":
    main()
