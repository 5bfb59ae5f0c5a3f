"""What else happens while a run runs: other threads, Ctrl-C, and workers of Dask that die."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import wraps
from threading import RLock
from types import FrameType
from typing import Any, Self, TypeVar, cast

try:  # without Python's search for the names of handlers, which takes as long as a short update
    from _signal import signal as _set_handler  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from signal import signal as _set_handler


class Exclusive:
    """Base of objects with `exclusive` methods; the lock is not pickled.

    Attributes
    ----------
    waits : bool
        Whether Ctrl-C waits for the end of such a method.
    """

    waits = False
    _lock: Any
    #: What holds it back.
    _interrupt: "Deferred | None" = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make an object with a lock, also when one is loaded."""
        made = super().__new__(cls)
        made._lock = RLock()
        return made

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        state.pop("_interrupt", None)
        return state


Method = TypeVar("Method", bound=Callable[..., Any])


def exclusive(method: Method) -> Method:
    """Let a method wait until no other thread is in one of the object's `exclusive` methods."""

    @wraps(method)
    def locked(self: Exclusive, *args: Any, **kwargs: Any) -> Any:
        with self._lock, Deferred(self) if self.waits else nullcontext():
            return method(self, *args, **kwargs)

    return cast(Method, locked)


@dataclass(slots=True)
class Deferred:
    """Context manager that holds back Ctrl-C until the block is done, unless another one does.

    Entered again, for code that may never end, it lets a second Ctrl-C interrupt at once. Only the
    main thread receives signals, so in other threads this does nothing.

    Attributes
    ----------
    owner : Exclusive
        Its attribute `_interrupt` is this in the block.
    received : bool
        Whether Ctrl-C was pressed.
    """

    owner: Exclusive
    received: bool = False
    breaks: bool = False
    previous: Any = None
    last: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> None:
        self.breaks = self.owner._interrupt is self
        if self.owner._interrupt is None:
            if threading.current_thread() is threading.main_thread():
                self.previous = _set_handler(signal.SIGINT, self.hold)
            self.owner._interrupt = self

    def __exit__(self, kind: object, *raised: object) -> None:
        if not self.breaks and self.owner._interrupt is self:
            self.owner._interrupt = None
            if self.previous is not None:
                _set_handler(signal.SIGINT, self.previous)
            if self.last and kind is None and callable(self.previous):
                self.previous(*self.last)
        self.breaks = False

    def hold(self, number: int, frame: FrameType | None) -> None:
        """Note the signal, or let it interrupt."""
        if self.received and self.breaks and callable(self.previous):
            self.last = None
            self.previous(number, frame)
        else:
            self.received, self.last = True, (number, frame)


@contextmanager
def on_cluster(backend: Any, data: Any) -> Iterator[None]:
    """Make joblib raise an error for calls that Dask gives up, and make all calls on the cluster.

    An argument that many calls have in common, and that holds its data in memory, travels to the
    cluster once, and from worker to worker: joblib would send it with every call.

    The Dask backend tells joblib of every result, and of every error that a function raised, but
    not of calls whose workers died: joblib would wait for them forever. Where one worker is left,
    joblib would make the calls in this process, which must survive what kills workers; where none
    is left, calls wait until one has started again.

    Parameters
    ----------
    backend : object
        A backend of joblib; another one than that of Dask stays as it is.
    data : object
        An argument that the calls have in common; a stream of files is left as it is.
    """
    if type(backend).__name__ != "DaskDistributedBackend" or "submit" in vars(backend):
        yield
        return
    submit = backend.submit

    def submit_and_tell(batch: Any, callback: Any = None) -> Any:
        future = submit(batch, callback)

        def tell(done: Any) -> None:
            error = done.exception()
            if error is not None and callback is not None:
                callback(error)

        future.add_done_callback(tell)
        return future

    backend.submit = submit_and_tell
    if not getattr(data, "files", None):
        # The data go with the calls to a cluster without workers, which may be about to start, and
        # where a worker dies while it takes them, which is an OSError.
        with suppress(TimeoutError, OSError):
            backend.data_futures[id(data)] = backend.client.scatter([data], hash=False)[0]
    backend.effective_n_jobs = lambda n_jobs: max(2, sum(backend.client.ncores().values()))
    try:
        yield
    finally:
        backend.data_futures.pop(id(data), None)
        del backend.submit, backend.effective_n_jobs
