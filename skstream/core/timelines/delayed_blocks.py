"""Blocks under delayed labels: of features that change, and of rows asked in company."""

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
        f"features(rows, times) was asked for {len(rows)} rows and returned {came}. It was asked "
        f"for {which}, and must return their {n_columns} columns as an array, a sparse matrix or "
        "a frame."
    )


def block_in_company(
    operations: Any,
    asked: Asked,
    unlearnt: np.ndarray,
    block_of: Callable[[np.ndarray, Asked], Block],
) -> Block:
    """Return the block of some operations, with the other rows of each call in `company`.

    A model with ``previous_label="predicted"`` takes its own answers to the rows before, within one
    call of ``predict``, for their labels. So a question is asked in one call with all rows that
    arrived before and are not learnt yet: the current model answers them again. A row whose label
    never comes is always among them: when it arrives, that is not known.

    Parameters
    ----------
    operations : Operations
        What is learnt and asked.
    asked : Asked
        All questions, in order.
    unlearnt : ndarray of int64
        The rows that waited before, ascending, with those whose labels never come.
    block_of : callable
        ``block_of(rows, asked)`` makes the block with the same learns that asks about some rows.
    """
    waiting: list[int] = unlearnt.tolist()
    calls: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # rows, their kinds, those asked
    times, event = [], []
    questions = zip(
        asked.row.tolist(), asked.kind.tolist(), asked.time, asked.answered, strict=True
    )
    for row, kind, time, answered in questions:
        if answered:
            event.append(row)
        if kind == POLL:
            continue  # one call with the last question of the event
        if kind == FIRST:
            waiting.append(row)
        if event:
            rows = np.array(waiting[: bisect_right(waiting, max(event))], dtype=np.int64)
            kinds = np.full(len(rows), POLL, dtype=np.int8)
            if kind == FIRST:
                kinds[-1] = FIRST  # its features are those of its arrival
            calls.append((rows, kinds, np.searchsorted(rows, event)))
            times.append(np.repeat(time, len(rows)))
        if kind == LAST:
            waiting.remove(row)
        event = []
    if not calls:
        return replace(block_of(operations.ask_rows, asked), company={})
    rows, kinds = (np.concatenate(parts) for parts in list(zip(*calls, strict=True))[:2])
    block = block_of(
        rows, Asked(rows, kinds, np.concatenate(times), np.ones(len(rows), dtype=bool))
    )
    n_left, begin, company, places = len(operations.ask_rows), 0, {}, []
    for rows, _, its_asks in calls:
        end = begin + len(rows)
        company[n_left] = Company(block.ask_index[begin:end], its_asks)
        places.append(begin + its_asks)
        n_left, begin = n_left - len(its_asks), end
    return replace(
        block,
        ask_index=block.ask_index[np.concatenate(places)],
        stamp=operations.stamp,
        groups=operations.groups,
        company=company,
        ask_rows=operations.ask_rows,
    )
