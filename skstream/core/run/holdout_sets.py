"""Held-out rows: one set, or fresh ones from a stream."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from skstream.core.rows.arrays import ArrayStream, as_stream
from skstream.core.rows.stream import Stream
from skstream.core.run.input import (
    HELD_OUT,
    EncodedRows,
    PassChecksums,
    differences,
    encoded,
)
from skstream.core.run.run_outcome import Checksums
from skstream.utils._labels import LabelSpace, is_given
from skstream.utils._rows import Schema, own_rows, stack_rows
from skstream.utils._warnings import warn


def warn_of_overlap(stream: Stream, held_out: Stream) -> None:
    """Warn if held-out rows are the stream, or rows of the same array or data frame."""
    source = getattr(stream, "source", None)
    if held_out is stream or (source is not None and getattr(held_out, "source", None) is source):
        what = "are the same"
    elif _share_memory(getattr(stream, "X", None), getattr(held_out, "X", None)):
        what = "share rows of one array or data frame"
    else:
        return
    warn(
        f"The holdout rows and the stream {what}: models are scored on rows they were trained on, "
        "and the scores are too good. Hold out rows that are not in the stream, such as (X[n:], "
        "y[n:]) for the stream X[:n], y[:n]."
    )


def _share_memory(X: Any, other: Any) -> bool:
    """Whether the first columns of two arrays, or pandas frames, have rows in common."""
    some, others = (
        rows.iloc[:, 0].to_numpy() if hasattr(rows, "iloc") else rows for rows in (X, other)
    )
    most: Any = 1 << 20  # as much work as NumPy takes to find out
    try:
        arrays = isinstance(some, np.ndarray) and isinstance(others, np.ndarray)
        return arrays and np.shares_memory(some, others, max_work=most)
    except np.exceptions.TooHardError:  # not known
        return False


#: What to do where rows of a stream are needed twice.
READ_AGAIN = (
    "Pass something that can be read again as holdout=: the generator function itself instead of "
    "its result, a list of chunks, or files."
)


@contextmanager
def _of_holdout() -> Iterator[None]:
    """Say of an error about rows that they are held-out rows."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In the holdout rows: {error}") from error


