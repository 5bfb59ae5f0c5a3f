"""Kernels of the baselines: their answers are functions of the labels learnt before."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.baselines import drawn_codes
from skstream.engine.answers import Task, answers_to
from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined
from skstream.engine.kernels.memory import MemoryKernel
from skstream.engine.kernels.schema import class_labels, refused_seed, refused_task
from skstream.utils._few_columns import best_columns
from skstream.utils._row_hashes import row_hashes, uniform_draws
from skstream.utils._rows import take_rows
from skstream.utils._running_sums import running_sums
from skstream.utils._seeds import drawn_seed
from skstream.utils._validation import is_fitted

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class _LabelKernel(MemoryKernel):
    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse regression, and answers that these baselines do not have."""
        return refused_task(estimator, task, ("predict", "predict_proba"))

    @property
    def _n_classes(self) -> int:
        return len(class_labels(self.task))

    def _as_asked(self, codes: Codes) -> NDArray[Any]:
        """Return answers that are sure of one class: its code, or the probability 1."""

        def answers(task: Task) -> NDArray[Any]:
            if task.method == "predict":
                return codes
            onehot: NDArray[np.bool_] = codes[:, np.newaxis] == np.arange(self._n_classes)
            return onehot.astype(np.float64)

        return answers_to(self.task, answers)


class PersistentKernel(_LabelKernel):
    """The memory is the code learnt last."""

    def _read(self) -> int:
        labels: list[Any] = self.estimator.classes_.tolist()
        return labels.index(self.estimator.previous_label_)

    def _execute(self, memory: Any, block: Block) -> tuple[NDArray[Any], int]:
        last = -1 if memory is None else memory
        codes = np.concatenate([[last], block.y]).astype(np.int64, copy=False)
        return self._as_asked(codes[block.stamp]), int(codes[-1])

    def _write(self, memory: Any) -> None:
        self.estimator.previous_label_ = self.estimator.classes_[memory]


class MajorityClassKernel(_LabelKernel):
    """The memory is the weight learnt of each class."""

    def _read(self) -> Floats:
        return np.array(self.estimator.class_counts_)

    def _execute(self, memory: Any, block: Block) -> tuple[NDArray[Any], Floats]:
        before = np.zeros(self._n_classes) if memory is None else memory
        after = before.copy()
        ballots = _Ballots(self.task, before, block.y, block.n_asks)
        for code in ballots.candidates:
            sums = running_sums(before[code], _weights(block) * (block.y == code))
            after[code] = sums[-1]
            ballots.count(code, sums[block.stamp])
        return ballots.answers(), after

    def _write(self, memory: Any) -> None:
        self.estimator.class_counts_ = memory.copy()


class MajorityWindowKernel(_LabelKernel):
    """The memory is the codes and weights within the window, oldest first."""

    def _read(self) -> tuple[Codes, Floats]:
        return self.estimator.window_codes_, self.estimator.window_weights_

    def _execute(self, memory: Any, block: Block) -> tuple[NDArray[Any], tuple[Codes, Floats]]:
        size = self.estimator.window_size
        codes, weights = memory or (np.empty(0, np.int64), np.empty(0))
        before = np.bincount(codes, weights, self._n_classes).astype(np.float64, copy=False)
        begin = min(size - len(codes), block.n_learns)  # from where on old labels are forgotten
        codes = np.concatenate([codes, block.y]).astype(np.int64, copy=False)
        weights = np.concatenate([weights, _weights(block)])
        if not (weights == np.floor(weights)).all():
            # Differences of running sums are exact for whole numbers only.
            raise Declined("a MajorityWindow of fractional weights has no kernel")
        n_old = block.n_learns - begin
        changed = np.concatenate([codes[:n_old], block.y])
        ballots = _Ballots(self.task, before, changed, block.n_asks)
        learnt = weights[len(weights) - block.n_learns :]
        for code in ballots.candidates:
            steps = learnt * (block.y == code)
            steps[begin:] -= weights[:n_old] * (codes[:n_old] == code)
            ballots.count(code, running_sums(before[code], steps)[block.stamp])
        return ballots.answers(), (codes[-size:].copy(), weights[-size:].copy())

    def _write(self, memory: Any) -> None:
        codes, weights = memory
        counts = np.zeros(self._n_classes)
        np.add.at(counts, codes, weights)
        self.estimator.window_codes_ = codes.copy()
        self.estimator.window_weights_ = weights.copy()
        self.estimator.class_counts_ = counts


