"""River's models in an evaluator, beside a bare loop over River's own rows.

The bare loop has its rows as dictionaries already, and keeps nothing but the number of right
answers. The evaluator gets an array, makes the dictionaries, and measures accuracy and kappas. Both
run in turn; the figure is the median ratio of their processor time. All answers are compared.

    python -m benchmarks.bench_river
"""

import argparse
import statistics
from time import process_time
from typing import Any

import numpy as np
import river
from river import ensemble, forest, neighbors, tree

import skstream
from skstream import PrequentialEvaluator
from skstream.compat import from_river

MODELS = {
    "Hoeffding tree": (tree.HoeffdingTreeClassifier(), 1),
    "Hoeffding adaptive tree": (tree.HoeffdingAdaptiveTreeClassifier(seed=0), 1),
    "adaptive random forest": (forest.ARFClassifier(n_models=5, seed=0), 10),
    "leveraging bagging": (
        ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), n_models=5, seed=0),
        10,
    ),
    "k nearest neighbours": (neighbors.KNNClassifier(engine=neighbors.SWINN(seed=0)), 10),
}


def bare_loop(model: Any, rows: list[dict[int, float]], labels: list[int]) -> list[Any]:
    """Evaluate as users of River write it."""
    answers = []
    model.learn_one(rows[0], labels[0])
    for row, label in zip(rows[1:], labels[1:], strict=True):
        answers.append(model.predict_one(row))
        model.learn_one(row, label)
    return answers


def evaluator(model: Any, X: np.ndarray, y: np.ndarray) -> list[Any]:
    """Evaluate the same model through the adapter, measures included."""
    result = PrequentialEvaluator().evaluate({"m": from_river(model)}, X, y)
    answers: list[Any] = result.predictions("m", every_row=True)[1:].tolist()
    return answers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 10))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
    print(f"skstream {skstream.__version__}, River {river.__version__}; rows of 10 numbers")
    print(f"{'model':24} {'rows':>6} {'bare loop':>10} {'evaluator':>10}  ratio")
    for name, (model, divisor) in MODELS.items():
        n = options.rows // divisor
        rows, labels = [dict(enumerate(row)) for row in X[:n].tolist()], y[:n].tolist()
        bare, ours = [], []
        for _ in range(options.repeat):
            started = process_time()
            expected = bare_loop(model.clone(), rows, labels)
            middle = process_time()
            answers = evaluator(model, X[:n], y[:n])
            bare.append(middle - started)
            ours.append(process_time() - middle)
            assert answers == expected, f"{name}: the evaluator must give River's answers"
        ratio = statistics.median(b / a for a, b in zip(bare, ours, strict=True))
        speeds = [n / statistics.median(seconds) for seconds in (bare, ours)]
        print(f"{name:24} {n:6,} {speeds[0]:8,.0f}/s {speeds[1]:8,.0f}/s {ratio:6.3f}")


if __name__ == "__main__":
    main()
