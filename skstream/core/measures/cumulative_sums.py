"""Running sums over all rows so far, with equal or fading weights."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, log
from typing import Any, NamedTuple, Self

import numpy as np

from skstream.core.measures.class_tables import Coded, leading_codes, sums_at_ends, sums_between
from skstream.core.measures.rankings import Following, RankingValues, Sided, Target
from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.core.measures.series import KindOf, Series
from skstream.core.measures.spread import Moments, all_weights, running_spread
from skstream.core.measures.sums import (
    LABELS,
    ROWS,
    Majority,
    RunningSums,
    SumsByKind,
    as_slice,
    leading_code,
)
from skstream.utils._running_sums import prefix_sums, running_sums

#: Weight below which a faded row no longer counts.
FADED = 1e-16
# A fading sum below this is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-300
#: Half-lives in which weights may grow: products of two of them are numbers, too.
_SPAN = 400.0


class _Ends(NamedTuple):
    """Numbers of new rows after which the sums are wanted, as a slice where they follow on."""

    ends: Integers
    places: slice | Integers


class CumulativeSums(RunningSums):
    """Sums in which a row that is k rows old weighs ``alpha ** k``; with 1, over all rows so far.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    n_models : int, default=1
        Number of models.
    alpha : float, default=1.0
        Fading factor, in (0, 1].
    """

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, n_models: int = 1, alpha: float = 1.0
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.alpha = alpha
        self.moments = Moments()
        #: By model (or `LABELS`): the sum of each series, the sums by class of each kind, and the
        #: ranking of each target.
        self.carried: dict[tuple[int, Any], Any] = {
            (LABELS, series): 0.0 for series in self.of_labels
        }
        nothing = np.zeros(n_classes if self.many_classes else 0)
        if self.many_classes:
            self.carried[LABELS, "label"] = nothing
        for number in range(n_models):
            self.carried |= {(number, series): 0.0 for series in self.of_answers}
            self.carried |= dict.fromkeys(((number, kind) for kind in self.class_kinds), nothing)
            self.carried |= {(number, target): Following(alpha) for target in self.ranked}

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        if self.many_classes:
            before = _without_subnormal(self.carried[LABELS, "label"])
            coded = Coded.of(rows, "label")
            codes, self.carried[LABELS, "label"] = leading_codes(coded, before, self.alpha)
        else:
            everywhere = _Ends(np.empty(0, dtype=np.intp), slice(None))
            self.latest = self._sums(self.of_labels, rows, everywhere, LABELS)
            codes = leading_code([*self.latest.values()])
        self.n_rows += len(rows)
        return Majority.of(codes, rows, self.n_rows - len(rows))

    def _begin(
        self, rows: ScoredRows, ends: Integers, now: Array | None
    ) -> tuple[ScoredRows, _Ends]:
        return rows, _Ends(ends, as_slice(ends))

    def _sum(self, series: Series, values: Array, at: _Ends, number: int) -> Floats:
        before: float = self.carried[number, series]
        if self.alpha < 1.0:
            sums = self._faded(series, values, before)
            self.carried[number, series] = float(sums[-1])
            return sums[at.places]
        total = prefix_sums(values)
        self.carried[number, series] = float(total[-1] + before)
        return np.asarray(total[at.places] + before)

    def _take(self, series: Series, sums: Floats, at: _Ends) -> Floats:
        self.carried[LABELS, series] = float(sums[-1])
        return sums[at.places]

    def _faded(self, series: Series, values: Array, before: float) -> Floats:
        start = before if abs(before) > _SUBNORMAL else 0.0
        return running_sums(start, values, self._factor(series))

    def _factor(self, key: Any) -> float:
        """Return the factor at which a sum fades: that of squared weights at its square."""
        squares = isinstance(key, Series) and key.kind == "squared_weights"
        return self.alpha**2 if squares else self.alpha

    def _spread(self, rows: ScoredRows, at: _Ends) -> Floats:
        def running(values: Floats, first: float) -> Floats:
            if self.alpha < 1.0:
                return self._faded(ROWS, values, first)
            return prefix_sums(values) + first

        weight = all_weights(rows)
        spreads, self.moments = running_spread(self.moments, rows.y, weight, running, self.alpha)
        return spreads[at.places]

    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], at: _Ends, number: int
    ) -> RankingValues:
        before: Following = self.carried[number, target]
        values, self.carried[number, target] = before.read(rows, at.ends, measures)
        return values

    def _table(self, kind: str, rows: Coded, at: _Ends, number: int) -> Iterator[Floats]:
        before, n = _without_subnormal(self.carried[number, kind]), len(rows.codes)
        added = sums_between(rows, [n], self.n_classes, self.alpha)[0]
        self.carried[number, kind] = self.alpha**n * before + added
        return sums_at_ends(rows, at.ends, before, self.alpha)

    def _end(self, rows: ScoredRows, at: _Ends) -> None:
        self.n_rows += len(rows)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Rows count until their weight falls below `FADED`."""
        if self.alpha == 1.0:
            return np.zeros_like(ends)
        return np.maximum(ends - ceil(log(FADED) / log(self.alpha)), 0)

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        n_later = later.n_rows
        self.moments = self.moments.faded(self.alpha**n_later).then(later.moments)
        for (number, key), ours in self.carried.items():
            theirs = later.carried[number, key]
            if isinstance(ours, Following):
                self.carried[number, key] = ours.merged(theirs, n_later)
            else:
                self.carried[number, key] = self._factor(key) ** n_later * ours + theirs
        self.n_rows += n_later

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = super().of_models(numbers)
        places = {number: place for place, number in enumerate(numbers)} | {LABELS: LABELS}
        copied.carried = {
            (places[number], key): value
            for (number, key), value in self.carried.items()
            if number in places
        }
        return copied

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        copied = super().copy()
        copied.carried = dict(self.carried)
        return copied


