"""Colours, dashes and markers of the lines of models."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import

#: Colours that colour-blind readers can distinguish (Okabe and Ito); "ink" is that of texts, which
#: is black where the user has set no other.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "ink")
BASELINE_COLOR = "0.45"
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
    color: str = optional_import("matplotlib", "Plotting").rcParams["text.color"]
    return color


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
        Those that are naive: grey and never solid.

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
    for k, name in enumerate(naive):
        styles[name] = {"color": BASELINE_COLOR, "linestyle": dashes(k + 1), "zorder": 2.6}
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
            raise KeyError(f"styles names '{name}', which is not drawn; there are {list(names)}.")
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
    transforms = optional_import("matplotlib.transforms", "Plotting")
    ends = (-OVER_EDGE, -OVER_EDGE, 1 + OVER_EDGE, 1 + OVER_EDGE)
    box = transforms.TransformedBbox(transforms.Bbox.from_extents(*ends), ax.transAxes)
    low, high = sorted(ax.get_ylim())
    for line in lines:
        values = _known_values(line)
        if len(values) and low <= values.min() and values.max() <= high:
            line.set_clip_box(box)


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
