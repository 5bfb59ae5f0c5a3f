"""Streams that follow one another, or come again."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, count, takewhile
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Drift, Stream, between, moved
from skstream.streams._composition._base import (
    ComposedStream,
    Reader,
    block_of,
    check_parts,
    has_rows,
    stacked,
    taken,
)
from skstream.utils._choices import check_count
from skstream.utils._seeds import uniform

#: Rows per chunk where a stream does not begin at its first row.
_CHUNK = 65536


def concat(*streams: Any, seams_are_drifts: bool = True) -> Stream:
    """Put streams one after another.

    Parameters
    ----------
    *streams : Stream or iterable of chunks
        The streams, with the same features, classes and keys of meta data. The last one may be
        endless.
    seams_are_drifts : bool, default=True
        Whether the truth changes where one stream follows another. False: they are parts of one,
        such as the files of several days.

    Returns
    -------
    stream : Stream
        All rows of all streams. Its drifts are theirs, later by the rows before, and the seams.
        They are empty where a stream does not say its number of rows, until a pass has counted it.

    Raises
    ------
    ValueError
        If the streams have other features, codes of categories or classes, or two read the same
        iterator; if one that never ends is not the last.

    Warns
    -----
    UserWarning
        If two generators of a kind have the same seed.

    See Also
    --------
    join_streams : One stream changes into another gradually.
    recurring : Streams by turns.

    Examples
    --------
    >>> from skstream.streams import SEA, concat
    >>> before = SEA(1000, thresholds=[8])
    >>> stream = concat(before, SEA(500, thresholds=[9], random_state=1))
    >>> stream.n_rows, stream.drifts
    (1500, (Drift(start=1000, end=1000),))
    """
    if not streams:
        raise ValueError("concat needs at least one stream.")
    return Concatenation(*streams, seams_are_drifts=seams_are_drifts)


class Concatenation(ComposedStream):
    """Streams one after another; see `concat`.

    Parameters
    ----------
    *streams : Stream or iterable of chunks
        The streams.
    seams_are_drifts : bool
        Whether the truth changes at the seams.
    """

    def __init__(self, *streams: Any, seams_are_drifts: bool) -> None:
        super().__init__(*streams)
        check_parts(self.parts)
        self.seams_are_drifts = seams_are_drifts
        self._counted: dict[int, int] = {}  # rows of parts, in the last pass
        for k, part in enumerate(self.parts[:-1]):
            if part.endless:
                raise ValueError(
                    f"Stream {k} never ends, so that no other can follow: take_rows(stream, n) "
                    "takes its first rows."
                )

    @property
    def n_rows(self) -> int | None:
        """Number of rows of all streams; None if one is unknown."""
        known = [part.n_rows for part in self.parts]
        return None if None in known else sum(known)  # type: ignore[arg-type]

    @property
    def _begins(self) -> list[int]:
        """First row of each stream, as far as they are known."""
        known: list[int] = []
        for k, part in enumerate(self.parts[:-1]):
            n_rows = self._counted.get(k) if part.n_rows is None else part.n_rows
            if n_rows is None:
                break
            known.append(n_rows)
        return list(accumulate(known, initial=0))

    @property
    def knows_drifts(self) -> bool:
        """Whether those of the parts are known, and the first row of each part that has some."""
        later = self.parts[len(self._begins) :]
        moves = self.seams_are_drifts or any(part.drifts for part in later)
        return super().knows_drifts and not (later and moves)

    @property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """Drifts of the streams, and their seams."""
        begins = self._begins
        drifts = [
            drift
            for part, begin in zip(self.parts, begins, strict=False)
            for drift in moved(part.drifts, begin)
        ]
        if self.seams_are_drifts:
            drifts += [Drift(begin, begin) for begin in begins[1:]]
        return tuple(sorted(set(drifts)))

    def _made(self, readers: list[Reader]) -> Iterator[Chunk]:
        for k, reader in enumerate(readers):
            yield from reader.until(inf)
            self._counted[k] = reader.n_rows

    def _runs(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        begins = self._begins
        n_last = self.parts[len(begins) - 1].n_rows
        ends = [*begins[1:], inf if n_last is None else begins[-1] + n_last]
        for k, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            low, high = max(start, begin), min(stop, end)
            if low < high:
                yield k, low - begin, int(high) - begin


def take_rows(stream: Any, n: int) -> Stream:
    """Return the first rows of a stream.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream; it may be endless.
    n : int
        Number of rows, at least 1; a shorter stream is taken whole.

    Returns
    -------
    stream : Stream
        These rows. Drifts that begin later are left out.

    Raises
    ------
    ValueError
        If `n` is no integer of at least 1.

    See Also
    --------
    drop_rows : The rows after the first ones.

    Examples
    --------
    >>> from skstream.streams import SEA, take_rows
    >>> endless = SEA(None, change_rows=[1000, 2000, 3000])
    >>> stream = take_rows(endless, 1500)
    >>> stream.n_rows, stream.drifts
    (1500, (Drift(start=1000, end=1000),))
    """
    return FirstRows(stream, check_count(n, "n", 1))


def drop_rows(stream: Any, n: int) -> Stream:
    """Return the rows of a stream after the first ones.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    n : int
        Number of rows to leave out, at least 0. Generators do not make them; other streams are
        read, and rows dropped.

    Returns
    -------
    stream : Stream
        The other rows. Their numbers, and those of drifts, begin with 0; times of arrival and of
        labels in their meta data stay.

    Raises
    ------
    ValueError
        If `n` is no integer of at least 0, or no row is left.

    See Also
    --------
    take_rows : The first rows.

    Examples
    --------
    >>> from skstream.streams import SEA, drop_rows
    >>> stream = drop_rows(SEA(4000), 1500)
    >>> stream.n_rows, stream.drifts
    (2500, (Drift(start=500, end=500), Drift(start=1500, end=1500)))
    """
    return LaterRows(stream, check_count(n, "n", 0))


class FirstRows(ComposedStream):
    """The first rows of another stream.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    n : int
        Number of rows, at least 1; a shorter stream is taken whole.
    """

    def __init__(self, stream: Any, n: int) -> None:
        super().__init__(stream)
        self.n = n

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if that of a stream is unknown, and it may be shorter."""
        (part,) = self.parts
        if part.n_rows is None:
            return self.n if part.endless else None
        return min(part.n_rows, self.n)

    @property
    def endless(self) -> bool:
        """False: the stream ends with the last of these rows."""
        return False

    @property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """Drifts that begin in these rows."""
        return between(self.parts[0].drifts, 0, self.n)

    def row_options(self) -> dict[str, Any]:
        """Return the options of the stream; the number of rows is compared anyway if it is known.

        Returns
        -------
        options : dict of str to object
            Values by name.
        """
        options = self.parts[0].row_options()
        return options if self.n_rows is not None else {**options, "n": self.n}

    def _made(self, readers: list[Reader]) -> Iterator[Chunk]:
        yield from readers[0].until(self.n)


