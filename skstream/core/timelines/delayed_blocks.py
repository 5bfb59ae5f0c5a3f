"""Blocks with delayed labels: of features that change, and of rows asked in company."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.core.engine.block import Block, Company
from skstream.core.timelines.delayed import FIRST, LAST, POLL, Asked, DelayedOperations
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
        f"features(rows, times) got {len(rows)} rows and returned {came}. It got {which}, and must "
        f"return their {n_columns} columns as an array, a sparse matrix or a frame."
    )


def block_in_company(
    operations: DelayedOperations,
    unlearnt: np.ndarray,
    block_of: Callable[[DelayedOperations], Block],
) -> Block:
    """Return the block of some operations, with the other rows of each call in `company`.

    A model with ``previous_label="predicted"`` takes its own answers to the rows before, within one
    call of ``predict``, for their labels. So a question is asked in one call with all rows that
    arrived before and are not learnt yet: the current model answers them again. A row whose label
    never comes is always among them: when it arrives, that is not known.

    Parameters
    ----------
    operations : DelayedOperations
        What is learnt and asked.
    unlearnt : ndarray of int64
        The rows that waited before, ascending, with those whose labels never come.
    block_of : callable
        ``block_of(operations)`` makes the block of operations.
    """
    asked, waiting = operations.asked, unlearnt.tolist()
    rows, kinds, times, calls = [], [], [], []
    n_left, begin, event = len(operations.ask_rows), 0, []
    for row, kind, time, answered in zip(
        asked.row.tolist(), asked.kind.tolist(), asked.time, asked.answered, strict=True
    ):
        if answered:
            event.append(row)
        if kind == POLL:
            continue  # one call with the last question of the event
        if kind == FIRST:
            waiting.append(row)
        if event:
            its = np.array(waiting[: bisect_right(waiting, max(event))], dtype=np.int64)
            rows.append(its)
            kinds.append(np.full(len(its), POLL, dtype=np.int8))
            if kind == FIRST:
                kinds[-1][-1] = FIRST  # its features are those of its arrival
            times.append(np.repeat(time, len(its)))
            calls.append((n_left, begin, np.searchsorted(its, event)))
            n_left, begin = n_left - len(event), begin + len(its)
        if kind == LAST:
            waiting.remove(row)
        event = []
    if not calls:
        return replace(block_of(operations), company={})
    everyone = Asked(
        np.concatenate(rows),
        np.concatenate(kinds),
        np.concatenate(times),
        np.ones(begin, dtype=bool),
    )
    block = block_of(replace(operations, ask_rows=everyone.row, asked=everyone))
    company = {
        n_left: Company(block.ask_index[begin : begin + len(its)], its_asks)
        for (n_left, begin, its_asks), its in zip(calls, rows, strict=True)
    }
    return replace(
        block,
        ask_index=block.ask_index[np.concatenate([begin + its for _, begin, its in calls])],
        stamp=operations.stamp,
        groups=operations.groups,
        company=company,
        ask_rows=operations.ask_rows,
    )
