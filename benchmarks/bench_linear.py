"""Linear models by SGD, each row asked and then learnt: the loop, the kernel, and River.

Run from the top of the repository:

    python -m benchmarks.bench_linear
    python -m benchmarks.bench_linear --repeats 9 --block 65536

"loop" calls ``predict`` and ``partial_fit`` of scikit-learn row by row, on the first rows only.
"NumPy" and "numba" are the same kernel without and with compiled loops. River, where it is
installed, gets rows that are dictionaries already. All figures are rows per second of wall time;
with ``--clock cpu``, of the process's own time, for machines that others use too.
"""

import argparse
import copy
import itertools
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier, SGDRegressor

import skstream
from skstream.engine.block import Block
from skstream.engine.kernels import Task, make_kernel
from skstream.utils._numba import numba_enabled

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
CLOCK = time.perf_counter
PACKAGES = ("scikit-learn", "numpy", "numba", "river")
N_HASHED = 2**18


def dense_rows(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + rng.normal(size=n)
    if n_classes == 0:
        return X, score
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def hashed_texts(n: int, n_words: int = 55) -> tuple[Any, np.ndarray]:
    """About 50 distinct words a row of a Zipfian vocabulary, some telling of the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    word = rng.zipf(1.15, size=(n, n_words)) % 1_000_003
    word[:, :5] = rng.integers(0, 500, size=(n, 5)) * 2 + y[:, None]
    column = (word * 2_654_435_761 % 2**32) % N_HASHED
    row = np.repeat(np.arange(n), n_words)
    X = sparse.csr_array((np.ones(n * n_words), (row, column.ravel())), shape=(n, N_HASHED))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def seconds(function: Callable[[], object], repeats: int) -> float:
    """Median time."""
    times = []
    for _ in range(repeats):
        start = CLOCK()
        function()
        times.append(CLOCK() - start)
    return statistics.median(times)


def loop_speed(estimator: Any, X: Any, y: np.ndarray, task: Task, repeats: int) -> float:
    n = 400
    labels = y if task.classes is None else task.classes[y]

    def run() -> None:
        model = copy.deepcopy(estimator)
        known = {} if task.classes is None else {"classes": task.classes}
        model.partial_fit(X[:1], labels[:1], **known)
        for i in range(1, n):
            model.predict(X[i : i + 1])
            model.partial_fit(X[i : i + 1], labels[i : i + 1])

    return n / seconds(run, repeats)


def kernel_speed(
    estimator: Any, X: Any, y: np.ndarray, task: Task, block: int, repeats: int
) -> float:
    parts = []
    for begin in range(0, len(y), block):
        rows, labels = X[begin : begin + block], y[begin : begin + block]
        index = np.arange(len(labels))
        asked = index[1:] if begin == 0 else index
        parts.append(Block(rows, index, labels, None, rows, asked, asked))

    def run() -> None:
        for part in parts:
            kernel.run(part)

    times = []
    for _ in range(repeats + 1):  # the first compiles
        kernel = make_kernel(copy.deepcopy(estimator), task)
        assert kernel is not None
        times.append(seconds(run, 1))
    return len(y) / statistics.median(times[1:])


def river_speed(X: Any, y: np.ndarray, n_classes: int, repeats: int) -> float | None:
    try:
        from river import linear_model, multiclass, optim
    except ImportError:
        return None
    n = 5000
    if sparse.issparse(X):
        bounds = X.indptr
        rows = [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in itertools.pairwise(bounds[: n + 1])
        ]
    else:
        rows = [dict(enumerate(x)) for x in X[:n].tolist()]
    labels = y[:n].tolist()

    def run() -> None:
        model: Any = linear_model.LogisticRegression(optim.SGD(0.01), l2=1e-4)
        if n_classes == 0:
            model = linear_model.LinearRegression(optim.SGD(0.01), l2=1e-4)
        elif n_classes > 2:
            model = multiclass.OneVsRestClassifier(model)
        for row, label in zip(rows, labels, strict=True):
            model.predict_one(row)
            model.learn_one(row, label)

    return n / seconds(run, repeats)


def show(speed: float | None) -> str:
    return f"{'-':>12}" if speed is None else f"{speed:12,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--block", type=int, default=8192, help="rows per block")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the compiled kernel")
    arguments = parser.parse_args()
    global CLOCK
    CLOCK = CLOCKS[arguments.clock]
    log_loss = SGDClassifier(loss="log_loss")
    n = arguments.rows
    cases = [
        ("log loss, 10 features, 2 classes", log_loss, lambda: dense_rows(n, 10, 2), 2),
        ("log loss, 54 features, 2 classes", log_loss, lambda: dense_rows(n, 54, 2), 2),
        ("log loss, 54 features, 7 classes", log_loss, lambda: dense_rows(n // 4, 54, 7), 7),
        ("regression, 10 features", SGDRegressor(), lambda: dense_rows(n, 10, 0), 0),
        ("log loss, hashed text, 2 classes", log_loss, lambda: hashed_texts(n // 10), 2),
    ]
    print(f"skstream {skstream.__version__}", end="")
    print(f", Python {platform.python_version()}, {platform.machine()}", end="")
    for package in PACKAGES:
        try:
            print(f", {package} {version(package)}", end="")
        except PackageNotFoundError:
            continue
    print(
        f"\nrows per second of {arguments.clock} time, medians of {arguments.repeats}, "
        f"blocks of {arguments.block:,}\n"
    )
    heads = ("loop", "River", "NumPy", "numba", "/ loop", "/ River")
    print(f"{'':34}" + "".join(f"{head:>12}" for head in heads))
    for name, estimator, make, n_classes in cases:
        X, y = make()
        task = Task(np.arange(n_classes) if n_classes else None)
        loop = loop_speed(estimator, X, y, task, arguments.repeats)
        river = river_speed(X, y, n_classes, arguments.repeats)
        os.environ["SKSTREAM_DISABLE_NUMBA"] = "1"
        few = max(len(y) // 5, 1)
        plain = kernel_speed(estimator, X[:few], y[:few], task, arguments.block, arguments.repeats)
        del os.environ["SKSTREAM_DISABLE_NUMBA"]
        compiled = None
        if numba_enabled():
            compiled = kernel_speed(estimator, X, y, task, arguments.block, arguments.repeats)
        best = compiled or plain
        speeds = (loop, river, plain, compiled, best / loop, river and best / river)
        print(f"{name:34}" + "".join(show(speed) for speed in speeds), flush=True)


if __name__ == "__main__":
    main()
