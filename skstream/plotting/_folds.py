"""Measures over the stream, with the spread of the folds."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from skstream.plotting._prequential import PrequentialDisplay, fold_mean

Spread = Literal["range", "std", "lines"]


class FoldDisplay(PrequentialDisplay):
    """One measure over the stream, as a band over the folds of every model.

    Parameters
    ----------
    n_rows : ndarray of shape (n_checkpoints,)
        Rows seen at the checkpoints.
    curves : dict of str to ndarray of shape (n_checkpoints, n_folds)
        Values by model.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    baselines : sequence of str, default=()
        Names of the models that are naive baselines.
    drifts : sequence of int, default=()
        Rows at which the stream is known to change.
    spread : {"range", "std", "lines"}, default="range"
        Show the folds as the band from the lowest to the highest, as mean plus and minus one
        standard deviation, or each as a thin line.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

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

    def __init__(
        self,
        *,
        n_rows: np.ndarray,
        curves: Mapping[str, np.ndarray],
        metric: str,
        forgetting: str,
        baselines: Sequence[str] = (),
        drifts: Sequence[int] = (),
        spread: Spread = "range",
    ):
        super().__init__(
            n_rows=n_rows,
            curves=curves,
            metric=metric,
            forgetting=forgetting,
            baselines=baselines,
            drifts=drifts,
        )
        if spread not in ("range", "std", "lines"):
            raise ValueError(f"spread must be 'range', 'std' or 'lines'. Got {spread!r} instead.")
        self.spread = spread

    def _draw_spread(self, ax: Any, curve: np.ndarray, color: str) -> None:
        if self.spread == "range":
            super()._draw_spread(ax, curve, color)
        elif self.spread == "lines":
            ax.plot(self.n_rows, curve, color=color, alpha=0.35, linewidth=0.6, zorder=2)
        else:
            mean = fold_mean(curve)
            deviation = np.sqrt(fold_mean((curve - mean[:, None]) ** 2))
            low, high = mean - deviation, mean + deviation
            ax.fill_between(self.n_rows, low, high, color=color, alpha=0.2, linewidth=0)
