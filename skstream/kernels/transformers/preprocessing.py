"""Kernels of the transformers of `skstream.preprocessing`, but for DatetimeFeatures.

The values of a block are looked at once: the codes of categories, the rows of every key, what fills
a gap at any moment.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.input import (
    EXACT_OR_SINGLE,
    OTHER_CLASSES,
    Columns,
    check_any_values,
    class_labels,
    has_valid_parameters,
    joined_rows,
    knows_classes,
    read_block,
    refused_output,
    separate_rows,
    used_rows,
)
from skstream.kernels.memory import MemoryTransformKernel, State, showing
from skstream.preprocessing import StreamOneHotEncoder, TargetEncoder
from skstream.preprocessing import _imputer as imputing
from skstream.preprocessing import _keyed as keyed
from skstream.preprocessing import _target_encoder as target_encoder
from skstream.preprocessing._base import changed_parameter
from skstream.preprocessing._categories import MixedTypes, encode_all, numbered, shown
from skstream.preprocessing._history import History
from skstream.preprocessing._imputer import Mask
from skstream.streams._values import (
    Factorized,
    factorized_columns,
    holds_numbers,
    holds_times,
    joined_columns,
)
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted


class LearningKernel(MemoryTransformKernel):
    """What these kernels have in common."""

    _takes_batches: ClassVar[bool] = True

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse changed or wrong parameters, and other output than arrays."""
        if task.batch_size > 1 and not cls._takes_batches:
            return f"batch_size={task.batch_size}"
        if not has_valid_parameters(transformer):
            return "parameters that it refuses"
        if changed_parameter(transformer):
            return "other parameters than when it was fitted"
        return refused_output(transformer)


