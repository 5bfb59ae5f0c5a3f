"""River's Hoeffding tree by the core of our own: the same answers, and the same River objects.

What a tree of River answers depends on the orders of its dicts, on how ``sum()`` adds and how the C
library rounds. So the kernel is there only where River's files are known, and where a first tree
has come out the same by both.
"""

import functools
import hashlib
import importlib
import inspect
import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.compat._river import seeded
from skstream.engine.answers import answers_to, best_or_all
from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.compose import asks_of_next
from skstream.engine.kernels.input import EXACT_OR_SINGLE, read_block
from skstream.engine.kernels.memory import MemoryKernel, State
from skstream.engine.kernels.schema import class_labels, refused_task
from skstream.tree._arrays import (
    Rows,
    Settings,
    Tree,
    copied,
    execute,
    n_leaves,
    new_tree,
)
from skstream.tree._base import LEAVES
from skstream.tree._core import (
    BAYES_RIGHT,
    ENTROPY,
    GINI,
    HIGH,
    LAST_TRY,
    LOW,
    MAJORITY_RIGHT,
    MEAN,
    N_IDLE,
    N_NODES,
    SQUARES,
    THRESHOLD,
    N,
    exact_squares,
)
from skstream.utils._numba import numba_enabled
from skstream.utils._running_sums import running_sums
from skstream.utils._validation import is_fitted

#: Digest of the files below, of the versions of River whose trees are known.
KNOWN_FILES = {"62d30d8a969d4402"}  # 0.26.1
_FILES = (
    *("tree.hoeffding_tree", "tree.hoeffding_tree_classifier", "tree.base", "tree.utils"),
    *("tree.nodes.leaf", "tree.nodes.htc_nodes", "tree.nodes.branch"),
    *("tree.splitter.base", "tree.splitter.gaussian_splitter"),
    *("tree.split_criterion.base", "tree.split_criterion.gini_split_criterion"),
    *("tree.split_criterion.info_gain_split_criterion", "proba.gaussian", "stats.mean"),
    *("stats.var", "utils.norm", "utils.math", "base.classifier", "base.base"),
)
_CRITERIA = {"info_gain": ENTROPY, "gini": GINI}
_LARGEST = 1e150  # the squares of larger numbers overflow, which is an error in River
_LARGEST_WHOLE = 2.0**53


class _Memory(NamedTuple):
    """A tree, and what a River tree has beside it; no step changes it."""

    tree: Tree
    weight: float  # of all rows learnt
    seen: NDArray[np.bool_]  # classes learnt
    is_whole: NDArray[np.bool_]  # features that are whole numbers


class RiverTreeKernel(MemoryKernel):
    """A Hoeffding tree of River with numeric features."""

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other models than River's tree, and trees that work in other ways."""
        model = estimator.model
        if type(model) is not getattr(
            sys.modules.get("river.tree"), "HoeffdingTreeClassifier", None
        ):
            raise Declined(estimator.why_looped)
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        reason = "where it has learnt rows already" if is_fitted(estimator) else None
        reason = reason or _refused_model(model)
        if reason is None and not numba_enabled():
            reason = 'without numba (pip install "skstream[fast]")'
        if reason is None:
            reason = why_not_this_river()
        if reason is not None:
            raise Declined(f"River's tree is called row by row {reason}")
        return None

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._model = seeded(estimator.model, None)
        self._labels = class_labels(task).tolist()
        self._settings = _settings_of(self._model)

    def _read(self) -> _Memory:
        raise AssertionError("a tree that has learnt rows is refused")

    def row_bytes(self, state: State) -> int:
        """Memory of a row as numbers, and of its probabilities."""
        return 64 * len(self._labels) + 32 * (state.columns.number or 0)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, len(self._labels))))
        if state.memory is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("asking before anything is learnt has no kernel")
        learn, ask, columns = read_block(block, state.columns, dtypes=EXACT_OR_SINGLE, finite=True)
        assert columns.number is not None
        is_whole = _check_values(block, learn, ask)
        memory = state.memory
        if memory is None:
            tree = new_tree(columns.number, len(self._labels))
            memory = _Memory(tree, 0.0, np.zeros(len(self._labels), np.bool_), is_whole)
        elif block.n_learns and not np.array_equal(is_whole, memory.is_whole):
            raise Declined("columns that were whole numbers before, or were not, have no kernel")
        weight, tree = memory.weight, memory.tree
        weights = np.ones(block.n_learns) if block.weight is None else block.weight
        if block.n_learns:
            weight = float(running_sums(weight, weights)[-1])
            if weight >= self._model.memory_estimate_period:
                raise Declined("rows from River's memory_estimate_period on have no kernel")
            tree = copied(tree)
        tree, shares = execute(
            *(tree, self._settings, Rows.of(learn, False), block.y, weights),
            *(Rows.of(ask, False), block.stamp, asks_of_next(block)),
        )
        seen = memory.seen.copy()
        seen[block.y] = True
        after = _Memory(tree, weight, seen, memory.is_whole)
        return state.after(block, columns, after), self._answers(shares)

    def _answers(self, shares: NDArray[Any]) -> NDArray[Any]:
        return answers_to(self.task, functools.partial(best_or_all, shares))

    def _write(self, memory: _Memory) -> None:
        features = _names(self.estimator.n_features_in_, self.estimator)
        self.estimator.model_ = write_river(self._model.clone(), memory, self._labels, features)


