"""Kernels of trees and forests: what they themselves use, for blocks of rows."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.input import (
    EXACT_OR_SINGLE,
    Columns,
    asks_of_next,
    check_any_values,
    read_block,
    refused_seed,
    refused_task,
    used_rows,
)
from skstream.kernels.memory import MemoryKernel, State
from skstream.preprocessing._categories import MixedTypes
from skstream.streams._values import holds_times
from skstream.tree._arrays import SECONDS_OF_A_ROW
from skstream.tree._base import Features, Read, read_columns
from skstream.tree._core import run


class _Memory(NamedTuple):
    """What is known of the columns, and the model; no step changes it."""

    features: Features
    model: Any


class TreeKernel(MemoryKernel):
    """The model as arrays. Rows of a batch are learnt one after another."""

    shareable = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        run.expect(task.seconds(SECONDS_OF_A_ROW * getattr(estimator, "n_estimators", 1)))

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse regression, answers that a tree does not have, and a seed to be drawn again."""
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is None and hasattr(estimator, "random_state"):
            refused = refused_seed(estimator)
        return refused

    def _read(self) -> _Memory:
        return _Memory(self.estimator.columns_, self.estimator._model)

    def row_bytes(self, state: State) -> int:
        """Memory of a row as numbers, and of its probabilities."""
        return 64 * self._n_classes + 32 * (state.columns.number or 0)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, self._n_classes)))
        if state.memory is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("predicting before any training has no kernel")
        tree = self.estimator
        try:
            columns, read, memory = self._numbers(state, block)
            model, shares = tree._executed(
                memory.model, read, block.y, block.weights, block.stamp, asks_of_next(block)
            )
        except ValueError as error:  # for the tree itself to show at its row
            raise Declined("rows or parameters that the tree refuses have no kernel") from error
        return state.after(block, columns, _Memory(read.features, model)), self._answers(shares)

    def _answers(self, shares: NDArray[Any]) -> NDArray[Any]:
        return answers_to(self.task, partial(best_or_all, shares))

    def _numbers(self, state: State, block: Block) -> tuple[Columns, Read, _Memory]:
        """Rows of a block as numbers, and what was known before it."""
        if state.memory is None or True not in state.memory.features.is_nominal:
            try:
                learn, ask, columns = read_block(
                    block, state.columns, dtypes=EXACT_OR_SINGLE, finite=False
                )
            except Declined:
                pass  # there may be categories
            else:
                memory = self._memory(state, columns)
                if True not in memory.features.is_nominal:
                    if np.isinf(learn).any() or (ask is not learn and np.isinf(ask).any()):
                        raise Declined("rows with infinite numbers have no kernel")
                    return columns, Read(memory.features.after_numbers(learn), learn, ask), memory
        columns = state.columns.after(block)
        memory = self._memory(state, columns)
        used, learnt, asked = used_rows(block)
        for X, _ in used:
            if sparse.issparse(X):
                raise Declined("sparse rows have no kernel")
            check_any_values(X)
            if holds_times(X):
                raise Declined("rows with dates have no kernel")
        try:
            return columns, read_columns(memory.features, used, learnt, asked, block.stamp), memory
        except (MixedTypes, TypeError) as error:
            raise Declined("a column with values of two types has no kernel") from error

    def _memory(self, state: State, columns: Columns) -> _Memory:
        if state.memory is not None:
            return state.memory
        assert columns.number is not None
        begun = self.estimator._begun(columns.number, columns.names, self._n_classes)
        return _Memory(*begun)

    def _write(self, memory: _Memory) -> None:
        self.estimator.columns_ = memory.features
        setattr(self.estimator, self.estimator._model_name, memory.model)
