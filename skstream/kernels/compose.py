"""What kernels of meta-estimators and pipelines have in common."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from skstream.core.engine.block import Block, distinct_rows
from skstream.core.engine.kernel import Declined, Kernel, TransformKernel
from skstream.utils._rows import stack_rows, take_rows


def check_weights(block: Block) -> None:
    """Leave weights to the loop where metadata routing decides which model they reach."""
    if block.weight is not None and get_config()["enable_metadata_routing"]:
        raise Declined("weights have no kernel where metadata routing says which steps they reach")


def shared_step(
    kernel: Kernel | TransformKernel, likeness: bytes | None, state: Any, block: Block
) -> tuple[Any, Any]:
    """Step of a kernel, taken over from that of another model if it has made the same one."""
    return block.once(likeness, state, partial(kernel.step, state, block))


def used_rows(block: Block) -> tuple[list[tuple[Any, np.ndarray]], np.ndarray, np.ndarray]:
    """Return what a block uses of its storages, each row of the same storage once.

    Returns
    -------
    used : list of (rows, index)
        Storages, and positions in them.
    learnt, asked : ndarray of shape (n_learns,) and (n_asks,)
        Positions of the rows among all that are used.
    """
    n_learns = block.n_learns
    if block.ask_X is block.learn_X:
        rows, places = distinct_rows(np.concatenate([block.learn_index, block.ask_index]))
        return [(block.learn_X, rows)], places[:n_learns], places[n_learns:]
    used = [(block.learn_X, block.learn_index), (block.ask_X, block.ask_index)]
    asked = n_learns + np.arange(block.n_asks)
    return [part for part in used if len(part[1])], np.arange(n_learns), asked


def asks_of_next(block: Block) -> NDArray[np.bool_]:
    """Whether each ask is about the very row that is learnt next."""
    if block.ask_X is not block.learn_X or not block.n_learns:
        return np.zeros(block.n_asks, dtype=bool)
    following = block.learn_index.take(block.stamp, mode="clip")
    is_next: NDArray[np.bool_] = (following == block.ask_index) & (block.stamp < block.n_learns)
    return is_next


def separate_rows(block: Block) -> tuple[Any, Any, np.ndarray]:
    """Rows of a block in the order of the learns, and those asked that are not the same.

    What a model makes of a row may depend on what it has learnt before. A row asked right before it
    is learnt is the same in both, and need not be computed twice.

    Returns
    -------
    learnt : rows
        The rows to learn.
    others : rows
        The rows asked that are not the next to be learnt.
    is_other : ndarray of shape (n_asks,), dtype bool
        Which asks they are.
    """
    is_other = ~asks_of_next(block)
    others = take_rows(block.ask_X, block.ask_index[is_other])
    return take_rows(block.learn_X, block.learn_index), others, is_other


def joined_rows(
    learnt: Any, others: Any, is_other: np.ndarray, stamp: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Storage for rows from `separate_rows`, and the position of every asked row in it."""
    if not is_other.any():
        return learnt, stamp.astype(np.intp)
    n_learns = learnt.shape[0]
    index = np.where(is_other, n_learns + np.cumsum(is_other) - 1, stamp).astype(np.intp)
    return stack_rows([learnt, others]) if n_learns else others, index
