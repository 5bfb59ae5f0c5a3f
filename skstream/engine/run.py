"""The engine: executes all models together in one pass of the stream."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from skstream.engine.block import Block
from skstream.engine.changing_features import Features, with_current_features
from skstream.engine.delayed import DelayedTimeline, Labels
from skstream.engine.failures import ModelError
from skstream.engine.model import ModelRun
from skstream.engine.rows import RowStore
from skstream.engine.self_labelled import calls_about, calls_of
from skstream.engine.sharing import SharedWork
from skstream.engine.timeline import Arrivals, Operations, Timeline, no_rows

HeldOut = Callable[[np.ndarray], tuple[Any, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Lane:
    """One model on one timeline."""

    model: ModelRun
    timeline: Timeline


@dataclass(frozen=True, slots=True)
class Answered:
    """A step of one lane: its operations, and the answers to their asks.

    Attributes
    ----------
    operations : Operations
        What was learnt and asked.
    answers : ndarray of shape (n_asks,)
        Codes or targets; with another method than ``predict``, what that returned.
    scores : ndarray of shape (n_asks, n_scores), or None
        What the task wants besides codes.
    """

    operations: Operations
    answers: np.ndarray
    scores: np.ndarray | None = None

    @classmethod
    def by(cls, model: ModelRun, operations: Operations, answers: np.ndarray) -> "Answered":
        """Return the step of a model, its codes and scores apart."""
        if not model.task.n_scores:
            return cls(operations, answers)
        return cls(operations, answers[:, 0].astype(np.int64), answers[:, 1:])

    def replace_last(self, answers: "Answered") -> None:
        """Put other answers to the last asks in the place of these."""
        n = len(answers.answers)
        if n:
            self.answers[-n:] = answers.answers
            if self.scores is not None:
                self.scores[-n:] = answers.scores

    def unask(self, asks: np.ndarray, nothing: float) -> None:
        """Let some asks have no answer."""
        self.answers[asks] = nothing
        if self.scores is not None:
            self.scores[asks] = np.nan


@dataclass(frozen=True, slots=True)
class Step:
    """An event that all lanes have executed, and that is not taken before it is committed.

    Attributes
    ----------
    event : Arrivals, Labels, End, ...
        What happened.
    states : list
        The state of every timeline after the event.
    operations : list of Operations
        Those of every timeline.
    lanes : list of Answered
        The operations and answers of every lane.
    """

    event: Any
    states: list[Any]
    operations: list[Any]
    lanes: list[Answered]


class Engine:
    """Executes every lane's timeline, and stores the waiting rows.

    Lanes that share a timeline object share its computation.

    Parameters
    ----------
    lanes : sequence of Lane
        The models and their timelines. If a model fails, the others continue.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.

    Attributes
    ----------
    held_out : callable or None
        ``held_out(numbers)`` returns rows that are not of the stream, and where in them those of
        some numbers are: the features that a `HoldoutTimeline` asks about.
    is_torn : bool
        Whether an interrupt or an error of the engine has stopped models while they learnt, so that
        what they know is not known.
    """

    def __init__(self, lanes: Sequence[Lane], features: Features | None = None):
        self.lanes = list(lanes)
        self._features = features
        self._timelines: list[Any] = list(
            {id(lane.timeline): lane.timeline for lane in lanes}.values()
        )
        numbers = {id(timeline): k for k, timeline in enumerate(self._timelines)}
        self._timeline_of = [numbers[id(lane.timeline)] for lane in self.lanes]
        late = isinstance(self._timelines[0], DelayedTimeline)
        self._chains = [late and lane.model.asks_row_by_row for lane in self.lanes]
        if any(self._chains):  # they answer rows that get no label again
            self._timelines[0] = replace(self._timelines[0], keep_unlabelled=True)
        self._states = [timeline.initial() for timeline in self._timelines]
        self._store = RowStore()
        self._shared = SharedWork() if len(self.lanes) > len(self._timelines) else None
        self._failures_before: list[tuple[ModelError | None, int]] = []
        self.is_torn = False
        self.held_out: HeldOut | None = None

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

    def keep(self, numbers: Sequence[int]) -> None:
        """Go on with some of the lanes, in their order; the others are not called any more."""
        self.lanes = [self.lanes[k] for k in numbers]
        self._timeline_of = [self._timeline_of[k] for k in numbers]
        self._chains = [self._chains[k] for k in numbers]
        self._failures_before = []
        if len(self.lanes) <= len(self._timelines):
            self._shared = None

    @property
    def loops(self) -> bool:
        """Whether any model is executed call by call."""
        return any(lane.model.loops for lane in self.lanes)

    def execute(self, event: Any, X: Any = None, y: np.ndarray | None = None) -> Step:
        """Let every lane do what follows from an event.

        Only the models change; all else does in `commit`. If this raises an exception before a
        model has learnt, as `features` may, the same event can be executed again.

        Parameters
        ----------
        event : Arrivals, Labels, End, ...
            What happened.
        X, y : array-like of shape (n_rows, n_features), ndarray of shape (n_rows,)
            Features of the rows that arrived; codes or targets of these, or of the rows whose
            labels became known.
        """
        self._failures_before = [
            (lane.model.failure, lane.model.n_unanswered) for lane in self.lanes
        ]
        try:
            if isinstance(event, Arrivals):
                assert y is not None
                self._store.add(event.first_row, X, y)
            elif isinstance(event, Labels):
                assert y is not None
                self._store.set_labels(event.rows, y)
            return self._run(event)
        except BaseException:
            if not self.is_torn:
                self.abandon()
            raise
        finally:
            if self._shared is not None:
                self._shared.clear()

    def _run(self, event: Any) -> Step:
        states, operations = [], []
        for timeline, state in zip(self._timelines, self._states, strict=True):
            came = timeline.step(state, event)
            if not (isinstance(came, tuple) and len(came) == 2 and isinstance(came[1], Operations)):
                raise TypeError(
                    f"{type(timeline).__name__}.step returned {came!r}. A timeline returns two "
                    "values: the next state, and Operations."
                )
            after, its_operations = came
            states.append(after)
            operations.append(its_operations)
        blocks = [self._shown(self._block(one)) for one in operations]
        chained = None
        if any(self._chains):
            calls = calls_of(operations[0], self._states[0].unlearnt())
            chained = self._shown(calls.narrowed(self._block(calls.operations), operations[0]))
        lanes = []
        self.is_torn = any(len(one.learn_rows) for one in operations)
        for lane, k, is_chain in zip(self.lanes, self._timeline_of, self._chains, strict=True):
            block = chained if is_chain and chained is not None else blocks[k]
            lanes.append(_run_lane(lane, block, operations[k]))
        self.is_torn = False
        return Step(event, states, operations, lanes)

    def commit(self, step: Step) -> None:
        """Take the event that was executed last, and forget the rows no longer needed."""
        self._states = step.states
        self._store.release(step.operations[0].released)

    def abandon(self) -> None:
        """Undo the event that was executed last, in which nothing was learnt."""
        self._store.take_back()
        for lane, (failure, n_unanswered) in zip(self.lanes, self._failures_before, strict=True):
            if failure is None:
                lane.model.forget_failure(n_unanswered)

    def preview(self, X: Any, rows: np.ndarray) -> list[np.ndarray]:
        """Answers of models that are fitted already, to new rows that are not asked otherwise."""
        n = len(rows)
        groups, stamp = np.arange(n + 1), np.zeros(n, dtype=np.int64)
        block = Block(
            X,
            no_rows(),
            no_rows(),
            None,
            X,
            np.arange(n),
            stamp,
            groups=groups,
            learn_rows=no_rows(),
            ask_rows=rows,
        )
        operations = Operations(no_rows(), None, rows, stamp, groups=groups)
        chained = block
        if any(self._chains):
            calls = calls_about(rows, operations, self._states[0].unlearnt())
            chained = calls.narrowed(self._store.block(calls.operations), operations)
        answers = [
            lane.model.run(chained if is_chain else block)
            for lane, is_chain in zip(self.lanes, self._chains, strict=True)
        ]
        return [
            Answered.by(lane.model, operations, its).answers
            for lane, its in zip(self.lanes, answers, strict=True)
        ]

    def _shown(self, block: Block) -> Block:
        """Return a block for all lanes of a timeline."""
        return block if self._shared is None else self._shared.show(block)

    def _block(self, operations: Any) -> Block:
        if operations.checkpoint is not None:
            return self._block_with_held_out(operations)
        block = self._store.block(operations)
        if self._features is None:
            return block
        return with_current_features(block, operations, self._features)  # delayed labels only

    def _block_with_held_out(self, operations: Operations) -> Block:
        """Make a block that learns rows of the stream, and asks about held-out ones."""
        learning = replace(operations, ask_rows=no_rows(), stamp=no_rows())
        assert self.held_out is not None
        X, index = self.held_out(operations.ask_rows)
        block = replace(
            self._store.block(learning),
            ask_X=X,
            ask_index=index,
            stamp=operations.stamp,
            ask_rows=operations.ask_rows,
        )
        if block.n_learns:
            return block
        return replace(block, learn_X=X, y=np.empty(0, dtype=np.int64))  # nothing may be stored


def _run_lane(lane: Lane, block: Block, operations: Operations) -> Answered:
    with _routing_of(operations):
        return Answered.by(lane.model, operations, lane.model.run(block))


def _routing_of(operations: Operations) -> Any:
    """Apply metadata routing only to the user's weights.

    A fold's weights mean that rows are left out or repeated. They are not metadata of the user, so
    they reach every model and step, as without routing.
    """
    routing = get_config()["enable_metadata_routing"]
    if routing and operations.own_weights and operations.weight is not None:
        return config_context(enable_metadata_routing=False)
    return nullcontext()
