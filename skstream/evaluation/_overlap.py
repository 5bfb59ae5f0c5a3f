"""Whether held-out rows are also rows of the stream, where that can be known."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from skstream.streams import Stream
from skstream.streams._arrays import ArrayStream
from skstream.utils._rows import is_frame
from skstream.utils._warnings import warn

#: Arrays of rows by the array that owns their memory.
Memory = dict[int | None, list[np.ndarray]]


def warn_of_overlap(stream: Stream, held_out: Stream) -> None:
    """Warn if held-out rows come from memory or files from which the stream comes."""
    files = sorted(set(_files(stream)) & set(_files(held_out)))
    if files:
        warn_of_rows(f"both come from {files[0]}")
    elif held_out is stream or _source(held_out) is _source(stream) is not None:
        warn_of_rows("are the same")
    else:
        memory = memory_of(held_out)
        for X in _containers(stream):
            if share_rows(X, memory):
                warn_of_rows("share rows of one array or data frame")
                return


def warn_of_rows(what: str) -> None:
    """Warn of what the holdout rows and the stream have in common."""
    warn(
        f"The holdout rows and the stream {what}: models are asked about rows that they have "
        "learnt, and the scores are too good. Hold out rows that are not in the stream, such as "
        "(X[n:], y[n:]) beside X[:n], y[:n]."
    )


def memory_of(stream: Stream) -> Memory:
    """Return the memory of the rows that a stream holds."""
    memory: Memory = {}
    for X in _containers(stream):
        for array in _arrays(X):
            memory.setdefault(_owner(array), []).append(array)
    return memory


def share_rows(X: Any, memory: Memory) -> bool:
    """Whether some rows are in some memory."""
    return any(_overlap(one, other) for one in _arrays(X) for other in memory.get(_owner(one), ()))


def _files(stream: Any) -> Iterable[str]:
    return getattr(stream, "files", ())


def _source(stream: Any) -> Any:
    return getattr(stream, "source", None)


def _containers(stream: Stream) -> list[Any]:
    if isinstance(stream, ArrayStream):
        return [stream.X]
    source = _source(stream)
    if not isinstance(source, list | tuple):
        return []
    return [chunk[0] for chunk in source if isinstance(chunk, tuple) and chunk]


def _arrays(X: Any) -> Iterator[np.ndarray]:
    """Arrays of rows: one, or the columns of numbers of a frame, which are not copied."""
    if is_frame(X):
        for name in X.columns:
            dtype = getattr(X[name], "dtype", None)
            # pandas has kinds of numbers, polars says whether they are numbers.
            if getattr(dtype, "kind", "") in tuple("iuf") or getattr(dtype, "is_numeric", bool)():
                yield X[name].to_numpy()
    elif sparse.issparse(X):
        yield X.data
    elif isinstance(X, np.ndarray):
        yield X


def _owner(array: np.ndarray) -> int | None:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return id(array) if array.base is None else None


def _overlap(one: np.ndarray, other: np.ndarray) -> bool:
    most: Any = 1 << 20  # as much work as NumPy takes to find out
    try:
        return np.shares_memory(one, other, max_work=most)
    except np.exceptions.TooHardError:  # not known
        return False
