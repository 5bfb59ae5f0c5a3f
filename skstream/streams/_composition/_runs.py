"""Streams of runs of rows of others: one after another, the first rows, later rows, by turns."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, count, takewhile
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Drift, Stream, between, moved
from skstream.streams._composition._base import ComposedStream, Reader, check_parts, has_rows
from skstream.utils._choices import check_count

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
        Whether there is a drift where one stream follows another. False: they are parts of one,
        such as the files of several days.

    Returns
    -------
    stream : Stream
        All rows of all streams. Its drifts are those of the streams, shifted by the rows before,
        and the seams. They are empty if a stream does not state its number of rows, until a pass
        has counted them.

    Raises
    ------
    ValueError
        If the streams have other features, codes of categories or classes, or two read the same
        iterator; if one that never ends is not the last.

    Warns
    -----
    UserWarning
        If two generators of the same kind have the same seed.

    See Also
    --------
    join_streams : Changes from one stream to another gradually.
    recurring : Alternates between streams.

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
                    f"Stream {k} never ends, so no other can follow: use take_rows(stream, n) for "
                    "its first rows."
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
        Number of rows, at least 1; a shorter stream is used in full.

    Returns
    -------
    stream : Stream
        These rows. Drifts that begin later are left out.

    Raises
    ------
    ValueError
        If `n` is not an integer of at least 1.

    See Also
    --------
    drop_rows : Returns the rows after the first ones.

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
        Number of rows to leave out, at least 0. Generators skip them; other streams are read and
        the rows dropped.

    Returns
    -------
    stream : Stream
        The remaining rows. Row numbers, also those of drifts, start at 0; arrival and label times
        in their meta data are unchanged.

    Raises
    ------
    ValueError
        If `n` is not an integer of at least 0, or no row is left.

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
        Number of rows, at least 1; a shorter stream is used in full.
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
    """Alternate between streams, each continuing where it left off.

    Parameters
    ----------
    *streams : Stream or iterable of chunks
        Two streams or more, with the same features, classes and keys of meta data.
    length : int or sequence of int
        Rows per turn: one number for all streams, or one for each.
    n_rows : int, default=None
        Number of rows; the last turn may be shorter. None: until a stream runs out of rows for its
        turn.

    Returns
    -------
    stream : Stream
        The alternating streams: no row occurs twice. Every turn but the first begins with a drift.

    Raises
    ------
    ValueError
        If the streams have other features, codes of categories or classes, two read the same
        iterator, or one has too few rows; if `n_rows` is missing and no stream is known to end.

    Warns
    -----
    UserWarning
        If two generators of the same kind have the same seed.

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
                raise ValueError("The numbers of rows of the streams are not known: pass n_rows=.")
            n_rows = min(ends)
        self._n_rows = check_count(n_rows, "n_rows", 1)
        if ends and min(ends) < self._n_rows:
            raise ValueError(
                f"n_rows={n_rows:,} is beyond the streams: one of them has no row left for its "
                f"turn at row {min(ends):,}. Use at most that many, or longer streams."
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
