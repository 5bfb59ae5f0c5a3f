"""Streams of data in memory, and of any source that yields chunks."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.rows.chunk import Chunk, last_time, table_times
from skstream.core.rows.dicts import as_chunks, frame_of, holds_rows
from skstream.core.rows.stream import Drift, Stream, as_drifts
from skstream.utils._choices import check_count, did_you_mean
from skstream.utils._labels import find_classes, lose_digits
from skstream.utils._masked import unmasked
from skstream.utils._optional import optional_import
from skstream.utils._rows import as_rows, is_frame
from skstream.utils._tables import shown
from skstream.utils._times import check_arrivals


class ArrayStream(Stream):
    """Stream of rows that are in memory or in a memory map.

    Usually made by `as_stream`. Frames and memory maps are sliced, never converted or copied.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or texts
        Features in time order.
    y : array-like of shape (n_rows,)
        Labels or targets.
    chunk_size : int, default=65536
        Rows per chunk.
    feature_names : list of str, default=None
        Names of the features; those of the columns where `X` is a frame.
    **meta : array-like of shape (n_rows,) or None
        Meta data; see `as_stream`.

    Attributes
    ----------
    X : {ndarray, csr_matrix, dataframe} of shape (n_rows, n_features)
        All features.
    y : ndarray of shape (n_rows,)
        All labels.
    meta : dict of ndarray of shape (n_rows,)
        All meta data.

    Examples
    --------
    >>> from skstream.core.rows.arrays import ArrayStream
    >>> stream = ArrayStream([[0.0], [1.0], [2.0]], ["a", "b", "a"], chunk_size=2)
    >>> stream
    ArrayStream(3 rows)
    >>> [y.tolist() for X, y, meta in stream]
    [['a', 'b'], ['a']]
    """

    #: Number of rows, and the names of the features: None if there are none, or not all are texts.
    n_rows: int = 0
    feature_names: list[str] | None = None

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        chunk_size: int = 65536,
        feature_names: list[str] | None = None,
        **meta: Any,
    ) -> None:
        for key, values in list(meta.items()):
            if values is None:
                del meta[key]
        self._rows = Chunk.of(X, y, meta or None)
        self.X, self.y, self.meta = self._rows
        #: Times in the index of the labels, where X holds none.
        self._times_of_y = None if table_times(self.X) else table_times(None, y)
        if len(self.y) == 0:
            raise ValueError(f"The stream is empty: X has shape {self.X.shape}.")
        self.chunk_size = check_count(chunk_size, "chunk_size", 1)
        self.n_rows = len(self.y)
        self.feature_names = feature_names
        if feature_names is None and is_frame(self.X):
            names = list(self.X.columns)
            self.feature_names = names if all(isinstance(name, str) for name in names) else None

    @cached_property
    def classes(self) -> NDArray[Any] | None:
        """Sorted labels of `y`; None where `y` holds no label or holds fractional numbers."""
        try:
            return find_classes(self.y)
        except ValueError:
            return None

    def row_options(self) -> dict[str, Any]:
        """Return nothing: the rows are in memory, and say all.

        Returns
        -------
        options : dict
            Empty.
        """
        return {}

    def chunks(self) -> Iterator[Chunk]:
        """Slices of the rows, in order."""
        if "arrival" in self.meta:
            check_arrivals(self.meta["arrival"], 0, None)
        elif self._times_of_y is not None:
            last_time(self._times_of_y, 0, None)
        for start in range(0, self.n_rows, self.chunk_size):
            yield self._rows.part(start, start + self.chunk_size)


class ChunkStream(Stream):
    """Stream of the chunks that another object yields.

    Usually made by `as_stream`. Attributes `n_rows`, `endless`, `classes`, `feature_names` and
    `drifts` of the source are passed on where it has them.

    Parameters
    ----------
    source : iterable or callable
        Yields ``(X, y)`` or ``(X, y, meta)``. A callable (a generator function, say) is called
        without arguments at each iteration and returns a new iterable.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.core.rows.arrays import ChunkStream
    >>> def source():
    ...     yield np.zeros((2, 3)), [0, 1]
    ...     yield np.ones((1, 3)), [0]
    >>> stream = ChunkStream(source)
    >>> stream.reiterable, sum(len(y) for X, y, meta in stream)
    (True, 3)
    >>> ChunkStream(source()).reiterable
    False
    """

    def __init__(self, source: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        if not hasattr(source, "__iter__") and not callable(source):
            raise TypeError(
                f"A stream is made of an iterable of chunks (X, y), or of a function that returns "
                f"one. Got {type(source).__name__} instead."
            )
        self.source = source
        self._consumed = False

    @property
    def reiterable(self) -> bool:
        """False for an iterator, which can be gone through only once."""
        return not (hasattr(self.source, "__next__") and hasattr(self.source, "__iter__"))

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if the source says it."""
        n_rows = getattr(self.source, "n_rows", None)
        return int(n_rows) if isinstance(n_rows, Integral) else None

    @property
    def endless(self) -> bool:
        """Whether the source says that it has no end."""
        return getattr(self.source, "endless", False) is True

    @property
    def classes(self) -> NDArray[Any] | None:
        """Sorted classes, if the source says them."""
        classes = getattr(self.source, "classes", None)
        return None if classes is None else find_classes(classes)

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features, if the source says them."""
        names = getattr(self.source, "feature_names", None)
        return None if names is None else list(names)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Where the truth changes, if the source says it."""
        return as_drifts(getattr(self.source, "drifts", ()))

    def row_options(self) -> dict[str, Any]:
        """Return nothing: the source yields the rows as it likes.

        Returns
        -------
        options : dict
            Empty.
        """
        return {}

    def chunks(self) -> Iterable[Any]:
        """Chunks of the source, from its beginning."""
        return as_chunks(self._opened())

    def _opened(self) -> Iterable[Any]:
        """What the source yields, from its beginning."""
        if not self.reiterable:
            if self._consumed:
                raise RuntimeError(
                    f"This stream is a one-shot iterator ({type(self.source).__name__}) that is "
                    "already consumed, but a second pass is needed. Pass the generator function "
                    "itself instead of its result, or an object whose __iter__ starts again."
                )
            self._consumed = True
        if hasattr(self.source, "__iter__"):
            return self.source
        chunks = self.source()
        if not hasattr(chunks, "__iter__"):
            raise TypeError(
                f"The function given as a stream must return an iterable of chunks (X, y). "
                f"It returned {type(chunks).__name__} instead."
            )
        return chunks


