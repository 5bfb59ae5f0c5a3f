"""Rows per second of the measures of probabilities, beside River's log loss where it is installed.

    python -m benchmarks.bench_probabilities [--rows 1000000] [--repeats 5] [--cpu] [--all]

Prints the speed of log loss, Brier score and expected calibration error at every row, of 2 and 7
classes, under every mechanism of forgetting; with --all, of every measure of probabilities that has
a name. River's log loss takes one row at a time, and is timed on fewer rows. CapyMOA has no measure
of probabilities of a classifier. Every speed is the median of the repeats. On a busy machine --cpu
counts processor time instead of time passed.
"""

import argparse
import time
from importlib.util import find_spec

import numpy as np

from benchmarks.bench_measures import MECHANISMS, PEER_ROWS, million_rows_per_second
from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import PROBABILITIES, check_suits
from skstream.core.measures.running import RunningMeasures

SHORT = ("log_loss", "brier", "calibration_error")


def make_scores(n, n_classes, seed=0):
    """Labels, and probabilities that are calibrated."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(n_classes), n)
    y = (rng.random((n, 1)) > np.cumsum(scores, axis=1)[:, :-1]).sum(axis=1).astype(np.int8)
    return y, scores.argmax(axis=1).astype(np.int8), scores


def run(measure, forgetting, y, p, scores):
    classes = np.arange(scores.shape[1])
    measures = RunningMeasures(
        {measure.name: measure},
        as_forgetting(forgetting),
        classes=classes,
        record_every=1,
        expected_rows=len(y),
    )
    measures.update(y, p, scores=scores)
    return measures.curves()


def river_run(y, scores):
    from river.metrics import CrossEntropy, LogLoss
    from river.utils import Rolling

    if scores.shape[1] == 2:
        metric, answers = Rolling(LogLoss, window_size=1000), scores[:, 1].tolist()
    else:
        metric = Rolling(CrossEntropy, window_size=1000)
        answers = [dict(enumerate(row)) for row in scores.tolist()]
    for true, answer in zip(y.tolist(), answers, strict=True):
        metric.update(true, answer)
        metric.get()


def compare(names, n, repeats, clock):
    print(f"{n:,} rows, median of {repeats}, million rows per second at every row\n")
    print(f"{'measure':34}{'classes':>8}" + "".join(f"{name:>14}" for name in MECHANISMS))
    for n_classes in (2, 7):
        y, p, scores = make_scores(n, n_classes)
        for name in names:
            measure = PROBABILITIES[name]
            try:
                check_suits(measure, np.arange(n_classes))
            except ValueError:  # of two classes alone
                continue
            speeds = [
                million_rows_per_second(
                    lambda m=measure, f=mechanism, y=y, p=p, s=scores: run(m, f, y, p, s),
                    n,
                    repeats,
                    clock,
                )
                for mechanism in MECHANISMS
            ]
            cells = "".join(f"{speed:>14.2f}" for speed in speeds)
            print(f"{name:34}{n_classes:>8}{cells}", flush=True)
        if find_spec("river") is not None:
            few = y[:PEER_ROWS], scores[:PEER_ROWS]
            speed = million_rows_per_second(
                lambda few=few: river_run(*few), PEER_ROWS, repeats, clock
            )
            print(f"{'River, rolling log loss':34}{n_classes:>8}{speed:>14.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument("--all", action="store_true", help="all measures that have a name")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    compare(PROBABILITIES if options.all else SHORT, options.rows, options.repeats, clock)


if __name__ == "__main__":
    main()
