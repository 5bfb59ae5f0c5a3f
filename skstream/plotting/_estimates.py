"""Estimates before the labels over time, and the truth where it is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.core.result.select import pick
from skstream.logs._estimates import LabelEstimates
from skstream.plotting._axes import (
    BASELINE_COLOR,
    COLORS,
    LINE_WIDTH,
    axis_words,
    dashes,
    give_title,
    ink,
    measure_words,
    patch_key,
    places_along,
    show_times_along,
)
from skstream.plotting._base import BaseDisplay, Canvas, Layout, check_kind

TRUTH = "truth"
#: How the estimates look; that of the newest labels as naive models do.
LOOKS = {
    "newest labels": (BASELINE_COLOR, 1),
    "confidence": (COLORS[0], 0),
    "calibrated": (COLORS[1], 0),
}
NO_TRUTH_ALPHA = 0.08


@dataclass(kw_only=True, repr=False, eq=False)
class EstimateDisplay(BaseDisplay):
    """Show a measure of one model as estimated before the labels, and its true value.

    The estimates extend to the end of the log, the present; the background is grey where the truth
    is not known yet.

    `to_frame` has the columns time, line ("truth" or the method) and value.

    Parameters
    ----------
    times : ndarray of shape (n_moments,), dtype datetime64 or float64
        Moments of the track record, and the end of the log.
    estimates : dict of str to ndarray of shape (n_moments,)
        Estimates by method; the last are the current ones.
    truth : ndarray of shape (n_moments,)
        The scores from the labels; NaN if not known yet.
    metric : str
        Name of the measure.
    model : str
        Name of the model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The lines, "truth" and those of the methods.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.estimate_unlabelled : Computes the values shown.

    Examples
    --------
    >>> from skstream import estimate_unlabelled
    >>> from skstream.plotting import EstimateDisplay
    >>> estimates = estimate_unlabelled(
    ...     [1, 0, 1, 0, None], [0.7] * 5, arrival=range(5), label_time=range(1, 6)
    ... )
    >>> display = EstimateDisplay.from_result(estimates)  # doctest: +SKIP
    """

    times: np.ndarray
    estimates: Mapping[str, np.ndarray]
    truth: np.ndarray
    metric: str
    model: str

    @classmethod
    def from_result(
        cls,
        result: LabelEstimates,
        metric: str | None = None,
        *,
        model: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot estimates.

        Parameters
        ----------
        result : LabelEstimates
            As `estimate_unlabelled` returns it.
        metric : str, default=None
            The measure; None: the first.
        model : str, default=None
            The model; None: the first.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by line, and properties of all lines.

        Returns
        -------
        display : EstimateDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If there is no such measure or model.
        TypeError
            If the result is of another kind, or a line has no such property.
        """
        check_kind(result, LabelEstimates, "what estimate_unlabelled() returns")
        model = next(iter(result.truth)) if model is None else model
        truths = pick(result.truth, model, "model")
        metric = next(iter(truths)) if metric is None else metric
        truth = pick(truths, metric, "measure")
        now = result.now[model][metric]
        return cls(
            times=np.append(result.times, np.asarray(result.end, dtype=result.times.dtype)),
            estimates={
                method: np.append(values, now[method])
                for method, values in result.estimates[model][metric].items()
            },
            truth=np.append(truth, np.nan),
            metric=metric,
            model=model,
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        return Layout([TRUTH, *self.estimates])

    def _draw(self, canvas: Canvas) -> None:
        ax, along = canvas.axes[0], places_along(self.times, self.times)
        style = {"color": ink(), "linewidth": 1.6 * LINE_WIDTH, "zorder": 4}
        canvas.draw_line(ax, TRUTH, along, self.truth, style)
        for method, values in self.estimates.items():
            color, number = LOOKS[method]
            style = {"color": color, "linestyle": dashes(number), "linewidth": LINE_WIDTH}
            canvas.draw_line(ax, method, along, values, style | {"zorder": 3})
        others: dict[str, Any] = {}
        known = np.flatnonzero(np.isfinite(self.truth))
        first = along[known[-1]] if len(known) else along[0]
        if first < along[-1]:
            area = {"color": ink(), "alpha": NO_TRUTH_ALPHA, "linewidth": 0}
            ax.axvspan(first, along[-1], **area)
            others = {"labels not known yet": patch_key(**area)}
        show_times_along(ax, self.times)
        ax.set_ylabel(axis_words(self.metric))
        give_title(ax, f"{measure_words(self.metric)} of {self.model}, estimated before the labels")
        canvas.give_legend(ax, lines=canvas.lines, others=others, end=float(along[-1]))

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, values in {TRUTH: self.truth, **self.estimates}.items():
            yield {"time": self.times, "line": name, "value": values}

    def _summary(self) -> str:
        now = ", ".join(f"{method} {values[-1]:.4g}" for method, values in self.estimates.items())
        return f"{self.metric} of {self.model} now: {now}"
