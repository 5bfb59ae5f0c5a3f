"""The unit of work of a model: interleaved learns and asks over some rows."""

import hashlib
import pickle
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from skstream.core.timelines.timeline import Operations, no_rows
from skstream.utils._rows import copy_rows, stack_rows, take_rows

Made = TypeVar("Made")

# Memory of what is kept for other models; what goes beyond it, each of them makes by itself.
_MOST_BYTES = 1 << 26


class _Kept(NamedTuple):
    """What was made from some objects, which are kept as long, and a state."""

    of: tuple[Any, ...]
    state: Any
    made: Any


class SharedWork:
    """What models have made of the rows of an event, each thing once.

    Belongs to an engine; blocks refer to it (`Block.shared`).
    """

    def __init__(self) -> None:
        self._shown: dict[int, Any] = {}  # blocks that several models may be shown
        self._kept: dict[tuple[Any, ...], list[_Kept]] = {}
        self._n_times: dict[tuple[Any, ...], int] = {}
        self._wanted_once: set[Any] = set()
        self._n_bytes = 0

    def show(self, block: Any) -> Any:
        """Return the block of an event for all models that are shown it."""
        block = replace(block, shared=self)
        self._shown[id(block)] = block
        return block

    def once(self, key: Any, of: tuple[Any, ...], state: Any, make: Callable[[], Made]) -> Made:
        """Return what `make` returns, or returned before.

        Parameters
        ----------
        key : hashable
            What is made, with all parameters.
        of : tuple
            Objects that it is made from; the same ones, not equal ones.
        state : object
            What was learnt before: the same object, or one with the same pickle.
        make : callable
            ``make()`` makes it; a function of `key`, `of` and `state`.
        """
        if any(_is_block(thing) and id(thing) not in self._shown for thing in of):
            return make()  # no other lane has the block
        address = (key, *map(id, of))
        self._n_times[address] = self._n_times.get(address, 0) + 1
        kept = self._kept.get(address, [])
        for thing in kept:
            if thing.state is state or _are_alike(thing.state, state):
                return thing.made
        made = make()
        if key not in self._wanted_once:
            n_bytes = _bytes_of(made, of)
            if self._n_bytes + n_bytes <= _MOST_BYTES:
                self._n_bytes += n_bytes
                self._kept.setdefault(address, []).append(_Kept(of, state, made))
                results = made if isinstance(made, tuple) else (made,)
                self._shown.update((id(thing), thing) for thing in results if _is_block(thing))
        return made

    def clear(self) -> None:
        """Forget everything after an event; what one model alone wanted is not kept in the next."""
        several = {address[0] for address, n in self._n_times.items() if n > 1}
        self._wanted_once = {address[0] for address in self._n_times} - several
        self._shown, self._kept, self._n_times, self._n_bytes = {}, {}, {}, 0


def _are_alike(thing: Any, other: Any) -> bool:
    try:
        return pickle.dumps(thing) == pickle.dumps(other)
    except Exception:  # pickling may raise any error: they are not known to be alike
        return False


def _is_block(thing: Any) -> bool:
    return hasattr(thing, "learn_X")


def key_of(*parts: Any) -> bytes | None:
    """Key that equals another one only if all parts are alike; None if that cannot be told."""
    try:
        return hashlib.sha256(pickle.dumps(parts)).digest()  # a vocabulary may be large
    except Exception:  # as above
        return None


def _bytes_of(made: Any, of: tuple[Any, ...]) -> int:
    """Memory of rows and arrays that were made, without what they were made from."""
    if isinstance(made, tuple):
        return sum(_bytes_of(part, of) for part in made)
    if not _is_block(made):
        return bytes_of_rows(made)
    known = {id(X) for block in of if _is_block(block) for X in (block.learn_X, block.ask_X)}
    rows = {id(X): X for X in (made.learn_X, made.ask_X) if id(X) not in known}
    return sum(map(bytes_of_rows, rows.values()))


