"""What all displays share: the protocol, the way they are drawn, and the artists they keep."""

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from skstream.plotting._axes import (
    LONGEST_LINE,
    OVER_EDGE,
    Styles,
    break_labels,
    clip_above,
    label_ends,
    line_keywords,
    lower,
    mark_lone_points,
    wrap_name,
)
from skstream.utils._optional import optional_import

FIGURE_INCHES = (8.0, 4.5)
LEGENDS = ("auto", "outside", "inside", "ends")
#: More lines than this are named at their ends: one of twenty is hard to find in a legend.
MOST_LINES_IN_LEGEND = 7
MOST_ROWS_IN_LEGEND = 24
#: With more points matplotlib needs seconds to find a free place for a legend.
MOST_POINTS_TO_SEARCH = 50_000
#: Largest share of the height of the user's axes for a legend above the lines.
MOST_OF_LEGEND = 0.5
LARGEST_LEGEND = 0.65  # if its texts are as small as can be read
#: Texts of a legend in the user's axes: where there is no room, smaller ones.
LEGEND_TEXTS: tuple[dict[str, Any], ...] = (
    {"fontsize": "small"},
    {"fontsize": "x-small", "handlelength": 1.5, "labelspacing": 0.3, "columnspacing": 1.0},
    {"fontsize": "xx-small", "handlelength": 1.2, "labelspacing": 0.2, "columnspacing": 0.8},
)
SMALL_LINE = 16  # characters in the legend of a small panel

#: What `legend=` takes; documented at `BaseDisplay.plot`.
LegendChoice = str | bool | Mapping[str, Any] | None


@dataclass(frozen=True)
class Layout:
    """What a display needs before anything is drawn.

    Parameters
    ----------
    lines : collection of str
        Names by which users can give single lines a style.
    n_panels : int, default=1
        Number of axes.
    size : tuple of float, default=(8.0, 4.5)
        Size in inches of a new figure.
    n_columns : int, default=1
        Columns of axes of a new figure.

    Examples
    --------
    >>> from skstream.plotting._base import Layout
    >>> Layout(["sgd", "persistent"], n_panels=2).size
    (8.0, 4.5)
    """

    lines: Collection[str]
    n_panels: int = 1
    size: tuple[float, float] = FIGURE_INCHES
    n_columns: int = 1


