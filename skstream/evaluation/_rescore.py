"""Scores from a tape, without running a model."""

from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.forgetting import as_forgetting
from skstream.metrics import RunningMeasures, resolve_metrics


def rescored_values(
    tape: Tape, metrics: Any, forgetting: Any, record_every: int | None
) -> tuple[np.ndarray, dict[str, dict[str, dict[str, np.ndarray]]]]:
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
    n_rows : ndarray of shape (n_checkpoints,)
        Rows at the checkpoints.
    values : dict
        ``values[model][forgetting][metric]``: ndarray of shape (n_checkpoints, n_folds).
    """
    measures = resolve_metrics(metrics, classes=tape.classes)
    mechanisms = as_forgetting(forgetting)
    y = tape.y if tape.classes is None else tape.y.astype(np.int64)
    values = {}
    for name, answers in tape.answers.items():
        folds = []
        for p in answers:
            running = RunningMeasures(
                measures, mechanisms, classes=tape.classes, record_every=record_every
            )
            running.update(y, p, tape.weight)
            folds.append(running.curves())
        values[name] = {
            mechanism: {
                metric: np.stack([curves.values[mechanism][metric] for curves in folds], axis=1)
                for metric in measures
            }
            for mechanism in mechanisms
        }
    return folds[0].n_rows, values
