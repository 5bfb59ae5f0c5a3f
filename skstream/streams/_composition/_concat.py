"""One stream after another."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from skstream.streams._chunk import Chunk
from skstream.streams._composition._base import (
    ComposedStream,
    block_of,
    stacked,
)
from skstream.streams._composition._checks import check_parts
from skstream.streams._drifts import Drift, moved
from skstream.streams._stream import Stream


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

    def _own_options(self) -> tuple[str, ...]:
        return ()

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of one stream after the other, whose rows are counted."""
        for k, part in enumerate(self.parts):
            n_rows = 0
            for chunk in part:
                n_rows += len(chunk.y)
                yield chunk
            self._counted[k] = n_rows

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        for part in self.parts:
            yield from part.labels()

    def _block(self, start: int, stop: int) -> Chunk:
        found = []
        for k, begin in enumerate(self._begins):
            n_rows = self.parts[k].n_rows
            low, high = max(start, begin), stop if n_rows is None else min(stop, begin + n_rows)
            if low < high:
                found.append(block_of(self.parts[k], low - begin, high - begin))
        if not found:
            return block_of(self.parts[0], 0, 0)
        return stacked(found)

    def _source_of(self, row: int) -> tuple[int, int] | None:
        for k, begin in reversed(list(enumerate(self._begins))):
            n_rows = self.parts[k].n_rows
            if row >= begin:
                return (k, row - begin) if n_rows is None or row < begin + n_rows else None
        return None
