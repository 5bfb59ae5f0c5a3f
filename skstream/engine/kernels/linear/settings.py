"""Parameters of scikit-learn's SGD estimators, as its loops use them."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn import linear_model

from skstream.engine.kernels.base import value_of
from skstream.engine.kernels.linear import loops
from skstream.engine.kernels.linear.loops import Floats, Rule
from skstream.utils._numba import jit

# Deprecated since scikit-learn 1.8, absent from 1.10 on.
_AGGRESSIVE_CLASSIFIER = getattr(linear_model, "PassiveAggressiveClassifier", None)
_AGGRESSIVE_REGRESSOR = getattr(linear_model, "PassiveAggressiveRegressor", None)

_REGRESSION_LOSSES = {
    "squared_error": loops.SQUARED_ERROR,
    "huber": loops.HUBER,
    "epsilon_insensitive": loops.EPSILON_INSENSITIVE,
    "squared_epsilon_insensitive": loops.SQUARED_EPSILON_INSENSITIVE,
}
_LOSSES = {
    "hinge": loops.HINGE,
    "perceptron": loops.HINGE,
    "squared_hinge": loops.SQUARED_HINGE,
    "log_loss": loops.LOG_LOSS,
    "modified_huber": loops.MODIFIED_HUBER,
    **_REGRESSION_LOSSES,
}
# Thresholds of the hinges are fixed; the other losses take the parameter `epsilon`.
_THRESHOLDS = {"hinge": 1.0, "perceptron": 0.0, "squared_hinge": 1.0}
_AGGRESSIVE = {"pa1": loops.PA1, "pa2": loops.PA2}

# What a one-class SVM hands on as alpha: nu itself since scikit-learn 1.9, half of it before.
ALPHA_OF_NU = 1.0 if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9) else 0.5

# Beyond these limits learning rates could overflow, where C and Python differ.
MAX_POWER = 10.0
MIN_ALPHA = 1e-100


@dataclass(frozen=True)
class Settings:
    """How the loops learn: the rule of a single step, and what changes with the step number.

    Attributes
    ----------
    rule : Rule
        Loss and kind of step.
    learning_rate : str
        scikit-learn's names.
    eta0, power_t, alpha : float
        As in scikit-learn.
    l1_share : float
        Share of the penalty that is l1.
    shrinks, cuts : bool
        Whether the penalty has an l2 and an l1 part.
    """

    rule: Rule
    learning_rate: str
    eta0: float
    power_t: float
    alpha: float
    l1_share: float
    shrinks: bool
    cuts: bool

    def schedule(self, t: float, n: int) -> tuple[Floats, Floats, Floats]:
        """Learning rates, l2 factors and l1 amounts of the `n` steps from number `t` on."""
        # Products run from left to right, as in scikit-learn.
        if self.learning_rate == "optimal":
            eta: Floats = np.arange(t, t + n)
            eta += self._optimal_start
            eta -= 1.0
            eta *= self.alpha
            np.divide(1.0, eta, out=eta)
        elif self.learning_rate == "invscaling":
            eta = np.empty(n)
            _inverse_scaling(self.eta0, self.power_t, t, eta)
        else:
            eta = np.full(n, self.eta0)
        shrink, cut = np.ones(n), np.zeros(n)
        if self.shrinks:
            np.multiply(1.0 - self.l1_share, eta, out=shrink)
            shrink *= self.alpha
            np.subtract(1.0, shrink, out=shrink)
            np.maximum(0.0, shrink, out=shrink)
        if self.cuts:
            cut = self.l1_share * eta * self.alpha
        return eta, shrink, cut

    @functools.cached_property
    def _optimal_start(self) -> float:
        """Bottou's heuristic: the first step is of the size of a typical weight."""
        typical_weight = math.sqrt(1.0 / math.sqrt(self.alpha))
        rule = self.rule
        slope: float = loops.gradient.plain(rule.loss, 1.0, -typical_weight, rule.epsilon)
        first_rate = typical_weight / max(1.0, slope)
        return 1.0 / (first_rate * self.alpha)


