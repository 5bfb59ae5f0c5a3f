"""Naive Bayes and scalers, each row asked and then learnt: the loop, the kernel, and the peers.

Run from the top of the repository:

    python -m benchmarks.bench_bayes
    python -m benchmarks.bench_bayes --repeats 9 --clock cpu

"loop" calls ``predict`` and ``partial_fit`` of scikit-learn row by row, on the first rows only.
"NumPy" and "numba" are the same kernel without and with compiled loops; where both are the same
code, as for dense counts, both figures are given all the same. River, where it is installed, gets
rows that are dictionaries already. CapyMOA, where it is installed, runs its own Java loop over its
own generator of 10 features and 2 classes. All figures are rows per second of wall time; with
``--clock cpu``, of the process's own time, for machines that others use too.
"""

import argparse
import itertools
import os
import platform
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import skstream
from benchmarks import bench_linear
from benchmarks.bench_linear import hashed_texts, kernel_speed, loop_speed, seconds, show
from skstream.engine.kernels import Task
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.pipeline import make_stream_pipeline
from skstream.utils._numba import numba_enabled

PACKAGES = ("scikit-learn", "numpy", "numba", "river", "capymoa")

Rows = tuple[Any, np.ndarray]


def gaussian_rows(n: int, n_features: int, n_classes: int) -> Rows:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    means = rng.normal(size=(n_classes, n_features)) / 2
    return rng.normal(size=(n, n_features)) + means[y], y


def counted_rows(n: int, n_features: int, n_classes: int) -> Rows:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    rates = rng.gamma(0.5, size=(n_classes, n_features))
    return rng.poisson(rates[y]).astype(np.float64), y


def river_speed(name: str | None, X: Any, y: np.ndarray, repeats: int) -> float | None:
    try:
        module = import_module("river.naive_bayes")
    except ImportError:
        return None
    if name is None:
        return None
    n = 2000
    if sparse.issparse(X):
        rows = [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in itertools.pairwise(X.indptr[: n + 1])
        ]
    else:
        rows = [dict(enumerate(x)) for x in X[:n].tolist()]
    labels = y[:n].tolist()

    def run() -> None:
        model = getattr(module, name)()
        for row, label in zip(rows, labels, strict=True):
            model.predict_one(row)
            model.learn_one(row, label)

    return n / seconds(run, repeats)


def capymoa_speed(repeats: int) -> float | None:
    """CapyMOA's NaiveBayes under its compiled prequential loop, generator included."""
    try:
        naive_bayes = import_module("capymoa.classifier").NaiveBayes
        evaluate = import_module("capymoa.evaluation").prequential_evaluation
        generator = import_module("capymoa.stream.generator").RandomRBFGenerator
    except ImportError:
        return None
    n = 100_000

    def run() -> None:
        stream = generator(number_of_attributes=10, number_of_classes=2)
        model = naive_bayes(schema=stream.get_schema())
        evaluate(stream, model, max_instances=n, window_size=n)

    run()  # the virtual machine warms up
    return n / seconds(run, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--block", type=int, default=8192, help="rows per block")
    parser.add_argument("--clock", choices=list(bench_linear.CLOCKS), default="wall")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the fastest cases")
    arguments = parser.parse_args()
    # Row by row, GaussianNB divides by variances of 0 until every class has two rows.
    warnings.simplefilter("ignore", RuntimeWarning)
    bench_linear.CLOCK = bench_linear.CLOCKS[arguments.clock]
    n, repeats, block = arguments.rows, arguments.repeats, arguments.block
    small = lambda: gaussian_rows(n, 10, 2)  # noqa: E731 - three cases share it
    wide = lambda: gaussian_rows(n // 4, 54, 7)  # noqa: E731
    dense = lambda: counted_rows(n, 50, 3)  # noqa: E731
    text = lambda: hashed_texts(n // 4)  # noqa: E731
    scaled = [
        (f"{type(scaler).__name__} and SGD, 10 features", scaler)
        for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler())
    ]
    cases: list[tuple[str, Any, Callable[[], Rows], int, str | None]] = [
        ("GaussianNB, 10 features, 2 classes", GaussianNB(), small, 2, "GaussianNB"),
        ("IncrementalGaussianNB, the same", IncrementalGaussianNB(), small, 2, "GaussianNB"),
        ("GaussianNB, 54 features, 7 classes", GaussianNB(), wide, 7, "GaussianNB"),
        ("IncrementalGaussianNB, the same", IncrementalGaussianNB(), wide, 7, "GaussianNB"),
        ("MultinomialNB, 50 features, 3 classes", MultinomialNB(), dense, 3, "MultinomialNB"),
        ("BernoulliNB, the same", BernoulliNB(), dense, 3, "BernoulliNB"),
        ("ComplementNB, the same", ComplementNB(), dense, 3, "ComplementNB"),
        ("MultinomialNB, hashed text, 2 classes", MultinomialNB(), text, 2, "MultinomialNB"),
        ("BernoulliNB, the same", BernoulliNB(), text, 2, "BernoulliNB"),
        ("ComplementNB, the same", ComplementNB(), text, 2, "ComplementNB"),
        *(
            (name, make_stream_pipeline(scaler, SGDClassifier(loss="log_loss")), small, 2, None)
            for name, scaler in scaled
        ),
    ]
    print(f"skstream {skstream.__version__}", end="")
    print(f", Python {platform.python_version()}, {platform.machine()}", end="")
    for package in PACKAGES:
        try:
            print(f", {package} {version(package)}", end="")
        except PackageNotFoundError:
            continue
    print(
        f"\nrows per second of {arguments.clock} time, medians of {repeats}, blocks of {block:,}\n"
    )
    heads = ("loop", "River", "NumPy", "numba", "/ loop", "/ River")
    print(f"{'':40}" + "".join(f"{head:>12}" for head in heads))
    for name, estimator, make, n_classes, peer in cases:
        X, y = make()
        task = Task(np.arange(n_classes))
        loop = loop_speed(estimator, X, y, task, repeats)
        river = river_speed(peer, X, y, repeats)
        os.environ["SKSTREAM_DISABLE_NUMBA"] = "1"
        few = max(len(y) // 4, 1)
        plain = kernel_speed(estimator, X[:few], y[:few], task, block, repeats)
        del os.environ["SKSTREAM_DISABLE_NUMBA"]
        compiled = None
        if numba_enabled():
            compiled = kernel_speed(estimator, X, y, task, block, repeats)
        best = compiled or plain
        speeds = (loop, river, plain, compiled, best / loop, river and best / river)
        print(f"{name:40}" + "".join(show(speed) for speed in speeds), flush=True)
    capymoa = capymoa_speed(repeats)
    if capymoa is not None:
        print(f"\nCapyMOA's NaiveBayes, 10 features, 2 classes: {capymoa:,.0f}")


if __name__ == "__main__":
    main()
