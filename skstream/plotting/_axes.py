"""What displays share: words, titles, axes, limits, and the lines of models."""

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from skstream.metrics import Measure
from skstream.reports._report import with_own
from skstream.stats._report import forgetting_words
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import
from skstream.utils._tables import figure

#: How parts of names are written in text; any other part is written as it is.
ABBREVIATIONS = {"auc": "AUC", "f1": "F1", "mae": "MAE", "mse": "MSE", "r2": "R²", "rmse": "RMSE"}
LONGEST_LINE = 30  # characters of a name before it is broken


def measure_words(name: str) -> str:
    """Write the name of a measure as the beginning of a title.

    Parameters
    ----------
    name : str
        Name of a measure, such as "kappa_temporal".

    Returns
    -------
    str
        E.g. "Kappa temporal". A name with spaces or capital letters is left as it is.
    """
    if name != name.lower() or re.search(r"\s", name):
        return name
    parts = [ABBREVIATIONS.get(part, part) for part in name.split("_") if part]
    words = " ".join(part.upper() if len(part) == 1 else part for part in parts)
    return words[:1].upper() + words[1:]


def axis_words(metric: str) -> str:
    """Name a measure beside its axis, a long name in several lines."""
    return textwrap.fill(measure_words(metric), LONGEST_LINE)


def title_words(
    metric: str, forgetting: str, *, measure: str = "", mechanism: str | None = None
) -> str:
    """Name measure and forgetting: "Accuracy, last 1,000 rows".

    A name that the user gave to a measure is followed by the measure's own: "Hits (error), all
    rows so far".
    """
    named = with_own(measure_words(metric), "" if measure == metric else measure)
    return f"{named}, {forgetting_words(mechanism or forgetting)}"


def wrap_name(name: str, longest: int = LONGEST_LINE) -> list[str]:
    """Break a long name into lines: before a bracket, or after a space or one of ``, _ -``."""
    lines = [""]
    bracket = rf"\([^()]{{0,{longest - 2}}}\)"  # kept together where it fits into a line
    for part in re.findall(rf"{bracket}[\s,_-]*|\(?[^\s(,_-]*[\s,_-]*", name):
        pieces = [part[i : i + longest] for i in range(0, len(part), longest)]
        for piece in pieces:
            if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > longest:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def last_values(curves: Sequence[tuple[str, np.ndarray]]) -> str:
    """List the last value of every curve, for a repr."""
    return ", ".join(
        f"{name}: {figure(values[-1])}" if len(values) else f"{name}: no value"
        for name, values in curves
    )


MARGIN = 0.08
#: Share of the checkpoints whose values vary much, because of few rows, and do not set the scale.
UNSETTLED = 0.02
#: Share of a curve's values that make up its typical range.
TYPICAL = (5.0, 95.0)
#: A curve this many times further from the best possible value than the naive guess, or than the
#: best curve, is outside the limits: on its scale the other curves would look the same.
WORTH_SEEING, WORTH_SEEING_WITHOUT_GUESS = 10.0, 1e5
#: Extremes that are further away than this many typical ranges are outside the limits.
OUTLYING = 2.0


def settled(curve: np.ndarray, unsettled: float) -> np.ndarray:
    """Return the finite values without the first ones, which vary much because of few rows."""
    values = np.asarray(curve, dtype=np.float64)
    later = values[int(len(values) * unsettled) :].ravel()
    return later[np.isfinite(later)]


def value_limits(
    curves: Sequence[np.ndarray],
    facts: Measure,
    naive: np.ndarray | None = None,
    *,
    unsettled: float = UNSETTLED,
) -> tuple[float, float] | None:
    """Choose the limits of the axis of values.

    Parameters
    ----------
    curves : sequence of ndarray of shape (n_checkpoints,) or (n_checkpoints, n_folds)
        Values of the models; NaN and infinite ones do not count.
    facts : Measure
        The measure.
    naive : ndarray of shape (n_checkpoints,), default=None
        Values of the best naive guess, which are always within the limits.
    unsettled : float, default=0.02
        Share of the first values that do not set the scale.

    Returns
    -------
    limits : tuple of two float or None
        Lowest and highest value shown, not beyond the bounds of the measure; None if no curve
        has a value.
    """
    least, most = facts.bounds

    def possible(curve: np.ndarray) -> np.ndarray:
        # A score given to a failed model may lie outside the bounds.
        values = settled(curve, unsettled)
        return values[(values >= least) & (values <= most)]

    shown = [values for values in map(possible, curves) if len(values)]
    guess = np.empty(0) if naive is None else possible(naive)
    if not shown and not len(guess):
        return None
    if np.isfinite(facts.bounds).all():
        low, high = _range([*shown, guess] if len(guess) else shown)
    else:
        low, high = _range_worth_seeing(shown, guess, facts)
    margin = MARGIN * (high - low) or 0.05 * abs(high) or 0.05
    # Without a little room, the edge would cover half of a line along the upper bound.
    return max(low - margin, least), min(high + margin, most + 0.25 * margin)


