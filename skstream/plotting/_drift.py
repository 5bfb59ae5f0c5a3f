"""A drift detector at work on the losses of one model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from skstream.drift import ADWIN, Detections, DriftDetector
from skstream.evaluation import DriftMonitor, EvaluationResult
from skstream.evaluation._results._detect import seed_of, tape_and_monitor
from skstream.evaluation._results._select import chosen, number
from skstream.evaluation._runs._watch import values_read
from skstream.evaluation._tape_rows import lanes_of, rows_of, width_of
from skstream.plotting._axes import count_rows_along, give_title
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._lines import COLORS, LINE_WIDTH, ink, model_styles
from skstream.plotting._marks import Drifts, draw_drifts, draw_marks
from skstream.plotting._measure import names_in
from skstream.plotting._words import axis_words, measure_words
from skstream.streams._drifts import as_drifts


def series_of(
    result: EvaluationResult, monitor: DriftMonitor, model: str, fold: int
) -> tuple[np.ndarray, np.ndarray, DriftDetector]:
    """Return what a monitor reads of one model and fold: rows and values; and its detector."""
    tape, one = tape_and_monitor(result, monitor)
    position = result.folds.index(number(fold, result.folds, "fold"))
    lane = (model, position)
    lanes = {lane: lanes_of(tape)[lane]}
    place = (model, result.folds[position])
    rows, values = values_read(
        one, tape.classes, place, width_of(lanes[lane]), tape.methods, rows_of(tape, lanes)
    )
    return rows, values, one.detector_of(seed_of(result), *place)


READ = "read by the detector"
STATISTIC, CRITICAL = "statistic", "critical value"
PANEL_INCHES = (8.0, 2.7)
#: Points of the lines; beside these, each alarm has two.
MOST_POINTS, MOST_ALARMS = 1000, 500
#: What the second panel shows of detectors that compare no statistic with a fixed value.
WIDTH_WORDS = "values in the window"


@dataclass(kw_only=True, repr=False, eq=False)
class DriftDisplay(BaseDisplay):
    """A drift detector at work: the error over the stream, and what the detector makes of it.

    The first panel shows a measure under one or more forgetting mechanisms, what the detector reads
    if that is a mean, known drifts, and above it alarms and warnings. The second one shows the
    statistic of the detector against the value that raises an alarm, where it has one; of `ADWIN`
    the number of values in its window. Of `RandomAlarm` there is no second panel.

    `to_frame` has the columns series, row and value; the series "alarm" and "warning" have rows
    alone.

    Parameters
    ----------
    estimates : dict of str to tuple of (rows, values)
        Curves of the first panel, by name.
    detections : Detections
        Warnings and alarms.
    statistic : tuple of (rows, values), default=None
        What the second panel shows; None: there is no second panel.
    critical_value : ndarray of shape (n_points,), default=None
        The statistic that raises an alarm, at the same rows; None: there is none.
    metric : str, default="error"
        Name of the measure.
    statistic_words : str, default="statistic"
        What the second panel shows, in words.
    drifts : sequence of (int or pair of int), default=()
        Rows at which the truth is known to change, or pairs ``(start, end)``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        All panels.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The estimates by name, "statistic" and "critical value".
    legend_ : matplotlib Legend or None
        The legend of the first panel.

    See Also
    --------
    PrequentialDisplay : Several models, and the alarms of several monitors.

    Examples
    --------
    >>> from skstream import DriftMonitor, FadingFactor, PrequentialEvaluator
    >>> from skstream.drift import PageHinkley
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.plotting import DriftDisplay
    >>> from skstream.streams import SEA
    >>> evaluator = PrequentialEvaluator("error", forgetting="window:500")
    >>> result = evaluator.evaluate(IncrementalGaussianNB(), SEA(8000, random_state=0))
    >>> monitor = DriftMonitor(PageHinkley(20, delta=0.005), on=FadingFactor(0.997))
    >>> display = DriftDisplay.from_result(result, monitor=monitor)  # doctest: +SKIP
    >>> display.figure_.savefig("drift.png")  # doctest: +SKIP
    """

    estimates: Mapping[str, tuple[np.ndarray, np.ndarray]]
    detections: Detections
    statistic: tuple[np.ndarray, np.ndarray] | None = None
    critical_value: np.ndarray | None = None
    metric: str = "error"
    statistic_words: str = STATISTIC
    drifts: Drifts = field(default=())

    def __post_init__(self) -> None:
        as_drifts(self.drifts)

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        monitor: DriftMonitor,
        model: str | None = None,
        fold: int | None = None,
        forgetting: str | Sequence[str] | None = None,
        drifts: Drifts | None = None,
        **options: Any,
    ) -> Self:
        """Let a monitor read the tape of a result, and plot what it reads and finds.

        Parameters
        ----------
        result : EvaluationResult
            Result without bins that kept its tape.
        metric : str, default=None
            Measure of the first panel; None: the first one of the result.
        monitor : DriftMonitor
            The detector, and what it reads.
        model : str, default=None
            The model; it can be left out of a result of one.
        fold : int, default=None
            The fold; None: the first one.
        forgetting : str or sequence of str, default=None
            Mechanisms of the result under which the measure is shown; None: all.
        drifts : sequence of (int or pair of int), default=None
            Rows at which the truth is known to change, or pairs ``(start, end)``; None: those of
            the stream, ``result.drifts``; (): none.
        **options
            Options of `plot`: `ax` (one for each panel), `legend`, `styles` by line, and properties
            of all lines.

        Returns
        -------
        display : DriftDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the result has no such measure, model or forgetting mechanism.
        TypeError
            If the result is of another kind, or `monitor` is not a DriftMonitor.
        ValueError
            If no tape was kept, no model is named among several, there is no such fold, or the
            monitor does not suit the result.
        """
        if not isinstance(result, EvaluationResult) or result.bins is not None:
            raise TypeError(
                f"Expected the result of an evaluation without bins. Got {type(result).__name__}."
            )
        if isinstance(monitor, str):
            where = " of that name" if monitor in result.detections else ""
            raise TypeError(
                f"monitor must be a DriftMonitor. Got {monitor!r}: a result keeps what its "
                f"monitors found, and not their detectors. Pass the DriftMonitor{where} that the "
                "evaluator was given, such as evaluator.monitors[name]."
            )
        names = chosen(forgetting, result.forgetting_names, "forgetting")
        metric, _, _ = names_in(result, metric, names[0])
        if model is None and len(result.model_names) > 1:
            raise ValueError(
                f"The result has several models, {result.model_names}, and one is shown: pass "
                "model=."
            )
        model = chosen(model, result.model_names, "model")[0]
        fold = result.folds[0] if fold is None else number(fold, result.folds, "fold")
        rows, values, detector = series_of(result, monitor, model, fold)
        place = result.folds.index(fold)
        estimates = {
            name: (result.checkpoints, result.curve(model, metric, forgetting=name)[:, place])
            for name in names
        }
        if monitor.on != "loss" and len(rows):
            at = np.unique(np.linspace(0, len(rows) - 1, MOST_POINTS).astype(int))
            estimates[READ] = (rows[at] + 1, values[at])
        found = result.detect(monitor)[model]
        detections = found if isinstance(found, Detections) else found[place]
        statistic, critical = _followed(detector, values, rows, detections.alarms)
        words = STATISTIC
        if statistic is not None:
            name = type(detector).__name__
            words = WIDTH_WORDS if isinstance(detector, ADWIN) else f"{STATISTIC} of {name}"
        return cls(
            estimates=estimates,
            detections=detections,
            statistic=statistic,
            critical_value=critical,
            metric=metric,
            statistic_words=words,
            drifts=result.drifts if drifts is None else drifts,
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        n_panels = 1 if self.statistic is None else 2
        others = [] if self.statistic is None else [STATISTIC]
        others += [] if self.critical_value is None else [CRITICAL]
        width, height = PANEL_INCHES
        return Layout([*self.estimates, *others], n_panels, (width, height * n_panels + 0.6))

    def _draw(self, canvas: Canvas) -> None:
        ax = canvas.axes[0]
        defaults = model_styles(list(self.estimates))
        for name, (rows, values) in self.estimates.items():
            canvas.draw_line(ax, name, rows, values, defaults[name])
        ends = [float(rows[-1]) for rows, _ in self.estimates.values() if len(rows)]
        end = max(ends) if ends else None
        named = dict(canvas.lines)
        if self.statistic is not None:
            self._draw_statistic(canvas, canvas.axes[1], end)
        for each in canvas.axes:
            if end is not None:
                canvas.widen_limits(each, "x", 0.0, end)
        ax.set_ylabel(axis_words(self.metric), parse_math=False)
        model, monitor = self.detections.model, self.detections.monitor
        found, colors = {monitor: {model: self.detections}}, {model: COLORS[1]}
        others = draw_marks(canvas, self.drifts, found, colors, end)
        give_title(ax, f"{measure_words(self.metric)} of {model}, watched by {monitor}")
        canvas.give_legend(ax, lines=named, others=others)
        for each in canvas.axes[-1:] if canvas.own else canvas.axes:
            count_rows_along(each)

    def _draw_statistic(self, canvas: Canvas, ax: Any, end: float | None) -> None:
        assert self.statistic is not None
        rows, values = self.statistic
        style = {"color": ink(), "linewidth": LINE_WIDTH * 0.8}
        canvas.draw_line(ax, STATISTIC, rows, values, style)
        named = {self.statistic_words: canvas.lines[STATISTIC]}
        if self.critical_value is not None:
            style = {"color": COLORS[1], "linewidth": 1.0, "linestyle": "--"}
            line = canvas.draw_line(ax, CRITICAL, rows, self.critical_value, style)
            named["raises an alarm"] = line
        ax.set_ylim(bottom=0.0)
        ax.set_ylabel(self.statistic_words)
        draw_drifts(ax, self.drifts, end)
        canvas.give_legend(ax, lines=named if len(named) > 1 else {})

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        series = dict(self.estimates)
        if self.statistic is not None:
            series[STATISTIC] = self.statistic
            if self.critical_value is not None:
                series[CRITICAL] = (self.statistic[0], self.critical_value)
        for name, (rows, values) in series.items():
            yield {"series": name, "row": rows, "value": values}
        for name, rows in (
            ("alarm", self.detections.alarms),
            ("warning", self.detections.warnings),
        ):
            if len(rows):
                yield {"series": name, "row": rows + 1, "value": np.nan}

    def _summary(self) -> str:
        found = self.detections
        return f"{found.monitor} of {found.model}: {len(found.alarms):,} alarms"


def _followed(
    detector: DriftDetector, values: np.ndarray, rows: np.ndarray, alarms: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray | None]:
    """Return the statistic of a detector, and its critical value, at some rows.

    After an alarm most detectors begin anew, so that their statistic is never seen at its critical
    value: there, it is drawn as high as that.
    """
    if not len(values):
        return None, None
    new = clone(detector)
    raised = np.searchsorted(rows, alarms[:MOST_ALARMS])
    spread = np.linspace(0, len(values) - 1, MOST_POINTS).astype(int)
    positions = np.unique(np.concatenate([spread, raised, np.maximum(raised - 1, 0)]))
    is_alarm = np.isin(positions, raised)
    found, begin = np.full((2, len(positions)), np.nan), 0
    for k, position in enumerate(positions.tolist()):
        new.update_many(values[begin : position + 1])
        begin = position + 1
        found[:, k] = (
            (new.width, np.nan) if isinstance(new, ADWIN) else (new.statistic, new.critical_value)
        )
    statistic, critical = found
    if np.isnan(statistic).all():
        return None, None
    if np.isnan(critical).all():
        return (rows[positions] + 1, statistic), None
    before = np.flatnonzero(is_alarm)
    before = before[before > 0]
    critical[before] = np.where(np.isnan(critical[before]), critical[before - 1], critical[before])
    statistic[before] = np.fmax(statistic[before], critical[before])
    return (rows[positions] + 1, statistic), critical
