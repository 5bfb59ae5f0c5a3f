"""Likelihoods of Gaussian naive Bayes over time: a compiled loop, or prefix sums in NumPy.

Both keep weight, mean and variance of several groups of rows: one per class, and for a model
with a floor that follows all rows, one of all rows.
"""

import copy
import math

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.cuts import (
    Floats,
    Integers,
    Piece,
    distinct,
    pieces,
    rows_per_piece,
)
from skstream.engine.kernels.naive_bayes.moments import Moments
from skstream.utils._numba import jit

_LOG_2_PI = math.log(2.0 * math.pi)


class LoopedGroups:
    """The state as arrays, for the compiled loop.

    Parameters
    ----------
    n_classes : int
    weights : ndarray of shape (n_groups,)
    means, variances : ndarray of shape (n_groups, n_features)
    """

    def __init__(self, n_classes: int, weights: Floats, means: Floats, variances: Floats):
        self._n_classes = n_classes
        self.weights = weights.copy()
        self.means = np.array(means, order="C")
        self.variances = np.array(variances, order="C")

    def copy(self) -> "LoopedGroups":
        """Return a copy, to be brought forward."""
        return LoopedGroups(self._n_classes, self.weights, self.means, self.variances)

    def log_likelihoods(self, block: Block, learn: Floats, ask: Floats, smoothing: float) -> Floats:
        """Learn and ask in order; of shape (n_asks, n_classes)."""
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        scores = np.empty((block.n_asks, self._n_classes))
        state = self.weights, self.means, self.variances
        _run_rows(learn, block.y, weight, ask, block.stamp, *state, smoothing, scores)
        return scores


class SummedGroups:
    """The state as `Moments`; parameters as those of `LoopedGroups`."""

    def __init__(self, n_classes: int, weights: Floats, means: Floats, variances: Floats):
        self._n_classes = n_classes
        self._groups = [
            Moments(mean, var, float(weight))
            for mean, var, weight in zip(means, variances, weights, strict=True)
        ]

    def copy(self) -> "SummedGroups":
        """Return a copy, to be brought forward."""
        groups = copy.copy(self)
        groups._groups = [copy.copy(group) for group in self._groups]  # their arrays do not change
        return groups

    @property
    def weights(self) -> Floats:
        """Weights, of shape (n_groups,)."""
        return np.array([group.weight for group in self._groups])

    @property
    def means(self) -> Floats:
        """Means, of shape (n_groups, n_features)."""
        return np.array([group.mean for group in self._groups])

    @property
    def variances(self) -> Floats:
        """Variances, of shape (n_groups, n_features)."""
        return np.array([group.var for group in self._groups])

    def log_likelihoods(self, block: Block, learn: Floats, ask: Floats, smoothing: float) -> Floats:
        """Learn and ask in order; of shape (n_asks, n_classes)."""
        scores = np.empty((block.n_asks, self._n_classes))
        for piece in pieces(block, rows_per_piece(learn.shape[1])):
            asked = ask[piece.asks]
            floor = None
            if len(self._groups) > self._n_classes:
                everything = self._groups[-1].learn(learn[piece.learns], piece.weight)
                floor = smoothing * everything[1].max(axis=1)[piece.stamp]
            for k in range(self._n_classes):
                states = self._learn_class(k, piece, learn[piece.learns])
                scores[piece.asks, k] = (
                    _plain_scores(asked, *states)
                    if floor is None
                    else _floored_scores(asked, *states, floor, smoothing)
                )
        return scores

    def _learn_class(self, k: int, piece: Piece, x: Floats) -> tuple[Floats, Floats, Integers]:
        """Means and variances of a class over time, and which of them hold at each ask."""
        mine = piece.y == k
        weight = None if piece.weight is None else piece.weight[mine]
        means, variances = self._groups[k].learn(x[mine], weight)
        return means, variances, np.concatenate([[0], np.cumsum(mine)])[piece.stamp]


def _plain_scores(ask: Floats, means: Floats, variances: Floats, state: Integers) -> Floats:
    """Log likelihoods; NaN, as in scikit-learn, where a variance is 0."""
    first, which = distinct(state)
    used = state[first]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        constants = np.einsum("ij->i", np.log(variances[used])) + len(means[0]) * _LOG_2_PI
        factors = np.divide(1.0, variances[used])
        squares = ask - np.take(means[used], which, axis=0)
        squares *= squares
        sums = np.einsum("ij,ij->i", squares, np.take(factors, which, axis=0))
        scores: Floats = -0.5 * (constants[which] + sums)
    return scores


