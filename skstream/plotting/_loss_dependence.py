"""Alarms on losses in their order, and on the same losses in random order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.plotting._axes import give_title
from skstream.plotting._base import BaseDisplay, Canvas, Layout, check_kind
from skstream.plotting._lines import BASELINE_COLOR, COLORS
from skstream.plotting._words import wrap_name
from skstream.studies import LossDependence
from skstream.studies._loss_dependence import ModelLossDependence

ALARMS, RANDOM = "alarms", "in random order"
WIDTH_INCHES, ROW_INCHES, EDGE_INCHES = 8.0, 0.5, 1.2
#: Where the largest number is so much larger than the next, the axis is logarithmic from 1 on.
FAR = 20.0


@dataclass(kw_only=True, repr=False, eq=False)
class LossDependenceDisplay(BaseDisplay):
    """How many alarms a detector raises on the losses of each model, in and out of order.

    A dot for the alarms on the losses in their order; the mean, and the range, of those on the same
    losses in random order, which are all false. The names of the models say the autocorrelation of
    their losses.

    `to_frame` has the columns model, fold, order ("alarms" or "in random order") and value: a row
    for every order that was tried.

    Parameters
    ----------
    result : LossDependence
        The models, from top to bottom, and the detector.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The dots, "alarms" and "in random order".
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.studies.loss_dependence : Makes what is shown.

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator
    >>> from skstream.plotting import LossDependenceDisplay
    >>> from skstream.streams import make_demo_stream
    >>> from skstream.studies import loss_dependence
    >>> result = PrequentialEvaluator("accuracy").evaluate(Persistent(), make_demo_stream(500))
    >>> found = loss_dependence(result)
    >>> display = LossDependenceDisplay.from_result(found)  # doctest: +SKIP
    """

    result: LossDependence

    @classmethod
    def from_result(cls, result: LossDependence, **options: Any) -> Self:
        """Plot the dependence of losses.

        Parameters
        ----------
        result : LossDependence
            As `loss_dependence` of a result returns it.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by "alarms" and "in random order", and
            properties of both.

        Returns
        -------
        display : LossDependenceDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the result is of another kind, or a line has no such property.
        """
        check_kind(result, LossDependence, "what loss_dependence() returns")
        return cls(result=result).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        size = (WIDTH_INCHES, EDGE_INCHES + ROW_INCHES * len(self.result.models))
        return Layout([ALARMS, RANDOM], size=size)

    def _draw(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        places = np.arange(len(self.result.models))
        own = np.array([one.alarms for one in self.result.models], dtype=np.float64)
        random = np.array([one.mean_permuted for one in self.result.models])
        low, high = (
            [edge(one.permuted_alarms) for one in self.result.models] for edge in (np.min, np.max)
        )
        ax.hlines(places, low, high, color=BASELINE_COLOR, linewidth=3, alpha=0.6)
        common = {"linestyle": "none", "markersize": 7}
        style = {**common, "marker": "|", "markersize": 11, "color": BASELINE_COLOR}
        canvas.draw_line(ax, RANDOM, random, places, style)
        canvas.draw_line(ax, ALARMS, own, places, {**common, "marker": "o", "color": COLORS[0]})
        ax.set_yticks(places, [self._name(one) for one in self.result.models], parse_math=False)
        ax.set_ylim(len(self.result.models) - 0.4, -0.6)
        every = np.concatenate([own, random, high])
        most = max(1.0, float(every.max()))
        is_far = most > FAR * max(1.0, float(np.median(every)))
        if is_far:
            ax.set_xscale("symlog", linthresh=1.0)
            ax.xaxis.set_major_formatter("{x:,g}")
        ax.set_xlim(-0.1 if is_far else -0.02 * most, (1.3 if is_far else 1.05) * most)
        ax.set_xlabel("alarms")
        give_title(
            ax, f"Alarms of {self.result.detector!r} on losses, in their order and in random order"
        )
        lines = {"in their order": canvas.lines[ALARMS], RANDOM: canvas.lines[RANDOM]}
        canvas.give_legend(ax, lines=lines)

    def _name(self, one: ModelLossDependence) -> str:
        several = len({each.fold for each in self.result.models}) > 1
        name = "\n".join(wrap_name(one.model)) + (f", fold {one.fold}" if several else "")
        return f"{name}\nautocorrelation {one.autocorrelation:.2f}"

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for one in self.result.models:
            for order, numbers in ((ALARMS, [one.alarms]), (RANDOM, list(one.permuted_alarms))):
                yield {"model": one.model, "fold": one.fold, "order": order, "value": numbers}

    def _summary(self) -> str:
        return ", ".join(
            f"{one.model}: {one.alarms:,} alarms, {one.mean_permuted:.4g} in random order"
            for one in self.result.models
        )
