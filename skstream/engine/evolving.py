"""Features that change while a row waits for its label."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.block import Block, stack_rows, take_rows
from skstream.engine.delayed import FIRST, DelayedOperations

#: ``features(rows, times)`` gives the features of row ``rows[i]`` as known at ``times[i]``.
Features = Callable[[np.ndarray, np.ndarray], Any]


def with_current_features(block: Block, operations: DelayedOperations, features: Features) -> Block:
    """Replace the features of every question but the first, and of every learn, by current ones.

    Parameters
    ----------
    block : Block
        Block with the features of arrival.
    operations : DelayedOperations
        The operations it executes.
    features : callable
        ``features(rows, times)``, the rows by number.

    Returns
    -------
    block : Block
        The same block with current features.
    """
    asked, labelled = operations.asked, operations.labelled
    assert asked is not None and labelled is not None
    answered = asked.answered
    kind, time = asked.kind[answered], asked.time[answered]
    later = np.flatnonzero(kind != FIRST)
    if len(later):
        first = np.flatnonzero(kind == FIRST)
        current = features(operations.ask_rows[later], time[later])
        _check_length(current, len(later))
        parts = [current]
        if len(first):
            parts.insert(0, take_rows(block.ask_X, block.ask_index[first]))
        index = np.empty(len(kind), dtype=np.intp)
        index[first] = np.arange(len(first))
        index[later] = len(first) + np.arange(len(later))
        block = replace(block, ask_X=stack_rows(parts), ask_index=index)
    if block.n_learns:
        learnt_at = labelled.label_time[labelled.learnable]
        current = features(operations.learn_rows, learnt_at)
        _check_length(current, block.n_learns)
        block = replace(block, learn_X=current, learn_index=np.arange(block.n_learns))
    return block


def _check_length(current: Any, n_rows: int) -> None:
    if current.shape[0] != n_rows:
        raise ValueError(
            f"features(rows, times) was asked for {n_rows} rows and returned {current.shape[0]}."
        )
