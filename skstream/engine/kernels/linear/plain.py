"""The loops of scikit-learn's SGD in NumPy, where there is no numba; same arguments, same bits.

A row is taken at a time: products and updates are elementwise, and ``np.add.accumulate`` (or a
sum over the first of several columns' axes) adds in order, where a BLAS dot product or
``np.sum`` would not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.kernels.linear.loops import (
    GRADIENTS,
    SPARSE_INTERCEPT_DECAY,
    TINY_SCALE,
    TINY_SINGLE_SCALE,
    aggressive_step,
    clipped,
)
from skstream.engine.kernels.linear.records import (
    Floats,
    Integers,
    Learns,
    Rule,
    Singles,
    SparseRows,
)


def learn_rows(
    X: Floats,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> float:
    """Learn dense rows; see `_linear_blocks.learn_dense`."""
    if len(b) == 1:
        return _learn_one(X, learns, rule, W[0], b, Q, asks, margins, answers)
    return _learn_many(X, learns, rule, W, b, Q, asks, margins, answers)


def _learn_one(
    X: Floats,
    learns: Learns,
    rule: Rule,
    w: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> float:
    """One weight vector: binary classification, regression, or a one-class SVM."""
    intercept, pull = float(b[0]), rule.pull
    step_from = step_function(rule)
    product = np.empty_like(w)
    last = product.size - 1
    margin = [0.0] * len(X)
    squared_steps = 0.0
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
                answers[begin:end, 0] = _margins(Q[begin:end], w) + intercept
                begin = end
            multiply(w, x, product)
            running_sum(product, 0, None, product)
            p = item(last) + intercept
            margin[i] = p
            if pull:
                p = item(last) + (1.0 + intercept)
            update = step_from(y, p, eta, x) * weight
            scale = shrink
            if scale < TINY_SCALE:
                multiply(w, scale, w)
                scale = 1.0
            if update != 0.0:
                squared_steps += update * update
                multiply(x, update / scale, product)
                add(w, product, w)
                if rule.fit_intercept and not pull:
                    intercept += update
            if pull:
                lowered = update - eta * pull if rule.fit_intercept else 0.0
                intercept = (1.0 + intercept + lowered) - 1.0
            if cut:
                w[:] = _truncated(w, cut, scale)
            if scale != 1.0:
                multiply(w, scale, w)
        answers[begin:, 0] = _margins(Q[begin:], w) + intercept
    margins[:, 0] = margin
    b[0] = intercept
    return squared_steps


def _learn_many(
    X: Floats,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> float:
    """One weight vector per class, side by side in the columns of an array."""
    columns = np.ascontiguousarray(W.T)
    intercepts = b.tolist()
    step_from = step_function(rule)
    product = np.empty_like(columns)
    classes = range(len(intercepts))
    squared_steps = 0.0
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
                squared_steps += update * update
                if rule.fit_intercept:
                    intercepts[k] += update
            margins[i] = margin
            multiply(column, steps, product)
            add(columns, product, columns)
            if cut:
                columns[:] = _truncated(columns, cut, scale)
            if scale != 1.0:
                multiply(columns, scale, columns)
        for q in range(begin, len(Q)):
            multiply(columns, Q[q][:, None], product)
            sum_over(product, 0, None, answers[q])
            answers[q] += intercepts
    W[:] = columns.T
    b[:] = intercepts
    return squared_steps


def learn_single(
    X: Singles,
    learns: Learns,
    rule: Rule,
    W: Singles,
    b: NDArray[Any],
    past_W: Singles,
    past_b: NDArray[Any],
) -> None:
    """Learn dense float32 rows; see `single.learn_rows`."""
    step_from = step_function(rule)
    wide = X.astype(np.float64)
    with np.errstate(all="ignore"):
        for i, (x, z) in enumerate(zip(X, wide, strict=True)):
            past_W[i], past_b[i] = W, b
            cut, eta = float(learns.cut[i]), float(learns.eta[i])
            for k, w in enumerate(W):
                total = np.add.accumulate(w * x, dtype=np.float64)[-1]
                p = float(np.float32(total)) + float(b[k])
                if k == learns.code[i]:
                    update = step_from(float(learns.target[i]), p, eta, z)
                    update *= float(learns.own_weight[i])
                else:
                    update = step_from(rule.low, p, eta, z) * float(learns.other_weight[i])
                scale = np.float32(learns.shrink[i])
                if float(scale) < TINY_SINGLE_SCALE:
                    w *= scale
                    scale = np.float32(1.0)
                if update != 0.0:
                    w[:] = w + z * float(np.float32(update) / scale)
                if cut:
                    w[:] = _truncated(w.astype(np.float64), cut, float(scale))
                if scale != 1.0:
                    w *= scale
                if rule.fit_intercept:
                    b[k] = float(b[k]) + update
    past_W[len(X)], past_b[len(X)] = W, b


def learn_stretch(
    X: SparseRows,
    learns: Learns,
    rule: Rule,
    weights: NDArray[Any],
    b: NDArray[Any],
    Q: SparseRows,
    asks: Integers,
    margins: NDArray[Any],
    answers: NDArray[Any],
) -> None:
    """Learn a stretch of sparse rows, of either precision; see `blocks.learn_sparse`."""
    is_single = weights.dtype == np.float32
    tiny = TINY_SINGLE_SCALE if is_single else TINY_SCALE
    n = len(margins)
    intercepts = b.tolist()
    step_from = step_function(rule)
    bounds = X.bounds.tolist()
    codes, targets = learns.code.tolist(), learns.target.tolist()
    own_weight, other_weight = learns.own_weight.tolist(), learns.other_weight.tolist()
    eta, cut = learns.eta.tolist(), learns.cut.tolist()
    shrink = learns.shrink.astype(weights.dtype).tolist()
    asks = asks.tolist()
    with np.errstate(all="ignore"):
        for i in range(len(asks) - 1):
            for q in range(asks[i], asks[i + 1]):
                asked = slice(Q.bounds[q], Q.bounds[q + 1])
                products = weights[Q.at[asked]] * Q.values[asked, None]
                answers[q] = _sums(products) + intercepts
            if i == n:
                break
            row = slice(bounds[i], bounds[i + 1])
            at, x = X.at[row], X.values[row]
            old = weights[at]
            column = x[:, None]
            if is_single:
                margin = _sums(old * column, np.float64).astype(np.float32).tolist()
                x = x.astype(np.float64)
                column = x[:, None]
            else:
                margin = _sums(old * column).tolist()
            scale = shrink[i]
            steps = []
            for k, intercept in enumerate(intercepts):
                p = margin[k] + intercept
                margin[k] = p
                if k == codes[i]:
                    update = step_from(targets[i], p, eta[i], x) * own_weight[i]
                else:
                    update = step_from(rule.low, p, eta[i], x) * other_weight[i]
                divisor = 1.0 if scale < tiny else scale
                intercept += update * SPARSE_INTERCEPT_DECAY
                if is_single:
                    update = float(np.float32(update) / np.float32(divisor))
                    steps.append(update)
                    intercept = float(b.dtype.type(intercept))
                else:
                    steps.append(update / divisor)
                if rule.fit_intercept:
                    intercepts[k] = intercept
            margins[i] = margin
            if scale < tiny:
                weights *= scale
                old *= scale
                scale = 1.0
            old += column * steps
            if is_single and cut[i]:
                old = old.astype(np.float64)
            weights[at] = _truncated(old, cut[i], scale) if cut[i] else old
            if scale != 1.0:
                weights *= scale
    b[:] = intercepts


def step_function(rule: Rule) -> Callable[[float, float, float, Floats], float]:
    """Return `step_of` without numba: a function of target, margin, rate and the row's values."""
    if rule.aggressive:
        aggressive = aggressive_step.plain

        def step(y: float, p: float, eta: float, x: Floats) -> float:
            squared_norm = float(np.add.accumulate(x * x)[-1]) if len(x) else 0.0
            return aggressive(rule, y, p, squared_norm)

        return step
    gradient, clip, epsilon = GRADIENTS[rule.loss].plain, clipped.plain, rule.epsilon
    return lambda y, p, eta, x: -eta * clip(gradient(y, p, epsilon))


def _margins(Q: Floats, w: Floats) -> Floats:
    """Products of rows with one weight vector, each added in the order of the features."""
    if len(Q) == 1:
        return np.add.accumulate(w * Q[0])[-1:]
    margin = np.zeros(len(Q))
    for j in range(len(w)):
        margin += Q[:, j] * w[j]
    return margin


def _truncated(W: Floats, cut: float, scale: float) -> Floats:
    """`truncated` of every weight at once."""
    side = scale * W
    rest = cut / scale
    positive = np.maximum(W - rest, 0.0)
    negative = np.minimum(W + rest, 0.0)
    return np.where(side > 0.0, positive, np.where(side < 0.0, negative, W))


def _sums(products: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """Sums over the first axis, added in order also where there is one column."""
    if len(products) == 0:
        return np.zeros(products.shape[1])
    sums: NDArray[Any] = np.add.accumulate(products, axis=0, dtype=dtype)[-1]
    return sums
