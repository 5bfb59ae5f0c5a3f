"""Evaluations by probabilities, beside the kernel alone that gives them.

    python -m benchmarks.bench_probabilities_end_to_end [--rows 1000000] [--repeats 5]

Prints the processor time of logistic regression by SGD along 10 features: its labels and its
probabilities alone (`prequential_predict`), and evaluations by accuracy, log loss, and both with
Brier score, with the tape and without. The last column is the time beside that of the probabilities
alone. Every time is the best of the repeats, in turn.
"""

import argparse
import platform
import time
from importlib import metadata

import numpy as np
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator, RunOptions, prequential_predict

ALONE = "probabilities alone"


def make_stream(n, n_classes, seed=0):
    """Labels that hang on ten features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    values = X @ rng.normal(size=(10, n_classes)) + rng.normal(size=(n, n_classes))
    return X, values.argmax(axis=1)


def cases(X, y):
    model = SGDClassifier(loss="log_loss", random_state=0)

    def evaluated(*metrics, **parameters):
        evaluator = PrequentialEvaluator(list(metrics), random_state=0, **parameters)
        return lambda: evaluator.evaluate(model, X, y)

    return {
        "labels alone": lambda: prequential_predict(model, X, y),
        ALONE: lambda: prequential_predict(model, X, y, method="predict_proba"),
        "accuracy": evaluated("accuracy"),
        "log_loss": evaluated("log_loss"),
        "log_loss, no tape": evaluated("log_loss", run=RunOptions(keep_tape=False)),
        "log_loss, window of 1,000": evaluated("log_loss", forgetting="window:1000"),
        "accuracy, log_loss, brier": evaluated("accuracy", "log_loss", "brier"),
        "auc at checkpoints": evaluated("auc"),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    versions = [f"{name} {metadata.version(name)}" for name in ("scikit-learn", "numpy")]
    print(f"Python {platform.python_version()}, {', '.join(versions)}, {options.rows:,} rows")
    for n_classes in (2, 7):
        functions = cases(*make_stream(options.rows, n_classes))
        best = dict.fromkeys(functions, np.inf)
        for repeat in range(options.repeats + 1):
            for name, function in functions.items():
                start = time.process_time()
                function()
                if repeat:  # the first one compiles
                    best[name] = min(best[name], time.process_time() - start)
        print(f"\n{n_classes} classes")
        for name, seconds in best.items():
            print(f"{name:28} {seconds:6.3f} s  {seconds / best[ALONE]:5.2f}")


if __name__ == "__main__":
    main()
