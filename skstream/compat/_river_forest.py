"""River's adaptive random forest by the core of our trees: the same answers and River objects.

Beside the trees (`_river_tree`) these have to be as in River: ADWIN, which River has in Rust, and
random numbers, which are Python's. Both are compared with the originals at first use.
"""

import functools
import importlib
import math
import struct
import sys
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from skstream.compat import _river_tree as river_tree
from skstream.compat._river import seeded
from skstream.compat._river_forest_core import (
    ENDED,
    LACKS_ROOM,
    LENGTHS,
    N_ROWS,
    begin_tree,
    run_forest,
)
from skstream.compat._river_tree import Executed, Whole
from skstream.core.engine.kernel import Declined
from skstream.tree._arrays import (
    Bools,
    Floats,
    Integers,
    Tree,
    copied,
    new_scratch,
    new_tree,
    with_sizes,
    writeable,
)
from skstream.tree._core import DEPTH, FEATURE, FIRST, N_FREE, N_NODES, N_SLOTS, SECOND, total_of
from skstream.utils._content import content
from skstream.utils._validation import is_fitted

#: Digest of the files below, beside those of a tree.
KNOWN_FILES = {"ee682b95c4d665a6"}  # 0.26.1
_FILES = (
    *("forest.adaptive_random_forest", "tree.nodes.arf_htc_nodes", "utils.random", "base.ensemble"),
    *("drift.adwin", "drift.no_drift", "base.drift_detector"),
    *("metrics.accuracy", "metrics.confusion", "metrics.base"),
)
_N_ROWS = 32  # of buckets: for twenty thousand million values
_PARAMETERS = ("delta", "clock", "max_buckets", "min_window_length", "grace_period")
_USUAL: list[Any] = [0.002, 32, 5, 5, 10]
# Pickled state of River's ADWIN before its buckets: parameters, sums, numbers; the rows of buckets.
_HEAD = struct.Struct("<diQdddddd4iQ")


class Forest(NamedTuple):
    """A forest of n trees: of all arrays with n or 2 n rows, those of the trees that answer first.

    Attributes
    ----------
    tree : Tree
        The nodes of all trees.
    roots : ndarray of shape (2 n,), dtype int64
        Where the trees that answer begin, and those in the background; -1: there is none.
    weights : ndarray of shape (2 n,)
        Weight that each has learnt.
    seen : ndarray of shape (2 n, n_classes), dtype bool
        Classes that each has learnt.
    n_asked, n_right : ndarray of shape (n,)
        Answers of each tree before it learnt a row, and right ones.
    confusion : ndarray of shape (n, n_classes, n_classes + 1)
        These, by the class and the answer; the last column: no answer.
    first, first_true, first_said : ndarray of shape (n, n_classes, n_classes + 1), ..., dtype int64
        Number of the answer at which each came first; 0: never.
    n_alarms, first_alarm : ndarray of shape (2, n), dtype int64
        Warnings and drifts of each tree, and in which order the first ones came.
    windows, counts, buckets : ndarray of shape (2 n, 4), (2 n, 36) and (2 n, 32, 2, n_buckets)
        Detectors of warnings, and of drifts.
    twister : ndarray of shape (625,), dtype int64
        State of the random numbers.
    """

    tree: Tree
    roots: Integers
    weights: Floats
    seen: Bools
    n_asked: Floats
    n_right: Floats
    confusion: Floats
    first: Integers
    first_true: Integers
    first_said: Integers
    n_alarms: Integers
    first_alarm: Integers
    windows: Floats
    counts: Integers
    buckets: Floats
    twister: Integers

    def copied(self) -> "Forest":
        """Copy a forest, to be brought forward."""
        arrays = (array.copy() for array in self[1:])
        return Forest(copied(self.tree), *arrays)  # type: ignore[arg-type]


class Rules(NamedTuple):
    """Parameters of a forest as numbers."""

    detectors: Floats  # [warning or drift, parameter]
    warns: bool
    replaces: bool
    weighs_votes: bool
    least: float  # exp(-lambda)
    measured_every: float
    features: Integers  # columns in the order of their names
    draws_from_pool: bool


class _Room(NamedTuple):
    """Room for what the trees say of one row."""

    votes: Floats
    bayes: Floats
    nodes: Integers
    any_bayes: Bools
    said: Integers
    known: Integers
    pool: Integers