class FrameStream(ChunkStream):
    """Stream of the frames that another object yields, which hold the labels as a column.

    Parameters
    ----------
    source : iterable or callable
        Yields frames; see `ChunkStream`.
    columns : dict of str to str
        Column of the labels, "target", and those of meta data by their keys.
    """

    def __init__(
        self, source: Iterable[Any] | Callable[[], Iterable[Any]], columns: dict[str, str]
    ) -> None:
        super().__init__(source)
        self._columns = columns

    def row_options(self) -> dict[str, Any]:
        """Return the columns that are no features."""
        return self._columns

    def chunks(self) -> Iterator[Any]:
        """Features, labels and meta data of the frames."""
        start = 0
        for frame in self._opened():
            where = f"the frame that starts at row {start}"
            X, meta = split_columns(frame, self._columns, where)
            yield X, meta.pop("target"), meta
            start += len(X)


def begins_again(stream: Stream) -> bool:
    """Whether each pass through a stream begins with its first row.

    The source of chunks is opened twice, and no row is read, to see that it does not return one
    and the same iterator, which would go on where it was left.
    """
    if not stream.reiterable or not isinstance(stream, ChunkStream):
        parts = getattr(stream, "parts", ())  # of a stream that is made of others
        return stream.reiterable and all(map(begins_again, parts))
    chunks = stream._opened()
    if hasattr(stream.source, "__iter__"):
        chunks = iter(chunks)
    if not hasattr(chunks, "__next__"):
        return True
    again = stream._opened()
    return (iter(again) if hasattr(stream.source, "__iter__") else again) is not chunks


