"""Measures over the stream, with the spread of the folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from skstream.plotting._detections import Found
from skstream.plotting._drifts import Drifts
from skstream.plotting._lines import line_key
from skstream.plotting._prequential import PrequentialDisplay, contents_of

Spread = Literal["range", "std", "lines"]
#: What the legend calls each of them, of folds or seeds.
SPREADS = {
    "range": "lowest to highest {}",
    "std": "± 1 standard deviation ({}s)",
    "lines": "single {}s",
}


@dataclass(kw_only=True, repr=False, eq=False)
class FoldDisplay(PrequentialDisplay):
    """One measure over the stream, as a band over the folds of every model.

    Everything but `spread` is as in `PrequentialDisplay`, which shows the range.

    Parameters
    ----------
    spread : {"range", "std", "lines"}, default="range"
        Show the folds as the band from the lowest to the highest, as mean plus and minus one
        standard deviation, or each as a thin line.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spread not in SPREADS:
            raise ValueError(
                f"spread must be 'range', 'std' or 'lines'. Got {self.spread!r} instead."
            )

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
        spread: Spread = "range",
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
            Rows at which the truth is known to change, or pairs ``(start, end)``; None: those of
            the stream, ``result.drifts``; (): none.
        detections : dict of str to dict of str to list of Detections, default=None
            What drift monitors found, of all folds together; None: ``result.detections``; {}:
            none.
        spread : {"range", "std", "lines"}, default="range"
            How to show the folds.
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
        contents = contents_of(result, metric, forgetting, models, drifts, detections)
        return cls(**contents, spread=spread).plot(**options)

    def _spread_of(self, curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.spread != "std":
            return super()._spread_of(curve)
        mean = curve.mean(axis=1)
        deviation = np.sqrt(((curve - mean[:, None]) ** 2).mean(axis=1))
        return mean - deviation, mean + deviation

    def _draw_spread(self, ax: Any, curve: np.ndarray, line: Any) -> dict[str, Any]:
        if self.spread != "lines":
            return super()._draw_spread(ax, curve, line)
        style = {"color": line.get_color(), "alpha": 0.35, "linewidth": 0.6, "zorder": 2}
        ax.plot(self._along(), curve, **style)
        return {self._spread_words(): line_key(alpha=0.5, linewidth=0.6)}

    def _spread_words(self) -> str:
        return SPREADS[self.spread].format(self._repetition)
