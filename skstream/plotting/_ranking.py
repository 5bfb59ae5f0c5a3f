"""Whether scores tell the classes apart: ROC and precision-recall curves of a stretch of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._results._select import Names
from skstream.plotting._axes import give_title
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._events import (
    Events,
    events_of_predictions,
    events_of_result,
    rows_as_words,
)
from skstream.plotting._lines import BASELINE_COLOR, model_styles

SIZE = (9.4, 4.2)
GUESS = "guessing"


@dataclass(frozen=True, eq=False)
class Ranked:
    """The curves of one model.

    Attributes
    ----------
    false_positive_rate, true_positive_rate : ndarray of shape (n_points,)
        Of the ROC curve.
    recall, precision : ndarray of shape (n_points,)
        Of the precision-recall curve.
    auc, average_precision : float
        The areas, as the measures of these names have them.
    """

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    auc: float
    average_precision: float

    @classmethod
    def of(cls, events: Events) -> Ranked:
        """Compute them; the events came in some rows and not in others."""
        came, score, weight = events.came, events.score, events.weight
        x, y, _ = roc_curve(came, score, sample_weight=weight)
        precision, recall, _ = precision_recall_curve(
            came, score, sample_weight=weight, drop_intermediate=True
        )
        return cls(
            x, y, recall, precision,
            float(roc_auc_score(came, score, sample_weight=weight)),
            float(average_precision_score(came, score, sample_weight=weight)),
        )  # fmt: skip


@dataclass(kw_only=True, repr=False, eq=False)
class RankingDisplay(BaseDisplay):
    """ROC and precision-recall curves of the scores that models gave in a stretch of the stream.

    The scores of all rows are ranked together, as `auc` under no forgetting ranks them. A model
    that goes on learning gives scores on another scale before a drift than after it, so that over a
    long stretch the curves may be worse than in every part of it: compare a stretch without a
    drift, with `rows`. Where positives are rare, look at the right panel: there false alarms are
    compared with the positives, not with the many rows that are none.

    `to_frame` has the columns model, curve ("roc" or "precision_recall"), x and y.

    Parameters
    ----------
    curves : dict of str to Ranked
        The curves of each model.
    rows : (int, int)
        First row, and the row after the last.
    event : str
        The class that is ranked first.
    share : float
        Share of rows in which it came: the precision of guessing.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        Both panels: the ROC curves, and precision against recall.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The ROC curves by model, and the others by these names with ", precision".
    legend_ : matplotlib Legend or None
        The legend, with the areas.

    See Also
    --------
    ReliabilityDisplay : Whether probabilities are true.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.plotting import RankingDisplay
    >>> from skstream.streams import make_demo_stream
    >>> sgd = SGDClassifier(random_state=0)  # gives decision values
    >>> result = PrequentialEvaluator("auc").evaluate(sgd, make_demo_stream(1000))
    >>> display = RankingDisplay.from_result(result, rows=(500, 1000))  # doctest: +SKIP
    """

    curves: Mapping[str, Ranked]
    rows: tuple[int, int]
    event: str
    share: float

    @classmethod
    def from_result(
        cls,
        result: EvaluationResult,
        *,
        models: Names = None,
        label: Any = None,
        rows: Sequence[int] | None = None,
        fold: int | None = None,
        bin: int | None = None,
        **options: Any,
    ) -> Self:
        """Plot the scores on the tape of a result.

        Parameters
        ----------
        result : EvaluationResult
            With a tape of scores: some measure needed them, such as "auc".
        models : str or sequence of str, default=None
            Models to show; None: all that gave probabilities or decision values.
        label : object, default=None
            The class that is set against the others; None: the second of two classes.
        rows : (int, int), default=None
            First row of the tape, and the row after the last. None: all; of a holdout evaluation,
            whose sets follow one another on the tape, the last set.
        fold : int, default=None
            Fold; None: the first of the result.
        bin : int, default=None
            Bin under delayed labels; None: the last of the result, whose answers were given when
            the label came, or the one selected.
        **options
            Options of `plot`: `ax` (two), `legend`, `styles` by model, and properties of all
            lines.

        Returns
        -------
        display : RankingDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If the tape has no scores, only one class came, or a parameter is not valid.
        """
        return cls._of(
            *events_of_result(result, models, label, rows, fold, bin, ranking=True)
        ).plot(**options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        label: Any = None,
        **options: Any,
    ) -> Self:
        """Plot scores that were given elsewhere.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels.
        y_score : array-like of shape (n_rows,) or (n_rows, n_classes), or dict of str to these
            Scores of the second of two classes, or of all, in the order of `classes`; of a
            model, or of several by name.
        classes : array-like of shape (n_classes,), default=None
            The labels, in the order of the columns; None: those in `y_true`, sorted.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights; None: every row counts once.
        label : object, default=None
            The class that is set against the others; None: the second of two classes.
        **options
            Options of `plot`.

        Returns
        -------
        display : RankingDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If lengths differ, a score is not finite, or only one class came.
        """
        found = events_of_predictions(y_true, y_score, classes, sample_weight, label, ranking=True)
        return cls._of(*found).plot(**options)

    @classmethod
    def _of(cls, events: Mapping[str, Events], event: str, rows: tuple[int, int]) -> Self:
        for name, one in events.items():
            if one.came.all() or not one.came.any():
                which = "every" if len(one.came) and one.came.all() else "no"
                raise ValueError(
                    f"There is nothing to rank: of the {len(one.came):,} scored rows of '{name}' "
                    f"{which} one is of class {event}, and a curve needs some of both kinds."
                )
        first = next(iter(events.values()))
        share = float(np.average(first.came, weights=first.weight))
        curves = {name: Ranked.of(one) for name, one in events.items()}
        return cls(curves=curves, rows=rows, event=event, share=share)

    def _layout(self, ax: Any) -> Layout:
        return Layout([*self.curves, GUESS], 2, SIZE, n_columns=2)

    def _draw(self, canvas: Canvas) -> None:
        roc, recalled = canvas.axes
        defaults = model_styles(list(self.curves))
        grey = {"color": BASELINE_COLOR, "linestyle": "--", "linewidth": 1, "zorder": 2}
        guess = canvas.draw_line(roc, GUESS, [0, 1], [0, 1], grey)
        canvas.draw_line(recalled, f"{GUESS}, precision", [0, 1], [self.share] * 2, grey, GUESS)
        named = {}
        for name, one in self.curves.items():
            style = defaults[name]
            areas = f"{name} (AUC {one.auc:.3f}, AP {one.average_precision:.3f})"
            named[areas] = canvas.draw_line(
                roc, name, one.false_positive_rate, one.true_positive_rate, style
            )
            steps = {**style, "drawstyle": "steps-post"}
            key = f"{name}, precision"
            canvas.draw_line(recalled, key, one.recall, one.precision, steps, name)
        roc.set(xlabel="false positive rate", ylabel="true positive rate")
        recalled.set(xlabel="recall (true positive rate)", ylabel="precision")
        recalled.tick_params(labelleft=True)
        for ax in canvas.axes:
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        give_title(roc, f"{self.event} against the rest, {rows_as_words(self.rows)}")
        canvas.give_legend(recalled, lines={**named, GUESS: guess})

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, one in self.curves.items():
            x, y = one.false_positive_rate, one.true_positive_rate
            yield {"model": name, "curve": "roc", "x": x, "y": y}
            x, y = one.recall, one.precision
            yield {"model": name, "curve": "precision_recall", "x": x, "y": y}

    def _summary(self) -> str:
        areas = (f"{name}: AUC {one.auc:.3f}" for name, one in self.curves.items())
        return f"{', '.join(areas)}; {rows_as_words(self.rows)}"
