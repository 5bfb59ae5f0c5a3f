"""The tape: true labels and the answers of all models."""

from dataclasses import dataclass

import numpy as np

from skstream.utils._choices import check_place
from skstream.utils._label_space import LabelSpace


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
        wrong one. Under delayed labels the rows are those that got their label, in that order.
    previous : ndarray of shape (n_rows,) or None
        Answers of the persistent baseline in all bins but the last, if they are not the labels of
        the row before.
    majority, inclusive : ndarray of shape (n_rows,) or None
        Of a holdout evaluation of classifiers: answers of the majority baseline, without and with
        the row's label.
    sets : tuple of two ndarray of shape (n_sets,), or None
        Of a holdout evaluation: number of rows up to the end of each set, and rows of the stream
        that had come when it was asked.
    """

    classes: np.ndarray | None
    y: np.ndarray
    weight: np.ndarray | None
    answers: dict[str, np.ndarray]
    previous: np.ndarray | None = None
    majority: np.ndarray | None = None
    inclusive: np.ndarray | None = None
    sets: tuple[np.ndarray, np.ndarray] | None = None

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
        folds: np.ndarray = self.answers[model]
        answers: np.ndarray = folds[check_place("fold", fold, len(folds))]
        return LabelSpace(self.classes).decode(answers)


class Recorder:
    """Appends blocks of values without copying earlier ones, in the smallest integer type."""

    def __init__(self, classes: np.ndarray | None):
        self.dtype = LabelSpace(classes).dtype
        self._blocks: list[np.ndarray] = []

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def append(self, values: np.ndarray) -> None:
        """Append a block of codes or targets."""
        self._blocks.append(values.astype(self.dtype))

    def array(self) -> np.ndarray:
        """Return everything recorded so far."""
        if not self._blocks:
            return np.empty(0, dtype=self.dtype)
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]