@dataclass
class Canvas:
    """Axes to draw on, what the user asked for, and the artists drawn so far.

    Attributes
    ----------
    axes : ndarray of matplotlib Axes
        As many as the layout asks for.
    own : bool
        Whether the display made the figure.
    legend : tuple of (str or None, dict)
        Where the user wants the legend (None: nowhere), and keywords of matplotlib's legend.
    keywords : dict of str to dict
        The user's properties by line.
    lines : dict of str to Line2D
        Lines drawn so far.
    legends : list of matplotlib Legend
        Legends drawn so far.
    top : float
        Share of the height of the first axes that lines may use: what is above it is taken.
    """

    axes: np.ndarray
    own: bool
    legend: tuple[str | None, dict[str, Any]]
    keywords: Mapping[str, Mapping[str, Any]]
    lines: dict[str, Any] = field(default_factory=dict)
    legends: list[Any] = field(default_factory=list)
    top: float = 1.0

    def __post_init__(self) -> None:
        # Axes that already show something, or share their scale with some that do.
        self._used = [
            ax
            for ax in self.axes
            if any(one.has_data() for one in ax.get_shared_y_axes().get_siblings(ax))
        ]

    def draw_line(
        self,
        ax: Any,
        name: str,
        x: Any,
        y: Any,
        defaults: Mapping[str, Any],
        style_of: str | None = None,
    ) -> Any:
        """Draw and keep a line; the user's properties come before the defaults.

        Parameters
        ----------
        ax : matplotlib Axes
            One of the axes.
        name : str
            Name under which the line is kept.
        x, y : array-like of shape (n_points,)
            Its points.
        defaults : dict
            Properties which the user may change.
        style_of : str, default=None
            Name by which users give it a style; None: `name`.

        Returns
        -------
        line : matplotlib Line2D
            The line.
        """
        (line,) = ax.plot(x, y, **{**defaults, **self.keywords[style_of or name]})
        mark_lone_points(line)
        self.lines[name] = line
        return line

    def widen_limits(self, ax: Any, axis: str, low: float, high: float) -> None:
        """Set the limits of an axis; where axes were in use, they still include the present ones.

        The user's logarithmic axes keep their own limits, and inverted axes stay inverted.
        """
        if getattr(ax, f"get_{axis}scale")() != "linear":
            return
        if ax in self._used:
            before = sorted(getattr(ax, f"get_{axis}lim")())
            low, high = min(low, before[0]), max(high, before[1])
        inverted = getattr(ax, f"{axis}axis_inverted")()
        getattr(ax, f"set_{axis}lim")(*((high, low) if inverted else (low, high)))

    def give_legend(
        self,
        ax: Any,
        *,
        lines: Mapping[str, Any],
        others: Mapping[str, Any] | None = None,
        end: float | None = None,
        small: bool = False,
        corner: str = "best",
    ) -> Any:
        """Draw and keep a legend, as the user asked for it.

        Parameters
        ----------
        ax : matplotlib Axes
            One of the axes.
        lines : dict of str to Line2D
            Lines by the text that names them.
        others : dict of str to artist, default=None
            Everything else to be explained.
        end : float, default=None
            Right end of the lines. None: labels at line ends are not possible.
        small : bool, default=False
            Use small texts with short lines, for a small panel.
        corner : str, default="best"
            Where a legend inside the axes is, by matplotlib's name of the place.

        Returns
        -------
        legend : matplotlib Legend or None
            The legend, if there is one.
        """
        place, keywords = self.legend
        entries = {**lines, **(others or {})}
        if place == "auto" and not keywords and end is not None:
            place = "ends" if len(lines) > MOST_LINES_IN_LEGEND else place
        if place == "ends" and end is not None:
            entries = dict(others or {})
        made = None
        if place is not None and entries:
            made = self._legend(ax, place, keywords, entries, lines, small, corner)
        if place == "ends" and end is not None:
            label_ends(ax, lines, end, inside=not self.own, highest=self.top)
        self.legends.append(made)
        return made

    def _legend(
        self,
        ax: Any,
        place: str,
        keywords: Mapping[str, Any],
        entries: Mapping[str, Any],
        lines: Mapping[str, Any],
        small: bool,
        corner: str,
    ) -> Any:
        """Draw the legend of some entries."""
        handles, blanks = list(entries.values()), [""] * len(entries)

        def make(parent: Any, **look: Any) -> Any:
            made = parent.legend(handles, blanks, **look)
            # Written afterwards: matplotlib drops entries that begin with "_", and reads "$" as
            # formulas.
            for text, name in zip(made.get_texts(), entries, strict=True):
                lines_of_name = textwrap.wrap(name, SMALL_LINE) if small else wrap_name(name)
                text.set_parse_math(False)
                text.set_text("\n".join(lines_of_name))
            return made

        small_text = {"fontsize": "small"}
        if place == "ends" and self.own:
            below = {"loc": "outside lower center", "frameon": False}
            for n_columns in range(len(entries), 0, -1):
                made = make(ax.figure, **below, ncols=n_columns, **small_text)
                if n_columns == 1 or made.get_window_extent().width <= ax.figure.bbox.width:
                    break
                made.remove()
            # The layout asks at every drawing: the figure may be narrower by then.
            made.get_tightbbox = partial(_narrowed, made, list(entries), 0.0)
            return made
        if place == "inside" or (place in ("auto", "ends") and not self.own):
            n_points = sum(len(line.get_xdata()) for line in lines.values())
            free = corner if n_points <= MOST_POINTS_TO_SEARCH else "upper right"
            look = {"loc": free, "framealpha": 0.75, "edgecolor": "none", **small_text}
            if keywords:
                return make(ax, **{**look, **keywords})
            made, _ = _fitting(ax, partial(make, ax, **look))
            is_ours = corner == "best" and ax not in self._used and ax.get_yscale() == "linear"
            if is_ours and (place == "ends" or _covers(made, ax)):
                made = self._above_the_lines(ax, partial(make, ax, **look), lines)
            width = ax.get_window_extent().width
            if not small and made.get_window_extent().width > width:
                _narrowed(made, list(entries), width)
            return made
        beside: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (1.0, 1.0),
            "frameon": False,
            "ncols": -(-len(entries) // MOST_ROWS_IN_LEGEND),
            "alignment": "left",
            **(small_text if small else {}),
        }
        if "loc" in keywords:
            del beside["bbox_to_anchor"]
        return make(ax, **{**beside, **keywords})

    def _above_the_lines(self, ax: Any, make: Callable[..., Any], lines: Mapping[str, Any]) -> Any:
        """Make a legend above the lines, which move down."""
        above = {"loc": "upper left", "bbox_to_anchor": (0.0, self.top)}
        legend, height = _fitting(ax, partial(make, **above), self.top, side_by_side=True)
        lower(ax, 1.0 - height / self.top)
        self.top -= height
        clip_above(ax, lines.values(), self.top)
        return legend


