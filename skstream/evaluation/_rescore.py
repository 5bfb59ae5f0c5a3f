"""Scores from a tape, without running a model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.forgetting import Cumulative, Forgetting, as_forgetting
from skstream.metrics._checkpoints import Curves
from skstream.metrics._measure import Measure
from skstream.metrics._registry import measures_of_scores, needs_probabilities
from skstream.metrics._resolve import resolve_metrics
from skstream.metrics._rows import ScoredRows, Sets
from skstream.metrics._running import RunningMeasures
from skstream.metrics._set_sums import SetMeasures
from skstream.metrics._user import warn_of_calls

#: Values by model, forgetting mechanism and measure.
Values = dict[str, dict[str, dict[str, np.ndarray]]]

#: Columns of a tape that hold answers of baselines, where they are not those of every stream.
BASELINES = ("previous", "majority", "inclusive")
#: Fewest rows of a tape that are read at once, and most answers, if that is more.
LEAST_ROWS, LARGEST_PIECE = 1 << 15, 1 << 23


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
    of_scores = measures_of_scores(measures)
    if of_scores:
        raise ValueError(needs_probabilities(f"Measure {of_scores[0]!r}"))
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
    )
    for rows in rows_of(tape, lanes):
        running.read(rows)
    running.finish()
    all_curves = running.curves()
    by_model: dict[str, list[Curves]] = {}
    for (name, _), of_lane in zip(
        lanes, curves_of_lanes(all_curves, len(lanes), width), strict=True
    ):
        by_model.setdefault(name, []).append(of_lane)
    return {
        "checkpoints": all_curves.checkpoints,
        "values": fold_columns(by_model),
        "measures": {name: Measure(**measure.facts) for name, measure in measures.items()},
        "mechanisms": {name: mechanism.name for name, mechanism in mechanisms.items()},
    }


def lanes_of(tape: Tape) -> dict[tuple[str, int], np.ndarray]:
    """Answers of every model at every position among its folds."""
    return {
        (name, fold): answers[fold]
        for name, answers in tape.answers.items()
        for fold in range(len(answers))
    }


def rows_of(tape: Tape, lanes: Mapping[tuple[str, int], np.ndarray]) -> Iterator[ScoredRows]:
    """Rows of a tape with the answers of some lanes, some at a time."""
    baselines = {name: getattr(tape, name) for name in BASELINES}
    held = {"y": tape.y, "weight": tape.weight, "sets": tape.sets, **baselines}
    return pieces_of(list(lanes.values()), **held)


def pieces_of(
    lanes: Sequence[np.ndarray],
    *,
    y: np.ndarray,
    sets: tuple[np.ndarray, np.ndarray] | None = None,
    **columns: np.ndarray | None,
) -> Iterator[ScoredRows]:
    """Rows of a tape, some at a time, or some whole sets; its columns may be memory maps.

    Parameters
    ----------
    lanes : sequence of ndarray of shape (n_rows,) or (n_rows, n_bins + 2)
        Answers of every model and fold.
    y : ndarray of shape (n_rows,)
        Labels.
    sets : tuple of two ndarray, or None
        As on a `Tape`.
    **columns : ndarray of shape (n_rows,), or None
        Weights, and answers of baselines.
    """
    size = max(LEAST_ROWS, LARGEST_PIECE // max(1, sum(width_of(p) for p in lanes)))
    start, n_rows, n_sets = 0, len(y), 0
    while start < n_rows:
        stop, of_piece = min(n_rows, start + size), None
        if sets is not None:
            ends, checkpoints = sets
            last = max(n_sets + 1, int(np.searchsorted(ends, stop, side="right")))
            stop = int(ends[last - 1])
            of_piece = Sets(ends[n_sets:last] - start, checkpoints[n_sets:last])
            n_sets = last
        rows = slice(start, stop)
        table = np.concatenate([np.atleast_2d(np.asarray(p[rows]).T) for p in lanes])
        some: dict[str, Any] = {
            name: None if column is None else np.asarray(column[rows])
            for name, column in columns.items()
        }
        yield ScoredRows(np.asarray(y[rows]), table, **some, sets=of_piece)
        start = stop


def width_of(answers: np.ndarray) -> int:
    """Lines of answers that are scored of one lane."""
    return 1 if answers.ndim == 1 else answers.shape[1]


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
    methods: Sequence[str | None] | None = None,
    **options: Any,
) -> RunningMeasures | SetMeasures:
    """Return new measures of a table of models, with one or more lines of answers for each.

    `methods` says which method has given the scores of each model; see `RunningMeasures`.
    """
    n_models = n_lanes * width
    lines = None if methods is None else [one for one in methods for _ in range(width)]
    if in_sets:
        return SetMeasures(
            metrics, list(forgetting), classes=classes, n_models=n_models, methods=lines
        )
    # The persistent baseline of the last line knows later labels than that of the others.
    told = np.arange(1, n_models + 1) % width > 0 if width > 1 else None
    return RunningMeasures(
        metrics,
        forgetting,
        classes=classes,
        n_models=n_models,
        told=told,
        methods=lines,
        **options,
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
