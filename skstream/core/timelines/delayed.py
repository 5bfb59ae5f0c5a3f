"""Rows that wait for their label: columns of equal length, and the table that keeps them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from skstream.core.timelines.timeline import Arrivals, End, Operations, no_rows

#: A table this small is not worth compacting.
MIN_STORED = 64


class Columns:
    """Base of frozen dataclasses whose fields are arrays of one length, the first of them `row`.

    The first axis of every array runs over the entries.
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    row: Any

    def __len__(self) -> int:
        return len(self.row)

    def take(self, index: np.ndarray | slice) -> Self:
        """Entries at positions, or where a mask is true."""
        return type(self)(*map(itemgetter(index), attrgetter(*self.__match_args__)(self)))

    def look_up(self, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of rows, given by number, where `row` ascends."""
        return self.row.searchsorted(numbers)

    def followed_by(self, *others: Self) -> Self:
        """These entries, then others."""
        parts = [self, *filter(len, others)]
        if len(parts) == 1:
            return self
        columns = zip(*map(attrgetter(*self.__match_args__), parts), strict=True)
        return type(self)(*map(np.concatenate, columns))


C = TypeVar("C", bound=Columns)


@dataclass(frozen=True, slots=True)
class PendingRows(Columns):
    """Rows that wait for their label, in the order of their numbers.

    Attributes
    ----------
    row, arrival, label_time : ndarray of shape (n_pending,)
        Number, arrival and time of the label (infinite: not known yet).
    phase : ndarray of shape (n_pending,), dtype int64
        How many labels had come before the row arrived, modulo those between two polls.
    learnable : ndarray of shape (n_pending,), dtype bool
        Whether it will be learnt: it has a label and a positive weight.
    weight : ndarray of shape (n_pending,), dtype float64
        The user's weights.
    """

    row: np.ndarray
    arrival: np.ndarray
    label_time: np.ndarray
    phase: np.ndarray
    learnable: np.ndarray
    weight: np.ndarray

    @classmethod
    def empty(cls) -> "PendingRows":
        """No rows at all."""
        integers, numbers = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(integers, numbers, numbers, integers, np.empty(0, dtype=bool), numbers)


@dataclass(frozen=True, slots=True)
class PendingTable(Generic[C]):
    """Table of pending rows, ascending by number: a value, of which each change makes the next.

    Tables share the memory of their entries, so that a change costs no more than the rows added,
    and a byte per row when some are dropped. The table before a change stays as it was until
    another change of it is made. Dropped rows leave unused entries; the table is compacted when
    these are more than the rows, so every row is copied only a few times, and memory is
    proportional to the pending rows.

    Attributes
    ----------
    stored : Columns
        All entries, and unused space after them.
    is_pending : ndarray of shape (n_stored,), dtype bool
        Which entries are still pending.
    n : int
        Entries in use, dropped ones included.
    n_pending : int
        Entries that are pending.
    """

    stored: C
    is_pending: np.ndarray
    n: int
    n_pending: int

    @classmethod
    def of(cls, rows: C) -> "PendingTable[C]":
        """Return a table of these rows; it takes over their arrays."""
        return cls(rows, np.ones(len(rows), dtype=bool), len(rows), len(rows))

    def __len__(self) -> int:
        return self.n_pending

    def numbers(self) -> np.ndarray:
        """Return the numbers of all pending rows."""
        return self.stored.row[: self.n][self.is_pending[: self.n]]

    def rows(self) -> C:
        """Return all pending rows; do not change them."""
        if self.n_pending == self.n:
            return self.stored.take(slice(self.n))
        return self.stored.take(np.flatnonzero(self.is_pending[: self.n]))

    def look_up(self, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of pending rows, given by number."""
        return self.stored.row[: self.n].searchsorted(numbers)

    def take(self, positions: np.ndarray) -> C:
        """Return the rows at positions."""
        return self.stored.take(positions)

    def append(self, rows: C) -> "PendingTable[C]":
        """Add rows with larger numbers than all others."""
        n = len(rows)
        if not n:
            return self
        if self.n + n > len(self.is_pending):
            return self._with_room(n).append(rows)
        begin, end = self.n, self.n + n
        for name in self.stored.__match_args__:
            getattr(self.stored, name)[begin:end] = getattr(rows, name)
        self.is_pending[begin:end] = True
        return PendingTable(self.stored, self.is_pending, end, self.n_pending + n)

    def drop(self, positions: np.ndarray) -> "PendingTable[C]":
        """Remove the rows at positions."""
        is_pending = self.is_pending.copy()
        is_pending[positions] = False
        n_pending = self.n_pending - len(positions)
        left = PendingTable(self.stored, is_pending, self.n, n_pending)
        if self.n > MIN_STORED and 2 * n_pending < self.n:
            return PendingTable.of(left.rows())
        return left

    def oldest(self, n: int) -> np.ndarray:
        """Return the positions of the first pending rows."""
        n = min(n, self.n_pending)
        begin = int(self.is_pending[: self.n].argmax()) if n else 0
        width = max(MIN_STORED, 2 * n)
        while True:
            found = np.flatnonzero(self.is_pending[begin : min(self.n, begin + width)])[:n]
            if len(found) == n:
                return begin + found
            width *= 2

    def _with_room(self, n: int) -> "PendingTable[C]":
        """Return the same rows with space for at least as many more."""
        rows = self.rows()
        n_rows = len(rows)
        capacity = max(MIN_STORED, 2 * (n_rows + n))
        columns = []
        for name in rows.__match_args__:
            values = getattr(rows, name)
            column = np.empty((capacity, *values.shape[1:]), dtype=values.dtype)
            column[:n_rows] = values
            columns.append(column)
        is_pending = np.zeros(capacity, dtype=bool)
        is_pending[:n_rows] = True
        return PendingTable(type(rows)(*columns), is_pending, n_rows, n_rows)


FIRST, POLL, LAST = 0, 1, 2
_NONE = PendingRows.empty()
NONE_YET = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedArrivals(Arrivals):
    """Rows that arrived, with the times of their arrival and of their labels.

    Attributes
    ----------
    arrival : ndarray of shape (n_rows,)
        When the features became known; does not decrease.
    label_time : ndarray of shape (n_rows,)
        When the label becomes known; infinite where that is never, or not known yet.
    expected : ndarray of shape (n_rows,), dtype bool
        Whether a label may still come. A row that will get no label is asked once and not stored.
    """

    arrival: np.ndarray
    label_time: np.ndarray
    expected: np.ndarray


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of waiting rows became known.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), dtype int64
        Their numbers, ascending.
    time : float
        When.
    weight : ndarray of shape (n_rows,), dtype float64, or None
        The user's ``sample_weight``, if there is one; rows of weight 0 are not learnt.
    """

    rows: np.ndarray
    time: float
    weight: np.ndarray | None


@dataclass(frozen=True, slots=True)
class Dated(Labels):
    """Labels of waiting rows that come by themselves, each at its own `time`."""

    time: np.ndarray  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time has passed: labels that are due by `time` come, the earliest first.

    At most `most` of them, if that is not None.
    """

    time: float
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Waiting rows, ascending, are given up: their labels will not be accepted."""

    rows: np.ndarray


@dataclass(frozen=True, slots=True)
class DelayedState:
    """Progress of a delayed timeline.

    Attributes
    ----------
    pending : PendingTable
        Rows that wait for their label.
    n_dated : int
        How many of them have a known label time.
    n_labels, n_learnt : int
        Labels received, and learnt.
    next_row : int
        Number of the row expected next.
    first_answered : int
        The first row that was asked when it arrived, after the warm-up. Rows before it are never
        asked, because a row without a first answer is not scored.
    unlabelled : ndarray of int64
        Rows that get no label, ascending, where the timeline keeps them.
    is_weighted : bool
        Whether any weight was given so far: from then on models learn with weights.
    """

    pending: PendingTable[PendingRows] = field(default_factory=partial(PendingTable.of, _NONE))
    n_dated: int = 0
    n_labels: int = 0
    n_learnt: int = 0
    next_row: int = 0
    first_answered: int = NONE_YET
    unlabelled: np.ndarray = field(default_factory=no_rows)
    is_weighted: bool = False

    def unlearnt(self) -> np.ndarray:
        """Rows that have arrived and are not learnt, ascending."""
        return np.union1d(self.pending.numbers(), self.unlabelled)

    def n_due(self, horizon: float) -> int:
        """Count the rows whose labels have come by a time."""
        if not self.n_dated:
            return 0
        return int(np.count_nonzero(self.pending.rows().label_time <= horizon))


@dataclass(frozen=True, slots=True)
class Asked(Columns):
    """All questions of a step in order, those too early for an answer included.

    Attributes
    ----------
    row : ndarray of shape (n,), dtype int64
        Row asked about.
    kind : ndarray of shape (n,), dtype int8
        ``FIRST``, ``POLL`` or ``LAST``.
    time : ndarray of shape (n,)
        When.
    answered : ndarray of shape (n,), dtype bool
        Whether the models had learnt enough to be asked when the row arrived, and so are asked
        now (these are ``ask_rows``).
    """

    row: np.ndarray
    kind: np.ndarray
    time: np.ndarray
    answered: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedOperations(Operations):
    """Operations of a delayed timeline, with the data that scoring needs.

    Attributes
    ----------
    asked : Asked
        All questions, in order.
    labelled : PendingRows
        Rows whose label came, in the order in which the labels came.
    polls_per_label : ndarray of shape (n_labelled,), dtype int64
        Polls made at each of these events.
    labels_before : ndarray of shape (n_arrived,), dtype int64
        How many of this step's labels came before each of its arrivals.
    unlabelled : ndarray of int64
        Rows that get no label and are kept: they are not scored, and may be asked again.
    """

    asked: Asked
    labelled: PendingRows
    polls_per_label: np.ndarray
    labels_before: np.ndarray
    unlabelled: np.ndarray = field(default_factory=no_rows)


@dataclass(frozen=True, slots=True)
class History:
    """What happened in consecutive steps, with attributes as those of `DelayedOperations`.

    Attributes
    ----------
    asked, labelled, polls_per_label, labels_before
        Those of all steps.
    released : ndarray of int64
        Rows that need no more scoring: those released, and those that get no label.
    dropped : ndarray of shape (n_dropped,), dtype int64
        Rows that were dropped.
    dropped_after : ndarray of shape (n_dropped,), dtype int64
        How many of the labels came before.
    """

    asked: Asked
    labelled: PendingRows
    polls_per_label: np.ndarray
    labels_before: np.ndarray
    released: np.ndarray
    dropped: np.ndarray
    dropped_after: np.ndarray

    def until(self, n_labels: int) -> "History":
        """Labels that came first, and the arrivals before the last of them."""
        n_arrived = int(np.searchsorted(self.labels_before, n_labels))
        return replace(
            self,
            labelled=self.labelled.take(slice(n_labels)),
            polls_per_label=self.polls_per_label[:n_labels],
            labels_before=self.labels_before[:n_arrived],
        )


def history_of(steps: Sequence[Any]) -> History:
    """Combine the operations of consecutive steps."""
    asked, labelled, polls, labels_before, released = [], [], [], [], []
    dropped, dropped_after, n_labels = [no_rows()], [no_rows()], 0
    for step in steps:
        asked.append(step.asked)
        polls.append(step.polls_per_label)
        labels_before.append(step.labels_before + n_labels)
        released += [step.released, step.unlabelled]
        if not len(step.asked.row):
            dropped.append(step.released)
            dropped_after.append(np.full(len(step.released), n_labels))
        labelled.append(step.labelled)
        n_labels += len(step.labelled)
    return History(
        asked=asked[0].followed_by(*asked[1:]),
        labelled=labelled[0].followed_by(*labelled[1:]),
        polls_per_label=np.concatenate(polls),
        labels_before=np.concatenate(labels_before),
        released=np.concatenate(released),
        dropped=np.concatenate(dropped),
        dropped_after=np.concatenate(dropped_after),
    )


@dataclass(frozen=True, slots=True)
class DelayedTimeline:
    """Continuous re-evaluation with delayed labels (Grzenda, Gomes & Bifet 2020).

    Events come in the order of their time, then of their row, arrival before label. A row that
    arrives is asked. When a label comes, its row is asked a last time. Then every waiting row is
    asked again if the number of labels since its arrival is a multiple of `poll_every`. Then the
    label is learnt. So no answer depends on the label that caused it.

    Parameters
    ----------
    n_warmup : int
        Labels learnt before anything is asked.
    poll_every : int or None
        Labels between two polls of a waiting row; None: no polls.
    keep_unlabelled : bool
        Whether rows that get no label are kept, as some models answer them again with others.
    """

    n_warmup: int = 1
    poll_every: int | None = None
    keep_unlabelled: bool = False

    def initial(self) -> DelayedState:
        """Return the state before the first row."""
        return DelayedState()

    def step(
        self, state: DelayedState, event: DatedArrivals | Labels | TimePassed | Dropped | End
    ) -> tuple[DelayedState, DelayedOperations]:
        """Return the state after an event, and the operations.

        Before each arrival come all labels that are due by then; at the end of the stream all
        whose time is known.
        """
        if isinstance(event, DatedArrivals | Labels) and event.weight is not None:
            state = replace(state, is_weighted=True)
        match event:
            case DatedArrivals():
                return self._arrive(state, event)
            case Dated():
                return self._date(state, event), self._nothing(state)
            case Labels():
                return self._label(state, event)
            case TimePassed():
                return self._let_come(state, event.time, event.most)
            case Dropped():
                return self._drop(state, event.rows)
            case End():
                return self._let_come(state, np.inf)

    def _arrive(
        self, state: DelayedState, event: DatedArrivals
    ) -> tuple[DelayedState, DelayedOperations]:
        rows = event.first_row + np.arange(event.n_rows)
        arrived = PendingRows(
            rows,
            event.arrival,
            event.label_time,
            np.full(len(rows), state.n_labels % (self.poll_every or 1)),
            event.learnable,
            np.ones(len(rows)) if event.weight is None else event.weight,
        )
        if len(rows):
            horizon = event.arrival[-1]
            if state.n_dated or event.label_time.min() <= horizon:
                return self._take_due(state, arrived, event.expected, horizon)
        return self._only_ask(state, arrived, event.expected)

    def _label(self, state: DelayedState, event: Labels) -> tuple[DelayedState, DelayedOperations]:
        """Process labels of waiting rows one after the other, at one time."""
        if state.n_dated:  # rows with a known label time: some labels may be due
            return self._let_come(self._date(state, event), event.time)
        table = state.pending
        at = table.look_up(event.rows)
        labelled = _with_labels(table.take(at), event)
        polled, poll_event = self._polled_at(state, at)
        left = replace(state, pending=table.drop(at), n_dated=0)
        return self._in_order(left, _NONE, labelled, no_rows(), polled, poll_event, labelled.row)

    def _date(self, state: DelayedState, event: Labels) -> DelayedState:
        """Note when the labels of waiting rows come."""
        table = state.pending
        at = table.look_up(event.rows)
        left = table.drop(at).rows().followed_by(_with_labels(table.take(at), event))
        rows = left.take(np.argsort(left.row))
        n_dated = state.n_dated + len(at)
        return replace(state, pending=PendingTable.of(rows), n_dated=n_dated)

    def _drop(
        self, state: DelayedState, rows: np.ndarray
    ) -> tuple[DelayedState, DelayedOperations]:
        at = state.pending.look_up(rows)
        n_dated = state.n_dated - _n_dated(state.pending.take(at))
        left = replace(state, pending=state.pending.drop(at), n_dated=n_dated)
        return left, replace(self._nothing(state), released=rows)

    def _let_come(
        self, state: DelayedState, horizon: float, most: int | None = None
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process the earliest labels that are due by a time."""
        if not state.n_dated:
            return state, self._nothing(state)
        return self._take_due(state, _NONE, _NONE.learnable, horizon, most)

    def _nothing(self, state: DelayedState) -> DelayedOperations:
        return self._only_ask(state, _NONE, _NONE.learnable)[1]

    def _take_due(
        self,
        state: DelayedState,
        arrived: PendingRows,
        expected: np.ndarray,
        horizon: Any,
        most: int | None = None,
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process arrivals, and the labels that are due by the last of them."""
        held = state.pending.rows()
        candidates = held.followed_by(arrived.take(expected))
        due = np.isfinite(candidates.label_time) & (candidates.label_time <= horizon)
        if not due.any():
            return self._only_ask(state, arrived, expected)
        events = candidates.take(due)
        events = events.take(np.lexsort((events.row, events.label_time))[:most])
        labels_before = _labels_before(arrived, events)
        phase = (state.n_labels + labels_before) % (self.poll_every or 1)
        arrived = replace(arrived, phase=phase)
        waiting = held.followed_by(arrived.take(expected))
        event_of = np.full(len(waiting), len(events), dtype=np.int64)
        event_of[np.searchsorted(waiting.row, events.row)] = np.arange(len(events))
        first_polls = (held.phase - state.n_labels) % (self.poll_every or 1)
        polled, poll_event = self._polls(
            np.concatenate([first_polls, labels_before[expected]]), event_of
        )
        left = waiting.take(event_of == len(events))
        state = replace(state, pending=PendingTable.of(left), n_dated=_n_dated(left))
        return self._in_order(
            state,
            arrived,
            events,
            labels_before,
            waiting.row[polled],
            poll_event,
            np.concatenate([events.row, arrived.row[~expected]]),
        )

    def _only_ask(
        self, state: DelayedState, arrived: PendingRows, expected: np.ndarray
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process arrivals without any label, as in a live call of `ask`."""
        nothing = no_rows()
        waiting, gone = arrived, nothing
        if not expected.all():
            waiting, gone = arrived.take(expected), arrived.row[~expected]
        before = np.zeros(len(arrived), dtype=np.int64)
        n_dated = state.n_dated + _n_dated(waiting)
        state = replace(state, pending=state.pending.append(waiting), n_dated=n_dated)
        return self._in_order(state, arrived, _NONE, before, nothing, nothing, gone)

    def _polled_at(self, state: DelayedState, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows polled at the labels of waiting rows, by position, and at which of them each is."""
        if self.poll_every is None:
            return no_rows(), no_rows()
        n, table = len(at), state.pending
        phase = table.stored.phase[: table.n]
        due = (state.n_labels + np.arange(min(n, self.poll_every))) % self.poll_every
        is_due = phase == due[0] if n == 1 else np.isin(phase, due)  # of one, as in a live call
        positions = np.flatnonzero(is_due & table.is_pending[: table.n])
        event = np.minimum(np.searchsorted(at, positions), n - 1)
        event_of = np.where(at[event] == positions, event, n)
        phases = table.stored.phase[positions]
        first_polls = (phases - state.n_labels) % (self.poll_every or 1)
        which, poll_event = self._polls(first_polls, event_of)
        return table.stored.row[positions[which]], poll_event

    def _in_order(
        self,
        state: DelayedState,
        arrived: PendingRows,
        events: PendingRows,
        labels_before: np.ndarray,
        polled: np.ndarray,
        poll_event: np.ndarray,
        gone: np.ndarray,
    ) -> tuple[DelayedState, DelayedOperations]:
        """Sort the questions of arrivals, polls and labels, and the learns, into their order.

        `state` has the rows that wait after the step, and `gone` are the rows that got their label
        in it, then those that get none.
        """
        learns, n_arrived, n_events = events.learnable, len(arrived), len(events)
        row = np.concatenate([arrived.row, polled, events.row])
        kind = np.zeros(len(row), dtype=np.int8)
        kind[n_arrived:], kind[len(row) - n_events :] = POLL, LAST
        time = np.concatenate([arrived.arrival, events.label_time[poll_event], events.label_time])
        position = stamp = np.zeros(len(row), dtype=np.int64)
        if n_events > 1 or (n_events and n_arrived):  # else they are in order
            position = np.concatenate([labels_before, poll_event, np.arange(n_events)])
            order = np.lexsort((row, kind, position))
            row, kind, position, time = row[order], kind[order], position[order], time[order]
            stamp = np.concatenate([[0], learns.cumsum()])[position]
        answered, first = state.n_learnt + stamp >= self.n_warmup, state.first_answered
        if n_arrived and first == NONE_YET:
            first = min([first, *row[answered & (kind == FIRST)][:1].tolist()])
        answered &= row >= first
        n_released = n_events if self.keep_unlabelled else len(gone)
        operations = DelayedOperations(
            learn_rows=events.row[learns],
            weight=events.weight[learns] if state.is_weighted and n_events else None,
            ask_rows=row[answered],
            stamp=stamp[answered],
            groups=_groups(kind[answered], position[answered]),
            released=gone[:n_released],
            unlabelled=gone[n_released:],
            settled=state.next_row + n_arrived,
            asked=Asked(row, kind, time, answered),
            labelled=events,
            polls_per_label=np.bincount(poll_event, minlength=n_events),
            labels_before=labels_before,
        )
        unlabelled = state.unlabelled
        if len(operations.unlabelled):
            unlabelled = np.concatenate([unlabelled, operations.unlabelled])
        after = replace(
            state,
            n_labels=state.n_labels + n_events,
            n_learnt=state.n_learnt + len(operations.learn_rows),
            next_row=operations.settled,
            first_answered=first,
            unlabelled=unlabelled,
        )
        return after, operations

    def _polls(self, first: np.ndarray, event_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions of rows polled and the events (from 0 in this step) at which they are.

        A row that arrived after c labels is polled at the labels number c, c + K, c + 2K, ...
        before its own. This is an arithmetic progression, so no event is examined twice.
        """
        if self.poll_every is None or not len(first):
            return no_rows(), no_rows()
        count = np.maximum(0, -(-(event_of - first) // self.poll_every))
        polled = np.repeat(np.arange(len(first)), count)
        nth = np.arange(len(polled)) - np.repeat(np.cumsum(count) - count, count)
        return polled, first[polled] + self.poll_every * nth


def _with_labels(rows: PendingRows, event: Labels) -> PendingRows:
    """Return waiting rows with the time and weight of their labels."""
    weight = np.ones(len(rows)) if event.weight is None else event.weight
    time = np.broadcast_to(np.asarray(event.time, dtype=np.float64), len(rows))
    return replace(rows, label_time=time, learnable=weight > 0, weight=weight)


def _n_dated(rows: PendingRows) -> int:
    """Count the rows whose label time is known."""
    return int(np.count_nonzero(np.isfinite(rows.label_time)))


def _labels_before(arrived: PendingRows, events: PendingRows) -> np.ndarray:
    """Count the labels of this step that come before each arrival."""
    n_arrived, n_events = len(arrived), len(events)
    time = np.concatenate([arrived.arrival, events.label_time])
    row = np.concatenate([arrived.row, events.row])
    is_label = np.repeat([False, True], [n_arrived, n_events])
    order = np.lexsort((is_label, row, time))
    before = np.empty(len(order), dtype=np.int64)
    before[order] = np.cumsum(is_label[order]) - is_label[order]
    return before[:n_arrived]


def _groups(kind: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Bounds of the asks that share a call: one arrival, or all questions of one label."""
    is_bound, is_first = np.zeros(len(kind) + 1, dtype=bool), kind == FIRST
    is_bound[0] = is_bound[-1] = True
    is_bound[1:-1] = is_first[1:] | is_first[:-1] | (position[1:] != position[:-1])
    return is_bound.nonzero()[0]