def _fitting(
    ax: Any, make: Callable[..., Any], top: float = 1.0, *, side_by_side: bool = False
) -> tuple[Any, float]:
    """Make a legend in the largest texts with which it fits into axes; return its height, too."""
    axes, legend, height = ax.get_window_extent(), None, 0.0
    for texts in LEGEND_TEXTS:
        legend = make(**texts)
        if side_by_side:
            n_columns = max(1, int(axes.width / legend.get_window_extent().width))
            for n in (n_columns + 1, n_columns):  # one may be narrower than the others
                legend = make(**texts, ncols=n)
                if legend.get_window_extent().width <= axes.width:
                    break
        box = legend.get_window_extent()
        height = box.height / axes.height + 2 * OVER_EDGE
        if side_by_side:  # with the distance from the edge
            height = max(height, top - (box.y0 - axes.y0) / axes.height + OVER_EDGE)
        if height <= MOST_OF_LEGEND * top and box.width <= axes.width:
            break
    return legend, min(height, LARGEST_LEGEND * top)


def _narrowed(legend: Any, names: Sequence[str], width: float = 0.0, renderer: Any = None) -> Any:
    """Break the names in a legend until it fits into a width (0: its figure); return its extent."""
    extent = None
    for length in range(LONGEST_LINE, 7, -1):
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set_text("\n".join(wrap_name(name, length)))
        extent = legend.get_window_extent(renderer)
        if extent.width <= (width or legend.figure.bbox.width):
            break
    return extent


def _covers(legend: Any, ax: Any) -> bool:
    """Whether a legend covers a part of a line."""
    box = legend.get_window_extent()
    paths = (line.get_path().transformed(line.get_transform()).cleaned() for line in ax.lines)
    return any(path.intersects_bbox(box, filled=False) for path in paths)


