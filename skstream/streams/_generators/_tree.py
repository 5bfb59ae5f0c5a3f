"""Labels from a random decision tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._concepts import ConceptStream, check_concepts
from skstream.streams._generators._numbers import uniform_rows
from skstream.utils._choices import check_count, check_share
from skstream.utils._seeds import uniform


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
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    random_state : int, default=0
        Seed of trees and rows. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.

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

    def __init__(
        self,
        n_rows: int | None = 10_000,
        *,
        n_classes: int = 2,
        n_numeric: int = 5,
        n_nominal: int = 5,
        n_values: int = 5,
        max_depth: int = 5,
        first_leaf_depth: int = 3,
        leaf_share: float = 0.15,
        trees: Sequence[int] = (0,),
        change_rows: Sequence[int] | None = None,
        random_state: int = 0,
        chunk_size: int = 65536,
    ) -> None:
        super().__init__(n_rows, random_state=random_state, chunk_size=chunk_size)
        self.n_classes = check_count(n_classes, "n_classes", 2)
        self.n_numeric = check_count(n_numeric, "n_numeric", 0)
        self.n_nominal = check_count(n_nominal, "n_nominal", 0)
        if self.n_numeric + self.n_nominal == 0:
            raise ValueError("A row needs a feature: n_numeric and n_nominal are both 0.")
        self.n_values = check_count(n_values, "n_values", 2)
        self.max_depth = check_count(max_depth, "max_depth", 1)
        self.first_leaf_depth = check_count(first_leaf_depth, "first_leaf_depth", 1)
        self.leaf_share = check_share(leaf_share, "leaf_share")
        self.trees = check_concepts(trees, "trees", range(2**31))
        self._follow(self.trees, change_rows)
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
        return self._trees[concept].labels(X)

    def _grown(self, number: int) -> "_Tree":
        numbers = _numbers(self.random_state, f"tree {number}")
        nodes = [_Node((0.0,) * self.n_numeric, (1.0,) * self.n_numeric, range(self.n_nominal))]
        depth_ends = 1
        depth = 0
        for at in count():
            if at == len(nodes):
                break
            if at == depth_ends:
                depth, depth_ends = depth + 1, len(nodes)
            node = nodes[at]
            may_be_leaf = depth >= self.first_leaf_depth
            is_leaf = may_be_leaf and next(numbers) < self.leaf_share
            choices = self.n_numeric + len(node.nominal)
            if depth == self.max_depth or is_leaf or choices == 0:
                node.label = int(next(numbers) * self.n_classes)
            else:
                self._divide(node, int(next(numbers) * choices), next(numbers), nodes)
        return _Tree.of(nodes, depth)

    def _divide(self, node: "_Node", choice: int, number: float, nodes: list["_Node"]) -> None:
        node.child = len(nodes)
        if choice < self.n_numeric:
            node.feature = choice
            low, high = node.low[choice], node.high[choice]
            node.threshold = low + number * (high - low)
            highs = (*node.high[:choice], node.threshold, *node.high[choice + 1 :])
            lows = (*node.low[:choice], node.threshold, *node.low[choice + 1 :])
            nodes.append(_Node(node.low, highs, node.nominal))
            nodes.append(_Node(lows, node.high, node.nominal))
        else:
            chosen = node.nominal[choice - self.n_numeric]
            node.feature = self.n_numeric + chosen
            left = [feature for feature in node.nominal if feature != chosen]
            nodes.extend(_Node(node.low, node.high, left) for _ in range(self.n_values))


@dataclass
class _Node:
    """A node that grows: bounds of numeric features, nominal ones not yet used, and its test."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    nominal: Sequence[int]
    feature: int = 0
    threshold: float = np.nan
    child: int = -1
    label: int = -1


@dataclass(frozen=True)
class _Tree:
    """Nodes as arrays; a leaf has itself as its only child."""

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    child: NDArray[np.intp]
    label: NDArray[np.int64]
    depth: int

    @classmethod
    def of(cls, nodes: list[_Node], depth: int) -> "_Tree":
        """Tree of nodes that refer to one another by number."""
        is_leaf = np.array([node.child < 0 for node in nodes])
        threshold = np.array([node.threshold for node in nodes])
        child = np.array([node.child for node in nodes])
        return cls(
            feature=np.array([node.feature for node in nodes]),
            threshold=np.where(is_leaf, np.inf, threshold),
            child=np.where(is_leaf, np.arange(len(nodes)), child),
            label=np.array([node.label for node in nodes]),
            depth=depth,
        )

    def labels(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Labels of rows."""
        first = np.arange(len(X)) * X.shape[1]
        values = X.ravel()
        node = np.zeros(len(X), dtype=np.intp)
        for _ in range(self.depth):
            value = values[first + self.feature[node]]
            threshold = self.threshold[node]
            # Without a threshold the value is the number of the branch.
            branch = np.where(np.isnan(threshold), value, value > threshold)
            node = self.child[node] + branch.astype(np.intp)
        return self.label[node]


def _numbers(seed: int, name: str) -> Iterator[float]:
    """Yield random numbers, one after the other."""
    for start in count(0, 1024):
        yield from uniform(seed, name, start, start + 1024).tolist()
