"""Features that change while a row waits for its label."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.delayed import FIRST, DelayedOperations
from skstream.utils._rows import stack_rows, take_rows

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
    answered = asked.answered
    kind, time = asked.kind[answered], asked.time[answered]
    later = np.flatnonzero(kind != FIRST)
    if len(later):
        first = np.flatnonzero(kind == FIRST)
        n_columns = block.ask_X.shape[1]
        current = _features_at(features, operations.ask_rows[later], time[later], n_columns)
        parts = [current]
        if len(first):
            parts.insert(0, take_rows(block.ask_X, block.ask_index[first]))
        index = np.empty(len(kind), dtype=np.intp)
        index[first] = np.arange(len(first))
        index[later] = len(first) + np.arange(len(later))
        block = replace(block, ask_X=stack_rows(parts), ask_index=index)
    if block.n_learns:
        learnt_at = labelled.label_time[labelled.learnable]
        n_columns = block.learn_X.shape[1]
        current = _features_at(features, operations.learn_rows, learnt_at, n_columns)
        block = replace(block, learn_X=current, learn_index=np.arange(block.n_learns))
    return block


def _features_at(features: Features, rows: np.ndarray, times: np.ndarray, n_columns: int) -> Any:
    """Ask for current features, and check what came."""
    which = f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows ({rows[0]}, {rows[1]}...)"
    try:
        current = features(rows, times)
    except Exception as error:
        error.add_note(
            f"Raised by features(rows, times) for {which}, the first of them at time {times[0]}."
        )
        raise
    shape = getattr(current, "shape", None)
    if shape is None or len(shape) != 2:
        came = f"{type(current).__name__}" + ("" if shape is None else f" of shape {shape}")
    elif shape[0] != len(rows):
        came = f"{shape[0]}"
    elif shape[1] != n_columns:
        came = f"{shape[1]} columns instead of {n_columns}"
    else:
        return current
    raise ValueError(
        f"features(rows, times) was asked for {len(rows)} rows and returned {came}. It was asked "
        f"for {which}, and must return their {n_columns} columns as an array, a sparse matrix or "
        "a frame."
    )
