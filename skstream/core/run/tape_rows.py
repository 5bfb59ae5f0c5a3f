"""From a tape to measures: rows of its answers, some at a time, and measures of all models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream.core.engine.tape import Tape
from skstream.core.forgetting import Forgetting
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure
from skstream.core.measures.rows import ScoredRows, Sets
from skstream.core.measures.running import RunningMeasures, SetMeasures

if TYPE_CHECKING:
    from skstream.core.result.result import EvaluationResult

#: Values by model, forgetting mechanism and measure.
ValuesByModel = dict[str, dict[str, dict[str, np.ndarray]]]

#: Columns of a tape that hold answers of baselines, where they are not those of every stream.
BASELINES = ("previous", "majority", "inclusive")
#: Fewest rows of a tape that are read at once, and most answers, if that is more.
LEAST_ROWS, LARGEST_PIECE = 1 << 15, 1 << 23


def tape_of(result: "EvaluationResult") -> Tape:
    """Return the tape of a result, or raise an error that says how to keep one."""
    if not hasattr(result, "tape"):
        raise TypeError(f"Expected the result of an evaluation. Got {type(result).__name__}.")
    if result.tape is None:
        raise ValueError(
            result.details.why_no_tape
            or "This result has no tape of labels and answers: evaluate with "
            "run=RunOptions(keep_tape=True)."
        )
    return result.tape


def lanes_of(tape: Tape) -> dict[tuple[str, int], np.ndarray]:
    """Answers of every model at every position among its folds."""
    return {
        (name, fold): answers[fold]
        for name, answers in tape.answers.items()
        for fold in range(len(answers))
    }


def rows_of(
    tape: Tape, lanes: Mapping[tuple[str, int], np.ndarray], size: int = 0
) -> Iterator[ScoredRows]:
    """Rows of a tape with the answers of some lanes, some at a time."""
    baselines = {name: getattr(tape, name) for name in BASELINES}
    held = {"y": tape.y, "weight": tape.weight, "sets": tape.sets, "time": tape.time, **baselines}
    scores = [tape.scores[name][fold] if name in tape.scores else None for name, fold in lanes]
    return pieces_of(list(lanes.values()), scores, size=size, **held)


def pieces_of(
    lanes: Sequence[np.ndarray],
    scores: Sequence[np.ndarray | None] = (),
    *,
    y: np.ndarray,
    sets: tuple[np.ndarray, np.ndarray] | None = None,
    size: int = 0,
    **columns: np.ndarray | None,
) -> Iterator[ScoredRows]:
    """Rows of a tape, some at a time, or some whole sets; its columns may be memory maps.

    Parameters
    ----------
    lanes : sequence of ndarray of shape (n_rows,) or (n_rows, n_bins + 2)
        Answers of every model and fold.
    scores : sequence of ndarray of shape (n_rows, n_columns) or None, default=()
        Their scores, as on a `Tape`; None of a model without any.
    y : ndarray of shape (n_rows,)
        Labels.
    sets : tuple of two ndarray, or None
        As on a `Tape`.
    size : int, default=0
        Rows at a time; 0: as many as fit well into memory.
    **columns : ndarray of shape (n_rows,), or None
        Weights, times, and answers of baselines.
    """
    some_scores = [one for one in scores if one is not None]
    n_columns = sum(map(width_of, (*lanes, *some_scores)))
    size = size or max(LEAST_ROWS, LARGEST_PIECE // max(1, n_columns))
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
        of_lines = _scores_of(lanes, scores, rows) if some_scores else None
        yield ScoredRows(np.asarray(y[rows]), table, **some, sets=of_piece, scores=of_lines)
        start = stop


def _scores_of(
    lanes: Sequence[np.ndarray], scores: Sequence[np.ndarray | None], rows: slice
) -> np.ndarray:
    """Scores of all lines of answers, of shape (n_lines, n_rows, n_columns)."""
    width = width_of(lanes[0])
    n_columns = next(width_of(one) for one in scores if one is not None) // width
    n_rows = rows.stop - rows.start
    table = np.full((len(lanes), width, n_rows, n_columns), np.nan)
    for of_lane, one in zip(table, scores, strict=True):
        if one is not None:
            of_lane[:] = np.asarray(one[rows]).reshape(n_rows, width, n_columns).transpose(1, 0, 2)
    return table.reshape(-1, n_rows, n_columns)


def check_has_scores(metrics: Mapping[str, Measure], tape: Tape) -> None:
    """Raise an error if a measure needs scores that the tape has of no model."""
    there = set(tape.methods.values())
    for name, measure in metrics.items():
        lacks_shares = measure.needs == "probabilities" and "predict_proba" not in there
        if lacks_shares or (measure.needs == "scores" and not there):
            raise ValueError(
                f"Measure {name!r} needs {measure.needs}, and the tape has none of any model: they "
                f"are kept where a measure of the evaluation needs them. Evaluate with {name!r} "
                "among its metrics."
            )


def width_of(answers: np.ndarray) -> int:
    """Lines of answers that are scored of one lane."""
    return 1 if answers.ndim == 1 else answers.shape[1]


def fold_columns(curves: Mapping[str, Sequence[Curves]]) -> ValuesByModel:
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
    uses_previous = np.arange(1, n_models + 1) % width > 0 if width > 1 else None
    return RunningMeasures(
        metrics,
        forgetting,
        classes=classes,
        n_models=n_models,
        uses_previous=uses_previous,
        methods=lines,
        **options,
    )


def curves_of_lanes(curves: Curves, n_lanes: int, width: int) -> list[Curves]:
    """Return the curves of every lane, with a last axis of its lines where it has several."""
    firsts = range(0, n_lanes * width, width)
    return [curves.of_models(k if width == 1 else slice(k, k + width)) for k in firsts]
