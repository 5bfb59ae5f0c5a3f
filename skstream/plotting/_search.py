"""What a search has found: scores over the grid, and how many candidates were left."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np

from skstream.metrics._registry import known_measure
from skstream.plotting._axes import give_title
from skstream.plotting._base import FIGURE_INCHES, BaseDisplay, Canvas, Layout
from skstream.plotting._lines import COLORS, LINE_WIDTH, ink
from skstream.plotting._words import axis_words, wrap_name
from skstream.utils._choices import check_choice, written
from skstream.utils._optional import optional_import

Kind = Literal["auto", "heatmap", "parallel", "curve", "survivors"]
#: Kinds that show so many parameters.
_N_SHOWN = {"heatmap": 2, "curve": 1}
_MOST_CELLS_WITH_TEXT = 100
_COLOR_MAP = "viridis"


@dataclass(kw_only=True, repr=False, eq=False)
class SearchDisplay(BaseDisplay):
    """Scores of the candidates of a search over their parameters, or how many were left.

    Parameters
    ----------
    params : sequence of dict
        Parameters of every candidate.
    scores : ndarray of shape (n_candidates,)
        Their scores on the tuning rows.
    metric : str
        What the scores are.
    best : int
        Number of the chosen candidate.
    dropped_at : ndarray of shape (n_candidates,), default=None
        Row at which a race dropped the candidate; -1: not dropped. None: there was no race.
    n_rows : int, default=0
        Number of tuning rows; 0 where that is not known.
    higher_is_better : bool, default=True
        Whether the highest score is the best.
    parameters : sequence of str, default=None
        Parameters to show; None: those with several values.
    kind : {"auto", "heatmap", "parallel", "curve", "survivors"}, default="auto"
        "heatmap": colours over two parameters, of the best candidate where others differ too;
        scores of dropped candidates are in parentheses, because they are about fewer rows.
        "parallel": a line for each candidate through its parameters to its score; dropped ones are
        dotted. "curve": the score over one parameter. "survivors": candidates left along the
        rows. "auto": the first three by the number of parameters.

    Attributes
    ----------
    ax_, axes_, figure_ : matplotlib Axes, ndarray of Axes, Figure
        Where it was drawn.
    lines_ : dict of str to Line2D
        "best", the mark of the chosen candidate; of "parallel", a line per candidate instead; of
        "survivors" the line "candidates left".

    See Also
    --------
    skstream.PrequentialSearch : Searches along a stream.

    Notes
    -----
    The columns of `to_frame` are candidate (its number), parameter, value, score and dropped_at
    (-1: not dropped), a row per candidate and parameter.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialSearch
    >>> from skstream.plotting import SearchDisplay
    >>> from skstream.streams import make_demo_stream
    >>> grid = {"alpha": [1e-4, 1e-2], "penalty": ["l1", "l2"]}
    >>> search = PrequentialSearch(SGDClassifier(random_state=0), grid, metric="accuracy")
    >>> search = search.fit(make_demo_stream(300))
    >>> display = SearchDisplay.from_search(search)  # doctest: +SKIP
    >>> display.figure_.savefig("search.png")  # doctest: +SKIP
    """

    params: Sequence[Mapping[str, Any]]
    scores: np.ndarray
    metric: str
    best: int
    dropped_at: np.ndarray | None = None
    n_rows: int = 0
    higher_is_better: bool = True
    parameters: Sequence[str] | None = None
    kind: Kind = "auto"
    _values: dict[str, list[Any]] = field(init=False, default_factory=dict)
    _places: dict[str, list[Any]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_choice(self.kind, "kind", get_args(Kind))
        known = {name: _levels(self.params, name) for one in self.params for name in one}
        shown = self.parameters
        if shown is None:
            shown = [name for name, (values, _) in known.items() if len(values) > 1] or list(known)
        for name in shown:
            if name not in known:
                raise KeyError(f"No candidate has a parameter {name!r}; there are {list(known)}.")
            self._values[name], self._places[name] = known[name]
        needed = _N_SHOWN.get(self.kind, len(self._values))
        if len(self._values) != needed:
            raise ValueError(
                f"kind={self.kind!r} shows {needed} of the parameters. Name them: parameters=; "
                f"there are {list(self._values)}."
            )
        if self.kind == "survivors" and self.dropped_at is None:
            raise ValueError('kind="survivors" is for a search with a race: none was dropped.')

    @classmethod
    def from_search(
        cls,
        search: Any,
        metric: str | None = None,
        *,
        parameters: Sequence[str] | None = None,
        kind: Kind = "auto",
        **options: Any,
    ) -> Self:
        """Plot a fitted search.

        Parameters
        ----------
        search : PrequentialSearch, GridSearchCV or a similar search
            The search, fitted.
        metric : str, default=None
            One of several measures by which scikit-learn's searches have scored; None: the one by
            which the best was chosen.
        parameters : sequence of str, default=None
            Parameters to show; None: those with several values.
        kind : {"auto", "heatmap", "parallel", "curve", "survivors"}, default="auto"
            What to show.
        **options
            Options of `plot`: `ax`, `styles` by line, and properties of all lines.

        Returns
        -------
        display : SearchDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If there is no such parameter or measure.
        TypeError
            If this is no search, or it is not fitted.
        ValueError
            If the kind does not go with the parameters, or no candidate has a score.
        """
        if not hasattr(search, "cv_results_"):
            raise TypeError(
                f"A SearchDisplay shows a fitted search. Got {type(search).__name__}, which has no "
                "cv_results_: fit it before."
            )
        display = cls(**_contents(search, metric), parameters=parameters, kind=kind)
        return display.plot(**options)

    @classmethod
    def from_result(cls, result: Any, metric: str | None = None, **options: Any) -> Self:
        """Plot a fitted search, which is what a search results in; see `from_search`.

        Parameters
        ----------
        result : PrequentialSearch, GridSearchCV or a similar search
            The search, fitted.
        metric : str, default=None
            As in `from_search`.
        **options
            As in `from_search`.

        Returns
        -------
        display : SearchDisplay
            The display, drawn.
        """
        return cls.from_search(result, metric, **options)

    @property
    def _shown(self) -> str:
        by_number = {number: kind for kind, number in _N_SHOWN.items()}
        return by_number.get(len(self._values), "parallel") if self.kind == "auto" else self.kind

    @cached_property
    def _short_names(self) -> dict[str, str]:
        """Names of parameters without the steps before them, as far as they stay different."""
        names = dict.fromkeys(name for one in self.params for name in one)
        short = {}
        for name in names:
            parts = name.split("__")
            ends = ["__".join(parts[k:]) for k in range(len(parts) - 1, 0, -1)]
            alone = [e for e in ends if sum(f"__{n}".endswith(f"__{e}") for n in names) == 1]
            short[name] = alone[0] if alone else name
        return short

    @property
    def _is_dropped(self) -> np.ndarray:
        dropped_at = -1 if self.dropped_at is None else self.dropped_at
        return np.broadcast_to(np.asarray(dropped_at) >= 0, len(self.scores))

    def _layout(self, ax: Any) -> Layout:
        if not np.isfinite(self.scores).any():
            raise ValueError("No candidate has a score: there is nothing to draw.")
        if self._shown == "parallel":
            return Layout([self._name(k) for k in range(len(self.scores))])
        width, height = FIGURE_INCHES
        if self._shown == "heatmap":
            height = max(height, 1.6 + 0.3 * max(map(len, self._values.values())))
        line = "candidates left" if self._shown == "survivors" else "best"
        return Layout([line], size=(width, height))

    def _draw(self, canvas: Canvas) -> None:
        getattr(self, f"_draw_{self._shown}")(
            canvas, canvas.axes[0]
        )  # those of the kinds are below
        if self._shown != "survivors":
            give_title(canvas.axes[0], self._title())

    def _draw_heatmap(self, canvas: Canvas, ax: Any) -> None:
        (down, y_values), (across, x_values) = self._values.items()
        places = list(zip(self._places[down], self._places[across], strict=True))
        cells = {places[k]: k for k in self._from_worst_to_best() if None not in places[k]}
        table = np.full((len(y_values), len(x_values)), np.nan)
        for place, k in cells.items():
            table[place] = self.scores[k]
        image = ax.imshow(table, aspect="auto", cmap=self._cmap(), origin="lower")
        self._explain_colors(ax, image)
        if len(cells) <= _MOST_CELLS_WITH_TEXT:
            for place, k in cells.items():
                text = _short(self.scores[k])
                text = f"({text})" if self._is_dropped[k] else text
                color = _readable(image.cmap(image.norm(self.scores[k])))
                ax.text(place[1], place[0], text, ha="center", va="center", color=color)
        at = next((place for place, k in cells.items() if k == self.best), None)
        frame = 0.46 * np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]])
        around = np.full((2, 1), np.nan) if at is None else frame + np.array([[at[1]], [at[0]]])
        style = {"color": COLORS[1], "linewidth": 3, "solid_joinstyle": "miter"}
        canvas.draw_line(ax, "best", around[0], around[1], style)
        ax.set_xticks(range(len(x_values)), list(map(_written, x_values)))
        ax.set_yticks(range(len(y_values)), list(map(_written, y_values)))
        ax.set_xlabel(self._short_names[across], parse_math=False)
        ax.set_ylabel(self._short_names[down], parse_math=False)
        ax.spines[:].set_visible(False)

    def _draw_parallel(self, canvas: Canvas, ax: Any) -> None:
        pyplot = optional_import("matplotlib.pyplot", "Plotting")
        norm = pyplot.Normalize(np.nanmin(self.scores), np.nanmax(self.scores))
        colors = pyplot.cm.ScalarMappable(norm, self._cmap())
        for k in self._from_worst_to_best():
            heights = [
                np.nan
                if (at := self._places[name][k]) is None
                # Candidates with equal values are drawn side by side.
                else (at + 0.5 + 0.5 * (norm(self.scores[k]) - 0.5)) / len(values)
                for name, values in self._values.items()
            ]
            heights.append(float(norm(self.scores[k])))
            is_best = k == self.best
            style = {
                "color": COLORS[1] if is_best else colors.to_rgba(self.scores[k]),
                "linewidth": 2 * LINE_WIDTH if is_best else LINE_WIDTH,
                "linestyle": ":" if self._is_dropped[k] else "-",
                "zorder": 4 if is_best else 3,
            }
            canvas.draw_line(ax, self._name(k), range(len(heights)), heights, style)
        for x, values in enumerate(self._values.values()):
            ax.axvline(x, color=ink(), linewidth=0.8)
            for at, value in enumerate(values):
                ax.text(
                    x - 0.03, (at + 0.5) / len(values), _written(value),
                    ha="right", va="center", fontsize="small", parse_math=False, zorder=5,
                    bbox={"facecolor": ax.get_facecolor(), "alpha": 0.7, "linewidth": 0, "pad": 1},
                )  # fmt: skip
        ax.axvline(len(self._values), color=ink(), linewidth=0.8)
        names = ["\n".join(wrap_name(self._short_names[name])) for name in self._values]
        words = [*names, axis_words(self.metric)]
        ax.set_xticks(range(len(words)), words, parse_math=False)
        ax.set(yticks=[], xlim=(-0.4, len(names) + 0.05), ylim=(-0.02, 1.02))
        ax.spines[:].set_visible(False)
        self._explain_colors(ax, colors)

    def _draw_curve(self, canvas: Canvas, ax: Any) -> None:
        ((name, values),) = self._values.items()
        places = self._places[name]
        best = {places[k]: self.scores[k] for k in self._from_worst_to_best()}
        shown = sorted(at for at in best if at is not None)
        ax.plot(shown, [best[at] for at in shown], marker="o", color=ink(), linewidth=LINE_WIDTH)
        at = places[self.best]
        x, y = ([], []) if at is None else ([at], [self.scores[self.best]])
        style = {"marker": "s", "markersize": 14, "markerfacecolor": "none", "linestyle": "none"}
        canvas.draw_line(ax, "best", x, y, {**style, "color": COLORS[1], "markeredgewidth": 2})
        ax.set_xticks(range(len(values)), list(map(_written, values)))
        ax.set_xlabel(self._short_names[name], parse_math=False)
        ax.set_ylabel(axis_words(self.metric), parse_math=False)

    def _draw_survivors(self, canvas: Canvas, ax: Any) -> None:
        assert self.dropped_at is not None
        rows, counts = np.unique(self.dropped_at[self._is_dropped], return_counts=True)
        left = len(self.scores) - np.concatenate([[0], np.cumsum(counts)])
        end = max(self.n_rows, int(rows.max()) if len(rows) else 1)
        begin = max(1, int(rows[0]) // 4 if len(rows) else 1)
        x = np.concatenate([[begin], rows, [end]])
        y = np.append(left, left[-1])
        style = {"drawstyle": "steps-post", "color": ink(), "linewidth": LINE_WIDTH}
        canvas.draw_line(ax, "candidates left", x, y, style)
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_ylim(0, len(self.scores) * 1.05)
        ax.set_xlabel("rows")
        ax.set_ylabel("candidates left")
        share = np.where(self._is_dropped, self.dropped_at, end).sum() / (end * len(self.scores))
        title = f"{left[-1]:,} of {len(self.scores):,} candidates left after {end:,} rows"
        give_title(ax, f"{title}; {share:.0%} of the work of all")

    def _from_worst_to_best(self) -> list[int]:
        """Candidates with a score; those dropped first, and the chosen one last."""
        scores = self.scores if self.higher_is_better else -self.scores
        order = np.lexsort((scores, ~self._is_dropped))
        found = [int(k) for k in order if np.isfinite(scores[k]) and k != self.best]
        return [*found, self.best] if np.isfinite(scores[self.best]) else found

    def _cmap(self) -> str:
        return _COLOR_MAP if self.higher_is_better else f"{_COLOR_MAP}_r"

    def _explain_colors(self, ax: Any, colors: Any) -> None:
        bar = ax.figure.colorbar(colors, ax=ax)
        direction = "" if self.higher_is_better else " (lower is better)"
        bar.set_label(axis_words(self.metric) + direction)
        bar.outline.set_visible(False)

    def _title(self) -> str:
        n_dropped = int(self._is_dropped.sum())
        best = _short(self.scores[self.best])
        text = f"{len(self.scores):,} candidates; the best, {best}, is marked"
        if not n_dropped:
            return text
        how = {"heatmap": "in parentheses", "parallel": "dotted"}.get(self._shown)
        return f"{text}; {n_dropped:,} dropped early" + (f": {how}" if how else "")

    def _name(self, k: int) -> str:
        short = self._short_names
        return ", ".join(f"{short[name]}={_written(v)}" for name, v in self.params[k].items())

    def _parts(self) -> Iterator[Mapping[str, Any]]:
        for k, params in enumerate(self.params):
            for name in self._values:
                yield {
                    "candidate": [k],
                    "parameter": name,
                    "value": _written(params[name]) if name in params else None,
                    "score": self.scores[k],
                    "dropped_at": -1 if self.dropped_at is None else int(self.dropped_at[k]),
                }

    def _summary(self) -> str:
        dropped = "" if self.dropped_at is None else f", {int(self._is_dropped.sum()):,} dropped"
        return (
            f"{len(self.scores):,} candidates{dropped}; best {self._name(self.best)} with "
            f"{self.metric} {_short(self.scores[self.best])}"
        )


def _contents(search: Any, metric: str | None) -> dict[str, Any]:
    """Return what the constructor takes, of this package's searches and scikit-learn's."""
    run, results = getattr(search, "run_", None), search.cv_results_
    if run is not None:
        own = run.rules.metric
        if metric not in (None, own):
            raise KeyError(f"The search has chosen by {own!r}, and has no scores by {metric!r}.")
        return {
            "params": results["params"],
            "scores": np.asarray(results["mean_test_score"], dtype=float),
            "metric": own,
            "best": search.best_index_,
            "dropped_at": None if run.rules.options.kind is None else results["dropped_at"],
            "n_rows": run.tuning_outcome().n_rows,
            "higher_is_better": run.settings.metrics[own].higher_is_better is not False,
        }
    name = metric or (search.refit if isinstance(search.refit, str) else "score")
    column = f"mean_test_{name}"
    if column not in results:
        found = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        raise KeyError(f"The search has no scores by {name!r}; there are {found}.")
    scores = np.asarray(results[column], dtype=float)
    known = hasattr(search, "best_index_")
    return {
        "params": results["params"],
        "scores": scores,
        "metric": _name_of_score(search.scoring) if name == "score" else name,
        "best": int(search.best_index_ if known else np.nanargmax(scores)),
    }


def _name_of_score(scoring: Any) -> str:
    """Name what a search of scikit-learn has scored by: a name, or the measure of a scorer."""
    if isinstance(scoring, str):
        return scoring
    metric = getattr(scoring, "metric", None)  # that of a prequential_scorer
    if not isinstance(metric, str):
        return "score"
    return f"neg_{metric}" if known_measure(metric).higher_is_better is False else metric


def _levels(params: Sequence[Mapping[str, Any]], name: str) -> tuple[list[Any], list[int | None]]:
    """Values of a parameter (numbers ascending, others as they came), and each candidate's place.

    None: the candidate has no such parameter.
    """
    keys = [(type(one[name]), _whole(one[name])) if name in one else None for one in params]
    value_of = {key: one[name] for key, one in zip(keys[::-1], params[::-1], strict=True) if key}
    known = [key for key in dict.fromkeys(keys) if key]
    if all(isinstance(value, int | float | np.number) for value in value_of.values()):
        known.sort(key=lambda key: value_of[key])
    places = [known.index(key) if key else None for key in keys]
    return [value_of[key] for key in known], places


def _whole(value: Any) -> str:
    return " ".join(written(value).split())


def _written(value: Any) -> str:
    text = _whole(value)
    return text if len(text) <= 24 else f"{text[:23]}…"


def _short(score: float) -> str:
    return f"{score:.4f}" if abs(score) < 10 else f"{score:.4g}"


def _readable(color: tuple[float, ...]) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    red, green, blue = color[:3]
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
