"""Two models compared over the stream."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstream.core.rows.stream import as_drifts
from skstream.evaluation import EvaluationResult
from skstream.forgetting import Forgetting
from skstream.plotting._axes import COLORS, count_rows_along, give_title, ink, settled
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._marks import Drifts, draw_drifts
from skstream.reports._compare import compared_rows, row_mechanism
from skstream.reports._row_tests import BOUNDS_NEEDED, ComparedRows, row_loss
from skstream.stats._anytime import AnytimeComparisonResult, RunningAnytimeComparison
from skstream.stats._mcnemar import McNemarCurve, RunningMcNemar, zero_one_losses
from skstream.stats._pairs import as_weights
from skstream.stats._q_statistic import QStatisticResult, RunningQStatistic
from skstream.stats._report import forgetting_words
from skstream.streams import Drift

PANEL_INCHES = (8.0, 2.3)
CURVE_STYLE = {"color": COLORS[0], "linewidth": 1.3}
#: What each statistic is called in the repr, and which attribute of its result has the values.
STATISTICS = {
    "q": ("Q", "values"),
    "mcnemar": ("signed McNemar", "statistics"),
    "anytime": ("mean loss difference", "differences"),
}
CERTAIN_COLOR = COLORS[1]
LONGEST_LABEL = 60  # characters below the last panel
LEGEND_TITLE = "one look,\nindependent rows"
DIRECTION_FONT = 8.0
LONGEST_DIRECTION = 0.7  # share of the width of the axes, which the layout may reduce
LEVELS = (0.05, 0.01)  # of McNemar's test
THRESHOLD_STYLES = ((0, (4, 3)), (0, (1, 2)))
# Beyond this, on a linear scale, the thresholds of McNemar's test would look like one line.
LARGEST_LINEAR_STATISTIC = 60.0
LINEAR_UP_TO = 10.0
# Share of the checkpoints whose intervals are too wide to set the scale.
UNSETTLED = 0.1
# Room above and below the curves, for the words that say the direction.
MARGIN, SYMLOG_MARGIN = 0.2, 4.0


@dataclass(kw_only=True, repr=False, eq=False)
class ComparisonDisplay(BaseDisplay):
    """Show a comparison of two models over the stream, one panel per statistic.

    Shows any of the Q statistic, the signed McNemar statistic with its thresholds, and the
    confidence sequence of the mean loss difference. In all of them, values above zero mean that the
    second model is ahead.

    `to_frame` has the columns row, statistic ("q", "mcnemar" or "anytime"), value, lower and
    upper (NaN except for "anytime").

    Parameters
    ----------
    q : QStatisticResult, default=None
        Q statistic; infinite values are left out of the curve.
    mcnemar : McNemarCurve, default=None
        Signed McNemar statistic, with its thresholds at 5 % and 1 %.
    anytime : AnytimeComparisonResult, default=None
        Mean loss difference, first model minus second, and its confidence sequence.
    rows : str, default="rows"
        The rows, in words; shown below the last panel.
    drifts : sequence of (int or pair of int), default=()
        Known drifts among these rows: first rows of a new concept, or pairs ``(start, end)`` of a
        gradual change.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        All panels.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The curves, by "q", "mcnemar" and "anytime".
    legend_ : matplotlib Legend or None
        The first legend.
    legends_ : list of matplotlib Legend or None
        The legend of every panel.

    See Also
    --------
    skstream.stats.q_statistic : Logarithm of the ratio of losses.
    skstream.stats.mcnemar_curve : Signed McNemar statistic; see its warning.
    skstream.stats.anytime_comparison : Confidence sequence.

    Examples
    --------
    >>> from skstream.plotting import ComparisonDisplay
    >>> from skstream.stats import q_statistic
    >>> ComparisonDisplay(q=q_statistic([1, 1, 0, 1], [0, 1, 1, 0], names=("sgd", "bayes")))
    ComparisonDisplay(sgd, bayes; Q 0.405 after 4 rows; see plot(), to_frame())
    """

    q: QStatisticResult | None = None
    mcnemar: McNemarCurve | None = None
    anytime: AnytimeComparisonResult | None = None
    rows: str = "rows"
    drifts: Drifts = ()

    def __post_init__(self) -> None:
        as_drifts(self.drifts)
        if not self._given():
            raise ValueError("There is nothing to plot: no statistic was given.")
        compared = dict.fromkeys(tuple(one.names) for one in self._given().values())
        if len(compared) > 1:
            raise ValueError(
                "All results must compare the same two models, in the same order. Got "
                f"{' and '.join(map(str, compared))}."
            )

    @property
    def names(self) -> Sequence[str]:
        """The two models."""
        return next(iter(self._given().values())).names

    def _given(self) -> dict[str, Any]:
        """The results that there are, by the names of the statistics."""
        return {name: one for name in STATISTICS if (one := getattr(self, name)) is not None}

    @classmethod
    def from_result(
        cls,
        *results: AnytimeComparisonResult | McNemarCurve | QStatisticResult,
        **options: Any,
    ) -> Self:
        """Plot results of comparisons of the same two models.

        Parameters
        ----------
        *results : AnytimeComparisonResult, McNemarCurve or QStatisticResult
            At most one of each kind, in any order.
        **options
            Options of `plot`: `ax` (one per statistic), `legend`, `styles` by "q", "mcnemar" and
            "anytime", and properties of all lines.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no result, two of a kind, or results of different models.
        TypeError
            If a result is of another kind.
        """
        if not results:
            raise ValueError("Give at least one result to plot.")
        return cls(**_by_statistic(results)).plot(**options)

    @classmethod
    def from_losses(
        cls,
        loss_a: ArrayLike,
        loss_b: ArrayLike,
        *,
        forgetting: Forgetting | str = "window:1000",
        sample_weight: ArrayLike | None = None,
        bounds: tuple[float, float] = (0, 1),
        alpha: float = 0.05,
        names: Sequence[str] = ("A", "B"),
        rows: str = "rows",
        drifts: Drifts = (),
        **options: Any,
    ) -> Self:
        """Compute and plot all statistics that the losses allow.

        Parameters
        ----------
        loss_a, loss_b : array-like of shape (n_rows,)
            Losses of the two models, in stream order, within `bounds`. McNemar's statistic is
            shown for 0/1 losses only.
        forgetting : Forgetting or str, default="window:1000"
            What the Q statistic and McNemar's statistic remember.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights; None: every row counts once.
        bounds : tuple of two float, default=(0, 1)
            Smallest and largest possible loss; the smallest at least 0.
        alpha : float, default=0.05
            One minus the confidence of the sequence.
        names : sequence of two str, default=("A", "B")
            Names of the models.
        rows : str, default="rows"
            Which rows these are, in words.
        drifts : sequence of (int or pair of int), default=()
            Known drifts among these rows: first rows of a new concept, or pairs ``(start, end)`` of
            a gradual change.
        **options
            Options of `plot`: `ax` (one per statistic), `legend`, `styles` by "q", "mcnemar" and
            "anytime", and properties of all lines.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn.
        """
        a, b = np.asarray(loss_a), np.asarray(loss_b)
        weight = as_weights(sample_weight, a.size)
        largest = 1.0 if weight is None or not weight.any() else float(weight.max())
        band = {"bounds": bounds, "alpha": alpha, "largest_weight": largest}
        found = _compared([(a, b, weight)], forgetting, names, **band)
        return cls(**found, rows=rows, drifts=drifts).plot(**options)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred_a: ArrayLike, y_pred_b: ArrayLike, **options: Any
    ) -> Self:
        """Compute and plot all statistics of the predictions of two classifiers.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels, in stream order.
        y_pred_a, y_pred_b : array-like of shape (n_rows,)
            Predictions of the two models, labels of the same kind.
        **options
            Further parameters of `from_losses`, such as `forgetting` and `names`.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If lengths differ, or a label or a prediction is missing.
        """
        return cls.from_losses(*zero_one_losses(y_true, y_pred_a, y_pred_b), **options)

    @classmethod
    def from_evaluation(
        cls,
        result: EvaluationResult,
        a: str,
        b: str,
        *,
        metric: str | None = None,
        fold: int | None = None,
        bin: int | None = None,
        forgetting: Forgetting | str | None = None,
        bounds: tuple[float, float] | None = None,
        alpha: float = 0.05,
        drifts: Drifts | None = None,
        **options: Any,
    ) -> Self:
        """Compute and plot all statistics of two models of an evaluation, row by row.

        Parameters
        ----------
        result : EvaluationResult
            Result that holds both models and kept its tape.
        a, b : str
            Names of the models.
        metric : str, default=None
            Measure whose loss of a row is looked at, as for `EvaluationResult.compare`; None: the
            first, or the 0/1 loss (of regressors the absolute error) if it has none.
        fold : int, default=None
            Fold to look at; required where there are several.
        bin : int, default=None
            Bin to look at with delayed labels; None: the last.
        forgetting : Forgetting or str, default=None
            What the Q statistic and McNemar's statistic remember: a name in the result, or any
            mechanism; None: the first one of the result.
        bounds : tuple of two float, default=None
            Smallest and largest possible loss of a regressor; required there. Classifiers have
            (0, 1), by log loss (0, 36.04) and by the Brier score of more than two classes (0, 2);
            log losses above a given bound are clipped to it.
        alpha : float, default=0.05
            One minus the confidence of the sequence.
        drifts : sequence of (int or pair of int), default=None
            Rows of the stream at which the truth is known to change, or pairs ``(start, end)``;
            None: ``result.drifts``; (): none.
        **options
            Options of `plot`: `ax` (one per statistic), `legend`, `styles` by "q", "mcnemar" and
            "anytime", and properties of all lines.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn. Its rows are those on which both models were scored.

        Raises
        ------
        ValueError
            If the result has no tape or several folds, `bounds` are missing, the measure is not
            the mean of losses of rows, or there is no such forgetting mechanism.
        KeyError
            If there is no such model or measure.
        """
        loss = row_loss(result, "q", metric)
        rows = compared_rows(result, a, b, loss, fold=fold, bin=bin)
        if bounds is None:
            bounds = loss.bounds
            if bounds is None:
                raise ValueError(f"The confidence sequence of regressors {BOUNDS_NEEDED}.")
        pieces = ((piece.a, piece.b, piece.weight) for piece in rows.pieces(bounds))
        band = {"bounds": bounds, "alpha": alpha, "largest_weight": rows.largest_weight}
        return cls(
            **_compared(pieces, row_mechanism(result, "q", forgetting), (a, b), **band),
            rows=f"rows on which both were scored, of {rows.place}",
            drifts=_among(rows, as_drifts(result.drifts if drifts is None else drifts)),
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        shown, (width, height) = self._given(), PANEL_INCHES
        return Layout(shown, len(shown), (width, height * len(shown) + 0.5))

    def _draw(self, canvas: Canvas) -> None:
        for ax, (name, one) in zip(canvas.axes, self._given().items(), strict=True):
            others = getattr(self, f"_draw_{name}")(canvas, ax, one)
            ax.axhline(0, alpha=0.7, color=ink(), linewidth=0.9, zorder=1)
            self._say_directions(ax)
            # On the other side of zero; the right corners hold the words for the directions.
            values = settled(np.asarray(canvas.lines[name].get_ydata()), UNSETTLED)
            corner = "upper left" if len(values) and np.median(values) < 0 else "lower left"
            end = float(one.checkpoints[-1]) if len(one.checkpoints) else None
            others |= draw_drifts(ax, self.drifts, end)
            made = canvas.give_legend(ax, lines={}, others=others, small=True, corner=corner)
            if made is not None and name == "mcnemar":
                made.set_title(LEGEND_TITLE, prop={"size": "small"})
        for ax in canvas.axes[-1:] if canvas.own else canvas.axes:
            count_rows_along(ax, textwrap.fill(self.rows, LONGEST_LABEL))

    def _draw_q(self, canvas: Canvas, ax: Any, q: QStatisticResult) -> dict[str, Any]:
        finite = np.where(np.isfinite(q.values), q.values, np.nan)
        line = canvas.draw_line(ax, "q", q.checkpoints, finite, CURVE_STYLE)
        ax.set_ylabel("Q statistic")
        give_title(ax, f"Q statistic, {forgetting_words(q.forgetting.name)}")
        _spread_around_zero(ax, settled(finite, UNSETTLED))
        others = {}
        for infinity, edge, marker in ((np.inf, 0.97, "^"), (-np.inf, 0.03, "v")):
            beyond = q.checkpoints[q.values == infinity]
            sign = "+" if infinity > 0 else "−"
            if len(beyond):
                edges = np.full(len(beyond), edge)
                style = {"color": line.get_color(), "transform": ax.get_xaxis_transform()}
                (mark,) = ax.plot(beyond, edges, marker, markersize=4, **style)
                others[f"{sign} infinite"] = mark
        return others

    def _draw_mcnemar(self, canvas: Canvas, ax: Any, mcnemar: McNemarCurve) -> dict[str, Any]:
        rows, statistics = mcnemar.checkpoints, mcnemar.statistics
        canvas.draw_line(ax, "mcnemar", rows, statistics, CURVE_STYLE)
        ax.set_ylabel("signed McNemar")
        words = forgetting_words(mcnemar.forgetting.name)
        give_title(ax, f"Signed McNemar statistic, {words}")
        others = {}
        thresholds = np.stack([mcnemar.thresholds(level) for level in LEVELS])
        for level, sizes, dashes in zip(LEVELS, thresholds, THRESHOLD_STYLES, strict=True):
            if np.isnan(sizes).all():
                continue  # so few rows count that there is no threshold
            marks = {"color": CERTAIN_COLOR, "linewidth": 1.1, "linestyle": dashes, "zorder": 2}
            ax.plot(rows, -sizes, **marks)
            when = "" if np.ptp(sizes) == 0 else " at the end"
            label = f"{100 * (1 - level):.0f} %, ±{sizes[-1]:.3f}{when}"
            (others[label],) = ax.plot(rows, sizes, **marks)
        known = statistics[np.isfinite(statistics)]
        if np.max(np.abs(known), initial=0.0) > LARGEST_LINEAR_STATISTIC:
            ax.set_yscale("symlog", linthresh=LINEAR_UP_TO, linscale=1.2)
            ax.yaxis.set_major_formatter("{x:,.0f}")
        _spread_around_zero(ax, known, least=1.25 * np.nanmax(thresholds, initial=1.0))
        return others

    def _draw_anytime(
        self, canvas: Canvas, ax: Any, anytime: AnytimeComparisonResult
    ) -> dict[str, Any]:
        rows, ends = anytime.checkpoints, (anytime.lower, anytime.upper)
        line = canvas.draw_line(ax, "anytime", rows, anytime.differences, CURVE_STYLE)
        ax.set_ylabel("mean loss difference")
        give_title(ax, f"Mean loss difference, {forgetting_words('cumulative')}")
        area = {"color": line.get_color(), "alpha": 0.22, "linewidth": 0}
        level = f"{100 * (1 - anytime.alpha):g} %, at all rows at once"
        others = {"mean so far": line, level: ax.fill_between(rows, *ends, **area)}
        curves = [settled(values, UNSETTLED) for values in (anytime.differences, *ends)]
        _spread_around_zero(ax, np.concatenate(curves))
        if anytime.first_certain_row is not None:
            words = f"first certain: row {anytime.first_certain_row:,}"
            style = {"color": CERTAIN_COLOR, "linewidth": 1.2}
            others[words] = ax.axvline(anytime.first_certain_row, **style)
        return others

    def _say_directions(self, ax: Any) -> None:
        """Say in words what up and down mean, in the margins above and below the curves."""
        most = LONGEST_DIRECTION * ax.get_window_extent().width
        box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
        style = {"fontsize": DIRECTION_FONT, "alpha": 0.8, "bbox": box, "zorder": 4, "ha": "right"}
        places = ((self.names[1], "↑", 0.98, "top"), (self.names[0], "↓", 0.02, "bottom"))
        for name, arrow, height, side in places:
            words = f"{name} is better {arrow}"
            place = {"transform": ax.transAxes, "va": side, "parse_math": False}
            text = ax.text(0.99, height, words, **place, **style)
            kept = len(name)
            while kept > 1 and text.get_window_extent().width > most:
                kept -= 1 + kept // 20
                text.set_text(f"{name[:kept]}… is better {arrow}")

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, one in self._given().items():
            yield {
                "row": one.checkpoints,
                "statistic": name,
                "value": getattr(one, STATISTICS[name][1]),
                "lower": getattr(one, "lower", np.nan),
                "upper": getattr(one, "upper", np.nan),
            }

    def _summary(self) -> str:
        parts = []
        for name, one in self._given().items():
            words, values = STATISTICS[name]
            parts.append(f"{words} {getattr(one, values)[-1]:.3g}")
        if self.anytime is not None:
            parts[-1] += f" in [{self.anytime.lower[-1]:.3g}, {self.anytime.upper[-1]:.3g}]"
        names = ", ".join(self.names)
        return f"{names}; {', '.join(parts)} after {one.checkpoints[-1]:,} rows"


def _compared(
    pieces: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    forgetting: Forgetting | str,
    names: Sequence[str],
    **band: Any,
) -> dict[str, Any]:
    """Statistics of losses and weights that come some rows at a time, by their names."""
    running: dict[str, Any] = {
        "q": RunningQStatistic(forgetting, names=names),
        "mcnemar": RunningMcNemar(forgetting, names=names),
        "anytime": RunningAnytimeComparison(names=names, **band),
    }
    for a, b, weight in pieces:
        if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
            running.pop("mcnemar", None)
        for one in running.values():
            one.update(a, b, sample_weight=weight)
    return {name: one.result() for name, one in running.items()}


def _among(rows: ComparedRows, drifts: Sequence[Drift]) -> tuple[Drift, ...]:
    """Return drifts in compared rows, instead of all rows; none where these are a set at once."""
    if not drifts or rows.tape.sets is not None:
        return ()
    ends = np.array(drifts).ravel()
    places = np.zeros(len(ends), dtype=np.int64)
    for some in rows.scored():
        places += np.searchsorted(some + 1, ends, side="right")
    return as_drifts(places.reshape(-1, 2))


def _by_statistic(results: Sequence[Any]) -> dict[str, Any]:
    """Results by the statistics that they are of, as the constructor takes them."""
    kinds = {QStatisticResult: "q", McNemarCurve: "mcnemar", AnytimeComparisonResult: "anytime"}
    found: dict[str, Any] = {}
    for result in results:
        name = kinds.get(type(result))
        if name is None:
            raise TypeError(
                "Expected an AnytimeComparisonResult, a McNemarCurve or a QStatisticResult. Got "
                f"{type(result).__name__}; two models of an evaluation are compared by "
                "from_evaluation."
            )
        if name in found:
            raise ValueError(f"Got two results of the kind {type(result).__name__}.")
        found[name] = result
    return found


def _spread_around_zero(ax: Any, values: np.ndarray, least: float = 0.0) -> None:
    """Set the limits of the vertical axis to hold the values and zero, with a margin."""
    low = float(np.min(values, initial=min(0.0, -least)))
    high = float(np.max(values, initial=max(0.0, least)))
    margin = MARGIN * (high - low) or 1.0
    if ax.get_yscale() == "symlog":
        ax.set_ylim(SYMLOG_MARGIN * low, SYMLOG_MARGIN * high)
    else:
        ax.set_ylim(low - margin, high + margin)
