"""Scores from a tape, without running a model."""

from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.forgetting import as_forgetting
from skstream.metrics._resolve import resolve_metrics
from skstream.metrics._running import RunningMeasures
from skstream.metrics._user import warn_of_calls


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
    widths = {p.shape[2] if p.ndim == 3 else 1 for p in tape.answers.values()}
    (width,) = widths
    lines = {
        (name, fold): np.atleast_2d(p.T)
        for name, answers in tape.answers.items()
        for fold, p in enumerate(answers)
    }
    # The persistent baseline of the last bin knows later labels than that of the others.
    told = np.arange(1, len(lines) * width + 1) % width > 0 if width > 1 else None
    running = RunningMeasures(
        measures,
        mechanisms,
        classes=tape.classes,
        record_every=record_every,
        n_models=len(lines) * width,
        told=told,
        expected_rows=tape.n_rows,
    )
    table = np.concatenate(list(lines.values()))
    running.update(tape.y, table, tape.weight, tape.previous)
    running.finish()
    all_curves = running.curves()
    curves = {
        place: all_curves.of_models(k if width == 1 else slice(k * width, (k + 1) * width))
        for k, place in enumerate(lines)
    }
    values = {
        name: {
            mechanism: {
                metric: np.stack(
                    [curves[name, fold].values[mechanism][metric] for fold in range(len(answers))],
                    axis=1,
                )
                for metric in measures
            }
            for mechanism in mechanisms
        }
        for name, answers in tape.answers.items()
    }
    return {
        "checkpoints": all_curves.checkpoints,
        "values": values,
        "measures": {name: measure.facts for name, measure in measures.items()},
        "mechanisms": {name: mechanism.name for name, mechanism in mechanisms.items()},
    }
