"""Rows per second of the running measures, beside River's and CapyMOA's where they are installed.

    python -m benchmarks.bench_measures [--rows 1000000] [--repeats 5] [--cpu]
    python -m benchmarks.bench_measures --soak 100000000

The first prints the speed of five kappas (accuracy, kappa, kappa_m, kappa_temporal, kappa_plus) at
every row and at checkpoints, with the curves built, of 2, 7 and 1,000 classes (the last on fewer
rows), and the peak of the memory. River's rolling kappa (kappa alone, read at
every row) and CapyMOA's windowed evaluator take one row at a time and are timed on fewer rows, for
their speed does not depend on the length. Every speed is the median of the repeats. On a busy
machine --cpu counts processor time instead of time passed.

The second streams generated labels in blocks, keeps nothing, and prints the peak of the memory as
it goes: flat. Peak memory is that of the process, as Unix systems report it.
"""

import argparse
import platform
import resource
import statistics
import time
from importlib import metadata

import numpy as np

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import resolve_metrics
from skstream.core.measures.running import RunningMeasures

MECHANISMS = ("window:1000", "cumulative", "fading:0.999", "adwin")
PEER_ROWS = 50_000
MANY_CLASSES, MANY_CLASSES_ROWS = 1000, 100_000


def make_stream(n, n_classes, seed=0):
    """Labels with runs and unequal frequencies, and answers that are right seven times in ten."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2)
    starts = np.maximum.accumulate(np.where(rng.random(n) < 0.6, np.arange(n), 0))
    dtype = np.min_scalar_type(-n_classes)
    y = rng.choice(n_classes, n, p=share)[starts].astype(dtype)
    p = np.where(rng.random(n) < 0.7, y, rng.integers(0, n_classes, n)).astype(dtype)
    return y, p


def make_measures(forgetting, n_classes, record_every):
    classes = np.arange(n_classes)
    return RunningMeasures(
        resolve_metrics(None, classes=classes),
        as_forgetting(forgetting),
        classes=classes,
        record_every=record_every,
    )


def skstream_run(y, p, n_classes, forgetting, record_every):
    measures = make_measures(forgetting, n_classes, record_every)
    measures.update(y, p)
    return measures.curves()


def river_run(y, p):
    from river.metrics import CohenKappa
    from river.utils import Rolling

    kappa = Rolling(CohenKappa, window_size=1000)
    for true, answer in zip(y.tolist(), p.tolist(), strict=True):
        kappa.update(true, answer)
        kappa.get()


def capymoa_run(y, p):
    from capymoa.evaluation import ClassificationWindowedEvaluator
    from capymoa.stream import Schema

    schema = Schema.from_custom(
        features=["x", "label"], target="label", categories={"label": ["0", "1"]}
    )
    evaluator = ClassificationWindowedEvaluator(schema=schema, window_size=1000)
    for true, answer in zip(y.tolist(), p.tolist(), strict=True):
        evaluator.update(true, answer)


PEERS = {
    "River rolling kappa, 1 measure": ("river", river_run),
    "CapyMOA windowed evaluator": ("capymoa", capymoa_run),
}


def million_rows_per_second(function, n, repeats, clock):
    seconds = []
    for _ in range(repeats):
        start = clock()
        function()
        seconds.append(clock() - start)
    return n / statistics.median(seconds) / 1e6


def compare(n, repeats, clock):
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy"))
    print(f"{platform.python_version()}, {versions}; {n:,} rows, median of {repeats}")
    print(f"\n{'five kappas under':28}{'classes':>8}{'at every row':>16}{'1,024 points':>16}")
    reference = None
    for n_classes in (2, 7, MANY_CLASSES):
        n_rows = min(n, MANY_CLASSES_ROWS) if n_classes == MANY_CLASSES else n
        y, p = make_stream(n_rows, n_classes)
        for forgetting in MECHANISMS:
            speeds = [
                million_rows_per_second(
                    lambda every=every, name=forgetting, data=(y, p), k=n_classes: skstream_run(
                        *data, k, name, every
                    ),
                    n_rows,
                    repeats,
                    clock,
                )
                for every in (1, None)
            ]
            reference = reference or speeds[0]
            cells = "".join(f"{speed:>10.3g} M/s " for speed in speeds)
            print(f"{forgetting:28}{n_classes:>8}  {cells}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process: {peak:.0f} MiB")
    y, p = make_stream(PEER_ROWS, 2)
    print(f"\n{'one row at a time, 2 classes':44}{'':>12}{'skstream, window:1000, every row':>36}")
    for name, (package, run) in PEERS.items():
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            print(f"{name}: {package} is not installed here")
            continue
        run(y[:1000], p[:1000])  # imports and the start of a virtual machine are not counted
        speed = million_rows_per_second(lambda run=run: run(y, p), PEER_ROWS, repeats, clock)
        print(f"{name + ' ' + version:44}{speed:>8.3f} M/s{reference / speed:>30.0f} times as fast")


def soak(n, block):
    """Feed generated labels to all mechanisms at once and print the peak of the memory."""
    measures = make_measures(list(MECHANISMS), 2, None)
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    read, next_report = 0, n // 10
    print(f"{'rows':>14}{'seconds':>10}{'peak memory':>14}")
    while read < n:
        size = min(block, n - read)
        y = (rng.random(size) < 0.4).astype(np.int8)
        p = np.where(rng.random(size) < 0.8, y, 1 - y).astype(np.int8)
        measures.update(y, p)
        read += size
        if read >= next_report:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{read:>14,}{time.perf_counter() - start:>10.1f}{peak:>10.1f} MiB")
            next_report += n // 10
    for name, values in measures.final().items():
        print(name, {metric: round(value, 4) for metric, value in values.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument("--soak", type=int, help="stream so many labels and print the memory")
    parser.add_argument("--block", type=int, default=100_000, help="rows per update of the soak")
    options = parser.parse_args()
    if options.soak:
        soak(options.soak, options.block)
    else:
        clock = time.process_time if options.cpu else time.perf_counter
        compare(options.rows, options.repeats, clock)


if __name__ == "__main__":
    main()
