"""What displays of one measure of several models share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.core.forgetting import parse_forgetting
from skstream.core.measures.registry import OF_CLASS, OF_CLASSES, REGRESSION, measure_of_name
from skstream.core.result.select import chosen
from skstream.metrics import Measure
from skstream.plotting._axes import (
    COLORS,
    UNSETTLED,
    axis_words,
    count_rows_along,
    give_title,
    ink,
    show_times_along,
    title_words,
    uncover_edges,
    value_limits,
    with_remarks,
    wrap_name,
)
from skstream.plotting._base import FIGURE_INCHES, BaseDisplay, Canvas, Layout
from skstream.plotting._marks import Drifts, Found, rows_of_dates

GUESS_ALPHA = 0.08  # of the colour of texts, so that it is seen on any background
#: First checkpoints with fewer rows than this share of what is usual under the forgetting do not
#: set the limits of the values, unless they are more than this share of all checkpoints.
LEAST_OF_WINDOW, MOST_UNSETTLED = 0.5, 0.1
#: How far below (or above) the limits the grey area extends, if the user moves the limits.
BEYOND_LIMITS = 10.0
#: Up to so many models besides baselines are shown where the user named none.
MOST_MODELS = 10
ROW_INCHES, TALLEST_INCHES = 0.14, 24.0  # of names at the ends of lines, and of a figure


def known_measure(name: str) -> Measure:
    """Return what is known of a measure by its name alone."""
    kind, colon, _ = name.partition(":")
    if colon and kind in OF_CLASS:
        return Measure(**OF_CLASS[kind](f"{kind}:", 0, 2).facts)
    measure = measure_of_name(name, OF_CLASSES | REGRESSION)
    return Measure(name=name) if measure is None else Measure(**measure.facts)


@dataclass(kw_only=True, repr=False, eq=False)
class MeasureDisplay(BaseDisplay):
    """Curves of models, and which measure they are of; subclasses describe the parameters."""

    curves: Mapping[str, np.ndarray]
    metric: str
    forgetting: str
    baselines: Sequence[str] | Mapping[str, str] = ()
    measure: Measure | None = None
    mechanism: str | None = None
    failed: Collection[str] = ()
    n_models: int | None = None

    @property
    def _facts(self) -> Measure:
        return known_measure(self.metric) if self.measure is None else self.measure

    def _title(self) -> str:
        words = title_words(
            self.metric,
            self.forgetting,
            measure=self._facts.name,
            mechanism=self.mechanism,
        )
        if self.n_models is None:
            return words
        n_shown = len(self.curves) - len(self.baselines)
        return f"{words}, best {n_shown} of {self.n_models} models"

    def _layout(self, ax: Any) -> Layout:
        n_rows = sum(len(wrap_name(name)) for name in self.curves)  # at the right ends of the lines
        width, height = FIGURE_INCHES
        tall = float(np.clip(ROW_INCHES * n_rows + 0.9, height, TALLEST_INCHES))
        return Layout(self.curves, size=(width, tall))

    def _finish(
        self,
        canvas: Canvas,
        x: np.ndarray,
        curves: Sequence[np.ndarray],
        guess: np.ndarray | None = None,
        *,
        end: float | None,
        title: str = "",
        lines: Mapping[str, Any] | None = None,
        others: Mapping[str, Any] | None = None,
        mark: Callable[[Any], Mapping[str, Any]] = lambda ax: {},
        unsettled: float = UNSETTLED,
        **shade: Any,
    ) -> None:
        """Do what is left when the lines are drawn: values along the axis, title and legend.

        Parameters
        ----------
        canvas : Canvas
            With lines, and the limits of their rows.
        x : ndarray of shape (n_points,)
            Places of the `guess`.
        curves : sequence of ndarray
            What the limits of the values are to hold.
        guess : ndarray of shape (n_points,), default=None
            The best naive guess.
        end : float or None
            Right end of the lines.
        title : str, default=""
            Empty: measure and forgetting.
        lines : dict of str to Line2D, default=None
            Lines in the legend; None: all.
        others : dict of str to artist, default=None
            What else is in the legend.
        mark : callable, default=nothing
            Draws marks once the limits are known, and returns what the legend says of them.
        unsettled : float, default=0.02
            Share of the first values that do not set the scale.
        **shade
            Options of `_shade_guess`.
        """
        ax = canvas.axes[0]
        limits = value_limits(curves, self._facts, guess, unsettled=unsettled)
        if limits is not None:
            canvas.widen_limits(ax, "y", *limits)
        elif canvas.own:
            ax.set_yticks([])  # numbers beside no value would mean nothing
        uncover_edges(ax, canvas.lines.values())
        ax.set_ylabel(axis_words(self.metric), parse_math=False)
        entries = {**(others or {}), **self._shade_guess(ax, x, guess, **shade)}
        entries |= mark(ax)
        give_title(ax, title or self._title())
        named = with_remarks(ax, canvas.lines if lines is None else lines, self.failed)
        canvas.give_legend(ax, lines=named, others=entries, end=end)

    def _best_guess(self, curves: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Values of the best baseline, point by point; None without baselines or direction."""
        guesses = [curves[name] for name in self.baselines if name in curves]
        if not guesses or self._facts.higher_is_better is None:
            return None
        return (np.fmax if self._facts.higher_is_better else np.fmin).reduce(guesses)

    def _shade_guess(
        self,
        ax: Any,
        x: np.ndarray,
        best: np.ndarray | None,
        words: str = "naive guess",
        **step: Any,
    ) -> dict[str, Any]:
        """Shade what a naive guess reaches; return what the legend has to explain."""
        facts = self._facts
        if best is None and facts.baseline_is_zero and facts.higher_is_better is not None:
            best = np.zeros(len(x))
        if best is None or len(best) < 2 or np.isnan(best).all():
            return {}
        low, high = sorted(ax.get_ylim())
        beyond = BEYOND_LIMITS * (high - low)
        worst = (
            max(low - beyond, facts.bounds[0])
            if facts.higher_is_better
            else min(high + beyond, facts.bounds[1])
        )
        style = {"color": ink(), "alpha": GUESS_ALPHA, "zorder": 0, "linewidth": 0}
        area = ax.fill_between(x, worst, best, **style, **step)
        seen = np.nanmax(best) > low if facts.higher_is_better else np.nanmin(best) < high
        return {words: area} if seen else {}