class BaseDisplay:
    """Draws what subclasses fill in: `_layout`, `_draw`, `_parts` and `_summary`.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.plotting._base import BaseDisplay, Layout
    >>> class LineDisplay(BaseDisplay):
    ...     def __init__(self, values):
    ...         self.values = values
    ...
    ...     def _layout(self, ax):
    ...         return Layout(["line"])
    ...
    ...     def _draw(self, canvas):
    ...         canvas.draw_line(canvas.axes[0], "line", range(3), self.values, {"color": "gray"})
    ...
    ...     def _parts(self):
    ...         yield {"value": self.values}
    ...
    ...     def _summary(self):
    ...         return f"{len(self.values)} values"
    >>> LineDisplay(np.array([1.0, 3.0, 2.0]))
    LineDisplay(3 values; see plot(), to_frame())
    """

    axes_: np.ndarray
    ax_: Any
    figure_: Any
    lines_: dict[str, Any]
    legend_: Any
    legends_: list[Any]

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
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on, one per panel; None: a new figure.
        legend : {"auto", "outside", "inside", "ends"}, bool or dict, default="auto"
            Where lines and areas are explained: beside the axes, inside them, or at the ends of
            the lines. "auto": beside the axes of a new figure, inside the user's, at the ends of
            more than seven lines. Inside, a legend that would cover lines moves above them. False:
            nowhere. A dict holds keywords of matplotlib's legend.
        styles : dict of str to dict, default=None
            Properties of single lines, such as ``{"sgd": {"color": "black"}}``.
        **line_options
            Properties of all lines, such as ``linewidth=2``.

        Returns
        -------
        self : display
            With `ax_`, `axes_`, `figure_`, `lines_`, `legend_` and `legends_`.

        Raises
        ------
        KeyError
            If `styles` names a line that is not drawn.
        TypeError
            If `ax` is not a matplotlib Axes, or a line has no such property.
        ValueError
            If `legend` is none of the choices, there are not as many axes as panels, or there is
            nothing to draw.
        """
        return self._plot(ax, legend, styles, line_options)

    def to_frame(self) -> Any:
        """Return the data of the plot.

        Returns
        -------
        frame : pandas.DataFrame
            One row per value; the display says which columns there are.
        """
        pandas = optional_import("pandas", "to_frame()")
        return pandas.concat(map(pandas.DataFrame, self._parts()), ignore_index=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()}; see plot(), to_frame())"

    def _ipython_display_(self) -> None:
        """Show the picture alone in a notebook, where a line of text above it says nothing new."""
        if not hasattr(self, "figure_"):
            print(repr(self))
            return
        pyplot = optional_import("matplotlib.pyplot", "Plotting")
        figure = self.figure_.canvas.figure
        # Figures that pyplot does not hold are not shown by the notebook, or are closed since.
        if not pyplot.fignum_exists(getattr(figure, "number", -1)):
            optional_import("IPython.display", "A notebook").display(figure)

    def _plot(
        self, ax: Any, legend: LegendChoice, styles: Styles | None, options: Mapping[str, Any]
    ) -> Self:
        place = _checked_legend(legend)
        layout = self._layout(ax)
        keywords = line_keywords(layout.lines, styles, options)
        axes = _new_axes(layout) if ax is None else _checked_axes(ax, layout.n_panels)
        canvas = Canvas(axes, ax is None, place, keywords)
        try:
            for one in axes:
                one.spines[["top", "right"]].set_visible(False)
            self._draw(canvas)
            for one in axes:
                break_labels(one)
        except BaseException:
            if canvas.own:
                optional_import("matplotlib.pyplot", "Plotting").close(axes[0].figure)
            raise
        self.axes_ = axes
        self.ax_ = axes[0]
        self.figure_ = axes[0].figure
        self.lines_ = canvas.lines
        self.legends_ = canvas.legends
        self.legend_ = next((one for one in canvas.legends if one is not None), None)
        return self

    def _layout(self, ax: Any) -> Layout:
        """Say which lines and how many axes there are; `ax` is what the user gave."""
        raise NotImplementedError

    def _draw(self, canvas: Canvas) -> None:
        """Draw everything, the lines with ``canvas.draw_line``."""
        raise NotImplementedError

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        """Columns of the data frame, in parts, such as one per line; a single value repeats."""
        raise NotImplementedError

    def _summary(self) -> str:
        """Most important figures, for the repr."""
        raise NotImplementedError


def check_kind(result: Any, kind: type, what: str) -> None:
    """Raise an error that says what was expected, if a result is of another kind."""
    if not isinstance(result, kind):
        raise TypeError(f"Expected {what}. Got {type(result).__name__}.")


def _new_axes(layout: Layout) -> np.ndarray:
    """Make a figure, and return its axes.

    A ``rcParams["figure.figsize"]`` that is not matplotlib's own is the size of a plain figure;
    what needs more room or less is larger or smaller in proportion.
    """
    matplotlib = optional_import("matplotlib", "Plotting")
    wanted = tuple(matplotlib.rcParams["figure.figsize"])
    is_usual = wanted == tuple(matplotlib.rcParamsDefault["figure.figsize"])
    scale = np.divide(FIGURE_INCHES if is_usual else wanted, FIGURE_INCHES)
    _, axes = optional_import("matplotlib.pyplot", "Plotting").subplots(
        -(-layout.n_panels // layout.n_columns),
        layout.n_columns,
        sharex=True,
        sharey=layout.n_columns > 1,
        squeeze=False,
        figsize=scale * layout.size,
        layout="constrained",
    )
    for unused in axes.ravel()[layout.n_panels :]:
        unused.remove()
    return np.asarray(axes.ravel()[: layout.n_panels])


def _checked_axes(ax: Any, n_panels: int) -> np.ndarray:
    """Return the user's axes as an array; an error says what they should have been."""
    kind = optional_import("matplotlib.axes", "Plotting").Axes
    axes = np.ravel(np.asarray(ax, dtype=object))
    several = f"{n_panels} matplotlib Axes"
    for one in axes:
        if not isinstance(one, kind):
            wanted = "a matplotlib Axes" if n_panels == 1 else several
            raise TypeError(f"ax must be {wanted}. Got {type(one).__name__} instead.")
        if one.name != "rectilinear":
            raise TypeError(
                f"ax must be plain axes. Got axes with the projection {one.name!r} instead."
            )
    if len(axes) != n_panels:
        wanted = "one matplotlib Axes" if n_panels == 1 else several
        raise ValueError(f"ax must be {wanted}. Got {len(axes)} instead; choose from them.")
    return axes


def _checked_legend(legend: Any) -> tuple[str | None, dict[str, Any]]:
    """Return the place of the legend (None: nowhere), and keywords for it."""
    if isinstance(legend, Mapping):
        return "auto", dict(legend)
    if legend is None or isinstance(legend, bool):
        return "auto" if legend else None, {}
    if isinstance(legend, str) and legend in LEGENDS:
        return legend, {}
    raise ValueError(
        f"legend must be one of {list(LEGENDS)}, True, False, or a dict of keywords of "
        f"matplotlib's legend. Got {legend!r} instead."
    )
