"""Kernels of the baselines: their answers are functions of the labels learnt before."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.baselines import (
    MajorityClass,
    MajorityWindow,
    MeanRegressor,
    Persistent,
    PersistentRegressor,
)
from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Kernel, Task, kernel_of
from skstream.engine.kernels.schema import (
    Outside,
    class_labels,
    outside_after,
    refused_task,
)
from skstream.utils._running_sums import running_sums
from skstream.utils._validation import is_fitted

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class _BaselineKernel(Kernel):
    """A baseline's state is a value that is replaced, never changed: its own snapshot."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._outside: Outside | None = Outside.of(estimator) if fitted else None
        self._memory: Any = self._read() if fitted else None

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        outside = outside_after(self._outside, block)
        answers, memory = self._execute(block)
        self._outside, self._memory = outside, memory
        return answers

    def snapshot(self) -> Any:
        """Return the state."""
        return self._outside, self._memory

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._outside, self._memory = snapshot

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        if self._outside is None:
            return
        self._outside.write(self.estimator)
        if self.task.classes is not None:
            self.estimator.classes_ = class_labels(self.task)
        self._write()

    @abstractmethod
    def _read(self) -> Any:
        """Take the memory from the fitted estimator."""

    @abstractmethod
    def _execute(self, block: Block) -> tuple[NDArray[Any], Any]:
        """Answers to the asks, and the memory after the learns."""

    @abstractmethod
    def _write(self) -> None:
        """Write the memory into the estimator."""


class _LabelKernel(_BaselineKernel):
    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse regression, and answers that these baselines do not have."""
        return refused_task(estimator, task, ("predict", "predict_proba"))

    @property
    def _n_classes(self) -> int:
        return len(class_labels(self.task))


@kernel_of(Persistent)
class PersistentKernel(_LabelKernel):
    """The memory is the code learnt last."""

    def _read(self) -> int:
        return int(np.searchsorted(self.estimator.classes_, self.estimator.last_label_))

    def _execute(self, block: Block) -> tuple[NDArray[Any], int]:
        last = -1 if self._memory is None else self._memory
        codes = np.concatenate([[last], block.y]).astype(np.int64, copy=False)
        answers: Codes = codes[block.stamp]
        if self.task.method == "predict":
            return answers, int(codes[-1])
        onehot = answers[:, np.newaxis] == np.arange(self._n_classes)
        return onehot.astype(np.float64), int(codes[-1])

    def _write(self) -> None:
        self.estimator.last_label_ = self.estimator.classes_[self._memory]


@kernel_of(MajorityClass)
class MajorityClassKernel(_LabelKernel):
    """The memory is the weight learnt of each class."""

    def _read(self) -> Floats:
        return np.array(self.estimator.class_counts_)

    def _execute(self, block: Block) -> tuple[NDArray[Any], Floats]:
        before = np.zeros(self._n_classes) if self._memory is None else self._memory
        after = np.empty_like(before)
        ballots = _Ballots(self.task.method, block.n_asks, len(before))
        for code in range(len(before)):
            sums = running_sums(before[code], _weights(block) * (block.y == code))
            after[code] = sums[-1]
            ballots.count(code, sums[block.stamp])
        return ballots.answers(), after

    def _write(self) -> None:
        self.estimator.class_counts_ = self._memory.copy()


@kernel_of(MajorityWindow)
class MajorityWindowKernel(_LabelKernel):
    """The memory is the codes and weights within the window, oldest first."""

    def _read(self) -> tuple[Codes, Floats]:
        return self.estimator.window_codes_, self.estimator.window_weights_

    def _execute(self, block: Block) -> tuple[NDArray[Any], tuple[Codes, Floats]]:
        size = self.estimator.window_size
        codes, weights = self._memory or (np.empty(0, np.int64), np.empty(0))
        end = len(codes) + block.stamp
        begin = np.maximum(end - size, 0)
        codes = np.concatenate([codes, block.y]).astype(np.int64, copy=False)
        weights = np.concatenate([weights, _weights(block)])
        if not (weights == np.floor(weights)).all():
            # Differences of running sums are exact for whole numbers only.
            raise Declined("a MajorityWindow of fractional weights has no kernel")
        ballots = _Ballots(self.task.method, block.n_asks, self._n_classes)
        for code in range(self._n_classes):
            sums = running_sums(0.0, weights * (codes == code))
            ballots.count(code, sums[end] - sums[begin])
        return ballots.answers(), (codes[-size:].copy(), weights[-size:].copy())

    def _write(self) -> None:
        codes, weights = self._memory
        counts = np.zeros(self._n_classes)
        np.add.at(counts, codes, weights)
        self.estimator.window_codes_ = codes.copy()
        self.estimator.window_weights_ = weights.copy()
        self.estimator.class_counts_ = counts


class _TargetKernel(_BaselineKernel):
    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse classification."""
        return None if task.classes is None and task.method == "predict" else "these answers"


@kernel_of(PersistentRegressor)
class PersistentRegressorKernel(_TargetKernel):
    """The memory is the target learnt last."""

    def _read(self) -> float:
        return float(self.estimator.last_target_)

    def _execute(self, block: Block) -> tuple[Floats, float]:
        last = np.nan if self._memory is None else self._memory
        targets = np.concatenate([[last], _targets(block)])
        return targets[block.stamp], float(targets[-1])

    def _write(self) -> None:
        self.estimator.last_target_ = self._memory


@kernel_of(MeanRegressor)
class MeanRegressorKernel(_TargetKernel):
    """The memory is the weighted sum of the targets, and the sum of the weights."""

    def _read(self) -> tuple[float, float]:
        return self.estimator.target_sum_, self.estimator.weight_sum_

    def _execute(self, block: Block) -> tuple[Floats, tuple[float, float]]:
        target_sum, weight_sum = self._memory or (0.0, 0.0)
        weights = _weights(block)
        targets = running_sums(target_sum, weights * _targets(block))
        totals = running_sums(weight_sum, weights)
        answers: Floats = targets[block.stamp] / totals[block.stamp]
        return answers, (float(targets[-1]), float(totals[-1]))

    def _write(self) -> None:
        self.estimator.target_sum_, self.estimator.weight_sum_ = self._memory


class _Ballots:
    """Collects the votes for one class after another; memory of one class where that does."""

    def __init__(self, method: str, n_asks: int, n_classes: int):
        self._votes = np.empty((n_asks, n_classes)) if method == "predict_proba" else None
        self._most = np.full(n_asks, -1.0)
        self._winners = np.zeros(n_asks, dtype=np.int64)

    def count(self, code: int, votes: Floats) -> None:
        """Take the votes for a class, at every ask. Classes come in ascending order."""
        if self._votes is not None:
            self._votes[:, code] = votes
            return
        # Ties stay with the lower class, which came first.
        self._winners[votes > self._most] = code
        np.maximum(self._most, votes, out=self._most)

    def answers(self) -> NDArray[Any]:
        """Return winners, or shares of the votes."""
        if self._votes is None:
            return self._winners
        shares: Floats = self._votes / self._votes.sum(axis=1, keepdims=True)
        return shares


def _weights(block: Block) -> Floats:
    return np.ones(block.n_learns) if block.weight is None else block.weight


def _targets(block: Block) -> Floats:
    if not np.isfinite(block.y).all():
        raise Declined("targets that are not finite have no kernel")
    return block.y.astype(np.float64, copy=False)