@jit
def _inverse_scaling(eta0: float, power: float, t: float, rates: Floats) -> None:
    # NumPy's power may round differently from the C library's, which scikit-learn calls.
    for i in range(len(rates)):
        rates[i] = eta0 / math.pow(t, power)
        t += 1.0


def refused_parameter(estimator: Any) -> str | None:
    """Which valid parameter of an SGD estimator the loops do not know; None: all are known."""
    for name in ("early_stopping", "average", "verbose"):
        if getattr(estimator, name):
            return value_of(estimator, name)
    # Row by row it shuffles nothing; but a generator given by the user is drawn from.
    if isinstance(estimator.random_state, np.random.RandomState):
        return "a RandomState as random_state"
    loss, learning_rate, penalty, alpha = _handed_on(estimator)
    # Negative powers are deprecated; large ones overflow within a long stream.
    if learning_rate == "invscaling" and not 0 <= estimator.power_t <= MAX_POWER:
        return value_of(estimator, "power_t")
    rates: tuple[str, ...] = ("constant", "optimal", "invscaling", "adaptive")
    if not is_one_class(estimator):
        rates += ("pa1", "pa2")
    if loss not in (_REGRESSION_LOSSES if _is_regressor(estimator) else _LOSSES):
        return value_of(estimator, "loss")
    if learning_rate not in rates:
        return value_of(estimator, "learning_rate")
    if penalty not in (None, "l2", "l1", "elasticnet"):
        return value_of(estimator, "penalty")
    if 0.0 < float(alpha) < MIN_ALPHA:
        return value_of(estimator, "alpha")
    return None if math.isfinite(float(estimator.eta0) * float(alpha)) else "an infinite eta0"


def _is_regressor(estimator: Any) -> bool:
    return type(estimator) in (linear_model.SGDRegressor, _AGGRESSIVE_REGRESSOR)


def is_aggressive(estimator: Any) -> bool:
    """Whether it is passive-aggressive by its type: these take no weights."""
    return type(estimator) in (_AGGRESSIVE_CLASSIFIER, _AGGRESSIVE_REGRESSOR)


def is_one_class(estimator: Any) -> bool:
    """Whether it is a one-class SVM."""
    return type(estimator) is linear_model.SGDOneClassSVM


def _handed_on(estimator: Any) -> tuple[str, str, str | None, float]:
    """Loss, learning rate, penalty and alpha, as an estimator passes them to the loop."""
    if is_aggressive(estimator):
        # These two pass other parameters to the loop than they have.
        first_kind = "epsilon_insensitive" if _is_regressor(estimator) else "hinge"
        return first_kind, "pa1" if estimator.loss == first_kind else "pa2", None, 1.0
    alpha = estimator.nu * ALPHA_OF_NU if is_one_class(estimator) else estimator.alpha
    return estimator.loss, estimator.learning_rate, estimator.penalty, alpha


def read_settings(estimator: Any) -> Settings:
    """Return the settings of an SGD estimator that `refused_parameter` does not refuse."""
    is_classifier = not _is_regressor(estimator)
    losses = _LOSSES if is_classifier else _REGRESSION_LOSSES
    loss, learning_rate, penalty, alpha = _handed_on(estimator)
    l1_share = {"l2": 0.0, "l1": 1.0}.get(penalty or "", estimator.l1_ratio)
    eta0, alpha = float(estimator.eta0), float(alpha)
    rule = Rule(
        loss=losses[loss],
        epsilon=_THRESHOLDS.get(loss, float(estimator.epsilon)),
        low=0.0 if loss == "log_loss" else -1.0,
        is_classifier=is_classifier,
        aggressive=_AGGRESSIVE.get(learning_rate, loops.GRADIENT_STEP),
        eta0=eta0,
        fit_intercept=bool(estimator.fit_intercept),
        pull=float(estimator.nu) if is_one_class(estimator) else 0.0,
    )
    return Settings(
        rule=rule,
        learning_rate=learning_rate,
        eta0=eta0,
        power_t=float(estimator.power_t),
        alpha=alpha,
        l1_share=float(l1_share or 0.0),
        shrinks=penalty in ("l2", "elasticnet"),
        cuts=penalty in ("l1", "elasticnet"),
    )
