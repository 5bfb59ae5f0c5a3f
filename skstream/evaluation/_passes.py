"""Comparison of the passes that several workers make through one stream."""

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np

from skstream.utils._rows import is_frame

#: What a pass read, in words; checksums by these names are equal if two passes read the same.
Checksums = Mapping[str, tuple[int, ...]]

LABEL_TIMES = "label times"
_META = {"sample_weight": "weights", "arrival": "arrivals"}
# Values of a dense array that are converted at once.
_VALUES_AT_ONCE = 1 << 16


class PassChecksums:
    """Checksums of all that a pass reads; they do not depend on chunking."""

    def __init__(self) -> None:
        self._sums: dict[str, list[int]] = {}

    def add(self, X: Any, y: np.ndarray, meta: Mapping[str, np.ndarray]) -> None:
        """Add a checked chunk of a stream."""
        self._add("features", _columns(X))
        self._add("labels", [iter([y])])
        for key, name in _META.items():
            if key in meta:
                self._add(name, [iter([meta[key]])])

    def _add(self, name: str, columns: list[Iterator[np.ndarray]]) -> None:
        before = self._sums.setdefault(name, [0] * len(columns))
        for k, pieces in enumerate(columns):
            for values in pieces:
                before[k] = crc32(_as_bytes(values), before[k])

    def sums(self) -> Checksums:
        """Return the checksums."""
        return {name: tuple(sums) for name, sums in self._sums.items()}


def differences(one: Checksums, other: Checksums) -> str:
    """Name what differs between two passes; empty if nothing does."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _columns(X: Any) -> list[Iterator[np.ndarray]]:
    """Values of features, in sequences that do not depend on chunking."""
    if is_frame(X):
        columns = X.iloc if hasattr(X, "iloc") else X
        return [iter([np.asarray(columns[:, k])]) for k in range(X.shape[1])]
    if hasattr(X, "indptr"):
        return [iter([values]) for values in (X.data, X.indices, np.diff(X.indptr))]
    n_at_once = max(1, _VALUES_AT_ONCE // max(1, X.shape[1]))
    return [(X[begin : begin + n_at_once] for begin in range(0, len(X), n_at_once))]


def _as_bytes(values: np.ndarray) -> Any:
    """Bytes of values: equal for equal numbers of any type, whatever the chunk's other values."""
    if values.dtype.kind not in "fiubmMc":
        values = values.ravel()
        flat = values.tolist()
        numbers = [_number(value) for value in flat]
        if None in numbers:
            return "\0".join(_text(value) for value in flat).encode() + b"\0"
        values = np.array(numbers)
    if values.dtype.kind in "fiub":
        values = np.ascontiguousarray(values, dtype=np.float64)
        nan = np.isnan(values)
        if nan.any():
            values = np.where(nan, np.nan, values)  # NaN has many forms
        return values
    return values.tobytes()


def _number(value: Any) -> float | None:
    """Return a number, NaN for a missing value, and None for anything else."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    return float(value) if isinstance(value, Real) else None


def _text(value: Any) -> str:
    """Return a text that is the same in every process."""
    if isinstance(value, (str, bytes, Real)):
        return str(value)
    return type(value).__name__
