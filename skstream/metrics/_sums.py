"""Running sums of elementary series: what all forgetting mechanisms share.

A mechanism reads blocks of rows and returns the sums at the places asked for. What depends on the
labels alone is formed once for all models that were scored on the same rows. Sums of 0/1 series are
exact integers, and no sum of real numbers is the difference of larger ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from skstream.metrics._class_tables import MANY_CLASSES
from skstream.metrics._rankings import Ranking, RankingValues, Sided, Target
from skstream.metrics._rows import NOTHING, UNANSWERED, Array, Floats, Integers, ScoredRows
from skstream.metrics._series import KINDS, KindOf, Series, baselines_of, expand, kind_of, values_of

#: By kind: one array, or one for each class, of shape (n_ends,); of many classes one table.
SumsByKind = dict[KindOf, Sequence[Floats] | Floats]

ROWS = Series("rows")


class Majority(NamedTuple):
    """Answers of the majority baseline to all labelled rows of a block.

    Attributes
    ----------
    before, after : ndarray of shape (n_labelled,)
        Before the label of each row, `NOTHING` where no label was known; and including it.
    sums : dict of Series to ndarray of shape (n_labelled + 1,)
        The running sums of labels that they come from, for models that were scored on all rows.
    earlier : ScoredRows or None
        The rows before these whose labels count in a window.
    """

    before: Array
    after: Array
    sums: Mapping[Series, Floats] = MappingProxyType({})
    earlier: ScoredRows | None = None

    @classmethod
    def of(cls, leading: Array, rows: ScoredRows, *, n_after: int, **origin: Any) -> Self:
        """Make it of the leading codes after 0, 1, ..., n of the rows, the last of `n_after`."""
        codes = leading.astype(rows.y.dtype, copy=False)
        before, after = codes[:-1], codes[1:]
        if n_after == len(rows) and len(before):
            before = before.copy()
            before[0] = NOTHING
        return cls(before, after, **origin)


def scored_rows(
    labelled: ScoredRows, scored: Integers | None, majority: Majority | None
) -> ScoredRows:
    """Return the scored ones among labelled rows, with the answers of the majority baseline."""
    rows = labelled
    if majority is not None:
        rows = labelled.models(slice(None))
        rows.majority, rows.inclusive = majority.before, majority.after
    return rows if scored is None else rows[scored]


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
    n_models : int
        Number of models.
    """

    #: Rows that are remembered as they came, by mechanisms that forget each at once.
    tail: ScoredRows | None = None

    def __init__(self, kinds: Iterable[KindOf], n_classes: int, n_models: int) -> None:
        kinds = frozenset(kinds)
        self.many_classes = n_classes > MANY_CLASSES
        named = {kind for kind in kinds if isinstance(kind, str)} if self.many_classes else set()
        self.class_kinds = sorted(kind for kind in named if KINDS[kind].by_class)
        self.series = expand(kinds - {*self.class_kinds}, n_classes)
        summed = [series for series in self.series if kind_of(series.kind).values is not None]
        self.of_labels = [series for series in summed if kind_of(series.kind).of_labels]
        self.of_answers = [series for series in summed if not kind_of(series.kind).of_labels]
        self.ranked = _by_target(self.series, n_classes)
        self.baselines = baselines_of(kinds)
        self.n_classes = n_classes
        self.n_models = n_models
        self.n_rows = 0

    @property
    def needs_majority(self) -> bool:
        """Whether a series compares with the majority baseline."""
        return not self.baselines.isdisjoint({"majority", "inclusive"})

    @abstractmethod
    def advance(
        self,
        labelled: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        majority: Majority | None,
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
        majority : Majority or None
            Where a series needs it, and all models have the same.

        Yields
        ------
        iterable of SumsByKind
            At all ends; of many classes at some ends after the other, to be read once. All models
            must be taken.
        """

    def _by_kind(
        self, sums: Mapping[Series, Floats], tables: Mapping[str, Iterator[Floats]]
    ) -> Iterable[SumsByKind]:
        by_kind: dict[KindOf, list[Floats]] = {}
        for series in self.series:
            by_kind.setdefault(series.kind, []).append(sums[series])
        return _with_tables(by_kind, tables) if tables else [dict(by_kind)]

    def _rankings(
        self, rows: ScoredRows, measure: Callable[[Target, Sided, list[str]], RankingValues]
    ) -> dict[Series, Floats]:
        """Measures of the rankings of one model."""
        found = {}
        for target, wanted in self.ranked.items():
            values = measure(target, Sided.of(rows, target), list(wanted))
            found.update({series: values[name] for name, some in wanted.items() for series in some})
        return found

    @abstractmethod
    def oldest(self, number: int, ends: Integers) -> Integers:
        """Return the oldest row that counts for a model after ``ends[i]`` scored rows."""

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed; an error where they do not add up."""
        raise NotImplementedError

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        twin = self.copy()
        twin.n_models = len(numbers)
        twin.tail = None if self.tail is None else self.tail.models(list(numbers))
        return twin

    def copy(self) -> Self:
        """Return a copy that can be advanced on its own."""
        return copy(self)


def _by_target(
    all_series: Sequence[Series], n_classes: int
) -> dict[Target, dict[str, list[Series]]]:
    """Series of rankings, by the rows that they rank and by what they measure."""
    targets: dict[Target, dict[str, list[Series]]] = {}
    for series in all_series:
        kind = kind_of(series.kind)
        if isinstance(kind, Ranking):
            wanted = targets.setdefault(kind.target(series.code, n_classes), {})
            wanted.setdefault(kind.measure, []).append(series)
    return targets


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


def sums_of_series(
    wanted: Sequence[Series],
    rows: ScoredRows,
    run: Callable[[Series, Array], Floats],
    carried: Mapping[Series, float],
    counts: Floats | None,
    n_classes: int,
    known: Mapping[Series, Floats],
) -> dict[Series, Floats]:
    """Running sums of several series, each computed once.

    Parameters
    ----------
    wanted : sequence of Series
        Those wanted.
    rows : ScoredRows
        The rows, of one model.
    run : callable
        ``run(series, values)`` forms a running sum.
    carried : mapping of Series to float
        What the running sums begin with, where it is not 0.
    counts : ndarray, or None
        Running number of rows, where all weights are 1 and counts are exact. Of two classes
        one is then the rest.
    n_classes : int
        Number of classes.
    known : mapping of Series to ndarray
        Those that are computed already.

    Returns
    -------
    dict of Series to ndarray
        With the `known` ones.
    """
    sums = dict(known)
    if counts is not None:
        sums[ROWS] = counts
    formed: dict[tuple[int, float], tuple[Array, Floats]] = {}
    for series in reversed(wanted):
        if series in sums:
            continue
        exhaustive = series.code == 0 and (
            series.kind == "label"
            or (series.kind == "answer" and _all_answered(rows, carried, counts))
        )
        if counts is not None and n_classes == 2 and exhaustive:
            sums[series] = counts - sums[Series(series.kind, 1)]
            continue
        values = values_of(rows, series)
        token = id(values), carried.get(series, 0.0)
        if token not in formed:
            formed[token] = values, run(series, values)
        sums[series] = formed[token][1]
    return sums


def _all_answered(rows: ScoredRows, carried: Mapping[Series, float], counts: Floats | None) -> bool:
    """Whether every row, and every one before it, was answered with one of two classes."""
    if counts is None or (len(rows) and rows.p.min() == UNANSWERED):
        return False
    if not carried:  # a window: the rows before are among these
        return True
    before = carried.get(Series("answer", 0), 0.0) + carried.get(Series("answer", 1), 0.0)
    return bool(before == counts[0])


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
