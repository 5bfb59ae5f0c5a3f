"""Measures over the stream."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from skstream.utils._optional import optional_import

#: Colours that stay apart for colour-blind readers (Okabe and Ito).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BASELINE_COLOR = "0.45"
BAND_COLOR = "0.92"
LINE_STYLES = ("--", ":", "-.", (0, (1, 3)))
#: Measures whose zero is the baseline they compare with.
KAPPAS = ("kappa", "kappa_m", "kappa_temporal", "kappa_plus")


class PrequentialDisplay:
    """One measure of several models over the stream.

    Models are coloured lines, baselines grey and broken, with the region below the best
    baseline shaded: a model inside it does not beat a naive guess. Folds show as the band from
    the lowest to the highest fold around their mean.

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
        Rows at which the stream is known to change; marked by vertical lines.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

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

    def __init__(
        self,
        *,
        n_rows: np.ndarray,
        curves: Mapping[str, np.ndarray],
        metric: str,
        forgetting: str,
        baselines: Sequence[str] = (),
        drifts: Sequence[int] = (),
    ):
        self.n_rows = n_rows
        self.curves = curves
        self.metric = metric
        self.forgetting = forgetting
        self.baselines = baselines
        self.drifts = drifts

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: Sequence[str] | None = None,
        drifts: Sequence[int] = (),
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Plot a result.

        Parameters
        ----------
        result : EvaluationResult
            Result of an evaluation.
        metric : str, default=None
            Measure; None: the last one of the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : sequence of str, default=None
            Models to show; None: all.
        drifts : sequence of int, default=()
            Rows at which the stream is known to change.
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.
        **options
            Further parameters of the display.

        Returns
        -------
        display : PrequentialDisplay
            The display, drawn.
        """
        metric = result.metric_names[-1] if metric is None else metric
        forgetting = result.forgetting_names[0] if forgetting is None else forgetting
        shown = result.model_names if models is None else list(models)
        display = cls(
            n_rows=result.n_rows,
            curves={name: result.curve(name, metric, forgetting) for name in shown},
            metric=metric,
            forgetting=forgetting,
            baselines=[name for name in result.baselines if name in shown],
            drifts=drifts,
            **options,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        self : PrequentialDisplay
            With `ax_` and `figure_`.
        """
        pyplot = optional_import("matplotlib.pyplot", "Plotting")
        if ax is None:
            _, ax = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
        colors = (COLORS[k % len(COLORS)] for k in range(len(self.curves)))
        styles = (LINE_STYLES[k % len(LINE_STYLES)] for k in range(len(self.curves)))
        for name, curve in self.curves.items():
            naive = name in self.baselines
            color = BASELINE_COLOR if naive else next(colors)
            style = next(styles) if naive else "-"
            ax.plot(
                self.n_rows,
                fold_mean(curve),
                label=name,
                color=color,
                linestyle=style,
                linewidth=1.4,
                zorder=2 if naive else 3,
            )
            if curve.shape[1] > 1:
                self._draw_spread(ax, curve, color)
        self._frame_axes(ax)
        self._shade_baselines(ax)
        for row in self.drifts:
            ax.axvline(row, color="0.3", linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _draw_spread(self, ax: Any, curve: np.ndarray, color: str) -> None:
        """Show the folds of one model: a band from the lowest to the highest."""
        low, high = np.fmin.reduce(curve, axis=1), np.fmax.reduce(curve, axis=1)
        ax.fill_between(self.n_rows, low, high, color=color, alpha=0.2, linewidth=0)

    def _frame_axes(self, ax: Any) -> None:
        shown = {name: fold_mean(curve) for name, curve in self.curves.items()}
        naive = [shown.pop(name) for name in self.baselines]
        # A hopeless baseline must not squeeze the models into a thin line at the top.
        best = [np.fmax.reduce(naive)] if naive else []
        set_value_limits(ax, [*shown.values(), *best])
        if len(self.n_rows):
            ax.set_xlim(0, int(self.n_rows[-1]))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_xlabel("rows")
        ax.set_ylabel(f"{self.metric} ({self.forgetting})")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)

    def _shade_baselines(self, ax: Any) -> None:
        """Shade what a naive guess reaches."""
        bottom = ax.get_ylim()[0]
        curves = [fold_mean(self.curves[name]) for name in self.baselines]
        if curves:
            best = np.fmax.reduce(curves)
        elif self.metric in KAPPAS:
            best = np.zeros(len(self.n_rows))
        else:
            return
        ax.fill_between(
            self.n_rows, bottom, best, color=BAND_COLOR, zorder=0, linewidth=0, label="naive guess"
        )

    def frame(self) -> Any:
        """Return the data of the plot.

        Returns
        -------
        frame : pandas.DataFrame
            Columns n_rows, model, fold, value.
        """
        pandas = optional_import("pandas", "frame()")
        parts = []
        for name, curve in self.curves.items():
            n_checkpoints, n_folds = curve.shape
            parts.append(
                pandas.DataFrame(
                    {
                        "n_rows": np.tile(self.n_rows, n_folds),
                        "model": name,
                        "fold": np.repeat(np.arange(n_folds), n_checkpoints),
                        "value": curve.T.ravel(),
                    }
                )
            )
        return pandas.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        last = ", ".join(
            f"{name}: {fold_mean(curve)[-1]:.4f}" for name, curve in self.curves.items()
        )
        return (
            f"{type(self).__name__}({self.metric}, {self.forgetting}; {last}; see plot(), frame())"
        )


def set_value_limits(ax: Any, curves: Sequence[np.ndarray]) -> None:
    """Fit the axis to curves; their first rows swing wildly and must not set the scale."""
    settled = np.concatenate([curve[len(curve) // 50 :] for curve in curves])
    settled = settled[np.isfinite(settled)]
    if len(settled):
        low, high = float(settled.min()), float(settled.max())
        margin = 0.08 * (high - low) or 0.05
        ax.set_ylim(low - margin, high + margin)


def fold_mean(curve: np.ndarray) -> np.ndarray:
    """Mean over the folds that have a value; NaN where none has."""
    known = ~np.isnan(curve)
    count = known.sum(axis=1)
    total = np.where(known, curve, 0.0).sum(axis=1)
    mean: np.ndarray = np.divide(total, count, out=np.full(len(curve), np.nan), where=count > 0)
    return mean
