"""Measures over the stream."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

import numpy as np

from skstream.evaluation import EvaluationResult
from skstream.metrics import MeasureFacts
from skstream.plotting._axes import (
    LegendChoice,
    check_legend,
    count_rows_along,
    drawing,
    give_legend,
    give_title,
    plain_look,
    size_for,
    was_used,
    widen_limits,
)
from skstream.plotting._limits import value_limits
from skstream.plotting._lines import (
    Styles,
    ink,
    line_keywords,
    mark_lone_points,
    model_styles,
    uncover_edges,
    with_fates,
)
from skstream.plotting._words import axis_words, chosen, last_values, title_words
from skstream.utils._optional import optional_import

GUESS_ALPHA = 0.08  # of the colour of texts, so that it is seen on any background
DRIFT_STYLE = {"alpha": 0.7, "linewidth": 0.8, "linestyle": (0, (4, 4)), "zorder": 1}
#: How far below (or above) the limits the grey area goes on, for readers who move them.
BEYOND_LIMITS = 10.0


class PrequentialDisplay:
    """One measure of several models over the stream.

    Models are coloured lines, baselines grey and broken. The grey area is what a naive guess
    reaches: below the best baseline where more is better, above it where less is better. A
    model inside it does not beat a naive guess. Without baselines, a measure whose naive guess
    scores 0 (a kappa) has the area up to 0; a measure of unknown direction has none. Folds show
    as the band from the lowest to the highest fold around their mean.

    Parameters
    ----------
    n_rows : ndarray of shape (n_checkpoints,)
        Rows seen at the checkpoints.
    curves : dict of str to ndarray of shape (n_checkpoints, n_folds)
        Values by model.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    baselines : sequence of str, default=()
        Names of the models that are naive baselines.
    drifts : sequence of int, default=()
        Rows at which the stream is known to change; marked by vertical lines.
    measure : MeasureFacts, default=None
        Direction, baseline and bounds of the measure, such as ``result.measures[metric]``; None:
        those of the measure of this name, if there is one.
    mechanism : str, default=None
        What the forgetting mechanism is, such as "window:1000", where `forgetting` is a name
        that the user gave it.
    failed : collection of str, default=()
        Names of the models that failed; the legend says so.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The line of every model.
    legend_ : matplotlib Legend or None
        The legend.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator, Persistent
    >>> from skstream.plotting import PrequentialDisplay
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = PrequentialEvaluator("accuracy")
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(500))
    >>> display = PrequentialDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("accuracy.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        n_rows: np.ndarray,
        curves: Mapping[str, np.ndarray],
        metric: str,
        forgetting: str,
        baselines: Sequence[str] = (),
        drifts: Sequence[int] = (),
        measure: MeasureFacts | None = None,
        mechanism: str | None = None,
        failed: Collection[str] = (),
    ):
        self.n_rows = n_rows
        self.curves = curves
        self.metric = metric
        self.forgetting = forgetting
        self.baselines = baselines
        self.drifts = drifts
        self.measure = measure
        self.mechanism = mechanism
        self.failed = failed

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        drifts: Sequence[int] = (),
        ax: Any = None,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Plot a result.

        Parameters
        ----------
        result : EvaluationResult
            Result of an evaluation without bins.
        metric : str, default=None
            Measure; None: the first one of the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : str or sequence of str, default=None
            Models to show; None: all.
        drifts : sequence of int, default=()
            Rows at which the stream is known to change.
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.
        legend : str, bool or dict, default="auto"
            As for `plot`.
        styles : dict of str to dict, default=None
            As for `plot`.
        **line_options
            As for `plot`.

        Returns
        -------
        display : PrequentialDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the result has no such measure, forgetting mechanism or model.
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If `legend` is none of the choices, or no model is named.
        """
        display = cls(**contents_of(result, metric, forgetting, models), drifts=drifts)
        return display.plot(ax, legend=legend, styles=styles, **line_options)

    def plot(
        self,
        ax: Any = None,
        *,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.
        legend : {"auto", "outside", "inside", "ends"}, bool or dict, default="auto"
            Where the names of the models stand: beside the axes, inside them, or at the ends of
            the lines. "auto": beside the axes of a new figure, inside the user's, at the ends of
            more than seven lines. False: nowhere. A dict holds keywords of matplotlib's legend.
        styles : dict of str to dict, default=None
            Properties of the lines of some models, such as ``{"sgd": {"color": "black"}}``.
        **line_options
            Properties of all lines, such as ``linewidth=2``.

        Returns
        -------
        self : PrequentialDisplay
            With `ax_`, `figure_`, `lines_` and `legend_`.

        Raises
        ------
        TypeError
            If `ax` is no matplotlib Axes, or a line has no such property.
        """
        legend = check_legend(legend)
        optional_import("matplotlib.pyplot", "Plotting")
        keywords = line_keywords(self.curves, styles, line_options)
        drifts = _rows_of(self.drifts)
        with drawing(ax, size=size_for(self.curves)) as ((ax,), own):
            used = was_used(ax)
            defaults = model_styles(list(self.curves), self.baselines)
            lines: dict[str, Any] = {}
            others: dict[str, Any] = {}
            for name, curve in self.curves.items():
                mean = fold_mean(curve)
                (line,) = ax.plot(self.n_rows, mean, **(defaults[name] | keywords[name]))
                mark_lone_points(line)
                lines[name] = line
                if curve.shape[1] > 1:
                    others |= self._draw_spread(ax, curve, line)
            end = self._frame_axes(ax, keep=used)
            uncover_edges(ax, lines.values())
            others |= self._shade_baselines(ax)
            others |= draw_drifts(ax, drifts, end)
            give_title(ax, self._title())
            named = with_fates(ax, lines, self.failed)
            self.legend_ = give_legend(ax, legend, own=own, lines=named, others=others, end=end)
        self.lines_ = lines
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @property
    def _facts(self) -> MeasureFacts:
        return MeasureFacts.of_name(self.metric) if self.measure is None else self.measure

    def _title(self) -> str:
        n_folds = max(curve.shape[1] for curve in self.curves.values())
        folds = f", mean of {n_folds} folds" if n_folds > 1 else ""
        return title_words(self.metric, self.forgetting, self.mechanism) + folds

    def _spread_of(self, curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper edge of the band over the folds."""
        return np.fmin.reduce(curve, axis=1), np.fmax.reduce(curve, axis=1)

    def _draw_spread(self, ax: Any, curve: np.ndarray, line: Any) -> dict[str, Any]:
        """Show the folds of one model as a band; return what the legend has to explain."""
        low, high = self._spread_of(curve)
        style = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0}
        ax.fill_between(self.n_rows, low, high, **style)
        return {self._spread_words(): band_key()}

    def _spread_words(self) -> str:
        return "lowest to highest fold"

    def _best_guess(self) -> np.ndarray | None:
        """Values of the best baseline, row by row; None without baselines or direction."""
        curves = [fold_mean(self.curves[name]) for name in self.baselines]
        if not curves or self._facts.higher_is_better is None:
            return None
        best: np.ndarray = (np.fmax if self._facts.higher_is_better else np.fmin).reduce(curves)
        return best

    def _frame_axes(self, ax: Any, *, keep: bool) -> float | None:
        """Set limits and labels; return the row at the right end."""
        curves = {
            name: np.column_stack([fold_mean(curve), *self._spread_of(curve)])
            for name, curve in self.curves.items()
        }
        guess = self._best_guess()
        if guess is not None:
            # A hopeless baseline must not squeeze the models into a thin line at the top.
            curves = {name: c for name, c in curves.items() if name not in self.baselines}
        limits = value_limits(list(curves.values()), self._facts, guess)
        if limits is not None:
            widen_limits(ax, "y", *limits, keep=keep)
        end = float(self.n_rows[-1]) if len(self.n_rows) else None
        if end is not None:
            widen_limits(ax, "x", 0.0, end, keep=keep)
        count_rows_along(ax)
        ax.set_ylabel(axis_words(self.metric), parse_math=False)
        plain_look(ax)
        return end

    def _shade_baselines(self, ax: Any) -> dict[str, Any]:
        """Shade what a naive guess reaches; return what the legend has to explain."""
        facts = self._facts
        best = self._best_guess()
        if best is None and facts.baseline_is_zero and facts.higher_is_better is not None:
            best = np.zeros(len(self.n_rows))
        if best is None or len(best) < 2 or np.isnan(best).all():
            return {}
        low, high = sorted(ax.get_ylim())
        beyond = BEYOND_LIMITS * (high - low)
        worst = (
            max(low - beyond, facts.bounds[0])
            if facts.higher_is_better
            else min(high + beyond, facts.bounds[1])
        )
        style = {"color": ink(), "alpha": GUESS_ALPHA, "zorder": 0, "linewidth": 0}
        area = ax.fill_between(self.n_rows, worst, best, **style)
        seen = np.nanmax(best) > low if facts.higher_is_better else np.nanmin(best) < high
        return {"naive guess": area} if seen else {}

    def frame(self) -> Any:
        """Return the data of the plot.

        Returns
        -------
        frame : pandas.DataFrame
            Columns n_rows, model, fold, value.
        """
        pandas = optional_import("pandas", "frame()")
        parts = []
        for name, curve in self.curves.items():
            n_checkpoints, n_folds = curve.shape
            parts.append(
                pandas.DataFrame(
                    {
                        "n_rows": np.tile(self.n_rows, n_folds),
                        "model": name,
                        "fold": np.repeat(np.arange(n_folds), n_checkpoints),
                        "value": curve.T.ravel(),
                    }
                )
            )
        return pandas.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        last = last_values([(name, fold_mean(curve)) for name, curve in self.curves.items()])
        return (
            f"{type(self).__name__}({self.metric}, {self.forgetting}; {last}; see plot(), frame())"
        )


def contents_of(
    result: Any, metric: str | None, forgetting: str | None, models: str | Sequence[str] | None
) -> dict[str, Any]:
    """Return the constructor arguments that hold a result without bins."""
    if not isinstance(result, EvaluationResult):
        raise TypeError(f"Expected the result of an evaluation. Got {type(result).__name__}.")
    if getattr(result, "n_bins", None) is not None:
        raise TypeError(
            f"A {type(result).__name__} has bins between arrival and label: plot it with "
            "BinnedPerformanceDisplay, or call its plot()."
        )
    metric = result.metric_names[0] if metric is None else metric
    forgetting = result.forgetting_names[0] if forgetting is None else forgetting
    shown = chosen(models, result.model_names)
    return {
        "n_rows": result.n_rows,
        "curves": {name: result.curve(name, metric, forgetting) for name in shown},
        "metric": metric,
        "forgetting": forgetting,
        "baselines": [name for name in result.baselines if name in shown],
        "measure": result.measures.get(metric),
        "mechanism": result.mechanisms.get(forgetting),
        "failed": [name for name in result.failures if name in shown],
    }


def draw_drifts(ax: Any, rows: np.ndarray, end: float | None) -> dict[str, Any]:
    """Mark the rows at which the stream is known to change; return what is to be explained."""
    if end is None:
        return {}
    marks = [ax.axvline(row, color=ink(), **DRIFT_STYLE) for row in rows if 0 <= row <= end]
    return {"known drift": marks[0]} if marks else {}


def _rows_of(drifts: Any) -> np.ndarray:
    try:
        rows = np.asarray(drifts, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        rows = np.array([np.nan])
    if not np.isfinite(rows).all():
        raise ValueError(f"drifts must be numbers of rows. Got {drifts!r} instead.")
    return rows


def band_key() -> Any:
    """Return a patch that stands for all bands in a legend."""
    patches = optional_import("matplotlib.patches", "Plotting")
    return patches.Patch(color=ink(), alpha=0.2, linewidth=0)


def thin_line_key() -> Any:
    """Return a line that stands for all thin lines in a legend."""
    lines = optional_import("matplotlib.lines", "Plotting")
    return lines.Line2D([], [], color=ink(), alpha=0.5, linewidth=0.6)


def fold_mean(curve: np.ndarray) -> np.ndarray:
    """Mean over the folds that have a value; NaN where none has."""
    known = ~np.isnan(curve)
    count = known.sum(axis=1)
    total = np.where(known, curve, 0.0).sum(axis=1)
    mean: np.ndarray = np.divide(total, count, out=np.full(len(curve), np.nan), where=count > 0)
    return mean
