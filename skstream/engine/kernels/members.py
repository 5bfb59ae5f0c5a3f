"""Meta-classifiers whose models are asked about what they learn, and may be replaced."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.answers import Task
from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Kernel, NotFittedYet
from skstream.engine.kernels.compose import asks_of_next, check_weights
from skstream.engine.kernels.memory import MemoryKernel, State
from skstream.engine.kernels.registry import find_kernel
from skstream.engine.kernels.schema import check_classifier
from skstream.utils._rows import stack_rows, take_rows
from skstream.utils._validation import is_fitted


class Member(NamedTuple):
    """Kernel of a model, and its state."""

    kernel: Kernel
    state: Any

    def step(self, block: Block) -> tuple["Member", NDArray[Any]]:
        """Execute a block; return the member after it, and its answers."""
        state, answers = self.kernel.step(self.state, block)
        return Member(self.kernel, state), answers

    def exported(self) -> Any:
        """Return the fitted model."""
        self.kernel.export(self.state)
        return self.kernel.estimator


def make_member(model: Any, task: Task) -> Member:
    """Kernel of a model, fitted or not, with its state; `Declined` where a part is looped."""
    check_classifier(model)
    try:
        kernel = find_kernel(model, task)
    except NotFittedYet as declined:
        raise Declined(declined.reason) from None
    state = kernel.initial_state()
    parts = kernel.looped(state)
    if parts:  # it changes the model itself, and a member may have to be executed again
        raise Declined(parts[0].reason)
    return Member(kernel, state)


class MembersKernel(MemoryKernel):
    """A kernel whose state holds kernels of models, in `State.inner`: they may be replaced."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._is_fitted = is_fitted(estimator)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        state = state._replace(columns=state.columns.after(block))
        # Calls of kernels are not told apart by the lanes that share them.
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


def most_row_bytes(members: Sequence[Member]) -> int | None:
    """The most memory that a row takes in one of several models; None: not known."""
    taken = [member.kernel.row_bytes(member.state) for member in members]
    return None if None in taken else max(one or 0 for one in taken)


def all_bitwise(members: Iterable[Member]) -> bool:
    """Whether all models agree with their loops to the last bit."""
    return all(member.kernel.bitwise for member in members)


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
    if not len(learns):
        return Tested(block, asked, learns)
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
            rows, index = tested, np.arange(len(others))
        else:
            rows = take_rows(rows, index)
            if type(rows) is not type(tested) or rows.shape[1:] != tested.shape[1:]:
                raise Declined(
                    "rows learnt that are of another kind than rows asked have no kernel"
                )
            rows, index = stack_rows([rows, tested]), np.arange(block.n_asks + len(others))
    stamp = np.concatenate([block.stamp, others])
    order = np.argsort(stamp, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    known[others] = block.n_asks + np.arange(len(others))
    both = replace(block, ask_X=rows, ask_index=index[order], stamp=stamp[order])
    return Tested(both, place[: block.n_asks], place[known[learns]])
