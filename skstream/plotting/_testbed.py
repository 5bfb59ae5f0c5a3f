"""Streams whose truth is known: the truth along the stream, and what models make of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from skstream.core.forgetting import parse_forgetting
from skstream.plotting._axes import (
    COLORS,
    give_title,
    ink,
    last_values,
    model_styles,
    patch_key,
)
from skstream.plotting._base import BaseDisplay, Canvas, Layout
from skstream.plotting._marks import draw_drifts
from skstream.plotting._measure import measure_along
from skstream.plotting._prequential import PrequentialDisplay, contents_of
from skstream.streams import GaussianMixtureStream
from skstream.studies._seed_study import SeedStudy
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
    """Draw all components at some times; the higher the prior, the fuller the colour.

    Where a component is as it was before, it is drawn once, with its mean prior.
    """
    patches = optional_import("matplotlib.patches", "Plotting")
    for k, label in enumerate(mixture.labels):
        color = mixture.color_of(label)
        centers, covariances = mixture.centers[times, k], mixture.covariances[times, k]
        shapes = np.concatenate([centers, covariances.reshape(-1, 4)], axis=1)
        _, which = np.unique(shapes.round(9), axis=0, return_inverse=True)
        for shape in range(which.max() + 1):
            same = np.asarray(times)[which == shape]
            share = float(mixture.priors[same, k].mean()) / mixture.priors.max()
            if not share:
                continue
            edge = EDGE[0] + (EDGE[1] - EDGE[0]) * share
            long, short, angle = mixture.axes_of(int(same[0]), k)
            for deviations in DEVIATIONS:
                alpha = AREA[0] + (AREA[1] - AREA[0]) * share / deviations
                size = 2 * deviations * long, 2 * deviations * short
                area = {"color": color, "alpha": alpha, "linewidth": 0, "zorder": 2}
                line = {"edgecolor": color, "alpha": edge, "linewidth": 0.9, "zorder": 2.2}
                for style in (area, {"fill": False, **line}):
                    center = mixture.centers[same[0], k]
                    ax.add_patch(patches.Ellipse(center, *size, angle=angle, **style))


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


def evenly(first: float, last: float, n: int) -> list[int]:
    """Whole numbers from the first to the last, each once."""
    return np.unique(np.linspace(first, last, n).round().astype(np.int64)).tolist()


Kind = Literal["picture", "filmstrip", "error"]
BAYES = "Bayes error"
#: Rows at which the Bayes error is integrated, between two of which it is drawn straight.
N_INTEGRALS = 101
#: Points of each integral, of each component.
N_POINTS = 4096
#: Rows between which the paths of the centers are drawn straight.
N_STEPS = 201
#: The rows of a longer stream are made one by one.
MOST_MADE = 100_000
#: Rows on both sides of a frame of the film that are shown in it.
AROUND = 60
MOST_COLUMNS = 4
FRAME_INCHES = 2.6


@dataclass(kw_only=True, repr=False, eq=False)
class TestbedDisplay(BaseDisplay):
    """Show a mixture of Gaussians along its stream, or errors of models with the Bayes error.

    `to_frame` has, of the mixture, the columns row, component, label, prior, x and y (the center),
    long and short (standard deviations along the axes) and angle (degrees); of the errors row,
    model and value.

    Parameters
    ----------
    kind : {"picture", "filmstrip", "error"}, default="picture"
        "picture": the ellipses of all components at several rows, with one and two standard
        deviations, the path of each center, and rows of the stream; the higher the prior of a
        component, the fuller the colour of its ellipse. "filmstrip": the same, each row in its own
        frame. "error": errors of models over the stream, and the error of the best possible
        predictions, averaged over the same rows, which no model can beat except by chance.
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
        The path of every component (in a filmstrip: of every component and frame), or the error of
        every model and "Bayes error".
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    skstream.streams.load_testbed : Streams to show.
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
                f"There is nothing to plot: kind={self.kind!r} needs {needed}, which {made} gives."
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
        _check_stream(stream)
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
                "The Bayes error is a share of wrong predictions: evaluate with the measure "
                f"'error'. Got {metric!r}."
            )
        ask = "it is not that of this stream. Pass the stream that was evaluated."
        if result.classes is not None and not np.array_equal(result.classes, stream.classes):
            raise ValueError(
                f"The result has the classes {result.classes.tolist()}, and the stream "
                f"{stream.classes.tolist()}: {ask}"
            )
        if stream.n_rows is not None and result.n_rows > stream.n_rows:
            raise ValueError(
                f"The result has {result.n_rows:,} rows, and the stream only {stream.n_rows:,}: "
                f"{ask}"
            )
        mechanisms = {} if result.details.scored_sets else result.details.mechanisms
        mechanism = mechanisms.get(errors.forgetting)
        bayes_error = _bayes_error_of(stream, errors.checkpoints, mechanism)
        return cls(kind="error", errors=errors, bayes_error=bayes_error).plot(**options)

    def _layout(self, ax: Any) -> Layout:
        if self.errors is not None and self.kind == "error":
            return Layout([*self.errors.curves, BAYES])
        assert self.mixture is not None
        names, n_frames = self.mixture.names, len(self.mixture.times)
        width, height = np.ptp(self.mixture.limits(), axis=0)
        if self.kind == "picture":
            return Layout(names, size=(8.0, float(np.clip(6.5 * height / width + 0.8, 3, 9))))
        n_columns = min(n_frames, MOST_COLUMNS)
        tall = float(np.clip(FRAME_INCHES * height / width, 1.2, 5)) + 0.35
        size = (FRAME_INCHES * n_columns + 1.3, tall * -(-n_frames // n_columns) + 0.4)
        return Layout(names, n_panels=n_frames, size=size, n_columns=n_columns)

    def _draw(self, canvas: Canvas) -> None:
        if self.errors is not None and self.kind == "error":
            self._draw_errors(canvas, self.errors)
        elif self.mixture is not None:
            self._draw_mixture(canvas, self.mixture)

    def _draw_mixture(self, canvas: Canvas, mixture: MixtureAtRows) -> None:
        """Draw all times in one picture, or each in a frame with the rows that are nearest."""
        in_frames, times = self.kind == "filmstrip", mixture.times
        frame_of = np.zeros(len(mixture.rows), dtype=np.intp)
        if in_frames:
            frame_of = np.searchsorted((times[:-1] + times[1:]) / 2, mixture.rows, side="right")
        for frame, ax in enumerate(canvas.axes):
            shown = [frame] if in_frames else range(len(times))
            row = times[shown[-1]]
            draw_points(ax, mixture, frame_of == frame)
            draw_ellipses(ax, mixture, shown)
            steps = mixture.path[mixture.path_rows <= row]
            for k, name in enumerate(mixture.names):
                color = mixture.color_of(mixture.labels[k])
                style = {"color": color, "linewidth": 1.0, "linestyle": ":", "zorder": 3}
                key = f"{name}, row {row:,.0f}" if in_frames else name
                x, y = steps[:, k].T
                canvas.draw_line(ax, key, x, y, style, style_of=name)
            if not in_frames:
                write_times(ax, mixture)
                ax.set(xlabel=mixture.features[0], ylabel=mixture.features[1])
            if in_frames and frame + MOST_COLUMNS >= len(canvas.axes):
                ax.set_xlabel(mixture.features[0])
            if in_frames and frame % MOST_COLUMNS == 0:
                ax.set_ylabel(mixture.features[1])
            if canvas.own:  # one unit is as long in both directions
                if in_frames:
                    # Axes that share their limits cannot be widened one by one: they hold all
                    # ellipses, and become smaller.
                    (left, bottom), (right, top) = mixture.limits()
                    ax.set(xlim=(left, right), ylim=(bottom, top))
                else:
                    ax.autoscale_view()
                ax.set_aspect("equal", adjustable="box" if in_frames else "datalim")
            words = "Components at rows (numbers); the stronger the colour, the higher the prior"
            give_title(ax, f"row {row:,.0f}" if in_frames else words)
        classes = {
            f"class {label}": patch_key(color=mixture.color_of(label), alpha=0.6)
            for label in mixture.classes
        }
        last = canvas.axes[min(len(canvas.axes), MOST_COLUMNS) - 1]
        canvas.give_legend(last, lines={}, others=classes)

    def _draw_errors(self, canvas: Canvas, errors: PrequentialDisplay) -> None:
        ax, rows = canvas.axes[0], errors.checkpoints
        defaults = model_styles(list(errors.curves), errors.baselines)
        curves = {name: curve.mean(axis=1) for name, curve in errors.curves.items()}
        for name, values in curves.items():
            canvas.draw_line(ax, name, rows, values, defaults[name])
        style = {"color": ink(), "linewidth": 1.6, "linestyle": (0, (1, 1)), "zorder": 3.5}
        canvas.draw_line(ax, BAYES, rows, self.bayes_error, style)
        end = measure_along(canvas, rows, None)

        def mark(ax: Any) -> dict[str, Any]:
            area = {"color": ink(), "alpha": 0.08, "linewidth": 0, "zorder": 0}
            below = ax.fill_between(rows, 0, self.bayes_error, **area)
            return {"below the Bayes error": below, **draw_drifts(ax, errors.drifts, end)}

        every = [*curves.values(), np.asarray(self.bayes_error)]
        errors._finish(canvas, rows, every, end=end, mark=mark)

    def _error_curves(self) -> dict[str, np.ndarray]:
        assert self.errors is not None
        curves = {name: curve.mean(axis=1) for name, curve in self.errors.curves.items()}
        return {**curves, BAYES: np.asarray(self.bayes_error)}

    def _parts(self) -> Iterable[Mapping[str, Any]]:
        if self.errors is not None and self.kind == "error":
            for name, values in self._error_curves().items():
                yield {"row": self.errors.checkpoints, "model": name, "value": values}
            return
        mixture = self.mixture
        assert mixture is not None
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
            return last_values([*self._error_curves().items()])
        assert self.mixture is not None
        n_components, times = len(self.mixture.labels), self.mixture.times
        return f"{n_components} components at {len(times)} rows up to {times[-1]:,.0f}"


def _check_stream(stream: Any) -> None:
    if not isinstance(stream, GaussianMixtureStream):
        raise TypeError(
            f"Expected a GaussianMixtureStream, such as load_testbed('NSGT'). Got "
            f"{type(stream).__name__}."
        )


def _mixture_of(
    stream: GaussianMixtureStream,
    n_times: int,
    n_rows: int,
    features: tuple[int, int],
    *,
    in_frames: bool,
) -> MixtureAtRows:
    names, two = stream.feature_names or [], list(features)
    if len(two) != 2 or two[0] == two[1] or not all(0 <= k < len(names) for k in two):
        raise ValueError(
            f"features must be two different numbers of features, from 0 to {len(names) - 1}. Got "
            f"{features!r}."
        )
    last = max((drift.end for drift in stream.drifts), default=AROUND)  # of an endless one
    if stream.n_rows is not None:
        last = stream.n_rows - 1
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
    if forgetting is not None and not forgetting.follows_loss:
        sums, weights = (forgetting.sum_of_values().update(x) for x in (at_rows, at_rows**0))
        at_rows = sums / weights
    return at_rows[checkpoints - 1]
