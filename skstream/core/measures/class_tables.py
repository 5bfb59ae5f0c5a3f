"""Sums by class where there are many classes: only classes that occur are computed.

Usually there is a running sum per class at every row. With a thousand classes a row changes one or
two of them. So here the sums of all classes are formed at the checkpoints alone, a few checkpoints
at a time. The class with the largest sum is looked for among the classes that occur within a few
rows, and the best of the others.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from typing import NamedTuple

import numpy as np

from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.utils._running_sums import accumulate

#: With more classes than these, sums are formed here.
MANY_CLASSES = 128
# Numbers in a table: a few tables fit the cache, and freed memory is used again.
_TABLE_NUMBERS = 1 << 16
# Rows among whose classes the largest sum is looked for at a time.
_ROWS_AT_A_TIME = 64


class Coded(NamedTuple):
    """Rows by class.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of each row; below 0 for a row of none.
    weight : ndarray of shape (n,), or None
        None where all are 1.
    """

    codes: Array
    weight: Floats | None

    @classmethod
    def of(cls, rows: ScoredRows, kind: str) -> "Coded":
        """Rows by the class that a series counts: by label, answer, or label if they agree."""
        if kind == "answer":
            return cls(rows.p, rows.weight)
        codes = rows.y if kind == "label" else np.where(rows.wrong, -1, rows.y)
        return cls(codes, rows.weight)

    def part(self, rows: slice) -> "Coded":
        """Return some of the rows."""
        return Coded(self.codes[rows], None if self.weight is None else self.weight[rows])


def sums_between(
    rows: Coded, bounds: Integers | Sequence[int], n_classes: int, factor: float = 1.0
) -> Floats:
    """Sums by class of the rows up to the first bound, and from each to the next.

    Parameters
    ----------
    rows : Coded
    bounds : sequence of int
        Non-decreasing numbers of rows.
    n_classes : int
    factor : float, default=1.0
        What remains of a row with every later one up to its bound.

    Returns
    -------
    ndarray of shape (n_bounds, n_classes)
    """
    bounds = np.asarray(bounds, dtype=np.intp)
    lengths = np.diff(bounds, prepend=0)
    n = int(bounds[-1])
    codes, weight = rows.part(slice(n))
    if factor != 1.0:
        faded = factor ** (np.repeat(bounds, lengths) - np.arange(1.0, n + 1))
        weight = faded if weight is None else weight * faded
    cells = np.repeat(np.arange(len(bounds)) * n_classes, lengths) + codes
    counted = codes >= 0
    if not counted.all():
        cells, weight = cells[counted], None if weight is None else weight[counted]
    sums = np.bincount(cells, weight, minlength=len(bounds) * n_classes)
    return sums.reshape(len(bounds), n_classes).astype(np.float64, copy=False)


def sums_at_ends(
    rows: Coded, ends: Integers, carried: Floats, factor: float = 1.0
) -> Iterator[Floats]:
    """Sums by class after the first ``ends[i]`` rows, added to what is carried.

    Parameters
    ----------
    rows : Coded
    ends : ndarray of shape (n_ends,)
        Non-decreasing.
    carried : ndarray of shape (n_classes,)
        Sums before the first row.
    factor : float, default=1.0
        What remains of a sum with every row.

    Yields
    ------
    ndarray of shape (n_some_ends, n_classes)
        For a few of the ends after the other.
    """
    start = 0
    for some in a_few(ends, len(carried)):
        table = sums_between(rows.part(slice(start, None)), some - start, len(carried), factor)
        if factor == 1.0:
            table[0] += carried
            accumulate(table)
        else:
            for sums, n_rows in zip(table, np.diff(some, prepend=start).tolist(), strict=True):
                sums += factor**n_rows * carried
                carried = sums
        start, carried = int(some[-1]), table[-1].copy()
        yield table


def sums_in_window(
    rows: Coded, n_old: int, ends: Integers, size: int, n_classes: int
) -> Iterator[Floats]:
    """Sums by class over the last `size` of the first ``n_old + ends[i]`` rows.

    Parameters
    ----------
    rows : Coded
        The last `n_old` earlier rows (as many as fit the window), then the new ones.
    n_old : int
    ends : ndarray of shape (n_ends,)
        Non-decreasing.
    size : int
    n_classes : int

    Yields
    ------
    ndarray of shape (n_some_ends, n_classes)
        For a few of the ends after the other.
    """
    ends = ends + n_old
    if rows.weight is not None:
        yield from _weights_in_window(rows, ends, size, n_classes)
        return
    begins = np.maximum(ends - size, 0)
    came = sums_at_ends(
        rows.part(slice(n_old, None)),
        ends - n_old,
        sums_between(rows, [n_old], n_classes)[0],
    )
    for arrived, left in zip(came, sums_at_ends(rows, begins, np.zeros(n_classes)), strict=True):
        yield arrived - left  # counts: exact


def _weights_in_window(rows: Coded, ends: Integers, size: int, n_classes: int) -> Iterator[Floats]:
    """Sum real numbers without subtracting any of them again.

    Windows that have a row in common are divided there: each is the end of the rows before it and
    the beginning of the rows after it.
    """
    nothing = np.zeros(n_classes)
    first = 0
    while first < len(ends):
        middle = int(ends[first])
        stop = int(np.searchsorted(ends, middle + size, side="right"))
        some = next(a_few(ends[first:stop], n_classes))
        begins = np.maximum(some - size, 0)
        newer = rows.part(slice(middle, int(some[-1])))
        older = rows.part(slice(int(begins[0]), middle))
        older = Coded(older.codes[::-1], None if older.weight is None else older.weight[::-1])
        (table,) = sums_at_ends(newer, some - middle, nothing)
        (more,) = sums_at_ends(older, (middle - np.minimum(begins, middle))[::-1], nothing)
        table += more[::-1]
        yield table
        first += len(some)


def a_few(ends: Integers, n_classes: int) -> Iterator[Integers]:
    """Divide ends into parts for which a table of the sums of all classes is not too large."""
    most = max(_TABLE_NUMBERS // n_classes, 1)
    for first in range(0, len(ends), most):
        yield ends[first : first + most]


def leading_codes(rows: Coded, sums: Floats, factor: float = 1.0) -> tuple[Array, Floats]:
    """Codes of the largest sum, the lowest among equals, as the sums grow and fade.

    Parameters
    ----------
    rows : Coded
        Every row has a class.
    sums : ndarray of shape (n_classes,)
        Before the first row.
    factor : float, default=1.0
        What remains of a sum with every row.

    Returns
    -------
    codes : ndarray of shape (n + 1,)
        After 0, 1, ..., n rows.
    sums : ndarray of shape (n_classes,)
        After the last.
    """

    def running(part: slice, members: Integers, before: Floats) -> Floats:
        some = rows.part(part)
        changes = np.zeros((len(some.codes) + 1, len(members)))
        changes[0] = before
        at = np.arange(1, len(changes)), np.searchsorted(members, some.codes)
        changes[at] = 1.0 if some.weight is None else some.weight
        return accumulate(changes, factor)

    n = len(rows.codes)
    return _leading(sums, n, _ROWS_AT_A_TIME, lambda part: rows.codes[part], running, factor)


def leading_codes_in_window(
    rows: Coded, n_old: int, sums: Floats, size: int
) -> tuple[Array, Floats]:
    """Codes of the largest sum over a window, the lowest among equals.

    Parameters
    ----------
    rows : Coded
        The last `n_old` earlier rows (as many as fit the window), then the new ones. Every row
        has a class.
    n_old : int
    sums : ndarray of shape (n_classes,)
        Before the first new row.
    size : int

    Returns
    -------
    codes : ndarray of shape (n + 1,)
        After 0, 1, ..., n of the new rows.
    sums : ndarray of shape (n_classes,)
        After the last.
    """

    def come_and_go(part: slice) -> tuple[slice, slice]:
        """Rows that come and that go within a part of the new rows."""
        come = slice(n_old + part.start, n_old + part.stop)
        return come, slice(max(come.start - size, 0), max(come.stop - size, 0))

    def touched(part: slice) -> Array:
        come, go = come_and_go(part)
        return np.concatenate((rows.codes[come], rows.codes[go]))

    def running(part: slice, members: Integers, before: Floats) -> Floats:
        come, go = come_and_go(part)
        n = part.stop - part.start
        if rows.weight is not None:
            position = np.full(len(sums), -1)
            position[members] = np.arange(len(members))
            remembered = rows.part(slice(go.start, come.stop))
            coded = Coded(position[remembered.codes], remembered.weight)
            ends = np.arange(n + 1)
            n_before = come.start - go.start
            tables = sums_in_window(coded, n_before, ends, size, len(members))
            return np.concatenate(list(tables))
        changes = np.zeros((n + 1, len(members)))
        changes[0] = before
        changes[np.arange(1, n + 1), np.searchsorted(members, rows.codes[come])] = 1.0
        gone = np.searchsorted(members, rows.codes[go])
        changes[np.arange(n + 1 - len(gone), n + 1), gone] -= 1.0
        return accumulate(changes)

    length = _ROWS_AT_A_TIME
    if rows.weight is not None:  # every time all rows of the window are read
        length = min(max(length, isqrt(size)), size)
    return _leading(sums, len(rows.codes) - n_old, length, touched, running)


def _leading(
    sums: Floats,
    n: int,
    length: int,
    touched: Callable[[slice], Array],
    running: Callable[[slice, Integers, Floats], Floats],
    factor: float = 1.0,
) -> tuple[Array, Floats]:
    """Find the largest sum at every row, among the classes of these rows and the best other one."""
    sums = sums.copy()
    codes = np.empty(n + 1, dtype=np.min_scalar_type(-len(sums)))
    codes[0] = sums.argmax()
    for start in range(0, n, length):
        part = slice(start, min(start + length, n))
        members = np.unique(touched(part)).astype(np.intp)
        if len(members) < len(sums):
            others = sums.copy()
            others[members] = -1.0
            members = np.sort(np.append(members, others.argmax()))
        after = running(part, members, sums[members])
        codes[part.start + 1 : part.stop + 1] = members[after[1:].argmax(axis=1)]
        if factor != 1.0:
            sums *= factor ** (part.stop - part.start)
        sums[members] = after[-1]
    return codes, sums
