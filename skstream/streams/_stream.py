"""Base class of streams, and the checks of every chunk."""

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.utils._labels import as_labels
from skstream.utils._masked import unmasked
from skstream.utils._times import time_column

META_KEYS = ("sample_weight", "arrival", "label_time", "id")
_TIMES = ("arrival", "label_time")
# Values looked at to see whether an array without columns holds texts.
_LOOKED_AT = 1000

Meta = dict[str, NDArray[Any]]
Chunk = tuple[Any, NDArray[Any], Meta]


class StreamError(ValueError):
    """Error of a stream that failed after its first rows; says after which row, and in which file.

    Parameters
    ----------
    message : str
        What happened.
    row : int, default=None
        Number of rows read before.
    file : str, default=None
        Path of the file that could not be read on.

    Attributes
    ----------
    row : int or None
        Number of rows read before; this is also the number of the first row not read.
    file : str or None
        Path of the file that could not be read on; None where there is no file.
    result : EvaluationResult or None
        Scores of the rows before the error, if they were being evaluated and there are any.

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


class Stream(ABC):
    """Rows in time order, in chunks; base class of every stream.

    Iterating gives chunks ``(X, y, meta)``. The division into chunks is a detail of storage and
    never changes a result. A subclass implements `chunks`, which may yield ``(X, y)`` or ``(X, y,
    meta)``; iteration checks each chunk and says which row is wrong.

    See Also
    --------
    as_stream : Make a stream of arrays, frames, sparse matrices, or any source of chunks.

    Notes
    -----
    `X` has shape (n_rows, n_features) and is a NumPy array, a CSR matrix, or a pandas or polars
    frame, of one kind throughout. Raw texts must be hashed first, or be a column of a frame. `y`
    is an array of shape (n_rows,), in which None, NaN and ``pandas.NA`` are missing labels. `meta`
    maps any of "sample_weight", "arrival", "label_time" and "id" to arrays of shape (n_rows,), the
    same keys throughout.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.streams import Stream
    >>> class Coin(Stream):
    ...     def chunks(self):
    ...         rng = np.random.default_rng(0)
    ...         for _ in range(3):
    ...             yield rng.random((4, 2)), rng.integers(0, 2, 4)
    >>> [len(y) for X, y, meta in Coin()]
    [4, 4, 4]
    """

    @property
    def reiterable(self) -> bool:
        """Whether the stream can be iterated again, from its first row."""
        return True

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if it is unknown or the stream is endless."""
        return None

    @property
    def classes(self) -> NDArray[Any] | None:
        """Sorted class labels; None if they are unknown or the targets are not labels."""
        return None

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features; None if they have none."""
        return None

    def about_missing_label(self, row: int) -> str:
        """Say what the source shows where a row has no label.

        Parameters
        ----------
        row : int
            Number of the row.

        Returns
        -------
        words : str
            Sentences that end an error; empty where the source shows nothing.
        """
        return ""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """Chunks from the first row on, each ``(X, y)`` or ``(X, y, meta)``."""

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        for _, y, _ in self:
            yield y

    def __iter__(self) -> Iterator[Chunk]:
        return _checked(self.chunks())

    def __repr__(self) -> str:
        rows = "unknown number of rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        once = "" if self.reiterable else ", one pass only"
        return f"{type(self).__name__}({rows}{once})"


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars frame."""
    if type(X).__module__.partition(".")[0] == "polars":
        return type(X).__name__ in ("DataFrame", "LazyFrame")
    return hasattr(X, "iloc") and hasattr(X, "columns")


def as_rows(X: Any, *, texts: bool = False) -> Any:
    """Features as something whose rows can be sliced: frame, CSR matrix or array.

    Frames, arrays, memory maps and CSR matrices are returned as they are. Masked arrays become
    plain ones with NaN where they are masked. One-dimensional arrays of texts are an error, unless
    `texts` is true.
    """
    if is_frame(X):
        if not hasattr(X, "shape"):
            raise TypeError(f"X is a polars {type(X).__name__}. Pass X.collect() instead.")
        return X
    if sparse.issparse(X):
        X = X if X.format == "csr" else X.tocsr()
    else:
        X = unmasked(X, numbers=True)
        if not isinstance(X, np.ndarray):
            X = _array_of_rows(X)
    text = _first_text(X) if X.ndim == 1 else None
    if X.ndim == 2 or (texts and text is not None):
        return X
    if text is not None:
        raise ValueError(
            f"X holds {len(X):,} raw texts (one is {reprlib.repr(text)}), but rows need columns. "
            f"Either turn the texts into numbers first, X = HashingVectorizer().transform(texts), "
            f"or put them into a data frame with one column and let the model be "
            f"make_stream_pipeline(ColumnTransformer([('words', HashingVectorizer(), 'text')]), "
            f"...), where 'text' is the name of that column."
        )
    hint = ""
    if X.ndim == 1:
        n = len(X)
        hint = (
            f" Pass X.reshape(1, -1) if these are the features of one row ({n} features), or "
            f"X.reshape(-1, 1) if they are the rows of one feature ({n} rows)."
        )
    raise ValueError(f"X must have the shape (n_rows, n_features). Got shape {X.shape}.{hint}")


