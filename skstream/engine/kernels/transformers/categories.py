"""Kernels of StreamOneHotEncoder and StreamOrdinalEncoder: values of a block looked at once."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, TransformKernel
from skstream.engine.kernels.compose import used_rows
from skstream.engine.kernels.input import check_any_values
from skstream.engine.kernels.schema import Columns, has_valid_parameters, refused_output
from skstream.preprocessing import StreamOneHotEncoder
from skstream.preprocessing._categories import MixedTypes, encode
from skstream.preprocessing._one_hot import shown
from skstream.preprocessing._ordinal import numbered
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted
from skstream.utils._values import Factorized, factorized_columns


class _State(NamedTuple):
    """Columns, and the codes of each; no step changes a dict."""

    columns: Columns
    codes: list[dict[Any, int]] | None = None
    has_learnt: bool = False


class CategoryKernel(TransformKernel):
    """Encoders of categories that are learnt as they come."""

    shareable = True

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

    def initial_state(self) -> _State:
        """Return what the encoder has learnt."""
        columns = Columns.of(self.estimator)
        if not is_fitted(self.estimator):
            return _State(columns)
        return _State(columns, [dict(known) for known in self.estimator.codes_])

    def step(self, state: _State, block: Block) -> tuple[_State, Block]:
        """Learn and transform; return the state after it, and the block that comes out."""
        if not block.n_learns and not block.n_asks:
            return state, block
        columns = state.columns.after(block)
        assert columns.number is not None
        known = state.codes
        if known is None:
            known = [{} for _ in range(columns.number)]
        read, learnt, asked = read_factorized(block)
        numbering = self.estimator._numbering
        try:
            encoded = [
                encode(codes, column, learnt, asked, block.stamp, numbering)
                for codes, column in zip(known, read, strict=True)
            ]
        except MixedTypes as error:  # for the loop to show at its row
            raise Declined("a column with values of two types has no kernel") from error
        transformed = replace(
            block,
            learn_X=self._shown([of_column.learnt for of_column in encoded]),
            learn_index=np.arange(block.n_learns),
            ask_X=self._shown([of_column.asked for of_column in encoded]),
            ask_index=np.arange(block.n_asks),
        )
        if block.n_learns:
            state = _State(columns, [of_column.known for of_column in encoded], has_learnt=True)
        return state, transformed

    def _shown(self, codes: list[NDArray[np.int64]]) -> Any:
        together = np.column_stack(codes)
        if isinstance(self.estimator, StreamOneHotEncoder):
            return shown(self.estimator, together)
        return numbered(self.estimator, together)

    def export(self, state: _State) -> None:
        """Write the fitted attributes."""
        if state.has_learnt:
            assert state.codes is not None
            state.columns.export(self.estimator)
            self.estimator.codes_ = [dict(known) for known in state.codes]


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
