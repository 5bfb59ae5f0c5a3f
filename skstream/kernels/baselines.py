"""Kernels of what models are compared with: answers by the labels before, and the best possible."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.baselines import drawn_codes, lagged
from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.input import (
    EXACT_OR_SINGLE,
    OTHER_CLASSES,
    OTHER_COLUMNS,
    class_labels,
    has_valid_parameters,
    read_block,
    refused_seed,
    refused_task,
)
from skstream.kernels.memory import MemoryKernel, SeededKernel, State
from skstream.optimal import moved_columns
from skstream.utils._rows import best_columns, take_rows
from skstream.utils._running_sums import running_sums
from skstream.utils._seeds import row_hashes, uniform_draws

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class _LabelKernel(MemoryKernel):
    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse regression, and answers that these baselines do not have."""
        return refused_task(estimator, task, ("predict", "predict_proba"))

    def _as_asked(self, codes: Codes) -> NDArray[Any]:
        """Return answers that are sure of one class: its code, or the probability 1."""

        def answers(task: Task) -> NDArray[Any]:
            if task.method == "predict":
                return codes
            onehot: NDArray[np.bool_] = codes[:, np.newaxis] == np.arange(self._n_classes)
            return onehot.astype(np.float64)

        return answers_to(self.task, answers)

    def _voted(self, votes: Floats) -> NDArray[Any]:
        """Return the winners at each ask, or shares of the votes."""
        return answers_to(self.task, partial(_shares_or_best, votes))

    def _by_class(self, codes: Codes, weights: Floats) -> Floats:
        """Weights of labels, each in the column of its class."""
        table = np.zeros((len(codes), self._n_classes))
        table[np.arange(len(codes)), codes] = weights
        return table


class _LaggedKernel(MemoryKernel):
    """The memory is the code or target learnt last; with a lag, as many as that, oldest first."""

    def _read(self) -> Any:
        return self._memory_of(self.estimator._remembered())

    def _write(self, memory: Any) -> None:
        self.estimator._keep(np.atleast_1d(memory))

    def _memory_of(self, values: NDArray[Any]) -> Any:
        lag = self.estimator.lag
        return values[-1].item() if lag == 1 else values[-lag:].copy()

    def _lagged(
        self, memory: Any, values: NDArray[Any], block: Block, first: Any
    ) -> tuple[NDArray[Any], Any]:
        """Answers to the asks, `first` where nothing is known, and the memory after the learns."""
        before = values[:0] if memory is None else np.atleast_1d(memory)
        known = np.concatenate([before, values]).astype(values.dtype, copy=False)
        answers = lagged(np.append(known, first), len(before) + block.stamp, self.estimator.lag)
        return answers, self._memory_of(known) if len(known) else None


class PersistentKernel(_LaggedKernel, _LabelKernel):
    """The label some rows before."""

    def _execute(self, memory: Any, block: Block) -> tuple[NDArray[Any], Any]:
        codes = block.y.astype(np.int64, copy=False)
        answers, memory = self._lagged(memory, codes, block, -1)
        return self._as_asked(answers), memory


class MajorityClassKernel(_LabelKernel):
    """The memory is the weight learnt of each class."""

    _attributes = ("class_counts_",)

    def _no_memory(self) -> Floats:
        return np.zeros(self._n_classes)

    def _execute(self, memory: Floats, block: Block) -> tuple[NDArray[Any], Floats]:
        sums = running_sums(memory, self._by_class(block.y, block.weights))
        return self._voted(sums[block.stamp]), sums[-1].copy()


class MajorityWindowKernel(_LabelKernel):
    """The memory is the codes and weights within the window, oldest first."""

    _attributes = ("window_codes_", "window_weights_")

    def _no_memory(self) -> tuple[Codes, Floats]:
        return np.empty(0, np.int64), np.empty(0)

    def _execute(
        self, memory: tuple[Codes, Floats], block: Block
    ) -> tuple[NDArray[Any], tuple[Codes, Floats]]:
        size = self.estimator.window_size
        n_before = len(memory[0])
        begin = min(size - n_before, block.n_learns)  # from where on old labels are forgotten
        codes = np.concatenate([memory[0], block.y]).astype(np.int64, copy=False)
        weights = np.concatenate([memory[1], block.weights])
        if not (weights == np.floor(weights)).all():
            # Differences of running sums are exact for whole numbers only.
            raise Declined("a MajorityWindow of fractional weights has no kernel")
        weighted = self._by_class(codes, weights)
        steps = weighted[n_before:].copy()
        steps[begin:] -= weighted[: block.n_learns - begin]
        sums = running_sums(weighted[:n_before].sum(axis=0), steps)
        return self._voted(sums[block.stamp]), (codes[-size:].copy(), weights[-size:].copy())

    def _write(self, memory: Any) -> None:
        super()._write(memory)
        self.estimator.class_counts_ = self._by_class(*memory).sum(axis=0)


