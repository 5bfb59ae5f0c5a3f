"""Calls through joblib on a Dask cluster: their data, and workers that die."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


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
