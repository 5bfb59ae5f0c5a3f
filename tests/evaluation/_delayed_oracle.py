"""Continuous re-evaluation, event by event, in exact fractions."""

import heapq
from fractions import Fraction
from typing import NamedTuple

import numpy as np


class Event(NamedTuple):
    time: float
    row: int
    is_label: bool


def evaluate(
    model, X, y, arrival, label_time, *, classes, n_bins, poll_every, reduce, chained=False
):
    """Answers by bin of every labelled row in label order, and how many polls were made.

    `chained`: a row is asked in one call with the rows before it that are not learnt yet, or
    never.
    """
    events = [Event(t, m, False) for m, t in enumerate(arrival)]
    events += [Event(t, m, True) for m, t in enumerate(label_time) if np.isfinite(t)]
    heapq.heapify(events)
    shown, waiting, never, order, table = {}, {}, [], [], []
    learnt, n_polls = 0, 0

    def ask(row, *not_learnt):
        unlabelled = {*waiting, *never, *not_learnt}
        before = [other for other in unlabelled if chained and other < row]
        return model.predict(X[[*sorted(before), row]])[-1] if learnt else None

    while events:
        time, row, is_label = heapq.heappop(events)
        if not is_label:
            answer = ask(row)
            if np.isfinite(label_time[row]):
                shown[row] = [(time, answer)]
                waiting[row] = 0
            else:
                never.append(row)
            continue
        last = ask(row)
        del waiting[row]
        order.append(row)
        answers = shown.pop(row)
        if answers[0][1] is None:
            table.append([None] * (n_bins + 2))
        else:
            bins = by_bin(answers, arrival[row], time, n_bins, reduce)
            table.append([answers[0][1], *bins, last])
        for other in sorted(waiting):
            seen = waiting[other]
            if poll_every and seen % poll_every == 0:
                n_polls += 1
                answer = ask(other, row)
                shown[other].append((time, answer))
            waiting[other] += 1
        known = {"classes": classes} if not learnt and classes is not None else {}
        model.partial_fit(X[row : row + 1], y[row : row + 1], **known)
        learnt += 1
    return order, table, n_polls


def by_bin(answers, begin, end, n_bins, reduce):
    """One row, as the paper says it, in exact fractions."""
    begin = Fraction(begin)  # a float would make the bounds of the bins floats, and break ties
    delay = Fraction(end) - begin
    if delay == 0:
        return [answers[-1][1]] * n_bins
    ends = [time for time, _ in answers[1:]] + [end]
    reduced = []
    for b in range(1, n_bins + 1):
        lo, hi = begin + delay * (b - 1) / n_bins, begin + delay * b / n_bins
        held = {}
        for (since, answer), until in zip(answers, ends, strict=True):
            time = min(Fraction(until), hi) - max(Fraction(since), lo)
            if time > 0:
                held[answer] = held.get(answer, 0) + time
        if reduce == "dominant":
            reduced.append(min(held, key=lambda answer: (-held[answer], answer)))
        else:
            reduced.append(float(sum(Fraction(a) * t for a, t in held.items()) / (hi - lo)))
    return reduced
