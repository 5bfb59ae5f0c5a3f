"""The unit of work of a model: interleaved learns and asks over some rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from skstream.core.engine.sharing import Made, SharedWork


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
        for begin, end in pairwise(learns):
            while done < len(stamps) and stamps[done] <= begin:
                yield True, bounds[done], bounds[done + 1]
                done += 1
            yield False, begin, end
        while done < len(stamps):
            yield True, bounds[done], bounds[done + 1]
            done += 1

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
    )


def some_learns(block: Block, learns: np.ndarray, weight: np.ndarray | None) -> Block:
    """Block that learns only some of its rows, given by their places, with other weights."""
    is_after = np.zeros(block.n_learns + 1, dtype=bool)
    is_after[learns + 1] = True
    n_before = is_after.cumsum()
    return replace(
        block,
        learn_index=block.learn_index[learns],
        y=block.y[learns],
        weight=weight,
        stamp=n_before[block.stamp],
        batches=None if block.batches is None else np.unique(n_before[block.batches]),
        learn_rows=None if block.learn_rows is None else block.learn_rows[learns],
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
