"""Last values of results, and warnings where they say nothing."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning

from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.evaluation._result import EvaluationResult


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


def warn_of_failures(result: "EvaluationResult") -> None:
    """Warn of each model that failed."""
    for message in result.failures.values():
        warn(message, FitFailedWarning)


def warn_of_undefined(result: "EvaluationResult") -> None:
    """Warn where nothing was scored, or a last value is undefined."""
    reason = result.why_nothing_scored()
    if reason:
        message = f"No row was scored, so that all scores are NaN: {reason}"
        warn(message, UndefinedMetricWarning)
    if reason or not result.n_rows:
        return
    lack = result.parameters.get("on_missing_proba") == "nan"  # then some models may have none
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
        listed = sorted(undefined)
        more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
        warn(
            f"Undefined at the last row, and so NaN: {', '.join(listed[:3])}{more}. A kappa is "
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
