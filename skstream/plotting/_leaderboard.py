"""Which models could still be the best, along the streams of a leaderboard."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.plotting._axes import give_title
from skstream.plotting._base import BaseDisplay, Canvas, Layout, check_kind
from skstream.plotting._lines import BASELINE_COLOR, COLORS, line_key
from skstream.plotting._words import wrap_name
from skstream.stats._report import plural
from skstream.studies import Leaderboard

WIDTH_INCHES, ROW_INCHES, EDGE_INCHES = 8.0, 0.3, 1.3
#: Of more models the rows become lower, down to the height of small texts.
MANY, LOW_ROW_INCHES = 30, 0.17


@dataclass(kw_only=True, repr=False, eq=False)
class LeaderboardDisplay(BaseDisplay):
    """Which models could still be the best, after every share of the streams.

    A row for each model, the smallest mean loss at the top: a thick line where it could be the best
    at that moment, nothing but a thin grey line where it was certainly not; blue where it may be
    the best of all rows. A line that begins again belongs to a model that came back. The mean
    losses of all rows stand beside the names.

    `to_frame` has the columns model, share, possible and log_evidence.

    Parameters
    ----------
    result : Leaderboard
        The leaderboard.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The thick lines by model.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.studies.StreamStudy.leaderboard : Makes what is shown, and says what it promises.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator, evaluate_over_streams
    >>> from skstream.baselines import MajorityClass, Persistent
    >>> from skstream.plotting import LeaderboardDisplay
    >>> from skstream.streams import SEA
    >>> evaluator = PrequentialEvaluator("accuracy", keep_tape=True)
    >>> models = {"majority": MajorityClass(), "persistent": Persistent()}
    >>> study = evaluate_over_streams({"SEA": SEA(1000)}, models, evaluator=evaluator)
    >>> display = LeaderboardDisplay.from_result(study.leaderboard())  # doctest: +SKIP
    """

    result: Leaderboard

    @classmethod
    def from_result(cls, result: Leaderboard, **options: Any) -> Self:
        """Plot a leaderboard.

        Parameters
        ----------
        result : Leaderboard
            As ``leaderboard()`` of a study over streams returns it.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : LeaderboardDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the result is of another kind, or a line has no such property.
        """
        check_kind(result, Leaderboard, "a Leaderboard, as leaderboard() of a StreamStudy returns")
        return cls(result=result).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        n = len(self.result.names)
        rows = ROW_INCHES * min(n, MANY) + LOW_ROW_INCHES * max(0, n - MANY)
        return Layout(list(self.result.names), size=(WIDTH_INCHES, EDGE_INCHES + rows))

    def _draw(self, canvas: Canvas) -> None:
        board, ax = self.result, canvas.axes[0]
        means, out = board.mean_losses, board.ruled_out
        order = np.argsort(means, kind="stable")
        along = np.repeat(100 * np.concatenate([[0.0], board.shares]), 2)[1:-1]
        thin = {"color": BASELINE_COLOR, "linewidth": 0.6, "zorder": 1}
        ax.hlines(np.arange(len(order)), 0, 100, **thin)
        last = set(board.possible)
        for place, k in enumerate(order):
            name = board.names[k]
            # Before the first look all are possible, and the state at a look holds up to the next.
            states = np.concatenate([[False], out[:-1, k]])
            heights = np.where(np.repeat(states, 2), np.nan, float(place))
            style = {
                "color": COLORS[0] if name in last else BASELINE_COLOR,
                "linewidth": 4.5,
                "solid_capstyle": "butt",
                "zorder": 3,
            }
            canvas.draw_line(ax, name, along, heights, style)
        labels = [f"{chr(10).join(wrap_name(board.names[k]))}  {means[k]:.4f}" for k in order]
        small = {"fontsize": "x-small"} if len(order) > MANY else {}
        ax.set_yticks(np.arange(len(order)), labels, parse_math=False, **small)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_ylim(len(order) - 0.4, -0.6)
        canvas.widen_limits(ax, "x", 0.0, 100.0)
        ax.set_xlabel("share of every stream that was read, %")
        give_title(
            ax,
            f"Models that may be the best so far, by {board.metric} (beside the names: mean "
            f"losses); {plural(len(board.streams), 'stream')}, α = {board.alpha:g}",
        )
        keys = {"may be the best of all rows": COLORS[0], "was possible before": BASELINE_COLOR}
        wide = {"linewidth": 4.5, "solid_capstyle": "butt"}
        canvas.give_legend(
            ax, lines={words: line_key(color=color, **wide) for words, color in keys.items()}
        )

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        board = self.result
        for k, name in enumerate(board.names):
            yield {
                "model": name,
                "share": board.shares,
                "possible": ~board.ruled_out[:, k],
                "log_evidence": board.log_evidence[:, k],
            }

    def _summary(self) -> str:
        board = self.result
        return (
            f"{board.metric}: {len(board.possible)} of {plural(len(board.names), 'model')} may be "
            "the best"
        )
