"""Kernel of the Bayes-optimal answers: one computation for all rows of a block."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.base import OTHER_COLUMNS
from skstream.kernels.input import EXACT_OR_SINGLE, read_block
from skstream.kernels.memory import MemoryKernel, State
from skstream.kernels.schema import OTHER_CLASSES, class_labels, refused_task
from skstream.optimal import moved_columns


class BayesOptimalKernel(MemoryKernel):
    """The number of a row is that of the rows learnt before it, the memory."""

    _attributes = ("n_rows_learnt_",)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other answers, and other labels than those of the stream that it knows."""
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        same = np.array_equal(np.asarray(estimator.stream.classes), class_labels(task))
        return None if same else OTHER_CLASSES

    def _no_memory(self) -> int:
        return 0

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.weight is not None:
            raise Declined("BayesOptimal with sample weights has no kernel")
        rows = read_block(block, state.columns, dtypes=EXACT_OR_SINGLE)
        if rows.columns.number not in (None, len(self.estimator.stream.feature_names)):
            raise Declined(OTHER_COLUMNS)
        if moved_columns(rows.columns.names, self.estimator.stream) is not None:
            raise Declined("BayesOptimal has no kernel for columns in another order")
        answers: NDArray[Any] = np.empty((0, self._n_classes))
        if block.n_asks:
            answers = self.estimator.stream.posterior(rows.ask, state.memory + block.stamp)
        after = state.after(block, rows.columns, state.memory + block.n_learns)
        return after, answers_to(self.task, partial(best_or_all, answers))

    def _write(self, memory: int) -> None:
        super()._write(memory)
        self.estimator.classes_ = np.asarray(self.estimator.stream.classes)
