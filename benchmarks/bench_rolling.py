"""Rolling features of many keys: the kernel, its loop, and pandas over the whole frame at once.

    python -m benchmarks.bench_rolling [--rows 500000] [--keys 100000] [--window 10] [--clock cpu]

Every row is asked (by what its key did in the rows learnt before) and then learnt, in blocks.
pandas computes the same windows as a batch, ``groupby(key).rolling(window, closed="left")``, which
knows all rows from the start; its values must agree with ours. The loop is ``transform`` and then
``partial_fit_transform`` of one row after another, timed on a few rows behind all the others.
"""

import argparse
import copy
from functools import partial

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier

from benchmarks._kernel_speed import CLOCKS, Timing, blocks_of, versions
from skstream import PrequentialEvaluator
from skstream.kernels import Task, make_transform_kernel
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import RollingFeatures

#: Rows of a block, and rows on which the loop is timed.
BLOCK_ROWS = 1 << 16
LOOP_ROWS = 200
FUNCTIONS = ["count", "mean", "max"]
TASK = Task(np.arange(2))


def make_frame(n_rows, n_keys, kind):
    """Amounts of customers, who are numbers or texts; and labels."""
    rng = np.random.default_rng(0)
    who = rng.integers(0, n_keys, n_rows)
    amount = rng.lognormal(size=n_rows)
    if kind == "texts":
        who = np.array([f"customer {number}" for number in range(n_keys)], dtype=object)[who]
    return pd.DataFrame({"who": who, "amount": amount}), (amount > 1.0).astype(np.int64)


def by_kernel(transformer, blocks):
    """Rows as they are shown when they are asked."""
    kernel = make_transform_kernel(copy.deepcopy(transformer), TASK)
    state, shown = kernel.initial_state(), []
    for block in blocks:
        state, out = kernel.step(state, block)
        shown.append(out.ask_X[out.ask_index])
    return np.concatenate(shown)


def by_pandas(frame, window):
    """The same windows, of all rows at once."""
    windows = frame.groupby("who")["amount"].rolling(window, min_periods=1, closed="left")
    columns = [getattr(windows, name)().droplevel(0).sort_index() for name in FUNCTIONS]
    return np.column_stack(columns)


def by_loop(fitted, frame):
    """Ask and learn the last rows, one after the other."""
    model = copy.deepcopy(fitted)

    def run():
        for place in range(len(frame) - LOOP_ROWS, len(frame)):
            row = frame[place : place + 1]
            model.transform(row)
            model.partial_fit_transform(row)

    return run


def check(shown, batch):
    """Raise an error if the values differ where pandas has some."""
    batch, shown = batch[1:], np.asarray(shown)  # the first row is not asked
    known = ~np.isnan(batch)
    np.testing.assert_allclose(shown[known], batch[known], rtol=1e-9)
    assert not shown[~known].any(), "where nothing is known stands 0"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    args = parser.parse_args()
    timing = Timing(args.repeats, args.clock)
    print(versions("scikit-learn", "numpy", "pandas"))
    print(f"{args.rows:,} rows, {args.keys:,} keys, windows of {args.window} rows: {timing}\n")
    print(f"{'keys':8} {'kernel':>11} {'evaluator':>11} {'pandas':>11} {'loop':>8}")
    for kind in ("numbers", "texts"):
        frame, y = make_frame(args.rows, args.keys, kind)
        rolling = RollingFeatures("amount", windows=args.window, functions=FUNCTIONS, key="who")
        blocks = blocks_of(frame, y, BLOCK_ROWS)
        check(by_kernel(rolling, blocks), by_pandas(frame, args.window))
        model = make_stream_pipeline(rolling, SGDClassifier(random_state=0))
        evaluator = PrequentialEvaluator("accuracy")
        rates = [
            args.rows / timing.seconds(partial(by_kernel, rolling, blocks)),
            args.rows / timing.seconds(partial(evaluator.evaluate, model, frame, y)),
            args.rows / timing.seconds(partial(by_pandas, frame, args.window)),
            LOOP_ROWS / timing.seconds(by_loop(copy.deepcopy(rolling).fit(frame), frame)),
        ]
        kernel, whole, pandas, loop = rates
        print(f"{kind:8} {kernel:11,.0f} {whole:11,.0f} {pandas:11,.0f} {loop:8,.0f}")
    print("\nevaluator: PrequentialEvaluator of the features before SGDClassifier, scores and all")


if __name__ == "__main__":
    main()
