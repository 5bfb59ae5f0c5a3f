"""The first rows of a stream, and those after them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._chunk import Chunk
from skstream.streams._composition._base import (
    ComposedStream,
    Reader,
    block_of,
    has_rows,
)
from skstream.streams._drifts import Drift, between
from skstream.streams._stream import Stream
from skstream.utils._choices import check_count

#: Rows per chunk where a stream does not begin at its first row.
_CHUNK = 65536


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

    def _own_options(self) -> tuple[str, ...]:
        return ()

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the stream, the last one shortened."""
        reader = Reader(self.parts[0])
        while reader.n_rows < self.n and (chunk := reader.some(self.n - reader.n_rows)) is not None:
            yield chunk

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        left = self.n
        for y in self.parts[0].labels():
            yield y[:left]
            left -= len(y)
            if left <= 0:
                return

    def _block(self, start: int, stop: int) -> Chunk:
        return block_of(self.parts[0], start, stop)

    def _source_of(self, row: int) -> tuple[int, int]:
        return 0, row


class LaterRows(ComposedStream):
    """The rows of another stream from one on.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    n : int
        Number of rows that are left out.
    """

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

    def _found_drifts(self) -> tuple[Drift, ...]:
        """Drifts that have not ended before these rows."""
        return between(self.parts[0].drifts, self.n, None)

    def _own_options(self) -> tuple[str, ...]:
        return ("n",)

    def chunks(self) -> Iterator[Any]:
        """Chunks of the stream, from the first of these rows on."""
        (part,) = self.parts
        if has_rows(part):
            start, end = 0, np.inf if self.n_rows is None else self.n_rows
            while start < end:
                stop = int(min(start + _CHUNK, end))
                yield self._block(start, stop)
                start = stop
            return
        reader = Reader(part)
        while reader.n_rows < self.n and reader.some(self.n - reader.n_rows) is not None:
            pass
        n_found = reader.n_rows
        chunk = None
        for chunk in reader.rest():
            yield chunk
        if chunk is None:
            raise ValueError(f"drop_rows(n={self.n:,}) leaves no row: the stream has {n_found:,}.")

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        (part,) = self.parts
        if has_rows(part):
            yield from super().labels()
            return
        left = self.n
        for y in part.labels():
            if left < len(y):
                yield y[left:]
            left = max(0, left - len(y))

    def _block(self, start: int, stop: int) -> Chunk:
        return block_of(self.parts[0], start + self.n, stop + self.n)

    def _source_of(self, row: int) -> tuple[int, int]:
        return 0, row + self.n