def _detector_state(forest: Forest, d: int, parameters: Sequence[Any]) -> bytes:
    """State of a detector as River's ADWIN pickles it."""
    delta, clock, most, least, grace = parameters
    counts = forest.counts[d].tolist()
    head = _HEAD.pack(
        *(delta, clock, most, least, grace),
        *(*forest.windows[d].tolist(), *counts[:N_ROWS], 0, counts[N_ROWS]),
    )
    rows = b"".join(
        struct.pack(f"<3Q{most + 1}dQ{most + 1}d", most, n, most + 1, *sums, most + 1, *spreads)
        for n, (sums, spreads) in zip(
            counts[LENGTHS : LENGTHS + counts[N_ROWS]],
            forest.buckets[d, :, :, : most + 1].tolist(),
            strict=False,
        )
    )
    return head + rows + struct.pack("<diQii", delta, clock, most, least, grace)


def _read_detector(forest: Forest, d: int, state: bytes) -> None:
    """Take over the state of a detector of River."""
    _, _, most, _, _, *numbers = _HEAD.unpack_from(state)
    n_rows = numbers[-1]
    forest.windows[d] = numbers[:4]
    forest.counts[d, : N_ROWS + 1] = *numbers[4:7], n_rows
    row = struct.Struct(f"<3Q{most + 1}dQ{most + 1}d")
    for number in range(n_rows):
        _, n, _, *values = row.unpack_from(state, _HEAD.size + number * row.size)
        forest.counts[d, LENGTHS + number] = n
        forest.buckets[d, number, 0, : most + 1] = values[: most + 1]
        forest.buckets[d, number, 1, : most + 1] = values[most + 2 :]


