"""Trees as arrays: made, enlarged, kept within a limit of memory, and executed.

Numbers of columns are in `skstream.tree._core`, beside the code: its machine code is kept on disk,
and made anew when that file changes, not when this one does.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.tree._core import (
    FEATURE,
    IS_FULL,
    IS_PATCH,
    MOST_KNOWN,
    N_BRANCHES,
    N_CATEGORIES,
    N_FREE,
    N_NODES,
    N_SLOTS,
    SEED,
    run,
)
from skstream.utils._seeds import uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Tree(NamedTuple):
    """A tree as arrays, with room to grow; node 0 is the root.

    A leaf that watches the features has a slot, in which their statistics are.

    Attributes
    ----------
    counts : ndarray of shape (10,), dtype int64
        Numbers of nodes, slots ever used, free ones, branches, categories, and flags; the seed, and
        whether all nodes watch the same features.
    nodes : ndarray of shape (n_nodes, 7), dtype int64
        Of a branch its feature (-1: a leaf) and children: two nodes, or for a nominal feature where
        its branches begin in `branches`, and how many there are; depth, slot (-1: none), classes,
        and how many of them it began with.
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
    has_whole_weights: bool = False  # whether weights of rows are integers in Python
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
    is_stale: Bools  # [slot, class]
    gathered: Floats  # a row as a leaf that watches some features sees it


def new_tree(
    n_features: int, n_classes: int, n_drawn: int = 0, seed: int = 0, *, is_patch: bool = False
) -> Tree:
    """Make a tree of numeric features that has learnt nothing.

    Each leaf watches `n_drawn` of the features, which depend on the seed and the number of the
    node alone; of a patch all leaves watch those of the root. 0: all features.
    """
    known = np.full(n_features, -1)
    return _made((8, 4, 0, 0, 0), n_classes, n_drawn, known, seed, is_patch=is_patch)


