"""Performance by the time between arrival and label."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

import numpy as np

from skstream.core.result.select import numbers
from skstream.plotting._axes import (
    COLORS,
    LINE_WIDTH,
    TICK_INCHES,
    count_rows_along,
    give_title,
    inches_of,
    model_styles,
    text_scale,
    uncover_edges,
)
from skstream.plotting._base import Canvas, Layout
from skstream.plotting._marks import Drifts, Found, check_marks, draw_marks
from skstream.plotting._measure import MeasureDisplay, contents_in, names_in
from skstream.utils._choices import check_choice
from skstream.utils._optional import optional_import

Kind = Literal["bins", "time", "costs", "shares"]
#: Widths of lines over time, from the first bin shown to the last.
THINNEST, WIDEST = 0.7, 1.8
#: What the costs count, as Grzenda et al. (2020) name them, in plain words.
COSTS = {
    "NC": "Predictions while waiting, in the last 100 events",
    "NB": "Predictions while waiting, kept in memory",
    "NR": "Predictions while waiting, per labelled row",
}
COST_INCHES = (8.0, 6.0)


@dataclass(kw_only=True, repr=False, eq=False)
class BinnedPerformanceDisplay(MeasureDisplay):
    """Show a measure by bin between arrival and label, for several models.

    From the first predictions on the left (bin 0), through those while the label was awaited, to
    the last ones on the right (bin ``n_bins + 1``), made when the label came. The rise of a curve
    shows how much repeated prediction improves the score. A test-then-train evaluation shows only
    the last point, which is usually the best.

    `to_frame` has the columns model, bin and value; those over time (for the first and the last
    bin, or the selected bins) also row; and those of the costs row, cost and value. `plot` takes
    styles by model, those of the costs by "NC", "NB" and "NR".

    Parameters
    ----------
    curves : dict of str to ndarray of shape (n_bins + 2,)
        Values by bin, by model; NaN in bins that are not shown.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    baselines : sequence of str, or dict of str to str, default=()
        Names of the models that are naive baselines; a dict also names their classes, each of
        which has a pattern of dashes of its own.
    measure : Measure, default=None
        Direction, baseline and bounds of the measure, such as ``result.measures[metric]``; None:
        those of the measure of this name, if there is one.
    mechanism : str, default=None
        The spelling of the forgetting mechanism, such as "window:1000", if `forgetting` is a custom
        name.
    failed : collection of str, default=()
        Names of the models that failed; the legend says so.
    n_rows : int
        Number of labelled rows measured.
    over_time : dict of (str, int) to tuple of ndarrays, default=None
        Per model and bin shown over time: labelled rows and values. For "time".
    poll_costs : dict of str to ndarray, default=None
        ``n_labels``, ``NC``, ``NB``, ``NR``. For "costs".
    kind : {"bins", "time", "costs", "shares"}, default="bins"
        What to draw. "bins": the measure by bin, as steps; the first and the last predictions are
        dots. "time": some bins over the stream; thinner lines are earlier bins. "costs": the costs
        of repeated prediction, on three axes or on one: predictions made recently, kept in memory,
        and per labelled row. "shares": the measure over the elapsed share of the wait, as one step
        per bin, without the first and the last predictions.
    bins : sequence of int, or dict of str to (sequence of int or None), default=None
        Numbers of the bins, or those of each model, if only some are shown: as dots rather than
        steps. None: all.
    drifts : sequence of (int or pair of int), default=()
        Labelled rows of known drifts, or pairs ``(start, end)``; marked over time.
    detections : dict of str to dict of str to Detections, default={}
        Alarms of drift monitors, by monitor and model, in labelled rows; marked over time.

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
        The legend; three axes of costs have titles instead.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent, Polling
    >>> from skstream.plotting import BinnedPerformanceDisplay
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = DelayedEvaluator("accuracy", delay=20, polling=Polling(n_bins=5))
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(500))
    >>> display = BinnedPerformanceDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("bins.png")  # doctest: +SKIP
    """

    n_rows: int
    over_time: Mapping[tuple[str, int], tuple[np.ndarray, np.ndarray]] | None = None
    poll_costs: Mapping[str, np.ndarray] | None = None
    kind: Kind = "bins"
    bins: Sequence[int] | Mapping[str, Sequence[int] | None] | None = None
    drifts: Drifts = ()
    detections: Found = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_marks(self.drifts, self.detections)
        check_choice(self.kind, "kind", get_args(Kind))
        needed = {"time": "over_time", "costs": "poll_costs"}.get(self.kind)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"There is nothing to plot: kind={self.kind!r} needs {needed}.")

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        at: int | None = None,
        kind: Kind = "bins",
        bins: int | Sequence[int] | None = None,
        drifts: Drifts | None = None,
        detections: Found | None = None,
        **options: Any,
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
        kind : {"bins", "time", "costs", "shares"}, default="bins"
            The measure by bin; some bins over time; the costs of asking again; or the measure
            over the share of the wait that has passed.
        bins : int or sequence of int, default=None
            Bins shown over time; None: the first and the last one of the result.
        drifts : sequence of (int or pair of int), default=None
            Labelled rows at which the truth is known to change, or pairs ``(start, end)``, which
            are marked over time; None: those of the stream, ``result.drifts``; (): none.
        detections : dict of str to dict of str to Detections, default=None
            What drift monitors found, from `detect`, marked over time.
            With another `kind` there is no place for it.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

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
            If `kind`, `bins` or `legend` is none of the choices, there is no checkpoint at or
            before `at`, or `detections` are given and not shown over time.
        """
        _check_binned(result)
        if detections and kind in get_args(Kind) and kind != "time":
            raise ValueError(
                f"detections= are marked over time, and kind={kind!r} has no time: pass "
                "kind='time', or plot one bin: result.select(bins=b).plot(detections=...)."
            )
        shown, about = contents_in(result, metric, forgetting, models, drifts, detections)
        names = {"metric": about["metric"], "forgetting": about["forgetting"]}
        ends = sorted({result.bins[0], result.bins[-1]})
        picked = ends if bins is None else numbers(bins, result.bins, "bin")
        rows = result.checkpoints if at is None else result.checkpoints[result.checkpoints <= at]
        if not len(rows):
            raise ValueError(f"There is no checkpoint at or before {at} labelled rows.")
        costs = result.waits.poll_costs
        return cls(
            curves={name: all_bins(result, name, **names, at=at) for name in shown},
            n_rows=int(rows[-1]),
            over_time={
                (name, b): (rows, curve[: len(rows), 0, result.bins.index(b)])
                for name in shown
                for curve in [result.curve(name, **names)]
                for b in picked
            },
            poll_costs={
                name: values[costs["n_labels"] <= rows[-1]] for name, values in costs.items()
            },
            kind=kind,
            bins=result.selected_bins,
            **about,
        ).plot(**options)

    @classmethod
    def from_bin_counts(
        cls,
        results: Sequence[Any],
        model: str,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot one model under several numbers of bins: what is seen with more and fewer bins.

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
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : BinnedPerformanceDisplay
            The display, drawn over the share of the wait that has passed. The first and the
            last predictions, which do not depend on the number of bins, are left out.

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
        metric, forgetting, what = names_in(first, metric, forgetting)
        by_name = {f"{model}, {one.n_bins} bins": one for one in results}
        return cls(
            curves={
                name: all_bins(one, model, metric, forgetting=forgetting)
                for name, one in by_name.items()
            },
            n_rows=first.n_rows,
            kind="shares",
            bins={name: one.selected_bins for name, one in by_name.items()},
            **what,
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        if self.kind == "costs":
            together = ax is not None and np.size(np.asarray(ax, dtype=object)) == 1
            return Layout(COSTS, 1 if together else len(COSTS), COST_INCHES)
        return super()._layout(ax)

    def _draw(self, canvas: Canvas) -> None:
        getattr(self, f"_draw_{self.kind}")(canvas)  # one for each kind

    def _draw_bins(self, canvas: Canvas) -> None:
        ax, last = canvas.axes[0], self._last_bin()
        dots: dict[str, Any] = {"marker": "o", "markersize": 4}
        shown = self._shown_bins(next(iter(self.curves)))
        if len(shown) == last + 1:
            dots |= {"drawstyle": "steps-mid", "markevery": [0, last]}
        defaults = model_styles(list(self.curves), self.baselines)
        curves = {name: values[shown] for name, values in self.curves.items()}
        for name, values in curves.items():
            canvas.draw_line(ax, name, shown, values, defaults[name] | dots)
        room = round(inches_of(ax)[0] / (TICK_INCHES * text_scale()))
        ax.set_xticks(*_bin_ticks(last, shown.tolist(), min(max(1, room - 1), 6)))
        canvas.widen_limits(ax, "x", -0.02 * last, 1.02 * last)
        ax.set_xlabel("bin between arrival and label")
        self._finish(
            canvas,
            shown,
            list(curves.values()),
            self._best_guess(curves),
            end=float(last),
            title=f"{self._title()}, after {self.n_rows:,} labelled rows",
            unsettled=0.0,
            step="mid" if "drawstyle" in dots else None,
        )

    def _draw_shares(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        # Without the first and the last answers; each bin is a step that ends at its value.
        steps = {
            name: values[[1, *range(1, len(values) - 1)]] for name, values in self.curves.items()
        }
        defaults = model_styles(list(self.curves), self.baselines)
        for name, values in steps.items():
            style = defaults[name] | {"drawstyle": "steps-pre"}
            canvas.draw_line(ax, name, np.linspace(0, 1, len(values)), values, style)
        canvas.widen_limits(ax, "x", 0.0, 1.0)
        ticker = optional_import("matplotlib.ticker", "Plotting")
        ax.xaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0, symbol=" %"))
        ax.set_xlabel("share of the wait for the label")
        shares = np.linspace(0, 1, len(next(iter(steps.values()))))
        curves, guess = [values[1:] for values in steps.values()], self._best_guess(steps)
        self._finish(canvas, shares, curves, guess, end=1.0, unsettled=0.0, step="pre")

    def _draw_time(self, canvas: Canvas) -> None:
        ax, over_time = canvas.axes[0], self.over_time or {}
        bins = sorted({b for _, b in over_time})
        widths = dict(zip(bins, np.linspace(WIDEST, THINNEST, len(bins))[::-1], strict=True))
        defaults = model_styles(list(self.curves), self.baselines)
        last_bin: dict[str, Any] = {}
        end = 0.0
        for (name, b), (rows, values) in over_time.items():
            label = f"{name}, {self._bin_words(b)}"
            style = defaults[name] | {"label": label, "linewidth": widths[b]}
            last_bin[name] = canvas.draw_line(ax, label, rows, values, style, style_of=name)
            widths[b] = last_bin[name].get_linewidth()
            end = max(end, float(rows[-1])) if len(rows) else end
        if end:
            canvas.widen_limits(ax, "x", 0.0, end)
        count_rows_along(ax, "labelled rows")
        newest = {name: values for (name, b), (_, values) in over_time.items() if b == bins[-1]}
        self._finish(
            canvas,
            rows,
            [values for _, values in over_time.values()],
            self._best_guess(newest),
            end=end or None,
            title=f"{self._title()}; {self._words_of_widths(widths)}",
            lines=last_bin,
            mark=lambda ax: draw_marks(canvas, self.drifts, self.detections, last_bin, end or None),
            words=f"naive guess {self._bin_words(bins[-1])}",
        )

    def _words_of_widths(self, widths: Mapping[int, float]) -> str:
        """Say which bins are shown; a legend would show lines that are not drawn."""
        words = [self._bin_words(b) for b in widths]
        sizes = list(widths.values())
        if len(words) == 1 or sizes != sorted(set(sizes)):  # the user's own widths
            return ", ".join(words)
        return f"from thin to thick lines: {', '.join(words)}"

    def _draw_costs(self, canvas: Canvas) -> None:
        costs = self.poll_costs or {}
        rows = costs["n_labels"]
        together = len(canvas.axes) == 1
        tops = [1.05 * float(np.max(costs[cost], initial=0.0)) or 1.0 for cost in COSTS]
        for k, (cost, words) in enumerate(COSTS.items()):
            ax = canvas.axes[0 if together else k]
            color = COLORS[k if together else 0]
            style = {"color": color, "linewidth": LINE_WIDTH, "label": words}
            line = canvas.draw_line(ax, cost, rows, costs[cost], style)
            canvas.widen_limits(ax, "y", 0.0, max(tops) if together else tops[k])
            uncover_edges(ax, [line])
            ax.yaxis.set_major_formatter("{x:,.6g}")
            if len(rows):
                canvas.widen_limits(ax, "x", 0.0, float(rows[-1]))
            ax.set_ylabel("predictions")
            if not together:
                give_title(ax, words)
        count_rows_along(canvas.axes[-1], "labelled rows")
        if together:
            named = {line.get_label(): line for line in canvas.lines.values()}
            canvas.give_legend(canvas.axes[0], lines=named)

    def _last_bin(self) -> int:
        return len(next(iter(self.curves.values()))) - 1

    def _shown_bins(self, name: str) -> np.ndarray:
        """Numbers of a model's bins that are drawn and listed, in the order of time."""
        bins = self.bins.get(name) if isinstance(self.bins, Mapping) else self.bins
        shown = range(len(self.curves[name])) if bins is None else sorted(bins)
        return np.array(shown, dtype=np.int64)

    def _bin_words(self, b: int) -> str:
        last = self._last_bin()
        return {0: "at arrival", last: "at the label"}.get(b, f"in bin {b} of {last - 1}")

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        if self.kind == "costs":
            costs = self.poll_costs or {}
            for cost in COSTS:
                yield {"row": costs["n_labels"], "cost": cost, "value": costs[cost]}
        elif self.kind == "time":
            for (name, b), (rows, values) in (self.over_time or {}).items():
                yield {"row": rows, "model": name, "bin": b, "value": values}
        else:
            for name, values in self.curves.items():
                # The models of `from_bin_counts` may have different numbers of bins.
                shown = self._shown_bins(name)
                yield {"model": name, "bin": shown, "value": values[shown]}

    def _summary(self) -> str:
        ends_of = {
            name: dict.fromkeys(self._shown_bins(name)[[0, -1]].tolist()) for name in self.curves
        }
        where = "from first to last prediction"
        if isinstance(self.bins, Sequence):
            where = " and ".join(map(self._bin_words, next(iter(ends_of.values()))))
        ends = ", ".join(
            f"{name}: " + " to ".join(f"{self.curves[name][b]:z.4f}" for b in its_ends)
            for name, its_ends in ends_of.items()
        )
        return f"{self.metric} {where} after {self.n_rows:,} rows; {ends}"


def _bin_ticks(last: int, shown: Sequence[int], most: int) -> tuple[list[int], list[str]]:
    """Ticks at the first answer, some bins, and the last answer, with their names, `most` apart.

    Where only few of the bins are shown, all of these have one.
    """
    step = max(1, round(last / most))
    ticks = [0, *(b for b in range(step, last, step) if b <= last - step / 2), last]
    if len(shown) <= min(last, len(ticks)):
        ticks = list(shown)
    names = {0: "arrival", last: "label"}
    return ticks, [names.get(b, str(b)) for b in ticks]


def _check_binned(result: Any) -> None:
    if getattr(result, "bins", None) is None:
        raise TypeError(
            "BinnedPerformanceDisplay shows results of a DelayedEvaluator. Got "
            f"{type(result).__name__} instead: call its plot()."
        )
    if not result.n_rows:
        raise ValueError("There is nothing to plot: no row was labelled.")


def all_bins(result: Any, model: str, metric: str, **options: Any) -> np.ndarray:
    """Values of a measure in all bins; NaN in those that `select` left out."""
    values = np.full(result.n_bins + 2, np.nan)
    values[list(result.bins)] = result.by_bin(model, metric, **options)
    return values
