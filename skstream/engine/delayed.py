"""Timeline of delayed labels: ask at arrival, while waiting, and when the label comes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skstream.engine.timeline import Arrivals, Operations

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
        Whether a label may still come. A row known to get none is asked once and forgotten.
    """

    arrival: np.ndarray = field(default_factory=_integers)
    label_time: np.ndarray = field(default_factory=_integers)
    expected: np.ndarray = field(default_factory=_integers)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that wait for their label, in the order of their numbers.

    Attributes
    ----------
    row, arrival, label_time : ndarray of shape (n_waiting,)
        Number, arrival and time of the label (infinite: not known yet).
    born : ndarray of shape (n_waiting,), dtype int64
        How many labels had come before the row arrived.
    learnable : ndarray of shape (n_waiting,), dtype bool
        Whether it will be learnt: it has a label and a positive weight.
    weight : ndarray of shape (n_waiting,), dtype float64
        The user's weights.
    """

    row: np.ndarray
    arrival: np.ndarray
    label_time: np.ndarray
    born: np.ndarray
    learnable: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def take(self, index: np.ndarray) -> "Waiting":
        """Rows at positions, or where a mask is true."""
        return Waiting(
            self.row[index],
            self.arrival[index],
            self.label_time[index],
            self.born[index],
            self.learnable[index],
            self.weight[index],
        )

    def followed_by(self, *others: "Waiting") -> "Waiting":
        """These rows, then others."""
        parts = [self, *(other for other in others if len(other))]
        if len(parts) == 1:
            return self
        return Waiting(
            np.concatenate([part.row for part in parts]),
            np.concatenate([part.arrival for part in parts]),
            np.concatenate([part.label_time for part in parts]),
            np.concatenate([part.born for part in parts]),
            np.concatenate([part.learnable for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class DelayedState:
    """Progress of a delayed timeline: waiting rows, and counts of labels come and learnt."""

    waiting: Waiting
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
    """Operations of a delayed timeline, and what the scores need to know of them.

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
    """What happened in consecutive steps: attributes as those of `DelayedOperations`.

    `waiting` are the rows that wait in the end.
    """

    asked: Asked
    labelled: Waiting
    polls_per_label: np.ndarray
    labels_before: np.ndarray
    waiting: np.ndarray


def history_of(steps: Sequence[DelayedOperations]) -> History:
    """Put consecutive steps together, as if they had been one."""
    asked = [step.asked for step in steps if step.asked is not None]
    labelled = [step.labelled for step in steps if step.labelled is not None]
    n_before = np.cumsum([0, *(len(rows) for rows in labelled)])
    return History(
        asked=Asked(
            np.concatenate([part.row for part in asked]),
            np.concatenate([part.kind for part in asked]),
            np.concatenate([part.time for part in asked]),
            np.concatenate([part.answered for part in asked]),
        ),
        labelled=labelled[0].followed_by(*labelled[1:]),
        polls_per_label=np.concatenate([step.polls_per_label for step in steps]),
        labels_before=np.concatenate(
            [step.labels_before + n for step, n in zip(steps, n_before[:-1], strict=True)]
        ),
        waiting=steps[-1].waiting,
    )