def _names(n_features: int, estimator: Any) -> list[Any]:
    """Keys of the dictionaries that River gets for rows."""
    names = getattr(estimator, "feature_names_in_", None)
    return list(range(n_features)) if names is None else [str(name) for name in names]


def _check_values(block: Block, learn: Any, ask: Any) -> NDArray[np.bool_]:
    """Decline values that River computes with in another way; which columns are whole numbers."""
    for X in (learn, ask):
        if len(X) and np.abs(X).max() > _LARGEST:
            raise Declined(f"rows with numbers beyond {_LARGEST:g} have no kernel")
    X = block.learn_X if block.n_learns else block.ask_X
    dtypes = [X.dtype] * X.shape[1] if isinstance(X, np.ndarray) else list(X.dtypes)
    kinds = np.array([getattr(dtype, "kind", "?") for dtype in dtypes])
    if not np.isin(kinds, list("fiu")).all() or not all(isinstance(d, np.dtype) for d in dtypes):
        raise Declined("River's tree has a kernel for NumPy's floats and integers alone")
    is_whole: NDArray[np.bool_] = kinds != "f"
    for X in (learn, ask):
        if len(X) and is_whole.any() and np.abs(X[:, is_whole]).max() > _LARGEST_WHOLE:
            raise Declined("whole numbers beyond 2 ** 53 have no kernel with River's tree")
    return is_whole


def _refused_model(model: Any) -> str | None:
    """Say what of a River tree has no kernel."""
    splitter = model.splitter
    if type(splitter).__name__ != "GaussianSplitter" or "river" not in type(splitter).__module__:
        return f"with the splitter {type(splitter).__name__}"
    if model.split_criterion not in _CRITERIA:
        return f"with split_criterion={model.split_criterion!r}"
    for name in ("remove_poor_attrs", "stop_mem_management"):
        if getattr(model, name) is not False:
            return f"with {name}={getattr(model, name)!r}"
    if model.nominal_attributes:
        return "with nominal_attributes"
    usual = isinstance(model.merit_preprune, bool) and _has_usual_numbers(model)
    if not usual or set(vars(model)) != set(vars(type(model)())):
        return "with parameters or attributes that are unusual"
    return None


def _has_usual_numbers(model: Any) -> bool:
    """Whether parameters are in the ranges for which the core is known to be the same."""
    try:
        return bool(
            0 < model.delta <= 1
            and math.isfinite(model.tau)
            and math.isfinite(model.grace_period)
            and 0 <= model.max_depth < 1 << 40
            and 1 <= model.splitter.n_splits <= 10_000
            and math.isfinite(model.nb_threshold)
            and 0 <= model.min_branch_fraction < 1
            and math.isfinite(model.max_share_to_split)
            and model.memory_estimate_period > 0
            and model.max_size >= 0
            and model._active_leaf_size_estimate == 0
            and model._inactive_leaf_size_estimate == 0
            and model._growth_allowed is True
        )
    except TypeError:
        return False


def _settings_of(model: Any) -> Settings:
    return Settings(
        leaf=LEAVES[model.leaf_prediction],
        criterion=_CRITERIA[model.split_criterion],
        grace_period=float(model.grace_period),
        delta=float(model.delta),
        tau=float(model.tau),
        max_depth=int(model.max_depth),
        n_splits=int(model.splitter.n_splits),
        least_for_bayes=float(model.nb_threshold),
        least_share=float(model.min_branch_fraction),
        most_share=float(model.max_share_to_split),
        constant_excludes=False,
        river=True,
        prunes=model.merit_preprune,
        compensates=sys.version_info >= (3, 12),
    )


