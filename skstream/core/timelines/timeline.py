"""Timelines: the order of asks and learns, as resumable state machines.

A timeline turns events (rows arrived, the stream ended) into operations (ask these, learn those)
without access to models or features. The engine executes the operations.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from skstream.utils._rows import joined_weights
from skstream.utils._seeds import poisson_weights, uniform

Strategy = Literal["bootstrap", "cross", "split"]
TestOn = Literal["held_out", "trained", "all"]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Consecutive rows that arrived together with their labels.

    Attributes
    ----------
    first_row : int
        Number of the first row, counted from 0 at the start of the stream.
    labelled : ndarray of shape (n_rows,), dtype bool
        Whether the row has a label.
    weight : ndarray of shape (n_rows,), dtype float64, or None
        The user's ``sample_weight``; None where there is none.
    came : ndarray of shape (n_rows,) or None
        When they came, as the user gave it.
    """

    first_row: int
    labelled: np.ndarray
    weight: np.ndarray | None = None
    came: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labelled)

    @property
    def learnable(self) -> np.ndarray:
        """Rows that have a label and a positive weight, as a mask."""
        if self.weight is None:
            return self.labelled
        return self.labelled & (self.weight > 0)


@dataclass(frozen=True, slots=True)
class End:
    """The stream has ended: no event follows."""


