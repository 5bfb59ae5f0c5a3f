"""The tape: true labels and the answers of all models."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstream.utils._choices import check_place
from skstream.utils._label_space import LabelSpace

#: Blocks that are joined once there are so many: each takes a hundred bytes beside its rows.
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
        wrong one. Under delayed labels the rows are those that got their label, in that order.
    row : ndarray of shape (n_rows,) or None
        Under delayed labels, the numbers of the rows in the stream.
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
        of the second, else a column per class (under delayed labels, these for one bin after the
        other); NaN where there are none. Models without any are left out.
    methods : dict of str to {"predict_proba", "decision_function"}
        What has given the scores of each of these models.
    time : ndarray of shape (n_rows,), dtype datetime64[us] or float64, or None
        When the rows came, or under delayed labels, when their labels became known; None where the
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
        answers = np.asarray(folds[check_place("fold", fold, len(folds))])
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
            Bin under delayed labels; None: all, of the rows that have an answer in each.

        Returns
        -------
        rows : ndarray of shape (n_answered,)
            Numbers of the rows in the stream; of a holdout evaluation places on the tape.
        y_pred : ndarray of shape (n_answered,) or (n_answered, n_bins + 2)
            Labels or targets.
        """
        folds = self.answers[model]
        answers = np.asarray(folds[check_place("fold", fold, len(folds))])
        if bin is not None:
            answers = answers[:, check_place("bin", bin, answers.shape[1])]
        there = np.isfinite(answers) if self.classes is None else answers >= 0
        places = np.flatnonzero(there if there.ndim == 1 else there.all(axis=1))
        rows = places if self.row is None else np.asarray(self.row)[places]
        return rows, LabelSpace(self.classes).decode(answers[places])

    def probabilities(self, model: str, fold: int = 0, bin: int | None = None) -> np.ndarray:
        """Return a model's probabilities of all classes.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=0
            Fold.
        bin : int, default=None
            Bin under delayed labels; None: the answers given when the label came.

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
                f"There is no model {model!r} on the tape; there are {list(self.answers)}."
            )
        if self.methods.get(model) != "predict_proba":
            raise ValueError(
                f"The tape has no probabilities of model {model!r}. They are kept where a measure "
                "needs them, such as 'log_loss', and the model has predict_proba."
            )
        folds = self.scores[model]
        place = check_place("fold", fold, len(folds))
        scores = scores_of_bin(np.asarray(folds[place]), self.answers[model][place], bin)
        assert self.classes is not None
        n_classes = len(self.classes)
        if n_classes > 2:
            return scores
        return np.concatenate([1.0 - scores, scores], axis=1)[:, :n_classes]


def scores_of_bin(scores: np.ndarray, answers: Any, bin: int | None) -> np.ndarray:
    """Return the columns of one bin under delayed labels, None: of the last; else all.

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
            raise ValueError("bin= is for tapes under delayed labels; this one has no bins.")
        return scores
    n_bins = np.shape(answers)[1]
    line = n_bins - 1 if bin is None else check_place("bin", bin, n_bins)
    width = scores.shape[1] // n_bins
    return scores[:, line * width : (line + 1) * width]


class Recorder:
    """Appends blocks of values, in one type; of `width` values in a row, or of one."""

    def __init__(self, dtype: np.dtype[Any], width: int | None = None):
        self._dtype = dtype
        self._width = width
        self._blocks: list[np.ndarray] = []
        self._n_apart = 0  # of the last blocks, which may be of a row each

    def __getstate__(self) -> dict[str, Any]:
        self.array()  # a pickled array has a header, which is larger than a block of few rows
        return self.__dict__

    def append(self, values: np.ndarray) -> None:
        """Append a block of codes, targets or weights."""
        self._blocks.append(values.astype(self._dtype))
        self._n_apart += 1
        if self._n_apart == _MOST_APART:
            self._blocks[-_MOST_APART:] = [np.concatenate(self._blocks[-_MOST_APART:])]
            self._n_apart = 0

    def array(self) -> np.ndarray:
        """Return everything recorded so far."""
        if not self._blocks:
            return np.empty(0 if self._width is None else (0, self._width), dtype=self._dtype)
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        self._n_apart = 0
        return self._blocks[0]
