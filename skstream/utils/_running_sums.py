"""Running sums under a forgetting mechanism: the one place where they are formed.

The functions return the sums after none, one, two, ... of some values. The classes go on from call
to call: ``update(values)`` takes the next values and returns the sum in force after each of them,
``update_one(value)`` does so for one. Values are added one after the other, never pairwise, so that
sums and state are the same to the last bit for any division of the values into calls. No real
number is subtracted: a window that holds only zeros sums to exactly zero.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]


def accumulate(sums: Floats, fading_factor: float = 1.0) -> Floats:
    """Replace a start and the steps after it, along the first axis, by the start and its sums.

    Parameters
    ----------
    sums : ndarray of shape (n + 1,) or (n + 1, n_columns), dtype float64
        The start, then the steps; overwritten.
    fading_factor : float, default=1.0
        What a sum is multiplied by before the next step is added.

    Returns
    -------
    ndarray
        `sums`.
    """
    if fading_factor != 1.0:
        sums[1:] = _faded_sums(fading_factor * sums[:1], sums[1:], fading_factor)
        return sums
    if len(sums) == 2:  # a single row of a live run
        sums[1] += sums[0]
        return sums
    if sums.ndim == 1:
        return sums.cumsum(out=sums)
    # Complex numbers are added part by part: two columns in the time of one.
    n_paired = sums.shape[1] // 2 * 2
    pairs, rest = sums[:, :n_paired].view(np.complex128), sums[:, n_paired:]
    pairs.cumsum(axis=0, out=pairs)
    rest.cumsum(axis=0, out=rest)
    return sums


def running_sums(start: ArrayLike, steps: NDArray[Any], fading_factor: float = 1.0) -> Floats:
    """Return `start` and its sums with the first 1, 2, ... of `steps`; see `accumulate`."""
    sums = np.empty((len(steps) + 1, *steps.shape[1:]))
    sums[0], sums[1:] = start, steps
    return accumulate(sums, fading_factor)


def _faded_sums(faded_start: ArrayLike, steps: Floats, fading_factor: float) -> Floats:
    if not len(steps):
        return steps
    from scipy.signal import lfilter  # slow to import, and needed only here

    return lfilter([1.0], [1.0, -fading_factor], steps, axis=0, zi=faded_start)[0]


def prefix_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Sum of the first 0, 1, ..., n values; 0/1 values as int32, which is fast and exact."""
    counts = values.dtype == bool
    sums = np.empty(len(values) + 1, dtype=np.int32 if counts else np.float64)
    sums[0] = 0
    values.cumsum(dtype=sums.dtype, out=sums[1:])
    return sums


def window_sums(values: NDArray[Any], n_old: int, size: int) -> Floats:
    """Sum over a sliding window, after 0, 1, ..., n of the new values.

    Parameters
    ----------
    values : ndarray of shape (n_old + n,)
        The last `n_old` earlier values (as many as fit the window), then the new ones.
    n_old : int
        Number of earlier values.
    size : int
        Size of the window.

    Returns
    -------
    ndarray of shape (n + 1,), dtype float64
        The sums.
    """
    if not len(values):
        return np.zeros(1)
    if values.dtype != bool:
        if len(values) <= size:  # no value leaves
            return prefix_sums(values)[n_old:]
        sums = np.zeros(len(values) + 1)
        WindowSum(size).update(values, out=sums[1:])
        return sums[n_old:]
    total = prefix_sums(values)
    sums = np.empty(len(values) - n_old + 1)
    growing = min(size - n_old, len(sums))  # so many sums are taken before any value leaves
    sums[:growing] = total[n_old : n_old + growing]
    np.subtract(total[n_old + growing :], total[: len(sums) - growing], out=sums[growing:])
    return sums


