"""What the fingerprint of a stream costs, beside the evaluation that notes it.

python -m benchmarks.bench_record [--rows 200000] [--columns 8]
"""

import argparse
import time

import numpy as np
import pandas as pd
import sklearn
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.naive_bayes import IncrementalGaussianNB


def seconds(call, repeats):
    """Least time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main(arguments=None):
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=8)
    options = parser.parse_args(arguments)
    X = np.random.default_rng(0).normal(size=(options.rows, options.columns))
    y = (X[:, 0] > 0).astype(int)
    print(f"{options.rows:,} rows of {options.columns} columns; scikit-learn {sklearn.__version__}")
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(options.columns)])
    sgd = SGDClassifier(random_state=0)
    few = options.rows // 20
    cases = [
        ("Persistent, kernel", sk.Persistent(), X, {}),
        ("SGD, kernel", sgd, X, {}),
        ("SGD, kernel, data frame", sgd, frame, {}),
        ("naive Bayes, kernel", IncrementalGaussianNB(), X, {}),
        (f"SGD, row by row, {few:,} rows", sgd, X[:few], {"engine": "loop"}),
    ]
    for name, model, rows, how in cases:
        repeats = 2 if how else 9
        without, noted = (
            seconds(
                lambda fingerprint=fingerprint, model=model, rows=rows, how=how: (
                    sk.PrequentialEvaluator(
                        "accuracy", random_state=0, fingerprint=fingerprint, **how
                    ).evaluate(model, rows, y[: len(rows)])
                ),
                repeats,
            )
            for fingerprint in (False, True)
        )
        cost = noted - without
        share = f"{cost / without:+.1%}"
        print(f"{name:<32}{without * 1e3:9.1f} ms  {cost * 1e3:+7.2f} ms  {share:>7}")


if __name__ == "__main__":
    main()
