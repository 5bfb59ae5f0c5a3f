"""Running sums over all rows so far, equal or fading."""

from collections.abc import Iterable, Iterator
from dataclasses import astuple
from functools import lru_cache
from math import ceil, log
from typing import Self

import numpy as np

from skstream.metrics._class_tables import Coded, leading_codes, sums_at_ends, sums_between
from skstream.metrics._columns import Array, Columns, Floats, Series
from skstream.metrics._spread import SPREAD, Moments, all_weights, running_spread
from skstream.metrics._sums import (
    DENSE,
    ROWS,
    Integers,
    Labelled,
    RunningSums,
    as_slice,
    sums_of_series,
)
from skstream.utils._running_sums import prefix_sums, running_sums

#: Weight, centre, offset and spread at the end, for the models that share the spread.
_MOMENTS = Series("target_moments")
#: Weight below which a faded row no longer counts.
FADED = 1e-16
# A fading sum below this is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-300


class CumulativeSums(RunningSums):
    """Sums over all rows so far.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    """

    def __init__(self, kinds: Iterable[str], n_classes: int) -> None:
        super().__init__(kinds, n_classes)
        self.summed = [series for series in self.series if series != SPREAD]
        self.carried = dict.fromkeys(self.summed, 0.0)
        self.labels = dict.fromkeys(self.label_series, 0.0)
        self.counts_are_exact = True
        self.moments = Moments()
        # Of many classes: sums of the scored rows by kind, and of the labels of all rows.
        self.by_class = {kind: np.zeros(n_classes) for kind in self.class_kinds}
        self.labels_by_class = np.zeros(n_classes if self.many_classes else 0)

    def _label_sums(self, rows: Labelled) -> tuple[list[Floats], dict[Series, Floats]]:
        labels = rows.labels()
        self.counts_are_exact = self.counts_are_exact and rows.weight is None
        sums = sums_of_series(
            self.label_series,
            labels,
            lambda series, values: self._running(series, values, self.labels[series]),
            self.labels,
            self._counts(labels, sum(self.labels.values())),
            self.n_classes,
            self._shared_sums("labels", len(rows.y)),
        )
        self._share("labels", len(rows.y), sums)
        known = {}
        if self.counts_are_exact and rows.scored is None:
            # What separates the labels so far from those of the scored rows does not change.
            known = {
                series: sums[series] - (self.labels[series] - self.carried[series])
                for series in self.label_series
                if series in self.carried
            }
        self.labels = {series: float(sums[series][-1]) for series in self.label_series}
        return [sums[series] for series in self.label_series], known

    def _leading(self, rows: Labelled) -> Array:
        labels = Coded.of(rows.labels(), "label")
        sums = _without_subnormal(self.labels_by_class)
        codes, self.labels_by_class = leading_codes(labels, sums, self._factor(ROWS))
        return codes

    def _class_tables(self, columns: Columns, ends: Integers) -> dict[str, Iterator[Floats]]:
        tables, after = {}, {}
        factor = self._factor(ROWS)
        for kind, sums in self.by_class.items():
            rows, carried = Coded.of(columns, kind), _without_subnormal(sums)
            tables[kind] = sums_at_ends(rows, ends, carried, factor)
            added = sums_between(rows, [len(columns)], self.n_classes, factor)[0]
            after[kind] = self._kept(ROWS, len(columns)) * carried + added
        self.by_class = after
        return tables

    def _counts(self, columns: Columns, earlier: float) -> Floats | None:
        """Return the running number of rows where it is exact."""
        if not self.counts_are_exact:
            return None
        return np.arange(earlier, earlier + len(columns) + 1)

    def _advance(
        self, columns: Columns, ends: Integers, known: dict[Series, Floats]
    ) -> dict[Series, Floats]:
        self.counts_are_exact = self.counts_are_exact and columns.weight is None
        if len(ends) < DENSE:
            return self._advance_between(columns, ends)
        counts = known.get(ROWS) if self.counts_are_exact else None
        if counts is None:
            counts = self._counts(columns, self.carried[ROWS])
        sums = sums_of_series(
            self.summed,
            columns,
            lambda series, values: self._running(series, values, self.carried[series]),
            self.carried,
            counts,
            self.n_classes,
            known,
        )
        if SPREAD in self.series:
            self._spread(columns, sums)
        self._share("scored", len(columns), sums)
        self.carried = {series: float(sums[series][-1]) for series in self.summed}
        at = as_slice(ends)
        return {series: sums[series][at] for series in self.series}

    def _advance_between(self, columns: Columns, ends: Integers) -> dict[Series, Floats]:
        sums = {series: np.empty(len(ends)) for series in self.series}
        carried, moments = dict(self.carried), self.moments
        start = 0
        for position, end in enumerate([*ends.tolist(), len(columns)]):
            if end > start:
                between = columns[start:end]
                for series in self.summed:
                    carried[series] = self._extended(carried[series], between, series)
                if SPREAD in self.series:
                    moments = self._later_moments(moments, between)
                start = end
            if position < len(ends):
                for series in self.summed:
                    sums[series][position] = carried[series]
                if SPREAD in self.series:
                    sums[SPREAD][position] = moments.known_spread
        self.carried, self.moments = carried, moments
        return sums

    def _spread(self, columns: Columns, sums: dict[Series, Floats]) -> None:
        """Add the running spread of the targets, unless another model has formed it."""
        if SPREAD not in sums:
            sums[SPREAD], moments = running_spread(
                self.moments,
                columns.y,
                all_weights(columns),
                lambda values, first: self._running(ROWS, values, first),
                self._factor(ROWS),
            )
            sums[_MOMENTS] = np.array(astuple(moments))
        self.moments = Moments(*sums[_MOMENTS].tolist())

    def _later_moments(self, moments: Moments, columns: Columns) -> Moments:
        """Return the moments of the targets after more rows."""
        return moments.then(Moments.of(columns.y, all_weights(columns)))

    def _factor(self, series: Series) -> float:
        """Return the factor at which a series fades."""
        return 1.0

    def _running(self, series: Series, values: Array, carried: float) -> Floats:
        """Return the sum after 0, 1, ..., n of the values, behind what is carried."""
        sums: Floats = np.add(prefix_sums(values), carried, dtype=np.float64)
        return sums

    def _extended(self, carried: float, columns: Columns, series: Series) -> float:
        """Return what is carried after more rows."""
        return carried + columns.total(series)

    def oldest(self, ends: Integers) -> Integers:
        """All rows count."""
        return np.zeros_like(ends)

    def _merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        kept = self._kept(ROWS, later.n_scored)
        self.moments = self.moments.faded(kept).then(later.moments)
        # Labels are counted for the majority alone, whose measures do not merge.
        self.carried = {
            series: self._kept(series, later.n_scored) * self.carried[series]
            + later.carried[series]
            for series in self.summed
        }
        self.by_class = {
            kind: kept * sums + later.by_class[kind] for kind, sums in self.by_class.items()
        }
        self.counts_are_exact = self.counts_are_exact and later.counts_are_exact
        self.n_scored += later.n_scored

    def _kept(self, series: Series, n_later: int) -> float:
        """Return what part of a sum remains after so many more rows."""
        return 1.0


