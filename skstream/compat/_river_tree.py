"""River's Hoeffding trees in arrays, and the kernel of River's trees and forests."""

import functools
import hashlib
import importlib
import inspect
import math
import sys
from collections.abc import Sequence
from copy import copy
from random import Random
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skstream.compat._river import seeded
from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import MOST_ALONE, Declined
from skstream.kernels.input import (
    EXACT_OR_SINGLE,
    Columns,
    asks_of_next,
    class_labels,
    read_block,
    refused_task,
)
from skstream.kernels.memory import MemoryKernel, State
from skstream.tree._arrays import (
    SECONDS_OF_A_ROW,
    Bools,
    Floats,
    Integers,
    Rows,
    Settings,
    Tree,
    copied,
    execute,
    n_leaves,
    new_tree,
    with_sizes,
)
from skstream.tree._base import LEAVES
from skstream.tree._core import (
    BAYES_RIGHT,
    DEPTH,
    ENTROPY,
    FEATURE,
    FIRST,
    GINI,
    HIGH,
    LAST_TRY,
    LOW,
    MAJORITY_RIGHT,
    MEAN,
    N_GIVEN,
    N_IDLE,
    N_NODES,
    N_SLOTS,
    N_STATS,
    SECOND,
    SLOT,
    SQUARES,
    THRESHOLD,
    N,
    exact_squares,
    run,
)
from skstream.utils._content import content
from skstream.utils._numba import Jitted, numba_enabled
from skstream.utils._rows import best_columns
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
#: Why rows are left to River from some weight on.
MEASURED = "rows from River's memory_estimate_period on have no kernel"

#: Columns of whole numbers; -1: it is not known.
Whole = NDArray[np.int8]


class Work(NamedTuple):
    """Rows to be learnt and asked, as `skstream.tree._arrays.execute` takes them."""

    learn: Floats
    y: Integers
    weight: Floats
    ask: Floats
    stamp: Integers
    is_next: Bools


#: What has been learnt, probabilities, and codes of the answers.
Executed = tuple[Any, Floats, Integers]


class _Learnt(NamedTuple):
    """A tree, and what a River tree has beside it; no step changes it."""

    tree: Tree
    weight: float  # of all rows learnt
    seen: Bools  # classes learnt


class TreeForm:
    """What the kernel of River's models has to know of a tree."""

    core = run

    @staticmethod
    def refused(estimator: Any) -> str | None:
        """Say why such a tree has no kernel."""
        return refused_tree(seeded(estimator.model, None)) or why_not_this_river()

    def __init__(self, estimator: Any, labels: list[Any]):
        self._model = seeded(estimator.model, None)
        self._labels = labels
        self._settings = settings_of(self._model)

    def begin(self, names: Sequence[Any]) -> _Learnt:
        """Make a tree that has learnt nothing."""
        n_classes = len(self._labels)
        return _Learnt(new_tree(len(names), n_classes), 0.0, np.zeros(n_classes, np.bool_))

    def execute(self, learnt: _Learnt, names: Sequence[Any], work: Work) -> Executed:
        """Ask and learn in order."""
        weight, tree = learnt.weight, learnt.tree
        if len(work.y):
            weight = float(running_sums(weight, work.weight)[-1])
            if weight >= self._model.memory_estimate_period:
                raise Declined(MEASURED)
            tree = copied(tree)
        tree, shares = execute(
            *(tree, self._settings, Rows.of(work.learn, False), work.y, work.weight),
            *(Rows.of(work.ask, False), work.stamp, work.is_next),
        )
        seen = learnt.seen.copy()
        seen[work.y] = True
        return _Learnt(tree, weight, seen), shares, best_columns(shares)

    def write(self, learnt: _Learnt, names: Sequence[Any], is_whole: Whole) -> Any:
        """Make a River tree that goes on from there."""
        return write_tree(self._model.clone(), *learnt, self._labels, names, is_whole)

    def read(self, model: Any, names: Sequence[Any]) -> tuple[_Learnt, Whole]:
        """Take from a River tree what it has learnt, and which columns are whole numbers."""
        tree, _, is_whole = read_trees([model], self._labels, names)
        seen = np.array([label in model.classes for label in self._labels])
        return _Learnt(tree, model._train_weight_seen_by_model, seen), is_whole


def refused_tree(model: Any) -> str | None:
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


def settings_of(model: Any) -> Settings:
    """Parameters of a River tree as numbers."""
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
def digest_of_files(files: tuple[str, ...] = _FILES) -> str:
    """Digest of files of River; by default those that a tree consists of."""
    digest = hashlib.sha256()
    for name in files:
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
    run.expect(np.inf)  # the machine code is what is tested
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
        *(new_tree(3, 2), settings_of(model), rows, y, np.ones(300)),
        *(rows, np.arange(300), np.ones(300, np.bool_)),
    )
    n_branches = n_leaves(tree) - 1
    return np.array_equal(shares, np.array(expected)) and model.n_branches == n_branches > 0