class RandomClassKernel(SeededKernel, _LabelKernel):
    """The memory is the weight learnt of each class, and of all."""

    _attributes = ("class_counts_", "weight_learnt_")

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse a seed that would be drawn again."""
        return super().refusal(estimator, task) or refused_seed(estimator)

    def _no_memory(self) -> tuple[Floats, float]:
        return np.zeros(self._n_classes), 0.0

    def _execute(
        self, memory: tuple[Floats, float], block: Block
    ) -> tuple[NDArray[Any], tuple[Floats, float]]:
        weights = block.weights
        sums = running_sums(memory[0], self._by_class(block.y, weights))
        totals = running_sums(memory[1], weights)
        answers: Codes = np.empty(0, np.int64)
        if block.n_asks:
            hashes = row_hashes(take_rows(block.ask_X, block.ask_index))
            uniform = uniform_draws(hashes, totals[block.stamp], self._seed)
            answers = drawn_codes(sums[block.stamp].T, uniform)
        return self._as_asked(answers), (sums[-1].copy(), float(totals[-1]))


class _TargetKernel(MemoryKernel):
    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse classification, and parameters that the estimator refuses."""
        if not has_valid_parameters(estimator):
            return "parameters that it refuses"
        return None if task.classes is None and task.method == "predict" else "these answers"


class PersistentRegressorKernel(_LaggedKernel, _TargetKernel):
    """The target some rows before."""

    def _execute(self, memory: Any, block: Block) -> tuple[Floats, Any]:
        return self._lagged(memory, _targets(block), block, np.nan)


class MeanRegressorKernel(_TargetKernel):
    """The memory is the weighted sum of the targets, and the sum of the weights."""

    _attributes = ("target_sum_", "weight_sum_")

    def _execute(self, memory: Any, block: Block) -> tuple[Floats, tuple[float, float]]:
        target_sum, weight_sum = memory or (0.0, 0.0)
        weights = block.weights
        targets = running_sums(target_sum, weights * _targets(block))
        totals = running_sums(weight_sum, weights)
        answers: Floats = targets[block.stamp] / totals[block.stamp]
        return answers, (float(targets[-1]), float(totals[-1]))


def _shares_or_best(votes: Floats, task: Task) -> NDArray[Any]:
    """Answers of one kind, from the votes for all classes; the lower class wins ties."""
    if task.method == "predict":
        return best_columns(votes)
    return votes / votes.sum(axis=1, keepdims=True)


def _targets(block: Block) -> Floats:
    if not np.isfinite(block.y).all():
        raise Declined("targets that are not finite have no kernel")
    return block.y.astype(np.float64, copy=False)


class BayesOptimalKernel(MemoryKernel):
    """The number of a row is that of the rows learnt before it, the memory."""

    _attributes = ("n_rows_learnt_",)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other answers, and other labels than those of the stream that it knows."""
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        same = np.array_equal(np.asarray(estimator.stream.classes), class_labels(task))
        return None if same else OTHER_CLASSES

    def _no_memory(self) -> int:
        return 0

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.weight is not None:
            raise Declined("BayesOptimal with sample weights has no kernel")
        rows = read_block(block, state.columns, dtypes=EXACT_OR_SINGLE)
        if rows.columns.number not in (None, len(self.estimator.stream.feature_names)):
            raise Declined(OTHER_COLUMNS)
        if moved_columns(rows.columns.names, self.estimator.stream) is not None:
            raise Declined("BayesOptimal has no kernel for columns in another order")
        answers: NDArray[Any] = np.empty((0, self._n_classes))
        if block.n_asks:
            answers = self.estimator.stream.posterior(rows.ask, state.memory + block.stamp)
        after = state.after(block, rows.columns, state.memory + block.n_learns)
        return after, answers_to(self.task, partial(best_or_all, answers))

    def _write(self, memory: int) -> None:
        super()._write(memory)
        self.estimator.classes_ = np.asarray(self.estimator.stream.classes)
