"""What is kept of rows that wait for their labels."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from skstream.engine.delayed import History

#: Labelled ids remembered, so that a second label is told from one of an unknown row.
REMEMBERED_IDS = 1 << 17


class LiveIds:
    """Names of the waiting rows of a live run, and of rows labelled lately."""

    def __init__(self) -> None:
        self._row_of: dict[Hashable, int] = {}
        self._id_of: dict[int, Hashable] = {}
        self._done: OrderedDict[Hashable, None] = OrderedDict()

    def check_new(self, ids: Sequence[Hashable]) -> None:
        """Raise an error if an id waits already, or comes twice."""
        seen = set()
        for one in ids:
            if one in self._row_of or one in seen:
                raise ValueError(
                    f"id {one!r} waits for its label already; give every waiting row its own id."
                )
            seen.add(one)

    def add(self, ids: Sequence[Hashable], first_row: int) -> None:
        """Name rows that arrived."""
        for k, one in enumerate(ids):
            self._row_of[one] = first_row + k
            self._id_of[first_row + k] = one
            self._done.pop(one, None)

    def rows_of(
        self, ids: Sequence[Hashable], on_relabel: str
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Rows of ids, ascending, the places of these ids, and how many had their label."""
        rows, kept, n_again = [], [], 0
        for place, one in enumerate(ids):
            if one in self._row_of:
                rows.append(self._row_of[one])
                kept.append(place)
            elif one in self._done and on_relabel != "error":
                n_again += on_relabel == "count"
            else:
                raise KeyError(self._why_unknown(one))
        if len(set(rows)) < len(rows):
            raise ValueError(f"An id comes twice among the labels: {list(ids)[:10]}.")
        order = np.argsort(np.asarray(rows, dtype=np.int64))
        return (
            np.asarray(rows, dtype=np.int64)[order],
            np.asarray(kept, dtype=np.intp)[order],
            n_again,
        )

    def _why_unknown(self, one: Hashable) -> str:
        if one in self._done:
            return (
                f"id {one!r} has its label already; pass on_relabel='ignore' or 'count' to the "
                "evaluator to go on over corrected labels."
            )
        return (
            f"No row of id {one!r} waits for a label: it was never asked, was dropped, or had its "
            f"label more than {REMEMBERED_IDS:,} labels ago."
        )

    def labelled(self, ids: Sequence[Hashable]) -> None:
        """Note that rows have their labels."""
        for one in ids:
            row = self._row_of.pop(one, None)
            if row is not None:
                del self._id_of[row]
            self._done[one] = None
        while len(self._done) > REMEMBERED_IDS:
            self._done.popitem(last=False)

    def forget(self, rows: np.ndarray) -> None:
        """Drop waiting rows."""
        for row in rows.tolist():
            one = self._id_of.pop(row, None)
            self._row_of.pop(one, None)


class WaitingLabels:
    """Labels of waiting rows, and for each the newest label known when it arrived."""

    def __init__(self, regression: bool):
        self._nothing: Any = np.nan if regression else -1
        dtype: Any = np.float64 if regression else np.int64
        self.rows = np.empty(0, dtype=np.int64)
        self._y = np.empty(0, dtype=dtype)
        self._known = np.empty(0, dtype=dtype)
        self._newest = np.full(1, self._nothing, dtype=dtype)

    def add(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Take in rows that arrived."""
        self.rows = np.concatenate([self.rows, rows])
        self._y = np.concatenate([self._y, y])

    def label(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give rows their labels."""
        self._y[np.searchsorted(self.rows, rows)] = y

    def settle(self, history: History) -> tuple[np.ndarray, np.ndarray]:
        """Give labels, and newest labels known at arrival, of rows whose label came."""
        labelled = history.labelled
        at = np.searchsorted(self.rows, labelled.row)
        y = self._y[at]
        # The newest label before each event: rows of weight 0 are as absent.
        counts = np.flatnonzero(labelled.learnable)
        newest = np.concatenate([self._newest, y[counts]])
        n_before = np.concatenate([[0], np.cumsum(labelled.learnable)])
        newest_before = newest[n_before]
        self._known = np.concatenate([self._known, newest_before[history.labels_before]])
        self._newest = newest[-1:]
        known = self._known[at]
        kept = np.searchsorted(self.rows, history.waiting)
        self.rows, self._y, self._known = self.rows[kept], self._y[kept], self._known[kept]
        return y, known
