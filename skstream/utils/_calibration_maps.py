"""Maps from scores to calibrated probabilities: fitted to labels, and applied."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, log_expit, softmax
from sklearn.isotonic import IsotonicRegression

from skstream.utils._rows import row_sums

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

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
    shares: Floats
    if method == "isotonic":
        shares = np.interp(z, one[0], one[1])
        shares[np.isnan(z)] = np.nan
    elif method == "sigmoid":
        shares = expit(one[0] * z + one[1])
    else:
        shares = expit(one[0] * log_expit(z) - one[1] * log_expit(-z) + one[2])
    return shares


def _log_odds(scores: Floats, response: str) -> Floats:
    """Log-odds of every class against the rest."""
    if response != "predict_proba" or scores.shape[1] == 1:
        return scores
    rest = np.log(np.clip(-np.expm1(scores), _EPS, 1.0))
    odds: Floats = scores - rest
    return odds


def _smoothed(is_class: NDArray[np.bool_], weight: Floats) -> Floats:
    """Platt's targets: no row is certain to be of its class."""
    n_class, n_rest = weight[is_class].sum(), weight[~is_class].sum()
    high, low = (n_class + 1.0) / (n_class + 2.0), 1.0 / (n_rest + 2.0)
    targets: Floats = np.where(is_class, high, low)
    return targets


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
