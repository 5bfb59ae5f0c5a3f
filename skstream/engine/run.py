"""The engine: executes all models together in one pass of the stream."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from skstream.engine.block import Block
from skstream.engine.delayed import DelayedTimeline
from skstream.engine.evolving import Features, with_current_features
from skstream.engine.model import ModelError, ModelRun
from skstream.engine.rows import RowStore
from skstream.engine.standins import Calls, StandIns
from skstream.engine.timeline import Arrivals, Operations, Timeline


@dataclass(frozen=True, slots=True)
class Lane:
    """One model on one timeline."""

    model: ModelRun
    timeline: Timeline


@dataclass(frozen=True, slots=True)
class Answered:
    """A step of one lane: its operations, and the answers to their asks."""

    operations: Operations
    answers: np.ndarray


class Engine:
    """Executes every lane's timeline, and stores the waiting rows.

    Lanes that share a timeline object share its computation.

    Parameters
    ----------
    lanes : sequence of Lane
        The models and their timelines. If a model fails, the others continue.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.
    """

    def __init__(self, lanes: Sequence[Lane], features: Features | None = None):
        self.lanes = list(lanes)
        self._features = features
        self._timelines: list[Any] = list(
            {id(lane.timeline): lane.timeline for lane in lanes}.values()
        )
        numbers = {id(timeline): k for k, timeline in enumerate(self._timelines)}
        self._timeline_of = [numbers[id(lane.timeline)] for lane in self.lanes]
        self._states = [timeline.initial() for timeline in self._timelines]
        self._store = RowStore()
        self._unfinished: list[Any] | None = None  # operations whose blocks could not be made
        self._newest_operations: list[Any] = []
        self._before: tuple[list[Any], int, list[Any]] | None = (
            None  # an arrival that may be undone
        )
        late = isinstance(self._timelines[0], DelayedTimeline)
        self._chains = [late and lane.model.asks_row_by_row for lane in self.lanes]
        self._stand_ins = StandIns() if any(self._chains) else None
        self._calls: Calls | None = None

    @property
    def states(self) -> list[Any]:
        """The state of every timeline."""
        return list(self._states)

    @property
    def failures(self) -> dict[int, ModelError]:
        """Why lanes have stopped, by position."""
        failures = {k: lane.model.failure for k, lane in enumerate(self.lanes)}
        return {k: failure for k, failure in failures.items() if failure is not None}

    def raise_failure(self) -> None:
        """Raise the failure of the earliest row, if a model has failed."""
        failures = self.failures
        if failures:
            raise min(failures.values(), key=lambda failure: failure.row)

    @property
    def loops(self) -> bool:
        """Whether any model is executed call by call."""
        return any(lane.model.loops for lane in self.lanes)

    def arrive(self, X: Any, y: np.ndarray, arrivals: Arrivals) -> list[Answered]:
        """Process arrivals; return the step of each lane, in the order of the lanes."""
        self._store.add(arrivals.first_row, X, y)
        steps = [
            timeline.step(state, arrivals)
            for timeline, state in zip(self._timelines, self._states, strict=True)
        ]
        return self._execute(steps)

    def arrive_on_trial(self, X: Any, y: np.ndarray, arrivals: Arrivals) -> list[Answered]:
        """Process arrivals that are only asked; `confirm` or `take_back` must follow."""
        counts = [(lane.model.failure, lane.model.n_unanswered) for lane in self.lanes]
        self._before = self._states, arrivals.first_row, counts
        return self.arrive(X, y, arrivals)

    def confirm(self) -> None:
        """Keep the rows of the arrival that could be undone."""
        self._before = None
        self._forget_rows(self._newest_operations)

    def take_back(self) -> None:
        """Undo the arrival of the newest rows."""
        assert self._before is not None
        states, first_row, counts = self._before
        self._states = [
            timeline.take_back(state, first_row)
            for timeline, state in zip(self._timelines, states, strict=True)
        ]
        self._before, self._unfinished = None, None
        self._store.take_back()
        if self._stand_ins is not None:
            self._stand_ins.take_back(first_row)
        for lane, (failure, n_unanswered) in zip(self.lanes, counts, strict=True):
            if failure is None:
                lane.model.forget_failure(n_unanswered)

    def preview(self, X: Any, rows: np.ndarray) -> list[np.ndarray]:
        """Answers of models that are fitted already, to rows that are not asked otherwise."""
        n, nothing = len(rows), np.empty(0, dtype=np.int64)
        groups, stamp = np.arange(n + 1), np.zeros(n, dtype=np.int64)
        block = Block(X, nothing, nothing, None, X, np.arange(n), stamp, groups=groups)
        operations = Operations(nothing, None, rows, stamp, groups=groups)
        chained = block
        if self._stand_ins is not None:
            calls = self._stand_ins.preview(rows, operations)
            chained = calls.narrowed(self._store.block(calls.operations), operations)
        return [
            lane.model.run(chained if is_chain else block, operations)
            for lane, is_chain in zip(self.lanes, self._chains, strict=True)
        ]

    def advance(self, time: float) -> list[Answered]:
        """Process the labels that are due (for timelines of delayed labels)."""
        return self._execute(
            [
                timeline.advance(state, time)
                for timeline, state in zip(self._timelines, self._states, strict=True)
            ]
        )

    def label(
        self, rows: np.ndarray, y: np.ndarray, time: float, weight: np.ndarray
    ) -> list[Answered]:
        """Process labels of waiting rows (for timelines of delayed labels)."""
        self._store.set_labels(rows, y)
        steps = [
            timeline.label(state, rows, time, weight > 0, weight)
            for timeline, state in zip(self._timelines, self._states, strict=True)
        ]
        return self._execute(steps)

    def drop(self, rows: np.ndarray) -> None:
        """Drop waiting rows; their labels are not accepted any more."""
        self._states = [
            timeline.drop(state, rows)
            for timeline, state in zip(self._timelines, self._states, strict=True)
        ]
        self._store.release(rows)
        if self._stand_ins is not None:
            self._stand_ins.drop(rows)

    def settle(self, horizon: float, most: int) -> list[Answered]:
        """Process some of the labels that are due (for timelines of delayed labels)."""
        steps = [
            timeline.settle(state, horizon, most)
            for timeline, state in zip(self._timelines, self._states, strict=True)
        ]
        return self._execute(steps)

    def close(self) -> list[Answered]:
        """End the stream: execute what is still waiting."""
        steps = [
            timeline.close(state)
            for timeline, state in zip(self._timelines, self._states, strict=True)
        ]
        return self._execute(steps)

    @property
    def unfinished(self) -> list[Any] | None:
        """Operations not executed because of an error of `features`, if there are any."""
        return self._unfinished

    def _execute(self, steps: list[tuple[Any, Any]]) -> list[Answered]:
        self._states = [state for state, _ in steps]
        self._unfinished = [operations for _, operations in steps]
        if self._stand_ins is not None:
            self._calls = self._stand_ins.follow(self._unfinished[0])
        return self.finish()

    def finish(self) -> list[Answered]:
        """Execute the unfinished operations."""
        steps = self._unfinished
        assert steps is not None
        blocks = [self._block(operations) for operations in steps]
        chained = None
        if self._calls is not None:
            chained = self._calls.narrowed(self._block(self._calls.operations), steps[0])
        self._unfinished = None
        answered = []
        for lane, k, is_chain in zip(self.lanes, self._timeline_of, self._chains, strict=True):
            block = chained if is_chain and chained is not None else blocks[k]
            answered.append(Answered(steps[k], _run_lane(lane, block, steps[k])))
        if self._before is None:
            self._forget_rows(steps)
        else:
            self._newest_operations = steps
        return answered

    def _block(self, operations: Any) -> Block:
        block = self._store.block(operations)
        if self._features is None:
            return block
        return with_current_features(block, operations, self._features)  # delayed labels only

    def _forget_rows(self, steps: list[Operations]) -> None:
        released = steps[0].released
        if len(steps) == 1 and released is not None:
            self._store.release(released)
            return
        waiting = [operations.waiting for operations in steps]
        self._store.keep(waiting[0] if len(waiting) == 1 else np.unique(np.concatenate(waiting)))


def _run_lane(lane: Lane, block: Block, operations: Operations) -> np.ndarray:
    with _routing_of(operations):
        return lane.model.run(block, operations)


def _routing_of(operations: Operations) -> Any:
    """Apply metadata routing only to the user's weights.

    A fold's weights mean that rows are left out or repeated. They are not metadata of the user, so
    they reach every model and step, as without routing.
    """
    routing = get_config()["enable_metadata_routing"]
    if routing and operations.own_weights and operations.weight is not None:
        return config_context(enable_metadata_routing=False)
    return nullcontext()
