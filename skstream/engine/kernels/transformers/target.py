"""Kernel of TargetEncoder: the sums of each category at every moment of a block."""

from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import (
    OTHER_CLASSES,
    Columns,
    class_labels,
    has_valid_parameters,
    knows_classes,
    refused_output,
)
from skstream.engine.kernels.transformers.categories import read_factorized
from skstream.preprocessing import TargetEncoder
from skstream.preprocessing._categories import MixedTypes
from skstream.preprocessing._target_encoder import (
    learns_classes,
    means_of,
    memory_of,
    of_classes,
    remember,
    steps_of,
)
from skstream.preprocessing._target_means import Memory, learn, nothing_learnt
from skstream.utils._validation import is_fitted


class TargetEncoderKernel(MemoryTransformKernel):
    """TargetEncoder. Rows learnt together are learnt one by one."""

    def __init__(self, estimator: TargetEncoder, task: Task):
        super().__init__(estimator, task)
        self._n_classes = 0  # the target is a number
        if task.classes is not None and _is_by_class(estimator, task):
            self._n_classes = len(task.classes)

    @classmethod
    def refusal(cls, transformer: TargetEncoder, task: Task) -> str | None:
        """Refuse other targets than those of the task, and other output than arrays."""
        if not has_valid_parameters(transformer):
            return "parameters that it refuses"
        if _is_by_class(transformer, task):
            if task.classes is None:
                return "labels as the target in a regression task"
            if not knows_classes(transformer, task):
                return OTHER_CLASSES
        elif task.classes is not None and task.classes.dtype.kind not in "biuf":
            return "numbers as the target, where labels are no numbers,"
        return refused_output(transformer)

    def _read(self) -> Memory:
        return _copied(memory_of(self.estimator))

    def row_bytes(self, state: State) -> int | None:
        """Memory of the sums that a row finds."""
        n_columns = 1 if state.columns.number is None else state.columns.number
        return 32 * n_columns * (1 + max(self._n_classes, 1))

    def _execute(self, state: State, block: Block) -> tuple[Columns, Memory, Block]:
        columns = state.columns.after(block)
        read, learnt, asked = read_factorized(block)
        targets = self._targets(block.y)
        before = state.memory
        if before is None:
            before = nothing_learnt(len(read), targets.shape[1])
        steps = steps_of(targets, block.weight)
        try:
            memory, *seen = learn(before, read, learnt, asked, block.stamp, steps)
        except MixedTypes as error:  # for the loop to show at its row
            raise Declined("a column with values of two types has no kernel") from error
        learn_X, ask_X = (means_of(self.estimator, one, self._n_classes) for one in seen)
        return columns, memory, showing(block, learn_X, ask_X)

    def _targets(self, y: Any) -> Any:
        """Targets of shape (n_learns, n_targets)."""
        if self._n_classes:
            return of_classes(y, self._n_classes)
        numbers = y if self.task.classes is None else self.task.classes[y]
        if not np.isfinite(numbers).all():
            raise Declined("targets with NaN or infinity have no kernel")
        return numbers.astype(np.float64)[:, np.newaxis]

    def _write(self, memory: Memory) -> None:
        remember(self.estimator, _copied(memory))
        if self._n_classes:
            self.estimator.classes_ = class_labels(self.task)


def _is_by_class(encoder: TargetEncoder, task: Task) -> bool:
    """Whether the target is a label, for the encoder as it is."""
    if is_fitted(encoder):
        return hasattr(encoder, "classes_")
    return learns_classes(encoder, task.classes)


def _copied(memory: Memory) -> Memory:
    codes, sums, total = memory
    return Memory([dict(one) for one in codes], [one.copy() for one in sums], total.copy())
