"""Running sums of elementary series: what all forgetting mechanisms share.

A mechanism reads blocks of labelled rows and returns the sums at the places asked for. Sums of
0/1 series are exact integers, and no sum of real numbers is the difference of larger ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.metrics._class_tables import MANY_CLASSES
from skstream.metrics._columns import (
    CLASSWISE,
    LABEL_ONLY,
    NEEDS_INCLUSIVE,
    NEEDS_MAJORITY,
    NOTHING,
    UNANSWERED,
    Array,
    Columns,
    Floats,
    Series,
    expand,
)

Integers = NDArray[np.intp]
#: By kind: one array, or one for each class, of shape (n_ends,); of many classes one table.
SumsByKind = dict[str, Sequence[Floats] | Floats]

ROWS = Series("rows")
#: With fewer checkpoints in a block than this it is quicker to sum what lies between them than
#: to form the running sums at every row.
DENSE = 16


@dataclass(frozen=True, slots=True)
class Labelled:
    """Consecutive rows with a label and a positive weight; the scored ones are among them.

    Attributes
    ----------
    y, p, weight, previous
        As in `Columns`; `p` is `NOTHING` or NaN where a row was not asked.
    scored : ndarray of shape (n_scored,), dtype intp, or None
        Positions of the scored rows; None: all.
    """

    y: Array
    p: Array
    weight: Floats | None
    previous: Array | None
    scored: Integers | None

    @property
    def n_scored(self) -> int:
        """Number of scored rows."""
        return len(self.y) if self.scored is None else len(self.scored)

    def labels(self) -> Columns:
        """All rows, for what is asked of their labels alone."""
        return Columns(self.y, self.y, self.weight)

    def columns(self, majority: Array | None, inclusive: Array | None) -> Columns:
        """Return the scored rows, with the answers of the majority baseline to all rows."""
        columns = Columns(self.y, self.p, self.weight, self.previous, majority, inclusive)
        return columns if self.scored is None else columns[self.scored]


class SharedSums:
    """Running sums of labels alone: the first of several models forms them for all.

    Whoever hands one object to several measures promises that they read the same labels, weights
    and previous labels, in the same pieces. Which rows were scored may differ: then the sums
    over scored rows are formed again.

    See Also
    --------
    RunningMeasures : Takes it as `shared`.

    Examples
    --------
    >>> from skstream.forgetting import as_forgetting
    >>> from skstream.metrics import RunningMeasures, SharedSums, resolve_metrics
    >>> shared = SharedSums()
    >>> first, second = (
    ...     RunningMeasures(
    ...         resolve_metrics("kappa_m", classes=[0, 1]),
    ...         as_forgetting("cumulative"),
    ...         classes=[0, 1],
    ...         shared=shared,
    ...     )
    ...     for _ in range(2)
    ... )
    >>> y = [0, 0, 1, 1, 0]
    >>> for measures, answers in [(first, [0, 0, 0, 1, 0]), (second, [0, 0, 1, 1, 0])]:
    ...     measures.update(y, answers)
    >>> first.final()["cumulative"], second.final()["cumulative"]
    ({'kappa_m': 0.5}, {'kappa_m': 1.0})
    """

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str], tuple[tuple[Any, ...], dict[Series, Floats]]] = {}

    def _known(self, place: tuple[str, str], key: tuple[Any, ...]) -> dict[Series, Floats]:
        """Return the sums kept at a place, if they are those of the key."""
        at, sums = self._newest.get(place, ((), {}))
        return sums if at == key else {}

    def _keep(
        self, place: tuple[str, str], key: tuple[Any, ...], sums: Mapping[Series, Floats]
    ) -> None:
        """Keep sums for the models that follow."""
        if place not in self._newest or self._newest[place][0] != key:
            label_only = {s: array for s, array in sums.items() if s.kind in LABEL_ONLY}
            self._newest[place] = key, label_only

    def __getstate__(self) -> dict[str, Any]:
        return {"_newest": {}}


class RunningSums(ABC):
    """Sums of elementary series over what a forgetting mechanism remembers.

    Methods replace what they change and write into nothing, so that a shallow copy is a twin.

    Parameters
    ----------
    kinds : iterable of str
        Kinds of elementary series to carry.
    n_classes : int
        Number of classes; 0 for regression.
    """

    def __init__(self, kinds: Iterable[str], n_classes: int) -> None:
        kinds = frozenset(kinds)
        self.many_classes = n_classes > MANY_CLASSES
        by_class = CLASSWISE if self.many_classes else frozenset()
        self.class_kinds = sorted(kinds & by_class)
        self.series = expand(kinds - by_class, n_classes)
        self.label_series = expand({"label"} - by_class, n_classes)
        self.n_classes = n_classes
        self.n_scored = 0
        self.n_labelled = 0
        self.needs_majority = not kinds.isdisjoint(NEEDS_MAJORITY)
        self.needs_inclusive = not kinds.isdisjoint(NEEDS_INCLUSIVE)
        self.shared: SharedSums | None = None
        self.name = ""
        self._unscored = b""

    def share(self, shared: SharedSums, name: str) -> None:
        """Take part in sharing, under the name of this mechanism."""
        self.shared, self.name = shared, name

    def advance(self, rows: Labelled, ends: Integers) -> Iterable[SumsByKind]:
        """Read rows and return the sums after the first ``ends[i]`` of their scored ones.

        Parameters
        ----------
        rows : Labelled
            The next rows.
        ends : ndarray of shape (n_ends,)
            Non-decreasing, in ``[0, rows.n_scored]``.

        Returns
        -------
        iterable of SumsByKind
            At all ends; of many classes at some ends after the other, to be read once.
        """
        majority = inclusive = None
        known: dict[Series, Floats] = {}
        if self.needs_majority or self.needs_inclusive:
            if self.many_classes:
                answers = self._leading(rows)
            else:
                labels, known = self._label_sums(rows)
                answers = leading_code(labels)
            answers = answers.astype(rows.y.dtype, copy=False)
            majority, inclusive = answers[:-1], answers[1:]
            if self.n_labelled == 0 and len(majority):
                majority = majority.copy()
                majority[0] = NOTHING
        if self.shared is not None:
            self._note_unscored(rows)
            known = {**known, **self._shared_sums("scored", rows.n_scored)}
        columns = rows.columns(majority, inclusive)
        tables = self._class_tables(columns, ends) if self.class_kinds else {}
        sums = self._advance(columns, ends, known)
        self.n_scored += rows.n_scored
        self.n_labelled += len(rows.y)
        by_kind: dict[str, list[Floats]] = {}
        for series in self.series:
            by_kind.setdefault(series.kind, []).append(sums[series])
        return _with_tables(by_kind, tables) if tables else [dict(by_kind)]

    def _note_unscored(self, rows: Labelled) -> None:
        """Follow which rows were scored, in a few bytes."""
        if rows.scored is not None:
            where = np.array([self.n_labelled, len(rows.y)]).tobytes() + rows.scored.tobytes()
            self._unscored = blake2b(self._unscored + where, digest_size=16).digest()

    def _shared_sums(self, what: str, n_new: int) -> dict[Series, Floats]:
        """Return what another model's measures formed over the same rows."""
        if self.shared is None:
            return {}
        return self.shared._known((self.name, what), self._share_key(what, n_new))

    def _share(self, what: str, n_new: int, sums: Mapping[Series, Floats]) -> None:
        """Let other models' measures have these sums."""
        if self.shared is not None:
            self.shared._keep((self.name, what), self._share_key(what, n_new), sums)

    def _share_key(self, what: str, n_new: int) -> tuple[Any, ...]:
        return (self.n_labelled, n_new, b"" if what == "labels" else self._unscored)

    @abstractmethod
    def _label_sums(self, rows: Labelled) -> tuple[list[Floats], dict[Series, Floats]]:
        """Read the labels of all rows.

        Returns
        -------
        sums : list of ndarray
            For every class its sum after 0, 1, ..., n of the labelled rows.
        known : dict of Series to ndarray
            The running sums of the scored rows that were computed on the way.
        """

    @abstractmethod
    def _leading(self, rows: Labelled) -> Array:
        """Read the labels of all rows, of many classes.

        Returns
        -------
        ndarray of shape (n + 1,)
            Code of the class with the largest sum after 0, 1, ..., n of the labelled rows.
        """

    @abstractmethod
    def _class_tables(self, columns: Columns, ends: Integers) -> dict[str, Iterator[Floats]]:
        """Read scored rows, of many classes; before `_advance` reads them.

        Returns
        -------
        dict of str to iterator of ndarray of shape (n_some_ends, n_classes)
            By kind, the sums at some of the ends after the other; the same for all kinds.
        """

    @abstractmethod
    def _advance(
        self, columns: Columns, ends: Integers, known: dict[Series, Floats]
    ) -> dict[Series, Floats]:
        """Read scored rows and return the sums of every series at the ends."""

    @abstractmethod
    def oldest(self, ends: Integers) -> Integers:
        """Return the number of the oldest row that counts after ``ends[i]`` scored rows."""

    def merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""
        self.shared = None  # other models' measures did not read these rows in one go
        self._merge(later)

    @abstractmethod
    def _merge(self, later: Self) -> None:
        """Append the sums of the rows that followed."""

    def copy(self) -> Self:
        """Return a twin that can be advanced on its own."""
        return copy(self)


