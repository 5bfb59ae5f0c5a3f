"""What decisions cost, against the probability from which on one decides for a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._results._select import Names
from skstream.metrics._decisions import checked_matrix
from skstream.plotting._axes import give_title
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._events import (
    Events,
    events_of_predictions,
    events_of_result,
    rows_as_words,
)
from skstream.plotting._lines import BASELINE_COLOR, model_styles

EXPECTED = "best if calibrated"
N_THRESHOLDS = 1001


@dataclass(kw_only=True, repr=False, eq=False)
class ThresholdDisplay(BaseDisplay):
    """Mean cost of decisions against the threshold at which one decides for the event.

    The dot marks the lowest cost of each model *in hindsight*: a threshold chosen after the rows it
    is judged by looks better than it will be. The measure ``cost(matrix, threshold="best")`` takes,
    for each row, the best threshold of the rows before. The vertical line is the threshold
    that is best for calibrated probabilities (Elkan 2001); a dot far from it says that those of a
    model are not.

    `to_frame` has the columns model, threshold and cost.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Decided for the event where its probability is at least this; the last one is above 1:
        never.
    curves : dict of str to ndarray of shape (n_thresholds,)
        Mean cost by model.
    rows : (int, int)
        First row, and the row after the last.
    event : str
        The class decided for.
    expected : float or None
        The threshold that is best for calibrated probabilities; None where one decision is the
        better one whatever is true.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    axes_ : ndarray of matplotlib Axes
        The same, in an array.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The lines by model.
    legend_ : matplotlib Legend or None
        The legend, with the best thresholds in hindsight.

    See Also
    --------
    skstream.metrics.cost : The cost along the stream.

    References
    ----------
    C. Elkan. The foundations of cost-sensitive learning. IJCAI 2001.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.plotting import ThresholdDisplay
    >>> from skstream.streams import make_demo_stream
    >>> sgd = SGDClassifier(loss="log_loss", random_state=0)
    >>> result = PrequentialEvaluator("brier").evaluate(sgd, make_demo_stream(1000))
    >>> display = ThresholdDisplay.from_result(result, matrix=[[0, 1], [5, 0]])  # doctest: +SKIP
    """

    thresholds: np.ndarray
    curves: Mapping[str, np.ndarray]
    rows: tuple[int, int]
    event: str
    expected: float | None = None

    @classmethod
    def from_result(
        cls,
        result: EvaluationResult,
        *,
        matrix: ArrayLike = ((0, 1), (1, 0)),
        models: Names = None,
        label: Any = None,
        rows: Sequence[int] | None = None,
        fold: int | None = None,
        bin: int | None = None,
        **options: Any,
    ) -> Self:
        """Plot the costs of the probabilities on the tape of a result.

        Parameters
        ----------
        result : EvaluationResult
            With a tape of probabilities: some measure needed them, such as "brier".
        matrix : array-like of shape (2, 2), default=((0, 1), (1, 0))
            ``matrix[i][j]`` is the cost of decision j (1: for the event) where i is true (1: it
            came). The default counts errors.
        models : str or sequence of str, default=None
            Models to show; None: all that gave probabilities.
        label : object, default=None
            The class that makes the event; None: the second of two classes.
        rows : (int, int), default=None
            First row of the tape, and the row after the last. None: all; of a holdout evaluation,
            whose sets follow one another on the tape, the last set.
        fold : int, default=None
            Fold; None: the first of the result.
        bin : int, default=None
            Bin under delayed labels; None: the last of the result, whose answers were given when
            the label came, or the one selected.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : ThresholdDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If the tape has no probabilities, or a parameter is not valid.
        """
        found = events_of_result(result, models, label, rows, fold, bin)
        return cls._of(*found, matrix).plot(**options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike | Mapping[str, ArrayLike],
        *,
        matrix: ArrayLike = ((0, 1), (1, 0)),
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        label: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the costs of probabilities that were given elsewhere.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels.
        y_prob : array-like of shape (n_rows,) or (n_rows, n_classes), or dict of str to these
            Probabilities of the second of two classes, or of all, in the order of
            `classes`; of a model, or of several by name.
        matrix : array-like of shape (2, 2), default=((0, 1), (1, 0))
            As in `from_result`.
        classes : array-like of shape (n_classes,), default=None
            The labels, in the order of the columns; None: those in `y_true`, sorted.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights; None: every row counts once.
        label : object, default=None
            The class that makes the event; None: the second of two classes.
        **options
            Options of `plot`.

        Returns
        -------
        display : ThresholdDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If lengths differ, or something is no probability.
        """
        found = events_of_predictions(y_true, y_prob, classes, sample_weight, label)
        return cls._of(*found, matrix).plot(**options)

    @classmethod
    def _of(
        cls, events: Mapping[str, Events], event: str, rows: tuple[int, int], matrix: ArrayLike
    ) -> Self:
        table = np.array(checked_matrix(matrix), dtype=np.float64)
        if table.shape != (2, 2):
            raise ValueError(
                "matrix must have shape (2, 2): [i][j] is the cost of decision j where i is true. "
                f"Got shape {table.shape} instead."
            )
        empty = [name for name, one in events.items() if not len(one.score)]
        if empty:
            raise ValueError(f"There is nothing to plot: no row of {empty} is scored.")
        thresholds = np.append(np.linspace(0.0, 1.0, N_THRESHOLDS), np.nextafter(1.0, 2.0))
        return cls(
            thresholds=thresholds,
            curves={name: mean_costs(one, table, thresholds) for name, one in events.items()},
            rows=rows,
            event=event,
            expected=_best_if_calibrated(table),
        )

    def _layout(self, ax: Any) -> Layout:
        return Layout(list(self.curves))

    def _draw(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        defaults = model_styles(list(self.curves))
        (left, right), (low, high) = self._limits()
        named: dict[str, Any] = {}
        for name, costs in self.curves.items():
            line = canvas.draw_line(ax, name, self.thresholds, costs, defaults[name])
            best = int(np.argmin(costs))
            where = self.thresholds[best]
            at = "never" if where > 1 else f"{where:.3g}"
            ax.plot(min(where, right), costs[best], "o", color=line.get_color(), zorder=4)
            named[f"{name} (lowest: {costs[best]:.4g} at {at})"] = line
        others = {}
        if self.expected is not None:
            style = {"color": BASELINE_COLOR, "linestyle": "--", "linewidth": 1, "zorder": 2}
            beyond = "" if left <= self.expected <= right else ", beyond the axis"
            others[f"{EXPECTED} ({self.expected:.3g}{beyond})"] = ax.axvline(self.expected, **style)
        margin = 0.02 * (right - left)
        canvas.widen_limits(ax, "x", left - margin, right + margin)
        if high > low:
            margin = 0.05 * (high - low)
            canvas.widen_limits(ax, "y", low - margin, high + margin)
        ax.set_xlabel(f"threshold on the probability of {self.event}", parse_math=False)
        ax.set_ylabel("mean cost of a row")
        give_title(ax, f"Cost of decisions, {rows_as_words(self.rows)}")
        canvas.give_legend(ax, lines=named, others=others)

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits of thresholds and of costs: where there is something to see.

        Where the event is rare, nearly all probabilities are near 0, and a decision for it at
        every row costs many times more than one against it. Neither may set the scale.
        """
        curves = np.array(list(self.curves.values()))
        low, highest = min(0.0, float(curves.min())), float(curves.max())
        guess = float(curves[:, [0, -1]].min(axis=1).max())  # always for the event, or never
        high = min(highest, 2 * guess - low) if guess > low else highest
        shown = np.minimum(curves, high)
        wanted = [self.thresholds[k] for k in curves.argmin(axis=1) if self.thresholds[k] <= 1]
        flat = 0.01 * (high - low)
        from_left, from_right = (
            self.thresholds[(np.abs(shown - shown[:, [end]]) > flat).any(axis=0)] for end in (0, -1)
        )
        left, right = 0.0, 1.0
        if len(from_left) and len(from_right):
            left = 1 - 1.1 * (1 - min(from_left[0], *wanted, 1.0))
            right = 1.1 * max(from_right[-1], *wanted, 0.0)
        # Half of an axis without anything is not worth another one.
        return (left if left > 0.5 else 0.0, right if right < 0.5 else 1.0), (low, high)

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, costs in self.curves.items():
            yield {"model": name, "threshold": self.thresholds, "cost": costs}

    def _summary(self) -> str:
        lowest = (f"{name}: {costs.min():.4g}" for name, costs in self.curves.items())
        return f"lowest cost {', '.join(lowest)}; {rows_as_words(self.rows)}"


def mean_costs(events: Events, table: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Mean cost of deciding for the event from each threshold on."""
    order = np.argsort(events.score)
    score, came, weight = events.score[order], events.came[order], events.weight[order]
    below = np.searchsorted(score, thresholds)  # so many rows are decided against the event

    def sums(kind: np.ndarray) -> tuple[np.ndarray, float]:
        total = np.concatenate([[0.0], np.cumsum(np.where(kind, weight, 0.0))])
        return total[below], float(total[-1])

    missed, positive = sums(came)
    passed, negative = sums(~came)
    spent = (
        table[1, 0] * missed
        + table[1, 1] * (positive - missed)
        + table[0, 0] * passed
        + table[0, 1] * (negative - passed)
    )
    costs: np.ndarray = spent / (positive + negative)
    return costs


def _best_if_calibrated(table: np.ndarray) -> float | None:
    alarm, miss = table[0, 1] - table[0, 0], table[1, 0] - table[1, 1]
    return float(alarm / (alarm + miss)) if alarm > 0 and miss > 0 else None