class ForestForm:
    """What the kernel of River's models has to know of a forest."""

    core = run_forest

    @staticmethod
    def refused(estimator: Any) -> str | None:
        """Say why such a forest has no kernel."""
        reason = _refused_forest(estimator)
        return reason or river_tree.why_not_this_river() or why_not_this_river()

    def __init__(self, estimator: Any, labels: list[Any]):
        self._model = _new_model(estimator)
        self._labels = labels
        settings = river_tree.settings_of(self._model._new_base_model())
        self._settings = settings._replace(has_whole_weights=True)
        self._detectors = [
            None if _is_absent(detector) else [getattr(detector, name) for name in _PARAMETERS]
            for detector in (self._model.warning_detector, self._model.drift_detector)
        ]

    def _begun(self, names: Sequence[Any]) -> Any:
        """Make a River forest that has come to know its features."""
        model = self._model.clone()
        try:
            model._init_ensemble(sorted(names))
            is_usual = type(model.max_features) is int
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            is_usual = False
        if not is_usual:
            raise Declined(f"max_features={self._model.max_features!r} has no kernel with River's")
        return model

    def begin(self, names: Sequence[Any]) -> Forest:
        """Make a forest that has learnt nothing."""
        model = self._begun(names)
        n, k = model.n_models, len(self._labels)
        tree = new_tree(len(names), k, model.max_features)
        forest = self._of_tree(model, with_sizes(tree, (16 * n, 16 * n, 0, 0, 0)), n, k)
        for t in range(n):
            begin_tree.uncompiled(forest, t)
        return forest

    def _of_tree(self, model: Any, tree: Tree, n: int, k: int) -> Forest:
        """Make a forest without trees, whose nodes are to be in some arrays."""
        most: int = max(one[2] for one in [*self._detectors, _USUAL] if one is not None)
        forest = Forest(
            tree=tree,
            roots=np.full(2 * n, -1),
            weights=np.zeros(2 * n),
            seen=np.zeros((2 * n, k), np.bool_),
            n_asked=np.zeros(n),
            n_right=np.zeros(n),
            confusion=np.zeros((n, k, k + 1)),
            first=np.zeros((n, k, k + 1), np.int64),
            first_true=np.zeros((n, k), np.int64),
            first_said=np.zeros((n, k + 1), np.int64),
            n_alarms=np.zeros((2, n), np.int64),
            first_alarm=np.zeros((2, n), np.int64),
            windows=np.zeros((2 * n, 4)),
            counts=np.zeros((2 * n, LENGTHS + _N_ROWS), np.int64),
            buckets=np.zeros((2 * n, _N_ROWS, 2, most + 1)),
            twister=np.array(model._rng.getstate()[1]),
        )
        forest.counts[:, N_ROWS] = 1
        return forest

    def _rules(self, names: Sequence[Any], n_drawn: int) -> Rules:
        model, n = self._model, len(names)
        most = 21 if n_drawn <= 5 else 21 + 4 ** math.ceil(math.log(n_drawn * 3, 4))
        return Rules(
            detectors=np.array([one or _USUAL for one in self._detectors], np.float64),
            warns=self._detectors[0] is not None,
            replaces=self._detectors[1] is not None,
            weighs_votes=not model.disable_weighted_vote,
            least=math.exp(-model.lambda_value),
            measured_every=float(model.memory_estimate_period),
            features=np.array(sorted(range(n), key=names.__getitem__)),
            draws_from_pool=n <= most,
        )

    def execute(self, forest: Forest, names: Sequence[Any], work: river_tree.Work) -> Executed:
        """Ask and learn in order."""
        if len(work.y) or not forest.roots.flags.writeable:
            forest = forest.copied()
        n, (k, n_drawn) = len(forest.n_asked), forest.tree.moments.shape[1::2]
        times = work.weight.astype(np.int64)
        if not np.array_equal(times, work.weight):
            raise Declined("rows with fractional weights have no kernel")
        index = np.repeat(np.arange(len(times)), times)  # a row of weight 2 is learnt twice
        y, stamp = work.y[index], np.append(0, times.cumsum())[work.stamp]
        is_next = work.is_next.copy()
        is_next[is_next] = times[work.stamp[is_next]] > 0
        shares, codes = np.zeros((len(stamp), k)), np.zeros(len(stamp), np.int64)
        room = _Room(
            votes=np.zeros((n, k)),
            bayes=np.zeros((n, k)),
            nodes=np.zeros(n, np.int64),
            any_bayes=np.zeros(n, np.bool_),
            said=np.zeros(n, np.int64),
            known=np.zeros(k, np.int64),
            pool=np.zeros(len(names), np.int64),
        )
        learn, ask = writeable(work.learn), writeable(work.ask)
        rules, t, i, end = self._rules(names, n_drawn), 0, 0, LACKS_ROOM
        while end == LACKS_ROOM:
            t, i, end = run_forest(
                *(forest, self._settings, rules, new_scratch(forest.tree), room),
                *(learn, index, y, ask, stamp, is_next, t, i, shares, codes),
            )
            if end == LACKS_ROOM:
                forest = _with_room(forest)
        if end != ENDED:
            raise Declined(river_tree.MEASURED)
        shares[codes < 0] = np.nan  # no tree has learnt anything: River gives no answer
        return forest, shares, codes

    def write(self, forest: Forest, names: Sequence[Any], is_whole: Whole) -> Any:
        """Make a River forest that goes on from there."""
        model = self._begun(names)
        words = forest.twister.tolist()
        model._rng.setstate((model._rng.getstate()[0], tuple(words), None))
        n = len(forest.n_asked)
        for which, root in enumerate(forest.roots.tolist()):
            if root < 0:
                continue
            one = model.data[which] if which < n else model._new_base_model()
            weight, seen = forest.weights[which].item(), forest.seen[which]
            of_tree = forest.tree, weight, seen, self._labels, names, is_whole, root
            (model.data if which < n else model._background)[which % n] = river_tree.write_tree(
                one, *of_tree
            )
        for kind, (tracker, detectors) in enumerate(_alarms_of(model)):
            parameters = self._detectors[kind]
            if parameters is None:
                continue
            for t in _in_order(forest.first_alarm[kind]):
                tracker[t] = forest.n_alarms[kind, t].item()
            for t, detector in enumerate(detectors):
                state = _detector_state(forest, kind * n + t, parameters)
                detector._helper.__setstate__(state)
        for t, metric in enumerate(model._metrics):
            self._write_scores(forest, t, metric.cm)
        return model

    def _write_scores(self, forest: Forest, t: int, matrix: Any) -> None:
        """Write how often a tree was right into River's confusion matrix."""
        said = [*self._labels, None]
        counts = forest.confusion[t]
        matrix.n_samples = int(forest.n_asked[t])
        if matrix.n_samples:
            matrix.total_weight = forest.n_asked[t].item()
        matrix._total_true_positives = forest.n_right[t].item()
        for k in _in_order(forest.first_true[t]):
            matrix.sum_row[self._labels[k]] = counts[k].sum().item()
            for answer in _in_order(forest.first[t, k]):
                matrix.data[self._labels[k]][said[answer]] = counts[k, answer].item()
        for answer in _in_order(forest.first_said[t]):
            matrix.sum_col[said[answer]] = counts[:, answer].sum().item()

    def read(self, model: Any, names: Sequence[Any]) -> tuple[Forest, Whole]:
        """Take from a River forest what it has learnt, and which columns are whole numbers."""
        n, labels = model.n_models, self._labels
        if model._rng.getstate()[2] is not None:
            raise ValueError("a normal number was drawn, of which half is kept")
        all_trees = [*model.data, *(model._background or [None] * n)]
        there = [which for which, tree in enumerate(all_trees) if tree is not None]
        trees = [all_trees[which] for which in there]
        tree, roots, is_whole = river_tree.read_trees(trees, labels, names, model.max_features)
        forest = self._of_tree(model, tree, n, len(labels))
        for which, one, root in zip(there, trees, roots, strict=True):
            if root < 0:
                begin_tree.uncompiled(forest, which)
            else:
                forest.roots[which] = root
            forest.weights[which] = one._train_weight_seen_by_model
            forest.seen[which] = [label in one.classes for label in labels]
        for kind, (tracker, detectors) in enumerate(_alarms_of(model)):
            for number, (t, n_alarms) in enumerate((tracker or {}).items(), start=1):
                forest.n_alarms[kind, t], forest.first_alarm[kind, t] = n_alarms, number
            for t, detector in enumerate(detectors):
                _read_detector(forest, kind * n + t, detector._helper.__getstate__())
        place = {label: k for k, label in enumerate([*labels, None])}
        for t, metric in enumerate(model._metrics):
            matrix = metric.cm
            forest.n_asked[t], forest.n_right[t] = matrix.n_samples, matrix._total_true_positives
            for number, (label, row) in enumerate(matrix.data.items(), start=1):
                forest.first_true[t, place[label]] = number
                for at, (said, count) in enumerate(row.items(), start=1):
                    forest.confusion[t, place[label], place[said]] = count
                    forest.first[t, place[label], place[said]] = at
            for number, said in enumerate(matrix.sum_col, start=1):
                forest.first_said[t, place[said]] = number
        return forest, is_whole