@functools.cache
def digest_of_files() -> str:
    """Digest of the files of River that a tree consists of."""
    digest = hashlib.sha256()
    for name in _FILES:
        source = inspect.getsource(importlib.import_module(f"river.{name}"))
        digest.update(source.replace("\r\n", "\n").encode())
    return digest.hexdigest()[:16]


@functools.cache
def why_not_this_river() -> str | None:
    """Say why trees of the River that is installed have no kernel."""
    try:
        if digest_of_files() not in KNOWN_FILES:
            return "in this version of River, whose files are not known"
    except (ImportError, OSError, TypeError):
        return "where the files of River cannot be read"
    return None if _is_the_same_here() else "on this machine, where a test tree came out otherwise"


def _is_the_same_here() -> bool:
    """Whether squares and a tree of 300 rows are the same by River and by the core, bit by bit."""
    tree_of_river = importlib.import_module("river.tree").HoeffdingTreeClassifier
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=10_000)
    squares = np.empty_like(numbers)
    exact_squares(numbers, np.zeros_like(numbers), 2.0, squares)
    if squares.tolist() != [number**2 for number in numbers.tolist()]:
        return False
    X = np.round(rng.normal(size=(300, 3)) * [1.0, 1e3, 1e-3], 7)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(np.int64)
    model = tree_of_river(grace_period=40, tau=0.3, delta=0.1)
    expected = []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        answer = model.predict_proba_one(x)
        expected.append([answer.get(0, 0.0), answer.get(1, 0.0)])
        model.learn_one(x, label)
    rows = Rows.of(X, False)
    tree, shares = execute(
        *(new_tree(3, 2), _settings_of(model), rows, y, np.ones(300)),
        *(rows, np.arange(300), np.ones(300, np.bool_)),
    )
    n_branches = n_leaves(tree) - 1
    return np.array_equal(shares, np.array(expected)) and model.n_branches == n_branches > 0


def write_river(model: Any, memory: _Memory, labels: Sequence[Any], features: Sequence[Any]) -> Any:
    """Write a tree into a River tree that has learnt nothing, so that it goes on from there."""
    branch = importlib.import_module("river.tree.nodes.branch").NumericBinaryBranch
    tree = memory.tree
    model.classes = {labels[k] for k in np.flatnonzero(memory.seen).tolist()}
    model._train_weight_seen_by_model = memory.weight
    made: dict[int, Any] = {}
    n_nodes, n_idle = int(tree.counts[N_NODES]), int(tree.counts[N_IDLE])
    for node in reversed(range(n_nodes)):  # children come after their parents
        feature, first, second, depth, slot, n_stats = tree.nodes[node].tolist()
        order = tree.orders[node, :n_stats].tolist()
        stats = {labels[k]: tree.stats[node, k].item() for k in order}
        values = tree.values[node]
        if feature >= 0:
            below = made[first], made[second]
            threshold = values[THRESHOLD].item()
            made[node] = branch(stats, features[feature], threshold, depth, *below)
            continue
        leaf = made[node] = model._new_leaf(stats)
        leaf.depth = depth
        leaf.last_split_attempt_at = values[LAST_TRY].item() or 0  # before the first: an integer
        if model.leaf_prediction == "nba":
            leaf._mc_correct_weight = values[MAJORITY_RIGHT].item()
            leaf._nb_correct_weight = values[BAYES_RIGHT].item()
        leaf.splitters = None
        if slot >= 0:
            leaf.splitters = _splitters(model, memory, slot, labels, features)
    if n_nodes:
        model._root = made[0]
        model._n_inactive_leaves = n_idle
        model._n_active_leaves = (n_nodes + 1) // 2 - n_idle
    return model


def _splitters(
    model: Any, memory: _Memory, slot: int, labels: Sequence[Any], features: Sequence[Any]
) -> dict[Any, Any]:
    """Statistics of a leaf, as River keeps them."""
    gaussian = importlib.import_module("river.proba").Gaussian
    tree = memory.tree
    order = tree.came[slot, 1 : 1 + tree.came[slot, 0]].tolist()
    made = {}
    for f, name in enumerate(features if order else ()):
        splitter = made[name] = model.splitter.clone()
        number = int if memory.is_whole[f] else float
        for k in order:
            moments = tree.moments[slot, k, :, f].tolist()
            one = gaussian()
            one._var.mean.n, one._var.mean._mean = moments[N], moments[MEAN]
            one._var._S = moments[SQUARES]
            splitter._att_dist_per_class[labels[k]] = one
            splitter._min_per_class[labels[k]] = number(moments[LOW])
            splitter._max_per_class[labels[k]] = number(moments[HIGH])
    return made
