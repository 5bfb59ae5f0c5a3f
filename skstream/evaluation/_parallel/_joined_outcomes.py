"""Outcomes of groups of models, combined into that of the whole evaluation."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.failures import ModelError
from skstream.evaluation._folder._read_checksums import HELD_OUT, differences
from skstream.evaluation._results._assemble import assemble
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._runs._run_outcome import (
    LaneOutcome,
    Place,
    ResultHeader,
    RunOutcome,
    continued,
    ended_lane,
)
from skstream.evaluation._runs._tape_writer import unanswered_like


def joined(
    finished: Sequence[RunOutcome], dead: Mapping[Place, ModelError], places: Sequence[Place]
) -> RunOutcome:
    """Combine the outcomes of all groups; `dead` are the models whose workers terminated.

    Raises
    ------
    ValueError
        If the workers did not read the same.
    """
    outcomes = [outcome for outcome in finished if outcome.lanes]
    if not outcomes:
        raise next(iter(dead.values()))
    first = outcomes[0]
    for other in outcomes[1:]:
        differing = differences(first.read, other.read)
        if first.n_rows != other.n_rows or differing:
            what = (
                f"{first.n_rows:,} and {other.n_rows:,} rows"
                if first.n_rows != other.n_rows
                else f"{first.n_rows:,} rows each, with other {differing}"
            )
            source = "holdout" if differing.startswith(HELD_OUT) else "stream"
            raise ValueError(
                f"The {source} is not the same at every pass, and each worker makes one: those of "
                f"'{first.lanes[0].name}' and '{other.lanes[0].name}' read {what}. Let it give "
                "the same rows whenever it is iterated, or pass n_jobs=1."
            )
    lanes = {(lane.name, lane.fold): lane for one in outcomes for lane in one.lanes}
    for place, error in dead.items():
        lanes[place] = _dead_lane(place, error, first.lanes[0])
    return replace(first, lanes=[lanes[place] for place in places])


def result_so_far(
    header: ResultHeader, finished: Sequence[RunOutcome], places: Sequence[Place], why: str
) -> EvaluationResult | None:
    """Return the result of what there is, of which all models have the same folds and rows.

    These are the models of which all folds have finished; else those of a group in which one has
    failed, up to there. Where no model has all folds, it is done with the folds that there are.
    After Ctrl-C these are all models that have scores, each up to where it had come.
    """
    if any(outcome.interrupted for outcome in finished):
        result = _up_to_interrupt(header, finished, places, why)
        if result is not None:
            return result
    outcomes = [outcome for outcome in finished if outcome.lanes]
    others = [one for one in outcomes if not isinstance(one.error, ModelError)]
    failed = [one for one in outcomes if isinstance(one.error, ModelError)]
    every_fold = frozenset(fold for _, fold in places)
    best: tuple[tuple[bool, bool, int], RunOutcome] | None = None
    for kind in (others, failed):
        for first, by_name in _of_same_rows(kind):
            for folds in dict.fromkeys(frozenset(lanes) for lanes in by_name.values()):
                lanes = [
                    by_name[name][fold]
                    for name in dict.fromkeys(name for name, _ in places)
                    if folds <= by_name.get(name, {}).keys()
                    for fold in sorted(folds)
                ]
                worth = folds == every_fold, kind is others, len(lanes)
                if best is None or worth > best[0]:
                    best = worth, replace(first, lanes=lanes)
    if best is None:
        return None
    (has_all_folds, _, _), outcome = best
    there = None if has_all_folds else tuple(sorted({lane.fold for lane in outcome.lanes}))
    shown = {lane.name for lane in outcome.lanes}
    left_out = {
        name: f"{n} of {len(every_fold)} folds had finished when {why}"
        if len(every_fold) > 1
        else f"it had not finished when {why}"
        for name, n in _n_finished(others, places).items()
        if name not in shown
    }
    return assemble(header, outcome, so_far=True, left_out=left_out, folds=there)


def _up_to_interrupt(
    header: ResultHeader, finished: Sequence[RunOutcome], places: Sequence[Place], why: str
) -> EvaluationResult | None:
    """Return the result of all models with scores in all folds; None if there are none.

    Those that are behind the first are ended where they are.
    """
    outcomes = [one for one in finished if one.lanes and len(one.lanes[0].curves.checkpoints)]
    lanes = {(lane.name, lane.fold): lane for one in outcomes for lane in one.lanes}
    missing = {name: None for name, fold in places if (name, fold) not in lanes}
    shown = [place for place in places if place[0] not in missing]
    if not shown:
        return None
    first = max(outcomes, key=lambda one: one.n_rows)
    behind = {lane.name for one in outcomes if one.n_rows < first.n_rows for lane in one.lanes}
    checkpoints = first.lanes[0].curves.checkpoints
    for place in shown:
        if place[0] in behind:
            lanes[place] = continued(ended_lane(lanes[place], why), checkpoints, first.labels)
    for name in behind - missing.keys():
        ends = {place: lanes[place].ended for place in shown if place[0] == name}
        ended = {place: end for place, end in ends.items() if end is not None}
        n_rows = min((end.n_rows for end in ended.values()), default=0)
        for place, end in ended.items():
            lanes[place] = replace(lanes[place], ended=replace(end, n_rows=n_rows))
    outcome = replace(first, lanes=[lanes[place] for place in shown])
    left_out = dict.fromkeys(missing, f"it had no scores in all folds when {why}")
    return assemble(header, outcome, so_far=True, left_out=left_out)


def _of_same_rows(
    outcomes: Sequence[RunOutcome],
) -> list[tuple[RunOutcome, dict[str, dict[int, LaneOutcome]]]]:
    """Return one outcome for each kind of rows, and by name and fold what was done on these."""
    groups: dict[Any, tuple[RunOutcome, dict[str, dict[int, LaneOutcome]]]] = {}
    for outcome in outcomes:
        _, by_name = groups.setdefault(outcome.rows_read, (outcome, {}))
        for lane in outcome.lanes:
            by_name.setdefault(lane.name, {})[lane.fold] = lane
    return list(groups.values())


def _n_finished(outcomes: Sequence[RunOutcome], places: Sequence[Place]) -> dict[str, int]:
    """Count the folds that each model has finished on the same rows."""
    groups = [by_name for _, by_name in _of_same_rows(outcomes)]
    return {
        name: max((len(by_name.get(name, {})) for by_name in groups), default=0)
        for name, _ in places
    }


def _dead_lane(place: Place, error: ModelError, like: LaneOutcome) -> LaneOutcome:
    """Return the outcome of a model without any answers, as long as another one."""
    name, fold = place
    values = {
        forgetting: {metric: np.full_like(curve, np.nan) for metric, curve in metrics.items()}
        for forgetting, metrics in like.curves.values.items()
    }
    answers, scores = None, None
    if like.answers is not None:
        with suppress(OSError, ValueError):  # a tape on disk that was removed or damaged
            answers = unanswered_like(like.answers)
            scores = None if like.scores is None else unanswered_like(like.scores)
    return LaneOutcome(
        name=name,
        fold=fold,
        curves=replace(like.curves, values=values),
        answers=answers,
        scores=scores,
        method=like.method,
        cost=type(like.cost)(),
        path="worker died",
        failure=str(error),
        n_valid=0,
    )
