"""What compiled trees consist of: arrays, parameters as numbers, room for one row.

Numbers of columns are in `skstream.tree._core`, beside the code: its machine code is kept on disk,
and made anew when that file changes, not when this one does.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Tree(NamedTuple):
    """A tree as arrays, with room to grow; node 0 is the root.

    A leaf that watches the features has a slot, in which their statistics are.

    Attributes
    ----------
    counts : ndarray of shape (9,), dtype int64
        Numbers of nodes, slots ever used, free ones, branches, categories, and flags; the seed.
    nodes : ndarray of shape (n_nodes, 6), dtype int64
        Of a branch its feature (-1: a leaf) and children: two nodes, or for a nominal feature where
        its branches begin in `branches`, and how many there are; depth, slot (-1: none), classes.
    values : ndarray of shape (n_nodes, 5), dtype float64
        Threshold; weights of the rows for which the majority and naive Bayes were right; weight at
        the last attempt to split; weight of the rows that have come by.
    stats : ndarray of shape (n_nodes, n_classes), dtype float64
        Weight of each class.
    orders : ndarray of shape (n_nodes, n_classes), dtype int64
        The classes in the order in which they came.
    branches : ndarray of dtype int64
        Child for each category; -1: none.
    free : ndarray of shape (n_slots,), dtype int64
    subset : ndarray of shape (n_slots, n_watched), dtype int64
        Features watched.
    drawn : ndarray of shape (n_nodes, n_watched) or (n_nodes, 0), dtype int64
        Features that each node watches once it is a leaf; of no width where all are watched.
    seen : ndarray of shape (n_slots, n_classes), dtype float64
        Weight of each class since the leaf began to watch.
    came : ndarray of shape (n_slots, 1 + n_classes), dtype int64
        Number of these classes, and they themselves in the order in which they came.
    moments : ndarray of shape (n_slots, n_classes, 5, n_watched), dtype float64
        Weight, mean, sum of squared deviations, smallest and largest value.
    categories : ndarray of shape (n_slots, n_classes, n_categories), dtype float64
        Weight of each category of all nominal features.
    column : ndarray of shape (n_features, n_codes), dtype int64
        Where the categories of a feature are in `categories`.
    known : ndarray of shape (n_features,), dtype int64
        Number of categories of a nominal feature that have come; -1: it is numeric.
    """

    counts: Integers
    nodes: Integers
    values: Floats
    stats: Floats
    orders: Integers
    branches: Integers
    free: Integers
    subset: Integers
    drawn: Integers
    seen: Floats
    came: Integers
    moments: Floats
    categories: Floats
    column: Integers
    known: Integers


class Settings(NamedTuple):
    """Parameters of a tree as numbers."""

    leaf: int
    criterion: int
    grace_period: float = 200.0
    delta: float = 1e-7
    tau: float = 0.05
    max_depth: int = 1 << 40
    n_splits: int = 10
    least_for_bayes: float = 0.0
    least_share: float = 0.01
    most_share: float = 0.99
    # Whether a feature that was constant in a class excludes the class where it is another one.
    constant_excludes: bool = True
    # Whether not to split has a merit of 0, and not the least of all.
    null_gains_nothing: bool = False
    river: bool = False
    prunes: bool = True  # River's merit_preprune
    compensates: bool = False  # whether sums are compensated
    # As arguments, so that the compiler keeps pow.
    two: float = 2.0
    half: float = 0.5


class Scratch(NamedTuple):
    """Room for what is computed of one row, and for factors that follow from the statistics."""

    votes: Floats
    bayes: Floats
    powers: Floats
    terms: Floats
    parts: Floats  # [branch, class]
    part_orders: Integers
    part_sizes: Integers
    doubled: Floats  # [slot, class, feature] -2 * variance
    half_logs: Floats  # 0.5 * log(variance)
    is_stale: NDArray[np.bool_]  # [slot, class]
    gathered: Floats  # a row as a leaf that watches some features sees it