class CategoryKernel(LearningKernel):
    """Encoders of categories that are learnt as they come; the memory is the codes of each column.

    No step changes a dict of codes.
    """

    _takes_batches = False

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self.expands = isinstance(estimator, StreamOneHotEncoder)

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse an encoder that knows more categories than it may."""
        refused = super().refusal(transformer, task)
        full = None if transformer._has_room else "more categories than max_categories"
        return refused or full

    def _read(self) -> list[dict[Any, int]]:
        return deepcopy(self.estimator.codes_)

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
        self.estimator.codes_ = deepcopy(memory)


class TargetEncoderKernel(LearningKernel):
    """TargetEncoder. Rows learnt together are learnt one by one."""

    def __init__(self, estimator: TargetEncoder, task: Task):
        super().__init__(estimator, task)
        self._n_classes = 0  # the target is a number
        if task.classes is not None and _is_by_class(estimator, task):
            self._n_classes = len(task.classes)

    @classmethod
    def refusal(cls, transformer: TargetEncoder, task: Task) -> str | None:
        """Refuse other targets than those of the task."""
        refused = super().refusal(transformer, task)
        if refused is not None:
            return refused
        if _is_by_class(transformer, task):
            if task.classes is None:
                return "labels as the target in a regression task"
            if not knows_classes(transformer, task):
                return OTHER_CLASSES
        elif task.classes is not None and task.classes.dtype.kind not in "biuf":
            return "numbers as the target, where labels are no numbers,"
        return None

    def _read(self) -> target_encoder.Memory:
        return deepcopy(target_encoder.memory_of(self.estimator))

    def row_bytes(self, state: State) -> int | None:
        """Memory of the sums that a row finds."""
        n_columns = 1 if state.columns.number is None else state.columns.number
        return 32 * n_columns * (1 + max(self._n_classes, 1))

    def _execute(self, state: State, block: Block) -> tuple[Columns, target_encoder.Memory, Block]:
        columns = state.columns.after(block)
        read, learnt, asked = _read_factorized(block)
        targets = self._targets(block.y)
        before = state.memory
        if before is None:
            before = target_encoder.nothing_learnt(len(read), targets.shape[1])
        steps = target_encoder.steps_of(targets, block.weight)
        try:
            memory, *seen = target_encoder.learn(before, read, learnt, asked, block.stamp, steps)
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

    def _write(self, memory: target_encoder.Memory) -> None:
        target_encoder.remember(self.estimator, deepcopy(memory))
        if self._n_classes:
            self.estimator.classes_ = class_labels(self.task)


def _is_by_class(encoder: TargetEncoder, task: Task) -> bool:
    """Whether the target is a label, for the encoder as it is."""
    if is_fitted(encoder):
        return hasattr(encoder, "classes_")
    return target_encoder.learns_classes(encoder, task.classes)


def _read_factorized(block: Block) -> tuple[list[Factorized], Any, Any]:
    """Columns of the rows of a block, and which of these are learnt and asked."""
    used, learnt, asked = used_rows(block)
    for X, _ in used:
        check_any_values(X)
    try:
        parts = [factorized_columns(take_rows(X, index)) for X, index in used]
    except TypeError as error:
        raise Declined("values that cannot be categories have no kernel") from error
    return [joined_columns(of_column) for of_column in zip(*parts, strict=True)], learnt, asked


class HistoryKernel(LearningKernel):
    """Transformers by the last rows of a key, the memory. Rows are learnt one by one."""

    @classmethod
    def refusal(cls, transformer: keyed.KeyedTransformer, task: Task) -> str | None:
        """Refuse parameters that do not fit each other, or a history of other ones."""
        refused = super().refusal(transformer, task)
        if refused is not None:
            return refused
        try:
            depth = transformer._depth()
        except (TypeError, ValueError):
            return "parameters that it refuses"
        other = is_fitted(transformer) and transformer.history_.depth != depth
        return "other parameters than when it was fitted" if other else None

    def _read(self) -> History:
        return self.estimator.history_.copy()

    def row_bytes(self, state: State) -> int | None:
        """Memory for the past of every key."""
        n_columns = 1 if state.columns.number is None else state.columns.number
        return int(8 * n_columns * (self.estimator._depth() + 16))

    def _execute(self, state: State, block: Block) -> tuple[Columns, History, Block]:
        columns = state.columns.after(block)
        keys, values, learnt, asked = self._read_block(block, columns)
        history = state.memory
        if history is None:
            history = keyed.new_history(self.estimator, values.shape[1])
        after, past = history.learn(keys, values, learnt, asked, block.stamp)
        features = self.estimator._features(past)
        learn_X, ask_X = (
            self.estimator._completed(features[moments], values[rows])
            for moments, rows in ((past.learnt, learnt), (past.asked, asked))
        )
        return columns, after, showing(block, learn_X, ask_X)

    def _read_block(self, block: Block, columns: Columns) -> tuple[Any, Any, Any, Any]:
        """Keys and values of the rows of a block, and which of them are learnt and asked."""
        used, learnt, asked = used_rows(block)
        assert columns.number is not None
        keys, values = [], []
        try:
            places = keyed.places_of(self.estimator, columns.number, columns.names)
            for X, index in used:
                check_any_values(X)
                its_keys, its_values = keyed.read_rows(self.estimator, take_rows(X, index), places)
                keys += its_keys
                values.append(its_values)
        except (TypeError, ValueError) as error:  # the loop meets it at its row
            name = type(self.estimator).__name__
            raise Declined(f"rows that {name} refuses have no kernel") from error
        return keys, values[0] if len(values) == 1 else np.concatenate(values), learnt, asked

    def _write(self, memory: History) -> None:
        keyed.remember(self.estimator, memory.copy())


class StreamImputerKernel(LearningKernel):
    """StreamImputer: rows of numbers, of texts, or of both."""

    _takes_batches = False

    def _read(self) -> imputing.Memory:
        statistics = self.estimator.statistics_
        return deepcopy(imputing.memory_of(self.estimator, statistics.dtype, len(statistics)))

    def _execute(self, state: State, block: Block) -> tuple[Columns, imputing.Memory, Block]:
        # A row fills none of its own gaps: asked right before it is learnt, it comes out the same.
        _, _, is_other = separate_rows(block)
        others = replace(block, ask_index=block.ask_index[is_other], stamp=block.stamp[is_other])
        memory = state.memory
        read = _read_numbers if self._are_numbers(block, memory) else _read_objects
        learnt, asked, columns = read(others, state.columns)
        if memory is None:
            memory = self._first_memory(learnt[0])
        if memory.statistics.dtype == object:
            self._check_types(memory, learnt, asked)
        values, missing = learnt
        after, filling = imputing.learn(
            self.estimator.strategy, memory, values, missing, block.weight
        )
        learn_X, ask_X = (
            imputing.filled(
                values, missing, _fills_of(filling, missing, moments), self.estimator.add_indicator
            )
            for (values, missing), moments in (
                (learnt, np.arange(1, block.n_learns + 1)),
                (asked, others.stamp),
            )
        )
        X, ask_index = joined_rows(learn_X, ask_X, is_other, block.stamp)
        return columns, after, showing(block, X, X, ask_index)

    def _are_numbers(self, block: Block, memory: imputing.Memory | None) -> bool:
        """Whether the loop would read these rows as numbers; the first ones decide."""
        if self.estimator.strategy == "mean":
            return True
        X = block.learn_X if block.n_learns else block.ask_X
        check_any_values(X)
        if memory is not None and holds_numbers(X) != (memory.statistics.dtype != object):
            raise Declined("rows of numbers and others together have no kernel")
        return holds_numbers(X)

    def _check_types(self, memory: imputing.Memory, *rows: tuple[NDArray[Any], Mask]) -> None:
        """Leave columns of two types to the loop, which shows the row."""
        values, missing = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        if imputing.first_of_other_type(self.estimator, memory, values, missing) is not None:
            raise Declined("a column of two types has no kernel")

    def _first_memory(self, values: NDArray[Any]) -> imputing.Memory:
        try:
            return imputing.memory_of(self.estimator, values.dtype, values.shape[1])
        except ValueError as error:  # for the loop to show
            raise Declined("a fill_value that is not a number has no kernel") from error

    def _write(self, memory: imputing.Memory) -> None:
        imputing.remember(self.estimator, deepcopy(memory))


def _fills_of(filling: Any, missing: Mask, moments: Any) -> Any:
    """Return what fills the gaps of rows, each row seen after a number of learns."""
    rows, columns = np.nonzero(missing)
    return filling(moments[rows], columns)


def _read_numbers(block: Block, columns: Columns) -> tuple[Any, Any, Columns]:
    learn_X, ask_X, columns = read_block(block, columns, dtypes=EXACT_OR_SINGLE, finite=False)
    if holds_times(block.learn_X) or holds_times(block.ask_X):  # durations are integers to NumPy
        raise Declined("dates and durations have no kernel")
    if np.isinf(learn_X).any() or np.isinf(ask_X).any():
        raise Declined("rows with infinity have no kernel")
    return (learn_X, np.isnan(learn_X)), (ask_X, np.isnan(ask_X)), columns


def _read_objects(block: Block, columns: Columns) -> tuple[Any, Any, Columns]:
    columns = columns.after(block)
    learnt, asked = (
        imputing.objects(take_rows(X, index)) if len(index) else _no_rows(columns)
        for X, index in ((block.learn_X, block.learn_index), (block.ask_X, block.ask_index))
    )
    return learnt, asked, columns


def _no_rows(columns: Columns) -> tuple[NDArray[Any], Mask]:
    shape = (0, columns.number or 0)
    return np.empty(shape, dtype=object), np.empty(shape, dtype=bool)
