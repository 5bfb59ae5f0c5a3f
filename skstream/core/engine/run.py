"""The engine: executes all models together in one pass of the stream."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from skstream.base import asks_row_by_row
from skstream.core.engine.block import Block, RowStore, SharedWork
from skstream.core.engine.failures import ModelError
from skstream.core.engine.model import ModelRun
from skstream.core.timelines.delayed import DatedArrivals, DelayedTimeline, Labels
from skstream.core.timelines.delayed_blocks import Features, block_in_company, with_current_features
from skstream.core.timelines.timeline import Arrivals, Operations, Timeline

HeldOut = Callable[[np.ndarray], tuple[Any, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Answered:
    """A step of one model: its operations, and the answers to their asks.

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


@dataclass(frozen=True, slots=True)
class Step:
    """What all models did with one event; `Engine.commit` makes it final.

    Attributes
    ----------
    event : Arrivals, Labels, End, ...
        What happened.
    states : list
        The state of every timeline after the event.
    answered : list of Answered
        The operations and answers of every model.
    """

    event: Any
    states: list[Any]
    answered: list[Answered]


class Engine:
    """Executes models along their timelines, and stores the waiting rows.

    Models that share a timeline object share its computation.

    Parameters
    ----------
    models : sequence of ModelRun
        The models. If one fails, the others continue.
    timelines : sequence of Timeline
        That of each model.
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

    def __init__(
        self,
        models: Sequence[ModelRun],
        timelines: Sequence[Timeline],
        features: Features | None = None,
    ):
        self.models = list(models)
        self.states: list[Any] = []
        self.held_out: HeldOut | None = None
        self.is_inconsistent = False
        self._features = features
        self._timelines: list[Any] = []
        self._timeline_of: list[int] = []
        self._chains: list[bool] = []  # models that answer rows that get no label again
        numbers: dict[int, int] = {}
        for model, timeline in zip(models, timelines, strict=True):
            number = numbers.setdefault(id(timeline), len(numbers))
            if number == len(self._timelines):
                self._timelines.append(timeline)
                self.states.append(timeline.initial())
            self._timeline_of.append(number)
            late = isinstance(timeline, DelayedTimeline)
            self._chains.append(late and asks_row_by_row(model.by_loop.estimator))
        if any(self._chains):
            self._timelines[0] = replace(self._timelines[0], keep_unlabelled=True)
        self._store = RowStore()
        self._shared = SharedWork() if len(self.models) > len(self._timelines) else None
        self._failures_before: list[tuple[ModelError | None, int]] = []

    @property
    def failures(self) -> dict[int, ModelError]:
        """Why models have stopped, by position."""
        failures = {}
        for k, model in enumerate(self.models):
            if model.failure is not None:
                failures[k] = model.failure
        return failures

    def raise_failure(self) -> None:
        """Raise the failure of the earliest row, if a model has failed."""
        failures = self.failures
        if failures:
            raise min(failures.values(), key=lambda failure: failure.row)

    def keep(self, numbers: Sequence[int]) -> None:
        """Go on with some of the models, in their order; the others are not called any more."""
        self.models = [self.models[k] for k in numbers]
        self._timeline_of = [self._timeline_of[k] for k in numbers]
        self._chains = [self._chains[k] for k in numbers]
        self._failures_before = []
        if len(self.models) <= len(self._timelines):
            self._shared = None

    def execute(self, event: Any, X: Any = None, y: np.ndarray | None = None) -> Step:
        """Let every model do what follows from an event.

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
        self._failures_before = []
        for model in self.models:
            self._failures_before.append((model.failure, model.n_unanswered))
        states, operations = [], []
        try:
            if isinstance(event, Arrivals):
                assert y is not None
                self._store.add(event.first_row, X, y)
            elif isinstance(event, Labels):
                assert y is not None
                self._store.set_labels(event.rows, y)
            for timeline, state in zip(self._timelines, self.states, strict=True):
                after, its = timeline.step(state, event)
                states.append(after)
                operations.append(its)
            return Step(event, states, self._answered(operations))
        except BaseException:
            if not self.is_inconsistent:
                self.abandon()
            raise
        finally:
            if self._shared is not None:
                self._shared.clear()

    def _answered(self, operations: list[Any]) -> list[Answered]:
        """Let all models execute the operations of their timelines."""
        blocks = list(map(self._block, operations))
        if any(self._chains):
            blocks.append(block_in_company(operations[0], self.states[0].unlearnt(), self._block))
        if self._shared is not None:
            blocks = list(map(self._shared.show, blocks))
        routes, answered = get_config()["enable_metadata_routing"], []
        for model, k, is_chain in zip(self.models, self._timeline_of, self._chains, strict=True):
            its, block = operations[k], blocks[-1] if is_chain else blocks[k]
            # Weights of a fold mean that rows are left out or repeated. They are no metadata of the
            # user: they reach every model and step, as without routing.
            hides = routes and its.only_protocol_weights and its.weight is not None
            self.is_inconsistent = self.is_inconsistent or block.n_learns > 0
            with config_context(enable_metadata_routing=False) if hides else nullcontext():
                answers = model.run(block)
            scores = None
            if model.task.n_scores:
                answers, scores = answers[:, 0].astype(np.int64), answers[:, 1:]
            answered.append(Answered(its, answers, scores))
        self.is_inconsistent = False
        return answered

    def commit(self, step: Step) -> None:
        """Make the event that was executed last final, and forget the rows no longer needed."""
        self.states = step.states
        self._store.release(step.answered[0].operations.released)

    def abandon(self) -> None:
        """Undo the event that was executed last, in which nothing was learnt."""
        self._store.take_back()
        for model, (failure, n_unanswered) in zip(self.models, self._failures_before, strict=True):
            if failure is None:
                model.failure, model.n_unanswered = None, n_unanswered

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
