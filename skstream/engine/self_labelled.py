"""Calls of models that use their own answers in place of labels that are not known yet."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.engine.block import Block, Company
from skstream.engine.delayed import FIRST, LAST, POLL, Asked


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
    never comes is among them for ever: when it arrives, that is not known.

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
