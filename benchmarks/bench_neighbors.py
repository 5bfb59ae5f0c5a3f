"""Nearest neighbours in a window, beside River's, which looks at every row of its window too.

Each row is predicted, then learnt. River gets rows that are dictionaries already, and keeps nothing
but the number of right answers; the evaluator measures accuracy. Both find the same neighbours, so
that they are right equally often, unless votes are tied. Processor time, in turn.

    python -m benchmarks.bench_neighbors
"""

import argparse
import os
import statistics
from time import process_time

import numpy as np
import river
from river import neighbors

import skstream
from skstream import PrequentialEvaluator
from skstream.neighbors import WindowedKNeighborsClassifier

#: Neighbours, rows in the window, features.
CASES = ((1, 1500, 2), (5, 1500, 2), (1, 100, 2), (1, 6000, 2), (1, 1500, 10), (1, 1500, 50))


def ours(k: int, window_size: int, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Rows per second, and the accuracy."""
    model = WindowedKNeighborsClassifier(k, window_size)
    started = process_time()
    result = PrequentialEvaluator("accuracy").evaluate({"m": model}, X, y)
    seconds = process_time() - started
    assert result.paths == {"m": "kernel"}
    return len(y) / seconds, result.scores["m"]["accuracy"]


def rivers(k: int, window_size: int, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Rows per second, and the accuracy."""
    engine = neighbors.LazySearch(window_size=window_size)
    model = neighbors.KNNClassifier(n_neighbors=k, engine=engine, weighted=False)
    rows, labels = [dict(enumerate(row)) for row in X.tolist()], y.tolist()
    started, n_right = process_time(), 0
    model.learn_one(rows[0], labels[0])
    for row, label in zip(rows[1:], labels[1:], strict=True):
        n_right += model.predict_one(row) == label
        model.learn_one(row, label)
    return len(y) / (process_time() - started), n_right / (len(y) - 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(
        f"skstream {skstream.__version__}, numpy {np.__version__}, River {river.__version__}, "
        f"load {os.getloadavg()[0]:.1f}; median of {options.repeat}"
    )
    print("| k | window | features | skstream rows/s | River rows/s | accuracies |")
    print("|---|---|---|---|---|---|")
    for k, window_size, n_features in CASES:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(options.rows, n_features))
        y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0])
        n = max(options.rows * 2 // n_features, 2 * window_size)
        case = k, window_size, X[:n], y[:n]
        found = [(ours(*case), rivers(*case)) for _ in range(options.repeat)]
        (_, right), (_, theirs) = found[0]
        rates = [statistics.median(turn[i][0] for turn in found) for i in (0, 1)]
        print(
            f"| {k} | {window_size:,} | {n_features} | {rates[0]:,.0f} | {rates[1]:,.0f} "
            f"| {right:.4f}, {theirs:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
