"""Whether probabilities are true: how often an event came, by the probability it was given."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import Names, bin_meant, chosen, number
from skstream.core.run.tape import tape_of
from skstream.logs._log import score_predictions
from skstream.plotting._axes import (
    BASELINE_COLOR,
    give_title,
    line_key,
    model_styles,
    patch_key,
)
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._measure import baselines_in, contents_in
from skstream.stats._pairs import wilson
from skstream.utils._choices import check_choice, check_count, is_integer, is_real
from skstream.utils._labels import as_labels, listed
from skstream.utils._warnings import warn

PANEL_INCHES, LONE_INCHES = (2.9, 3.3), (6.4, 5.2)
MOST_COLUMNS = 4
HISTOGRAM_HEIGHT = 0.2  # share of the panel
BAND_ALPHA, BAR_ALPHA = 0.18, 0.35
PERFECT = "calibrated"
HOLLOW: dict[str, Any] = {
    "linestyle": "none", "marker": "o", "markersize": 3.5, "fillstyle": "none",
}  # fmt: skip
#: Bins of fewer rows than this, and than this share of what each would have were all equal, are
#: hollow dots without a line: their heights say little.
FEW_ROWS, FEW_SHARE = 30, 0.25

Strategy = Literal["uniform", "quantile"]


#: The event that is meant where the largest probability of each row is read.
TOP = "the class of the largest probability"


class Events(NamedTuple):
    """The scored rows of one model.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        Their positions among the rows of the tape, ascending.
    score : ndarray of shape (n_rows,)
        What the model said before: a probability of the event.
    came : ndarray of shape (n_rows,), dtype bool
        Whether it came.
    weight : ndarray of shape (n_rows,)
        Scoring weights.
    """

    row: np.ndarray
    score: np.ndarray
    came: np.ndarray
    weight: np.ndarray

    def between(self, start: int, stop: int) -> Events:
        """Return those of the rows from `start` up to `stop`."""
        part = slice(*np.searchsorted(self.row, [start, stop]))
        return Events(*(column[part] for column in self))


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of the probabilities that a model gave in a stretch of rows; empty bins are left out.

    Attributes
    ----------
    low_edge, high_edge : ndarray of shape (n_bins,)
        Edges of the bins.
    predicted, observed : ndarray of shape (n_bins,)
        Mean probability, and share of rows in which the event came.
    low, high : ndarray of shape (n_bins,)
        Confidence interval of the observed share.
    share : ndarray of shape (n_bins,)
        Share of all rows (by weight) in the bin.
    n_rows : ndarray of shape (n_bins,)
        Number of rows.
    """

    low_edge: np.ndarray
    high_edge: np.ndarray
    predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    share: np.ndarray
    n_rows: np.ndarray

    @classmethod
    def of(cls, events: Events, n_bins: int, strategy: Strategy, level: float) -> Reliability:
        """Form the bins."""
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        if strategy == "quantile" and len(events.score):
            inner = np.quantile(events.score, edges[1:-1])
            edges = np.unique(np.concatenate([[0.0], inner, [1.0]]))
        bins = np.searchsorted(edges[1:-1], events.score, side="right")
        weight, n = events.weight, len(edges) - 1
        mass = np.bincount(bins, weight, n)
        n_rows = np.bincount(bins, minlength=n)
        there = np.flatnonzero(n_rows)
        mass, squares = mass[there], np.bincount(bins, weight**2, n)[there]
        predicted = np.bincount(bins, weight * events.score, n)[there] / mass
        observed = np.bincount(bins, weight * events.came, n)[there] / mass
        low, high = wilson(observed, mass**2 / squares, level)
        return cls(
            edges[there], edges[there + 1], predicted, observed, low, high,
            mass / max(mass.sum(), np.finfo(float).tiny), n_rows[there],
        )  # fmt: skip

    @property
    def is_sparse(self) -> np.ndarray:
        """Whether a bin has so few rows that its share says little."""
        if not len(self.n_rows):
            return np.zeros(0, dtype=bool)
        equal = self.n_rows.sum() / len(self.n_rows)
        return self.n_rows < min(FEW_ROWS, FEW_SHARE * equal)


