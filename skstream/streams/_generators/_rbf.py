"""Clouds of points around centres, which may move."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.stream import Drift
from skstream.streams._generators._base import (
    GeneratedStream,
    continuous_drift,
    lengths,
    normal_rows,
    parameter,
    reflected,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_number
from skstream.utils._seeds import uniform

_ERROR_ROWS = 100_000
_ERROR_PIECE = 4000


@dataclass(kw_only=True, eq=False, repr=False)
class RandomRBF(GeneratedStream):
    """Clusters of points around random centres, each of one class; the centres may move.

    Each centre has a position in the unit cube, a class, a weight (the frequency of its points) and
    a standard deviation, all random. A point lies in a random direction from its centre, at a
    normal random distance with this standard deviation.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    n_features : int, default=10
        Number of features.
    n_classes : int, default=2
        Number of classes; each has at least one centre.
    n_centroids : int, default=50
        Number of centres.
    speed : float, default=0.0
        How far the moving centres go with each row, on straight lines in random directions; they
        are reflected at the sides of the unit cube.
    n_drifting : int, default=None
        Number of centres that move; None for all.

    Notes
    -----
    All directions are equally likely here; in MOA those towards the corners of the cube are more
    frequent. Streams called RBF(50, 0.001) are ``RandomRBF(n_centroids=50, speed=0.001)``.

    References
    ----------
    Bifet, A., Holmes, G., Pfahringer, B., Kirkby, R. and Gavaldà, R. (2009). New ensemble methods
    for evolving data streams. KDD.

    Examples
    --------
    >>> from skstream.streams import RandomRBF
    >>> stream = RandomRBF(5000, n_centroids=20, speed=0.001, n_drifting=10)
    >>> stream.centroids(4000).shape
    (20, 10)
    >>> stream.drifts
    (Drift(start=1, end=5000),)
    """

    n_features: int = parameter(10, check_count, 1)
    n_classes: int = parameter(2, check_count, 2)
    n_centroids: int = 50
    speed: float = parameter(0.0, check_number)
    n_drifting: int | None = None

    def _prepare(self) -> None:
        self._n_classes, self._n_features = self.n_classes, self.n_features
        self.n_centroids = check_count(self.n_centroids, "n_centroids", self.n_classes)
        if self.n_drifting is not None:
            self.n_drifting = check_count(self.n_drifting, "n_drifting", 0)
        seed, n = self.random_state, self.n_centroids
        self._places = uniform_rows(seed, "RBF centres", 0, n, self.n_features)
        self._deviations = uniform(seed, "RBF deviations", 0, n)
        self._weights = np.cumsum(uniform(seed, "RBF weights", 0, n))
        self._labels = (self.n_classes * uniform(seed, "RBF classes", 0, n)).astype(np.int64)
        self._labels[: self.n_classes] = np.arange(self.n_classes)
        directions = normal_rows(seed, "RBF directions", 0, n, self.n_features)
        self._steps = directions * (self.speed / lengths(directions))[:, np.newaxis]
        self._steps[n if self.n_drifting is None else self.n_drifting :] = 0
        self._is_moving = bool(self._steps.any())

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """One drift over all rows, if any centre moves."""
        return continuous_drift(self.n_rows) if self._is_moving else ()

    def centroids(self, row: int) -> NDArray[np.float64]:
        """Return the positions of the centres at a row.

        Parameters
        ----------
        row : int
            Number of the row.

        Returns
        -------
        places : ndarray of shape (n_centroids, n_features)
            In the unit cube.
        """
        return reflected(self._places + row * self._steps)

    def bayes_error(self) -> float | None:
        """Return the error of the best possible predictions, averaged over the stream.

        Returns
        -------
        error : float or None
            The mean over 100,000 random rows of the probability of the other classes, which is
            known exactly for each; its standard error is below 0.001. None (unknown) for an endless
            stream whose centres move.
        """
        if self.n_rows is None and self._is_moving:
            return None
        return self._mean_error

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
        return self._points("RBF", start, stop, np.arange(start, stop))

    def _points(
        self, name: str, start: int, stop: int, rows: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Points at the time of some rows, from the random numbers `start` to `stop`."""
        seed = self.random_state
        number = uniform(seed, f"{name} centre", start, stop) * self._weights[-1]
        last = self.n_centroids - 1
        centre = np.minimum(np.searchsorted(self._weights, number, side="right"), last)
        X = normal_rows(seed, f"{name} direction", start, stop, self.n_features)
        distance = normal_rows(seed, f"{name} distance", start, stop, 1)[:, 0]
        X *= (distance * self._deviations[centre] / lengths(X))[:, np.newaxis]
        if self._is_moving:
            X += reflected(self._places[centre] + rows[:, np.newaxis] * self._steps[centre])
        else:
            X += self._places[centre]
        return X, self._labels[centre]

    @cached_property
    def _mean_error(self) -> float:
        total = 0.0
        for start in range(0, _ERROR_ROWS, _ERROR_PIECE):
            numbers = np.arange(start, start + _ERROR_PIECE)
            # Evenly along the stream; at any time, if the centres stand still.
            rows = numbers * (self.n_rows or 0) // _ERROR_ROWS
            X, _ = self._points("RBF error", start, start + _ERROR_PIECE, rows)
            densities = self._densities(X, rows)
            total += float((1 - densities.max(axis=1) / densities.sum(axis=1)).sum())
        return total / _ERROR_ROWS

    def _densities(self, X: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
        """Density of each class at points, up to a factor of each point."""
        exponents = np.empty((self.n_centroids, len(X)))
        shares = np.diff(self._weights, prepend=0)
        for number, exponent in enumerate(exponents):
            place = self._places[number] + rows[:, np.newaxis] * self._steps[number]
            distance = lengths(X - reflected(place))
            deviation = self._deviations[number]
            exponent[:] = -((distance / deviation) ** 2) / 2 + np.log(shares[number] / deviation)
            # The farther from the centre, the more room for points at this distance.
            exponent -= (self.n_features - 1) * np.log(distance)
        densities = np.exp(exponents - exponents.max(axis=0))
        of_class = self._labels == np.arange(self.n_classes)[:, np.newaxis]
        return densities.T @ of_class.T
