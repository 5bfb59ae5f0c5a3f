"""A run along a stream, with its progress, its reports and its checkpoints."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from skstream.evaluation._folder import Reporter
from skstream.evaluation._runs._stream_run import Advance, StreamRun, ignored
from skstream.streams._chunk import Chunk


class Keeping(Protocol):
    """What keeps checkpoints of a run: see `skstream.evaluation._folder`."""

    def chunks(self, stream: Iterable[Chunk]) -> Iterable[Chunk]:
        """Chunks from the row on at which the run stands."""

    def advance(self, n_rows: int) -> None:
        """Write a checkpoint if one is due."""


def follow(
    run: StreamRun,
    stream: Iterable[Chunk],
    advance: Advance = ignored,
    keeper: Keeping | None = None,
    reporter: Reporter | None = None,
) -> None:
    """Feed the rest of a stream to a run, after the rows that it has read, and close it."""
    reporter = reporter or Reporter()
    rest = _rows_from(run.n_rows, stream) if keeper is None else keeper.chunks(stream)

    def done(n_rows: int) -> None:
        advance(n_rows)
        reporter.advance(run)
        if keeper is not None:
            keeper.advance(n_rows)

    try:
        for first, chunk in enumerate(rest):
            if not first:
                reporter.begin(run)  # not earlier: passing over rows says nothing of the models
            run.feed(chunk, done)
        run.close()
    except BaseException:
        reporter.stop(run)
        raise


def _rows_from(begin: int, stream: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks of a stream without its first rows."""
    for chunk in stream:
        n_rows = len(chunk.y)
        if not begin:
            yield chunk
        elif n_rows > begin:
            yield chunk.part(begin, n_rows)
        begin = max(0, begin - n_rows)
