"""What the naive Bayes kernels share: pieces of a block, class priors, answers from scores."""

from collections.abc import Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels._base import Task

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]

# Numbers of a piece (rows times columns): its working arrays stay in the second-level cache.
_PIECE_NUMBERS = 1 << 17


class Piece(NamedTuple):
    """Some consecutive learns of a block, with the asks stamped among them."""

    learns: slice
    asks: slice
    y: Integers
    weight: Floats | None
    stamp: Integers


def pieces(block: Block, n_rows: int) -> Iterator[Piece]:
    """Cut a block into pieces of at most `n_rows` learns and as many asks, in their order."""
    first = ask = 0
    while True:
        last, stop = min(first + n_rows, block.n_learns), block.n_asks
        if last < block.n_learns:
            stop = int(np.searchsorted(block.stamp, last))
        if stop - ask > n_rows:
            stop = ask + n_rows
            last = int(block.stamp[stop - 1])
        learns, asks = slice(first, last), slice(ask, stop)
        weight = None if block.weight is None else block.weight[learns]
        yield Piece(learns, asks, block.y[learns], weight, block.stamp[asks] - first)
        if last == block.n_learns and stop == block.n_asks:
            return
        first, ask = last, stop


def rows_per_piece(n_columns: int) -> int:
    """Rows whose numbers fit into the cache together."""
    return int(np.clip(_PIECE_NUMBERS // n_columns, 16, 4096))


def running_sums(start: Floats, steps: Floats) -> Floats:
    """Return `start` and its sums with the first 1, 2, ... rows of `steps`.

    Added one after the other, as ``partial_fit`` adds them, so that no cutting of the rows
    changes a bit.
    """
    sums = np.concatenate([start[None], steps])
    return np.cumsum(sums, axis=0, out=sums)


def distinct(ordered: Integers) -> tuple[Integers, Integers]:
    """Return where each distinct value of sorted integers stands first, and which each one is."""
    if not len(ordered):
        return ordered, ordered
    new = np.diff(ordered, prepend=ordered[0] - 1) != 0
    return np.flatnonzero(new), np.cumsum(new) - 1


def is_proper_alpha(alpha: Any, force_alpha: Any) -> bool:
    """Whether smoothing is a number or an array that no ``partial_fit`` objects to.

    Below 1e-10 scikit-learn replaces it with a warning, or takes logarithms of 0.
    """
    if not isinstance(force_alpha, bool | np.bool_) or isinstance(alpha, str):
        return False
    if isinstance(alpha, Real):
        return bool(1e-10 <= float(alpha) < np.inf)
    try:
        values = np.asarray(alpha)
    except ValueError:
        return False
    return bool(
        values.ndim == 1
        and values.dtype.kind in "iuf"
        and len(values)
        and values.min() >= 1e-10
        and np.isfinite(values).all()
    )


def is_proper_prior(prior: Any, n_classes: int) -> bool:
    """Whether class probabilities are positive numbers, one per class."""
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return values.shape == (n_classes,) and bool((values > 0).all() and np.isfinite(values).all())


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


def answers(scores: Floats, task: Task) -> NDArray[Any]:
    """Codes, or probabilities, from joint log likelihoods of shape (n_asks, n_classes).

    As in scikit-learn, the first class whose score is NaN is the answer.
    """
    if task.method == "predict":
        codes: NDArray[np.int64] = scores.argmax(axis=1)
        return codes
    best = scores.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(best), best, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.log(np.exp(scores - shift).sum(axis=1, keepdims=True)) + shift
        probabilities: Floats = np.exp(scores - total)
    return probabilities


def are_proper_classes(classes: NDArray[Any] | None) -> bool:
    """Whether scikit-learn takes these for class labels, one row at a time."""
    if classes is None or not len(classes):
        return False
    kind = classes.dtype.kind
    if kind == "f":
        return bool((classes == np.trunc(classes)).all())
    return kind in "biuU" or (kind == "O" and all(isinstance(label, str) for label in classes))
