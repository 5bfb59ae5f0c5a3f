"""MOA's learners in an evaluator, beside CapyMOA's own loop over instances and MOA's loop in Java.

All three ask and learn the same rows of an array; making the instances counts in all. It needs
CapyMOA and Java.

    python -m benchmarks.bench_capymoa
"""

import argparse
import statistics
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

import skstream
from skstream import PrequentialEvaluator
from skstream.compat import from_capymoa


def instance_loop(kind: Any, X: np.ndarray, y: np.ndarray) -> list[Any]:
    """Evaluate as users of CapyMOA write it."""
    stream = import_module("capymoa.stream").NumpyStream(X, y)
    learner, answers = kind(stream.get_schema()), []
    while stream.has_more_instances():
        instance = stream.next_instance()
        answers.append(learner.predict(instance))
        learner.train(instance)
    return answers[1:]


def java_loop(kind: Any, X: np.ndarray, y: np.ndarray) -> list[Any]:
    """Evaluate by MOA's own loop, the making of its instances included."""
    return prepared_java_loop(kind, X, y)()


def prepared_java_loop(kind: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], list[Any]]:
    """MOA's own loop over instances that are made; of no answer it makes the first class."""
    samoa = import_module("com.yahoo.labs.samoa.instances")
    evaluation = import_module("moa.evaluation")
    schema = import_module("capymoa.stream").NumpyStream(X, y).get_schema()
    header = schema.get_moa_header()
    rows = samoa.Instances(header, len(X))
    for values in import_module("jpype").JArray.of(np.column_stack([X, y.astype(float)])):
        instance = samoa.DenseInstance(1.0, values)
        instance.setDataset(header)
        rows.add(instance)
    run = evaluation.EfficientEvaluationLoops.PrequentialEvaluation
    measure = evaluation.BasicClassificationPerformanceEvaluator()
    stream = import_module("moa.streams").CachedInstancesStream(rows)
    learner = kind(schema).moa_learner

    def loop() -> list[Any]:
        done = run(stream, learner, measure, None, len(X), len(X), False, True)
        return [int(answer) for answer in done.predictions][1:]

    return loop


def evaluator(kind: Any, X: np.ndarray, y: np.ndarray) -> list[Any]:
    """Evaluate through the adapter, measures included."""
    model = from_capymoa(kind, random_state=1)
    result = PrequentialEvaluator(unanswered="wrong").evaluate({"m": model}, X, y)
    answers: list[Any] = result.predictions("m", every_row=True)[1:].tolist()
    return answers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    classifiers = import_module("capymoa.classifier")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 10))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
    print(f"skstream {skstream.__version__}, CapyMOA {import_module('capymoa').__version__}")
    print(f"{'learner':30} {'instances':>12} {'evaluator':>12} {'Java loop':>12}")
    for name in ("NaiveBayes", "HoeffdingTree", "HoeffdingAdaptiveTree"):
        kind = getattr(classifiers, name)
        seconds: list[list[float]] = [[], [], []]
        for _ in range(options.repeat):
            answers = []
            for loop, spent in zip((instance_loop, evaluator, java_loop), seconds, strict=True):
                started = perf_counter()
                answers.append(loop(kind, X, y))
                spent.append(perf_counter() - started)
            assert answers[0] == answers[1], f"{name}: the answers must be those of CapyMOA"
        speeds = [options.rows / statistics.median(spent) for spent in seconds]
        print(f"{name:30} " + " ".join(f"{speed:10,.0f}/s" for speed in speeds))


if __name__ == "__main__":
    main()
