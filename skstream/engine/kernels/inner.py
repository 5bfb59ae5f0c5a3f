"""Kernels of meta-classifiers around one model, by way of this model's kernel."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from skstream.engine.answers import Task
from skstream.engine.block import Block, part_of
from skstream.engine.kernels.base import Kernel, Looped, NotFittedYet
from skstream.engine.kernels.compose import check_weights, shared_step
from skstream.engine.kernels.looped import LoopedModel
from skstream.engine.kernels.memory import MemoryKernel, State
from skstream.engine.kernels.registry import find_part
from skstream.engine.kernels.schema import Columns, check_classifier, class_labels
from skstream.engine.loop import LoopFailed
from skstream.utils._validation import is_fitted, unfitted_copy


class InnerKernel(MemoryKernel):
    """Shows the inner kernel rows of its own, or changes its answers.

    Subclasses say what is remembered of the rows learnt; a state holds that of the inner kernel.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        check_classifier(self._model)
        self._inner: Kernel = find_part(self._model, self._inner_task(task))
        if isinstance(self._inner, LoopedModel) and not fitted:
            raise NotFittedYet(self._inner.reason)
        self._likeness = self._inner.likeness()
        self._classes = class_labels(task)
        self.bitwise = self._inner.bitwise

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        return task

    def initial_state(self) -> State:
        """Return what the estimator has learnt, and its inner model."""
        return super().initial_state()._replace(inner=self._inner.initial_state())

    def row_bytes(self, state: State) -> int | None:
        """That of the inner kernel, and what is kept beside every row."""
        inner = self._inner.row_bytes(state.inner)
        return None if inner is None else inner + self._own_bytes

    @property
    def _own_bytes(self) -> int:
        return 64 * len(self._classes)

    def looped(self, state: State) -> list[Looped]:
        """Return the parts of the inner model that are executed call by call."""
        return self._inner.looped(state.inner)

    def _columns_after(self, state: State, block: Block) -> Columns:
        check_weights(block)
        return state.columns.after(block)

    def _step_inside(
        self,
        state: State,
        columns: Columns,
        block: Block,
        shown: Block,
        remember: Callable[[Block], Any],
        answer: Callable[[NDArray[Any]], NDArray[Any]],
    ) -> tuple[State, NDArray[Any]]:
        """Execute what is shown to the inner kernel.

        `remember` returns the memory after a block or a part of it, `answer` the answers that those
        of the inner kernel become.
        """
        try:
            inner, came = shared_step(self._inner, self._likeness, state.inner, shown)
        except LoopFailed as failure:
            done = part_of(block, slice(0, failure.n_learnt), slice(0, len(failure.answers)))
            failure.answers = answer(failure.answers)
            failure.state = state.after(done, columns, remember(done), failure.state)
            raise
        return state.after(block, columns, remember(block), inner), answer(came)

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.has_learnt:
            self._inner.export(state.inner)
            self.estimator.estimator_ = self._model
        super().export(state)
