"""Scores from a tape, without running a model."""

from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.forgetting import as_forgetting
from skstream.metrics import (
    Curves,
    RunningMeasures,
    SharedSums,
    resolve_metrics,
    update_together,
)
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
    tables = {
        (name, fold): p if p.ndim == 2 else p[:, np.newaxis]
        for name, answers in tape.answers.items()
        for fold, p in enumerate(answers)
    }
    n_bins = next(iter(tables.values())).shape[1]
    # The persistent baseline of the last bin knows later labels than that of the others.
    pasts = [*[tape.previous] * (n_bins - 1), None]
    shared = {id(past): SharedSums() for past in pasts}
    running = {
        place: [
            RunningMeasures(
                measures,
                mechanisms,
                classes=tape.classes,
                record_every=record_every,
                shared=shared[id(past)],
                expected_rows=tape.n_rows,
            )
            for past in pasts
        ]
        for place in tables
    }
    update_together(
        [one for bins in running.values() for one in bins],
        tape.y,
        [p for table in tables.values() for p in table.T],
        tape.weight,
        pasts * len(tables),
    )
    curves = {place: _curves(tape, bins) for place, bins in running.items()}
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
        "checkpoints": next(iter(curves.values())).checkpoints,
        "values": values,
        "measures": {name: measure.facts for name, measure in measures.items()},
        "mechanisms": {name: mechanism.name for name, mechanism in mechanisms.items()},
    }


def _curves(tape: Tape, bins: list[RunningMeasures]) -> Curves:
    """Curves of one fold, with a last axis of bins where there are bins."""
    for running in bins:
        running.finish()
    curves = [running.curves() for running in bins]
    answers = next(iter(tape.answers.values()))
    return curves[0] if answers.ndim == 2 else stack_bins(curves)


def stack_bins(bins: list[Curves]) -> Curves:
    """Curves of several bins as one, with a last axis of bins."""
    return Curves(
        checkpoints=bins[0].checkpoints,
        values={
            forgetting: {
                metric: np.stack([one.values[forgetting][metric] for one in bins], axis=-1)
                for metric in metrics
            }
            for forgetting, metrics in bins[0].values.items()
        },
    )
