"""Delays of drift detectors at equal caution: a false alarm every 100,000 losses on average.

A detector that raises more alarms detects sooner. Here each one first gets the parameter at which
its alarms on independent 0/1 losses of one rate are 100,000 losses apart; then that rate changes
once, after 10,000 losses, and the delay is measured over many seeds.

    python -m benchmarks.equal_caution
    python -m benchmarks.equal_caution --seeds 20 --run-length 10000

DDM is taken as it is: it never alarms once it has read long enough without a change, so that no
value of its levels has that distance. Printed are mean and standard deviation of the delay; in
brackets the share of seeds, if any, without an alarm in the 20,000 losses after the change. "False"
are alarms before it, per 100,000 losses.
"""

import argparse
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from scipy.signal import lfilter
from sklearn.base import clone

from benchmarks._kernel_speed import versions
from skstream.drift import ADWIN, DDM, DriftDetector, ErrorRatio, PageHinkley
from skstream.studies import calibrate, detector_study

CHANGE, AFTER = 10_000, 20_000
RISES = {0.02: (0.03, 0.05, 0.1), 0.1: (0.12, 0.15, 0.3), 0.3: (0.33, 0.4, 0.6)}


@dataclass(frozen=True)
class Candidate:
    """A detector, its parameter, and the factor of the fading mean that it reads; None: losses.

    Without a parameter the detector is taken as it is, and is as cautious as it is.
    """

    detector: DriftDetector
    parameter: str | None
    bounds: tuple[float, float]
    factor: float | None = None


SUM = "threshold", (0.05, 5000.0)
CANDIDATES = {
    "ADWIN": Candidate(ADWIN(direction="up"), "delta", (1e-12, 0.99)),
    "DDM, as it is": Candidate(DDM(), None, (0.0, 0.0)),
    "Page-Hinkley 0.005": Candidate(PageHinkley(delta=0.005), *SUM),
    "Page-Hinkley 0.05": Candidate(PageHinkley(delta=0.05), *SUM),
    "fading 0.997, Page-Hinkley 0.005": Candidate(PageHinkley(delta=0.005), *SUM, 0.997),
    "fading 0.9994, Page-Hinkley 0.005": Candidate(PageHinkley(delta=0.005), *SUM, 0.9994),
    "ratio 0.997 / 0.9994": Candidate(ErrorRatio(), *SUM),
    "ratio 1000 / 5000": Candidate(ErrorRatio(short=1000, long=5000), *SUM),
}


def read_by(candidate: Candidate, losses: np.ndarray) -> np.ndarray:
    """What a detector reads: losses, or their fading mean."""
    if candidate.factor is None:
        return losses
    sums, weights = (
        lfilter([1.0], [1.0, -candidate.factor], one) for one in (losses, np.ones(len(losses)))
    )
    return sums / weights


def series(candidate: Candidate, before: float, after: float, seed: int) -> np.ndarray:
    """What a detector reads where the rate of losses changes once."""
    numbers = np.random.default_rng(seed).random(CHANGE + AFTER)
    losses = numbers < np.repeat([before, after], [CHANGE, AFTER])
    return read_by(candidate, losses.astype(np.float64))


def at_caution(
    candidate: Candidate, losses: np.ndarray, run_length: int
) -> tuple[DriftDetector, str]:
    """The detector with the parameter at which it is as cautious as wanted, and what it is."""
    read = read_by(candidate, losses)
    if candidate.parameter is None:
        n_alarms = len(clone(candidate.detector).update_many(read))
        return candidate.detector, f"{n_alarms} alarms in {len(read):,} losses"
    found = calibrate(
        candidate.detector, candidate.parameter, run_length, bounds=candidate.bounds, losses=read
    )
    return found.detector, f"{found.parameter} {found.value:.3g}"


def cell(delays: list[int], n_seeds: int) -> str:
    """Mean and deviation of the delays, and the share of seeds without one."""
    if len(delays) < 2:
        return f"missed by {n_seeds - len(delays)} of {n_seeds}"
    text = f"{np.mean(delays):.0f} ± {np.std(delays, ddof=1):.0f}"
    missed = 100 * (1 - len(delays) / n_seeds)
    return f"{text} ({missed:.0f} %)" if missed else text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--run-length", type=int, default=100_000)
    parser.add_argument("--values", type=int, default=4_000_000, help="for the calibration")
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    started = perf_counter()
    print(versions("scikit-learn", "numpy", "scipy"))
    for before, rises in RISES.items():
        losses = (np.random.default_rng(0).random(options.values) < before).astype(np.float64)
        print(
            f"\n| losses {before:g}, then | parameter | false |", " | ".join(map(str, rises)), "|"
        )
        print("|---|---|---:|" + "---:|" * len(rises))
        for name, candidate in CANDIDATES.items():
            detector, shown = at_caution(candidate, losses, options.run_length)
            cells, false = [], 0.0
            for after in rises:
                study = detector_study(
                    partial(series, candidate, before, after),
                    {name: detector},
                    range(options.seeds),
                    tolerance=AFTER,
                    drifts=CHANGE,
                    n_jobs=options.n_jobs,
                )
                false = study.scores[name]["false_alarm_rate"]  # the same for all rises
                delays = [delay for one in study.results(name) for delay in one.delays]
                cells.append(cell(delays, options.seeds))
            print(f"| {name} | {shown} | {false:.1f} |", " | ".join(cells), "|", flush=True)
    print(f"\n{options.seeds} seeds, {perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
