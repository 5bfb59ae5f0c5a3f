"""Running sums over all rows so far, with equal or fading weights."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil, log
from typing import NamedTuple, Self

import numpy as np

from skstream.metrics._class_tables import Coded, leading_codes, sums_at_ends, sums_between
from skstream.metrics._rankings import Following, RankingValues, Sided, Target
from skstream.metrics._rows import Array, Floats, Integers, ScoredRows
from skstream.metrics._series import KindOf, Series
from skstream.metrics._spread import SPREAD, Moments, all_weights, running_spread
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
from skstream.utils._running_sums import prefix_sums, running_sums

#: Weight below which a faded row no longer counts.
FADED = 1e-16
# A fading sum below this is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-300


class _OfModel(NamedTuple):
    """What is carried of one model.

    Attributes
    ----------
    sums : dict of Series to float
        Sums of series of answers.
    by_class : dict of str to ndarray of shape (n_classes,)
        Of many classes: sums by kind.
    rankings : dict of Target to Following
        Rankings of the rows so far.
    """

    sums: Mapping[Series, float]
    by_class: Mapping[str, Floats]
    rankings: Mapping[Target, Following]


class CumulativeSums(RunningSums):
    """Sums over all rows so far.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    n_models : int, default=1
        Number of models.
    """

    def __init__(self, kinds: Iterable[KindOf], n_classes: int, n_models: int = 1) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.carried = dict.fromkeys(self.of_labels, 0.0)
        self.counts_are_exact = True
        self.moments = Moments()
        nothing = np.zeros(n_classes if self.many_classes else 0)
        self.labels_by_class = nothing
        factor = self._factor(ROWS)
        of_model = _OfModel(
            dict.fromkeys(self.of_answers, 0.0),
            dict.fromkeys(self.class_kinds, nothing),
            {target: Following(factor) for target in self.ranked},
        )
        self.of_each = [of_model] * n_models

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        sums: dict[Series, Floats] = {}
        if self.many_classes:
            carried = _without_subnormal(self.labels_by_class)
            coded = Coded.of(rows, "label")
            codes, self.labels_by_class = leading_codes(coded, carried, self._factor(ROWS))
        else:
            sums = self._label_sums(rows, {})
            codes = leading_code([sums[series] for series in self.of_labels])
            self.carried = {series: float(sums[series][-1]) for series in self.of_labels}
        self.n_rows += len(rows)
        return Majority.of(codes, rows, n_after=self.n_rows, sums=sums)

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        rows = scored_rows(labelled, scored, majority)
        known = self._known(majority) if scored is None and majority is not None else {}
        labels, moments = self._label_sums(rows, known), self.moments
        counts = labels[ROWS] if self.counts_are_exact else None
        if SPREAD in self.series:
            labels[SPREAD], moments = running_spread(
                moments,
                rows.y,
                all_weights(rows),
                lambda values, first: self._running(ROWS, values, first),
                self._factor(ROWS),
            )
        at = as_slice(ends)
        of_labels = {series: sums[at] for series, sums in labels.items()}
        of_each = []
        for number, before in enumerate(self.of_each):
            one = rows.model(number)
            sums = self._running_sums(self.of_answers, one, before.sums, counts, labels)
            tables, by_class = self._class_tables(one, before.by_class, ends)
            rankings: dict[Target, Following] = {}
            ranked = self._rankings(one, partial(_rank, before.rankings, rankings, ends))
            carried = {series: float(sums[series][-1]) for series in before.sums}
            of_each.append(_OfModel(carried, by_class, rankings))
            of_answers = {series: sums[series][at] for series in carried}
            yield self._by_kind({**of_labels, **of_answers, **ranked}, tables)
        self.of_each, self.moments = of_each, moments
        self.carried = {series: float(labels[series][-1]) for series in self.carried}
        self.n_rows += len(rows)

    def _class_tables(
        self, rows: ScoredRows, by_class: Mapping[str, Floats], ends: Integers
    ) -> tuple[dict[str, Iterator[Floats]], dict[str, Floats]]:
        """Return the sums of a model by class at some ends after the other, and after all rows."""
        tables, after = {}, {}
        factor = self._factor(ROWS)
        for kind, sums in by_class.items():
            coded, carried = Coded.of(rows, kind), _without_subnormal(sums)
            tables[kind] = sums_at_ends(coded, ends, carried, factor)
            added = sums_between(coded, [len(rows)], self.n_classes, factor)[0]
            after[kind] = self._kept(ROWS, len(rows)) * carried + added
        return tables, after

    def _known(self, majority: Majority) -> dict[Series, Floats]:
        """Return the sums over scored rows that those over labelled rows tell to the last bit."""
        known = {}
        for series, sums in majority.sums.items():
            if series in self.carried:
                more = sums[0] - self.carried[series]
                if not more:
                    known[series] = sums
                elif self.counts_are_exact:
                    known[series] = sums - more
        return known

    def _label_sums(self, rows: ScoredRows, known: Mapping[Series, Floats]) -> dict[Series, Floats]:
        """Return the sums of labels alone at every row; the spread is left out."""
        self.counts_are_exact = self.counts_are_exact and rows.weight is None
        counts = None
        if self.counts_are_exact:
            counts = np.arange(float(self.n_rows), self.n_rows + len(rows) + 1)
        return self._running_sums(self.of_labels, rows, self.carried, counts, known)

    def _running_sums(
        self,
        wanted: list[Series],
        rows: ScoredRows,
        carried: Mapping[Series, float],
        counts: Floats | None,
        known: Mapping[Series, Floats],
    ) -> dict[Series, Floats]:
        return sums_of_series(
            wanted,
            rows,
            lambda series, values: self._running(series, values, carried[series]),
            carried,
            counts,
            self.n_classes,
            known,
        )

    def _factor(self, series: Series) -> float:
        """Return the factor at which a series fades."""
        return 1.0

    def _running(self, series: Series, values: Array, carried: float) -> Floats:
        """Return the carried sum plus the first 0, 1, ..., n of the values."""
        sums: Floats = np.add(prefix_sums(values), carried, dtype=np.float64)
        return sums

    def oldest(self, number: int, ends: Integers) -> Integers:
        """All rows count."""
        return np.zeros_like(ends)

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        n_later = later.n_rows
        kept = self._kept(ROWS, n_later)
        self.moments = self.moments.faded(kept).then(later.moments)

        def merged(
            ours: Mapping[Series, float], theirs: Mapping[Series, float]
        ) -> dict[Series, float]:
            return {s: self._kept(s, n_later) * ours[s] + theirs[s] for s in ours}

        self.carried = merged(self.carried, later.carried)
        self.of_each = [
            _OfModel(
                merged(ours.sums, theirs.sums),
                {kind: kept * sums + theirs.by_class[kind] for kind, sums in ours.by_class.items()},
                {t: r.merged(theirs.rankings[t], n_later) for t, r in ours.rankings.items()},
            )
            for ours, theirs in zip(self.of_each, later.of_each, strict=True)
        ]
        self.counts_are_exact = self.counts_are_exact and later.counts_are_exact
        self.n_rows += n_later

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = super().of_models(numbers)
        twin.of_each = [self.of_each[number] for number in numbers]
        return twin

    def scaled(self, factor: float) -> Self:
        """Return the sums of the same rows with weights multiplied by a factor."""

        def times(sums: Mapping[Series, float]) -> dict[Series, float]:
            squared = "squared_weights"
            return {
                s: one * (factor**2 if s.kind == squared else factor) for s, one in sums.items()
            }

        twin = self.copy()
        twin.carried, twin.moments = times(self.carried), self.moments.faded(factor)
        twin.labels_by_class = self.labels_by_class * factor
        twin.counts_are_exact = False
        twin.of_each = [
            _OfModel(
                times(one.sums),
                {kind: sums * factor for kind, sums in one.by_class.items()},
                {target: ranking.scaled(factor) for target, ranking in one.rankings.items()},
            )
            for one in self.of_each
        ]
        return twin

    def _kept(self, series: Series, n_later: int) -> float:
        """Return which part of a sum remains after so many more rows."""
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
    n_models : int, default=1
        Number of models.
    """

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, alpha: float, n_models: int = 1
    ) -> None:
        self.alpha = alpha
        super().__init__(kinds, n_classes, n_models)
        self.counts_are_exact = False

    def _factor(self, series: Series) -> float:
        """Return the factor at which a series fades: squares of weights at its square."""
        return self.alpha**2 if series.kind == "squared_weights" else self.alpha

    def _running(self, series: Series, values: Array, carried: float) -> Floats:
        start = carried if abs(carried) > _SUBNORMAL else 0.0
        return running_sums(start, values, self._factor(series))

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Rows count until their weight falls below `FADED`."""
        return np.maximum(ends - ceil(log(FADED) / log(self.alpha)), 0)

    def _kept(self, series: Series, n_later: int) -> float:
        return float(self._factor(series) ** n_later)


def _rank(
    before: Mapping[Target, Following],
    after: dict[Target, Following],
    ends: Integers,
    target: Target,
    rows: Sided,
    measures: list[str],
) -> RankingValues:
    """Return the measures of one ranking, and set what follows."""
    values, after[target] = before[target].read(rows, ends, measures)
    return values


def _without_subnormal(sums: Floats) -> Floats:
    return np.where(sums > _SUBNORMAL, sums, 0.0)
