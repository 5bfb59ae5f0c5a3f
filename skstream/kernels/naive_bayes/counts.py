"""Naive Bayes on counts: the statistics are sums, so prefix sums give the answers of a block."""

import copy
import functools
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.cuts import (
    Events,
    Floats,
    Integers,
    Part,
    distinct,
    merge_events,
    parts,
    rows_per_part,
)
from skstream.kernels.input import (
    DENSE_AND_SPARSE,
    EXACT_OR_SINGLE,
    Columns,
    read_block,
    refused_task,
    value_of,
)
from skstream.kernels.memory import MemoryKernel, State
from skstream.pipeline._values_by_version import VersionedArray
from skstream.utils._running_sums import running_sums

# More than sums of logarithms may differ by when they are added in another order, as a share.
_ROUNDING = 1e-9


class NaiveBayesKernel(MemoryKernel):
    """A model that answers the class of the highest joint log likelihood."""

    bitwise = False
    shareable = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        assert task.classes is not None
        self._n_classes = len(task.classes)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other tasks, parameters and labels that scikit-learn refuses."""
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        assert task.classes is not None
        kind = task.classes.dtype.kind
        proper = kind in "biuU" or (kind == "O" and all(isinstance(k, str) for k in task.classes))
        if kind == "f":  # scikit-learn takes others for targets
            proper = bool((task.classes == np.trunc(task.classes)).all())
        return None if proper and len(task.classes) else "these class labels"

    def initial_state(self) -> State:
        """Return what the estimator has learnt; rows of weight 0 have settled columns."""
        return super().initial_state()._replace(columns=Columns.of(self.estimator))

    def _answers(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Answers from joint log likelihoods of shape (n_asks, n_classes).

        As in scikit-learn, the first class whose score is NaN is the answer.
        """

        def of_one_kind(task: Task) -> NDArray[Any]:
            is_code = task.method == "predict"
            return scores.argmax(axis=1) if is_code else self._probabilities(scores)

        return answers_to(self.task, of_one_kind)

    def _probabilities(self, scores: NDArray[Any]) -> Floats:
        best = scores.max(axis=1, keepdims=True)
        shift = np.where(np.isfinite(best), best, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.log(np.exp(scores - shift).sum(axis=1, keepdims=True)) + shift
            return np.exp(scores - total)


def class_sums(start: NDArray[Any], y: NDArray[Any], steps: Any) -> NDArray[Any]:
    """Sums per class before each row, and after the last; a row with the code -1 adds nothing.

    Parameters
    ----------
    start : ndarray of shape (n_classes,)
    y : ndarray of shape (n_rows,)
        Codes.
    steps : ndarray of shape (n_rows,), or None
        What the rows add; None: 1 each.
    """
    rows = np.flatnonzero(y >= 0)
    by_class = np.zeros((len(y), len(start)), start.dtype)
    by_class[rows, y[rows]] = 1.0 if steps is None else steps[rows]
    if start.dtype == np.float32:
        return np.add.accumulate(np.vstack([start, by_class]), axis=0)
    return running_sums(start, by_class)


def is_proper_alpha(alpha: Any) -> bool:
    """Whether no ``partial_fit`` objects to a smoothing.

    Below 1e-10 scikit-learn replaces it with a warning, or takes logarithms of 0.
    """
    values = _as_numbers(alpha)
    return values.ndim <= 1 and bool(values.size and values.min() >= 1e-10)


def is_proper_prior(prior: Any, n_classes: int) -> bool:
    """Whether class probabilities are positive numbers, one per class."""
    values = _as_numbers(prior)
    return values.shape == (n_classes,) and bool((values > 0).all())


def _as_numbers(values: Any) -> NDArray[Any]:
    """Values as an array, or none of them where they are no finite numbers."""
    try:
        numbers = np.asarray(values)
        if numbers.dtype.kind in "iuf" and np.isfinite(numbers).all():
            return numbers
    except ValueError:  # of several lengths
        pass
    return np.empty(0)


def tied(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Rows whose two best classes differ by rounding at most."""
    if scores.shape[1] < 2 or not len(scores):
        return np.empty(0, dtype=np.intp)
    if scores.shape[1] == 2:
        best, second = scores[:, 0], scores[:, 1]
    else:
        second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    with np.errstate(invalid="ignore"):
        apart = np.abs(best - second)
        return np.flatnonzero(apart <= _ROUNDING * (1.0 + np.abs(best)))


# With more classes than these, rows are learnt one by one: each changes one class only.
_MANY_CLASSES = 128
# Counts of all classes, once for each of some rows, that are held at once.
_NUMBERS_AT_ONCE = 1 << 17


class Counts(NamedTuple):
    """What has been learnt.

    Attributes
    ----------
    of_classes : ndarray of shape (n_classes,)
        Weights of the classes.
    table : VersionedArray
        Counts of shape (n_counts, n_classes), or with something beside each, as
        `CountsKernel._laid_out` has them.
    sums : object
        What sparse rows need beside the counts; None before the first of them.
    """

    of_classes: Floats
    table: VersionedArray
    sums: Any = None


class CountsKernel(NaiveBayesKernel):
    """What the naive Bayes models on counts have in common.

    The state is what scikit-learn keeps: the weight of each class, and a count per class and
    feature. Counts are added in the order of the rows, as ``partial_fit`` adds them.
    """

    # Subclasses and instances may say otherwise.
    _has_prior: bool = True
    # Sparse rows of fewer columns are made dense.
    _min_sparse_columns: int = 0
    # Stored values per part of sparse rows: its working arrays stay in the caches.
    _values_per_part: int = 1 << 17

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse parameters to which ``partial_fit`` objects, or of which it warns."""
        refused = super().refusal(estimator, task)
        if refused is not None:
            return refused
        assert task.classes is not None
        prior = estimator.class_prior
        if not is_proper_alpha(estimator.alpha):
            return value_of(estimator, "alpha")
        if prior is not None and not is_proper_prior(prior, len(task.classes)):
            return value_of(estimator, "class_prior")
        return None

    def _read(self) -> Counts:
        counts = VersionedArray(self._known_counts().T)
        return Counts(np.array(self.estimator.class_count_), counts)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, self._n_classes)))
        learn, ask, columns = read_block(
            block, state.columns, accept_sparse=True, dtypes=EXACT_OR_SINGLE
        )
        shared = ask is learn
        learn = self._prepare(learn)
        ask = learn if shared else self._prepare(ask)
        is_sparse = sparse.issparse(learn) or sparse.issparse(ask)
        if is_sparse and any(len(X) for X in (learn, ask) if not sparse.issparse(X)):
            raise Declined(DENSE_AND_SPARSE)
        assert columns.number is not None
        self._check(block, learn, is_sparse, columns.number)
        counts: Counts | None = state.memory
        if counts is None:
            nothing = np.zeros((self._n_counts(columns.number), self._n_classes))
            counts = Counts(np.zeros(self._n_classes), VersionedArray(nothing))
        weights = class_sums(counts.of_classes, block.y, block.weight)
        if is_sparse and columns.number >= self._min_sparse_columns:
            table, sums, scores = self._sparse_scores(block, learn, ask, counts)
            scores += self._prior(weights[block.stamp])
        else:
            of_class = np.array(_counts_in(counts.table).T, order="C")
            scores = self._dense_scores(block, learn, ask, weights, of_class)
            table, sums = VersionedArray(of_class.T), None
        after = state.after(block, columns, Counts(weights[-1].copy(), table, sums))
        return after, self._answers(scores)

    def _known_counts(self) -> Floats:
        """Counts of a fitted model, of shape (n_classes, n_counts)."""
        return np.array(self.estimator.feature_count_)

    def _n_counts(self, n_columns: int) -> int:
        """Number of counts per class."""
        return n_columns

    def _prepare(self, X: Any) -> Any:
        """Rows as the model's formulas see them."""
        return X

    def _check(self, block: Block, learn: Any, is_sparse: bool, n_columns: int) -> None:
        """Decline what ``partial_fit`` would refuse."""
        alpha = self.estimator.alpha
        if np.ndim(alpha) and len(alpha) != n_columns:
            raise Declined("an alpha of another length than the rows has no kernel")
        values = learn.data if sparse.issparse(learn) else learn
        if values.size and values.min() < 0:
            raise Declined("negative counts have no kernel")

    def _log_prior(self, weights: Floats) -> Floats:
        """Log probabilities of the classes, as scikit-learn sets them; of an unseen one -inf.

        `weights` are those learnt per class, of shape (..., n_classes).
        """
        model = self.estimator
        if model.class_prior is not None:
            return np.broadcast_to(np.log(np.asarray(model.class_prior, float)), weights.shape)
        if not model.fit_prior:
            return np.full(weights.shape, -np.log(weights.shape[-1]))
        with np.errstate(divide="ignore"):
            return np.log(weights) - np.log(weights.sum(axis=-1, keepdims=True))

    def _prior(self, weights: Floats) -> Floats:
        """What the prior adds to scores."""
        return self._log_prior(weights) if self._has_prior else np.zeros(weights.shape)

    def _dense_scores(
        self, block: Block, learn: Any, ask: Any, weights: Floats, counts: Floats
    ) -> Floats:
        """Joint log likelihoods of shape (n_asks, n_classes), learning the block.

        `weights` are those of the classes after 0, 1, ... learns; `counts`, of shape
        (n_classes, n_counts), is brought forward.
        """
        raise Declined("dense rows have no kernel")

    def _sparse_scores(
        self, block: Block, learn: Any, ask: Any, before: Counts
    ) -> tuple[VersionedArray, Any, Floats]:
        """Counts and sums after the block, and log likelihoods of shape (n_asks, n_classes).

        The work is proportional to the stored values of the rows: other counts are not copied.
        """
        events, event_of_ask = merge_events(block, learn, ask)
        weights = class_sums(before.of_classes, events.y, events.weight)
        sums = copy.copy(before.sums)
        if sums is None:
            sums = self._sums_of(np.array(_counts_in(before.table).T, order="C"))
        table = self._laid_out(before.table)
        at: Any = events.at
        if block.n_learns < events.number:
            at = at[np.repeat(events.learnt, np.diff(events.bounds))]
        if len(at) >= learn.shape[1]:
            at = slice(None)  # all at once take less memory
        table, array = table.changed(at)
        scores = np.empty((events.number, self._n_classes))
        for rows, part in events.parts(self._values_per_part):
            known = weights[rows.start : rows.stop + 1]
            scores[rows] = self._event_scores(part, known, array, sums)
        return table, sums, scores[event_of_ask]

    def _laid_out(self, counts: VersionedArray) -> VersionedArray:
        """Counts as `_event_scores` takes them."""
        return counts

    def _sums_of(self, counts: Floats) -> Any:
        """What `_event_scores` takes beside the counts; it may be changed in a shallow copy."""
        return counts.sum(axis=1)

    @abstractmethod
    def _event_scores(self, events: Events, weights: Floats, counts: Floats, sums: Any) -> Floats:
        """Log likelihoods of shape (n_events, n_classes), learning the events.

        Parameters
        ----------
        events : Events
        weights : ndarray of shape (n_events + 1, n_classes)
            Weights of the classes before each event, and after the last.
        counts : ndarray of shape (n_counts, n_classes)
            As of `_laid_out`; brought forward.
        sums : object
            As of `_sums_of`; brought forward.
        """

    def _write(self, memory: Counts) -> None:
        model = self.estimator
        model.class_count_ = memory.of_classes.copy()
        model.class_log_prior_ = np.array(self._log_prior(memory.of_classes))
        self._write_counts(np.array(_counts_in(memory.table).T, order="C"))

    @abstractmethod
    def _write_counts(self, counts: Floats) -> None:
        """Write the counts of shape (n_classes, n_counts), and what the model makes of them."""


