"""Critical-difference diagram of several models."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.plotting._axes import inches_of
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._lines import Styles, ink
from skstream.plotting._words import wrap_name
from skstream.stats import FriedmanNemenyiResult, friedman_nemenyi

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
    """Average ranks of several models, with bars joining those that are not told apart.

    The best model is on the left. Every bar is a maximal group of `friedman_nemenyi`: it runs
    from the rank of its best member to that of its worst, with a dot at each member. The ruler
    above the axis shows the critical difference.

    `to_frame` has the columns model, average_rank and groups (numbers of the bars, counted from
    1), best model first.

    Parameters
    ----------
    names : sequence of str
        The models.
    average_ranks : ndarray of shape (n_models,)
        Average rank per model; 1 is best.
    critical_difference : float
        Nemenyi's critical difference.
    groups : sequence of sequence of str
        Names of the models that each bar joins.
    pvalue : float
        P-value of the test that the models differ at all.
    alpha : float
        Level of the tests.
    subject : str, default=""
        What was ranked, in words: measure, forgetting, rows and folds.

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
    skstream.stats.friedman_nemenyi : Computes what is drawn here.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 2006, section 3.2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.plotting import CriticalDifferenceDisplay
    >>> CriticalDifferenceDisplay(
    ...     names=["sgd", "bayes"],
    ...     average_ranks=np.array([1.2, 1.8]),
    ...     critical_difference=0.88,
    ...     groups=[("sgd", "bayes")],
    ...     pvalue=0.08,
    ...     alpha=0.05,
    ... )
    CriticalDifferenceDisplay(sgd 1.2, bayes 1.8; CD 0.88; see plot(), to_frame())
    """

    names: Sequence[str]
    average_ranks: np.ndarray
    critical_difference: float
    groups: Sequence[Sequence[str]]
    pvalue: float
    alpha: float
    subject: str = ""

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
        if not isinstance(result, FriedmanNemenyiResult):
            raise TypeError(
                "Expected a FriedmanNemenyiResult, as friedman_nemenyi or the rank() of an "
                f"evaluation gives it. Got {type(result).__name__}."
            )
        display = cls(
            names=result.names,
            average_ranks=result.average_ranks,
            critical_difference=result.critical_difference,
            groups=result.groups,
            pvalue=result.pvalue,
            alpha=result.alpha,
            subject=result.subject,
        )
        return display.plot(**options)

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        names: Sequence[str] | None = None,
        *,
        higher_is_better: bool = True,
        alpha: float = 0.05,
        **options: Any,
    ) -> Self:
        """Test and plot a table of scores.

        Parameters
        ----------
        scores : array-like or data frame of shape (n_blocks, n_models), or dict
            One row per fold or stream, one column per model; or the scores by model.
        names : sequence of str, default=None
            Names of the models. None takes the columns of a data frame or the names of a
            dict, else numbers them.
        higher_is_better : bool, default=True
            Whether a larger score is the better one.
        alpha : float, default=0.05
            Level of the tests, in (0, 1).
        **options
            Options of `plot`: `ax`, `styles`, and properties of all bars.

        Returns
        -------
        display : CriticalDifferenceDisplay
            The display, drawn.
        """
        result = friedman_nemenyi(scores, names, higher_is_better=higher_is_better, alpha=alpha)
        return cls.from_result(result, **options)

    def plot(self, ax: Any = None, *, styles: Styles | None = None, **line_options: Any) -> Self:
        """Draw the display; the names stand beside the diagram, so that there is no legend.

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
            If `ax` is no matplotlib Axes, or a line has no such property.
        """
        return self._plot(ax, None, styles, line_options)

    def _layout(self, ax: Any) -> Layout:
        return Layout(self._bar_names(), size=(8.0, 4.0), constrained=False)

    def _bar_names(self) -> list[str]:
        return [f"bar {number}" for number in range(1, len(self.groups) + 1)]

    def _draw(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        if canvas.own:
            ax.set_position((0, 0, 1, 1))
        ax.set_axis_off()
        levels = bar_levels(self._bar_ends())
        rows = self._label_rows(FIRST_BAR + BAR_DISTANCE * len(set(levels)))
        note = self._note()
        note_height = NOTE_HEIGHT + note.count("\n") - 1
        bottom = max(height + lines / 2 for _, _, height, lines in rows) + note_height
        top = RULER_HEIGHT - 1.5
        ax.set_ylim(bottom, top)

        dots = self._draw_bars(canvas, ax, levels)
        left, right = self._draw_labels(ax, rows)
        ticks = self._draw_axis(ax)
        others = [*ticks, self._draw_ruler(ax), self._draw_note(ax, note)]
        if canvas.own:
            width = self._width_asked(left, right, others[-1])
            ax.figure.set_size_inches(width, (bottom - top) * ROW_INCHES)
        font = self._fit(ax, left, right, others)
        shrunk = {name: size * min(1.0, font / LARGEST_FONT) for name, size in BAR_STYLE.items()}
        for name, bar in canvas.lines.items():
            sizes = {key: size for key, size in shrunk.items() if key not in canvas.keywords[name]}
            for line in (bar, dots[name]):
                line.set(**sizes)
        self._thin_out(ax, ticks)

    def _rank(self, name: str) -> float:
        return float(self.average_ranks[list(self.names).index(name)])

    def _bar_ends(self) -> list[tuple[float, float]]:
        ranks = [[self._rank(name) for name in group] for group in self.groups]
        return [(min(members), max(members)) for members in ranks]

    def _label_rows(self, first: float) -> list[tuple[str, float, float, int]]:
        """Text, rank, height and number of lines of every label, the left half first.

        On either side the outermost model is on top, so that no two connecting lines cross.
        """
        order = [int(i) for i in np.argsort(self.average_ranks, kind="stable")]
        n_left = (len(order) + 1) // 2
        rows = []
        for side in (order[:n_left], order[n_left:][::-1]):
            height = first + LABEL_GAP - 0.5
            for i in side:
                lines = wrap_name(str(self.names[i]))
                text = "\n".join(lines) + f"  ({self.average_ranks[i]:.2f})"
                middle = height + len(lines) / 2
                rows.append((text, float(self.average_ranks[i]), middle, len(lines)))
                height += len(lines) + 0.15
        return rows

    def _draw_bars(self, canvas: Canvas, ax: Any, levels: list[int]) -> dict[str, Any]:
        """Draw bars and a dot per member; return the dots of every bar."""
        dots: dict[str, Any] = {}
        bars = zip(self._bar_names(), self._bar_ends(), levels, self.groups, strict=True)
        for name, ends, level, group in bars:
            height = FIRST_BAR + BAR_DISTANCE * level
            look = {"color": BAR_COLOR, "zorder": 3, **BAR_STYLE, **canvas.keywords[name]}
            bar = {"solid_capstyle": "butt"} | look | {"marker": ""}
            (canvas.lines[name],) = ax.plot(ends, [height] * 2, **bar)
            members = [self._rank(member) for member in group]
            dot = {"marker": "o"} | look | {"linestyle": "none"}
            (dots[name],) = ax.plot(members, [height] * len(members), **dot)
        return dots

    def _draw_axis(self, ax: Any) -> list[Any]:
        n_models = len(self.names)
        ax.plot([1, n_models], [0, 0], color=ink(), linewidth=1.2)
        for rank in range(1, n_models + 1):
            ax.plot([rank, rank], [-TICK_LENGTH, 0], color=ink(), linewidth=1.2)
        return [
            ax.text(rank, -TICK_LENGTH - 0.1, str(rank), ha="center", va="bottom")
            for rank in range(1, n_models + 1)
        ]

    def _draw_ruler(self, ax: Any) -> Any:
        ends = [1, 1 + self.critical_difference]
        ax.plot(ends, [RULER_HEIGHT] * 2, color=ink(), linewidth=1.6)
        caps = [RULER_HEIGHT - RULER_CAP, RULER_HEIGHT + RULER_CAP]
        for end in ends:
            ax.plot([end, end], caps, color=ink(), linewidth=1.6)
        text = f"CD = {self.critical_difference:.2f}"
        return ax.text(np.mean(ends), caps[0] - 0.05, text, ha="center", va="bottom")

    def _note(self) -> str:
        verdict = "the models differ" if self.pvalue < self.alpha else "no difference shown"
        p = "p < 0.0001" if self.pvalue < 1e-4 else f"p = {self.pvalue:.2g}"
        bars = "Bars join models that are not told apart" if self.groups else "All pairs differ"
        lines = [
            f"Friedman test (Iman-Davenport): {p}, {verdict}.",
            f"{bars} (Nemenyi, alpha = {self.alpha:g}).",
        ]
        if self.subject:
            lines += textwrap.wrap(f"Ranked {self.subject}.", LONGEST_NOTE)
        return "\n".join(lines)

    def _draw_note(self, ax: Any, note: str) -> Any:
        place = {"transform": ax.transAxes, "ha": "center", "va": "bottom", "parse_math": False}
        return ax.text(0.5, 0.02, note, alpha=0.8, linespacing=1.1, **place)

    def _draw_labels(
        self, ax: Any, rows: list[tuple[str, float, float, int]]
    ) -> tuple[list[Any], list[Any]]:
        """Draw labels and the lines to them; return the texts of the two sides."""
        n_left = (len(rows) + 1) // 2
        ends = (1, len(self.names))
        sides: tuple[list[Any], list[Any]] = ([], [])
        for place, (text, rank, height, _) in enumerate(rows):
            side = int(place >= n_left)
            ax.plot(
                [rank, rank, ends[side]],
                [0, height, height],
                color=ink(),
                linewidth=0.9,
                solid_joinstyle="miter",
                zorder=2,
            )
            label = ax.annotate(
                text,
                (ends[side], height),
                xytext=(5 if side else -5, 0),
                textcoords="offset points",
                ha="left" if side else "right",
                va="center",
                parse_math=False,
            )
            sides[side].append(label)
        return sides

    def _width_asked(self, left: list[Any], right: list[Any], note: Any) -> float:
        """Width in inches at which all texts fit in their usual size."""
        labels = sum(max(map(text_inches, texts)) for texts in (left, right))
        return max(labels + AXIS_INCHES, text_inches(note)) + 2 * MARGIN_INCHES

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
        n_models = len(self.names)
        per_inch = (n_models - 1) / max(axis, 0.05 * width)
        # A ruler longer than the axis of ranks may need more room than the labels.
        end_of_ruler = 1 + self.critical_difference + MARGIN_INCHES * per_inch
        end_of_labels = n_models + margins[1] * per_inch
        ax.set_xlim(1 - margins[0] * per_inch, max(end_of_labels, end_of_ruler))
        return float(font)

    def _thin_out(self, ax: Any, ticks: list[Any]) -> None:
        """Leave out numbers at the axis of ranks for which there is no room."""
        distance = inches_of(ax)[0] / abs(float(np.subtract(*ax.get_xlim())))
        step = int(np.ceil(1.3 * max(map(text_inches, ticks)) / distance))
        for k, tick in enumerate(ticks):
            tick.set_visible(k % step == 0)

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        order = np.argsort(self.average_ranks, kind="stable")
        models = [self.names[i] for i in order]
        yield {
            "model": models,
            "average_rank": np.asarray(self.average_ranks)[order],
            "groups": [
                [number for number, group in enumerate(self.groups, 1) if name in group]
                for name in models
            ],
        }

    def _summary(self) -> str:
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = ", ".join(f"{self.names[i]} {self.average_ranks[i]:.3g}" for i in order)
        return f"{ranks}; CD {self.critical_difference:.3g}"


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
