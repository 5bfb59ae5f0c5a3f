"""The tape: true labels and the answers of all models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream.core.forgetting import Forgetting
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure
from skstream.core.measures.rows import ScoredRows, Sets
from skstream.core.measures.running import RunningMeasures, SetMeasures
from skstream.utils._choices import check_position
from skstream.utils._labels import LabelSpace
from skstream.utils._warnings import warn

#: When probabilities of a model are there.
PROBABILITIES = (
    "They are kept if a measure needs them, such as 'log_loss', and the model has predict_proba."
)
#: Parts that are joined once there are so many: each takes a hundred bytes beside its rows.
_MOST_APART = 256


@dataclass(frozen=True, kw_only=True)
class Tape:
    """True labels once per row, answers per model and fold, as small integer codes.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; codes are positions in it. None for regression.
    y : ndarray of shape (n_rows,)
        Codes (-1: no label) or targets (NaN: none).
    weight : ndarray of shape (n_rows,) or None
        Scoring weights; None where all are 1.
    answers : dict of str to ndarray of shape (n_folds, n_rows) or (n_folds, n_rows, n_bins + 2)
        Codes or predicted targets, by model: -1 (NaN) where the model was not asked, had learnt
        nothing yet or had failed; -2 where it was asked and gave no answer, which counts as a
        wrong one. With delayed labels the rows are those that got their label, in that order.
    row : ndarray of shape (n_rows,) or None
        With delayed labels, the numbers of the rows in the stream.
    previous : ndarray of shape (n_rows,) or None
        Answers of the persistent baseline in all bins but the last, if they are not the labels of
        the row before.
    majority, inclusive : ndarray of shape (n_rows,) or None
        Of a holdout evaluation of classifiers: answers of the majority baseline, without and with
        the row's label.
    sets : tuple of two ndarray of shape (n_sets,), or None
        Of a holdout evaluation: number of rows up to the end of each set, and rows of the stream
        that had come when it was asked.
    scores : dict of str to ndarray of shape (n_folds, n_rows, n_columns)
        Where measures needed them, probabilities or decision values by model: of two classes those
        of the second, else a column per class (with delayed labels, these for one bin after the
        other); NaN where there are none. Models without any are left out.
    methods : dict of str to {"predict_proba", "decision_function"}
        What has given the scores of each of these models.
    time : ndarray of shape (n_rows,), dtype datetime64[us] or float64, or None
        When the rows came, or with delayed labels, when their labels became known; None where the
        stream does not say it, or nothing counts time.
    """

    classes: np.ndarray | None
    y: np.ndarray
    weight: np.ndarray | None
    answers: dict[str, Any]
    row: np.ndarray | None = None
    previous: np.ndarray | None = None
    majority: np.ndarray | None = None
    inclusive: np.ndarray | None = None
    sets: tuple[np.ndarray, np.ndarray] | None = None
    scores: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)
    time: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def predictions(self, model: str, fold: int = 0) -> np.ndarray:
        """Return a model's answers as labels.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=0
            Fold.

        Returns
        -------
        y_pred : ndarray of shape (n_rows,)
            Labels or targets; None (object array) or NaN where it gave none.
        """
        folds = self.answers[model]
        answers = np.asarray(folds[check_position("fold", fold, len(folds))])
        return LabelSpace(self.classes).decode(answers)

    def answered(
        self, model: str, fold: int = 0, bin: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that a model has answered, and its answers as labels of their own type.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=0
            Fold.
        bin : int, default=None
            Bin with delayed labels; None: all, of the rows that have an answer in each.

        Returns
        -------
        rows : ndarray of shape (n_answered,)
            Numbers of the rows in the stream; of a holdout evaluation positions on the tape.
        y_pred : ndarray of shape (n_answered,) or (n_answered, n_bins + 2)
            Labels or targets.
        """
        folds = self.answers[model]
        answers = np.asarray(folds[check_position("fold", fold, len(folds))])
        if bin is not None:
            answers = answers[:, check_position("bin", bin, answers.shape[1])]
        there = np.isfinite(answers) if self.classes is None else answers >= 0
        positions = np.flatnonzero(there if there.ndim == 1 else there.all(axis=1))
        rows = positions if self.row is None else np.asarray(self.row)[positions]
        return rows, LabelSpace(self.classes).decode(answers[positions])

    def probabilities(self, model: str, fold: int = 0, bin: int | None = None) -> np.ndarray:
        """Return a model's probabilities of all classes.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=0
            Fold.
        bin : int, default=None
            Bin with delayed labels; None: the answers given when the label came.

        Returns
        -------
        y_proba : ndarray of shape (n_rows, n_classes)
            NaN where it gave none.

        Raises
        ------
        ValueError
            If the tape has none of this model.
        """
        if model not in self.answers:
            raise ValueError(
                f"There is no model {model!r} on the tape; it has {list(self.answers)}."
            )
        if self.methods.get(model) != "predict_proba":
            raise ValueError(f"The tape has no probabilities for model {model!r}. {PROBABILITIES}")
        folds = self.scores[model]
        position = check_position("fold", fold, len(folds))
        scores = scores_of_bin(np.asarray(folds[position]), self.answers[model][position], bin)
        return with_all_classes(scores, self.classes)


