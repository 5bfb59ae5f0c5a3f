"""The rows at hand: those that just arrived, and those still waiting for their turn."""

from typing import Any

import numpy as np

from skstream.engine.block import Block, stack_rows, take_rows
from skstream.engine.timeline import Operations


class RowStore:
    """Keeps rows and their labels as long as a timeline may need them.

    Memory is that of the newest chunk and of the rows waiting.
    """

    def __init__(self) -> None:
        self._numbers = np.empty(0, dtype=np.int64)
        self._X: Any = None
        self._y: Any = None

    def add(self, first_row: int, X: Any, y: np.ndarray) -> None:
        """Take in consecutive rows and their label codes or targets."""
        numbers = np.arange(first_row, first_row + len(y))
        if len(self._numbers):
            numbers = np.concatenate([self._numbers, numbers])
            X = stack_rows([self._X, X])
            y = np.concatenate([self._y, y])
        self._numbers, self._X, self._y = numbers, X, y

    def set_labels(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give labels to rows that wait for them."""
        self._y = self._y.copy()
        self._y[self._positions(rows)] = y

    def keep(self, waiting: np.ndarray) -> None:
        """Forget every row but these."""
        if not len(waiting):
            self._numbers, self._X, self._y = self._numbers[:0], None, None
            return
        at = self._positions(waiting)
        # A copy, so that a few waiting rows do not hold the whole chunk in memory.
        self._X, self._y = take_rows(self._X, at), self._y[at]
        if isinstance(self._X, np.ndarray):
            self._X = self._X.copy()
        self._numbers = waiting.copy()

    def block(self, operations: Operations) -> Block:
        """Put the operations together with the rows they speak of."""
        learn_index = self._positions(operations.learn_rows)
        y = np.empty(0) if self._y is None else self._y[learn_index]
        return Block(
            learn_X=self._X,
            learn_index=learn_index,
            y=y,
            weight=operations.weight,
            ask_X=self._X,
            ask_index=self._positions(operations.ask_rows),
            stamp=operations.stamp,
            batches=operations.batches,
            groups=operations.groups,
        )

    def _positions(self, rows: np.ndarray) -> np.ndarray:
        if not len(rows):
            return np.empty(0, dtype=np.intp)
        first, last = self._numbers[0], self._numbers[-1]
        if last - first == len(self._numbers) - 1:
            positions: np.ndarray = (rows - first).astype(np.intp, copy=False)
            return positions
        return np.searchsorted(self._numbers, rows)
