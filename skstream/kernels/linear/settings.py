"""Which linear estimators the kernels execute exactly, and their parameters as the loops use them.

In doubt an estimator is refused.
"""

import functools
import math
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn import get_config, linear_model
from sklearn.linear_model import SGDOneClassSVM

from skstream.core.engine.answers import Task
from skstream.kernels.input import value_of
from skstream.kernels.linear import loops
from skstream.kernels.linear.loops import Floats, Learns, Rule
from skstream.kernels.linear.rows import Shown, learn_dense
from skstream.utils._numba import numba_enabled
from skstream.utils._validation import is_fitted

# Deprecated since scikit-learn 1.8, absent from 1.10 on.
_AGGRESSIVE_REGRESSOR = getattr(linear_model, "PassiveAggressiveRegressor", None)
#: Estimators that take no weights.
AGGRESSIVE = (getattr(linear_model, "PassiveAggressiveClassifier", None), _AGGRESSIVE_REGRESSOR)
_REGRESSORS = (linear_model.SGDRegressor, _AGGRESSIVE_REGRESSOR)

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
_AGGRESSIVE_STEPS = {"pa1": loops.PA1, "pa2": loops.PA2}

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
        if n == 1 and self.learning_rate == "optimal" and self.shrinks and not self.cuts:
            rate = 1.0 / ((t + self._optimal_start - 1.0) * self.alpha)
            factor = max(0.0, 1.0 - (1.0 - self.l1_share) * rate * self.alpha)
            return np.array([rate]), np.array([factor]), np.zeros(1)
        if self.learning_rate == "optimal":
            eta: Floats = np.arange(t, t + n)
            eta += self._optimal_start
            eta -= 1.0
            eta *= self.alpha
            np.divide(1.0, eta, out=eta)
        elif self.learning_rate == "invscaling":
            eta = np.empty(n)
            loops.inverse_scaling(self.eta0, self.power_t, t, eta)
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


def refused(estimator: Any, task: Task) -> str | None:
    """Which parameter or state, or this machine's arithmetic, has no kernel; None: none."""
    if task.batch_size > 1:
        return f"batch_size={task.batch_size}"
    # What warns is refused by its parameter, before anything is tried.
    try:
        parameter = refused_parameter(estimator)
    except (TypeError, ValueError):
        return "parameters that it refuses"
    if parameter is not None:
        return parameter
    try:
        # An unfitted copy learns a row. Warnings are not looked for: their filters belong to the
        # whole process, other threads too. Of the parameters left here none warns.
        attributes_to_write(estimator, task, 1)
    except Exception:
        return "parameters that it refuses"
    if is_fitted(estimator) and not _can_be_taken_up(estimator, task):
        return "a fitted state of another kind than partial_fit leaves for these classes"
    exact = agrees_with_sklearn(np.float64, numba_enabled())
    return None if exact else "this processor's arithmetic"


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
    if type(estimator) is not SGDOneClassSVM:
        rates += ("pa1", "pa2")
    if loss not in (_REGRESSION_LOSSES if type(estimator) in _REGRESSORS else _LOSSES):
        return value_of(estimator, "loss")
    if learning_rate not in rates:
        return value_of(estimator, "learning_rate")
    if penalty not in (None, "l2", "l1", "elasticnet"):
        return value_of(estimator, "penalty")
    if 0.0 < float(alpha) < MIN_ALPHA:
        return value_of(estimator, "alpha")
    return None if math.isfinite(float(estimator.eta0) * float(alpha)) else "an infinite eta0"


def _handed_on(estimator: Any) -> tuple[str, str, str | None, float]:
    """Loss, learning rate, penalty and alpha, as an estimator passes them to the loop."""
    if type(estimator) in AGGRESSIVE:
        # These two pass other parameters to the loop than they have.
        first_kind = "epsilon_insensitive" if type(estimator) in _REGRESSORS else "hinge"
        return first_kind, "pa1" if estimator.loss == first_kind else "pa2", None, 1.0
    alpha = estimator.nu * ALPHA_OF_NU if type(estimator) is SGDOneClassSVM else estimator.alpha
    return estimator.loss, estimator.learning_rate, estimator.penalty, alpha


