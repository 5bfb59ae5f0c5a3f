"""Base class of streams that are made of other streams."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._arrays import as_stream
from skstream.streams._chunk import Chunk
from skstream.streams._drifts import Drift
from skstream.streams._stream import Stream, check_block
from skstream.utils._rows import stack_rows, take_rows

#: Blocks of rows, ``(X, y)`` or ``(X, y, meta)``, by their first row and the one after the last.
Rows = Callable[[int, int], tuple[Any, ...]]


class ComposedStream(Stream):
    """Stream made of other streams, which keeps what they have in common.

    Attributes
    ----------
    parts : tuple of Stream
        The streams it is made of.
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = tuple(as_stream(part) for part in parts)

    @property
    def reiterable(self) -> bool:
        """Whether all parts can be iterated again."""
        return all(part.reiterable for part in self.parts)

    @property
    def classes(self) -> NDArray[Any] | None:
        """Classes of the parts; None if one of them does not know its own."""
        known = [part.classes for part in self.parts]
        return None if any(one is None for one in known) else known[0]

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features, where all parts have the same."""
        names = [part.feature_names for part in self.parts]
        return names[0] if all(one == names[0] for one in names) else None

    @property
    def endless(self) -> bool:
        """Whether the stream has no end: the last part has none."""
        return self.parts[-1].endless

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Drifts of the parts and between them; empty unless all of them are known."""
        return self._found_drifts() if self.knows_drifts else ()

    @property
    def knows_drifts(self) -> bool:
        """Whether it is known in which rows all drifts are, as far as the parts say them."""
        return all(map(knows_drifts, self.parts))

    def _found_drifts(self) -> tuple[Drift, ...]:
        """Return the drifts, where all of them are known."""
        return ()

    @property
    def depth(self) -> int:
        """How many streams that are made of others are in this one; it is one of them."""
        depths = [part.depth for part in self.parts if isinstance(part, ComposedStream)]
        return 1 + max(depths, default=0)

    def row_options(self) -> dict[str, Any]:
        """Return the own options, and those of the parts.

        Returns
        -------
        options : dict of str to object
            Values by name.
        """
        options = {name: getattr(self, name) for name in self._own_options()}
        for k, part in enumerate(self.parts):
            place = "stream" if len(self.parts) == 1 else f"streams[{k}]"
            options |= {f"{place}.{name}": one for name, one in part.row_options().items()}
        return options

    def about_missing_label(self, row: int) -> str:
        """Ask the part that has given the row.

        Parameters
        ----------
        row : int
            Number of the row.

        Returns
        -------
        words : str
            Sentences that end an error.
        """
        source = self._source_of(row)
        return "" if source is None else self.parts[source[0]].about_missing_label(source[1])

    @property
    def rows(self) -> Rows:
        """Function that gives the rows from one number up to another, where all parts have it."""
        for part in self.parts:
            if not has_rows(part):
                raise AttributeError(
                    f"A {type(part).__name__} gives its rows one after the other only, so that "
                    f"there is no rows(start, stop). Iterate."
                )
        return self._checked_block

    def _checked_block(self, start: int, stop: int) -> tuple[Any, ...]:
        check_block(self, start, stop)
        chunk = self._block(start, stop)
        return tuple(chunk) if chunk.meta else (chunk.X, chunk.y)

    @abstractmethod
    def _own_options(self) -> tuple[str, ...]:
        """Name the attributes that decide which rows come, beside the parts."""

    @abstractmethod
    def _block(self, start: int, stop: int) -> Chunk:
        """Return some rows, where all parts have `rows`."""

    @abstractmethod
    def _source_of(self, row: int) -> tuple[int, int] | None:
        """Return which part has given a row, and its number there; None: not known."""