def write_tree(
    model: Any,
    tree: Tree,
    weight: float,
    seen: Bools,
    labels: Sequence[Any],
    names: Sequence[Any],
    is_whole: Whole,
    root: int = 0,
) -> Any:
    """Write what is below a node into a River tree that has learnt nothing; return it.

    Parameters
    ----------
    model : river.tree.HoeffdingTreeClassifier
        It changes.
    tree : Tree
    weight : float
        Of the rows learnt.
    seen : ndarray of shape (n_classes,), dtype bool
        Classes learnt.
    labels : sequence of length n_classes
    names : sequence of length n_features
    is_whole : ndarray of shape (n_features,)
        Columns of whole numbers.
    root : int, default=0
        The node.
    """
    branch = importlib.import_module("river.tree.nodes.branch").NumericBinaryBranch
    splitter = model.splitter.clone()
    has_whole_weights = tree.drawn.shape[1] > 0  # in a forest
    model.classes = {labels[k] for k in np.flatnonzero(seen).tolist()}
    model._train_weight_seen_by_model = weight
    if not weight:
        return model
    nodes = [root]
    for node in nodes:
        if tree.nodes[node, FEATURE] >= 0:
            nodes += tree.nodes[node, [FIRST, SECOND]].tolist()
    made: dict[int, Any] = {}
    for node in reversed(nodes):  # children come after their parents
        feature, first, second, depth, slot, n_stats, n_given = tree.nodes[node].tolist()
        order = tree.orders[node, :n_stats].tolist()
        stats = {labels[k]: tree.stats[node, k].item() for k in order}
        if has_whole_weights:
            stats |= {labels[k]: int(stats[labels[k]]) for k in order[n_given:]}
        values = tree.values[node]
        if feature >= 0:
            below = made[first], made[second]
            threshold = values[THRESHOLD].item()
            made[node] = branch(stats, names[feature], threshold, depth, *below)
            continue
        leaf = made[node] = model._new_leaf(stats)
        leaf.depth = depth
        tried_at = values[LAST_TRY].item()
        is_integer = not (n_given if has_whole_weights else tried_at)
        leaf.last_split_attempt_at = int(tried_at) if is_integer else tried_at
        if model.leaf_prediction == "nba":
            leaf._mc_correct_weight = values[MAJORITY_RIGHT].item()
            leaf._nb_correct_weight = values[BAYES_RIGHT].item()
        if has_whole_weights and tree.drawn[node, 0] >= 0:
            leaf.feature_indices = [names[f] for f in tree.drawn[node].tolist()]
        leaf.splitters = None
        if slot >= 0:
            leaf.splitters = _splitters(splitter, tree, slot, labels, names, is_whole)
        model._n_active_leaves += slot >= 0
        model._n_inactive_leaves += slot < 0
    model._root = made[root]
    return model


def _splitters(
    new: Any, tree: Tree, slot: int, labels: Sequence[Any], names: Sequence[Any], is_whole: Whole
) -> dict[Any, Any]:
    """Statistics of a leaf, as River keeps them."""
    gaussian = importlib.import_module("river.proba").Gaussian
    variance = importlib.import_module("river.stats").Var
    order = tree.came[slot, 1 : 1 + tree.came[slot, 0]].tolist()
    made = {}
    for f, feature in enumerate(tree.subset[slot].tolist() if order else ()):
        splitter = made[names[feature]] = copy(new)  # much faster than a clone
        splitter._min_per_class, splitter._max_per_class = {}, {}
        splitter._att_dist_per_class = {}
        number = int if is_whole[feature] else float
        for k in order:
            moments = tree.moments[slot, k, :, f].tolist()
            # As it makes itself, but for its generator, which asks the system for 2,500 bytes: it
            # is never used, so a seed will do.
            one = gaussian.__new__(gaussian)
            one.seed = None
            one._rng = Random.__new__(Random, hash((slot, f, k)))  # type: ignore[call-arg]
            one._rng.gauss_next = None
            one._var = variance()
            one._var.mean.n, one._var.mean._mean = moments[N], moments[MEAN]
            one._var._S = moments[SQUARES]
            splitter._att_dist_per_class[labels[k]] = one
            splitter._min_per_class[labels[k]] = number(moments[LOW])
            splitter._max_per_class[labels[k]] = number(moments[HIGH])
    return made


