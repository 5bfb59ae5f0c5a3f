"""Ctrl-C while workers evaluate models: they stop, and give what they have scored so far."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread, current_thread, main_thread
from types import FrameType
from typing import Any

from skstream.utils._files import may_run, this_process
from skstream.utils._interrupt import deferred_interrupt

#: Seconds after Ctrl-C in which the workers may stop by themselves.
SECONDS_TO_STOP = 0.7
_SECONDS_PER_LOOK = 0.02


@dataclass(frozen=True)
class StopFile:
    """A file that tells workers on this machine to stop, once it is there.

    They also stop when the process is gone that has given them their work: what they do would reach
    no one. Workers elsewhere do not see either: they are ended with their connection.
    """

    path: Path | None = None
    parent: Mapping[str, Any] | None = None

    @property
    def is_there(self) -> bool:
        """Whether the workers shall stop."""
        return (self.path is not None and self.path.exists()) or self.is_orphaned

    @property
    def is_orphaned(self) -> bool:
        """Whether the process is gone that has given the work."""
        return self.parent is not None and not may_run(self.parent)

    def make(self) -> None:
        """Let the workers stop."""
        if self.path is not None:
            self.path.touch()

    def check(self, n_rows: int = 0) -> None:
        """Raise a `KeyboardInterrupt` in a worker that shall stop; call it between two steps."""
        if self.is_there:
            if current_thread() is main_thread():
                signal.raise_signal(signal.SIGINT)  # so that later ones are ignored
            raise KeyboardInterrupt

    @contextmanager
    def made_by_interrupt(self) -> Iterator[None]:
        """Let Ctrl-C stop the workers; the block goes on with what they return, but not for long.

        After the block `KeyboardInterrupt` is raised; in the block, if it takes longer than
        `SECONDS_TO_STOP`, or at a second Ctrl-C.
        """
        ended = Event()
        with deferred_interrupt() as held:
            held.breaks = True

            def watch() -> None:
                while not ended.wait(_SECONDS_PER_LOOK):
                    if held.received:
                        self.make()
                        if not ended.wait(SECONDS_TO_STOP):
                            signal.raise_signal(signal.SIGINT)
                        return

            thread = Thread(target=watch, daemon=True)
            thread.start()
            try:
                yield
            finally:
                ended.set()
                thread.join()


@contextmanager
def stop_file() -> Iterator[StopFile]:
    """Name a file in a temporary folder, which is not there yet."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield StopFile(Path(folder) / "stop", this_process())


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Let only the first Ctrl-C interrupt the block, so that a worker can tell what it has done."""
    if current_thread() is not main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