def _floored_scores(
    ask: Floats,
    means: Floats,
    variances: Floats,
    state: Integers,
    floor: Floats,
    smoothing: float,
) -> Floats:
    """Log likelihoods with a floor of shape (n_asks,) under all variances."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        spread = np.take(variances, state, axis=0)
        spread += floor[:, None]
        squares = ask - np.take(means, state, axis=0)
        squares *= squares
        squares /= spread
        squares += np.log(spread, out=spread)
        scores: Floats = -0.5 * (np.einsum("ij->i", squares) + ask.shape[1] * _LOG_2_PI)
    if smoothing > 0:
        # All rows learnt are alike.
        scores[floor == 0] = 0.0
    return scores


@jit
def _run_rows(  # type: ignore[no-untyped-def]
    learn, y, weight, ask, stamp, weights, means, variances, smoothing, scores
):
    """Execute learns and asks in order; `scores` receives the log likelihoods."""
    n_classes = scores.shape[1]
    n_features = means.shape[1]
    floored = len(weights) > n_classes
    factors = np.empty((n_classes, n_features))
    constants = np.empty(n_classes)
    terms = np.empty(n_features)
    floor = 0.0
    if floored:
        floor = smoothing * _largest(variances, n_classes)
    else:
        for k in range(n_classes):
            constants[k] = _prepare_class(variances, factors, k)
    done = 0
    for i in range(len(ask) + 1):
        until = stamp[i] if i < len(ask) else len(learn)
        for t in range(done, until):
            k = y[t]
            _learn_row(learn, t, weight[t], weights, means, variances, k)
            if floored:
                _learn_row(learn, t, weight[t], weights, means, variances, n_classes)
                floor = smoothing * _largest(variances, n_classes)
            else:
                constants[k] = _prepare_class(variances, factors, k)
        done = until
        if i == len(ask):
            break
        for k in range(n_classes):
            if not floored:
                total = 0.0
                for j in range(n_features):
                    deviation = ask[i, j] - means[k, j]
                    total += deviation * deviation * factors[k, j]
                scores[i, k] = -0.5 * (constants[k] + total)
            elif floor == 0.0 and smoothing > 0.0:
                scores[i, k] = 0.0
            else:
                # Apart from the sums, so that several divisions are made at a time.
                for j in range(n_features):
                    deviation = ask[i, j] - means[k, j]
                    terms[j] = deviation * deviation / (variances[k, j] + floor)
                total = n_features * _LOG_2_PI
                product = 1.0
                for j in range(n_features):
                    total += terms[j]
                    product *= variances[k, j] + floor
                    if not 1e-200 < product < 1e200:
                        total += np.log(product)
                        product = 1.0
                scores[i, k] = -0.5 * (total + np.log(product))


@jit
def _largest(variances, k):  # type: ignore[no-untyped-def]
    largest = variances[k, 0]
    for j in range(1, variances.shape[1]):
        largest = max(largest, variances[k, j])
    return largest


@jit
def _prepare_class(variances, factors, k):  # type: ignore[no-untyped-def]
    """Inverse variances of a class into `factors`; the constant of its log likelihood."""
    constant = variances.shape[1] * _LOG_2_PI
    # One logarithm of a product instead of many: the product stays in range.
    product = 1.0
    for j in range(variances.shape[1]):
        factors[k, j] = 1.0 / variances[k, j]
        product *= variances[k, j]
        if not 1e-200 < product < 1e200:
            constant += np.log(product)
            product = 1.0
    return constant + np.log(product)


@jit
def _learn_row(x, t, w, weights, means, variances, k):  # type: ignore[no-untyped-def]
    """Combine a group's mean and variance with a row, in scikit-learn's order of operations."""
    n = weights[k]
    total = n + w
    for j in range(x.shape[1]):
        row = x[t, j]
        row_var = 0.0
        if w != 1.0:
            # A weighted mean of one row: not always the row itself.
            row = row * w / w
            row_var = (x[t, j] - row) * (x[t, j] - row) * w / w
        if n == 0.0:
            means[k, j] = row + 0.0  # NumPy's mean of -0.0 is 0.0
            variances[k, j] = row_var
        else:
            deviation = means[k, j] - row
            squares = n * variances[k, j] + w * row_var
            squares = squares + (w * n / total) * (deviation * deviation)
            means[k, j] = (w * row + n * means[k, j]) / total
            variances[k, j] = squares / total
    weights[k] = total
