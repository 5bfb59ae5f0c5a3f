"""How good a classifier is on each class: a confusion matrix, and measures along the stream."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skstream.core.forgetting import as_forgetting
from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import bin_meant, number, pick
from skstream.core.run.tape import tape_of
from skstream.stats._report import forgetting_words
from skstream.utils._optional import display, optional_import
from skstream.utils._tables import aligned

#: Measures of a class, in the order of the columns.
MEASURES = ("precision", "recall", "f1", "specificity")


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassReport:
    """How good one model is on each class; made by `class_report`.

    Attributes
    ----------
    model : str
        Name of the model.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    matrix : ndarray of shape (n_classes, n_classes + 1), dtype float64
        Weights of the scored rows, by label (rows) and prediction (columns); the last column is
        for rows without a prediction. Without weights these are numbers of rows.
    rows : tuple of (int, int)
        First row of those that the matrix is about, and the row after the last; of a tape in the
        order of labels, positions in it.
    checkpoints : ndarray of shape (n_checkpoints,), dtype int64
        Rows that had come at every checkpoint of the curves.
    times : ndarray of shape (n_checkpoints,), or None
        Their times, where the stream says them.
    curves : dict of str to ndarray of shape (n_classes, n_checkpoints)
        "precision", "recall", "f1" and "specificity" along the stream, NaN where a class has no
        value.
    forgetting : str
        Forgetting of the curves.
    of_fold : str
        Which of several folds it is about, in words.

    Examples
    --------
    >>> from skstream import class_report, score_predictions
    >>> result = score_predictions(["a", "b", "b", "a"], {"m": ["a", "b", "a", "a"]})
    >>> report = class_report(result)
    >>> report.matrix
    array([[2., 0., 0.],
           [1., 1., 0.]])
    >>> print(report)
    m on each class, rows 0 to 3
    label         precision  recall      f1  specificity  rows  answers
    ------------  ---------  ------  ------  -----------  ----  -------
    a                0.6667  1.0000  0.8000       0.5000     2        3
    b                1.0000  0.5000  0.6667       1.0000     2        1
    macro avg        0.8333  0.7500  0.7333       0.7500     4        4
    weighted avg     0.8333  0.7500  0.7333       0.7500     4        4
    """

    model: str
    classes: NDArray[Any]
    matrix: NDArray[np.float64]
    rows: tuple[int, int]
    checkpoints: NDArray[np.int64]
    times: NDArray[Any] | None
    curves: dict[str, NDArray[np.float64]]
    forgetting: str
    of_fold: str = ""

    @property
    def scores(self) -> dict[str, NDArray[np.float64]]:
        """Measures of every class over the rows of the matrix; NaN for 0/0."""
        hits = np.diag(self.matrix)
        labels, answers = self.matrix.sum(axis=1), self.matrix[:, :-1].sum(axis=0)
        others = labels.sum() - labels
        with np.errstate(invalid="ignore"):
            return {
                "precision": hits / answers,
                "recall": hits / labels,
                "f1": 2.0 * hits / (labels + answers),
                "specificity": (others - answers + hits) / others,
            }

    @property
    def averages(self) -> dict[str, dict[str, float]]:
        """Averages of `scores` as in scikit-learn's report: "macro avg" and "weighted avg".

        They are over the classes that are labelled or predicted (weighted by labels); 0/0 is 0.
        """
        labels, answers = self.matrix.sum(axis=1), self.matrix[:, :-1].sum(axis=0)
        weights = {"macro avg": (labels + answers > 0).astype(float), "weighted avg": labels}
        return {
            name: {
                measure: float(np.average(np.nan_to_num(scores), weights=weight))
                if weight.any()
                else np.nan
                for measure, scores in self.scores.items()
            }
            for name, weight in weights.items()
        }

    def to_frame(self) -> Any:
        """Return a row for every class: its scores, and the weight of its labels and predictions.

        Returns
        -------
        frame : pandas.DataFrame
            Columns precision, recall, f1, specificity, rows, answers; the index is the label.
        """
        pandas = optional_import("pandas", "to_frame()")
        columns = {**self.scores, "rows": self.matrix.sum(axis=1)}
        columns["answers"] = self.matrix[:, :-1].sum(axis=0)
        return pandas.DataFrame(columns, index=pandas.Index(self.classes, name="label"))

    def plot(self, metric: str = "f1", **options: Any) -> Any:
        """Plot a measure of every class along the stream.

        Parameters
        ----------
        metric : {"precision", "recall", "f1", "specificity"}, default="f1"
            The measure.
        **options
            Options of the display's ``plot``, such as ``ax`` or ``legend``.

        Returns
        -------
        display : PrequentialDisplay
            A line for each class.
        """
        curves = pick(self.curves, metric, "measure")[..., np.newaxis]
        shown = display("PrequentialDisplay")(
            curves=dict(zip(map(str, self.classes), curves, strict=True)),
            metric=f"{metric} of each class, {self.model}",
            forgetting=self.forgetting,
            checkpoints=self.checkpoints,
            times=self.times,
        )
        return shown.plot(**options)

    def plot_matrix(self, **options: Any) -> Any:
        """Draw the confusion matrix with scikit-learn's display.

        Parameters
        ----------
        **options
            Options of ``sklearn.metrics.ConfusionMatrixDisplay.plot``.

        Returns
        -------
        display : ConfusionMatrixDisplay
            Without the rows that got no prediction, which are in `matrix`.
        """
        from sklearn.metrics import ConfusionMatrixDisplay

        whole = (self.matrix == np.floor(self.matrix)).all()
        options = {"values_format": ".0f" if whole else ".4g"} | options
        shown = ConfusionMatrixDisplay(self.matrix[:, :-1], display_labels=self.classes)
        return shown.plot(**options)

    def __str__(self) -> str:
        sums = [self.matrix.sum(axis=1), self.matrix[:, :-1].sum(axis=0)]
        of_classes = zip(self.classes.tolist(), *self.scores.values(), *sums, strict=True)
        total = [float(of_class.sum()) for of_class in sums]
        of_all = [[name, *values.values(), *total] for name, values in self.averages.items()]
        lines = [
            [str(label), *(f"{one:z.4f}" for one in scores), f"{n:,.6g}", f"{n_answers:,.6g}"]
            for label, *scores, n, n_answers in [*of_classes, *of_all]
        ]
        first, stop = self.rows
        unanswered = self.matrix[:, -1].sum()
        lacking = (
            f"{unanswered:,.6g} of the rows without a prediction: counted as errors"
            if unanswered
            else ""
        )
        return "\n".join(
            [
                f"{self.model} on each class, rows {first:,} to {stop - 1:,}{self.of_fold}",
                *aligned(["label", *MEASURES, "rows", "answers"], lines),
                *([lacking] if lacking else []),
            ]
        )


def class_report(
    result: EvaluationResult,
    model: str | None = None,
    *,
    rows: Sequence[int] | None = None,
    forgetting: Any = "cumulative",
    record_every: Any = None,
    fold: int | None = None,
    bin: int | None = None,
) -> ClassReport:
    """Report how good a classifier is on each class, from the tape of a result.

    Parameters
    ----------
    result : EvaluationResult
        Result of classifiers, with a tape.
    model : str, default=None
        Name of the model; None: the first one.
    rows : tuple of (int, int), default=None
        First row of the matrix, and the row after its last; negative numbers count from the end.
        None: all.
    forgetting : str or Forgetting, default="cumulative"
        Forgetting of the curves.
    record_every : int, str or timedelta, default=None
        Distance of the checkpoints of the curves, as for the evaluators.
    fold, bin : int, default=None
        Which fold or bin, if there are several; None: the first fold, the last bin.

    Returns
    -------
    report : ClassReport
        A confusion matrix, scores of every class, and curves; it prints, plots and exports.

    Raises
    ------
    ValueError
        If no tape was kept, if the models are regressors, or if `rows` is empty.
    KeyError
        If there is no such model.

    See Also
    --------
    EvaluationResult.rescore : Measures of one class by name, such as "recall:UP".

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator, class_report
    >>> from skstream.streams import make_demo_stream
    >>> result = PrequentialEvaluator().evaluate(Persistent(), make_demo_stream(500))
    >>> report = class_report(result, rows=(-100, 500), forgetting="window:100")
    >>> print(report.matrix.sum())
    100.0
    """
    tape = tape_of(result)
    if tape.classes is None:
        raise ValueError("The models are regressors, whose predictions have no classes.")
    name = result.model_names[0] if model is None else model
    pick(tape.answers, name, "model")
    mechanisms = as_forgetting(forgetting)
    if len(mechanisms) != 1:
        raise ValueError(f"forgetting must be one mechanism here. Got {list(mechanisms)}.")
    measures = [f"{kind}:{label}" for kind in MEASURES for label in tape.classes.tolist()]
    place = 0 if fold is None else result.folds.index(number(fold, result.folds, "fold"))
    line = bin_meant(result, bin)
    only = result.select(models=name, folds=None if fold is None else fold)
    running = {"forgetting": mechanisms, "record_every": record_every}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # NaN in the report says it
        scored = only.rescore(measures, **({} if tape.sets is not None else running))
    (mechanism,) = scored.forgetting_names

    def of_class(measure: str) -> NDArray[np.float64]:
        curve = scored.curve(name, measure, forgetting=mechanism)[:, 0]
        return curve if line is None else curve[:, line]

    curves = {
        kind: np.array([of_class(f"{kind}:{label}") for label in tape.classes.tolist()])
        for kind in MEASURES
    }
    first, stop = _stretch(rows, tape.n_rows)
    return ClassReport(
        model=name,
        classes=tape.classes,
        matrix=_matrix(tape, name, place, line, slice(first, stop)),
        rows=(first, stop),
        checkpoints=scored.checkpoints,
        times=scored.times,
        curves=curves,
        forgetting=mechanism if mechanism in mechanisms else forgetting_words(mechanism),
        of_fold=f", fold {result.folds[place]} of {result.n_folds}" if result.n_folds > 1 else "",
    )


def _stretch(rows: Sequence[int] | None, n_rows: int) -> tuple[int, int]:
    if rows is None:
        return 0, n_rows
    if np.ndim(rows) != 1 or len(rows) != 2:
        raise ValueError(
            f"rows must be two numbers, the first row and the row after the last. Got {rows!r}."
        )
    first, stop, _ = slice(*rows).indices(n_rows)
    if first >= stop:
        raise ValueError(f"rows={tuple(rows)} selects none of the {n_rows:,} rows.")
    return first, stop


def _matrix(tape: Any, model: str, fold: int, bin: int | None, rows: slice) -> Any:
    """Weights of the scored rows by label and answer, of the last column without an answer."""
    n = len(tape.classes)
    y = np.asarray(tape.y[rows]).astype(np.int64)
    answers = np.asarray(tape.answers[model][fold][rows]).astype(np.int64)
    if bin is not None:
        answers = answers[:, bin]
    weight = None if tape.weight is None else np.asarray(tape.weight[rows])
    scored = (y >= 0) & (answers != -1)
    answers = np.where(answers < 0, n, answers)
    cells = y[scored] * (n + 1) + answers[scored]
    counts = np.bincount(cells, None if weight is None else weight[scored], minlength=n * (n + 1))
    return counts.astype(np.float64).reshape(n, n + 1)
