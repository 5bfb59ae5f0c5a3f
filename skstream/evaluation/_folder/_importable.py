"""Whether models and functions can be in the checkpoints that workers write."""

import pickle
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from joblib import effective_n_jobs
from joblib.externals.loky.backend.reduction import dump as dump_for_loky

from skstream.evaluation._runs._checkpoint import NOT_PICKLED, cannot_be_saved
from skstream.utils._sklearn import QuietParallel


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


class _Finder(pickle.Pickler):
    """Finds classes and functions that only the process of the script can import."""

    def __init__(self) -> None:
        super().__init__(_Nowhere())
        self.found: list[str] = []

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type | FunctionType) and thing.__module__ == "__main__":
            self.found.append(thing.__qualname__)
        return NotImplemented


def check_importable(parts: Any, n_jobs: int | None, where: Any) -> None:
    """Raise an error, before any worker starts, if workers could not write checkpoints.

    Parameters
    ----------
    parts : object
        All that is sent to the workers but the stream.
    n_jobs : int or None
        As joblib takes it.
    where : path-like
        The run folder, for errors.
    """
    finder = _Finder()
    try:
        finder.dump(parts)
    except NOT_PICKLED as error:
        raise cannot_be_saved(where, error) from error
    if finder.found and effective_n_jobs(n_jobs) > 1 and not _shares_the_script(n_jobs):
        raise TypeError(
            f"{finder.found[0]} is defined in the script or notebook that you started, from which "
            "worker processes cannot import it, so that they cannot write checkpoints "
            f"(checkpoint={str(where)!r}). Move it into a module of its own and import it, or use "
            "n_jobs=1."
        )


def first_not_pickled(
    parts: Mapping[str, Any], *, by_name: bool
) -> tuple[str, Exception] | tuple[None, None]:
    """Return the name of the first part that cannot be pickled, and the error.

    Functions and classes of a script are pickled by their names alone, or as they are, as loky and
    Dask do it.
    """
    dump = pickle.dump if by_name else dump_for_loky
    for name, part in parts.items():
        try:
            dump(part, _Nowhere())
        except NOT_PICKLED as error:
            return name, error
    return None, None


def _shares_the_script(n_jobs: int | None) -> bool:
    """Whether workers are threads or forks of this process."""
    backend = QuietParallel(n_jobs=n_jobs)._backend
    return getattr(backend, "uses_threads", False) or "Multiproc" in type(backend).__name__
