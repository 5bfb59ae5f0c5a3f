"""A classifier whose probabilities are calibrated along the stream."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, log_expit, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from skstream._meta import MetaClassifier, check_divisible_rows
from skstream.core.forgetting import as_forgetting
from skstream.forgetting import Forgetting
from skstream.utils._labels import array_of
from skstream.utils._rows import best_columns, own_rows, row_sums
from skstream.utils._sklearn import Interval, StrOptions, rows_of
from skstream.utils._validation import unfitted_copy

__all__ = ["PrequentialCalibrator"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Under a fading factor a row is forgotten when it weighs less.
_LEAST_WEIGHT = 1e-3

#: Kinds of maps from scores to probabilities.
METHODS = ("sigmoid", "isotonic", "beta", "temperature")

_EPS = float(np.finfo(np.float64).eps)
# Decision values are cut off far beyond those in use, so that squares of them are finite.
_LARGEST = 1e100
# Share of the weights that keeps parameters finite which the rows leave open.
_RIDGE = 1e-10
_MAX_STEPS = 100
# Bounds of the logarithm of the inverse temperature, as scikit-learn's.
_BOUND = 10.0


class Calibration(NamedTuple):
    """Fitted maps of one method.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    maps : tuple of (ndarray or None)
        Parameters of each map: of the second of two classes, of every class against the rest, or a
        single temperature. None: the scores are taken as they are.
    """

    method: str
    maps: tuple[Floats | None, ...]


class Memory(NamedTuple):
    """What a model said of the rows learnt last, right before it learnt each."""

    scores: Floats
    codes: Codes
    weight: Floats

    def after(self, later: "Memory") -> "Memory":
        """Return both, the older rows first."""
        return Memory(
            np.concatenate([self.scores, later.scores]),
            np.concatenate([self.codes, later.codes]),
            np.concatenate([self.weight, later.weight]),
        )

    def part(self, rows: slice) -> "Memory":
        """Return some consecutive rows."""
        return Memory(self.scores[rows], self.codes[rows], self.weight[rows])

    def copy(self) -> "Memory":
        """Return a copy of all rows, which holds no others."""
        return Memory(self.scores.copy(), self.codes.copy(), self.weight.copy())

    def last(self, n_rows: int | None) -> "Memory":
        """Return the newest rows, at most so many; None: all."""
        n = len(self.codes)
        return self if n_rows is None or n <= n_rows else self.part(slice(n - n_rows, n))


class PrequentialCalibrator(MetaClassifier):
    """Calibrate a classifier's probabilities continually, from its earlier predictions.

    Right before the inner model is trained on a row, it predicts that row. From these predictions
    and the true labels, a map from the model's scores to probabilities is refitted every `every`
    rows. No row contributes to the map that gives its own probability, and no rows need to be
    withheld from the model, as they must be when a model is calibrated once.

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit`` and ``predict_proba``, or else ``decision_function``.
    method : {"sigmoid", "isotonic", "beta", "temperature"}, default="sigmoid"
        Kind of map. With z the log-odds of a class (or its decision value) and p their logistic
        function, ``logit^-1`` below: "sigmoid", ``logit^-1(a z + b)`` (Platt); "beta",
        ``logit^-1(a log(p) - b log(1 - p) + c)`` with a and b not negative (Kull); "isotonic", any
        map that does not decrease. With more than two classes these maps are fitted for each class
        against the rest, and the probabilities are normalised. "temperature": the logarithms of all
        probabilities (or the decision values) are divided by one number (Guo), which changes no
        predicted label.
    forgetting : Forgetting or str, default="window:1000"
        Which predictions the map is fitted to, and with which weights: ``SlidingWindow``,
        ``FadingFactor`` (rows that weigh less than 0.001 are dropped) or ``Cumulative``, which
        keeps all scores.
    every : int, default=100
        Number of training rows between two fits of the map.

    Attributes
    ----------
    estimator_ : classifier
        The fitted inner model.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    calibration_ : tuple (method, maps) or None
        The current map: its method, and the parameters for each class, None for a class whose
        scores are left as they are. None before the first fit.
    memory_ : tuple (scores, codes, weight)
        The predictions that the next map is fitted to: scores of shape (n_kept, 1) for two classes,
        else (n_kept, n_classes); positions of the labels in `classes_`, and weights.
    n_rows_learnt_ : int
        Number of training rows; rows of weight 0 do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Calibrates once, by cross-validation.
    skstream.metrics.calibration_error : Measures the error that is corrected here.

    Notes
    -----
    The predicted label is that of the highest calibrated probability, as in scikit-learn's
    CalibratedClassifierCV, and may differ from the inner model's. Until the map has been fitted,
    and for a class that has either no rows or all rows among the predictions kept, the model's own
    probabilities are used (for decision values, their logistic function).

    No label is treated as certain: the targets of the fits are Platt's ``(n + 1) / (n + 2)`` and
    ``1 / (n + 2)`` for n rows of a class and n others, so that no map returns 0 or 1, whose log
    loss can be infinite. For a temperature, one row of weight 1 is spread over the classes.

    The rows of a call of ``partial_fit`` are processed in pieces that end where the map is fitted;
    all rows of a piece are predicted, then used for training. The rows of the very first piece
    cannot be predicted. An evaluator makes one call per row. If labels are delayed, the prediction
    kept is the one right before training on the row, not the one at its arrival.

    Rows of weight 0 are skipped and not kept; other weights are passed to the model and the fit of
    the map, but a window counts every row once.

    A new `method`, `forgetting` or `every` takes effect at the next fit of the map, a new
    `estimator` at the next ``fit``.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers.

    Kull, M., Silva Filho, T., & Flach, P. (2017). Beta calibration: a well-founded and easily
    implemented improvement on logistic calibration for binary classifiers. AISTATS.

    Guo, C., Pleiss, G., Sun, Y., & Weinberger, K. (2017). On calibration of modern neural networks.
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.calibration import PrequentialCalibrator
    >>> from skstream.evaluation import PrequentialEvaluator
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> column = rng.normal(size=2000) + y
    >>> X = np.column_stack([column] * 5)  # naive Bayes takes them for five independent ones
    >>> model = IncrementalGaussianNB()
    >>> evaluator = PrequentialEvaluator("log_loss", random_state=0)
    >>> models = {"as is": model, "mended": PrequentialCalibrator(model)}
    >>> result = evaluator.evaluate(models, X, y)
    >>> {name: round(scores["log_loss"], 2) for name, scores in result.scores.items()}
    {'as is': 1.13, 'mended': 0.65}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "method": [StrOptions(set(METHODS))],
        "forgetting": [Forgetting, str],
        "every": [Interval(Integral, 1, None, closed="left")],
    }
    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False

    calibration_: Calibration | None
    memory_: Memory
    n_rows_learnt_: int

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "sigmoid",
        forgetting: Forgetting | str = "window:1000",
        every: int = 100,
    ):
        self.estimator = estimator
        self.method = method
        self.forgetting = forgetting
        self.every = every

    def _check_estimator(self) -> None:
        super()._check_estimator()
        remembered(self)
        if response_of(self.estimator) is None:
            raise TypeError(
                "PrequentialCalibrator calibrates the scores of a model, and "
                f"{type(self.estimator).__name__} as set has neither predict_proba nor "
                "decision_function. Use a model with one of them."
            )

    def _check_inner_classes(self, model: Any) -> None:
        self._check_columns(model)  # the scores must have the order of the classes

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_divisible_rows(self, X, reset=reset)

    def _learn(self, X: Any, y: Any, codes: Codes, weight: Floats | None, *, first: bool) -> None:
        model = unfitted_copy(self.estimator) if first else self.estimator_
        n_learnt = 0 if first else self.n_rows_learnt_
        routed = self._route_weight(model, weight)
        begin = 0
        while begin < len(codes):
            end = min(begin + self.every - n_learnt % self.every, len(codes))
            rows = np.arange(begin, end)
            scores = None if first else self._scores(rows_of(X, rows))
            own = None if routed is None else routed[rows]
            self._teach(model, X, y, own, rows, first=first)
            n_learnt += len(rows)
            if first:
                self.memory_ = no_memory(len(self.classes_))
                self.calibration_ = None
            else:
                assert scores is not None
                asked = Memory(scores, codes[rows], _weights(weight, rows))
                self.memory_ = self.memory_.after(asked).last(remembered(self)[0])
            self.estimator_, self.n_rows_learnt_ = model, n_learnt
            if n_learnt % self.every == 0:
                self.calibration_ = fitted(self, self.memory_, response_of(model))
            begin, first = end, False

    def _scores(self, X: Any) -> Floats:
        values = self._values(own_rows(X))
        return scores_of(values, response_of(self.estimator_) or "", len(self.classes_))

    def _values(self, X: Any) -> Floats:
        """Copy of the answers of the model inside, which may write its next ones into its array."""
        return array_of(getattr(self.estimator_, response_of(self.estimator_) or "")(X)).copy()

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the highest calibrated probability; ties go to the lowest class.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        best = best_columns(self.predict_proba(X))
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Predict calibrated probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        self._check_columns(self.estimator_)
        response = response_of(self.estimator_) or ""
        return calibrated(self.calibration_, self._values(X), response, len(self.classes_))


