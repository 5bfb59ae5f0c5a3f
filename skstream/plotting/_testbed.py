"""Streams whose truth is known: the truth along the stream, and what models make of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from skstream.evaluation import EvaluationResult
from skstream.forgetting import AdaptiveWindow, parse_forgetting
from skstream.plotting._axes import count_rows_along, give_title, plain_look, was_used, widen_limits
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._drifts import draw_drifts
from skstream.plotting._limits import value_limits
from skstream.plotting._lines import COLORS, ink, model_styles, uncover_edges, with_remarks
from skstream.plotting._prequential import PrequentialDisplay, contents_of
from skstream.plotting._words import axis_words, last_values, title_words
from skstream.stats._running_pair import make_running_sum
from skstream.streams import GaussianMixtureStream
from skstream.streams._drifts import as_drifts
from skstream.studies import SeedStudy
from skstream.utils._choices import check_choice
from skstream.utils._optional import optional_import

#: Standard deviations at which ellipses are drawn: they hold 39 % and 86 % of the rows.
DEVIATIONS = (1.0, 2.0)
#: Opacity of the smallest prior and of the largest, of the area and of the edge.
AREA, EDGE = (0.03, 0.40), (0.15, 1.0)
#: A label is written where the center has moved by this share of the picture.
APART = 0.08


@dataclass(frozen=True)
class MixtureAtRows:
    """A mixture at some rows, in the plane of two features, and rows drawn from it.

    Attributes
    ----------
    labels : tuple
        Class of each component.
    times : ndarray of shape (n_times,)
        Row numbers.
    priors : ndarray of shape (n_times, n_components)
        Probability of each component.
    centers : ndarray of shape (n_times, n_components, 2)
        Means.
    covariances : ndarray of shape (n_times, n_components, 2, 2)
        Covariance matrices.
    path : ndarray of shape (n_steps, n_components, 2)
        Means at more rows; NaN where the prior is 0.
    path_rows : ndarray of shape (n_steps,)
        Their numbers.
    points : ndarray of shape (n_points, 2)
        Rows.
    classes_of_points : ndarray of shape (n_points,)
        Their labels.
    rows : ndarray of shape (n_points,)
        Their numbers.
    features : tuple of two str
        Names of the features.
    """

    labels: tuple[Any, ...]
    times: np.ndarray
    priors: np.ndarray
    centers: np.ndarray
    covariances: np.ndarray
    path: np.ndarray
    path_rows: np.ndarray
    points: np.ndarray
    classes_of_points: np.ndarray
    rows: np.ndarray
    features: tuple[str, str]

    @property
    def names(self) -> list[str]:
        """Name of each component: its label, with a number where several have the same one."""
        names = []
        for k, label in enumerate(self.labels):
            number = 1 + self.labels[:k].count(label)
            names.append(f"{label}{number}" if self.labels.count(label) > 1 else str(label))
        return names

    @property
    def classes(self) -> list[Any]:
        """Sorted labels."""
        return sorted(set(self.labels))

    def color_of(self, label: Any) -> str:
        """Colour of a class."""
        color = COLORS[self.classes.index(label) % len(COLORS)]
        return ink() if color == "ink" else color

    def limits(self) -> np.ndarray:
        """Lowest and highest value of both features, over the ellipses that are drawn."""
        reach = DEVIATIONS[-1] * np.sqrt(np.einsum("tkii->tki", self.covariances))
        seen = self.priors > 0
        low = (self.centers - reach)[seen].min(axis=0)
        high = (self.centers + reach)[seen].max(axis=0)
        margin = 0.04 * (high - low).max()
        return np.array([low - margin, high + margin])

    def axes_of(self, time: int, component: int) -> tuple[float, float, float]:
        """Standard deviations along the axes of an ellipse, and its direction in degrees."""
        variances, directions = np.linalg.eigh(self.covariances[time, component])
        long = directions[:, 1]
        angle = float(np.rad2deg(np.arctan2(long[1], long[0])))
        return float(np.sqrt(variances[1])), float(np.sqrt(variances[0])), angle


def draw_ellipses(ax: Any, mixture: MixtureAtRows, times: Sequence[int]) -> None:
    """Draw all components at some times; the higher the prior, the darker.

    Where a component is as it was before, it is drawn once, with its mean prior.
    """
    for k in range(len(mixture.labels)):
        shapes = np.concatenate(
            [mixture.centers[times, k], mixture.covariances[times, k].reshape(-1, 4)], axis=1
        )
        _, which = np.unique(shapes.round(9), axis=0, return_inverse=True)
        for shape in range(which.max() + 1):
            same = np.asarray(times)[which == shape]
            _draw_ellipse(ax, mixture, int(same[0]), k, float(mixture.priors[same, k].mean()))


def _draw_ellipse(ax: Any, mixture: MixtureAtRows, time: int, k: int, prior: float) -> None:
    patches = optional_import("matplotlib.patches", "Plotting")
    if not prior:
        return
    share = prior / mixture.priors.max()
    color = mixture.color_of(mixture.labels[k])
    edge = EDGE[0] + (EDGE[1] - EDGE[0]) * share
    long, short, angle = mixture.axes_of(time, k)
    for deviations in DEVIATIONS:
        area = AREA[0] + (AREA[1] - AREA[0]) * share / deviations
        where = (mixture.centers[time, k], 2 * deviations * long, 2 * deviations * short)
        inside = {"color": color, "alpha": area, "linewidth": 0, "zorder": 2}
        around = {"fill": False, "edgecolor": color, "alpha": edge, "linewidth": 0.9, "zorder": 2.2}
        for style in (inside, around):
            ax.add_patch(patches.Ellipse(*where, angle=angle, **style))


def draw_points(ax: Any, mixture: MixtureAtRows, chosen: np.ndarray) -> None:
    """Draw rows as dots in the colours of their classes."""
    for label in mixture.classes:
        mine = chosen & (mixture.classes_of_points == label)
        x, y = mixture.points[mine].T
        color = mixture.color_of(label)
        ax.scatter(x, y, s=7, color=color, alpha=0.55, linewidths=0, zorder=2.5)


def write_times(ax: Any, mixture: MixtureAtRows) -> None:
    """Write the number of the row into ellipses, where they have moved far enough."""
    span = np.ptp(mixture.limits(), axis=0).max()
    placed: list[np.ndarray] = []
    for time, row in enumerate(mixture.times):
        for k, center in enumerate(mixture.centers[time]):
            if mixture.priors[time, k] == 0:
                continue
            if all(np.abs(center - other).max() > APART * span for other in placed):
                ax.annotate(f"{row:,.0f}", center, ha="center", va="center", fontsize=7.5, zorder=4)
                placed.append(center)


def look_at(ax: Any, mixture: MixtureAtRows, *, own: bool, shared: bool = False) -> None:
    """Make one unit as long in both directions.

    Axes that share their limits cannot be widened one by one: they hold all ellipses, and become
    smaller.
    """
    if not own:
        return
    if shared:
        (left, bottom), (right, top) = mixture.limits()
        ax.set(xlim=(left, right), ylim=(bottom, top))
    else:
        ax.autoscale_view()
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def class_keys(mixture: MixtureAtRows) -> Mapping[str, Any]:
    """Entries of the legend: a patch for every class."""
    patches = optional_import("matplotlib.patches", "Plotting")
    return {
        f"class {label}": patches.Patch(color=mixture.color_of(label), alpha=0.6)
        for label in mixture.classes
    }


def nearest(times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the position of the time that is nearest to each row."""
    between = (times[:-1] + times[1:]) / 2
    found: np.ndarray = np.searchsorted(between, rows, side="right")
    return found


