"""Calls of models that use their own answers in place of labels that are not known yet."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstream.engine.block import Block, Company
from skstream.engine.delayed import FIRST, LAST, POLL, Asked, DelayedOperations


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of ``predict``, each about all rows waiting up to the last one in question.

    Attributes
    ----------
    operations : DelayedOperations
        The questions of all calls: the original ones, and the other rows of each call.
    bounds : ndarray of shape (n_calls + 1,), dtype int64
        Bounds of the calls among these questions.
    asked : list of ndarray
        For each call, which of its questions are the original ones, in their order.
    """

    operations: DelayedOperations
    bounds: np.ndarray
    asked: list[np.ndarray]

    def narrowed(self, block: Block, operations: Any) -> Block:
        """Return a block of the original questions, with the other rows of each call in `company`.

        Parameters
        ----------
        block : Block
            Block of all questions of the calls.
        operations : Operations
            The original ones.
        """
        n_left, company = len(operations.ask_rows), {}
        for begin, end, asked in zip(self.bounds, self.bounds[1:], self.asked, strict=False):
            company[n_left] = Company(block.ask_index[begin:end], asked)
            n_left -= len(asked)
        places = np.concatenate(
            [begin + asked for begin, asked in zip(self.bounds, self.asked, strict=False)]
            or [np.empty(0, dtype=np.intp)]
        )
        return replace(
            block,
            ask_index=block.ask_index[places],
            stamp=operations.stamp,
            groups=operations.groups,
            company=company,
            ask_rows=operations.ask_rows,
        )


def calls_of(operations: DelayedOperations, pending: np.ndarray) -> Calls:
    """Return the calls that ask the questions of a delayed timeline.

    A model with ``previous_label="predicted"`` takes its own answers to the rows before, within one
    call of ``predict``, for their labels. So a question is asked in one call with all rows that
    arrived before and are not learnt yet: the current model answers them again. A row whose label
    never comes is among them for ever: when it arrives, that is not known.

    Parameters
    ----------
    operations : DelayedOperations
        The questions.
    pending : ndarray of int64
        The rows that waited before, ascending, with those whose labels never come.
    """
    asked = operations.asked
    waiting: list[int] = pending.tolist()
    calls, event = _CallsInTheMaking(), []
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
            calls.add(waiting, event, kind, time)
        if kind == LAST:
            waiting.remove(row)
        event = []
    return calls.made(operations)


def calls_about(rows: np.ndarray, operations: Any, pending: np.ndarray) -> Calls:
    """Return the calls that ask about rows after those that wait, outside of the timeline."""
    calls, waiting = _CallsInTheMaking(), [*pending.tolist(), *rows.tolist()]
    for row in rows.tolist():
        calls.add(waiting, [row], FIRST, 0.0)
    return calls.made(operations)


class _CallsInTheMaking:
    """Collects the calls of ``predict``."""

    def __init__(self) -> None:
        self._rows: list[np.ndarray] = []
        self._kinds: list[np.ndarray] = []
        self._times: list[np.ndarray] = []
        self._asked: list[np.ndarray] = []

    def add(self, waiting: list[int], asked: list[int], kind: int, time: Any) -> None:
        """Add one call with waiting rows, some of which are asked about."""
        rows = np.array(waiting[: bisect_right(waiting, max(asked))], dtype=np.int64)
        kinds = np.full(len(rows), POLL, dtype=np.int8)
        if kind == FIRST:
            kinds[-1] = FIRST  # its features are those of its arrival
        self._rows.append(rows)
        self._kinds.append(kinds)
        self._times.append(np.repeat(time, len(rows)))
        self._asked.append(np.searchsorted(rows, asked))

    def made(self, operations: Any) -> Calls:
        """Return the calls, with the learns of the operations."""
        bounds = np.cumsum([0, *(len(rows) for rows in self._rows)])
        if not self._rows:
            return Calls(operations, bounds, [])
        rows = np.concatenate(self._rows)
        kinds, times = np.concatenate(self._kinds), np.concatenate(self._times)
        changed: dict[str, Any] = {"ask_rows": rows}
        if isinstance(operations, DelayedOperations):
            changed["asked"] = Asked(rows, kinds, times, np.ones(len(rows), dtype=bool))
        return Calls(replace(operations, **changed), bounds, self._asked)