def read_trees(
    models: Sequence[Any], labels: Sequence[Any], names: Sequence[Any], n_drawn: int = 0
) -> tuple[Tree, list[int], Whole]:
    """Read River trees that have learnt something; the inverse of `write_tree`.

    Returns
    -------
    tree : Tree
        The nodes of all of them.
    roots : list of int
        Where they begin; -1: a tree has no node.
    is_whole : ndarray of shape (n_features,), dtype int8
        Columns of whole numbers; -1: it is not known.
    """
    found: list[Any] = []
    roots, children = [], {}
    for model in models:
        roots.append(-1 if model._root is None else len(found))
        level = [] if model._root is None else [model._root]
        while level:
            found += level
            below = [(node, getattr(node, "children", ())) for node in level]
            level = [child for _, several in below for child in several]
            first = len(found)
            for node, several in below:
                children[id(node)] = range(first, first := first + len(several))
    column = {name: f for f, name in enumerate(names)}
    number_of = {label: k for k, label in enumerate(labels)}
    tree = new_tree(len(names), len(labels), n_drawn)
    tree = with_sizes(tree, (2 * len(found) + 8, 2 * len(found) + 4, 0, 0, 0))
    is_whole = np.full(len(names), -1, np.int8)
    for number, node in enumerate(found):
        row = tree.nodes[number]
        order = [number_of[label] for label in node.stats]
        row[[DEPTH, N_STATS]] = node.depth, len(order)
        row[N_GIVEN] = sum(type(weight) is float for weight in node.stats.values())
        tree.orders[number, : len(order)] = order
        tree.stats[number, order] = list(node.stats.values())
        row[SLOT] = -1
        if children[id(node)]:
            row[FEATURE], (row[FIRST], row[SECOND]) = column[node.feature], children[id(node)]
            tree.values[number, THRESHOLD] = node.threshold
            continue
        tree.values[number, LAST_TRY] = node.last_split_attempt_at
        if hasattr(node, "_mc_correct_weight"):
            of_both = node._mc_correct_weight, node._nb_correct_weight
            tree.values[number, [MAJORITY_RIGHT, BAYES_RIGHT]] = of_both
        watched = [column[name] for name in getattr(node, "feature_indices", names)]
        if n_drawn:
            tree.drawn[number] = watched or -1
        if node.splitters is None:
            tree.counts[N_IDLE] += 1
            continue
        row[SLOT] = slot = int(tree.counts[N_SLOTS])
        tree.counts[N_SLOTS] += 1
        if watched:
            tree.subset[slot] = watched
        _read_splitters(tree, slot, list(node.splitters.values()), number_of)
        for name, splitter in node.splitters.items():
            lowest = next(iter(splitter._min_per_class.values()))
            is_whole[column[name]] = isinstance(lowest, int)
    tree.counts[N_NODES] = len(found)
    return tree, roots, is_whole


def _read_splitters(tree: Tree, slot: int, splitters: list[Any], number_of: Any) -> None:
    for f, splitter in enumerate(splitters):
        for place, (label, one) in enumerate(splitter._att_dist_per_class.items()):
            k = number_of[label]
            low, high = splitter._min_per_class[label], splitter._max_per_class[label]
            mean = one._var.mean
            tree.moments[slot, k, :, f] = mean.n, mean._mean, one._var._S, low, high
            tree.seen[slot, k] = mean.n
            tree.came[slot, [0, 1 + place]] = place + 1, k


_LARGEST = 1e150  # the squares of larger numbers overflow, which is an error in River
_LARGEST_WHOLE = 2.0**53


class _Form(Protocol):
    """What the kernel knows of a kind of model: how it is refused, executed, written and read."""

    core: ClassVar[Jitted[..., Any]]

    @staticmethod
    def refused(estimator: Any) -> str | None: ...
    def begin(self, names: Sequence[Any]) -> Any: ...
    def execute(self, learnt: Any, names: Sequence[Any], work: Work) -> Executed: ...
    def write(self, learnt: Any, names: Sequence[Any], is_whole: Whole) -> Any: ...
    def read(self, model: Any, names: Sequence[Any]) -> tuple[Any, Whole]: ...


class _Memory(NamedTuple):
    learnt: Any
    is_whole: Whole


def _form_of(model: Any) -> tuple[str, Any] | None:
    """Name and form of a River model; None where it has no kernel."""
    if type(model) is getattr(sys.modules.get("river.tree"), "HoeffdingTreeClassifier", None):
        return "tree", TreeForm
    if type(model) is getattr(sys.modules.get("river.forest"), "ARFClassifier", None):
        from skstream.compat._river_forest import ForestForm  # late: few need it

        return "forest", ForestForm
    return None