def measure_along(canvas: Canvas, along: np.ndarray, times: np.ndarray | None) -> float | None:
    """Set limits and marks of the horizontal axis; return where the last checkpoint is."""
    ax = canvas.axes[0]
    end = float(along[-1]) if len(along) else None
    if end is not None:
        canvas.widen_limits(ax, "x", 0.0 if times is None else float(along[0]), end)
    if times is None:
        count_rows_along(ax)
    else:
        show_times_along(ax, times)
    return end


def share_unsettled(
    checkpoints: np.ndarray, times: np.ndarray | None, forgetting: str, n_parts: int = 1
) -> float:
    """Share of the checkpoints, all at the start, whose values rest on few rows.

    Parameters
    ----------
    checkpoints : ndarray of shape (n_checkpoints,)
        Rows so far.
    times : ndarray of shape (n_checkpoints,) or None
        Their times.
    forgetting : str
        Specification of the forgetting.
    n_parts : int, default=1
        In how many groups the rows are divided.

    Returns
    -------
    share : float
        Between `UNSETTLED` and about `MOST_UNSETTLED`.
    """
    rows = along = np.asarray(checkpoints, dtype=np.float64)
    try:
        mechanism = parse_forgetting(forgetting)
    except ValueError:  # sets of rows, all of one size
        return UNSETTLED
    width: Any = mechanism.memory(0.5)
    if mechanism.counts_time and times is not None and times.dtype.kind == "M":
        along = np.asarray(times, dtype="datetime64[us]").astype(np.float64)
        width = vars(mechanism)["duration"].astype(np.float64)
    few = rows < UNSETTLED * n_parts * rows[-1:]
    if width is not None and len(rows) and width < along[-1] - along[0]:
        counted = rows - np.interp(along - width, along, rows, left=0.0)
        few |= counted < LEAST_OF_WINDOW * np.median(counted)
    n_few = min(np.logical_and.accumulate(few).sum(), np.ceil(MOST_UNSETTLED * len(rows)))
    return float(max(UNSETTLED, (n_few + 0.5) / len(rows))) if len(rows) > 1 else UNSETTLED


def baselines_in(result: Any, shown: Collection[str]) -> dict[str, str]:
    """Return those of the models that are naive baselines, and their classes."""
    models = result.details.record.get("models", {})
    return {
        name: models.get(name, {}).get("class", "").rpartition(".")[2]
        for name in result.details.baselines
        if name in shown
    }


def names_in(
    result: Any, metric: str | None, forgetting: str | None
) -> tuple[str, str, dict[str, Any]]:
    """Return measure, forgetting mechanism, and the constructor arguments that describe them.

    Parameters
    ----------
    result : EvaluationResult
        The result.
    metric, forgetting : str or None
        What the user asked for; None: the first one.

    Returns
    -------
    metric, forgetting : str
        The names.
    arguments : dict
        Of a `MeasureDisplay`.
    """
    metric = result.metric_names[0] if metric is None else metric
    forgetting = result.forgetting_names[0] if forgetting is None else forgetting
    arguments = {
        "metric": metric,
        "forgetting": forgetting,
        "measure": result.measures.get(metric),
        # The rows of a set are all that a value is about: nothing of earlier ones is remembered.
        "mechanism": result.details.scored_sets or result.details.mechanisms.get(forgetting),
    }
    return metric, forgetting, arguments


def contents_in(
    result: Any,
    metric: str | None,
    forgetting: str | None,
    models: str | Sequence[str] | None,
    drifts: Drifts | None,
    detections: Found | None,
) -> tuple[list[str], dict[str, Any]]:
    """Return the models to show, and the constructor arguments that are not curves.

    If there are more models than colours and the user named none: the best ones by their last
    value, as many as there are colours, and the baselines.
    """
    metric, forgetting, arguments = names_in(result, metric, forgetting)
    naive = result.details.baselines
    shown = chosen(models, result.model_names, "model")
    others = [name for name in shown if name not in naive]
    direction = result.measures[metric].higher_is_better if metric in result.measures else None
    if models is None and len(others) > MOST_MODELS and direction is not None:

        def loss(name: str) -> float:
            last = result.curve(name, metric, forgetting=forgetting)[-1:]
            value = float(np.mean(last if result.bins is None else last[..., -1]))
            return np.inf if np.isnan(value) else -value if direction else value

        best = sorted(others, key=loss)[: len(COLORS)]
        shown = [name for name in shown if name in best or name in naive]
        arguments["n_models"] = len(others)
    return shown, {
        **arguments,
        "baselines": baselines_in(result, shown),
        "failed": [name for name in result.failures if name in shown],
        "drifts": result.drifts if drifts is None else rows_of_dates(drifts, result),
        "detections": detections or {},
    }
