"""Delay and drifts found by detectors, against the number of their false alarms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.evaluation._results._select import chosen
from skstream.plotting._axes import give_title
from skstream.plotting._base import BaseDisplay, Canvas, Layout, check_kind
from skstream.plotting._lines import BASELINE_COLOR, dashes, model_styles
from skstream.studies import DetectorStudy
from skstream.studies._detector_study import mean_of
from skstream.utils._choices import is_real

RANDOM = "alarms at random"
PANEL_INCHES = (8.0, 2.9)
#: What the two panels show, by score.
PANELS = {"recall": "drifts found (share)", "mean_delay": "mean delay (rows)"}
N_POINTS = 40  # of the curve of alarms at random
LABEL_FONT = 7.0


@dataclass(kw_only=True, repr=False, eq=False)
class OperatingCharacteristicDisplay(BaseDisplay):
    """How many drifts detectors find, and how soon, against the number of their false alarms.

    A detector that raises more alarms finds drifts sooner. Where a parameter was varied, its line
    joins its values in the order given: of two detectors, the better one finds more drifts,
    sooner, *at the same place* of the horizontal axis. The grey line is that of alarms that know
    nothing. Delays are those of the drifts that were found, so that a detector that misses most
    may seem fast: look at both panels.

    `to_frame` has the columns detector, parameter, parameter_value, false_alarm_rate, recall and
    mean_delay; the detector "alarms at random" has no parameter.

    Parameters
    ----------
    result : DetectorStudy
        The study.
    detectors : sequence of str
        Detectors to show.
    at_random : bool, default=True
        Whether to show alarms at random, too.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        Both panels.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The lines of the first panel by the names of the detectors, and those of the second by
        these with ", delay".
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.studies.detector_study : Makes what is shown.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import PageHinkley
    >>> from skstream.studies import detector_study
    >>> from skstream.plotting import OperatingCharacteristicDisplay
    >>> def make_losses(seed):
    ...     rates = np.repeat([0.1, 0.5, 0.1, 0.5], 500)
    ...     return np.random.default_rng(seed).random(2000) < rates
    >>> detectors = {"Page-Hinkley": (PageHinkley(), "threshold", [5.0, 10.0, 20.0])}
    >>> study = detector_study(make_losses, detectors, range(3), tolerance=200, drifts=[500, 1500])
    >>> display = OperatingCharacteristicDisplay.from_result(study)  # doctest: +SKIP
    """

    result: DetectorStudy
    detectors: Sequence[str]
    at_random: bool = True

    @classmethod
    def from_result(
        cls,
        result: DetectorStudy,
        *,
        detectors: str | Sequence[str] | None = None,
        at_random: bool = True,
        **options: Any,
    ) -> Self:
        """Plot a study of detectors.

        Parameters
        ----------
        result : DetectorStudy
            The study.
        detectors : str or sequence of str, default=None
            Detectors to show; None: all.
        at_random : bool, default=True
            Whether to show alarms at random, too.
        **options
            Options of `plot`: `ax` (two), `legend`, `styles` by detector, and properties of all
            lines.

        Returns
        -------
        display : OperatingCharacteristicDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the study has no such detector.
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If the study has no drifts.
        """
        check_kind(result, DetectorStudy, "a study of detectors")
        if not any(result.drifts):
            raise ValueError(
                "There is nothing to plot: the study has no drifts, so that all alarms are false; "
                "see its table()."
            )
        names = chosen(detectors, result.names, "detector")
        return cls(result=result, detectors=names, at_random=at_random).plot(**options)

    def _curves(self) -> dict[str, dict[str, np.ndarray]]:
        """Scores of each detector, and of alarms at random up to as many as the detectors raise."""
        study, scores = self.result, ("false_alarm_rate", *PANELS)
        curves = {
            name: {one: np.array([mean_of(v) for v in study.curve(name, one)]) for one in scores}
            for name in self.detectors
        }
        if self.at_random:
            shown = [one for one in study.detectors if one.name in self.detectors]
            most = max(len(rows) for one in shown for rows in one.alarms)
            numbers = np.unique(np.geomspace(1, max(2, 2 * most), N_POINTS).round().astype(int))
            found = [study.expected_at_random(int(number)) for number in numbers]
            curves[RANDOM] = {score: np.array([one[score] for one in found]) for score in scores}
        return curves

    def _parameter(self, name: str) -> str | None:
        """Name of the parameter of a detector that was varied."""
        return next((one.parameter for one in self.result.detectors if one.name == name), None)

    def _layout(self, ax: Any) -> Layout:
        width, height = PANEL_INCHES
        lines = [*self.detectors, *([RANDOM] if self.at_random else [])]
        return Layout(lines, len(PANELS), (width, height * len(PANELS)))

    def _draw(self, canvas: Canvas) -> None:
        styles = {
            name: {**style, "marker": "o", "markersize": 4.5}
            for name, style in model_styles(list(self.detectors)).items()
        }
        styles[RANDOM] = {"color": BASELINE_COLOR, "linestyle": dashes(1), "zorder": 2}
        curves = self._curves()
        names = sorted(curves, key=lambda name: name != RANDOM)  # that of no detector first
        for ax, (score, words) in zip(canvas.axes, PANELS.items(), strict=True):
            for name in names:
                curve = curves[name]
                key = name if score == "recall" else f"{name}, delay"
                rates = curve["false_alarm_rate"]
                line = canvas.draw_line(ax, key, rates, curve[score], styles[name], name)
                if score == "mean_delay" and self._parameter(name) is not None:
                    self._write_values(ax, name, curve, line.get_color())
            ax.set_ylabel(words)
        found, delays = canvas.axes
        found.set_ylim(-0.03, 1.05)
        n_seeds = self.result.n_seeds
        seeds = f", mean of {n_seeds:,} seeds" if n_seeds > 1 else ""
        zone = f" within {self.result.tolerance:,} rows"
        give_title(found, f"Drifts found{zone}, and their delay{seeds}")
        canvas.give_legend(found, lines={name: canvas.lines[name] for name in curves})
        delays.set_ylim(0, 1.08 * delays.get_ylim()[1])  # room for the values of parameters
        detected = [curves[name]["false_alarm_rate"] for name in self.detectors]
        self._scale_rates(canvas.axes, np.concatenate(detected))

    def _write_values(self, ax: Any, name: str, curve: Mapping[str, Any], color: Any) -> None:
        """Write the first and the last value of the parameter at the ends of its line."""
        rates, delays = curve["false_alarm_rate"], curve["mean_delay"]
        known = np.flatnonzero(np.isfinite(rates) & np.isfinite(delays)).tolist()
        style = {"ha": "center", "fontsize": LABEL_FONT, "color": color, "parse_math": False}
        for k in {*known[:1], *known[-1:]}:
            value = self.result.values(name)[k]
            text = f"{self._parameter(name)} = {value:.3g}" if is_real(value) else str(value)
            above = {"xytext": (0, 6), "textcoords": "offset points"}
            ax.annotate(text, (rates[k], delays[k]), **above, **style)

    def _scale_rates(self, axes: np.ndarray, rates: np.ndarray) -> None:
        """Let the axis of false alarms be logarithmic, with a place for none at all."""
        rates = rates[np.isfinite(rates)]
        positive = rates[rates > 0]
        for ax in axes if len(positive) else ():
            least, most = positive.min(), positive.max()
            if (rates == 0).any():
                least = 10.0 ** np.floor(np.log10(least))
                ax.set_xscale("symlog", linthresh=least, linscale=0.5)
                ax.set_xlim(-0.15 * least, 2 * most)
            else:
                ax.set_xscale("log")
                ax.set_xlim(least / 2, 2 * most)
            ax.xaxis.set_major_formatter("{x:,g}")
        axes[-1].set_xlabel("false alarms per 100,000 rows outside the zones of drifts")

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, curve in self._curves().items():
            values = None if name == RANDOM else list(self.result.values(name))
            parameter = self._parameter(name)
            yield {"detector": name, "parameter": parameter, "parameter_value": values, **curve}

    def _summary(self) -> str:
        n = sum(len(self.result.values(name)) for name in self.detectors)
        return f"{', '.join(self.detectors)}; {n:,} points"
