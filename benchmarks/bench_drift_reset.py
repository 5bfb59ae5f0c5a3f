"""Speed of DriftReset beside the model inside: ``python -m benchmarks.bench_drift_reset``.

Prequential accuracy of 10^6 rows, whose classes change places ten times. The last column is the
share of the speed of the plain model; with DDM it is to be at least a third.
"""

from time import process_time

import numpy as np

from skstream import DriftReset, PrequentialEvaluator
from skstream.drift import DDM, RandomAlarm
from skstream.naive_bayes import IncrementalGaussianNB

N_ROWS = 1_000_000
N_REPEATS = 3


def main() -> None:
    """Print rows per second, resets and the ratio."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    side = np.where(np.arange(N_ROWS) // (N_ROWS // 10) % 2, y, 1 - y)
    X = rng.normal(size=(N_ROWS, 10)) + 0.5 * side[:, np.newaxis]
    model = IncrementalGaussianNB()
    models = {
        "alone": model,
        "DDM": DriftReset(model, detector=DDM()),
        "random, 1 in 1000": DriftReset(model, detector=RandomAlarm(0.001)),
    }
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    seconds = {name: float("inf") for name in models}
    resets = {}
    for _ in range(N_REPEATS):  # in turn, so that what else the machine does slows all alike
        for name, one in models.items():
            start = process_time()
            result = evaluator.evaluate({name: one}, X, y, return_models=True)
            seconds[name] = min(seconds[name], process_time() - start)
            assert result.paths == {name: "kernel"}
            resets[name] = getattr(result.models[name], "n_resets_", 0)
    print(f"{'model':<20}{'rows/s':>12}{'resets':>8}{'ratio':>7}")
    for name, spent in seconds.items():
        ratio = seconds["alone"] / spent
        print(f"{name:<20}{N_ROWS / spent:>12,.0f}{resets[name]:>8}{ratio:>7.2f}")


if __name__ == "__main__":
    main()
