"""Ellipses of the Gaussians of a mixture, and rows drawn from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.plotting._lines import COLORS, ink
from skstream.utils._optional import optional_import

#: Standard deviations at which ellipses are drawn: they hold 39 % and 86 % of the rows.
DEVIATIONS = (1.0, 2.0)
#: Opacity of the smallest prior and of the largest, of the area and of the edge.
AREA, EDGE = (0.03, 0.40), (0.15, 1.0)
#: A label is written where the center has moved by this share of the picture.
APART = 0.08


@dataclass(frozen=True)
class MixtureAtRows:
    """A mixture at some rows, in the plane of two features, and rows drawn from it.

    Attributes
    ----------
    labels : tuple
        Class of each component.
    times : ndarray of shape (n_times,)
        Row numbers.
    priors : ndarray of shape (n_times, n_components)
        Probability of each component.
    centers : ndarray of shape (n_times, n_components, 2)
        Means.
    covariances : ndarray of shape (n_times, n_components, 2, 2)
        Covariance matrices.
    path : ndarray of shape (n_steps, n_components, 2)
        Means at more rows; NaN where the prior is 0.
    path_rows : ndarray of shape (n_steps,)
        Their numbers.
    points : ndarray of shape (n_points, 2)
        Rows.
    classes_of_points : ndarray of shape (n_points,)
        Their labels.
    rows : ndarray of shape (n_points,)
        Their numbers.
    features : tuple of two str
        Names of the features.
    """

    labels: tuple[Any, ...]
    times: np.ndarray
    priors: np.ndarray
    centers: np.ndarray
    covariances: np.ndarray
    path: np.ndarray
    path_rows: np.ndarray
    points: np.ndarray
    classes_of_points: np.ndarray
    rows: np.ndarray
    features: tuple[str, str]

    @property
    def names(self) -> list[str]:
        """Name of each component: its label, with a number where several have the same one."""
        names = []
        for k, label in enumerate(self.labels):
            number = 1 + self.labels[:k].count(label)
            names.append(f"{label}{number}" if self.labels.count(label) > 1 else str(label))
        return names

    @property
    def classes(self) -> list[Any]:
        """Sorted labels."""
        return sorted(set(self.labels))

    def color_of(self, label: Any) -> str:
        """Colour of a class."""
        color = COLORS[self.classes.index(label) % len(COLORS)]
        return ink() if color == "ink" else color

    def limits(self) -> np.ndarray:
        """Lowest and highest value of both features, over the ellipses that are drawn."""
        reach = DEVIATIONS[-1] * np.sqrt(np.einsum("tkii->tki", self.covariances))
        seen = self.priors > 0
        low = (self.centers - reach)[seen].min(axis=0)
        high = (self.centers + reach)[seen].max(axis=0)
        margin = 0.04 * (high - low).max()
        return np.array([low - margin, high + margin])

    def axes_of(self, time: int, component: int) -> tuple[float, float, float]:
        """Standard deviations along the axes of an ellipse, and its direction in degrees."""
        variances, directions = np.linalg.eigh(self.covariances[time, component])
        long = directions[:, 1]
        angle = float(np.rad2deg(np.arctan2(long[1], long[0])))
        return float(np.sqrt(variances[1])), float(np.sqrt(variances[0])), angle


def draw_ellipses(ax: Any, mixture: MixtureAtRows, times: Sequence[int]) -> None:
    """Draw all components at some times; the higher the prior, the darker.

    Where a component is as it was before, it is drawn once, with its mean prior.
    """
    for k in range(len(mixture.labels)):
        shapes = np.concatenate(
            [mixture.centers[times, k], mixture.covariances[times, k].reshape(-1, 4)], axis=1
        )
        _, which = np.unique(shapes.round(9), axis=0, return_inverse=True)
        for shape in range(which.max() + 1):
            same = np.asarray(times)[which == shape]
            _draw_ellipse(ax, mixture, int(same[0]), k, float(mixture.priors[same, k].mean()))


def _draw_ellipse(ax: Any, mixture: MixtureAtRows, time: int, k: int, prior: float) -> None:
    patches = optional_import("matplotlib.patches", "Plotting")
    if not prior:
        return
    share = prior / mixture.priors.max()
    color = mixture.color_of(mixture.labels[k])
    edge = EDGE[0] + (EDGE[1] - EDGE[0]) * share
    long, short, angle = mixture.axes_of(time, k)
    for deviations in DEVIATIONS:
        area = AREA[0] + (AREA[1] - AREA[0]) * share / deviations
        where = (mixture.centers[time, k], 2 * deviations * long, 2 * deviations * short)
        inside = {"color": color, "alpha": area, "linewidth": 0, "zorder": 2}
        around = {"fill": False, "edgecolor": color, "alpha": edge, "linewidth": 0.9, "zorder": 2.2}
        for style in (inside, around):
            ax.add_patch(patches.Ellipse(*where, angle=angle, **style))


def draw_points(ax: Any, mixture: MixtureAtRows, chosen: np.ndarray) -> None:
    """Draw rows as dots in the colours of their classes."""
    for label in mixture.classes:
        mine = chosen & (mixture.classes_of_points == label)
        x, y = mixture.points[mine].T
        color = mixture.color_of(label)
        ax.scatter(x, y, s=7, color=color, alpha=0.55, linewidths=0, zorder=2.5)


def write_times(ax: Any, mixture: MixtureAtRows) -> None:
    """Write the number of the row into ellipses, where they have moved far enough."""
    span = np.ptp(mixture.limits(), axis=0).max()
    placed: list[np.ndarray] = []
    for time, row in enumerate(mixture.times):
        for k, center in enumerate(mixture.centers[time]):
            if mixture.priors[time, k] == 0:
                continue
            if all(np.abs(center - other).max() > APART * span for other in placed):
                ax.annotate(f"{row:,.0f}", center, ha="center", va="center", fontsize=7.5, zorder=4)
                placed.append(center)


def look_at(ax: Any, mixture: MixtureAtRows, *, own: bool, shared: bool = False) -> None:
    """Make one unit as long in both directions.

    Axes that share their limits cannot be widened one by one: they hold all ellipses, and become
    smaller.
    """
    if not own:
        return
    if shared:
        (left, bottom), (right, top) = mixture.limits()
        ax.set(xlim=(left, right), ylim=(bottom, top))
    else:
        ax.autoscale_view()
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def class_keys(mixture: MixtureAtRows) -> Mapping[str, Any]:
    """Entries of the legend: a patch for every class."""
    patches = optional_import("matplotlib.patches", "Plotting")
    return {
        f"class {label}": patches.Patch(color=mixture.color_of(label), alpha=0.6)
        for label in mixture.classes
    }


def nearest(times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the position of the time that is nearest to each row."""
    between = (times[:-1] + times[1:]) / 2
    found: np.ndarray = np.searchsorted(between, rows, side="right")
    return found


def evenly(first: float, last: float, n: int) -> list[int]:
    """Whole numbers from the first to the last, each once."""
    rows: list[int] = np.unique(np.linspace(first, last, n).round().astype(np.int64)).tolist()
    return rows
