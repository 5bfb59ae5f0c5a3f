"""Kernel of the label noise filter, by way of the inner model's kernel."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block
from skstream.kernels.inner import InnerKernel
from skstream.kernels.input import refused_seed, refused_task
from skstream.kernels.memory import SeededKernel, State
from skstream.noise import exchanged, weights_so_far, with_noise
from skstream.utils._rows import take_rows
from skstream.utils._seeds import row_hashes


class LabelNoiseKernel(SeededKernel, InnerKernel):
    """Replaces answers of the inner kernel, by the rows and by the weight learnt, the memory."""

    _attributes = ("weight_learnt_",)

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        # Probabilities are exchanged between the labels before and after noise: both are wanted.
        scores = "predict_proba" if _wants_shares(task) else None
        return replace(task, method="predict", scores=scores)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse decision values, and a seed that would be drawn again."""
        methods = ["predict", "predict_proba"]
        return refused_task(estimator, task, methods) or refused_seed(estimator)

    def _no_memory(self) -> float:
        return 0.0

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        columns = self._columns_after(state, block)
        weights = weights_so_far(state.memory, block.weight, block.n_learns)
        hashes = np.empty(0, np.uint64)
        if block.n_asks:
            hashes = row_hashes(take_rows(block.ask_X, block.ask_index))

        def remember(done: Block) -> float:
            return float(weights[done.n_learns])

        def answer(came: NDArray[Any]) -> NDArray[Any]:
            return self._with_noise(came, hashes, weights[block.stamp])

        return self._step_inside(state, columns, block, block, remember, answer)

    def _with_noise(
        self, answers: NDArray[Any], hashes: NDArray[np.uint64], weights: NDArray[np.float64]
    ) -> NDArray[Any]:
        n, n_classes = len(answers), self._n_classes
        codes = answers[:, 0].astype(np.int64) if _wants_shares(self.task) else answers
        noisy = codes
        if n:
            noisy = with_noise(
                codes, hashes[:n], weights[:n], n_classes, self.estimator.noise, self._seed
            )
        if not _wants_shares(self.task):
            return noisy
        shares = answers[:, 1:]
        if n_classes == 1:
            shares = 1.0 - shares
        elif n_classes == 2:
            shares = np.column_stack([1.0 - shares, shares])
        mixed = exchanged(shares, codes, noisy)
        return answers_to(self.task, lambda task: noisy if task.method == "predict" else mixed)


def _wants_shares(task: Task) -> bool:
    return task.method == "predict_proba" or task.scores is not None
