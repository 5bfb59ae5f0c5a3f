"""Scores from a tape, without running a model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.evaluation._results._select import Result
from skstream.evaluation._runs._ended_models import last_values
from skstream.evaluation._tape_rows import (
    check_has_scores,
    curves_of_lanes,
    fold_columns,
    lanes_of,
    measures_of,
    rows_of,
    width_of,
)
from skstream.forgetting import Cumulative, Forgetting, as_forgetting
from skstream.metrics._checkpoints import Curves
from skstream.metrics._measure import Measure
from skstream.metrics._resolve import resolve_metrics
from skstream.metrics._user import warn_of_calls

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult


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
    """Return a result with other scores of its tape, up to where models failed or ended."""
    details = replace(result.details, mechanisms=mechanisms)
    result = replace(result, details=details, **scores)
    end_at_failures(result)
    ended = {}
    for name, one in result.ended.items():
        by_forgetting = result.values[name]
        # No row after its end counts for a model: its value at the last row is that at its end.
        ended[name] = replace(one, scores=last_values(by_forgetting))
        for by_metric in by_forgetting.values():
            for curve in by_metric.values():
                curve[result.checkpoints > one.n_rows] = np.nan
    return replace(result, ended=ended)


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
