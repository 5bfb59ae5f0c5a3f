"""Results as text, HTML and tidy columns."""

import html as html_module
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream.evaluation._parallel._slowest_part import slow_part
from skstream.evaluation._results._protocol_words import (
    in_words,
    of_bin,
    of_folds,
    scored_with,
    unusual_parameters,
    with_own,
)
from skstream.evaluation._runs._cost import Cost
from skstream.evaluation._runs._watch import each
from skstream.utils._tables import aligned, listed

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult

#: Most names and reasons of models that ended early in a table.
_MOST_NAMES = 5
NEXT_CALLS = "to_frame(), plot(), rescore(), compare(), save()"


def one_line(result: "EvaluationResult") -> str:
    """Answer first: the first measure of every model, then the next calls."""
    metric = result.metric_names[0]
    scores = result.scores
    answers = ", ".join(
        f"{name}: {metric} {_shown_score(result, name, metric, scores[name][metric])}"
        for name in scores
    )
    scored = scored_with(result, result.forgetting_names[0])
    unusual = in_words(unusual_parameters(result))
    return (
        f"{type(result).__name__}({result.protocol}{unusual and f', {unusual}'}; {answers} "
        f"{_after(result)}{scored and f', {scored}'}; see {NEXT_CALLS})"
    )


def _shown_score(result: "EvaluationResult", name: str, metric: str, score: float) -> str:
    """Write a score, or the last one and its row of a model that ended earlier."""
    end = result.ended.get(name)
    if end is None:
        return f"{score:.4f}"
    last = np.mean(end.scores[result.forgetting_names[0]][metric])
    return f"{last:.4f} after {end.n_rows:,} rows"


def _after(result: "EvaluationResult") -> str:
    """Say how many rows came before the last checkpoint."""
    if result.details.scored_sets and not len(result.checkpoints):
        return "before the first checkpoint"  # rows may have been learnt
    return f"after {result.n_rows:,} rows"


def table(result: "EvaluationResult") -> str:
    """Scores of all models as aligned text, one block per forgetting mechanism."""
    lines = [_title(result)]
    for forgetting in result.forgetting_names:
        header, rows = _cells(result, forgetting)
        if len(result.forgetting_names) > 1:
            lines.append(f"{_heading(result, forgetting)}:")
        lines.extend(aligned(header, rows))
    lines.extend(_counts(result))
    lines.extend(_alarms(result))
    lines.extend(_reasons(result))
    lines.extend(_slow(result))
    lines.extend(failed_refits(result))
    lines.extend(f"{name} failed: {message}" for name, message in result.failures.items())
    lines.extend(_ends(result))
    lines.extend(f"{name} is left out: {why}" for name, why in result.left_out.items())
    why = result.parameters.get("in_one_process")
    if why:
        lines.append(f"All in one process: {why}")
    return "\n".join(lines)


def _slow(result: "EvaluationResult") -> list[str]:
    """Return the sentence about what took most of the time, where that was executed by calls."""
    return slow_part(result.costs, result.paths, result.parameters.get("batch_size", 1))


def _counts(result: "EvaluationResult") -> list[str]:
    """Rows that are in no score, and why."""
    lines = []
    n = result.n_unlabelled
    if n:
        rows = "row" if n == 1 else "rows"
        not_used = "neither learnt nor scored" if result.costs else "not scored"
        lines.append(f"{n:,} {rows} without a label: {not_used}")
    n, n_held_out = result.details.unlabelled_held_out or (0, 0)
    if n:
        lines.append(f"{n:,} of {n_held_out:,} holdout rows without a label: not scored")
    return lines


def _alarms(result: "EvaluationResult") -> list[str]:
    """How many alarms each monitor raised, in all folds."""
    lines = []
    for monitor, by_model in result.detections.items():
        counts: dict[str, int] = {}
        for one in each({monitor: by_model}):
            counts[one.model] = counts.get(one.model, 0) + len(one.alarms)
        shown = [f"{model} {n:,}" for model, n in counts.items()]
        lines.append(f"alarms of {monitor}: {listed(shown, _MOST_NAMES, 'models')}")
    return lines


def _reasons(result: "EvaluationResult") -> list[str]:
    """Why models went through the loop: a line for each reason."""
    models = _by_reason({name: path for name, path in result.paths.items() if ": " in path})
    return [
        f"{', '.join(names)} ({kind}): {reason}"
        for (kind, reason), names in ((path.split(": ", 1), of) for path, of in models.items())
    ]


def _ends(result: "EvaluationResult") -> list[str]:
    """Why models ended early: the same reason once."""
    models = _by_reason({name: end.reason for name, end in result.ended.items()})
    lines = [
        f"{listed(names, _MOST_NAMES)} ended early: {reason}" for reason, names in models.items()
    ]
    more = len(lines) - _MOST_NAMES
    return [*lines[:_MOST_NAMES], *([f"{more} more reasons are in 'ended'"] if more > 0 else [])]


