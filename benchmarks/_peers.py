"""Other stream libraries at the same work, where this interpreter has them.

River gets rows that are dictionaries already. CapyMOA runs MOA's learners in two ways: instance by
instance over rows of an array, as its Python users get them; and in MOA's own Java loop over
one of MOA's generators, whose cost is included as it is part of that loop.
"""

import itertools
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._kernel_speed import Timing

RIVER_ROWS, CAPYMOA_ROWS, JAVA_ROWS = 2_000, 5_000, 200_000


def river_naive_bayes(name: str) -> Callable[[], Any] | None:
    if find_spec("river") is None:
        return None
    return getattr(import_module("river.naive_bayes"), name)  # type: ignore[no-any-return]


def river_linear(n_classes: int = 2, *, scaled: bool = False) -> Callable[[], Any] | None:
    """Logistic regression, or linear regression where there are no classes."""
    if find_spec("river") is None:
        return None
    from river import linear_model, multiclass, optim, preprocessing

    def make() -> Any:
        if n_classes == 0:
            return linear_model.LinearRegression(optim.SGD(0.01), l2=1e-4)
        model: Any = linear_model.LogisticRegression(optim.SGD(0.01), l2=1e-4)
        if n_classes > 2:
            model = multiclass.OneVsRestClassifier(model)
        return preprocessing.StandardScaler() | model if scaled else model

    return make


def river_speed(
    make: Callable[[], Any] | None, X: Any, y: np.ndarray, timing: Timing
) -> float | None:
    if make is None:
        return None
    n = min(RIVER_ROWS, len(y))
    if sparse.issparse(X):
        rows = [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in itertools.pairwise(X.indptr[: n + 1])
        ]
    else:
        rows = [dict(enumerate(x)) for x in X[:n].tolist()]
    labels = y[:n].tolist()

    def run() -> None:
        model = make()
        for row, label in zip(rows, labels, strict=True):
            model.predict_one(row)
            model.learn_one(row, label)

    return n / timing.seconds(run)


def moa_learner(name: str | None) -> Callable[[Any], Any] | None:
    """Function from a schema to one of MOA's learners."""
    if name is None or find_spec("capymoa") is None:
        return None
    wrap = import_module("capymoa.base").MOAClassifier
    package, _, learner = name.rpartition(".")
    options = "-o LOGLOSS" if learner.startswith("SGD") else ""
    made = getattr(import_module(f"moa.classifiers.{package}"), learner)
    return lambda schema: wrap(schema=schema, moa_learner=made(), CLI=options)


def capymoa_rows_speed(name: str | None, X: Any, y: np.ndarray, timing: Timing) -> float | None:
    make = moa_learner(name)
    if make is None or sparse.issparse(X):
        return None
    n = min(CAPYMOA_ROWS, len(y))
    stream = import_module("capymoa.stream").NumpyStream(X[:n], y[:n], target_type="categorical")

    def run() -> None:
        model = make(stream.get_schema())
        stream.restart()
        while stream.has_more_instances():
            instance = stream.next_instance()
            model.predict(instance)
            model.train(instance)

    run()  # the virtual machine warms up
    return n / timing.seconds(run)


def capymoa_java_speed(
    name: str | None, n_features: int, n_classes: int, timing: Timing
) -> float | None:
    make = moa_learner(name)
    if make is None:
        return None
    evaluate = import_module("capymoa.evaluation").prequential_evaluation
    generator = import_module("capymoa.stream.generator").RandomRBFGenerator
    stream = generator(number_of_attributes=n_features, number_of_classes=n_classes)

    def run() -> None:
        model = make(stream.get_schema())
        evaluate(stream, model, max_instances=JAVA_ROWS, window_size=JAVA_ROWS)

    run()  # the virtual machine warms up
    return JAVA_ROWS / timing.seconds(run)
