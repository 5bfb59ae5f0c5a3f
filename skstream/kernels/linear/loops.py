"""The loops of scikit-learn's SGD, weight after weight; meant to be compiled.

Everything repeats the order of operations of ``sklearn/linear_model/_sgd_fast.pyx.tp``,
``sklearn/utils/_weight_vector.pyx.tp`` and ``sklearn/_loss/_loss.pyx.tp``, because the default
schedule is chaotic: another rounding makes another model within a few thousand rows. Without numba
the same loops run uncompiled, with the same bits; numbers of one precision are cast where NumPy and
numba would otherwise choose different ones.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.utils._numba import jit, jit_of_row, jit_without_arrays

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Rule(NamedTuple):
    """What does not change from row to row.

    Attributes
    ----------
    loss : int
        Which gradient is taken: `HINGE` and so on.
    epsilon : float
        The loss's own parameter: threshold of the hinges, epsilon of the others.
    low : float
        Target of a negative example: 0 for the log loss, -1 for the others.
    is_classifier : bool
        Whether targets are classes; passive-aggressive steps depend on it.
    aggressive : int
        `GRADIENT_STEP`, `PA1` or `PA2`.
    eta0 : float
        Bound (PA1) or regularisation (PA2) of passive-aggressive steps.
    fit_intercept : bool
        Whether intercepts are learnt.
    pull : float
        Of a one-class SVM: the multiple of the learning rate by which every row lowers the
        intercept; 0 for all other models. Such a model keeps one minus the intercept, and rounds it
        at every row; its intercept here is what its decision values add, one less.
    """

    loss: int
    epsilon: float
    low: float
    is_classifier: bool
    aggressive: int
    eta0: float
    fit_intercept: bool
    pull: float = 0.0


class Learns(NamedTuple):
    """Targets, weights and rates of the examples, computed before the first is learnt.

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


class SparseRows(NamedTuple):
    """Rows of a CSR matrix: row ``i`` has the values from ``bounds[i]`` to ``bounds[i + 1]``."""

    values: Floats
    at: NDArray[np.integer[Any]]  # their columns
    bounds: Integers


class Ties(NamedTuple):
    """Room to note rows whose decision values are wanted from scikit-learn itself.

    Attributes
    ----------
    unit : float
        Noted is a row where the order of a sum may decide the answer: two sums of its products
        differ by no more than this share of the sizes of the products. Minus infinity: no row is;
        infinity: all are but those without products other than 0.
    number : ndarray of shape (room,)
        Number of the row learnt; or -1 minus the number of the row asked.
    W : ndarray of shape (room, n_vectors, n_features)
        Weights when it was asked.
    b : ndarray of shape (room, n_vectors)
        Intercepts.
    """

    unit: float
    number: Integers
    W: NDArray[Any]
    b: NDArray[Any]


# Gradients are clipped to this before they are used.
MAX_GRADIENT = 1e12
# A scale below this is multiplied into the weights before the example is added.
TINY_SCALE = 1e-9
# The same where weights are kept in float32.
TINY_SINGLE_SCALE = 1e-6
# Intercepts learn this much slower from sparse rows.
SPARSE_INTERCEPT_DECAY = 0.01

# Values of Rule.aggressive.
GRADIENT_STEP, PA1, PA2 = 0, 1, 2

# Sums of whole multiples of 1 / `GRAINS_PER_UNIT` are exact up to `LARGEST_EXACT`.
GRAINS_PER_UNIT = 2.0**26
LARGEST_EXACT = 2.0**26


# Losses, as `Rule.loss` and `gradient` know them.
LOG_LOSS, HINGE, SQUARED_HINGE, MODIFIED_HUBER = 0, 1, 2, 3
SQUARED_ERROR, HUBER, EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE = 4, 5, 6, 7


