"""Axes, legends, titles and labels at line ends, which all displays share."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from skstream.plotting._words import wrap_name
from skstream.utils._optional import optional_import

FIGURE_INCHES = (8.0, 4.5)
LEGENDS = ("auto", "outside", "inside", "ends")
#: More lines than this are named at their ends: one of twenty is hard to find in a legend.
MOST_LINES_IN_LEGEND = 7
MOST_ROWS_IN_LEGEND = 24
#: With more points matplotlib needs seconds to find a free place for a legend.
MOST_POINTS_TO_SEARCH = 50_000
ROW_INCHES, TALLEST_INCHES = 0.14, 24.0  # of names at the ends of lines, and of a figure
LARGEST_FONT, SMALLEST_FONT = 9.0, 4.5
LINE_SPACING = 1.3  # height of a row of text by its font size
SMALL_LINE = 16  # characters in the legend of a small panel
TITLE_FONTS = ("medium", "small", "x-small")
CHARACTER_WIDTH = 0.55  # of a title by its font size
TICK_INCHES = 0.75  # between two numbers of rows
LEADER_INCHES = 0.3  # between the end of a line and its label
#: Share of the width of the user's axes that labels at line ends may take.
LARGEST_LABEL_SHARE = 0.6

#: What `legend=` takes; documented at `BaseDisplay.plot`.
LegendChoice = str | bool | Mapping[str, Any] | None


@contextmanager
def drawing(
    ax: Any,
    n_panels: int = 1,
    *,
    size: tuple[float, float] = FIGURE_INCHES,
    constrained: bool = True,
    n_columns: int = 1,
) -> Iterator[tuple[np.ndarray, bool]]:
    """Make a figure, or check the axes that the user gave; close the figure after an error.

    Parameters
    ----------
    ax : matplotlib Axes or sequence of them or None
        What the user gave.
    n_panels : int, default=1
        Number of axes needed.
    size : tuple of float, default=(8.0, 4.5)
        Size in inches of a new figure.
    constrained : bool, default=True
        Whether matplotlib arranges the axes and legends of a new figure.
    n_columns : int, default=1
        Columns of axes of a new figure.

    Yields
    ------
    axes : ndarray of shape (n_panels,), dtype object
        Axes to draw on.
    own : bool
        Whether their figure is new.
    """
    pyplot = optional_import("matplotlib.pyplot", "Plotting")
    if ax is not None:
        yield checked_axes(ax, n_panels), False
        return
    figure, axes = pyplot.subplots(
        -(-n_panels // n_columns),
        n_columns,
        sharex=True,
        sharey=n_columns > 1,
        squeeze=False,
        figsize=size,
        layout="constrained" if constrained else None,
    )
    try:
        for unused in axes.ravel()[n_panels:]:
            unused.remove()
        yield axes.ravel()[:n_panels], True
    except BaseException:
        pyplot.close(figure)
        raise


def checked_axes(ax: Any, n_panels: int) -> np.ndarray:
    """Return the user's axes as an array; an error says what they should have been."""
    kind = optional_import("matplotlib.axes", "Plotting").Axes
    axes = np.ravel(np.asarray(ax, dtype=object))
    for one in axes:
        if not isinstance(one, kind):
            wanted = "a matplotlib Axes" if n_panels == 1 else f"{n_panels} matplotlib Axes"
            raise TypeError(f"ax must be {wanted}. Got {type(one).__name__} instead.")
        if one.name != "rectilinear":
            raise TypeError(
                f"ax must be plain axes. Got axes with the projection {one.name!r} instead."
            )
    if len(axes) != n_panels:
        wanted = "one matplotlib Axes" if n_panels == 1 else f"{n_panels} matplotlib Axes"
        raise ValueError(f"ax must be {wanted}. Got {len(axes)} instead; choose from them.")
    return axes


def check_legend(legend: Any) -> LegendChoice:
    """Return the choice of the legend; an error says which there are."""
    if legend is None or isinstance(legend, bool | Mapping):
        return legend
    if isinstance(legend, str) and legend in LEGENDS:
        return legend
    raise ValueError(
        f"legend must be one of {list(LEGENDS)}, True, False, or a dict of keywords of "
        f"matplotlib's legend. Got {legend!r} instead."
    )


def size_for(names: Iterable[str]) -> tuple[float, float]:
    """Return the size of a figure with room for all names at the right ends of the lines."""
    n_rows = sum(len(wrap_name(name)) for name in names)
    width, height = FIGURE_INCHES
    return width, float(np.clip(ROW_INCHES * n_rows + 0.9, height, TALLEST_INCHES))


def was_used(ax: Any) -> bool:
    """Whether these axes, or others that share their scale, already show something."""
    shared = ax.get_shared_y_axes().get_siblings(ax)
    return any(one.has_data() for one in shared)


