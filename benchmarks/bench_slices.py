"""Scores of slices: how long they take, and how often a group is called worse that is not.

    python -m benchmarks.bench_slices [--rows 1000000] [--slices 20] [--streams 300]

A log of two models, with the standard measures under no forgetting and a window of 10,000 rows, is
scored without and with slices, from arrays and from Parquet. Then streams of 2,000 rows, whose ten
groups are drawn at random, so that no group is worse: errors are independent, or come in runs of
20 rows on average.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from skstream import PredictionLog, score_predictions, score_slices

FORGETTING = {"all": "cumulative", "recent": "window:10000"}


def make_log(n_rows, n_slices):
    """Labels, two models, and a column of groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    columns = {"y": y, "slice": rng.integers(0, n_slices, n_rows)}
    for name, share in (("a", 0.2), ("b", 0.3)):
        columns[name] = np.where(rng.random(n_rows) < share, 1 - y, y)
    return columns


def seconds(call, repeats=3):
    """Least time of some calls, and what the last one returned."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def speed(n_rows, n_slices):
    """Print the time of every step."""
    columns = make_log(n_rows, n_slices)
    models = {name: columns[name] for name in "ab"}
    scoring, result = seconds(
        lambda: score_predictions(columns["y"], models, forgetting=FORGETTING)
    )
    again, _ = seconds(lambda: result.rescore(forgetting=FORGETTING))
    slicing, scores = seconds(lambda: score_slices(result, columns["slice"]))
    intervals, _ = seconds(scores.to_frame, 1)
    texts = np.char.add("slice ", columns["slice"].astype(str)).astype(object)
    of_texts, _ = seconds(lambda: score_slices(result, texts))
    numbers, _ = seconds(lambda: score_slices(result, np.random.default_rng(0).random(n_rows)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        pd.DataFrame(columns).to_parquet(path)
        log = PredictionLog(path, target="y", predictions={"a": "a", "b": "b"})
        reading, _ = seconds(lambda: log.score(forgetting=FORGETTING))
    print(f"{n_rows:,} rows, {n_slices} slices, 2 models, 5 measures, 2 mechanisms: seconds")
    print(f"  score arrays {scoring:.3f}, score a Parquet log {reading:.3f}, rescore {again:.3f}")
    print(f"  slices by integers {slicing:.3f}, by texts {of_texts:.3f}, quarters {numbers:.3f}")
    print(f"  intervals of all measures {intervals:.3f}")


def levels(n_streams):
    """Print how often the worst group is called certain although all groups are alike."""
    for run in (1, 20):
        certain = {"accuracy": 0, "kappa": 0}
        covered = 0
        for seed in range(n_streams):
            rng = np.random.default_rng(seed)
            starts = rng.random(2000) < 1 / run
            states = rng.random(2000) < 0.2
            wrong = states[np.maximum.accumulate(np.where(starts, np.arange(2000), 0))]
            y = rng.integers(0, 2, 2000)
            result = score_predictions(y, {"m": np.where(wrong, 1 - y, y)}, metrics=list(certain))
            scores = score_slices(result, rng.integers(0, 10, 2000))
            for metric in certain:
                certain[metric] += scores.worst(metric=metric).certain
            ends = [scores.interval(name) for name in scores.slice_names]
            covered += all(low <= 0.8 <= high for low, high in ends)
        shares = ", ".join(f"{metric} {n / n_streams:.3f}" for metric, n in certain.items())
        print(
            f"errors in runs of {run}: a worst group is called certain in {shares}; all intervals "
            f"of accuracy hold the truth in {covered / n_streams:.3f} ({n_streams} streams)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--slices", type=int, default=20)
    parser.add_argument("--streams", type=int, default=300)
    options = parser.parse_args()
    speed(options.rows, options.slices)
    levels(options.streams)
