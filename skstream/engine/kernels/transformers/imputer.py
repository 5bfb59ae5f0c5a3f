"""Kernel of StreamImputer: what fills a gap at any moment, from one pass over the rows learnt."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.compose import joined_rows, separate_rows
from skstream.engine.kernels.input import EXACT_OR_SINGLE, check_any_values, read_block
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import Columns, has_valid_parameters, refused_output
from skstream.preprocessing import StreamImputer
from skstream.preprocessing import _imputer as imputing
from skstream.preprocessing._base import changed_parameter
from skstream.preprocessing._imputer import Mask, Memory, learn
from skstream.utils._rows import take_rows
from skstream.utils._values import holds_numbers, holds_times


class StreamImputerKernel(MemoryTransformKernel):
    """StreamImputer: rows of numbers, of texts, or of both."""

    @classmethod
    def refusal(cls, transformer: StreamImputer, task: Task) -> str | None:
        """Refuse batches, and other output than arrays."""
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        if not has_valid_parameters(transformer):
            return "parameters that it refuses"
        if changed_parameter(transformer):
            return "other parameters than when it was fitted"
        return refused_output(transformer)

    def _read(self) -> Memory:
        statistics = self.estimator.statistics_
        return _copied(imputing.memory_of(self.estimator, statistics.dtype, len(statistics)))

    def _execute(self, state: State, block: Block) -> tuple[Columns, Memory, Block]:
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
        after, fills = learn(self.estimator.strategy, memory, learnt[0], learnt[1], block.weight)
        learn_X, ask_X = (
            imputing.filled(
                values, missing, _fills_of(fills, missing, moments), self.estimator.add_indicator
            )
            for (values, missing), moments in (
                (learnt, np.arange(1, block.n_learns + 1)),
                (asked, others.stamp),
            )
        )
        X, ask_index = joined_rows(learn_X, ask_X, is_other, block.stamp)
        return columns, after, showing(block, X, X, ask_index)

    def _are_numbers(self, block: Block, memory: Memory | None) -> bool:
        """Whether the loop would read these rows as numbers; the first ones decide."""
        if self.estimator.strategy == "mean":
            return True
        X = block.learn_X if block.n_learns else block.ask_X
        check_any_values(X)
        if memory is not None and holds_numbers(X) != (memory.statistics.dtype != object):
            raise Declined("rows of numbers and others together have no kernel")
        return holds_numbers(X)

    def _check_types(self, memory: Memory, *rows: tuple[NDArray[Any], Mask]) -> None:
        """Leave columns of two types to the loop, which shows the row."""
        values, missing = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        if imputing.first_of_other_type(self.estimator, memory, values, missing) is not None:
            raise Declined("a column of two types has no kernel")

    def _first_memory(self, values: NDArray[Any]) -> Memory:
        try:
            return imputing.memory_of(self.estimator, values.dtype, values.shape[1])
        except ValueError as error:  # for the loop to show
            raise Declined("a fill_value that is no number has no kernel") from error

    def _write(self, memory: Memory) -> None:
        imputing.remember(self.estimator, _copied(memory))


def _copied(memory: Memory) -> Memory:
    of_values = memory.of_values
    if isinstance(of_values, list):
        of_values = [dict(weights) for weights in of_values]
    elif of_values is not None:
        of_values = tuple(sums.copy() for sums in of_values)
    return Memory(memory.statistics.copy(), of_values)


def _fills_of(fills: Any, missing: Mask, moments: Any) -> Any:
    """Return what fills the gaps of rows, each row seen after a number of learns."""
    rows, columns = np.nonzero(missing)
    return fills(moments[rows], columns)


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