class ChangedRows(ComposedStream):
    """Another stream with something else in its rows, none of which are added or left out."""

    @abstractmethod
    def _changed(self, chunk: Chunk, start: int) -> Chunk:
        """Return the rows of a chunk, which begins at row `start`, as they are here."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows of the stream."""
        return self.parts[0].n_rows

    def _found_drifts(self) -> tuple[Drift, ...]:
        """Drifts of the stream."""
        return self.parts[0].drifts

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the stream, changed."""
        start = 0
        for chunk in self.parts[0]:
            yield self._changed(chunk, start)
            start += len(chunk.y)

    def _block(self, start: int, stop: int) -> Chunk:
        return self._changed(block_of(self.parts[0], start, stop), start)

    def _source_of(self, row: int) -> tuple[int, int]:
        return 0, row


def sources_of(stream: Stream) -> list[Stream]:
    """Return the streams that a stream is made of in the end: itself, if it is made of none."""
    if not isinstance(stream, ComposedStream):
        return [stream]
    return [source for part in stream.parts for source in sources_of(part)]


def origin_of(stream: Stream, row: int) -> tuple[Stream, int] | None:
    """Return which stream has given a row in the end, and its number there; None: not known."""
    while isinstance(stream, ComposedStream):
        source = stream._source_of(row)
        if source is None:
            return None
        stream, row = stream.parts[source[0]], source[1]
    return stream, row


def knows_drifts(stream: Stream) -> bool:
    """Whether `drifts` is complete; where it is not, it is empty."""
    return stream.knows_drifts if isinstance(stream, ComposedStream) else True


def has_rows(stream: Stream) -> bool:
    """Whether a stream gives any block of rows without those before it."""
    return hasattr(stream, "rows")


def block_of(stream: Any, start: int, stop: int) -> Chunk:
    """Return rows of a stream that has `rows`."""
    return Chunk.of(*stream.rows(start, stop))


def stacked(chunks: list[Chunk]) -> Chunk:
    """Return the rows of several chunks, one after the other."""
    if len(chunks) == 1:
        return chunks[0]
    keys = [chunk.meta.keys() for chunk in chunks]
    differing = next((one for one in keys if one != keys[0]), None)
    if differing is not None:
        raise ValueError(
            f"The streams have other meta data: {sorted(keys[0])} and {sorted(differing)}. Every "
            f"row needs the same keys."
        )
    return Chunk(
        stack_rows([chunk.X for chunk in chunks]),
        np.concatenate([chunk.y for chunk in chunks]),
        {key: np.concatenate([chunk.meta[key] for chunk in chunks]) for key in keys[0]},
    )


def taken(chunk: Chunk, rows: NDArray[np.intp]) -> Chunk:
    """Return some rows of a chunk, by their positions."""
    meta = {key: values[rows] for key, values in chunk.meta.items()}
    return Chunk(take_rows(chunk.X, rows), chunk.y[rows], meta)


class Reader:
    """Reads a stream some rows at a time.

    Parameters
    ----------
    stream : Stream
        The stream.

    Attributes
    ----------
    n_rows : int
        Rows read so far.
    """

    def __init__(self, stream: Stream) -> None:
        self._chunks: Iterator[Chunk] = iter(stream)
        self._rest: Chunk | None = None
        self.n_rows = 0

    def some(self, most: int) -> Chunk | None:
        """Return the next rows, at least one; None at the end of the stream."""
        if self._rest is None:
            self._rest = next(self._chunks, None)
        if self._rest is None:
            return None
        chunk, n_rest = self._rest.part(0, most), len(self._rest.y)
        self._rest = self._rest.part(most, n_rest) if most < n_rest else None
        self.n_rows += len(chunk.y)
        return chunk

    def up_to(self, n: int) -> list[Chunk]:
        """Return so many rows in their chunks; fewer at the end of the stream."""
        chunks: list[Chunk] = []
        while n and (chunk := self.some(n)) is not None:
            chunks.append(chunk)
            n -= len(chunk.y)
        return chunks

    def rest(self) -> Iterator[Chunk]:
        """Yield all rows that follow."""
        if self._rest is not None:
            chunk, self._rest = self._rest, None
            yield chunk
        yield from self._chunks
