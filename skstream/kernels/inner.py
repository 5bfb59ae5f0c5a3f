"""Kernels around the models of meta-classifiers, by way of the kernels of these models."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block, part_of
from skstream.core.engine.kernel import Declined, Kernel, Looped, NotFittedYet
from skstream.core.engine.loop import LoopFailed
from skstream.kernels.input import (
    Columns,
    asks_of_next,
    check_classifier,
    check_weights,
    shared_step,
)
from skstream.kernels.looped import LoopedModel
from skstream.kernels.memory import MemoryKernel, State
from skstream.kernels.registry import find_member, find_part
from skstream.utils._rows import stack_rows, take_rows
from skstream.utils._validation import is_fitted, unfitted_copy


class InnerKernel(MemoryKernel):
    """Shows the inner kernel rows of its own, or changes its answers.

    Subclasses say what is remembered of the rows learnt; a state holds that of the inner kernel.
    The inner model may be looped.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        check_classifier(self._model)
        self._inner: Kernel = find_part(self._model, self._inner_task(task))
        if isinstance(self._inner, LoopedModel) and not fitted:
            raise NotFittedYet(self._inner.reason)
        self._first_inner = self._inner.initial_state()
        self._likeness = self._inner.likeness()
        self.bitwise = self._inner.bitwise

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        return task

    def row_bytes(self, state: State) -> int | None:
        """That of the inner kernel, and what is kept beside every row."""
        inner = self._inner.row_bytes(state.inner)
        return None if inner is None else inner + self._own_bytes

    @property
    def _own_bytes(self) -> int:
        return 64 * self._n_classes

    def looped(self, state: State) -> list[Looped]:
        """Return the parts of the inner model that are executed call by call."""
        return self._inner.looped(state.inner)

    def _columns_after(self, state: State, block: Block) -> Columns:
        check_weights(block)
        return state.columns.after(block)

    def _step_inside(
        self,
        state: State,
        columns: Columns,
        block: Block,
        shown: Block,
        remember: Callable[[Block], Any],
        answer: Callable[[NDArray[Any]], NDArray[Any]],
    ) -> tuple[State, NDArray[Any]]:
        """Execute what is shown to the inner kernel.

        `remember` returns the memory after a block or a part of it, `answer` the answers that those
        of the inner kernel become.
        """
        try:
            inner, came = shared_step(self._inner, self._likeness, state.inner, shown)
        except LoopFailed as failure:
            done = part_of(block, slice(0, failure.n_learnt), slice(0, len(failure.answers)))
            failure.answers = answer(failure.answers)
            failure.state = state.after(done, columns, remember(done), failure.state)
            raise
        return state.after(block, columns, remember(block), inner), answer(came)

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.has_learnt:
            self._inner.export(state.inner)
            self.estimator.estimator_ = self._model
        super().export(state)


class Member(NamedTuple):
    """Kernel of a model, and its state."""

    kernel: Kernel
    state: Any

    @classmethod
    def of(cls, model: Any, task: Task) -> "Member":
        """Kernel of a model, fitted or not; `Declined` where a part is looped."""
        check_classifier(model)
        try:
            kernel = find_member(model, task)
        except NotFittedYet as declined:
            raise Declined(declined.reason) from None
        state = kernel.initial_state()
        parts = kernel.looped(state)
        if parts:  # it changes the model itself, and a member may have to be executed again
            raise Declined(parts[0].reason)
        return cls(kernel, state)

    def step(self, block: Block) -> tuple["Member", NDArray[Any]]:
        """Execute a block; return the member after it, and its answers."""
        state, answers = self.kernel.step(self.state, block)
        return Member(self.kernel, state), answers

    def exported(self) -> Any:
        """Return the fitted model."""
        self.kernel.export(self.state)
        return self.kernel.estimator


def most_row_bytes(members: Sequence[Member]) -> int | None:
    """The most memory that a row takes in one of several models; None: not known."""
    taken = [member.kernel.row_bytes(member.state) for member in members]
    return None if None in taken else max(one or 0 for one in taken)


def all_bitwise(members: Iterable[Member]) -> bool:
    """Whether all models agree with their loops to the last bit."""
    return all(member.kernel.bitwise for member in members)


class MembersKernel(MemoryKernel):
    """A kernel whose state holds kernels of models, in `State.inner`.

    These may be asked about the rows that they learn, and be replaced.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._is_fitted = is_fitted(estimator)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        state = state._replace(columns=state.columns.after(block))
        # A kernel answers each ask by itself, whichever asks share a call.
        return self._step(state, replace(block, groups=None, company=None))

    @abstractmethod
    def _step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; the state knows its columns."""

    def row_bytes(self, state: State) -> int | None:
        """The most that a model takes, and what is kept beside every row."""
        most = most_row_bytes(state.inner)
        return None if most is None else most + self._own_bytes(len(state.inner))

    def _own_bytes(self, n_members: int) -> int:
        return 0


class OneModelKernel(MembersKernel):
    """A kernel of a meta-classifier whose fitted model is the first one in `State.inner`."""

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        super().export(state)
        if state.has_learnt:
            self.estimator.estimator_ = state.inner[0].exported()


@dataclass(frozen=True, slots=True)
class Tested:
    """A block with questions about rows to be learnt, right before each of them is.

    Attributes
    ----------
    block : Block
        The block that asks both.
    asked : ndarray of shape (n_asks,), dtype intp
        Which answers are those to the questions of the block before, in their order.
    tests : ndarray of shape (n_tests,), dtype intp
        Which are those about the rows to be learnt.
    """

    block: Block
    asked: NDArray[np.intp]
    tests: NDArray[np.intp]


def with_tests(block: Block, learns: NDArray[np.intp]) -> Tested:
    """Ask about some learns of a block right before each; what the block asks already, once.

    Parameters
    ----------
    block : Block
        Without groups.
    learns : ndarray of shape (n_tests,), dtype intp
        Positions among the learns, ascending.
    """
    asked = np.arange(block.n_asks)
    known = np.full(block.n_learns, -1, dtype=np.intp)
    same = np.flatnonzero(asks_of_next(block))
    known[block.stamp[same]] = same
    others = learns[known[learns] < 0]
    if not len(others):
        return Tested(block, asked, known[learns])
    rows, index = block.ask_X, block.ask_index
    if block.ask_X is block.learn_X:
        index = np.concatenate([index, block.learn_index[others]])
    else:
        tested = take_rows(block.learn_X, block.learn_index[others])
        if not block.n_asks:
            rows = tested
        else:
            rows = take_rows(rows, index)
            if type(rows) is not type(tested) or rows.shape[1:] != tested.shape[1:]:
                raise Declined("training rows of another kind than rows to predict have no kernel")
            rows = stack_rows([rows, tested])
        index = np.arange(block.n_asks + len(others))
    stamp = np.concatenate([block.stamp, others])
    order = np.argsort(stamp, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    known[others] = block.n_asks + np.arange(len(others))
    both = replace(block, ask_X=rows, ask_index=index[order], stamp=stamp[order])
    return Tested(both, place[: block.n_asks], place[known[learns]])
