"""Continuing a block after a failed call."""

from dataclasses import dataclass

import numpy as np

from skstream.engine.block import Block, part_of


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

    def within(self, block: Block, learns: slice, asks: slice, answers: list[np.ndarray]) -> "Left":
        """Return the same for the whole block of which this is a part."""
        first = learns.start if self.action == "learning" else asks.start
        before = np.concatenate([*answers, self.answers])
        return Left(self.action, self.index + first, self.rows, before, block)

    def rest(self, skip: bool) -> tuple[Block, int]:
        """Return the block from the failed call on, or after it, and the number of skipped asks."""
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
        learns = slice(n_learnt, block.n_learns)
        return part_of(block, learns, slice(n_asked + n_skipped, block.n_asks)), n_skipped