def bytes_of_rows(X: Any) -> int:
    """Memory of the numbers of an array, a sparse matrix or a data frame; 0 of anything else."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes)
    if hasattr(X, "iloc"):
        return int(X.memory_usage(index=False).sum())
    return int(getattr(X, "nbytes", 0))


@dataclass(frozen=True, slots=True)
class Company:
    """Rows of one call of ``predict``, not all of which are asked about.

    Attributes
    ----------
    index : ndarray of shape (n_rows,), dtype intp
        Position in ``ask_X`` of every row of the call.
    asked : ndarray of shape (n_asked,), dtype intp
        Which of them are the asks of the call, in their order.
    """

    index: np.ndarray
    asked: np.ndarray


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive learns and asks that one model executes in order.

    The order is given by the stamps: ask ``i`` is made after exactly ``stamp[i]`` of this block's
    learns. Learns and asks have separate rows (``learn_X``, ``ask_X``, often the same object),
    because a transformer may give a row other values when it is learnt than when it is asked.

    Attributes
    ----------
    learn_X, ask_X : {ndarray, sparse matrix, dataframe} with rows
        Storage of the rows. Not every stored row need be used.
    learn_index : ndarray of shape (n_learns,), dtype intp
        Position in `learn_X` of every row to learn, in the order of learning.
    y : ndarray of shape (n_learns,)
        Class codes (positions in the sorted classes, int64), or targets (float64).
    weight : ndarray of shape (n_learns,), dtype float64, or None
        Learning weights, all positive; None where the run has none.
    ask_index : ndarray of shape (n_asks,), dtype intp
        Position in `ask_X` of every row asked. A row may be asked more than once.
    stamp : ndarray of shape (n_asks,), dtype int64
        Number of this block's learns made before each ask; non-decreasing.
    batches : ndarray of shape (n_batches + 1,), dtype int64, or None
        Bounds of the learns that form one ``partial_fit`` each; None: one row each.
    groups : ndarray of shape (n_groups + 1,), dtype int64, or None
        Bounds of the asks that share one ``predict`` call (all of one stamp); None: one row each.
        Part of the protocol, not of the chunking, so that a model whose answers depend on the size
        of the call gives the same answers for any chunking. Kernels ignore it.
    company : mapping of int to Company, or None
        For each call of ``predict``, by the number of asks left when it is made (this number does
        not change if earlier asks are left out): the rows of the call. None: those asked, no
        others.
    learn_rows, ask_rows : ndarray of int64, or None
        Numbers of the rows in the stream, for messages and scores; kernels do not read them.
    checkpoint : ndarray of shape (n_asks,), dtype int64, or None
        Where `ask_rows` are numbers of held-out rows, which are no rows of the stream: how many of
        its rows have come when each is asked.
    learn_time, ask_time, learn_came : ndarray of int64, or None
        When the call of each is made, and when each row learnt came (with delayed labels, its
        label), in microseconds since 1970; None where no model is told it.
    shared : SharedWork or None
        What other models that are shown the same block have made of it; None: there are none.
    n_learns, n_asks : int
        Number of rows learnt, and of questions asked.
    """

    learn_X: Any
    learn_index: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    ask_X: Any
    ask_index: np.ndarray
    stamp: np.ndarray
    batches: np.ndarray | None = None
    groups: np.ndarray | None = None
    company: Mapping[int, Company] | None = None
    learn_rows: np.ndarray | None = None
    ask_rows: np.ndarray | None = None
    checkpoint: np.ndarray | None = None
    learn_time: np.ndarray | None = None
    learn_came: np.ndarray | None = None
    ask_time: np.ndarray | None = None
    shared: SharedWork | None = None
    n_learns: int = field(init=False)
    n_asks: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_learns", len(self.learn_index))
        object.__setattr__(self, "n_asks", len(self.ask_index))

    @property
    def weights(self) -> np.ndarray:
        """Learning weights, 1 where the run has none."""
        return np.ones(self.n_learns) if self.weight is None else self.weight

    @property
    def ask_bounds(self) -> np.ndarray:
        """Bounds of the asks that share a call."""
        return np.arange(self.n_asks + 1) if self.groups is None else self.groups

    def calls(self) -> Iterator[tuple[bool, int, int]]:
        """Yield the calls of the plain loop in their order.

        Yields
        ------
        is_ask : bool
            Whether rows are asked; else they are learnt.
        begin, end : int
            Which asks or learns of the block share the call.
        """
        asks = self.ask_bounds
        stamps = self.stamp[asks[:-1]].tolist() if self.n_asks else []
        bounds = asks.tolist()
        learns = range(self.n_learns + 1) if self.batches is None else self.batches.tolist()
        done = 0
        for begin, end in pairwise([*learns, -1]):  # after the last learns only asks
            while done < len(stamps) and stamps[done] <= begin:
                yield True, bounds[done], bounds[done + 1]
                done += 1
            if end >= 0:
                yield False, begin, end

    def once(
        self, key: Any, state: Any, make: Callable[[], Made], of: tuple[Any, ...] | None = None
    ) -> Made:
        """Return ``make()``, or what another model has made of the block; see `SharedWork.once`.

        `of` is what it is made of if not of the whole block; without a key nothing is shared.
        """
        if key is None or self.shared is None:
            return make()
        return self.shared.once(key, (self,) if of is None else of, state, make)


