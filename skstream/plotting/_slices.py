"""Scores of groups of rows, and estimates before labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from skstream.core.result.select import curve_of_one, pick
from skstream.logs._estimates import LabelEstimates
from skstream.logs._slices import SliceScores
from skstream.plotting._axes import (
    BASELINE_COLOR,
    COLORS,
    LINE_WIDTH,
    axis_words,
    dashes,
    give_title,
    ink,
    last_values,
    measure_words,
    model_styles,
    patch_key,
    places_along,
    show_times_along,
    wrap_name,
)
from skstream.plotting._base import BaseDisplay, Canvas, Layout, check_kind
from skstream.plotting._measure import MeasureDisplay, measure_along, names_in
from skstream.stats._report import plural
from skstream.utils._choices import check_choice

Kind = Literal["lines", "bars"]
WIDTH_INCHES, ROW_INCHES, EDGE_INCHES = 8.0, 0.36, 1.3
BAR_HEIGHT = 0.5


@dataclass(kw_only=True, repr=False, eq=False)
class SliceDisplay(MeasureDisplay):
    """One measure of one model in the groups of rows that a column names.

    "lines": a line for each group along the stream, and a grey one for all rows. "bars": the groups
    by their last values, the worst at the top, each with a bar from the value of all rows to its
    own, and with its interval, which is right for all groups at once. A group whose interval
    reaches the grey line may differ from the others by chance.

    `to_frame` has the columns slice, row, value, and, at the last row, n_rows, low and high.

    Parameters
    ----------
    curves : dict of str to ndarray of shape (n_checkpoints,)
        Values by group; those of all rows under the first of the `baselines`.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    baselines : sequence of str
        The name under which all rows are shown.
    measure : Measure, default=None
        As of `PrequentialDisplay`.
    mechanism : str, default=None
        As of `PrequentialDisplay`.
    checkpoints : ndarray of shape (n_checkpoints,)
        Rows of the stream seen at the checkpoints.
    intervals : dict of str to (float, float)
        Ends of the intervals of the last values, NaN where there is none.
    n_rows : dict of str to int
        Scored rows by group.
    model : str
        The model.
    kind : {"lines", "bars"}, default="lines"
        What is drawn.
    times : ndarray of shape (n_checkpoints,), dtype datetime64 or float64, default=None
        Times of the checkpoints, which are then along the axis in the place of rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The line, or the dot, of every group.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.score_slices : Makes what is shown.

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator, score_slices
    >>> from skstream.plotting import SliceDisplay
    >>> from skstream.streams import make_demo_stream
    >>> result = PrequentialEvaluator("accuracy").evaluate(Persistent(), make_demo_stream(500))
    >>> scores = score_slices(result, ["day", "night"] * 250)
    >>> display = SliceDisplay.from_result(scores, kind="bars")  # doctest: +SKIP
    """

    checkpoints: np.ndarray
    intervals: Mapping[str, tuple[float, float]]
    n_rows: Mapping[str, int]
    model: str
    kind: Kind = "lines"
    times: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_choice(self.kind, "kind", ("lines", "bars"))

    @classmethod
    def from_result(
        cls,
        result: SliceScores,
        metric: str | None = None,
        *,
        model: str | None = None,
        forgetting: str | None = None,
        kind: Kind = "lines",
        **options: Any,
    ) -> Self:
        """Plot the scores of groups.

        Parameters
        ----------
        result : SliceScores
            As `score_slices` returns it.
        metric, model, forgetting : str, default=None
            Names; None: the first ones.
        kind : {"lines", "bars"}, default="lines"
            A line for each group along the stream, or the groups ranked by their last values.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by group, and properties of all lines.

        Returns
        -------
        display : SliceDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If there is no such measure, model or forgetting mechanism.
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If `kind` or `legend` is none of the choices.
        """
        check_kind(result, SliceScores, "what score_slices() returns")
        whole = result.overall
        model = whole.model_names[0] if model is None else model
        metric, forgetting, what = names_in(whole, metric, forgetting)
        curves = {
            name: curve_of_one(one.curve(model, metric, forgetting=forgetting))
            for name, one in result.results.bare.items()
        }
        all_rows = "all rows" if "all rows" not in curves else "(all rows)"
        curves[all_rows] = curve_of_one(whole.curve(model, metric, forgetting=forgetting))
        ends = {one: result.interval(one, model, metric, forgetting) for one in result.n_rows}
        return cls(
            curves=curves,
            baselines=(all_rows,),
            checkpoints=whole.checkpoints,
            intervals=ends,
            n_rows={name: result.n_scored[name][model] for name in ends},
            model=model,
            kind=kind,
            times=whole.times,
            **what,
        ).plot(**options)

    def _title(self) -> str:
        return f"{super()._title()}: {self.model}"

    def _layout(self, ax: Any) -> Layout:
        if self.kind == "lines":
            return super()._layout(ax)
        size = (WIDTH_INCHES, EDGE_INCHES + ROW_INCHES * len(self.n_rows))
        return Layout(list(self.n_rows), size=size)

    def _draw(self, canvas: Canvas) -> None:
        if self.kind == "bars":
            self._draw_bars(canvas)
            return
        ax, along = canvas.axes[0], places_along(self.checkpoints, self.times)
        styles = model_styles(list(self.curves), self.baselines)
        for name, curve in self.curves.items():
            canvas.draw_line(ax, name, along, curve, styles[name])
        end = measure_along(canvas, along, self.times)
        self._finish(canvas, along, list(self.curves.values()), end=end)

    def _draw_bars(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        last = {name: curve[-1] if len(curve) else np.nan for name, curve in self.curves.items()}
        whole = float(last.pop(self.baselines[0]))
        sign = -1 if self._facts.higher_is_better is False else 1
        names = sorted(last, key=lambda name: (np.isnan(last[name]), sign * last[name]))
        places = np.arange(len(names))
        values = np.array([last[name] for name in names])
        low, high = np.array([self.intervals[name] for name in names]).T
        ax.barh(
            places, values - whole, BAR_HEIGHT, left=whole, color=COLORS[0], alpha=0.25, linewidth=0
        )
        ax.hlines(places, low, high, color=ink(), linewidth=1.2)
        ax.axvline(whole, color=BASELINE_COLOR, linestyle="--", linewidth=1.2, zorder=1)
        common = {"linestyle": "none", "marker": "o", "markersize": 6, "color": COLORS[0]}
        for place, name in enumerate(names):
            canvas.draw_line(ax, name, values[[place]], [place], common)
        named = [f"{name} ({plural(self.n_rows[name], 'row')})" for name in names]
        labels = ["\n".join(wrap_name(one)) for one in named]
        ax.set_yticks(places, labels, parse_math=False)
        ax.set_ylim(len(names) + 0.1, -0.6)  # with room for what the line is
        words = {"color": BASELINE_COLOR, "fontsize": "small", "va": "center"}
        ax.text(whole, len(names) - 0.3, f" all rows {whole:.4f}", **words)
        ax.set_xlabel(axis_words(self.metric), parse_math=False)
        give_title(ax, self._title())

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, curve in self.curves.items():
            at_end = np.arange(len(curve)) == len(curve) - 1
            low, high = self.intervals.get(name, (np.nan, np.nan))
            n_rows = self.n_rows.get(name, sum(self.n_rows.values()))
            yield {
                "slice": name,
                "row": self.checkpoints,
                **({} if self.times is None else {"time": self.times}),
                "value": curve,
                "n_rows": np.where(at_end, n_rows, np.nan),
                "low": np.where(at_end, low, np.nan),
                "high": np.where(at_end, high, np.nan),
            }

    def _summary(self) -> str:
        last = last_values(list(self.curves.items()))
        return f"{self.metric} of {self.model}, {self.forgetting}; {last}"


TRUTH = "truth"
#: How the estimates look; that of the newest labels as naive models do.
LOOKS = {
    "newest labels": (BASELINE_COLOR, 1),
    "confidence": (COLORS[0], 0),
    "calibrated": (COLORS[1], 0),
}
NO_TRUTH_ALPHA = 0.08


@dataclass(kw_only=True, repr=False, eq=False)
class EstimateDisplay(BaseDisplay):
    """One measure of one model: what was estimated before the labels, and what came out.

    The estimates end at the end of the log, in the present; where the truth is not known yet, the
    background is grey.

    `to_frame` has the columns time, line ("truth" or the method) and value.

    Parameters
    ----------
    times : ndarray of shape (n_moments,), dtype datetime64 or float64
        Moments of the track record, and the end of the log.
    estimates : dict of str to ndarray of shape (n_moments,)
        Estimates by method; the last are those of the present.
    truth : ndarray of shape (n_moments,)
        The scores by the labels; NaN where they are not known.
    metric : str
        Name of the measure.
    model : str
        Name of the model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The lines, "truth" and those of the methods.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.estimate_unlabelled : Makes what is shown.

    Examples
    --------
    >>> from skstream import estimate_unlabelled
    >>> from skstream.plotting import EstimateDisplay
    >>> estimates = estimate_unlabelled(
    ...     [1, 0, 1, 0, None], [0.7] * 5, arrival=range(5), label_time=range(1, 6)
    ... )
    >>> display = EstimateDisplay.from_result(estimates)  # doctest: +SKIP
    """

    times: np.ndarray
    estimates: Mapping[str, np.ndarray]
    truth: np.ndarray
    metric: str
    model: str

    @classmethod
    def from_result(
        cls,
        result: LabelEstimates,
        metric: str | None = None,
        *,
        model: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot estimates.

        Parameters
        ----------
        result : LabelEstimates
            As `estimate_unlabelled` returns it.
        metric : str, default=None
            The measure; None: the first.
        model : str, default=None
            The model; None: the first.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by line, and properties of all lines.

        Returns
        -------
        display : EstimateDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If there is no such measure or model.
        TypeError
            If the result is of another kind, or a line has no such property.
        """
        check_kind(result, LabelEstimates, "what estimate_unlabelled() returns")
        model = next(iter(result.truth)) if model is None else model
        truths = pick(result.truth, model, "model")
        metric = next(iter(truths)) if metric is None else metric
        truth = pick(truths, metric, "measure")
        now = result.now[model][metric]
        return cls(
            times=np.append(result.times, np.asarray(result.end, dtype=result.times.dtype)),
            estimates={
                method: np.append(values, now[method])
                for method, values in result.estimates[model][metric].items()
            },
            truth=np.append(truth, np.nan),
            metric=metric,
            model=model,
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        return Layout([TRUTH, *self.estimates])

    def _draw(self, canvas: Canvas) -> None:
        ax, along = canvas.axes[0], places_along(self.times, self.times)
        style = {"color": ink(), "linewidth": 1.6 * LINE_WIDTH, "zorder": 4}
        canvas.draw_line(ax, TRUTH, along, self.truth, style)
        for method, values in self.estimates.items():
            color, number = LOOKS[method]
            style = {"color": color, "linestyle": dashes(number), "linewidth": LINE_WIDTH}
            canvas.draw_line(ax, method, along, values, style | {"zorder": 3})
        others: dict[str, Any] = {}
        known = np.flatnonzero(np.isfinite(self.truth))
        first = along[known[-1]] if len(known) else along[0]
        if first < along[-1]:
            area = {"color": ink(), "alpha": NO_TRUTH_ALPHA, "linewidth": 0}
            ax.axvspan(first, along[-1], **area)
            others = {"labels not there yet": patch_key(**area)}
        show_times_along(ax, self.times)
        ax.set_ylabel(axis_words(self.metric))
        give_title(ax, f"{measure_words(self.metric)} of {self.model}, estimated before the labels")
        canvas.give_legend(ax, lines=canvas.lines, others=others, end=float(along[-1]))

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, values in {TRUTH: self.truth, **self.estimates}.items():
            yield {"time": self.times, "line": name, "value": values}

    def _summary(self) -> str:
        now = ", ".join(f"{method} {values[-1]:.4g}" for method, values in self.estimates.items())
        return f"{self.metric} of {self.model} now: {now}"
