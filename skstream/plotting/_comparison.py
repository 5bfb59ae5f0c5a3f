"""Two models compared over the stream."""

import textwrap
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from skstream.evaluation import EvaluationResult
from skstream.evaluation._compare import BOUNDS_NEEDED, row_losses
from skstream.forgetting import Forgetting
from skstream.plotting._prequential import COLORS
from skstream.stats import (
    AnytimeComparisonResult,
    McNemarCurve,
    QStatisticResult,
    RunningMcNemar,
    RunningQStatistic,
    anytime_comparison,
)
from skstream.utils._optional import optional_import

PANEL_INCHES = (8.0, 2.3)
CURVE_COLOR, CERTAIN_COLOR = COLORS[0], COLORS[1]
LEGEND = {
    "loc": "upper left",
    "bbox_to_anchor": (1.0, 1.0),
    "frameon": False,
    "fontsize": "small",
    "alignment": "left",
}
LONGEST_LINE = 105  # characters of the title before it is broken
LEVELS = (0.05, 0.01)  # of McNemar's test
THRESHOLD_STYLES = ((0, (4, 3)), (0, (1, 2)))
# Beyond this a linear scale would press the thresholds of McNemar's test into one line.
LARGEST_LINEAR_STATISTIC = 60.0
LINEAR_UP_TO = 10.0
# Share of the checkpoints whose intervals are too wide to set the scale.
UNSETTLED = 0.1


