"""The other way to execute a model: call by call, its warm-up in one call where it must."""

from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.block import Block, joined_weights, part_of
from skstream.engine.kernels import Task
from skstream.engine.loop import Loop, LoopFailed, no_answers
from skstream.engine.resuming import Left
from skstream.utils._rows import copy_rows, stack_rows
from skstream.utils._validation import is_fitted, unfitted_copy


class LoopStopped(Exception):
    """A call has failed.

    Attributes
    ----------
    failure : LoopFailed
        Which one, and why.
    block : Block
        In which block: the one given, its rest after the warm-up, or the whole warm-up.
    n_taken : int or None
        Of a whole warm-up, how many of its rows the block given had.
    """

    def __init__(self, failure: LoopFailed, block: Block, n_taken: int | None = None):
        super().__init__()
        self.failure, self.block, self.n_taken = failure, block, n_taken


class ByLoop:
    """Executes a model call by call.

    Parameters
    ----------
    estimator : estimator
        The model.
    task : Task
        Classes, kind of answer, batch size.
    direct : bool
        As `Loop` takes it.

    Attributes
    ----------
    estimator : estimator
        The model, or the copy that has taken its place to learn the whole warm-up in one call.
    is_new : bool
        Whether it was begun, and the model has not learnt anything in the loop.
    gathers : bool
        Whether the rows of the warm-up are collected, to be learnt in one call.
    """

    def __init__(self, estimator: Any, task: Task, *, direct: bool):
        self.estimator = estimator
        self._task = task
        self._direct = direct
        self._loop: Loop | None = None
        self._warmup: WarmUp | None = None
        self.is_new = False
        self.gathers = False

    @property
    def has_begun(self) -> bool:
        """Whether rows were executed by the loop, or will be next."""
        return self._loop is not None

    @property
    def is_direct(self) -> bool:
        """Whether methods of the model are called without their wrappers."""
        return self._loop is not None and self._loop.is_direct

    @property
    def seconds_asking(self) -> float:
        """Time in questions."""
        return 0.0 if self._loop is None else self._loop.seconds_asking

    @property
    def seconds_learning(self) -> float:
        """Time in ``partial_fit``."""
        return 0.0 if self._loop is None else self._loop.seconds_learning

    def begin(self, n_warmup: int) -> None:
        """Begin, or go on from what the model has learnt by now."""
        before = self._loop
        self._loop = Loop(self.estimator, self._task, direct=self._direct)
        if before is not None:
            self._loop.seconds_asking = before.seconds_asking
            self._loop.seconds_learning = before.seconds_learning
        self.is_new, self._warmup = not is_fitted(self.estimator), None
        if self.is_new and n_warmup > 1:
            self._warmup = WarmUp(self.estimator, n_warmup)

    def begin_again(self, left: Left, *, skip: bool) -> Block:
        """Return the warm-up that failed as a whole, to be learnt row by row, and what follows."""
        assert self._warmup is not None
        if skip:
            self._warmup.leave_out(left.rows)
        block, n_held = self._warmup.before(left.rest(skip=False)[0])
        self.estimator, self.gathers = self._warmup.fresh, False
        self.begin(n_held)
        return block

    def run(self, block: Block) -> np.ndarray:
        """Return the answers to a block.

        Raises
        ------
        LoopStopped
            If a call has failed.
        """
        assert self._loop is not None
        if self.gathers:
            return self._run_gathering(block)
        try:
            answers = self._loop.run(block)
        except LoopFailed as failure:
            is_first = failure.action == "learning" and failure.index == 0
            if failure.index if failure.action == "learning" else block.stamp[failure.index]:
                self.is_new, self._warmup = False, None  # it has learnt the rows before
            # Models that need several rows raise a ValueError about it, or another error.
            hopeless = isinstance(failure.__cause__, TypeError | AttributeError | SystemExit)
            if self._warmup is None or not is_first or block.batches is not None or hopeless:
                raise LoopStopped(failure, block) from failure
            self.gathers = True
            self.estimator = unfitted_copy(self._warmup.fresh)
            self._loop = Loop(self.estimator, self._task, direct=self._direct)
            return self._run_gathering(block)
        if block.n_learns:
            self.is_new, self._warmup = False, None
        return answers

    def _run_gathering(self, block: Block) -> np.ndarray:
        """Return the answers of a model that learns its whole warm-up at once."""
        assert self._loop is not None and self._warmup is not None
        parts = self._warmup.take(block)
        if not parts:
            return no_answers(self._task, block.n_asks)
        whole, rest = parts
        try:
            self._loop.run(whole)
        except LoopFailed as failure:
            raise LoopStopped(failure, whole, block.n_learns - rest.n_learns) from failure
        self.is_new, self.gathers, self._warmup = False, False, None
        return self.run(rest)


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
