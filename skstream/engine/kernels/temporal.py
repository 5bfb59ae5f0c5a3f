"""Kernels of the temporal meta-classifiers, by way of the inner model's kernel."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Kernel, Task, find_kernel, kernel_of, value_of
from skstream.engine.kernels.compose import check_weights, joined_rows, separate_rows
from skstream.engine.kernels.schema import (
    Outside,
    class_labels,
    outside_after,
    refused_task,
)
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from skstream.temporal._augmentation import (
    extended_by_labels,
    lags_after,
    warn_if_labels_are_dropped,
)
from skstream.temporal._correction import corrected
from skstream.utils._labels import encode_labels
from skstream.utils._running_sums import accumulate
from skstream.utils._validation import is_fitted, unfitted_copy

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Numbers held at once while transitions are counted: a few megabytes, within the cache.
_TRANSITIONS_AT_ONCE = 1 << 19
# With more classes transitions are counted one after the other, in a single table.
_FEW_CLASSES = 50


class _TemporalKernel(Kernel):
    """What the two have in common: an inner kernel, and labels that are remembered."""

    #: Answers that it knows, as far as the inner model has them.
    _methods: tuple[str, ...] = ("predict", "predict_proba", "decision_function")

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        self._inner = find_kernel(self._model, self._inner_task(task))
        self._classes = class_labels(task)
        self._outside: Outside | None = Outside.of(estimator) if fitted else None
        self.bitwise = self._inner.bitwise  # type: ignore[misc]

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

    @property
    def row_bytes(self) -> int | None:
        """That of the inner kernel, and of the labels or transitions beside every row."""
        inner = self._inner.row_bytes
        return None if inner is None else inner + self._own_bytes

    @property
    def _own_bytes(self) -> int:
        return 64 * len(self._classes)

    def _export_shared(self) -> bool:
        """Write what both write; whether there is anything to write."""
        if self._outside is None:
            return False
        self._inner.export()
        self._outside.write(self.estimator)
        self.estimator.classes_ = self._classes.copy()
        self.estimator.estimator_ = self._model
        return True


@kernel_of(TemporallyAugmented)
class TemporallyAugmentedKernel(_TemporalKernel):
    """Shows the inner kernel each row with the labels learnt just before."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        history = estimator.label_history_ if self._outside is not None else self._classes[:0]
        self._history: Codes = encode_labels(history, self._classes)

    @property
    def _own_bytes(self) -> int:
        per_lag = len(self._classes) if self.estimator.encoding == "onehot" else 1
        return 64 * int(self.estimator.n_lags) * per_lag

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        if not block.n_learns and not block.n_asks:
            return self._inner.run(block)
        check_weights(block)
        outside = outside_after(self._outside, block)
        lags = lags_after(self._history, block.y, self.estimator.n_lags)
        learnt, others, is_other = separate_rows(block)
        width = learnt.shape[1]
        learnt = self._extended(learnt, lags[:-1])
        if self._outside is None and block.n_learns:
            warn_if_labels_are_dropped(self._model, learnt, learnt.shape[1] - width)
        others = self._extended(others, lags[block.stamp[is_other]])
        rows, ask_index = joined_rows(learnt, others, is_other, block.stamp)
        answers = self._inner.run(
            replace(
                block,
                learn_X=rows,
                learn_index=np.arange(block.n_learns),
                ask_X=rows,
                ask_index=ask_index,
            )
        )
        self._outside, self._history = outside, lags[-1][lags[-1] >= 0]
        return answers

    def _extended(self, X: Any, lags: Codes) -> Any:
        return extended_by_labels(X, lags, self._classes, self.estimator)

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        return self._outside, self._history, self._inner.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._outside, self._history, inner = snapshot
        self._inner.restore(inner)

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        if self._export_shared():
            self.estimator.label_history_ = self._classes[self._history]


@dataclass(frozen=True, slots=True)
class _Counts:
    """Faded counts of classes and transitions, and the code learnt last (-1: none)."""

    classes: Floats
    transitions: Floats
    last: int


@kernel_of(TemporalCorrection)
class TemporalCorrectionKernel(_TemporalKernel):
    """Corrects the inner kernel's probabilities by the counts at the time of each ask."""

    _methods = ("predict", "predict_proba")

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        n = len(self._classes)
        self._counts = _Counts(np.zeros(n), np.zeros((n, n)), -1)
        if self._outside is not None:
            self._counts = _Counts(
                estimator.class_counts_,
                estimator.transition_counts_,
                int(encode_labels(estimator.label_history_, self._classes)[0]),
            )

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        return task.asking("predict_proba")

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        check_weights(block)
        outside = outside_after(self._outside, block)
        posterior = self._inner.run(block)
        counts = self._counts
        if len(counts.classes) > _FEW_CLASSES:
            given, prior, counts = self._count_one_by_one(block, counts)
            answers = corrected(posterior, given, prior, self.estimator.smoothing)
            self._outside, self._counts = outside, counts
            return answers.argmax(axis=1) if self.task.method == "predict" else answers
        answers = np.empty_like(posterior)
        step = max(1, _TRANSITIONS_AT_ONCE // counts.transitions.size)
        for begin in range(0, max(block.n_learns, 1), step):
            end = min(begin + step, block.n_learns)
            asks = slice(*np.searchsorted(block.stamp, [begin + (begin > 0), end + 1]))
            given, prior, counts = self._count(block, counts, begin, end, block.stamp[asks] - begin)
            answers[asks] = corrected(posterior[asks], given, prior, self.estimator.smoothing)
        self._outside, self._counts = outside, counts
        return answers.argmax(axis=1) if self.task.method == "predict" else answers

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

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        return self._outside, self._counts, self._inner.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._outside, self._counts, inner = snapshot
        self._inner.restore(inner)

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        if self._export_shared():
            self.estimator.class_counts_ = self._counts.classes.copy()
            self.estimator.transition_counts_ = self._counts.transitions.copy()
            self.estimator.label_history_ = self._classes[[self._counts.last]]


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