def _with_tables(
    by_kind: Mapping[str, Sequence[Floats]], tables: Mapping[str, Iterator[Floats]]
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
    columns: Columns,
    run: Callable[[Series, Array], Floats],
    carried: Mapping[Series, float],
    counts: Floats | None,
    n_classes: int,
    known: dict[Series, Floats],
) -> dict[Series, Floats]:
    """Running sums of several series, none of them formed twice.

    Parameters
    ----------
    wanted : sequence of Series
        Those wanted.
    columns : Columns
        The rows.
    run : callable
        ``run(series, values)`` forms a running sum.
    carried : mapping of Series to float
        What the running sums begin with, where it is not 0.
    counts : ndarray, or None
        Running number of rows, where all weights are 1 and counts are exact. Of two classes
        one is then what the other leaves.
    n_classes : int
        Number of classes.
    known : dict of Series to ndarray
        Those that are there already.

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
            or (series.kind == "answer" and _all_answered(columns, carried, counts))
        )
        if counts is not None and n_classes == 2 and exhaustive:
            sums[series] = counts - sums[Series(series.kind, 1)]
            continue
        values = columns.series(series)
        token = id(values), carried.get(series, 0.0)
        if token not in formed:
            formed[token] = values, run(series, values)
        sums[series] = formed[token][1]
    return sums


def _all_answered(columns: Columns, carried: Mapping[Series, float], counts: Floats | None) -> bool:
    """Whether every row, and every one before it, was answered with one of two classes."""
    if counts is None or (len(columns) and columns.p.min() == UNANSWERED):
        return False
    if not carried:  # a window: the rows before are among the columns
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
        # Codes only grow, so the maximum is the code of the newest leader.
        np.maximum(code, ahead * code.dtype.type(challenger), out=code)
    return code


def as_slice(ends: Integers) -> slice | Integers:
    """Return the ends as a slice where they are consecutive."""
    n = len(ends)
    if n and ends[-1] - ends[0] == n - 1 and bool((ends[1:] > ends[:-1]).all()):
        return slice(int(ends[0]), int(ends[-1]) + 1)
    return ends
