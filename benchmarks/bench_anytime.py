"""The anytime comparison: speed, rows until a difference is certain, and false alarms.

Run from the top of the repository:

    python -m benchmarks.bench_anytime
    python -m benchmarks.bench_anytime --streams 2000 --rows 20000

The false alarms are counted on the scenarios of the test suite (stationary, drifting and
dependent losses), as the share of streams on which the interval misses the truth at any row.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import scipy

import skstream
from skstream.stats import anytime_comparison, mcnemar_curve, q_statistic
from tests.stats._simulate import FAIR, UNFAIR, draw_losses

BOUNDARIES = ("stitched", "mixture")


def median_seconds(function: Callable[[], object], repetitions: int = 7) -> float:
    function()
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def speed(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, n_rows), rng.integers(0, 2, n_rows)
    y = np.zeros(n_rows, dtype=np.int64)
    print(f"\nSpeed on {n_rows:,} rows of 0/1 losses (median of 7)")
    for boundary in BOUNDARIES:
        for record_every in (None, 1):
            seconds = median_seconds(
                lambda boundary=boundary, record_every=record_every: anytime_comparison(
                    a, b, boundary=boundary, record_every=record_every
                )
            )
            kept = "every row kept" if record_every else "at most 1,024 rows kept"
            print_speed(f"anytime, {boundary}, {kept}", seconds, n_rows)
    for forgetting in ("cumulative", "window:1000", "fading:0.999"):
        seconds = median_seconds(lambda f=forgetting: mcnemar_curve(y, a, b, forgetting=f))
        print_speed(f"McNemar, {forgetting}", seconds, n_rows)
        seconds = median_seconds(lambda f=forgetting: q_statistic(a, b, forgetting=f))
        print_speed(f"Q, {forgetting}", seconds, n_rows)


def print_speed(what: str, seconds: float, n_rows: int) -> None:
    print(f"  {what:<45} {seconds:7.3f} s  {n_rows / seconds / 1e6:7.1f} M rows/s")


def detection(n_streams: int, n_rows: int) -> None:
    print(
        f"\nRows until a true difference is certain at 5 %, 10 % of the rows discordant "
        f"(median of {n_streams} streams)"
    )
    print(f"  {'difference':>10} " + " ".join(f"{b:>12}" for b in BOUNDARIES))
    rng = np.random.default_rng(0)
    for lead in (0.01, 0.02, 0.05):
        first: dict[str, list[float]] = {boundary: [] for boundary in BOUNDARIES}
        for _ in range(n_streams):
            probabilities = [0.05 - lead / 2, 0.9, 0.05 + lead / 2]
            difference = rng.choice([-1, 0, 1], n_rows, p=probabilities)
            for boundary in BOUNDARIES:
                result = anytime_comparison(difference > 0, difference < 0, boundary=boundary)
                first[boundary].append(result.first_certain_row or np.inf)
        medians = " ".join(f"{np.median(first[b]):12,.0f}" for b in BOUNDARIES)
        print(f"  {lead:>10} {medians}")


def misses(n_streams: int, n_rows: int, alpha: float) -> None:
    print(
        f"\nShare of {n_streams:,} streams of {n_rows:,} rows on which the interval misses the "
        f"truth at any row, alpha = {alpha:g}"
    )
    print(f"  {'scenario':<20} " + " ".join(f"{b:>12}" for b in (*BOUNDARIES, "for one look")))
    quantile = scipy.stats.norm.ppf(1 - alpha / 2)
    for scenario in (*FAIR, *UNFAIR):
        count = np.zeros(3)
        for seed in range(n_streams):
            loss_a, loss_b, expected = draw_losses(scenario, seed, n_rows)
            t = np.arange(1, n_rows + 1)
            truth = np.cumsum(expected) / t
            for place, boundary in enumerate(BOUNDARIES):
                result = anytime_comparison(
                    loss_a, loss_b, alpha=alpha, boundary=boundary, record_every=1
                )
                count[place] += np.any((truth < result.lower) | (truth > result.upper))
            difference = loss_a - loss_b
            mean = np.cumsum(difference) / t
            spread = np.sqrt((np.cumsum(difference**2) / t - mean**2) / t)
            count[2] += np.any((np.abs(mean - truth) > quantile * spread)[29:])
        print(f"  {scenario:<20} " + " ".join(f"{share:12.2%}" for share in count / n_streams))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--timed-rows", type=int, default=1_000_000)
    parser.add_argument("--streams", type=int, default=400, help="streams per scenario")
    parser.add_argument("--rows", type=int, default=5_000, help="rows per stream")
    parser.add_argument("--alpha", type=float, default=0.05)
    arguments = parser.parse_args()
    print(
        f"skstream {skstream.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"Python {platform.python_version()}"
    )
    speed(arguments.timed_rows)
    detection(n_streams=200, n_rows=200_000)
    misses(arguments.streams, arguments.rows, arguments.alpha)


if __name__ == "__main__":
    main()
