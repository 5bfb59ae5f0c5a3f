"""Kernel of stream pipelines: the transformers' kernels one after the other, then the model's."""

from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skstream.engine.block import Block
from skstream.engine.kernels._base import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
    kernel_of,
    make_transform_kernel,
)
from skstream.engine.kernels._inner import check_weights, copy_of, has_kernel, inner_kernel
from skstream.engine.kernels._outside import knows_classes
from skstream.pipeline import StreamPipeline
from skstream.pipeline._transformers import is_passthrough
from skstream.utils._validation import is_fitted


@kernel_of(StreamPipeline)
class StreamPipelineKernel(Kernel):
    """Each transformer maps the block to the one that the next step sees."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._has_learnt = is_fitted(estimator)
        steps = _steps(estimator)
        self._pipeline = Pipeline(
            steps if self._has_learnt else [(name, _copy(step)) for name, step in steps]
        )
        *transformers, (_, model) = self._pipeline.steps
        self._transforms = [_transform_kernel(step, task) for _, step in _used(transformers)]
        self._model = inner_kernel(model, task)
        self.bitwise = self._model.bitwise  # type: ignore[misc]

    @classmethod
    def supports(cls, estimator: Any, task: Task) -> bool:
        """Whether every step has a kernel."""
        try:
            *transformers, (_, model) = _steps(estimator)
        except (TypeError, ValueError):  # no steps, or not pairs: for the loop to explain
            return False
        return (
            has_kernel(model, task)
            and all(make_transform_kernel(step, task) for _, step in _used(transformers))
            and (task.classes is None or knows_classes(estimator, task))
        )

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        check_weights(block)
        learns = block.n_learns > 0
        advanced: list[tuple[TransformKernel, Any]] = []
        try:
            for kernel in self._transforms:
                before = kernel.snapshot()
                block = kernel.run(block)
                advanced.append((kernel, before))
            answers = self._model.run(block)
        except Declined:
            # Who declines has changed nothing; those before it have, and go back.
            for kernel, before in advanced:
                kernel.restore(before)
            raise
        self._has_learnt = self._has_learnt or learns
        return answers

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        transforms = [kernel.snapshot() for kernel in self._transforms]
        return self._has_learnt, transforms, self._model.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._has_learnt, transforms, model = snapshot
        for kernel, state in zip(self._transforms, transforms, strict=True):
            kernel.restore(state)
        self._model.restore(model)

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        if not self._has_learnt:
            return
        for kernel in self._transforms:
            kernel.export()
        self._model.export()
        self.estimator.pipeline_ = self._pipeline


def _steps(pipeline: StreamPipeline) -> list[tuple[str, Any]]:
    steps = pipeline.pipeline_.steps if is_fitted(pipeline) else pipeline.steps
    return [(name, step) for name, step in steps]


def _used(transformers: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(name, step) for name, step in transformers if not is_passthrough(step)]


def _copy(step: Any) -> Any:
    return "passthrough" if is_passthrough(step) else copy_of(step)


def _transform_kernel(transformer: Any, task: Task) -> TransformKernel:
    kernel = make_transform_kernel(transformer, task)
    assert kernel is not None
    return kernel
