"""Scores from a tape without running a model, and values that stand for curves."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skstream.core.forgetting import Cumulative, Forgetting, as_forgetting
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure, warn_of_calls
from skstream.core.measures.resolve import resolve_metrics
from skstream.core.result.select import Result
from skstream.core.run.tape import (
    Tape,
    check_has_scores,
    curves_of_lanes,
    fold_columns,
    lanes_of,
    measures_of,
    rows_of,
    width_of,
)
from skstream.utils._tables import listed
from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.core.result.result import EvaluationResult


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
    if not len(curve):
        return float("nan")
    return float((curve[-1] if curve.ndim == 2 else curve[-1, :, -1]).mean())


def cautions(result: "EvaluationResult") -> Iterator[tuple[str, type[Warning]]]:
    """Yield what is to be warned of: nothing was scored, undefined last values, wrong bounds."""
    reason = result._why_nothing_scored()
    undefined = _undefined(result) if result.n_rows and not reason else []
    if reason:
        yield f"No row was scored, so that all scores are NaN: {reason}", UndefinedMetricWarning
    if undefined:
        message = (
            f"Undefined at the last row, and so NaN: {listed(undefined, 3)}. A kappa is "
            "undefined where its baseline makes no error, a measure of rankings where a class has "
            "no row; every measure is where no row was scored."
        )
        yield message, UndefinedMetricWarning
    for metric, measure in result.measures.items():
        message = _out_of_bounds(result, metric) if np.isfinite(measure.bounds).any() else ""
        if message:
            yield message, UserWarning


def warn_of_cautions(result: "EvaluationResult") -> None:
    """Warn of what is undefined or cannot be."""
    for message, category in cautions(result):
        warn(message, category)


def _undefined(result: "EvaluationResult") -> list[str]:
    """Name the last values that are undefined, sorted."""
    lack = result.parameters.get("error_score") != "raise"  # then some models may have none
    found = set()
    for model, by_forgetting in result.values.items():
        if model in result.failures:
            continue
        for forgetting, metrics in by_forgetting.items():
            for metric, curve in metrics.items():
                of_folds = np.isnan(curve[-1] if curve.ndim == 2 else curve[-1, :, -1])
                n, may_lack = int(of_folds.sum()), result.measures[metric].needs == "probabilities"
                if n and not (lack and may_lack):
                    some = f", in {n} of {len(of_folds)} folds" if n < len(of_folds) else ""
                    found.add(f"{metric} of '{model}' ({forgetting}{some})")
    return sorted(found)


def _out_of_bounds(result: "EvaluationResult", metric: str) -> str:
    """Say which value of a measure cannot occur by its bounds; empty if none."""
    low, high = bounds = np.array(result.measures[metric].bounds)
    rounding = 1e-9 * np.abs(bounds[np.isfinite(bounds)]).max()
    for model, by_forgetting in result.values.items():
        for curves in by_forgetting.values():
            values = curves[metric]
            beyond = values[(values < low - rounding) | (values > high + rounding)]
            if len(beyond) and model not in result.failures:
                return (
                    f"Measure {metric!r} of '{model}' is {beyond[0]:g}, and its bounds say that it "
                    f"is in [{low:g}, {high:g}]: correct the measure or its bounds."
                )
    return ""


def rescored(tape: Tape, metrics: Any, forgetting: Any, record_every: Any) -> dict[str, Any]:
    """Run the measures over a tape.

    Parameters
    ----------
    tape : Tape
        Labels and answers.
    metrics, forgetting
        As given by the user.
    record_every : int, str, timedelta or None
        Distance of the checkpoints.

    Returns
    -------
    scores : dict
        The attributes of a result that depend on the measures and the forgetting: checkpoints,
        times, values, measures and mechanisms.
    """
    measures = resolve_metrics(metrics, classes=tape.classes)
    check_has_scores(measures, tape)
    warn_of_calls(measures, tape.n_rows, record_every)
    mechanisms = as_forgetting(forgetting)
    if tape.sets is not None:
        _check_alone(mechanisms, record_every)
    lanes = lanes_of(tape)
    width = width_of(next(iter(lanes.values())))
    running = measures_of(
        measures,
        mechanisms,
        tape.classes,
        len(lanes),
        width,
        in_sets=tape.sets is not None,
        record_every=record_every,
        expected_rows=tape.n_rows,
        methods=[tape.methods.get(name) for name, _ in lanes] if tape.methods else None,
        timed=tape.time is not None,
    )
    for rows in rows_of(tape, lanes):
        running.read(rows)
    running.finish()
    all_curves = running.curves()
    by_model: dict[str, list[Curves]] = {}
    for (name, _), one in zip(lanes, curves_of_lanes(all_curves, len(lanes), width), strict=True):
        by_model.setdefault(name, []).append(one)
    return {
        "checkpoints": all_curves.checkpoints,
        "times": all_curves.times,
        "values": fold_columns(by_model),
        "measures": {name: Measure(**measure.facts) for name, measure in measures.items()},
        "mechanisms": {name: mechanism.name for name, mechanism in mechanisms.items()},
    }


def with_scores(result: Result, mechanisms: dict[str, str], **scores: Any) -> Result:
    """Return a result with other scores of its tape, up to where models failed."""
    details = replace(result.details, mechanisms=mechanisms)
    result = replace(result, details=details, **scores)
    end_at_failures(result)
    return result


def end_at_failures(result: "EvaluationResult") -> None:
    """Give models that failed the error score from there on."""
    for name, rows in result.failed_at.items():
        for by_metric in result.values[name].values():
            for curve in by_metric.values():
                for fold, n_valid in enumerate(rows):
                    if n_valid is not None:
                        curve[result.checkpoints > n_valid, fold] = result._error_score


def _check_alone(mechanisms: Mapping[str, Forgetting], record_every: Any) -> None:
    """Refuse what a holdout evaluation does not have."""
    if list(mechanisms.values()) != [Cumulative()]:
        raise ValueError(
            "Forgetting does not apply to a holdout evaluation: every set of rows is scored on its "
            "own, all of its rows alike. Leave forgetting out."
        )
    if record_every is not None:
        raise ValueError(
            "record_every does not apply to a holdout evaluation: its checkpoints are those at "
            "which the models were asked. Leave it out."
        )