class FadingSums(CumulativeSums):
    """Sums in which a row that is k rows old weighs ``alpha ** k``.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    alpha : float
        Fading factor, in (0, 1).
    """

    def __init__(self, kinds: Iterable[str], n_classes: int, alpha: float) -> None:
        super().__init__(kinds, n_classes)
        self.alpha = alpha
        self.counts_are_exact = False

    def _factor(self, series: Series) -> float:
        """Return the factor at which a series fades: squares of weights at its square."""
        return self.alpha**2 if series.kind == "squared_weights" else self.alpha

    def _running(self, series: Series, values: Array, carried: float) -> Floats:
        start = carried if abs(carried) > _SUBNORMAL else 0.0
        return running_sums(start, values, self._factor(series))

    def _extended(self, carried: float, columns: Columns, series: Series) -> float:
        factor = self._factor(series)
        faded = carried * factor ** len(columns)
        new = float(columns.series(series) @ _powers(factor, len(columns)))
        return new + (faded if abs(faded) > _SUBNORMAL else 0.0)

    def oldest(self, ends: Integers) -> Integers:
        """Rows count until their weight falls below `FADED`."""
        return np.maximum(ends - ceil(log(FADED) / log(self.alpha)), 0)

    def _later_moments(self, moments: Moments, columns: Columns) -> Moments:
        powers = _powers(self.alpha, len(columns))
        new = Moments.of(columns.y, all_weights(columns) * powers)
        return moments.faded(self._kept(ROWS, len(columns))).then(new)

    def _kept(self, series: Series, n_later: int) -> float:
        return float(self._factor(series) ** n_later)


def _without_subnormal(sums: Floats) -> Floats:
    return np.where(sums > _SUBNORMAL, sums, 0.0)


@lru_cache(maxsize=8)
def _powers(alpha: float, n: int) -> Floats:
    """alpha ** (n - 1), ..., alpha, 1."""  # noqa: D403 - it is a formula
    powers: Floats = alpha ** np.arange(n - 1, -1, -1.0)
    return powers