def with_all_classes(scores: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Return probabilities with a column for each class, where of two only the second has one."""
    assert classes is not None
    n_classes = len(classes)
    if n_classes > 2:
        return scores
    return np.concatenate([1.0 - scores, scores], axis=-1)[..., :n_classes]


def scores_of_bin(scores: np.ndarray, answers: Any, bin: int | None) -> np.ndarray:
    """Return the columns of one bin with delayed labels, None: of the last; else all.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns), or (n_rows, n_bins * n_columns)
        Of the tape.
    answers : array of shape (n_rows,), or (n_rows, n_bins)
        Of the same model and fold.
    bin : int or None
        The bin.
    """
    if np.ndim(answers) == 1:
        if bin is not None:
            raise ValueError("bin= is for tapes with delayed labels; this one has no bins.")
        return scores
    n_bins = np.shape(answers)[1]
    column = n_bins - 1 if bin is None else check_position("bin", bin, n_bins)
    width = scores.shape[1] // n_bins
    return scores[:, column * width : (column + 1) * width]


#: Columns that hold codes of labels, or targets, as the answers do.
_OF_LABELS = ("y", "previous", "majority", "inclusive")
#: Columns that only some rows have.
_OPTIONAL = ("row", "time", "previous", "majority", "inclusive")

#: Most bytes of labels and answers that "auto" keeps in memory.
BYTES_OF_LARGE_TAPE = 10**9


class KeptTape:
    """Labels and answers of all models and folds of a run.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_lanes : int
        Models times folds.
    width : int
        Lines of answers of each of them.
    n_scores : sequence of int, default=()
        Columns of scores of each of them, 0 for none; empty where no measure needs any.
    """

    def __init__(
        self,
        classes: np.ndarray | None,
        n_lanes: int,
        width: int,
        *,
        n_scores: Sequence[int] = (),
    ) -> None:
        self._dtype = LabelSpace(classes).dtype
        self._width = width
        self._n_rows = self._n_apart = 0
        self._n_scores = list(n_scores) or [0] * n_lanes
        self._sets: list[Sets] = []
        # By name, in parts, of which the first says the type.
        self._columns: dict[str, list[np.ndarray]] = {"y": [np.empty(0, self._dtype)]}
        for lane, n in enumerate(self._n_scores):
            shape = 0 if width == 1 else (0, width)
            self._columns[f"answers-{lane}"] = [np.empty(shape, self._dtype)]
            if n:
                self._columns[f"scores-{lane}"] = [np.empty((0, n * width))]

    def __getstate__(self) -> dict[str, Any]:
        for name in self._columns:  # a pickled part has a header, which is larger than a few rows
            self._column(name)
        return self.__dict__

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows."""
        n, width = len(rows), self._width
        self._append("y", rows.y)
        for lane, n_scores in enumerate(self._n_scores):
            lines = slice(lane * width, (lane + 1) * width)
            answers = rows.answers[lines]
            self._append(f"answers-{lane}", answers[0] if width == 1 else answers.T)
            if n_scores:
                assert rows.scores is not None
                scores = rows.scores[lines].transpose(1, 0, 2)
                self._append(f"scores-{lane}", scores.reshape(n, width * n_scores))
        for name in _OPTIONAL:
            values = getattr(rows, name)
            if values is not None:
                self._append(name, values)
        if rows.sets is not None:
            ends, checkpoints = rows.sets
            self._sets.append(Sets(ends + self._n_rows, checkpoints))
        if rows.weight is not None and "weight" not in self._columns:
            self._append("weight", np.ones(self._n_rows))
        if rows.weight is not None or "weight" in self._columns:
            self._append("weight", np.ones(n) if rows.weight is None else rows.weight)
        self._n_rows += n
        self._n_apart += 1
        if self._n_apart == _MOST_APART:
            self._n_apart = 0
            for parts in self._columns.values():
                parts[-_MOST_APART:] = [np.concatenate(parts[-_MOST_APART:])]

    def _append(self, name: str, values: np.ndarray) -> None:
        if name not in self._columns:
            dtype = self._dtype if name in _OF_LABELS else values.dtype
            self._columns[name] = [np.empty(0, dtype)]
        self._columns[name].append(values.astype(self._columns[name][0].dtype))

    def _column(self, name: str) -> np.ndarray:
        parts = self._columns[name]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0]

    def lane(self, lane: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return answers of a model in a fold, and its scores, a row each; None without any."""
        scores = self._column(f"scores-{lane}") if self._n_scores[lane] else None
        return self._column(f"answers-{lane}"), scores

    def labels(self) -> dict[str, Any]:
        """Return what is kept of the rows themselves."""
        held: dict[str, Any] = {"weight": None}
        for name in self._columns:
            if not name.startswith(("answers-", "scores-")):
                held[name] = self._column(name)
        if self._sets:
            held["sets"] = tuple(map(np.concatenate, zip(*self._sets, strict=True)))
        return held


def automatic_tape(
    n_answers: int,
    classes: np.ndarray | None,
    n_scores: Sequence[int],
) -> bool:
    """Whether labels and answers are kept: up to a gigabyte of them.

    Parameters
    ----------
    n_answers : int
        Answers of one model.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_scores : sequence of int
        Columns of scores beside each answer, by model.

    Returns
    -------
    keep_tape : bool
        The decision; a warning says it where it is not memory.
    """
    bytes_of_scores = 8 * sum(n_scores)
    bytes_of_row = (len(n_scores) + 1) * LabelSpace(classes).dtype.itemsize + bytes_of_scores
    n_bytes = n_answers * bytes_of_row
    if n_bytes <= BYTES_OF_LARGE_TAPE:
        return True
    size = f"The labels and predictions of all models take {n_bytes / 1e9:.1f} GB"
    warn(
        f"{size}, and are not kept with keep_tape='auto': the result cannot be rescored or "
        "compared row by row. To keep them, pass run=RunOptions(keep_tape=True)."
    )
    return False


if TYPE_CHECKING:
    from skstream.core.result.result import EvaluationResult

#: Values by model, forgetting mechanism and measure.
ValuesByModel = dict[str, dict[str, dict[str, np.ndarray]]]

#: Columns of a tape that hold answers of baselines, where they are not those of every stream.
BASELINES = ("previous", "majority", "inclusive")
#: Fewest rows of a tape that are read at once, and most answers, if that is more.
LEAST_ROWS, MOST_ANSWERS = 1 << 15, 1 << 23


def tape_of(result: "EvaluationResult") -> Tape:
    """Return the tape of a result, or raise an error that says how to keep one."""
    if not hasattr(result, "tape"):
        raise TypeError(f"Expected the result of an evaluation. Got {type(result).__name__}.")
    if result.tape is None:
        raise ValueError(
            result.details.why_no_tape
            or "This result has no tape of labels and predictions: evaluate with "
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
    """Rows of a tape, some at a time, or some whole sets; its columns may be memory maps.

    Parameters
    ----------
    tape : Tape
        The tape.
    lanes : dict of (str, int) to ndarray of shape (n_rows,) or (n_rows, n_bins + 2)
        Answers of some models and folds.
    size : int, default=0
        Rows at a time; 0: as many as fit well into memory.
    """
    scores = [tape.scores[name][fold] if name in tape.scores else None for name, fold in lanes]
    some_scores = [its for its in scores if its is not None]
    n_columns = sum(map(width_of, (*lanes.values(), *some_scores)))
    size = size or max(LEAST_ROWS, MOST_ANSWERS // max(1, n_columns))
    start, n_sets = 0, 0
    while start < tape.n_rows:
        stop, sets = min(tape.n_rows, start + size), None
        if tape.sets is not None:
            ends, checkpoints = tape.sets
            last = max(n_sets + 1, int(np.searchsorted(ends, stop, side="right")))
            stop = int(ends[last - 1])
            sets = Sets(ends[n_sets:last] - start, checkpoints[n_sets:last])
            n_sets = last
        rows = slice(start, stop)
        some: dict[str, Any] = {}
        for name in ("weight", "time", *BASELINES):
            column = getattr(tape, name)
            some[name] = None if column is None else np.asarray(column[rows])
        if some_scores:
            some["scores"] = _scores_of(list(lanes.values()), scores, rows)
        table = np.concatenate([np.atleast_2d(np.asarray(p[rows]).T) for p in lanes.values()])
        yield ScoredRows(np.asarray(tape.y[rows]), table, **some, sets=sets)
        start = stop


def _scores_of(
    lanes: Sequence[np.ndarray], scores: Sequence[np.ndarray | None], rows: slice
) -> np.ndarray:
    """Scores of all lines of answers, of shape (n_lines, n_rows, n_columns)."""
    width = width_of(lanes[0])
    n_columns = next(width_of(its) for its in scores if its is not None) // width
    n_rows = rows.stop - rows.start
    table = np.full((len(lanes), width, n_rows, n_columns), np.nan)
    for of_lane, its in zip(table, scores, strict=True):
        if its is not None:
            of_lane[:] = np.asarray(its[rows]).reshape(n_rows, width, n_columns).transpose(1, 0, 2)
    return table.reshape(len(lanes) * width, n_rows, n_columns)


def check_has_scores(metrics: Mapping[str, Measure], tape: Tape) -> None:
    """Raise an error if a measure needs scores that the tape has of no model."""
    there = set(tape.methods.values())
    for name, measure in metrics.items():
        lacks_shares = measure.needs == "probabilities" and "predict_proba" not in there
        if lacks_shares or (measure.needs == "scores" and not there):
            raise ValueError(
                f"Measure {name!r} needs {measure.needs}, but the tape has none for any model: "
                f"they are kept if a measure of the evaluation needs them. Evaluate with {name!r} "
                "among its metrics."
            )


def width_of(answers: np.ndarray) -> int:
    """Lines of answers that are scored of one lane."""
    return 1 if answers.ndim == 1 else answers.shape[1]


def fold_columns(curves: Mapping[str, Sequence[Curves]]) -> ValuesByModel:
    """Return the values of each model, with a column for each of its folds."""
    values: ValuesByModel = {}
    for name, of_folds in curves.items():
        values[name] = {}
        for mechanism, by_metric in of_folds[0].values.items():
            columns = values[name][mechanism] = {}
            for metric in by_metric:
                columns[metric] = np.stack(
                    [of_fold.values[mechanism][metric] for of_fold in of_folds], axis=1
                )
    return values


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
    lines = None if methods is None else [method for method in methods for _ in range(width)]
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


def curves_of_lanes(curves: Curves, n_lanes: int, width: int) -> Iterator[Curves]:
    """Yield the curves of every lane, with a last axis of its lines where it has several."""
    for first in range(0, n_lanes * width, width):
        yield curves.of_models(first if width == 1 else slice(first, first + width))
