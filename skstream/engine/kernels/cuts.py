"""Pieces of a block small enough for the caches."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block, cuts

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]

# Numbers of a piece (rows times columns): its working arrays stay in the second-level cache.
_PIECE_NUMBERS = 1 << 17


class Piece(NamedTuple):
    """Some consecutive learns of a block, with the asks stamped among them."""

    learns: slice
    asks: slice
    y: Integers
    weight: Floats | None
    stamp: Integers


def pieces(block: Block, n_rows: int) -> Iterator[Piece]:
    """Cut a block into pieces of at most `n_rows` learns and as many asks, in their order."""
    for learns, asks in cuts(block, n_rows):
        weight = None if block.weight is None else block.weight[learns]
        yield Piece(learns, asks, block.y[learns], weight, block.stamp[asks] - learns.start)


def rows_per_piece(n_columns: int) -> int:
    """Rows whose numbers fit into the cache together."""
    return int(np.clip(_PIECE_NUMBERS // n_columns, 16, 4096))


def distinct(ordered: Integers) -> tuple[Integers, Integers]:
    """Return the first position of each distinct value of sorted integers, and which each is."""
    if not len(ordered):
        return ordered, ordered
    new = np.diff(ordered, prepend=ordered[0] - 1) != 0
    return np.flatnonzero(new), np.cumsum(new) - 1