def response_of(model: Any) -> str | None:
    """Method that tells a model's scores; None: it has none."""
    methods = ("predict_proba", "decision_function")
    return next((method for method in methods if hasattr(model, method)), None)


def remembered(model: PrequentialCalibrator) -> tuple[int | None, float]:
    """Most rows that a calibrator remembers (None: all), and its fading factor."""
    (mechanism,) = as_forgetting(model.forgetting).values()
    if mechanism.counts_time:
        raise ValueError(
            "The 'forgetting' parameter of PrequentialCalibrator must count rows, because models "
            f"do not know the time. Got {model.forgetting!r} instead."
        )
    if mechanism.follows_loss or mechanism.begins_again:
        raise ValueError(
            "The 'forgetting' parameter of PrequentialCalibrator must be a window, a fading factor "
            f"or cumulative. Got {model.forgetting!r} instead."
        )
    return mechanism.memory(_LEAST_WEIGHT), mechanism.factor


def no_memory(n_classes: int) -> Memory:
    """Memory of no rows."""
    width = 1 if n_classes == 2 else n_classes
    return Memory(np.empty((0, width)), np.empty(0, dtype=np.int64), np.empty(0))


def fitted(model: PrequentialCalibrator, memory: Memory, response: str | None) -> Calibration:
    """Fit the map of a calibrator to what it remembers; its parameters may be new."""
    n_rows, factor = remembered(model)
    scores, codes, weight = memory.last(n_rows)
    if factor != 1.0:
        weight = weight * factor ** np.arange(len(weight) - 1, -1, -1)
    n_classes = 2 if scores.shape[1] == 1 else scores.shape[1]
    return fit_calibration(model.method, response or "", scores, codes, weight, n_classes)