#: Makes the numbers of no rows.
no_rows = partial(np.empty, 0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Operations:
    """Asks and learns in the order of their stamps, over numbered rows.

    Attributes
    ----------
    learn_rows : ndarray of shape (n_learns,), dtype int64
        Rows to learn, in order.
    weight : ndarray of shape (n_learns,), dtype float64, or None
        Learning weights, all positive; None where the run has none.
    ask_rows : ndarray of shape (n_asks,), dtype int64
        Rows to ask about, in order.
    stamp : ndarray of shape (n_asks,), dtype int64
        How many of these learns precede each ask; non-decreasing.
    batches, groups : ndarray of int64 or None
        Bounds of the learns of one ``partial_fit``, and of the asks of one ``predict``;
        None: one row each.
    released : ndarray of int64
        Rows that no later operation will need; the engine keeps all others. Timelines that run
        together release the same rows.
    settled : int
        All rows below this number are finished, and can be scored.
    only_protocol_weights : bool
        Whether the learning weights come only from the protocol, not from the user.
    checkpoint : ndarray of shape (n_asks,), dtype int64, or None
        Where `ask_rows` are numbers of held-out rows, which are no rows of the stream: how many of
        its rows have come when each is asked.
    """

    learn_rows: np.ndarray
    weight: np.ndarray | None
    ask_rows: np.ndarray
    stamp: np.ndarray
    batches: np.ndarray | None = None
    groups: np.ndarray | None = None
    released: np.ndarray = field(default_factory=no_rows)
    settled: int = 0
    only_protocol_weights: bool = False
    checkpoint: np.ndarray | None = None


class Timeline(Protocol):
    """A protocol of evaluation, as a state machine over row numbers.

    A state is a value: a step leaves it as it was and returns the next one.
    """

    def initial(self) -> Any:
        """Return the state before the first event."""

    def step(self, state: Any, event: Any) -> tuple[Any, Operations]:
        """Return the state after an event (`Arrivals`, `End`, ...), and the operations."""


def rows_of_warmup(n_missing: int, learnable: np.ndarray) -> int:
    """Count the rows up to the last one of a warm-up that still lacks `n_missing` learns."""
    positions = np.flatnonzero(learnable)
    return int(positions[n_missing - 1]) + 1 if len(positions) >= n_missing else len(learnable)


def operate_rows(
    n_learnt: int,
    n_warmup: int,
    arrivals: Arrivals,
    fold_weight: np.ndarray | None = None,
    tested: np.ndarray | None = None,
) -> tuple[int, Operations]:
    """Ask, then learn, row by row.

    Parameters
    ----------
    n_learnt : int
        Warm-up rows learnt so far.
    n_warmup : int
        Rows learnt without being asked, by every fold and with weight 1.
    arrivals : Arrivals
        The rows.
    fold_weight : ndarray of shape (n_rows,) or None
        Learning weights of the fold, on top of the user's; 0: not learnt. Of dtype bool: whether
        the fold learns the row, which is no weight. None: it learns all.
    tested : ndarray of shape (n_rows,), dtype bool, or None
        Rows the fold is asked about; None: all.

    Returns
    -------
    n_learnt : int
        Warm-up rows learnt now.
    operations : Operations
        The asks and learns.
    """
    learnable, weight, warm = arrivals.learnable, arrivals.weight, 0
    n = len(learnable)
    if n_learnt < n_warmup:
        warm = rows_of_warmup(n_warmup - n_learnt, learnable)
        n_learnt += int(np.count_nonzero(learnable[:warm]))
    positions = np.arange(n)
    asked = positions >= warm
    if fold_weight is not None:
        fold_weight = np.where(asked, fold_weight, fold_weight.dtype.type(1))
        learnable = learnable & (fold_weight > 0)
        if fold_weight.dtype != bool:
            weight = fold_weight if weight is None else weight * fold_weight
    if tested is not None:
        asked &= tested
    learnt_before = np.cumsum(learnable) - learnable
    learns, rows = np.flatnonzero(learnable), arrivals.first_row + positions
    operations = Operations(
        learn_rows=rows[learns],
        weight=None if weight is None else weight[learns],
        ask_rows=rows[asked],
        stamp=learnt_before[asked].astype(np.int64, copy=False),
        released=rows,
        settled=arrivals.first_row + n,
        only_protocol_weights=arrivals.weight is None,
    )
    return n_learnt, operations


@dataclass(frozen=True, slots=True)
class PrequentialState:
    """Progress of a prequential timeline.

    Attributes
    ----------
    n_learnt : int
        Rows learnt so far, until the warm-up is over.
    rows, learnable, weight : ndarray
        Rows of the incomplete batch, whether each is to be learnt, and their weights.
    next_row : int
        Number of the row expected next.
    """

    n_learnt: int = 0
    rows: np.ndarray = field(default_factory=no_rows)
    learnable: np.ndarray = field(default_factory=partial(np.empty, 0, dtype=bool))
    weight: np.ndarray | None = None
    next_row: int = 0


@dataclass(frozen=True, slots=True)
class PrequentialTimeline:
    """Test, then train, on every row.

    The first `n_warmup` rows that have a label and a positive weight are used only for training: a
    model that has learnt nothing has no answer. With ``batch_size=b`` the rows after them are
    taken b at a time, all asked, then all learnt in one ``partial_fit`` (and the warm-up is
    the first batch).

    Parameters
    ----------
    n_warmup : int, default=1
        Rows used only for training.
    batch_size : int, default=1
        Rows of a batch.
    """

    n_warmup: int = 1
    batch_size: int = 1

    def initial(self) -> PrequentialState:
        """Return the state before the first row."""
        return PrequentialState()

    def step(
        self, state: PrequentialState, event: Arrivals | End
    ) -> tuple[PrequentialState, Operations]:
        """Return the state after an event, and the operations.

        At the end of the stream, the incomplete batch is asked and learnt.
        """
        is_end = isinstance(event, End)
        if not isinstance(event, End):
            if self.batch_size == 1:
                n_learnt, operations = operate_rows(state.n_learnt, self.n_warmup, event)
                waiting = state.rows, state.learnable, state.weight
                return PrequentialState(n_learnt, *waiting, operations.settled), operations
            state = _waiting(state, event)
        n_rows, size, warm = len(state.rows), self.batch_size, 0
        if state.n_learnt < self.n_warmup:
            if is_end or np.count_nonzero(state.learnable) >= self.n_warmup:
                warm = rows_of_warmup(self.n_warmup, state.learnable)
            else:
                n_rows = 0
        if is_end:
            size = max(n_rows - warm, 1)
        groups = np.arange((n_rows - warm) // size + 1) * size
        taken = warm + int(groups[-1])
        learnable = state.learnable[:taken]
        learnt_before = np.concatenate([[0], np.cumsum(learnable)]).astype(np.int64)
        positions = np.flatnonzero(learnable)
        operations = Operations(
            learn_rows=state.rows[positions],
            weight=None if state.weight is None else state.weight[positions],
            ask_rows=state.rows[warm:taken],
            stamp=np.repeat(learnt_before[warm + groups[:-1]], size),
            batches=np.unique([0, *learnt_before[warm + groups]]),  # not those without labels
            groups=groups,
            released=state.rows[:taken],
            settled=int(state.rows[taken]) if taken < len(state.rows) else state.next_row,
        )
        return PrequentialState(
            n_learnt=self.n_warmup if taken else state.n_learnt,
            rows=state.rows[taken:],
            learnable=state.learnable[taken:],
            weight=None if state.weight is None else state.weight[taken:],
            next_row=state.next_row,
        ), operations


def _waiting(state: PrequentialState, arrivals: Arrivals) -> PrequentialState:
    """State in which rows that arrived wait for their batch."""
    n, next_row = arrivals.n_rows, arrivals.first_row + arrivals.n_rows
    return replace(
        state,
        rows=np.concatenate([state.rows, np.arange(arrivals.first_row, next_row)]),
        learnable=np.concatenate([state.learnable, arrivals.learnable]),
        weight=joined_weights((state.weight, len(state.rows)), (arrivals.weight, n)),
        next_row=next_row,
    )


@dataclass(frozen=True, slots=True)
class FoldTimeline:
    """Timeline of one fold: what it learns and is asked (Bifet et al. 2015, Section 3).

    Every random number depends only on seed, fold and row, so that neither chunking nor the worker
    changes it.

    Parameters
    ----------
    fold : int
        This fold.
    n_folds : int
        Number of folds.
    strategy : {"bootstrap", "cross", "split"}
        Learn each row with a Poisson(1) weight; in all folds but the chosen one; in the
        chosen one only.
    test_on : {"held_out", "trained", "all"}
        Ask about the rows the fold does not learn, about those it learns, or about all.
    seed : int
        Seed of weights and of the fold that is chosen for a row.
    n_warmup : int
        Initial rows, used only for training, by every fold with weight 1.
    """

    fold: int
    n_folds: int
    strategy: Strategy
    test_on: TestOn
    seed: int
    n_warmup: int

    def initial(self) -> PrequentialState:
        """Return the state before the first row."""
        return PrequentialState()

    def step(
        self, state: PrequentialState, event: Arrivals | End
    ) -> tuple[PrequentialState, Operations]:
        """Return the state after an event, and the operations; none at the end of the stream."""
        if isinstance(event, End):
            return state, Operations(no_rows(), None, no_rows(), no_rows(), settled=state.next_row)
        weight = self._learning_weight(event.first_row, event.first_row + event.n_rows)
        tested = {"held_out": weight == 0, "trained": weight > 0, "all": None}[self.test_on]
        n_learnt, operations = operate_rows(state.n_learnt, self.n_warmup, event, weight, tested)
        return PrequentialState(n_learnt, next_row=operations.settled), operations

    def _learning_weight(self, start: int, stop: int) -> np.ndarray:
        if self.strategy == "bootstrap":
            return poisson_weights(self.seed, self.fold, start, stop).astype(np.float64)
        drawn = np.asarray(uniform(self.seed, "assignment", start, stop) * self.n_folds)
        is_chosen: np.ndarray = drawn.astype(np.int64) == self.fold
        return is_chosen if self.strategy == "split" else ~is_chosen


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
    """Progress: what waits to be learnt, rows learnt, the last checkpoint, sets asked."""

    learning: PrequentialState = field(default_factory=PrequentialState)
    n_learnt: int = 0
    checkpoint: int = 0
    n_sets: int = 0


@dataclass(frozen=True, slots=True)
class HoldoutTimeline:
    """Learn batch by batch; ask about a set of held-out rows at every checkpoint.

    Parameters
    ----------
    every : int
        Rows between the checkpoints, a multiple of `batch_size`; the end of the stream is one too.
    size : int
        Rows of a set.
    fresh : bool
        Whether every checkpoint has a set of its own; else all have the first.
    n_warmup : int, default=1
        Rows that must be learnt before a checkpoint at which models are asked.
    batch_size : int, default=1
        Rows that are learnt in one ``partial_fit``.
    """

    every: int
    size: int
    fresh: bool
    n_warmup: int = 1
    batch_size: int = 1

    def initial(self) -> HoldoutState:
        """Return the state before the first row."""
        return HoldoutState()

    def step(self, state: HoldoutState, event: Arrivals | End) -> tuple[HoldoutState, Operations]:
        """Return the state after an event, and the operations."""
        batches = PrequentialTimeline(n_warmup=0, batch_size=self.batch_size)
        learning, operations = batches.step(state.learning, event)
        first, last = state.learning.next_row, learning.next_row
        if isinstance(event, End):
            due = np.arange(first, first + (first > state.checkpoint))
        else:
            due = np.arange(first // self.every + 1, last // self.every + 1) * self.every
        stamps = np.searchsorted(operations.learn_rows, due)
        ready = state.n_learnt + stamps >= self.n_warmup
        asked, stamps = due[ready], stamps[ready].astype(np.int64)
        numbers = np.arange(len(asked)) + state.n_sets if self.fresh else np.zeros_like(asked)
        operations = replace(
            operations,
            ask_rows=(numbers[:, np.newaxis] * self.size + np.arange(self.size)).ravel(),
            stamp=np.repeat(stamps, self.size),
            groups=np.arange(len(asked) + 1, dtype=np.int64) * self.size,
            checkpoint=np.repeat(asked, self.size),
        )
        after = HoldoutState(
            learning,
            state.n_learnt + len(operations.learn_rows),
            int(due[-1]) if len(due) else state.checkpoint,
            state.n_sets + len(asked),
        )
        return after, operations


@dataclass(frozen=True, slots=True)
class NextRowsTimeline:
    """Ask about the next rows of the stream, all before the first of them is learnt.

    Rows at the end of the stream that are fewer than a set are used only for training.

    Parameters
    ----------
    every : int
        Rows of a set. With 1, this is prequential evaluation.
    n_warmup : int, default=1
        Initial rows, used only for training.
    batch_size : int, default=1
        Rows of a set that are learnt in one ``partial_fit``; the warm-up is the first batch.
    """

    every: int
    n_warmup: int = 1
    batch_size: int = 1

    def initial(self) -> PrequentialState:
        """Return the state before the first row."""
        return PrequentialState()

    def step(
        self, state: PrequentialState, event: Arrivals | End
    ) -> tuple[PrequentialState, Operations]:
        """Return the state after an event, and the operations."""
        state, operations = PrequentialTimeline(self.n_warmup, self.every).step(state, event)
        operations = replace(operations, batches=self._batches(operations))
        if isinstance(event, End):  # no score of a few rows: an incomplete set is learnt only
            operations = replace(operations, ask_rows=no_rows(), stamp=no_rows(), groups=None)
        return state, operations

    def _batches(self, operations: Operations) -> np.ndarray | None:
        """Bounds of the learns of one ``partial_fit``, which are counted from the first ask."""
        rows, learns = operations.ask_rows, operations.learn_rows
        if self.batch_size == 1 or not len(learns):
            return None
        starts = rows[:: self.batch_size]
        return np.unique([0, *np.searchsorted(learns, starts), len(learns)])
