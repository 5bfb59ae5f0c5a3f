"""Running sums over the last rows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Self

import numpy as np

from skstream.metrics._class_tables import Coded, leading_codes_in_window, sums_in_window
from skstream.metrics._rankings import in_windows
from skstream.metrics._rows import Floats, Integers, ScoredRows
from skstream.metrics._series import KindOf, Series
from skstream.metrics._spread import SPREAD, all_weights, window_spreads
from skstream.metrics._sums import (
    ROWS,
    Majority,
    RunningSums,
    SumsByKind,
    as_slice,
    leading_code,
    scored_rows,
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
    n_models : int, default=1
        Number of models.
    """

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, window_size: int, n_models: int = 1
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.window_size = window_size
        self.labels_by_class = np.zeros(n_classes if self.many_classes else 0)

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        earlier, remembered = self.tail, rows.following(self.tail)
        n_old = len(remembered) - len(rows)
        sums: dict[Series, Floats] = {}
        if self.many_classes:
            codes, self.labels_by_class = leading_codes_in_window(
                Coded.of(remembered, "label"), n_old, self.labels_by_class, self.window_size
            )
        else:
            sums = self._running(self.of_labels, remembered, n_old, {})
            codes = leading_code([sums[series] for series in self.of_labels])
        self.tail = remembered[-self.window_size :].copy()
        self.n_rows += len(rows)
        return Majority.of(codes, rows, n_after=self.n_rows, sums=sums, earlier=earlier)

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        rows = scored_rows(labelled, scored, majority)
        known: Mapping[Series, Floats] = {}
        if scored is None and majority is not None and _same_labels(self.tail, majority.earlier):
            known = majority.sums
        remembered = rows.following(self.tail)
        n_old, size = len(remembered) - len(rows), self.window_size
        labels = self._running(self.of_labels, remembered, n_old, known)
        if SPREAD in self.series:
            labels[SPREAD] = window_spreads(remembered.y, all_weights(remembered), n_old, size)
        at = as_slice(ends)
        of_labels = {series: sums[at] for series, sums in labels.items()}
        for number in range(self.n_models):
            one = remembered.model(number)
            sums = self._running(self.of_answers, one, n_old, labels)
            tables = {
                kind: sums_in_window(Coded.of(one, kind), n_old, ends, size, self.n_classes)
                for kind in self.class_kinds
            }
            ranked = self._rankings(
                one, lambda _, sided, measures: in_windows(sided, n_old, ends, size, measures)
            )
            of_answers = {series: sums[series][at] for series in self.of_answers}
            yield self._by_kind({**of_labels, **of_answers, **ranked}, tables)
        self.tail = remembered[-size:].copy()
        self.n_rows += len(rows)

    def _running(
        self,
        wanted: list[Series],
        rows: ScoredRows,
        n_old: int,
        known: Mapping[Series, Floats],
    ) -> dict[Series, Floats]:
        """Return the sums at every new row; the spread is left out."""
        n_new, size = len(rows) - n_old, self.window_size
        counts = None
        if rows.weight is None:
            counts = known.get(ROWS)
            if counts is None:
                counts = np.arange(float(self.n_rows), self.n_rows + n_new + 1)
                np.minimum(counts, size, out=counts)
        return sums_of_series(
            wanted,
            rows,
            lambda _, values: window_sums(values, n_old, size),
            {},
            counts,
            self.n_classes,
            known,
        )

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the number of the oldest row in the window."""
        return np.maximum(ends - self.window_size, 0)

    def merge(self, later: Self) -> None:
        """Append the rows that followed."""
        if later.tail is not None:
            self.tail = later.tail.following(self.tail)[-self.window_size :].copy()
        self.n_rows += later.n_rows


def _same_labels(first: ScoredRows | None, second: ScoredRows | None) -> bool:
    """Whether two windows hold the same labels with the same weights."""
    if first is None or second is None:
        return first is second
    same = np.array_equal(first.y, second.y)
    if first.weight is None or second.weight is None:
        return same and first.weight is second.weight
    return same and np.array_equal(first.weight, second.weight)
