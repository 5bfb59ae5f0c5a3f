"""Performance by the time a label is still away."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from skstream.plotting._prequential import BASELINE_COLOR, COLORS, LINE_STYLES, set_value_limits
from skstream.utils._optional import optional_import


class BinnedPerformanceDisplay:
    """A measure by bin between arrival and label, for several models.

    From the first answers at the left (bin 0), over those shown while the label was awaited, to
    the last ones at the right (bin ``n_bins + 1``), given when the label came. How much a curve
    rises tells what asking again is worth; the last point alone, which is all that a
    test-then-train evaluation shows, is the most flattering one.

    Parameters
    ----------
    curves : dict of str to ndarray of shape (n_bins + 2,)
        Values by bin, by model.
    metric : str
        Name of the measure.
    forgetting : str
        Name of the forgetting mechanism.
    n_rows : int
        Labelled rows they were measured on.
    baselines : sequence of str, default=()
        Names of the models that are naive baselines.
    over_time : dict of str to tuple of ndarrays, default=None
        Per bin shown over time: rows and values. For `plot_over_time`.
    poll_costs : dict of str to ndarray, default=None
        ``n_labels``, ``NC``, ``NB``, ``NR``. For `plot_costs`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent
    >>> from skstream.plotting import BinnedPerformanceDisplay
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = DelayedEvaluator("accuracy", delay=20, n_bins=5)
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(500))
    >>> display = BinnedPerformanceDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("bins.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        curves: Mapping[str, np.ndarray],
        metric: str,
        forgetting: str,
        n_rows: int,
        baselines: Sequence[str] = (),
        over_time: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
        poll_costs: Mapping[str, np.ndarray] | None = None,
    ):
        self.curves = curves
        self.metric = metric
        self.forgetting = forgetting
        self.n_rows = n_rows
        self.baselines = baselines
        self.over_time = over_time
        self.poll_costs = poll_costs

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: Sequence[str] | None = None,
        at: int | None = None,
        kind: str = "bins",
        bins: Sequence[int] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot a result.

        Parameters
        ----------
        result : DelayedResult
            Result of a `DelayedEvaluator`.
        metric : str, default=None
            Measure; None: the last one of the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : sequence of str, default=None
            Models to show; None: all.
        at : int, default=None
            Labelled rows to look at; None: all.
        kind : {"bins", "time", "costs"}, default="bins"
            The measure by bin; several bins over time; or the costs of asking again.
        bins : sequence of int, default=None
            Bins shown over time; None: the first, a middle and the last one.
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        display : BinnedPerformanceDisplay
            The display, drawn.
        """
        metric = result.metric_names[-1] if metric is None else metric
        forgetting = result.forgetting_names[0] if forgetting is None else forgetting
        shown = result.model_names if models is None else list(models)
        n_bins = result.n_bins
        if bins is None:
            bins = sorted({0, (n_bins + 1) // 2, n_bins + 1})
        over_time = {
            f"{name}, bin {b}": (result.n_rows, result.curve(name, metric, forgetting)[:, 0, b])
            for name in shown
            for b in bins
        }
        display = cls(
            curves={name: result.bins(name, metric, forgetting, at=at) for name in shown},
            metric=metric,
            forgetting=forgetting,
            n_rows=int(result.n_rows[-1]) if at is None else at,
            baselines=[name for name in result.baselines if name in shown],
            over_time=over_time,
            poll_costs=result.waits.poll_costs,
        )
        plots = {
            "bins": display.plot,
            "time": display.plot_over_time,
            "costs": display.plot_costs,
        }
        if kind not in plots:
            raise ValueError(f"kind must be one of {list(plots)}. Got {kind!r} instead.")
        return plots[kind](ax=ax)

    @classmethod
    def from_bin_counts(
        cls,
        results: Sequence[Any],
        model: str,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot one model under several numbers of bins: what the number of bins shows or hides.

        Parameters
        ----------
        results : sequence of DelayedResult
            Results of the same models and delays, with different `n_bins`.
        model : str
            Model to show.
        metric : str, default=None
            Measure; None: the last one of the first result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one.
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        display : BinnedPerformanceDisplay
            The display, drawn over the share of the wait that has passed. The first and the
            last answers, which do not depend on the number of bins, are left out.
        """
        first = results[0]
        metric = first.metric_names[-1] if metric is None else metric
        forgetting = first.forgetting_names[0] if forgetting is None else forgetting
        display = cls(
            curves={
                f"{model}, {one.n_bins} bins": one.bins(model, metric, forgetting)
                for one in results
            },
            metric=metric,
            forgetting=forgetting,
            n_rows=int(first.n_rows[-1]),
        )
        return display.plot_shares(ax=ax)

    def plot_shares(self, ax: Any = None) -> Self:
        """Draw the measure over the share of the wait that has passed at the end of each bin.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        self : BinnedPerformanceDisplay
            With `ax_` and `figure_`.
        """
        ax = _axes(ax)
        for k, (name, values) in enumerate(self.curves.items()):
            shares = np.arange(1, len(values) - 1) / (len(values) - 2)
            ax.plot(shares, values[1:-1], ".-", label=name, color=COLORS[k % len(COLORS)])
        ax.xaxis.set_major_formatter(lambda share, position: f"{share:.0%}")
        ax.set_xlabel("share of the wait for the label")
        return self._finish(ax, f"{self.metric} ({self.forgetting})")

    def plot(self, ax: Any = None) -> Self:
        """Draw the measure by bin.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        self : BinnedPerformanceDisplay
            With `ax_` and `figure_`.
        """
        ax = _axes(ax)
        colors = (COLORS[k % len(COLORS)] for k in range(len(self.curves)))
        styles = (LINE_STYLES[k % len(LINE_STYLES)] for k in range(len(self.curves)))
        for name, values in self.curves.items():
            naive = name in self.baselines
            color = BASELINE_COLOR if naive else next(colors)
            bins = np.arange(len(values))
            ax.plot(bins, values, label=name, color=color, linestyle=next(styles) if naive else "-")
            ax.plot(bins[[0, -1]], values[[0, -1]], "o", color=color, markersize=4)
        last = len(next(iter(self.curves.values()))) - 1
        ax.set_xticks(*_bin_ticks(last))
        ax.set_xlabel("bin between arrival and label")
        return self._finish(ax, f"{self.metric} ({self.forgetting})")

    def plot_over_time(self, ax: Any = None) -> Self:
        """Draw several bins over the stream.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        self : BinnedPerformanceDisplay
            With `ax_` and `figure_`.
        """
        ax = _axes(ax)
        names = list(self.curves)
        shades = {name: 0 for name in names}
        for label, (n_rows, values) in (self.over_time or {}).items():
            name = label.rpartition(", bin ")[0]
            style = ("-", "--", ":", "-.")[shades[name] % 4]
            shades[name] += 1
            color = COLORS[names.index(name) % len(COLORS)]
            ax.plot(n_rows, values, label=label, color=color, linestyle=style, linewidth=1.2)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_xlabel("labelled rows")
        set_value_limits(ax, [values for _, values in (self.over_time or {}).values()])
        return self._finish(ax, f"{self.metric} ({self.forgetting})")

    def plot_costs(self, ax: Any = None) -> Self:
        """Draw the periodic answers: lately, in memory, and per labelled row.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.

        Returns
        -------
        self : BinnedPerformanceDisplay
            With `ax_` and `figure_`.
        """
        ax = _axes(ax)
        costs = self.poll_costs or {}
        meaning = {
            "NC": "within the last 100 events",
            "NB": "in memory",
            "NR": "per labelled row",
        }
        for k, (name, words) in enumerate(meaning.items()):
            label = f"{name}: {words}"
            ax.plot(costs["n_labels"], costs[name], label=label, color=COLORS[k], linewidth=0.8)
        positive = np.concatenate([costs[name][costs[name] > 0] for name in meaning])
        if len(positive):
            ax.set_yscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_xlabel("labelled rows")
        return self._finish(ax, "periodic answers")

    def _finish(self, ax: Any, ylabel: str) -> Self:
        ax.set_ylabel(ylabel)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def frame(self) -> Any:
        """Return the values by bin.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, bin, value.
        """
        pandas = optional_import("pandas", "frame()")
        return pandas.DataFrame(
            {
                "model": np.repeat(list(self.curves), [len(v) for v in self.curves.values()]),
                "bin": np.concatenate([np.arange(len(v)) for v in self.curves.values()]),
                "value": np.concatenate(list(self.curves.values())),
            }
        )

    def __repr__(self) -> str:
        ends = ", ".join(
            f"{name}: {values[0]:.4f} to {values[-1]:.4f}" for name, values in self.curves.items()
        )
        return (
            f"{type(self).__name__}({self.metric} from first to last answer after "
            f"{self.n_rows:,} rows; {ends}; see plot(), plot_over_time(), plot_costs(), frame())"
        )


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    pyplot = optional_import("matplotlib.pyplot", "Plotting")
    return pyplot.subplots(figsize=(8, 4.5), layout="constrained")[1]


def _bin_ticks(last: int) -> tuple[list[int], list[str]]:
    """Ticks at the first answer, some bins, and the last answer, with their names."""
    step = max(1, round(last / 6))
    inner = [b for b in range(step, last, step) if b <= last - step / 2]
    labels = ["arrival", *(str(b) for b in inner), "label"]
    return [0, *inner, last], labels