def _in_order(first: Integers) -> list[int]:
    """Positions in the order of the numbers there, without those that are 0."""
    return np.argsort(first, kind="stable")[(first == 0).sum() :].tolist()


def _alarms_of(model: Any) -> list[tuple[Any, Any]]:
    """Number of alarms by tree, and detectors, of warnings and of drifts."""
    return [
        (model._warning_tracker, getattr(model, "_warning_detectors", ())),
        (model._drift_tracker, getattr(model, "_drift_detectors", ())),
    ]


def _with_room(forest: Forest) -> Forest:
    """Forest with more room, without the nodes of trees that were replaced."""
    tree, room = forest.tree, 6 * len(forest.n_asked)
    n = int(tree.counts[N_NODES])
    is_kept = tree.nodes[:n, DEPTH] >= 0
    kept, place = np.flatnonzero(is_kept), np.cumsum(is_kept) - 1
    n_nodes, n_slots = len(tree.nodes), len(tree.free)
    while 2 * (len(kept) + room) > n_nodes:
        n_nodes *= 2
    while tree.counts[N_SLOTS] - tree.counts[N_FREE] + room > n_slots:
        n_slots *= 2
    larger = with_sizes(tree, (n_nodes, n_slots, 0, 0, 0))
    for name in ("nodes", "values", "stats", "orders", "drawn"):
        getattr(larger, name)[: len(kept)] = getattr(tree, name)[kept]
    branches = np.flatnonzero(larger.nodes[: len(kept), FEATURE] >= 0)
    for child in (FIRST, SECOND):
        larger.nodes[branches, child] = place[larger.nodes[branches, child]]
    larger.counts[N_NODES] = len(kept)
    roots = np.where(forest.roots >= 0, place[forest.roots], -1)
    return forest._replace(tree=larger, roots=roots)


def _new_model(estimator: Any) -> Any:
    """Return the River forest that has learnt nothing, with its seed."""
    return seeded(estimator.model, estimator.random_state)


def _is_absent(detector: Any) -> bool:
    return type(detector).__name__ == "NoDrift"


