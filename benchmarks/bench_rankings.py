"""Values per second of AUC and average precision as they run, beside River's rolling areas.

    python -m benchmarks.bench_rankings [--rows 1000000] [--repeats 3] [--cpu]
    SKSTREAM_DISABLE_NUMBA=1 python -m benchmarks.bench_rankings

Prints the speed of each under every mechanism of forgetting, with the curves built: at every row,
at every thousandth, and at up to 1,024 checkpoints; of two classes, and the area of seven classes
(each against the rest). What takes longest is measured on fewer rows. River's areas over a window,
read at every row, take one row at a time, and their speed does not depend on the number of rows;
beside them stand the values at the last row (its precision-recall curve is another one). Every
speed is the median of the repeats. On a busy machine --cpu counts processor time instead of time
passed.
"""

import argparse
import platform
import statistics
import time
from importlib import metadata

import numpy as np

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import resolve_metrics
from skstream.core.measures.running import RunningMeasures
from skstream.utils._numba import numba_enabled

MECHANISMS = ("window:1000", "cumulative", "fading:0.999", "adwin")
PEER_ROWS = 20_000
#: Rows at every row: a value of average precision is formed from all rows in the window.
EVERY_ROW = {"auc": 200_000, "average_precision": 50_000}


def make_stream(n, n_classes, seed=0):
    """Labels of unequal frequencies, the most probable answers, and probabilities."""
    rng = np.random.default_rng(seed)
    share = np.arange(n_classes, 0, -1.0) ** 2
    y = rng.choice(n_classes, n, p=share / share.sum())
    scores = rng.normal(size=(n, n_classes))
    scores[np.arange(n), y] += 1.0
    scores = np.exp(scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return y, scores.argmax(axis=1), scores


def run(stream, metric, forgetting, record_every):
    y, p, scores = stream
    classes = np.arange(scores.shape[1])
    running = RunningMeasures(
        resolve_metrics([metric], classes=classes),
        as_forgetting(forgetting),
        classes=classes,
        record_every=record_every,
    )
    running.update(y, p, scores=scores)
    return running.curves()


def river_run(stream, name="RollingROCAUC"):
    from river import metrics

    area = getattr(metrics, name)(window_size=1000)
    value = np.nan
    for true, score in zip(stream[0].tolist(), stream[2][:, 1].tolist(), strict=True):
        area.update(bool(true), score)
        value = area.get()
    return value


def million_rows_per_second(function, n, repeats, clock):
    seconds = []
    for _ in range(repeats):
        start = clock()
        function()
        seconds.append(clock() - start)
    return n / statistics.median(seconds) / 1e6


def compare(n, repeats, clock):
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy"))
    compiled = "with" if numba_enabled() else "without"
    print(f"{platform.python_version()}, {versions}, {compiled} numba; median of {repeats}")
    print(f"\n{'million rows/s':34}{'at every row':>14}{'every 1,000':>14}{'1,024 points':>14}")
    run(make_stream(100_000, 2), "auc", "window:1000", 1)  # compiled before
    for metric, n_classes in (("auc", 2), ("average_precision", 2), ("auc", 7)):
        stream = make_stream(n, n_classes)
        few = [array[: min(EVERY_ROW[metric] // max(n_classes - 1, 1), n)] for array in stream]
        for forgetting in MECHANISMS:
            speeds = []
            for every in (1, 1_000, None):
                if metric != "auc" and every == 1 and forgetting != "window:1000":
                    speeds.append(np.nan)
                    continue
                some = few if every == 1 else stream
                speeds.append(
                    million_rows_per_second(
                        lambda some=some, every=every, name=forgetting, metric=metric: run(
                            some, metric, name, every
                        ),
                        len(some[0]),
                        repeats,
                        clock,
                    )
                )
            cells = "".join(f"{speed:>14.3g}" for speed in speeds)
            print(f"{f'{metric}, {n_classes} classes, {forgetting}':34}{cells}")
    stream = make_stream(EVERY_ROW["auc"], 2)
    try:
        version = metadata.version("river")
    except metadata.PackageNotFoundError:
        print("\nRiver is not installed here")
        return
    print(f"\n{'over 1,000 rows, at every row':34}{'M/s':>14}{'last value':>14}")
    few = [array[:PEER_ROWS] for array in stream]
    for name, metric in (("RollingROCAUC", "auc"), ("RollingPRAUC", "average_precision")):
        river_run([array[:1000] for array in stream], name)
        theirs = million_rows_per_second(lambda n=name: river_run(few, n), PEER_ROWS, 1, clock)
        ours = million_rows_per_second(
            lambda m=metric: run(stream, m, "window:1000", 1), len(stream[0]), repeats, clock
        )
        value = run(few, metric, "window:1000", 1).values["window:1000"][metric][-1]
        print(f"{f'River {version} {name}':34}{theirs:>14.3f}{river_run(few, name):>14.6f}")
        print(f"{f'skstream {metric}':34}{ours:>14.3f}{value:>14.6f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    options = parser.parse_args()
    compare(options.rows, options.repeats, time.process_time if options.cpu else time.perf_counter)


if __name__ == "__main__":
    main()
