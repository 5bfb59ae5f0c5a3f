"""Trees and forests, each row asked and then learnt: River's loop, its model by kernel, ours, MOA.

River gets rows that are dictionaries already, and keeps nothing but the number of right answers;
the evaluator measures accuracy, and the size of the model at the end. MOA runs its own loop in Java
over instances that are made already, where CapyMOA is installed (Java, pandas 2). Processor time of
all threads, in turn; compiling is counted apart; of MOA also that of the main thread alone, without
Java's compiler and collector. Electricity and Covertype are read from the folder that SKSTREAM_DATA
names, all numeric columns. Forests have ten trees; River's loop gets the first rows only, because
it is slow.

    python -m benchmarks.bench_trees [--rows 50000] [--repeat 3] [--forest-rows 5000]
"""

import argparse
import os
import statistics
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import process_time, thread_time
from typing import Any

import numba
import numpy as np
import river
from river import forest as river_forest
from river import tree as river_tree

import skstream
from benchmarks.bench_capymoa import prepared_java_loop
from skstream import PrequentialEvaluator
from skstream.drift import ADWIN
from skstream.ensemble import OnlineBagging
from skstream.streams import LED, SEA, RandomRBF
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier

HAS_MOA = find_spec("capymoa") is not None


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


def by_moa(kind: Callable[[Any], Any], X: Any, y: Any) -> tuple[float, float, float]:
    """Seconds of all threads, accuracy, and seconds of the main thread, of MOA's loop."""
    loop = prepared_java_loop(kind, X, y)
    started, started_main = process_time(), thread_time()
    answers = loop()
    seconds, of_main = process_time() - started, thread_time() - started_main
    return seconds, float(np.mean(np.array(answers) == y[1:])), of_main


def moa_tree(schema: Any) -> Any:
    """MOA's tree with the settings of the others."""
    kind = import_module("capymoa.classifier").HoeffdingTree
    return kind(schema, grace_period=200, confidence=1e-7, tie_threshold=0.05)


def moa_forest(schema: Any) -> Any:
    """MOA's forest of ten trees."""
    kind = import_module("capymoa.classifier").AdaptiveRandomForestClassifier
    return kind(schema, ensemble_size=10, random_seed=1)


def rates(name: str, X: Any, y: Any, turns: list[list[Any]], n: int) -> None:
    """Print a line: River's loop over n rows, then others over all, MOA last."""
    median = [statistics.median(one[0] for one in column) for column in zip(*turns, strict=True)]
    river_rate = n / median[0]
    faster = [len(y) / seconds for seconds in median[1:3]]
    cells = [f"{river_rate:,.0f}", *(f"{rate:,.0f} ({rate / river_rate:.0f})" for rate in faster)]
    if HAS_MOA:
        main = statistics.median(turn[3][2] for turn in turns)
        cells.append(f"{len(y) / median[3]:,.0f} / {len(y) / main:,.0f}")
    accuracies = ", ".join(f"{one[1]:.4f}" for one in turns[0])
    cells.append(accuracies)
    print(f"| {name} ({X.shape[1]}, {len(np.unique(y))}) | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="of made streams")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--forest-rows", type=int, default=5000, help="of River's forest")
    options = parser.parse_args()
    started = process_time()
    small = np.eye(9), np.arange(9) % 2
    for model in (
        *(HoeffdingTreeClassifier(), river_tree.HoeffdingTreeClassifier()),
        *(AdaptiveRandomForestClassifier(random_state=0), river_forest.ARFClassifier(seed=0)),
    ):
        by_evaluator(model, *small)
    moa = f"CapyMOA {import_module('capymoa').__version__}" if HAS_MOA else "no CapyMOA"
    print(
        f"skstream {skstream.__version__}, numpy {np.__version__}, numba {numba.__version__}, "
        f"River {river.__version__}, {moa}, load {os.getloadavg()[0]:.1f}; rows/s of processor "
        f"time, median of {options.repeat}; loading or compiling before: "
        f"{process_time() - started:.1f} s; MOA: all threads / main thread"
    )
    compare(
        "tree",
        options,
        lambda: river_tree.HoeffdingTreeClassifier(),
        lambda: HoeffdingTreeClassifier(),
        moa_tree,
        None,
    )
    compare(
        "forest",
        options,
        lambda: river_forest.ARFClassifier(seed=0),
        lambda: AdaptiveRandomForestClassifier(random_state=0),
        moa_forest,
        options.forest_rows,
    )
    compare_ensembles(options)
    compare_single_rows()


def compare(
    kind: str, options: Any, rivers: Any, ours: Any, moas: Any, n_of_loop: int | None
) -> None:
    """Print a table; accuracies are those of all rows, of River's loop those of its own."""
    print(f"\n| stream (features, classes) | River's loop | its {kind} by kernel | ours", end="")
    print(f"{' | MOA' * HAS_MOA} | accuracies in this order |")
    print("|---" * (5 + HAS_MOA) + "|")
    for name, (X, y) in streams(options.rows).items():
        n = min(n_of_loop or len(y), len(y))
        turns = []
        for _ in range(options.repeat):
            turn: list[Any] = [by_river(rivers(), X[:n], y[:n]), by_evaluator(rivers(), X, y)]
            turn.append(by_evaluator(ours(), X, y))
            turns.append(turn + [by_moa(moas, X, y)] * HAS_MOA)
        same = by_evaluator(rivers(), X[:n], y[:n])[1]
        assert turns[0][0][1] == same  # it is the same model
        rates(name, X, y, turns, n)


def compare_ensembles(options: Any) -> None:
    """Print rows per second and accuracies of ensembles of ten trees of ours."""
    tree, adwin = HoeffdingTreeClassifier(), ADWIN(direction="up")
    models = {
        "bag": OnlineBagging(tree, random_state=0),
        "bag with ADWIN": OnlineBagging(tree, detector=adwin, random_state=0),
        "leveraging bag": OnlineBagging(tree, detector=adwin, mean_weight=6, random_state=0),
        "forest": AdaptiveRandomForestClassifier(random_state=0),
        "patches": AdaptiveRandomForestClassifier(
            max_features=0.6, subspace="tree", random_state=0
        ),
    }
    print("\n| stream | " + " | ".join(models) + " |\n" + "|---" * (1 + len(models)) + "|")
    for name, (X, y) in streams(options.rows).items():
        cells = []
        for model in models.values():
            turns = [by_evaluator(model, X, y) for _ in range(options.repeat)]
            seconds = statistics.median(turn[0] for turn in turns)
            cells.append(f"{len(y) / seconds:,.0f} ({turns[0][1]:.4f})")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def compare_single_rows() -> None:
    """Print what a row alone costs a model that is asked and taught live."""
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
