"""Online bagging beside River's, and dynamic weighted majority, over Gaussian naive Bayes.

Each row is predicted, then learnt; half way through, the classes change places. River gets rows
that are dictionaries already, and keeps nothing but the number of right answers; the evaluator
measures accuracy. River draws other weights, so that accuracies agree roughly only; and its
detectors read 1 where a member is right, so that with ADWIN they need not agree at all. "By loop":
the same ensemble by calls of its own methods. Processor time, in turn.

    python -m benchmarks.bench_ensembles
"""

import argparse
import os
import statistics
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import river
from river import ensemble, naive_bayes

import skstream
from skstream import DynamicWeightedMajority, OnlineBagging, PrequentialEvaluator, RunOptions
from skstream.drift import ADWIN
from skstream.naive_bayes import IncrementalGaussianNB

NB = IncrementalGaussianNB()
#: Ours, and how River's is made, if it has one.
CASES: dict[str, tuple[Any, Callable[[], Any] | None]] = {
    "naive Bayes alone": (NB, naive_bayes.GaussianNB),
    "OnlineBagging, 10 members": (
        OnlineBagging(NB),
        lambda: ensemble.BaggingClassifier(naive_bayes.GaussianNB(), n_models=10, seed=0),
    ),
    "the same with ADWIN": (
        OnlineBagging(NB, detector=ADWIN(direction="up")),
        lambda: ensemble.ADWINBaggingClassifier(naive_bayes.GaussianNB(), n_models=10, seed=0),
    ),
    "DynamicWeightedMajority": (DynamicWeightedMajority(NB), None),
    "the same, period=1": (DynamicWeightedMajority(NB, period=1), None),
}
#: Rows for those that are called row by row.
LOOPED_ROWS, RIVER_ROWS = 400, 4_000


def made(n_rows: int, n_features: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes, whose means change places half way."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    side = np.where(np.arange(n_rows) < n_rows // 2, y, 1 - y)
    return rng.normal(size=(n_rows, n_features)) + 0.5 * side[:, None], y


def ours(model: Any, n_rows: int, engine: str) -> tuple[float, float]:
    """Rows per second, and the accuracy."""
    X, y = made(n_rows)
    evaluator = PrequentialEvaluator(
        "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto")
    )
    started = process_time()
    result = evaluator.evaluate({"m": model}, X, y)
    seconds = process_time() - started
    assert result.paths["m"] == ("loop" if engine == "loop" else "kernel")
    return n_rows / seconds, result.scores["m"]["accuracy"]


def rivers(make: Callable[[], Any] | None, n_rows: int) -> tuple[float, float]:
    """Rows per second, and the accuracy."""
    if make is None:
        return float("nan"), float("nan")
    model, (X, y) = make(), made(n_rows)
    rows, labels = [dict(enumerate(row)) for row in X.tolist()], y.tolist()
    started, n_right = process_time(), 0
    model.learn_one(rows[0], labels[0])
    for row, label in zip(rows[1:], labels[1:], strict=True):
        n_right += model.predict_one(row) == label
        model.learn_one(row, label)
    return n_rows / (process_time() - started), n_right / (n_rows - 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # logarithms of 0 in the first rows of a class
    print(
        f"skstream {skstream.__version__}, numpy {np.__version__}, River {river.__version__}, "
        f"load {os.getloadavg()[0]:.1f}; {options.rows:,} rows of 10 numbers, "
        f"median of {options.repeat}"
    )
    print("| model | rows/s | by loop | River | times River | accuracies, first rows |")
    print("|---|---|---|---|---|---|")
    for name, (model, make) in CASES.items():
        turns = [
            (
                ours(model, options.rows, "auto")[0],
                ours(model, LOOPED_ROWS, "loop")[0],
                rivers(make, RIVER_ROWS)[0],
            )
            for _ in range(options.repeat)
        ]
        fast, looped, other = np.median(turns, axis=0)
        ratio = statistics.median(turn[0] / turn[2] for turn in turns)
        right = ours(model, RIVER_ROWS, "auto")[1], rivers(make, RIVER_ROWS)[1]
        print(
            f"| {name} | {fast:,.0f} | {looped:,.0f} | {other:,.0f} | {ratio:,.0f} "
            f"| {right[0]:.3f}, {right[1]:.3f} |".replace("nan", "-"),
            flush=True,
        )


if __name__ == "__main__":
    main()
