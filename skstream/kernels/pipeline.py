"""Kernels of stream pipelines: the transformers' kernels one after the other, then the model's."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block, bytes_of_rows, part_of
from skstream.core.engine.kernel import Kernel, Looped, TransformKernel
from skstream.core.engine.loop import LoopFailed
from skstream.kernels import looped
from skstream.kernels.input import OTHER_CLASSES, check_weights, knows_classes, shared_step
from skstream.kernels.registry import find_part, find_transform_part
from skstream.pipeline import StreamPipeline
from skstream.pipeline._pipeline import FittedPipeline
from skstream.pipeline._transformers import is_passthrough
from skstream.utils._validation import is_fitted, unfitted_copy

Step = tuple[str, Any]


class _Chain(NamedTuple):
    """States of all steps, and the memory that a row has taken at most between two of them."""

    states: tuple[Any, ...]
    row_bytes: int | None
    has_learnt: bool = False


class TransformerPipelineKernel(TransformKernel):
    """Transformers that follow one another; they learn a block all or none.

    Models on one timeline share the leading steps in which they are alike: each step is shown the
    very block that the step before it has made. By itself, a stream pipeline within another one.
    """

    def __init__(self, estimator: Any, task: Task, steps: Sequence[Step] | None = None):
        super().__init__(estimator, task)
        self._pipeline: Pipeline | None = None
        if steps is None:
            self._pipeline = _working_copy(estimator)
            steps = self._pipeline.steps
        self.kernels = [
            find_transform_part(step, task) for _, step in steps if not is_passthrough(step)
        ]
        self._likenesses = [kernel.likeness() for kernel in self.kernels]
        if self._pipeline is not None:
            looped.check_parts(self.kernels, fitted=is_fitted(estimator))

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse steps that the pipeline refuses."""
        return _refused_steps(estimator)

    def initial_state(self) -> _Chain:
        """Return what the transformers have learnt."""
        expands = any(kernel.expands for kernel in self.kernels)
        states = tuple(kernel.initial_state() for kernel in self.kernels)
        return _Chain(states, None if expands else 0, is_fitted(self.estimator))

    def row_bytes(self, state: _Chain) -> int | None:
        """Memory that a row has taken at most between two steps, or within one."""
        if state.row_bytes is None:
            return None
        kernels = zip(self.kernels, state.states, strict=True)
        return max([state.row_bytes, *(kernel.row_bytes(its) or 0 for kernel, its in kernels)])

    def step(self, state: _Chain, block: Block) -> tuple[_Chain, Block]:
        """Learn and transform; return the state after it, and the block that comes out."""
        check_weights(block)
        states: list[Any] = []
        row_bytes, has_learnt = state.row_bytes, state.has_learnt or block.n_learns > 0
        kernels = zip(self.kernels, self._likenesses, state.states, strict=True)
        for kernel, likeness, before in kernels:
            if states and isinstance(kernel, looped.LoopedTransformer):
                block = looped.laid_out(block)
            after, block = shared_step(kernel, likeness, before, block)
            states.append(after)
            if kernel.expands and (block.n_learns or block.n_asks):
                row_bytes = max(row_bytes or 0, _bytes_per_row(block))
        return _Chain(tuple(states), row_bytes, has_learnt), block

    def export(self, state: _Chain) -> None:
        """Write the fitted attributes into the transformers."""
        if state.has_learnt:
            for kernel, its_state in zip(self.kernels, state.states, strict=True):
                kernel.export(its_state)
            if self._pipeline is not None:
                self.estimator.pipeline_ = self._pipeline

    def looped(self, state: _Chain) -> list[Looped]:
        """Return the transformers that are executed call by call."""
        kernels = zip(self.kernels, state.states, strict=True)
        return [part for kernel, its_state in kernels for part in kernel.looped(its_state)]


def _bytes_per_row(block: Block) -> int:
    """Memory of the rows that came out of a step, per row."""
    rows = [block.learn_X] if block.n_learns else []
    if block.n_asks and block.ask_X is not block.learn_X:
        rows.append(block.ask_X)
    return max(bytes_of_rows(X) // max(int(X.shape[0]), 1) for X in rows or [block.ask_X])


class _State(NamedTuple):
    """States of the transformers, and of the model."""

    chain: _Chain
    model: Any


class StreamPipelineKernel(Kernel):
    """Each transformer maps the block to the one that the next step sees."""

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._pipeline = _working_copy(estimator)
        *transformers, (_, model) = self._pipeline.steps
        self._chain = TransformerPipelineKernel(estimator, task, transformers)
        self._model = find_part(model, task)
        fitted = is_fitted(estimator)
        self._is_mixed = looped.check_parts([*self._chain.kernels, self._model], fitted=fitted)
        self._likeness = self._model.likeness()
        self.bitwise = self._model.bitwise

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse steps that the pipeline refuses, and other classes than those of the task."""
        known = task.classes is None or knows_classes(estimator, task)
        return _refused_steps(estimator) or (None if known else OTHER_CLASSES)

    def initial_state(self) -> _State:
        """Return what the steps have learnt."""
        return _State(self._chain.initial_state(), self._model.initial_state())

    def row_bytes(self, state: _State) -> int | None:
        """That of the steps before the model, several times over, and of the model."""
        between = self._chain.row_bytes(state.chain)
        model = self._model.row_bytes(state.model)
        return None if between is None or model is None else 3 * between + model

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        expected = None
        if self._is_mixed:
            expected = looped.first_rows(self._pipeline.steps[:-1], self.task, block)
        chain, transformed = self._chain.step(state.chain, block)
        if self._chain.kernels and isinstance(self._model, looped.LoopedModel):
            transformed = looped.laid_out(transformed)
        if expected is not None:
            looped.check_same_rows(expected, transformed)
            self._is_mixed = False  # once is enough
        try:
            model, answers = shared_step(self._model, self._likeness, state.model, transformed)
        except LoopFailed as failure:
            chain, _ = self._chain.step(state.chain, _until_failure(block, failure))
            failure.state = _State(chain, failure.state)
            raise
        return _State(chain, model), answers

    def looped(self, state: _State) -> list[Looped]:
        """Return the steps that are executed call by call."""
        return [*self._chain.looped(state.chain), *self._model.looped(state.model)]

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.chain.has_learnt:
            self._chain.export(state.chain)
            self._model.export(state.model)
            self.estimator.pipeline_ = self._pipeline


def _until_failure(block: Block, failure: LoopFailed) -> Block:
    """Learns and asks that reached the steps before a looped model, and have not been undone.

    A row that it failed to answer did, unless the loop is to ask about it again.
    """
    n_asks = len(failure.answers)
    if failure.stopped and failure.action == "predicting" and not failure.is_bad_answer:
        bounds = block.ask_bounds
        n_asks = int(bounds[np.searchsorted(bounds, n_asks, side="right")])
    return part_of(block, slice(0, failure.n_learnt), slice(0, n_asks))


def _refused_steps(pipeline: StreamPipeline) -> str | None:
    """Why the pipeline itself would not learn, which the loop shows at the first row."""
    try:
        pipeline.check_steps()
    except (TypeError, ValueError) as error:
        return f"refused steps ({error})"
    return None


def _working_copy(pipeline: StreamPipeline) -> Pipeline:
    """Fitted steps to continue with, else fresh copies, as the pipeline itself makes them."""
    if is_fitted(pipeline):
        return pipeline.pipeline_
    return FittedPipeline(
        [
            (name, "passthrough" if is_passthrough(step) else unfitted_copy(step))
            for name, step in pipeline.steps
        ]
    )
