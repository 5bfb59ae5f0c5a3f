"""Literal oracles: the protocols, one row at a time, as one would write them down."""

import itertools
from typing import NamedTuple

import numpy as np


class Ask(NamedTuple):
    """A question: which row, after how many learns."""

    row: int
    learnt: int


class Learn(NamedTuple):
    """A learn: which row, with which weight, in which partial_fit."""

    row: int
    weight: float
    call: int


def prequential(labelled, weight, n_warmup, batch_size, close):
    """Events of a prequential run over rows, in order."""
    asks, learns = [], []
    warm, call = 0, 0
    batch = []

    def learn(rows):
        nonlocal call
        rows = [row for row in rows if labelled[row] and weight[row] > 0]
        learns.extend(Learn(row, weight[row], call) for row in rows)
        call += bool(rows)

    for row in range(len(labelled)):
        batch.append(row)
        if warm < n_warmup:
            warm += bool(labelled[row] and weight[row] > 0)
            if batch_size == 1 or warm == n_warmup:
                learn(batch)
                batch = []
            continue
        if len(batch) == batch_size:
            asks += [Ask(r, len(learns)) for r in batch]
            learn(batch)
            batch = []
    settled = len(labelled) - len(batch)
    if close and batch:
        if warm == n_warmup:
            asks += [Ask(r, len(learns)) for r in batch]
        learn(batch)
        settled = len(labelled)
    return asks, learns, settled


def folds(labelled, weight, fold_weight, test_on, n_warmup):
    """Events of one fold over rows, given its learning weights."""
    asks, learns = [], []
    warm = 0
    for row in range(len(labelled)):
        learnable = labelled[row] and weight[row] > 0
        if warm < n_warmup:
            if learnable:
                learns.append(Learn(row, weight[row], len(learns)))
                warm += 1
            continue
        w = fold_weight[row]
        if {"held_out": w == 0, "trained": w > 0, "all": True}[test_on]:
            asks.append(Ask(row, len(learns)))
        if learnable and w > 0:
            learns.append(Learn(row, weight[row] * w, len(learns)))
    return asks, learns


def recorded(timeline, labelled, weight, cuts, close=True):
    """Events that a timeline gives for the same rows, cut into pieces at `cuts`."""
    from skstream.core.timelines.timeline import Arrivals, End

    asks, learns = [], []
    state, call, settled = timeline.initial(), 0, 0
    bounds = [0, *sorted(set(cuts) - {0, len(labelled)}), len(labelled)]
    steps = []
    for begin, end in itertools.pairwise(bounds):
        piece = Arrivals(
            begin,
            np.asarray(labelled[begin:end], dtype=bool),
            None if weight is None else np.asarray(weight[begin:end], dtype=float),
        )
        state, operations = timeline.step(state, piece)
        steps.append((end, operations))
    if close:
        state, operations = timeline.step(state, End())
        steps.append((len(labelled), operations))
    for _, operations in steps:
        before = len(learns)
        assert (np.diff(operations.stamp) >= 0).all()
        asks += [
            Ask(int(r), before + int(s))
            for r, s in zip(operations.ask_rows, operations.stamp, strict=True)
        ]
        n = len(operations.learn_rows)
        batches = np.arange(n + 1) if operations.batches is None else operations.batches
        w = np.ones(n) if operations.weight is None else operations.weight
        for one, (b, e) in enumerate(itertools.pairwise(batches)):
            learns.extend(
                Learn(int(operations.learn_rows[k]), float(w[k]), call + one) for k in range(b, e)
            )
        call += len(batches) - 1
        settled = operations.settled
    return asks, learns, settled