def as_stream(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    arrival: Any = None,
    label_time: Any = None,
    id: Any = None,
    chunk_size: int = 65536,
) -> Stream:
    """Make a stream from arrays, frames, sparse matrices, or any source of chunks or frames.

    The order of rows is their order in time. Frames keep their names and dtypes; labels keep their
    types.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or source of chunks
        Features: NumPy array or memory map, list of rows, pandas or polars frame, CSR matrix (other
        sparse formats are converted once). Or texts, one per row: a list, array or series without
        columns, for models that start with a vectorizer; none may be missing. Without `y`: a
        `Stream` (returned as it is), any iterable of ``(X, y)`` or ``(X, y, meta)``, or a function
        that returns one. An iterator is accepted, but can be iterated only once. Or a River data
        set, or any iterable of single rows ``(dict, y)``: it is read to its end and becomes a
        pandas frame, with NaN if a row lacks a feature. With `target`: a frame that also contains
        the labels (pandas, polars, Arrow table or record batch, dict of columns), or a source of
        such frames.
    y : array-like of shape (n_rows,), default=None
        Labels or targets; None, NaN and ``pandas.NA`` are missing labels. Required unless `X` is a
        source of chunks, which contain their own, or `target` is given.
    target : str, default=None
        Column of the labels in frames, such as those from ``pandas.read_csv(chunksize=)``, a
        ``pyarrow.RecordBatchReader`` or the batches of a dataset. The other columns, except those
        named below, are the features.
    sample_weight : array-like of shape (n_rows,) or str, default=None
        Weight of each row. With `target`, this and the next three are names of columns.
    arrival : array-like of shape (n_rows,) or str, default=None
        When the features become known: numbers or ``datetime64``.
    label_time : array-like of shape (n_rows,) or str, default=None
        When the label becomes known, in the unit of `arrival`; infinity or NaT for never.
    id : array-like of shape (n_rows,) or str, default=None
        Identifier of each row.
    chunk_size : int, default=65536
        Rows per chunk. Chunks from a source of chunks or frames keep their size.

    Returns
    -------
    Stream
        Iterating gives chunks ``(X, y, meta)``.

    Raises
    ------
    ValueError
        If lengths differ, if there are no rows, or if `y` is missing or given twice; if a frame
        lacks a named column; if what belongs to the rows of a pandas frame has its index in another
        order. While iterating: if the number, names or kind of the features change between chunks.
    TypeError
        If `X` is neither data nor a source of chunks; with `target`, of frames.

    See Also
    --------
    ParquetStream : Stream of Parquet files, which are read in parts.
    CSVStream : Stream of CSV files.
    ARFFStream : Stream of ARFF files.
    SVMLightStream : Stream of SVMlight files.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.streams import as_stream
    >>> stream = as_stream(np.arange(10).reshape(5, 2), [1, 0, 1, 1, 0], chunk_size=2)
    >>> stream.n_rows, stream.classes.tolist()
    (5, [0, 1])
    >>> for X, y, meta in stream:
    ...     print(X.tolist(), y.tolist())
    [[0, 1], [2, 3]] [1, 0]
    [[4, 5], [6, 7]] [1, 1]
    [[8, 9]] [0]

    Frames that hold the labels, from a function that opens their source again at every pass:

    >>> def batches():
    ...     yield {"load": [1.0, 2.5], "day": ["Mon", "Tue"], "class": ["up", "down"]}
    ...     yield {"load": [0.5], "day": ["Mon"], "class": ["up"]}
    >>> for X, y, meta in as_stream(batches, target="class"):
    ...     print(list(X.columns), y.tolist())
    ['load', 'day'] ['up', 'down']
    ['load', 'day'] ['up']
    """
    if isinstance(X, (str, PathLike)):
        raise TypeError(
            f"X is a path ({X!r}). Use ParquetStream(path, target=...), CSVStream(path, "
            f"target=...), ARFFStream(path, target=...) or SVMLightStream(path)."
        )
    times = {"arrival": arrival, "label_time": label_time}
    meta = {"sample_weight": sample_weight, **times, "id": id}
    if target is not None:
        if y is not None:
            raise ValueError(
                "y and target= are both given. Pass the labels in one of the two ways."
            )
        columns = names_of_columns({"target": target, **meta})
        check_count(chunk_size, "chunk_size", 1)
        if not holds_columns(X):
            return FrameStream(X, columns)
        X, found = split_columns(X, columns, "X")
        return ArrayStream(X, found.pop("target"), chunk_size=chunk_size, **found)
    if y is not None and not isinstance(X, np.ndarray):
        refuse_chunks(X, "y")
    if isinstance(X, np.ndarray) or _is_data(X) or (y is not None and isinstance(X, (list, tuple))):
        if y is None:
            more = (
                " If a column holds them, pass as_stream(X, target='its name')."
                if is_frame(X)
                else ""
            )
            raise ValueError(f"y is missing: X is a {type(X).__name__}, which has no labels.{more}")
        return ArrayStream(X, y, chunk_size=chunk_size, **meta)
    if y is None and holds_rows(X):
        return ArrayStream(*frame_of(X), chunk_size=chunk_size, **meta)
    given = [name for name, values in {"y": y, **meta}.items() if values is not None]
    if given:
        raise _beside_chunks(X, given[0])
    check_count(chunk_size, "chunk_size", 1)
    return X if isinstance(X, Stream) else ChunkStream(X)