def _weights(weight: Floats | None, rows: NDArray[np.intp]) -> Floats:
    return np.ones(len(rows)) if weight is None else np.asarray(weight[rows], dtype=np.float64)


# Maps from scores to calibrated probabilities: fitted to labels, and applied.


def scores_of(values: Floats, response: str, n_classes: int) -> Floats:
    """Scores of shape (n_rows, 1) for two classes, else (n_rows, n_classes).

    Logarithms of probabilities, for two classes their difference; decision values as they are.
    """
    values = np.asarray(values, dtype=np.float64)
    if response == "predict_proba":
        logs = np.log(np.clip(values, _EPS, 1.0))
        return logs[:, 1:] - logs[:, :1] if n_classes == 2 else logs
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if n_classes == 2 and values.shape[1] == 2:
        values = values[:, 1:] - values[:, :1]
    return np.clip(values, -_LARGEST, _LARGEST)


def fit_calibration(
    method: str, response: str, scores: Floats, codes: Codes, weight: Floats, n_classes: int
) -> Calibration:
    """Fit the maps of a method; rows with scores that are no numbers are left out.

    A map needs rows of its class and of others; without, it is None.
    """
    known = np.isfinite(scores).all(axis=1) & (weight > 0)
    if not known.all():
        scores, codes, weight = scores[known], codes[known], weight[known]
    n_maps = 1 if method == "temperature" else scores.shape[1]
    if not len(codes) or (codes == codes[0]).all():
        return Calibration(method, (None,) * n_maps)
    if method == "temperature":
        return Calibration(method, (_fit_temperature(scores, codes, weight, n_classes),))
    fit = {"sigmoid": _fit_sigmoid, "isotonic": _fit_isotonic, "beta": _fit_beta}[method]
    odds = _log_odds(scores, response)
    maps: list[Floats | None] = []
    for column in range(n_maps):
        is_class = codes == (1 if n_classes == 2 else column)
        both = is_class.any() and not is_class.all()
        z = np.ascontiguousarray(odds[:, column])
        maps.append(fit(z, _smoothed(is_class, weight), weight) if both else None)
    return Calibration(method, tuple(maps))