@dataclass(frozen=True, slots=True)
class DelayedTimeline:
    """Continuous re-evaluation under delayed labels (Grzenda, Gomes & Bifet 2020).

    Events come in the order of their time, then of their row, arrival before label. A row that
    arrives is asked. A label that comes has its row asked a last time, then every waiting row
    asked again for which the number of labels since its arrival is a multiple of
    `poll_every`; then it is learnt. So no answer knows the label that caused it.

    Parameters
    ----------
    n_warmup : int
        Labels learnt before anything is asked.
    poll_every : int or None
        Labels between two polls of a waiting row; None: no polls.
    poll_at_zero : bool
        Whether the first label after its arrival has a row asked again.
    """

    n_warmup: int = 1
    poll_every: int | None = None
    poll_at_zero: bool = True

    def initial(self) -> DelayedState:
        """Return the state before the first row."""
        none = _integers()
        empty = Waiting(none, none, none, none, none.astype(bool), none.astype(np.float64))
        return DelayedState(empty)

    def step(self, state: DelayedState, arrivals: Any) -> tuple[DelayedState, DelayedOperations]:
        """Let rows arrive, and all labels come that are due before any later arrival."""
        rows = arrivals.first_row + np.arange(arrivals.n_rows)
        weight = np.ones(len(rows)) if arrivals.weight is None else arrivals.weight
        arrived = Waiting(
            rows,
            arrivals.arrival,
            arrivals.label_time,
            np.zeros(len(rows), dtype=np.int64),
            arrivals.learnable,
            weight,
        )
        horizon = arrivals.arrival[-1] if len(rows) else None
        return self._advance(state, arrived, arrivals.expected, horizon)

    def label(
        self, state: DelayedState, rows: np.ndarray, time: Any, learnable: np.ndarray
    ) -> tuple[DelayedState, DelayedOperations]:
        """Let labels of waiting rows come, one after the other, at one time."""
        waiting = state.waiting
        at = np.searchsorted(waiting.row, rows)
        label_time = waiting.label_time.copy()
        label_time[at] = time
        known = waiting.learnable.copy()
        known[at] = learnable
        state = replace(state, waiting=replace(waiting, label_time=label_time, learnable=known))
        nobody = self.initial().waiting
        return self._advance(state, nobody, np.empty(0, dtype=bool), time)

    def drop(self, state: DelayedState, rows: np.ndarray) -> DelayedState:
        """Forget waiting rows."""
        return replace(state, waiting=state.waiting.take(~np.isin(state.waiting.row, rows)))

    def close(self, state: DelayedState) -> tuple[DelayedState, DelayedOperations]:
        """Let all labels come whose time is known."""
        nobody = self.initial().waiting
        return self._advance(state, nobody, np.empty(0, dtype=bool), np.inf)

    def _advance(
        self, state: DelayedState, arrived: Waiting, expected: np.ndarray, horizon: Any
    ) -> tuple[DelayedState, DelayedOperations]:
        candidates = state.waiting.followed_by(arrived.take(expected))
        due = np.isfinite(candidates.label_time)
        if horizon is not None:
            due &= candidates.label_time <= horizon
        else:
            due[:] = False
        if not due.any():
            return self._only_ask(state, arrived, expected)
        events = candidates.take(due)
        events = events.take(np.lexsort((events.row, events.label_time)))
        labels_before = _labels_before(arrived, events)
        arrived = replace(arrived, born=state.n_labels + labels_before)
        waiting = state.waiting.followed_by(arrived.take(expected))
        learns = events.learnable
        learnt_before = np.concatenate([[0], np.cumsum(learns)]).astype(np.int64)
        event_of = np.full(len(waiting), len(events), dtype=np.int64)
        event_of[np.searchsorted(waiting.row, events.row)] = np.arange(len(events))

        polled, poll_event = self._polls(waiting, event_of, state.n_labels)
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
        operations = DelayedOperations(
            learn_rows=events.row[learns],
            weight=None if (weight == 1).all() else weight,
            ask_rows=row[answered],
            stamp=stamp[answered],
            groups=_groups(kind[answered], position[answered]),
            waiting=waiting.row[event_of == len(events)],
            settled=state.next_row + len(arrived),
            asked=Asked(row, kind, time, answered),
            labelled=events,
            polls_per_label=np.bincount(poll_event, minlength=len(events)),
            labels_before=labels_before,
        )
        state = DelayedState(
            waiting=waiting.take(event_of == len(events)),
            n_labels=state.n_labels + len(events),
            n_learnt=state.n_learnt + int(learnt_before[-1]),
            next_row=state.next_row + len(arrived),
        )
        return state, operations

    def _only_ask(
        self, state: DelayedState, arrived: Waiting, expected: np.ndarray
    ) -> tuple[DelayedState, DelayedOperations]:
        """Let rows arrive while no label comes: half of the events of a live run."""
        n, nobody = len(arrived), _integers()
        arrived = replace(arrived, born=np.full(n, state.n_labels))
        waiting = state.waiting.followed_by(arrived.take(expected))
        answered = np.full(n, state.n_learnt >= self.n_warmup)
        asked_rows = arrived.row[answered]
        operations = DelayedOperations(
            learn_rows=nobody,
            weight=None,
            ask_rows=asked_rows,
            stamp=np.zeros(len(asked_rows), dtype=np.int64),
            groups=np.arange(len(asked_rows) + 1),
            waiting=waiting.row,
            settled=state.next_row + n,
            asked=Asked(arrived.row, np.full(n, FIRST, dtype=np.int8), arrived.arrival, answered),
            labelled=arrived.take(np.empty(0, dtype=np.intp)),
            polls_per_label=nobody,
            labels_before=np.zeros(n, dtype=np.int64),
        )
        return replace(state, waiting=waiting, next_row=state.next_row + n), operations

    def _polls(
        self, waiting: Waiting, event_of: np.ndarray, n_labels: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows polled and the events (from 0 in this step) at which they are.

        A row born after c labels is polled at the labels number c, c + K, c + 2K, ... that
        come before its own: an arithmetic progression, so no event is looked at twice.
        """
        if self.poll_every is None or not len(waiting):
            return _integers(), _integers()
        every = self.poll_every
        born = waiting.born - n_labels
        first = born if self.poll_at_zero else born + every
        first = np.where(first >= 0, first, first % every)
        count = np.maximum(0, -(-(event_of - first) // every))
        polled = np.repeat(np.arange(len(waiting)), count)
        nth = np.arange(len(polled)) - np.repeat(np.cumsum(count) - count, count)
        return waiting.row[polled], first[polled] + every * nth


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