def refuse_chunks(X: Any, given: str) -> None:
    """Raise an error if X is chunks or a function that returns them, and not rows."""
    first = X[0] if isinstance(X, list | tuple) and X else None
    is_chunk = isinstance(first, tuple) and len(first) in (2, 3) and np.ndim(first[0]) in (1, 2)
    if is_chunk or (callable(X) and not _is_data(X)):
        raise _beside_chunks(X, given)


def _beside_chunks(X: Any, given: str) -> ValueError:
    return ValueError(
        f"{given} is given together with a source of chunks ({type(X).__name__}). Its chunks (X, "
        "y, meta) must contain it themselves."
    )


def _is_data(X: Any) -> bool:
    return sparse.issparse(X) or is_frame(X) or hasattr(X, "__array__")


def names_of_columns(given: dict[str, Any]) -> dict[str, str]:
    """Check the names of columns that a user gives; None stands for none."""
    named = {key: name for key, name in given.items() if name is not None}
    for key, name in named.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{key} must be the name of a column if target= is given. Got "
                f"{type(name).__name__} instead."
            )
    return named


def split_columns(
    frame: Any, taken: Mapping[str, str], where: str, *, features: bool = True
) -> tuple[Any, dict[str, Any]]:
    """Split a frame into the columns that are named, by key, and a frame of the others.

    There must be others, unless `features` is False; `where` says in errors which frame it is.
    """
    frame = _as_frame(frame, where)
    names = list(frame.columns)
    for key, name in taken.items():
        if name not in names:
            texts = [str(column) for column in names]
            raise ValueError(
                f"{key} names the column {name!r}, which is not in {where}."
                f"{did_you_mean(name, texts)} Columns: {shown([repr(column) for column in names])}."
            )
    known = list(dict.fromkeys(taken.values()))
    if features and len(known) == len(names):
        raise ValueError(f"{where} has no column besides {shown(known)}, so there are no features.")
    X = frame.drop(columns=known) if hasattr(frame, "iloc") else frame.drop(known)
    return X, {key: frame[name] for key, name in taken.items()}


def holds_columns(X: Any) -> bool:
    """Whether an object is a frame, or becomes one: a table of Arrow, or a dict of columns."""
    arrow = type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas")
    return is_frame(X) or isinstance(X, Mapping) or (arrow and hasattr(X, "num_columns"))


def _as_frame(frame: Any, where: str) -> Any:
    if not holds_columns(frame):
        raise TypeError(
            f"{where} is a {type(frame).__name__}. With target=, a stream is made of pandas or "
            f"polars frames, Arrow tables or record batches, or dicts of columns."
        )
    if not isinstance(frame, Mapping):
        return as_rows(frame)
    single = [name for name, values in frame.items() if np.ndim(values) == 0]
    if single:
        raise ValueError(
            f"{where} is a dict whose value of {single[0]!r} is not a column: it seems to be a "
            "single row. Pass batches of rows (of a Hugging Face dataset: "
            "dataset.iter(batch_size=1000))."
        )
    try:
        library = optional_import("pandas", "A dict of columns")
    except ImportError:
        library = optional_import("polars", "A dict of columns")
    columns = {
        name: values.to_pylist() if hasattr(values, "to_pylist") else list(unmasked(values))
        for name, values in frame.items()
    }
    made = library.DataFrame(columns)
    for name, values in columns.items() if hasattr(made, "iloc") else ():
        if lose_digits(values, made[name]):
            made[name] = library.Series(values, dtype=object)
    return made
