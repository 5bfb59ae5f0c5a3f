"""Results from the outcomes of runs, in this process or in workers."""

from collections.abc import Mapping
from operator import not_
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skstream.core.measures.checkpoints import Curves
from skstream.core.result.rescore import end_at_failures, warn_of_cautions
from skstream.core.result.result import EvaluationResult, ResultDetails
from skstream.core.run.run_outcome import Cost, ResultHeader, RunOutcome
from skstream.core.run.tape import Tape, fold_columns
from skstream.utils._warnings import warn


def assemble(
    header: ResultHeader,
    outcome: RunOutcome,
    *,
    so_far: bool = False,
    left_out: Mapping[str, str] | None = None,
    folds: tuple[int, ...] | None = None,
) -> EvaluationResult:
    """Make a result from the outcome of a run, or of several joined.

    Parameters
    ----------
    header : ResultHeader
        Facts of the evaluation.
    outcome : RunOutcome
        Its lanes, in order, are all models and folds.
    so_far : bool, default=False
        Whether an error ended the evaluation: then there are no further warnings.
    left_out : dict of str to str, default=None
        Models that are not in the outcome, and the reason.
    folds : tuple of int, default=None
        The folds that are in the outcome, if not all are.

    Returns
    -------
    result : EvaluationResult
        The result; a `DelayedResult` where rows waited for their labels.
    """
    kind: type[EvaluationResult] = EvaluationResult
    further: dict[str, Any] = {}
    if outcome.waits is not None:
        from skstream.core.evaluators.delayed.result import DelayedResult

        kind, further = DelayedResult, {"waits": outcome.waits}
    curves: dict[str, list[Curves]] = {}
    costs: dict[str, Cost] = {}
    paths: dict[str, str] = {}
    fitted: dict[str, Any] = {}
    failures: dict[str, str] = {}
    failed_at: dict[str, list[int | None]] = {}
    n_unanswered: dict[str, int] = {}
    lost: list[str] = []
    for lane in outcome.lanes:
        name = lane.name
        curves.setdefault(name, []).append(lane.curves)
        costs[name] = costs.get(name, Cost()) + lane.cost
        paths.setdefault(name, lane.path)
        fitted.setdefault(name, []).append(lane.estimator)
        failed_at.setdefault(name, []).append(lane.n_valid)
        n_unanswered[name] = n_unanswered.get(name, 0) + lane.n_unanswered
        lost += lane.lost
        if lane.failure is not None:
            failures.setdefault(name, lane.failure)
    for name in curves:
        if name not in failures:
            del failed_at[name]
        if len(fitted[name]) == 1:
            (fitted[name],) = fitted[name]
    first = outcome.lanes[0].curves
    read = {} if so_far else outcome.read
    result = kind(
        protocol=header.protocol,
        checkpoints=first.checkpoints,
        times=first.times,
        values=fold_columns(curves),
        measures=dict(header.measures),
        classes=header.classes,
        tape=_joined_tape(header, outcome),
        costs=costs,
        paths=paths,
        models=fitted if header.parameters.get("return_models") else None,
        failures=failures,
        failed_at=failed_at,
        n_unanswered=n_unanswered,
        n_unlabelled=outcome.n_unlabelled,
        drifts=outcome.drifts,
        parameters=header.parameters,
        left_out=dict(left_out or {}),
        details=ResultDetails(
            mechanisms=header.mechanisms,
            baselines=header.baselines,
            scored_sets=header.scored_sets,
            selected_folds=folds,
            unlabelled_held_out=outcome.unlabelled_held_out,
            labels_read=outcome.labels_read,
            generator=header.generator,
            record=header.record_of(outcome.n_rows, outcome.columns, read),
        ),
        **further,
    )
    if failed_at:
        end_at_failures(result)
    if not so_far:
        try:
            # Without survivors the error is message enough.
            why = failures.values() if header.survives else ()
            for message in [*why, *failed_refits(result)]:
                warn(message, FitFailedWarning)
            for message in dict.fromkeys(lost):
                warn(message)
            warn_of_cautions(result)
        except Warning as warning:  # where the user makes errors of warnings
            warning.result = result  # type: ignore[attr-defined]
            warning.add_note("The result is in the attribute 'result' of this error.")
            raise
    return result


def _joined_tape(header: ResultHeader, outcome: RunOutcome) -> Tape | None:
    """Return the tape, if all models have one."""
    answers: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    methods: dict[str, str] = {}
    for lane in outcome.lanes:
        if lane.answers is None or outcome.labels is None:
            return None
        answers.setdefault(lane.name, []).append(lane.answers)
        scores.setdefault(lane.name, []).append(lane.scores)
        if lane.scores is not None:
            methods.setdefault(lane.name, str(lane.method))
    for name, folds in answers.items():
        answers[name] = np.stack(folds)
        beside = scores.pop(name)
        if name in methods:
            nothing = np.full_like(next(one for one in beside if one is not None), np.nan)
            scores[name] = np.stack([nothing if one is None else one for one in beside])
    return Tape(
        **(outcome.labels or {}),
        classes=header.classes,
        answers=answers,
        scores=scores,
        methods=methods,
    )


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
        never = sum(map(not_, folds))
        if never:
            where = "" if len(folds) == 1 else f" in {never} of {len(folds)} folds"
            lines.append(
                f"{name} was never refitted{where}: what it is before the first refit answered "
                "every question. Fewer rows between refits (every=, min_rows=) or more rows help."
            )
    return lines
