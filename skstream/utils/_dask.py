"""Calls through joblib on a Dask cluster whose workers die."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deaths_heard(backend: Any) -> Iterator[None]:
    """Let a backend of joblib tell of the calls that Dask gives up, and keep calls on the cluster.

    The Dask backend tells joblib of every result, and of every error that a function raised, but
    not of calls whose workers died: joblib would wait for them for ever. Where one worker is left,
    joblib would make the calls in this process, which must outlive what kills workers; where none
    is, calls wait until one has started again.

    Parameters
    ----------
    backend : object
        A backend of joblib; another one than that of Dask stays as it is.
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
    backend.effective_n_jobs = lambda n_jobs: max(2, sum(backend.client.ncores().values()))
    try:
        yield
    finally:
        del backend.submit, backend.effective_n_jobs
