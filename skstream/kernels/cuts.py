"""Parts of a block small enough for the caches, and learns and asks in one order of time."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.engine.block import Block, cuts
from skstream.kernels.input import asks_of_next

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]

# Numbers of a part (rows times columns): its working arrays stay in the second-level cache.
_PART_NUMBERS = 1 << 17


class Part(NamedTuple):
    """Some consecutive learns of a block, with the asks stamped among them."""

    learns: slice
    asks: slice
    y: Integers
    weight: Floats | None
    stamp: Integers


def parts(block: Block, n_rows: int) -> Iterator[Part]:
    """Cut a block into parts of at most `n_rows` learns and as many asks, in their order."""
    for learns, asks in cuts(block, n_rows):
        weight = None if block.weight is None else block.weight[learns]
        yield Part(learns, asks, block.y[learns], weight, block.stamp[asks] - learns.start)


def rows_per_part(n_columns: int) -> int:
    """Rows whose numbers fit into the cache together."""
    return min(max(_PART_NUMBERS // n_columns, 16), 4096)


def distinct(ordered: Integers) -> tuple[Integers, Integers]:
    """Return the first position of each distinct value of sorted integers, and which each is."""
    if not len(ordered):
        return ordered, ordered
    new = np.diff(ordered, prepend=ordered[0] - 1) != 0
    return np.flatnonzero(new), np.cumsum(new) - 1


class Events(NamedTuple):
    """Rows in the order of time, as the arrays of a CSR matrix.

    Event ``i`` is: ask about row ``i`` where ``asked[i]``, then learn it where ``learnt[i]``, as
    an example of ``y[i]``, a code or a target. In rows not learnt, `y` is -1: no code, but
    targets may be of any sign.
    """

    values: Floats
    at: Integers
    bounds: Integers
    y: NDArray[Any]
    weight: Floats
    learnt: NDArray[np.bool_]
    asked: NDArray[np.bool_]

    @property
    def number(self) -> int:
        """Number of events."""
        return len(self.y)

    def rows_of_values(self) -> Integers:
        """Event that each stored value belongs to."""
        return np.repeat(np.arange(self.number), np.diff(self.bounds))

    def parts(self, n_values: int) -> Iterator[tuple[slice, "Events"]]:
        """Cut into runs of events with about `n_values` stored values each."""
        first = 0
        while first < self.number:
            limit = self.bounds[first] + n_values
            last = max(first + 1, int(np.searchsorted(self.bounds, limit, side="right")) - 1)
            rows = slice(first, last)
            stored = slice(self.bounds[first], self.bounds[last])
            yield (
                rows,
                Events(
                    self.values[stored],
                    self.at[stored],
                    self.bounds[first : last + 1] - self.bounds[first],
                    self.y[rows],
                    self.weight[rows],
                    self.learnt[rows],
                    self.asked[rows],
                ),
            )
            first = last


def merge_events(
    block: Block, learn: Any, ask: Any, *, as_stored: bool = False
) -> tuple[Events, Integers]:
    """Bring the learns and asks of a block into one order of time.

    An ask about the very row that is learnt next shares its event: test-then-train needs every
    row once. The values of a row are sorted by column, and those of one column added, unless they
    are wanted `as_stored`.

    Returns
    -------
    events : Events
    event_of_ask : ndarray of shape (n_asks,)
    """
    shared = asks_of_next(block)
    alone = np.flatnonzero(~shared)
    learns = np.arange(block.n_learns)
    event_of_learn, event_of_ask = learns, block.stamp.astype(np.intp)
    X = learn
    if not block.n_learns:
        X, event_of_ask = ask, np.arange(block.n_asks)
    elif len(alone):
        event_of_learn = learns + np.searchsorted(block.stamp[alone], learns, side="right")
        event_of_ask[shared] = event_of_learn[block.stamp[shared]]
        event_of_ask[alone] = block.stamp[alone] + np.arange(len(alone))
        asked_rows = ask[alone]
        X = sparse.vstack([learn, asked_rows], format="csr")
        order = np.empty(block.n_learns + len(alone), dtype=np.intp)
        order[event_of_learn] = learns
        order[event_of_ask[alone]] = block.n_learns + np.arange(len(alone))
        X = X[order]
    if (
        not as_stored and not X.has_canonical_format
    ):  # a feature stored twice in a row counts as its sum
        X = X.copy()
        X.sum_duplicates()
    y = np.full(X.shape[0], -1, dtype=np.result_type(block.y, np.int64))
    y[event_of_learn] = block.y
    learnt = np.zeros(X.shape[0], dtype=bool)
    learnt[event_of_learn] = True
    weight = np.ones(X.shape[0])
    weight[event_of_learn] = block.weights
    asked = np.zeros(X.shape[0], dtype=bool)
    asked[event_of_ask] = True
    bounds = X.indptr.astype(np.int64)
    return Events(X.data, X.indices, bounds, y, weight, learnt, asked), event_of_ask
