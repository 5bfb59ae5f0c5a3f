"""Kernels of windowed neighbors and of trees."""

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
from skstream.neighbors import nearest_in_windows, shares, votes
from skstream.preprocessing._categories import MixedTypes
from skstream.streams._values import holds_times
from skstream.tree._arrays import SECONDS_OF_A_ROW
from skstream.tree._base import Features, Read, read_columns
from skstream.tree._core import run

Floats = NDArray[np.float64]

# The squared distance between rows of larger numbers may be infinite, as those beyond a window are.
_LARGEST = 1e150


class _Window(NamedTuple):
    """Rows by feature, codes and weights, newest first."""

    rows: Floats
    codes: NDArray[np.int64]
    weights: Floats


class WindowedNeighborsKernel(MemoryKernel):
    """Every ask sees its own part of the rows in the order of learning."""

    shareable = True

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse regression, other answers, and a window of sparse rows."""
        if sparse.issparse(getattr(estimator, "window_rows_", None)):
            return "sparse rows in its window"
        return refused_task(estimator, task, ("predict", "predict_proba"))

    def _no_memory(self) -> _Window:
        return _Window(np.empty((0, 0)), np.empty(0, np.int64), np.empty(0))

    def _read(self) -> _Window:
        model = self.estimator
        rows = np.array(model.window_rows_[::-1].T, order="C")
        codes, weights = model.window_codes_[::-1].copy(), model.window_weights_[::-1].copy()
        return _Window(rows, codes, weights)

    def row_bytes(self, state: State) -> int:
        """Memory of the votes, of the neighbours, and of the row."""
        n_neighbors: int = min(self.estimator.n_neighbors, self.estimator.window_size)
        return 64 * self._n_classes + 48 * n_neighbors + 32 * (state.columns.number or 0)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        model, n_classes = self.estimator, self._n_classes
        read = read_block(block, state.columns, dtypes=EXACT_OR_SINGLE)
        for part in (read.learn, read.ask):
            if part.size and max(part.max(), -part.min()) > _LARGEST:
                raise Declined(f"rows with numbers beyond {_LARGEST:g} have no kernel")
        before: _Window = state.memory
        n_known, n_learns = len(before.codes), block.n_learns
        known = before.rows if n_known else np.empty((read.learn.shape[1], 0))
        size = min(model.window_size, n_known + n_learns)
        n_missing = size - n_known  # rows that the window of the first ask lacks
        rows = np.hstack(
            [read.learn[::-1].T, known, np.full((len(known), max(n_missing, 0)), np.inf)]
        )
        empty = np.zeros(max(n_missing, 0), np.int64)
        codes = np.concatenate([block.y[::-1], before.codes, empty]).astype(np.int64, copy=False)
        weights = np.concatenate([block.weights[::-1], before.weights, empty])
        counted = np.empty((0, n_classes))
        if block.n_asks:
            first = n_learns - block.stamp
            asked = np.ascontiguousarray(read.ask.T)
            nearest = nearest_in_windows(rows, asked, first, size, model.n_neighbors)
            # Infinities are neighbours where a window has too few rows: they weigh nothing.
            counted = votes(codes[nearest], weights[nearest], n_classes)
        window = _Window(rows[:, :size].copy(), codes[:size].copy(), weights[:size].copy())
        after = state.after(block, read.columns, window)
        return after, answers_to(self.task, partial(_answers, counted))

    def _write(self, memory: _Window) -> None:
        self.estimator.window_rows_ = memory.rows[:, ::-1].T.copy()
        self.estimator.window_codes_ = memory.codes[::-1].copy()
        self.estimator.window_weights_ = memory.weights[::-1].copy()


def _answers(counted: NDArray[Any], task: Task) -> NDArray[Any]:
    """Answers of one kind, from the votes."""
    return counted.argmax(axis=1) if task.method == "predict" else shares(counted)


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
            raise Declined("asking before anything is learnt has no kernel")
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
                    if np.isinf(learn).any() or np.isinf(ask).any():
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
            memory: _Memory = state.memory
            return memory
        assert columns.number is not None
        begun = self.estimator._begun(columns.number, columns.names, self._n_classes)
        return _Memory(*begun)

    def _write(self, memory: _Memory) -> None:
        self.estimator.columns_ = memory.features
        setattr(self.estimator, self.estimator._model_name, memory.model)
