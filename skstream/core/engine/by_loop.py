"""Executes a model by calls of its own methods.

The warm-up is learnt in one call if the model cannot learn its first row alone.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from skstream.core.engine.answers import Task, no_answers
from skstream.core.engine.block import Block, part_of
from skstream.core.engine.loop import Loop, LoopFailed
from skstream.utils._rows import copy_rows, joined_weights, stack_rows
from skstream.utils._validation import is_fitted, unfitted_copy


class ByLoop:
    """Executes a model call by call.

    A model learns the rows of its warm-up one by one, as it does all others. If its very first
    ``partial_fit`` fails, as that of `IncrementalPCA` does with fewer rows than components, then it
    is replaced by a copy that has learnt nothing, which learns the whole warm-up in one call.

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
        The model, or the copy that has taken its place.
    loop : Loop or None
        The calls of the model, once they have begun.
    is_new : bool
        Whether it was begun, and the model has not learnt anything in the loop.
    gathers : bool
        Whether the rows of the warm-up are collected, to be learnt in one call.
    """

    def __init__(self, estimator: Any, task: Task, *, direct: bool):
        self.estimator = estimator
        self.loop: Loop | None = None
        self.is_new = False
        self.gathers = False
        self._task = task
        self._direct = direct
        self._fresh: Any = None  # a copy that has learnt nothing, as long as it may be needed
        self._n_missing = 0  # of the rows of the warm-up
        self._held: list[Block] = []  # those that have come

    @property
    def is_direct(self) -> bool:
        """Whether a model of another library is called without its wrapper.

        Its calls are slower once it was pickled, which asks its objects for their attributes:
        CPython before 3.13 then looks these up in a dictionary of each object, not in the object.
        """
        return self.loop is not None and self.loop.is_direct

    def begin(self, n_warmup: int) -> None:
        """Begin, or go on from what the model has learnt by now."""
        self._begin_loop()
        self.is_new, self._fresh = not is_fitted(self.estimator), None
        if self.is_new and n_warmup > 1:
            self._fresh = unfitted_copy(self.estimator)
            self._n_missing, self._held = n_warmup, []

    def _begin_loop(self) -> None:
        before, self.loop = self.loop, Loop(self.estimator, self._task, direct=self._direct)
        if before is not None:
            self.loop.seconds_asking = before.seconds_asking
            self.loop.seconds_learning = before.seconds_learning

    def run(self, block: Block) -> np.ndarray:
        """Return the answers to a block.

        Raises
        ------
        LoopFailed
            If a call has failed; its `block` is the one given, its rest after the warm-up, or the
            whole warm-up.
        """
        assert self.loop is not None
        if self.gathers:
            return self._run_gathering(block)
        try:
            answers = self.loop.run(block)
        except LoopFailed as failure:
            is_first = failure.action == "learning" and failure.index == 0
            if failure.index if failure.action == "learning" else block.stamp[failure.index]:
                self.is_new, self._fresh = False, None  # it has learnt the rows before
            # Models that need several rows raise a ValueError about it, or an error of their own.
            other_cause = isinstance(failure.__cause__, TypeError | AttributeError | SystemExit)
            if self._fresh is None or not is_first or block.batches is not None or other_cause:
                failure.block = block
                raise
            self.gathers = True
            self.estimator = unfitted_copy(self._fresh)
            self._begin_loop()
            return self._run_gathering(block)
        if block.n_learns:
            self.is_new, self._fresh = False, None
        return answers

    def _run_gathering(self, block: Block) -> np.ndarray:
        """Collect rows of the warm-up; when all have come, learn them in one call, and go on."""
        assert self.loop is not None
        n = min(self._n_missing, block.n_learns)
        first = part_of(block, slice(0, n), slice(0, 0))
        X = copy_rows(first.learn_X, first.learn_index)
        self._held.append(replace(first, learn_X=X, learn_index=np.arange(n), ask_X=X, shared=None))
        self._n_missing -= n
        if self._n_missing:
            return no_answers(self._task, block.n_asks)
        whole = _joined_learns(self._held)
        whole = replace(whole, batches=np.array([0, whole.n_learns]))
        try:
            self.loop.run(whole)
        except LoopFailed as failure:
            failure.block, failure.n_taken = whole, n
            raise
        self.is_new, self.gathers, self._fresh = False, False, None
        return self.run(part_of(block, slice(n, block.n_learns), slice(0, block.n_asks)))


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
