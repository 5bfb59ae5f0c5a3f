"""Critical-difference diagram of several models."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.plotting._axes import Styles, inches_of, ink, wrap_name
from skstream.plotting._base import BaseDisplay, Canvas, Layout, check_kind
from skstream.stats._ranks import FriedmanNemenyiResult

BAR_COLOR = "#0072B2"
# Heights are in rows of text, downward from the axis of ranks.
RULER_HEIGHT = -2.3
RULER_CAP = 0.25
TICK_LENGTH = 0.3
FIRST_BAR = 0.7
BAR_DISTANCE = 0.5
LABEL_GAP = 0.9
NOTE_HEIGHT = 2.6
ROW_INCHES = 0.24
AXIS_INCHES = 4.2
MARGIN_INCHES = 0.2
LONGEST_NOTE = 62  # characters of a line below the diagram
LARGEST_FONT = 10.0  # at which bars have their full width
BAR_STYLE = {"linewidth": 3.5, "markersize": 5.0}
SMALLEST_FONT = 4.0
LINE_SPACING = 1.3  # height of a row of text by its font size
# The axis of ranks keeps at least this share of the width; the texts shrink to leave it.
LEAST_AXIS_SHARE = 0.3


@dataclass(kw_only=True, repr=False, eq=False)
class CriticalDifferenceDisplay(BaseDisplay):
    """Show average ranks of several models, with bars joining those that do not differ.

    The best model is on the left. Every bar is a maximal group of `friedman_nemenyi`: it runs
    from the rank of its best member to that of its worst, with a dot at each member. The ruler
    above the axis shows the critical difference.

    `to_frame` has the columns model, average_rank and groups (numbers of the bars, counted from
    1), best model first.

    Parameters
    ----------
    result : FriedmanNemenyiResult
        Result of the test: average ranks, critical difference, and groups of models.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The bars, "bar 1", "bar 2" and so on, in the order of `groups`.

    See Also
    --------
    skstream.stats.friedman_nemenyi : Computes the result drawn here.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 2006, section 3.2.4.

    Examples
    --------
    >>> from skstream.plotting import CriticalDifferenceDisplay
    >>> from skstream.stats import friedman_nemenyi
    >>> result = friedman_nemenyi([[0.8, 0.7], [0.9, 0.6], [0.7, 0.8]], ["sgd", "bayes"])
    >>> CriticalDifferenceDisplay(result=result)
    CriticalDifferenceDisplay(sgd 1.33, bayes 1.67; CD 1.13; see plot(), to_frame())
    """

    result: FriedmanNemenyiResult

    @classmethod
    def from_result(cls, result: FriedmanNemenyiResult, **options: Any) -> Self:
        """Plot the result of `friedman_nemenyi`.

        Parameters
        ----------
        result : FriedmanNemenyiResult
            The result.
        **options
            Options of `plot`: `ax`, `styles`, and properties of all bars.

        Returns
        -------
        display : CriticalDifferenceDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the result is of another kind, or a line has no such property.
        """
        rank = "friedman_nemenyi or the rank() of an evaluation gives it"
        check_kind(result, FriedmanNemenyiResult, f"a FriedmanNemenyiResult, as {rank}")
        return cls(result=result).plot(**options)

    def plot(self, ax: Any = None, *, styles: Styles | None = None, **line_options: Any) -> Self:
        """Draw the display, with names next to the lines instead of a legend.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure, as large as the labels need.
        styles : dict of str to dict, default=None
            Properties of single bars, such as ``{"bar 1": {"color": "black"}}``.
        **line_options
            Properties of all bars, such as ``color="black"``.

        Returns
        -------
        self : CriticalDifferenceDisplay
            With `ax_`, `figure_` and `lines_`.

        Raises
        ------
        KeyError
            If `styles` names a bar that is not drawn.
        TypeError
            If `ax` is not a matplotlib Axes, or a line has no such property.
        """
        return self._plot(ax, None, styles, line_options)

    def _layout(self, ax: Any) -> Layout:
        bars = [f"bar {number}" for number in range(1, len(self.result.groups) + 1)]
        return Layout(bars, size=(8.0, 4.0))

    def _draw(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        if canvas.own:
            ax.figure.set_layout_engine("none")
            ax.set_position((0, 0, 1, 1))
        ax.set_axis_off()
        rank = dict(zip(self.result.names, self.result.average_ranks.tolist(), strict=True))
        members = [[rank[name] for name in group] for group in self.result.groups]
        ends = [(min(ranks), max(ranks)) for ranks in members]
        levels = bar_levels(ends)
        rows = self._label_rows(FIRST_BAR + BAR_DISTANCE * len(set(levels)))
        note = self._note()
        note_height = NOTE_HEIGHT + note.count("\n") - 1
        bottom = max(height + lines / 2 for _, _, height, lines in rows) + note_height
        top = RULER_HEIGHT - 1.5
        ax.set_ylim(bottom, top)

        dots: dict[str, Any] = {}
        for (name, own), ranks, bar, level in zip(
            canvas.keywords.items(), members, ends, levels, strict=True
        ):
            height = FIRST_BAR + BAR_DISTANCE * level
            look = {"color": BAR_COLOR, "zorder": 3, **BAR_STYLE, **own}
            style = {"solid_capstyle": "butt"} | look | {"marker": ""}
            (canvas.lines[name],) = ax.plot(bar, [height] * 2, **style)
            style = {"marker": "o"} | look | {"linestyle": "none"}
            (dots[name],) = ax.plot(ranks, [height] * len(ranks), **style)
        left, right = self._draw_labels(ax, rows)
        ticks, others = self._draw_axis(ax)
        place = {"transform": ax.transAxes, "ha": "center", "va": "bottom", "parse_math": False}
        others.append(ax.text(0.5, 0.02, note, alpha=0.8, linespacing=1.1, **place))
        if canvas.own:
            # So wide that all texts fit in their usual size.
            labels = sum(max(map(text_inches, texts)) for texts in (left, right))
            width = max(labels + AXIS_INCHES, text_inches(others[-1])) + 2 * MARGIN_INCHES
            ax.figure.set_size_inches(width, (bottom - top) * ROW_INCHES)
        font = self._fit(ax, left, right, [*ticks, *others])
        shrunk = {name: size * min(1.0, font / LARGEST_FONT) for name, size in BAR_STYLE.items()}
        for name, line in canvas.lines.items():
            sizes = {key: size for key, size in shrunk.items() if key not in canvas.keywords[name]}
            line.set(**sizes)
            dots[name].set(**sizes)
        # Numbers at the axis of ranks for which there is no room are left out.
        distance = inches_of(ax)[0] / abs(float(np.subtract(*ax.get_xlim())))
        step = int(np.ceil(1.3 * max(map(text_inches, ticks)) / distance))
        for k, tick in enumerate(ticks):
            tick.set_visible(k % step == 0)

    def _label_rows(self, first: float) -> list[tuple[str, float, float, int]]:
        """Text, rank, height and number of lines of every label, the left half first.

        On either side the outermost model is on top, so that no two connecting lines cross.
        """
        order = np.argsort(self.result.average_ranks, kind="stable").tolist()
        n_left = (len(order) + 1) // 2
        rows = []
        for side in (order[:n_left], order[n_left:][::-1]):
            height = first + LABEL_GAP - 0.5
            for i in side:
                lines, rank = wrap_name(str(self.result.names[i])), self.result.average_ranks[i]
                text = "\n".join(lines) + f"  ({rank:.2f})"
                rows.append((text, float(rank), height + len(lines) / 2, len(lines)))
                height += len(lines) + 0.15
        return rows

    def _draw_axis(self, ax: Any) -> tuple[list[Any], list[Any]]:
        """Draw the axis of ranks and the ruler above it; return the texts of both."""
        ranks = range(1, len(self.result.names) + 1)
        ax.plot([1, ranks[-1]], [0, 0], color=ink(), linewidth=1.2)
        for rank in ranks:
            ax.plot([rank, rank], [-TICK_LENGTH, 0], color=ink(), linewidth=1.2)
        centered = {"ha": "center", "va": "bottom"}
        ticks = [ax.text(rank, -TICK_LENGTH - 0.1, str(rank), **centered) for rank in ranks]
        ends = [1, 1 + self.result.critical_difference]
        ax.plot(ends, [RULER_HEIGHT] * 2, color=ink(), linewidth=1.6)
        caps = [RULER_HEIGHT - RULER_CAP, RULER_HEIGHT + RULER_CAP]
        for end in ends:
            ax.plot([end, end], caps, color=ink(), linewidth=1.6)
        text = f"CD = {self.result.critical_difference:.2f}"
        return ticks, [ax.text(np.mean(ends), caps[0] - 0.05, text, **centered)]

    def _note(self) -> str:
        result = self.result
        verdict = "the models differ" if result.pvalue < result.alpha else "no difference shown"
        p = "p < 0.0001" if result.pvalue < 1e-4 else f"p = {result.pvalue:.2g}"
        bars = "Bars: no significant difference" if result.groups else "All pairs differ"
        lines = [
            f"Friedman test (Iman-Davenport): {p}, {verdict}.",
            f"{bars} (Nemenyi, alpha = {result.alpha:g}).",
        ]
        if result.subject:
            lines += textwrap.wrap(f"Ranked {result.subject}.", LONGEST_NOTE)
        return "\n".join(lines)

    def _draw_labels(
        self, ax: Any, rows: list[tuple[str, float, float, int]]
    ) -> tuple[list[Any], list[Any]]:
        """Draw labels and the lines to them; return the texts of the two sides."""
        n_left = (len(rows) + 1) // 2
        line = {"color": ink(), "linewidth": 0.9, "solid_joinstyle": "miter", "zorder": 2}
        sides: tuple[list[Any], list[Any]] = ([], [])
        for place, (text, rank, height, _) in enumerate(rows):
            is_left = place < n_left
            end = 1 if is_left else len(self.result.names)
            ax.plot([rank, rank, end], [0, height, height], **line)
            label = ax.annotate(
                text,
                (end, height),
                xytext=(-5 if is_left else 5, 0),
                textcoords="offset points",
                ha="right" if is_left else "left",
                va="center",
                parse_math=False,
            )
            sides[not is_left].append(label)
        return sides

    def _fit(self, ax: Any, left: list[Any], right: list[Any], others: list[Any]) -> float:
        """Make the texts small enough for the axes, with room on both sides; return their size."""
        width, height = inches_of(ax)
        row = height / abs(np.subtract(*ax.get_ylim()))
        font = min(left[0].get_fontsize(), 72 * row / LINE_SPACING)
        while True:
            for text in (*left, *right, *others):
                text.set_fontsize(font)
            margins = [max(map(text_inches, texts)) + MARGIN_INCHES for texts in (left, right)]
            axis = width - sum(margins)
            fits = axis >= LEAST_AXIS_SHARE * width and text_inches(others[-1]) <= width
            if fits or font <= SMALLEST_FONT:
                break
            font -= 0.5
        n_models = len(self.result.names)
        per_inch = (n_models - 1) / max(axis, 0.05 * width)
        # A ruler longer than the axis of ranks may need more room than the labels.
        end_of_ruler = 1 + self.result.critical_difference + MARGIN_INCHES * per_inch
        end_of_labels = n_models + margins[1] * per_inch
        ax.set_xlim(1 - margins[0] * per_inch, max(end_of_labels, end_of_ruler))
        return float(font)

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        result = self.result
        groups = [
            [number for number, group in enumerate(result.groups, 1) if name in group]
            for name in result.ranking
        ]
        ranks = np.sort(result.average_ranks)
        yield {"model": list(result.ranking), "average_rank": ranks, "groups": groups}

    def _summary(self) -> str:
        ranks = np.sort(self.result.average_ranks)
        named = ", ".join(
            f"{name} {rank:.3g}" for name, rank in zip(self.result.ranking, ranks, strict=True)
        )
        return f"{named}; CD {self.result.critical_difference:.3g}"


def bar_levels(ends: Sequence[tuple[float, float]]) -> list[int]:
    """Put bars that overlap on different levels, each on the highest that is free.

    Parameters
    ----------
    ends : sequence of tuple of float
        Left and right end of every bar.

    Returns
    -------
    list of int
        Level of every bar; 0 is nearest to the axis.
    """
    right_ends: list[float] = []  # of the last bar on every level
    levels = []
    for left, right in ends:
        level = next((i for i, end in enumerate(right_ends) if end < left), len(right_ends))
        right_ends[level : level + 1] = [right]
        levels.append(level)
    return levels


def text_inches(text: Any) -> float:
    """Width of a text as drawn, in inches."""
    return float(text.get_window_extent().width / text.figure.dpi)
