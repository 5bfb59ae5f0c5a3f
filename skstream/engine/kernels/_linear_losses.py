"""What scikit-learn's SGD does with one margin: gradients, steps, truncation.

Every function repeats the order of operations of ``sklearn/linear_model/_sgd_fast.pyx.tp`` and
``sklearn/_loss/_loss.pyx.tp``, because the default schedule is chaotic: another rounding makes
another model within a few thousand rows. The same source runs compiled and plain.
"""

import math
from typing import NamedTuple

from skstream.utils._numba import Jitted, jit

# Gradients are clipped to this before they are used.
MAX_GRADIENT = 1e12

# Values of Rule.aggressive.
GRADIENT_STEP, PA1, PA2 = 0, 1, 2


class Rule(NamedTuple):
    """What does not change from row to row.

    Attributes
    ----------
    loss : int
        Position of the gradient in `GRADIENTS`.
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
    """

    loss: int
    epsilon: float
    low: float
    is_classifier: bool
    aggressive: int
    eta0: float
    fit_intercept: bool


@jit
def log_loss(y: float, p: float, epsilon: float) -> float:
    """Gradient of the log loss, y in {0, 1}; -37 is where 1 + exp(-p) = exp(-p)."""
    if p > -37:
        e = math.exp(-p)
        return ((1 - y) - y * e) / (1 + e)
    return math.exp(p) - y


@jit
def hinge(y: float, p: float, epsilon: float) -> float:
    """Gradient of the hinge with threshold epsilon (1: SVM, 0: perceptron), y in {-1, 1}."""
    if p * y <= epsilon:
        return -y
    return 0.0


@jit
def squared_hinge(y: float, p: float, epsilon: float) -> float:
    """Gradient of the squared hinge with threshold epsilon, y in {-1, 1}."""
    z = epsilon - p * y
    if z > 0:
        return -2 * y * z
    return 0.0


@jit
def modified_huber(y: float, p: float, epsilon: float) -> float:
    """Gradient of the modified Huber loss (Zhang 2004), y in {-1, 1}."""
    z = p * y
    if z >= 1.0:
        return 0.0
    if z >= -1.0:
        return 2.0 * (1.0 - z) * -y
    return -4.0 * y


@jit
def squared_error(y: float, p: float, epsilon: float) -> float:
    """Gradient of half the squared error."""
    return p - y


@jit
def huber(y: float, p: float, epsilon: float) -> float:
    """Gradient of Huber's loss."""
    residual = p - y
    if abs(residual) <= epsilon:
        return residual
    if residual >= 0:
        return epsilon
    return -epsilon


@jit
def epsilon_insensitive(y: float, p: float, epsilon: float) -> float:
    """Gradient of the epsilon-insensitive loss."""
    if y - p > epsilon:
        return -1.0
    if p - y > epsilon:
        return 1.0
    return 0.0


@jit
def squared_epsilon_insensitive(y: float, p: float, epsilon: float) -> float:
    """Gradient of the squared epsilon-insensitive loss."""
    z = y - p
    if z > epsilon:
        return -2 * (z - epsilon)
    if z < -epsilon:
        return 2 * (-z - epsilon)
    return 0.0


GRADIENTS: tuple[Jitted[[float, float, float], float], ...] = (
    log_loss,
    hinge,
    squared_hinge,
    modified_huber,
    squared_error,
    huber,
    epsilon_insensitive,
    squared_epsilon_insensitive,
)


@jit
def gradient(loss: int, y: float, p: float, epsilon: float) -> float:
    """Gradient of `GRADIENTS[loss]`: compiled code cannot look functions up in a tuple."""
    if loss == 0:
        return log_loss(y, p, epsilon)
    if loss == 1:
        return hinge(y, p, epsilon)
    if loss == 2:
        return squared_hinge(y, p, epsilon)
    if loss == 3:
        return modified_huber(y, p, epsilon)
    if loss == 4:
        return squared_error(y, p, epsilon)
    if loss == 5:
        return huber(y, p, epsilon)
    if loss == 6:
        return epsilon_insensitive(y, p, epsilon)
    return squared_epsilon_insensitive(y, p, epsilon)


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
    """By how much of the row the weights move, before the example's weight."""
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
