"""What all displays share: the protocol, the way they are drawn, and the artists they keep."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from skstream.plotting._axes import (
    FIGURE_INCHES,
    LegendChoice,
    check_legend,
    drawing,
    give_legend,
)
from skstream.plotting._lines import Styles, line_keywords, mark_lone_points
from skstream.utils._optional import optional_import


@runtime_checkable
class Display(Protocol):
    """What every display offers; ``isinstance`` checks that the methods are there.

    A drawn display also keeps its artists: ``ax_`` and ``figure_``, and ``lines_``, a dict of
    matplotlib lines by name.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.plotting import PrequentialDisplay
    >>> from skstream.plotting._base import Display
    >>> display = PrequentialDisplay(
    ...     checkpoints=np.array([10, 20]),
    ...     curves={"sgd": np.array([[0.5], [0.6]])},
    ...     metric="accuracy",
    ...     forgetting="cumulative",
    ... )
    >>> isinstance(display, Display)
    True
    """

    @classmethod
    def from_result(cls, *args: Any, **options: Any) -> Self:
        """Plot a result.

        Parameters
        ----------
        *args
            The result, and what is to be shown of it.
        **options
            What is to be shown, and options of `plot`.

        Returns
        -------
        display : Display
            The display, drawn.
        """
        ...

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.
        **options
            How it is to be drawn, such as properties of all lines.

        Returns
        -------
        self : Display
            With `ax_`, `figure_` and `lines_`.
        """
        ...

    def to_frame(self) -> Any:
        """Return the data of the plot.

        Returns
        -------
        frame : pandas.DataFrame
            One row per value.
        """
        ...


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
    constrained : bool, default=True
        Whether matplotlib arranges the axes and legends of a new figure.
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
    constrained: bool = True
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
    legend : str, bool, dict or None
        The user's choice.
    keywords : dict of str to dict
        The user's properties by line.
    lines : dict of str to Line2D
        Lines drawn so far.
    legends : list of matplotlib Legend
        Legends drawn so far.
    """

    axes: np.ndarray
    own: bool
    legend: LegendChoice
    keywords: Mapping[str, Mapping[str, Any]]
    lines: dict[str, Any] = field(default_factory=dict)
    legends: list[Any] = field(default_factory=list)

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

    def give_legend(self, ax: Any, **entries: Any) -> Any:
        """Draw and keep a legend, as the user asked for it.

        Parameters
        ----------
        ax : matplotlib Axes
            One of the axes.
        **entries
            `lines`, a dict of lines by the text that names them, and `others`, a dict of
            everything else to be explained.

        Returns
        -------
        legend : matplotlib Legend or None
            The legend, if there is one.
        """
        self.legends.append(give_legend(ax, self.legend, own=self.own, **entries))
        return self.legends[-1]


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
            more than seven lines. False: nowhere. A dict holds keywords of matplotlib's legend.
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
            If `ax` is no matplotlib Axes, or a line has no such property.
        ValueError
            If `legend` is none of the choices, there are not as many axes as panels, or there is
            nothing to draw.
        """
        return self._plot(ax, check_legend(legend), styles, line_options)

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

    def _plot(
        self, ax: Any, legend: LegendChoice, styles: Styles | None, options: Mapping[str, Any]
    ) -> Self:
        layout = self._layout(ax)
        keywords = line_keywords(layout.lines, styles, options)
        with drawing(
            ax,
            layout.n_panels,
            size=layout.size,
            constrained=layout.constrained,
            n_columns=layout.n_columns,
        ) as (axes, own):
            canvas = Canvas(axes, own, legend, keywords)
            self._draw(canvas)
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