def calibrated(
    calibration: Calibration | None, values: Floats, response: str, n_classes: int
) -> Floats:
    """Calibrated probabilities of shape (n_rows, n_classes), from a model's answers.

    Without maps, the model's own probabilities; of decision values, their logistic function.
    """
    method, maps = ("", ()) if calibration is None else calibration
    if all(one is None for one in maps):
        if response == "predict_proba":
            return np.asarray(values, dtype=np.float64)
        maps = (None,) * (1 if n_classes == 2 else n_classes)
    scores = scores_of(values, response, n_classes)
    if method == "temperature" and maps[0] is not None:
        scores = scores * maps[0][0]
        return _both(expit(scores[:, 0])) if n_classes == 2 else softmax(scores, axis=1)
    odds = _log_odds(scores, response)
    shares = np.empty(odds.shape)
    for column, one in enumerate(maps):
        z = odds[:, column]
        shares[:, column] = expit(z) if one is None else _mapped(method, one, z)
    if n_classes == 2:
        return _both(shares[:, 0])
    shares /= row_sums(shares)
    return shares


def _both(second: Floats) -> Floats:
    return np.column_stack([1.0 - second, second])


def _mapped(method: str, one: Floats, z: Floats) -> Floats:
    """Probabilities of a class by its map."""
    if method == "isotonic":
        return np.where(np.isnan(z), np.nan, np.interp(z, one[0], one[1]))
    if method == "sigmoid":
        return expit(one[0] * z + one[1])
    return expit(one[0] * log_expit(z) - one[1] * log_expit(-z) + one[2])


def _log_odds(scores: Floats, response: str) -> Floats:
    """Log-odds of every class against the rest."""
    if response != "predict_proba" or scores.shape[1] == 1:
        return scores
    rest = np.log(np.clip(-np.expm1(scores), _EPS, 1.0))
    return scores - rest


def _smoothed(is_class: NDArray[np.bool_], weight: Floats) -> Floats:
    """Platt's targets: no row is certain to be of its class."""
    n_class, n_rest = weight[is_class].sum(), weight[~is_class].sum()
    high, low = (n_class + 1.0) / (n_class + 2.0), 1.0 / (n_rest + 2.0)
    return np.where(is_class, high, low)


def _fit_sigmoid(z: Floats, target: Floats, weight: Floats) -> Floats:
    """Slope and intercept."""
    return _fit_logistic([z, np.ones(len(z))], target, weight)


