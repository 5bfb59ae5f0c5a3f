"""Ctrl-C at a moment that leaves everything consistent."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupt(*, once: bool = False) -> Iterator[None]:
    """Hold back Ctrl-C until the block is done.

    Signals reach the main thread alone, so that elsewhere this does nothing.

    Parameters
    ----------
    once : bool, default=False
        Hold back the first Ctrl-C alone: a second one interrupts the block, which may never end
        by itself.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[tuple[int, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if once and received and callable(previous):
            received.clear()
            previous(number, frame)
        else:
            received.append((number, frame))

    previous = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if received and callable(previous):
        previous(*received[-1])