def _array_of_rows(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        widths = [np.size(row) for row in X]
        other = next((i for i, width in enumerate(widths) if width != widths[0]), None)
        if other is None:
            raise
        raise ValueError(
            f"Row {other} of X has {widths[other]} features, but row 0 has {widths[0]}."
        ) from error


def _first_text(X: NDArray[Any]) -> str | bytes | None:
    """First text in an array of one dimension; None if there is none among its first values."""
    if X.dtype.kind not in "USOT":
        return None
    first = (value for value in X[:_LOOKED_AT].tolist() if isinstance(value, (str, bytes)))
    return next(first, None)


def cut(X: Any, start: int, stop: int) -> Any:
    """Rows `start` to `stop` of arrays, frames and CSR matrices; a view where there is one."""
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


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


def check_lengths(X: Any, y: NDArray[Any], where: str = "") -> None:
    """Raise an error if features and labels differ in length."""
    if len(y) != X.shape[0]:
        raise ValueError(
            f"X{where} has {X.shape[0]} rows, but y has {len(y)} labels. Give one label per row; "
            f"None or NaN where a label is missing."
        )


def _checked(chunks: Iterable[Any]) -> Iterator[Chunk]:
    start = 0
    first: tuple[Any, Meta] | None = None
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
        X, y, meta = _parts(chunk, number, start)
        if first is None:
            first = X, meta
        else:
            _check_same_features(X, first[0], start)
            _check_same_meta(meta, first[1], start)
        if len(y):
            yield X, y, meta
        start += len(y)
    if start == 0:
        raise ValueError(
            "The stream is empty: it gave no row. If it comes from a function, that function must "
            "make a new iterator at each call."
        )


def _parts(chunk: Any, number: int, start: int) -> Chunk:
    if not isinstance(chunk, (tuple, list)) or len(chunk) not in (2, 3):
        shape = f" of shape {chunk.shape}" if hasattr(chunk, "shape") else ""
        raise TypeError(
            f"Chunk {number} of the stream is a {type(chunk).__name__}{shape}. A stream yields "
            f"(X, y) or (X, y, meta); to stream rows from memory, pass y too."
        )
    if chunk[1] is None:
        raise ValueError(
            f"Chunk {number} of the stream has y=None. Give one label per row; None or NaN where "
            f"a label is missing."
        )
    where = f" in the chunk that starts at row {start}"
    X, y = as_rows(chunk[0]), as_labels(chunk[1])
    check_lengths(X, y, where)
    return X, y, as_meta(chunk[2] if len(chunk) == 3 else None, len(y), where)


def kind_of(X: Any) -> str:
    """Kind of container of features, in words; all chunks of a stream must have the same."""
    if is_frame(X):
        return f"{type(X).__module__.partition('.')[0]} frame"
    return "sparse matrix" if sparse.issparse(X) else "dense array"


def kinds_differ(kind: str, before: str, row: int) -> str:
    """Say in a sentence that the container of the features changes at a row."""
    return (
        f"X is a {kind} in the chunk that starts at row {row}, and a {before} in the chunks "
        "before it. Use one kind throughout."
    )


def _check_same_features(X: Any, first: Any, start: int) -> None:
    if kind_of(X) != kind_of(first):
        raise ValueError(kinds_differ(kind_of(X), kind_of(first), start))
    if X.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"Row {start} has {_width(X)} features, but the rows before it have {_width(first)}. "
            f"Every row of a stream must have the same features."
        )
    if is_frame(X) and list(X.columns) != list(first.columns):
        before, now = list(first.columns), list(X.columns)
        place = next(i for i in range(len(now)) if now[i] != before[i])
        raise ValueError(
            f"The columns change at row {start}: column {place} is {now[place]!r}, but it was "
            f"{before[place]!r} in the rows before it. Use the same columns in the same order."
        )


def _width(X: Any) -> int | str:
    return int(X.shape[1]) if len(X.shape) == 2 else "no"


def _check_same_meta(meta: Meta, first: Meta, start: int) -> None:
    if meta.keys() != first.keys():
        raise ValueError(
            f"The keys of meta change at row {start}: {sorted(meta)} instead of {sorted(first)}. "
            f"Every chunk needs the same keys."
        )
