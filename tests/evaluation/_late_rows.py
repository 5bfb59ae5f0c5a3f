"""Rows whose labels come later, and live runs that get both in the order of time."""

import numpy as np


def stream_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.abs(rng.normal(size=(n, 3)))
    return rows, np.where(rows[:, 0] + rng.normal(size=n) * 0.3 > 0.8, "up", "down")


def times_of(n, seed=3, longest=30):
    rng = np.random.default_rng(seed)
    arrival = np.cumsum(rng.integers(0, 3, n)).astype(float)
    return arrival, arrival + rng.integers(0, longest, n)


def events_of(arrival, label_time):
    """Time, row, and whether it is the label, in the order of the batch call."""
    events = [(t, m, False) for m, t in enumerate(arrival)]
    return sorted(events + [(t, m, True) for m, t in enumerate(label_time) if np.isfinite(t)])


def go_on(run, events, rows, y, weight=None):
    for time, m, is_label in events:
        if is_label:
            w = None if weight is None else weight[m : m + 1]
            run.label([f"id {m}"], y[m : m + 1], time, sample_weight=w)
        else:
            run.ask(rows[m : m + 1], [f"id {m}"], time)
    return run
