"""Overhead of the generic path over a bare predict/partial_fit loop.

Both do the same work row by row, alternating in one run; the figure is the median ratio.

    python -m benchmarks.bench_loop
"""

import argparse
import statistics
from time import perf_counter

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier

import skstream
from skstream import PrequentialEvaluator, RunOptions


def bare_loop(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Evaluate as one would write it by hand."""
    model = SGDClassifier(random_state=0)
    answers = np.empty(len(y) - 1, dtype=y.dtype)
    model.partial_fit(X[:1], y[:1], classes=[0, 1])
    for t in range(1, len(y)):
        answers[t - 1] = model.predict(X[t : t + 1])[0]
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return answers


def generic_path(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Evaluate with the generic path of the engine, measures included."""
    evaluator = PrequentialEvaluator(run=RunOptions(kernels=False))
    result = evaluator.evaluate({"sgd": SGDClassifier(random_state=0)}, X, y)
    return result.predictions("sgd", every_row=True)[1:].astype(y.dtype)


def timed(function, *arguments):
    """Seconds and answers of one call."""
    started = perf_counter()
    answers = function(*arguments)
    return perf_counter() - started, answers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 10))
    y = (X.sum(axis=1) + rng.normal(size=options.rows) > 0).astype(np.int64)
    ratios, bare_seconds, generic_seconds = [], [], []
    for _ in range(options.repeat):
        bare, expected = timed(bare_loop, X, y)
        generic, answers = timed(generic_path, X, y)
        assert (answers == expected).all(), "the generic path must give the loop's answers"
        bare_seconds.append(bare)
        generic_seconds.append(generic)
        ratios.append(generic / bare)
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}")
    print(f"SGDClassifier, {options.rows} rows of 10 features, batch_size=1")
    print(f"bare loop     {options.rows / statistics.median(bare_seconds):8.0f} rows/s")
    print(f"generic path  {options.rows / statistics.median(generic_seconds):8.0f} rows/s")
    print(f"median ratio  {statistics.median(ratios):8.3f}")


if __name__ == "__main__":
    main()
