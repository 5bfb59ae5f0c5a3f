"""Store of the answers to rows that wait for their label."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.engine.delayed import LAST, POLL, History
from skstream.engine.tape import has_answer
from skstream.evaluation.delayed._bins import Shown, answers_by_bin


class Ledger:
    """Keeps one model's answers to waiting rows; gives one answer per bin when a label comes.

    Parameters
    ----------
    n_bins : int
        Number of bins between arrival and label.
    n_classes : int or None
        Number of classes; None for regression.
    """

    def __init__(self, n_bins: int, n_classes: int | None):
        self._n_bins = n_bins
        self._n_classes = n_classes
        self._nothing: Any = np.nan if n_classes is None else -1
        self._dtype: Any = np.float64 if n_classes is None else np.int64
        self._held = Answers(
            np.empty(0, dtype=np.int64),
            np.empty(0),
            np.empty(0, dtype=self._dtype),
            np.empty(0, dtype=bool),
        )

    @property
    def n_held(self) -> int:
        """Number of answers to rows that wait."""
        return len(self._held.row)

    def look_up(
        self, history: History, given: np.ndarray, reduce: str | Callable[..., Any]
    ) -> tuple[np.ndarray, "Answers"]:
        """Find the answers to the rows whose label came; nothing changes until `keep`.

        Parameters
        ----------
        history : History
            What happened since the last call.
        given : ndarray of shape (n_answered,)
            Answers to the questions that were not too early.
        reduce : str or callable
            How the answers shown within a bin become one.

        Returns
        -------
        answers : ndarray of shape (n_labelled, n_bins + 2)
            First answer, one per bin, and the last (test-then-train); all -1 or NaN where the
            first was given too early, or the last is missing because the model had failed.
        left : Answers
            Answers to the rows that still wait.
        """
        asked, labelled = history.asked, history.labelled
        answers = np.full(len(asked.row), self._nothing, dtype=self._dtype)
        answers[asked.answered] = given
        last = answers[asked.kind == LAST]
        shown = asked.kind != LAST
        held = self._held
        row = np.concatenate([held.row, asked.row[shown]])
        time = np.concatenate([held.time, asked.time[shown]])
        answer = np.concatenate([held.answer, answers[shown]])
        is_poll = np.concatenate([held.is_poll, asked.kind[shown] == POLL])

        n_labelled = len(labelled)
        by_row = np.argsort(labelled.row)
        sorted_rows = labelled.row[by_row]
        at = np.searchsorted(sorted_rows, row)
        settled = np.zeros(len(row), dtype=bool)
        inside = at < n_labelled
        settled[inside] = sorted_rows[at[inside]] == row[inside]
        position = by_row[at[settled]]
        order = np.argsort(position, kind="stable")
        position = position[order]
        shown_answers = answer[settled][order]
        since = time[settled][order] - labelled.arrival[position]
        is_first = ~is_poll[settled][order]

        wait = Shown(position, since, shown_answers, labelled.label_time - labelled.arrival)
        table = np.empty((n_labelled, self._n_bins + 2), dtype=self._dtype)
        table[:, 0] = shown_answers[is_first]
        table[:, -1] = last
        scored = has_answer(table[:, 0]) & has_answer(table[:, -1])
        table[:, 1:-1] = answers_by_bin(wait, self._n_bins, reduce, self._n_classes, scored)
        table[~scored] = self._nothing
        kept = ~settled & _among(row, history.waiting)
        return table, Answers(row[kept], time[kept], answer[kept], is_poll[kept])

    def keep(self, left: "Answers") -> None:
        """Replace the stored answers by those that `look_up` has left."""
        self._held = left


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to rows that wait: number of the row, time, answer, and whether it was a poll."""

    row: np.ndarray
    time: np.ndarray
    answer: np.ndarray
    is_poll: np.ndarray


def _among(rows: np.ndarray, waiting: np.ndarray) -> np.ndarray:
    """Which rows are among the waiting rows, ascending."""
    if not len(waiting):
        return np.zeros(len(rows), dtype=bool)
    at = np.minimum(np.searchsorted(waiting, rows), len(waiting) - 1)
    among: np.ndarray = waiting[at] == rows
    return among
