"""Kernel of a classifier whose probabilities are calibrated along the stream."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.calibration import (
    Calibration,
    Memory,
    calibrated,
    fitted,
    no_memory,
    remembered,
    response_of,
    scores_of,
)
from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block
from skstream.kernels.inner import Member, OneModelKernel, with_tests
from skstream.kernels.input import refused_task
from skstream.kernels.memory import State
from skstream.utils._validation import is_fitted, unfitted_copy


class _Learnt(NamedTuple):
    """Number of rows learnt, the answers to the last of them, and the maps in use."""

    n_rows: int
    answers: Memory
    calibration: Calibration | None


class PrequentialCalibratorKernel(OneModelKernel):
    """The model is asked about each row right before it learns it; then the maps are fitted."""

    # What the maps are fitted to are scores, which kernels may round otherwise in the last digits.
    bitwise = False

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        model = estimator.estimator_ if self._is_fitted else unfitted_copy(estimator.estimator)
        self._response = response_of(model) or ""
        self._first_inner = (Member.of(model, task.asking(self._response)),)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse batches, models without scores, and what the estimator itself refuses."""
        methods = ["predict", "predict_proba"]
        refused = refused_task(estimator, task, methods, one_by_one=True)
        if refused is not None:
            return refused
        try:
            remembered(estimator)
        except ValueError:
            return "parameters that it refuses"
        model = estimator.estimator_ if is_fitted(estimator) else estimator.estimator
        return None if response_of(model) else "a model without scores"

    def _no_memory(self) -> _Learnt:
        return _Learnt(0, no_memory(self._n_classes), None)

    def _read(self) -> _Learnt:
        one = self.estimator
        return _Learnt(one.n_rows_learnt_, Memory(*one.memory_), one.calibration_)

    def _own_bytes(self, n_members: int) -> int:
        return 64 * self._n_classes

    def _step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        known: _Learnt = state.memory
        # There is nothing yet to be asked about the first row.
        tests = np.arange(0 if known.n_rows else 1, block.n_learns)
        tested = with_tests(block, tests)
        inner, came = state.inner[0].step(tested.block)
        scores = scores_of(came[tested.tests], self._response, self._n_classes)
        answers = known.answers.after(Memory(scores, block.y[tests], block.weights[tests]))
        calibrations = self._fitted_along(known, answers, block.n_learns)
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
        kept = answers.last(remembered(self.estimator)[0])
        learnt = _Learnt(known.n_rows + block.n_learns, kept, calibrations[-1][1])
        after = state.after(block, state.columns, learnt, (inner,))
        return after, answers_to(self.task, lambda task: best_or_all(shares, task))

    def _fitted_along(
        self, known: _Learnt, answers: Memory, n_learns: int
    ) -> list[tuple[int, Calibration | None]]:
        """Maps along a block, each with the number of its learns from which on it is used."""
        every, n_rows = self.estimator.every, remembered(self.estimator)[0]
        found: list[tuple[int, Calibration | None]] = [(0, known.calibration)]
        for n in range(every - known.n_rows % every, n_learns + 1, every):
            end = len(answers.codes) - (n_learns - n)
            kept = answers.part(slice(0, max(end, 0))).last(n_rows)
            found.append((n, fitted(self.estimator, kept, self._response)))
        return found

    def _write(self, memory: _Learnt) -> None:
        self.estimator.memory_ = memory.answers.copy()
        self.estimator.calibration_ = memory.calibration
        self.estimator.n_rows_learnt_ = memory.n_rows
