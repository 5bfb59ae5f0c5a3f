"""Streams made of other streams: what all of them have."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.arrays import ArrayStream, ChunkStream, as_stream
from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Drift, Stream
from skstream.streams._generators._base import GeneratedStream, check_block, generator_name
from skstream.utils._rows import stack_rows, take_rows
from skstream.utils._warnings import warn

#: Blocks of rows, ``(X, y)`` or ``(X, y, meta)``, by their first row and the one after the last.
Rows = Callable[[int, int], tuple[Any, ...]]


class ComposedStream(Stream):
    """Stream made of other streams, which keeps what they have in common.

    Attributes
    ----------
    parts : tuple of Stream
        The streams it is made of.
    """

    #: Attributes that decide which rows come, beside the parts.
    _own_options: tuple[str, ...] = ()

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
        return self._found_drifts if self.knows_drifts else ()

    @property
    def knows_drifts(self) -> bool:
        """Whether it is known in which rows all drifts are, as far as the parts say them."""
        return all(part.knows_drifts for part in self.parts)

    def source_streams(self) -> list[Stream]:
        """Return the streams that this one is made of in the end.

        Returns
        -------
        streams : list of Stream
            Those of all parts.
        """
        return [source for part in self.parts for source in part.source_streams()]

    def name_of_generator(self) -> str:
        """Return a name for what the rows are a sample of.

        Returns
        -------
        name : str
            Of the generators of the parts, and how they are joined; empty if a part has none.
        """
        parts = [part.name_of_generator() for part in self.parts]
        options = {name: getattr(self, name) for name in self._own_options}
        return generator_name(self, options, parts) if all(parts) else ""

    def origin(self, row: int) -> tuple[Stream, int] | None:
        """Return which stream has given a row in the end, and its number there.

        Parameters
        ----------
        row : int
            Number of the row in this stream, counted from 0.

        Returns
        -------
        origin : tuple of Stream and int, or None
            None where it is not known.
        """
        for k, number, _ in self._runs(row, row + 1):
            return self.parts[k].origin(number)
        return None

    @property
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
        options = {name: getattr(self, name) for name in self._own_options}
        for k, part in enumerate(self.parts):
            place = "stream" if len(self.parts) == 1 else f"streams[{k}]"
            options |= {f"{place}.{name}": one for name, one in part.row_options().items()}
        return options

    def place_of(self, row: int) -> str:
        """Return where a row is in a file of the part that has given it; see `Stream`.

        Parameters
        ----------
        row : int
            Number of the row in this stream.

        Returns
        -------
        place : str
            Row, counted from 0, and file; empty if that is not known.
        """
        for k, number, _ in self._runs(row, row + 1):
            return self.parts[k].place_of(number)
        return ""

    @property
    def rows(self) -> Rows:
        """Function that gives the rows from one number up to another, where all parts have it."""
        for part in self.parts:
            if not has_rows(part):
                raise AttributeError(
                    f"A {type(part).__name__} can only be read from start to end, so it has no "
                    "rows(start, stop). Iterate over it."
                )
        return self._checked_block

    def _checked_block(self, start: int, stop: int) -> tuple[Any, ...]:
        check_block(self, start, stop)
        chunk = self._block(start, stop)
        return tuple(chunk) if chunk.meta else (chunk.X, chunk.y)

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the rows, made of those of the parts while they are read."""
        yield from self._made([Reader(part) for part in self.parts])

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        for chunk in self._made([Reader(part, labels_alone=True) for part in self.parts]):
            yield chunk.y

    @abstractmethod
    def _made(self, readers: list["Reader"]) -> Iterator[Chunk]:
        """Yield the rows, made of those of the parts; their `X` are labels where only these are."""

    def _runs(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield where rows come from: a part, its first row and the row after its last."""
        yield 0, start, stop

    def _block(self, start: int, stop: int) -> Chunk:
        """Return some rows, where all parts have `rows`."""
        runs = self._runs(start, stop) if start < stop else iter([(0, 0, 0)])
        return stacked([block_of(self.parts[k], first, last) for k, first, last in runs])


class ChangedRows(ComposedStream):
    """Another stream with something else in its rows, none of which are added or left out."""

    @abstractmethod
    def _changed(self, chunk: Chunk, start: int) -> Chunk:
        """Return the rows of a chunk, which begins at row `start`, as they are here."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows of the stream."""
        return self.parts[0].n_rows

    @property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """Drifts of the stream."""
        return self.parts[0].drifts

    def _made(self, readers: list["Reader"]) -> Iterator[Chunk]:
        start = 0
        for chunk in readers[0].until(inf):
            yield self._changed(chunk, start)
            start += len(chunk.y)

    def _block(self, start: int, stop: int) -> Chunk:
        return self._changed(super()._block(start, stop), start)


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
            f"The streams have different meta data: {sorted(keys[0])} and {sorted(differing)}. "
            "Every row needs the same keys."
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
    """Reads a stream some rows at a time, from its first row on.

    Parameters
    ----------
    stream : Stream
        The stream.
    labels_alone : bool, default=False
        Whether only the labels are read; they are then the `X` of the chunks, too.

    Attributes
    ----------
    n_rows : int
        Rows read so far.
    """

    def __init__(self, stream: Stream, *, labels_alone: bool = False) -> None:
        self._chunks = _labels_of(stream) if labels_alone else _chunks_of(stream)
        self._rest: Chunk | None = None
        self.n_rows = 0

    def until(self, row: float) -> Iterator[Chunk]:
        """Yield the rows up to one, in their chunks; fewer at the end of the stream."""
        while self.n_rows < row:
            chunk = next(self._chunks, None) if self._rest is None else self._rest
            if chunk is None:
                return
            n, most = len(chunk.y), row - self.n_rows
            self._rest = chunk.part(int(most), n) if most < n else None
            chunk = chunk.part(0, int(min(n, most)))
            self.n_rows += len(chunk.y)
            yield chunk

    def next_rows(self, n: int) -> list[Chunk]:
        """Return so many rows in their chunks; fewer at the end of the stream."""
        return list(self.until(self.n_rows + n))


def _chunks_of(stream: Stream) -> Iterator[Chunk]:
    yield from stream


def _labels_of(stream: Stream) -> Iterator[Chunk]:
    for y in stream.labels():
        yield Chunk(y, y, {})


def check_parts(parts: tuple[Stream, ...]) -> None:
    """Raise an error for streams that cannot follow each other; warn of equal random numbers."""
    _refuse_same_iterator(parts)
    widths = [(k, width) for k, part in enumerate(parts) if (width := _width(part)) is not None]
    _refuse_others(widths, "{} and {} features", lambda *_: "the same features")
    names = [(k, found) for k, one in _sources(parts) if (found := one.feature_names) is not None]
    _refuse_others(names, "the features {} and {}", _order_of_features)
    _check_categories(parts)
    known = [(k, part.classes) for k, part in enumerate(parts)]
    classes = [(k, found.tolist()) for k, found in known if found is not None]
    _refuse_others(classes, "the classes {} and {}", lambda *_: "the same classes")
    seen: dict[tuple[type, int], Stream] = {}
    for part in parts:
        if isinstance(part, GeneratedStream):
            other = seen.setdefault((type(part), part.random_state), part)
            if other is not part:
                warn(
                    f"Two of the {type(part).__name__} streams have "
                    f"random_state={part.random_state}, so one repeats the random numbers of the "
                    "other. Give them different ones."
                )


def _width(stream: Stream) -> int | None:
    if isinstance(stream, ArrayStream) and np.ndim(stream.X) != 1:
        return stream.X.shape[1]
    names = stream.feature_names
    if names is None and isinstance(stream, ComposedStream):
        widths = map(_width, stream.parts)
        return next((width for width in widths if width is not None), None)
    return None if names is None else len(names)


def _sources(parts: tuple[Stream, ...]) -> list[tuple[int, Stream]]:
    """Return the streams of which parts are made in the end, each with the number of its part."""
    return [(k, source) for k, part in enumerate(parts) for source in part.source_streams()]


def _refuse_same_iterator(parts: tuple[Stream, ...]) -> None:
    """Raise an error if two parts read one iterator, of which each would get other rows."""
    seen: dict[int, int] = {}
    for k, source in _sources(parts):
        if source.reiterable:
            continue
        iterator: Any = source.source if isinstance(source, ChunkStream) else source
        other = seen.setdefault(id(iterator), k)
        if other != k:
            raise ValueError(
                f"Streams {other} and {k} read the same one-shot iterator "
                f"({type(iterator).__name__}): the same iterator is given twice, so each gets only "
                "a part of the rows. Pass the generator function itself instead of its result, a "
                "list of chunks, or files."
            )


def _refuse_others(
    known: list[tuple[int, Any]], what: str, same: Callable[[Any, Any], str]
) -> None:
    """Raise an error if a part has something else than the first part that is known."""
    for k, found in known:
        first, expected = known[0]
        if found != expected:
            raise ValueError(
                f"Streams {first} and {k} have {what.format(expected, found)}, and cannot be "
                f"joined. Give streams with {same(expected, found)}."
            )


def _order_of_features(expected: list[str], found: list[str]) -> str:
    same = "" if sorted(expected) == sorted(found) else "of the same names "
    return f"features {same}in the same order"


def _check_categories(parts: tuple[Stream, ...]) -> None:
    """Raise an error if a nominal feature has other codes in one stream than in another.

    Categories may follow those of the other: all codes that both have are the same then.
    """
    known = [(k, found) for k, one in _sources(parts) if (found := _coded(one)) is not None]
    seen: dict[str, tuple[int, list[Any]]] = {}
    for k, categories in known:
        if categories.keys() != known[0][1].keys():
            name = next(iter(categories.keys() ^ known[0][1].keys()))
            with_codes, without = (k, known[0][0]) if name in categories else (known[0][0], k)
            raise ValueError(
                f"Feature {name!r} contains codes of categories in stream {with_codes} and numbers "
                f"in stream {without}. {_ONE_READER}"
            )
        for name, values in categories.items():
            first, expected = seen.setdefault(name, (k, values))
            if any(one != other for one, other in zip(values, expected, strict=False)):
                raise ValueError(
                    f"The codes of feature {name!r} are positions in {_shown(expected)} in stream "
                    f"{first}, and in {_shown(values)} in stream {k}. {_ONE_READER}"
                )
            if len(values) > len(expected):
                seen[name] = k, values


_ONE_READER = (
    "Read the files as one stream, from a list of paths, so that they share codes; or as frames, "
    "as_frame=True."
)


def _coded(source: Stream) -> dict[str, list[Any]] | None:
    """Return the values of nominal features that a stream gives as codes; None: it has no codes."""
    if getattr(source, "as_frame", True):
        return None
    return getattr(source, "categories", None)


def _shown(values: list[Any]) -> str:
    return str(values) if len(values) <= 20 else f"[{', '.join(map(repr, values[:20]))}, ...]"
