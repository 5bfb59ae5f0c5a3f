"""What the naive Bayes kernels have in common: checks, weights of the classes, answers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task, answers_to
from skstream.kernels.cuts import Floats
from skstream.kernels.memory import MemoryKernel, State
from skstream.kernels.schema import Columns, refused_task
from skstream.utils._running_sums import running_sums

# More than sums of logarithms may differ by when they are added in another order, as a share.
_ROUNDING = 1e-9


class NaiveBayesKernel(MemoryKernel):
    """A model that answers the class of the highest joint log likelihood."""

    bitwise = False
    shareable = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        assert task.classes is not None
        self._n_classes = len(task.classes)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other tasks, parameters and labels that scikit-learn refuses."""
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        assert task.classes is not None
        kind = task.classes.dtype.kind
        proper = kind in "biuU" or (kind == "O" and all(isinstance(k, str) for k in task.classes))
        if kind == "f":  # scikit-learn takes others for targets
            proper = bool((task.classes == np.trunc(task.classes)).all())
        return None if proper and len(task.classes) else "these class labels"

    def initial_state(self) -> State:
        """Return what the estimator has learnt; rows of weight 0 have settled columns."""
        return super().initial_state()._replace(columns=Columns.of(self.estimator))

    def _answers(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Answers from joint log likelihoods of shape (n_asks, n_classes).

        As in scikit-learn, the first class whose score is NaN is the answer.
        """

        def of_one_kind(task: Task) -> NDArray[Any]:
            best: NDArray[np.int64] = scores.argmax(axis=1)
            return best if task.method == "predict" else self._probabilities(scores)

        return answers_to(self.task, of_one_kind)

    def _probabilities(self, scores: NDArray[Any]) -> Floats:
        best = scores.max(axis=1, keepdims=True)
        shift = np.where(np.isfinite(best), best, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.log(np.exp(scores - shift).sum(axis=1, keepdims=True)) + shift
            probabilities: Floats = np.exp(scores - total)
        return probabilities


def class_sums(start: NDArray[Any], y: NDArray[Any], steps: Any) -> NDArray[Any]:
    """Sums per class before each row, and after the last; a row with the code -1 adds nothing.

    Parameters
    ----------
    start : ndarray of shape (n_classes,)
    y : ndarray of shape (n_rows,)
        Codes.
    steps : ndarray of shape (n_rows,), or None
        What the rows add; None: 1 each.
    """
    rows = np.flatnonzero(y >= 0)
    by_class = np.zeros((len(y), len(start)), start.dtype)
    by_class[rows, y[rows]] = 1.0 if steps is None else steps[rows]
    if start.dtype == np.float32:
        return np.add.accumulate(np.vstack([start, by_class]), axis=0)
    return running_sums(start, by_class)


def is_proper_alpha(alpha: Any) -> bool:
    """Whether no ``partial_fit`` objects to a smoothing.

    Below 1e-10 scikit-learn replaces it with a warning, or takes logarithms of 0.
    """
    values = _as_numbers(alpha)
    return values.ndim <= 1 and bool(values.size and values.min() >= 1e-10)


def is_proper_prior(prior: Any, n_classes: int) -> bool:
    """Whether class probabilities are positive numbers, one per class."""
    values = _as_numbers(prior)
    return values.shape == (n_classes,) and bool((values > 0).all())


def _as_numbers(values: Any) -> NDArray[Any]:
    """Values as an array, or none of them where they are no finite numbers."""
    try:
        numbers = np.asarray(values)
        if numbers.dtype.kind in "iuf" and np.isfinite(numbers).all():
            return numbers
    except ValueError:  # of several lengths
        pass
    return np.empty(0)


def tied(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Rows whose two best classes nothing but rounding tells apart."""
    if scores.shape[1] < 2 or not len(scores):
        return np.empty(0, dtype=np.intp)
    if scores.shape[1] == 2:
        best, second = scores[:, 0], scores[:, 1]
    else:
        second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    with np.errstate(invalid="ignore"):
        apart = np.abs(best - second)
        return np.flatnonzero(apart <= _ROUNDING * (1.0 + np.abs(best)))
