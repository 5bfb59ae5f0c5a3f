"""Warm-ups of models that cannot learn their first row alone."""

from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.block import Block, joined_weights, part_of
from skstream.utils._rows import copy_rows, stack_rows
from skstream.utils._validation import unfitted_copy


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
        self._held: list[Block] = []

    def take(self, block: Block) -> list[Block]:
        """Collect rows of the warm-up; return the blocks to execute, none until all have come.

        The first block returned is the warm-up, in one call, and the second the rest of `block`.
        """
        n = min(self._n_missing, block.n_learns)
        first = part_of(block, slice(0, n), slice(0, 0))
        X = copy_rows(first.learn_X, first.learn_index)
        self._held.append(replace(first, learn_X=X, learn_index=np.arange(n), ask_X=X, shared=None))
        self._n_missing -= n
        if self._n_missing:
            return []
        whole = _joined_learns(self._held)
        rest = part_of(block, slice(n, block.n_learns), slice(0, block.n_asks))
        return [replace(whole, batches=np.array([0, whole.n_learns])), rest]

    def leave_out(self, rows: np.ndarray) -> None:
        """Drop some of the rows collected."""
        self._held = [_without(part, rows) for part in self._held]

    def before(self, block: Block) -> tuple[Block, int]:
        """Put the rows collected before a block, to be learnt one by one; return their number."""
        n = sum(part.n_learns for part in self._held)
        joined = _joined_learns([*self._held, block])
        return replace(joined, ask_X=block.ask_X, stamp=block.stamp + n), n


def _without(block: Block, rows: np.ndarray) -> Block:
    """Leave out the learns of some rows."""
    assert block.learn_rows is not None
    at = np.flatnonzero(~np.isin(block.learn_rows, rows))
    return replace(
        block,
        learn_index=block.learn_index[at],
        y=block.y[at],
        weight=None if block.weight is None else block.weight[at],
        learn_rows=block.learn_rows[at],
    )


def _joined_learns(blocks: list[Block]) -> Block:
    """Return the last block with the learns of all, in their order."""
    starts = np.cumsum([0, *(block.learn_X.shape[0] for block in blocks[:-1])])
    index = [block.learn_index + start for block, start in zip(blocks, starts, strict=True)]
    return replace(
        blocks[-1],
        learn_X=stack_rows([block.learn_X for block in blocks]),
        learn_index=np.concatenate(index),
        y=np.concatenate([block.y for block in blocks]),
        weight=joined_weights(*((block.weight, block.n_learns) for block in blocks)),
        learn_rows=np.concatenate([block.learn_rows for block in blocks]),
    )
