"""The truth of a mixture of classes along the stream, and the error of the best answers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skstream.streams._generators._base import Floats, sum_of, turned
from skstream.streams._generators._components import Component, Phase
from skstream.utils._seeds import uniform

Columns = list[Floats]


_NO_CHANGE = Phase(0, 0)


@dataclass(frozen=True)
class Piece:
    """A component from the first row of a phase on, until the next one begins.

    `axes` maps standard normal vectors to the Gaussian around its center; its square is the
    covariance. These values are those at the beginning; `_NO_CHANGE` is before the first phase.
    """

    phase: Phase
    center: Floats
    axes: Floats
    weight: float

    def share(self, rows: Floats) -> Floats:
        """Return the share of the change that is done."""
        start, end = self.phase.start, self.phase.end
        if start == end:
            return np.ones_like(rows)
        return np.clip((rows - start) / (end - start), 0.0, 1.0)

    def weight_at(self, share: Floats) -> Floats:
        """Weight after a share of the change."""
        if self.phase.weight is None:
            return np.full_like(share, self.weight)
        # A sum over both ends, so that the last one is met exactly.
        return self.weight * (1 - share) + self.phase.weight * share

    def center_at(self, share: Floats) -> Columns:
        """Center after a share of the change."""
        columns: Columns = [np.full_like(share, value) for value in self.center]
        if self.phase.orbit:
            columns = turned(columns, self.phase.plane, self.phase.orbit * share)
        if self.phase.move is not None:
            columns = [
                column + by * share for column, by in zip(columns, self.phase.move, strict=True)
            ]
        return columns

    def spread(self, vectors: Columns, share: Floats) -> Columns:
        """Standard normal vectors as those of the Gaussian, before the center is added."""
        columns = _product(self.axes, vectors)
        if self.phase.rotate:
            columns = turned(columns, self.phase.plane, self.phase.rotate * share)
        if self.phase.scale != 1:
            factor = self._factor(share)
            columns = [column * factor for column in columns]
        return columns

    def place(self, vectors: Columns, share: Floats) -> Columns:
        """Standard normal vectors as rows of the component."""
        return [
            middle + column
            for middle, column in zip(
                self.center_at(share), self.spread(vectors, share), strict=True
            )
        ]

    def whiten(self, columns: Columns, share: Floats) -> tuple[Columns, Floats]:
        """Return the inverse of `place`, and the logarithm of the determinant of the axes."""
        columns = [
            column - middle for column, middle in zip(columns, self.center_at(share), strict=True)
        ]
        volume = np.full_like(share, np.linalg.slogdet(self.axes)[1])
        if self.phase.rotate:
            columns = turned(columns, self.phase.plane, -self.phase.rotate * share)
        columns = _product(np.linalg.inv(self.axes).astype(np.float64), columns)
        if self.phase.scale != 1:
            factor = self._factor(share)
            columns = [column / factor for column in columns]
            volume += len(columns) * np.log(factor)
        return columns, volume

    def after(self, phase: Phase) -> "Piece":
        """Return the piece of the next phase: what this one has left."""
        end = np.ones(1)
        size = len(self.center)
        axes = [self.spread([np.full(1, value) for value in row], end) for row in np.eye(size)]
        return Piece(
            phase,
            np.concatenate(self.center_at(end)),
            np.column_stack([np.concatenate(axis) for axis in axes]),
            float(self.weight_at(end)[0]),
        )

    def _factor(self, share: Floats) -> Floats:
        return np.sqrt(1 + (self.phase.scale - 1) * share)


class Path:
    """One component along the stream."""

    def __init__(self, component: Component) -> None:
        self.start = component.start
        self.n_features = len(component.center)
        directions: Any = component.rotation
        if isinstance(directions, float):
            directions = _turned_axes(self.n_features, directions)
        axes = np.array(directions) * np.sqrt(np.array(component.variances))
        pieces = [Piece(_NO_CHANGE, np.array(component.center), axes, component.weight)]
        for phase in component.phases:
            pieces.append(pieces[-1].after(phase))
        self._pieces = pieces
        self._starts = np.array([phase.start for phase in component.phases], dtype=np.float64)

    def weight(self, rows: Floats) -> Floats:
        """Weight at some rows; 0 where the component does not exist yet."""
        (weight,) = self._joined(rows, [], lambda piece, _, share: [piece.weight_at(share)])
        return np.where(rows >= self.start, weight, 0.0)

    def center(self, rows: Floats) -> Columns:
        """Center at some rows, by columns."""
        return self._joined(rows, [], lambda piece, _, share: piece.center_at(share))

    def place(self, rows: Floats, vectors: Columns) -> Columns:
        """Standard normal vectors as rows of the component."""
        return self._joined(rows, vectors, Piece.place)

    def whiten(self, rows: Floats, columns: Columns) -> tuple[Columns, Floats]:
        """Return the inverse of `place`, and the logarithm of the determinant of the axes."""

        def flat(piece: Piece, part: Columns, share: Floats) -> Columns:
            vectors, volume = piece.whiten(part, share)
            return [*vectors, volume]

        *vectors, volume = self._joined(rows, columns, flat)
        return vectors, volume

    def log_density(self, rows: Floats, columns: Columns) -> Floats:
        """Return the logarithm of the density of each vector at its row."""
        vectors, volume = self.whiten(rows, columns)
        squares = sum_of([vector * vector for vector in vectors])
        return -0.5 * squares - (volume + 0.5 * self.n_features * math.log(2 * math.pi))

    def covariance(self, rows: Floats) -> Floats:
        """Covariance at some rows, of shape (n_rows, n_features, n_features)."""
        units = np.eye(self.n_features)
        axes = np.empty((len(rows), self.n_features, self.n_features))
        for k, unit in enumerate(units):
            vectors = [np.full_like(rows, value) for value in unit]
            columns = self._joined(rows, vectors, Piece.spread)
            axes[:, :, k] = np.column_stack(columns)
        return axes @ axes.transpose(0, 2, 1)

    def _joined(
        self,
        rows: Floats,
        columns: Columns,
        make: Callable[[Piece, Columns, Floats], Columns],
    ) -> Columns:
        """Results of all rows, each made by the piece in which it lies."""
        results: Columns = []
        for piece, at in self._parts(rows):
            part = make(piece, [column[at] for column in columns], piece.share(rows[at]))
            if isinstance(at, slice):
                return part
            results = results or [np.empty_like(rows) for _ in part]
            for result, values in zip(results, part, strict=True):
                result[at] = values
        return results

    def _parts(self, rows: Floats) -> Iterator[tuple[Piece, Any]]:
        """Yield each piece with its rows; a slice where all rows are of one piece."""
        numbers: NDArray[np.intp] = np.searchsorted(self._starts, rows, side="right")
        present = np.flatnonzero(np.bincount(numbers, minlength=1))
        if len(present) <= 1:
            yield self._pieces[present[0] if len(present) else 0], slice(None)
            return
        for k in present:
            yield self._pieces[k], np.flatnonzero(numbers == k)


def _turned_axes(n_features: int, degrees: float) -> Floats:
    """Directions of the axes, in columns; turned in the plane of the first two features."""
    if n_features == 1:
        return np.eye(1)
    angles = np.full(n_features, degrees)
    return np.array(turned(list(np.eye(n_features)), (0, 1), angles))


def _product(matrix: Floats, vectors: Columns) -> Columns:
    """Return the product of a matrix and vectors; zeros of the matrix cost nothing."""
    columns = []
    for row in matrix:
        used = [(value, vector) for value, vector in zip(row, vectors, strict=True) if value]
        column = used[0][0] * used[0][1] if used else np.zeros_like(vectors[0])
        for value, vector in used[1:]:
            column = column + value * vector
        columns.append(column)
    return columns


#: The squares of larger numbers, divided by variances, may overflow.
_FARTHEST = 1e100


class MixtureTruth(NamedTuple):
    """The mixture that a stream is drawn from.

    Parameters
    ----------
    paths : tuple of Path
        The components along the stream.
    codes : ndarray of shape (n_components,), dtype intp
        Position of the label of each in the sorted classes.
    class_weights : ndarray of shape (n_components,)
        Weight of the class of each.
    """

    paths: tuple[Path, ...]
    codes: NDArray[np.intp]
    class_weights: Floats

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.paths[0].n_features

    def weights(self, rows: Floats) -> Floats:
        """Weights of the components, (n_components, n_rows)."""
        return np.array(
            [
                path.weight(rows) * by
                for path, by in zip(self.paths, self.class_weights, strict=True)
            ]
        )

    def priors(self, rows: Floats) -> Floats:
        """Priors of the components, (n_components, n_rows)."""
        weights = self.weights(rows)
        total = sum_of(weights)
        empty = np.flatnonzero(total == 0)
        if len(empty):
            raise ValueError(_nothing_at(rows[empty[0]]))
        return weights / total

    def drawn(self, rows: Floats, draws: Floats) -> NDArray[np.intp]:
        """Return the component of each row, by a number in [0, 1) for each."""
        weights = self.weights(rows)
        draws = draws * sum_of(weights)
        numbers = np.zeros(len(rows), dtype=np.intp)
        bound = np.zeros(len(rows))
        for weight in weights[:-1]:
            bound = bound + weight
            numbers += draws >= bound
        # A product that is rounded up may reach the sum: then it is the last one with a weight.
        while len(wrong := np.flatnonzero(weights[numbers, np.arange(len(rows))] == 0)):
            numbers[wrong] -= 1
        return numbers

    def posterior(self, columns: Columns, rows: Floats) -> tuple[Floats, Floats]:
        """Density of each vector at its row, and (n_rows, n_classes) the share of each class.

        Of a vector farther than `_FARTHEST`, the shares are those of one nearer in its direction.
        """
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            largest = np.max(np.abs(columns), axis=0, initial=_FARTHEST)
            columns = [column * (_FARTHEST / largest) for column in columns]
            priors = np.log(self.priors(rows))
            logs = priors + [path.log_density(rows, columns) for path in self.paths]
        most = logs.max(axis=0)
        too_far = ~np.isfinite(most)  # is a center, so that the priors alone are known
        logs[:, too_far], most[too_far] = priors[:, too_far], 0.0
        shares = np.zeros((int(self.codes.max()) + 1, len(rows)))
        for code, log in zip(self.codes, logs, strict=True):
            shares[code] += np.exp(log - most)
        total = sum_of(shares)
        density = np.where(too_far, 0.0, total * np.exp(most))
        return density, np.ascontiguousarray((shares / total).T)


def checked_truth(
    components: Sequence[Component],
    classes: Sequence[Any],
    class_weights: Mapping[Any, float],
    n_rows: int | None,
) -> MixtureTruth:
    """Return the truth of a stream, or raise an error where rows or labels would be missing."""
    for label, weight in class_weights.items():
        if label not in classes:
            raise ValueError(f"class_weights names {label!r}, but the classes are {classes}.")
        if not 0 <= weight < np.inf:
            raise ValueError(
                f"class_weights must be finite numbers >= 0. Got {weight!r} for {label!r}."
            )
    truth = MixtureTruth(
        tuple(map(Path, components)),
        np.array([classes.index(one.label) for one in components], dtype=np.intp),
        np.array([float(class_weights.get(one.label, 1.0)) for one in components]),
    )
    # Between these rows all weights are linear: where none is 0 at both ends, none is between.
    rows = np.unique(
        [0, *(row + by for row in _rows_of_changes(components) for by in (-1, 0, 1))]
    ).astype(np.float64)
    rows = rows[(rows >= 0) & (rows < (np.inf if n_rows is None else n_rows))]
    if n_rows is not None:
        rows = np.union1d(rows, [n_rows - 1.0])
    weights = truth.weights(rows)
    empty = np.flatnonzero(weights.sum(axis=0) == 0)
    if len(empty):
        raise ValueError(_nothing_at(rows[empty[0]]))
    for code, label in enumerate(classes):
        if not weights[truth.codes == code].any():
            raise ValueError(
                f"Label {label!r} is never generated: its components have no weight at any row of "
                f"the stream{'' if n_rows is None else f', which has {n_rows:,}'}. Give them one, "
                f"or leave them out."
            )
    return truth


def _rows_of_changes(components: Sequence[Component]) -> set[int]:
    rows = {one.start for one in components}
    for one in components:
        rows |= {row for phase in one.phases for row in (phase.start, phase.end)}
    return rows


def _nothing_at(row: float) -> str:
    return f"No component has a weight at row {row:g}: at least one must have one."


#: Groups of points; each is shifted at random, and their spread is the standard error.
N_GROUPS = 16
#: Points that are computed at once.
N_AT_ONCE = 1 << 16


class BayesError(NamedTuple):
    """Error of the best possible answers.

    Parameters
    ----------
    error : float or ndarray
        Between 0 and 1.
    standard_error : float or ndarray
        How exact it is; 0 where there is a formula.

    Examples
    --------
    >>> from skstream.streams import load_testbed
    >>> load_testbed("NSGT-5D").bayes_error_estimate().standard_error
    0.0
    """

    error: float | NDArray[np.float64]
    standard_error: float | NDArray[np.float64]


def integrated_error(
    truth: MixtureTruth, rows: Floats, n_points: int, *, each: bool
) -> tuple[Floats, Floats]:
    """Return the error at some rows, or their mean, and its standard error.

    Parameters
    ----------
    truth : MixtureTruth
        The mixture.
    rows : ndarray of shape (n_rows,)
        Row numbers.
    n_points : int
        Points per component; for each row where `each`.
    each : bool
        Whether the error is wanted for each of the rows.

    Returns
    -------
    error, standard_error : ndarray of shape (n_rows,) or (1,)
    """
    if n_points < N_GROUPS:
        raise ValueError(f"n_points must be at least {N_GROUPS}. Got {n_points!r} instead.")
    exact = _of_equal_covariances(truth, rows)
    if exact is not None:
        error = exact if each else np.array([exact.mean()])
        return error, np.zeros_like(error)
    of_group = _at_each if each else _over_all
    n_rows = len(rows) if each else 1
    found = np.zeros((N_GROUPS, n_rows))
    n_axes = truth.n_features + (0 if each else 1)
    for number in range(len(truth.paths)):
        shifts = uniform(0, f"Bayes error {number}", 0, N_GROUPS * n_axes)
        for group, shift in enumerate(shifts.reshape(N_GROUPS, n_axes)):
            found[group] += of_group(truth, rows, number, n_points // N_GROUPS, shift)
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(N_GROUPS)


def _of_equal_covariances(truth: MixtureTruth, rows: Floats) -> Floats | None:
    """Error at each row by the formula for two Gaussians of one covariance, if they are two."""
    if len(truth.paths) != 2 or truth.codes[0] == truth.codes[1]:
        return None
    errors = np.empty(len(rows))
    first, second = truth.paths
    for start in range(0, len(rows), N_AT_ONCE):
        at = slice(start, start + N_AT_ONCE)
        spread = first.covariance(rows[at])
        scale = np.abs(spread).max(axis=(1, 2), keepdims=True)
        if (np.abs(spread - second.covariance(rows[at])) > 1e-12 * scale).any():
            return None
        vectors, _ = first.whiten(rows[at], second.center(rows[at]))
        distance = np.sqrt(sum_of([vector * vector for vector in vectors]))
        one, other = truth.priors(rows[at])
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.log(one / other) / distance
            error = one * ndtr(-distance / 2 - shift) + other * ndtr(-distance / 2 + shift)
        # Where a prior or the distance is 0 the answer is always the same.
        errors[at] = np.where(np.isfinite(error), error, np.minimum(one, other))
    return errors


def _over_all(
    truth: MixtureTruth, rows: Floats, number: int, n_points: int, shift: Floats
) -> Floats:
    """Part of a component in the mean error over some rows, by one group of points."""
    error = 0.0
    for start in range(0, n_points, N_AT_ONCE):
        points = _spread_evenly(start, min(start + N_AT_ONCE, n_points), shift)
        at = rows[(points[0] * len(rows)).astype(np.intp)]
        error += _errors(truth, at, number, points[1:]).sum() / n_points
    return np.array([error])


def _at_each(
    truth: MixtureTruth, rows: Floats, number: int, n_points: int, shift: Floats
) -> Floats:
    """Part of a component in the error at each row, by one group of points."""
    points = _spread_evenly(0, n_points, shift)
    n_at_once = max(1, N_AT_ONCE // n_points)
    parts = []
    for start in range(0, len(rows), n_at_once):
        some = rows[start : start + n_at_once]
        at, repeated = np.repeat(some, n_points), np.tile(points, len(some))
        errors = _errors(truth, at, number, repeated).reshape(len(some), n_points)
        parts.append(errors.mean(axis=1))
    return np.concatenate(parts) if parts else np.empty(0)


def _errors(truth: MixtureTruth, rows: Floats, number: int, points: Floats) -> Floats:
    """Probability of a component, and of an error, at points of the unit cube that it is put on."""
    columns = truth.paths[number].place(rows, list(ndtri(points)))
    _, posterior = truth.posterior(columns, rows)
    return (1 - posterior.max(axis=1)) * truth.priors(rows)[number]


def _spread_evenly(start: int, stop: int, shift: Floats) -> Floats:
    """Points in the open unit cube, (n_axes, n_points): multiples of irrational steps, shifted.

    The steps are powers of the inverse of the root of x^(n+1) = x + 1, which generalises the golden
    ratio.
    """
    n_axes = len(shift)
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (n_axes + 1))
    steps = root ** -np.arange(1.0, n_axes + 1)
    numbers = np.arange(start, stop) * steps[:, np.newaxis] + shift[:, np.newaxis]
    return np.clip(numbers % 1, 2.0**-53, 1 - 2.0**-53)