def widen_limits(ax: Any, axis: str, low: float, high: float, *, keep: bool) -> None:
    """Set the limits of an axis; where `keep`, they still include the present ones.

    The user's logarithmic axes keep their own limits, and inverted axes stay inverted.
    """
    if getattr(ax, f"get_{axis}scale")() != "linear":
        return
    if keep:
        before = sorted(getattr(ax, f"get_{axis}lim")())
        low, high = min(low, before[0]), max(high, before[1])
    inverted = getattr(ax, f"{axis}axis_inverted")()
    getattr(ax, f"set_{axis}lim")(*((high, low) if inverted else (low, high)))


def plain_look(ax: Any) -> None:
    """Remove the upper and the right edge of the frame."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def give_title(ax: Any, text: str) -> None:
    """Write a title as wide as the axes; one that the user gave stays."""
    if any(ax.get_title(loc=place) for place in ("left", "center", "right")):
        return
    width = ax.get_window_extent().width
    title = ax.set_title(text, loc="left", parse_math=False)
    for font in TITLE_FONTS:
        title.set_fontsize(font)
        if title.get_window_extent().width <= width:
            return
    points = 72 * width / ax.figure.dpi
    characters = max(12, int(points / (CHARACTER_WIDTH * title.get_fontsize())))
    title.set_text(textwrap.fill(text, characters))


def text_scale() -> float:
    """Size of texts under the user's settings, relative to the default of matplotlib."""
    return float(optional_import("matplotlib", "Plotting").rcParams["font.size"]) / 10.0


def inches_of(ax: Any) -> tuple[float, float]:
    """Width and height of axes in inches."""
    extent = ax.get_window_extent()
    return extent.width / ax.figure.dpi, extent.height / ax.figure.dpi


def count_rows_along(ax: Any, label: str = "rows") -> None:
    """Put whole numbers of rows on the horizontal axis, as many as have room."""
    ticker = optional_import("matplotlib.ticker", "Plotting")
    most = int(np.clip(inches_of(ax)[0] / (TICK_INCHES * text_scale()), 1, 8))
    ax.xaxis.set_major_locator(
        ticker.MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10], integer=True)
    )
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(label)


def numbers_of_times(times: np.ndarray) -> np.ndarray:
    """Places of times along an axis: of dates, matplotlib's days."""
    if times.dtype.kind != "M":
        return times
    dates = optional_import("matplotlib.dates", "Plotting")
    numbers: np.ndarray = dates.date2num(times)
    return numbers


def show_times_along(ax: Any, *, dates: bool) -> None:
    """Put dates, or numbers of times, on the horizontal axis."""
    if dates:
        of_dates = optional_import("matplotlib.dates", "Plotting")
        locator = of_dates.AutoDateLocator(maxticks=8)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(of_dates.ConciseDateFormatter(locator))
    ax.set_xlabel("time")


