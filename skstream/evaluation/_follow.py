"""A run along a stream, with its progress, its reports and its checkpoints."""

from collections.abc import Iterable
from typing import Protocol

from skstream.evaluation._progress import Advance, ignored
from skstream.evaluation._stream_run import StreamRun
from skstream.evaluation.folder import Reporter
from skstream.streams._chunk import Chunk


class Keeping(Protocol):
    """What keeps checkpoints of a run: see `skstream.evaluation.folder`."""

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
    """Feed the rest of a stream to a run, and close it."""
    reporter = reporter or Reporter()

    def done(n_rows: int) -> None:
        advance(n_rows)
        reporter.advance(run)
        if keeper is not None:
            keeper.advance(n_rows)

    try:
        for first, chunk in enumerate(stream if keeper is None else keeper.chunks(stream)):
            if not first:
                reporter.begin(run)  # not earlier: passing over rows says nothing of the models
            run.feed(chunk, done)
        run.close()
    except BaseException:
        reporter.stop(run)
        raise