def _counts_in(table: VersionedArray) -> Floats:
    """Counts of shape (n_counts, n_classes)."""
    array: Floats = table.read()
    return array if array.ndim == 2 else array[:, :, 0]


class FeatureCountsKernel(CountsKernel):
    """Models of one count per class and feature, linear in the features.

    Where the best classes of a row differ by rounding alone, the order of the sum decides the
    answer: such rows get scikit-learn's own product of the row and the factors.
    """

    # Whether the score for a class depends on the counts of that class alone.
    _counts_own: bool = True

    def _smoothing(self, n_columns: int) -> tuple[Floats, float]:
        """Smoothing of the columns (one for all, or one each), and its sum over them."""
        alpha = np.array(self.estimator.alpha, dtype=np.float64, ndmin=1)
        if len(alpha) > 1:
            return alpha, float(alpha.sum())
        return alpha, _sum_of_equal(float(alpha[0]), n_columns)

    def _dense_scores(
        self, block: Block, learn: Any, ask: Any, weights: Floats, counts: Floats
    ) -> Floats:
        scores = np.empty((block.n_asks, self._n_classes))
        in_order = sparse.issparse(ask)
        for part in parts(block, rows_per_part(max(counts.shape))):
            known = weights[part.learns.start : part.learns.stop + 1]
            learnt, asked = _dense(learn[part.learns]), _dense(ask[part.asks])
            if part.weight is not None:
                learnt = learnt * part.weight[:, None]
            prior, into = self._prior(known[part.stamp]), scores[part.asks]
            if self._n_classes > _MANY_CLASSES:
                into[:] = self._scores_one_by_one(
                    part, learnt, asked, prior, known, counts, in_order
                )
                continue
            states = self._count_states(part, learnt, counts)
            into[:] = self._part_scores(part, asked, states, known)
            into += prior
            rows_tied = tied(into if self.task.method == "predict" else into[:0])
            rows_at_once = max(1, _NUMBERS_AT_ONCE // counts.size)
            for begin in range(0, len(rows_tied), rows_at_once):
                rows = rows_tied[begin : begin + rows_at_once]
                stamp = part.stamp[rows]
                then = np.stack([count[at[stamp]] for count, at in states], axis=1)
                factors, constants = self._factors_of(then, known[stamp])
                into[rows] = _products(asked[rows], factors, in_order) + (prior[rows] + constants)
        return scores

    def _scores_one_by_one(
        self,
        part: Part,
        learnt: Floats,
        asked: Floats,
        prior: Floats,
        weights: Floats,
        counts: Floats,
        in_order: bool,
    ) -> Floats:
        """Log likelihoods of a part's asks, learning it; `counts` is brought forward."""
        every, done = np.arange(self._n_classes), 0
        factors, constants = self._factors_of(counts[np.newaxis, every], weights[:1])
        scores = np.empty((len(asked), self._n_classes))
        for ask, stamp in enumerate([*part.stamp.tolist(), len(learnt)]):
            changed = part.y[done:stamp]
            for code, row in zip(changed.tolist(), learnt[done:stamp], strict=True):
                counts[code] += row
            if ask == len(asked):
                return scores
            if len(changed):
                of = changed if self._counts_own else every
                factors[:, of], constants[:, of] = self._factors_of(
                    counts[np.newaxis, of], weights[np.newaxis, stamp, of]
                )
            done = stamp
            product = _products(asked[ask : ask + 1], factors, in_order)
            scores[ask] = product + (prior[ask] + constants)
        return scores

    @abstractmethod
    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Factors and constant terms of classes, rounded as scikit-learn rounds them.

        Parameters
        ----------
        counts : ndarray of shape (n_states, n_classes, n_features)
            May be overwritten.
        weights : ndarray of shape (n_states, n_classes)
            Weights of the classes.

        Returns
        -------
        factors : ndarray of shape (n_states, n_classes, n_features)
        constants : ndarray of shape (n_states, n_classes)
        """

    def _count_states(self, part: Part, x: Floats, counts: Floats) -> list[tuple[Floats, Integers]]:
        """Counts of each class over time, and which of them hold after 0, 1, ... learns."""
        states = []
        for k, count in enumerate(counts):
            mine = part.y == k
            over_time = running_sums(count, x[mine])
            count[:] = over_time[-1]
            states.append((over_time, np.concatenate([[0], np.cumsum(mine)])))
        return states

    def _part_scores(
        self, part: Part, ask: Floats, states: list[tuple[Floats, Integers]], weights: Floats
    ) -> Floats:
        """Log likelihoods of a part's asks, without the prior.

        Parameters
        ----------
        part : Part
        ask : ndarray of shape (n_asks, n_features)
        states : list of (counts, position)
            As of `_count_states`, for each class.
        weights : ndarray of shape (n_learns + 1, n_classes)
            Weights of the classes after 0, 1, ... learns.
        """
        scores = np.empty((len(ask), self._n_classes))
        for k, (counts, position) in enumerate(states):
            state = position[part.stamp]
            first, which = distinct(state)
            known = weights[part.stamp[first], k : k + 1]
            factors, constants = self._factors_of(counts[state[first], np.newaxis], known)
            # einsum sums each row alone: unlike a matrix product, the same for any blocks.
            scores[:, k] = np.einsum("ij,ij->i", ask, np.take(factors[:, 0], which, axis=0))
            scores[:, k] += constants[which, 0]
        return scores


@functools.lru_cache(maxsize=64)
def _sum_of_equal(value: float, number: int) -> float:
    return float(np.broadcast_to(value, number).sum())


def _products(rows: Floats, factors: Floats, in_order: bool) -> Floats:
    """Product of each row and its factors, as scikit-learn forms that of a single row.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
    factors : ndarray of shape (n_rows, n_classes, n_features)
    in_order : bool
        Whether the products are added one after the other, as for sparse rows, or by BLAS.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
    """
    if in_order:
        return np.cumsum(rows[:, np.newaxis] * factors, axis=2)[:, :, -1]
    return np.matmul(rows[:, np.newaxis], factors.transpose(0, 2, 1))[:, 0]


def _dense(X: Any) -> Floats:
    return X.toarray() if sparse.issparse(X) else X
