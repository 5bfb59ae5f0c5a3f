"""What the naive Bayes kernels share: checks of parameters, class priors, answers from scores."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.answers import answers_to
from skstream.engine.kernels.base import Task
from skstream.engine.kernels.cuts import Floats

# More than sums of logarithms may differ by when they are added in another order, as a share.
_ROUNDING = 1e-9


def is_proper_alpha(alpha: Any, force_alpha: Any) -> bool:
    """Whether smoothing is a number or an array that no ``partial_fit`` objects to.

    Below 1e-10 scikit-learn replaces it with a warning, or takes logarithms of 0.
    """
    if not isinstance(force_alpha, bool | np.bool_):
        return False
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


def log_prior(counts: Floats, fit_prior: bool, class_prior: Any) -> Floats:
    """Log probabilities of the classes, as the discrete models of scikit-learn set them.

    Parameters
    ----------
    counts : ndarray of shape (..., n_classes)
        Weights learnt per class.
    fit_prior, class_prior
        The parameters of the model.

    Returns
    -------
    ndarray of shape (..., n_classes)
        Minus infinity for a class not yet seen.
    """
    if class_prior is not None:
        known: Floats = np.log(np.asarray(class_prior, dtype=np.float64))
        return np.broadcast_to(known, counts.shape)
    if not fit_prior:
        return np.full(counts.shape, -np.log(counts.shape[-1]))
    with np.errstate(divide="ignore"):
        learnt: Floats = np.log(counts) - np.log(counts.sum(axis=-1, keepdims=True))
    return learnt


def tied(scores: Floats, task: Task) -> NDArray[np.intp]:
    """Rows whose two best classes nothing but rounding tells apart, if labels are asked for."""
    if task.method != "predict" or scores.shape[1] < 2 or not len(scores):
        return np.empty(0, dtype=np.intp)
    if scores.shape[1] == 2:
        best, second = scores[:, 0], scores[:, 1]
    else:
        second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    with np.errstate(invalid="ignore"):
        apart = np.abs(best - second)
        return np.flatnonzero(apart <= _ROUNDING * (1.0 + np.abs(best)))


def answers(
    scores: Floats, task: Task, normalise: Callable[[Floats], Floats] | None = None
) -> NDArray[Any]:
    """Codes, probabilities or both, from joint log likelihoods of shape (n_asks, n_classes).

    As in scikit-learn, the first class whose score is NaN is the answer. Probabilities are formed
    by `normalise`; None: as scikit-learn does.
    """
    return answers_to(task, partial(_answers, scores, normalise or _probabilities))


def _answers(scores: Floats, normalise: Callable[[Floats], Floats], task: Task) -> NDArray[Any]:
    """Answers of one kind."""
    if task.method == "predict":
        codes: NDArray[np.int64] = scores.argmax(axis=1)
        return codes
    return normalise(scores)


def _probabilities(scores: Floats) -> Floats:
    best = scores.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(best), best, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.log(np.exp(scores - shift).sum(axis=1, keepdims=True)) + shift
        probabilities: Floats = np.exp(scores - total)
    return probabilities


def refused_answers(task: Task) -> str | None:
    """What of a task naive Bayes does not do, for `Kernel.refusal`."""
    if task.classes is None:
        return "a regression task"
    if task.method not in ("predict", "predict_proba"):
        return f"{task.method} as the answer"
    kind = task.classes.dtype.kind
    proper = kind in "biuU" or (kind == "O" and all(isinstance(one, str) for one in task.classes))
    if kind == "f":  # scikit-learn takes others for targets
        proper = bool((task.classes == np.trunc(task.classes)).all())
    return None if proper and len(task.classes) else "these class labels"