def _refused_forest(estimator: Any) -> str | None:
    """Say what of a River forest has no kernel."""
    if not isinstance(estimator.random_state, Integral | None):
        return "with a random_state that is no integer"
    model = _new_model(estimator)
    if not isinstance(model.seed, Integral) and not is_fitted(estimator):
        return f"with seed={model.seed!r}: give an integer"
    metrics = importlib.import_module("river.metrics")
    matrix: Any = getattr(model.metric, "cm", None)
    if type(model.metric) is not metrics.Accuracy or type(matrix) is not metrics.ConfusionMatrix:
        return f"with the metric {type(model.metric).__name__}"
    drift = importlib.import_module("river.drift")
    for detector in (model.warning_detector, model.drift_detector):
        if type(detector) not in (drift.ADWIN, drift.NoDrift):
            return f"with the detector {type(detector).__name__}"
        if not _is_absent(detector) and not _is_usual_detector(detector):
            return "with a detector of unusual parameters"
    try:
        trees = model._new_base_model()
    except (TypeError, ValueError):
        return "with parameters or attributes that are unusual"
    is_usual = (
        set(vars(estimator.model)) == set(vars(model))
        and not (matrix.n_samples or matrix._init_classes)
        and isinstance(model.n_models, int)
        and 1 <= model.n_models <= 1000
        and isinstance(model.lambda_value, int | float)
        and 0 < model.lambda_value <= 100
        and isinstance(model.disable_weighted_vote, bool)
    )
    return river_tree.refused_tree(trees) or (
        None if is_usual else "with parameters or attributes that are unusual"
    )


def _is_usual_detector(detector: Any) -> bool:
    delta, *whole = (getattr(detector, name) for name in _PARAMETERS)
    return (
        isinstance(delta, float)
        and delta > 0
        and all(type(one) is int and 0 <= one < 1 << 20 for one in whole)
        and min(whole[:3]) >= 1
        and whole[1] <= 100
    )


@functools.cache
def why_not_this_river() -> str | None:
    """Say why forests of the River that is installed have no kernel."""
    try:
        if river_tree.digest_of_files(_FILES) not in KNOWN_FILES:
            return "in this version of River, whose files are not known"
    except (ImportError, OSError, TypeError):
        return "where the files of River cannot be read"
    is_same = all(map(_is_the_same_here, (3, 30)))
    return None if is_same else "on this machine, where a test forest came out otherwise"


def _is_the_same_here(n_features: int) -> bool:
    """Whether a forest with drifts is the same by River and by the core, to any depth.

    Of three features a leaf draws its two in one way, and of thirty in another.
    """
    mixed = [0.1, 0.7, 0.3, *range(3, 9)]
    order, n_floats = np.arange(len(mixed)), 3 if sys.version_info >= (3, 12) else 0
    if sum(mixed) != total_of(np.array(mixed, float), order, len(mixed), n_floats):
        return False
    from skstream.compat._river import RiverClassifier

    rng = np.random.default_rng(n_features)
    X, names = np.round(rng.normal(size=(160, n_features)), 3), list(range(n_features))
    y = (X[:, 0] > 0).astype(np.int64)
    y[80:] = 1 - y[80:]
    adwin = importlib.import_module("river.drift").ADWIN
    model = importlib.import_module("river.forest").ARFClassifier(
        *(3, 2), seed=5, grace_period=20, delta=0.3, tau=0.3,
        drift_detector=adwin(0.7, clock=4), warning_detector=adwin(0.9, clock=4),
    )  # fmt: skip
    form = ForestForm(RiverClassifier(model), [0, 1])
    expected = np.zeros((160, 2))
    for number, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        for said, share in model.predict_proba_one(x).items():
            expected[number, said] = share
        model.learn_one(x, label)
    rows = np.arange(160)
    work = river_tree.Work(X, y, np.ones(160), X[1:], rows[1:], np.ones(159, np.bool_))
    forest, shares, _ = form.execute(form.begin(names), names, work)
    written = form.write(forest, names, np.zeros(n_features, np.int8))
    has_drifts = forest.n_alarms.sum(axis=1).min() > 0
    same_shares = np.array_equal(shares, expected[1:])
    same_state = written._rng.getstate() == model._rng.getstate()
    same_objects = content(written, with_random=False) == content(model, with_random=False)
    return bool(has_drifts and same_shares and same_state and same_objects)
