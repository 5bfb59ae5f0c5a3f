"""Ctrl-C at a moment that leaves everything consistent."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Held:
    """Whether Ctrl-C was pressed while it was held back.

    It is a context manager for code that may never end: there a second Ctrl-C interrupts at once.

    Attributes
    ----------
    received : bool
        Whether it was.
    """

    received = False
    breaks = False

    def __enter__(self) -> None:
        self.breaks = True

    def __exit__(self, *raised: object) -> None:
        self.breaks = False


@contextmanager
def deferred_interrupt() -> Iterator[Held]:
    """Hold back Ctrl-C until the block is done.

    Only the main thread receives signals, so in other threads this does nothing.

    Yields
    ------
    held : Held
        Whether Ctrl-C was pressed.
    """
    held = Held()
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    last: list[tuple[int, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if held.received and held.breaks and callable(previous):
            last.clear()
            previous(number, frame)
        else:
            held.received = True
            last.append((number, frame))

    previous = signal.signal(signal.SIGINT, hold)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, previous)
    if last and callable(previous):
        previous(*last[-1])


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM raise `KeyboardInterrupt` in the block, so that workers are ended, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