def cuts(block: Block, n_rows: int) -> Iterator[tuple[slice, slice]]:
    """Divide a block into parts of about `n_rows` learns, and as many asks, in their order.

    Rows of one batch, and asks that share a call, stay together.

    Yields
    ------
    learns, asks : slice
        Those of a part.
    """
    first = ask = 0
    while True:
        last, stop = min(first + n_rows, block.n_learns), block.n_asks
        if block.batches is not None and last < block.n_learns:
            last = _bound_from(block.batches, first + 1, last)
        if last < block.n_learns:
            stop = int(np.searchsorted(block.stamp, last))
        if stop - ask > n_rows:
            limit = ask + n_rows
            if block.groups is not None:
                limit = _bound_from(block.groups, ask + 1, limit)
            if limit < stop:
                stop, last = limit, int(block.stamp[limit - 1])
        yield slice(first, last), slice(ask, stop)
        if last == block.n_learns and stop == block.n_asks:
            return
        first, ask = last, stop


def _bound_from(bounds: np.ndarray, least: int, most: int) -> int:
    """Last bound up to `most`, or else the first from `least` on."""
    at = int(np.searchsorted(bounds, most, side="right")) - 1
    return int(bounds[at] if bounds[at] >= least else bounds[at + 1])


def part_of(block: Block, learns: slice, asks: slice) -> Block:
    """Some consecutive learns of a block, with asks stamped among them."""
    if learns == slice(0, block.n_learns) and asks == slice(0, block.n_asks):
        return block
    key = ("part", learns.start, learns.stop, asks.start, asks.stop)
    return block.once(key, None, partial(_cut, block, learns, asks))


def _cut(block: Block, learns: slice, asks: slice) -> Block:
    company, n_later = block.company, block.n_asks - asks.stop
    if company is not None:
        n_left = block.n_asks - asks.start
        company = {n - n_later: call for n, call in company.items() if n_later < n <= n_left}
    return replace(
        block,
        learn_index=block.learn_index[learns],
        y=block.y[learns],
        weight=_some(block.weight, learns),
        ask_index=block.ask_index[asks],
        stamp=block.stamp[asks] - learns.start,
        batches=_bounds_within(block.batches, learns),
        groups=_bounds_within(block.groups, asks),
        company=company,
        learn_rows=_some(block.learn_rows, learns),
        ask_rows=_some(block.ask_rows, asks),
        checkpoint=_some(block.checkpoint, asks),
        learn_time=_some(block.learn_time, learns),
        learn_came=_some(block.learn_came, learns),
        ask_time=_some(block.ask_time, asks),
    )


