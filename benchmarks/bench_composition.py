"""Baselines, temporal meta-classifiers and pipelines, each row asked and then learnt.

Run from the top of the repository:

    python -m benchmarks.bench_composition
    python -m benchmarks.bench_composition --rows 50000 --clock cpu

"loop" calls ``predict`` and ``partial_fit`` row by row, on the first rows only; "kernel" is what
evaluation does. "/ inner" compares with the kernel of the model inside alone: what wrapping costs.
All figures are rows per second of wall time; with ``--clock cpu``, of the process's own time.
"""

import argparse
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks._kernel_speed import (
    CLOCKS,
    LOOP_ROWS,
    Timing,
    kernel_speed,
    loop_speed,
    shown,
    versions,
)
from skstream.baselines import MajorityClass, MajorityWindow, Persistent
from skstream.kernels import Task
from skstream.pipeline import make_stream_pipeline
from skstream.temporal import TemporalCorrection, TemporallyAugmented


def rows(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten features; the first says something of the class, the last has five values."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(n, 10)))
    X[:, 9] = rng.integers(0, 5, n)
    score = X[:, 0] + rng.normal(size=n) / 4
    quantiles = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.digitize(score, quantiles)


def cases() -> list[tuple[str, Any, Any, int]]:
    sgd, bayes = SGDClassifier(loss="log_loss", random_state=0), MultinomialNB()
    columns = make_column_transformer(
        (OneHotEncoder(categories=[range(5)]), [9]), (StandardScaler(), slice(0, 9))
    )
    scaled = make_stream_pipeline(StandardScaler(), sgd)
    return [
        ("Persistent", Persistent(), None, 2),
        ("MajorityClass", MajorityClass(), None, 2),
        ("MajorityClass, 7 classes", MajorityClass(), None, 7),
        ("MajorityWindow(1000)", MajorityWindow(), None, 2),
        ("augmented SGD", TemporallyAugmented(sgd), sgd, 2),
        ("corrected SGD", TemporalCorrection(sgd), sgd, 2),
        ("augmented naive Bayes, 7 classes", TemporallyAugmented(bayes), bayes, 7),
        ("corrected naive Bayes", TemporalCorrection(bayes), bayes, 2),
        ("corrected naive Bayes, 7 classes", TemporalCorrection(bayes), bayes, 7),
        ("the same, faded", TemporalCorrection(bayes, fading_factor=0.999), bayes, 7),
        ("scaler and SGD", scaled, sgd, 2),
        ("augmented scaler and SGD", TemporallyAugmented(scaled), scaled, 2),
        (
            "scaler and corrected SGD",
            make_stream_pipeline(StandardScaler(), TemporalCorrection(sgd)),
            scaled,
            2,
        ),
        ("one-hot, scaler and SGD", make_stream_pipeline(columns, sgd), scaled, 2),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--block", type=int, default=8192, help="rows per block")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--rows", type=int, default=200_000)
    arguments = parser.parse_args()
    timing, block = Timing(arguments.repeats, arguments.clock), arguments.block
    print(versions("scikit-learn", "numpy", "numba"))
    print(f"{timing}, blocks of {block:,}\n")
    heads = ("loop", "kernel", "/ loop", "/ inner")
    print(f"{'':36}" + "".join(f"{head:>12}" for head in heads))
    for name, model, inner, n_classes in cases():
        X, y = rows(arguments.rows, n_classes)
        task = Task(np.arange(n_classes))
        loop = loop_speed(model, X[:LOOP_ROWS], y[:LOOP_ROWS], task, timing)
        kernel = kernel_speed(model, X, y, task, block, timing)
        alone = inner and kernel_speed(inner, X, y, task, block, timing)
        share = f"{kernel / alone:.2f}" if alone else "-"
        cells = (shown(loop), shown(kernel), shown(kernel / loop), share)
        print(f"{name:36}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
