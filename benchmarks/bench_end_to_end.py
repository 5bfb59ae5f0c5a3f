"""A whole evaluation beside its kernels alone: what everything around the models costs.

Five measures at every row for SGD, naive Bayes and two baselines. "Kernels alone" executes the
same asks and learns and throws the answers away. Also evaluates data of Covertype's size.

    python -m benchmarks.bench_end_to_end
"""

import argparse
import statistics
from time import perf_counter

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream
from skstream import MajorityClass, Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.core.engine.run import Engine, ModelRun
from skstream.core.timelines.timeline import Arrivals, PrequentialTimeline
from skstream.forgetting import SlidingWindow
from skstream.kernels import Task
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.utils._numba import numba_enabled

ROWS_AT_ONCE = 65_536


def models() -> dict:
    """Return the models of the table."""
    return {
        "sgd": SGDClassifier(loss="log_loss"),
        "nb": IncrementalGaussianNB(),
        "persistent": Persistent(),
        "majority": MajorityClass(),
    }


def kernels_alone(X: np.ndarray, y: np.ndarray) -> None:
    """Ask and learn every row with every model; no scores, no tape."""
    task = Task(np.unique(y))
    timeline = PrequentialTimeline()
    runs = [ModelRun(name, 0, model, task) for name, model in models().items()]
    engine = Engine(runs, [timeline] * len(runs))
    for begin in range(0, len(y), ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        n = len(y[part])
        arrivals = Arrivals(begin, np.ones(n, dtype=bool))
        engine.commit(engine.execute(arrivals, X[part], y[part]))


def whole_evaluation(X: np.ndarray, y: np.ndarray) -> None:
    """Evaluate, with five measures at every row."""
    evaluator = PrequentialEvaluator(forgetting=SlidingWindow(1000), record_every=1)
    evaluator.evaluate(models(), X, y)


def generated(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around one centre per class, whose labels often repeat."""
    rng = np.random.default_rng(0)
    fresh = np.maximum.accumulate(np.where(rng.random(n_rows) < 0.5, np.arange(n_rows), 0))
    y = rng.integers(0, n_classes, n_rows)[fresh]
    centres = rng.normal(size=(n_classes, n_features))
    return centres[y] * 0.3 + rng.normal(size=(n_rows, n_features)), y


def seconds_of(function, *arguments) -> float:
    """Duration of a call."""
    started = perf_counter()
    function(*arguments)
    return perf_counter() - started


def side_by_side(repeat: int, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Seconds of the kernels alone and of the whole, and their ratio: medians over turns.

    They take turns, because a shared machine is faster at one time and slower at another.
    """
    for function in (kernels_alone, whole_evaluation):  # compile, and have memory at hand
        function(X, y)
    turns = [
        (seconds_of(kernels_alone, X, y), seconds_of(whole_evaluation, X, y)) for _ in range(repeat)
    ]
    alone, whole = (statistics.median(seconds) for seconds in zip(*turns, strict=True))
    return alone, whole, statistics.median(after / before for before, after in turns)


def covertype_sized(n_rows: int) -> None:
    """Evaluate 54 features and 7 classes, with a scaled and a plain linear model."""
    X, y = generated(n_rows, 54, 7)
    candidates = {
        **models(),
        "scaled sgd": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    }
    started = perf_counter()
    result = PrequentialEvaluator().evaluate(candidates, X, y)
    print(f"\n{n_rows:,} rows x 54 features, 7 classes: {perf_counter() - started:.1f} s")
    for name, cost in result.costs.items():
        print(f"  {name:12s} {cost.seconds:7.2f} s  ({result.paths[name]})")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--covertype-rows", type=int, default=581_012)
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, "
        f"numba {'on' if numba_enabled() else 'off'}"
    )
    X, y = generated(options.rows, 10, 2)
    alone, whole, ratio = side_by_side(options.repeat, X, y)
    print(f"{options.rows:,} rows x 10 features, 2 classes; {', '.join(models())}")
    print(f"kernels alone                        {alone:7.3f} s")
    print(f"evaluation, 5 measures at every row  {whole:7.3f} s   ratio {ratio:.2f}")
    covertype_sized(options.covertype_rows)


if __name__ == "__main__":
    main()