class HeldOutRows:
    """The rows about which models are asked at checkpoints, by number.

    Parameters
    ----------
    stream : Stream
        Where they come from.
    size : int or None
        Rows of a fresh set; None: there is one set, of all rows.
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    missing_labels : {"error", "skip"}
        What to do with rows without a label.
    """

    def __init__(
        self, stream: Stream, size: int | None, classes: np.ndarray | None, missing_labels: str
    ) -> None:
        self.is_fresh = size is not None
        self._stream = stream
        self._space = LabelSpace(classes)
        self._missing_labels = missing_labels
        self._no_labels = np.empty(0, dtype=np.float64 if classes is None else np.int64)
        self._chunks: Iterator[EncodedRows] | None = None
        self._held: list[EncodedRows] = []
        self._first = 0  # number of the first row held
        self._n_read = 0
        self._asked = PassChecksums()  # of the one set, or of fresh rows that were asked about
        if size is None:
            while self._read():
                pass
            if not self._n_read:
                raise ValueError("The holdout set is empty: give it at least one row.")
            for rows in self._held:
                _add(self._asked, rows)
        self.size = self._n_read if size is None else size
        self.n_asked = self._n_read  # rows asked about so far; all of the one set
        self.n_unlabelled = sum(int(np.count_nonzero(~is_given(c.y))) for c in self._held)

    def copy(self) -> Self:
        """Return a copy that reads the rows from the beginning."""
        copied = copy(self)
        if self.is_fresh:
            copied._chunks, copied._held, copied._first, copied._n_read = None, [], 0, 0
            copied.n_asked = copied.n_unlabelled = 0
            copied._asked = PassChecksums()
        return copied

    def check_can_be_saved(self) -> None:
        """Raise an error if a loaded run could not read the rows again."""
        if self.is_fresh and not self._stream.reiterable:
            raise ValueError(
                "The run cannot be saved: its holdout is a one-shot iterator, which a loaded run "
                f"could not continue to read. {READ_AGAIN}"
            )

    def warn_of_overlap(self, stream: Stream) -> None:
        """Warn if these rows are known to be rows of a stream, too."""
        warn_of_overlap(stream, self._stream)

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_chunks": None}
        if not self.is_fresh:  # the one set has been read
            return {**state, "_stream": None}
        # A loaded run reads the stream again, also the rows about which no model has been asked.
        n_asked = self._asked.n_rows
        return {**state, "_held": [], "_first": n_asked, "_n_read": n_asked}

    def go_on_as(self, other: Self) -> None:
        """Go on, in a loaded run, with the rows of a new one, after those asked about.

        Raises
        ------
        ValueError
            If it does not give these rows.
        """
        self._stream = other._stream
        if not self.is_fresh:
            self._check_same(other._asked)
        elif self._asked.n_rows:
            self._read()

    def _chunks_from(self, begin: int) -> Iterator[EncodedRows]:
        """Rows from one on; those before it must be the ones that were asked about."""
        passed = PassChecksums()
        first = 0
        stream = self._stream  # one set needs no order
        for chunk in stream.chunks() if isinstance(stream, ArrayStream) else stream:
            with _of_holdout():
                rows = encoded(chunk, self._space, self._missing_labels, first_row=first)
            n_passed = min(max(0, begin - first), rows.n_rows)
            if n_passed:
                _add(passed, rows.take(slice(n_passed)))
                if first + n_passed == begin:
                    self._check_same(passed)
            if n_passed < rows.n_rows:
                yield rows.take(slice(n_passed, None))
            first += rows.n_rows
        if first < begin:
            raise ValueError(
                f"The stream of holdout sets has {first:,} rows, but the run had predicted "
                f"{begin:,}. Pass the same one, or start again."
            )

    def _check_same(self, passed: PassChecksums) -> None:
        differing = differences(self._asked.sums(), passed.sums())
        if differing:
            raise ValueError(
                f"The holdout has changed: its first {passed.n_rows:,} rows have other {differing} "
                "than those that the run had predicted. Pass the same one, or start again."
            )

    def asked(self) -> Checksums:
        """Checksums of the one set, or of the fresh rows that were asked about."""
        return {f"{HELD_OUT}{name}": sums for name, sums in self._asked.sums().items()}

    def _read(self) -> bool:
        """Read one more chunk, unless the stream has ended."""
        if self._chunks is None:
            self._chunks = self._chunks_from(self._n_read)
        rows = next(self._chunks, None)
        if rows is None:
            return False
        # Copies: a source may fill one buffer again and again, and the user may change a set.
        weight = None if rows.weight is None else rows.weight.copy()
        own = replace(rows, X=own_rows(rows.X), y=rows.y.copy(), weight=weight)
        self._held.append(own)
        self._n_read += rows.n_rows
        return True

    def check_columns(self, schema: Schema) -> None:
        """Raise an error if the rows have other columns than those of the stream."""
        if not self._held and not self._read():
            raise ValueError("The stream of holdout sets is empty: give it at least one row.")
        found = Schema.of(self._held[0].X)
        if None not in (found.width, schema.width) and found.width != schema.width:
            raise ValueError(
                f"The holdout rows have {found.width} features; the rows of the stream have "
                f"{schema.width}. Hold out rows with the same features."
            )
        if (found.kind, found.names) != (schema.kind, schema.names):
            raise ValueError(
                f"The holdout rows are a {found.kind}{_named(found)}; the rows of the stream are a "
                f"{schema.kind}{_named(schema)}. Use the same kind, with the same columns in the "
                "same order."
            )

    def __call__(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return rows, and where in them those of some numbers are."""
        self._read_up_to(numbers)
        return stack_rows([chunk.X for chunk in self._held]), numbers - self._first

    def _read_up_to(self, numbers: np.ndarray) -> None:
        """Read until there are rows of some numbers."""
        if len(numbers):
            wanted = int(numbers.max()) + 1
            while self._n_read < wanted:
                if not self._read():
                    raise ValueError(
                        f"The stream of holdout sets ended after {self._n_read:,} rows, and set "
                        f"{(wanted - 1) // self.size + 1} of {self.size:,} rows each is due. Use a "
                        "longer one, a larger every=, a smaller holdout_size= or one set (X, y) "
                        "for all checkpoints."
                    )

    def labels(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the labels and weights of some rows, about which the models were asked."""
        self._read_up_to(numbers)  # of a run that was loaded after the answers
        at = numbers - self._first
        y = np.concatenate([self._no_labels, *(chunk.y for chunk in self._held)])[at]
        if self.is_fresh:
            self.n_asked += len(y)
            self.n_unlabelled += int(np.count_nonzero(~is_given(y)))
        if all(chunk.weight is None for chunk in self._held):
            return y, None
        weights = [np.ones(c.n_rows) if c.weight is None else c.weight for c in self._held]
        return y, np.concatenate(weights)[at]

    def release(self, numbers: np.ndarray) -> None:
        """Forget fresh rows, which are asked once, and all before them."""
        if not self.is_fresh or not len(numbers):
            return
        last = int(numbers.max()) + 1
        while self._first < last:
            chunk = self._held[0]
            asked = slice(self._asked.n_rows - self._first, last - self._first)
            _add(self._asked, chunk.take(asked))
            if asked.stop < chunk.n_rows:
                break
            self._first += self._held.pop(0).n_rows


def _add(sums: PassChecksums, rows: EncodedRows) -> None:
    """Add held-out rows to checksums."""
    sums.add(rows.X, rows.y, {} if rows.weight is None else {"sample_weight": rows.weight})


def as_held_out(
    holdout: Any, size: int, classes: np.ndarray | None, missing_labels: str
) -> HeldOutRows | None:
    """Return the held-out rows that a user gave; None for the next rows of the stream."""
    if isinstance(holdout, str):
        return None
    if isinstance(holdout, tuple):
        with _of_holdout():
            stream = as_stream(*holdout)
        return HeldOutRows(stream, None, classes, missing_labels)
    try:
        stream = as_stream(holdout)
    except TypeError as error:
        raise TypeError(
            "holdout must be one set (X, y), a stream of fresh rows, or 'next' for the next rows "
            f"of the stream itself. Got {holdout!r} of type {type(holdout).__name__} instead."
        ) from error
    return HeldOutRows(stream, size, classes, missing_labels)


def _named(schema: Schema) -> str:
    return "" if schema.names is None else f" with the columns {schema.names}"


def is_one_shot(holdout: Any) -> bool:
    """Whether held-out rows can be read once only."""
    return hasattr(holdout, "__next__") or getattr(holdout, "reiterable", True) is False
