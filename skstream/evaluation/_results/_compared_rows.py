"""Rows on which two models are compared, some at a time, and which loss of a row is compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skstream.metrics import Measure
from skstream.metrics._columns import Column, OfColumn, read_scores
from skstream.metrics._formulas import MeanOf
from skstream.metrics._proper import HIGHEST_LOG_LOSS, BrierLoss, LogLoss
from skstream.metrics._rows import ScoredRows
from skstream.utils._label_space import is_given

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult

#: Losses of probabilities.
OF_PROBABILITIES: dict[str, Column] = {"log": LogLoss(), "brier": BrierLoss()}
#: Losses of a row in words, as a measure may name them.
_LOSSES = {
    "zero_one": ("the 0/1 loss of each row", "accuracy"),
    "absolute": ("the absolute error of each row", "mae"),
    "squared": ("the squared error of each row", "mse"),
    "log": ("the log loss of each row", "log_loss"),
    "brier": ("the Brier score of each row", "brier"),
}
#: Rows of a tape that are read at once.
ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class ColumnLoss:
    """Loss of a row that a measure of the user gives, such as ``cost(matrix)``.

    Attributes
    ----------
    name : str
        Name of the measure.
    column : Column
        What makes the loss of each row.
    bounds : tuple of two float
        Smallest and largest loss that can occur.
    """

    name: str
    column: Column
    bounds: tuple[float, float]


#: Loss of a row: "zero_one", "absolute", "squared", "log", "brier", or one of a measure.
Loss = str | ColumnLoss


def column_of(loss: Loss) -> Column | None:
    """What makes the losses, where they are not those of answers; None: of answers."""
    return loss.column if isinstance(loss, ColumnLoss) else OF_PROBABILITIES.get(loss)


def bounds_of(loss: Loss, n_classes: int) -> tuple[float, float] | None:
    """Smallest and largest loss of a row that can occur; None for errors of regressors."""
    if isinstance(loss, ColumnLoss):
        return loss.bounds
    highest = {
        "zero_one": 1.0,
        "log": HIGHEST_LOG_LOSS,
        "brier": 1.0 if n_classes <= 2 else 2.0,
    }.get(loss)
    return None if highest is None else (0.0, highest)


@dataclass(frozen=True, kw_only=True)
class ComparedRows:
    """Labels and the answers of two models, over some rows on which both were scored.

    Attributes
    ----------
    y, a, b : ndarray of shape (n,)
        Codes, or targets.
    scores : tuple of two (ndarray of shape (n, n_columns) or None)
        Probabilities of both models.
    weight : ndarray of shape (n,), or None
        Scoring weights; None where all are 1.
    number : ndarray of shape (n,)
        Which rows they are, from 1 on.
    """

    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    scores: tuple[np.ndarray | None, np.ndarray | None]
    n_classes: int
    weight: np.ndarray | None
    number: np.ndarray

    def losses(
        self, kind: Loss, bounds: tuple[float, float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Losses of both models.

        Log losses above the upper bound are clipped to it.
        """
        highest = np.inf if bounds is None or kind != "log" else bounds[1]
        first, second = (
            np.minimum(self._of_one(kind, answers, scores), highest)
            for answers, scores in zip((self.a, self.b), self.scores, strict=True)
        )
        return first, second

    def _of_one(self, kind: Loss, answers: np.ndarray, scores: np.ndarray | None) -> np.ndarray:
        losses: np.ndarray
        column = column_of(kind)
        if kind == "zero_one":
            losses = (answers != self.y).astype(np.float64)
            return losses
        if column is None:
            losses = np.abs(answers - self.y)
            return losses * losses if kind == "squared" else losses
        assert not column.of_scores or scores is not None, "the caller checks that there are some"
        of_one = None if scores is None else scores[np.newaxis]
        rows = ScoredRows(self.y, answers[np.newaxis], scores=of_one)
        (losses,), _ = read_scores(column, rows, None, self.n_classes)
        return losses


@dataclass(frozen=True, kw_only=True)
class ComparedAnswers:
    """The columns of a tape that two models are compared by; they may lie on disk.

    Attributes
    ----------
    y, a, b : ndarray of shape (n,)
        Codes, or targets, of all rows.
    scores : tuple of two (ndarray of shape (n, n_bins * n_columns) or None)
        Probabilities of both models, where the tape has them.
    n_classes : int
        Number of classes; 0 for regression.
    weight : ndarray of shape (n,), or None
        Scoring weights; None where all are 1.
    start, stop : int
        The rows that are compared.
    bin : int or None
        Bin of the answers.
    unit : str
        What the rows are: rows, or labelled rows.
    names : tuple of two str
        The models.
    place : str
        Rows, fold and bin in words.
    is_set : bool
        Whether the rows are a set that was asked at one point of the stream.
    """

    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    scores: tuple[np.ndarray | None, np.ndarray | None]
    n_classes: int
    weight: np.ndarray | None
    start: int
    stop: int
    bin: int | None
    unit: str
    names: tuple[str, str]
    place: str = ""
    is_set: bool = False

    def pieces(self) -> Iterator[ComparedRows]:
        """Rows on which both were scored, some at a time, in their order."""
        for start in range(self.start, self.stop, ROWS_AT_ONCE):
            rows = slice(start, min(self.stop, start + ROWS_AT_ONCE))
            y, (a, b) = np.asarray(self.y[rows]), map(self._of_bin, (self.a[rows], self.b[rows]))
            scored = is_given(y) & is_given(a) & is_given(b)
            weight = None if self.weight is None else np.asarray(self.weight[rows])
            if weight is not None:
                scored &= weight > 0
            if scored.any():
                yield ComparedRows(
                    y=y[scored],
                    a=a[scored],
                    b=b[scored],
                    scores=(self._scores(0, rows, scored), self._scores(1, rows, scored)),
                    n_classes=self.n_classes,
                    weight=None if weight is None else weight[scored],
                    number=start + np.flatnonzero(scored) + 1,
                )

    def _of_bin(self, answers: np.ndarray) -> np.ndarray:
        return np.asarray(answers if self.bin is None else answers[:, self.bin])

    def _scores(self, number: int, rows: slice, scored: np.ndarray) -> np.ndarray | None:
        """Probabilities of a model in the bin that is compared."""
        scores = self.scores[number]
        if scores is None:
            return None
        width = 1 if self.n_classes <= 2 else self.n_classes
        first = 0 if self.bin is None else self.bin * width
        columns = np.asarray(scores[rows])[scored, first : first + width]
        return columns.astype(np.float64, copy=False)

    @property
    def largest_weight(self) -> float:
        """The largest scoring weight of the rows."""
        if self.weight is None:
            return 1.0
        return max(float(piece.weight.max()) for piece in self.pieces() if piece.weight is not None)


