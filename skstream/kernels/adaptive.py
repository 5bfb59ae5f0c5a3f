"""Kernel of a model that is replaced on the alarms of a drift detector."""

from copy import deepcopy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.adaptive import new_detector, read_until_alarm, rows_untested
from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block, cuts, part_of
from skstream.drift import DriftDetector
from skstream.kernels.inner import (
    Member,
    OneModelKernel,
    all_bitwise,
    with_tests,
)
from skstream.kernels.input import refused_task, value_of
from skstream.kernels.memory import State
from skstream.utils._validation import unfitted_copy

# Rows that a model learns before it is found out whether it is replaced among them: at most, and
# first after it was replaced, when the next alarm may be near.
_AT_MOST = 8192
_AT_FIRST = 256

# A model with its state; of another task than labels also one that is asked for labels.
_Models = tuple[Member, ...]


class _Watch(NamedTuple):
    """The model that may replace the other, and what the detector has read."""

    background: _Models | None
    detector: DriftDetector
    n_since: int
    n_resets: int


class DriftResetKernel(OneModelKernel):
    """The model is executed ahead, and asked about each row right before it learns it.

    Then the detector reads its losses. What the model has done after an alarm is not used: a fresh
    one goes on from there.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        # The labels are wanted for the detector.
        self._tasks = [task] if task.method == "predict" else [task, task.asking("predict")]
        fresh = self._fresh()  # also finds out whether there can be one
        self._first_inner = self._members(estimator.estimator_) if self._is_fitted else fresh
        background = estimator.background_estimator_ if self._is_fitted else None
        self._background = None if background is None else self._members(background)
        self.bitwise = all_bitwise((*fresh, *self._first_inner, *(self._background or ())))

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse batches, and a seed of the detector that would be drawn again."""
        methods = ["predict", "predict_proba", "decision_function"]
        refused = refused_task(estimator, task, methods, one_by_one=True)
        detector = getattr(estimator, "detector_", estimator.detector)
        if refused is None and not isinstance(getattr(detector, "random_state", 0), Integral):
            return f"a detector with {value_of(detector, 'random_state')}"
        return refused

    def _members(self, model: Any) -> _Models:
        return tuple(Member.of(model, task) for task in self._tasks)

    def _fresh(self) -> _Models:
        return self._members(unfitted_copy(self.estimator.estimator))

    def _no_memory(self) -> _Watch:
        return _Watch(None, new_detector(self.estimator), 0, 0)

    def _read(self) -> _Watch:
        one = self.estimator
        detector = deepcopy(one.detector_)
        return _Watch(self._background, detector, one.n_rows_since_reset_, one.n_resets_)

    def _step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        answers, size = [], _AT_MOST
        while True:
            part = part_of(block, *next(cuts(block, size)))
            n_resets = state.memory.n_resets
            state, of_part, n_learnt = self._until_alarm(state, part)
            answers.append(of_part)
            n_asked = len(of_part)
            if n_learnt == block.n_learns and n_asked == block.n_asks:
                break
            size = _AT_FIRST if state.memory.n_resets > n_resets else min(2 * size, _AT_MOST)
            block = part_of(block, slice(n_learnt, block.n_learns), slice(n_asked, block.n_asks))
        return state, answers[0] if len(answers) == 1 else np.concatenate(answers)

    def _until_alarm(self, state: State, block: Block) -> tuple[State, NDArray[Any], int]:
        """Execute a block up to the row of an alarm.

        Returns the state after it, the answers to the asks before it, and the number of learns.
        """
        watch: _Watch = state.memory
        n_untested = rows_untested(self.estimator, watch.n_since)
        if not (state.has_learnt or self._is_fitted):
            # There is nothing yet to be asked about the first row.
            n_untested = max(n_untested, 1)
        tests = np.arange(n_untested, block.n_learns)
        models, answers, labels = _run(state.inner, block, tests)
        wrong = labels != block.y[tests] if len(tests) else np.empty(0, dtype=bool)
        found = read_until_alarm(deepcopy(watch.detector), wrong, block.n_learns)
        detector, alarm, end, n_in_zone = found
        background = self._background_after(watch.background, block, end, n_in_zone)
        if alarm:
            assert background is not None
            answers = answers[: np.searchsorted(block.stamp, end)]
            models, background = background, None
        n_since = 0 if alarm else watch.n_since + end
        after = _Watch(background, detector, n_since, watch.n_resets + alarm)
        return state.after(block, state.columns, after, models), answers, end

    def _background_after(
        self, background: _Models | None, block: Block, end: int, n_in_zone: int
    ) -> _Models | None:
        """Return the model that has learnt the rows of the warning that stands after a learn."""
        if not end:
            return background
        if not n_in_zone:
            return None
        if n_in_zone < end or background is None:
            background = self._fresh()
        rows = part_of(block, slice(end - n_in_zone, end), slice(0, 0))
        return tuple(member.step(rows)[0] for member in background)

    def _write(self, memory: _Watch) -> None:
        background = None if memory.background is None else memory.background[0].exported()
        self.estimator.background_estimator_ = background
        self.estimator.detector_ = deepcopy(memory.detector)
        self.estimator.n_resets_ = memory.n_resets
        self.estimator.n_rows_since_reset_ = memory.n_since


def _run(
    models: _Models, block: Block, tests: NDArray[np.intp]
) -> tuple[_Models, NDArray[Any], NDArray[Any]]:
    """Execute a block on a model, and ask it about some learns right before each.

    Returns the model after the block, its answers to the asks, and the labels at the tests.
    """
    if len(models) == 1:
        tested = with_tests(block, tests)
        model, came = models[0].step(tested.block)
        labels = came[tested.tests]
        return (model,), came[tested.asked], labels if labels.ndim == 1 else labels[:, 0]
    model, answers = models[0].step(block)
    tested = with_tests(part_of(block, slice(0, block.n_learns), slice(0, 0)), tests)
    other, came = models[1].step(tested.block)
    return (model, other), answers, came[tested.tests]
