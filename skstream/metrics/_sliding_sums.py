"""Running sums over the last rows."""

from collections.abc import Iterable, Iterator
from typing import Self

import numpy as np

from skstream.metrics._class_tables import Coded, leading_codes_in_window, sums_in_window
from skstream.metrics._columns import Array, Columns, Floats, Series
from skstream.metrics._spread import SPREAD, Moments, all_weights, window_spreads
from skstream.metrics._sums import (
    DENSE,
    ROWS,
    Integers,
    Labelled,
    RunningSums,
    as_slice,
    sums_of_series,
)
from skstream.utils._running_sums import window_sums


class SlidingSums(RunningSums):
    """Sums over the last `window_size` rows, formed afresh from those rows in every block.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    window_size : int
        Number of rows.
    """

    def __init__(self, kinds: Iterable[str], n_classes: int, window_size: int) -> None:
        super().__init__(kinds, n_classes)
        self.window_size = window_size
        self.tail: Columns | None = None
        self.labelled_tail: Columns | None = None
        self.n_scored_in_a_row = 0
        self.summed = [series for series in self.series if series != SPREAD]
        self.labels_by_class = np.zeros(n_classes if self.many_classes else 0)

    def _label_sums(self, rows: Labelled) -> tuple[list[Floats], dict[Series, Floats]]:
        labels = rows.labels().following(self.labelled_tail)
        known = self._shared_sums("labels", len(rows.y))
        sums = self._running(self.label_series, labels, len(rows.y), self.n_labelled, known)
        self._share("labels", len(rows.y), sums)
        self.labelled_tail = labels[-self.window_size :].copy()
        # The window of the scored rows is the same where it holds no row that was not asked.
        remembered = min(self.n_labelled, self.window_size)
        same = rows.scored is None and self.n_scored_in_a_row >= remembered
        if rows.scored is None:
            self.n_scored_in_a_row += len(rows.y)
        else:
            skipped = np.ones(len(rows.y), dtype=bool)
            skipped[rows.scored] = False
            self.n_scored_in_a_row = int(skipped[::-1].argmax())
        return [sums[series] for series in self.label_series], sums if same else {}

    def _leading(self, rows: Labelled) -> Array:
        labels = rows.labels().following(self.labelled_tail)
        n_old = len(labels) - len(rows.y)
        codes, self.labels_by_class = leading_codes_in_window(
            Coded.of(labels, "label"), n_old, self.labels_by_class, self.window_size
        )
        self.labelled_tail = labels[-self.window_size :].copy()
        return codes

    def _class_tables(self, columns: Columns, ends: Integers) -> dict[str, Iterator[Floats]]:
        rows = columns.following(self.tail)
        n_old, size = len(rows) - len(columns), self.window_size
        return {
            kind: sums_in_window(Coded.of(rows, kind), n_old, ends, size, self.n_classes)
            for kind in self.class_kinds
        }

    def _running(
        self,
        wanted: list[Series],
        rows: Columns,
        n_new: int,
        n_before: int,
        known: dict[Series, Floats],
    ) -> dict[Series, Floats]:
        n_old, size = len(rows) - n_new, self.window_size
        counts = None
        if rows.weight is None:
            counts = known.get(ROWS)
            if counts is None:
                counts = np.minimum(np.arange(float(n_before), n_before + n_new + 1), size)
        return sums_of_series(
            wanted,
            rows,
            lambda _, values: window_sums(values, n_old, size),
            {},
            counts,
            self.n_classes,
            known,
        )

    def _advance(
        self, columns: Columns, ends: Integers, known: dict[Series, Floats]
    ) -> dict[Series, Floats]:
        n_new, size = len(columns), self.window_size
        rows = columns.following(self.tail)
        n_old = len(rows) - n_new
        self.tail = rows[-size:].copy()
        if len(ends) < DENSE and len(ends) * min(size, len(rows)) < DENSE * len(rows):
            windows = [rows[max(0, end - size) : end] for end in (ends + n_old).tolist()]
            totals = {
                series: np.array([window.total(series) for window in windows])
                for series in self.summed
            }
            if SPREAD in self.series:
                spreads = [Moments.of(one.y, all_weights(one)).spread for one in windows]
                totals[SPREAD] = np.array(spreads)
            return totals
        sums = self._running(self.summed, rows, n_new, self.n_scored, known)
        if SPREAD in self.series and SPREAD not in sums:
            sums[SPREAD] = window_spreads(rows.y, all_weights(rows), n_old, size)
        self._share("scored", n_new, sums)
        at = as_slice(ends)
        return {series: sums[series][at] for series in self.series}

    def oldest(self, ends: Integers) -> Integers:
        """Return the number of the oldest row in the window."""
        return np.maximum(ends - self.window_size, 0)

    def _merge(self, later: Self) -> None:
        """Append the rows that followed."""
        # Labels are counted for the majority alone, whose measures do not merge.
        if later.tail is not None:
            self.tail = later.tail.following(self.tail)[-self.window_size :].copy()
        self.n_scored += later.n_scored
