"""How long a study of five detectors over many seeds takes; the wall clock.

    python -m benchmarks.bench_detector_study [--seeds 100] [--n 100000] [--n-jobs 2]

The target is under one minute for 100 seeds of 100,000 values on two cores, scores and table
included. There are 19 drifts, at other rows for each seed.
"""

import argparse
import platform
import time

import numpy as np

import skstream
from skstream.drift import ADWIN, DDM, ErrorRatio, PageHinkley, RandomAlarm
from skstream.studies import detector_study

DETECTORS = {
    "ADWIN": ADWIN(),
    "Page-Hinkley": PageHinkley(threshold=20.0, delta=0.05),
    "DDM": DDM(),
    "ErrorRatio": ErrorRatio(threshold=25.0),
    "random": RandomAlarm(2e-4),
}


def losses_of(n):
    def make_losses(seed):
        rng = np.random.default_rng(seed)
        changes = np.sort(rng.choice(np.arange(1, 40), 19, replace=False)) * (n // 40)
        turns = np.zeros(n, dtype=int)
        turns[changes] = 1
        rates = np.array([0.1, 0.3])[np.cumsum(turns) % 2]
        return rng.random(n) < rates, changes

    return make_losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--n", type=int, default=100_000, help="values of each seed")
    parser.add_argument("--n-jobs", type=int, default=2)
    args = parser.parse_args()
    begin = time.perf_counter()
    study = detector_study(
        losses_of(args.n),
        DETECTORS,
        range(args.seeds),
        tolerance=args.n // 100,
        n_jobs=args.n_jobs,
    )
    read = time.perf_counter()
    print(study)
    end = time.perf_counter()
    print(
        f"\nskstream {skstream.__version__}, Python {platform.python_version()}, {args.n_jobs} "
        f"workers: {read - begin:.1f} s for the alarms, {end - read:.1f} s for the table, "
        f"{end - begin:.1f} s in all"
    )


if __name__ == "__main__":
    main()
