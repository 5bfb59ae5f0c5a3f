"""Kernels of encoders of categories: the values of a block are looked at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.compose import used_rows
from skstream.engine.kernels.input import check_any_values
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import (
    OTHER_CLASSES,
    Columns,
    class_labels,
    has_valid_parameters,
    knows_classes,
    refused_output,
)
from skstream.preprocessing import StreamOneHotEncoder, TargetEncoder
from skstream.preprocessing import _target_encoder as target_encoder
from skstream.preprocessing._categories import MixedTypes, encode_all, numbered, shown
from skstream.preprocessing._target_encoder import Memory, learn, nothing_learnt
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted
from skstream.utils._values import Factorized, factorized_columns


class CategoryKernel(MemoryTransformKernel):
    """Encoders of categories that are learnt as they come; the memory is the codes of each column.

    No step changes a dict of codes.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self.expands = isinstance(estimator, StreamOneHotEncoder)

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse batches, and other output than arrays."""
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        if not has_valid_parameters(transformer):
            return "parameters that it refuses"
        if not transformer._has_room:
            return "more categories than max_categories"
        return refused_output(transformer)

    def _read(self) -> list[dict[Any, int]]:
        return [dict(known) for known in self.estimator.codes_]

    def _execute(self, state: State, block: Block) -> tuple[Columns, Any, Block]:
        columns = state.columns.after(block)
        assert columns.number is not None
        known = [{} for _ in range(columns.number)] if state.memory is None else state.memory
        read, learnt, asked = _read_factorized(block)
        numbering = self.estimator._numbering
        try:
            encoded = encode_all(known, read, learnt, asked, block.stamp, numbering)
        except MixedTypes as error:  # for the loop to show at its row
            raise Declined("a column with values of two types has no kernel") from error
        learn_X = self._shown([of_column.learnt for of_column in encoded])
        ask_X = self._shown([of_column.asked for of_column in encoded])
        memory = [of_column.known for of_column in encoded]
        return columns, memory, showing(block, learn_X, ask_X)

    def _shown(self, codes: list[NDArray[np.int64]]) -> Any:
        together = np.column_stack(codes)
        if isinstance(self.estimator, StreamOneHotEncoder):
            return shown(self.estimator, together)
        return numbered(self.estimator, together)

    def _write(self, memory: list[dict[Any, int]]) -> None:
        self.estimator.codes_ = [dict(known) for known in memory]


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
        return _copied(target_encoder.memory_of(self.estimator))

    def row_bytes(self, state: State) -> int | None:
        """Memory of the sums that a row finds."""
        n_columns = 1 if state.columns.number is None else state.columns.number
        return 32 * n_columns * (1 + max(self._n_classes, 1))

    def _execute(self, state: State, block: Block) -> tuple[Columns, Memory, Block]:
        columns = state.columns.after(block)
        read, learnt, asked = _read_factorized(block)
        targets = self._targets(block.y)
        before = state.memory
        if before is None:
            before = nothing_learnt(len(read), targets.shape[1])
        steps = target_encoder.steps_of(targets, block.weight)
        try:
            memory, *seen = learn(before, read, learnt, asked, block.stamp, steps)
        except MixedTypes as error:  # for the loop to show at its row
            raise Declined("a column with values of two types has no kernel") from error
        learn_X, ask_X = (
            target_encoder.means_of(self.estimator, one, self._n_classes) for one in seen
        )
        return columns, memory, showing(block, learn_X, ask_X)

    def _targets(self, y: Any) -> Any:
        """Targets of shape (n_learns, n_targets)."""
        if self._n_classes:
            return target_encoder.of_classes(y, self._n_classes)
        numbers = y if self.task.classes is None else self.task.classes[y]
        if not np.isfinite(numbers).all():
            raise Declined("targets with NaN or infinity have no kernel")
        return numbers.astype(np.float64)[:, np.newaxis]

    def _write(self, memory: Memory) -> None:
        target_encoder.remember(self.estimator, _copied(memory))
        if self._n_classes:
            self.estimator.classes_ = class_labels(self.task)


def _is_by_class(encoder: TargetEncoder, task: Task) -> bool:
    """Whether the target is a label, for the encoder as it is."""
    if is_fitted(encoder):
        return hasattr(encoder, "classes_")
    return target_encoder.learns_classes(encoder, task.classes)


def _copied(memory: Memory) -> Memory:
    codes, sums, total = memory
    return Memory([dict(one) for one in codes], [one.copy() for one in sums], total.copy())


def _read_factorized(block: Block) -> tuple[list[Factorized], Any, Any]:
    """Columns of the rows of a block, and which of these are learnt and asked."""
    used, learnt, asked = used_rows(block)
    for X, _ in used:
        check_any_values(X)
    try:
        parts = [factorized_columns(take_rows(X, index)) for X, index in used]
    except TypeError as error:
        raise Declined("values that cannot be categories have no kernel") from error
    if len(parts) == 1:
        return parts[0], learnt, asked
    return [_joined(*of_column) for of_column in zip(*parts, strict=True)], learnt, asked


def _joined(first: Factorized, second: Factorized) -> Factorized:
    """Two parts of a column as one."""
    place_of = {value: place for place, value in enumerate(first.values)}
    moved = [place_of.setdefault(value, len(place_of)) for value in second.values]
    positions = np.array(moved, dtype=np.intp)[second.positions]
    return Factorized(np.concatenate([first.positions, positions]), list(place_of))
