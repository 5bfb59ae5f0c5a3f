"""Delay and drifts found by detectors, against the number of their false alarms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.evaluation._results._select import chosen
from skstream.plotting._axes import give_title, plain_look
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._lines import BASELINE_COLOR, dashes, model_styles
from skstream.studies import DetectorStudy
from skstream.studies._detector_study import mean_of

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
    curves : dict of str to dict of str to ndarray of shape (n_values,)
        For each detector its "false_alarm_rate", "recall" and "mean_delay".
    parameters : dict of str to str or None
        Name of the parameter of each detector that was varied.
    values : dict of str to sequence
        Its values; one None where none was varied.
    random : dict of str to ndarray of shape (n_points,), default=None
        The same of alarms at random.
    n_seeds : int, default=1
        Number of seeds that these are means of.
    tolerance : int, default=None
        Rows after the end of a drift in which an alarm finds it.

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

    curves: Mapping[str, Mapping[str, np.ndarray]]
    parameters: Mapping[str, str | None]
    values: Mapping[str, Sequence[Any]]
    random: Mapping[str, np.ndarray] | None = None
    n_seeds: int = 1
    tolerance: int | None = None

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
        if not isinstance(result, DetectorStudy):
            raise TypeError(f"Expected a study of detectors. Got {type(result).__name__}.")
        if not any(result.drifts):
            raise ValueError(
                "There is nothing to plot: the study has no drifts, so that all alarms are false; "
                "see its table()."
            )
        names = chosen(detectors, result.names, "detector")
        of_name = {one.name: one.parameter for one in result.detectors}
        return cls(
            curves={
                name: {
                    score: np.array([mean_of(values) for values in result.curve(name, score)])
                    for score in ("false_alarm_rate", *PANELS)
                }
                for name in names
            },
            parameters={name: of_name[name] for name in names},
            values={name: result.values(name) for name in names},
            random=_at_random(result, names) if at_random else None,
            n_seeds=result.n_seeds,
            tolerance=result.tolerance,
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        width, height = PANEL_INCHES
        lines = [*self.curves, *([] if self.random is None else [RANDOM])]
        return Layout(lines, len(PANELS), (width, height * len(PANELS)))

    def _draw(self, canvas: Canvas) -> None:
        defaults = model_styles(list(self.curves))
        for ax, (score, words) in zip(canvas.axes, PANELS.items(), strict=True):
            shown = {}
            if self.random is not None:
                style = {"color": BASELINE_COLOR, "linestyle": dashes(1), "zorder": 2}
                key = RANDOM if score == "recall" else f"{RANDOM}, delay"
                rates = self.random["false_alarm_rate"]
                random = canvas.draw_line(ax, key, rates, self.random[score], style, RANDOM)
            for name, curve in self.curves.items():
                rates = curve["false_alarm_rate"]
                style = {**defaults[name], "marker": "o", "markersize": 4.5}
                key = name if score == "recall" else f"{name}, delay"
                shown[name] = canvas.draw_line(ax, key, rates, curve[score], style, name)
                if score == "mean_delay":
                    self._write_values(ax, name, shown[name].get_color())
            ax.set_ylabel(words)
            plain_look(ax)
            if score == "recall":
                ax.set_ylim(-0.03, 1.05)
                give_title(ax, self._title())
                named = shown if self.random is None else {**shown, RANDOM: random}
                canvas.give_legend(ax, lines=named)
            else:
                ax.set_ylim(0, 1.08 * ax.get_ylim()[1])  # room for the values of parameters
        self._scale_rates(canvas.axes)

    def _write_values(self, ax: Any, name: str, color: Any) -> None:
        """Write the first and the last value of the parameter at the ends of its line."""
        curve, values = self.curves[name], self.values[name]
        rates = curve["false_alarm_rate"]
        points = np.isfinite(rates) & np.isfinite(curve["mean_delay"])
        known = np.flatnonzero(points).tolist()
        if self.parameters[name] is None or not known:
            return
        ends = {known[0], known[-1]}
        for k in ends:
            value = values[k]
            text = f"{self.parameters[name]} = {value:.3g}" if _is_number(value) else str(value)
            ax.annotate(
                text,
                (rates[k], curve["mean_delay"][k]),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                fontsize=LABEL_FONT,
                color=color,
                parse_math=False,
            )

    def _scale_rates(self, axes: np.ndarray) -> None:
        """Let the axis of false alarms be logarithmic, with a place for none at all."""
        every = [curve["false_alarm_rate"] for curve in self.curves.values()]
        rates = np.concatenate(every)
        rates = rates[np.isfinite(rates)]
        positive = rates[rates > 0]
        for ax in axes:
            if len(positive):
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

    def _title(self) -> str:
        seeds = f", mean of {self.n_seeds:,} seeds" if self.n_seeds > 1 else ""
        zone = "" if self.tolerance is None else f" within {self.tolerance:,} rows"
        return f"Drifts found{zone}, and their delay{seeds}"

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, curve in self.curves.items():
            yield {
                "detector": name,
                "parameter": self.parameters[name],
                "parameter_value": list(self.values[name]),
                **curve,
            }
        if self.random is not None:
            yield {"detector": RANDOM, "parameter": None, "parameter_value": None, **self.random}

    def _summary(self) -> str:
        n = sum(len(values) for values in self.values.values())
        return f"{', '.join(self.curves)}; {n:,} points"


def _at_random(study: DetectorStudy, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the scores of alarms at random, up to as many as the detectors shown raise."""
    most = max(len(rows) for one in study.detectors if one.name in names for rows in one.alarms)
    numbers = np.unique(np.geomspace(1, max(2, 2 * most), N_POINTS).round().astype(int))
    found = [study.expected_at_random(int(number)) for number in numbers]
    scores = ("false_alarm_rate", *PANELS)
    return {score: np.array([one[score] for one in found]) for score in scores}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
