"""Gaussian naive Bayes in float32, each number rounded when scikit-learn rounds it.

GaussianNB keeps the precision of its rows. In float32 no two ways of adding agree, so states are
brought forward row by row, and scores are the sums of scikit-learn itself: NumPy adds the numbers
of a row in the same order in whatever company the row comes.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Task
from skstream.engine.kernels.cuts import Integers, distinct, pieces, rows_per_piece
from skstream.engine.kernels.scored import answers_to
from skstream.utils._numba import jit
from skstream.utils._sklearn import log_sum_exp

Singles = NDArray[np.float32]


class SingleGroups:
    """Weight, mean and variance of each class, in float32.

    Parameters
    ----------
    weights : ndarray of shape (n_classes,)
    means, variances : ndarray of shape (n_classes, n_features)
    """

    def __init__(self, weights: Singles, means: Singles, variances: Singles):
        self.weights = weights.copy()
        self.means = np.array(means, order="C")
        self.variances = np.array(variances, order="C")

    def copy(self) -> "SingleGroups":
        """Return a copy, to be brought forward."""
        return SingleGroups(self.weights, self.means, self.variances)

    def log_likelihoods(
        self, block: Block, learn: Singles, ask: Singles, smoothing: float
    ) -> Singles:
        """Learn and ask in order; of shape (n_asks, n_classes)."""
        scores = np.empty((block.n_asks, len(self.weights)), np.float32)
        for piece in pieces(block, rows_per_piece(learn.shape[1])):
            for k in range(len(self.weights)):
                mine = piece.y == k
                weight = None if piece.weight is None else piece.weight[mine]
                means, variances = self._learn_class(k, learn[piece.learns][mine], weight)
                state = np.concatenate([[0], np.cumsum(mine)])[piece.stamp]
                scores[piece.asks, k] = _scores(ask[piece.asks], means, variances, state)
        return scores

    def _learn_class(
        self, k: int, x: Singles, weight: NDArray[Any] | None
    ) -> tuple[Singles, Singles]:
        """Means and variances of a class before its first row, and after each."""
        w = np.ones(len(x), np.float32) if weight is None else weight.astype(np.float32)
        counts = np.add.accumulate(np.append(self.weights[k], w))
        column = w[:, np.newaxis]
        means, variances = np.empty((2, len(x) + 1, x.shape[1]), np.float32)
        means[0], variances[0] = self.means[k], self.variances[k]
        with np.errstate(all="ignore"):
            # The mean of one row is not always the row itself: of -0.0 it is 0.0.
            rows = x + 0.0 if weight is None else (x * column + 0.0) / column
            spread = (x - rows) ** 2 * column / column
            first = int(counts[0] == 0 and len(x) > 0)
            means[1 : 1 + first], variances[1 : 1 + first] = rows[:first], spread[:first]
            factors = w * counts[:-1] / counts[1:]
            steps = counts, factors, rows, column * rows, column * spread
            _learn_rows(first, *steps, means, variances)
        self.weights[k], self.means[k], self.variances[k] = counts[-1], means[-1], variances[-1]
        return means, variances


@jit
def _learn_rows(  # type: ignore[no-untyped-def]
    first, counts, factors, rows, sums, squares, means, variances
):
    """Combine mean and variance with one row after the other, from row `first` on."""
    for t in range(first, len(rows)):
        n, total = counts[t], counts[t + 1]
        deviation = means[t] - rows[t]
        within = n * variances[t] + squares[t]
        means[t + 1] = (sums[t] + n * means[t]) / total
        variances[t + 1] = (within + factors[t] * (deviation * deviation)) / total


def _scores(ask: Singles, means: Singles, variances: Singles, state: Integers) -> Singles:
    """Log likelihoods of a class, which is in one of several states when a row is asked about."""
    first, which = distinct(state)
    with np.errstate(all="ignore"):
        constants = -0.5 * np.sum(np.log(2.0 * np.pi * variances[state[first]]), axis=1)
        squares = (ask - means.take(state, axis=0)) ** 2
        squares /= variances.take(state, axis=0)
        scores: Singles = constants[which] - 0.5 * np.sum(squares, axis=1)
    return scores


def single_answers(scores: NDArray[Any], task: Task) -> NDArray[Any]:
    """Codes, probabilities or both, from joint log likelihoods of shape (n_asks, n_classes)."""
    return answers_to(task, partial(_answers, scores))


def _answers(scores: NDArray[Any], task: Task) -> NDArray[Any]:
    """Answers of one kind."""
    if task.method == "predict":
        codes: NDArray[Any] = scores.argmax(axis=1)
        return codes
    with np.errstate(all="ignore"):
        rounded: Singles = np.exp(scores - log_sum_exp(scores)[:, np.newaxis])
    return rounded.astype(np.float64)