class ComparisonDisplay:
    """Comparison of two models over the stream, one panel per statistic.

    Shows any of the Q statistic, the signed McNemar statistic with its thresholds, and the
    confidence sequence of the mean loss difference. In all of them values above zero say that
    the second model is ahead.

    Parameters
    ----------
    names : sequence of two str
        The models.
    q_rows, q_values : ndarray of shape (n_checkpoints,), default=None
        Q statistic; infinite values are left out of the curve.
    mcnemar_rows, mcnemar_statistics : ndarray of shape (n_checkpoints,), default=None
        Signed McNemar statistic.
    mcnemar_thresholds : ndarray of shape (2, n_checkpoints), default=None
        Size of the statistic that is significant at 5 % and at 1 %; NaN: there is no p-value.
        None: 3.841 and 6.635, for counts of rows that are neither faded nor weighted.
    anytime_rows, differences, lower, upper : ndarray of shape (n_checkpoints,), default=None
        Mean loss difference, first model minus second, and its confidence sequence.
    first_certain_row : int, default=None
        Row at which the difference was certain for the first time.
    alpha : float, default=0.05
        One minus the confidence of the sequence.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        All panels.
    figure_ : matplotlib Figure
        Their figure.

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
    ...     names=("sgd", "bayes"), q_rows=np.array([10, 20]), q_values=np.array([0.0, 0.41])
    ... )
    ComparisonDisplay(sgd, bayes; Q 0.41 after 20 rows; see plot(), frame())
    """

    def __init__(
        self,
        *,
        names: Sequence[str],
        q_rows: np.ndarray | None = None,
        q_values: np.ndarray | None = None,
        mcnemar_rows: np.ndarray | None = None,
        mcnemar_statistics: np.ndarray | None = None,
        mcnemar_thresholds: np.ndarray | None = None,
        anytime_rows: np.ndarray | None = None,
        differences: np.ndarray | None = None,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
        first_certain_row: int | None = None,
        alpha: float = 0.05,
    ):
        self.names = names
        self.q_rows = q_rows
        self.q_values = q_values
        self.mcnemar_rows = mcnemar_rows
        self.mcnemar_statistics = mcnemar_statistics
        self.mcnemar_thresholds = mcnemar_thresholds
        self.anytime_rows = anytime_rows
        self.differences = differences
        self.lower = lower
        self.upper = upper
        self.first_certain_row = first_certain_row
        self.alpha = alpha

    @classmethod
    def from_results(
        cls, *results: AnytimeComparisonResult | McNemarCurve | QStatisticResult, ax: Any = None
    ) -> Self:
        """Plot results of comparisons of the same two models.

        Parameters
        ----------
        *results : AnytimeComparisonResult, McNemarCurve or QStatisticResult
            At most one of each kind, in any order.
        ax : matplotlib Axes or sequence of them, default=None
            One per result; None: a new figure.

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
        if not results:
            raise ValueError("Give at least one result to plot.")
        return cls(names=results[0].names, **arrays).plot(ax=ax)

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
        ax: Any = None,
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
        ax : matplotlib Axes or sequence of them, default=None
            One per statistic; None: a new figure.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn.
        """
        a, b = np.asarray(loss_a), np.asarray(loss_b)
        running: list[Any] = [RunningQStatistic(forgetting, names=names)]
        if np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all():
            running.append(RunningMcNemar(forgetting, names=names))
        curves = [one.update(a, b, sample_weight).result() for one in running]
        anytime = anytime_comparison(
            a, b, sample_weight=sample_weight, bounds=bounds, alpha=alpha, names=names
        )
        return cls.from_results(*curves, anytime, ax=ax)

    @classmethod
    def from_evaluation(
        cls,
        result: EvaluationResult,
        a: str,
        b: str,
        *,
        fold: int | None = None,
        bin: int | None = None,
        forgetting: Forgetting | str = "window:1000",
        bounds: tuple[float, float] | None = None,
        alpha: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Compute and plot all statistics of two models of an evaluation, row by row.

        Parameters
        ----------
        result : EvaluationResult
            Result that holds both models and kept its tape.
        a, b : str
            Names of the models.
        fold : int, default=None
            Fold to look at; required where there are several.
        bin : int, default=None
            Bin to look at under delayed labels; None: the last.
        forgetting : Forgetting or str, default="window:1000"
            What the Q statistic and McNemar's statistic remember.
        bounds : tuple of two float, default=None
            Smallest and largest possible absolute error of a regressor; required there. Classifiers
            have (0, 1).
        alpha : float, default=0.05
            One minus the confidence of the sequence.
        ax : matplotlib Axes or sequence of them, default=None
            One per statistic; None: a new figure.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn. Its rows are those on which both models were scored.

        Raises
        ------
        ValueError
            If the result has no tape or several folds, or `bounds` are missing.
        KeyError
            If there is no such model.
        """
        loss_a, loss_b, weight = row_losses(result, a, b, fold=fold, bin=bin)
        if bounds is None:
            if result.classes is None:
                raise ValueError(f"The confidence sequence of regressors {BOUNDS_NEEDED}.")
            bounds = (0, 1)
        return cls.from_losses(
            loss_a,
            loss_b,
            sample_weight=weight,
            forgetting=forgetting,
            bounds=bounds,
            alpha=alpha,
            names=(a, b),
            ax=ax,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            One per statistic, in the order Q, McNemar, confidence sequence; None: a new figure.

        Returns
        -------
        self : ComparisonDisplay
            With `ax_`, `axes_` and `figure_`.

        Raises
        ------
        ValueError
            If there is no statistic, or there are not as many axes as statistics.
        """
        pyplot = optional_import("matplotlib.pyplot", "ComparisonDisplay")
        panels = [
            draw
            for draw, values in (
                (self._draw_q, self.q_values),
                (self._draw_mcnemar, self.mcnemar_statistics),
                (self._draw_anytime, self.differences),
            )
            if values is not None
        ]
        if not panels:
            raise ValueError("There is nothing to plot: no statistic was given.")
        if ax is None:
            width, height = PANEL_INCHES
            _, ax = pyplot.subplots(
                len(panels),
                1,
                sharex=True,
                layout="constrained",
                figsize=(width, height * len(panels) + 0.5),
            )
            np.ravel(ax)[0].xaxis.get_major_locator().set_params(integer=True)
        axes = np.ravel(np.asarray(ax, dtype=object))
        if len(axes) != len(panels):
            raise ValueError(
                f"ax must hold one Axes per statistic: {len(panels)} statistics, got {len(axes)}."
            )
        for one, draw in zip(axes, panels, strict=True):
            draw(one)
            self._finish(one)
        axes[0].set_title(self._title(), loc="left", fontsize="small", color="0.35")
        axes[-1].set_xlabel("rows")
        self.axes_ = axes
        self.ax_ = axes[0]
        self.figure_ = axes[0].figure
        return self

    def _draw_q(self, ax: Any) -> None:
        values = np.asarray(self.q_values)
        finite = np.where(np.isfinite(values), values, np.nan)
        ax.plot(self.q_rows, finite, color=CURVE_COLOR, linewidth=1.3)
        ax.set_ylabel("Q statistic")
        spread_around_zero(ax, settled(finite))
        rows = np.asarray(self.q_rows)
        for infinity, edge, marker in ((np.inf, 0.97, "^"), (-np.inf, 0.03, "v")):
            beyond = rows[values == infinity]
            sign = "+" if infinity > 0 else "−"
            if len(beyond):
                ax.plot(
                    beyond,
                    np.full(len(beyond), edge),
                    marker,
                    color=CURVE_COLOR,
                    markersize=4,
                    transform=ax.get_xaxis_transform(),
                    label=f"{sign} infinite",
                )
        if np.isinf(values).any():
            ax.legend(**LEGEND)

    def _draw_mcnemar(self, ax: Any) -> None:
        statistics = np.asarray(self.mcnemar_statistics)
        ax.plot(self.mcnemar_rows, statistics, color=CURVE_COLOR, linewidth=1.3)
        ax.set_ylabel("signed McNemar")
        thresholds = self._mcnemar_thresholds()
        for level, sizes, style in zip(LEVELS, thresholds, THRESHOLD_STYLES, strict=True):
            if np.isnan(sizes).all():
                continue  # so few rows count that there is no threshold
            constant = np.ptp(sizes) == 0
            about = f"±{sizes[-1]:.3f}" + ("" if constant else " at the end")
            label = f"{100 * (1 - level):.0f} %, {about}"
            for sign in (1, -1):
                ax.plot(
                    self.mcnemar_rows,
                    sign * sizes,
                    color=CERTAIN_COLOR,
                    linewidth=1.1,
                    linestyle=style,
                    zorder=2,
                    label=label if sign == 1 else None,
                )
        largest = float(np.max(np.abs(statistics)))
        if largest > LARGEST_LINEAR_STATISTIC:
            ax.set_yscale("symlog", linthresh=LINEAR_UP_TO, linscale=1.2)
            ax.yaxis.set_major_formatter("{x:,.0f}")
        least = 1.25 * np.nanmax(thresholds, initial=1.0)
        spread_around_zero(ax, statistics, least=least)
        if not np.isnan(thresholds).all():
            title = "one look,\nindependent rows"
            ax.legend(title=title, title_fontsize="small", **LEGEND)

    def _mcnemar_thresholds(self) -> np.ndarray:
        """Sizes of the statistic that are significant, shape (n_levels, n_checkpoints)."""
        if self.mcnemar_thresholds is not None:
            return np.asarray(self.mcnemar_thresholds)
        quantiles = chi2.isf(LEVELS, 1)
        return np.repeat(quantiles[:, np.newaxis], len(np.asarray(self.mcnemar_rows)), axis=1)

    def _draw_anytime(self, ax: Any) -> None:
        label = f"{100 * (1 - self.alpha):g} %, at all\nrows at once"
        ax.fill_between(
            self.anytime_rows,
            self.lower,
            self.upper,
            color=CURVE_COLOR,
            alpha=0.22,
            linewidth=0,
            label=label,
        )
        ax.plot(
            self.anytime_rows,
            self.differences,
            color=CURVE_COLOR,
            linewidth=1.3,
            label="mean so far",
        )
        ax.set_ylabel("mean loss difference")
        ends = [settled(np.asarray(values)) for values in (self.lower, self.upper)]
        spread_around_zero(ax, np.concatenate(ends))
        if self.first_certain_row is not None:
            ax.axvline(
                self.first_certain_row,
                color=CERTAIN_COLOR,
                linewidth=1.2,
                label=f"first certain:\nrow {self.first_certain_row:,}",
            )
        ax.legend(**LEGEND)

    def _finish(self, ax: Any) -> None:
        ax.axhline(0, color="0.35", linewidth=0.9, zorder=1)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)

    def _title(self) -> str:
        text = f"above zero: {self.names[1]} ahead;  below: {self.names[0]} ahead"
        return textwrap.fill(text, LONGEST_LINE)

    def frame(self) -> Any:
        """Return the data of the plot.

        Returns
        -------
        frame : pandas.DataFrame
            Columns n_rows, statistic ("q", "mcnemar" or "anytime"), value, and lower and upper
            (NaN but for "anytime").
        """
        pandas = optional_import("pandas", "frame()")
        parts = [
            pandas.DataFrame(
                {
                    "n_rows": rows,
                    "statistic": statistic,
                    "value": values,
                    "lower": np.nan if lower is None else lower,
                    "upper": np.nan if upper is None else upper,
                }
            )
            for statistic, rows, values, lower, upper in (
                ("q", self.q_rows, self.q_values, None, None),
                ("mcnemar", self.mcnemar_rows, self.mcnemar_statistics, None, None),
                ("anytime", self.anytime_rows, self.differences, self.lower, self.upper),
            )
            if values is not None
        ]
        return pandas.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        parts, n_rows = [], 0
        if self.q_values is not None and self.q_rows is not None:
            parts.append(f"Q {self.q_values[-1]:.3g}")
            n_rows = self.q_rows[-1]
        if self.mcnemar_statistics is not None and self.mcnemar_rows is not None:
            parts.append(f"signed McNemar {self.mcnemar_statistics[-1]:.3g}")
            n_rows = self.mcnemar_rows[-1]
        if self.differences is not None and self.anytime_rows is not None:
            ends = (
                ""
                if self.lower is None or self.upper is None
                else (f" in [{self.lower[-1]:.3g}, {self.upper[-1]:.3g}]")
            )
            parts.append(f"mean loss difference {self.differences[-1]:.3g}{ends}")
            n_rows = self.anytime_rows[-1]
        return (
            f"{type(self).__name__}({self.names[0]}, {self.names[1]}; {', '.join(parts)} after "
            f"{n_rows:,} rows; see plot(), frame())"
        )


