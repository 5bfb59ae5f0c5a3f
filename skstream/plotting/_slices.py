"""Scores of groups of rows: along the stream, and ranked at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from skstream.core.result.select import curve_of_one
from skstream.logs._slices import SliceScores
from skstream.plotting._axes import (
    BASELINE_COLOR,
    COLORS,
    LINE_SPACING,
    LONGEST_LINE,
    SMALLEST_FONT,
    axis_words,
    give_title,
    inches_of,
    ink,
    last_values,
    model_styles,
    places_along,
    text_scale,
    wrap_name,
)
from skstream.plotting._base import Canvas, Layout, check_kind
from skstream.plotting._measure import MeasureDisplay, measure_along, names_in, share_unsettled
from skstream.stats._report import plural
from skstream.utils._choices import check_choice

Kind = Literal["lines", "bars"]
WIDTH_INCHES, ROW_INCHES, EDGE_INCHES = 8.0, 0.36, 1.3
BAR_HEIGHT = 0.5
NAMES_PER_INCH = 6.0  # characters of a group's name for each inch of the figure


@dataclass(kw_only=True, repr=False, eq=False)
class SliceDisplay(MeasureDisplay):
    """Show a measure of one model in groups of rows.

    "lines": a line for each group along the stream, and a grey one for all rows. "bars": the groups
    by their last values, the worst at the top, each with a bar from the value of all rows to its
    own, and with its interval, valid for all groups at once. A group whose interval reaches the
    grey line may differ from the others by chance.

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
        The name for all rows.
    measure : Measure, default=None
        As for `PrequentialDisplay`.
    mechanism : str, default=None
        As for `PrequentialDisplay`.
    checkpoints : ndarray of shape (n_checkpoints,)
        Rows of the stream seen at the checkpoints.
    intervals : dict of str to (float, float)
        Ends of the intervals of the last values, NaN if there is none.
    level : float, default=0.95
        Probability with which the intervals of all groups are right at once.
    n_rows : dict of str to int
        Scored rows by group.
    model : str
        The model.
    kind : {"lines", "bars"}, default="lines"
        What is drawn.
    times : ndarray of shape (n_checkpoints,), dtype datetime64 or float64, default=None
        Times of the checkpoints, shown along the axis instead of rows.

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
    skstream.score_slices : Computes the values shown.

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
    level: float = 0.95

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
            level=1.0 - result.alpha,
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
        forgetting, n_groups = self.mechanism or self.forgetting, len(self.curves) - 1
        few = share_unsettled(self.checkpoints, self.times, forgetting, n_groups)
        self._finish(canvas, along, list(self.curves.values()), end=end, unsettled=few)

    def _draw_bars(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        last = {name: curve[-1] if len(curve) else np.nan for name, curve in self.curves.items()}
        whole = float(last.pop(next(iter(self.baselines))))
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
        longest = int(NAMES_PER_INCH * ax.figure.get_figwidth() / text_scale())
        longest = min(max(8, longest), LONGEST_LINE)
        labels = ["\n".join(wrap_name(one, longest)) for one in named]
        ax.set_yticks(places, labels, parse_math=False)
        ax.set_ylim(len(names) + 0.1, -0.6)  # with room for what the line is
        words = {"color": ink(), "fontsize": "small", "va": "center"}
        of_all = ax.text(whole, len(names) - 0.3, f" all rows {whole:z.4f} ", **words)
        about = f"\n(lines: {100 * self.level:.3g} % intervals, valid for all groups at once)"
        about = about if np.isfinite(low).any() else ""
        ax.set_xlabel(axis_words(self.metric) + about, parse_math=False)
        give_title(ax, self._title())
        if of_all.get_window_extent().x1 > ax.get_window_extent().x1:
            of_all.set_ha("right")
        tallest = max(one.count("\n") + 1 for one in labels)
        room = 72 * inches_of(ax)[1] / (LINE_SPACING * (len(names) + 0.7) * tallest)
        for text in ax.get_yticklabels():
            text.set_fontsize(max(SMALLEST_FONT, min(room, text.get_fontsize())))

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
