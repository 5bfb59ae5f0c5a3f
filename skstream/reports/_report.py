"""A result in words: what stands above, in and below its table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skstream.core.result.result import EvaluationResult, failed_refits
from skstream.core.result.select import as_passed
from skstream.core.run.run_outcome import Cost
from skstream.core.run.tape import Tape
from skstream.forgetting import Cumulative
from skstream.stats._report import forgetting_words, over_rows, plural
from skstream.utils._labels import is_given
from skstream.utils._tables import aligned, figure, filled, listed


def of_each_stream(
    results: Sequence[EvaluationResult], known: Sequence[int] | None = None
) -> list[list[int]]:
    """Divide results by their streams: places of the results of each, in the order of the first.

    Parameters
    ----------
    results : sequence of EvaluationResult
        Results; two are of one stream if their labels are the same, or their generator is.
    known : sequence of int, default=None
        A number per result, equal for those that are known to be of one stream.

    Returns
    -------
    groups : list of list of int
        Places of the results of every stream.
    """
    groups: list[list[int]] = []
    for j, other in enumerate(results):
        same = [
            group
            for group in groups
            if any(
                (known is not None and known[i] == known[j]) or _is_same(results[i], other)
                for i in group
            )
        ]
        joined = [*sorted(i for group in same for i in group), j]
        groups = sorted([group for group in groups if group not in same] + [joined])
    return groups


def _is_same(one: EvaluationResult, other: EvaluationResult) -> bool:
    """Whether two results are of one stream, or of one generator with other seeds."""
    if one.details.generator and one.details.generator == other.details.generator:
        return True
    if one.classes is None or other.classes is None:
        if one.classes is not other.classes:
            return False
    elif not np.array_equal(one.classes, other.classes):
        return False
    if one.details.labels_read and other.details.labels_read:
        return one.details.labels_read == other.details.labels_read
    return _same_labels(one.tape, other.tape)


def _same_labels(one: Tape | None, other: Tape | None) -> bool:
    """Whether tapes have the same labels: of results of logs."""
    if one is None or other is None or not len(one.y):
        return False
    return np.array_equal(one.y, other.y, equal_nan=one.y.dtype.kind == "f")


#: Parameters of the evaluators that decide what the numbers mean, with their defaults.
DEFAULTS: dict[str, Any] = {
    "batch_size": 1,
    "n_warmup": 1,
    "strategy": "bootstrap",
    "holdout": None,  # always said: it decides what a score is about
    "every": None,
    "holdout_size": None,
    "delay": None,
    "n_bins": 50,
    "poll_every": 10,
    "reduce": "auto",
    "previous_label": "newest",
    "features": None,
    "missing_labels": "error",
    "unanswered": "error",
    "warm_start": False,
}
#: Those that follow from what a stream is like, and may differ from stream to stream.
OF_A_STREAM = frozenset({"delay", "features", "missing_labels"})


def unusual_parameters(result: EvaluationResult) -> dict[str, Any]:
    """Return the parameters of the protocol that have not their default.

    Parameters
    ----------
    result : EvaluationResult
        A result.

    Returns
    -------
    parameters : dict of str to object
        Values by name.
    """
    given = result.parameters
    return {
        name: given[name]
        for name, default in DEFAULTS.items()
        if name in given and given[name] != default
    }


def differences(results: Sequence[EvaluationResult]) -> list[str]:
    """Return the parameters of the protocol that have not the same value in all results."""
    unusual = [unusual_parameters(one) for one in results]
    return [
        name
        for name, default in DEFAULTS.items()
        if any(one.get(name, default) != unusual[0].get(name, default) for one in unusual[1:])
    ]


def parameters_in_words(result: EvaluationResult, names: Sequence[str]) -> str:
    """Write some parameters of the protocol with the values that they have."""
    return as_passed({name: result.parameters.get(name, DEFAULTS[name]) for name in names})


def with_own(name: str, own: str) -> str:
    """Write the name that the user gave to something, and its own where that is another."""
    return name if own in ("", name) else f"{name} ({own})"


def scored_with(result: EvaluationResult, forgetting: str) -> str:
    """Say what scores remember, if it is not all rows: "scores of the last 500 rows".

    Parameters
    ----------
    result : EvaluationResult
        A result.
    forgetting : str
        Name of one of its mechanisms.

    Returns
    -------
    str
        Empty where scores are about all rows so far.
    """
    spelling = result.details.mechanisms.get(forgetting, forgetting)
    return "" if spelling == Cumulative().name else f"scores {over_rows(spelling, 'of')}"


def of_folds(result: EvaluationResult) -> str:
    """Say which folds scores are the means of: ", mean of 10 folds"; empty for a single one."""
    selected = result.details.selected_folds
    if selected is None:
        return f", mean of {result.n_folds} folds" if result.n_folds > 1 else ""
    if len(selected) == 1:
        return f", fold {selected[0]}"
    return f", mean of the folds {', '.join(map(str, selected))}"


def share_of_folds(result: EvaluationResult) -> str:
    """Say how much the copy of a fold learns, as of a folded run alone: empty for others."""
    strategy, n = result.parameters.get("strategy", ""), result.parameters.get("n_folds", 0)
    strategy = strategy.partition(":")[0]
    shares = {
        "bootstrap": "about 63 % of the rows, some of them several times",
        "cross": f"{100 * (n - 1) / max(n, 1):.3g} % of the rows",
        "split": f"{100 / max(n, 1):.3g} % of the rows",
    }
    if strategy not in shares or n < 2:
        return ""
    return (
        f"{strategy}: each copy is trained on {shares[strategy]}; scores are not those of one pass"
    )


def of_bin(result: EvaluationResult, bin: int | None) -> str:
    """Name a bin of a result with delayed labels: ", bin 0 (at arrival)"; None: none."""
    if bin is None or result.n_bins is None:
        return ""
    ends = {0: " (at arrival)", result.n_bins + 1: " (at the label)"}
    return f", bin {bin}{ends.get(bin, '')}"


def blocks(result: EvaluationResult) -> list[tuple[str, EvaluationResult]]:
    """Return what one table each is about: a mechanism and, with delayed labels, a bin.

    Parameters
    ----------
    result : EvaluationResult
        A result.

    Returns
    -------
    blocks : list of (str, EvaluationResult)
        The heading, empty if there is one block, and the result narrowed to it. Bins are the first
        and the last: what is known when a row comes is before what is known at its label.
    """
    bins = () if result.bins is None else dict.fromkeys((result.bins[0], result.bins[-1]))
    found = []
    for bin in bins or (None,):
        for forgetting in result.forgetting_names:
            words = [answers_of(result, bin)] if bin is not None and len(bins) > 1 else []
            words += [heading(result, forgetting)] if len(result.forgetting_names) > 1 else []
            found.append((", ".join(words), result.select(forgetting=forgetting, bins=bin)))
    return found


def answers_of(result: EvaluationResult, bin: int) -> str:
    """Say when the predictions of a bin were made: "predictions at arrival (bin 0)"."""
    ends = {0: "at arrival", (result.n_bins or 0) + 1: "just before the label"}
    return f"predictions {ends[bin]} (bin {bin})" if bin in ends else f"predictions in bin {bin}"


#: Most names of models in a table.
_MOST_NAMES = 5
NEXT_CALLS = "to_frame(), plot(), rescore(), compare(), save()"


def one_line(result: EvaluationResult) -> str:
    """Answer first: the first measure of every model, then the next calls."""
    metric = result.metric_names[0]
    answers = ", ".join(
        f"{name}: {metric} {figure(one[metric])}" for name, one in result.scores.items()
    )
    scored = scored_with(result, result.forgetting_names[0])
    unusual = as_passed(unusual_parameters(result))
    return (
        f"{type(result).__name__}({result.protocol}{unusual and f', {unusual}'}; {answers} "
        f"{_after(result)}{scored and f', {scored}'}; see {NEXT_CALLS})"
    )


def _after(result: EvaluationResult) -> str:
    """Say how many rows came before the last checkpoint."""
    if result.details.scored_sets and not len(result.checkpoints):
        return "before the first checkpoint"  # rows may have been learnt
    return f"after {result.n_rows:,} rows"


def table(result: EvaluationResult) -> str:
    """Scores of all models as aligned text, one block per forgetting mechanism and bin."""
    share = share_of_folds(result)
    head = [title(result), *([f"{plural(result.n_folds, 'fold')}, {share}"] if share else [])]
    lines = [filled(line, indent="  ") for line in head]
    for words, one in blocks(result):
        lines += [filled(f"{words}:", indent="  ")] if words else []
        lines += aligned(*table_cells(one), less_needed=("seconds", "path"))
    return "\n".join([*lines, *(filled(line, indent="  ") for line in notes(result))])


def of_different_rows(n_answered: Mapping[str, int]) -> str:
    """Say how many rows the scores of each model are about, where that is not the same."""
    words = listed([f"'{name}' of {n:,} rows" for name, n in n_answered.items()], _MOST_NAMES)
    return (
        f"The models have predictions for different rows ({words}), so their scores do not show "
        "which is better"
    )


def different_rows(result: EvaluationResult) -> str:
    """Say that models have no prediction of some rows, and are not scored on these, if so."""
    tape, counts = result.tape, result.n_unanswered
    if result.parameters.get("unanswered") != "skip" or len(counts) < 2 or not any(counts.values()):
        return ""
    if tape is not None:
        given = [is_given(np.asarray(one)) for one in tape.answers.values()]
        if all(np.array_equal(one, given[0]) for one in given):
            return ""
    return of_different_rows({name: result.n_rows - n for name, n in counts.items()})


def undefined_kappas(result: EvaluationResult, metric: str, names: Sequence[str]) -> list[str]:
    """Name the models whose kappa is undefined: one that never errs may be, and is not worse."""
    if not result.measures[metric].baseline_is_zero:
        return []
    scores = result.scores
    return [name for name in names if np.isnan(scores[name][metric])]


def notes(result: EvaluationResult) -> list[str]:
    """What is said below the scores."""
    unlike = different_rows(result)
    lines = [*([unlike] if unlike else []), *_counts(result), *_reasons(result)]
    models = result.details.record.get("models", {})
    if taken := [name for name in result.model_names if "taken" in models.get(name, {})]:
        lines.append(f"{', '.join(taken)}: Pipeline, run as a StreamPipeline of its steps")
    lines += failed_refits(result)
    lines += [f"{name} failed: {message}" for name, message in result.failures.items()]
    lines += [f"{name} is left out: {why}" for name, why in result.left_out.items()]
    why = result.parameters.get("in_one_process")
    return [*lines, f"All in one process: {why}"] if why else lines


def _counts(result: EvaluationResult) -> list[str]:
    """Rows that are in no score, and why."""
    lines = []
    n = result.n_unlabelled
    if n:
        not_used = "neither scored nor used for training" if result.costs else "not scored"
        lines.append(f"{plural(n, 'row')} without a label: {not_used}")
    n, n_held_out = result.details.unlabelled_held_out or (0, 0)
    if n:
        lines.append(f"{n:,} of {n_held_out:,} holdout rows without a label: not scored")
    return lines


def _reasons(result: EvaluationResult) -> list[str]:
    """Why models went through the loop: a line for each reason."""
    models: dict[tuple[str, str], list[str]] = {}
    for name, path in result.paths.items():
        kind, colon, reason = path.partition(": ")
        if colon:
            models.setdefault((kind, reason), []).append(str(name))
    return [f"{', '.join(names)} ({kind}): {why}" for (kind, why), names in models.items()]


def title(result: EvaluationResult) -> str:
    """Protocol and rows, and whatever about them is not the default."""
    folds = of_folds(result)
    alone = len(result.forgetting_names) == 1  # else each mechanism has its own heading
    scored = scored_with(result, result.forgetting_names[0]) if alone else ""
    unusual = as_passed(unusual_parameters(result))
    return (
        f"{result.protocol} evaluation {_after(result)}{folds}{_scored_bin(result)}"
        f"{scored and f', {scored}'}{unusual and f'; {unusual}'}"
    )


def _scored_bin(result: EvaluationResult) -> str:
    """Name the bin of the scores where it is not the last of all."""
    if result.bins is None or result.bins[-1] == (result.n_bins or 0) + 1:
        return ""
    return of_bin(result, result.bins[-1])


def heading(result: EvaluationResult, forgetting: str) -> str:
    spelling = result.details.mechanisms.get(forgetting, forgetting)
    return with_own(forgetting, forgetting_words(spelling))


def _refits(cost: Cost | None) -> list[str]:
    """How often a model was refitted in all folds, and the time that this took."""
    if cost is None or not cost.refit_rows:
        return ["", ""]
    return [f"{sum(map(len, cost.refit_rows)):,}", f"{cost.seconds_refitting:.2f}"]


def table_cells(result: EvaluationResult) -> tuple[list[str], list[list[str]]]:
    counted = any(result.n_unanswered.values())
    refitted = any(cost.refit_rows for cost in result.costs.values())
    has_run = bool(result.costs or result.paths)  # a log of predictions has run no model
    header = [
        "model",
        *result.metric_names,
        *(["missing predictions"] if counted else []),
        *(["refits", "refit seconds"] if refitted else []),
        *(["seconds", "path"] if has_run else []),
    ]
    rows = []
    for name, values in result.scores.items():
        cost = result.costs.get(name)
        rows.append(
            [
                name,
                *map(figure, values.values()),
                *([f"{result.n_unanswered.get(name, 0):,}"] if counted else []),
                *(_refits(cost) if refitted else []),
                *(["" if cost is None else f"{cost.seconds:.2f}"] if has_run else []),
                *([result.paths.get(name, "").partition(":")[0]] if has_run else []),
            ]
        )
    return header, rows
