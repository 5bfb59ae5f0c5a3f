"""Tests that read one value after another and may start afresh after an alarm."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

NORMAL, WARNING, DRIFT = 0, 1, 2

_FIRST_BLOCK, _LARGEST_BLOCK = 64, 65_536


class SequentialTest(ABC):
    """The rule of a test; its state is a value of its own, which the rule never alters."""

    @abstractmethod
    def initial(self) -> Any:
        """Return the state before the first value."""

    @abstractmethod
    def scan(
        self, state: Any, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.int8], Callable[[int], Any]]:
        """Follow the test through values, as if there were no alarm among them.

        Returns
        -------
        levels : ndarray of shape (n_values,), dtype int8
            NORMAL, WARNING or DRIFT after each value.
        state_after : callable
            Gives the state after the value at a position, counted from 0. Both must not
            depend on how the values before were cut into scans.
        """


class SequentialMonitor:
    """The state of a detector that follows one test."""

    def __init__(self, test: SequentialTest, reset_after_alarm: bool) -> None:
        self.test = test
        self.reset_after_alarm = reset_after_alarm
        self.state = test.initial()
        self.level = NORMAL
        self.n_alarms = 0

    @property
    def alarm(self) -> bool:
        """Whether the value read last raised an alarm."""
        return self.level == DRIFT

    def feed(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Read checked values in order and return the positions that raised an alarm."""
        alarms: list[int] = []
        begin, size = 0, _FIRST_BLOCK
        while begin < len(values):
            block = values[begin : begin + size]
            levels, state_after = self.test.scan(self.state, block)
            found = np.flatnonzero(levels == DRIFT)
            last = len(block) - 1
            if self.reset_after_alarm and len(found):
                # What was computed beyond the first alarm is void: small blocks again.
                last = int(found[0])
                found, size = found[:1], _FIRST_BLOCK
                self.state = self.test.initial()
            else:
                size = min(2 * size, _LARGEST_BLOCK)
                self.state = state_after(last)
            self.level = int(levels[last])
            alarms.extend((begin + found).tolist())
            begin += last + 1
        self.n_alarms += len(alarms)
        return np.array(alarms, dtype=np.int64)
