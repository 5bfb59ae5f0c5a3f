"""How often do the intervals of a search hold the accuracy of the long run?

    python -m benchmarks.honest_intervals --searches 200

The chosen model always answers one class, so that its errors are those of the labels: a Markov
chain whose stationary accuracy is known. The correlation of one row with the next is 0 or .9.
"""

import argparse

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from skstream import PrequentialEvaluator, PrequentialSearch

ACCURACY = 0.6
TUNING = 200


def chain(n_rows: int, correlation: float, seed: int) -> np.ndarray:
    """Labels 1 (with the stationary probability `ACCURACY`) and 0."""
    draws = np.random.default_rng(seed).random(n_rows)
    after_one = correlation + (1 - correlation) * ACCURACY
    after_zero = (1 - correlation) * ACCURACY
    labels = np.empty(n_rows, dtype=np.int64)
    labels[0] = draws[0] < ACCURACY
    for row in range(1, n_rows):
        labels[row] = draws[row] < (after_one if labels[row - 1] else after_zero)
    return labels


class AlwaysOne(ClassifierMixin, BaseEstimator):
    """Answers 1, whatever came."""

    def __init__(self, number=0):
        self.number = number

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn nothing but the classes."""
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        """Return 1 for every row."""
        return np.ones(len(X), dtype=np.int64)


def held(n_rows: int, correlation: float, n_searches: int) -> tuple[int, int]:
    """Searches whose honest, and whose long-run interval holds the accuracy of the long run."""
    found = np.zeros(2, dtype=np.int64)
    for seed in range(n_searches):
        y = chain(TUNING + n_rows, correlation, seed)
        search = PrequentialSearch(
            AlwaysOne(),
            {"number": [0]},
            evaluator=PrequentialEvaluator(batch_size=50),
            metric="accuracy",
            tuning=TUNING,
        ).fit(np.zeros((len(y), 1)), y)
        for k, (low, high) in enumerate((search.honest_interval_, search.long_run_interval_)):
            found[k] += low <= ACCURACY <= high
    return int(found[0]), int(found[1])


def main() -> None:
    """Print one line per correlation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--rows", type=int, default=4000)
    options = parser.parse_args()
    print(f"searches whose interval holds the accuracy of the long run, of {options.searches}")
    for correlation in (0.0, 0.9):
        honest, long_run = held(options.rows, correlation, options.searches)
        print(
            f"correlation {correlation}: honest_interval_ {honest}, long_run_interval_ {long_run}"
        )


if __name__ == "__main__":
    main()
