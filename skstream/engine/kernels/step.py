"""A step of a kernel of anyone, whose answers are checked."""

from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.failures import BadAnswer
from skstream.engine.kernels.base import Kernel, Task


def checked_step(kernel: Kernel, state: Any, block: Block) -> tuple[Any, np.ndarray]:
    """Return the next state and the answers; `BadAnswer` says what the kernel returned instead."""
    came = kernel.step(state, block)
    name = f"{type(kernel).__name__}.step"
    if not isinstance(came, tuple) or len(came) != 2:
        what = f"{len(came)} values" if isinstance(came, tuple) else _in_words(came)
        raise BadAnswer(
            f"{name} returned {what}. A kernel returns two values: the next state, and an array "
            "with one answer per ask, in their order."
        )
    after, answers = came
    wanted, kinds, n_axes = _wanted(kernel.task)
    width = 1 + kernel.task.n_scores
    if (
        not isinstance(answers, np.ndarray)
        or answers.shape[:1] != (block.n_asks,)
        or answers.ndim not in n_axes
        or answers.dtype.kind not in kinds
        or (width > 1 and answers.shape[1] != width)
    ):
        raise BadAnswer(
            f"{name} returned answers that are {_in_words(answers)} to a block of {block.n_asks} "
            f"asks. A kernel returns an array with one answer per ask, in their order: {wanted}."
        )
    return after, answers


def _wanted(task: Task) -> tuple[str, str, tuple[int, ...]]:
    """Return what the answers to a task are, the kinds of their dtype, and the numbers of axes."""
    if task.n_scores:
        return f"codes and scores, float64, of shape (n_asks, {1 + task.n_scores})", "f", (2,)
    if task.method != "predict":
        return "numbers of dtype float64", "f", (1, 2)
    if task.classes is None:
        return "targets, float64, of shape (n_asks,)", "f", (1,)
    return "codes of classes, int64, of shape (n_asks,)", "i", (1,)


def _in_words(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return "None" if value is None else f"of type {type(value).__name__}"
