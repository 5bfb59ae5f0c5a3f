"""Rows that enter a run: their labels as codes, their weights, and their checksums.

By checksums workers, checkpoints and results tell one stream from another.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from struct import pack
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.core.rows.chunk import Chunk
from skstream.core.run.run_outcome import Checksums
from skstream.utils._content import NotComparable, content, name_of
from skstream.utils._labels import LabelSpace, is_given, refuse_single
from skstream.utils._masked import unmasked
from skstream.utils._rows import is_frame, take_rows


@dataclass(frozen=True)
class EncodedRows:
    """Rows of a chunk with encoded labels, for the engine.

    Attributes
    ----------
    X : container of shape (n_rows, n_features)
        Features as the user gave them.
    y : ndarray of shape (n_rows,)
        Codes (-1: no label) or targets (NaN: none).
    weight : ndarray of shape (n_rows,) or None
        The user's weights.
    time : ndarray of shape (n_rows,) or None
        When the rows came, where something counts time.
    came : ndarray of shape (n_rows,) or None
        When the rows came, as the user gave it.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    time: np.ndarray | None = None
    came: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def take(self, rows: slice | np.ndarray) -> Self:
        """Return some of the rows."""
        if isinstance(rows, slice) and len(self.y[rows]) == len(self.y):
            return self
        some: dict[str, Any] = {"X": take_rows(self.X, rows)}
        for name, column in vars(self).items():
            if name != "X" and column is not None:
                some[name] = column[rows]
        return replace(self, **some)


class MissingLabelError(ValueError):
    """A row without a label, where that is an error.

    Parameters
    ----------
    message : str
        What happened.
    row : int
        Number of the row in the stream.
    """

    def __init__(self, message: str, row: int = -1) -> None:
        super().__init__(message)
        self.row = row

    def add(self, where: str) -> None:
        """Let the message end with where the row is in its file, if that is known."""
        if where:
            mark = "If its label is the mark of a gap, nominal= reads it as a label."
            self.args = (f"{self.args[0]} It is {where}. {mark}",)


def encoded(chunk: Chunk, space: LabelSpace, missing_labels: str, *, first_row: int) -> EncodedRows:
    """Encode the labels of a chunk; raises before anything is learnt."""
    codes = space.encode(chunk.y, first_row)
    if missing_labels == "error" and np.count_nonzero(is_given(codes)) < len(codes):
        row = first_row + int(is_given(codes).argmin())
        raise MissingLabelError(
            f'Row {row} has no label (None or NaN). Pass missing_labels="skip" to predict it only, '
            "or drop it.",
            row,
        )
    weight = chunk.meta.get("sample_weight")
    if weight is not None:
        weight = checked_weights(weight, lambda at: f"sample_weight of row {first_row + at}")
    return EncodedRows(chunk.X, codes, weight)


def encoded_labels(y: Any, space: LabelSpace) -> np.ndarray:
    """Encode labels or targets, none of which may be missing."""
    refuse_single(y, "y")
    codes = space.encode(y)
    given = is_given(codes)
    if not given.all():
        raise ValueError(f"Label {int(given.argmin())} of those given is missing (None or NaN).")
    return codes


def checked_weights(weight: Any, name: Callable[[int], str]) -> np.ndarray:
    """Return weights that are finite and not negative; `name` names a wrong one in the error."""
    values = np.asarray(unmasked(weight, numbers=True))
    try:
        weights: np.ndarray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        at = _first_no_number(values)
        value = values[at].item() if isinstance(values[at], np.generic) else values[at]
        raise ValueError(
            f"{name(at)} is {value!r}, which is not a number; weights must be finite and not "
            "negative."
        ) from error
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"{name(at)} is {weights[at]}; weights must be finite and not negative (0: predicted, "
            "but neither scored nor used for training)."
        )
    return weights


def why_no_weight(n_rows: int) -> str:
    """Say in a clause that no row has a weight above 0, and what that means."""
    return f"all {n_rows:,} weights are 0 (such rows are neither scored nor used for training)."


def _first_no_number(values: Any) -> int:
    for at, value in enumerate(values):
        try:
            float(value)
        except (TypeError, ValueError):
            return at
    return 0


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
# Types of other values that are equal if their texts are.
_SHOWN = (type(None), int, bytes, tuple, date, time, timedelta, Decimal, Fraction, *_TIMES)
_NAN = pack("=d", np.nan)
# What stands before other values: a NaN that no number is written as.
_NO_FLOAT = pack("=Q", 0x7FF8_0000_0000_0001)


@dataclass(eq=False)
class PassChecksums:
    """Checksums of all that a pass reads; they do not depend on chunking.

    Attributes
    ----------
    n_rows : int
        Number of rows that were added.
    """

    _sums: dict[str, list[int]] = field(default_factory=dict)
    _chunk: Chunk | None = None  # the one that was given last
    _first: int = 0  # its first row
    n_rows: int = 0

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


def differences(first: Checksums, other: Checksums) -> str:
    """Name what differs between two passes; empty if nothing does."""
    names = [name for name in {**first, **other} if first.get(name) != other.get(name)]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _columns(X: Any) -> list[list[np.ndarray]]:
    """Values of features, in sequences that depend neither on chunking nor on the container."""
    if is_frame(X):
        if X.shape[1] and all(
            isinstance(dtype, np.dtype) and dtype.kind == "f" for dtype in X.dtypes
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
    if values.dtype != object:
        if values.dtype.kind != "f" or isinstance(column.dtype, np.dtype):
            return values
        if not (np.abs(values) >= _EXACT).any():
            return values
    known = np.empty(len(values), dtype=object)
    known[:] = values.tolist() if values.dtype == object else column.to_list()
    for at, value in enumerate(known):  # what is missing is None in one library, NaN in another
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            known[at] = np.nan
    return known


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
    texts = {value: _cell(value) for value in {text for text in flat if type(text) is str}}
    cells = b"".join([texts[item] if type(item) is str else _cell(item) for item in flat])
    return np.frombuffer(cells, dtype=np.float64).reshape(values.shape)


def _cell(value: Any) -> bytes:
    """Eight bytes of one value: a float, or the digest of its text behind what is no float."""
    if isinstance(value, np.generic) and not isinstance(value, _TIMES):
        value = value.item()
    kind = type(value)
    is_number = kind in _NUMBERS  # whose float no other value has
    if kind is int:
        is_number = value.bit_length() <= 1000 and int(float(value)) == value
    if is_number:
        return _NAN if value != value else pack("=d", value)
    if kind is str:
        text = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, _SHOWN):
        text = repr(value).encode()
    else:
        try:  # a text that is the same in every process, and another one for another value
            text = content(value).encode()
        except NotComparable:  # then its class is all that can be told
            text = b""
    whole = b"%b%b%b%b" % (_NO_FLOAT, name_of(kind).encode(), pack("=q", len(text)), text)
    return blake2b(whole, digest_size=_N_BYTES).digest()