def read_settings(estimator: Any) -> Settings:
    """Return the settings of an SGD estimator that `refused_parameter` does not refuse."""
    is_classifier = type(estimator) not in _REGRESSORS
    losses = _LOSSES if is_classifier else _REGRESSION_LOSSES
    loss, learning_rate, penalty, alpha = _handed_on(estimator)
    l1_share = {"l2": 0.0, "l1": 1.0}.get(penalty or "", estimator.l1_ratio)
    eta0, alpha = float(estimator.eta0), float(alpha)
    rule = Rule(
        loss=losses[loss],
        epsilon=_THRESHOLDS.get(loss, float(estimator.epsilon)),
        low=0.0 if loss == "log_loss" else -1.0,
        is_classifier=is_classifier,
        aggressive=_AGGRESSIVE_STEPS.get(learning_rate, loops.GRADIENT_STEP),
        eta0=eta0,
        fit_intercept=bool(estimator.fit_intercept),
        pull=float(estimator.nu) if type(estimator) is SGDOneClassSVM else 0.0,
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


def fitted_attributes(
    kind: type, parameters: dict[str, Any], task: Task, row: NDArray[Any]
) -> dict[str, Any]:
    """Attributes of an estimator that has learnt a row."""
    estimator: Any = object.__new__(kind)  # the constructor of a deprecated class warns
    vars(estimator).update(parameters, random_state=0)
    if type(estimator) is SGDOneClassSVM:
        estimator.partial_fit(row)
    elif task.classes is None:
        estimator.partial_fit(row, [0.0])
    else:
        estimator.partial_fit(row, task.classes[:1], classes=task.classes)
    return {name: value for name, value in vars(estimator).items() if name not in parameters}


def attributes_to_write(estimator: Any, task: Task, n_features: int) -> dict[str, Any]:
    """Attributes of a copy of an estimator that has learnt a row; None for its weights."""
    own = type(estimator), parameters_of(estimator), Task(task.classes), n_features, get_config()
    return pickle.loads(_pickled_attributes(pickle.dumps(own)))


@functools.lru_cache(maxsize=4096)
def _pickled_attributes(pickled: bytes) -> bytes:
    # Candidates of a search, folds and members have the same parameters over and over.
    kind, parameters, task, n_features, _ = pickle.loads(pickled)
    made = fitted_attributes(kind, parameters, task, np.zeros((1, n_features)))
    return pickle.dumps(made | {"coef_": None})


def parameters_of(estimator: Any) -> dict[str, Any]:
    """What is no fitted attribute of an estimator, and can be pickled."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if "_" not in (name[0], name[-1]) and not callable(value)
    }


def _can_be_taken_up(estimator: Any, task: Task) -> bool:
    """Whether a fitted state is complete, of this task, and of a precision that learning leaves."""
    own = vars(estimator)
    dtype = getattr(own.get("coef_"), "dtype", None)
    if dtype not in (np.float32, np.float64) or "n_features_in_" not in own:
        return False
    row = np.zeros((1, own["n_features_in_"]), dtype)
    for name, value in fitted_attributes(
        type(estimator), parameters_of(estimator), task, row
    ).items():
        now = own.get(name)
        if name == "classes_" and not np.array_equal(now, value):
            return False
        if name in ("coef_", "intercept_", "offset_") and not (
            isinstance(now, np.ndarray)
            and now.dtype == value.dtype
            and now.shape == value.shape
            and np.isfinite(now).all()
        ):
            return False
    return "n_iter_" in own and float(own.get("t_", np.nan)).is_integer()


@functools.cache
def agrees_with_sklearn(dtype: type[np.floating[Any]], compiled: bool) -> bool:
    """Whether the arithmetic of this machine and this scikit-learn is ours, to the last bit.

    Compilers may fuse a product and a sum into one rounding (usual on ARM), and another version
    may compute otherwise; after 40 rows of the default schedule both make a difference. Decision
    values in float32 are compared, too.
    """
    n, d = 40, 5
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)).astype(dtype), rng.integers(0, 2, size=n)
    model = linear_model.SGDClassifier(loss="log_loss", random_state=0)
    asked = []
    for i in range(n):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        asked.append(model.decision_function(X[i : i + 1]))
    settings = read_settings(model)
    ones, none = np.ones(n), np.zeros(n, dtype=np.int64)
    learns = Learns(none, y.astype(np.float64), ones, ones, *settings.schedule(1.0, n))
    W, b = np.zeros((1, d), dtype), np.zeros(1)
    if model.coef_.dtype != W.dtype or model.intercept_.dtype != b.dtype:
        return False
    margins, answers = np.empty((n, 1)), np.empty((n, 1))
    asks, index = np.arange(-1, n + 1).clip(0), np.arange(n)
    shown = Shown(X, index, X, index)
    learn_dense(X, learns, settings.rule, W, b, X, asks, margins, answers, shown)
    same_answers = dtype is np.float64 or np.array_equal(answers, asked)
    return same_answers and np.array_equal(W, model.coef_) and np.array_equal(b, model.intercept_)