def arrays_of(result: Any) -> dict[str, Any]:
    """Return the constructor arguments that hold a result."""
    if isinstance(result, QStatisticResult):
        return {"q_rows": result.rows, "q_values": result.values}
    if isinstance(result, McNemarCurve):
        return {
            "mcnemar_rows": result.rows,
            "mcnemar_statistics": result.statistics,
            "mcnemar_thresholds": np.stack([result.thresholds(level) for level in LEVELS]),
        }
    if isinstance(result, AnytimeComparisonResult):
        return {
            "anytime_rows": result.rows,
            "differences": result.differences,
            "lower": result.lower,
            "upper": result.upper,
            "first_certain_row": result.first_certain_row,
            "alpha": result.alpha,
        }
    raise TypeError(
        f"Expected an AnytimeComparisonResult, a McNemarCurve or a QStatisticResult. Got "
        f"{type(result).__name__}."
    )


def settled(values: np.ndarray) -> np.ndarray:
    """Return the finite values after the first few, which swing wildly on few rows."""
    later = values[int(len(values) * UNSETTLED) :]
    later = later[np.isfinite(later)]
    return later if len(later) else np.zeros(1)


def spread_around_zero(ax: Any, values: np.ndarray, least: float = 0.0) -> None:
    """Set the limits of the vertical axis to hold the values and zero, with a margin."""
    low, high = min(float(values.min()), -least), max(float(values.max()), least)
    low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.12 * (high - low) or 1.0
    if ax.get_yscale() == "symlog":
        ax.set_ylim(1.6 * low, 1.6 * high)
    else:
        ax.set_ylim(low - margin, high + margin)
