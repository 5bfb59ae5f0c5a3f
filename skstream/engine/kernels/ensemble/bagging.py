"""Kernel of online bagging."""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.base import Task
from skstream.engine.kernels.ensemble.members import (
    Codes,
    EnsembleKernel,
    Floats,
    State,
    from_learn,
    with_weights,
)
from skstream.engine.kernels.members import Member, with_tests
from skstream.ensemble._bagging import (
    Errors,
    changed_parameter,
    first_members,
    is_wrong,
    mean_shares,
    member_weights,
    votes,
)
from skstream.utils._validation import is_fitted


class _Memory(NamedTuple):
    """How often each member was replaced, and what its detector has read, if there are any."""

    n_replaced: Codes
    errors: Errors | None


class OnlineBaggingKernel(EnsembleKernel):
    """A member learns the rows of a block with weights of its own.

    With detectors, all are executed as if no member were replaced. Then the detectors read, and a
    member that is replaced gives way to one that begins with the row of the alarm.
    """

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse detectors that read whole batches."""
        refused = super().refusal(estimator, task)
        reads = estimator.detector is not None or hasattr(estimator, "detectors_")
        if refused is None and reads and task.batch_size > 1:
            return f"a detector and batch_size={task.batch_size}"
        if refused is None and is_fitted(estimator) and changed_parameter(estimator) is not None:
            return "other parameters than at the first call"  # the loop says which
        return refused

    def _first_models(self) -> list[Any]:
        return first_members(self.estimator, self._seed)

    def _method(self, model: Any) -> str:
        return "predict_proba" if hasattr(model, "predict_proba") else "predict"

    def _no_memory(self) -> _Memory:
        n, detector = self.estimator.n_estimators, self.estimator.detector
        errors = None if detector is None else Errors.none(detector, n)
        return _Memory(np.zeros(n, dtype=np.int64), errors)

    def _memory(self) -> _Memory:
        errors = Errors.of(self.estimator)
        return deepcopy(_Memory(self.estimator.n_replaced_, errors))

    def _replaces(self, state: State) -> bool:
        return state.memory.errors is not None

    def _step(self, state: State, block: Block) -> tuple[State, Floats]:
        is_first = state.n_learnt == 0 and block.n_learns > 0
        n_replaced, errors = state.memory
        tests = np.arange(is_first, block.n_learns if errors is not None else 0)
        tested = with_tests(block, tests)
        members, shares = list(state.members), []
        for number, member in enumerate(state.members):
            members[number], its_shares = self._run(
                number, member, tested.block, state.n_learnt, is_first
            )
            shares.append(its_shares)
        done, labels = 0, block.y[tests]
        wrong = np.array([is_wrong(its_shares[tested.tests], labels) for its_shares in shares])
        while errors is not None and done < len(tests):
            ahead = deepcopy(errors)
            alarm = ahead.read(wrong[:, done:])
            if alarm is None:
                errors = ahead
                break
            errors = deepcopy(errors)
            errors.read(wrong[:, done : done + alarm + 1])
            worst, begin = errors.worst(), int(tests[done + alarm])
            done += alarm + 1
            errors.begin(worst)
            n_replaced = n_replaced + (np.arange(len(members)) == worst)
            fresh = self._fresh(worst, int(n_replaced[worst]))
            rest, n_before = from_learn(tested.block, begin)
            members[worst], later = self._run(worst, fresh, rest, state.n_learnt + begin, True)
            shares[worst] = np.concatenate([shares[worst][:n_before], later])
            wrong[worst, done:] = is_wrong(shares[worst][tested.tests[done:]], labels[done:])
        memory = _Memory(n_replaced, errors)
        after = State(state.columns, state.n_learnt + block.n_learns, tuple(members), memory)
        return after, mean_shares(its_shares[tested.asked] for its_shares in shares)

    def _run(
        self, number: int, member: Member, block: Block, n_learnt: int, is_first: bool
    ) -> tuple[Member, Floats]:
        """Execute a block on a member; return it after the block, and its probabilities."""
        weights = member_weights(self._seed, number, n_learnt, block.n_learns, first=is_first)
        member, answers = member.step(with_weights(block, weights))
        return member, votes(answers, len(self._classes)) if answers.ndim == 1 else answers

    def _export_memory(self, memory: _Memory) -> None:
        self.estimator.n_replaced_ = memory.n_replaced.copy()
        if memory.errors is not None:
            deepcopy(memory.errors).write(self.estimator)
