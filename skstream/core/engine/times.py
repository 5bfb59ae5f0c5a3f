"""Times at which rows are asked and learnt, for models that are told them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skstream.core.engine.block import Block
from skstream.core.timelines.delayed import DatedArrivals, DelayedOperations
from skstream.core.timelines.timeline import Arrivals, Operations, no_rows
from skstream.utils._times import MISSING, as_microseconds, kind_of, time_column


class RowTimes:
    """Keeps when the newest rows came, as long as they may be asked or learnt.

    Parameters
    ----------
    models : sequence of estimator
        Those that have a method `time_passes`; `check_clock(kind)` of each says what is wrong with
        times of a kind (of `skstream.utils._times`).
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self._models = models
        self._first = 0  # number of the first row whose time is kept
        self._times = no_rows()

    def add(self, event: Arrivals) -> None:
        """Note when rows came; an error if the models cannot count it."""
        if not event.n_rows:
            return
        given = None if event.came is None else time_column(event.came, "arrival")
        for model in self._models:
            model.check_clock(MISSING if given is None else kind_of(given))
        if isinstance(event, DatedArrivals):  # whose operations say their times
            return
        assert given is not None
        came = as_microseconds(given, "arrival", event.first_row).astype(np.int64)
        # Rows of an event that was executed in vain are there already.
        self._times = np.concatenate([self._times[: event.first_row - self._first], came])

    def shown(self, block: Block, operations: Operations) -> Block:
        """Return a block that says when its calls are made: at the time of their last row."""
        if isinstance(operations, DelayedOperations):
            asked, labelled = operations.asked, operations.labelled
            asks = asked.time[asked.answered].astype(np.int64)
            learns = labelled.label_time[labelled.learnable].astype(np.int64)
            return replace(block, learn_time=learns, learn_came=learns, ask_time=asks)
        rows = operations.ask_rows
        if operations.checkpoint is not None:
            rows = operations.checkpoint - 1
        asks, came = (self._times[its - self._first] for its in (rows, operations.learn_rows))
        learns = came
        if operations.groups is not None:
            asks = _of_calls(asks, operations.groups)
            if operations.batches is not None:
                learns = _of_calls(learns, operations.batches)
            # Rows asked in one call are learnt after it, whenever they came.
            n_before = np.searchsorted(operations.stamp, np.arange(len(learns)), side="right")
            before = np.concatenate([[np.iinfo(np.int64).min], asks])[n_before]
            learns = np.maximum(learns, before)
        return replace(block, learn_time=learns, learn_came=came, ask_time=asks)

    def release(self, settled: int) -> None:
        """Forget the rows before the last one that is finished."""
        first = max(self._first, settled - 1)
        self._times, self._first = self._times[first - self._first :], first


def _of_calls(times: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Give every row the time of the last row of its call."""
    return np.repeat(times[bounds[1:] - 1], np.diff(bounds))
