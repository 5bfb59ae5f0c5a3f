"""Timeline of delayed labels: ask at arrival, while waiting, and when the label comes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skstream.engine.timeline import Arrivals, Operations
from skstream.engine.waiting import Waiting, WaitingTable

FIRST, POLL, LAST = 0, 1, 2


def _integers() -> np.ndarray:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
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

    arrival: np.ndarray = field(default_factory=_integers)
    label_time: np.ndarray = field(default_factory=_integers)
    expected: np.ndarray = field(default_factory=_integers)


@dataclass(frozen=True, slots=True)
class DelayedState:
    """Progress of a delayed timeline: waiting rows, and the numbers of labels received and learnt.

    The next state takes over the table of waiting rows and changes it, so an old state must not be
    used again.
    """

    waiting: WaitingTable = field(default_factory=WaitingTable)
    n_labels: int = 0
    n_learnt: int = 0
    next_row: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
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
        Whether the models had learnt enough to be asked (these are ``ask_rows``).
    """

    row: np.ndarray
    kind: np.ndarray
    time: np.ndarray
    answered: np.ndarray


@dataclass(frozen=True, slots=True)
class DelayedOperations(Operations):
    """Operations of a delayed timeline, with the data that scoring needs.

    Attributes
    ----------
    asked : Asked
        All questions, in order.
    labelled : Waiting
        Rows whose label came, in the order in which the labels came.
    polls_per_label : ndarray of shape (n_labelled,), dtype int64
        Polls made at each of these events.
    labels_before : ndarray of shape (n_arrived,), dtype int64
        How many of this step's labels came before each of its arrivals.
    """

    asked: Asked | None = None
    labelled: Waiting | None = None
    polls_per_label: np.ndarray = field(default_factory=_integers)
    labels_before: np.ndarray = field(default_factory=_integers)


@dataclass(frozen=True, slots=True)
class History:
    """Events of consecutive steps, with attributes as those of `DelayedOperations`.

    `waiting` are the rows that wait after the last step.
    """

    asked: Asked
    labelled: Waiting
    polls_per_label: np.ndarray
    labels_before: np.ndarray
    waiting: np.ndarray


def history_of(steps: Sequence[DelayedOperations], waiting: np.ndarray) -> History:
    """Combine consecutive steps into one; `waiting` are the rows waiting after the last."""
    asked = [step.asked for step in steps if step.asked is not None]
    labelled = [step.labelled for step in steps if step.labelled is not None]
    n_arrived = [len(step.labels_before) for step in steps]
    n_before = np.cumsum([0, *(len(rows) for rows in labelled)])[:-1]
    return History(
        asked=Asked(
            np.concatenate([part.row for part in asked]),
            np.concatenate([part.kind for part in asked]),
            np.concatenate([part.time for part in asked]),
            np.concatenate([part.answered for part in asked]),
        ),
        labelled=labelled[0].followed_by(*labelled[1:]),
        polls_per_label=np.concatenate([step.polls_per_label for step in steps]),
        labels_before=(
            np.concatenate([step.labels_before for step in steps]) + np.repeat(n_before, n_arrived)
        ),
        waiting=waiting,
    )


