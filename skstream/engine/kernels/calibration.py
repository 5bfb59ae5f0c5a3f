"""Kernel of a classifier whose probabilities are calibrated along the stream."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.calibration import Memory, fitted, no_memory, remembered, response_of
from skstream.engine.block import Block
from skstream.engine.kernels.base import Kernel, Task
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.members import Member, make_member, with_tests
from skstream.engine.kernels.schema import Columns, class_labels, refused_task
from skstream.engine.kernels.scored import answers_to, best_or_all
from skstream.utils._calibration_maps import Calibration, calibrated, scores_of
from skstream.utils._validation import is_fitted, unfitted_copy


class _State(NamedTuple):
    """What has been learnt."""

    columns: Columns
    n_learnt: int
    inner: Member
    memory: Memory
    calibration: Calibration | None


class PrequentialCalibratorKernel(Kernel):
    """The model is asked about each row right before it learns it; then the maps are fitted."""

    gives_scores = True
    # What the maps are fitted to are scores, which kernels may round otherwise in the last digits.
    bitwise = False

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._is_fitted = is_fitted(estimator)
        model = estimator.estimator_ if self._is_fitted else unfitted_copy(estimator.estimator)
        self._response = response_of(model) or ""
        self._inner = make_member(model, task.asking(self._response))
        self._n_classes = len(class_labels(task))

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse batches, models without scores, and what the estimator itself refuses."""
        refused = refused_task(estimator, task, ["predict", "predict_proba"])
        if refused is not None:
            return refused
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        try:
            remembered(estimator)
        except ValueError:
            return "parameters that it refuses"
        model = estimator.estimator_ if is_fitted(estimator) else estimator.estimator
        return None if response_of(model) else "a model without scores"

    def initial_state(self) -> _State:
        """Return what the estimator has learnt, with its model."""
        one = self.estimator
        if not self._is_fitted:
            return _State(Columns(), 0, self._inner, no_memory(self._n_classes), None)
        columns, memory = Columns.of(one), Memory(*one.memory_)
        return _State(columns, one.n_rows_learnt_, self._inner, memory, one.calibration_)

    def row_bytes(self, state: _State) -> int | None:
        """That of the model inside, and of the scores beside every row."""
        inner = state.inner.kernel.row_bytes(state.inner.state)
        return None if inner is None else inner + 64 * self._n_classes

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        columns = state.columns.after(block)
        # Calls of kernels are not told apart by the lanes that share them.
        block = replace(block, groups=None, company=None)
        # There is nothing yet to be asked about the first row.
        tests = np.arange(0 if state.n_learnt else 1, block.n_learns)
        tested = with_tests(block, tests)
        inner, came = state.inner.step(tested.block)
        scores = scores_of(came[tested.tests], self._response, self._n_classes)
        weight = np.ones(len(tests)) if block.weight is None else block.weight[tests]
        memory = state.memory.after(Memory(scores, block.y[tests], weight))
        calibrations = self._fitted_along(state, memory, block.n_learns)
        values = came[tested.asked]
        shares = np.empty((block.n_asks, self._n_classes))
        ends = [n_learns for n_learns, _ in calibrations[1:]]
        bounds = np.searchsorted(block.stamp, ends).tolist()
        for (_, one), begin, end in zip(
            calibrations, [0, *bounds], [*bounds, block.n_asks], strict=True
        ):
            if end > begin:
                shares[begin:end] = calibrated(
                    one, values[begin:end], self._response, self._n_classes
                )
        after = _State(
            columns,
            state.n_learnt + block.n_learns,
            inner,
            memory.last(remembered(self.estimator)[0]),
            calibrations[-1][1],
        )
        return after, answers_to(self.task, lambda task: best_or_all(shares, task))

    def _fitted_along(
        self, state: _State, memory: Memory, n_learns: int
    ) -> list[tuple[int, Calibration | None]]:
        """Maps along a block, each with the number of its learns from which on it is used."""
        every, n_rows = self.estimator.every, remembered(self.estimator)[0]
        found: list[tuple[int, Calibration | None]] = [(0, state.calibration)]
        for n in range(every - state.n_learnt % every, n_learns + 1, every):
            end = len(memory.codes) - (n_learns - n)
            kept = memory.part(slice(0, max(end, 0))).last(n_rows)
            found.append((n, fitted(self.estimator, kept, self._response)))
        return found

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if not state.n_learnt:
            return
        state.columns.export(self.estimator)
        self.estimator.classes_ = class_labels(self.task)
        state.inner.kernel.export(state.inner.state)
        self.estimator.estimator_ = state.inner.kernel.estimator
        self.estimator.memory_ = state.memory.copy()
        self.estimator.calibration_ = state.calibration
        self.estimator.n_rows_learnt_ = state.n_learnt
