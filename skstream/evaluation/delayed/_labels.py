"""Store of the labels of rows that wait to be scored."""

from copy import copy
from typing import Any

import numpy as np

from skstream.engine.delayed import History


class WaitingLabels:
    """Labels of waiting rows, and for each the newest label known when it arrived."""

    def __init__(self, regression: bool):
        self._nothing: Any = np.nan if regression else -1
        dtype: Any = np.float64 if regression else np.int64
        self._rows = np.empty(0, dtype=np.int64)
        self._y = np.empty(0, dtype=dtype)
        self._known = np.empty(0, dtype=dtype)
        self._newest = np.full(1, self._nothing, dtype=dtype)
        # New rows since rows were last settled: a live run has one array per call.
        self._arrived: list[tuple[int, np.ndarray]] = []
        self._labelled: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, first_row: int, y: np.ndarray) -> None:
        """Add consecutive rows that arrived."""
        self._arrived.append((first_row, y))

    def label(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give rows their labels."""
        self._labelled.append((rows, y))

    def look_up(self, history: History) -> tuple[np.ndarray, np.ndarray, "WaitingLabels"]:
        """Find labels, and newest labels known at arrival, of rows whose label came.

        This changes nothing: the labels of the remaining rows are returned too, to be stored later.
        """
        self._take_in()
        labelled = history.labelled
        at = np.searchsorted(self._rows, labelled.row)
        y = self._y[at]
        # The newest label before each event: rows of weight 0 are as absent.
        counts = np.flatnonzero(labelled.learnable)
        newest = np.concatenate([self._newest, y[counts]])
        n_before = np.concatenate([[0], np.cumsum(labelled.learnable)])
        newest_before = newest[n_before]
        known = np.concatenate([self._known, newest_before[history.labels_before]])
        kept = np.searchsorted(self._rows, history.waiting)
        left = copy(self)
        left._newest = newest[-1:]
        left._rows, left._y, left._known = self._rows[kept], self._y[kept], known[kept]
        left._arrived, left._labelled = [], []
        return y, known[at], left

    def _take_in(self) -> None:
        rows = [np.arange(first, first + len(y)) for first, y in self._arrived]
        self._rows = np.concatenate([self._rows, *rows])
        self._y = np.concatenate([self._y, *(y for _, y in self._arrived)])
        if self._labelled:
            labelled = np.concatenate([rows for rows, _ in self._labelled])
            y = np.concatenate([y for _, y in self._labelled])
            self._y[np.searchsorted(self._rows, labelled)] = y
        self._arrived, self._labelled = [], []