class RandomClassKernel(_LabelKernel):
    """The memory is the weight learnt of each class, and of all."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._seed = estimator.seed_ if fitted else drawn_seed(estimator.random_state)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse a seed that would be drawn again."""
        return super().refusal(estimator, task) or refused_seed(estimator)

    def _read(self) -> tuple[Floats, float]:
        return self.estimator.class_counts_, self.estimator.weight_learnt_

    def _execute(self, memory: Any, block: Block) -> tuple[NDArray[Any], tuple[Floats, float]]:
        counts, total = memory or (np.zeros(self._n_classes), 0.0)
        weights = _weights(block)
        totals = running_sums(total, weights)
        after, of_asks = counts.copy(), np.empty((self._n_classes, block.n_asks))
        for code in range(self._n_classes):
            sums = running_sums(counts[code], weights * (block.y == code))
            after[code], of_asks[code] = sums[-1], sums[block.stamp]
        answers: Codes = np.empty(0, np.int64)
        if block.n_asks:
            hashes = row_hashes(take_rows(block.ask_X, block.ask_index))
            uniform = uniform_draws(hashes, totals[block.stamp], self._seed)
            answers = drawn_codes(of_asks, uniform)
        return self._as_asked(answers), (after, float(totals[-1]))

    def _write(self, memory: Any) -> None:
        counts, total = memory
        self.estimator.class_counts_ = counts.copy()
        self.estimator.weight_learnt_ = total
        self.estimator.seed_ = self._seed


class _TargetKernel(MemoryKernel):
    gives_scores = False

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse classification."""
        return None if task.classes is None and task.method == "predict" else "these answers"


class PersistentRegressorKernel(_TargetKernel):
    """The memory is the target learnt last."""

    def _read(self) -> float:
        return float(self.estimator.previous_target_)

    def _execute(self, memory: Any, block: Block) -> tuple[Floats, float]:
        last = np.nan if memory is None else memory
        targets = np.concatenate([[last], _targets(block)])
        return targets[block.stamp], float(targets[-1])

    def _write(self, memory: Any) -> None:
        self.estimator.previous_target_ = memory


class MeanRegressorKernel(_TargetKernel):
    """The memory is the weighted sum of the targets, and the sum of the weights."""

    def _read(self) -> tuple[float, float]:
        return self.estimator.target_sum_, self.estimator.weight_sum_

    def _execute(self, memory: Any, block: Block) -> tuple[Floats, tuple[float, float]]:
        target_sum, weight_sum = memory or (0.0, 0.0)
        weights = _weights(block)
        targets = running_sums(target_sum, weights * _targets(block))
        totals = running_sums(weight_sum, weights)
        answers: Floats = targets[block.stamp] / totals[block.stamp]
        return answers, (float(targets[-1]), float(totals[-1]))

    def _write(self, memory: Any) -> None:
        self.estimator.target_sum_, self.estimator.weight_sum_ = memory


class _Ballots:
    """Collects the votes for one class after another; memory of one class where that does.

    Attributes
    ----------
    candidates : list of int
        Codes to be counted, ascending: the classes whose votes change, and the best of the others.
    """

    def __init__(self, task: Task, before: Floats, changed: Codes, n_asks: int):
        self._task = task
        changes = np.ones(len(before), dtype=bool)
        if len(changed) < 8 * len(before):  # else most of them change
            changes = np.bincount(changed, minlength=len(before)) > 0
        self._votes: Floats | None = None
        if task.method == "predict_proba" or task.n_scores:
            self._votes = np.repeat(before[np.newaxis], n_asks, axis=0)
        elif not changes.all():
            changes[np.where(changes, -1.0, before).argmax()] = True
        self.candidates: list[int] = np.flatnonzero(changes).tolist()
        self._most = np.full(n_asks, 0.0)
        self._winners = np.zeros(n_asks, dtype=np.int64)

    def count(self, code: int, votes: Floats) -> None:
        """Add the votes for a class, at every ask. Classes come in ascending order."""
        if self._votes is not None:
            self._votes[:, code] = votes
            return
        # The lower class wins ties: it came first.
        self._winners[votes > self._most] = code
        np.maximum(self._most, votes, out=self._most)

    def answers(self) -> NDArray[Any]:
        """Return winners, or shares of the votes."""
        if self._votes is None:
            return self._winners
        return answers_to(self._task, partial(_shares_or_best, self._votes))


def _shares_or_best(votes: Floats, task: Task) -> NDArray[Any]:
    """Answers of one kind, from the votes for all classes."""
    if task.method == "predict":
        return best_columns(votes)
    shares: Floats = votes / votes.sum(axis=1, keepdims=True)
    return shares


def _weights(block: Block) -> Floats:
    return np.ones(block.n_learns) if block.weight is None else block.weight


def _targets(block: Block) -> Floats:
    if not np.isfinite(block.y).all():
        raise Declined("targets that are not finite have no kernel")
    return block.y.astype(np.float64, copy=False)
