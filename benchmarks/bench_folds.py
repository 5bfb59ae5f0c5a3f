"""Speed of k-fold distributed validation.

1. Ten folds, bootstrap, of naive Bayes and of SGD on Electricity (where SKSTREAM_DATA names the
   folder that holds it), beside MOA's EvaluatePrequentialCV: 0.76 s for naive Bayes, measured on
   two cores.
2. Ten folds of four models on generated rows, with one worker and with two.

    python -m benchmarks.bench_folds
    python -m benchmarks.bench_folds --rows 1000000 --repeat 3
"""

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib.externals.loky import get_reusable_executor
from sklearn.linear_model import SGDClassifier

import skstream
from skstream import KFoldEvaluator, ParquetStream, Persistent, TemporallyAugmented, as_stream
from skstream.naive_bayes import IncrementalGaussianNB

N_FOLDS = 10
N_FEATURES = 20
MOA_SECONDS = 0.76
MODELS = {
    "SGD": SGDClassifier(),
    "naive Bayes": IncrementalGaussianNB(),
    "augmented SGD": TemporallyAugmented(SGDClassifier()),
    "persistent": Persistent(),
}


def electricity() -> tuple[np.ndarray, np.ndarray] | None:
    """Features and labels in memory; None where the file is absent."""
    path = Path(os.environ.get("SKSTREAM_DATA", "")) / "electricity.parquet"
    if not path.is_file():
        return None
    chunks = list(ParquetStream(path, target="class"))
    return np.concatenate([c[0] for c in chunks]), np.concatenate([c[1] for c in chunks])


def generated(rows: int, n_features: int = N_FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Rows of normal features; the label depends on five of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, n_features))
    y = X[:, :5].sum(axis=1) + rng.normal(size=rows) > 0
    return X, y.astype(np.int64)


def median_seconds(function: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Medians of the time on the clock and of this process's processor time."""
    clock, processor = [], []
    for _ in range(repeat):
        begin, begin_processor = time.perf_counter(), time.process_time()
        function()
        clock.append(time.perf_counter() - begin)
        processor.append(time.process_time() - begin_processor)
    return statistics.median(clock), statistics.median(processor)


def evaluate(models: dict[str, Any], X: np.ndarray, y: np.ndarray, n_jobs: int) -> None:
    """Ten folds; every model must have run on its kernel."""
    evaluator = KFoldEvaluator("accuracy", n_folds=N_FOLDS, random_state=0, n_jobs=n_jobs)
    result = evaluator.evaluate(models, as_stream(X, y))
    assert set(result.paths.values()) == {"kernel"}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, ", end="")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    small_X, small_y = generated(500)
    evaluate(MODELS, small_X, small_y, 1)  # compiles

    stream = electricity()
    if stream is not None:
        X, y = stream
        print(f"\nElectricity, {len(y):,} rows, {N_FOLDS} folds, bootstrap, one worker")
        print(f"{'model':14}{'seconds':>10}{'processor':>11}{'/ MOA (NB)':>12}")
        for name in ("naive Bayes", "SGD"):
            clock, processor = median_seconds(
                lambda name=name: evaluate({name: MODELS[name]}, X, y, 1), options.repeat
            )
            print(f"{name:14}{clock:10.2f}{processor:11.2f}{processor / MOA_SECONDS:12.2f}")

    X, y = generated(options.rows)
    print(
        f"\n{options.rows:,} x {N_FEATURES} generated rows, {N_FOLDS} folds x {len(MODELS)} models"
    )
    print(f"{'workers':10}{'seconds':>10}{'processor':>11}{'rows x folds x models / s':>27}")
    seconds = {}
    for n_jobs in (1, 2):
        if n_jobs > 1:
            evaluate(MODELS, small_X, small_y, n_jobs)  # starts the workers
        clock, processor = median_seconds(
            lambda n_jobs=n_jobs: evaluate(MODELS, X, y, n_jobs), options.repeat
        )
        seconds[n_jobs] = clock
        rate = options.rows * N_FOLDS * len(MODELS) / clock
        print(f"{n_jobs:<10}{clock:10.2f}{processor:11.2f}{rate:27,.0f}")
    print(f"two workers / one: {seconds[1] / seconds[2]:.2f} times as fast")
    get_reusable_executor().shutdown(wait=True)  # only then is the workers' memory counted
    for who, name in (
        (resource.RUSAGE_SELF, "this process"),
        (resource.RUSAGE_CHILDREN, "largest worker"),
    ):
        peak = resource.getrusage(who).ru_maxrss / 1024  # kilobytes on Linux
        print(f"peak memory, {name}: {peak:,.0f} MB (the rows alone: {X.nbytes / 2**20:,.0f} MB)")


if __name__ == "__main__":
    main()