def _range(values: Sequence[np.ndarray]) -> tuple[float, float]:
    return min(float(v.min()) for v in values), max(float(v.max()) for v in values)


def _range_worth_seeing(
    shown: Sequence[np.ndarray], guess: np.ndarray, facts: Measure
) -> tuple[float, float]:
    """Range of the values of an unbounded measure, without curves that diverge."""
    least, most = facts.bounds
    best = most if facts.higher_is_better else least
    if facts.higher_is_better is None or not np.isfinite(best):
        return _range_without_outliers([*shown, guess] if len(guess) else shown)
    # From here on values are distances from the best possible one: less is better.
    models = [np.abs(values - best) for values in shown]
    guesses = [np.abs(guess - best)] if len(guess) else []
    middle = [float(np.median(one)) for one in (*models, *guesses)]
    if guesses or facts.baseline_is_zero:
        naive = middle[-1] if guesses else abs(best)
        limit = WORTH_SEEING * max(min(middle), naive)
    else:
        limit = WORTH_SEEING_WITHOUT_GUESS * min(middle)
    limit = limit or np.inf
    seen = [one[one <= limit] for one in (*models, *guesses) if np.median(one) <= limit]
    nearest, furthest = _range(seen)
    typical = max(float(np.percentile(one, TYPICAL[1])) for one in seen)
    if furthest > OUTLYING * typical > 0:
        furthest = (1 + 2 * MARGIN) * typical
    if facts.higher_is_better:
        return best - furthest, best - nearest
    return best + nearest, best + furthest


