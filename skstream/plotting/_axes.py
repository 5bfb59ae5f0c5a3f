"""Titles, rows and times along the axis, and labels at line ends, which all displays share."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from skstream.plotting._words import wrap_name
from skstream.utils._optional import optional_import

LARGEST_FONT, SMALLEST_FONT = 9.0, 4.5
LINE_SPACING = 1.3  # height of a row of text by its font size
TITLE_FONTS = ("medium", "small", "x-small")
CHARACTER_WIDTH = 0.55  # of a title by its font size
TICK_INCHES = 0.75  # between two numbers of rows
LEADER_INCHES = 0.3  # between the end of a line and its label
#: Share of the width of the user's axes that labels at line ends may take.
LARGEST_LABEL_SHARE = 0.6


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


def places_along(checkpoints: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """Places of checkpoints along an axis: their times (of dates, matplotlib's days), else rows."""
    if times is None or times.dtype.kind != "M":
        return checkpoints if times is None else times
    dates = optional_import("matplotlib.dates", "Plotting")
    return np.asarray(dates.date2num(times))


def show_times_along(ax: Any, times: np.ndarray) -> None:
    """Put dates, or numbers of times, on the horizontal axis."""
    if times.dtype.kind == "M":
        dates = optional_import("matplotlib.dates", "Plotting")
        locator = dates.AutoDateLocator(maxticks=8)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    ax.set_xlabel("time")


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