def evenly(first: float, last: float, n: int) -> list[int]:
    """Whole numbers from the first to the last, each once."""
    rows: list[int] = np.unique(np.linspace(first, last, n).round().astype(np.int64)).tolist()
    return rows


Kind = Literal["picture", "filmstrip", "error"]
BAYES = "Bayes error"
#: Rows at which the Bayes error is integrated, between two of which it is drawn straight.
N_INTEGRALS = 101
#: Points of each integral, of each component.
N_POINTS = 4096
#: Rows between which the paths of the centers are drawn straight.
N_STEPS = 201
#: Of a longer stream, rows are made one by one.
MOST_MADE = 100_000
#: Rows on both sides of a frame of the film that are shown in it.
AROUND = 60
MOST_COLUMNS = 4
FRAME_INCHES = 2.6


@dataclass(kw_only=True, repr=False, eq=False)
class TestbedDisplay(BaseDisplay):
    """A mixture of Gaussians along its stream, or errors of models beside the Bayes error.

    `to_frame` has, of the mixture, the columns row, component, label, prior, x and y (the center),
    long and short (standard deviations along the axes) and angle (degrees); of the errors row,
    model and value.

    Parameters
    ----------
    kind : {"picture", "filmstrip", "error"}, default="picture"
        "picture": the ellipses of all components at several rows, with one and two standard
        deviations, the path of each center, and rows of the stream; the higher the prior of a
        component, the darker its ellipse. "filmstrip": the same, each row in a frame of its own.
        "error": errors of models over the stream, and the error of the best possible answers,
        averaged over the same rows, which no model can beat but by chance.
    mixture : MixtureAtRows, default=None
        The mixture; for "picture" and "filmstrip".
    errors : PrequentialDisplay, default=None
        Errors of the models; for "error".
    bayes_error : ndarray of shape (n_checkpoints,), default=None
        The Bayes error, averaged over the same rows as the errors; for "error".

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on; the first of several.
    axes_ : ndarray of matplotlib Axes
        All axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        The path of every component (in a film: of every component and frame), or the error of
        every model and "Bayes error".
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.streams.load_testbed : Streams to look at.
    PrequentialDisplay : Any measure along any stream.

    References
    ----------
    Cervantes, A., Gagné, C., Isasi, P. and Parizeau, M. Evaluating and characterizing incremental
    learning from non-stationary data. Figures 1 and 2.

    Examples
    --------
    >>> from skstream.plotting import TestbedDisplay
    >>> from skstream.streams import load_testbed
    >>> stream = load_testbed("NSCX")
    >>> display = TestbedDisplay.from_stream(stream, kind="filmstrip")  # doctest: +SKIP
    >>> display.figure_.savefig("nscx.png")  # doctest: +SKIP
    """

    __test__: ClassVar[bool] = False  # a name that pytest takes for a test

    kind: Kind = "picture"
    mixture: MixtureAtRows | None = None
    errors: PrequentialDisplay | None = None
    bayes_error: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_choice(self.kind, "kind", get_args(Kind))
        needed = "errors" if self.kind == "error" else "mixture"
        if getattr(self, needed) is None:
            made = "from_result" if needed == "errors" else "from_stream"
            raise ValueError(
                f"There is nothing to plot: kind={self.kind!r} needs {needed}, as {made} gives it."
            )

    @classmethod
    def from_stream(
        cls,
        stream: Any,
        *,
        kind: Literal["picture", "filmstrip"] = "picture",
        n_times: int = 8,
        n_rows: int = 600,
        features: tuple[int, int] = (0, 1),
        **options: Any,
    ) -> Self:
        """Plot a mixture along its stream.

        Parameters
        ----------
        stream : GaussianMixtureStream
            With at least two features. An endless one is shown until its last change.
        kind : {"picture", "filmstrip"}, default="picture"
            All in one picture, or each row in a frame of its own.
        n_times : int, default=8
            Number of rows, evenly spread over the stream, at which the mixture is shown.
        n_rows : int, default=600
            Rows of the stream that are drawn as dots; 0 for none.
        features : tuple of two int, default=(0, 1)
            Features to show, counted from 0.
        **options
            Options of `plot`: `ax`, `legend`, `styles` of the paths by component, and properties
            of all paths.

        Returns
        -------
        display : TestbedDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If it is another stream.
        ValueError
            If there are no two such features, or `kind` is none of the choices.
        """
        mixture = _mixture_of(stream, n_times, n_rows, features, in_frames=kind == "filmstrip")
        return cls(kind=kind, mixture=mixture).plot(**options)

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        stream: Any,
        metric: str = "error",
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        drifts: Any = None,
        **options: Any,
    ) -> Self:
        """Plot errors of models beside the Bayes error of their stream.

        Parameters
        ----------
        result : EvaluationResult or SeedStudy
            Result of an evaluation without bins, with the measure "error"; under a window, such as
            ``forgetting="window:500"``, it shows how models follow the changes. Of a study the
            mean of its seeds.
        stream : GaussianMixtureStream
            The stream that was evaluated.
        metric : str, default="error"
            Name that the measure "error" has in the result.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one of the result.
        models : str or sequence of str, default=None
            Models to show; None: all.
        drifts : sequence of (int or pair of int), default=None
            Rows at which the truth is known to change; None: those of the stream; (): none.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : TestbedDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the result has no such measure, forgetting mechanism or model.
        TypeError
            If the result or the stream is of another kind.
        ValueError
            If the measure is not the error, or the result cannot be that of the stream: it has
            other classes, or more rows.
        """
        _check_stream(stream)
        if isinstance(result, SeedStudy):
            result = result.combined
        errors = PrequentialDisplay(**contents_of(result, metric, forgetting, models, drifts))
        if errors.measure is None or errors.measure.name != "error":
            raise ValueError(
                f"The Bayes error is a share of wrong answers: evaluate with the measure 'error'. "
                f"Got {metric!r}."
            )
        _check_result_of(result, stream)
        mechanism = (
            None if result.details.scored_sets else result.details.mechanisms[errors.forgetting]
        )
        return cls(
            kind="error",
            errors=errors,
            bayes_error=_bayes_error_of(stream, errors.checkpoints, mechanism),
        ).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        if self.kind == "error":
            return Layout([*self._errors.curves, BAYES])
        names = self._mixture.names
        width, height = np.ptp(self._mixture.limits(), axis=0)
        if self.kind == "picture":
            return Layout(names, size=(8.0, float(np.clip(6.5 * height / width + 0.8, 3, 9))))
        n_frames = len(self._mixture.times)
        n_columns = min(n_frames, MOST_COLUMNS)
        tall = float(np.clip(FRAME_INCHES * height / width, 1.2, 5)) + 0.35
        size = (FRAME_INCHES * n_columns + 1.3, tall * -(-n_frames // n_columns) + 0.4)
        return Layout(names, n_panels=n_frames, size=size, n_columns=n_columns)

    def _draw(self, canvas: Canvas) -> None:
        {"picture": self._draw_picture, "filmstrip": self._draw_film, "error": self._draw_errors}[
            self.kind
        ](canvas)

    def _draw_picture(self, canvas: Canvas) -> None:
        ax, mixture = canvas.axes[0], self._mixture
        draw_points(ax, mixture, np.ones(len(mixture.rows), dtype=bool))
        draw_ellipses(ax, mixture, range(len(mixture.times)))
        self._draw_paths(canvas, ax, mixture.times[-1], "")
        write_times(ax, mixture)
        look_at(ax, mixture, own=canvas.own)
        ax.set(xlabel=mixture.features[0], ylabel=mixture.features[1])
        give_title(ax, "Components at some rows: the darker, the higher the prior")
        plain_look(ax)
        canvas.give_legend(ax, lines={}, others=class_keys(mixture))

    def _draw_film(self, canvas: Canvas) -> None:
        mixture = self._mixture
        frames = nearest(mixture.times, mixture.rows)
        for time, ax in enumerate(canvas.axes):
            draw_points(ax, mixture, frames == time)
            draw_ellipses(ax, mixture, [time])
            row = mixture.times[time]
            self._draw_paths(canvas, ax, row, f", row {row:,.0f}")
            look_at(ax, mixture, own=canvas.own, shared=True)
            give_title(ax, f"row {row:,.0f}")
            plain_look(ax)
        n_columns = min(len(canvas.axes), MOST_COLUMNS)
        canvas.give_legend(canvas.axes[n_columns - 1], lines={}, others=class_keys(mixture))

    def _draw_paths(self, canvas: Canvas, ax: Any, until: float, after: str) -> None:
        mixture = self._mixture
        steps = mixture.path[mixture.path_rows <= until]
        for k, name in enumerate(mixture.names):
            color = mixture.color_of(mixture.labels[k])
            style = {"color": color, "linewidth": 1.0, "linestyle": ":", "zorder": 3}
            x, y = steps[:, k].T
            canvas.draw_line(ax, name + after, x, y, style, style_of=name)

    def _draw_errors(self, canvas: Canvas) -> None:
        ax, errors = canvas.axes[0], self._errors
        used = was_used(ax)
        defaults = model_styles(list(errors.curves), errors.baselines)
        means = {name: curve.mean(axis=1) for name, curve in errors.curves.items()}
        for name, values in means.items():
            canvas.draw_line(ax, name, errors.checkpoints, values, defaults[name])
        style = {"color": ink(), "linewidth": 1.6, "linestyle": (0, (1, 1)), "zorder": 3.5}
        canvas.draw_line(ax, BAYES, errors.checkpoints, self.bayes_error, style)
        end = float(errors.checkpoints[-1])
        widen_limits(ax, "x", 0.0, end, keep=used)
        count_rows_along(ax)
        assert errors.measure is not None
        limits = value_limits([*means.values(), np.asarray(self.bayes_error)], errors.measure)
        if limits is not None:
            widen_limits(ax, "y", *limits, keep=used)
        uncover_edges(ax, canvas.lines.values())
        area = ax.fill_between(
            errors.checkpoints, 0, self.bayes_error, color=ink(), alpha=0.08, linewidth=0, zorder=0
        )
        ax.set_ylabel(axis_words(errors.metric), parse_math=False)
        plain_look(ax)
        others = {"below the Bayes error": area}
        others |= draw_drifts(ax, as_drifts(errors.drifts), end)
        title = title_words(
            errors.metric, errors.forgetting, measure="error", mechanism=errors.mechanism
        )
        give_title(ax, title)
        named = with_remarks(ax, canvas.lines, errors.failed)
        canvas.give_legend(ax, lines=named, others=others, end=end)

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        if self.kind == "error":
            for name, curve in self._errors.curves.items():
                values = curve.mean(axis=1)
                yield {"row": self._errors.checkpoints, "model": name, "value": values}
            yield {"row": self._errors.checkpoints, "model": BAYES, "value": self.bayes_error}
            return
        mixture = self._mixture
        for k, name in enumerate(mixture.names):
            axes = np.array([mixture.axes_of(time, k) for time in range(len(mixture.times))])
            yield {
                "row": mixture.times,
                "component": name,
                "label": mixture.labels[k],
                "prior": mixture.priors[:, k],
                "x": mixture.centers[:, k, 0],
                "y": mixture.centers[:, k, 1],
                "long": axes[:, 0],
                "short": axes[:, 1],
                "angle": axes[:, 2],
            }

    def _summary(self) -> str:
        if self.kind == "error":
            curves = {name: curve.mean(axis=1) for name, curve in self._errors.curves.items()}
            curves[BAYES] = np.asarray(self.bayes_error)
            return last_values([*curves.items()])
        mixture = self._mixture
        return (
            f"{len(mixture.labels)} components at {len(mixture.times)} rows up to "
            f"{mixture.times[-1]:,.0f}"
        )

    @property
    def _mixture(self) -> MixtureAtRows:
        assert self.mixture is not None
        return self.mixture

    @property
    def _errors(self) -> PrequentialDisplay:
        assert self.errors is not None
        return self.errors


def _check_stream(stream: Any) -> None:
    if not isinstance(stream, GaussianMixtureStream):
        raise TypeError(
            f"Expected a GaussianMixtureStream, such as load_testbed('NSGT'). Got "
            f"{type(stream).__name__}."
        )


def _check_result_of(result: EvaluationResult, stream: GaussianMixtureStream) -> None:
    """Raise an error for a result that cannot be that of a stream."""
    ask = "Pass the stream that was evaluated."
    if result.classes is not None and not np.array_equal(result.classes, stream.classes):
        raise ValueError(
            f"The result has the classes {result.classes.tolist()}, and the stream "
            f"{stream.classes.tolist()}: it is not that of this stream. {ask}"
        )
    if stream.n_rows is not None and result.n_rows > stream.n_rows:
        raise ValueError(
            f"The result has {result.n_rows:,} rows, and the stream only {stream.n_rows:,}: it is "
            f"not that of this stream. {ask}"
        )


def _last_row(stream: GaussianMixtureStream) -> int:
    """Last row of a stream; of an endless one the last of its changes."""
    if stream.n_rows is not None:
        return stream.n_rows - 1
    return max((drift.end for drift in stream.drifts), default=AROUND)


def _mixture_of(
    stream: Any, n_times: int, n_rows: int, features: tuple[int, int], *, in_frames: bool
) -> MixtureAtRows:
    _check_stream(stream)
    names, two = stream.feature_names, list(features)
    if len(two) != 2 or two[0] == two[1] or not all(0 <= k < len(names) for k in two):
        raise ValueError(
            f"features must be two different numbers of features, from 0 to {len(names) - 1}. Got "
            f"{features!r}."
        )
    last = _last_row(stream)
    times = evenly(0, last, n_times)
    spans = [(0, last)]
    if in_frames:
        spans = [(max(0, time - AROUND), min(last, time + AROUND)) for time in times]
    drawn = [_rows_in(stream, *span, n_rows // len(spans)) for span in spans]
    steps = evenly(0, last, N_STEPS)
    along = stream.moments(steps)
    path = np.where(along.priors[:, :, np.newaxis] > 0, along.centers[:, :, two], np.nan)
    moments = stream.moments(times)
    return MixtureAtRows(
        labels=tuple(component.label for component in stream.components),
        times=np.array(times),
        priors=moments.priors,
        centers=moments.centers[:, :, two],
        covariances=moments.covariances[:, :, two][:, :, :, two],
        path=path,
        path_rows=np.array(steps),
        points=np.concatenate([X for _, X, _ in drawn])[:, two],
        classes_of_points=np.concatenate([y for _, _, y in drawn]),
        rows=np.concatenate([rows for rows, _, _ in drawn]),
        features=(names[two[0]], names[two[1]]),
    )


def _rows_in(
    stream: GaussianMixtureStream, first: int, last: int, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, features and labels of rows that are evenly spread between two of them."""
    rows = np.array(evenly(first, last, n), dtype=np.int64)
    if last - first < MOST_MADE:
        X, y = stream.rows(first, last + 1)
        return rows, X[rows - first], y[rows - first]
    single = [stream.rows(row, row + 1) for row in rows.tolist()] or [stream.rows(0, 0)]
    return rows, np.concatenate([X for X, _ in single]), np.concatenate([y for _, y in single])


def _bayes_error_of(
    stream: GaussianMixtureStream, checkpoints: np.ndarray, mechanism: str | None
) -> np.ndarray:
    """Bayes error at some checkpoints, averaged as a mechanism averages the errors of models.

    At the checkpoint alone where there is no mechanism, or where it depends on the errors (ADWIN).
    """
    last = int(checkpoints[-1]) - 1
    changes = [row + by for drift in stream.drifts for row in drift for by in (-1, 0)]
    known = sorted({*evenly(0, last, N_INTEGRALS), *(row for row in changes if 0 <= row <= last)})
    at_known = stream.bayes_error_estimate(t=known, n_points=N_POINTS).error
    at_rows = np.interp(np.arange(last + 1), known, at_known)
    forgetting = None if mechanism is None else parse_forgetting(mechanism)
    if forgetting is not None and not isinstance(forgetting, AdaptiveWindow):
        sums, weights = (make_running_sum(forgetting).update(x) for x in (at_rows, at_rows**0))
        at_rows = sums / weights
    found: np.ndarray = at_rows[checkpoints - 1]
    return found
