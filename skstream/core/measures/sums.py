"""Running sums of elementary series: what all mechanisms share, and those over all rows so far.

A mechanism reads some rows at once and returns the sums at the ends asked for. What depends on the
labels alone is formed once for all models that were scored on the same rows. Sums of 0/1 series are
exact integers, and no sum of real numbers is the difference of larger ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from math import ceil, log
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from skstream.core.measures.class_tables import (
    MANY_CLASSES,
    Coded,
    leading_codes,
    sums_at_ends,
    sums_between,
)
from skstream.core.measures.rankings import Following, Ranking, RankingValues, Sided, Target
from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.core.measures.series import KindOf, Series, kind_of, values_of
from skstream.core.measures.spread import Moments, all_weights, running_spread
from skstream.utils._labels import NO_LABEL
from skstream.utils._running_sums import prefix_sums, running_sums

#: By kind: one array, or one for each class, of shape (n_ends,); of many classes one table.
SumsByKind = dict[KindOf, Sequence[Floats] | Floats]

ROWS, SPREAD = Series("rows"), Series("target_spread")
#: Number that stands for the labels, beside those of the models.
LABELS = -1
#: Weight below which a faded row no longer counts.
FADED = 1e-16
# A fading sum below this is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-300
#: Half-lives in which weights may grow: products of two of them are numbers, too.
_SPAN = 400.0


class Ends(NamedTuple):
    """Numbers of new rows after which the sums are wanted, also as a slice if consecutive."""

    numbers: Integers
    positions: slice | Integers

    @classmethod
    def of(cls, numbers: Integers) -> Self:
        """Ends as a slice where they are consecutive."""
        n = len(numbers)
        if n and numbers[-1] - numbers[0] == n - 1 and bool((numbers[1:] > numbers[:-1]).all()):
            return cls(numbers, slice(int(numbers[0]), int(numbers[-1]) + 1))
        return cls(numbers, numbers)


#: Which rows count at the ends, as a mechanism says it.
Counted = TypeVar("Counted")


class Majority(NamedTuple):
    """Answers of the majority baseline to all labelled rows of those read.

    Attributes
    ----------
    before, after : ndarray of shape (n_labelled,)
        Before the label of each row, `NO_LABEL` where no label was known; and including it.
    """

    before: Array
    after: Array

    @classmethod
    def of(cls, leading: Array, rows: ScoredRows, n_before: int) -> Self:
        """Make it of the leading codes after 0, 1, ..., n of the rows, before which some came."""
        codes = leading.astype(rows.y.dtype, copy=False)
        before, after = codes[:-1], codes[1:]
        if not n_before and len(before):
            before = before.copy()
            before[0] = NO_LABEL
        return cls(before, after)


class RunningSums(ABC, Generic[Counted]):
    """Sums of elementary series over what a forgetting mechanism remembers.

    The models of one object were all scored on the same rows. Methods replace what they change and
    do not write into arrays, so that a shallow copy is independent.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    n_models : int, default=1
        Number of models.
    """

    #: Running sums of the labels of all labelled rows: they give the answers of the majority
    #: baseline. None where no series needs these, or where rows bring them.
    labels: Any = None
    #: Sums of the labels after each of the rows that `majority` has read last.
    latest: Mapping[Series, Floats] = MappingProxyType({})
    #: What remains of a row's weight with every later row.
    alpha: float = 1.0
    #: Whether the sums at an end are those after the row before it.
    ends_at_rows: bool = True

    def __init__(self, kinds: Iterable[KindOf], n_classes: int, n_models: int = 1) -> None:
        self.n_classes, self.n_models, self.n_rows = n_classes, n_models, 0
        self.many_classes = n_classes > MANY_CLASSES
        self.needs_majority = False
        self.class_kinds: list[str] = []
        self.series: list[Series] = []
        self.of_labels: list[Series] = []
        self.of_answers: list[Series] = []
        #: Series of rankings, by the rows that they rank and by what they measure.
        self.ranked: dict[Target, dict[str, list[Series]]] = {}
        for name in sorted(kinds, key=str):
            kind = kind_of(name)
            self.needs_majority |= kind.baseline in ("majority", "inclusive")
            if self.many_classes and kind.by_class:
                self.class_kinds.append(str(name))
                continue
            for code in kind.codes(n_classes):
                series = Series(name, code)
                self.series.append(series)
                if isinstance(kind, Ranking):
                    measures = self.ranked.setdefault(kind.target(code, n_classes), {})
                    measures.setdefault(kind.measure, []).append(series)
                elif series != SPREAD:
                    (self.of_labels if kind.of_labels else self.of_answers).append(series)

    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
    ) -> Iterator[Iterable[SumsByKind]]:
        """Read rows and yield, for each model, the sums after the first ``ends[i]`` scored ones.

        Parameters
        ----------
        labelled : ScoredRows
            The next rows with a label and a positive weight.
        scored : ndarray of shape (n_scored,), or None
            Positions of the scored ones; None: all.
        ends : ndarray of shape (n_ends,)
            Non-decreasing, in ``[0, n_scored]``.

        Yields
        ------
        iterable of SumsByKind
            At all ends; of many classes at some ends after the other, to be read once. All models
            must be taken.
        """
        rows, known = self._scored(labelled, scored)
        n_new = len(rows)
        rows, counted = self._begin(rows, ends, labelled.now)
        of_labels = {}
        for series in self.of_labels:
            of_labels[series] = (
                self._take(series, known[series], counted)
                if series in known
                else self._sum(series, values_of(rows, series), counted, LABELS)
            )
        if SPREAD in self.series:
            of_labels[SPREAD] = self._spread(rows, counted)
        for number in range(self.n_models):
            model, sums = rows.models(slice(number, number + 1)), of_labels.copy()
            for series in self.of_answers:
                sums[series] = self._sum(series, values_of(model, series), counted, number)
            for target, wanted in self.ranked.items():
                sides = Sided.of(model, target)
                values = self._ranking(target, sides, list(wanted), counted, number)
                for measure, of_measure in wanted.items():
                    sums.update(dict.fromkeys(of_measure, values[measure]))
            by_kind: dict[KindOf, Any] = {}
            for series in self.series:
                by_kind.setdefault(series.kind, []).append(sums[series])
            tables = bool(self.class_kinds)
            yield self._with_tables(by_kind, model, counted, number) if tables else [by_kind]
        self.n_rows += n_new

    def _scored(
        self, labelled: ScoredRows, scored: Integers | None
    ) -> tuple[ScoredRows, Mapping[Series, Floats]]:
        """Return the scored rows, with the answers of the majority baseline, and sums of labels.

        Those sums are what `labels.majority` has just formed, after each row. There are none where
        not all labelled rows are scored: then they are sums of other rows.
        """
        rows, known = labelled, dict[Series, Floats]()
        if self.labels is not None:
            if rows.majority is None:
                rows = labelled.models(slice(None))
                rows.majority, rows.inclusive = self.labels.majority(labelled.models(slice(0)))
            all_scored = scored is None and self.labels.n_rows == self.n_rows + len(labelled)
            known = self.labels.latest if all_scored and self.ends_at_rows else {}
            self.labels.latest = {}
        return rows if scored is None else rows[scored], known

    def _with_tables(
        self, by_kind: SumsByKind, rows: ScoredRows, counted: Counted, number: int
    ) -> Iterator[SumsByKind]:
        """Sums at some ends after the other, with those by class of many classes."""
        kinds, first = self.class_kinds, 0
        tables = [self._table(kind, Coded.of(rows, kind), counted, number) for kind in kinds]
        for some in zip(*tables, strict=True):
            ends = slice(first, first + len(some[0]))
            first = ends.stop
            here = {kind: [sums[ends] for sums in of_kind] for kind, of_kind in by_kind.items()}
            yield {**here, **{kind: table.T for kind, table in zip(kinds, some, strict=True)}}

    @abstractmethod
    def _begin(
        self, rows: ScoredRows, ends: Integers, now: Array | None
    ) -> tuple[ScoredRows, Counted]:
        """Return the rows with those remembered, and what of them counts at the ends."""

    @abstractmethod
    def _sum(self, series: Series, values: Array, counted: Counted, number: int) -> Floats:
        """Sums of the values of a series at the ends, of one model or of the labels."""

    def _take(self, series: Series, sums: Floats, counted: Counted) -> Floats:
        """Sums at the ends, of those of the labels after every row."""
        raise NotImplementedError

    @abstractmethod
    def _spread(self, rows: ScoredRows, counted: Counted) -> Floats:
        """Spread of the targets at the ends."""

    @abstractmethod
    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], counted: Counted, number: int
    ) -> RankingValues:
        """Measures of a ranking at the ends."""

    @abstractmethod
    def _table(self, kind: str, rows: Coded, counted: Counted, number: int) -> Iterator[Floats]:
        """Sums by class, at some ends after the other."""

    @abstractmethod
    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the oldest row that counts for a model after ``ends[i]`` scored rows."""

    def newest(self, ends: Integers) -> Integers:
        """Return the number of rows up to the newest that counts after ``ends[i]`` scored rows."""
        return ends

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = self.copy()
        copied.n_models = len(numbers)
        return copied

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        copied = copy(self)
        copied.labels = None if self.labels is None else self.labels.copy()
        return copied


