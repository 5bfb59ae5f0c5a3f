"""Outcomes of groups of models, combined into that of the whole evaluation."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.failures import ModelError
from skstream.evaluation._kept_tape import unanswered_like
from skstream.evaluation._outcome import LaneOutcome, Place, RunOutcome
from skstream.evaluation._passes import HELD_OUT, differences


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


def joined_so_far(
    finished: Sequence[RunOutcome], places: Sequence[Place], why: str
) -> tuple[RunOutcome | None, dict[str, str]]:
    """Combine the models that are complete; name the others, and why they are left out.

    Rows that a group did before one of its models failed count where no other model is complete:
    all models of a result have the same rows.
    """
    outcomes = [outcome for outcome in finished if outcome.lanes]
    failed = [outcome for outcome in outcomes if isinstance(outcome.error, ModelError)]
    others = [outcome for outcome in outcomes if not isinstance(outcome.error, ModelError)]
    of_others, left_out = _most_complete(others, places, why)
    if of_others is None:
        of_failed, _ = _most_complete(failed, places, why)
        if of_failed is not None:
            shown = {lane.name for lane in of_failed.lanes}
            return of_failed, {name: why for name, why in left_out.items() if name not in shown}
    return of_others, left_out


def _most_complete(
    outcomes: Sequence[RunOutcome], places: Sequence[Place], why: str
) -> tuple[RunOutcome | None, dict[str, str]]:
    """Combine the outcomes of the same rows in which most models are complete."""
    groups: dict[Any, list[RunOutcome]] = {}
    for outcome in outcomes:
        key = outcome.n_rows, tuple(sorted(outcome.read.items()))
        groups.setdefault(key, []).append(outcome)
    names = list(dict.fromkeys(name for name, _ in places))
    n_folds = len(places) // len(names)
    best: dict[str, list[LaneOutcome]] = {}
    chosen: RunOutcome | None = None
    counts = dict.fromkeys(names, 0)
    for group in groups.values():
        by_name: dict[str, list[LaneOutcome]] = {name: [] for name in names}
        for outcome in group:
            for lane in outcome.lanes:
                by_name[lane.name].append(lane)
        counts = {name: max(counts[name], len(by_name[name])) for name in names}
        complete = {name: lanes for name, lanes in by_name.items() if len(lanes) == n_folds}
        if len(complete) > len(best):
            best, chosen = complete, group[0]
    left_out = {
        name: f"{counts[name]} of {n_folds} folds had finished when {why}"
        if n_folds > 1
        else f"it had not finished when {why}"
        for name in names
        if name not in best
    }
    if chosen is None:
        return None, left_out
    lanes = [lane for name in best for lane in sorted(best[name], key=lambda lane: lane.fold)]
    return replace(chosen, lanes=lanes), left_out


def _dead_lane(place: Place, error: ModelError, like: LaneOutcome) -> LaneOutcome:
    """Return the outcome of a model without any answers, as long as another one."""
    name, fold = place
    values = {
        forgetting: {metric: np.full_like(curve, np.nan) for metric, curve in metrics.items()}
        for forgetting, metrics in like.curves.values.items()
    }
    answers = None
    if like.answers is not None:
        with suppress(FileNotFoundError):  # a tape on disk that was removed
            answers = unanswered_like(like.answers)
    return LaneOutcome(
        name=name,
        fold=fold,
        curves=replace(like.curves, values=values),
        answers=answers,
        cost=type(like.cost)(),
        path="worker died",
        failure=str(error),
        n_valid=0,
    )
