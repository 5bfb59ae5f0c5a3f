"""Kernels of the temporal meta-classifiers, by way of the inner model's kernel."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Kernel, Looped, Task, value_of
from skstream.engine.kernels.compose import (
    before_failure,
    check_weights,
    joined_rows,
    separate_rows,
    shared_step,
)
from skstream.engine.kernels.looped import LoopedModel, find_inner
from skstream.engine.kernels.schema import (
    Columns,
    class_labels,
    refused_task,
)
from skstream.engine.kernels.scored import answers_to, best_or_all
from skstream.engine.loop import LoopFailed
from skstream.engine.sharing import key_of
from skstream.temporal._augmentation import (
    extended_by_labels,
    lags_after,
    warn_if_labels_are_dropped,
)
from skstream.temporal._correction import corrected, corrections
from skstream.utils._label_space import LabelSpace
from skstream.utils._running_sums import accumulate
from skstream.utils._validation import is_fitted, unfitted_copy

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Numbers held at once while transitions are counted: a few megabytes, within the cache.
_TRANSITIONS_AT_ONCE = 1 << 19
# With more classes transitions are counted one after the other, in a single table.
_FEW_CLASSES = 50


class _State(NamedTuple):
    """What is known of the columns, what is remembered of the labels, and the inner state."""

    columns: Columns
    memory: Any
    inner: Any


class _TemporalKernel(Kernel):
    """What the two have in common: an inner kernel, and labels that are remembered."""

    gives_scores = True

    #: Answers that it knows, as far as the inner model has them.
    _methods: tuple[str, ...] = ("predict", "predict_proba", "decision_function")

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        self._inner = find_inner(self._model, self._inner_task(task), fitted=fitted)
        self._likeness = self._inner.likeness()
        self._classes = class_labels(task)
        self.bitwise = self._inner.bitwise

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        return task

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse answers that depend on one another.

        Where every label is known before the next row is asked, none are in the place of labels.
        """
        refused = refused_task(estimator, task, cls._methods)
        if refused is not None:
            return refused
        late = task.late_labels or task.batch_size > 1
        if estimator.previous_label == "predicted" and late:
            return f"{value_of(estimator, 'previous_label')} and late labels"
        return None

    def initial_state(self) -> _State:
        """Return what the estimator has learnt, and its inner model."""
        fitted = is_fitted(self.estimator)
        columns = Columns.of(self.estimator)
        return _State(columns, self._memory(fitted), self._inner.initial_state())

    @abstractmethod
    def _memory(self, fitted: bool) -> Any:
        """Take what is remembered of the labels from the estimator."""

    def row_bytes(self, state: _State) -> int | None:
        """That of the inner kernel, and of the labels or transitions beside every row."""
        inner = self._inner.row_bytes(state.inner)
        return None if inner is None else inner + self._own_bytes

    @property
    def _own_bytes(self) -> int:
        return 64 * len(self._classes)

    def looped(self, state: _State) -> list[Looped]:
        """Return the parts of the inner model that are executed call by call."""
        return self._inner.looped(state.inner)

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.columns.number is None:
            return
        self._inner.export(state.inner)
        state.columns.export(self.estimator)
        self.estimator.classes_ = self._classes.copy()
        self.estimator.estimator_ = self._model
        self._export_memory(state.memory)

    @abstractmethod
    def _export_memory(self, memory: Any) -> None:
        """Write what is remembered of the labels."""


