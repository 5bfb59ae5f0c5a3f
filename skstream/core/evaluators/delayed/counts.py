"""Counts under delayed labels: of rows, of how long labels take, and of answers asked again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from skstream.core.evaluators.delayed.clock import shown_duration
from skstream.core.measures.checkpoints import CheckpointRecorder
from skstream.core.rows.drifts import Drift, as_drifts
from skstream.core.timelines.delayed import History

#: Delays are counted in steps of this share of their size: whole numbers up to it exactly.
STEPS = 1 << 10
#: Events over which recent periodic answers are counted (Grzenda et al. 2020, Section 5).
RECENT_EVENTS = 100
_ALWAYS_SHOWN = ("n_labelled", "n_pending")


@dataclass(frozen=True, kw_only=True, repr=False)
class Waits:
    """Counts and costs of an evaluation under delayed labels.

    Those of a result that a failing model leaves end when the label of its last row came.

    Attributes
    ----------
    n_bins : int
        Bins between arrival and label.
    n_labelled : int
        Rows whose label came. With `n_pending`, `n_never` and `n_dropped` these are all rows.
    n_pending : int
        Rows that still wait; neither learnt nor scored.
    n_never : int
        Rows known to get no label: asked once, neither learnt nor scored.
    n_unanswered : int
        Those of the labelled rows that were asked before the models had learnt enough; unscored.
    n_dropped : int
        Rows of a live run dropped because too many waited.
    n_relabelled : int
        Labels of live rows that had one; they were left out.
    n_polls : int
        Periodic answers given, by every model.
    poll_costs : dict of str to ndarray of shape (n_points,)
        ``n_labels`` (labels so far) and, at these points, ``NC`` (periodic answers within the
        last 100 events), ``NB`` (periodic answers in memory) and ``NR`` (periodic answers per
        labelled row).
    delays : dict of str to (float or datetime.timedelta)
        ``mean``, ``median`` (to a thousandth of its size, never below the shortest) and ``max`` of
        the time from arrival to label of the labelled rows: numbers, or timedeltas where the times
        are datetimes; NaN where no label came.
    """

    n_bins: int
    n_labelled: int
    n_pending: int
    n_never: int
    n_unanswered: int
    n_dropped: int
    n_relabelled: int
    n_polls: int
    poll_costs: dict[str, np.ndarray]
    delays: dict[str, float | timedelta]

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{name}={count:,}"
            for name, count in vars(self).items()
            if name.startswith("n_") and name != "n_bins" and (count or name in _ALWAYS_SHOWN)
        )
        return f"Waits({counts}, delay: {self.delays_as_text()}; see delays, poll_costs)"

    def delays_as_text(self) -> str:
        """Mean, median and longest delay, in words."""
        return ", ".join(f"{name} {shown_duration(one)}" for name, one in self.delays.items())


class DelayCounts:
    """Mean, median and longest of the delays so far, in constant memory."""

    def __init__(self) -> None:
        self._n = 0
        self._total = 0.0
        self._shortest, self._longest = np.inf, 0.0
        self._value = np.empty(0)
        self._count = np.empty(0, dtype=np.int64)

    def add(self, delays: np.ndarray) -> None:
        """Add the delays of rows whose label came."""
        if not len(delays):
            return
        self._n += len(delays)
        self._total += float(delays.sum())
        self._shortest = min(self._shortest, float(delays.min()))
        self._longest = max(self._longest, float(delays.max()))
        mantissa, exponent = np.frexp(delays)
        rounded = np.ldexp(np.round(mantissa * STEPS), exponent) / STEPS
        self._value, inverse = np.unique(
            np.concatenate([self._value, rounded]), return_inverse=True
        )
        counts = np.concatenate([self._count, np.ones(len(rounded), dtype=np.int64)])
        self._count = np.bincount(inverse, weights=counts).astype(np.int64)

    def summary(self) -> dict[str, float]:
        """Return mean, median (the lower one; to a thousandth of its size) and maximum."""
        if not self._n:
            return dict.fromkeys(("mean", "median", "max"), float("nan"))
        middle = np.searchsorted(np.cumsum(self._count), (self._n + 1) // 2)
        return {
            "mean": self._total / self._n,
            "median": min(max(float(self._value[middle]), self._shortest), self._longest),
            "max": self._longest,
        }


class LabelledDrifts:
    """Where the truth changes in the order of labels, which may be another one than that of rows.

    Parameters
    ----------
    drifts : sequence of Drift
        Where the truth of the stream changes, in rows.
    """

    def __init__(self, drifts: Sequence[Drift]) -> None:
        rows = np.array(drifts, dtype=np.int64).reshape(-1, 2)
        self._start, self._end = rows.T  # in rows of the stream
        self._n_labels = 0
        self._first_later = np.full(len(rows), -1)  # label of a row from the start on
        self._last_earlier = np.zeros(len(rows), dtype=np.int64)  # labels up to it

    def add(self, rows: np.ndarray) -> None:
        """Add rows whose labels came, in that order."""
        if not len(rows):
            return
        n, start = self._n_labels, self._start
        if len(start):
            later = np.searchsorted(np.maximum.accumulate(rows), start)
            new = (self._first_later < 0) & (later < len(rows))
            self._first_later[new] = n + later[new]
            earlier = np.searchsorted(np.minimum.accumulate(rows[::-1])[::-1], self._end)
            self._last_earlier[earlier > 0] = n + earlier[earlier > 0]
        self._n_labels = n + len(rows)

    def known(self) -> tuple[Drift, ...]:
        """Return the drifts after which a label came, in labelled rows."""
        places = np.stack([self._first_later, np.maximum(self._first_later, self._last_earlier)])
        return as_drifts(places.T[(places[0] >= 0) & (places[1] > 0)])


class PollCosts:
    """Counts periodic answers along the stream, after every label or every few.

    Attributes
    ----------
    n_polls : int
        All periodic answers so far.
    n_labels : int
        All labels so far.
    """

    def __init__(self) -> None:
        self.n_polls = 0
        self.n_labels = 0
        self._n_events = 0
        self._in_memory = 0
        self._recent_event = np.empty(0, dtype=np.int64)
        self._recent_polls = np.empty(0, dtype=np.int64)
        self._recorder = CheckpointRecorder(3)

    def follow(self, history: History, gone: np.ndarray, n_held: int) -> None:
        """Add what happened since the last call.

        Parameters
        ----------
        history : History
            What happened.
        gone : ndarray of shape (n_labelled,), dtype int64
            Periodic answers that each label let be forgotten: those to its row, and those to rows
            dropped since the label before.
        n_held : int
            Periodic answers still kept.
        """
        n, n_arrived = len(history.labelled), len(history.labels_before)
        # Arrivals between the labels: those with at most j labels before them precede label j.
        arrivals_before = np.searchsorted(history.labels_before, np.arange(n), side="right")
        event = self._n_events + arrivals_before + np.arange(n)
        polls = history.polls_per_label
        n_events = self._n_events + n + n_arrived
        recent = self._recent(event, polls, n_events)
        held = self._in_memory + np.cumsum(polls) - np.cumsum(gone)
        labels = self.n_labels + 1 + np.arange(n)
        total = self.n_polls + np.cumsum(polls)
        if n:
            self._recorder.follow(recent, held, total / labels)
            self.n_polls = int(total[-1])
        self._in_memory = n_held
        self.n_labels += n
        self._n_events = n_events

    def _recent(self, event: np.ndarray, polls: np.ndarray, n_events: int) -> np.ndarray:
        """Polls within the last events, after each label."""
        events = np.concatenate([self._recent_event, event])
        counts = np.concatenate([self._recent_polls, polls])
        summed = np.concatenate([[0], np.cumsum(counts)])
        end = len(self._recent_event) + 1 + np.arange(len(event))
        begin = np.searchsorted(events, event - RECENT_EVENTS + 1)
        kept = events > n_events - RECENT_EVENTS
        self._recent_event, self._recent_polls = events[kept], counts[kept]
        recent: np.ndarray = summed[end] - summed[begin]
        return recent

    def curves(self) -> dict[str, np.ndarray]:
        """Return NC, NB and NR (periodic answers recent, in memory, per row) by labels."""
        n_labels, (recent, held, per_row) = self._recorder.curves()
        return {"n_labels": n_labels.astype(float), "NC": recent, "NB": held, "NR": per_row}