@dataclass(kw_only=True, repr=False, eq=False)
class ReliabilityDisplay(BaseDisplay):
    """Show the observed frequency of an event against its predicted probability.

    The line of a calibrated model is the diagonal: of the rows with a probability of .7 the event
    comes in 70 %. Above it the model is too cautious, below it too sure. The band is the confidence
    interval of each share as if rows were independent; where errors come in runs it is too narrow.
    The bars at the bottom show how the rows are spread over the bins: a point that stands for few
    of them says little, is hollow, and has no line. With `n_panels` the stream is divided into
    stretches, since a model that is calibrated over all rows may be too sure before a drift and too
    cautious after it.

    `to_frame` has the columns model, start and stop (rows of the stretch), low_edge and high_edge
    of the bin, predicted, observed, low, high, share and n_rows.

    Parameters
    ----------
    curves : dict of str to list of Reliability
        The bins of each model, in every stretch.
    stretches : list of (int, int)
        First row of each, and the row after the last.
    event : str
        The event whose probability is shown.
    level : float, default=0.95
        Level of the confidence intervals.
    baselines : sequence of str, or dict of str to str, default=()
        As for `PrequentialDisplay`.
    n_models : int, default=None
        Number of models, where only the best are shown; None: all are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        One per stretch.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The lines by model; with several stretches "sgd, rows 1 to 100".
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.metrics.calibration_error : The distance from the diagonal as a number.

    References
    ----------
    J. Bröcker and L. A. Smith. Increasing the reliability of reliability diagrams. Weather and
    Forecasting 22, 2007.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.plotting import ReliabilityDisplay
    >>> from skstream.streams import make_demo_stream
    >>> sgd = SGDClassifier(loss="log_loss", random_state=0)
    >>> result = PrequentialEvaluator("brier").evaluate(sgd, make_demo_stream(1000))
    >>> display = ReliabilityDisplay.from_result(result, n_panels=2)  # doctest: +SKIP
    """

    curves: Mapping[str, Sequence[Reliability]]
    stretches: Sequence[tuple[int, int]]
    event: str
    level: float = 0.95
    baselines: Sequence[str] | Mapping[str, str] = ()
    n_models: int | None = None

    @classmethod
    def from_result(
        cls,
        result: EvaluationResult,
        *,
        models: Names = None,
        label: Any = None,
        rows: Sequence[int] | None = None,
        n_panels: int = 1,
        n_bins: int = 10,
        strategy: Strategy = "uniform",
        level: float = 0.95,
        fold: int | None = None,
        bin: int | None = None,
        **options: Any,
    ) -> Self:
        """Plot the probabilities on the tape of a result.

        Parameters
        ----------
        result : EvaluationResult
            With a tape of probabilities: some measure needed them, such as "brier".
        models : str or sequence of str, default=None
            Models to show; None: all that gave probabilities; of more than ten the best seven by
            the first measure, and the baselines.
        label : object, default=None
            The class whose probabilities are shown. None: the second of two classes; of more
            classes, each row's largest probability, as `calibration_error` takes it.
        rows : (int, int), default=None
            First row of the tape, and the row after the last. None: all; of a holdout evaluation,
            whose sets follow one another on the tape, the last set.
        n_panels : int, default=1
            Stretches of equal length into which they are divided.
        n_bins : int, default=10
            Number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins are equally wide, or hold equally many rows of the stretch and model.
        level : float, default=0.95
            Level of the confidence intervals, in (0, 1).
        fold : int, default=None
            Fold; None: the first of the result.
        bin : int, default=None
            Bin with delayed labels; None: the last of the result, with the predictions made when
            the label came, or the one selected.
        **options
            Options of `plot`: `ax` (one per stretch), `legend`, `styles` by model, and properties
            of all lines.

        Returns
        -------
        display : ReliabilityDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If the tape has no probabilities, or a parameter is not valid.
        """
        there = _with_probabilities(result, tape_of(result).methods, models)
        best, contents = contents_in(result, None, None, models, None, None)
        n_models = contents.get("n_models")
        if n_models is not None:
            best = [name for name in there if name in best and name not in result.failures]
            models = best or None
        found = events_of_result(result, models, label, rows, fold, bin)
        display = cls._of(*found, n_panels, n_bins, strategy, level)
        display.baselines, display.n_models = baselines_in(result, [*found[0]]), n_models
        return display.plot(**options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike | Mapping[str, ArrayLike],
        *,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        label: Any = None,
        n_panels: int = 1,
        n_bins: int = 10,
        strategy: Strategy = "uniform",
        level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Plot probabilities that were given elsewhere.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels, in stream order.
        y_prob : array-like of shape (n_rows,) or (n_rows, n_classes), or dict of str to these
            Probabilities of the second of two classes, or of all, in the order of
            `classes`; of a model, or of several by name.
        classes : array-like of shape (n_classes,), default=None
            The labels, in the order of the columns; None: those in `y_true`, sorted.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights; None: every row counts once.
        label, n_panels, n_bins, strategy, level
            As in `from_result`.
        **options
            `tolerance` and `unanswered` of `score_predictions`, which reads the probabilities; and
            options of `plot`.

        Returns
        -------
        display : ReliabilityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If lengths differ, or something is no probability.
        """
        named = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
        given: dict[str, Any] = {"classes": classes, "sample_weight": sample_weight}
        given |= {one: options.pop(one) for one in ("tolerance", "unanswered") if one in options}
        result = score_predictions(y_true, probabilities=named, metrics="brier", **given)
        ordered = [] if classes is None else as_labels(classes).tolist()
        if label is None and len(ordered) == 2:
            label = ordered[1]  # of those given; a result has them sorted
        found = events_of_result(result, None, label, None, None, None)
        return cls._of(*found, n_panels, n_bins, strategy, level).plot(**options)

    @classmethod
    def _of(
        cls,
        events: Mapping[str, Events],
        event: str,
        rows: tuple[int, int],
        n_panels: int,
        n_bins: int,
        strategy: Strategy,
        level: float,
    ) -> Self:
        check_count(n_bins, "n_bins", 1)
        check_choice(strategy, "strategy", get_args(Strategy))
        if not is_real(level) or not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1. Got {level!r} instead.")
        start, stop = rows
        if not is_integer(n_panels) or n_panels < 1 or n_panels > stop - start:
            raise ValueError(
                f"n_panels must be an int from 1 to the number of rows, {stop - start}. "
                f"Got {n_panels!r} instead."
            )
        ends = np.linspace(start, stop, n_panels + 1).round().astype(int).tolist()
        parts = list(itertools.pairwise(ends))
        curves = {
            name: [Reliability.of(one.between(*part), n_bins, strategy, level) for part in parts]
            for name, one in events.items()
        }
        return cls(curves=curves, stretches=parts, event=event, level=level)

    def _layout(self, ax: Any) -> Layout:
        n = len(self.stretches)
        if n == 1:
            return Layout(list(self.curves), 1, LONE_INCHES)
        width, height = PANEL_INCHES
        n_columns = min(n, MOST_COLUMNS)
        size = (n_columns * width, -(-n // n_columns) * height + 0.3)
        return Layout(list(self.curves), n, size, n_columns=n_columns)

    def _draw(self, canvas: Canvas) -> None:
        defaults = model_styles(list(self.curves), self.baselines)
        sparse: dict[str, Any] = {}
        shown: dict[str, Any] = {}
        several = len(self.stretches) > 1
        about = "largest probability" if self.event == TOP else f"probability of {self.event}"
        grey = {"color": BASELINE_COLOR, "linestyle": "--", "linewidth": 1, "zorder": 2}
        for k, (ax, part) in enumerate(zip(canvas.axes, self.stretches, strict=True)):
            (diagonal,) = ax.plot([0, 1], [0, 1], **grey)
            self._draw_histograms(ax, k, defaults)
            for name, of_parts in self.curves.items():
                one = of_parts[k]
                style = {**defaults[name], "marker": "o", "markersize": 3.5}
                key = f"{name}, {rows_as_words(part)}" if several else name
                joined = np.where(one.is_sparse, np.nan, one.observed)
                line = canvas.draw_line(ax, key, one.predicted, joined, style, name)
                shown.setdefault(name, line)
                color = line.get_color()
                area = {"color": color, "alpha": BAND_ALPHA, "linewidth": 0}
                where = ~one.is_sparse
                band = ax.fill_between(one.predicted, one.low, one.high, where=where, **area)
                if len(one.predicted) == 1:  # a band has no area there
                    ax.vlines(one.predicted, one.low, one.high, color=color, alpha=0.5)
                if one.is_sparse.any():
                    points = one.predicted[one.is_sparse], one.observed[one.is_sparse]
                    ax.plot(*points, color=color, alpha=0.6, **HOLLOW)
                    sparse[f"fewer than {FEW_ROWS} rows"] = line_key(**HOLLOW)
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            give_title(ax, f"{'' if several else 'Reliability, '}{rows_as_words(part)}")
            if k + MOST_COLUMNS >= len(canvas.axes):
                ax.set_xlabel(about, parse_math=False)
            if k % MOST_COLUMNS == 0:
                ax.set_ylabel("observed share of rows")
        explained = {
            PERFECT: diagonal,
            f"{100 * self.level:.3g} % confidence": band,
            **sparse,
            "share of rows": patch_key(color=BASELINE_COLOR, alpha=BAR_ALPHA, linewidth=0),
        }
        last = canvas.axes[min(len(canvas.axes), MOST_COLUMNS) - 1]
        legend = canvas.give_legend(last, lines=shown, others=explained)
        if legend is not None and self.n_models is not None:
            legend.set_title(f"best {len(shown) - len(self.baselines)} of {self.n_models} models")

    def _draw_histograms(self, ax: Any, k: int, styles: Mapping[str, Any]) -> None:
        """Draw the shares of rows in the bins, the largest as high as a part of the panel."""
        n = len(self.curves)
        most = max(of_parts[k].share.max(initial=0.0) for of_parts in self.curves.values())
        for place, (name, of_parts) in enumerate(self.curves.items() if most else ()):
            one = of_parts[k]
            width = (one.high_edge - one.low_edge) / n
            color = styles[name]["color"] if n > 1 else BASELINE_COLOR
            bars = {"color": color, "alpha": BAR_ALPHA, "linewidth": 0, "zorder": 1}
            left, height = one.low_edge + place * width, HISTOGRAM_HEIGHT * one.share / most
            ax.bar(left, height, width, align="edge", bottom=-0.02, **bars)

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        for name, of_parts in self.curves.items():
            for (start, stop), one in zip(self.stretches, of_parts, strict=True):
                yield {"model": name, "start": start, "stop": stop, **vars(one)}

    def _summary(self) -> str:
        n = len(self.stretches)
        over = rows_as_words((self.stretches[0][0], self.stretches[-1][1]))
        return f"{', '.join(self.curves)}; {over}{f' in {n} stretches' if n > 1 else ''}"


def events_of_result(
    result: EvaluationResult,
    models: Names,
    label: Any,
    rows: Sequence[int] | None,
    fold: int | None,
    bin: int | None,
) -> tuple[dict[str, Events], str, tuple[int, int]]:
    """Return the events of some models, the words for the event, and the stretch of rows.

    Parameters
    ----------
    result : EvaluationResult
        With a tape that holds scores.
    models : str or sequence of str or None
        None: all that have such scores.
    label : object
        The class whose coming is the event; None: the second of two classes, or of more that of the
        largest probability.
    rows : (int, int) or None
        First row of the tape, and the row after the last; None: all, of held-out sets the last.
    fold : int or None
        Fold; None: the first of the result.
    bin : int or None
        Bin with delayed labels; None: the last of the result.
    """
    tape = tape_of(result)
    names = _with_probabilities(result, tape.methods, models)
    assert tape.classes is not None
    event, words = _event(tape.classes, label)
    named = bin_meant(result, bin)
    if named is not None and len(result.bins or ()) > 1:
        words = f"{words} (bin {named})"
    place = 0 if fold is None else result.folds.index(number(fold, result.folds, "fold"))
    if rows is None and tape.sets is not None:
        ends = [0, *tape.sets[0].tolist()]
        rows = (ends[-2], ends[-1])
        words = f"{words} (last set)"
    start, stop = _stretch(rows, tape.n_rows)
    part = slice(start, stop)
    y = np.asarray(tape.y[part])
    weight = np.ones(len(y)) if tape.weight is None else np.asarray(tape.weight[part])
    # Models that failed are left out, unless they are named; then their names say so.
    ends_of = result.failed_at
    failed = [name for name in names if name in ends_of and ends_of[name][place] is not None]
    if models is None and 0 < len(failed) < len(names):
        warn(
            f"Not drawn: {', '.join(map(repr, sorted(failed)))}, which failed and predicted fewer "
            "rows than the others. Pass models= to see them."
        )
        names = [name for name in names if name not in failed]
    events = {}
    for name in names:
        answers = np.asarray(tape.answers[name][place])[part]
        asked = (answers if named is None else answers[:, named]) != -1
        scores = tape.probabilities(name, place, named)
        title = f"{name} (failed)" if name in failed else name
        events[title] = _events(y, scores[part], np.where(asked, weight, 0.0), event, start)
    return events, words, (start, stop)


def _with_probabilities(
    result: EvaluationResult, methods: Mapping[str, str], models: Names
) -> list[str]:
    """Names of the models to show; an error says which have no probabilities."""
    there = [name for name in result.model_names if methods.get(name) == "predict_proba"]
    names = chosen(models, result.model_names, "model") if models is not None else there
    without = [name for name in names if name not in there]
    if without or not names:
        whose = f" of {without}" if without else ""
        raise ValueError(
            f"The tape of this result has no probabilities{whose}. They are kept if a measure "
            "needs them: evaluate with metrics=[..., 'brier']."
        )
    return names


def _event(classes: np.ndarray, label: Any) -> tuple[int | None, str]:
    """Code of the class that makes the event, None for that of the largest probability."""
    known = classes.tolist()
    if label is None:
        if len(known) == 2:
            return 1, str(known[1])
        return None, TOP
    if label not in known:
        raise ValueError(f"label={label!r} is not among the classes {listed(known)}.")
    return known.index(label), str(label)


def _events(
    y: np.ndarray, scores: np.ndarray, weight: np.ndarray, event: int | None, start: int = 0
) -> Events:
    at = np.flatnonzero((y >= 0) & ~np.isnan(scores).any(axis=1) & (weight > 0))
    y, scores = y[at], scores[at]
    if event is None:
        best = scores.argmax(axis=1) if len(at) else np.empty(0, dtype=np.intp)
        score, came = scores[np.arange(len(at)), best], best == y
    else:
        score, came = scores[:, event], y == event
    return Events(at + start, score, came, weight[at])


def _stretch(rows: Sequence[int] | None, n_rows: int) -> tuple[int, int]:
    if rows is None:
        return 0, n_rows
    ends = list(rows) if np.iterable(rows) else []
    if len(ends) != 2 or not all(map(is_integer, ends)) or not 0 <= ends[0] < ends[1] <= n_rows:
        raise ValueError(
            f"rows must be two row numbers (start, stop) with 0 <= start < stop <= {n_rows}, the "
            f"rows of the tape. Got {rows!r} instead."
        )
    return int(ends[0]), int(ends[1])


def rows_as_words(rows: tuple[int, int]) -> str:
    """Words for a stretch of rows, which are counted from 1."""
    return f"rows {rows[0] + 1:,} to {rows[1]:,}"