class TemporallyAugmentedKernel(_TemporalKernel):
    """Shows the inner kernel each row with the labels learnt just before."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key = key_of(type(self), estimator.n_lags, estimator.encoding, self._classes)

    def _memory(self, fitted: bool) -> Codes:
        history = self.estimator.previous_labels_ if fitted else self._classes[:0]
        codes: Codes = LabelSpace(self._classes).encode(history)
        return codes

    @property
    def _own_bytes(self) -> int:
        per_lag = len(self._classes) if self.estimator.encoding == "onehot" else 1
        return 64 * int(self.estimator.n_lags) * per_lag

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._inner.step(state.inner, block)[1]
        check_weights(block)
        if isinstance(self._inner, LoopedModel) and not isinstance(block.learn_X, np.ndarray):
            raise Declined(self._inner.reason)  # in frames, columns are appended row by row
        columns = state.columns.after(block)
        extend = partial(self._with_lags, block, state.memory)
        memory, extended = block.once(self._key, state.memory, extend)
        if state.columns.number is None and block.n_learns:
            n_appended = extended.learn_X.shape[1] - block.learn_X.shape[1]
            warn_if_labels_are_dropped(self._model, extended.learn_X, n_appended)
        try:
            inner, answers = shared_step(self._inner, self._likeness, state.inner, extended)
        except LoopFailed as failure:
            memory, _ = self._with_lags(before_failure(block, failure), state.memory)
            failure.state = _State(columns, memory, failure.state)
            raise
        return _State(columns, memory, inner), answers

    def _with_lags(self, block: Block, memory: Codes) -> tuple[Codes, Block]:
        """Labels remembered after a block, and the block whose rows have those before them."""
        lags = lags_after(memory, block.y, self.estimator.n_lags)
        learnt, others, is_other = separate_rows(block)
        learnt = self._extended(learnt, lags[:-1])
        others = self._extended(others, lags[block.stamp[is_other]])
        rows, ask_index = joined_rows(learnt, others, is_other, block.stamp)
        extended = replace(
            block,
            learn_X=rows,
            learn_index=np.arange(block.n_learns),
            ask_X=rows,
            ask_index=ask_index,
        )
        return lags[-1][lags[-1] >= 0], extended

    def _extended(self, X: Any, lags: Codes) -> Any:
        return extended_by_labels(X, lags, self._classes, self.estimator)

    def _export_memory(self, memory: Codes) -> None:
        self.estimator.previous_labels_ = self._classes[memory]


@dataclass(frozen=True, slots=True)
class _Counts:
    """Faded counts of classes and transitions, and the code learnt last (-1: none)."""

    classes: Floats
    transitions: Floats
    last: int


class TemporalCorrectionKernel(_TemporalKernel):
    """Corrects the inner kernel's probabilities by the counts at the time of each ask."""

    _methods = ("predict", "predict_proba")

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key = key_of(type(self), estimator.fading_factor, estimator.smoothing, self._classes)

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        return task.asking("predict_proba")

    def _memory(self, fitted: bool) -> _Counts:
        n, model = len(self._classes), self.estimator
        if not fitted:
            return _Counts(np.zeros(n), np.zeros((n, n)), -1)
        last = int(LabelSpace(self._classes).encode(model.previous_labels_)[0])
        # Copies: `partial_fit` changes its own in place.
        return _Counts(model.class_counts_.copy(), model.transition_counts_.copy(), last)

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        columns = state.columns.after(block)
        # They depend on labels, whichever model is corrected.
        count = partial(self._corrections, block, state.memory)
        labels = block.y, block.stamp, block.weight
        factors, counts = block.once(self._key, state.memory, count, labels)
        try:
            inner, posterior = shared_step(self._inner, self._likeness, state.inner, block)
        except LoopFailed as failure:
            _, counts = self._corrections(before_failure(block, failure), state.memory)
            failure.answers = self._answers(failure.answers, factors[: len(failure.answers)])
            failure.state = _State(columns, counts, failure.state)
            raise
        return _State(columns, counts, inner), self._answers(posterior, factors)

    def _answers(self, posterior: Floats, factors: Floats) -> NDArray[Any]:
        return answers_to(self.task, partial(best_or_all, corrected(posterior, factors)))

    def _corrections(self, block: Block, counts: _Counts) -> tuple[Floats, _Counts]:
        """Factors of probabilities by the counts at their time, and the counts after the block."""
        smoothing = self.estimator.smoothing
        if len(counts.classes) > _FEW_CLASSES:
            given, prior, counts = self._count_one_by_one(block, counts)
            return corrections(given, prior, smoothing), counts
        factors = np.empty((block.n_asks, len(counts.classes)))
        step = max(1, _TRANSITIONS_AT_ONCE // counts.transitions.size)
        for begin in range(0, max(block.n_learns, 1), step):
            end = min(begin + step, block.n_learns)
            asks = slice(*np.searchsorted(block.stamp, [begin + (begin > 0), end + 1]))
            given, prior, counts = self._count(block, counts, begin, end, block.stamp[asks] - begin)
            factors[asks] = corrections(given, prior, smoothing)
        return factors, counts

    def _count(
        self, block: Block, counts: _Counts, begin: int, end: int, stamp: NDArray[np.int64]
    ) -> tuple[Floats, Floats, _Counts]:
        """Transition and class counts after `stamp` of some learns, and all after the last."""
        n_classes = len(counts.classes)
        codes = block.y[begin:end].astype(np.int64, copy=False)
        weights = np.ones(end - begin) if block.weight is None else block.weight[begin:end]
        path = np.concatenate([[counts.last], codes])
        fading = self.estimator.fading_factor
        classes = faded_sums(counts.classes, codes, weights, fading)
        # The very first row learnt comes after nothing: it is an event of no column.
        steps = np.where(path[:-1] < 0, -1, path[:-1] * n_classes + codes)
        transitions = faded_sums(counts.transitions.ravel(), steps, weights, fading)
        by_previous = transitions.reshape(-1, n_classes, n_classes)
        after = _Counts(classes[-1].copy(), by_previous[-1].copy(), int(path[-1]))
        return by_previous[stamp, path[stamp]], classes[stamp], after

    def _count_one_by_one(self, block: Block, counts: _Counts) -> tuple[Floats, Floats, _Counts]:
        """Do the same where a table of all transitions for every row would be too large."""
        classes, transitions, last = counts.classes.copy(), counts.transitions.copy(), counts.last
        given, prior = np.empty((2, block.n_asks, len(classes)))
        weights = np.ones(block.n_learns) if block.weight is None else block.weight
        bounds = np.searchsorted(block.stamp, np.arange(block.n_learns + 2)).tolist()
        fading = self.estimator.fading_factor
        for i, (code, weight) in enumerate(zip(block.y.tolist(), weights.tolist(), strict=True)):
            asks = slice(bounds[i], bounds[i + 1])
            given[asks], prior[asks] = transitions[last], classes
            if fading != 1.0:
                classes *= fading
                transitions *= fading
            classes[code] += weight
            if last >= 0:
                transitions[last, code] += weight
            last = code
        asks = slice(bounds[block.n_learns], block.n_asks)
        given[asks], prior[asks] = transitions[last], classes
        return given, prior, _Counts(classes, transitions, last)

    def _export_memory(self, memory: _Counts) -> None:
        self.estimator.class_counts_ = memory.classes.copy()
        self.estimator.transition_counts_ = memory.transitions.copy()
        self.estimator.previous_labels_ = self._classes[[memory.last]]


def faded_sums(start: Floats, columns: Codes, weights: Floats, fading_factor: float) -> Floats:
    """Faded sums after none, one, two, ... of some events, by column.

    Parameters
    ----------
    start : ndarray of shape (n_columns,)
        Sums before.
    columns : ndarray of shape (n_events,), dtype int64
        Column that each event belongs to; -1: none, it only fades.
    weights : ndarray of shape (n_events,)
        Weights of the events.
    fading_factor : float
        What the sums are multiplied by at every event, before it is added.

    Returns
    -------
    ndarray of shape (n_events + 1, n_columns)
        The sums, with the roundings of ``sums *= fading_factor; sums[column] += weight``.
    """
    n_events = len(columns)
    sums = np.zeros((n_events + 1, len(start)))
    sums[0] = start
    events = np.flatnonzero(columns >= 0)
    sums[events + 1, columns[events]] = weights[events]
    return accumulate(sums, fading_factor)
