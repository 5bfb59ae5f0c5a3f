"""Running sums under a forgetting mechanism, block by block or one value at a time.

Every class has two methods: ``update(values)`` takes the next values and returns the sum in force
after each of them, ``update_one(value)`` does so for one. The sums and the state are the same to
the last bit for any division of the values into calls, and no class subtracts: a window that holds
only zeros sums to exactly zero.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class RunningSum(Protocol):
    """Weighted sum of the past values."""

    def update(self, values: Floats) -> Floats:
        """Take the next values and return the sum after each of them."""
        ...

    def update_one(self, value: float) -> float:
        """Take one value and return the sum after it."""
        ...


class CumulativeSum:
    """Sum of all values."""

    def __init__(self) -> None:
        self._total = 0.0

    def update(self, values: Floats) -> Floats:
        """Take the next values and return the sum after each of them."""
        sums = np.cumsum(np.concatenate(([self._total], values)))
        self._total = float(sums[-1])
        return np.asarray(sums[1:])

    def update_one(self, value: float) -> float:
        """Take one value and return the sum after it."""
        self._total = total = self._total + value
        return total


class FadedSum:
    """Sum in which a value k rows old has weight ``fading_factor**k``."""

    def __init__(self, fading_factor: float) -> None:
        self._fading_factor = fading_factor
        self._total = 0.0

    def update(self, values: Floats) -> Floats:
        """Take the next values and return the sum after each of them."""
        if not len(values):
            return values
        state = [self._fading_factor * self._total]
        from scipy.signal import lfilter  # slow to import, and needed only here

        sums, _ = lfilter([1.0], [1.0, -self._fading_factor], values, zi=state)
        self._total = float(sums[-1])
        return np.asarray(sums)

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

    def update(self, values: Floats) -> Floats:
        """Take the next values and return the sum after each of them."""
        size = self._window_size
        head = min(-self._n_values % size, len(values))
        n_whole = (len(values) - head) // size
        whole = values[head : head + n_whole * size].reshape(n_whole, size)
        sums = [self._extend_segment(values[:head])]
        if n_whole:
            remainders = np.vstack([self._remainders, self._suffix_sums(whole)])
            sums.append((np.cumsum(whole, axis=1) + remainders[:-1]).ravel())
            self._remainders = remainders[-1].copy()
        sums.append(self._extend_segment(values[head + n_whole * size :]))
        return np.concatenate(sums)

    def update_one(self, value: float) -> float:
        """Take one value and return the sum after it."""
        place = self._n_values
        self._segment[place] = value
        self._total = total = self._total + value
        self._n_values = place + 1
        total += self._remainders.item(place)
        if place + 1 == self._window_size:
            self._finish_segment()
        return total

    def _extend_segment(self, values: Floats) -> Floats:
        start, end = self._n_values, self._n_values + len(values)
        prefix = np.cumsum(np.concatenate(([self._total], values)))
        self._segment[start:end] = values
        self._n_values, self._total = end, float(prefix[-1])
        sums = prefix[1:] + self._remainders[start:end]
        if end == self._window_size:
            self._finish_segment()
        return np.asarray(sums)

    def _finish_segment(self) -> None:
        self._remainders = self._suffix_sums(self._segment[None, :])[0].copy()
        self._segment[:] = 0.0
        self._n_values, self._total = 0, 0.0

    @staticmethod
    def _suffix_sums(segments: Floats) -> Floats:
        # Without its first value: that one leaves when the first of the next segment arrives.
        remainders = np.zeros_like(segments)
        remainders[:, :-1] = np.cumsum(segments[:, :0:-1], axis=1)[:, ::-1]
        return remainders
