"""The engine: executes all models together in one pass of the stream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from skstream.core.engine.block import Block, RowStore, SharedWork
from skstream.core.engine.failures import ModelError
from skstream.core.engine.model import ModelRun
from skstream.core.timelines.delayed import DatedArrivals, DelayedTimeline, Labels
from skstream.core.timelines.delayed_blocks import Features, block_in_company, with_current_features
from skstream.core.timelines.timeline import Arrivals, Operations, Timeline

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
        What the task needs besides codes.
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


@dataclass(frozen=True, slots=True)
class Step:
    """What all lanes did with one event; `Engine.commit` makes it final.

    Attributes
    ----------
    event : Arrivals, Labels, End, ...
        What happened.
    states : list
        The state of every timeline after the event.
    answered : list of Answered
        The operations and answers of every lane.
    """

    event: Any
    states: list[Any]
    answered: list[Answered]


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
    states : list
        The state of every timeline.
    held_out : callable or None
        ``held_out(numbers)`` returns rows that are not of the stream, and where in them those of
        some numbers are: the features that a `HoldoutTimeline` asks about.
    is_inconsistent : bool
        Whether an interrupt or an error of the engine has stopped models while they learnt, so that
        their state is unknown.
    """

    def __init__(self, lanes: Sequence[Lane], features: Features | None = None):
        self.lanes = list(lanes)
        self._features = features
        self._timelines: list[Any] = []
        self._timeline_of: list[int] = []
        self._chains: list[bool] = []
        numbers: dict[int, int] = {}
        for lane in lanes:
            number = numbers.setdefault(id(lane.timeline), len(numbers))
            if number == len(self._timelines):
                self._timelines.append(lane.timeline)
            self._timeline_of.append(number)
            late = isinstance(lane.timeline, DelayedTimeline)
            self._chains.append(late and lane.model.asks_row_by_row)
        if any(self._chains):  # they answer rows that get no label again
            self._timelines[0] = replace(self._timelines[0], keep_unlabelled=True)
        self.states = [timeline.initial() for timeline in self._timelines]
        self._store = RowStore()
        self._shared = SharedWork() if len(self.lanes) > len(self._timelines) else None
        self._failures_before: list[tuple[ModelError | None, int]] = []
        self.is_inconsistent = False
        self.held_out: HeldOut | None = None

    @property
    def failures(self) -> dict[int, ModelError]:
        """Why lanes have stopped, by position."""
        lanes = enumerate(self.lanes)
        return {k: one.model.failure for k, one in lanes if one.model.failure is not None}

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
            if not self.is_inconsistent:
                self.abandon()
            raise
        finally:
            if self._shared is not None:
                self._shared.clear()

    def _run(self, event: Any) -> Step:
        states, operations = [], []
        for timeline, state in zip(self._timelines, self.states, strict=True):
            came = timeline.step(state, event)
            if not (isinstance(came, tuple) and len(came) == 2 and isinstance(came[1], Operations)):
                raise TypeError(
                    f"{type(timeline).__name__}.step returned {came!r}. A timeline returns two "
                    "values: the next state, and Operations."
                )
            states.append(came[0])
            operations.append(came[1])
        return Step(event, states, self._answered(operations))

    def _answered(self, operations: list[Any]) -> list[Answered]:
        """Let all lanes execute the operations of their timelines."""
        blocks = [self._block(one) for one in operations]
        if any(self._chains):
            its, unlearnt = operations[0], self.states[0].unlearnt()
            blocks.append(
                block_in_company(
                    its,
                    its.asked,
                    unlearnt,
                    lambda rows, asked: self._block(replace(its, ask_rows=rows, asked=asked)),
                )
            )
        if self._shared is not None:
            blocks = [self._shared.show(block) for block in blocks]
        routes, lanes = get_config()["enable_metadata_routing"], []
        self.is_inconsistent = any(block.n_learns for block in blocks)
        for lane, k, is_chain in zip(self.lanes, self._timeline_of, self._chains, strict=True):
            asked, block = operations[k], blocks[-1] if is_chain else blocks[k]
            if routes and asked.only_protocol_weights and asked.weight is not None:
                # Weights of a fold mean that rows are left out or repeated. They are no metadata of
                # the user: they reach every model and step, as without routing.
                with config_context(enable_metadata_routing=False):
                    answers = lane.model.run(block)
            else:
                answers = lane.model.run(block)
            lanes.append(Answered.by(lane.model, asked, answers))
        self.is_inconsistent = False
        return lanes

    def commit(self, step: Step) -> None:
        """Make the event that was executed last final, and forget the rows no longer needed."""
        self.states = step.states
        self._store.release(step.answered[0].operations.released)

    def abandon(self) -> None:
        """Undo the event that was executed last, in which nothing was learnt."""
        self._store.take_back()
        for lane, (failure, n_unanswered) in zip(self.lanes, self._failures_before, strict=True):
            if failure is None:
                lane.model.forget_failure(n_unanswered)

    def preview(self, event: DatedArrivals) -> list[np.ndarray]:
        """Answers to the rows of the event executed last, as if the warm-up were over."""
        timeline = self._timelines[0]
        state = replace(self.states[0], n_learnt=timeline.n_warmup)
        return [one.answers for one in self._answered([timeline.step(state, event)[1]])]

    def _block(self, operations: Any) -> Block:
        if operations.checkpoint is not None:
            assert self.held_out is not None
            return self._store.block(operations, *self.held_out(operations.ask_rows))
        block = self._store.block(operations)
        if self._features is None:
            return block
        return with_current_features(block, operations, self._features)  # delayed labels only
