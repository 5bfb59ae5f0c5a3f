"""Kernels beside scikit-learn's loop, River and CapyMOA, each row asked and then learnt.

Run from the top of the repository:

    python -m benchmarks.bench_kernels
    python -m benchmarks.bench_kernels --only linear bayes --further --repeats 9

"loop" calls ``predict`` and ``partial_fit`` of scikit-learn row by row, on the first rows. "no
numba" and "numba" are the same kernel without and with compiled loops ("-": it leaves the rows to
the loop).
Before it is timed, each is made to answer the rows of the loop, and must leave the same answers and
the same fitted numbers. "/ loop" and "/ peer" compare the kernel (with numba, if there is one) with
the loop and with the fastest of River and CapyMOA. River's rows are dictionaries already. CapyMOA
runs MOA's learners in MOA's own Java loop over a generator, and instance by instance in Python over
the rows of an array.
The last line sets a whole evaluation, five measures at every row, beside its kernels alone.

All figures are rows per second of wall time on one thread, medians. For machines that others use
too there are ``--best``, the fastest of the repeats for all alike, and ``--clock cpu``, the
process's own time (which adds up the threads of a JVM). The last line is always of wall time and
medians.
"""

import argparse
import os
import warnings
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._kernel_cases import Case, cases_of_the_table, further_cases
from benchmarks._kernel_speed import (
    CLOCKS,
    LOOP_ROWS,
    Timing,
    check_equal,
    kernel_speed,
    loop_speed,
    shown,
    versions,
    without_numba,
)
from benchmarks._peers import capymoa_java_speed, capymoa_rows_speed, river_speed
from benchmarks.bench_end_to_end import (
    generated,
    models,
    side_by_side,
)
from skstream.kernels import Declined, Task
from skstream.utils._numba import numba_enabled

GROUPS = ("linear", "scaled", "bayes", "text", "evaluation")
HEADS = (
    *("work, row by row", "loop", "River", "MOA in Java", "CapyMOA, arrays", "no numba", "numba"),
    *("/ loop", "/ peer", "to reach", "reached"),
)
# What a kernel reaches without numba, or leaves to the loop.
LEAST_RATIO = 20
# Times the kernels alone that a whole evaluation may take.
MOST_OVERHEAD = 1.5


def line_of(case: Case, n_rows: int, n_block: int, timing: Timing) -> list[str]:
    """Measure one line of the table."""
    X, y = case.make_rows(int(n_rows * case.share), case.n_features, case.n_classes)
    task = Task(np.arange(case.n_classes) if case.n_classes else None)
    first = X[:LOOP_ROWS], y[:LOOP_ROWS], task
    few = max(len(y) // 40, 1)
    with without_numba():
        try:
            check_equal(case.estimator, *first)
            plain = kernel_speed(case.estimator, X[:few], y[:few], task, n_block, timing)
        except Declined:  # left to the estimator itself
            plain = None
    compiled = None
    if numba_enabled():
        check_equal(case.estimator, *first)
        compiled = kernel_speed(case.estimator, X, y, task, n_block, timing)
    loop = loop_speed(case.estimator, *first, timing)
    size = case.n_features, case.n_classes
    peers = [
        river_speed(case.river, X, y, timing),
        capymoa_java_speed(case.moa if case.has_generator else None, *size, timing),
        capymoa_rows_speed(case.moa, X, y, timing),
    ]
    best_peer = max((speed for speed in peers if speed is not None), default=None)
    best = compiled or plain or loop
    return [
        case.work,
        *(shown(speed) for speed in (loop, *peers, plain, compiled)),
        shown(best / loop),
        "-" if best_peer is None else shown(best / best_peer),
        "-" if case.target is None else f"{LEAST_RATIO} loops / {shown(case.target)}",
        "-"
        if case.target is None
        else reached(plain is None or plain >= LEAST_RATIO * loop, compiled, case.target),
    ]


def reached(plain: bool, compiled: float | None, target: float) -> str:
    """Whether both targets are reached."""
    words = ["yes" if plain else "no"]
    if compiled is not None:
        words.append("yes" if compiled >= target else "no")
    return " / ".join(words)


def line_of_evaluation(n_rows: int, repeats: int) -> list[str]:
    """A whole evaluation as a multiple of its kernels alone."""
    X, y = generated(n_rows, 10, 2)
    with without_numba():
        ratios = [side_by_side(min(repeats, 3), X, y)[-1]]  # slow kernels hide the rest
    if numba_enabled():
        ratios.append(side_by_side(2 * repeats, X, y)[-1])
    work = f"evaluation of {', '.join(models())} with 5 measures at every row, / kernels alone"
    return [
        work,
        *["-"] * 4,
        *(f"{ratio:.2f}x" for ratio in ratios),
        *["-"] * (2 - len(ratios)),
        *["-"] * 2,
        f"{MOST_OVERHEAD}x / {MOST_OVERHEAD}x",
        " / ".join("yes" if ratio <= MOST_OVERHEAD else "no" for ratio in ratios),
    ]


def lines(options: argparse.Namespace, timing: Timing) -> Iterator[list[str]]:
    cases = cases_of_the_table() + (further_cases() if options.further else [])
    for case in cases:
        if case.group in options.only:
            yield line_of(case, options.rows, options.block, timing)
    if "evaluation" in options.only:
        yield line_of_evaluation(options.evaluation_rows, options.repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--further", action="store_true", help="also models without a target")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the fastest runs")
    parser.add_argument("--evaluation-rows", type=int, default=1_000_000)
    parser.add_argument("--block", type=int, default=65_536, help="rows per block")
    parser.add_argument("--repeats", type=int, default=5, help="at least; shows the median")
    parser.add_argument("--best", action="store_true", help="show the fastest instead")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    options = parser.parse_args()
    # Row by row, GaussianNB divides by variances of 0 until every class has two rows.
    warnings.simplefilter("ignore", RuntimeWarning)
    print(versions("scikit-learn", "numpy", "scipy", "numba", "river", "capymoa"))
    timing = Timing(options.repeats, options.clock, options.best)
    print(f"{timing}; blocks of {options.block:,} rows", end="")
    print(f"; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"\n| {' | '.join(HEADS)} |\n|---|{'---:|' * (len(HEADS) - 2)}---|")
    # BLAS would shrink the 2^18 weights of text on several threads, and wait for them to meet.
    with threadpool_limits(1):
        for line in lines(options, timing):
            print(f"| {' | '.join(line)} |", flush=True)
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
