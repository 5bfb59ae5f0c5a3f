"""Speed of the loop and of the kernels, and the proof that both compute the same."""

import copy
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

import skstream
from skstream.core.engine.block import Block
from skstream.kernels import Kernel, Task, make_kernel

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
#: What is timed is repeated for so long at least, so that a moment's noise does not decide.
LEAST_SECONDS = 2.0
#: Rows on which the loop is timed.
LOOP_ROWS = 500


@dataclass(frozen=True)
class Timing:
    """How often something is timed, by which clock, and what is made of the times."""

    repeats: int
    clock: str = "wall"
    best: bool = False

    def is_enough(self, times: list[float]) -> bool:
        """Whether so many times, of so much time together, are a measurement."""
        return len(times) >= self.repeats and sum(times) >= LEAST_SECONDS

    def of_times(self, times: list[float]) -> float:
        return min(times) if self.best else statistics.median(times)

    def seconds(self, function: Callable[[], object]) -> float:
        """Time of a call."""
        clock, times = CLOCKS[self.clock], []
        while not self.is_enough(times):
            start = clock()
            function()
            times.append(clock() - start)
        return self.of_times(times)

    def __str__(self) -> str:
        what = "fastest" if self.best else "medians"
        return f"rows per second of {self.clock} time, {what} of {self.repeats} or more"


def run_loop(estimator: Any, X: Any, y: np.ndarray, task: Task, *methods: str) -> tuple[Any, list]:
    """Each row but the first asked by every method, and all learnt, by the estimator's own."""
    model = copy.deepcopy(estimator)
    known = {} if task.classes is None else {"classes": task.classes}
    labels = y if task.classes is None else task.classes[y]
    answers: list = []
    model.partial_fit(X[:1], labels[:1], **known)
    for i in range(1, len(y)):
        row = X[i : i + 1]
        answers.append([getattr(model, method)(row)[0] for method in methods])
        model.partial_fit(row, labels[i : i + 1])
    return model, answers


def blocks_of(X: Any, y: np.ndarray, n_rows: int) -> list[Block]:
    """Blocks in which each row but the first is asked, and then learnt."""
    blocks = []
    for begin in range(0, len(y), n_rows):
        rows, labels = X[begin : begin + n_rows], y[begin : begin + n_rows]
        index = np.arange(len(labels))
        asked = index[1:] if begin == 0 else index
        blocks.append(Block(rows, index, labels, None, rows, asked, asked))
    return blocks


def loop_speed(estimator: Any, X: Any, y: np.ndarray, task: Task, timing: Timing) -> float:
    return len(y) / timing.seconds(lambda: run_loop(estimator, X, y, task, "predict"))


def kernel_speed(
    estimator: Any, X: Any, y: np.ndarray, task: Task, n_rows: int, timing: Timing
) -> float:
    """Rows per second in blocks of `n_rows`; the first run compiles and is not counted."""
    blocks = blocks_of(X, y, n_rows)
    clock, times = CLOCKS[timing.clock], []
    while not timing.is_enough(times[1:]):
        kernel = make_kernel(copy.deepcopy(estimator), task)
        assert kernel is not None
        start = clock()
        execute(kernel, blocks)
        times.append(clock() - start)
    return len(y) / timing.of_times(times[1:])


def execute(kernel: Kernel, blocks: list[Block]) -> tuple[Any, list[np.ndarray]]:
    """State and answers after some blocks."""
    state, answers = kernel.initial_state(), []
    for block in blocks:
        state, its_answers = kernel.step(state, block)
        answers.append(its_answers)
    return state, answers


def check_equal(estimator: Any, X: Any, y: np.ndarray, task: Task) -> None:
    """Stop unless the kernel leaves the answers and the numbers of a loop over the same rows."""
    kernel = make_kernel(copy.deepcopy(estimator), task)
    assert kernel is not None
    state, parts = execute(kernel, blocks_of(X, y, len(y) // 3))
    answers = np.concatenate(parts)
    kernel.export(state)
    if task.classes is None:
        model, looped = run_loop(estimator, X, y, task, "predict")
        np.testing.assert_allclose(answers, np.array(looped)[:, 0], rtol=1e-9)
    else:
        score = "predict_joint_log_proba"
        if not hasattr(estimator, score):
            score = "decision_function"
        model, looped = run_loop(estimator, X, y, task, "predict", score)
        for answer, (label, scores) in zip(task.classes[answers], looped, strict=True):
            assert answer == label or is_tie(scores), f"{answer} instead of {label}: {scores}"
    found, wanted = dict(fitted_numbers(kernel.estimator)), dict(fitted_numbers(model))
    assert wanted and found.keys() == wanted.keys()
    for name, values in wanted.items():
        if kernel.bitwise:
            np.testing.assert_array_equal(found[name], values, err_msg=name)
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9, err_msg=name)


def is_tie(scores: Any) -> bool:
    """Whether rounding decides: of scores that agree within 1e-9, BLAS prefers any."""
    best = np.sort(np.append(scores, 0.0) if np.ndim(scores) == 0 else scores)[-2:]
    return bool(best[1] - best[0] <= 1e-9 * max(1.0, abs(best[1])))


def fitted_numbers(model: Any) -> Iterator[tuple[str, Any]]:
    """Every number and array of numbers that a model, or its parts, has learnt."""
    for name, value in vars(model).items():
        if isinstance(value, Pipeline):
            for step, part in value.steps:
                for inner, numbers in fitted_numbers(part):
                    yield f"{step}.{inner}", numbers
        elif name.endswith("_") and np.asarray(value).dtype.kind in "iuf":
            yield name, value


@contextmanager
def without_numba() -> Iterator[None]:
    """Let kernels run on NumPy, by configuration."""
    os.environ["SKSTREAM_DISABLE_NUMBA"] = "1"
    try:
        yield
    finally:
        del os.environ["SKSTREAM_DISABLE_NUMBA"]


def versions(*packages: str) -> str:
    """Versions of this package, Python and others, as far as they are installed."""
    found = [f"skstream {skstream.__version__}"]
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return f"{', '.join(found)}, Python {platform.python_version()}, {platform.machine()}"


def shown(number: float | None) -> str:
    """A number of about three digits."""
    if number is None:
        return "-"
    for unit, size in ((" M", 1e6), (" k", 1e3)):
        if number >= (10_000 if unit == " k" else size):
            return f"{number / size:.{0 if number >= 100 * size else 1}f}{unit}"
    return f"{number:,.0f}"
