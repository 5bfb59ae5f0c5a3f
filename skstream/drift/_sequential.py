"""Tests that read one value after another and may start again after an alarm."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skstream.core.detector import DRIFT, NORMAL, DetectorState, Levels

# Values scanned together: as many as came between the last two alarms, at least the fewest, and
# twice as many with every scan that finds none.
_FEWEST, _MOST = 64, 65_536


class SequentialTest(ABC):
    """A test and its state, which depends only on the values, not on the calls."""

    @abstractmethod
    def scan(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Read values, as if there were no alarm among them.

        Returns
        -------
        ndarray of shape (n_values,), dtype int8
            NORMAL, WARNING or DRIFT after each value.
        """

    @abstractmethod
    def step(self, value: float) -> int:
        """Read one value: the level and the state, bit for bit, of a scan of it, but faster."""

    def evidence(self) -> tuple[float, float]:
        """Statistic of the test and its critical value, after the value read last; NaN: none."""
        return math.nan, math.nan


class SequentialState(DetectorState):
    """The state of a detector that follows one test."""

    level = NORMAL

    def __init__(self, new_test: Callable[[], SequentialTest], reset_after_alarm: bool) -> None:
        self.new_test = new_test
        self.test = new_test()
        self.reset_after_alarm = reset_after_alarm
        self.n_alarms = 0

    @property
    def alarm(self) -> bool:
        """Whether the value read last raised an alarm."""
        return self.level == DRIFT

    def evidence(self) -> tuple[float, float]:
        """Statistic of the test and its critical value."""
        return self.test.evidence()

    def feed_one(self, value: float) -> None:
        """Read one checked value."""
        self.level = level = self.test.step(value)
        if level == DRIFT:
            self.n_alarms += 1
            if self.reset_after_alarm:
                self.test = self.new_test()

    def feed_levels(self, values: NDArray[np.float64]) -> Levels:
        """Read checked values in order and return the level after each."""
        whole = np.empty(len(values), dtype=np.int8)
        begin, size, n_quiet = 0, _FEWEST, 0
        while begin < len(values):
            block = values[begin : begin + size]
            levels = self.test.scan(block)
            found = np.flatnonzero(levels == DRIFT)
            last = len(block) - 1
            if self.reset_after_alarm and len(found):
                # What was computed after the first alarm is discarded: use small blocks again.
                last = int(found[0])
                size = min(max(n_quiet + last + 1, _FEWEST), _MOST)
                n_quiet = 0
                self.test = self.new_test()
            else:
                n_quiet += len(block)
                size = min(2 * size, _MOST)
            self.level = int(levels[last])
            whole[begin : begin + last + 1] = levels[: last + 1]
            begin += last + 1
        self.n_alarms += int(np.count_nonzero(whole == DRIFT))
        return whole