@jit
def gradient(loss: int, y: float, p: float, epsilon: float) -> float:
    """Gradient of a loss for a decision value `p`.

    `y` is in {0, 1} for the log loss, in {-1, 1} for the other losses of classifiers. `epsilon` is
    the threshold of the hinges (1: SVM, 0: perceptron), else the parameter of that name.
    """
    if loss == LOG_LOSS:
        if p > -37:  # below, 1 + exp(-p) = exp(-p)
            e = math.exp(-p)
            return ((1 - y) - y * e) / (1 + e)
        return math.exp(p) - y
    if loss == HINGE:
        return -y if p * y <= epsilon else 0.0
    if loss == SQUARED_HINGE:
        z = epsilon - p * y
        return -2 * y * z if z > 0 else 0.0
    if loss == MODIFIED_HUBER:  # Zhang (2004)
        z = p * y
        if z >= 1.0:
            return 0.0
        return 2.0 * (1.0 - z) * -y if z >= -1.0 else -4.0 * y
    if loss == SQUARED_ERROR:
        return p - y
    if loss == HUBER:
        residual = p - y
        if abs(residual) <= epsilon:
            return residual
        return epsilon if residual >= 0 else -epsilon
    z = y - p
    if loss == EPSILON_INSENSITIVE:
        if z > epsilon:
            return -1.0
        return 1.0 if p - y > epsilon else 0.0
    if z > epsilon:
        return -2 * (z - epsilon)
    return 2 * (-z - epsilon) if z < -epsilon else 0.0


@jit
def clipped(slope: float) -> float:
    """Gradient within its bounds; NaN stays."""
    if slope < -MAX_GRADIENT:
        return -MAX_GRADIENT
    if slope > MAX_GRADIENT:
        return MAX_GRADIENT
    return slope


@jit
def aggressive_step(rule: Rule, y: float, p: float, squared_norm: float) -> float:
    """Passive-aggressive step (Crammer et al. 2006) for a margin and the row's squared norm."""
    loss = 0.0
    if rule.is_classifier:
        if p * y <= rule.epsilon:
            loss = rule.epsilon - p * y
    elif abs(y - p) - rule.epsilon > 0:
        loss = abs(y - p) - rule.epsilon
    if rule.aggressive == PA2:
        step = loss / (squared_norm + 0.5 / rule.eta0)
    elif squared_norm == 0:
        return 0.0
    else:
        step = loss / squared_norm
        if not step < rule.eta0:
            step = rule.eta0
    if rule.is_classifier:
        return step * y
    if y - p < 0:
        return -step
    return step


@jit
def step_of(rule: Rule, y: float, p: float, eta: float, squared_norm: float) -> float:
    """Multiple of the row that is added to the weights, without the weight of the row."""
    if rule.aggressive:
        return aggressive_step(rule, y, p, squared_norm)
    return -eta * clipped(gradient(rule.loss, y, p, rule.epsilon))


@jit
def truncated(w: float, cut: float, scale: float) -> float:
    """L1 truncation (Tsuruoka et al. 2009) of a weight stored without its scale."""
    if scale * w > 0.0:
        rest = w - cut / scale
        if rest > 0.0:
            return rest
        return 0.0
    if scale * w < 0.0:
        rest = w + cut / scale
        if rest < 0.0:
            return rest
        return 0.0
    return w


@jit_without_arrays
def may_round(W: NDArray[Any], X: NDArray[Any], i: int, size: float) -> bool:
    """Whether the order of the products of a row and the weights may change their sum at all.

    Not so with whole numbers, and weights that are whole multiples of a power of two, as steps
    of 1 or 0.5 make them; `size` is no less than the sum of the sizes of the products.
    """
    n_rounded = 0
    for j in range(X.shape[1]):
        n_rounded += X[i, j] != np.floor(X[i, j])
        for k in range(len(W)):
            grains = W[k, j] * GRAINS_PER_UNIT
            n_rounded += grains != np.floor(grains)
    return n_rounded > 0 or size > LARGEST_EXACT


