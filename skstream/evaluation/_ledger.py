"""Answers given to rows that wait for their label, until it comes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstream.engine.delayed import LAST, POLL, History
from skstream.engine.tape import has_answer
from skstream.evaluation._bins import Shown, answers_by_bin


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
        self._row = np.empty(0, dtype=np.int64)
        self._time = np.empty(0)
        self._answer = np.empty(0, dtype=self._dtype)
        self._is_poll = np.empty(0, dtype=bool)

    @property
    def n_held(self) -> int:
        """Number of answers to rows that wait."""
        return len(self._row)

    def settle(
        self, history: History, given: np.ndarray, reduce: str | Callable[..., Any]
    ) -> np.ndarray:
        """Take in answers; return those to the rows whose label came.

        Parameters
        ----------
        history : History
            What happened since the last time.
        given : ndarray of shape (n_answered,)
            Answers to the questions that were not too early.
        reduce : str or callable
            How the answers shown within a bin become one.

        Returns
        -------
        answers : ndarray of shape (n_labelled, n_bins + 2)
            First answer, one per bin, and the last (test-then-train); all -1 or NaN where the
            first was given too early, or the last is missing because the model had failed.
        """
        asked, labelled = history.asked, history.labelled
        answers = np.full(len(asked.row), self._nothing, dtype=self._dtype)
        answers[asked.answered] = given
        last = answers[asked.kind == LAST]
        shown = asked.kind != LAST
        self._row = np.concatenate([self._row, asked.row[shown]])
        self._time = np.concatenate([self._time, asked.time[shown]])
        self._answer = np.concatenate([self._answer, answers[shown]])
        self._is_poll = np.concatenate([self._is_poll, asked.kind[shown] == POLL])

        n_labelled = len(labelled)
        by_row = np.argsort(labelled.row)
        sorted_rows = labelled.row[by_row]
        at = np.searchsorted(sorted_rows, self._row)
        settled = np.zeros(len(self._row), dtype=bool)
        inside = at < n_labelled
        settled[inside] = sorted_rows[at[inside]] == self._row[inside]
        position = by_row[at[settled]]
        order = np.argsort(position, kind="stable")
        position = position[order]
        shown_answers = self._answer[settled][order]
        since = self._time[settled][order] - labelled.arrival[position]
        is_first = ~self._is_poll[settled][order]
        self._forget(settled, history.waiting)

        wait = Shown(position, since, shown_answers, labelled.label_time - labelled.arrival)
        table = np.empty((n_labelled, self._n_bins + 2), dtype=self._dtype)
        table[:, 0] = shown_answers[is_first]
        table[:, 1:-1] = answers_by_bin(wait, self._n_bins, reduce, self._n_classes)
        table[:, -1] = last
        table[~(has_answer(table[:, 0]) & has_answer(table[:, -1]))] = self._nothing
        return table

    def _forget(self, settled: np.ndarray, waiting: np.ndarray) -> None:
        """Drop the answers to rows that have their label, or will never get one."""
        keep = ~settled
        at = np.minimum(np.searchsorted(waiting, self._row), max(0, len(waiting) - 1))
        keep &= waiting[at] == self._row if len(waiting) else False
        self._row, self._time = self._row[keep], self._time[keep]
        self._answer, self._is_poll = self._answer[keep], self._is_poll[keep]
