"""What else happens while a run runs: other threads, Ctrl-C, and workers of Dask that die."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import wraps
from threading import RLock
from types import FrameType
from typing import Any, TypeVar, cast

try:  # without Python's search for the names of handlers, which takes as long as a short update
    from _signal import signal as _set_handler  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from signal import signal as _set_handler


class Exclusive:
    """Base of objects with `exclusive` methods; the lock is not pickled."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def _guard(self) -> AbstractContextManager[Any]:
        """Return the context manager in which every `exclusive` method runs."""
        return nullcontext()


Method = TypeVar("Method", bound=Callable[..., Any])


def exclusive(method: Method) -> Method:
    """Let a method wait until no other thread is in one of the object's `exclusive` methods."""

    @wraps(method)
    def locked(self: Exclusive, *args: Any, **kwargs: Any) -> Any:
        with self._lock, self._guard():
            return method(self, *args, **kwargs)

    return cast(Method, locked)


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


class Deferred:
    """Context manager that holds back Ctrl-C until the block is done; enters as a `Held`.

    Only the main thread receives signals, so in other threads this does nothing.

    Parameters
    ----------
    owner : object, default=None
        Its attribute `_interrupt` is the `Held` meanwhile, and then None.
    """

    def __init__(self, owner: Any = None) -> None:
        self._owner, self._held = owner, Held()
        self._previous: Any = None
        self._last: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> Held:
        if threading.current_thread() is threading.main_thread():
            self._previous = _set_handler(signal.SIGINT, self._hold)
        if self._owner is not None:
            self._owner._interrupt = self._held
        return self._held

    def __exit__(self, kind: object, *raised: object) -> None:
        if self._owner is not None:
            self._owner._interrupt = None
        if self._previous is not None:
            _set_handler(signal.SIGINT, self._previous)
        if self._last and kind is None and callable(self._previous):
            self._previous(*self._last)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self._held.received and self._held.breaks and callable(self._previous):
            self._last = None
            self._previous(number, frame)
        else:
            self._held.received, self._last = True, (number, frame)


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


@contextmanager
def on_cluster(backend: Any, data: Any) -> Iterator[None]:
    """Make joblib raise an error for calls that Dask gives up, and make all calls on the cluster.

    An argument that many calls have in common, and that holds its data in memory, travels to the
    cluster once, and from worker to worker: joblib would send it with every call.

    The Dask backend tells joblib of every result, and of every error that a function raised, but
    not of calls whose workers died: joblib would wait for them for ever. Where one worker is left,
    joblib would make the calls in this process, which must outlive what kills workers; where none
    is, calls wait until one has started again.

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
