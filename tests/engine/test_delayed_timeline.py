"""The delayed timeline against an event-by-event oracle with a heap, for any cutting."""

import heapq
import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.timelines.delayed import (
    FIRST,
    LAST,
    POLL,
    DatedArrivals,
    DelayedTimeline,
    Labels,
)
from skstream.core.timelines.timeline import End


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


def literal(arrival, label_time, learnable, poll_every, n_warmup, live=False):
    """Ask and learn event by event; nothing is clever here.

    Live, rows also wait if their label never comes.
    """
    events = [Event(a, m, False) for m, a in enumerate(arrival)]
    events += [Event(t, m, True) for m, t in enumerate(label_time) if np.isfinite(t)]
    heapq.heapify(events)
    waiting: dict[int, int] = {}
    questions, learns, labels = [], [], []

    answered = set()  # rows without a first answer are never asked, as they are not scored

    def ask(row, kind, time):
        if kind == FIRST and len(learns) >= n_warmup:
            answered.add(row)
        questions.append(Question(row, kind, time, len(learns), row in answered))

    while events:
        time, row, is_label = heapq.heappop(events)
        if not is_label:
            ask(row, FIRST, time)
            if live or np.isfinite(label_time[row]):
                waiting[row] = 0
            continue
        del waiting[row]
        labels.append(row)
        for other in sorted(waiting):
            seen = waiting[other]
            if poll_every and seen % poll_every == 0:
                ask(other, POLL, time)
            waiting[other] += 1
        ask(row, LAST, time)
        if learnable[row]:
            learns.append(row)
    return questions, learns, labels


class Record:
    """What a timeline asks for, over several steps."""

    def __init__(self):
        self.questions, self.learns, self.weights = [], [], []
        self.labels, self.groups, self.released = [], [], []

    def note(self, operations):
        before = len(self.learns)
        asked = operations.asked
        answered = iter(operations.stamp)
        bounds = [] if operations.groups is None else operations.groups.tolist()
        rows = operations.ask_rows.tolist()
        self.groups.extend(rows[b:e] for b, e in itertools.pairwise(bounds))
        self.learns.extend(operations.learn_rows.tolist())
        n_learns = len(operations.learn_rows)
        weight = np.ones(n_learns) if operations.weight is None else operations.weight
        self.weights.extend(weight.tolist())
        self.labels.extend(operations.labelled.row.tolist())
        self.released.extend(operations.released.tolist())
        for row, kind, time, ok in zip(
            asked.row, asked.kind, asked.time, asked.answered, strict=True
        ):
            stamp = before + int(next(answered)) if ok else None
            self.questions.append((int(row), int(kind), float(time), stamp, bool(ok)))
        assert next(answered, None) is None
        assert int(operations.polls_per_label.sum()) == int((asked.kind == POLL).sum())
        assert len(operations.polls_per_label) == len(operations.labelled)


def recorded(timeline, arrival, label_time, learnable, cuts):
    record, state = Record(), timeline.initial()
    bounds = [0, *sorted(set(cuts) - {0, len(arrival)}), len(arrival)]
    for b, e in itertools.pairwise(bounds):
        arrivals = DatedArrivals(
            b,
            np.asarray(learnable[b:e], dtype=bool),
            None,
            arrival=np.asarray(arrival[b:e], dtype=float),
            label_time=np.asarray(label_time[b:e], dtype=float),
            expected=np.isfinite(label_time[b:e]),
        )
        state, operations = timeline.step(state, arrivals)
        record.note(operations)
    state, operations = timeline.step(state, End())
    record.note(operations)
    assert len(state.pending) == 0
    return record


def recorded_live(timeline, arrival, label_time, weight, dated, together):
    """Rows arrive, and labels are given, in calls of one or several; some come by themselves."""
    events = [Event(a, m, False) for m, a in enumerate(arrival)]
    events += [Event(t, m, True) for m, t in enumerate(label_time) if np.isfinite(t)]
    # A call brings all labels that are due by its time: others of that time belong to it.
    due = {t for t, is_dated in zip(label_time, dated, strict=True) if is_dated}
    calls = []
    for event in sorted(events):
        if event.is_label and dated[event.row]:
            continue
        wanted = together[event.row] or (event.is_label and event.time in due)
        joins = calls and wanted and calls[-1][0].is_label == event.is_label
        if joins and (not event.is_label or calls[-1][0].time == event.time):
            calls[-1].append(event)
        else:
            calls.append([event])
    record, state = Record(), timeline.initial()
    for call in calls:
        rows = np.array([event.row for event in call])
        if call[0].is_label:
            w = np.array([weight[row] for row in rows])
            state, operations = timeline.step(state, Labels(rows, call[0].time, w))
        else:
            times = np.array([label_time[row] if dated[row] else np.inf for row in rows])
            arrivals = DatedArrivals(
                rows[0],
                np.array([dated[row] and weight[row] > 0 for row in rows]),
                np.array([weight[row] if dated[row] else 1.0 for row in rows]),
                arrival=np.array([event.time for event in call]),
                label_time=times,
                expected=np.ones(len(rows), dtype=bool),
            )
            state, operations = timeline.step(state, arrivals)
        record.note(operations)
    state, operations = timeline.step(state, End())
    record.note(operations)
    assert state.pending.numbers().tolist() == np.flatnonzero(np.isinf(label_time)).tolist()
    return record


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


def as_asked(questions):
    return [
        (q.row, q.kind, q.time, q.learnt if q.answered else None, q.answered) for q in questions
    ]


@given(delayed_rows(), st.one_of(st.none(), st.integers(1, 5)), st.integers(1, 4))
def test_events_one_by_one(rows, poll_every, n_warmup):
    arrival, label_time, learnable, cuts = rows
    timeline = DelayedTimeline(n_warmup, poll_every)
    record = recorded(timeline, arrival, label_time, learnable, cuts)
    expected, expected_learns, expected_labels = literal(
        arrival, label_time, learnable, poll_every, n_warmup
    )
    assert record.learns == expected_learns
    assert record.labels == expected_labels
    assert sorted(record.released) == list(range(len(arrival)))
    assert record.questions == as_asked(expected)
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
    assert [len(call) for call in record.groups] == [len(call) for call in calls]
    assert record.groups == calls


@given(delayed_rows(), st.one_of(st.none(), st.integers(1, 5)), st.integers(1, 4), st.data())
def test_live_events_in_any_calls(rows, poll_every, n_warmup, data):
    arrival, label_time, learnable, _ = rows
    n = len(arrival)
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    some = data.draw(st.one_of(st.just([False] * n), flags))
    dated = [d and bool(np.isfinite(t)) for d, t in zip(some, label_time, strict=True)]
    together = data.draw(flags)
    weight = np.where(learnable, data.draw(st.sampled_from([1.0, 0.5])), 0.0)
    timeline = DelayedTimeline(n_warmup, poll_every)
    record = recorded_live(timeline, arrival, label_time, weight, dated, together)
    expected, expected_learns, expected_labels = literal(
        arrival, label_time, learnable, poll_every, n_warmup, live=True
    )
    assert record.learns == expected_learns
    assert record.weights == weight[expected_learns].tolist()
    assert record.labels == expected_labels
    assert sorted(record.released) == sorted(expected_labels)
    assert record.questions == as_asked(expected)
