"""What displays of one measure of several models share."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.evaluation._select import chosen
from skstream.metrics import Measure
from skstream.metrics._registry import known_measure
from skstream.plotting._axes import plain_look, size_for, widen_limits
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._limits import UNSETTLED, value_limits
from skstream.plotting._lines import uncover_edges
from skstream.plotting._words import axis_words, title_words


@dataclass(kw_only=True, repr=False, eq=False)
class MeasureDisplay(BaseDisplay):
    """Curves of models, and which measure they are of; subclasses describe the parameters."""

    curves: Mapping[str, np.ndarray]
    metric: str
    forgetting: str
    baselines: Sequence[str] = ()
    measure: Measure | None = None
    mechanism: str | None = None
    failed: Collection[str] = ()

    @property
    def _facts(self) -> Measure:
        return known_measure(self.metric) if self.measure is None else self.measure

    def _title(self) -> str:
        return title_words(
            self.metric,
            self.forgetting,
            measure=self._facts.name,
            mechanism=self.mechanism,
        )

    def _layout(self, ax: Any) -> Layout:
        return Layout(self.curves, size=size_for(self.curves))

    def _finish_values(
        self,
        canvas: Canvas,
        curves: Sequence[np.ndarray],
        naive: np.ndarray | None = None,
        *,
        keep: bool,
        unsettled: float = UNSETTLED,
    ) -> None:
        """Set the limits of the axis of values, which hold the curves, and name the axis."""
        ax = canvas.axes[0]
        limits = value_limits(curves, self._facts, naive, unsettled=unsettled)
        if limits is not None:
            widen_limits(ax, "y", *limits, keep=keep)
        uncover_edges(ax, canvas.lines.values())
        ax.set_ylabel(axis_words(self.metric), parse_math=False)
        plain_look(ax)


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
        "mechanism": result.scored_sets or result.mechanisms.get(forgetting),
    }
    return metric, forgetting, arguments


def models_in(result: Any, models: str | Sequence[str] | None) -> tuple[list[str], dict[str, Any]]:
    """Return the models to show, and the constructor arguments that describe them."""
    shown = chosen(models, result.model_names, "model")
    arguments = {
        "baselines": [name for name in result.baselines if name in shown],
        "failed": [name for name in result.failures if name in shown],
    }
    return shown, arguments
