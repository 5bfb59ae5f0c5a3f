"""Streams that come by turns: concepts that recur."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, count
from typing import Any

import numpy as np

from skstream.streams._chunk import Chunk
from skstream.streams._composition._base import (
    ComposedStream,
    Reader,
    block_of,
    stacked,
)
from skstream.streams._composition._checks import check_parts
from skstream.streams._drifts import Drift
from skstream.streams._stream import Stream
from skstream.utils._choices import check_count


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

    def _found_drifts(self) -> tuple[Drift, ...]:
        """First rows of all turns but the first, and drifts of the streams."""
        found = {Drift(row, row) for row, _, _ in self._turns(0, self._n_rows) if row}
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

    def _turns(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the turns that have rows from one to another: first row, part, its first row."""
        for number in count(start // self._round):
            for part, begin in enumerate(self._begins):
                row = number * self._round + begin
                if row >= stop:
                    return
                if row + self.length[part] > start:
                    yield row, part, number * self.length[part]

    def _own_options(self) -> tuple[str, ...]:
        return "length", "n_rows"

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the streams, turn by turn."""
        readers = [Reader(part) for part in self.parts]
        for begin, part, first in self._turns(0, self._n_rows):
            reader = readers[part]
            last = first + min(self.length[part], self._n_rows - begin)
            while reader.n_rows < last:
                chunk = reader.some(last - reader.n_rows)
                if chunk is None:
                    raise ValueError(
                        f"Stream {part} ended after {reader.n_rows:,} rows, and {last:,} of them "
                        f"are needed for n_rows={self._n_rows:,}."
                    )
                yield chunk

    def _block(self, start: int, stop: int) -> Chunk:
        found = []
        for begin, part, first in self._turns(start, stop):
            low, high = max(start, begin), min(stop, begin + self.length[part])
            if low < high:
                found.append(block_of(self.parts[part], first + low - begin, first + high - begin))
        return stacked(found) if found else block_of(self.parts[0], 0, 0)

    def _source_of(self, row: int) -> tuple[int, int]:
        begin, part, first = next(self._turns(row, row + 1))
        return part, first + row - begin
