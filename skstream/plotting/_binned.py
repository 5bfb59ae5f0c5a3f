"""Performance by the time a label is still away."""

from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np

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
    COLORS,
    LINE_WIDTH,
    Styles,
    ink,
    line_keywords,
    mark_lone_points,
    model_styles,
    uncover_edges,
    with_fates,
)
from skstream.plotting._words import axis_words, chosen, title_words
from skstream.utils._optional import optional_import

#: Widths of lines over time, from the first bin shown to the last.
THINNEST, WIDEST = 0.7, 1.8
#: What the costs count, as Grzenda et al. (2020) name them, in plain words.
COSTS = {
    "NC": "Answers while waiting, in the last 100 events",
    "NB": "Answers while waiting, kept in memory",
    "NR": "Answers while waiting, per labelled row",
}
COST_INCHES = (8.0, 6.0)


class BinnedPerformanceDisplay:
    """A measure by bin between arrival and label, for several models.

    From the first answers at the left (bin 0), over those shown while the label was awaited, to
    the last ones at the right (bin ``n_bins + 1``), given when the label came. How much a curve
    rises tells what asking again is worth; the last point alone, which is all that a
    test-then-train evaluation shows, is the most flattering one.

    Parameters
    ----------
    curves : dict of str to ndarray of shape (n_bins + 2,)
        Values by bin, by model.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    n_rows : int
        Labelled rows they were measured on.
    baselines : sequence of str, default=()
        Names of the models that are naive baselines.
    over_time : dict of (str, int) to tuple of ndarrays, default=None
        Per model and bin shown over time: labelled rows and values. For `plot_over_time`.
    poll_costs : dict of str to ndarray, default=None
        ``n_labels``, ``NC``, ``NB``, ``NR``. For `plot_costs`.
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
        The axes drawn on; the first of several.
    axes_ : ndarray of matplotlib Axes
        All axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The line of every model, of every model and bin over time, or of every cost.
    legend_ : matplotlib Legend or None
        The legend.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent
    >>> from skstream.plotting import BinnedPerformanceDisplay
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = DelayedEvaluator("accuracy", delay=20, n_bins=5)
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(500))
    >>> display = BinnedPerformanceDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("bins.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        curves: Mapping[str, np.ndarray],
        metric: str,
        forgetting: str,
        n_rows: int,
        baselines: Sequence[str] = (),
        over_time: Mapping[tuple[str, int], tuple[np.ndarray, np.ndarray]] | None = None,
        poll_costs: Mapping[str, np.ndarray] | None = None,
        measure: MeasureFacts | None = None,
        mechanism: str | None = None,
        failed: Collection[str] = (),
    ):
        self.curves = curves
        self.metric = metric
        self.forgetting = forgetting
        self.n_rows = n_rows
        self.baselines = baselines
        self.over_time = over_time
        self.poll_costs = poll_costs
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
        at: int | None = None,
        kind: str = "bins",
        bins: int | Sequence[int] | None = None,
        ax: Any = None,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Plot a result.

        Parameters
        ----------
        result : DelayedResult
            Result of a `DelayedEvaluator`.
        metric : str, default=None
            Measure; None: the first one of the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : str or sequence of str, default=None
            Models to show; None: all.
        at : int, default=None
            Labelled rows to look at, or the last checkpoint before; None: all.
        kind : {"bins", "time", "costs"}, default="bins"
            The measure by bin; some bins over time; or the costs of asking again.
        bins : int or sequence of int, default=None
            Bins shown over time; None: the first and the last one.
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure. For the costs also a sequence of three.
        legend : str, bool or dict, default="auto"
            As for `plot`.
        styles : dict of str to dict, default=None
            As for `plot`.
        **line_options
            As for `plot`.

        Returns
        -------
        display : BinnedPerformanceDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the result has no such measure, forgetting mechanism or model.
        TypeError
            If the result has no bins, or a line has no such property.
        ValueError
            If `kind`, `bins` or `legend` is none of the choices, or there is no checkpoint at
            or before `at`.
        """
        _check_binned(result)
        metric = result.metric_names[0] if metric is None else metric
        forgetting = result.forgetting_names[0] if forgetting is None else forgetting
        shown = chosen(models, result.model_names)
        picked = _picked_bins(bins, result.n_bins)
        rows = result.n_rows if at is None else result.n_rows[result.n_rows <= at]
        if not len(rows):
            raise ValueError(f"There is no checkpoint at or before {at} labelled rows.")
        costs = result.waits.poll_costs
        display = cls(
            curves={name: result.bins(name, metric, forgetting, at=at) for name in shown},
            metric=metric,
            forgetting=forgetting,
            n_rows=int(rows[-1]),
            baselines=[name for name in result.baselines if name in shown],
            over_time={
                (name, b): (rows, result.curve(name, metric, forgetting)[: len(rows), 0, b])
                for name in shown
                for b in picked
            },
            poll_costs={
                name: values[costs["n_labels"] <= rows[-1]] for name, values in costs.items()
            },
            measure=result.measures.get(metric),
            mechanism=result.mechanisms.get(forgetting),
            failed=[name for name in result.failures if name in shown],
        )
        plots: dict[str, Callable[..., Self]] = {
            "bins": display.plot,
            "time": display.plot_over_time,
            "costs": display.plot_costs,
        }
        if kind not in plots:
            raise ValueError(f"kind must be one of {list(plots)}. Got {kind!r} instead.")
        return plots[kind](ax, legend=legend, styles=styles, **line_options)

    @classmethod
    def from_bin_counts(
        cls,
        results: Sequence[Any],
        model: str,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        ax: Any = None,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Plot one model under several numbers of bins: what the number of bins shows or hides.

        Parameters
        ----------
        results : sequence of DelayedResult
            Results of the same models and delays, with different `n_bins`.
        model : str
            Model to show.
        metric : str, default=None
            Measure; None: the first one of the first result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one.
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
        display : BinnedPerformanceDisplay
            The display, drawn over the share of the wait that has passed. The first and the
            last answers, which do not depend on the number of bins, are left out.

        Raises
        ------
        ValueError
            If there is no result, or two have the same number of bins.
        TypeError
            If a result has no bins.
        """
        results = list(results)
        for one in results:
            _check_binned(one)
        counts = [one.n_bins for one in results]
        if not results or len(set(counts)) < len(counts):
            raise ValueError(
                "from_bin_counts needs results with different numbers of bins. Got "
                f"{counts or 'none'}."
            )
        first = results[0]
        metric = first.metric_names[0] if metric is None else metric
        forgetting = first.forgetting_names[0] if forgetting is None else forgetting
        display = cls(
            curves={
                f"{model}, {one.n_bins} bins": one.bins(model, metric, forgetting)
                for one in results
            },
            metric=metric,
            forgetting=forgetting,
            n_rows=int(first.n_rows[-1]),
            measure=first.measures.get(metric),
            mechanism=first.mechanisms.get(forgetting),
        )
        return display.plot_shares(ax, legend=legend, styles=styles, **line_options)

    def plot_shares(
        self,
        ax: Any = None,
        *,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the measure over the share of the wait that has passed, as one step per bin.

        Parameters
        ----------
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
        self : BinnedPerformanceDisplay
            With `ax_`, `axes_`, `figure_`, `lines_` and `legend_`.
        """
        points = {}
        for name, values in self.curves.items():
            inner = values[1:-1]
            points[name] = np.linspace(0, 1, len(inner) + 1), np.concatenate([inner[:1], inner])
        options = {"drawstyle": "steps-pre"} | line_options
        legend = check_legend(legend)
        with drawing(ax, size=size_for(self.curves)) as (axes, own):
            ax = axes[0]
            used = was_used(ax)
            self._draw_lines(ax, points, styles, options)
            widen_limits(ax, "x", 0.0, 1.0, keep=used)
            ticker = optional_import("matplotlib.ticker", "Plotting")
            ax.xaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
            ax.set_xlabel("share of the wait for the label")
            self._finish(ax, used, [values[1:-1] for values in self.curves.values()])
            give_title(ax, self._title())
            self.legend_ = give_legend(ax, legend, own=own, lines=self.lines_, end=1.0)
        return self._keep(axes)

    def plot(
        self,
        ax: Any = None,
        *,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the measure by bin, as steps; the first and the last answers are dots.

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
        self : BinnedPerformanceDisplay
            With `ax_`, `axes_`, `figure_`, `lines_` and `legend_`.

        Raises
        ------
        TypeError
            If `ax` is no matplotlib Axes, or a line has no such property.
        """
        points = {name: (np.arange(len(values)), values) for name, values in self.curves.items()}
        last = len(next(iter(self.curves.values()))) - 1
        dots = {"marker": "o", "markersize": 4, "markevery": [0, last]}
        options = {"drawstyle": "steps-mid"} | dots | line_options
        legend = check_legend(legend)
        with drawing(ax, size=size_for(self.curves)) as (axes, own):
            ax = axes[0]
            used = was_used(ax)
            self._draw_lines(ax, points, styles, options)
            ax.set_xticks(*_bin_ticks(last))
            widen_limits(ax, "x", -0.02 * last, 1.02 * last, keep=used)
            ax.set_xlabel("bin between arrival and label")
            self._finish(ax, used, list(self.curves.values()))
            give_title(ax, f"{self._title()}, after {self.n_rows:,} labelled rows")
            named = with_fates(ax, self.lines_, self.failed)
            self.legend_ = give_legend(ax, legend, own=own, lines=named, end=float(last))
        return self._keep(axes)

    def plot_over_time(
        self,
        ax: Any = None,
        *,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw some bins over the stream; a thinner line is an earlier bin.

        Parameters
        ----------
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
        self : BinnedPerformanceDisplay
            With `ax_`, `axes_`, `figure_`, `lines_` and `legend_`.
        """
        legend = check_legend(legend)
        over_time = self.over_time or {}
        bins = sorted({b for _, b in over_time})
        keywords = line_keywords(self.curves, styles, line_options)
        defaults = model_styles(list(self.curves), self.baselines)
        widths = dict(zip(bins, np.linspace(WIDEST, THINNEST, len(bins))[::-1], strict=True))
        lines: dict[str, Any] = {}
        last_bin: dict[str, Any] = {}
        keys: dict[str, Any] = {}
        with drawing(ax, size=size_for(self.curves)) as (axes, own):
            ax = axes[0]
            used = was_used(ax)
            end = 0.0
            for (name, b), (n_rows, values) in over_time.items():
                label = f"{name}, {self._bin_words(b)}"
                style = defaults[name] | {"label": label, "linewidth": widths[b]} | keywords[name]
                (lines[label],) = ax.plot(n_rows, values, **style)
                mark_lone_points(lines[label])
                last_bin[name] = lines[label]
                keys.setdefault(self._bin_words(b), _line_key(lines[label].get_linewidth()))
                end = max(end, float(n_rows[-1])) if len(n_rows) else end
            self.lines_ = lines
            if end:
                widen_limits(ax, "x", 0.0, end, keep=used)
            count_rows_along(ax, "labelled rows")
            self._finish(ax, used, [values for _, values in over_time.values()], unsettled=0.02)
            give_title(ax, self._title())
            named = with_fates(ax, last_bin, self.failed)
            self.legend_ = give_legend(
                ax, legend, own=own, lines=named, others=keys, end=end or None
            )
        return self._keep(axes)

    def plot_costs(
        self,
        ax: Any = None,
        *,
        legend: LegendChoice = "auto",
        styles: Styles | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw what asking again costs: answers given lately, kept in memory, and per row.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of three, default=None
            One per cost, or one for all; None: a new figure with three.
        legend : str, bool or dict, default="auto"
            As for `plot`; three axes name what they show beside them and have no legend.
        styles : dict of str to dict, default=None
            Properties of the lines of some costs, "NC", "NB" and "NR".
        **line_options
            As for `plot`.

        Returns
        -------
        self : BinnedPerformanceDisplay
            With `ax_`, `axes_`, `figure_`, `lines_` and `legend_`.
        """
        legend = check_legend(legend)
        if self.poll_costs is None:
            raise ValueError("There is nothing to plot: no poll_costs were given.")
        keywords = line_keywords(COSTS, styles, line_options)
        rows = self.poll_costs["n_labels"]
        together = ax is not None and np.size(np.asarray(ax, dtype=object)) == 1
        self.lines_ = {}
        with drawing(ax, 1 if together else len(COSTS), size=COST_INCHES) as (axes, own):
            for k, (cost, words) in enumerate(COSTS.items()):
                one = axes[0] if together else axes[k]
                used = was_used(one)
                style = {"color": COLORS[k if together else 0], "linewidth": LINE_WIDTH}
                style |= {"label": words} | keywords[cost]
                values = self.poll_costs[cost]
                (self.lines_[cost],) = one.plot(rows, values, **style)
                mark_lone_points(self.lines_[cost])
                largest = 1.05 * float(np.max(values, initial=0.0)) or 1.0
                widen_limits(one, "y", 0.0, largest, keep=used)
                uncover_edges(one, [self.lines_[cost]])
                one.yaxis.set_major_formatter("{x:,.6g}")
                if len(rows):
                    widen_limits(one, "x", 0.0, float(rows[-1]), keep=used)
                one.set_ylabel("answers")
                plain_look(one)
                if not together:
                    give_title(one, words)
            count_rows_along(axes[-1], "labelled rows")
            self.legend_ = None
            if together:
                named = {line.get_label(): line for line in self.lines_.values()}
                self.legend_ = give_legend(axes[0], legend, own=own, lines=named)
        return self._keep(axes)

    def _draw_lines(
        self,
        ax: Any,
        points: Mapping[str, tuple[np.ndarray, np.ndarray]],
        styles: Styles | None,
        line_options: Mapping[str, Any],
    ) -> None:
        keywords = line_keywords(points, styles, line_options)
        defaults = model_styles(list(points), self.baselines)
        self.lines_ = {}
        for name, (x, y) in points.items():
            (self.lines_[name],) = ax.plot(x, y, **(defaults[name] | keywords[name]))
            mark_lone_points(self.lines_[name])

    def _bin_words(self, b: int) -> str:
        last = len(next(iter(self.curves.values()))) - 1
        return {0: "at arrival", last: "at the label"}.get(b, f"in bin {b} of {last - 1}")

    def _title(self) -> str:
        return title_words(self.metric, self.forgetting, self.mechanism)

    def _finish(
        self, ax: Any, used: bool, curves: Sequence[np.ndarray], unsettled: float = 0.0
    ) -> None:
        facts = MeasureFacts.of_name(self.metric) if self.measure is None else self.measure
        limits = value_limits(curves, facts, unsettled=unsettled)
        if limits is not None:
            widen_limits(ax, "y", *limits, keep=used)
        uncover_edges(ax, self.lines_.values())
        ax.set_ylabel(axis_words(self.metric), parse_math=False)
        plain_look(ax)

    def _keep(self, axes: np.ndarray) -> Self:
        self.axes_ = axes
        self.ax_ = axes[0]
        self.figure_ = axes[0].figure
        return self

    def frame(self) -> Any:
        """Return the values by bin.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, bin, value.
        """
        pandas = optional_import("pandas", "frame()")
        return pandas.DataFrame(
            {
                "model": np.repeat(list(self.curves), [len(v) for v in self.curves.values()]),
                "bin": np.concatenate([np.arange(len(v)) for v in self.curves.values()]),
                "value": np.concatenate(list(self.curves.values())),
            }
        )

    def __repr__(self) -> str:
        ends = ", ".join(
            f"{name}: {values[0]:.4f} to {values[-1]:.4f}" for name, values in self.curves.items()
        )
        return (
            f"{type(self).__name__}({self.metric} from first to last answer after "
            f"{self.n_rows:,} rows; {ends}; see plot(), plot_over_time(), plot_costs(), frame())"
        )


def _bin_ticks(last: int) -> tuple[list[int], list[str]]:
    """Ticks at the first answer, some bins, and the last answer, with their names."""
    step = max(1, round(last / 6))
    inner = [b for b in range(step, last, step) if b <= last - step / 2]
    labels = ["arrival", *(str(b) for b in inner), "label"]
    return [0, *inner, last], labels


def _check_binned(result: Any) -> None:
    if getattr(result, "n_bins", None) is None:
        raise TypeError(
            "BinnedPerformanceDisplay shows results of a DelayedEvaluator. Got "
            f"{type(result).__name__} instead: call its plot()."
        )
    if not len(result.n_rows):
        raise ValueError("There is nothing to plot: no row was labelled.")


def _picked_bins(bins: int | Sequence[int] | None, n_bins: int) -> list[int]:
    """Return the bins to show over time, or say which there are."""
    last = n_bins + 1
    if bins is None:
        return [0, last]
    picked = np.ravel(np.asarray(bins, dtype=object)).tolist()
    for b in picked:
        if isinstance(b, bool) or not isinstance(b, Integral) or int(b) not in range(last + 1):
            raise ValueError(
                f"bins must be whole numbers from 0 (at arrival) to {last} (at the label). Got "
                f"{b!r} among them."
            )
    if not picked:
        raise ValueError(f"bins must hold at least one number from 0 to {last}.")
    return [int(b) for b in picked]


def _line_key(width: float) -> Any:
    """Return a line that stands for all lines of a width in a legend."""
    lines = optional_import("matplotlib.lines", "Plotting")
    return lines.Line2D([], [], color=ink(), linewidth=width)