class LaterRows(ComposedStream):
    """The rows of another stream from one on.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    n : int
        Number of rows that are left out.
    """

    _own_options = ("n",)

    def __init__(self, stream: Any, n: int) -> None:
        super().__init__(stream)
        known = self.parts[0].n_rows
        if known is not None and known <= n:
            raise ValueError(f"drop_rows(n={n:,}) leaves no row: the stream has {known:,}.")
        self.n = n

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if that of the stream is unknown."""
        known = self.parts[0].n_rows
        return None if known is None else known - self.n

    @property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """Drifts that have not ended before these rows."""
        return between(self.parts[0].drifts, self.n, None)

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the stream, from the first of these rows on."""
        if not has_rows(self.parts[0]):
            yield from super().chunks()
            return
        end = inf if self.n_rows is None else self.n_rows
        for start in takewhile(lambda start: start < end, count(0, _CHUNK)):
            yield self._block(start, int(min(start + _CHUNK, end)))

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        has_blocks = has_rows(self.parts[0])
        yield from (chunk.y for chunk in self.chunks()) if has_blocks else super().labels()

    def _made(self, readers: list[Reader]) -> Iterator[Chunk]:
        (reader,) = readers
        for _ in reader.until(self.n):
            pass
        n_left_out = reader.n_rows
        yield from reader.until(inf)
        if reader.n_rows == n_left_out:
            raise ValueError(
                f"drop_rows(n={self.n:,}) leaves no row: the stream has {n_left_out:,}."
            )

    def _runs(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        yield 0, start + self.n, stop + self.n


def recurring(*streams: Any, length: int | Sequence[int], n_rows: int | None = None) -> Stream:
    """Let streams come by turns, each going on where it was left.

    Parameters
    ----------
    *streams : Stream or iterable of chunks
        Two streams or more, with the same features, classes and keys of meta data.
    length : int or sequence of int
        Rows of a turn: of every stream, or of each.
    n_rows : int, default=None
        Number of rows; the last turn may be shorter. None: until a stream has no row left for its
        turn.

    Returns
    -------
    stream : Stream
        The streams by turns: no row comes twice, and those that a turn would take after the last
        row are left out. Every turn but the first begins with a drift.

    Raises
    ------
    ValueError
        If the streams have other features, codes of categories or classes, two read the same
        iterator, or one has too few rows; if `n_rows` is missing and none is known to end.

    Warns
    -----
    UserWarning
        If two generators of a kind have the same seed.

    Examples
    --------
    >>> from skstream.streams import SEA, recurring
    >>> summer, winter = SEA(None, thresholds=[8]), SEA(None, thresholds=[9.5], random_state=1)
    >>> stream = recurring(summer, winter, length=1000, n_rows=2500)
    >>> stream.drifts
    (Drift(start=1000, end=1000), Drift(start=2000, end=2000))
    """
    if len(streams) < 2:
        raise ValueError(f"recurring needs at least two streams. Got {len(streams)}.")
    lengths = [length] * len(streams) if np.ndim(length) == 0 else list(length)  # type: ignore[arg-type]
    if len(lengths) != len(streams):
        raise ValueError(
            f"length must be one number of rows, or one for each of the {len(streams)} streams. "
            f"Got {length!r} instead."
        )
    checked = [check_count(one, "length", 1) for one in lengths]
    return Turns(*streams, length=checked, n_rows=n_rows)


class Turns(ComposedStream):
    """Streams by turns; see `recurring`.

    Parameters
    ----------
    *streams : Stream or iterable of chunks
        The streams.
    length : list of int
        Rows of a turn of each.
    n_rows : int or None
        Number of rows.
    """

    _own_options = ("length", "n_rows")

    def __init__(self, *streams: Any, length: list[int], n_rows: int | None) -> None:
        super().__init__(*streams)
        check_parts(self.parts)
        self.length = length
        self._begins = list(accumulate(length[:-1], initial=0))  # in a round
        self._round = sum(length)
        ends = [
            self._row_of(k, part.n_rows)
            for k, part in enumerate(self.parts)
            if part.n_rows is not None
        ]
        if n_rows is None:
            if len(ends) < sum(not part.endless for part in self.parts) or not ends:
                raise ValueError(
                    "It is not known how many rows the streams have: say how many are wanted, "
                    "n_rows=."
                )
            n_rows = min(ends)
        self._n_rows = check_count(n_rows, "n_rows", 1)
        if ends and min(ends) < self._n_rows:
            raise ValueError(
                f"n_rows={n_rows:,} is beyond the streams: one of them has no row left for its "
                f"turn at row {min(ends):,}. Give at most so many, or longer streams."
            )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_rows

    @property
    def endless(self) -> bool:
        """False: the last turn is known."""
        return False

    @property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """First rows of all turns but the first, and drifts of the streams."""
        turns = accumulate(last - first for _, first, last in self._runs(0, self._n_rows))
        found = {Drift(row, row) for row in turns if row < self._n_rows}
        for k, part in enumerate(self.parts):
            for drift in part.drifts:
                start = self._row_of(k, drift.start)
                if start < self._n_rows:
                    end = start if drift.start == drift.end else 1 + self._row_of(k, drift.end - 1)
                    found.add(Drift(start, min(end, self._n_rows)))
        return tuple(sorted(found))

    def _row_of(self, part: int, number: int) -> int:
        """Return the row of this stream that is a row of a part."""
        n_rounds, rest = divmod(number, self.length[part])
        return n_rounds * self._round + self._begins[part] + rest

    def _runs(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        for number in count(start // self._round):
            for part, (begin, length) in enumerate(zip(self._begins, self.length, strict=True)):
                row = number * self._round + begin
                if row >= stop:
                    return
                if row + length > start:
                    low, high = max(start - row, 0), min(stop - row, length)
                    yield part, number * length + low, number * length + high

    def _made(self, readers: list[Reader]) -> Iterator[Chunk]:
        for part, _, last in self._runs(0, self._n_rows):
            reader = readers[part]
            yield from reader.until(last)
            if reader.n_rows < last:
                raise ValueError(
                    f"Stream {part} ended after {reader.n_rows:,} rows, and {last:,} of them are "
                    f"needed for n_rows={self._n_rows:,}."
                )


def join_streams(
    before: Any, after: Any, position: int, width: int = 0, *, random_state: int = 0
) -> Stream:
    """Let one stream change into another at a row, abruptly or gradually.

    Row t comes from the second stream with the probability 1 / (1 + exp(-4 (t - position) /
    width)): half of the rows at the position, 12 % half a width before it and 88 % half a width
    after it. It is taken as 0 and as 1 from two widths before and after it on.

    Parameters
    ----------
    before, after : Stream or iterable of chunks
        The streams, with the same features, classes and keys of meta data. Each gives its rows in
        their order, from its first on. Once `before` has no more rows, all come from `after`.
    position : int
        Row in the middle of the change, at least 0 and at most the number of rows of `before`.
    width : int, default=0
        Width of the change in rows; 0: abrupt.
    random_state : int, default=0
        Seed of the choice between the streams, which is addressed by the row.

    Returns
    -------
    stream : Stream
        The first rows of `before`, about as many as `position`, and all rows of `after`. It ends
        with the first row that `after` should give and has not. `drifts` has the change, from one
        width before `position` to one width after it, where 2 % and 98 % of the rows come from
        `after`; and those of both streams where they have come to be.

    Raises
    ------
    ValueError
        If the streams have other features, codes of categories or classes, or read the same
        iterator; if `before` has fewer rows than `position`, or `width` is negative.

    Warns
    -----
    UserWarning
        If both are generators of a kind with the same seed.

    See Also
    --------
    concat : All rows of one stream, then those of another.

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
