"""Models that may be replaced while a block is executed, and questions about what they learn."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Kernel, NotFittedYet, Task
from skstream.engine.kernels.registry import find_kernel
from skstream.engine.kernels.schema import check_classifier
from skstream.utils._rows import stack_rows, take_rows


class Member(NamedTuple):
    """Kernel of a model, and its state."""

    kernel: Kernel
    state: Any

    def step(self, block: Block) -> tuple["Member", NDArray[Any]]:
        """Execute a block; return the member after it, and its answers."""
        state, answers = self.kernel.step(self.state, block)
        return Member(self.kernel, state), answers


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
    if block.ask_X is block.learn_X and block.n_asks:
        before = np.flatnonzero(block.stamp < block.n_learns)
        same = before[block.ask_index[before] == block.learn_index[block.stamp[before]]]
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