def _range_without_outliers(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """Range of all values; of the typical values where some are far outside."""
    low, high = _range(values)
    ends = np.array([np.percentile(one, TYPICAL) for one in values])
    inner_low, inner_high = float(ends[:, 0].min()), float(ends[:, 1].max())
    span = inner_high - inner_low
    if span > 0:
        low = low if inner_low - low <= OUTLYING * span else inner_low - span
        high = high if high - inner_high <= OUTLYING * span else inner_high + span
    return low, high


LARGEST_FONT, SMALLEST_FONT = 9.0, 4.5
LINE_SPACING = 1.3  # height of a row of text by its font size
SMALL_INCHES = 4.5  # width of axes
TITLE_FONTS = ("medium", "small", "x-small")
CHARACTER_WIDTH = 0.55  # of a title by its font size
MOST_WRITTEN_OUT = 1e6  # of times that are numbers
TICK_INCHES = 0.75  # between two numbers of rows
LEADER_INCHES = 0.3  # between the end of a line and its label
#: Share of the width of the user's axes that labels at line ends may take.
LARGEST_LABEL_SHARE = 0.6


def give_title(ax: Any, text: str) -> None:
    """Write a title as wide as the axes; one that the user gave stays."""
    if any(ax.get_title(loc=place) for place in ("left", "center", "right")):
        lay_out(ax)
        return
    ax.set_title("\n", loc="left")
    lay_out(ax)
    width = ax.get_window_extent().width
    title = ax.set_title(text, loc="left", parse_math=False, wrap=True)
    for font in TITLE_FONTS:
        title.set_fontsize(font)
        if title.get_window_extent().width <= width:
            break
    else:
        points = 72 * width / ax.figure.dpi
        characters = max(12, int(points / (CHARACTER_WIDTH * title.get_fontsize())))
        title.set_text(textwrap.fill(text, characters))
    lay_out(ax)


def lay_out(ax: Any) -> None:
    """Let a figure's layout give small axes their size, which texts need much of."""
    figure = ax.figure.canvas.figure
    if inches_of(ax)[0] < SMALL_INCHES and (layout := figure.get_layout_engine()):
        layout.execute(figure)


def text_scale() -> float:
    """Size of texts under the user's settings, relative to the default of matplotlib."""
    return float(optional_import("matplotlib", "Plotting").rcParams["font.size"]) / 10.0


def inches_of(ax: Any) -> tuple[float, float]:
    """Width and height of axes in inches."""
    extent = ax.get_window_extent()
    return extent.width / ax.figure.dpi, extent.height / ax.figure.dpi


def count_rows_along(ax: Any, label: str = "rows") -> None:
    """Put whole numbers of rows on the horizontal axis, as many as have room when it is drawn."""
    ticker = optional_import("matplotlib.ticker", "Plotting")
    ax.xaxis.get_tick_space = partial(_room_for_ticks, ax, {})
    steps = [1, 2, 2.5, 5, 10]
    ax.xaxis.set_major_locator(ticker.MaxNLocator(nbins="auto", steps=steps, integer=True))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(label)


def _room_for_ticks(ax: Any, least: dict[Any, int]) -> int:
    """Say how many numbers of rows fit side by side.

    In a figure of the same size they never become more: the layout, which makes room for them,
    would else go back and forth between two numbers, and cut the last one.
    """
    size = tuple(ax.figure.get_size_inches())
    room = int(np.clip(inches_of(ax)[0] / (TICK_INCHES * text_scale()), 1, 8))
    least[size] = min(room, least.get(size, room))
    return least[size]


def break_labels(ax: Any) -> None:
    """Make labels that are longer than the sides of axes smaller, and break them if they still are.

    The labels keep their lines.
    """
    box = ax.get_window_extent()
    for label, side in ((ax.xaxis.label, "width"), (ax.yaxis.label, "height")):
        room, lines = getattr(box, side), label.get_text().split("\n")
        if getattr(label.get_window_extent(), side) > room:
            label.set_fontsize(TITLE_FONTS[-1])
            share = min(1.0, room / getattr(label.get_window_extent(), side))
            longest = max(8, int(share * max(map(len, lines))))
            label.set_text("\n".join(textwrap.fill(line, longest) for line in lines))


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
    elif np.max(np.abs(times), initial=0.0) < MOST_WRITTEN_OUT:
        ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel("time")


def label_ends(
    ax: Any, lines: Mapping[str, Any], end: float, *, inside: bool, highest: float = 1.0
) -> list[Any]:
    """Write the name of every line beside its right end, without overlaps at any size.

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
    highest : float, default=1.0
        Share of the height that labels may use.

    Returns
    -------
    texts : list of matplotlib Annotation
        One per line.
    """
    width, height = inches_of(ax)
    names = ["\n".join(wrap_name(name)) for name in lines]
    n_rows = np.array([name.count("\n") + 1 for name in names])
    # Fixed from here on: the layout makes room for texts of this size.
    size = min(LARGEST_FONT * text_scale(), 72 * highest * height / (LINE_SPACING * n_rows.sum()))
    size = max(SMALLEST_FONT, size)
    ends = np.array([last_point(line) for line in lines.values()])
    low, high = sorted(ax.get_ylim())
    shown = np.column_stack([np.full(len(ends), end), np.clip(ends[:, 1], low, high)])
    in_axes = ax.transAxes.inverted().transform(ax.transData.transform(shown))
    wanted = np.clip(np.nan_to_num(in_axes[:, 1]) / highest, 0.0, 1.0)
    texts: list[Any] = []
    leader = LEADER_INCHES / width
    # Every drawing asks for the coordinates: the axes may have another height by then.
    coordinates = partial(_spread_labels, ax, texts, n_rows, wanted, highest)
    for line, name, point in zip(lines.values(), names, ends, strict=True):
        known = bool(np.isfinite(point).all())
        text = ax.annotate(
            name,
            (point[0], np.clip(point[1], low, high)) if known else (end, low),
            xytext=(1.0 + leader, 0.0),
            textcoords=coordinates,
            annotation_clip=False,
            va="center",
            fontsize=size,
            color=ink(),  # light colours are hard to read; the leader has the line's
            parse_math=False,
            arrowprops={
                "arrowstyle": "-", "color": line.get_color(), "linewidth": LINE_WIDTH,
                "shrinkA": 1, "shrinkB": 0, "relpos": (0.0, 0.5),
                "alpha": 1.0 if known else 0.0,
            },
        )  # fmt: skip
        texts.append(text)
    coordinates(None)
    if inside:
        _make_room(ax, texts, end, leader, width)
    return texts


def _spread_labels(
    ax: Any, texts: list[Any], n_rows: np.ndarray, wanted: np.ndarray, highest: float, _: Any
) -> Any:
    """Move labels apart for the present height of the axes; return what their places refer to."""
    if len(texts) == len(n_rows):  # all are there
        height = 72 * highest * inches_of(ax)[1]
        heights = n_rows * LINE_SPACING * texts[0].get_fontsize() / height
        for text, y in zip(texts, highest * spread_apart(wanted, heights), strict=True):
            if text.get_position()[1] != y:
                text.set_position((text.get_position()[0], y))
    return ax.transAxes


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


#: Colours that colour-blind readers can distinguish (Okabe and Ito); "ink" is that of texts, which
#: is black where the user has set no other.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "ink")
BASELINE_COLOR = "0.45"
#: Patterns of dashes of naive baselines by class, the same in every picture.
BASELINE_DASHES = {
    "Persistent": 1,
    "PersistentRegressor": 1,
    "MajorityClass": 2,
    "MeanRegressor": 2,
    "MajorityWindow": 3,
    "RandomClass": 4,
}
LINE_WIDTH = 1.4
#: How far lines may reach over the edges of the axes, as a share of their size: a line along the
#: edge, such as an error of 0, would else be cut to half its width.
OVER_EDGE = 0.012

#: If a line leaves the axes in this last part of its length, the legend says so.
LAST_PART = 0.1

#: A line style per model, as matplotlib takes it.
Styles = Mapping[str, Mapping[str, Any]]


def ink() -> str:
    """Return the colour of texts under the user's settings."""
    return optional_import("matplotlib", "Plotting").rcParams["text.color"]


def dashes(k: int) -> Any:
    """Return the `k`-th pattern of dashes, all different: solid, dashed, dotted, and so on."""
    if k < 4:
        return ("-", "--", ":", "-.")[k]
    return (0, (6, 2) + (1, 2) * (k - 2))


def model_styles(names: Sequence[str], baselines: Collection[str] = ()) -> dict[str, Any]:
    """Give every model a combination of colour and dashes of its own.

    Parameters
    ----------
    names : sequence of str
        The models.
    baselines : collection of str, default=()
        Those that are naive: grey and never solid. A dict also names their classes, each of which
        has a pattern of dashes of its own.

    Returns
    -------
    styles : dict of str to dict
        Keywords of matplotlib's `plot` by model.
    """
    styles: dict[str, Any] = {}
    naive = [name for name in names if name in baselines]
    for k, name in enumerate(name for name in names if name not in baselines):
        color, linestyle = COLORS[k % len(COLORS)], dashes(k // len(COLORS))
        color = ink() if color == "ink" else color
        styles[name] = {"color": color, "linestyle": linestyle, "zorder": 3}
    kinds = baselines if isinstance(baselines, Mapping) else {}
    first_of_kind = {kinds.get(name, ""): name for name in reversed(naive)}
    numbers = {
        first_of_kind[kind]: k for kind, k in BASELINE_DASHES.items() if kind in first_of_kind
    }
    for name in naive:
        if name not in numbers:
            numbers[name] = next(k for k in count(1) if k not in numbers.values())
        pattern = dashes(numbers[name])
        styles[name] = {"color": BASELINE_COLOR, "linestyle": pattern, "zorder": 3.1}
    return {name: {"linewidth": LINE_WIDTH, "label": name} | styles[name] for name in names}


def line_keywords(
    names: Collection[str], styles: Styles | None, for_all: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Check the user's keywords for lines, and return them by model.

    Parameters
    ----------
    names : collection of str
        The lines there are.
    styles : dict of str to dict or None
        Keywords for one line each.
    for_all : dict
        Keywords for all lines.

    Returns
    -------
    keywords : dict of str to dict
        Keywords by line, with matplotlib's full names.

    Raises
    ------
    KeyError
        If `styles` names a line that is not there.
    TypeError
        If a line has no such property.
    """
    cbook = optional_import("matplotlib.cbook", "Plotting")
    line = optional_import("matplotlib.lines", "Plotting").Line2D
    given = {} if styles is None else dict(styles)
    for name in given:
        if name not in names:
            raise KeyError(f"styles names '{name}', which is not drawn; drawn are {list(names)}.")
        if not isinstance(given[name], Mapping):
            raise TypeError(
                f"styles must map names to dicts of properties, such as {{'color': 'red'}}. Got "
                f"{given[name]!r} for '{name}'."
            )
    for keywords in (for_all, *given.values()):
        for keyword in keywords:
            if not hasattr(line, f"set_{keyword}"):
                known = [name[4:] for name in dir(line) if name.startswith("set_")]
                others = [name for name in (*known, *OPTIONS) if name != keyword]
                raise TypeError(
                    f"{keyword!r} is neither an option of this display nor a property of a "
                    f"matplotlib line.{did_you_mean(keyword, others)}"
                )
    common = cbook.normalize_kwargs(dict(for_all), line)
    return {
        name: common | cbook.normalize_kwargs(dict(given.get(name, {})), line) for name in names
    }


#: Options of displays, for hints after a misspelt one.
OPTIONS = (
    "ax", "at", "bins", "drifts", "forgetting", "kind", "legend", "metric", "models", "spread",
    "styles",
)  # fmt: skip


def line_key(**style: Any) -> Any:
    """Return a line that stands for all lines of a style in a legend."""
    lines = optional_import("matplotlib.lines", "Plotting")
    return lines.Line2D([], [], **{"color": ink(), **style})


def patch_key(**style: Any) -> Any:
    """Return a patch that stands for areas of a style in a legend."""
    return optional_import("matplotlib.patches", "Plotting").Patch(**style)


def mark_lone_points(line: Any) -> None:
    """Mark points between two gaps, which a line alone would not show."""
    known = np.isfinite(np.asarray(line.get_ydata(), dtype=np.float64))
    beside = np.zeros(len(known), dtype=bool)
    beside[1:] |= known[:-1]
    beside[:-1] |= known[1:]
    lone = np.flatnonzero(known & ~beside)
    if len(lone) and line.get_marker() in (None, "None", "", " "):
        line.set(marker="o", markersize=4, markevery=lone.tolist())


def _known_values(line: Any) -> np.ndarray:
    values = np.asarray(line.get_ydata(), dtype=np.float64)
    return values[~np.isnan(values)]


def uncover_edges(ax: Any, lines: Iterable[Any]) -> None:
    """Draw lines along the edge of the axes in their full width, if they are within the limits."""
    low, high = sorted(ax.get_ylim())

    def is_within(values: np.ndarray) -> bool:
        return bool(len(values) and low <= values.min() and values.max() <= high)

    clip_above(ax, (line for line in lines if is_within(_known_values(line))), 1.0)


def clip_above(ax: Any, lines: Iterable[Any], top: float) -> None:
    """Draw lines up to a share of the height of the axes, and a little over their edges."""
    transforms = optional_import("matplotlib.transforms", "Plotting")
    ends = (-OVER_EDGE, -OVER_EDGE, 1 + OVER_EDGE, top + OVER_EDGE)
    box = transforms.TransformedBbox(transforms.Bbox.from_extents(*ends), ax.transAxes)
    for line in lines:
        line.set_clip_box(box)


def lower(ax: Any, share: float) -> None:
    """Extend the vertical axis, so that what is shown takes a share of it, and has its ticks."""
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if min(low, high) <= tick <= max(low, high)]
    ax.set_ylim(low, low + (high - low) / share)
    if ax.get_yscale() == "linear":
        ax.set_yticks(ticks)


def with_remarks(ax: Any, lines: Mapping[str, Any], failed: Collection[str]) -> dict[str, Any]:
    """Return the lines by name; the names say which models failed or cannot be seen."""
    low, high = sorted(ax.get_ylim())

    def fate(name: str, line: Any) -> str:
        values = _known_values(line)
        if name in failed:
            return " (failed)"
        if not len(values):
            return " (no value)"
        below, above = values < low, values > high
        last = slice(-max(1, round(LAST_PART * len(values))), None)
        sides = [side for side, out in (("below", below), ("above", above)) if out[last].any()]
        if not sides:
            return ""
        partly = "" if below.all() or above.all() else "partly "
        return f" ({partly}{' and '.join(sides)} the axis)"

    return {name + fate(name, line): line for name, line in lines.items()}
