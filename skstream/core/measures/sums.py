"""Running sums of elementary series: what all forgetting mechanisms share.

A mechanism reads blocks of rows and returns the sums at the places asked for. What depends on the
labels alone is formed once for all models that were scored on the same rows. Sums of 0/1 series are
exact integers, and no sum of real numbers is the difference of larger ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from skstream.core.measures.class_tables import MANY_CLASSES, Coded
from skstream.core.measures.rankings import Ranking, RankingValues, Sided, Target
from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.core.measures.series import (
    KINDS,
    KindOf,
    Series,
    baselines_of,
    expand,
    kind_of,
    values_of,
)
from skstream.utils._label_space import NO_LABEL

#: By kind: one array, or one for each class, of shape (n_ends,); of many classes one table.
SumsByKind = dict[KindOf, Sequence[Floats] | Floats]

ROWS, SPREAD = Series("rows"), Series("target_spread")
#: Number that stands for the labels, beside those of the models.
LABELS = -1


class Majority(NamedTuple):
    """Answers of the majority baseline to all labelled rows of a block.

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


class RunningSums(ABC):
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

    def __init__(self, kinds: Iterable[KindOf], n_classes: int, n_models: int = 1) -> None:
        kinds = frozenset(kinds)
        self.many_classes = n_classes > MANY_CLASSES
        named = {kind for kind in kinds if isinstance(kind, str)} if self.many_classes else set()
        self.class_kinds = sorted(kind for kind in named if KINDS[kind].by_class)
        self.series = expand(kinds - {*self.class_kinds}, n_classes)
        self.of_labels: list[Series] = []
        self.of_answers: list[Series] = []
        #: Series of rankings, by the rows that they rank and by what they measure.
        self.ranked: dict[Target, dict[str, list[Series]]] = {}
        for series in self.series:
            kind = kind_of(series.kind)
            if isinstance(kind, Ranking):
                measures = self.ranked.setdefault(kind.target(series.code, n_classes), {})
                measures.setdefault(kind.measure, []).append(series)
            elif series != SPREAD:
                (self.of_labels if kind.of_labels else self.of_answers).append(series)
        self.needs_majority = not baselines_of(kinds).isdisjoint({"majority", "inclusive"})
        self.n_classes = n_classes
        self.n_models = n_models
        self.n_rows = 0

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
        rows, at = self._begin(self._scored(labelled, scored), ends, labelled.now)
        known = self._known_labels(scored, len(labelled))
        of_labels = {series: self._take(series, known[series], at) for series in known}
        rest = [series for series in self.of_labels if series not in known]
        of_labels |= self._sums(rest, rows, at, LABELS)
        if SPREAD in self.series:
            of_labels[SPREAD] = self._spread(rows, at)
        for number in range(self.n_models):
            one = rows.model(number)
            sums = {**of_labels, **self._sums(self.of_answers, one, at, number)}
            for target, wanted in self.ranked.items():
                values = self._ranking(target, Sided.of(one, target), list(wanted), at, number)
                sums.update({s: values[name] for name, some in wanted.items() for s in some})
            by_kind: dict[KindOf, list[Floats]] = {}
            for series in self.series:
                by_kind.setdefault(series.kind, []).append(sums[series])
            tables = {
                kind: self._table(kind, Coded.of(one, kind), at, number)
                for kind in self.class_kinds
            }
            yield _with_tables(by_kind, tables) if tables else [dict(by_kind)]
        self._end(rows, at)

    def _scored(self, labelled: ScoredRows, scored: Integers | None) -> ScoredRows:
        """Return the scored ones among labelled rows, with the answers of the majority baseline."""
        rows = labelled
        if self.labels is not None and rows.majority is None:
            rows = labelled.models(slice(None))
            rows.majority, rows.inclusive = self.labels.majority(labelled.models(slice(0)))
        return rows if scored is None else rows[scored]

    def _known_labels(self, scored: Integers | None, n_new: int) -> Mapping[Series, Floats]:
        """Sums of the labels after each row, as `labels.majority` has just formed them.

        Empty where not all labelled rows are scored: then these are sums of other rows.
        """
        if self.labels is None:
            return {}
        latest, self.labels.latest = self.labels.latest, {}
        all_scored = scored is None and self.labels.n_rows == self.n_rows + n_new
        return {s: latest[s] for s in self.of_labels if s in latest} if all_scored else {}

    def _take(self, series: Series, sums: Floats, at: Any) -> Floats:
        """Sums at the ends, of those of the labels after every row."""
        raise NotImplementedError

    def _sums(
        self, wanted: Sequence[Series], rows: ScoredRows, at: Any, number: int
    ) -> dict[Series, Floats]:
        """Sums of several series of one model, or of the labels, at the ends."""
        return {series: self._sum(series, values_of(rows, series), at, number) for series in wanted}

    @abstractmethod
    def _begin(self, rows: ScoredRows, ends: Integers, now: Array | None) -> tuple[ScoredRows, Any]:
        """Return the rows with those remembered, and what of them counts at the ends."""

    @abstractmethod
    def _sum(self, series: Series, values: Array, at: Any, number: int) -> Floats:
        """Sums of the values of a series at the ends."""

    @abstractmethod
    def _spread(self, rows: ScoredRows, at: Any) -> Floats:
        """Spread of the targets at the ends."""

    @abstractmethod
    def _ranking(
        self, target: Target, rows: Sided, measures: list[str], at: Any, number: int
    ) -> RankingValues:
        """Measures of a ranking at the ends."""

    @abstractmethod
    def _table(self, kind: str, rows: Coded, at: Any, number: int) -> Iterator[Floats]:
        """Sums by class, at some ends after the other."""

    @abstractmethod
    def _end(self, rows: ScoredRows, at: Any) -> None:
        """Remember what is needed of the rows."""

    @abstractmethod
    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the oldest row that counts for a model after ``ends[i]`` scored rows."""

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed; an error where they do not add up."""
        raise NotImplementedError

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


def _with_tables(
    by_kind: Mapping[KindOf, Sequence[Floats]], tables: Mapping[str, Iterator[Floats]]
) -> Iterator[SumsByKind]:
    """Sums at some ends after the other, with those by class."""
    first = 0
    for some in zip(*tables.values(), strict=True):
        ends = slice(first, first + len(some[0]))
        first = ends.stop
        here = {kind: [sums[ends] for sums in of_kind] for kind, of_kind in by_kind.items()}
        yield {**here, **{kind: table.T for kind, table in zip(tables, some, strict=True)}}


def leading_code(sums: Sequence[Array]) -> Array:
    """Code of the largest sum at every place, the lowest among equals."""
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


def as_slice(ends: Integers) -> slice | Integers:
    """Return the ends as a slice where they are consecutive."""
    n = len(ends)
    if n and ends[-1] - ends[0] == n - 1 and bool((ends[1:] > ends[:-1]).all()):
        return slice(int(ends[0]), int(ends[-1]) + 1)
    return ends
