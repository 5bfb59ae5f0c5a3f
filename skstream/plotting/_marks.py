"""Marks of known drifts, and of warnings and alarms, in lanes above the curves."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any

import numpy as np

from skstream.core.rows.stream import as_drifts
from skstream.drift._detect import Detections
from skstream.plotting._axes import inches_of, ink, line_key, lower, text_scale
from skstream.plotting._base import Canvas
from skstream.streams import Drift
from skstream.utils._optional import optional_import

#: What users may give: numbers of rows, dates, and pairs of them.
Drifts = Sequence[Any] | int

LINE = {"alpha": 0.7, "linewidth": 0.8, "linestyle": (0, (4, 4)), "zorder": 1}
BAND = {"alpha": 0.3, "linewidth": 0.0, "facecolor": "none", "hatch": "////", "zorder": 0.5}
#: Bands over more than this share of the rows shown would hide that anything is marked.
MOST_COVERED = 0.6
#: Height of the strip along the upper edge that stands for them.
STRIP = 0.03
#: By monitor and model, as a result holds them; a list of them for several folds.
Found = Mapping[str, Mapping[str, Detections | Sequence[Detections]]]

DIGIT_INCHES = 0.13
LANE_INCHES, PART_INCHES, LANE_GAP_INCHES = 0.17, 0.1, 0.06
#: The marks of more models than this would be too small to tell apart: they share one lane.
MOST_PARTS = 4
LARGEST_SHARE = 0.6  # of the height of the axes, for all lanes
NAME_FONT = 8.0
#: What the marks are called, what part of the height of their lane they take, and how they look.
KINDS: dict[str, tuple[str, float, dict[str, float]]] = {
    "warnings": ("warning", 0.36, {"linewidth": 0.7, "alpha": 0.35}),
    "alarms": ("alarm", 0.84, {"linewidth": 1.1, "alpha": 0.9}),
}
RAIL = {"linewidth": 0.7, "alpha": 0.6, "zorder": 0.5}
#: Invisible points that a legend does not cover: more than a curve has in a corner.
POINTS_ACROSS, POINTS_UP = 400, 5
#: Name of the lane of refits.
REFITS = "refits"
#: What the legend adds where marks do not say of which model they are.
OF_ANY = " of any model"


def rows_of_dates(drifts: Any, result: Any) -> Any:
    """Replace dates by rows, which are interpolated between checkpoints; later ones are not shown.

    What is no date stays, and everything where the result has no dates.
    """
    if result.times is None or result.times.dtype.kind != "M":
        return drifts
    known, rows = result.times.astype("datetime64[us]").astype(np.float64), result.checkpoints

    def row(one: Any) -> Any:
        if isinstance(one, list | tuple):
            return list(map(row, one))
        if not isinstance(one, str | date | np.datetime64):
            return one
        try:
            when = float(np.array(one, dtype="datetime64[us]").astype(np.float64))
        except ValueError:
            return one
        return round(float(np.interp(when, known, rows, right=rows[-1] + 1)))

    return row(list(drifts) if np.iterable(drifts) and not isinstance(drifts, str) else drifts)


def check_marks(drifts: Any, found: Any) -> None:
    """Say what is wrong with drifts and detections to be marked."""
    as_drifts(drifts)
    for monitor, by_model in found.items() if isinstance(found, Mapping) else [("", found)]:
        if not (isinstance(by_model, Mapping) and all(map(_are_found, by_model.values()))):
            raise TypeError(
                "detections must be a dict by monitor of dicts by model, such as "
                "detect(result, {'ddm': DDM()}). Got "
                f"{by_model!r}" + (f" for {monitor!r}." if monitor else " instead.")
            )


def draw_marks(
    canvas: Canvas,
    drifts: Drifts,
    found: Found,
    lines: Mapping[str, Any],
    end: float | None,
    place: Callable[[Any], Any] = lambda rows: rows,
) -> dict[str, Any]:
    """Mark known drifts, and what monitors have found.

    Parameters
    ----------
    canvas : Canvas
        With axes whose limits are set.
    drifts : sequence of (int or pair of int)
        The drifts.
    found : dict of str to dict of str to Detections or list of Detections
        Detections by monitor and model.
    lines : dict of str to Line2D
        The models shown, and their lines.
    end : float or None
        Where the last row shown is; None: nothing is.
    place : callable, default=identity
        Where rows are along the axis.

    Returns
    -------
    others : dict of str to artist
        Entries of the legend.
    """
    marks = draw_drifts(canvas.axes[0], drifts, end, place)
    return marks | _draw_detections(canvas, found, lines, place)


def _draw_detections(
    canvas: Canvas, found: Found, lines: Mapping[str, Any], place: Callable[[Any], Any]
) -> dict[str, Any]:
    """Mark warnings and alarms, in a lane for each monitor, with a part for each model.

    A thin line through each part looks as the line of its model, for readers who cannot tell the
    colours. The marks of more than four models are in the colour of texts, all together.

    In a figure of the display the lanes are above its first axes. In the user's, whose surroundings
    may be taken, they are within, above the curves.
    """
    lanes: dict[str, dict[str, list[Detections]]] = {}
    for monitor, by_model in found.items():
        for name, one in by_model.items():
            if name in lines:
                folds = [one] if isinstance(one, Detections) else list(one)
                lanes.setdefault(monitor, {})[name] = folds
    if not lanes:
        return {}
    n_parts = max(map(len, lanes.values()))
    if n_parts > MOST_PARTS:
        lanes = {monitor: {"": [*chain(*of.values())]} for monitor, of in lanes.items()}
    transforms = optional_import("matplotlib.transforms", "Plotting")
    ax = canvas.axes[0]
    _, inches = inches_of(ax)
    gap = LANE_GAP_INCHES / inches
    lane_inches = max(LANE_INCHES, PART_INCHES * n_parts if n_parts <= MOST_PARTS else 0.0)
    height = min(len(lanes) * lane_inches * text_scale() / inches, LARGEST_SHARE)
    bottom_of_all = 1.0 - height
    if not canvas.own:
        lower(ax, 1.0 - height - gap)
        canvas.top = bottom_of_all
        # Invisible points behind the lanes: a legend is placed where few points are.
        x = np.linspace(0, 1, POINTS_ACROSS)
        x, y = np.meshgrid(x, np.linspace(bottom_of_all, 1, POINTS_UP))
        ax.scatter(x.ravel(), y.ravel(), s=0, alpha=0, transform=ax.transAxes)
    bounds, frame = (0.0, bottom_of_all, 1.0, height), ax.transAxes
    if canvas.own:  # in inches above the axes, whose height the layout changes
        bounds = (0.0, LANE_GAP_INCHES, 1.0, height * inches)
        above_axes = transforms.ScaledTranslation(0, 1, ax.transAxes)
        frame = transforms.blended_transform_factory(
            ax.transAxes, ax.figure.dpi_scale_trans + above_axes
        )
    above = ax.inset_axes(bounds, transform=frame, sharex=ax, label="detections")
    entries: dict[str, Any] = {}
    for lane, (monitor, by_name) in enumerate(lanes.items()):
        for part, (name, folds) in enumerate(by_name.items()):
            bottom, top = lane + part / len(by_name), lane + (part + 1) / len(by_name)
            color, of_model = (lines[name].get_color(), "") if name else (ink(), OF_ANY)
            if name:
                rail = {"color": color, "linestyle": lines[name].get_linestyle(), **RAIL}
                above.axhline((bottom + top) / 2, **rail)
            for kind, (words, share, style) in KINDS.items():
                # Row r, counted from 0, is seen when r + 1 rows are.
                rows = np.concatenate([getattr(one, kind) for one in folds]) + 1
                if not len(rows):
                    continue
                room = (1.0 - share) * (top - bottom) / 2
                look = {**style, "alpha": style["alpha"] / len(folds) ** 0.25}
                above.vlines(place(rows), bottom + room, top - room, color=color, **look)
                key = line_key(**look, marker="|", markersize=8, linestyle="none")
                entries[("refit" if monitor == REFITS else words) + of_model] = key
    above.set_ylim(len(lanes), 0)
    names = [" ".join(monitor.split()) for monitor in lanes]
    middles = np.arange(len(lanes)) + 0.5
    if canvas.own:
        # The layout measures the numbers beside the axes while these are lower than at the end,
        # and the numbers may then have a digit less.
        ax.figure.get_layout_engine().set(w_pad=DIGIT_INCHES)
        above.set_yticks(middles, names, fontsize=NAME_FONT, parse_math=False)
    else:
        above.set_yticks([])
        box = {"facecolor": ax.figure.get_facecolor(), "alpha": 0.75, "linewidth": 0, "pad": 0.5}
        text = {"va": "center", "fontsize": NAME_FONT - 1, "bbox": box, "parse_math": False}
        for middle, name in zip(middles, names, strict=True):
            above.text(0.004, middle, name, transform=above.get_yaxis_transform(), **text)
    above.tick_params(axis="y", length=0)
    above.tick_params(axis="x", bottom=False, labelbottom=False)
    above.spines[:].set_visible(False)
    above.patch.set_alpha(0.0)
    for lane in range(1, len(lanes)):
        above.axhline(lane, color="0.85", linewidth=0.6, zorder=0)
    return dict(sorted(entries.items()))


def refits_of(result: Any) -> Found:
    """Return the rows after which each model was refitted, as a lane to be marked."""
    if result.details.scored_sets or len(result.folds) > 1 or result.n_unlabelled:
        raise ValueError(
            "refits=True marks the rows of the stream after which a model was refitted. If models "
            "are trained on only some of the rows, in folds or without labels, the training rows "
            "before each refit are in result.costs[model].refit_rows."
        )
    of_model = {name: cost.refit_rows for name, cost in result.costs.items() if cost.refit_rows}
    # The members of an ensemble learn some of the rows only, each its own.
    alone = {name: rows for name, rows in of_model.items() if len({*rows[0]}) == len(rows[0])}
    if not alone:
        raise ValueError("refits=True marks refits, but no model of the result has any.")
    return {
        REFITS: {
            name: Detections(
                monitor=REFITS,
                model=name,
                alarms=np.array(rows, dtype=np.int64) - 1,
                warnings=np.zeros(0, dtype=np.int64),
            )
            for name, (rows,) in alone.items()
        }
    }


def _are_found(one: Any) -> bool:
    several = one if isinstance(one, list | tuple) else [one]
    return bool(several) and all(isinstance(each, Detections) for each in several)


def draw_drifts(
    ax: Any, given: Drifts, end: float | None, place: Callable[[Any], Any] = lambda rows: rows
) -> dict[str, Any]:
    """Mark where the truth is known to change; return the entries of the legend.

    An abrupt drift is a line, a gradual one a band. Bands that cover most of the rows, such as a
    drift all along the stream, become a strip along the upper edge.
    """
    if end is None:
        return {}
    start = float(place(0))
    drifts = [Drift(place(drift.start), place(drift.end)) for drift in as_drifts(given)]
    at = [one.start for one in drifts if one.start == one.end and start <= one.start <= end]
    lines = [ax.axvline(row, color=ink(), **LINE) for row in at]
    spans = [
        (max(start, drift.start), min(end, drift.end))
        for drift in drifts
        if drift.start < drift.end and drift.end > start and drift.start < end
    ]
    covered = sum(right - left for left, right in spans)
    bottom = 1 - STRIP if covered > MOST_COVERED * (end - start) else 0.0
    bands = [ax.axvspan(left, right, ymin=bottom, **BAND, edgecolor=ink()) for left, right in spans]
    marks = {"known drift": lines, "known gradual drift": bands}
    return {words: artists[0] for words, artists in marks.items() if artists}
