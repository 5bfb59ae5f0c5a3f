"""Scores from a tape, without running a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.forgetting import Cumulative, Forgetting, as_forgetting
from skstream.metrics._checkpoints import Curves
from skstream.metrics._registry import Measure
from skstream.metrics._resolve import resolve_metrics
from skstream.metrics._rows import ScoredRows, Sets
from skstream.metrics._running import RunningMeasures
from skstream.metrics._set_sums import SetMeasures
from skstream.metrics._user import warn_of_calls

#: Values by model, forgetting mechanism and measure.
Values = dict[str, dict[str, dict[str, np.ndarray]]]

#: Columns of a tape that hold answers of baselines, where they are not those of every stream.
BASELINES = ("previous", "majority", "inclusive")


def rescored(tape: Tape, metrics: Any, forgetting: Any, record_every: int | None) -> dict[str, Any]:
    """Run the measures over a tape.

    Parameters
    ----------
    tape : Tape
        Labels and answers.
    metrics, forgetting
        As given by the user.
    record_every : int or None
        Distance of the checkpoints.

    Returns
    -------
    scores : dict
        The attributes of a result that depend on the measures and the forgetting: checkpoints,
        values, measures and mechanisms.
    """
    measures = resolve_metrics(metrics, classes=tape.classes)
    warn_of_calls(measures, tape.n_rows, record_every)
    mechanisms = as_forgetting(forgetting)
    if tape.sets is not None:
        _check_alone(mechanisms, record_every)
    lines = {
        (name, fold): np.atleast_2d(p.T)
        for name, answers in tape.answers.items()
        for fold, p in enumerate(answers)
    }
    (width,) = {len(of_lane) for of_lane in lines.values()}
    running = measures_of(
        measures,
        mechanisms,
        tape.classes,
        len(lines),
        width,
        in_sets=tape.sets is not None,
        record_every=record_every,
        expected_rows=tape.n_rows,
    )
    baselines = {name: getattr(tape, name) for name in BASELINES}
    table = np.concatenate(list(lines.values()))
    sets = None if tape.sets is None else Sets(*tape.sets)
    running.read(ScoredRows(tape.y, table, tape.weight, **baselines, sets=sets))
    running.finish()
    all_curves = running.curves()
    by_model: dict[str, list[Curves]] = {}
    for (name, _), of_lane in zip(
        lines, curves_of_lanes(all_curves, len(lines), width), strict=True
    ):
        by_model.setdefault(name, []).append(of_lane)
    return {
        "checkpoints": all_curves.checkpoints,
        "values": fold_columns(by_model),
        "measures": {name: Measure(**measure.facts) for name, measure in measures.items()},
        "mechanisms": {name: mechanism.name for name, mechanism in mechanisms.items()},
    }


def fold_columns(curves: Mapping[str, Sequence[Curves]]) -> Values:
    """Return the values of each model, with a column for each of its folds."""
    return {
        name: {
            mechanism: {
                metric: np.stack([one.values[mechanism][metric] for one in of_folds], axis=1)
                for metric in by_metric
            }
            for mechanism, by_metric in of_folds[0].values.items()
        }
        for name, of_folds in curves.items()
    }


def measures_of(
    metrics: Mapping[str, Measure],
    forgetting: Mapping[str, Forgetting],
    classes: np.ndarray | None,
    n_lanes: int,
    width: int,
    *,
    in_sets: bool,
    **options: Any,
) -> RunningMeasures | SetMeasures:
    """Return new measures of a table of models, with one or more lines of answers for each."""
    n_models = n_lanes * width
    if in_sets:
        return SetMeasures(metrics, list(forgetting), classes=classes, n_models=n_models)
    # The persistent baseline of the last line knows later labels than that of the others.
    told = np.arange(1, n_models + 1) % width > 0 if width > 1 else None
    return RunningMeasures(
        metrics, forgetting, classes=classes, n_models=n_models, told=told, **options
    )


def curves_of_lanes(curves: Curves, n_lanes: int, width: int) -> list[Curves]:
    """Return the curves of every lane, with a last axis of its lines where it has several."""
    firsts = range(0, n_lanes * width, width)
    return [curves.of_models(k if width == 1 else slice(k, k + width)) for k in firsts]


def _check_alone(mechanisms: Mapping[str, Forgetting], record_every: int | None) -> None:
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
