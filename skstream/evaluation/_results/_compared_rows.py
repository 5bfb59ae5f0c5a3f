"""Rows on which two models are compared, read from a tape some at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skstream.metrics._columns import Column, read_scores
from skstream.metrics._proper import HIGHEST_LOG_LOSS, BrierLoss, LogLoss
from skstream.metrics._rows import ScoredRows
from skstream.utils._label_space import is_given

#: Losses of probabilities.
OF_PROBABILITIES: dict[str, Column] = {"log": LogLoss(), "brier": BrierLoss()}
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
