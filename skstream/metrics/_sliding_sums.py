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
    prefix_sums,
    running_sums,
)


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
        return running_sums(
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


def window_sums(values: Array, n_old: int, size: int) -> Floats:
    """Sum over a sliding window, after 0, 1, ..., n of the new values.

    Parameters
    ----------
    values : ndarray of shape (n_old + n,)
        The last `n_old` earlier values (as many as fit the window), then the new ones.
    n_old : int
        Number of earlier values.
    size : int
        Size of the window.

    Returns
    -------
    ndarray of shape (n + 1,), dtype float64
        The sums.
    """
    if not len(values):
        return np.zeros(1)
    if values.dtype != bool:
        return _real_window_sums(values, n_old, size)
    total = prefix_sums(values)
    sums = np.empty(len(values) - n_old + 1)
    growing = min(size - n_old, len(sums))  # so many sums are taken before any value leaves
    sums[:growing] = total[n_old : n_old + growing]
    np.subtract(total[n_old + growing :], total[: len(sums) - growing], out=sums[growing:])
    return sums


def _real_window_sums(values: Floats, n_old: int, size: int) -> Floats:
    """Sum real numbers over a window: the end of one segment and the beginning of the next.

    The rows are cut into segments as long as the window. A window is then a suffix of one
    segment and a prefix of the next, and no large value has to be subtracted again.
    """
    if len(values) <= size:  # one segment, of which perhaps little has come
        return prefix_sums(values)[n_old:]
    n_segments = -(-len(values) // size)
    padded = np.zeros(n_segments * size)
    padded[: len(values)] = values
    segments = padded.reshape(n_segments, size)
    prefix = segments.cumsum(axis=1).ravel()
    suffix = segments[:, ::-1].cumsum(axis=1)[:, ::-1].copy()
    suffix[:, 0] = 0.0  # a window that begins with a segment is that segment's prefix
    sums = np.concatenate(([0.0], prefix[: len(values)]))
    sums[size:] += suffix.ravel()[: len(values) - size + 1]
    return sums[n_old:]
