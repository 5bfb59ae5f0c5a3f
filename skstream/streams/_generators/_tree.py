"""Labels from a random decision tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._base import (
    ConceptStream,
    check_concepts,
    parameter,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_share
from skstream.utils._seeds import uniform


@dataclass(kw_only=True, eq=False, repr=False)
class RandomTree(ConceptStream):
    """Labels from a random decision tree over numeric and nominal features.

    Numeric features, which come first, are uniform in [0, 1); nominal ones are codes from 0 on, all
    equally likely. A tree is grown level by level: a node becomes a leaf of a random class, or is
    split on a random feature, at a random threshold within the range left by the splits above, or
    into one branch for each nominal value (once on each path).

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed of trees and rows. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts have the same length;
        required for an endless stream of more than one concept.
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
        Smallest depth of a leaf; the root has depth 0.
    leaf_share : float, default=0.15
        Probability that a node of at least that depth is a leaf.
    trees : sequence of int, default=(0,)
        Number of the tree of each concept, in order; any integers from 0 on. The same number gives
        the same tree.

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
            raise ValueError(
                "A stream needs at least one feature, but n_numeric and n_nominal are both 0."
            )
        super()._prepare()
        self._n_classes, self._n_features = self.n_classes, self.n_numeric + self.n_nominal
        self._trees = {number: self._grown(number) for number in self.trees}

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns with codes of nominal values: the last ones."""
        return list(range(self.n_numeric, self.n_numeric + self.n_nominal))

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

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
        # For each node: bounds of numeric features, and the nominal ones not used above it.
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
