"""Marks of warnings and alarms, in lanes above the curves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skstream.drift import Detections
from skstream.plotting._axes import inches_of, text_scale
from skstream.plotting._lines import line_key

#: By monitor and model, as a result holds them; a list of them for several folds.
Found = Mapping[str, Mapping[str, Detections | Sequence[Detections]]]

LANE_INCHES, LANE_GAP_INCHES = 0.17, 0.06
LARGEST_SHARE = 0.6  # of the height of the axes, for all lanes
NAME_FONT = 8.0
ALARM_STYLE = {"linewidth": 1.1, "alpha": 0.9}
WARNING_STYLE = {"linewidth": 0.7, "alpha": 0.35}
#: Of the invisible points that a legend does not cover: more than a curve has in a corner.
POINTS_ACROSS, POINTS_UP = 400, 5
#: Name of the lane of refits.
REFITS = "refits"
#: What part of the height of its lane a mark takes.
ALARM_HEIGHT, WARNING_HEIGHT = 0.84, 0.36


def check_detections(found: Any) -> None:
    """Say what is wrong with detections to be marked."""
    for monitor, by_model in found.items() if isinstance(found, Mapping) else [("", found)]:
        if not (isinstance(by_model, Mapping) and all(map(_are_found, by_model.values()))):
            raise TypeError(
                "detections must be a dict by monitor of dicts by model, such as "
                "result.detections, or {'ddm': result.detect(DriftMonitor(DDM()))}. Got "
                f"{by_model!r}" + (f" for {monitor!r}." if monitor else " instead.")
            )


def draw_detections(
    ax: Any,
    found: Found,
    colors: Mapping[str, Any],
    *,
    own: bool,
    place: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """Mark warnings and alarms, in a lane for each monitor, with a part for each model.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose limits are set.
    found : dict of str to dict of str to Detections or list of Detections
        Detections by monitor and model.
    colors : dict of str to color
        The models shown, and their colours.
    own : bool
        Whether the display made the figure: then the lanes are above the axes. In the user's, whose
        surroundings may be taken, they are within, above the curves.
    place : callable, default=None
        Where rows are along the axis; None: at their numbers.

    Returns
    -------
    others : dict of str to artist
        Entries of the legend.
    """
    lanes = {
        monitor: {name: listed(one) for name, one in by_model.items() if name in colors}
        for monitor, by_model in found.items()
    }
    lanes = {monitor: by_model for monitor, by_model in lanes.items() if by_model}
    if not lanes:
        return {}
    _, inches = inches_of(ax)
    gap = LANE_GAP_INCHES / inches
    height = min(len(lanes) * LANE_INCHES * text_scale() / inches, LARGEST_SHARE)
    bottom_of_all = 1.0 + gap
    if not own:
        low, high = ax.get_ylim()
        ax.set_ylim(low, low + (high - low) / (1.0 - height - gap))
        bottom_of_all = 1.0 - height
        _keep_legend_away(ax, bottom_of_all)
    above = ax.inset_axes((0.0, bottom_of_all, 1.0, height), sharex=ax, label="detections")
    entries: dict[str, Any] = {}
    for lane, by_model in enumerate(lanes.values()):
        for part, (name, folds) in enumerate(by_model.items()):
            bottom, top = lane + part / len(by_model), lane + (part + 1) / len(by_model)
            for rows, of_lane, style, words in _marks(folds):
                room = (1.0 - of_lane) * (top - bottom) / 2
                rows = rows if place is None else place(rows)
                above.vlines(rows, bottom + room, top - room, color=colors[name], **style)
                entries[words] = line_key(**style, marker="|", markersize=8, linestyle="none")
    above.set_ylim(len(lanes), 0)
    names = [" ".join(monitor.split()) for monitor in lanes]
    if own:
        middles = np.arange(len(lanes)) + 0.5
        above.set_yticks(middles, names, fontsize=NAME_FONT, parse_math=False)
    else:
        above.set_yticks([])
        _write_inside(above, names)
    above.tick_params(axis="y", length=0)
    above.tick_params(axis="x", bottom=False, labelbottom=False)
    for side in above.spines.values():
        side.set_visible(False)
    above.patch.set_alpha(0.0)
    for lane in range(1, len(lanes)):
        above.axhline(lane, color="0.85", linewidth=0.6, zorder=0)
    return {words: entries[words] for words in ("alarm", "warning", "refit") if words in entries}


def _keep_legend_away(ax: Any, bottom: float) -> None:
    """Put invisible points behind the lanes: a legend is placed where few points are."""
    x, y = np.meshgrid(np.linspace(0, 1, POINTS_ACROSS), np.linspace(bottom, 1, POINTS_UP))
    ax.scatter(x.ravel(), y.ravel(), s=0, alpha=0, transform=ax.transAxes)


def _write_inside(above: Any, names: Sequence[str]) -> None:
    """Write the names of the lanes over their beginnings."""
    box = {"facecolor": above.figure.get_facecolor(), "alpha": 0.75, "linewidth": 0, "pad": 0.5}
    for place, name in enumerate(names):
        above.text(
            0.004,
            place + 0.5,
            name,
            transform=above.get_yaxis_transform(),
            va="center",
            fontsize=NAME_FONT - 1,
            bbox=box,
            parse_math=False,
        )


def listed(found: Detections | Sequence[Detections]) -> list[Detections]:
    """Return the detections of all folds."""
    return [found] if isinstance(found, Detections) else list(found)


def refits_of(result: Any) -> Found:
    """Return the rows after which each model was refitted, as a lane to be marked."""
    if result.details.scored_sets or len(result.folds) > 1 or result.n_unlabelled:
        raise ValueError(
            "refits=True marks the rows of the stream after which a model was refitted. Where "
            "models learn some of the rows only, in folds or without labels, the rows learnt "
            "until each refit are in result.costs[model].refit_rows."
        )
    of_model = {name: cost.refit_rows for name, cost in result.costs.items() if cost.refit_rows}
    # The members of an ensemble learn some of the rows only, each its own.
    alone = {name: rows for name, rows in of_model.items() if len({*rows[0]}) == len(rows[0])}
    if not alone:
        raise ValueError("refits=True marks refits, and the result has no model with any.")
    nothing = np.zeros(0, dtype=np.int64)
    return {
        REFITS: {
            name: Detections(
                monitor=REFITS,
                model=name,
                alarms=np.array(rows, dtype=np.int64) - 1,
                warnings=nothing.copy(),
            )
            for name, (rows,) in alone.items()
        }
    }


def _marks(folds: Iterable[Detections]) -> list[tuple[np.ndarray, float, dict[str, float], str]]:
    """Rows to be marked, how high and in which style, and what they are."""
    each = list(folds)
    marks = []
    alarm = "refit" if each[0].monitor == REFITS else "alarm"
    for kind, height, style, words in (
        ("warnings", WARNING_HEIGHT, WARNING_STYLE, "warning"),
        ("alarms", ALARM_HEIGHT, ALARM_STYLE, alarm),
    ):
        # Row r, counted from 0, is seen when r + 1 rows are.
        rows = np.concatenate([getattr(one, kind) for one in each]) + 1
        if len(rows):
            alpha = style["alpha"] / len(each) ** 0.25
            marks.append((rows, height, {**style, "alpha": alpha}, words))
    return marks


def _are_found(one: Any) -> bool:
    several = one if isinstance(one, list | tuple) else [one]
    return bool(several) and all(isinstance(each, Detections) for each in several)
