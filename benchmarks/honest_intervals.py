"""How often do the intervals of a search hold the accuracy of the long run, and those of slices?

    python -m benchmarks.honest_intervals --searches 200
    python -m benchmarks.honest_intervals --slices 200 --sizes 50 100 200 500

The chosen model always answers one class, so that its errors are those of the labels: a Markov
chain whose stationary accuracy is known. The correlation of one row with the next is 0 or .9.

The slices are ten groups of equal size, of independent rows of one law. Printed is the share of the
streams in which the intervals of all groups that have one hold the score of a million rows, and the
share of the groups that have one.
"""

import argparse

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from skstream import PrequentialEvaluator, PrequentialSearch, score_predictions, score_slices

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


#: Share of label 1, and of wrong answers to the rows of label 0 and 1.
LAWS = {"even": (0.5, 0.2, 0.2), "easy": (0.5, 0.05, 0.05), "rare": (0.1, 0.05, 0.3)}
MEASURES = ["accuracy", "error", "kappa", "kappa_m", "f1:1", "recall:1", "mcc", "balanced_accuracy"]
N_GROUPS = 10


def scored(law: str, n_rows: int, seed: int):
    """Score independent rows of a law."""
    share, *wrong = LAWS[law]
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(np.int64)
    answers = np.where(rng.random(n_rows) < np.take(wrong, y), 1 - y, y)
    return score_predictions(y, {"m": answers}, metrics=MEASURES, classes=[0, 1])


def held_in_all_groups(law: str, size: int, n_streams: int) -> dict[str, tuple[float, float]]:
    """Share of streams whose intervals all hold the truth, and of groups with one, by measure."""
    truth = scored(law, 1_000_000, 10**6).scores["m"]
    found = {metric: [0, 0] for metric in MEASURES}
    group = np.arange(N_GROUPS * size) % N_GROUPS
    for seed in range(n_streams):
        scores = score_slices(scored(law, len(group), seed), group, forgetting="cumulative")
        for metric, counts in found.items():
            ends = np.array([scores.interval(name, "m", metric) for name in scores.slice_names])
            ends = ends[np.isfinite(ends[:, 0])]
            counts[0] += bool(((ends[:, 0] <= truth[metric]) & (truth[metric] <= ends[:, 1])).all())
            counts[1] += len(ends)
    return {k: (a / n_streams, b / n_streams / N_GROUPS) for k, (a, b) in found.items()}


def slices(n_streams: int, sizes: list[int]) -> None:
    """Print a line for each law and size."""
    print(f"all of {N_GROUPS} groups held (share of groups with an interval); {n_streams} streams")
    for law in LAWS:
        for size in sizes:
            found = held_in_all_groups(law, size, n_streams)
            shown = ", ".join(f"{k} {a:.2f} ({b:.2f})" for k, (a, b) in found.items())
            print(f"{law} {LAWS[law]}, {size} rows: {shown}", flush=True)


def main() -> None:
    """Print one line per correlation, or per law and size of slices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--slices", type=int, metavar="STREAMS", help="slices instead of searches")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 500])
    options = parser.parse_args()
    if options.slices:
        slices(options.slices, options.sizes)
        return
    print(f"searches whose interval holds the accuracy of the long run, of {options.searches}")
    for correlation in (0.0, 0.9):
        honest, long_run = held(options.rows, correlation, options.searches)
        print(
            f"correlation {correlation}: honest_interval_ {honest}, long_run_interval_ {long_run}"
        )


if __name__ == "__main__":
    main()
