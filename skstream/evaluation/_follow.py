"""A run along a stream, with its progress and its checkpoints."""

from collections.abc import Iterable
from typing import Protocol

from skstream.evaluation._progress import Advance, ignored
from skstream.evaluation._stream_run import StreamRun
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
) -> None:
    """Feed the rest of a stream to a run, and close it."""
    if keeper is None:
        for chunk in stream:
            run.feed(chunk, advance)
    else:

        def advance_and_keep(n_rows: int) -> None:
            advance(n_rows)
            keeper.advance(n_rows)

        advance(run.n_rows)
        for chunk in keeper.chunks(stream):
            run.feed(chunk, advance_and_keep)
    run.close()
