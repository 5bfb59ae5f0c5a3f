"""Running sums of nonnegative values under a forgetting mechanism, block by block.

Every class has one method: ``update(values)`` takes the next values and returns the sum in force
after each of them. The sums do not depend, to the last bit, on how the values were cut into
blocks, and no class subtracts: a window that holds only zeros sums to exactly zero.
"""

from typing import Protocol

import numpy as np

from skstream.forgetting import (
    AdaptiveWindow,
    FadingFactor,
    Forgetting,
    SlidingWindow,
    as_forgetting,
)
from skstream.stats._checks import FloatArray


class RunningSum(Protocol):
    """Sum of the past values in force."""

    def update(self, values: FloatArray) -> FloatArray:
        """Take the next values and return the sum after each of them."""
        ...


class CumulativeSum:
    """Sum of all values."""

    def __init__(self) -> None:
        self._total = 0.0

    def update(self, values: FloatArray) -> FloatArray:
        """Take the next values and return the sum after each of them."""
        sums = np.cumsum(np.concatenate(([self._total], values)))
        self._total = float(sums[-1])
        return np.asarray(sums[1:])


class FadedSum:
    """Sum in which a value k rows old has weight ``fading_factor**k``."""

    def __init__(self, fading_factor: float) -> None:
        self._fading_factor = fading_factor
        self._total = 0.0

    def update(self, values: FloatArray) -> FloatArray:
        """Take the next values and return the sum after each of them."""
        if not len(values):
            return values
        state = [self._fading_factor * self._total]
        from scipy.signal import lfilter  # slow to import, and needed here alone

        sums, _ = lfilter([1.0], [1.0, -self._fading_factor], values, zi=state)
        self._total = float(sums[-1])
        return np.asarray(sums)


class WindowSum:
    """Sum of the last ``window_size`` values.

    The rows are cut into segments as long as the window. A window covers the end of one segment
    and the beginning of the next, so its sum is a sum from the back plus a sum from the front.
    """

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._segment = np.empty(window_size)  # the values of the unfinished segment,
        self._n_values = 0  # how many they are so far,
        self._total = 0.0  # and their sum
        # What is left of the segment before, once its first j + 1 values have gone.
        self._remainders = np.zeros(window_size)

    def update(self, values: FloatArray) -> FloatArray:
        """Take the next values and return the sum after each of them."""
        size = self._window_size
        head = min(-self._n_values % size, len(values))
        n_whole = (len(values) - head) // size
        whole = values[head : head + n_whole * size].reshape(n_whole, size)
        sums = [self._extend_segment(values[:head])]
        if n_whole:
            remainders = np.vstack([self._remainders, self._suffix_sums(whole)])
            sums.append((np.cumsum(whole, axis=1) + remainders[:-1]).ravel())
            self._remainders = remainders[-1]
        sums.append(self._extend_segment(values[head + n_whole * size :]))
        return np.concatenate(sums)

    def _extend_segment(self, values: FloatArray) -> FloatArray:
        start, end = self._n_values, self._n_values + len(values)
        prefix = np.cumsum(np.concatenate(([self._total], values)))
        self._segment[start:end] = values
        self._n_values, self._total = end, float(prefix[-1])
        sums = prefix[1:] + self._remainders[start:end]
        if end == self._window_size:
            self._remainders = self._suffix_sums(self._segment[None, :])[0]
            self._n_values, self._total = 0, 0.0
        return np.asarray(sums)

    @staticmethod
    def _suffix_sums(segments: FloatArray) -> FloatArray:
        # Without its first value: that one leaves when the first of the next segment arrives.
        remainders = np.zeros_like(segments)
        remainders[:, :-1] = np.cumsum(segments[:, :0:-1], axis=1)[:, ::-1]
        return remainders


def one_forgetting(forgetting: Forgetting | str, purpose: str) -> Forgetting:
    """Return the one mechanism named, or raise if sums are not defined for it."""
    mechanisms = list(as_forgetting(forgetting).values())
    if len(mechanisms) != 1:
        raise ValueError(
            f"{purpose} takes one forgetting mechanism at a time. Got {len(mechanisms)}: "
            f"{mechanisms}."
        )
    if isinstance(mechanisms[0], AdaptiveWindow):
        raise ValueError(
            f"{purpose} is not defined under AdaptiveWindow: ADWIN cuts its window by the 0/1 "
            f"loss of one model, and here there are two. Use Cumulative, SlidingWindow or "
            f"FadingFactor."
        )
    return mechanisms[0]


def make_running_sum(forgetting: Forgetting) -> RunningSum:
    """Return the running sum that the mechanism describes."""
    if isinstance(forgetting, SlidingWindow):
        return WindowSum(int(forgetting.window_size))
    if isinstance(forgetting, FadingFactor):
        return FadedSum(float(forgetting.fading_factor))
    return CumulativeSum()


def make_running_sum_of_squares(forgetting: Forgetting) -> RunningSum:
    """Return the running sum for squared values, whose weights under forgetting are squared too.

    Where S is a running sum of weights with fair random signs, this sum of the squared weights
    is the variance of S.
    """
    if isinstance(forgetting, FadingFactor):
        return FadedSum(float(forgetting.fading_factor) ** 2)
    return make_running_sum(forgetting)
