"""Marks of the rows at which the truth of a stream changes."""

from collections.abc import Callable, Sequence
from typing import Any

from skstream.plotting._lines import ink
from skstream.streams import Drift

#: What users may give: numbers of rows, and pairs of them.
Drifts = Sequence[int | tuple[int, int]] | int

LINE = {"alpha": 0.7, "linewidth": 0.8, "linestyle": (0, (4, 4)), "zorder": 1}
BAND = {"alpha": 0.3, "linewidth": 0.0, "facecolor": "none", "hatch": "////", "zorder": 0.5}
#: Bands over more than this share of the rows shown would hide that anything is marked.
MOST_COVERED = 0.6
#: Height of the strip along the upper edge that stands for them.
STRIP = 0.03


def draw_drifts(
    ax: Any,
    drifts: Sequence[Drift],
    end: float | None,
    place: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """Mark where the truth is known to change; return the entries of the legend.

    An abrupt drift is a line, a gradual one a band. Bands that cover most of the rows, such as a
    drift all along the stream, become a strip along the upper edge.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose limits are set.
    drifts : sequence of Drift
        The drifts.
    end : float or None
        Where the last row shown is; None: nothing is.
    place : callable, default=None
        Where a row is along the axis; None: at its number.
    """
    if end is None:
        return {}
    start = 0.0
    if place is not None:
        start = float(place(0))
        drifts = [Drift(place(drift.start), place(drift.end)) for drift in drifts]
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
    entries = {}
    if lines:
        entries["known drift"] = lines[0]
    if bands:
        entries["known gradual drift"] = bands[0]
    return entries