class FadingOfTimeSums(CumulativeSums):
    """Sums in which a row of age a weighs ``2 ** (-a / half_life)``.

    Measures depend on the ratios of weights alone. So the weight of a row grows with its time, and
    the sums are plain ones; before weights become too large, all are made smaller.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    n_models : int
        Number of models.
    half_life : timedelta64
        Age at which a row weighs one half.
    """

    def __init__(
        self, kinds: Iterable[KindOf], n_classes: int, n_models: int, half_life: np.timedelta64
    ) -> None:
        super().__init__(kinds, n_classes, n_models)
        self.half_life = half_life
        self._origin: Any = None  # time of a row that weighs 1

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        nothing = np.empty(0, dtype=rows.y.dtype)
        majority = super().majority
        parts = [Majority(nothing, nothing), *map(majority, self._growing(rows))]
        self.latest = {}  # of a part of the rows
        return Majority(*map(np.concatenate, zip(*parts, strict=True)))

    def _growing(self, rows: ScoredRows) -> Iterator[ScoredRows]:
        """Rows with weights that grow, in pieces between which the sums are made smaller."""
        first = 0
        while first < len(rows):
            assert rows.time is not None
            if self._origin is None:
                self._origin = rows.time[0]
            ages = (rows.time[first:] - self._origin) / self.half_life
            if ages[0] > _SPAN / 2:
                self._scale(0.5 ** float(ages[0]))
                self._origin = rows.time[first]
                continue
            stop = first + int(np.searchsorted(ages, _SPAN, side="right"))
            part = rows[first:stop]
            part.weight = all_weights(part) * 2.0 ** ages[: stop - first]
            yield part
            first = stop

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones."""
        rows = self._scored(labelled, scored)
        by_model: list[list[SumsByKind]] = [[] for _ in range(self.n_models)]
        begin = 0
        for part in self._growing(rows) if len(rows) else [rows]:
            stop = begin + len(part)
            here = ends[(ends > begin) & (ends <= stop)] if begin else ends[ends <= stop]
            advanced = super().advance(part, None, here - begin)
            for found, of_model in zip(by_model, advanced, strict=True):
                some = list(of_model)
                found.extend(some if len(here) else [])
            begin = stop
        yield from by_model

    def _scale(self, factor: float) -> None:
        """Multiply the weights of all rows so far by a factor."""
        self.moments = self.moments.faded(factor)
        for (number, key), one in self.carried.items():
            if isinstance(one, Following):
                self.carried[number, key] = one.scaled(factor)
            else:
                squares = isinstance(key, Series) and key.kind == "squared_weights"
                self.carried[number, key] = one * (factor**2 if squares else factor)

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        if later._origin is not None:
            if self._origin is not None:
                self._scale(0.5 ** float((later._origin - self._origin) / self.half_life))
            self._origin = later._origin
        super().merge(later)


def _without_subnormal(sums: Floats) -> Floats:
    return np.where(sums > _SUBNORMAL, sums, 0.0)