@dataclass(frozen=True, slots=True)
class DelayedTimeline:
    """Continuous re-evaluation under delayed labels (Grzenda, Gomes & Bifet 2020).

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
    poll_at_zero : bool
        Whether a row is asked again at the first label after its arrival.
    """

    n_warmup: int = 1
    poll_every: int | None = None
    poll_at_zero: bool = True

    def initial(self) -> DelayedState:
        """Return the state before the first row."""
        return DelayedState()

    def step(self, state: DelayedState, arrivals: Any) -> tuple[DelayedState, DelayedOperations]:
        """Process arrivals, and all labels that are due before any later arrival."""
        rows = arrivals.first_row + np.arange(arrivals.n_rows)
        weight = np.ones(len(rows)) if arrivals.weight is None else arrivals.weight
        arrived = Waiting(
            rows,
            arrivals.arrival,
            arrivals.label_time,
            np.full(len(rows), state.n_labels),
            arrivals.learnable,
            weight,
        )
        horizon = arrivals.arrival[-1] if len(rows) else None
        return self._advance(state, arrived, arrivals.expected, horizon)

    def label(
        self,
        state: DelayedState,
        rows: np.ndarray,
        time: float,
        learnable: np.ndarray,
        weight: np.ndarray,
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process labels of waiting rows (ascending) one after the other, at one time."""
        table = state.waiting
        at = table.positions(rows)
        table.label(at, time, learnable, weight)
        if table.n_dated > len(rows):  # rows with a known label time: some labels may be due
            return self.advance(state, time)
        labelled = table.at(at)
        if len(rows) == 1:
            step = self._label_one(state, at, labelled)
        else:
            step = self._label_many(state, at, labelled)
        table.remove(at)
        return step

    def drop(self, state: DelayedState, rows: np.ndarray) -> DelayedState:
        """Drop waiting rows."""
        state.waiting.remove(state.waiting.positions(rows))
        return state

    def advance(self, state: DelayedState, time: float) -> tuple[DelayedState, DelayedOperations]:
        """Process all labels that are due by a time."""
        return self._advance(state, Waiting.empty(), np.empty(0, dtype=bool), time)

    def take_back(self, before: DelayedState, first_row: int) -> DelayedState:
        """Undo the arrival of this row and later ones, which were only asked."""
        before.waiting.truncate(first_row)
        return before

    def close(self, state: DelayedState) -> tuple[DelayedState, DelayedOperations]:
        """Process all labels whose time is known."""
        return self.advance(state, np.inf)

    def settle(
        self, state: DelayedState, horizon: float, most: int
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process the earliest labels that are due by `horizon`, at most `most` of them."""
        return self._advance(state, Waiting.empty(), np.empty(0, dtype=bool), horizon, most)

    def _advance(
        self,
        state: DelayedState,
        arrived: Waiting,
        expected: np.ndarray,
        horizon: Any,
        most: int | None = None,
    ) -> tuple[DelayedState, DelayedOperations]:
        table = state.waiting
        first_due = arrived.label_time.min() if len(arrived) else np.inf
        if horizon is None or (table.n_dated == 0 and first_due > horizon):
            return self._only_ask(state, arrived, expected)
        held = table.all_rows()
        candidates = held.followed_by(arrived.take(expected))
        due = np.isfinite(candidates.label_time) & (candidates.label_time <= horizon)
        if not due.any():
            return self._only_ask(state, arrived, expected)
        events = candidates.take(due)
        events = events.take(np.lexsort((events.row, events.label_time))[:most])
        labels_before = _labels_before(arrived, events)
        arrived = replace(arrived, born=state.n_labels + labels_before)
        waiting = held.followed_by(arrived.take(expected))
        event_of = np.full(len(waiting), len(events), dtype=np.int64)
        event_of[np.searchsorted(waiting.row, events.row)] = np.arange(len(events))
        polled, poll_event = self._polls(waiting.born, event_of, state.n_labels)
        operations = self._in_order(
            state, arrived, events, labels_before, waiting.row[polled], poll_event
        )
        table.replace(waiting.take(event_of == len(events)))
        released = np.concatenate([events.row, arrived.row[~expected]])
        return self._after(state, replace(operations, released=released))

    def _only_ask(
        self, state: DelayedState, arrived: Waiting, expected: np.ndarray
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process arrivals without any label, as in a live call of `ask`."""
        n, nothing = len(arrived), _integers()
        all_expected = bool(expected.all())
        state.waiting.add(arrived if all_expected else arrived.take(expected))
        answers = state.n_learnt >= self.n_warmup
        n_asks = n if answers else 0
        operations = DelayedOperations(
            learn_rows=nothing,
            weight=None,
            ask_rows=arrived.row[:n_asks],
            stamp=np.zeros(n_asks, dtype=np.int64),
            groups=np.arange(n_asks + 1),
            released=nothing if all_expected else arrived.row[~expected],
            settled=state.next_row + n,
            asked=Asked(
                arrived.row,
                np.full(n, FIRST, dtype=np.int8),
                arrived.arrival,
                np.full(n, answers),
            ),
            labelled=Waiting.empty(),
            polls_per_label=nothing,
            labels_before=np.zeros(n, dtype=np.int64),
        )
        return self._after(state, operations)

    def _label_one(
        self, state: DelayedState, at: np.ndarray, labelled: Waiting
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process one label, as in a live call of `label`; no sorting is needed."""
        table, polled = state.waiting, _integers()
        if self.poll_every is not None:
            positions = table.positions_polled(state.n_labels, self.poll_every)
            positions = positions[positions != at[0]]
            if not self.poll_at_zero:
                positions = positions[table.born_at(positions) < state.n_labels]
            polled = table.rows_at(positions)
        n = len(polled)
        row = np.concatenate([polled, labelled.row])
        kind = np.full(n + 1, POLL, dtype=np.int8)
        kind[n] = LAST
        answers = state.n_learnt >= self.n_warmup
        n_asks = n + 1 if answers else 0
        learnt = labelled.row[labelled.learnable]
        operations = DelayedOperations(
            learn_rows=learnt,
            weight=labelled.weight if len(learnt) and labelled.weight[0] != 1 else None,
            ask_rows=row[:n_asks],
            stamp=np.zeros(n_asks, dtype=np.int64),
            groups=np.array([0, n_asks] if n_asks else [0]),
            released=labelled.row,
            settled=state.next_row,
            asked=Asked(row, kind, np.full(n + 1, labelled.label_time[0]), np.full(n + 1, answers)),
            labelled=labelled,
            polls_per_label=np.array([n]),
            labels_before=_integers(),
        )
        return self._after(state, operations)

    def _label_many(
        self, state: DelayedState, at: np.ndarray, labelled: Waiting
    ) -> tuple[DelayedState, DelayedOperations]:
        """Process labels one after the other."""
        polled = poll_event = _integers()
        n = len(labelled)
        if self.poll_every is not None:
            labels = range(state.n_labels, state.n_labels + min(n, self.poll_every))
            positions = np.concatenate(
                [state.waiting.positions_polled(label, self.poll_every) for label in labels]
            )
            event = np.minimum(np.searchsorted(at, positions), n - 1)
            event_of = np.where(at[event] == positions, event, n)
            born = state.waiting.born_at(positions)
            index, poll_event = self._polls(born, event_of, state.n_labels)
            polled = state.waiting.rows_at(positions[index])
        operations = self._in_order(
            state, Waiting.empty(), labelled, _integers(), polled, poll_event
        )
        return self._after(state, replace(operations, released=labelled.row))

    def _in_order(
        self,
        state: DelayedState,
        arrived: Waiting,
        events: Waiting,
        labels_before: np.ndarray,
        polled: np.ndarray,
        poll_event: np.ndarray,
    ) -> DelayedOperations:
        """Sort the questions of arrivals, polls and labels, and the learns, into their order."""
        learns = events.learnable
        learnt_before = np.concatenate([[0], np.cumsum(learns)]).astype(np.int64)
        row = np.concatenate([arrived.row, polled, events.row])
        kind = np.repeat(
            np.array([FIRST, POLL, LAST], dtype=np.int8),
            [len(arrived), len(polled), len(events)],
        )
        position = np.concatenate([labels_before, poll_event, np.arange(len(events))])
        time = np.concatenate([arrived.arrival, events.label_time[poll_event], events.label_time])
        order = np.lexsort((row, kind, position))
        row, kind, position, time = row[order], kind[order], position[order], time[order]
        stamp = learnt_before[position]
        answered = state.n_learnt + stamp >= self.n_warmup
        weight = events.weight[learns]
        return DelayedOperations(
            learn_rows=events.row[learns],
            weight=None if (weight == 1).all() else weight,
            ask_rows=row[answered],
            stamp=stamp[answered],
            groups=_groups(kind[answered], position[answered]),
            settled=state.next_row + len(arrived),
            asked=Asked(row, kind, time, answered),
            labelled=events,
            polls_per_label=np.bincount(poll_event, minlength=len(events)),
            labels_before=labels_before,
        )

    def _after(
        self, state: DelayedState, operations: DelayedOperations
    ) -> tuple[DelayedState, DelayedOperations]:
        assert operations.labelled is not None
        after = DelayedState(
            waiting=state.waiting,
            n_labels=state.n_labels + len(operations.labelled),
            n_learnt=state.n_learnt + len(operations.learn_rows),
            next_row=operations.settled,
        )
        return after, operations

    def _polls(
        self, born: np.ndarray, event_of: np.ndarray, n_labels: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions of rows polled and the events (from 0 in this step) at which they are.

        A row that arrived after c labels is polled at the labels number c, c + K, c + 2K, ...
        before its own. This is an arithmetic progression, so no event is examined twice.
        """
        if self.poll_every is None or not len(born):
            return _integers(), _integers()
        every = self.poll_every
        since = born - n_labels
        first = since if self.poll_at_zero else since + every
        first = np.where(first >= 0, first, first % every)
        count = np.maximum(0, -(-(event_of - first) // every))
        polled = np.repeat(np.arange(len(born)), count)
        nth = np.arange(len(polled)) - np.repeat(np.cumsum(count) - count, count)
        return polled, first[polled] + every * nth


def _labels_before(arrived: Waiting, events: Waiting) -> np.ndarray:
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
    if not len(kind):
        return np.zeros(1, dtype=np.int64)
    starts = np.flatnonzero(
        np.concatenate([[True], (kind[1:] == FIRST) | (np.diff(position) > 0)])
        | (kind == FIRST)
        | np.concatenate([[False], (kind[:-1] == FIRST)])
    )
    return np.append(starts, len(kind)).astype(np.int64)
