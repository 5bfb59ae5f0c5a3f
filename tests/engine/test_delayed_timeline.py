"""The delayed timeline against an event-by-event oracle with a heap, for any cutting."""

import heapq
import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skstream.engine.delayed import FIRST, LAST, POLL, DatedArrivals, DelayedTimeline


class Question(NamedTuple):
    row: int
    kind: int
    time: float
    learnt: int
    answered: bool


class Event(NamedTuple):
    time: float
    row: int
    is_label: bool


def literal(arrival, label_time, learnable, poll_every, poll_at_zero, n_warmup):
    """Ask and learn event by event; nothing is clever here."""
    events = [Event(a, m, False) for m, a in enumerate(arrival)]
    events += [Event(t, m, True) for m, t in enumerate(label_time) if np.isfinite(t)]
    heapq.heapify(events)
    waiting: dict[int, int] = {}
    questions, learns, labels = [], [], []

    def ask(row, kind, time):
        questions.append(Question(row, kind, time, len(learns), len(learns) >= n_warmup))

    while events:
        time, row, is_label = heapq.heappop(events)
        if not is_label:
            ask(row, FIRST, time)
            if np.isfinite(label_time[row]):
                waiting[row] = 0
            continue
        del waiting[row]
        labels.append(row)
        for other in sorted(waiting):
            seen = waiting[other]
            if poll_every and seen % poll_every == 0 and (seen > 0 or poll_at_zero):
                ask(other, POLL, time)
            waiting[other] += 1
        ask(row, LAST, time)
        if learnable[row]:
            learns.append(row)
    return questions, learns, labels


def recorded(timeline, arrival, label_time, learnable, cuts):
    questions, learns, labels, state = [], [], [], timeline.initial()
    groups = []

    def note(operations):
        before = len(learns)
        asked = operations.asked
        answered = iter(operations.stamp)
        bounds = [] if operations.groups is None else operations.groups.tolist()
        rows = operations.ask_rows.tolist()
        groups.extend(rows[b:e] for b, e in itertools.pairwise(bounds))
        learns.extend(operations.learn_rows.tolist())
        labels.extend(operations.labelled.row.tolist())
        for row, kind, time, ok in zip(
            asked.row, asked.kind, asked.time, asked.answered, strict=True
        ):
            stamp = before + int(next(answered)) if ok else None
            questions.append((int(row), int(kind), float(time), stamp, bool(ok)))
        assert int(operations.polls_per_label.sum()) == int((asked.kind == POLL).sum())

    bounds = [0, *sorted(set(cuts) - {0, len(arrival)}), len(arrival)]
    for b, e in itertools.pairwise(bounds):
        arrivals = DatedArrivals(
            b,
            np.asarray(learnable[b:e], dtype=bool),
            None,
            np.asarray(arrival[b:e], dtype=float),
            np.asarray(label_time[b:e], dtype=float),
            np.isfinite(label_time[b:e]),
        )
        state, operations = timeline.step(state, arrivals)
        note(operations)
    state, operations = timeline.close(state)
    note(operations)
    assert len(state.waiting) == 0
    return questions, learns, labels, groups


@st.composite
def delayed_rows(draw):
    n = draw(st.integers(1, 30))
    gaps = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    arrival = np.cumsum(gaps).astype(float)
    delays = draw(
        st.lists(st.one_of(st.integers(0, 12), st.just(np.inf)).map(float), min_size=n, max_size=n)
    )
    learnable = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    cuts = draw(st.lists(st.integers(0, n), max_size=5))
    return arrival, arrival + np.asarray(delays), learnable, cuts


@given(
    delayed_rows(),
    st.one_of(st.none(), st.integers(1, 5)),
    st.booleans(),
    st.integers(1, 4),
)
def test_events_one_by_one(rows, poll_every, poll_at_zero, n_warmup):
    arrival, label_time, learnable, cuts = rows
    timeline = DelayedTimeline(n_warmup, poll_every, poll_at_zero)
    questions, learns, labels, groups = recorded(timeline, arrival, label_time, learnable, cuts)
    expected, expected_learns, expected_labels = literal(
        arrival, label_time, learnable, poll_every, poll_at_zero, n_warmup
    )
    assert learns == expected_learns
    assert labels == expected_labels
    assert questions == [
        (q.row, q.kind, q.time, q.learnt if q.answered else None, q.answered) for q in expected
    ]
    # Questions of one label share a call; an arrival is asked alone.
    calls = []
    last = None
    for q in expected:
        if q.answered:
            if q.kind == FIRST or last is None:
                calls.append([q.row])
            else:
                calls[-1].append(q.row) if last == "label" else calls.append([q.row])
        last = None if q.kind == FIRST else ("end" if q.kind == LAST else "label")
        if q.answered and q.kind == FIRST:
            last = None
        if not q.answered:
            last = None
    assert [len(call) for call in groups] == [len(call) for call in calls]
    assert groups == calls
