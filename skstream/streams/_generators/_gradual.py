"""Streams whose concepts move, or are drawn: hyperplane, radial basis functions, tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.stream import Drift
from skstream.streams._generators._base import (
    ConceptStream,
    GeneratedStream,
    check_concepts,
    continuous_drift,
    lengths,
    normal_rows,
    parameter,
    reflected,
    sum_of,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_number, check_share
from skstream.utils._seeds import uniform

# Periods whose directions are drawn at once on the way to a row.
_PERIODS = 65536


@dataclass(kw_only=True, eq=False, repr=False)
class RotatingHyperplane(GeneratedStream):
    """Label 1 on one side of a plane that turns steadily.

    All features are uniform in [0, 1). The label is 1 where the weighted sum of the features is at
    least half the sum of the weights, so that both labels are equally frequent. The weights begin
    anywhere in [0, 1), and those of the first `n_drifting` features move with every row.

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
    n_drifting : int, default=2
        Number of features whose weights change.
    magnitude : float, default=0.1
        How far these weights move in each period, evenly along its rows. A weight that reaches 0
        or 1 turns back.
    period : int, default=1000
        Rows after which each of them may change its direction.
    reversal : float, default=0.1
        Probability that it does, for each period and weight.
    noise : float, default=0.05
        Share of the rows whose label is the wrong one, from 0 to 1.

    Notes
    -----
    The plane is that of [1]_; magnitude, period and reversal are those of [2]_ (t, N and 10 %),
    where weights may grow without bound, and the plane turns ever more slowly. For streams that
    other software calls HYP(10, 0.001) take ``n_drifting=10, magnitude=0.001, period=1``. Rows far
    from the last ones that were made cost a sum over the periods before them.

    References
    ----------
    .. [1] Hulten, G., Spencer, L. and Domingos, P. (2001). Mining time-changing data streams. KDD.
    .. [2] Wang, H., Fan, W., Yu, P. and Han, J. (2003). Mining concept-drifting data streams using
       ensemble classifiers. KDD.

    Examples
    --------
    >>> from skstream.streams import RotatingHyperplane
    >>> stream = RotatingHyperplane(5000, n_features=3)
    >>> stream.weights(0, 5000)[::1000].round(2)
    array([[0.72, 0.47, 0.55],
           [0.62, 0.37, 0.55],
           [0.52, 0.27, 0.55],
           [0.42, 0.17, 0.55],
           [0.32, 0.27, 0.55]])
    """

    n_features: int = parameter(10, check_count, 1)
    n_drifting: int = parameter(2, check_count, 0)
    magnitude: float = parameter(0.1, check_number)
    period: int = parameter(1000, check_count, 1)
    reversal: float = parameter(0.1, check_share)
    noise: float = parameter(0.05, check_share)
    _n_classes = 2

    def _prepare(self) -> None:
        self._n_features = self.n_features
        if self.n_drifting > self.n_features:
            raise ValueError(
                f"n_drifting must be at most n_features={self.n_features}. Got {self.n_drifting!r} "
                f"instead."
            )
        self._begin = uniform(self.random_state, "hyperplane weights", 0, self.n_features)
        is_rising = uniform(self.random_state, "hyperplane directions", 0, self.n_drifting) < 0.5
        # A period, the directions in it (1 or -1), and their sum over the periods before.
        self._first = (0, np.where(is_rising, 1, -1), np.zeros(self.n_drifting, dtype=np.int64))
        self._known = self._first

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """One drift over all rows, if any weight moves."""
        return continuous_drift(self.n_rows) if self.n_drifting and self.magnitude else ()

    def bayes_error(self) -> float:
        """Return the error of the best possible answers.

        Returns
        -------
        error : float
            The share of wrong labels, or of right ones where these are fewer.
        """
        return min(self.noise, 1 - self.noise)

    def weights(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the weights at the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        weights : ndarray of shape (stop - start, n_features)
            Between 0 and 1.
        """
        weights = np.repeat(self._begin[np.newaxis], stop - start, axis=0)
        if self.n_drifting and stop > start:
            period, place = np.divmod(np.arange(start, stop), self.period)
            signs, sums = self._directions(int(period[0]), int(period[-1]) + 1)
            within = period - period[0]
            steps = sums[within] + signs[within] * (place / self.period)[:, np.newaxis]
            moved = self._begin[: self.n_drifting] + self.magnitude * steps
            weights[:, : self.n_drifting] = reflected(moved)
        return weights

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

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
        X = uniform_rows(self.random_state, "hyperplane", start, stop, self.n_features)
        terms = (X - 0.5) * self.weights(start, stop)
        is_wrong = uniform(self.random_state, "hyperplane noise", start, stop) < self.noise
        return X, ((sum_of(terms.T) >= 0) != is_wrong).astype(np.int64)

    def _directions(self, first: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Directions in periods, and for each period the sum of the directions before it."""
        known = self._known if self._known[0] <= first else self._first
        while known[0] < first:
            signs, sums = self._go_on(known, min(known[0] + _PERIODS, first) + 1)
            known = known[0] + len(signs) - 1, signs[-1], sums[-1]
        self._known = known
        return self._go_on(known, end)

    def _go_on(
        self, known: tuple[int, NDArray[np.int64], NDArray[np.int64]], end: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Directions and their sums from a known period up to another."""
        first, signs, sums = known
        numbers = uniform_rows(
            self.random_state, "hyperplane reversals", first + 1, end, self.n_drifting
        )
        turns = np.where(numbers < self.reversal, -1, 1)
        all_signs = np.cumprod(np.concatenate([signs[np.newaxis], turns]), axis=0)
        steps = np.concatenate([sums[np.newaxis], all_signs[:-1]])
        return all_signs, np.cumsum(steps, axis=0)


_ERROR_ROWS = 100_000
_ERROR_PIECE = 4000


@dataclass(kw_only=True, eq=False, repr=False)
class RandomRBF(GeneratedStream):
    """Clouds of points around random centres, each of one class; the centres may move.

    Each centre has a place in the unit cube, a class, a weight (how often its points come) and a
    standard deviation, all random. A point lies in a random direction from its centre, as far as a
    normal number with this deviation says.

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
        Number of classes; each has a centre at least.
    n_centroids : int, default=50
        Number of centres.
    speed : float, default=0.0
        How far the moving centres go with each row, on straight lines in random directions; they
        are thrown back from the sides of the unit cube.
    n_drifting : int, default=None
        Number of centres that move; None for all.

    Notes
    -----
    All directions are equally likely here; in MOA those towards the corners of the cube come more
    often. Streams called RBF(50, 0.001) are ``RandomRBF(n_centroids=50, speed=0.001)``.

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
        """Return the places of the centres at a row.

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
        """Return the error of the best possible answers, averaged over the stream.

        Returns
        -------
        error : float or None
            The mean over 100,000 random rows of the probability of the other classes, which is
            known exactly for each; its standard error is below 0.001. None, not known, for an
            endless stream whose centres move.
        """
        if self.n_rows is None and self._is_moving:
            return None
        return self._mean_error

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

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
        of_classes: NDArray[np.float64] = densities.T @ of_class.T
        return of_classes


@dataclass(kw_only=True, eq=False, repr=False)
class RandomTree(ConceptStream):
    """Labels from a random decision tree over numeric and nominal features.

    Numeric features, which come first, are uniform in [0, 1); nominal ones are codes from 0 on, all
    equally likely. A tree is grown level by level: a node becomes a leaf of a random class, or is
    divided by a random feature, at a random threshold between those above it, or into one branch
    for each nominal value (once on each path).

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed of trees and rows. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    n_classes : int, default=2
        Number of classes.
    n_numeric : int, default=5
        Number of numeric features.
    n_nominal : int, default=5
        Number of nominal features.
    n_values : int, default=5
        Values of each nominal feature.
    max_depth : int, default=5
        Depth at which all nodes are leaves.
    first_leaf_depth : int, default=3
        Depth from which on nodes may be leaves; the root has depth 0.
    leaf_share : float, default=0.15
        Probability that a node from that depth on is a leaf.
    trees : sequence of int, default=(0,)
        Number of the tree of each concept, in their order; any integers from 0 on. The same number
        is the same tree.

    References
    ----------
    Domingos, P. and Hulten, G. (2000). Mining high-speed data streams. KDD.

    Examples
    --------
    >>> from skstream.streams import RandomTree
    >>> stream = RandomTree(3000, trees=(0, 1, 0))
    >>> stream.drifts
    (Drift(start=1000, end=1000), Drift(start=2000, end=2000))
    >>> stream.nominal_features
    [5, 6, 7, 8, 9]
    """

    n_classes: int = parameter(2, check_count, 2)
    n_numeric: int = parameter(5, check_count, 0)
    n_nominal: int = parameter(5, check_count, 0)
    n_values: int = parameter(5, check_count, 2)
    max_depth: int = parameter(5, check_count, 1)
    first_leaf_depth: int = parameter(3, check_count, 1)
    leaf_share: float = parameter(0.15, check_share)
    trees: Sequence[int] = parameter((0,), check_concepts, range(2**31))
    _of_concepts = "trees"

    def _prepare(self) -> None:
        if self.n_numeric + self.n_nominal == 0:
            raise ValueError("A row needs a feature: n_numeric and n_nominal are both 0.")
        super()._prepare()
        self._n_classes, self._n_features = self.n_classes, self.n_numeric + self.n_nominal
        self._trees = {number: self._grown(number) for number in self.trees}

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns that hold codes of nominal values: the last ones."""
        return list(range(self.n_numeric, self.n_numeric + self.n_nominal))

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, n_numeric + n_nominal)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = uniform_rows(self.random_state, "tree rows", start, stop, self._n_features)
        nominal = X[:, self.n_numeric :]
        np.floor(self.n_values * nominal, out=nominal)
        return X, self._labels(X, start)

    def _label(self, concept: int, X: NDArray[np.float64]) -> Any:
        tree = self._trees[concept]
        first = np.arange(len(X)) * X.shape[1]
        values = X.ravel()
        node = np.zeros(len(X), dtype=np.intp)
        for _ in range(tree.depth):
            value = values[first + tree.feature[node]]
            threshold = tree.threshold[node]
            # Without a threshold the value is the number of the branch.
            branch = np.where(np.isnan(threshold), value, value > threshold)
            node = tree.child[node] + branch.astype(np.intp)
        return tree.label[node]

    def _grown(self, number: int) -> "_Tree":
        numbers = _numbers(self.random_state, f"tree {number}")
        # Of each node the bounds of numeric features, and the nominal ones not used above it.
        open_nodes: list[tuple[tuple[float, ...], tuple[float, ...], list[int]]] = [
            ((0.0,) * self.n_numeric, (1.0,) * self.n_numeric, list(range(self.n_nominal)))
        ]
        nodes: list[tuple[int, float, int, int]] = []
        depth, depth_ends = 0, 1
        for at, (low, high, nominal) in enumerate(open_nodes):  # which grow meanwhile
            if at == depth_ends:
                depth, depth_ends = depth + 1, len(open_nodes)
            may_be_leaf = depth >= self.first_leaf_depth
            is_leaf = may_be_leaf and next(numbers) < self.leaf_share
            n_choices = self.n_numeric + len(nominal)
            if depth == self.max_depth or is_leaf or n_choices == 0:
                nodes.append((0, np.inf, at, int(next(numbers) * self.n_classes)))
                continue
            choice, share, child = int(next(numbers) * n_choices), next(numbers), len(open_nodes)
            if choice < self.n_numeric:
                threshold = low[choice] + share * (high[choice] - low[choice])
                highs = (*high[:choice], threshold, *high[choice + 1 :])
                lows = (*low[:choice], threshold, *low[choice + 1 :])
                open_nodes += [(low, highs, nominal), (lows, high, nominal)]
                nodes.append((choice, threshold, child, -1))
            else:
                chosen = nominal[choice - self.n_numeric]
                left = [feature for feature in nominal if feature != chosen]
                open_nodes += [(low, high, left)] * self.n_values
                nodes.append((self.n_numeric + chosen, np.nan, child, -1))
        columns: Any = map(np.array, zip(*nodes, strict=True))
        return _Tree(depth, *columns)


class _Tree(NamedTuple):
    """Nodes as arrays; a leaf has itself as its only child."""

    depth: int
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    child: NDArray[np.intp]
    label: NDArray[np.int64]


def _numbers(seed: int, name: str) -> Iterator[float]:
    """Yield random numbers, one after the other."""
    for start in count(0, 1024):
        yield from uniform(seed, name, start, start + 1024).tolist()