@jit_without_arrays
def note(number: int, W: NDArray[Any], b: NDArray[Any], n_ties: int, ties: Ties) -> None:
    """Note row `number`, and the weights at that time."""
    ties.number[n_ties] = number
    for k in range(len(b)):
        ties.b[n_ties, k] = b[k]
        for j in range(W.shape[1]):
            ties.W[n_ties, k, j] = W[k, j]


@jit_of_row
def decide(
    W: NDArray[Any],
    b: NDArray[Any],
    X: NDArray[Any],
    i: int,
    unit: float,
    several: bool | None,
    out: NDArray[Any],
) -> tuple[float, float, bool]:
    """Write the decision values of a row into a row of `out`.

    Returns the sum of products and the decision value of the last vector, and whether the order of
    a sum may decide the answer.
    """
    if several is None:
        n_vectors = 1
    else:
        n_vectors = len(b)
    best, second, size, p = -np.inf, -np.inf, 0.0, 0.0
    total = np.float64(0.0)
    for k in range(n_vectors):
        total = np.float64(0.0)
        for j in range(X.shape[1]):
            product = W[k, j] * X[i, j]
            total += product
            size += abs(product)
        p = np.float64(W.dtype.type(total)) + b[k]
        out[i, k] = p
        if several is not None:
            low = p if p < best else best
            second = low if low > second else second
            best = p if p > best else best
    if several is None:
        is_near = abs(p) <= unit * size
    else:
        is_near = best - second <= unit * (2.0 * size + abs(best) + abs(second))
    return total, p, is_near and (unit == np.inf or may_round(W, X, i, size))


@jit_without_arrays
def learn_rows(
    X: NDArray[Any],
    learns: Learns,
    rule: Rule,
    W: NDArray[Any],
    b: NDArray[Any],
    Q: NDArray[Any],
    asks: Integers,
    margins: Floats,
    answers: NDArray[Any],
    ties: Ties,
    several: bool | None,
) -> tuple[int, int, int]:
    """Learn dense rows of either precision, as many as there is room for ties.

    `several` is None if there is a single weight vector, else True. Where it is None, numba leaves
    out what is for several vectors: a single one has compiled code of its own.

    Returns how many rows were learnt (one more than there are where nothing is left to do), how
    many asked, and how many were noted in `ties`.
    """
    kind = W.dtype.type
    is_single = W.itemsize == 4
    tiny = TINY_SINGLE_SCALE if is_single else TINY_SCALE
    n, d = X.shape
    if several is None:
        n_vectors = 1
    else:
        n_vectors = len(b)
    room, n_ties = len(ties.number), 0
    for i in range(n + 1):
        for q in range(asks[i], asks[i + 1]):
            total, p, is_tied = decide(W, b, Q, q, ties.unit, several, answers)
            if is_tied:
                if n_ties == room:
                    return i, q, n_ties
                note(-1 - q, W, b, n_ties, ties)
                n_ties += 1
        if i == n:
            break
        squared_norm = 0.0
        if rule.aggressive:
            for j in range(d):
                squared_norm += np.float64(X[i, j]) * np.float64(X[i, j])
        total, p, is_tied = decide(W, b, X, i, ties.unit, several, margins)
        if is_tied:
            if n_ties == room:
                return i, asks[i + 1], n_ties
            note(i, W, b, n_ties, ties)
            n_ties += 1
        cut = learns.cut[i]
        for k in range(n_vectors):
            if several is not None:
                p = margins[i, k]
            elif rule.pull > 0.0:
                p = total + (1.0 + b[k])
            if several is None or k == learns.code[i]:
                update = step_of(rule, learns.target[i], p, learns.eta[i], squared_norm)
                update *= learns.own_weight[i]
            else:
                update = step_of(rule, rule.low, p, learns.eta[i], squared_norm)
                update *= learns.other_weight[i]
            scale = kind(learns.shrink[i])
            if scale < tiny:
                for j in range(d):
                    W[k, j] *= scale
                scale = kind(1.0)
            # scikit-learn stores weights without their scale, and multiplies it in at the end
            # of every call.
            step = np.float64(kind(update) / scale)
            if cut > 0.0 or is_single:
                for j in range(d):
                    w = kind(np.float64(W[k, j]) + np.float64(X[i, j]) * step)
                    if cut > 0.0:
                        w = kind(truncated(np.float64(w), cut, np.float64(scale)))
                    W[k, j] = w * scale
            elif update != 0.0:
                for j in range(d):
                    W[k, j] = (W[k, j] + X[i, j] * step) * scale
            elif scale != 1.0:
                for j in range(d):
                    W[k, j] *= scale
            if several is None and rule.pull > 0.0:
                intercept = 1.0 + b[k]
                if rule.fit_intercept:
                    intercept += update - learns.eta[i] * rule.pull
                b[k] = intercept - 1.0
            elif rule.fit_intercept:
                b[k] += update
    return n + 1, len(Q), n_ties


