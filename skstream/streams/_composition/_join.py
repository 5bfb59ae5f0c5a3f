"""One stream that changes into another, abruptly or gradually."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Drift, Stream
from skstream.streams._composition._base import (
    ComposedStream,
    Reader,
    block_of,
    check_parts,
    stacked,
    taken,
)
from skstream.utils._choices import check_count
from skstream.utils._seeds import uniform


def join_streams(
    before: Any, after: Any, position: int, width: int = 0, *, random_state: int = 0
) -> Stream:
    """Change from one stream to another at a row, abruptly or gradually.

    Row t comes from the second stream with probability 1 / (1 + exp(-4 (t - position) / width)):
    half of the rows at the position, 12 % half a width before it and 88 % half a width after it.
    Beyond two widths before and after it, the probability is 0 and 1.

    Parameters
    ----------
    before, after : Stream or iterable of chunks
        The streams, with the same features, classes and keys of meta data. Each gives its rows in
        order, from its first on. Once `before` has no more rows, all come from `after`.
    position : int
        Row in the middle of the change, at least 0 and at most the number of rows of `before`.
    width : int, default=0
        Width of the change in rows; 0: abrupt.
    random_state : int, default=0
        Seed of the choice between the streams, which depends only on the seed and the row number.

    Returns
    -------
    stream : Stream
        The first rows of `before`, about as many as `position`, and all rows of `after`. It ends
        when `after` runs out of rows. `drifts` contains the change, from one width before
        `position` to one width after it, where 2 % and 98 % of the rows come from `after`; and the
        drifts of both streams, at their rows in this one.

    Raises
    ------
    ValueError
        If the streams have other features, codes of categories or classes, or read the same
        iterator; if `before` has fewer rows than `position`, or `width` is negative.

    Warns
    -----
    UserWarning
        If both are generators of the same kind with the same seed.

    See Also
    --------
    concat : Puts all rows of one stream before those of another.

    Examples
    --------
    >>> from skstream.streams import SEA, join_streams
    >>> before, after = SEA(10_000, thresholds=[8]), SEA(5000, thresholds=[9], random_state=1)
    >>> stream = join_streams(before, after, position=4000, width=500)
    >>> stream.drifts
    (Drift(start=3500, end=4500),)
    >>> X, y = stream.rows(8000, 8500)
    """
    position = check_count(position, "position", 0)
    return Joined(before, after, position, check_count(width, "width", 0), random_state)


class Joined(ComposedStream):
    """One stream that changes into another; see `join_streams`.

    Parameters
    ----------
    before, after : Stream or iterable of chunks
        The streams.
    position, width : int
        Middle and width of the change.
    random_state : int
        Seed of the choices.
    """

    _own_options = ("position", "width", "random_state")

    def __init__(
        self, before: Any, after: Any, position: int, width: int, random_state: int
    ) -> None:
        super().__init__(before, after)
        check_parts(self.parts)
        self.position, self.width = position, width
        self.random_state = check_count(random_state, "random_state", 0)
        n_first = self.parts[0].n_rows
        if n_first is not None and position > n_first:
            raise self._too_short(n_first)
        self._mixing = Mixing(position, width, self.random_state, f"join {self.depth}", n_first)

    @cached_property
    def n_rows(self) -> int | None:
        """Number of rows; None if that of a stream is unknown."""
        before, after = self.parts
        if after.n_rows is None or (before.n_rows is None and not before.endless):
            return None
        return self._mixing.row_of_second(after.n_rows)

    @property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """The change, and drifts of both streams where they have come to be."""
        mixing, (before, after) = self._mixing, self.parts
        end = min(self.position + self.width, mixing.end)
        found = {Drift(max(0, self.position - self.width), end)} if end else set()
        for drift in before.drifts:
            row = mixing.row_of_first(drift.start)
            if row < mixing.end:
                found.add(Drift(row, mixing.row_of_first(drift.end)))
        for drift in after.drifts:
            row = mixing.row_of_second(drift.start)
            found.add(Drift(row, mixing.row_of_second(drift.end)))
        return tuple(sorted(found))

    def _made(self, readers: list[Reader]) -> Iterator[Chunk]:
        before, after = readers
        start, end = self._mixing.start, self._mixing.end
        yield from before.until(start)
        if before.n_rows < start:
            raise self._too_short(before.n_rows)
        row = start
        while row < end:
            stop = min(row + BLOCK, end)
            second = self._mixing.from_second(row, stop)
            first_rows = before.next_rows(int(np.count_nonzero(~second)))
            n_missing = int(np.count_nonzero(~second)) - sum(len(one.y) for one in first_rows)
            if n_missing:  # its length was not known
                if before.n_rows < self.position:
                    raise self._too_short(before.n_rows)
                last = int(np.flatnonzero(~second)[-n_missing])
                second[last:] = True
                end = stop
            n_second = int(np.count_nonzero(second))
            second_rows = after.next_rows(n_second)
            n_found = sum(len(one.y) for one in second_rows)
            if n_found < n_second:
                second = second[: int(np.flatnonzero(second)[n_found])]
            chunk = _mixed(first_rows, second_rows, second)
            if chunk is not None:
                yield chunk
            if n_found < n_second:
                return
            row = stop
        yield from after.until(inf)

    def _block(self, start: int, stop: int) -> Chunk:
        mixing = self._mixing
        second = mixing.from_second(start, stop)
        n_second, n_chosen = mixing.n_second(start), int(np.count_nonzero(second))
        n_first = start - n_second
        n_others = len(second) - n_chosen
        before, after = self.parts
        blocks = (
            [block_of(before, n_first, n_first + n_others)] if n_others else [],
            [block_of(after, n_second, n_second + n_chosen)] if n_chosen else [],
        )
        return _mixed(*blocks, second) or block_of(before, 0, 0)

    def _runs(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        for row in range(start, stop):
            n_second, of_second = self._mixing.n_second(row), self._mixing.from_second(row, row + 1)
            number = n_second if of_second[0] else row - n_second
            yield int(of_second[0]), number, number + 1

    def _too_short(self, n_rows: int) -> ValueError:
        return ValueError(
            f"position={self.position:,} is beyond the first stream, which has {n_rows:,} rows. "
            f"Give a position up to {n_rows:,}."
        )


def _mixed(first: list[Chunk], second: list[Chunk], from_second: Any) -> Chunk | None:
    """Return rows of two streams by turns; a stream may have more than are needed."""
    if not len(from_second):
        return None
    n_first = sum(len(chunk.y) for chunk in first)
    places = np.where(
        from_second, n_first + np.cumsum(from_second) - 1, np.cumsum(~from_second) - 1
    )
    return taken(stacked([*first, *second]), places)


#: Widths before and after the position within which rows come from both streams; beyond them the
#: sigmoid is below .0004 or above .9996.
REACH = 2
#: Rows whose choices are counted together.
BLOCK = 1 << 14


class Mixing:
    """Choice between two streams, row by row, with a share of the second that is a sigmoid.

    Parameters
    ----------
    position : int
        Row at which both are equally likely.
    width : int
        Width of the sigmoid; 0: the first stream before the position, the second from it on.
    seed : int
        Seed of the choices.
    name : str
        What the random numbers are for.
    n_first : int or None
        Rows that the first stream has, if that is known: after them all come from the second.

    Attributes
    ----------
    start, end : int
        First row that may come from the second stream, and first that cannot come from the first.
    """

    def __init__(self, position: int, width: int, seed: int, name: str, n_first: int | None):
        self.start = max(0, position - REACH * width)
        self._position, self._width, self._seed, self._name = position, width, seed, name
        self._latest = position + REACH * width
        self._n_first = n_first

    def choices(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which rows the second stream gives, as if the first had rows enough."""
        rows = np.arange(start, stop)
        chosen = rows >= self._latest
        low, high = max(start, self.start), min(stop, self._latest)
        if low < high:
            part = slice(low - start, high - start)
            share = expit(4 * (rows[part] - self._position) / max(self._width, 1))
            chosen[part] = uniform(self._seed, self._name, low, high) < share
        return chosen

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """How many rows the second stream has given before each block of the change, and after."""
        starts = range(self.start, self._latest, BLOCK)
        counts = [
            np.count_nonzero(self.choices(start, min(start + BLOCK, self._latest)))
            for start in starts
        ]
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def _n_chosen(self, row: int) -> int:
        """Count the choices of the second stream before a row."""
        if row <= self.start:
            return 0
        if row >= self._latest:
            return int(self._counts[-1]) + row - self._latest
        block = (row - self.start) // BLOCK
        in_block = self.choices(self.start + block * BLOCK, row)
        return int(self._counts[block]) + int(np.count_nonzero(in_block))

    @cached_property
    def end(self) -> int:
        """First row that cannot come from the first stream: the change or that stream is over."""
        if self._n_first is None or self._latest - self._n_chosen(self._latest) <= self._n_first:
            return self._latest
        # The first row that it should give and has not.
        return self._first_after(self._n_first, of_second=False, end=self._latest)

    def n_second(self, row: int) -> int:
        """Count the rows that the second stream has given before a row."""
        end = self.end
        return self._n_chosen(row) if row <= end else self._n_chosen(end) + row - end

    def from_second(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which rows the second stream gives."""
        return self.choices(start, stop) | (np.arange(start, stop) >= self.end)

    def row_of_first(self, number: int) -> int:
        """Return the row of the joined stream that is a row of the first; the end if none is."""
        return self._first_after(number, of_second=False, end=self.end)

    def row_of_second(self, number: int) -> int:
        """Return the row of the joined stream that is a row of the second."""
        n_mixed = self.n_second(self.end)
        if number >= n_mixed:
            return self.end + number - n_mixed
        return self._first_after(number, of_second=True, end=self.end)

    def _first_after(self, number: int, *, of_second: bool, end: int) -> int:
        def given_up_to(row: int) -> int:
            n_second = self._n_chosen(row + 1)
            return n_second if of_second else row + 1 - n_second

        return bisect_left(range(end), number + 1, key=given_up_to)
