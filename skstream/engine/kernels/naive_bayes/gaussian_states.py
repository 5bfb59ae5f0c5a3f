"""Likelihoods of Gaussian naive Bayes over time, by a loop over rows and features.

It keeps weight, mean and variance of several groups of rows: one per class, and for a model
with a floor that follows all rows, one of all rows.
"""

import math

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.cuts import Floats
from skstream.utils._numba import jit

_LOG_2_PI = math.log(2.0 * math.pi)


class MomentGroups:
    """The state as arrays.

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

    def copy(self) -> "MomentGroups":
        """Return a copy, to be brought forward."""
        return MomentGroups(self._n_classes, self.weights, self.means, self.variances)

    def log_likelihoods(self, block: Block, learn: Floats, ask: Floats, smoothing: float) -> Floats:
        """Learn and ask in order; of shape (n_asks, n_classes)."""
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        scores = np.empty((block.n_asks, self._n_classes))
        state = self.weights, self.means, self.variances
        _run_rows(learn, block.y, weight, ask, block.stamp, *state, smoothing, scores)
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