@jit
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
    """Learn a stretch of sparse rows, of either precision; see `rows.learn_sparse`."""
    kind = weights.dtype.type
    tiny = TINY_SCALE if weights.itemsize == 8 else TINY_SINGLE_SCALE
    n = len(margins)
    updates = np.empty(len(b))
    flat = weights.reshape(-1)
    for i in range(len(asks) - 1):
        for q in range(asks[i], asks[i + 1]):
            for k in range(len(b)):
                answer = kind(0.0)
                for e in range(Q.bounds[q], Q.bounds[q + 1]):
                    answer += weights[Q.at[e], k] * Q.values[e]
                answers[q, k] = answer + b[k]
        if i == n:
            break
        begin, end = X.bounds[i], X.bounds[i + 1]
        squared_norm = 0.0
        if rule.aggressive:
            for e in range(begin, end):
                squared_norm += np.float64(X.values[e]) * np.float64(X.values[e])
        for k in range(len(b)):
            p = np.float64(0.0)
            for e in range(begin, end):
                p += weights[X.at[e], k] * X.values[e]
            p = np.float64(kind(p)) + b[k]
            margins[i, k] = p
            if k == learns.code[i]:
                update = step_of(rule, learns.target[i], p, learns.eta[i], squared_norm)
                update *= learns.own_weight[i]
            else:
                update = step_of(rule, rule.low, p, learns.eta[i], squared_norm)
                update *= learns.other_weight[i]
            updates[k] = update
            if rule.fit_intercept:
                b[k] += update * SPARSE_INTERCEPT_DECAY
        scale = kind(learns.shrink[i])
        if scale < tiny:
            for j in range(len(flat)):
                flat[j] *= scale
            scale = kind(1.0)
        cut = learns.cut[i]
        for e in range(begin, end):
            for k in range(len(b)):
                step = np.float64(kind(updates[k]) / scale)
                w = kind(weights[X.at[e], k] + np.float64(X.values[e]) * step)
                if cut > 0.0:
                    w = kind(truncated(np.float64(w), cut, np.float64(scale)))
                weights[X.at[e], k] = w
        if scale != 1.0:
            for j in range(len(flat)):
                flat[j] *= scale


# Weights that are multiplied by all factors before the next weights, and factors at a time.
TILE = 2048
FACTORS_PER_PASS = 8


@jit
def shrink(weights: NDArray[Any], factors: NDArray[Any]) -> None:
    """Multiply all weights by one factor after the other."""
    for begin in range(0, len(weights), TILE):
        tile = weights[begin : begin + TILE]
        for i in range(0, len(factors), FACTORS_PER_PASS):
            f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
            f4, f5, f6, f7 = factors[i + 4], factors[i + 5], factors[i + 6], factors[i + 7]
            for j in range(len(tile)):
                tile[j] = tile[j] * f0 * f1 * f2 * f3 * f4 * f5 * f6 * f7


@jit
def inverse_scaling(eta0: float, power: float, t: float, rates: Floats) -> None:
    """Fill in the learning rates of some steps from number `t` on."""
    # NumPy's power may round differently from the C library's, which scikit-learn calls.
    for i in range(len(rates)):
        rates[i] = eta0 / math.pow(t, power)
        t += 1.0
