"""Timelines of holdout evaluation: models learn, and are asked about whole sets at checkpoints."""

from dataclasses import dataclass, replace

import numpy as np

from skstream.engine.timeline import (
    Arrivals,
    End,
    Operations,
    PrequentialState,
    PrequentialTimeline,
    no_rows,
    operate_rows,
)


def sets_of(operations: Operations) -> tuple[np.ndarray, np.ndarray]:
    """Sets of rows asked about together.

    Returns
    -------
    ends : ndarray of shape (n_sets,), dtype int64
        Number of asks up to the end of each.
    checkpoints : ndarray of shape (n_sets,), dtype int64
        Rows of the stream that have come when each is scored.
    """
    groups = operations.groups
    ends = np.arange(1, len(operations.ask_rows) + 1) if groups is None else groups[1:]
    if operations.checkpoint is not None:
        return ends, operations.checkpoint[ends - 1]
    return ends, operations.ask_rows[ends - 1] + 1


@dataclass(frozen=True, slots=True)
class HoldoutState:
    """Progress: rows learnt up to the warm-up, the next row, the last checkpoint, sets asked."""

    n_learnt: int = 0
    next_row: int = 0
    checkpoint: int = 0
    n_sets: int = 0


@dataclass(frozen=True, slots=True)
class HoldoutTimeline:
    """Learn row by row; ask about a set of held-out rows at every checkpoint.

    Parameters
    ----------
    every : int
        Rows between the checkpoints; the end of the stream is one too.
    size : int
        Rows of a set.
    fresh : bool
        Whether every checkpoint has a set of its own; else all have the first.
    n_warmup : int, default=1
        Rows that must be learnt before a checkpoint at which models are asked.
    """

    every: int
    size: int
    fresh: bool
    n_warmup: int = 1

    def initial(self) -> HoldoutState:
        """Return the state before the first row."""
        return HoldoutState()

    def step(self, state: HoldoutState, event: Arrivals | End) -> tuple[HoldoutState, Operations]:
        """Return the state after an event, and the operations."""
        first = state.next_row
        if isinstance(event, End):
            due = np.arange(first, first + (first > state.checkpoint))
            event = Arrivals(first, np.empty(0, dtype=bool))
        else:
            last = first + event.n_rows
            due = np.arange(first // self.every + 1, last // self.every + 1) * self.every
        n_learnt, learning = operate_rows(
            state.n_learnt, self.n_warmup, event, tested=np.zeros(event.n_rows, dtype=bool)
        )
        stamps = np.concatenate([[0], np.cumsum(event.learnable)])[due - first]
        ready = state.n_learnt + stamps >= self.n_warmup
        asked, stamps = due[ready], stamps[ready].astype(np.int64)
        numbers = np.arange(len(asked)) + state.n_sets if self.fresh else np.zeros_like(asked)
        operations = replace(
            learning,
            ask_rows=(numbers[:, np.newaxis] * self.size + np.arange(self.size)).ravel(),
            stamp=np.repeat(stamps, self.size),
            groups=np.arange(len(asked) + 1, dtype=np.int64) * self.size,
            checkpoint=np.repeat(asked, self.size),
        )
        after = HoldoutState(
            n_learnt,
            learning.settled,
            int(due[-1]) if len(due) else state.checkpoint,
            state.n_sets + len(asked),
        )
        return after, operations


@dataclass(frozen=True, slots=True)
class NextRowsTimeline:
    """Ask about the next rows of the stream, all before the first of them is learnt.

    Rows at the end of the stream that are fewer than a set are learnt unasked.

    Parameters
    ----------
    every : int
        Rows of a set. With 1, this is prequential evaluation.
    n_warmup : int, default=1
        Rows learnt first, unasked.
    """

    every: int
    n_warmup: int = 1

    @property
    def _batches(self) -> PrequentialTimeline:
        return PrequentialTimeline(self.n_warmup, self.every)

    def initial(self) -> PrequentialState:
        """Return the state before the first row."""
        return self._batches.initial()

    def step(
        self, state: PrequentialState, event: Arrivals | End
    ) -> tuple[PrequentialState, Operations]:
        """Return the state after an event, and the operations."""
        state, operations = self._batches.step(state, event)
        operations = replace(operations, batches=None)  # they are learnt one by one
        if isinstance(event, End):  # no score of a few rows: an incomplete set is learnt only
            operations = replace(operations, ask_rows=no_rows(), stamp=no_rows(), groups=None)
        return state, operations
