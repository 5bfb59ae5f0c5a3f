"""Results from the outcomes of runs, in this process or in workers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skstream.core.result.rescore import cautions, end_at_failures, warn_of
from skstream.core.result.result import EvaluationResult, ResultDetails
from skstream.core.run.run_outcome import Cost, LaneOutcome, ResultHeader, RunOutcome
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
    by_model: dict[str, list[LaneOutcome]] = {}
    for lane in outcome.lanes:
        by_model.setdefault(lane.name, []).append(lane)
    reasons = [(lane.name, lane.failure) for lane in reversed(outcome.lanes)]
    failed = {name: why for name, why in reasons if why is not None}
    failures = {name: failed[name] for name in by_model if name in failed}
    tape = _joined_tape(header, outcome, by_model)
    curves = outcome.lanes[0].curves
    read = {} if so_far else outcome.read
    result = kind(
        protocol=header.protocol,
        checkpoints=curves.checkpoints,
        times=curves.times,
        values=fold_columns(
            {name: [lane.curves for lane in lanes] for name, lanes in by_model.items()}
        ),
        measures=dict(header.measures),
        classes=header.classes,
        tape=tape,
        costs={name: sum((one.cost for one in ls), start=Cost()) for name, ls in by_model.items()},
        paths={name: lanes[0].path for name, lanes in by_model.items()},
        models=_fitted_models(by_model) if header.parameters.get("return_models") else None,
        failures=failures,
        failed_at={name: [lane.n_valid for lane in by_model[name]] for name in failures},
        n_unanswered={name: sum(one.n_unanswered for one in ls) for name, ls in by_model.items()},
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
    end_at_failures(result)
    if not so_far:
        try:
            # Without survivors the error is message enough.
            why = failures.values() if header.survives else ()
            for message in [*why, *failed_refits(result)]:
                warn(message, FitFailedWarning)
            for message in dict.fromkeys(one for lane in outcome.lanes for one in lane.lost):
                warn(message)
            warn_of(cautions(result))
        except Warning as warning:  # where the user makes errors of warnings
            warning.result = result  # type: ignore[attr-defined]
            warning.add_note("The result is in the attribute 'result' of this error.")
            raise
    return result


def _joined_tape(
    header: ResultHeader, outcome: RunOutcome, by_model: Mapping[str, list[LaneOutcome]]
) -> Tape | None:
    """Return the tape, if all models have one."""
    if outcome.labels is None:
        return None
    answers = {
        name: [lane.answers for lane in lanes if lane.answers is not None]
        for name, lanes in by_model.items()
    }
    if any(len(answers[name]) < len(lanes) for name, lanes in by_model.items()):
        return None
    scores, methods = {}, {}
    for name, lanes in by_model.items():
        there = [lane for lane in lanes if lane.scores is not None]
        if there:
            nothing = np.full_like(there[0].scores, np.nan)
            scores[name] = np.stack(
                [nothing if one.scores is None else one.scores for one in lanes]
            )
            methods[name] = str(there[0].method)
    return Tape(
        **outcome.labels,
        classes=header.classes,
        answers={name: np.stack(folds) for name, folds in answers.items()},
        scores=scores,
        methods=methods,
    )


def _fitted_models(by_model: Mapping[str, list[LaneOutcome]]) -> dict[str, Any]:
    """Return the fitted copies of every model, a list of several folds."""
    fitted = {name: [lane.estimator for lane in lanes] for name, lanes in by_model.items()}
    return {name: folds[0] if len(folds) == 1 else folds for name, folds in fitted.items()}


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
