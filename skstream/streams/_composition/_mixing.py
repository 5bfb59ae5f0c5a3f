"""Which of two streams gives a row while one changes into the other."""

from bisect import bisect_left
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from skstream.utils._seeds import uniform

#: Widths before and after the position within which rows come from both streams; beyond them the
#: sigmoid is below .0004 or above .9996.
REACH = 2
#: Rows whose choices are counted together.
BLOCK = 1 << 14


class Mixing:
    """Choice between two streams, row by row, with a share of the second that is a sigmoid.

    Parameters
    ----------
    position : int
        Row at which both are equally likely.
    width : int
        Width of the sigmoid; 0: the first stream before the position, the second from it on.
    seed : int
        Seed of the choices.
    name : str
        What the random numbers are for.
    n_first : int or None
        Rows that the first stream has, if that is known: after them all come from the second.

    Attributes
    ----------
    start, end : int
        First row that may come from the second stream, and first that cannot come from the first.
    """

    def __init__(self, position: int, width: int, seed: int, name: str, n_first: int | None):
        self.start = max(0, position - REACH * width)
        self._position, self._width, self._seed, self._name = position, width, seed, name
        self._latest = position + REACH * width
        self._n_first = n_first

    def share(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how likely rows in the change come from the second stream."""
        shares: NDArray[np.float64] = expit(4 * (rows - self._position) / max(self._width, 1))
        return shares

    def choices(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which rows the second stream gives, as if the first had rows enough."""
        rows = np.arange(start, stop)
        chosen = rows >= self._latest
        low, high = max(start, self.start), min(stop, self._latest)
        if low < high:
            part = slice(low - start, high - start)
            numbers = uniform(self._seed, self._name, low, high)
            chosen[part] = numbers < self.share(rows[part])
        return chosen

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """How many rows the second stream has given before each block of the change, and after."""
        starts = range(self.start, self._latest, BLOCK)
        counts = [
            np.count_nonzero(self.choices(start, min(start + BLOCK, self._latest)))
            for start in starts
        ]
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def _n_chosen(self, row: int) -> int:
        """Count the choices of the second stream before a row."""
        if row <= self.start:
            return 0
        if row >= self._latest:
            return int(self._counts[-1]) + row - self._latest
        block = (row - self.start) // BLOCK
        in_block = self.choices(self.start + block * BLOCK, row)
        return int(self._counts[block]) + int(np.count_nonzero(in_block))

    @cached_property
    def end(self) -> int:
        """First row that cannot come from the first stream: the change or that stream is over."""
        if self._n_first is None or self._latest - self._n_chosen(self._latest) <= self._n_first:
            return self._latest
        # The first row that it should give and has not.
        return self._first_after(self._n_first, of_second=False, end=self._latest)

    def n_second(self, row: int) -> int:
        """Count the rows that the second stream has given before a row."""
        end = self.end
        return self._n_chosen(row) if row <= end else self._n_chosen(end) + row - end

    def from_second(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which rows the second stream gives."""
        return self.choices(start, stop) | (np.arange(start, stop) >= self.end)

    def row_of_first(self, number: int) -> int:
        """Return the row of the joined stream that is a row of the first; the end if none is."""
        return self._first_after(number, of_second=False, end=self.end)

    def row_of_second(self, number: int) -> int:
        """Return the row of the joined stream that is a row of the second."""
        n_mixed = self.n_second(self.end)
        if number >= n_mixed:
            return self.end + number - n_mixed
        return self._first_after(number, of_second=True, end=self.end)

    def _first_after(self, number: int, *, of_second: bool, end: int) -> int:
        def given_up_to(row: int) -> int:
            n_second = self._n_chosen(row + 1)
            return n_second if of_second else row + 1 - n_second

        return bisect_left(range(end), number + 1, key=given_up_to)
