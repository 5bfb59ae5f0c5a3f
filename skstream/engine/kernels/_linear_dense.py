"""Learning and asking dense rows one by one: compiled, and in plain NumPy.

Both take the same arguments and give the same bits. The compiled loop is scikit-learn's own,
weight after weight. NumPy takes a row at a time: products and updates are elementwise, and
``np.add.accumulate`` (or a sum over the first axis) adds in order, where a BLAS dot product or
``np.sum`` would not.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.kernels._linear_losses import (
    GRADIENTS,
    Rule,
    aggressive_step,
    clipped,
    step_of,
    truncated,
)
from skstream.utils._numba import jit, numba_enabled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A scale below this is multiplied into the weights before the example is added
# (WeightVector64.scale).
TINY_SCALE = 1e-9


class Learns(NamedTuple):
    """Everything known about the examples to learn before the first of them is.

    Attributes
    ----------
    code : ndarray of shape (n_learns,)
        Position of the weight vector to which the example belongs; 0 if there is only one.
    target : ndarray of shape (n_learns,)
        Its target there; with the other vectors it is ``Rule.low``.
    own_weight, other_weight : ndarray of shape (n_learns,)
        Class weight times sample weight, there and with the other vectors.
    eta : ndarray of shape (n_learns,)
        Learning rates.
    shrink : ndarray of shape (n_learns,)
        Factors of the l2 penalty; 1 without it.
    cut : ndarray of shape (n_learns,)
        Amounts of the l1 penalty; 0 without it.
    """

    code: Integers
    target: Floats
    own_weight: Floats
    other_weight: Floats
    eta: Floats
    shrink: Floats
    cut: Floats

    def part(self, begin: int, end: int) -> "Learns":
        """Examples `begin` to `end`."""
        return Learns._make(values[begin:end] for values in self)


def asks_between(asks: Integers, begin: int, end: int) -> Integers:
    """Bounds of the asks from `begin` on and before `end` learns, as `learn_dense` takes them.

    The asks after all learns belong to the last ones.
    """
    bounds = asks[begin : end + 2].copy()
    if end + 2 < len(asks):
        bounds[-1] = bounds[-2]
    return bounds


def learn_dense(
    X: Floats,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    """Learn the rows of `X`, answering between them; compiled or plain.

    Parameters
    ----------
    X : ndarray of shape (n_learns, n_features)
        Rows to learn, C order.
    learns : Learns
        Their targets, weights and rates.
    rule : Rule
        Loss and kind of step.
    W : ndarray of shape (n_vectors, n_features)
        Weights: one vector, or one per class. Changed in place.
    b : ndarray of shape (n_vectors,)
        Intercepts. Changed in place.
    Q : ndarray of shape (n_asks, n_features)
        Rows to ask, C order.
    asks : ndarray of shape (n_learns + 2,)
        Rows ``asks[i]`` to ``asks[i + 1]`` of `Q` are asked after ``i`` learns.
    margins : ndarray of shape (n_learns, n_vectors)
        Filled with the decision values of every row just before it is learnt.
    answers : ndarray of shape (n_asks, n_vectors)
        Filled with the decision values of the rows asked.
    """
    if numba_enabled():
        _learn_compiled(X, learns, rule, W, b, Q, asks, margins, answers)
    elif len(b) == 1:
        _learn_one_plain(X, learns, rule, W[0], b, Q, asks, margins, answers)
    else:
        _learn_many_plain(X, learns, rule, W, b, Q, asks, margins, answers)


@jit
def _learn_compiled(
    X: Floats,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    n, d = X.shape
    for i in range(n + 1):
        for q in range(asks[i], asks[i + 1]):
            for k in range(len(b)):
                p = 0.0
                for j in range(d):
                    p += W[k, j] * Q[q, j]
                answers[q, k] = p + b[k]
        if i == n:
            break
        squared_norm = 0.0
        if rule.aggressive:
            for j in range(d):
                squared_norm += X[i, j] * X[i, j]
        cut = learns.cut[i]
        for k in range(len(b)):
            p = 0.0
            for j in range(d):
                p += W[k, j] * X[i, j]
            p += b[k]
            margins[i, k] = p
            if k == learns.code[i]:
                update = step_of(rule, learns.target[i], p, learns.eta[i], squared_norm)
                update *= learns.own_weight[i]
            else:
                update = step_of(rule, rule.low, p, learns.eta[i], squared_norm)
                update *= learns.other_weight[i]
            scale = learns.shrink[i]
            if scale < TINY_SCALE:
                for j in range(d):
                    W[k, j] *= scale
                scale = 1.0
            # scikit-learn stores weights without their scale, and multiplies it in at the end
            # of every call.
            step = update / scale
            if cut > 0.0:
                for j in range(d):
                    W[k, j] = truncated(W[k, j] + X[i, j] * step, cut, scale) * scale
            elif update != 0.0:
                for j in range(d):
                    W[k, j] = (W[k, j] + X[i, j] * step) * scale
            elif scale != 1.0:
                for j in range(d):
                    W[k, j] *= scale
            if rule.fit_intercept:
                b[k] += update


def _learn_one_plain(
    X: Floats,
    learns: Learns,
    rule: Rule,
    w: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    """One weight vector: binary classification or regression."""
    intercept = float(b[0])
    step_from = plain_step(rule)
    product = np.empty_like(w)
    last = product.size - 1
    margin = [0.0] * len(X)
    multiply, add, running_sum, item = np.multiply, np.add, np.add.accumulate, product.item
    begin = 0
    with np.errstate(all="ignore"):
        for i, (x, y, weight, eta, shrink, cut, end) in enumerate(
            zip(
                X,
                learns.target.tolist(),
                learns.own_weight.tolist(),
                learns.eta.tolist(),
                learns.shrink.tolist(),
                learns.cut.tolist(),
                asks[1:].tolist(),
                strict=False,  # the last asks come after all learns
            )
        ):
            if end > begin:
                answers[begin:end, 0] = plain_margins(Q[begin:end], w) + intercept
                begin = end
            multiply(w, x, product)
            running_sum(product, 0, None, product)
            p = item(last) + intercept
            margin[i] = p
            update = step_from(y, p, eta, x) * weight
            scale = shrink
            if scale < TINY_SCALE:
                multiply(w, scale, w)
                scale = 1.0
            if update != 0.0:
                multiply(x, update / scale, product)
                add(w, product, w)
                if rule.fit_intercept:
                    intercept += update
            if cut:
                w[:] = plain_truncated(w, cut, scale)
            if scale != 1.0:
                multiply(w, scale, w)
        answers[begin:, 0] = plain_margins(Q[begin:], w) + intercept
    margins[:, 0] = margin
    b[0] = intercept


def _learn_many_plain(
    X: Floats,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    """One weight vector per class, side by side in the columns of an array."""
    columns = np.ascontiguousarray(W.T)
    intercepts = b.tolist()
    step_from = plain_step(rule)
    product = np.empty_like(columns)
    classes = range(len(intercepts))
    multiply, add, sum_over = np.multiply, np.add, np.add.reduce
    begin = 0
    with np.errstate(all="ignore"):
        for i, (x, code, own_weight, other_weight, eta, shrink, cut, end) in enumerate(
            zip(
                X,
                learns.code.tolist(),
                learns.own_weight.tolist(),
                learns.other_weight.tolist(),
                learns.eta.tolist(),
                learns.shrink.tolist(),
                learns.cut.tolist(),
                asks[1:].tolist(),
                strict=False,  # the last asks come after all learns
            )
        ):
            for q in range(begin, end):
                multiply(columns, Q[q][:, None], product)
                sum_over(product, 0, None, answers[q])
                answers[q] += intercepts
            begin = end
            column = x[:, None]
            multiply(columns, column, product)
            margin = sum_over(product, 0).tolist()
            scale = shrink
            if scale < TINY_SCALE:
                multiply(columns, scale, columns)
                scale = 1.0
            steps = []
            for k in classes:
                p = margin[k] + intercepts[k]
                margin[k] = p
                if k == code:
                    update = step_from(1.0, p, eta, x) * own_weight
                else:
                    update = step_from(rule.low, p, eta, x) * other_weight
                steps.append(update / scale)
                if rule.fit_intercept:
                    intercepts[k] += update
            margins[i] = margin
            multiply(column, steps, product)
            add(columns, product, columns)
            if cut:
                columns[:] = plain_truncated(columns, cut, scale)
            if scale != 1.0:
                multiply(columns, scale, columns)
        for q in range(begin, len(Q)):
            multiply(columns, Q[q][:, None], product)
            sum_over(product, 0, None, answers[q])
            answers[q] += intercepts
    W[:] = columns.T
    b[:] = intercepts


def plain_step(rule: Rule) -> Callable[[float, float, float, Floats], float]:
    """Return `step_of` without numba: a function of target, margin, rate and the row's values."""
    if rule.aggressive:
        aggressive = aggressive_step.plain

        def step(y: float, p: float, eta: float, x: Floats) -> float:
            squared_norm = float(np.add.accumulate(x * x)[-1]) if len(x) else 0.0
            return aggressive(rule, y, p, squared_norm)

        return step
    gradient, clip, epsilon = GRADIENTS[rule.loss].plain, clipped.plain, rule.epsilon
    return lambda y, p, eta, x: -eta * clip(gradient(y, p, epsilon))


def plain_margins(Q: Floats, w: Floats) -> Floats:
    """Products of rows with one weight vector, each added in the order of the features."""
    if len(Q) == 1:
        return np.add.accumulate(w * Q[0])[-1:]
    margin = np.zeros(len(Q))
    for j in range(len(w)):
        margin += Q[:, j] * w[j]
    return margin


def plain_truncated(W: Floats, cut: float, scale: float) -> Floats:
    """`truncated` of every weight at once."""
    side = scale * W
    rest = cut / scale
    positive = np.maximum(W - rest, 0.0)
    negative = np.minimum(W + rest, 0.0)
    return np.where(side > 0.0, positive, np.where(side < 0.0, negative, W))