def _some(values: np.ndarray | None, rows: slice) -> np.ndarray | None:
    return None if values is None else values[rows]


def _bounds_within(bounds: np.ndarray | None, rows: slice) -> np.ndarray | None:
    """Bounds of the batches or groups within some rows, counted from the first."""
    if bounds is None:
        return None
    within = bounds[(bounds > rows.start) & (bounds < rows.stop)]
    ends = [rows.start, rows.stop] if rows.stop > rows.start else [rows.start]
    inside: np.ndarray = np.concatenate([ends[:1], within, ends[1:]]).astype(np.int64)
    inside -= rows.start
    return inside


#: Segments not worth merging: a live run makes one per call.
MAX_SMALL_SEGMENTS = 16


@dataclass(slots=True, eq=False)
class _Segment:
    """Consecutive rows stored together, some of which may not be needed any more."""

    first: int
    numbers: np.ndarray
    X: Any
    y: np.ndarray
    needed: np.ndarray
    n_needed: int

    @classmethod
    def of(cls, numbers: np.ndarray, X: Any, y: np.ndarray) -> "_Segment":
        """Store rows, all of which are needed."""
        n = len(numbers)
        return cls(int(numbers[0]), numbers, X, y, np.ones(n, dtype=bool), n)

    def positions(self, rows: np.ndarray) -> np.ndarray:
        """Positions of rows that are stored here."""
        if self.numbers[-1] - self.first == len(self.numbers) - 1:
            return rows - self.first
        return np.searchsorted(self.numbers, rows)

    def compacted(self) -> "_Segment":
        """Return a copy of the rows that are still needed."""
        at = np.flatnonzero(self.needed)
        return _Segment.of(self.numbers[at], copy_rows(self.X, at), self.y[at])


