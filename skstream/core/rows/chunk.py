"""Chunks of a stream, and the one place where they are checked."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.utils._labels import as_labels
from skstream.utils._masked import unmasked
from skstream.utils._rows import Schema, as_rows, check_same_order, is_frame, take_rows
from skstream.utils._times import (
    dates_of,
    may_be_dates,
    time_column,
    where_back,
    wrong_arrival,
)
from skstream.utils._warnings import warn

META_KEYS = ("sample_weight", "arrival", "label_time", "id")
_TIMES = ("arrival", "label_time")

Meta = dict[str, NDArray[Any]]


class StreamError(ValueError):
    """A stream failed after its first rows; the error names the row and the file.

    Parameters
    ----------
    message : str
        What happened.
    row : int, default=None
        Number of rows read before.
    file : str, default=None
        Path of the file in which reading failed.

    Attributes
    ----------
    row : int or None
        Number of rows read before; this is also the number of the first row not read.
    file : str or None
        Path of the file in which reading failed; None if there is no file.
    result : EvaluationResult or None
        Scores of the rows before the error, if there are any from an evaluation.

    Examples
    --------
    >>> from skstream.streams import StreamError, as_stream
    >>> def source():
    ...     yield [[0.0], [1.0]], ["a", "b"]
    ...     raise OSError("the line is dead")
    >>> try:
    ...     for X, y, meta in as_stream(source):
    ...         print(y.tolist())
    ... except StreamError as error:
    ...     print(error.row, error)
    ['a', 'b']
    2 The stream failed after row 1: OSError: the line is dead
    """

    def __init__(self, message: str, row: int | None = None, file: str | None = None) -> None:
        super().__init__(message)
        self.row = row
        self.file = file
        self.result: Any = None

    def __reduce__(self) -> Any:
        return type(self), (*self.args, self.row, self.file), self.__dict__


class Chunk(NamedTuple):
    """Consecutive rows, which have been checked: what takes a chunk need not check it again.

    Attributes
    ----------
    X : {ndarray, CSR matrix, dataframe} of shape (n_rows, n_features), or (n_rows,) of texts
        Features.
    y : ndarray of shape (n_rows,)
        Labels or targets; None, NaN and ``pandas.NA`` where one is missing.
    meta : dict of str to ndarray of shape (n_rows,)
        Any of "sample_weight", "arrival", "label_time" and "id".
    """

    X: Any
    y: NDArray[Any]
    meta: Meta

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        meta: Mapping[str, Any] | None = None,
        where: str = "",
        *,
        first_row: int = 0,
    ) -> "Chunk":
        """Check rows, and return them as a chunk; `where` says in errors which rows they are."""
        rows, labels = as_rows(X, first_row=first_row), as_labels(y)
        if len(labels) != rows.shape[0]:
            raise ValueError(
                f"X{where} has {rows.shape[0]} rows, but y has {len(labels)} labels. Give one "
                "label per row; None or NaN if a label is missing."
            )
        columns = {} if meta is None else as_meta(meta, len(labels), where)
        if hasattr(X, "iloc") or hasattr(y, "iloc"):
            check_same_order({"X": X, "y": y, **(meta or {})}, where)
        return cls(rows, labels, columns)

    def part(self, start: int, stop: int) -> "Chunk":
        """Return the rows from `start` up to `stop`."""
        if start == 0 and stop >= len(self.y):
            return self
        meta = {key: values[start:stop] for key, values in self.meta.items()}
        return Chunk(take_rows(self.X, slice(start, stop)), self.y[start:stop], meta)


def as_meta(meta: Mapping[str, Any] | None, n_rows: int, where: str = "") -> Meta:
    """Meta data of `n_rows` rows as arrays, their names and lengths checked."""
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise TypeError(f"meta{where} must be a dict of arrays. Got {type(meta).__name__} instead.")
    arrays = {}
    for key, values in meta.items():
        if key not in META_KEYS:
            raise ValueError(f"Unknown key {key!r} in meta{where}. Known: {', '.join(META_KEYS)}.")
        if key == "id":
            array = as_labels(values, f"{key}{where}")
        elif key in _TIMES:
            array = time_column(values, f"{key}{where}")
        else:
            array = np.asarray(unmasked(values, numbers=True))
        if array.shape != (n_rows,):
            raise ValueError(
                f"{key}{where} has shape {array.shape}, but X has {n_rows} rows. "
                f"Give one value per row."
            )
        arrays[key] = array
    return arrays


def checked(chunks: Iterable[Any]) -> Iterator[Chunk]:
    """Check chunks that nothing has checked, and that they continue each other."""
    start = 0
    last: NDArray[Any] | None = None  # arrival of the row before, or its time in a frame
    first: tuple[Schema, Meta] | None = None
    iterator = iter(chunks)
    for number in count():
        try:
            chunk = next(iterator)
        except StopIteration:
            break
        except (StreamError, MemoryError):
            raise
        except Exception as error:
            if start == 0:  # no row was read: the error is about the source itself
                raise
            raise StreamError(
                f"The stream failed after row {start - 1}: {type(error).__name__}: {error}", start
            ) from error
        given = chunk
        if not isinstance(chunk, Chunk):  # that of another stream was checked by it
            chunk = _as_chunk(chunk, number, start)
        if first is None:
            first = Schema.of(chunk.X), chunk.meta
        else:
            first[0].check(chunk.X, start)
            _check_same_meta(chunk.meta, first[1], start)
        if len(chunk.y):
            if "arrival" in chunk.meta:
                wrong = wrong_arrival(chunk.meta["arrival"], start, last)
                if wrong is not None:
                    if wrong[0]:  # the rows before it come, whatever the chunks are
                        yield chunk.part(0, wrong[0])
                    raise ValueError(wrong[1])
                last = chunk.meta["arrival"][-1:]
            else:
                found = table_times(chunk.X, given[1])
                last = last if found is None else last_time(found, start, last)
            yield chunk
        start += len(chunk.y)
    if start == 0:
        raise ValueError(
            "The stream is empty. If it comes from a function, that function must return a new "
            "iterator at each call."
        )


def table_times(X: Any, y: Any = None) -> tuple[str, NDArray[Any]] | None:
    """Return the times that a table holds, and where: in its index, or else its only such column.

    Of a table without any they are the index of `y`; None where that has none either.
    """
    if hasattr(X, "index") and (index := dates_of(X.index)) is not None:
        return "the index", index
    found = []
    for name, kind in zip(X.columns, X.dtypes, strict=True) if is_frame(X) else ():
        if may_be_dates(kind) and (times := dates_of(X[name])) is not None:
            found.append((f"column {name!r}", times))
    if not found and hasattr(y, "index") and (index := dates_of(y.index)) is not None:
        return "the index of y", index
    return found[0] if len(found) == 1 else None


def last_time(
    found: tuple[str, NDArray[Any]] | None, first_row: int, before: NDArray[Any] | None
) -> NDArray[Any] | None:
    """Warn if rows are not in the order of their `table_times`; return the last of these.

    `before` is the time before them. Empty: there was a warning, and no other follows.
    """
    if found is None or (before is not None and not len(before)):
        return before
    what, times = found
    accepting = (
        "pass row numbers instead: arrival= of as_stream, evaluate and update, t= of ask; or a "
        "table without these times"
    )
    back = where_back(times, first_row, before)
    how = ", with X.sort_index()" if what == "the index" else ""
    warn_of_order(what, back, f"sort the table by time first{how}", accepting)
    known = times[~np.isnat(times)]
    return known[:0] if back else known[-1:] if len(known) else before


def warn_of_order(what: str, back: Any, sorting: str, accepting: str) -> None:
    """Warn where times go `back`, and say how to sort the rows or to accept their order."""
    if back is not None:
        warn(
            f"The times in {what} go back {back[1]}, but rows are used in the given order. If "
            f"these are the arrival times of the rows, {sorting}: otherwise models are trained on "
            f"the future. If the rows are in the right order anyway, {accepting}."
        )


def _as_chunk(chunk: Any, number: int, start: int) -> Chunk:
    if not isinstance(chunk, (tuple, list)) or len(chunk) not in (2, 3):
        shape = f" of shape {chunk.shape}" if hasattr(chunk, "shape") else ""
        raise TypeError(
            f"Chunk {number} of the stream is a {type(chunk).__name__}{shape}. A stream yields (X, "
            "y) or (X, y, meta); to stream rows from memory, pass y too; to stream frames that "
            "contain their labels, pass target= to as_stream."
        )
    if chunk[1] is None:
        raise ValueError(
            f"Chunk {number} of the stream has y=None. Give one label per row; None or NaN if a "
            "label is missing."
        )
    where = f" in the chunk that starts at row {start}"
    meta = chunk[2] if len(chunk) == 3 else None
    return Chunk.of(chunk[0], chunk[1], meta, where, first_row=start)


def _check_same_meta(meta: Meta, first: Meta, start: int) -> None:
    if meta.keys() != first.keys():
        raise ValueError(
            f"The keys of meta change at row {start}: {sorted(meta)} instead of {sorted(first)}. "
            "Every chunk must have the same keys."
        )