class FadedSum:
    """Sum in which a value k rows old has weight ``fading_factor**k``; with 1, of all values."""

    def __init__(self, fading_factor: float = 1.0) -> None:
        self._fading_factor = fading_factor
        self._total = 0.0

    def update(self, values: Floats) -> Floats:
        """Take the next values and return the sum after each of them."""
        if self._fading_factor == 1.0:
            sums = running_sums(self._total, values)[1:]
        else:
            faded = self._fading_factor * self._total
            sums = _faded_sums([faded], values, self._fading_factor)
        if len(sums):
            self._total = sums.item(-1)
        return sums

    def update_one(self, value: float) -> float:
        """Take one value and return the sum after it."""
        self._total = total = self._fading_factor * self._total + value
        return total


class WindowSum:
    """Sum of the last ``window_size`` values.

    The rows are cut into segments as long as the window. A window covers the end of one segment
    and the beginning of the next, so its sum is a sum from the back plus a sum from the front.
    """

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._segment = np.zeros(window_size)  # the values of the unfinished segment, then 0,
        self._n_values = 0  # how many they are so far,
        self._total = 0.0  # and their sum
        # What is left of the segment before, once its first j + 1 values have gone.
        self._remainders = np.zeros(window_size)

    def update(self, values: Floats, out: Floats | None = None) -> Floats:
        """Take the next values and return the sum after each of them."""
        size = self._window_size
        sums = np.empty(len(values)) if out is None else out
        start = min(-self._n_values % size, len(values))
        n_whole = (len(values) - start) // size
        stop = start + n_whole * size
        self._extend_segment(values[:start], sums[:start])
        if n_whole:
            whole = values[start:stop].reshape(n_whole, size)
            of_whole = sums[start:stop].reshape(n_whole, size)
            np.cumsum(whole, axis=1, out=of_whole)
            remainders = _suffix_sums(whole)
            of_whole[0] += self._remainders
            of_whole[1:] += remainders[:-1]
            self._remainders = remainders[-1].copy()
        self._extend_segment(values[stop:], sums[stop:])
        return sums

    def update_one(self, value: float) -> float:
        """Take one value and return the sum after it."""
        position = self._n_values
        self._segment[position] = value
        self._total = total = self._total + value
        self._n_values = position + 1
        total += self._remainders.item(position)
        if position + 1 == self._window_size:
            self._finish_segment()
        return total

    def _extend_segment(self, values: Floats, sums: Floats) -> None:
        """Take values that fit into the unfinished segment, and write the sum after each."""
        if not len(values):
            return
        start, end = self._n_values, self._n_values + len(values)
        prefix = running_sums(self._total, values)
        self._segment[start:end] = values
        self._n_values, self._total = end, float(prefix[-1])
        np.add(prefix[1:], self._remainders[start:end], out=sums)
        if end == self._window_size:
            self._finish_segment()

    def _finish_segment(self) -> None:
        self._remainders = _suffix_sums(self._segment[None, :])[0].copy()
        self._segment[:] = 0.0
        self._n_values, self._total = 0, 0.0


class BlockSum:
    """Sum of the last whole block of ``block_size``; in the first one, of the values so far."""

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._n_values, self._total = 0, 0.0
        self._whole: float | None = None

    def update(self, values: Floats) -> Floats:
        """Take the next values and return the sum after each of them."""
        sums, start = np.empty(len(values)), 0
        while start < len(values):
            stop = min(len(values), start + self._block_size - self._n_values)
            so_far = running_sums(self._total, values[start:stop])[1:]
            sums[start:stop] = so_far if self._whole is None else self._whole
            self._n_values, self._total = self._n_values + stop - start, so_far.item(-1)
            if self._n_values == self._block_size:
                sums[stop - 1] = self._whole = self._total
                self._n_values, self._total = 0, 0.0
            start = stop
        return sums

    def update_one(self, value: float) -> float:
        """Take one value and return the sum after it."""
        return self.update(np.array([value])).item()


#: Weighted sum of the past values.
RunningSum: TypeAlias = FadedSum | WindowSum | BlockSum


def _suffix_sums(segments: Floats) -> Floats:
    """Sums of each segment's end without its first 1, 2, ... values, which leave in this order."""
    sums = np.zeros_like(segments)
    sums[:, :-1] = np.cumsum(segments[:, :0:-1], axis=1)[:, ::-1]
    return sums