class RiverKernel(MemoryKernel):
    """A Hoeffding tree or an adaptive random forest of River, with numeric features."""

    exports_slowly = True

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other models of River, and trees and forests that work in other ways."""
        found = _form_of(estimator.model)
        if found is None:
            raise Declined(estimator.why_looped)
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        name, form = found
        reason = None if numba_enabled() else 'without numba (pip install "skstream[fast]")'
        n_trees = getattr(estimator.model, "n_models", 1)
        form.core.expect(task.seconds(SECONDS_OF_A_ROW * n_trees))
        if reason is None and not form.core.pays:  # before a test model is compiled
            reason = f"for so few rows: compiling, once, takes {form.core.seconds:.0f} s"
        reason = reason or form.refused(estimator)
        if reason is not None:
            raise Declined(f"River's {name} is called row by row {reason}")
        return None

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        found = _form_of(estimator.model)
        assert found is not None
        self._labels = class_labels(task).tolist()
        self._form: _Form = found[1](estimator, self._labels)
        if isinstance(self._form, TreeForm):
            self.most_alone = MOST_ALONE

    def _read(self) -> None:
        """Take nothing yet: a model of River need not say which columns it knows."""

    def _first(self, names: list[Any], is_whole: Whole) -> _Memory:
        """Return what a model has learnt, which must come out the same when it is written again."""
        if not is_fitted(self.estimator):
            return _Memory(self._form.begin(names), is_whole)
        model = self.estimator.model_
        try:
            memory = _Memory(*self._form.read(model, names))
            written = self._form.write(memory.learnt, names, memory.is_whole)
            # Without random numbers: each normal distribution has a generator, which is not used.
            if content(written, with_random=False) == content(model, with_random=False):
                return memory
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            pass
        raise Declined("what a model of River has learnt cannot be read from it exactly")

    def row_bytes(self, state: State) -> int:
        """Memory of a row as numbers, and of its probabilities."""
        return 64 * len(self._labels) + 32 * (state.columns.number or 0)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, len(self._labels))), np.empty(0, np.int64))
        is_new = state.memory is None and not is_fitted(self.estimator)
        if is_new and block.n_asks and block.stamp[0] == 0:
            raise Declined("predicting before any training has no kernel")
        learn, ask, columns = read_block(block, state.columns, dtypes=EXACT_OR_SINGLE, finite=True)
        names, is_whole = _names(columns), _check_values(block, learn, ask)
        memory = self._first(names, is_whole) if state.memory is None else state.memory
        known = memory.is_whole
        if block.n_learns and ((known >= 0) & (known != is_whole)).any():
            raise Declined("columns that were whole numbers before, or were not, have no kernel")
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        work = Work(learn, block.y, weight, ask, block.stamp, asks_of_next(block))
        self._form.core.expect(np.inf)  # also in another process, where a run goes on
        learnt, shares, codes = self._form.execute(memory.learnt, names, work)
        memory = _Memory(learnt, is_whole if block.n_learns else known)
        return state.after(block, columns, memory), self._answers(shares, codes)

    def _answers(self, shares: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
        def answer(task: Task) -> NDArray[Any]:
            return codes if task.method == "predict" else shares

        return answers_to(self.task, answer)

    def _write(self, memory: _Memory) -> None:
        names = _names(Columns.of(self.estimator))
        self.estimator.model_ = self._form.write(memory.learnt, names, memory.is_whole)


def _names(columns: Columns) -> list[Any]:
    """Keys of the dictionaries that River gets for rows."""
    assert columns.number is not None
    if columns.names is None:
        return list(range(columns.number))
    if len(set(columns.names)) < columns.number:
        raise Declined("columns of the same name have no kernel with River's models")
    return [str(name) for name in columns.names]


def _check_values(block: Block, learn: Any, ask: Any) -> Whole:
    """Decline values that River computes with in another way; which columns are whole numbers."""
    for X in (learn, ask):
        if len(X) and np.abs(X).max() > _LARGEST:
            raise Declined(f"rows with numbers beyond {_LARGEST:g} have no kernel")
    for X in (block.learn_X, block.ask_X):
        names = list(getattr(X, "columns", ()))
        if names and names != list(range(len(names))) and not isinstance(names[0], str):
            raise Declined("columns with numbers for names have no kernel with River's models")
    X = block.learn_X if block.n_learns else block.ask_X
    dtypes = [X.dtype] * X.shape[1] if isinstance(X, np.ndarray) else list(X.dtypes)
    kinds = np.array([getattr(dtype, "kind", "?") for dtype in dtypes])
    if not np.isin(kinds, list("fiu")).all() or not all(isinstance(d, np.dtype) for d in dtypes):
        raise Declined("River's models have a kernel for NumPy's floats and integers alone")
    is_whole: NDArray[np.bool_] = kinds != "f"
    for X in (learn, ask):
        if len(X) and is_whole.any() and np.abs(X[:, is_whole]).max() > _LARGEST_WHOLE:
            raise Declined("whole numbers beyond 2 ** 53 have no kernel with River's models")
    return np.asarray(is_whole, np.int8)
