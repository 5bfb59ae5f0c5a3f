"""Kernel of the nearest neighbours in a window: the distances of many asks at once."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.input import EXACT_OR_SINGLE, read_block, refused_task
from skstream.kernels.memory import MemoryKernel, State
from skstream.neighbors import nearest_in_windows, shares, votes

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
        n_neighbors = min(self.estimator.n_neighbors, self.estimator.window_size)
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
