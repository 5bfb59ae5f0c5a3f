"""False alarms of ADWIN on stationary streams, beside its delta.

    python -m benchmarks.adwin_levels [--streams 1000] [--n 10000]

A check of a stationary stream should raise an alarm with probability at most `delta`. For each kind
of values: the alarms in all streams, alarms per check, that divided by delta, the same in the
stream that has most of them, and the share of streams that have any.
"""

import argparse

import numpy as np

import skstream
from skstream.drift import ADWIN

KINDS = {
    "errors, p = .01": lambda rng, n: rng.random(n) < 0.01,
    "errors, p = .2": lambda rng, n: rng.random(n) < 0.2,
    "errors, p = .5": lambda rng, n: rng.random(n) < 0.5,
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "normal x 1000": lambda rng, n: rng.normal(0.0, 1000.0, n),  # a part of the bound has a unit
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "lognormal x 1000": lambda rng, n: 1000 * rng.lognormal(size=n),
}
CASES = [("moa", 0.002), ("moa", 0.05), ("theorem", 0.05)]


def alarms_on(draw, detector, n_streams, n):
    """Return the alarms of each stream; streams differ by their seeds."""
    return np.array(
        [
            len(detector.reset().update_many(draw(np.random.default_rng(seed), n)))
            for seed in range(n_streams)
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--n", type=int, default=10_000, help="values in a stream")
    args = parser.parse_args()
    n_checks = args.n // 32
    print(f"skstream {skstream.__version__}, NumPy {np.__version__}")
    print(f"{args.streams:,} streams of {args.n:,} values, {n_checks:,} checks each\n")
    print(
        f"{'values':16} {'bound':8} {'delta':>6} {'alarms':>7} {'a check':>9} {'/ delta':>8} "
        f"{'worst':>6} {'streams':>8}"
    )
    for bound, delta in CASES:
        for kind, draw in KINDS.items():
            if bound == "theorem" and "normal" in kind:
                continue  # the theorem is about values in [0, 1]
            alarms = alarms_on(draw, ADWIN(delta, bound=bound), args.streams, args.n)
            rate = alarms.sum() / (n_checks * args.streams)
            print(
                f"{kind:16} {bound:8} {delta:6} {alarms.sum():7,} {rate:9.2g} {rate / delta:8.3f} "
                f"{alarms.max() / n_checks / delta:6.2f} {np.mean(alarms > 0):8.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
