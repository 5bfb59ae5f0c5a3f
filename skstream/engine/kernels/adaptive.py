"""Kernel of a model that is replaced on the alarms of a drift detector."""

from copy import deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.adaptive import new_detector, read_until_alarm, rows_untested
from skstream.drift import DriftDetector
from skstream.engine.block import Block, cuts, part_of
from skstream.engine.kernels.base import Kernel, Task, value_of
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.members import Member, make_member, with_tests
from skstream.engine.kernels.schema import Columns, class_labels, refused_task
from skstream.utils._validation import is_fitted, unfitted_copy

# Rows that a model learns before it is found out whether it is replaced among them: at most, and
# first after it was replaced, when the next alarm may be near.
_AT_MOST = 8192
_AT_FIRST = 256

# A model with its state; of another task than labels also one that is asked for labels.
_Models = tuple[Member, ...]


class _State(NamedTuple):
    """What has been learnt."""

    columns: Columns
    has_learnt: bool
    models: _Models
    background: _Models | None
    detector: DriftDetector
    n_since: int
    n_resets: int


class DriftResetKernel(Kernel):
    """The model is executed ahead, and asked about each row right before it learns it.

    Then the detector reads its losses. What the model has done after an alarm is not used: a fresh
    one goes on from there.
    """

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._is_fitted = is_fitted(estimator)
        # The labels are wanted for the detector.
        self._tasks = [task] if task.method == "predict" else [task, task.asking("predict")]
        fresh = self._fresh()  # also finds out whether there can be one
        self._models = self._members(estimator.estimator_) if self._is_fitted else fresh
        background = estimator.background_estimator_ if self._is_fitted else None
        self._background = None if background is None else self._members(background)
        members = [*fresh, *self._models, *(self._background or ())]
        self.bitwise = all(member.kernel.bitwise for member in members)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse batches, and a seed of the detector that would be drawn again."""
        refused = refused_task(estimator, task, ["predict", "predict_proba", "decision_function"])
        if refused is not None:
            return refused
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        detector = getattr(estimator, "detector_", estimator.detector)
        if not isinstance(getattr(detector, "random_state", 0), Integral):
            return f"a detector with {value_of(detector, 'random_state')}"
        return None

    def _members(self, model: Any) -> _Models:
        return tuple(make_member(model, task) for task in self._tasks)

    def _fresh(self) -> _Models:
        return self._members(unfitted_copy(self.estimator.estimator))

    def initial_state(self) -> _State:
        """Return what the estimator has learnt, with its models."""
        one = self.estimator
        if not self._is_fitted:
            return _State(Columns(), False, self._models, None, new_detector(one), 0, 0)
        detector, n_since = deepcopy(one.detector_), one.n_rows_since_reset_
        columns = Columns.of(one)
        return _State(
            columns, True, self._models, self._background, detector, n_since, one.n_resets_
        )

    def row_bytes(self, state: _State) -> int | None:
        """The most that a model takes."""
        taken = [member.kernel.row_bytes(member.state) for member in state.models]
        return None if any(one is None for one in taken) else max(one or 0 for one in taken)

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        state = state._replace(columns=state.columns.after(block))
        # Calls of kernels are not told apart by the lanes that share them.
        block = replace(block, groups=None, company=None)
        answers, size = [], _AT_MOST
        while True:
            part = part_of(block, *next(cuts(block, size)))
            n_resets = state.n_resets
            state, of_part, n_learnt = self._until_alarm(state, part)
            answers.append(of_part)
            n_asked = len(of_part)
            if n_learnt == block.n_learns and n_asked == block.n_asks:
                break
            size = _AT_FIRST if state.n_resets > n_resets else min(2 * size, _AT_MOST)
            block = part_of(block, slice(n_learnt, block.n_learns), slice(n_asked, block.n_asks))
        return state, answers[0] if len(answers) == 1 else np.concatenate(answers)

    def _until_alarm(self, state: _State, block: Block) -> tuple[_State, NDArray[Any], int]:
        """Execute a block up to the row of an alarm.

        Returns the state after it, the answers to the asks before it, and the number of learns.
        """
        n_untested = rows_untested(self.estimator, state.n_since)
        if not state.has_learnt:  # there is nothing yet to be asked about the first row
            n_untested = max(n_untested, 1)
        tests = np.arange(n_untested, block.n_learns)
        models, answers, labels = _run(state.models, block, tests)
        wrong = labels != block.y[tests] if len(tests) else np.empty(0, dtype=bool)
        found = read_until_alarm(deepcopy(state.detector), wrong, block.n_learns)
        detector, alarm, end, n_in_zone = found
        background = self._background_after(state, block, end, n_in_zone)
        has_learnt = state.has_learnt or end > 0
        if alarm:
            assert background is not None
            answers = answers[: np.searchsorted(block.stamp, end)]
            after = _State(
                state.columns, has_learnt, background, None, detector, 0, state.n_resets + 1
            )
        else:
            after = state._replace(
                has_learnt=has_learnt,
                models=models,
                background=background,
                detector=detector,
                n_since=state.n_since + end,
            )
        return after, answers, end

    def _background_after(
        self, state: _State, block: Block, end: int, n_in_zone: int
    ) -> _Models | None:
        """Return the model that has learnt the rows of the warning that stands after a learn."""
        if not end:
            return state.background
        if not n_in_zone:
            return None
        goes_on = n_in_zone == end and state.background is not None
        background = state.background if goes_on else self._fresh()
        assert background is not None
        rows = part_of(block, slice(end - n_in_zone, end), slice(0, 0))
        return tuple(member.step(rows)[0] for member in background)

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if not state.has_learnt:
            return
        state.columns.export(self.estimator)
        self.estimator.classes_ = class_labels(self.task)
        self.estimator.estimator_ = _exported(state.models)
        background = state.background
        self.estimator.background_estimator_ = None if background is None else _exported(background)
        self.estimator.detector_ = deepcopy(state.detector)
        self.estimator.n_resets_ = state.n_resets
        self.estimator.n_rows_since_reset_ = state.n_since


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


def _exported(models: _Models) -> Any:
    """Return the fitted model."""
    models[0].kernel.export(models[0].state)
    return models[0].kernel.estimator