def _fit_beta(z: Floats, target: Floats, weight: Floats) -> Floats:
    """Two slopes, not negative, and the intercept."""
    columns = [log_expit(z), -log_expit(-z), np.ones(len(z))]
    kept = [0, 1, 2]
    while True:
        found = np.zeros(3)
        found[kept] = _fit_logistic([columns[one] for one in kept], target, weight)
        worst = int(found[:2].argmin())
        if found[worst] >= 0.0:
            return found
        kept.remove(worst)


def _fit_isotonic(z: Floats, target: Floats, weight: Floats) -> Floats:
    """Scores and probabilities at the corners of the map."""
    fitted = IsotonicRegression().fit(z, target, sample_weight=weight)
    return np.array([fitted.X_thresholds_, fitted.y_thresholds_])


def _fit_logistic(columns: list[Floats], target: Floats, weight: Floats) -> Floats:
    """Coefficients of a logistic regression, by Newton's method to the last digits.

    Sums are formed one by one, so that they are the same wherever the rows are stored.
    """
    scale = np.array([max(float(np.abs(column).max()), _EPS) for column in columns])
    columns = [column / size for column, size in zip(columns, scale, strict=True)]
    n, ridge = len(columns), _RIDGE * float(weight.sum())

    def loss_of(coefficients: Floats) -> tuple[float, Floats]:
        score = coefficients[0] * columns[0]
        for coefficient, column in zip(coefficients[1:], columns[1:], strict=True):
            score = score + coefficient * column
        terms = np.logaddexp(0.0, score) - target * score
        return float((weight * terms).sum() + ridge / 2 * (coefficients**2).sum()), score

    coefficients: Floats = np.zeros(n)
    loss, score = loss_of(coefficients)
    gradient, hessian = np.empty(n), np.empty((n, n))
    for _ in range(_MAX_STEPS):
        share = expit(score)
        off, curvature = weight * (share - target), weight * share * (1.0 - share)
        for i in range(n):
            gradient[i] = (off * columns[i]).sum() + ridge * coefficients[i]
            for j in range(i + 1):
                hessian[i, j] = hessian[j, i] = (curvature * columns[i] * columns[j]).sum()
            hessian[i, i] += ridge
        step = np.linalg.solve(hessian, gradient)
        relative = float(np.abs(step).max() / (1.0 + np.abs(coefficients).max()))
        if relative <= 1e-9:  # what the next step would change is less than the rounding
            coefficients = coefficients - step
            break
        size, decrease = 1.0, float((gradient * step).sum())
        tried, its_score = loss_of(coefficients - step)
        # Far from the minimum a full step may lead away; near it, the losses differ by rounding.
        while relative > 1e-4 and size > 1e-9 and tried > loss - 1e-4 * size * decrease:
            size /= 2
            tried, its_score = loss_of(coefficients - size * step)
        coefficients, loss, score = coefficients - size * step, tried, its_score
    coefficients /= scale
    return coefficients


def _fit_temperature(scores: Floats, codes: Codes, weight: Floats, n_classes: int) -> Floats:
    """Return the inverse of the temperature: where the derivative of the log loss is zero.

    A row's targets are its class, and one row's weight spread over the classes.
    """
    total = float(weight.sum())
    if n_classes == 2:
        z = np.ascontiguousarray(scores[:, 0])
        wanted = z * (total * (codes == 1) + 1.0) / (total + 2.0)
    else:
        own = scores[np.arange(len(codes)), codes]
        wanted = (total * own + row_sums(scores)[:, 0]) / (total + n_classes)

    def slope(log_inverse: float) -> float:
        if n_classes == 2:
            means = expit(np.exp(log_inverse) * z) * z
        else:
            means = (softmax(np.exp(log_inverse) * scores, axis=1) * scores).sum(axis=1)
        return float((weight * (means - wanted)).sum())

    if slope(-_BOUND) >= 0.0:
        found = -_BOUND
    elif slope(_BOUND) <= 0.0:
        found = _BOUND
    else:
        found = brentq(slope, -_BOUND, _BOUND)
    return np.array([np.exp(found)])
