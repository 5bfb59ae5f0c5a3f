"""Scores from a tape, without running a model."""

from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.forgetting import as_forgetting
from skstream.metrics import Curves, RunningMeasures, resolve_metrics


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
        folds = [_curves(tape, y, p, measures, mechanisms, record_every) for p in answers]
        values[name] = {
            mechanism: {
                metric: np.stack([curves.values[mechanism][metric] for curves in folds], axis=1)
                for metric in measures
            }
            for mechanism in mechanisms
        }
    return folds[0].n_rows, values


def _curves(
    tape: Tape,
    y: np.ndarray,
    p: np.ndarray,
    measures: dict[str, Any],
    mechanisms: dict[str, Any],
    record_every: int | None,
) -> Curves:
    """Curves of one fold, with a last axis of bins where there are bins."""
    columns = p[:, None] if p.ndim == 1 else p
    bins = []
    for b in range(columns.shape[1]):
        running = RunningMeasures(
            measures, mechanisms, classes=tape.classes, record_every=record_every
        )
        previous = None if b == columns.shape[1] - 1 else tape.previous
        running.update(y, columns[:, b], tape.weight, previous)
        bins.append(running.curves())
    return bins[0] if p.ndim == 1 else stack_bins(bins)


def stack_bins(bins: list[Curves]) -> Curves:
    """Curves of several bins as one, with a last axis of bins."""
    return Curves(
        n_rows=bins[0].n_rows,
        values={
            forgetting: {
                metric: np.stack([one.values[forgetting][metric] for one in bins], axis=-1)
                for metric in metrics
            }
            for forgetting, metrics in bins[0].values.items()
        },
    )
