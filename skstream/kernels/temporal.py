"""Kernels of the temporal meta-classifiers, by way of the inner model's kernel."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block, key_of
from skstream.core.engine.kernel import Declined
from skstream.kernels.inner import InnerKernel
from skstream.kernels.input import joined_rows, refused_task, separate_rows, value_of
from skstream.kernels.looped import LoopedModel
from skstream.kernels.memory import State, showing
from skstream.temporal import (
    corrected,
    corrections,
    count_labels,
    extended_by_labels,
    warn_if_labels_are_dropped,
)
from skstream.utils._labels import LabelSpace, lags_after

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class _TemporalKernel(InnerKernel):
    """What the two have in common: the memory is labels, and there may be other answers."""

    #: Answers that it knows, as far as the inner model has them.
    _methods: tuple[str, ...] = ("predict", "predict_proba", "decision_function")

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse answers that depend on one another.

        Where every label is known before the next row is asked, none are in place of labels.
        """
        refused = refused_task(estimator, task, cls._methods)
        if refused is not None:
            return refused
        late = task.late_labels or task.batch_size > 1
        if estimator.previous_label == "predicted" and late:
            return f"{value_of(estimator, 'previous_label')} and late labels"
        return None


class TemporallyAugmentedKernel(_TemporalKernel):
    """Shows the inner kernel each row with the labels learnt just before."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key = key_of(type(self), estimator.n_lags, estimator.encoding, self._classes)

    def _no_memory(self) -> Codes:
        return np.empty(0, np.int64)

    def _read(self) -> Codes:
        return LabelSpace(self._classes).encode(self.estimator.previous_labels_)

    @property
    def _own_bytes(self) -> int:
        per_lag = len(self._classes) if self.estimator.encoding == "onehot" else 1
        return 64 * int(self.estimator.n_lags) * per_lag

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._inner.step(state.inner, block)[1]
        if isinstance(self._inner, LoopedModel) and not isinstance(block.learn_X, np.ndarray):
            raise Declined(self._inner.reason)  # in frames, columns are appended row by row
        columns = self._columns_after(state, block)
        extend = partial(self._with_lags, block, state.memory)
        memory, extended = block.once(self._key, state.memory, extend)
        if state.columns.number is None and block.n_learns:
            n_appended = extended.learn_X.shape[1] - block.learn_X.shape[1]
            warn_if_labels_are_dropped(self._model, extended.learn_X, n_appended)

        def remember(done: Block) -> Codes:
            return memory if done is block else self._with_lags(done, state.memory)[0]

        return self._step_inside(state, columns, block, extended, remember, np.asarray)

    def _with_lags(self, block: Block, memory: Codes) -> tuple[Codes, Block]:
        """Labels remembered after a block, and the block whose rows have those before them."""
        lags = lags_after(memory, block.y, self.estimator.n_lags)
        learnt, others, is_other = separate_rows(block)
        learnt = self._extended(learnt, lags[:-1])
        others = self._extended(others, lags[block.stamp[is_other]])
        rows, ask_index = joined_rows(learnt, others, is_other, block.stamp)
        return lags[-1][lags[-1] >= 0], showing(block, rows, rows, ask_index)

    def _extended(self, X: Any, lags: Codes) -> Any:
        return extended_by_labels(X, lags, self._classes, self.estimator)

    def _write(self, memory: Codes) -> None:
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

    def _no_memory(self) -> _Counts:
        n = len(self._classes)
        return _Counts(np.zeros(n), np.zeros((n, n)), -1)

    def _read(self) -> _Counts:
        model = self.estimator
        last = int(LabelSpace(self._classes).encode(model.previous_labels_)[0])
        return _Counts(model.class_counts_.copy(), model.transition_counts_.copy(), last)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        columns = self._columns_after(state, block)
        # They depend on labels, whichever model is corrected.
        count = partial(self._corrections, block, state.memory)
        labels = block.y, block.stamp, block.weight
        factors, counts = block.once(self._key, state.memory, count, labels)

        def remember(done: Block) -> _Counts:
            return counts if done is block else self._corrections(done, state.memory)[1]

        def answer(posterior: Floats) -> NDArray[Any]:
            shares = corrected(posterior, factors[: len(posterior)])
            return answers_to(self.task, partial(best_or_all, shares))

        return self._step_inside(state, columns, block, block, remember, answer)

    def _corrections(self, block: Block, counts: _Counts) -> tuple[Floats, _Counts]:
        """Factors of probabilities by the counts at their time, and the counts after the block."""
        classes, transitions = counts.classes.copy(), counts.transitions.copy()
        given, prior = np.empty((2, block.n_asks, len(classes)))
        codes = block.y.astype(np.int64, copy=False)
        learns, fading = (codes, block.weights, block.stamp), float(self.estimator.fading_factor)
        last = count_labels(*learns, fading, classes, transitions, counts.last, given, prior)
        factors = corrections(given, prior, self.estimator.smoothing)
        return factors, _Counts(classes, transitions, int(last))

    def _write(self, memory: _Counts) -> None:
        self.estimator.class_counts_ = memory.classes.copy()
        self.estimator.transition_counts_ = memory.transitions.copy()
        self.estimator.previous_labels_ = self._classes[[memory.last]]
