"""Kernels of stream pipelines: the transformers' kernels one after the other, then the model's."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from skstream.engine.block import Block
from skstream.engine.kernels.base import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
    find_kernel,
    find_transform_kernel,
    kernel_of,
)
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.schema import OTHER_CLASSES, knows_classes
from skstream.pipeline import StreamPipeline
from skstream.pipeline._asking import FittedPipeline
from skstream.pipeline._transformers import is_passthrough
from skstream.utils._validation import is_fitted, unfitted_copy

Step = tuple[str, Any]


class Chain:
    """Kernels of transformers that follow one another; they learn a block all or none."""

    def __init__(self, steps: Sequence[Step], task: Task):
        self._kernels = [
            find_transform_kernel(step, task) for _, step in steps if not is_passthrough(step)
        ]
        expands = any(kernel.expands for kernel in self._kernels)
        self._row_bytes: int | None = None if expands else 0

    @property
    def row_bytes(self) -> int | None:
        """Memory that a row has taken at most between two steps, or within one."""
        within = [kernel.row_bytes or 0 for kernel in self._kernels]
        return None if self._row_bytes is None else max([self._row_bytes, *within])

    def run(self, block: Block) -> Block:
        """Learn and transform; raise `Declined` with the state untouched if one cannot."""
        advanced: list[tuple[TransformKernel, Any]] = []
        try:
            for kernel in self._kernels:
                before = kernel.snapshot()
                block = kernel.run(block)
                advanced.append((kernel, before))
                if kernel.expands and (block.n_learns or block.n_asks):
                    self._row_bytes = max(self._row_bytes or 0, _bytes_per_row(block))
        except Declined:
            # Who declines has changed nothing; those before it have, and go back.
            for kernel, before in advanced:
                kernel.restore(before)
            raise
        return block

    def snapshot(self) -> list[Any]:
        """Return a copy of the states."""
        return [kernel.snapshot() for kernel in self._kernels]

    def restore(self, snapshot: list[Any]) -> None:
        """Go back to states returned by `snapshot`."""
        for kernel, state in zip(self._kernels, snapshot, strict=True):
            kernel.restore(state)

    def export(self) -> None:
        """Write the fitted attributes into the transformers."""
        for kernel in self._kernels:
            kernel.export()


def _bytes_per_row(block: Block) -> int:
    """Memory of the rows that came out of a step, per row."""
    rows = [block.learn_X] if block.n_learns else []
    if block.n_asks and block.ask_X is not block.learn_X:
        rows.append(block.ask_X)
    return max(_bytes_of(X) // max(int(X.shape[0]), 1) for X in rows or [block.ask_X])


def _bytes_of(X: Any) -> int:
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes)
    if hasattr(X, "iloc"):
        return int(X.memory_usage(index=False).sum())
    return int(getattr(X, "nbytes", 0))


@kernel_of(StreamPipeline)
class StreamPipelineKernel(Kernel):
    """Each transformer maps the block to the one that the next step sees."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._has_learnt = is_fitted(estimator)
        self._pipeline = _working_copy(estimator)
        *transformers, (_, model) = self._pipeline.steps
        self._chain = Chain(transformers, task)
        self._model = find_kernel(model, task)
        self.bitwise = self._model.bitwise  # type: ignore[misc]

    @property
    def row_bytes(self) -> int | None:
        """That of the steps before the model, several times over, and of the model."""
        between, model = self._chain.row_bytes, self._model.row_bytes
        return None if between is None or model is None else 3 * between + model

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse steps that the pipeline refuses, and other classes than those of the task."""
        known = task.classes is None or knows_classes(estimator, task)
        return _refused_steps(estimator) or (None if known else OTHER_CLASSES)

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        check_weights(block)
        before = self._chain.snapshot()
        transformed = self._chain.run(block)
        try:
            answers = self._model.run(transformed)
        except Declined:
            self._chain.restore(before)
            raise
        self._has_learnt = self._has_learnt or block.n_learns > 0
        return answers

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        return self._has_learnt, self._chain.snapshot(), self._model.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._has_learnt, chain, model = snapshot
        self._chain.restore(chain)
        self._model.restore(model)

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        if self._has_learnt:
            self._chain.export()
            self._model.export()
            self.estimator.pipeline_ = self._pipeline


@kernel_of(StreamPipeline)
class TransformerPipelineKernel(TransformKernel):
    """A stream pipeline of transformers alone, within another one."""

    def __init__(self, transformer: Any, task: Task):
        super().__init__(transformer, task)
        self._has_learnt = is_fitted(transformer)
        self._pipeline = _working_copy(transformer)
        self._chain = Chain(self._pipeline.steps, task)

    @property
    def row_bytes(self) -> int | None:
        """Memory that a row takes between two steps."""
        return self._chain.row_bytes

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse steps that the pipeline refuses."""
        return _refused_steps(transformer)

    def run(self, block: Block) -> Block:
        """Learn and transform; raise `Declined` with the state untouched if it cannot."""
        check_weights(block)
        transformed = self._chain.run(block)
        self._has_learnt = self._has_learnt or block.n_learns > 0
        return transformed

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        return self._has_learnt, self._chain.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._has_learnt, chain = snapshot
        self._chain.restore(chain)

    def export(self) -> None:
        """Write the fitted attributes into the transformer."""
        if self._has_learnt:
            self._chain.export()
            self.transformer.pipeline_ = self._pipeline


def _refused_steps(pipeline: StreamPipeline) -> str | None:
    """Why the pipeline itself would not learn, which the loop shows at the first row."""
    try:
        pipeline.check_steps()
    except (TypeError, ValueError) as error:
        return f"refused steps ({error})"
    return None


def _working_copy(pipeline: StreamPipeline) -> Pipeline:
    """Fitted steps to go on with, else fresh copies, as the pipeline itself makes them."""
    if is_fitted(pipeline):
        return pipeline.pipeline_
    return FittedPipeline(
        [
            (name, "passthrough" if is_passthrough(step) else unfitted_copy(step))
            for name, step in pipeline.steps
        ]
    )