def measure_of(loss: Loss) -> str:
    """Name of the measure that is the mean of a loss."""
    return loss.name if isinstance(loss, ColumnLoss) else _LOSSES[loss][1]


def _column_loss(result: "EvaluationResult", test: str, measure: Measure) -> ColumnLoss:
    """Loss of a row of a measure that was given itself, if it is the mean of one."""
    formula = measure.formula
    series = formula.series if isinstance(formula, MeanOf) else None
    column = series.column if isinstance(series, OfColumn) else None
    if (
        column is None
        or column.follows
        or column.of_labels
        or measure.higher_is_better is not False
    ):
        raise ValueError(
            f"Measure {measure.name!r} is not the mean of a loss that each row has by itself. Pass "
            "the name of a measure of the result, or cost(matrix), with a threshold that is no "
            '"best", from skstream.metrics.'
        )
    if test == "mcnemar":
        raise ValueError("McNemar's test compares 0/1 losses; use 'anytime' or 'q'.")
    n_classes = 0 if result.classes is None else len(result.classes)
    if measure.n_classes not in (None, n_classes):
        raise ValueError(
            f"Measure {measure.name!r} is for {measure.n_classes} classes, and the result has "
            f"{n_classes}."
        )
    low, high = measure.bounds
    if not np.isfinite([low, high]).all():
        raise ValueError(f"Measure {measure.name!r} has no bounds, or is the same for all answers.")
    return ColumnLoss(measure.name, column, (low, high))


def row_loss(result: "EvaluationResult", test: str, metric: str | Measure | None) -> Loss:
    """Loss of a row that a test compares: that of the measure, if its mean decides it."""
    if isinstance(metric, Measure):
        return _column_loss(result, test, metric)
    losses: tuple[str, ...] = ("absolute", "squared")
    if result.classes is not None:
        losses = ("zero_one",) if test == "mcnemar" else ("zero_one", "log", "brier")
    if test == "mcnemar" and result.classes is None:
        raise ValueError("McNemar's test compares classifiers; use 'anytime' or 'q'.")
    first = result.metric_names[0] if metric is None else metric
    result.curve(result.model_names[0], first)  # names the measures where it is unknown
    loss = result.measures.get(first, Measure(name=first)).row_loss
    if loss in losses:
        return str(loss)
    if metric is not None:
        known = [name for name, facts in result.measures.items() if facts.row_loss in losses]
        instead = f", or pass one that is: {known}" if known else ""
        facts = result.measures.get(first, Measure(name=first))
        over_folds = "; or compare it over folds ('wilcoxon', 'sign')"
        over_folds = "" if facts.higher_is_better is None else over_folds
        raise ValueError(
            f"The test {test!r} compares {_LOSSES[losses[0]][0]}, and measure {metric!r} is not "
            f"the mean of such losses{_why_no_mean(facts)}. Leave out metric={instead}{over_folds}."
        )
    return losses[0]


def _why_no_mean(measure: Measure) -> str:
    """Say why some measures have no loss of a row, where that is easily said."""
    name = measure.name
    if name.startswith("cost"):
        return ": pass metric=cost(matrix) itself, as results do not keep the matrix"
    if name.startswith(("auc", "average_precision", "gini")):
        return ": it compares rows with each other, and a row alone has no such value"
    return ""


def loss_in_words(result: "EvaluationResult", loss: Loss) -> str:
    """Name a loss by the measure that is its mean, unless the user calls another measure so."""
    if isinstance(loss, ColumnLoss):
        return f"the loss of each row ({loss.name})"
    words, measure = _LOSSES[loss]
    facts = result.measures.get(measure)
    if facts is not None and facts.row_loss != loss:
        return f"{words} (not by your measure {measure!r})"
    return f"{words} ({measure})"


def clipped(highest: float, n_classes: int) -> str:
    """Say how large log losses can be: those of the tape, or clipped."""
    (_, largest) = bounds_of("log", n_classes) or (0.0, highest)
    return f"{'clipped at' if highest < largest else 'at most'} {highest:.4g}"