def _by_reason(reasons: dict[str, str]) -> dict[str, list[str]]:
    """Names of the models that share a reason."""
    models: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        models.setdefault(reason, []).append(str(name))
    return models


def html(result: "EvaluationResult") -> str:
    """Scores of all models as HTML tables."""
    parts = [f"<p><b>{html_module.escape(_title(result))}</b></p>"]
    for forgetting in result.forgetting_names:
        header, rows = _cells(result, forgetting)
        head = "".join(f"<th>{html_module.escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{html_module.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        parts.append(
            f"<p>{html_module.escape(_heading(result, forgetting))}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
    notes = [*_counts(result), *_alarms(result), *_reasons(result), *_slow(result)]
    notes += [*failed_refits(result), *_ends(result)]
    parts.extend(f"<p>{html_module.escape(line)}</p>" for line in notes)
    parts.append(f"<p>Next: <code>{NEXT_CALLS}</code></p>")
    return "\n".join(parts)


def tidy_columns(result: "EvaluationResult") -> dict[str, Any]:
    """Columns of the tidy frame; one of bins under delayed labels."""
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


def _title(result: "EvaluationResult") -> str:
    """Protocol and rows, and whatever about them is not the default."""
    folds = of_folds(result)
    alone = len(result.forgetting_names) == 1  # else each mechanism has its own heading
    scored = scored_with(result, result.forgetting_names[0]) if alone else ""
    unusual = in_words(unusual_parameters(result))
    return (
        f"{result.protocol} evaluation {_after(result)}{folds}{_scored_bin(result)}"
        f"{scored and f', {scored}'}{unusual and f'; {unusual}'}"
    )


def _scored_bin(result: "EvaluationResult") -> str:
    """Name the bin of the scores where it is not the last of all."""
    if result.bins is None or result.bins[-1] == (result.n_bins or 0) + 1:
        return ""
    return of_bin(result, result.bins[-1])


def _heading(result: "EvaluationResult", forgetting: str) -> str:
    return with_own(forgetting, result.details.mechanisms.get(forgetting, ""))


def _refits(cost: Cost | None) -> list[str]:
    """How often a model was refitted in all folds, and the time that this took."""
    if cost is None or not cost.refit_rows:
        return ["", ""]
    return [f"{sum(map(len, cost.refit_rows)):,}", f"{cost.seconds_refitting:.2f}"]


def failed_refits(result: "EvaluationResult") -> list[str]:
    """Say which models have a refit that failed, and which were never refitted."""
    lines = []
    for name, cost in result.costs.items():
        n, folds = cost.n_failed_refits, cost.refit_rows
        if n:
            many = "A refit" if n == 1 else f"{n:,} refits"
            which = "" if n == 1 else "the last: "
            lines.append(
                f"{many} of {name} failed, and the model before stayed: {which}{cost.failed_refit}"
            )
        never = sum(not rows for rows in folds)
        if never:
            where = "" if len(folds) == 1 else f" in {never} of {len(folds)} folds"
            lines.append(
                f"{name} was never refitted{where}: what it is before the first refit answered "
                "every question. Fewer rows between refits (every=, min_rows=) or more rows help."
            )
    return lines


def _cells(result: "EvaluationResult", forgetting: str) -> tuple[list[str], list[list[str]]]:
    counted = any(result.n_unanswered.values())
    refitted = any(cost.refit_rows for cost in result.costs.values())
    has_run = bool(result.costs or result.paths)  # a log of predictions has run no model
    header = [
        "model",
        *result.metric_names,
        *(["unanswered questions"] if counted else []),
        *(["ended after"] if result.ended else []),
        *(["refits", "seconds of refits"] if refitted else []),
        *(["seconds", "path"] if has_run else []),
    ]
    scores = result.select(forgetting=forgetting).scores
    rows = []
    for name, values in scores.items():
        cost, end = result.costs.get(name), result.ended.get(name)
        if end is not None:
            values = {
                metric: float(np.mean(last)) for metric, last in end.scores[forgetting].items()
            }
        rows.append(
            [
                name,
                *(f"{value:.4f}" for value in values.values()),
                *([f"{result.n_unanswered.get(name, 0):,}"] if counted else []),
                *([f"{end.n_rows:,}" if end else ""] if result.ended else []),
                *(_refits(cost) if refitted else []),
                *(["" if cost is None else f"{cost.seconds:.2f}"] if has_run else []),
                *([result.paths.get(name, "").partition(":")[0]] if has_run else []),
            ]
        )
    return header, rows
