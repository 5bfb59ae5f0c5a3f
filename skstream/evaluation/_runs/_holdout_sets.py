"""Held-out rows: one set, or fresh ones from a stream; and the scoring of the answers to them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstream.engine.run import Answered
from skstream.engine.timeline import sets_of
from skstream.evaluation._folder._read_checksums import (
    HELD_OUT,
    PassChecksums,
    differences,
)
from skstream.evaluation._runs._input import EncodedRows, encoded
from skstream.evaluation._runs._run_outcome import Checksums
from skstream.metrics._rows import ScoredRows, Sets
from skstream.streams import Stream, as_stream
from skstream.streams._arrays import ArrayStream
from skstream.utils._label_space import LabelSpace, is_given
from skstream.utils._rows import Schema, is_frame, own_rows, stack_rows, take_rows
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


#: What to do where rows of a stream are needed twice.
READ_AGAIN = (
    "Pass what can be read again as holdout=: the generator function itself instead of its "
    "result, a list of chunks, or files."
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
        self._memory = memory_of(stream)
        self._space = LabelSpace(classes)
        self._missing_labels = missing_labels
        self._no_labels = np.empty(0, dtype=np.float64 if classes is None else np.int64)
        self._chunks: Iterator[EncodedRows] | None = None
        self._held: list[EncodedRows] = []
        self._no_rows: Any = None  # a container of this kind, without rows
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
        self.n_unlabelled = sum(int(np.count_nonzero(~c.labelled)) for c in self._held)

    def copy(self) -> Self:
        """Return a copy that reads the rows from the beginning."""
        twin = copy(self)
        twin._stream, twin._memory = self._stream, self._memory
        if self.is_fresh:
            twin._chunks, twin._held, twin._first, twin._n_read = None, [], 0, 0
            twin.n_asked = twin.n_unlabelled = 0
            twin._asked = PassChecksums()
        return twin

    def check_can_be_saved(self) -> None:
        """Raise an error if a loaded run could not read the rows again."""
        if self.is_fresh and not self._stream.reiterable:
            raise ValueError(
                "The run cannot be saved: its holdout is a one-shot iterator, of which a loaded "
                f"run could not read the rest. {READ_AGAIN}"
            )

    def warn_of_overlap(self, stream: Stream) -> None:
        """Warn if these rows are known to be rows of a stream, too."""
        warn_of_overlap(stream, self._stream)

    def warn_of_rows(self, X: Any) -> None:
        """Warn, once, if rows of a live run are in memory from which these came."""
        if self._memory and share_rows(X, self._memory):
            self._memory = {}
            warn_of_rows("share rows of one array or data frame")

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_chunks": None, "_memory": {}}
        if not self.is_fresh:  # the one set has been read
            return {**state, "_stream": None}
        # A loaded run reads the stream again, also the rows about which no model has been asked.
        n_asked = self._asked.n_rows
        return {**state, "_held": [], "_first": n_asked, "_n_read": n_asked}

    def go_on_as(self, other: Self) -> None:
        """Go on, in a loaded run, with the stream of a new one, after the rows asked about.

        Raises
        ------
        ValueError
            If it does not give these rows.
        """
        self._stream, self._memory = other._stream, other._memory
        if self._asked.n_rows:
            self._read()

    def _chunks_from(self, begin: int) -> Iterator[EncodedRows]:
        """Rows from one on; those before it must be the ones that were asked about."""
        passed = PassChecksums()
        first = 0
        for chunk in self._stream:
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
                f"The stream of holdout sets has {first:,} rows, and the run had asked about "
                f"{begin:,}. Give it as it was, or begin again."
            )

    def _check_same(self, passed: PassChecksums) -> None:
        differing = differences(self._asked.sums(), passed.sums())
        if differing:
            raise ValueError(
                f"The stream of holdout sets has changed: its first {passed.n_rows:,} rows have "
                f"other {differing} than those about which the run had asked. Give it as it was, "
                "or begin again."
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
        if self._no_rows is None:
            self._no_rows = take_rows(own.X, np.arange(0))
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
                f"{schema.kind}{_named(schema)}. Use one kind, and the same columns in one order."
            )

    def __call__(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return rows, and where in them those of some numbers are."""
        self._read_up_to(numbers)
        parts = [chunk.X for chunk in self._held] or [self._no_rows]
        return stack_rows(parts), numbers - self._first

    def _read_up_to(self, numbers: np.ndarray) -> None:
        """Read until there are rows of some numbers."""
        if len(numbers):
            wanted = int(numbers.max()) + 1
            while self._n_read < wanted:
                if not self._read():
                    raise ValueError(
                        f"The stream of holdout sets has ended after {self._n_read:,} rows, and "
                        f"set {(wanted - 1) // self.size + 1} of {self.size:,} rows each is due. "
                        "Give a longer one, a larger every=, a smaller holdout_size= or one set "
                        "(X, y) for all checkpoints."
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


class AskedAtCheckpoints:
    """Models are asked about whole sets of rows, and do not learn meanwhile.

    The baselines do not learn either: within a set, the persistent one repeats the last label of
    the stream before the set, and the majority one answers the most frequent label up to there.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    n_lanes : int
        Models times folds.
    held_out : HeldOutRows or None
        None: the rows asked about are the next rows of the stream.
    n_scores : int, default=0
        Columns of scores that measures need beside the answers.
    """

    def __init__(
        self,
        classes: np.ndarray | None,
        n_lanes: int,
        held_out: HeldOutRows | None,
        n_scores: int = 0,
    ) -> None:
        self._n_scores = n_scores
        self._held_out = held_out
        self._nothing: Any = np.nan if classes is None else -1
        self._sums = None if classes is None else np.zeros(len(classes))
        self._last: Any = self._nothing
        self._y = np.empty(0, dtype=np.float64 if classes is None else np.int64)
        self._weight = np.empty(0)
        self._is_weighted = False
        self._first = 0  # number of the first row of the stream that is held
        self.n_valid = [0] * n_lanes  # rows of the stream up to a lane's last whole set of answers

    def arrive(
        self, y: np.ndarray, weight: np.ndarray | None, time: np.ndarray | None = None
    ) -> None:
        """Take the labels and weights of the next rows of the stream; sets have no times."""
        self._is_weighted = self._is_weighted or weight is not None
        self._y = np.concatenate([self._y, y])
        self._weight = np.concatenate([self._weight, np.ones(len(y)) if weight is None else weight])

    def settle(self, answered: Sequence[Answered]) -> ScoredRows:
        """Return the sets of rows about which the models were asked."""
        operations = answered[0].operations
        (ends, checkpoints), numbers = sets_of(operations), operations.ask_rows
        sizes = np.diff(ends, prepend=0)
        if self._held_out is None:
            at = numbers - self._first
            y, weight = self._y[at], self._weight[at] if self._is_weighted else None
            n_learnt = numbers[ends - sizes]
        else:
            y, weight = self._held_out.labels(numbers)
            self._held_out.release(numbers)
            n_learnt = checkpoints
        answers = np.array([one.answers for one in answered], dtype=self._y.dtype)
        for lane, line in enumerate(answers):
            if len(ends):
                whole = np.logical_and.reduceat(is_given(line), ends - sizes)
                self.n_valid[lane] = int(max(self.n_valid[lane], *(checkpoints * whole)))
        previous, majority, inclusive = self._baselines(n_learnt, sizes, y, weight)
        self._pass(operations.settled)
        sets = Sets(ends, checkpoints)
        scores = scores_of(answered, self._n_scores)
        return ScoredRows(y, answers, weight, previous, majority, inclusive, sets, scores)

    def _baselines(
        self,
        n_learnt: np.ndarray,
        sizes: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Return the answers of the baselines to the rows of sets, after so many rows each."""
        previous, majority, inclusive = [], [], []
        first = 0
        for n_rows, size in zip(n_learnt.tolist(), sizes.tolist(), strict=True):
            self._pass(n_rows)
            previous.append(np.full(size, self._last))
            if self._sums is not None:
                part = slice(first, first + size)
                lead = int(self._sums.argmax())
                known = self._sums[lead] > 0.0
                own = self._sums[y[part]] + (1.0 if weight is None else weight[part])
                wins = (own > self._sums[lead]) | ((own == self._sums[lead]) & (y[part] < lead))
                majority.append(np.full(size, lead if known else -1))
                inclusive.append(np.where(wins, y[part], lead))
            first += size
        empty = self._y[:0]
        return (
            np.concatenate([empty, *previous]).astype(self._y.dtype),
            None if self._sums is None else np.concatenate([empty, *majority]),
            None if self._sums is None else np.concatenate([empty, *inclusive]),
        )

    def _pass(self, n_rows: int) -> None:
        """Let the baselines know the labels of the stream's rows up to this number."""
        n = n_rows - self._first
        if n <= 0:
            return
        y, weight = self._y[:n], self._weight[:n]
        counted = is_given(y) & (weight > 0.0)
        if counted.any():
            self._last = y[counted][-1]
        if self._sums is not None:
            added = np.bincount(y[counted], weight[counted], minlength=len(self._sums))
            self._sums = self._sums + added
        self._y, self._weight, self._first = self._y[n:], self._weight[n:], n_rows


def scores_of(answered: Sequence[Answered], n_scores: int) -> np.ndarray | None:
    """Return the scores of all lanes, NaN where one has none; None where no measure needs them."""
    if not n_scores:
        return None
    n_asks = len(answered[0].answers)
    none = np.full((n_asks, n_scores), np.nan)
    return np.array([none if one.scores is None else one.scores for one in answered])


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
