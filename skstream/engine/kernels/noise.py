"""Kernel of the label noise filter, by way of the inner model's kernel."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Kernel, Looped, Task
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.looped import find_inner
from skstream.engine.kernels.schema import (
    Columns,
    class_labels,
    refused_seed,
    refused_task,
)
from skstream.engine.kernels.scored import answers_to
from skstream.engine.loop import LoopFailed
from skstream.noise import exchanged, weights_so_far, with_noise
from skstream.utils._row_hashes import row_hashes
from skstream.utils._rows import take_rows
from skstream.utils._seeds import drawn_seed
from skstream.utils._validation import is_fitted, unfitted_copy


class _State(NamedTuple):
    """What is known of the columns, the weight learnt, and the inner state."""

    columns: Columns
    weight: float
    inner: Any


class LabelNoiseKernel(Kernel):
    """Replaces answers of the inner kernel, by the rows and by the weight learnt at each ask."""

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        # Probabilities are exchanged between the labels before and after noise: both are wanted.
        self._wants_shares = task.method == "predict_proba" or task.scores is not None
        scores = "predict_proba" if self._wants_shares else None
        inner_task = replace(task, method="predict", scores=scores)
        self._inner = find_inner(self._model, inner_task, fitted=fitted)
        self._seed = estimator.seed_ if fitted else drawn_seed(estimator.random_state)
        self.bitwise = self._inner.bitwise

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse decision values, and a seed that would be drawn again."""
        methods = ["predict", "predict_proba"]
        return refused_task(estimator, task, methods) or refused_seed(estimator)

    def initial_state(self) -> _State:
        """Return what the estimator has learnt, and its inner model."""
        inner = self._inner.initial_state()
        if not is_fitted(self.estimator):
            return _State(Columns(), 0.0, inner)
        return _State(Columns.of(self.estimator), self.estimator.weight_learnt_, inner)

    def row_bytes(self, state: _State) -> int | None:
        """That of the inner kernel."""
        return self._inner.row_bytes(state.inner)

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        columns = state.columns.after(block)
        weights = weights_so_far(state.weight, block.weight, block.n_learns)
        hashes = np.empty(0, np.uint64)
        if block.n_asks:
            hashes = row_hashes(take_rows(block.ask_X, block.ask_index))
        of_asks = hashes, weights[block.stamp]
        try:
            inner, codes = self._inner.step(state.inner, block)
        except LoopFailed as failure:
            failure.answers = self._with_noise(failure.answers, *of_asks)
            failure.state = _State(columns, float(weights[failure.n_learnt]), failure.state)
            raise
        return _State(columns, float(weights[-1]), inner), self._with_noise(codes, *of_asks)

    def _with_noise(
        self, answers: NDArray[Any], hashes: NDArray[np.uint64], weights: NDArray[np.float64]
    ) -> NDArray[Any]:
        n, n_classes = len(answers), len(class_labels(self.task))
        codes = answers[:, 0].astype(np.int64) if self._wants_shares else answers
        noisy = codes
        if n:
            noisy = with_noise(
                codes, hashes[:n], weights[:n], n_classes, self.estimator.noise, self._seed
            )
        if not self._wants_shares:
            return noisy
        shares = answers[:, 1:]
        if n_classes == 1:
            shares = 1.0 - shares
        elif n_classes == 2:
            shares = np.column_stack([1.0 - shares, shares])
        mixed = exchanged(shares, codes, noisy)
        return answers_to(self.task, lambda task: noisy if task.method == "predict" else mixed)

    def looped(self, state: _State) -> list[Looped]:
        """Return the parts of the inner model that are executed call by call."""
        return self._inner.looped(state.inner)

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.columns.number is None:
            return
        self._inner.export(state.inner)
        state.columns.export(self.estimator)
        self.estimator.classes_ = class_labels(self.task)
        self.estimator.estimator_ = self._model
        self.estimator.seed_ = self._seed
        self.estimator.weight_learnt_ = state.weight
