"""Two models compared over the stream."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from skstream.evaluation import EvaluationResult
from skstream.evaluation._results._compare import compared_answers, row_mechanism
from skstream.evaluation._results._compared_rows import ComparedAnswers, bounds_of, row_loss
from skstream.evaluation._results._protocol_words import forgetting_words
from skstream.evaluation._results._row_tests import BOUNDS_NEEDED
from skstream.forgetting import Forgetting
from skstream.plotting._axes import count_rows_along, give_title, plain_look
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._drifts import Drifts, draw_drifts
from skstream.plotting._limits import settled
from skstream.plotting._lines import COLORS, ink
from skstream.stats import AnytimeComparisonResult, McNemarCurve, QStatisticResult
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.stats._mcnemar import RunningMcNemar, zero_one_losses
from skstream.stats._q_statistic import RunningQStatistic
from skstream.stats._weights import as_weights
from skstream.streams import Drift
from skstream.streams._drifts import as_drifts

PANEL_INCHES = (8.0, 2.3)
CURVE_STYLE = {"color": COLORS[0], "linewidth": 1.3}
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
    """Comparison of two models over the stream, one panel per statistic.

    Shows any of the Q statistic, the signed McNemar statistic with its thresholds, and the
    confidence sequence of the mean loss difference. In all of them values above zero say that
    the second model is ahead.

    `to_frame` has the columns row, statistic ("q", "mcnemar" or "anytime"), value, lower and
    upper (NaN but for "anytime").

    Parameters
    ----------
    names : sequence of two str
        The models.
    q_checkpoints, q_values : ndarray of shape (n_checkpoints,), default=None
        Q statistic; infinite values are left out of the curve.
    mcnemar_checkpoints, mcnemar_statistics : ndarray of shape (n_checkpoints,), default=None
        Signed McNemar statistic.
    mcnemar_thresholds : ndarray of shape (2, n_checkpoints), default=None
        Size of the statistic that is significant at 5 % and at 1 %; NaN: there is no p-value.
        None: 3.841 and 6.635.
    anytime_checkpoints, differences, lower, upper : ndarray of shape (n_checkpoints,), default=None
        Mean loss difference, first model minus second, and its confidence sequence.
    first_certain_row : int, default=None
        Row at which the difference was certain for the first time.
    alpha : float, default=0.05
        One minus the confidence of the sequence.
    q_forgetting, mcnemar_forgetting : str, default=None
        Names of the mechanisms under which the two statistics were computed.
    rows : str, default="rows"
        Which rows these are, in words; below the last panel.
    drifts : sequence of (int or pair of int), default=()
        Which of these rows are known to be the first ones of another truth, or pairs ``(start,
        end)`` of a gradual change.

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
    >>> import numpy as np
    >>> from skstream.plotting import ComparisonDisplay
    >>> ComparisonDisplay(
    ...     names=("sgd", "bayes"), q_checkpoints=np.array([10, 20]), q_values=np.array([0.0, 0.41])
    ... )
    ComparisonDisplay(sgd, bayes; Q 0.41 after 20 rows; see plot(), to_frame())
    """

    names: Sequence[str]
    q_checkpoints: np.ndarray | None = None
    q_values: np.ndarray | None = None
    mcnemar_checkpoints: np.ndarray | None = None
    mcnemar_statistics: np.ndarray | None = None
    mcnemar_thresholds: np.ndarray | None = None
    anytime_checkpoints: np.ndarray | None = None
    differences: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    first_certain_row: int | None = None
    alpha: float = 0.05
    q_forgetting: str | None = None
    mcnemar_forgetting: str | None = None
    rows: str = "rows"
    drifts: Drifts = ()

    def __post_init__(self) -> None:
        as_drifts(self.drifts)
        if not self._panels():
            raise ValueError("There is nothing to plot: no statistic was given.")

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
        arrays = arrays_of_all(results)
        display = cls(names=results[0].names, **arrays)
        return display.plot(**options)

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
            Which of these rows are known to be the first ones of another truth, or pairs ``(start,
            end)`` of a gradual change.
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
        return cls._from_pieces(
            [(a, b, weight)],
            forgetting=forgetting,
            bounds=bounds,
            alpha=alpha,
            largest_weight=1.0 if weight is None or not weight.any() else float(weight.max()),
            names=names,
            rows=rows,
            drifts=drifts,
            **options,
        )

    @classmethod
    def _from_pieces(
        cls,
        pieces: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
        *,
        forgetting: Forgetting | str,
        bounds: tuple[float, float],
        alpha: float,
        largest_weight: float,
        names: Sequence[str],
        rows: str,
        drifts: Drifts = (),
        **options: Any,
    ) -> Self:
        """Plot losses and weights that come some rows at a time."""
        q = RunningQStatistic(forgetting, names=names)
        mcnemar: RunningMcNemar | None = RunningMcNemar(forgetting, names=names)
        anytime = RunningAnytimeComparison(
            bounds=bounds, alpha=alpha, largest_weight=largest_weight, names=names
        )
        for a, b, weight in pieces:
            if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
                mcnemar = None
            for running in (q, mcnemar, anytime):
                if running is not None:
                    running.update(a, b, sample_weight=weight)
        made = [one.result() for one in (q, mcnemar, anytime) if one is not None]
        display = cls(names=anytime.names, rows=rows, drifts=drifts, **arrays_of_all(made))
        return display.plot(**options)

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
            Bin to look at under delayed labels; None: the last.
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
        rows = compared_answers(result, a, b, loss, fold=fold, bin=bin)
        if bounds is None:
            bounds = bounds_of(loss, rows.n_classes)
            if bounds is None:
                raise ValueError(f"The confidence sequence of regressors {BOUNDS_NEEDED}.")
        return cls._from_pieces(
            ((*piece.losses(loss, bounds), piece.weight) for piece in rows.pieces()),
            forgetting=row_mechanism(result, "q", forgetting),
            bounds=bounds,
            alpha=alpha,
            largest_weight=rows.largest_weight,
            names=(a, b),
            rows=f"rows on which both were scored, of {rows.place}",
            drifts=_among(rows, as_drifts(result.drifts if drifts is None else drifts)),
            **options,
        )

    def _panels(self) -> dict[str, Any]:
        """How each statistic that was given is drawn."""
        panels = {
            "q": (self._draw_q, self.q_values),
            "mcnemar": (self._draw_mcnemar, self.mcnemar_statistics),
            "anytime": (self._draw_anytime, self.differences),
        }
        return {name: draw for name, (draw, values) in panels.items() if values is not None}

    def _layout(self, ax: Any) -> Layout:
        panels = self._panels()
        width, height = PANEL_INCHES
        return Layout(panels, len(panels), (width, height * len(panels) + 0.5))

    def _draw(self, canvas: Canvas) -> None:
        for ax, (name, draw) in zip(canvas.axes, self._panels().items(), strict=True):
            others = draw(canvas, ax)
            ax.axhline(0, alpha=0.7, color=ink(), linewidth=0.9, zorder=1)
            plain_look(ax)
            self._say_directions(ax)
            corner = _emptier_corner(canvas.lines[name])
            rows = canvas.lines[name].get_xdata()
            end = float(rows[-1]) if len(rows) else None
            others |= draw_drifts(ax, as_drifts(self.drifts), end)
            made = canvas.give_legend(ax, lines={}, others=others, small=True, corner=corner)
            if made is not None and name == "mcnemar":
                made.set_title(LEGEND_TITLE, prop={"size": "small"})
        for ax in canvas.axes[-1:] if canvas.own else canvas.axes:
            count_rows_along(ax, textwrap.fill(self.rows, LONGEST_LABEL))

    def _draw_q(self, canvas: Canvas, ax: Any) -> dict[str, Any]:
        values = np.asarray(self.q_values)
        finite = np.where(np.isfinite(values), values, np.nan)
        line = canvas.draw_line(ax, "q", self.q_checkpoints, finite, CURVE_STYLE)
        ax.set_ylabel("Q statistic")
        give_title(ax, _panel_title("Q statistic", self.q_forgetting))
        spread_around_zero(ax, settled(finite, UNSETTLED))
        rows = np.asarray(self.q_checkpoints)
        others = {}
        for infinity, edge, marker in ((np.inf, 0.97, "^"), (-np.inf, 0.03, "v")):
            beyond = rows[values == infinity]
            sign = "+" if infinity > 0 else "−"
            if len(beyond):
                (others[f"{sign} infinite"],) = ax.plot(
                    beyond,
                    np.full(len(beyond), edge),
                    marker,
                    color=line.get_color(),
                    markersize=4,
                    transform=ax.get_xaxis_transform(),
                )
        return others

    def _draw_mcnemar(self, canvas: Canvas, ax: Any) -> dict[str, Any]:
        statistics = np.asarray(self.mcnemar_statistics)
        canvas.draw_line(ax, "mcnemar", self.mcnemar_checkpoints, statistics, CURVE_STYLE)
        ax.set_ylabel("signed McNemar")
        give_title(ax, _panel_title("Signed McNemar statistic", self.mcnemar_forgetting))
        others = {}
        thresholds = self._mcnemar_thresholds()
        for level, sizes, dashes in zip(LEVELS, thresholds, THRESHOLD_STYLES, strict=True):
            if np.isnan(sizes).all():
                continue  # so few rows count that there is no threshold
            marks = {"color": CERTAIN_COLOR, "linewidth": 1.1, "linestyle": dashes, "zorder": 2}
            ax.plot(self.mcnemar_checkpoints, -sizes, **marks)
            when = "" if np.ptp(sizes) == 0 else " at the end"
            label = f"{100 * (1 - level):.0f} %, ±{sizes[-1]:.3f}{when}"
            (others[label],) = ax.plot(self.mcnemar_checkpoints, sizes, **marks)
        known = statistics[np.isfinite(statistics)]
        if np.max(np.abs(known), initial=0.0) > LARGEST_LINEAR_STATISTIC:
            ax.set_yscale("symlog", linthresh=LINEAR_UP_TO, linscale=1.2)
            ax.yaxis.set_major_formatter("{x:,.0f}")
        spread_around_zero(ax, known, least=1.25 * np.nanmax(thresholds, initial=1.0))
        return others

    def _mcnemar_thresholds(self) -> np.ndarray:
        """Sizes of the statistic that are significant, shape (n_levels, n_checkpoints)."""
        if self.mcnemar_thresholds is not None:
            return np.asarray(self.mcnemar_thresholds)
        quantiles = chi2.isf(LEVELS, 1)
        return np.repeat(
            quantiles[:, np.newaxis], len(np.asarray(self.mcnemar_checkpoints)), axis=1
        )

    def _draw_anytime(self, canvas: Canvas, ax: Any) -> dict[str, Any]:
        line = canvas.draw_line(
            ax, "anytime", self.anytime_checkpoints, self.differences, CURVE_STYLE
        )
        others = {"mean so far": line}
        ax.set_ylabel("mean loss difference")
        give_title(ax, _panel_title("Mean loss difference", "cumulative"))
        ends = [np.asarray(self.differences)]
        if self.lower is not None and self.upper is not None:
            others[f"{100 * (1 - self.alpha):g} %, at all rows at once"] = ax.fill_between(
                self.anytime_checkpoints,
                self.lower,
                self.upper,
                color=line.get_color(),
                alpha=0.22,
                linewidth=0,
            )
            ends += [np.asarray(self.lower), np.asarray(self.upper)]
        spread_around_zero(ax, np.concatenate([settled(values, UNSETTLED) for values in ends]))
        if self.first_certain_row is not None:
            others[f"first certain: row {self.first_certain_row:,}"] = ax.axvline(
                self.first_certain_row, color=CERTAIN_COLOR, linewidth=1.2
            )
        return others

    def _say_directions(self, ax: Any) -> None:
        """Say in words what up and down mean, in the margins above and below the curves."""
        most = LONGEST_DIRECTION * ax.get_window_extent().width
        places = ((self.names[1], "↑", 0.98, "top"), (self.names[0], "↓", 0.02, "bottom"))
        for name, arrow, height, side in places:
            text = ax.text(
                0.99,
                height,
                f"{name} is better {arrow}",
                transform=ax.transAxes,
                ha="right",
                va=side,
                fontsize=DIRECTION_FONT,
                alpha=0.8,
                parse_math=False,
                bbox={
                    "facecolor": ax.get_facecolor(),
                    "edgecolor": "none",
                    "alpha": 0.7,
                    "pad": 0.5,
                },
                zorder=4,
            )
            kept = len(name)
            while kept > 1 and text.get_window_extent().width > most:
                kept -= 1 + kept // 20
                text.set_text(f"{name[:kept]}… is better {arrow}")

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for statistic, rows, values, lower, upper in (
            ("q", self.q_checkpoints, self.q_values, None, None),
            ("mcnemar", self.mcnemar_checkpoints, self.mcnemar_statistics, None, None),
            ("anytime", self.anytime_checkpoints, self.differences, self.lower, self.upper),
        ):
            if values is not None:
                yield {
                    "row": rows,
                    "statistic": statistic,
                    "value": values,
                    "lower": np.nan if lower is None else lower,
                    "upper": np.nan if upper is None else upper,
                }

    def _summary(self) -> str:
        parts, n_rows = [], 0
        if self.q_values is not None and self.q_checkpoints is not None:
            parts.append(f"Q {self.q_values[-1]:.3g}")
            n_rows = self.q_checkpoints[-1]
        if self.mcnemar_statistics is not None and self.mcnemar_checkpoints is not None:
            parts.append(f"signed McNemar {self.mcnemar_statistics[-1]:.3g}")
            n_rows = self.mcnemar_checkpoints[-1]
        if self.differences is not None and self.anytime_checkpoints is not None:
            ends = (
                ""
                if self.lower is None or self.upper is None
                else (f" in [{self.lower[-1]:.3g}, {self.upper[-1]:.3g}]")
            )
            parts.append(f"mean loss difference {self.differences[-1]:.3g}{ends}")
            n_rows = self.anytime_checkpoints[-1]
        return f"{self.names[0]}, {self.names[1]}; {', '.join(parts)} after {n_rows:,} rows"


def _among(rows: ComparedAnswers, drifts: Sequence[Drift]) -> tuple[Drift, ...]:
    """Return drifts in compared rows, instead of all rows; none where these are a set at once."""
    if not drifts or rows.is_set:
        return ()
    ends = np.array(drifts).ravel()
    places = np.zeros(len(ends), dtype=np.int64)
    for piece in rows.pieces():
        places += np.searchsorted(piece.number, ends, side="right")
    return as_drifts(places.reshape(-1, 2))


def arrays_of_all(results: Sequence[Any]) -> dict[str, Any]:
    """Return the constructor arguments that hold results of the same two models."""
    arrays: dict[str, Any] = {}
    for result in results:
        new = arrays_of(result)
        if result.names != results[0].names:
            raise ValueError(
                f"All results must compare the same two models, in the same order. Got "
                f"{results[0].names} and {result.names}."
            )
        if new.keys() & arrays.keys():
            raise ValueError(f"Got two results of the kind {type(result).__name__}.")
        arrays |= new
    return arrays


def arrays_of(result: Any) -> dict[str, Any]:
    """Return the constructor arguments that hold a result."""
    if isinstance(result, QStatisticResult):
        return {
            "q_checkpoints": result.checkpoints,
            "q_values": result.values,
            "q_forgetting": result.forgetting.name,
        }
    if isinstance(result, McNemarCurve):
        return {
            "mcnemar_checkpoints": result.checkpoints,
            "mcnemar_statistics": result.statistics,
            "mcnemar_thresholds": np.stack([result.thresholds(level) for level in LEVELS]),
            "mcnemar_forgetting": result.forgetting.name,
        }
    if isinstance(result, AnytimeComparisonResult):
        return {
            "anytime_checkpoints": result.checkpoints,
            "differences": result.differences,
            "lower": result.lower,
            "upper": result.upper,
            "first_certain_row": result.first_certain_row,
            "alpha": result.alpha,
        }
    raise TypeError(
        f"Expected an AnytimeComparisonResult, a McNemarCurve or a QStatisticResult. Got "
        f"{type(result).__name__}; two models of an evaluation are compared by from_evaluation."
    )


def _emptier_corner(line: Any) -> str:
    """Corner on the other side of zero; the right corners contain the words for the directions."""
    values = settled(np.asarray(line.get_ydata()), UNSETTLED)
    return "upper left" if len(values) and np.median(values) < 0 else "lower left"


def _panel_title(statistic: str, forgetting: str | None) -> str:
    return statistic if forgetting is None else f"{statistic}, {forgetting_words(forgetting)}"


def spread_around_zero(ax: Any, values: np.ndarray, least: float = 0.0) -> None:
    """Set the limits of the vertical axis to hold the values and zero, with a margin."""
    low = float(np.min(values, initial=min(0.0, -least)))
    high = float(np.max(values, initial=max(0.0, least)))
    margin = MARGIN * (high - low) or 1.0
    if ax.get_yscale() == "symlog":
        ax.set_ylim(SYMLOG_MARGIN * low, SYMLOG_MARGIN * high)
    else:
        ax.set_ylim(low - margin, high + margin)
