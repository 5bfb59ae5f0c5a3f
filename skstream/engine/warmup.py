"""Warm-ups of models that cannot learn their first row alone."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.timeline import Operations
from skstream.utils._rows import copy_rows, stack_rows, take_rows
from skstream.utils._validation import unfitted_copy


@dataclass(frozen=True, slots=True)
class _Held:
    """Copy of the rows to be learnt."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    rows: np.ndarray

    def without(self, rows: np.ndarray) -> "_Held":
        """Return a copy without some of the rows."""
        at = np.flatnonzero(~np.isin(self.rows, rows))
        weight = None if self.weight is None else self.weight[at]
        return _Held(take_rows(self.X, at), self.y[at], weight, self.rows[at])


class WarmUp:
    """Collects the warm-up of a model that cannot learn its first row alone.

    A model learns the rows of its warm-up one by one, as it does all others. If its very first
    ``partial_fit`` fails, as that of `IncrementalPCA` does with fewer rows than components, then it
    is replaced by a copy that has learnt nothing, which learns the whole warm-up in one call.

    Parameters
    ----------
    estimator : estimator
        The model, before it has learnt anything.
    n_rows : int
        Rows of the warm-up.
    """

    def __init__(self, estimator: Any, n_rows: int):
        self.fresh = unfitted_copy(estimator)
        self._n_missing = n_rows
        self._held: list[_Held] = []

    def take(self, block: Block, operations: Operations) -> list[tuple[Block, Operations]]:
        """Collect rows of the warm-up; return the blocks to execute, none until all have come.

        The first block returned is the warm-up, in one call, and the second the rest of `block`.
        """
        n = min(self._n_missing, block.n_learns)
        X = copy_rows(block.learn_X, block.learn_index[:n])
        weight = None if block.weight is None else block.weight[:n]
        self._held.append(_Held(X, block.y[:n], weight, operations.learn_rows[:n]))
        self._n_missing -= n
        if self._n_missing:
            return []
        return [self._whole(operations), _without_learns(block, operations, n)]

    def leave_out(self, rows: np.ndarray) -> None:
        """Drop some of the rows collected."""
        self._held = [part.without(rows) for part in self._held]

    def before(self, block: Block, operations: Operations) -> tuple[Block, Operations, int]:
        """Put the rows collected before a block, to be learnt one by one; return their number."""
        whole, first = self._whole(operations)
        n = whole.n_learns
        weights = [
            np.ones(part.n_learns) if part.weight is None else part.weight
            for part in (whole, block)
        ]
        weight = None if whole.weight is None and block.weight is None else np.concatenate(weights)
        X = stack_rows([whole.learn_X, block.learn_X])
        index = np.concatenate([whole.learn_index, whole.learn_X.shape[0] + block.learn_index])
        y, stamp = np.concatenate([whole.y, block.y]), block.stamp + n
        rows = np.concatenate([first.learn_rows, operations.learn_rows])
        return (
            replace(block, learn_X=X, learn_index=index, y=y, weight=weight, stamp=stamp),
            replace(operations, learn_rows=rows, weight=weight, stamp=stamp),
            n,
        )

    def _whole(self, operations: Operations) -> tuple[Block, Operations]:
        held = self._held
        X, y = stack_rows([part.X for part in held]), np.concatenate([part.y for part in held])
        n, nothing = len(y), np.empty(0, dtype=np.int64)
        weight = None
        if any(part.weight is not None for part in held):
            weight = np.concatenate(
                [np.ones(len(part.y)) if part.weight is None else part.weight for part in held]
            )
        batches = np.array([0, n])
        block = Block(X, np.arange(n), y, weight, X, nothing, nothing, batches)
        rows = np.concatenate([part.rows for part in held])
        return block, replace(
            operations,
            learn_rows=rows,
            weight=weight,
            ask_rows=nothing,
            stamp=nothing,
            batches=batches,
            groups=None,
        )


def _without_learns(block: Block, operations: Operations, n: int) -> tuple[Block, Operations]:
    """Leave out the first learns; the asks come after them."""
    weight = None if block.weight is None else block.weight[n:]
    stamp = block.stamp - n
    rest = replace(
        block, learn_index=block.learn_index[n:], y=block.y[n:], weight=weight, stamp=stamp
    )
    learn_rows = operations.learn_rows[n:]
    return rest, replace(operations, learn_rows=learn_rows, weight=weight, stamp=stamp)
