"""Continuing a block after a failed call."""

from dataclasses import dataclass, replace

import numpy as np

from skstream.engine.block import Block
from skstream.engine.timeline import Operations


@dataclass(frozen=True, slots=True)
class Resumed:
    """Answers of a model that continued after a failure.

    Attributes
    ----------
    answers : ndarray
        Answers to the last asks of the block.
    rows : ndarray of int64
        Rows of the call that was skipped.
    unasked : bool
        Whether that call was a question.
    """

    answers: np.ndarray
    rows: np.ndarray
    unasked: bool


@dataclass(frozen=True, slots=True)
class Left:
    """A block that a model has executed up to a failed call.

    `rows` are those of the call, and `answers` the ones given before it.
    """

    action: str
    index: int
    rows: np.ndarray
    answers: np.ndarray
    block: Block
    operations: Operations

    def within(
        self,
        block: Block,
        operations: Operations,
        learns: slice,
        asks: slice,
        answers: list[np.ndarray],
    ) -> "Left":
        """Return the same for the whole block of which this is a part."""
        first = learns.start if self.action == "learning" else asks.start
        before = [*answers, self.answers]
        return Left(
            self.action,
            self.index + first,
            self.rows,
            np.concatenate(before),
            block,
            operations,
        )

    def rest(self, skip: bool) -> tuple[Block, Operations, int]:
        """Return the operations from the failed call on, or after it, and the skipped asks."""
        block, n_asked, n_skipped = self.block, len(self.answers), 0
        if self.action == "learning":
            n_learnt = self.index
            if skip:
                n_learnt += len(self.rows)
        else:
            n_learnt = int(block.stamp[n_asked])
            if skip:
                bounds = block.ask_bounds
                following = np.searchsorted(bounds, n_asked, side="right")
                n_skipped = int(bounds[following]) - n_asked
        first = n_asked + n_skipped
        stamp = block.stamp[first:] - n_learnt
        groups = None if block.groups is None else shifted_bounds(block.groups, first)
        batches = None if block.batches is None else shifted_bounds(block.batches, n_learnt)
        rest = replace(
            block,
            learn_index=block.learn_index[n_learnt:],
            y=block.y[n_learnt:],
            weight=None if block.weight is None else block.weight[n_learnt:],
            ask_index=block.ask_index[first:],
            stamp=stamp,
            groups=groups,
            batches=batches,
        )
        checkpoint = self.operations.checkpoint
        operations = replace(
            self.operations,
            learn_rows=self.operations.learn_rows[n_learnt:],
            ask_rows=self.operations.ask_rows[first:],
            checkpoint=None if checkpoint is None else checkpoint[first:],
            stamp=stamp,
            groups=groups,
            batches=batches,
        )
        return rest, operations, n_skipped


def shifted_bounds(bounds: np.ndarray, n: int) -> np.ndarray:
    """Bounds from number `n` on, counted from it."""
    return np.concatenate([[0], bounds[bounds > n] - n]).astype(np.int64)