def leading_code(sums: Sequence[Array]) -> Array:
    """Code of the largest sum after every row, the lowest among equals."""
    if len(sums) == 2:
        return (sums[1] > sums[0]).view(np.int8)
    best = sums[0]
    code = np.zeros(len(best), dtype=np.min_scalar_type(len(sums)))
    for challenger in range(1, len(sums)):
        ahead = sums[challenger] > best
        best = np.maximum(best, sums[challenger])
        # Codes only grow, so the maximum is the code of the class that leads now.
        np.maximum(code, ahead * code.dtype.type(challenger), out=code)
    return code


class CumulativeSums(RunningSums[Ends]):
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
        #: ranking of each target, where rows have come.
        self.carried: dict[tuple[int, Hashable], Any] = {}

    def majority(self, rows: ScoredRows) -> Majority:
        """Read labels; return the answers of the majority baseline."""
        if self.many_classes:
            coded, before = Coded.of(rows, "label"), self._by_class(LABELS, "label")
            codes, self.carried[LABELS, "label"] = leading_codes(coded, before, self.alpha)
        else:
            after_each = Ends(np.empty(0, dtype=np.intp), slice(None))
            self.latest = {
                series: self._sum(series, values_of(rows, series), after_each, LABELS)
                for series in self.of_labels
            }
            codes = leading_code([*self.latest.values()])
        self.n_rows += len(rows)
        return Majority.of(codes, rows, self.n_rows - len(rows))

    def _by_class(self, number: int, kind: str) -> Floats:
        """Sums by class before the next row."""
        sums = self.carried.get((number, kind), np.zeros(self.n_classes))
        return np.where(sums > _SUBNORMAL, sums, 0.0)

    def _begin(
        self, rows: ScoredRows, ends: Integers, now: Array | None
    ) -> tuple[ScoredRows, Ends]:
        return rows, Ends.of(ends)

    def _sum(self, series: Series, values: Array, counted: Ends, number: int) -> Floats:
        before: float = self.carried.get((number, series), 0.0)
        if self.alpha < 1.0:
            sums = self._faded(series, values, before)
            self.carried[number, series] = float(sums[-1])
            return sums[counted.positions]
        total = prefix_sums(values)
        self.carried[number, series] = float(total[-1] + before)
        return np.asarray(total[counted.positions] + before)

    def _take(self, series: Series, sums: Floats, counted: Ends) -> Floats:
        self.carried[LABELS, series] = float(sums[-1])
        return sums[counted.positions]

    def _faded(self, series: Series, values: Array, before: float) -> Floats:
        start = before if abs(before) > _SUBNORMAL else 0.0
        squares = series.kind == "squared_weights"  # they fade at the square of the factor
        return running_sums(start, values, self.alpha**2 if squares else self.alpha)

    def _spread(self, rows: ScoredRows, counted: Ends) -> Floats:
        def running(values: Floats, first: float) -> Floats:
            if self.alpha < 1.0:
                return self._faded(ROWS, values, first)
            return prefix_sums(values) + first

        weight = all_weights(rows)
        spreads, self.moments = running_spread(self.moments, rows.y, weight, running, self.alpha)
        return spreads[counted.positions]

    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], counted: Ends, number: int
    ) -> RankingValues:
        before = self.carried.get((number, target)) or Following(self.alpha)
        values, self.carried[number, target] = before.read(rows, counted.numbers, measures)
        return values

    def _table(self, kind: str, rows: Coded, counted: Ends, number: int) -> Iterator[Floats]:
        before, n = self._by_class(number, kind), len(rows.codes)
        added = sums_between(rows, [n], self.n_classes, self.alpha)[0]
        self.carried[number, kind] = self.alpha**n * before + added
        return sums_at_ends(rows, counted.numbers, before, self.alpha)

    def oldest(self, number: int, ends: Integers) -> Integers:
        """Rows count until their weight falls below `FADED`."""
        if self.alpha == 1.0:
            return np.zeros_like(ends)
        return np.maximum(ends - ceil(log(FADED) / log(self.alpha)), 0)

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = super().of_models(numbers)
        positions = {number: position for position, number in enumerate(numbers)} | {LABELS: LABELS}
        copied.carried = {
            (positions[number], key): value
            for (number, key), value in self.carried.items()
            if number in positions
        }
        return copied

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        copied = super().copy()
        copied.carried = self.carried.copy()
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
        """Rows with weights that grow, in parts between which the sums are made smaller."""
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
        rows, _ = self._scored(labelled, scored)
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
        for (number, key), carried in self.carried.items():
            if isinstance(carried, Following):
                self.carried[number, key] = carried.scaled(factor)
            else:
                squares = isinstance(key, Series) and key.kind == "squared_weights"
                self.carried[number, key] = carried * (factor**2 if squares else factor)
