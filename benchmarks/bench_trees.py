"""Trees and forests, each row asked and then learnt: River's loop, its model by kernel, ours.

River gets rows that are dictionaries already, and keeps nothing but the number of right answers;
the evaluator measures accuracy. Processor time, in turn; compiling is counted apart. Electricity
and Covertype are read from the folder that SKSTREAM_DATA names, all numeric columns. Forests have
ten trees; River's loop gets the first rows only, because it is slow.

    python -m benchmarks.bench_trees [--rows 50000] [--repeat 3] [--forest-rows 5000]
"""

import argparse
import os
import statistics
from pathlib import Path
from time import process_time
from typing import Any

import numba
import numpy as np
import river
from river import forest as river_forest
from river import tree as river_tree

import skstream
from skstream import PrequentialEvaluator
from skstream.streams import LED, SEA, RandomRBF
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier


def streams(n_rows: int) -> dict[str, tuple[Any, Any]]:
    """Rows and labels by name."""
    found = {}
    folder = Path(os.environ.get("SKSTREAM_DATA", ""))
    for name, file in (("Electricity", "electricity"), ("Covertype head", "covertype_head20k")):
        path = folder / f"{file}.parquet"
        if path.exists():
            import pandas

            frame = pandas.read_parquet(path)
            X = frame.drop(columns="class").astype(np.float64).to_numpy()
            found[name] = X, pandas.factorize(frame["class"], sort=True)[0]
    made = {
        "RBF": RandomRBF(n_rows, random_state=0),
        "LED": LED(n_rows, random_state=0),
        "SEA": SEA(n_rows, random_state=0),
    }
    for name, stream in made.items():
        chunks = list(stream)
        X = np.concatenate([np.asarray(chunk.X, dtype=np.float64) for chunk in chunks])
        found[name] = X, np.concatenate([chunk.y for chunk in chunks])
    return found


def by_river(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Seconds and accuracy of River's own loop."""
    rows, labels = [dict(enumerate(row)) for row in X.tolist()], y.tolist()
    started, n_right = process_time(), 0
    model.learn_one(rows[0], labels[0])
    for row, label in zip(rows[1:], labels[1:], strict=True):
        n_right += model.predict_one(row) == label
        model.learn_one(row, label)
    return process_time() - started, n_right / (len(y) - 1)


def by_evaluator(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Seconds and accuracy of an evaluation."""
    started = process_time()
    result = PrequentialEvaluator("accuracy").evaluate({"m": model}, X, y)
    seconds = process_time() - started
    assert result.paths == {"m": "kernel"}
    return seconds, result.scores["m"]["accuracy"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="of made streams")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--forest-rows", type=int, default=5000, help="of River's forest")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    small = rng.random((300, 2)), rng.integers(0, 2, 300)
    started = process_time()
    by_evaluator(HoeffdingTreeClassifier(), *small)
    by_evaluator(river_tree.HoeffdingTreeClassifier(), *small)
    print(
        f"skstream {skstream.__version__}, numpy {np.__version__}, numba {numba.__version__}, "
        f"River {river.__version__}, load {os.getloadavg()[0]:.1f}; rows/s of processor time, "
        f"median of {options.repeat}; loading or compiling before: {process_time() - started:.1f} s"
    )
    print(
        "| stream (features, classes) | River's loop | River's tree by kernel | ours | accuracies |"
    )
    print("|---|---|---|---|---|")
    for name, (X, y) in streams(options.rows).items():
        turns = [
            (
                by_river(river_tree.HoeffdingTreeClassifier(), X, y),
                by_evaluator(river_tree.HoeffdingTreeClassifier(), X, y),
                by_evaluator(HoeffdingTreeClassifier(), X, y),
            )
            for _ in range(options.repeat)
        ]
        assert turns[0][0][1] == turns[0][1][1]  # it is the same tree
        rates = [len(y) / statistics.median(turn[i][0] for turn in turns) for i in range(3)]
        river_rate, kernel_rate, own_rate = rates
        print(
            f"| {name} ({X.shape[1]}, {len(np.unique(y))}) | {river_rate:,.0f} "
            f"| {kernel_rate:,.0f} ({kernel_rate / river_rate:.0f}) "
            f"| {own_rate:,.0f} ({own_rate / river_rate:.0f}) "
            f"| {turns[0][1][1]:.4f}, {turns[0][2][1]:.4f} |",
            flush=True,
        )
    compare_forests(options)


def compare_forests(options: Any) -> None:
    """Print the table of forests."""
    n = options.forest_rows
    started = process_time()
    by_evaluator(river_forest.ARFClassifier(seed=0), np.eye(9), np.arange(9) % 2)
    by_evaluator(AdaptiveRandomForestClassifier(random_state=0), np.eye(9), np.arange(9) % 2)
    print(f"\nloading or compiling before: {process_time() - started:.1f} s")
    print(f"| stream | River's loop, {n:,} rows | by kernel | ours | accuracies on these rows |")
    print("|---|---|---|---|---|")
    for name, (X, y) in streams(options.rows).items():
        turns = [
            (
                by_river(river_forest.ARFClassifier(seed=0), X[:n], y[:n]),
                by_evaluator(river_forest.ARFClassifier(seed=0), X, y),
                by_evaluator(AdaptiveRandomForestClassifier(random_state=0), X, y),
            )
            for _ in range(options.repeat)
        ]
        same = by_evaluator(river_forest.ARFClassifier(seed=0), X[:n], y[:n])[1]
        assert turns[0][0][1] == same  # it is the same forest
        river_rate = len(y[:n]) / statistics.median(turn[0][0] for turn in turns)
        kernel_rate, own_rate = (
            len(y) / statistics.median(turn[i][0] for turn in turns) for i in (1, 2)
        )
        first = by_evaluator(AdaptiveRandomForestClassifier(random_state=0), X[:n], y[:n])[1]
        print(
            f"| {name} ({X.shape[1]}, {len(np.unique(y))}) | {river_rate:,.0f} "
            f"| {kernel_rate:,.0f} ({kernel_rate / river_rate:.0f}) "
            f"| {own_rate:,.0f} ({own_rate / river_rate:.0f}) "
            f"| {turns[0][0][1]:.4f}, {first:.4f} |",
            flush=True,
        )
    X, y = streams(20_000)["RBF"]
    print("\n| model (RBF, after 20,000 rows) | one row: ask, learn | a hundred rows: ask, learn |")
    print("|---|---|---|")
    for model in (HoeffdingTreeClassifier(), AdaptiveRandomForestClassifier(random_state=0)):
        model.fit(X, y)
        costs = []
        for n in (1, 100):
            turns = []
            for begin in range(0, 50 * n, n):
                rows = slice(begin, begin + n)
                started = process_time()
                model.predict(X[rows])
                asked = process_time()
                model.partial_fit(X[rows], y[rows])
                turns.append((asked - started, process_time() - asked))
            ask, learn = np.median(turns, axis=0) * 1e3
            costs.append(f"{ask:.2f} ms, {learn:.2f} ms")
        print(f"| {type(model).__name__} | {costs[0]} | {costs[1]} |")


if __name__ == "__main__":
    main()
