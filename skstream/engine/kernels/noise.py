"""Kernel of the label noise filter, by way of the inner model's kernel."""

from numbers import Integral
from typing import Any, NamedTuple

from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Kernel, Task, value_of
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.registry import find_kernel
from skstream.engine.kernels.schema import (
    Columns,
    class_labels,
    refused_task,
)
from skstream.noise import drawn_seed, weights_so_far, with_noise
from skstream.utils._row_hashes import row_hashes
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted, unfitted_copy


class _State(NamedTuple):
    """What is known of the columns, the weight learnt, and the inner state."""

    columns: Columns
    weight: float
    inner: Any


class LabelNoiseKernel(Kernel):
    """Replaces answers of the inner kernel, by the rows and by the weight learnt at each ask."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        self._inner = find_kernel(self._model, task)
        self._seed = estimator.seed_ if fitted else drawn_seed(estimator.random_state)
        self.bitwise = self._inner.bitwise

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other answers than labels, and a seed that would be drawn again."""
        refused = refused_task(estimator, task, ["predict"])
        if refused is not None:
            return refused
        known = is_fitted(estimator) or isinstance(estimator.random_state, Integral)
        return None if known else value_of(estimator, "random_state")

    def initial_state(self) -> _State:
        """Return what the estimator has learnt, and its inner model."""
        inner = self._inner.initial_state()
        if not is_fitted(self.estimator):
            return _State(Columns(), 0.0, inner)
        return _State(Columns.of(self.estimator), self.estimator.weight_learnt_, inner)

    def row_bytes(self, state: _State) -> int | None:
        """That of the inner kernel."""
        return self._inner.row_bytes(state.inner)

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        columns = state.columns.after(block)
        inner, codes = self._inner.step(state.inner, block)
        weights = weights_so_far(state.weight, block.weight, block.n_learns)
        state = _State(columns, float(weights[-1]), inner)
        if not block.n_asks:
            return state, codes
        hashes = row_hashes(take_rows(block.ask_X, block.ask_index))
        n_classes = len(class_labels(self.task))
        q, seed = self.estimator.noise, self._seed
        return state, with_noise(codes, hashes, weights[block.stamp], n_classes, q, seed)

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.columns.number is None:
            return
        self._inner.export(state.inner)
        state.columns.export(self.estimator)
        self.estimator.classes_ = class_labels(self.task)
        self.estimator.estimator_ = self._model
        self.estimator.seed_ = self._seed
        self.estimator.weight_learnt_ = state.weight
