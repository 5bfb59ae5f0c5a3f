"""Values per second of ADWIN, beside River's and MOA's where the interpreter has them.

    python -m benchmarks.bench_adwin [--n 1000000] [--repeats 5] [--cpu]

River and MOA (through CapyMOA) read one value at a time; the slow ones are timed on fewer values,
since their speed does not depend on the length. Every speed is the median of the repeats. On a busy
machine --cpu counts processor time instead of time passed (it adds up the threads of a JVM).
"""

import argparse
import importlib
import platform
import statistics
import time
from importlib import metadata

import numpy as np

from skstream.drift import ADWIN


def one_drift(n):
    rng = np.random.default_rng(0)
    return np.concatenate((rng.random(n // 2) < 0.2, rng.random(n - n // 2) < 0.5)).astype(float)


def many_drifts(n, length=1000):
    rng = np.random.default_rng(1)
    rates = np.where(np.arange(n) // length % 2, 0.2, 0.8)
    return (rng.random(n) < rates).astype(float)


def skstream_many(values):
    return ADWIN().update_many(values).tolist()


def skstream_restart(values):
    """As River does it: from an empty window after every alarm, sides of at least 5 values."""
    return ADWIN(min_window=5, after_alarm="restart").update_many(values).tolist()


def skstream_one_by_one(values):
    detector = ADWIN()
    return [i for i, x in enumerate(values.tolist()) if detector.update(x).drift_detected]


def river(values):
    detector = importlib.import_module("river.drift").ADWIN()
    alarms = []
    for i, x in enumerate(values.tolist()):
        detector.update(x)
        if detector.drift_detected:
            alarms.append(i)
    return alarms


def moa(values):
    detector = importlib.import_module("capymoa.drift.detectors").ADWIN()
    alarms = []
    for i, x in enumerate(values.tolist()):
        detector.add_element(x)
        if detector.detected_change():
            alarms.append(i)
    return alarms


# Name, function, share of the values that it is timed on, package it needs.
CONTENDERS = [
    ("skstream update_many", skstream_many, 1.0, None),
    ("skstream as River's", skstream_restart, 1.0, None),
    ("skstream update", skstream_one_by_one, 0.2, None),
    ("River update", river, 1.0, "river"),
    ("MOA by CapyMOA", moa, 0.1, "capymoa"),
]


def contenders():
    """Those whose package this interpreter has, with its version in the name."""
    for name, run, share, package in CONTENDERS:
        if package is None:
            yield name, run, share
            continue
        try:
            yield f"{name} {metadata.version(package)}", run, share
        except metadata.PackageNotFoundError:
            print(f"{name}: {package} is not installed here")


def speed(run, values, repeats, clock):
    seconds = []
    for _ in range(repeats):
        begin = clock()
        run(values)
        seconds.append(clock() - begin)
    return len(values) / statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=1_000_000, help="values in a series")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    args = parser.parse_args()
    clock = time.process_time if args.cpu else time.perf_counter

    cases = {
        "one drift": one_drift(args.n),
        "a drift every 1,000": many_drifts(args.n),
    }
    found = list(contenders())
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {args.n:,} values\n")
    print(f"{'':24} {'case':20} {'M values/s':>10} {'ratio':>8}")
    for case, values in cases.items():
        reference = None
        for name, run, share in found:
            part = values[: max(int(share * len(values)), 1)]
            run(part[:1000])  # imports and first calls are not what is measured
            rate = speed(run, part, args.repeats, clock)
            reference = reference or rate
            print(f"{name:24} {case:20} {rate / 1e6:10.3f} {reference / rate:8.1f}")

    print("\nAlarms of 500,000 values at p = .2, then 500,000 at p = .5:")
    golden = one_drift(1_000_000)
    for name, run, _ in found:
        print(f"{name:24} {run(golden)}")

    print("\nFalse alarms among 200,000 normal values around 10^9, standard deviation 1:")
    large = np.random.default_rng(0).normal(1e9, 1.0, 200_000)
    for name, run, _ in found:
        print(f"{name:24} {len(run(large))}")


if __name__ == "__main__":
    main()
