"""Speed of detectors, beside River's where the interpreter has it.

    python -m benchmarks.bench_detectors [--n 300000] [--repeats 5]

The first table is about `update_many`, with one drift and with an alarm every 2,000 values; the
second about values that are read one at a time.

Every loop calls ``update(x)`` and then looks at ``drift_detected``. Processor time, the median of
the repeats, taken in turns so that both libraries see the same machine. ADWIN's checks are compiled
where numba is installed; SKSTREAM_DISABLE_NUMBA=1 shows its plain loops.
"""

import argparse
import importlib
import platform
import statistics
import time
from importlib import metadata

import numpy as np

import skstream
from skstream.drift import ADWIN, DDM, ErrorRatio, PageHinkley

# Name, our detector, River's of the same kind.
CASES = [
    ("ADWIN", ADWIN, ("river.drift", "ADWIN")),
    ("PageHinkley", PageHinkley, ("river.drift", "PageHinkley")),
    ("DDM", DDM, ("river.drift.binary", "DDM")),
    ("ErrorRatio, fading", ErrorRatio, None),
    ("ErrorRatio, windows", lambda: ErrorRatio(short=1000, long=5000), None),
]


def losses(n):
    """0/1 losses whose rate changes four times."""
    rng = np.random.default_rng(0)
    rates = np.repeat([0.2, 0.4, 0.15, 0.6, 0.3], -(-n // 5))[:n]
    return (rng.random(n) < rates).astype(float).tolist()


def one_drift(n):
    rng = np.random.default_rng(0)
    return (rng.random(n) < np.repeat([0.2, 0.5], -(-n // 2))[:n]).astype(float)


def many_alarms(n):
    """0/1 losses that rise every 2,000 values, and fall again where a detector has begun anew."""
    rng = np.random.default_rng(0)
    rates = np.where(np.arange(n) // 1000 % 2, 0.9, 0.1)
    return (rng.random(n) < rates).astype(float)


MANY = [
    ("PageHinkley", lambda: PageHinkley(50.0)),
    ("DDM", DDM),
    ("ErrorRatio, fading", ErrorRatio),
    ("ErrorRatio, windows", lambda: ErrorRatio(short=100, long=500, threshold=50.0)),
    ("ADWIN", ADWIN),
]


def print_many(n, repeats):
    series = one_drift(n), many_alarms(n)
    print(f"{'update_many':22} {'one drift':>12} {'alarms':>8} {'many':>12} {'alarms':>8}")
    for name, make in MANY:
        line = f"{name:22}"
        for values in series:
            passed = []
            for _ in range(repeats):
                begin = time.process_time()
                alarms = make().update_many(values)
                passed.append(time.process_time() - begin)
            line += f" {n / statistics.median(passed) / 1e3:12,.0f} {len(alarms):8}"
        print(line)
    print()


def seconds(make, values):
    detector = make()
    update = detector.update
    alarms = 0
    begin = time.process_time()
    for x in values:
        update(x)
        if detector.drift_detected:
            alarms += 1
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=300_000, help="values in the series")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    try:
        river = f"River {metadata.version('river')}"
    except metadata.PackageNotFoundError:
        river = None
    print(
        f"skstream {skstream.__version__}, {river or 'no River'}, "
        f"Python {platform.python_version()}, {args.n:,} values, thousands a second\n"
    )
    print_many(args.n, args.repeats)
    print(f"{'':22} {'update_many':>12} {'update':>10} {'River':>10} {'ratio':>8}")
    values = losses(args.n)
    for name, make, theirs in CASES:
        other = None
        if river and theirs:
            other = getattr(importlib.import_module(theirs[0]), theirs[1])
        ours_seconds, river_seconds, many_seconds = [], [], []
        seconds(make, values[:100_000])  # compiling is not what is measured
        for _ in range(args.repeats):
            ours_seconds.append(seconds(make, values))
            if other is not None:
                river_seconds.append(seconds(other, values))
            begin = time.process_time()
            make().update_many(values)
            many_seconds.append(time.process_time() - begin)
        ours, many = (args.n / statistics.median(s) / 1e3 for s in (ours_seconds, many_seconds))
        line = f"{name:22} {many:12,.0f} {ours:10,.0f}"
        if river_seconds:
            rate = args.n / statistics.median(river_seconds) / 1e3
            line += f" {rate:10,.0f} {ours / rate:8.2f}"
        print(line)


if __name__ == "__main__":
    main()
