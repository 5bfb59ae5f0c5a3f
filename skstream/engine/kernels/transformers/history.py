"""Kernels of LagFeatures and RollingFeatures: the rows of every key, found for a block at once."""

from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.compose import used_rows
from skstream.engine.kernels.input import check_any_values
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import Columns, has_valid_parameters, refused_output
from skstream.preprocessing import _keyed as keyed
from skstream.preprocessing._base import changed_parameter
from skstream.preprocessing._history import History
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted


class HistoryKernel(MemoryTransformKernel):
    """Transformers by the last rows of a key, the memory. Rows are learnt one by one."""

    @classmethod
    def refusal(cls, transformer: keyed.KeyedTransformer, task: Task) -> str | None:
        """Refuse other output than arrays."""
        if not has_valid_parameters(transformer):
            return "parameters that it refuses"
        try:
            depth = transformer._depth()
        except (TypeError, ValueError):
            return "parameters that it refuses"
        other = changed_parameter(transformer)
        if other or (is_fitted(transformer) and transformer.history_.depth != depth):
            return "other parameters than when it was fitted"
        return refused_output(transformer)

    def _read(self) -> History:
        history: History = self.estimator.history_.copy()
        return history

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