class RowStore:
    """Keeps rows and their labels as long as a timeline may need them.

    Memory is that of the newest chunk and about twice that of the rows waiting. Waiting rows are
    stored in segments that are merged when they are many and small, and rewritten when most of
    their rows are not needed any more. So no step copies all waiting rows, and each row is copied
    only a few times.
    """

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._newest: tuple[int, Any, np.ndarray] | None = None  # number of the first, X and y

    def __len__(self) -> int:
        """Return the number of stored rows that are still needed."""
        return sum(segment.n_needed for segment in self._all())

    def _all(self) -> list[_Segment]:
        """Return the segments, that of the newest rows too."""
        if self._newest is None:
            return self._segments
        first, X, y = self._newest
        return [*self._segments, _Segment.of(np.arange(first, first + len(y)), X, y)]

    def add(self, first_row: int, X: Any, y: np.ndarray) -> None:
        """Add consecutive rows and their label codes or targets.

        They are not copied here; `release` copies those that still wait.
        """
        self._newest = (first_row, X, y) if len(y) else None

    def take_back(self) -> None:
        """Remove the newest rows."""
        self._newest = None

    def set_labels(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give labels to waiting rows, ascending."""
        for segment, part in _parts(self._segments, rows):
            segment.y[segment.positions(rows[part])] = y[part]

    def release(self, rows: np.ndarray) -> None:
        """Remove these rows; store those of the newest that remain, and merge small segments."""
        newest = self._newest
        if not self._segments and (newest is None or len(rows) == len(newest[2])):
            self._newest = None
            return
        rows, segments = np.sort(rows), self._all()
        changed, self._newest = segments[len(self._segments) :], None
        for segment, part in _parts(segments, rows):
            segment.needed[segment.positions(rows[part])] = False
            segment.n_needed -= part.stop - part.start
            if 2 * segment.n_needed < len(segment.numbers):
                changed.append(segment)
        if changed:
            self._segments = [
                segment.compacted() if segment in changed else segment
                for segment in segments
                if segment.n_needed
            ]
        n = len(self._segments)
        if n > MAX_SMALL_SEGMENTS and n > MAX_SMALL_SEGMENTS + len(self).bit_length():
            self._segments = _merged(self._segments)

    def block(self, operations: Operations, ask_X: Any = None, ask_index: Any = None) -> Block:
        """Make the block of some operations.

        `ask_X` and `ask_index` are given where held-out rows are asked, which are not rows of the
        stream.
        """
        rows, n_learns = operations.learn_rows, len(operations.learn_rows)
        if ask_X is None:
            rows = np.concatenate([rows, operations.ask_rows])
        newest = self._newest
        if newest is not None and not (self._segments and (rows < newest[0]).any()):
            X, y, index = newest[1], newest[2], rows - newest[0]
        elif newest is None and not self._segments:  # no row waits, and none is wanted
            X, y, index = None, no_rows(), rows
        else:
            X, y, index = _gathered(self._all(), rows)
        learn_index = index[:n_learns].astype(np.intp, copy=False)
        return Block(
            learn_X=ask_X if X is None else X,
            learn_index=learn_index,
            y=y[learn_index],
            weight=operations.weight,
            ask_X=X if ask_X is None else ask_X,
            ask_index=index[n_learns:].astype(np.intp, copy=False) if ask_X is None else ask_index,
            stamp=operations.stamp,
            batches=operations.batches,
            groups=operations.groups,
            learn_rows=operations.learn_rows,
            ask_rows=operations.ask_rows,
            checkpoint=operations.checkpoint,
        )


def _gathered(segments: list[_Segment], rows: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Stored rows in one container, their labels, and the positions of the requested rows."""
    distinct, index = distinct_rows(rows)
    X, y = [], []
    for segment, part in _parts(segments, distinct):
        positions = segment.positions(distinct[part])
        X.append(take_rows(segment.X, positions))
        y.append(segment.y[positions])
    if not X:  # no row is requested; any rows give the columns
        return segments[0].X, segments[0].y, index
    return stack_rows(X), y[0] if len(y) == 1 else np.concatenate(y), index


def _parts(segments: list[_Segment], rows: np.ndarray) -> Iterator[tuple[_Segment, slice]]:
    """Segments of rows, ascending, and which of the rows are in each."""
    if not len(rows):
        return
    firsts = list(map(attrgetter("first"), segments))
    low, high = bisect_right(firsts, int(rows[0])), bisect_right(firsts, int(rows[-1]))
    cuts = [0, *np.searchsorted(rows, firsts[low:high]).tolist(), len(rows)]
    for segment, (begin, end) in zip(segments[low - 1 : high], pairwise(cuts), strict=True):
        if begin < end:
            yield segment, slice(begin, end)


def _merged(segments: list[_Segment]) -> list[_Segment]:
    """Merge segments so that each has more than twice as many rows as the one after it."""
    groups: list[list[_Segment]] = []
    size = 0
    for segment in reversed(segments):
        if groups and segment.n_needed <= 2 * size:
            groups[-1].append(segment)
            size += segment.n_needed
        else:
            groups.append([segment])
            size = segment.n_needed
    return [_joined(group[::-1]) for group in reversed(groups)]


def _joined(segments: list[_Segment]) -> _Segment:
    if len(segments) == 1:
        return segments[0]
    parts = [
        segment if segment.n_needed == len(segment.numbers) else segment.compacted()
        for segment in segments
    ]
    return _Segment.of(
        np.concatenate([part.numbers for part in parts]),
        stack_rows([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
    )


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct rows, and where in them each row is."""
    if not len(rows):
        return rows, rows
    first = rows.min()
    span = int(rows.max() - first) + 1
    if span > 8 * len(rows):
        distinct = np.sort(rows)
        distinct = distinct[np.flatnonzero(np.diff(distinct, prepend=-1))]
        return distinct, distinct.searchsorted(rows)
    among = np.zeros(span, dtype=bool)  # for a large share of the rows this is cheaper than sorting
    among[rows - first] = True
    position = np.cumsum(among) - 1
    return np.flatnonzero(among) + first, position[rows - first]
