"""What answers are: checked, and labels and scores at once, where a task wants both."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.failures import BadAnswer
from skstream.engine.kernels.base import Declined, Kernel, Task
from skstream.engine.sharing import key_of
from skstream.utils._few_columns import best_columns, row_sums

# How far from one the probabilities of a row may sum; in lower precision more.
_ROUNDING = 1e-6


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
    task = kernel.task
    n_axes: tuple[int, ...] = (1, 2)
    wanted, kinds = "numbers of dtype float64", "f"
    if task.n_scores:
        width = 1 + task.n_scores
        wanted, n_axes = f"codes and scores, float64, of shape (n_asks, {width})", (2,)
    elif task.method == "predict":
        wanted, kinds, n_axes = "codes of classes, int64, of shape (n_asks,)", "i", (1,)
        if task.classes is None:
            wanted, kinds = "targets, float64, of shape (n_asks,)", "f"
    if (
        not isinstance(answers, np.ndarray)
        or answers.shape[:1] != (block.n_asks,)
        or answers.ndim not in n_axes
        or answers.dtype.kind not in kinds
        or (task.n_scores and answers.shape[1] != 1 + task.n_scores)
    ):
        raise BadAnswer(
            f"{name} returned answers that are {_in_words(answers)} to a block of {block.n_asks} "
            f"asks. A kernel returns an array with one answer per ask, in their order: {wanted}."
        )
    return after, answers


def _in_words(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return "None" if value is None else f"of type {type(value).__name__}"


def answers_to(task: Task, answer: Callable[[Task], NDArray[Any]]) -> NDArray[Any]:
    """Answers to a task, of a function that answers a task with one kind of answer."""
    if task.scores is None:
        return answer(task)
    labels, scores = task.alone()
    return with_scores(answer(labels), answer(scores), task)


def with_scores(codes: NDArray[Any], values: NDArray[Any], task: Task) -> NDArray[np.float64]:
    """Answers of shape (n_asks, 1 + n_scores): codes, then probabilities or decision values.

    Raises
    ------
    BadAnswer
        If there are not as many columns as classes, or if probabilities are negative or do not sum
        to one.
    """
    n, width = len(codes), task.n_scores
    if task.scores == "predict_proba":
        _check_form(values, n)
        _check_probabilities(values)
    answers = np.empty((n, 1 + width))
    answers[:, 0] = codes
    if len(np.asarray(task.classes)) == 1:
        answers[:, 1] = np.where(np.isnan(values.reshape(n, -1)).any(axis=1), np.nan, 0.0)
    elif values.shape == (n,) and width == 1:
        answers[:, 1] = values
    elif values.shape == (n, 2) and width == 1:
        is_share = task.scores == "predict_proba"
        answers[:, 1] = _of_second(values) if is_share else values[:, 1] - values[:, 0]
    elif values.shape == (n, width):
        answers[:, 1:] = values
    else:
        raise BadAnswer(
            f"{task.scores} returned scores of shape {values.shape} for {n} rows; one column per "
            f"class is needed, or for two classes one in all, and the classes here are "
            f"{np.asarray(task.classes).tolist()}."
        )
    return answers


def _check_form(values: NDArray[Any], n_rows: int) -> None:
    """Raise a `BadAnswer` at anything but a column of numbers for each class."""
    if values.ndim == 1:
        raise BadAnswer(
            f"predict_proba of {n_rows} {'row' if n_rows == 1 else 'rows'} returned an answer of "
            f"shape {values.shape}; one column per class is needed."
        )
    if values.dtype.kind not in "fiub":
        raise BadAnswer(
            f"predict_proba returned {values[:1].tolist()}, which are no numbers but "
            f"{values.dtype}."
        )


def _of_second(probabilities: NDArray[Any]) -> NDArray[Any]:
    """Probability of the second of two classes, from which that of the first follows.

    Near one, numbers of single precision are too far apart for that: there it is one minus the
    probability of the first class, in double precision.
    """
    first, second = probabilities[:, 0], probabilities[:, 1]
    if probabilities.dtype.kind != "f" or probabilities.dtype.itemsize >= 8:
        return second
    return np.where(first < second, 1.0 - first.astype(np.float64), second)


def _check_probabilities(values: NDArray[Any]) -> None:
    """Raise a `BadAnswer` at the first row of no probabilities; NaN is no answer at all."""
    if values.ndim != 2 or not values.size:
        return
    kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    rounding = max(_ROUNDING, float(np.sqrt(np.finfo(kind).eps)))
    with np.errstate(invalid="ignore"):
        off = np.abs(row_sums(values) - 1.0)[:, 0]
        if off.max() <= rounding and values.min() >= 0.0:
            return
        bad = (off > rounding) | (values < 0.0).any(axis=1)
    if bad.any():
        row = values[bad.argmax()]
        raise BadAnswer(
            f"predict_proba returned {row.tolist()}, which sums to {row.sum():.10g}. The "
            f"probabilities of a row are not negative, and sum to one within {rounding:.2g}."
        )


def best_or_all(probabilities: NDArray[Any], task: Task) -> NDArray[Any]:
    """Answers of one kind, of a model whose label is the class with the highest probability."""
    return best_columns(probabilities) if task.method == "predict" else probabilities


class _State(NamedTuple):
    """What each of the two has learnt: the same."""

    labels: Any
    scores: Any


class ScoredKernel(Kernel):
    """Labels of one kernel and scores of another, of the same estimator.

    Each keeps a state of its own: what is in one may depend on what is asked.
    """

    gives_scores = True

    def __init__(self, labels: Kernel, scores: Kernel, task: Task):
        super().__init__(labels.estimator, task)
        self._labels = labels
        self._scores = scores
        self.bitwise = labels.bitwise and scores.bitwise
        for part in labels.looped(labels.initial_state()):  # it cannot learn a row twice
            raise Declined(part.reason)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse nothing: the two have been asked."""
        return None

    def likeness(self) -> bytes | None:
        """Return what is equal for kernels that may share a step; None if they may not."""
        both = self._labels.likeness(), self._scores.likeness()
        return None if None in both else key_of(type(self), both, self.task.scores)

    def initial_state(self) -> _State:
        """Return what the estimator has learnt, for each."""
        return _State(self._labels.initial_state(), self._scores.initial_state())

    def row_bytes(self, state: _State) -> int | None:
        """The most that one of them takes."""
        both = self._labels.row_bytes(state.labels), self._scores.row_bytes(state.scores)
        return None if both[0] is None or both[1] is None else max(both[0], both[1])

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block twice; return the state after it, and the answers to its asks."""
        labels, codes = checked_step(self._labels, state.labels, block)
        scores, values = checked_step(self._scores, state.scores, block)
        return _State(labels, scores), with_scores(codes, values, self.task)

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        self._labels.export(state.labels)
