"""Results that follow from one without running a model: narrower ones, and other scores."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skstream.core.forgetting import Cumulative, Forgetting, as_forgetting
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure, warn_of_calls
from skstream.core.measures.registry import resolve_metrics
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
from skstream.utils._choices import check_count, is_integer
from skstream.utils._tables import listed
from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.core.result.result import EvaluationResult


_ADDRESS = re.compile(r"<(?:function |bound method )?(?P<name>\S+).* at 0x[0-9a-f]+>+")
Result = TypeVar("Result", bound="EvaluationResult")
Names = str | Sequence[str] | None
Mechanisms = str | Forgetting | Sequence[str | Forgetting] | None
#: Parameters that name what there is of each kind.
_PARAMETERS = {"model": "models", "measure": "metrics", "forgetting": "forgetting"}
Numbers = int | Sequence[int] | None


def select(
    result: Result,
    models: Names,
    metrics: Names,
    forgetting: Mechanisms,
    folds: Numbers,
    bins: Numbers,
) -> Result:
    """Narrow a result; see `EvaluationResult.select`."""
    names = chosen(models, result.model_names, "model")
    mechanisms = chosen(_mechanism_names(result, forgetting), result.forgetting_names, "forgetting")
    measures = chosen(metrics, result.metric_names, "measure")
    details = replace(
        result.details,
        mechanisms=_of(result.details.mechanisms, mechanisms),
        baselines=tuple(name for name in names if name in result.details.baselines),
    )
    changes: dict[str, Any] = {}
    positions: dict[int, list[int]] = {}  # by axis of the curves
    if folds is not None:
        kept = numbers(folds, result.folds, "fold")
        positions[1] = [result.folds.index(fold) for fold in kept]
        details = replace(details, selected_folds=kept)
    if bins is not None:
        kept = numbers(bins, bins_of(result), "bin")
        positions[2] = [bins_of(result).index(bin) for bin in kept]
        changes["selected_bins"] = kept
    fold_positions = positions.get(1)
    failed_at = {
        name: [ends[position] for position in fold_positions or range(len(ends))]
        for name, ends in _of(result.failed_at, names).items()
    }
    costs = _of(result.costs, names)
    if fold_positions is not None:
        for name, cost in costs.items():
            curves = [cost.curves[position] for position in fold_positions] if cost.curves else []
            costs[name] = replace(cost, curves=curves)
    failed = [name for name, ends in failed_at.items() if set(ends) != {None}]
    fitted = result.models
    if fitted is not None:
        fitted = {name: fitted[name] for name in names}
        if fold_positions is not None and result.n_folds > 1:
            some = {name: [all_[k] for k in fold_positions] for name, all_ in fitted.items()}
            fitted = {name: kept[0] if len(kept) == 1 else kept for name, kept in some.items()}

    return replace(
        result,
        values={
            name: {
                mechanism: {
                    metric: _narrow(result.values[name][mechanism][metric], positions)
                    for metric in measures
                }
                for mechanism in mechanisms
            }
            for name in names
        },
        measures=_of(result.measures, measures),
        tape=None if result.tape is None else _tape(result.tape, names, fold_positions),
        costs=costs,
        paths=_of(result.paths, names),
        models=fitted,
        failures=_of(result.failures, failed),
        failed_at=_of(failed_at, failed),
        left_out=result.left_out if models is None else {},
        n_unanswered=_of(result.n_unanswered, names),
        details=details,
        **changes,
    )


def pick(choices: Mapping[str, Any], name: str, kind: str) -> Any:
    """Return what a result holds under a name; an error says which names there are."""
    if name not in choices:
        raise KeyError(f"There is no {kind} '{name}' in this result; it has {list(choices)}.")
    return choices[name]


def chosen(names: Names, known: Sequence[str], kind: str) -> list[str]:
    """Return the names that the user asked for, in that order; None: all."""
    if names is None:
        return list(known)
    listed = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(
                f"{_PARAMETERS[kind]} must be a name, or a list of names, among {list(known)}. "
                f"Got {name!r} of type {type(name).__name__} instead."
            )
    asked = list(dict.fromkeys(listed))
    if not asked:
        raise ValueError(f"Name at least one {kind} of {list(known)}.")
    by_name = dict.fromkeys(known)
    for name in asked:
        pick(by_name, name, kind)
    return asked


def _mechanism_names(result: "EvaluationResult", given: Mechanisms) -> Any:
    """Put the names under which a result has them in place of mechanisms of forgetting."""
    spellings = {own: name for name, own in reversed(result.details.mechanisms.items())}

    def name_of(named: Any) -> Any:
        return spellings.get(named.name, named.name) if isinstance(named, Forgetting) else named

    if isinstance(given, Iterable) and not isinstance(given, str):
        return [name_of(named) for named in given]
    return name_of(given)


def named(
    result: "EvaluationResult", metric: str | None, forgetting: str | None
) -> tuple[str, str]:
    """Return names of a measure and a mechanism, None: the first; an error says which there are."""
    metric = result.metric_names[0] if metric is None else metric
    forgetting = result.forgetting_names[0] if forgetting is None else forgetting
    by_metric = pick(result.values[result.model_names[0]], forgetting, "forgetting")
    pick(by_metric, metric, "measure")
    return metric, forgetting


def number(given: Any, known: Sequence[int], kind: str) -> int:
    """Return the number of a fold or a bin of a result; an error says which there are."""
    if not (is_integer(given) and given in known):
        raise ValueError(f"{kind} must be {in_words(known)}, as an int. Got {given!r} instead.")
    return int(given)


def numbers(given: Numbers, known: Sequence[int], kind: str) -> tuple[int, ...]:
    """Return the numbers of the folds or bins that the user asked for; None: all."""
    if given is None:
        return tuple(known)
    asked = np.ravel(np.asarray(given, dtype=object)).tolist()
    if not asked:
        raise ValueError(f"{kind}s must name at least one {kind}: {in_words(known)}.")
    return tuple(dict.fromkeys(number(wanted, known, f"{kind}s") for wanted in asked))


def bins_of(result: "EvaluationResult") -> tuple[int, ...]:
    """Return the numbers of the bins of a result with delayed labels; else an error."""
    if result.bins is None:
        raise ValueError("bins= is for results with delayed labels; this one has no bins.")
    return result.bins


def bin_meant(result: "EvaluationResult", given: Any) -> int | None:
    """Return the bin that is named, else the last one that a result shows; None without bins."""
    if result.bins is None:
        if given is not None:
            raise ValueError("bin= is for results with delayed labels; this one has no bins.")
        return None
    return result.bins[-1] if given is None else number(given, result.bins, "bin")


def in_words(known: Sequence[int]) -> str:
    """Write the numbers of folds or bins: "from 0 to 9", "one of 2, 5", or "2, the only one"."""
    if len(known) == 1:
        return f"{known[0]}, the only one in this result"
    if list(known) == list(range(known[0], known[-1] + 1)):
        return f"from {known[0]} to {known[-1]}"
    return f"one of {', '.join(map(str, known))}"


def _of(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _narrow(curve: np.ndarray, positions: Mapping[int, list[int]]) -> np.ndarray:
    for axis, kept in positions.items():
        curve = curve.take(kept, axis=axis)
    return curve


def _tape(tape: Tape, names: Sequence[str], folds: list[int] | None) -> Tape:
    """Answers of some models and folds; those of all bins, which rescoring needs."""

    def some(of_models: Mapping[str, Any]) -> dict[str, Any]:
        kept = _of(of_models, names)
        return kept if folds is None else {name: values[folds] for name, values in kept.items()}

    return replace(
        tape,
        answers=some(tape.answers),
        scores=some(tape.scores),
        methods=_of(tape.methods, names),
    )


def tidy_columns(result: "EvaluationResult") -> dict[str, Any]:
    """Columns of the tidy frame; one of bins with delayed labels."""
    parts = [
        (model, forgetting, metric, curve)
        for model, by_forgetting in result.values.items()
        for forgetting, metrics in by_forgetting.items()
        for metric, curve in metrics.items()
    ]
    shape = parts[0][3].shape
    checkpoint, fold, *bin = (index.ravel() for index in np.indices(shape))
    n, times = len(checkpoint), len(parts)
    columns: dict[str, Any] = {
        "model": np.repeat([model for model, *_ in parts], n),
        "forgetting": np.repeat([forgetting for _, forgetting, *_ in parts], n),
        "fold": np.tile(np.asarray(result.folds)[fold], times),
    }
    if result.bins is not None:
        columns["bin"] = np.tile(np.asarray(result.bins)[bin[0]], times)
    columns["row"] = np.tile(result.checkpoints[checkpoint], times)
    if result.times is not None:
        columns["time"] = np.tile(result.times[checkpoint], times)
    columns["metric"] = np.repeat([metric for *_, metric, _ in parts], n)
    columns["value"] = np.concatenate([curve.ravel() for *_, curve in parts])
    return columns


def cost_columns(result: "EvaluationResult") -> dict[str, Any]:
    """Columns of the frame of costs; an error where they are not known along the stream."""
    if not any(cost.curves for cost in result.costs.values()):
        raise ValueError(
            "This result has no costs along the stream: no model was run, or it was saved by a "
            "version of skstream that did not record them."
        )
    columns: dict[str, list[Any]] = {name: [] for name in ("model", "fold", "row", "time")}
    columns |= {"seconds": [], "size": []}
    rows = result.checkpoints
    for name, cost in result.costs.items():
        for fold, noted in zip(result.folds, cost.curves, strict=True):
            noted = np.concatenate([np.zeros((1, 3)), noted])
            noted = noted[np.append(np.diff(noted[:, 0]) > 0, True)]
            size = noted[np.searchsorted(noted[:, 0], rows, side="right") - 1, 2]
            columns["model"].append(np.repeat(name, len(rows)))
            columns["fold"].append(np.repeat(fold, len(rows)))
            columns["row"].append(rows)
            columns["time"].append(() if result.times is None else result.times)
            columns["seconds"].append(np.interp(rows, noted[:, 0], noted[:, 1]))
            columns["size"].append(np.where(size == 0.0, np.nan, size))
    if result.times is None:
        del columns["time"]
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def check_at(at: int | None) -> None:
    """Raise an error if a row is not a number from 1 on."""
    if at is not None:
        check_count(at, "at", 1)


def checkpoint(result: "EvaluationResult", at: int | None) -> int:
    """Position of the last checkpoint not after a row; None: of the last of all."""
    check_at(at)
    position = len(result.checkpoints) - 1
    if at is not None:
        position = int(np.searchsorted(result.checkpoints, at, side="right")) - 1
    if position < 0:
        unit, rows = unit_of(result), result.checkpoints
        first = f"the first is at {unit} {rows[0]:,}" if len(rows) else "there is none"
        raise ValueError(f"There is no checkpoint at or before {unit} {at}: {first}.")
    return position


def unit_of(result: "EvaluationResult") -> str:
    """What the checkpoints count: rows, or with delayed labels labelled rows."""
    return "row" if result.bins is None else "labelled row"


def as_passed(parameters: dict[str, Any]) -> str:
    """Write parameters as one would pass them: "batch_size=50, n_warmup=10"."""
    return ", ".join(f"{name}={_written(value)}" for name, value in parameters.items())


def _written(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    # What is no plain value was noted by its repr.
    found = _ADDRESS.fullmatch(value)
    if found is not None:
        return found["name"].rpartition(".")[2] or found["name"]
    return value if "(" in value else repr(value)


def curve_of_one(curve: np.ndarray) -> np.ndarray:
    """Values at the checkpoints: mean over folds, in the last bin."""
    return (curve if curve.ndim == 2 else curve[:, :, -1]).mean(axis=1)


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
        yield f"No row was scored, so all scores are NaN: {reason}", UndefinedMetricWarning
    if undefined:
        message = (
            f"Undefined at the last row, so NaN: {listed(undefined, 3)}. A kappa is undefined if "
            "its baseline makes no error, a measure of rankings if a class has no row, and every "
            "measure if no row was scored."
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
                    f"Measure {metric!r} of '{model}' is {beyond[0]:g}, outside its bounds "
                    f"[{low:g}, {high:g}]: correct the measure or its bounds."
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
    lane_curves = curves_of_lanes(all_curves, len(lanes), width)
    for (name, _), curves in zip(lanes, lane_curves, strict=True):
        by_model.setdefault(name, []).append(curves)
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
            "Forgetting does not apply to a holdout evaluation: every set of rows is scored on "
            "its own, with all rows counting equally. Leave forgetting out."
        )
    if record_every is not None:
        raise ValueError(
            "record_every does not apply to a holdout evaluation: its checkpoints are those at "
            "which the sets were predicted. Leave it out."
        )
