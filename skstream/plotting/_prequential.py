"""Measures over the stream, of single runs, of folds and of seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from skstream.evaluation import EvaluationResult
from skstream.logs._predictions import result_of_predictions
from skstream.plotting._axes import (
    ink,
    last_values,
    line_key,
    model_styles,
    patch_key,
    places_along,
)
from skstream.plotting._base import Canvas, check_kind
from skstream.plotting._marks import Drifts, Found, check_marks, draw_marks, refits_of
from skstream.plotting._measure import (
    MeasureDisplay,
    contents_in,
    measure_along,
    share_unsettled,
)
from skstream.studies._seed_study import SeedStudy
from skstream.utils._choices import check_choice

Spread = Literal["range", "std", "lines"]
#: What the legend calls each of them, of folds or seeds.
SPREADS = {
    "range": "lowest to highest {}",
    "std": "± 1 standard deviation ({}s)",
    "lines": "single {}s",
}


@dataclass(kw_only=True, repr=False, eq=False)
class PrequentialDisplay(MeasureDisplay):
    """Show a measure of several models over the stream.

    Models are coloured lines, baselines grey and dashed. The grey area is what a naive guess
    reaches: below the best baseline if higher is better, above it if lower is better. A model
    inside it does not beat a naive guess. Without baselines, a measure for which a naive guess
    scores 0 (a kappa) has the area up to 0; there is no area if it is unknown whether higher is
    better. Folds are shown as the band from the lowest to the highest fold around their mean.

    `to_frame` has the columns row, model, fold and value.

    Parameters
    ----------
    curves : dict of str to ndarray of shape (n_checkpoints, n_folds)
        Values by model.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    baselines : sequence of str, or dict of str to str, default=()
        Names of the models that are naive baselines; a dict also names their classes, each of
        which has a pattern of dashes of its own.
    measure : Measure, default=None
        Direction, baseline and bounds of the measure, such as ``result.measures[metric]``; None:
        those of the measure of this name, if there is one.
    mechanism : str, default=None
        The spelling of the forgetting mechanism, such as "window:1000", if `forgetting` is a custom
        name.
    failed : collection of str, default=()
        Names of the models that failed; the legend says so.
    checkpoints : ndarray of shape (n_checkpoints,)
        Rows seen at the checkpoints.
    drifts : sequence of (int or pair of int), default=()
        Rows of known drifts, marked by vertical lines; or pairs ``(start, end)`` of a gradual
        change, marked by bands.
    detections : dict of str to dict of str to Detections, default={}
        Alarms of drift monitors, by monitor and model (a list of Detections for several folds),
        marked above the curves: a lane for each monitor, in the colours of the models.
    folds : sequence of int, default=None
        Numbers of the folds, if only some are shown; None: all, from 0 on.
    times : ndarray of shape (n_checkpoints,), dtype datetime64 or float64, default=None
        Times of the checkpoints, shown along the axis instead of rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The line of every model.
    legend_ : matplotlib Legend or None
        The legend.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator, Persistent
    >>> from skstream.plotting import PrequentialDisplay
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = PrequentialEvaluator("accuracy")
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(500))
    >>> display = PrequentialDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("accuracy.png")  # doctest: +SKIP
    """

    #: What the columns of the curves are, and the correction of their standard deviation.

    checkpoints: np.ndarray
    drifts: Drifts = ()
    detections: Found = field(default_factory=dict)
    folds: Sequence[int] | None = None
    times: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_marks(self.drifts, self.detections)

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        drifts: Drifts | None = None,
        detections: Found | None = None,
        refits: bool = False,
        **options: Any,
    ) -> Self:
        """Plot a result.

        Parameters
        ----------
        result : EvaluationResult
            Result of an evaluation without bins.
        metric : str, default=None
            Measure; None: the first one of the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : str or sequence of str, default=None
            Models to show; None: all.
        drifts : sequence of (int or pair of int), default=None
            Rows at which the truth is known to change, or pairs ``(start, end)``; where the result
            has times, also dates; None: those of the stream, ``result.drifts``; (): none.
        detections : dict of str to dict of str to Detections, default=None
            What drift monitors found, such as ``detect(result, {"ddm": DDM()})``.
        refits : bool, default=False
            Whether to mark, in a lane of their own, the rows after which each `PeriodicRefit` was
            refitted; of prequential evaluations.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : PrequentialDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the result has no such measure, forgetting mechanism or model.
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If `legend` is none of the choices, no model is named, or there are no refits to mark.
        """
        contents = contents_of(result, metric, forgetting, models, drifts, detections)
        if refits:
            contents["detections"] = {**contents["detections"], **refits_of(result)}
        return cls(**contents).plot(**options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike | Mapping[str, ArrayLike],
        metric: Any = None,
        *,
        forgetting: Any = "cumulative",
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Score and plot predictions that were made elsewhere.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels or targets, in stream order.
        y_pred : array-like of shape (n_rows,) or dict of str to array-like
            Predictions of a model, or of several by name, each made before training on its row.
        metric : str or callable, default=None
            Measure; None: accuracy, for targets mae. One of regression says that labels and
            predictions are targets, one of classification that they are labels; where it says
            neither, floats are targets.
        forgetting : str or Forgetting, default="cumulative"
            Forgetting mechanism.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights; None: every row counts once.
        **options
            Further options of `from_result`.

        Returns
        -------
        display : PrequentialDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If lengths differ, a label or a prediction is missing, labels and predictions are not
            of one kind, or a weight is negative or not finite.
        """
        result = result_of_predictions(
            y_true, y_pred, metric, forgetting=forgetting, sample_weight=sample_weight
        )
        return cls.from_result(result, **options)

    def _draw(self, canvas: Canvas) -> None:
        ax, along = canvas.axes[0], places_along(self.checkpoints, self.times)
        defaults = model_styles(list(self.curves), self.baselines)
        means = {name: curve.mean(axis=1) for name, curve in self.curves.items()}
        others: dict[str, Any] = {}
        for name, curve in self.curves.items():
            line = canvas.draw_line(ax, name, along, means[name], defaults[name])
            if curve.shape[1] > 1:
                words = SPREADS[self._spread].format(self._repetition)
                others[words] = self._draw_spread(ax, along, curve, line.get_color())
        end = measure_along(canvas, along, self.times)
        guess = self._best_guess(means)
        bounded = bool(np.isfinite(self._facts.bounds).all())
        curves = [
            np.column_stack([means[name], *self._spread_of(curve)])
            for name, curve in self.curves.items()
            # Far worse baselines must not set the scale, where the models would look the same.
            # Within the bounds of a measure no value is so far away.
            if bounded or guess is None or name not in self.baselines
        ]

        def mark(ax: Any) -> dict[str, Any]:
            return draw_marks(canvas, self.drifts, self.detections, canvas.lines, end, self._place)

        about: dict[str, Any] = {"end": end, "others": others, "mark": mark}
        few = share_unsettled(self.checkpoints, self.times, self.mechanism or self.forgetting)
        self._finish(canvas, along, curves, guess, unsettled=few, **about)

    @property
    def _spread(self) -> str:
        """How folds are shown; displays of folds have a parameter of that name."""
        return getattr(self, "spread", "range")

    def _place(self, rows: Any) -> Any:
        """Places of rows along the axis; between checkpoints times are interpolated."""
        if self.times is None or not len(self.checkpoints):
            return rows
        along = places_along(self.checkpoints, self.times)
        return np.interp(rows, self.checkpoints, along, right=np.inf)

    @property
    def _repetition(self) -> str:
        """What the lines of one model are, in words."""
        return "seed" if getattr(self, "of_seeds", False) else "fold"

    def _title(self) -> str:
        n_folds = max(curve.shape[1] for curve in self.curves.values())
        if n_folds > 1:
            return f"{super()._title()}, mean of {n_folds} {self._repetition}s"
        return super()._title() + (f", {self._repetition} {self.folds[0]}" if self.folds else "")

    def _spread_of(self, curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper edge of the band over the folds."""
        if self._spread != "std":
            return np.fmin.reduce(curve, axis=1), np.fmax.reduce(curve, axis=1)
        mean, deviation = (
            curve.mean(axis=1),
            curve.std(axis=1, ddof=int(self._repetition == "seed")),
        )
        return mean - deviation, mean + deviation

    def _draw_spread(self, ax: Any, along: np.ndarray, curve: np.ndarray, color: Any) -> Any:
        """Show the folds of one model; return what stands for them in the legend."""
        if self._spread == "lines":
            ax.plot(along, curve, color=color, alpha=0.35, linewidth=0.6, zorder=2)
            return line_key(alpha=0.5, linewidth=0.6)
        band = {"alpha": 0.2, "linewidth": 0}
        ax.fill_between(along, *self._spread_of(curve), color=color, **band)
        return patch_key(color=ink(), **band)

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, curve in self.curves.items():
            folds = range(curve.shape[1]) if self.folds is None else self.folds
            for fold, values in zip(folds, curve.T, strict=True):
                yield {
                    "row": self.checkpoints,
                    **({} if self.times is None else {"time": self.times}),
                    "model": name,
                    self._repetition: fold,
                    "value": values,
                }

    def _summary(self) -> str:
        last = last_values([(name, curve.mean(axis=1)) for name, curve in self.curves.items()])
        return f"{self.metric}, {self.forgetting}; {last}"


@dataclass(kw_only=True, repr=False, eq=False)
class FoldDisplay(PrequentialDisplay):
    """Show a measure over the stream, as a band over the folds of every model.

    Everything but `spread` is as in `PrequentialDisplay`, which shows the range.

    Parameters
    ----------
    spread : {"range", "std", "lines"}, default="range"
        Show the folds as the band from the lowest to the highest, as mean plus and minus one
        standard deviation, or each as a thin line.
    of_seeds : bool, default=False
        Whether they are the seeds of a study, which are independent.

    Attributes
    ----------
    ax_, figure_, lines_, legend_
        As in `PrequentialDisplay`, where also the columns of `to_frame` are listed: row, model,
        fold and value.

    Examples
    --------
    >>> from skstream import KFoldEvaluator, Persistent
    >>> from skstream.plotting import FoldDisplay
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = KFoldEvaluator("accuracy", n_folds=3, random_state=0)
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(500))
    >>> display = FoldDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("folds.png")  # doctest: +SKIP
    """

    spread: Spread = "range"
    of_seeds: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.spread, "spread", list(SPREADS))

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        drifts: Drifts | None = None,
        detections: Found | None = None,
        spread: Spread | None = None,
        **options: Any,
    ) -> Self:
        """Plot a result.

        Parameters
        ----------
        result : EvaluationResult or SeedStudy
            Result of an evaluation without bins, or a study, whose seeds are shown as folds.
        metric : str, default=None
            Measure; None: the first one of the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : str or sequence of str, default=None
            Models to show; None: all.
        drifts : sequence of (int or pair of int), default=None
            Rows at which the truth is known to change, or pairs ``(start, end)``; where the result
            has times, also dates; None: those of the stream, ``result.drifts``; (): none.
        detections : dict of str to dict of str to list of Detections, default=None
            What drift monitors found, of all folds together.
        spread : {"range", "std", "lines"}, default=None
            How to show the folds. None: "range"; of seeds "std".
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : FoldDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the result has no such measure, forgetting mechanism or model.
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If `spread` or `legend` is none of the choices, or no model is named.
        """
        of_seeds = isinstance(result, SeedStudy)
        shown = result.combined if of_seeds else result
        contents = contents_of(shown, metric, forgetting, models, drifts, detections)
        if of_seeds:
            contents |= {"folds": result.seeds, "of_seeds": True}
        return cls(**contents, spread=spread or ("std" if of_seeds else "range")).plot(**options)


def contents_of(
    result: Any,
    metric: str | None,
    forgetting: str | None,
    models: str | Sequence[str] | None,
    drifts: Drifts | None,
    detections: Found | None = None,
) -> dict[str, Any]:
    """Return the constructor arguments that hold a result without bins."""
    check_kind(result, EvaluationResult, "the result of an evaluation")
    if result.bins is not None:
        raise TypeError(
            f"A {type(result).__name__} has bins between arrival and label: plot it with "
            "BinnedPerformanceDisplay, or call its plot()."
        )
    shown, about = contents_in(result, metric, forgetting, models, drifts, detections)
    names = {"metric": about["metric"], "forgetting": about["forgetting"]}
    return {
        **about,
        "curves": {name: result.curve(name, **names) for name in shown},
        "checkpoints": result.checkpoints,
        "folds": result.details.selected_folds,
        "times": result.times,
    }
