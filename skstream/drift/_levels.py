"""How a detector judges the series after a value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

NORMAL, WARNING, DRIFT = 0, 1, 2

Levels = NDArray[np.int8]


def levels_with_alarms(n_values: int, positions: Any) -> Levels:
    """Return levels that are normal but for alarms at some positions."""
    levels = np.full(n_values, NORMAL, dtype=np.int8)
    levels[positions] = DRIFT
    return levels
