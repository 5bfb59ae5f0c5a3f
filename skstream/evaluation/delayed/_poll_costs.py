"""Costs of continuous re-evaluation: periodic answers per event, in memory, and per row."""

import numpy as np

from skstream.engine.delayed import POLL, History
from skstream.utils._checkpoints import CheckpointRecorder

#: Events over which recent periodic answers are counted (Grzenda et al. 2020, Section 5).
RECENT_EVENTS = 100


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
        self._rows = np.empty(0, dtype=np.int64)
        self._polls_of_row = np.empty(0, dtype=np.int64)
        self._recent_event = np.empty(0, dtype=np.int64)
        self._recent_polls = np.empty(0, dtype=np.int64)
        self._recorder = CheckpointRecorder(3)

    def follow(self, history: History) -> None:
        """Add what happened since the last call."""
        asked, labelled = history.asked, history.labelled
        n = len(labelled)
        n_arrived = len(history.labels_before)
        # Arrivals between the labels: those with at most j labels before them precede label j.
        arrivals_before = np.searchsorted(history.labels_before, np.arange(n), side="right")
        event = self._n_events + arrivals_before + np.arange(n)
        polls = history.polls_per_label
        n_events = self._n_events + n + n_arrived
        recent = self._recent(event, polls, n_events)
        dropped = self._polls_of(asked.row[asked.kind == POLL], labelled.row, history.waiting)
        held = self._in_memory + np.cumsum(polls) - np.cumsum(dropped)
        labels = self.n_labels + 1 + np.arange(n)
        total = self.n_polls + np.cumsum(polls)
        if n:
            self._recorder.follow(self.n_labels, recent, held, total / labels)
            self.n_polls = int(total[-1])
        self._in_memory = int(self._polls_of_row.sum())  # without those of dropped rows
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

    def _polls_of(
        self, polled: np.ndarray, labelled: np.ndarray, waiting: np.ndarray
    ) -> np.ndarray:
        """Polls that each labelled row has had; those of waiting rows are kept for later."""
        rows = np.unique(np.concatenate([self._rows, polled, labelled]))
        counts = np.bincount(np.searchsorted(rows, polled), minlength=len(rows))
        counts[np.searchsorted(rows, self._rows)] += self._polls_of_row
        had = counts[np.searchsorted(rows, labelled)]
        kept = np.isin(rows, waiting)
        self._rows, self._polls_of_row = rows[kept], counts[kept]
        return had

    def curves(self) -> dict[str, np.ndarray]:
        """Return NC, NB and NR (periodic answers recent, in memory, per row) by labels."""
        n_labels, (recent, held, per_row) = self._recorder.curves()
        return {"n_labels": n_labels.astype(float), "NC": recent, "NB": held, "NR": per_row}