def places_along(checkpoints: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """Places of checkpoints along an axis: their times where there are any, else their rows."""
    return checkpoints if times is None else numbers_of_times(times)


def measure_along(
    ax: Any, along: np.ndarray, times: np.ndarray | None, *, keep: bool
) -> float | None:
    """Set limits and marks of the horizontal axis; return where the last checkpoint is."""
    end = float(along[-1]) if len(along) else None
    if end is not None:
        widen_limits(ax, "x", 0.0 if times is None else float(along[0]), end, keep=keep)
    if times is None:
        count_rows_along(ax)
    else:
        show_times_along(ax, dates=times.dtype.kind == "M")
    return end


def give_legend(
    ax: Any,
    legend: LegendChoice,
    *,
    own: bool,
    lines: Mapping[str, Any],
    others: Mapping[str, Any] | None = None,
    end: float | None = None,
    small: bool = False,
    corner: str = "best",
) -> Any:
    """Name the lines in a legend or at their ends, and explain everything else.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    legend : str, bool, dict or None
        The user's choice.
    own : bool
        Whether the display made the figure, so that the space beside the axes is free.
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
    if legend is None or legend is False:
        return None
    named = dict(lines)
    keywords = dict(legend) if isinstance(legend, Mapping) else {}
    place = legend if isinstance(legend, str) else "auto"
    if place == "auto" and not keywords and end is not None and len(named) > MOST_LINES_IN_LEGEND:
        place = "ends"
    if place == "ends" and end is not None:
        label_ends(ax, named, end, inside=not own)
        named = {}
    entries = named | dict(others or {})
    if not entries:
        return None
    handles, blanks = list(entries.values()), [""] * len(entries)
    if place == "ends" and own:
        made = ax.figure.legend(
            handles,
            blanks,
            loc="outside lower center",
            ncols=len(entries),
            frameon=False,
            fontsize="small",
        )
    elif place == "inside" or (place in ("auto", "ends") and not own):
        n_points = sum(len(line.get_xdata()) for line in lines.values())
        free = corner if n_points <= MOST_POINTS_TO_SEARCH else "upper right"
        inside = {"loc": free, "fontsize": "small", "framealpha": 0.75, "edgecolor": "none"}
        made = ax.legend(handles, blanks, **(inside | keywords))
    else:
        beside: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (1.0, 1.0),
            "frameon": False,
            "ncols": -(-len(entries) // MOST_ROWS_IN_LEGEND),
            "alignment": "left",
            "fontsize": "small" if small else None,
        }
        if "loc" in keywords:
            del beside["bbox_to_anchor"]
        made = ax.legend(handles, blanks, **(beside | keywords))
    # Written afterwards: matplotlib drops entries that begin with "_", and reads "$" as formulas.
    for text, name in zip(made.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text("\n".join(textwrap.wrap(name, SMALL_LINE) if small else wrap_name(name)))
    return made


def label_ends(ax: Any, lines: Mapping[str, Any], end: float, *, inside: bool) -> list[Any]:
    """Write the name of every line beside its right end, without overlaps.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose limits are set.
    lines : dict of str to Line2D
        Lines by the text that names them.
    end : float
        Right end of the lines; the labels begin a little further to the right.
    inside : bool
        Make room for the labels within the axes, rather than beside them.

    Returns
    -------
    texts : list of matplotlib Annotation
        One per line.
    """
    width, height = inches_of(ax)
    names = ["\n".join(wrap_name(name)) for name in lines]
    n_rows = np.array([name.count("\n") + 1 for name in names])
    size = min(LARGEST_FONT * text_scale(), 72 * height / (LINE_SPACING * n_rows.sum()))
    size = max(SMALLEST_FONT, size)
    heights = n_rows * LINE_SPACING * size / 72 / height
    ends = np.array([last_point(line) for line in lines.values()])
    low, high = sorted(ax.get_ylim())
    shown = np.column_stack([np.full(len(ends), end), np.clip(ends[:, 1], low, high)])
    in_axes = ax.transAxes.inverted().transform(ax.transData.transform(shown))
    wanted = np.clip(np.nan_to_num(in_axes[:, 1]), 0.0, 1.0)
    texts = []
    leader = LEADER_INCHES / width
    middles = spread_apart(wanted, heights)
    for line, name, point, y in zip(lines.values(), names, ends, middles, strict=True):
        known = bool(np.isfinite(point).all())
        text = ax.annotate(
            name,
            (point[0], np.clip(point[1], low, high)) if known else (end, low),
            xytext=(1.0 + leader, y),
            textcoords="axes fraction",
            annotation_clip=False,
            va="center",
            fontsize=size,
            color=line.get_color(),
            parse_math=False,
            arrowprops={
                "arrowstyle": "-", "color": line.get_color(), "linewidth": 0.6,
                "shrinkA": 1, "shrinkB": 0, "relpos": (0.0, 0.5),
                "alpha": 1.0 if known else 0.0,
            },
        )  # fmt: skip
        texts.append(text)
    if inside:
        _make_room(ax, texts, end, leader, width)
    return texts


def _make_room(ax: Any, texts: Sequence[Any], end: float, leader: float, width: float) -> None:
    """Move the right limit until labels at line ends are within the axes."""
    widest = max(text.get_window_extent().width for text in texts) / ax.figure.dpi / width
    share = min(LARGEST_LABEL_SHARE, leader + widest)
    left = ax.get_xlim()[0]
    ax.set_xlim(left, left + (end - left) / (1.0 - share))
    for text in texts:
        text.set_position((1.0 - share + leader, text.get_position()[1]))


def last_point(line: Any) -> tuple[float, float]:
    """Return the last point of a line that has a value; NaN if it has none."""
    x, y = (np.asarray(values, dtype=np.float64) for values in line.get_data())
    known = np.flatnonzero(np.isfinite(y))
    return (float(x[known[-1]]), float(y[known[-1]])) if len(known) else (np.nan, np.nan)


def spread_apart(wanted: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Move labels apart, as little as possible, so that none overlaps another.

    Parameters
    ----------
    wanted : ndarray of shape (n_labels,)
        Preferred middle of every label, in [0, 1].
    heights : ndarray of shape (n_labels,)
        Height of every label.

    Returns
    -------
    middles : ndarray of shape (n_labels,)
        Middles whose distances are at least the mean of the two heights, in the same order of
        values; within [0, 1] if the heights leave room.
    """
    order = np.argsort(wanted, kind="stable")
    tall = heights[order]
    offset = np.concatenate([[0.0], np.cumsum((tall[:-1] + tall[1:]) / 2)])
    lowest, highest = tall[0] / 2, 1.0 - tall[-1] / 2 - offset[-1]
    if highest < lowest:
        lowest = highest = (lowest + highest) / 2
    moved = isotonic_regression(wanted[order] - offset, y_min=lowest, y_max=highest)
    middles = np.empty(len(wanted))
    middles[order] = moved + offset
    return middles
