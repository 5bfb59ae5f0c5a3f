"""What stands for a curve, and warnings of values that are undefined or out of bounds."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skstream.utils._tables import listed
from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult


def curve_of_one(curve: np.ndarray) -> np.ndarray:
    """Values at the checkpoints: mean over folds, in the last bin."""
    values: np.ndarray = (curve if curve.ndim == 2 else curve[:, :, -1]).mean(axis=1)
    return values


def last_of_curves(curves: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """Last value of each model, of curves of shape (n_models, n_checkpoints)."""
    return curves[:, -1] if curves.shape[1] else np.full(len(curves), np.nan)


def mean_of_curves(curves: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """Mean of each curve over the checkpoints at which all models have a value that have any.

    The same checkpoints for all: else a model for which the hard ones are missing would be ahead.
    So a model that ended has none, unless it has a score from there on.
    """
    ended = ended & np.isnan(last_of_curves(curves, ended))
    counts = np.isfinite(curves).any(axis=1) & ~ended
    of_all = np.isfinite(curves[counts]).all(axis=0)
    means = np.full(len(curves), np.nan)
    if counts.any() and of_all.any():
        means[counts] = curves[np.ix_(counts, of_all)].mean(axis=1)
    return means


def final_value(curve: np.ndarray) -> float:
    """Mean over the folds of the last value (in the last bin).

    NaN if it is undefined in any fold: means over other folds could not be compared.
    """
    return float(_last(curve).mean()) if len(curve) else float("nan")


def _last(curve: np.ndarray) -> np.ndarray:
    last: np.ndarray = curve[-1] if curve.ndim == 2 else curve[-1, :, -1]
    return last


def _undefined_folds(last: np.ndarray) -> str:
    """Say in how many folds the last value is undefined, if in some only."""
    n = int(np.count_nonzero(np.isnan(last)))
    return f", in {n} of {len(last)} folds" if n < len(last) else ""


def warn_of_undefined(result: "EvaluationResult") -> None:
    """Warn where nothing was scored, or a last value is undefined."""
    reason = result._why_nothing_scored()
    if reason:
        message = f"No row was scored, so that all scores are NaN: {reason}"
        warn(message, UndefinedMetricWarning)
    if reason or not result.n_rows:
        return
    lack = result.parameters.get("error_score") != "raise"  # then some models may have none
    undefined = {
        f"{metric} of '{model}' ({forgetting}{_undefined_folds(_last(curve))})"
        for model, by_forgetting in result.values.items()
        if model not in result.failures and model not in result.ended
        for forgetting, metrics in by_forgetting.items()
        for metric, curve in metrics.items()
        if np.isnan(final_value(curve))
        and not (lack and result.measures[metric].needs == "probabilities")
    }
    if undefined:
        warn(
            f"Undefined at the last row, and so NaN: {listed(sorted(undefined), 3)}. A kappa is "
            "undefined where its baseline makes no error, a measure of rankings where a class has "
            "no row; every measure is where no row was scored.",
            UndefinedMetricWarning,
        )


def warn_of_bounds(result: "EvaluationResult") -> None:
    """Warn of each measure with a value that its bounds say cannot occur."""
    for metric, measure in result.measures.items():
        low, high = measure.bounds
        if -low == high == np.inf:
            continue
        rounding = 1e-9 * max(abs(bound) for bound in measure.bounds if np.isfinite(bound))
        for model, by_forgetting in result.values.items():
            values = np.concatenate([curves[metric].ravel() for curves in by_forgetting.values()])
            beyond = values[(values < low - rounding) | (values > high + rounding)]
            if len(beyond) and model not in result.failures:
                warn(
                    f"Measure {metric!r} of '{model}' is {beyond[0]:g}, and its bounds say that it "
                    f"is in [{low:g}, {high:g}]: correct the measure or its bounds."
                )
                break
