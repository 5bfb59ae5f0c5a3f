"""Checksums of rows: by them workers, checkpoints and results tell one stream from another."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from struct import pack
from typing import Any
from zlib import crc32

import numpy as np

from skstream.core.rows.chunk import Chunk
from skstream.core.run.run_outcome import Checksums
from skstream.utils._content import NotComparable, content, name_of
from skstream.utils._rows import is_frame

LABEL_TIMES = "label times"
#: Begin of the names of what is read of held-out rows.
HELD_OUT = "held-out "
# Ids are not read: no answer and no score of `evaluate` depends on them.
_META = {"sample_weight": "weights", "arrival": "arrivals", "label_time": LABEL_TIMES}
# Values of a dense array that are converted at once.
_VALUES_AT_ONCE = 1 << 16
# Bytes that stand for a value.
_N_BYTES = 8
# Types of numbers in arrays of objects.
_NUMBERS = {int, float, bool}
# Floats tell whole numbers up to this one apart.
_EXACT = 1 << 53
# Times of NumPy, of which some become whole numbers without their unit.
_TIMES = (np.datetime64, np.timedelta64)
# Types of other values that their text tells apart.
_SHOWN = (int, date, time, timedelta, Decimal, Fraction, *_TIMES)
_NAN = pack("=d", np.nan)
# What stands before other values: a NaN that no number is written as.
_NO_FLOAT = pack("=Q", 0x7FF8_0000_0000_0001)


class PassChecksums:
    """Checksums of all that a pass reads; they do not depend on chunking.

    Attributes
    ----------
    n_rows : int
        Number of rows that were added.
    """

    def __init__(self) -> None:
        self._sums: dict[str, list[int]] = {}
        self._chunk: Chunk | None = None  # the one that was given last
        self._first = 0  # its first row
        self.n_rows = 0

    def add(self, X: Any, y: np.ndarray, meta: Mapping[str, np.ndarray]) -> None:
        """Add a checked chunk of a stream."""
        columns = {"features": _columns(X), "labels": [[y]]}
        for key, name in _META.items():
            if key in meta:
                columns[name] = [[meta[key]]]
        for name, its in columns.items():
            sums = self._sums.setdefault(name, [0] * len(its))
            for k, arrays in enumerate(its):
                for values in arrays:
                    sums[k] = crc32(_cells(values), sums[k])
        self.n_rows += len(y)

    def noted(self, stream: Iterable[Chunk]) -> Iterator[Chunk]:
        """Chunks of a stream, each of which is added when the next one is wanted."""
        for chunk in stream:
            self._chunk, self._first = chunk, self.n_rows
            yield chunk
            begin, self._chunk = self.n_rows - self._first, None
            if begin < len(chunk.y):
                self.add(*chunk.part(begin, len(chunk.y)))

    def add_up_to(self, n_rows: int) -> None:
        """Add the rows of the chunk that was given last, up to a row of the stream."""
        if self._chunk is not None and n_rows > self.n_rows:
            self.add(*self._chunk.part(self.n_rows - self._first, n_rows - self._first))

    def sums(self) -> Checksums:
        """Return the checksums."""
        return dict(zip(self._sums, map(tuple, self._sums.values()), strict=True))


def differences(one: Checksums, other: Checksums) -> str:
    """Name what differs between two passes; empty if nothing does."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _columns(X: Any) -> list[list[np.ndarray]]:
    """Values of features, in sequences that depend neither on chunking nor on the container."""
    if is_frame(X):
        if X.shape[1] and all(
            isinstance(one, np.dtype) and one.kind == "f" for one in X.dtypes
        ):  # at once, as they often lie side by side
            return _columns(np.asarray(X))
        columns = X.iloc if hasattr(X, "iloc") else X
        table = np.empty(X.shape)
        for k in range(X.shape[1]):
            table[:, k] = _cells(_of_column(columns[:, k]))
        return [[table]]
    if hasattr(X, "indptr"):
        return [[values] for values in (X.data, X.indices, np.diff(X.indptr))]
    n_at_once = max(1, _VALUES_AT_ONCE // max([1, *X.shape[1:]]))
    return [np.split(X, range(n_at_once, len(X), n_at_once))]


def _of_column(column: Any) -> np.ndarray:
    """Values of a column of a frame; exact, also if whole numbers are missing among large ones."""
    values = np.asarray(column)
    if values.dtype == object:  # what is missing is None in one library and NaN in another
        known = [np.nan if _is_missing(one) else one for one in values.tolist()]
        return _as_objects(known)
    if values.dtype.kind != "f" or isinstance(column.dtype, np.dtype):
        return values
    if not (np.abs(values) >= _EXACT).any():
        return values
    listed = column.to_list()
    return _as_objects([one if isinstance(one, int | float) else np.nan for one in listed])


def _as_objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _cells(values: np.ndarray) -> Any:
    """Eight bytes for each value: equal for equal values of any type, whatever the others are.

    Numbers are themselves as floats, other values the digest of their bytes.
    """
    kind, is_large = values.dtype.kind, False
    if kind in "iu" and values.dtype.itemsize == 8 and values.size:
        is_large = bool(values.max() > _EXACT or values.min() < -_EXACT)
    if kind in "fiub" and not is_large:
        values = np.ascontiguousarray(values, dtype=np.float64)
        nan = np.isnan(values)
        return np.where(nan, np.nan, values) if nan.any() else values  # NaN has many forms
    if kind in "mM":
        exact = values.astype(f"{kind}8[ns]")
        if np.array_equal(exact.astype(values.dtype), values, equal_nan=True):
            return np.where(np.isnat(exact), np.nan, exact.view(np.float64))
    flat = values.ravel().tolist() if kind not in "mM" else list(values.ravel())
    kinds = set(map(type, flat))
    if kinds <= _NUMBERS and (
        int not in kinds or all(-_EXACT <= value <= _EXACT for value in flat if type(value) is int)
    ):
        return _cells(np.array(flat, dtype=np.float64).reshape(values.shape))
    texts = {value: _cell(value) for value in {one for one in flat if type(one) is str}}
    cells = b"".join([texts[one] if type(one) is str else _cell(one) for one in flat])
    return np.frombuffer(cells, dtype=np.float64).reshape(values.shape)


def _cell(value: Any) -> bytes:
    text = _bytes_of(value)
    return text if len(text) == _N_BYTES else blake2b(text, digest_size=_N_BYTES).digest()


def _is_number(value: Any) -> bool:
    """Whether a float tells a value apart from all others of any type."""
    if type(value) is int:
        return value.bit_length() <= 1000 and int(float(value)) == value
    return type(value) in _NUMBERS


def _bytes_of(value: Any) -> bytes:
    """Return the bytes of one value: those of a float, or its text behind what is no float."""
    if isinstance(value, np.generic) and not isinstance(value, _TIMES):
        value = value.item()
    if _is_number(value):
        return _NAN if value != value else pack("=d", value)
    kind = type(value)
    if kind is str:
        text = value.encode("utf-8", "surrogatepass")
    elif kind is bytes:
        text = value
    elif kind is tuple:
        text = b"".join(map(_bytes_of, value))
    else:
        text = _text(value).encode()
    return b"%b%b%b%b" % (_NO_FLOAT, name_of(kind).encode(), pack("=q", len(text)), text)


def _text(value: Any) -> str:
    """Return a text that is the same in every process, and another one for another value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, _SHOWN):
        return repr(value)
    try:
        return content(value)
    except NotComparable:  # then its class is all that can be told
        return ""