def with_known(tree: Tree, known: Integers, max_bytes: int | None = None) -> Tree:
    """Return a new tree that knows so many categories of each feature; -1: a numeric one.

    Where all do not fit in the memory it knows the first ones.
    """
    if known.max(initial=-1) < 0:
        return tree
    while True:
        counts = np.maximum(known, 0)
        n_codes = max(4, counts.max())
        n_nodes, n_slots, *_ = _sizes(tree)
        sizes = n_nodes, n_slots, 16, max(4 * len(known), counts.sum()), n_codes
        larger = with_sizes(tree, sizes)
        places = (np.cumsum(counts) - counts)[:, None] + np.arange(n_codes)
        larger.column[:] = np.where(np.arange(n_codes) < counts[:, None], places, 0)
        larger.known[:] = known
        larger.counts[[N_CATEGORIES, MOST_KNOWN]] = counts.sum(), counts.max()
        if max_bytes is None or n_bytes(larger) <= max_bytes or known.max() <= 0:
            return larger
        known = np.minimum(known, known.max() // 2)


def with_nominal(
    tree: Tree, is_nominal: Sequence[bool | None], max_bytes: int | None = None
) -> Tree:
    """Return a tree that takes some more features as nominal, with room for their categories."""
    new = [place for place, one in enumerate(is_nominal) if one and tree.known[place] < 0]
    if not new:
        return tree
    if not tree.column.shape[1]:
        n_nodes, n_slots, *_ = _sizes(tree)
        tree = with_sizes(tree, (n_nodes, n_slots, 16, 4 * len(tree.known), 4))
    known = tree.known.copy()
    known[new] = 0
    tree = tree._replace(known=known)
    check_limit(tree, max_bytes)
    return tree


def _made(
    sizes: tuple[int, int, int, int, int],
    n_classes: int,
    n_drawn: int,
    known: Integers,
    seed: int,
    *,
    is_patch: bool,
) -> Tree:
    n_nodes, n_slots, n_branches, n_categories, n_codes = sizes
    n_features = len(known)
    n_watched = n_drawn or n_features
    drawn = np.zeros((n_nodes, n_drawn), np.int64)
    if n_drawn:
        n_draws = 1 if is_patch else n_nodes
        numbers = uniform(seed, "features", 0, n_draws * n_features).reshape(n_draws, n_features)
        drawn[:] = np.sort(np.argsort(numbers, axis=1, kind="stable")[:, :n_drawn], axis=1)
    counts = np.zeros(10, np.int64)
    counts[[SEED, IS_PATCH]] = seed, is_patch
    nodes = np.zeros((n_nodes, 7), np.int64)
    nodes[:, FEATURE] = -1
    return Tree(
        counts=counts,
        nodes=nodes,
        values=np.zeros((n_nodes, 5)),
        stats=np.zeros((n_nodes, n_classes)),
        orders=np.zeros((n_nodes, n_classes), np.int64),
        branches=np.full(n_branches, -1, np.int64),
        free=np.zeros(n_slots, np.int64),
        subset=np.tile(np.arange(n_watched), (n_slots, 1)),
        drawn=drawn,
        seen=np.zeros((n_slots, n_classes)),
        came=np.zeros((n_slots, 1 + n_classes), np.int64),
        moments=np.zeros((n_slots, n_classes, 5, n_watched)),
        categories=np.zeros((n_slots, n_classes, n_categories)),
        column=np.zeros((len(known), n_codes), np.int64),
        known=known.copy(),
    )


def new_scratch(tree: Tree) -> Scratch:
    """Room for what is computed of one row by a tree."""
    n_slots, k, _, d = tree.moments.shape
    n_parts = max(2, tree.column.shape[1])
    return Scratch(
        votes=np.zeros(k),
        bayes=np.zeros(k),
        powers=np.zeros(k),
        terms=np.zeros(d),
        parts=np.zeros((n_parts, k)),
        part_orders=np.zeros((n_parts, k), np.int64),
        part_sizes=np.zeros(n_parts, np.int64),
        doubled=np.empty((n_slots, k, d)),
        half_logs=np.empty((n_slots, k, d)),
        is_stale=np.ones((n_slots, k), np.bool_),
        gathered=np.zeros(d),
    )


def copied(tree: Tree) -> Tree:
    """Copy a tree, to be brought forward."""
    copies: Any = [array.copy() for array in tree]
    return Tree(*copies)


def n_bytes(tree: Tree) -> int:
    """Memory of a tree: of its arrays, and of the factors that are formed while it is executed."""
    return sum(array.nbytes for array in tree) + len(tree.free) * _bytes_of_factors(tree)


def n_leaves(tree: Tree) -> int:
    """Number of leaves of a tree that has learnt a row."""
    return int((tree.nodes[: tree.counts[N_NODES], FEATURE] < 0).sum())


def enlarged(tree: Tree, max_bytes: int | None = None) -> Tree:
    """Copy a tree into arrays with more room; without any, if memory has come to its limit.

    How much room there is follows from what has been learnt alone, not from how rows were divided.
    """
    counts = tree.counts
    n_parts = max(2, tree.column.shape[1])
    sizes = _sizes(tree)
    n_used = counts[N_SLOTS] - counts[N_FREE]
    n_nodes, n_slots, n_branches, n_categories, n_codes = sizes
    if counts[MOST_KNOWN] > 0 and counts[MOST_KNOWN] >= n_codes:
        n_codes *= 2
        n_parts = n_codes
    if counts[MOST_KNOWN] > 0 and counts[N_CATEGORIES] + len(tree.known) > n_categories:
        n_categories *= 2
    while counts[MOST_KNOWN] > 0 and counts[N_BRANCHES] + 2 * n_parts > n_branches:
        n_branches *= 2
    while counts[N_NODES] + n_parts + 1 > n_nodes:
        n_nodes *= 2
    while n_used + n_parts + 1 > n_slots:
        n_slots *= 2
    larger = with_sizes(tree, (n_nodes, n_slots, n_branches, n_categories, n_codes))
    if max_bytes is None or n_bytes(larger) <= max_bytes:
        return larger
    # The last time: a quarter for nodes, which are small, and the rest for statistics.
    of_nodes, of_slots = _bytes_of_one(tree)
    free = max_bytes - n_bytes(tree) + sizes[0] * of_nodes + sizes[1] * of_slots
    room = min(0.75 * free, free - sizes[0] * of_nodes)
    n_slots = max(sizes[1], int(room / of_slots))
    n_nodes = max(sizes[0], int((free - n_slots * of_slots) / of_nodes))
    larger = with_sizes(tree, (n_nodes, n_slots, *sizes[2:]))
    larger.counts[IS_FULL] = 1
    return larger


def _sizes(tree: Tree) -> tuple[int, int, int, int, int]:
    return (
        len(tree.nodes),
        len(tree.free),
        len(tree.branches),
        tree.categories.shape[2],
        tree.column.shape[1],
    )


def _bytes_of_one(tree: Tree) -> tuple[int, int]:
    """Bytes of a node, and of a slot."""
    of_nodes = tree.nodes, tree.values, tree.stats, tree.orders, tree.drawn
    of_slots = tree.free, tree.subset, tree.seen, tree.came, tree.moments, tree.categories
    node, slot = (sum(one[0].nbytes for one in arrays) for arrays in (of_nodes, of_slots))
    return node, slot + _bytes_of_factors(tree)


def _bytes_of_factors(tree: Tree) -> int:
    """Bytes of the factors of a slot that are formed while a tree is executed."""
    k, d = tree.moments.shape[1], tree.moments.shape[3]
    return int(k * (16 * d + 1))


def with_sizes(tree: Tree, sizes: tuple[int, int, int, int, int]) -> Tree:
    """Copy a tree into arrays for so many nodes, slots, branches, categories and codes."""
    k, n_drawn = tree.stats.shape[1], tree.drawn.shape[1]
    seed, is_patch = tree.counts[[SEED, IS_PATCH]].tolist()
    larger = _made(sizes, k, n_drawn, tree.known, seed, is_patch=bool(is_patch))
    for old, new in zip(tree, larger, strict=True):
        new[tuple(slice(n) for n in old.shape)] = old
    return larger


def check_limit(tree: Tree, max_bytes: int | None) -> None:
    """Raise a ValueError if a limit is too low for a tree that has learnt nothing."""
    if max_bytes is not None and n_bytes(tree) > max_bytes:
        raise ValueError(
            f"max_bytes={max_bytes} is too little: for {len(tree.known)} features and "
            f"{tree.stats.shape[1]} classes a tree of one leaf takes {n_bytes(tree)} bytes."
        )


def writeable(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array for compiled code, which is made for arrays that may be written into."""
    is_plain = array.flags.writeable and array.flags.c_contiguous
    return array if is_plain else np.array(array, order="C")


class Rows(NamedTuple):
    """Rows as a tree reads them.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), dtype float64
        Numbers, NaN where there is none; of nominal features codes, -1 for a category that the
        tree does not know.
    gaps : ndarray of shape (n_rows,)
        Which rows may have gaps or categories.
    """

    X: Floats
    gaps: Bools

    @classmethod
    def of(cls, X: Floats, has_nominal: bool) -> "Rows":
        """Rows in an array."""
        gaps: Bools = np.full(len(X), has_nominal)
        if not has_nominal and len(X):
            with np.errstate(all="ignore"):
                may_have_gaps = np.isnan(X.sum())  # fast, and never wrong where there is one
            if may_have_gaps:
                gaps = np.asarray(np.isnan(X).any(axis=1))
        return cls(writeable(np.ascontiguousarray(X, dtype=np.float64)), gaps)

    def part(self, start: int, stop: int) -> "Rows":
        """Some of the rows."""
        return Rows(self.X[start:stop], self.gaps[start:stop])

    def joined(self, others: "Rows", index: Integers, order: Integers) -> "Rows":
        """Rows with some others behind them, in another order."""
        X = np.concatenate([self.X, others.X[index]])[order]
        return Rows(X, np.concatenate([self.gaps, others.gaps[index]])[order])


#: What a row takes a tree, asked and learnt, without machine code: with many features at most this,
#: with few a fifth. River takes no longer.
SECONDS_OF_A_ROW = 0.0005


def execute(
    tree: Tree,
    settings: Settings,
    learn: Rows,
    y: Integers,
    weight: Floats,
    ask: Rows,
    stamp: Integers,
    is_next: Bools,
    max_bytes: int | None = None,
) -> tuple[Tree, Floats]:
    """Ask and learn rows in order.

    Parameters
    ----------
    tree : Tree
        It changes.
    settings : Settings
    learn : Rows
    y : ndarray of shape (n_learns,), dtype int64
        Codes of the classes.
    weight : ndarray of shape (n_learns,), dtype float64
        Weights; a row of weight 0 is passed over, but for its categories.
    ask : Rows
    stamp : ndarray of shape (n_asks,), dtype int64
        Number of rows learnt before each ask.
    is_next : ndarray of shape (n_asks,), dtype bool
        Whether the row asked is the one that is learnt next.
    max_bytes : int, optional
        Limit of memory.

    Returns
    -------
    tree : Tree
        The same, or a larger one.
    shares : ndarray of shape (n_asks, n_classes), dtype float64
        Probabilities.
    """
    shares = np.zeros((len(stamp), tree.stats.shape[1]))
    if not tree.counts.flags.writeable:
        tree = copied(tree)
    y, weight, stamp = writeable(y), writeable(weight), writeable(stamp)
    run.announce(SECONDS_OF_A_ROW / 5 * (len(y) + len(stamp)))
    t = i = 0
    while True:
        scratch = new_scratch(tree)
        t, i = run(
            *(tree, settings, scratch, learn.X, y, weight, learn.gaps),
            *(ask.X, stamp, ask.gaps, is_next, t, i, shares),
        )
        if t == len(y) and i == len(stamp):
            return tree, shares
        tree = enlarged(tree, max_bytes)
