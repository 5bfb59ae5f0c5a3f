"""Kernels of StreamOneHotEncoder and StreamOrdinalEncoder: values of a block looked at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.compose import used_rows
from skstream.engine.kernels.input import check_any_values
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import Columns, has_valid_parameters, refused_output
from skstream.preprocessing import StreamOneHotEncoder
from skstream.preprocessing._categories import MixedTypes, encode
from skstream.preprocessing._one_hot import shown
from skstream.preprocessing._ordinal import numbered
from skstream.utils._rows import take_rows
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
        read, learnt, asked = read_factorized(block)
        numbering = self.estimator._numbering
        try:
            encoded = [
                encode(codes, column, learnt, asked, block.stamp, numbering)
                for codes, column in zip(known, read, strict=True)
            ]
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


def read_factorized(block: Block) -> tuple[list[Factorized], Any, Any]:
    """Columns of the rows of a block, and which of these are learnt and asked."""
    used = [(block.learn_X, block.learn_index)] if block.n_learns else []
    used += [(block.ask_X, block.ask_index)] if block.n_asks else []
    for X, _ in used:
        check_any_values(X)
    try:
        if block.ask_X is block.learn_X:
            rows, places = used_rows(block)
            columns = factorized_columns(take_rows(block.learn_X, rows))
            return columns, places[: block.n_learns], places[block.n_learns :]
        parts = [factorized_columns(take_rows(X, index)) for X, index in used]
    except TypeError as error:
        raise Declined("values that cannot be categories have no kernel") from error
    learnt, asked = np.arange(block.n_learns), np.arange(block.n_asks)
    if len(parts) == 1:
        return parts[0], learnt, asked
    columns = [_joined(*of_column) for of_column in zip(*parts, strict=True)]
    return columns, learnt, asked + block.n_learns


def _joined(first: Factorized, second: Factorized) -> Factorized:
    """Two parts of a column as one."""
    place_of = {value: place for place, value in enumerate(first.values)}
    moved = [place_of.setdefault(value, len(place_of)) for value in second.values]
    positions = np.array(moved, dtype=np.intp)[second.positions]
    return Factorized(np.concatenate([first.positions, positions]), list(place_of))
