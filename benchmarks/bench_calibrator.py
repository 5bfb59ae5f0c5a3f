"""Speed of PrequentialCalibrator: ``python -m benchmarks.bench_calibrator``.

Prequential log loss of 10^5 rows, ten features. The calibrator learns from the last 1,000 answers
and fits its map every 100 rows. Printed are rows per second (processor time, the best of three),
the share of the speed of the model inside alone, and the log loss of both.
"""

from time import process_time
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialCalibrator, PrequentialEvaluator
from skstream.naive_bayes import IncrementalGaussianNB

N_ROWS = 100_000
N_REPEATS = 3
METHODS = ("sigmoid", "isotonic", "beta", "temperature")


def main() -> None:
    """Print a table for two models."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    # Features that say the same twice over make naive Bayes too sure.
    X = np.repeat(rng.normal(size=(N_ROWS, 5)) + 0.4 * y[:, np.newaxis], 2, axis=1)
    evaluator = PrequentialEvaluator("log_loss", random_state=0)
    models: dict[str, Any] = {
        "naive Bayes": IncrementalGaussianNB(),
        "SGD": SGDClassifier(loss="log_loss"),
    }
    print(f"{'model':<14}{'calibrated':<14}{'rows/s':>12}{'ratio':>7}{'log loss':>10}")
    for name, model in models.items():
        both = {"alone": model}
        both |= {method: PrequentialCalibrator(model, method=method) for method in METHODS}
        seconds = dict.fromkeys(both, float("inf"))
        losses = {}
        for _ in range(N_REPEATS):  # in turn, so that what else the machine does slows all alike
            for kind, one in both.items():
                start = process_time()
                result = evaluator.evaluate({kind: one}, X, y)
                seconds[kind] = min(seconds[kind], process_time() - start)
                assert result.paths == {kind: "kernel"}
                losses[kind] = result.scores[kind]["log_loss"]
        for kind, spent in seconds.items():
            ratio = seconds["alone"] / spent
            speed = f"{N_ROWS / spent:>12,.0f}{ratio:>7.2f}"
            print(f"{name:<14}{kind:<14}{speed}{losses[kind]:>10.4f}")


if __name__ == "__main__":
    main()
