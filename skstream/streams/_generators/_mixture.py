"""Streams of a mixture of Gaussians that changes along the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.rows.stream import Drift
from skstream.streams._generators._base import GeneratedStream, floats_of, normal_rows
from skstream.streams._generators._components import Component, Phase
from skstream.streams._generators._mixture_truth import (
    BayesError,
    MixtureTruth,
    checked_truth,
    integrated_error,
)
from skstream.utils._labels import find_classes
from skstream.utils._seeds import uniform


class Moments(NamedTuple):
    """What the components of a mixture are at a row, or at several.

    Parameters
    ----------
    priors : ndarray of shape (n_components,) or (n_rows, n_components)
        Probability of each component; 0 where it does not exist.
    centers : ndarray of shape (n_components, n_features) or (n_rows, n_components, n_features)
        Means.
    covariances : ndarray of shape (..., n_components, n_features, n_features)
        Covariance matrices.

    Examples
    --------
    >>> from skstream.streams import load_testbed
    >>> load_testbed("NSPC").moments(t=5000).priors.round(2)
    array([0.25, 0.25, 0.5 ])
    """

    priors: NDArray[np.float64]
    centers: NDArray[np.float64]
    covariances: NDArray[np.float64]


class GaussianMixtureStream(GeneratedStream):
    """Rows from a changing mixture of Gaussians, each with a class.

    Everything is known: the density, the posterior probability of every class, the best possible
    prediction at any row, and its error.

    Parameters
    ----------
    components : sequence of Component
        The Gaussians, with their labels, weights and changes. Any number of classes and features.
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    class_weights : dict, default=None
        Factors for the weights of the components of each class, by label; 1 for a class that is not
        named.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.

    See Also
    --------
    load_testbed : Nine such streams that test one ability each.
    skstream.optimal.BayesOptimal : The best possible predictions, as a model.

    Notes
    -----
    The first row is row 0. The component of a row is drawn by the priors, then the row from this
    component.

    References
    ----------
    Cervantes, A., Gagné, C., Isasi, P. and Parizeau, M. Evaluating and characterizing incremental
    learning from non-stationary data. Section 3. Its formula 7 divides by another sum, with which
    the priors of several classes do not sum to 1.

    Examples
    --------
    >>> from skstream.streams import Component, GaussianMixtureStream, Phase
    >>> right = [Phase(0, 999, move=(4, 0))]
    >>> stream = GaussianMixtureStream(
    ...     [
    ...         Component("A", 1, (0, 0), (2.5, 1), 45, phases=right),
    ...         Component("B", 1, (5, 0), (2.5, 1), -45, phases=right),
    ...     ],
    ...     n_rows=1000,
    ... )
    >>> stream.posterior([[2.5, 0.0], [6.5, 0.0]], t=[0, 999]).round(3)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> stream.bayes_predict([[4.0, 0.0]], t=0), stream.bayes_predict([[4.0, 0.0]], t=999)
    (array(['B'], dtype='<U1'), array(['A'], dtype='<U1'))
    >>> round(stream.bayes_error(), 4)
    0.0294
    """

    def __init__(
        self,
        components: Sequence[Component],
        n_rows: int | None = 10_000,
        *,
        class_weights: Mapping[Any, float] | None = None,
        random_state: int = 0,
        chunk_size: int = 65536,
    ) -> None:
        super().__init__(n_rows, random_state=random_state, chunk_size=chunk_size)
        self.components: tuple[Component, ...] = _checked_components(components)
        self.class_weights = None if class_weights is None else dict(class_weights)
        self._classes = find_classes([one.label for one in self.components], "components")
        self._truth: MixtureTruth = checked_truth(
            self.components, self._classes.tolist(), self.class_weights or {}, self.n_rows
        )
        self._n_features = self._truth.n_features

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted labels of the components."""
        return self._classes.copy()

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Rows over which any component changes, or at which one starts."""
        return _drifts(self.components, self.n_rows)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, n_features)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        numbers = self.component_numbers(start, stop)
        rows = np.arange(start, stop, dtype=np.float64)
        vectors = normal_rows(self.random_state, "mixture features", start, stop, self._n_features)
        for number, path in enumerate(self._truth.paths):
            at = np.flatnonzero(numbers == number)
            if len(at):
                columns = path.place(rows[at], list(vectors[at].T))
                for k, column in enumerate(columns):
                    vectors[at, k] = column
        return vectors, self._classes[self._truth.codes[numbers]]

    def component_numbers(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return the component that generated each row.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        numbers : ndarray of shape (stop - start,)
            Positions in `components`.
        """
        rows = np.arange(start, stop, dtype=np.float64)
        draws = uniform(self.random_state, "mixture component", start, stop)
        return self._truth.drawn(rows, draws)

    def moments(self, t: ArrayLike) -> Moments:
        """Return priors, means and covariances of the components at a row, or at several.

        Parameters
        ----------
        t : int or array-like of shape (n_rows,)
            Row numbers, at least 0. Rows after the end are those of the endless stream.

        Returns
        -------
        moments : Moments
            With an additional axis if `t` is an array.
        """
        rows = _checked_times(t, None)
        truth = self._truth
        found = Moments(
            truth.priors(rows).T,
            np.stack([np.column_stack(path.center(rows)) for path in truth.paths], axis=1),
            np.stack([path.covariance(rows) for path in truth.paths], axis=1),
        )
        return Moments(*(part[0] for part in found)) if np.ndim(t) == 0 else found

    def density(self, X: ArrayLike, t: ArrayLike) -> NDArray[np.float64]:
        """Return the density of some vectors under the mixture at a row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Vectors.
        t : int or array-like of shape (n_rows,)
            Row numbers, one for all vectors or one for each.

        Returns
        -------
        density : ndarray of shape (n_rows,)
            Density of each.

        Raises
        ------
        ValueError
            If `X` has another number of columns or a number that is not finite, or `t` is not a row
            number.
        """
        density, _ = self._truth.posterior(*self._vectors(X, t))
        return density

    def posterior(self, X: ArrayLike, t: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, given a vector and its row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Vectors.
        t : int or array-like of shape (n_rows,)
            Row numbers, one for all vectors or one for each.

        Returns
        -------
        posterior : ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes`; each row sums to 1.

        Raises
        ------
        ValueError
            If `X` has another number of columns or a number that is not finite, or `t` is not a row
            number.
        """
        _, posterior = self._truth.posterior(*self._vectors(X, t))
        return posterior

    def bayes_predict(self, X: ArrayLike, t: ArrayLike) -> NDArray[Any]:
        """Return the Bayes-optimal prediction: the class of the highest posterior probability.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Vectors.
        t : int or array-like of shape (n_rows,)
            Row numbers, one for all vectors or one for each.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Labels; ties go to the first in `classes`.

        Raises
        ------
        ValueError
            If `X` has another number of columns or a number that is not finite, or `t` is not a row
            number.
        """
        return self._classes[self.posterior(X, t).argmax(axis=1)]

    def bayes_error(self) -> float:
        """Return the error of the best possible predictions, over all rows of the stream.

        `bayes_error_estimate` also returns its standard error.

        Returns
        -------
        error : float
            Between 0 and 1. Of an endless stream: after its last change.
        """
        return float(self.bayes_error_estimate().error)

    def bayes_error_estimate(
        self, t: ArrayLike | None = None, *, n_points: int | None = None
    ) -> BayesError:
        """Estimate the error of the best possible predictions, with a standard error.

        Parameters
        ----------
        t : int or array-like of shape (n_rows,), default=None
            Row numbers at which to estimate it; None: the mean over all rows of the stream, or for
            an endless one the error after its last change.
        n_points : int, default=None
            Points of the integral for each component: the more, the more precise. None: 131,072 for
            the mean over the stream, 8,192 for each row.

        Returns
        -------
        estimate : BayesError
            `error` and `standard_error`, numbers or arrays of the shape of `t`. The standard error
            is 0 if the integral has a closed form: two components with the same covariance.

        Notes
        -----
        The error is the mean of 1 minus the highest posterior probability. It is integrated over
        rows and vectors at evenly spread points, in 16 groups with random shifts; the standard
        error is computed from their differences. The seed of the stream has no influence.

        Examples
        --------
        >>> from skstream.streams import load_testbed
        >>> load_testbed("NSGT-5D").bayes_error_estimate(t=[0, 5000]).error.round(4)
        array([0.0576, 0.0576])
        """
        if t is not None:
            rows = _checked_times(t, None)
            error, spread = integrated_error(self._truth, rows, n_points or 8192, each=True)
            if np.ndim(t) == 0:
                return BayesError(float(error[0]), float(spread[0]))
            return BayesError(error, spread)
        last = max((phase.end for one in self.components for phase in one.phases), default=0)
        settled = float(max(last, *(one.start for one in self.components)))
        rows = np.array([settled]) if self.n_rows is None else np.arange(float(self.n_rows))
        error, spread = integrated_error(self._truth, rows, n_points or 131_072, each=False)
        return BayesError(float(error[0]), float(spread[0]))

    def _vectors(
        self, X: ArrayLike, t: ArrayLike
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Columns of some vectors, and their rows."""
        vectors = np.asarray(X, dtype=np.float64)
        if vectors.ndim != 2 or vectors.shape[1] != self._n_features:
            raise ValueError(
                f"X must have {self._n_features} columns, as the rows of the stream. Got shape "
                f"{vectors.shape} instead."
            )
        finite = np.isfinite(vectors)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ValueError(
                f"X must contain finite numbers, but row {row} has {vectors[row, column]} in "
                f"column {column}. Leave such rows out, or fill in the values."
            )
        return list(vectors.T), _checked_times(t, len(vectors))


def _checked_components(components: Any) -> tuple[Component, ...]:
    if isinstance(components, Component):
        components = (components,)
    found = tuple(components) if hasattr(components, "__iter__") else ()
    for one in found or (components,):
        if not isinstance(one, Component):
            raise TypeError(
                f"components must be a sequence of Component. Got {one!r} of type "
                f"{type(one).__name__} in it."
            )
    sizes = {len(one.center): one for one in found}
    if len(sizes) > 1:
        first, second, *_ = sizes.items()
        raise ValueError(
            f"All components must have the same number of features. Component {first[1].label!r} "
            f"has {first[0]}, component {second[1].label!r} has {second[0]}."
        )
    return found


def _checked_times(t: ArrayLike, n: int | None) -> NDArray[np.float64]:
    """Row numbers as floats; one for each of `n` vectors."""
    times = floats_of(t)
    if times.ndim > 1 or not (np.isfinite(times) & (times >= 0)).all():
        raise ValueError(f"t must be a row number >= 0, or an array of them. Got {t!r} instead.")
    if n is None:
        return np.atleast_1d(times)
    if times.ndim and len(times) != n:
        raise ValueError(
            f"t must be one row number, or one for each of the {n} vectors. Got {len(times)}."
        )
    return np.broadcast_to(times, (n,))


def _drifts(components: Sequence[Component], n_rows: int | None) -> tuple[Drift, ...]:
    """Rows of the changes of all components, those that overlap as one."""
    changes = [Drift(one.start, one.start) for one in components]
    for one in components:
        weight = one.weight
        for phase in one.phases:
            if _changes(phase, weight):
                # The row at which a gradual change starts is the last one of the old truth.
                changes.append(Drift(min(phase.start + 1, phase.end), phase.end))
            weight = weight if phase.weight is None else phase.weight
    drifts: list[Drift] = []
    for start, end in sorted(set(changes)):
        if end == 0 or (n_rows is not None and start >= n_rows):
            continue
        if drifts and start <= drifts[-1].end:
            drifts[-1] = Drift(drifts[-1].start, max(end, drifts[-1].end))
        else:
            drifts.append(Drift(start, end))
    return tuple(drifts)


def _changes(phase: Phase, weight: float) -> bool:
    moved = phase.move is not None and any(phase.move)
    weighed = phase.weight is not None and phase.weight != weight
    return bool(moved or phase.turns or phase.scale != 1 or weighed)
