"""Kernels of ensembles, by way of the kernels of their members."""

from abc import abstractmethod
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream import ensemble
from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block, cuts, part_of
from skstream.ensemble import fresh_member, start_seed
from skstream.kernels.inner import (
    Member,
    MembersKernel,
    all_bitwise,
    with_tests,
)
from skstream.kernels.input import refused_seed, refused_task
from skstream.kernels.memory import State
from skstream.utils._validation import is_fitted

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Learns that members execute before it is found out which of them are replaced: one that is added
# in between is executed up to the last of them.
_AT_ONCE = 2048


class EnsembleKernel(MembersKernel):
    """Members are executed one after the other over the same rows, as none depends on another.

    Subclasses differ in what they do with the members' answers, at known rows.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._seed = start_seed(estimator)
        models = estimator.estimators_ if self._is_fitted else self._first_models()
        self._first_inner = tuple(map(self._member, models))
        self.bitwise = all_bitwise(self._first_inner)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other answers than labels and probabilities, and a seed to be drawn again."""
        refused = refused_task(estimator, task, ["predict", "predict_proba"])
        return refused or refused_seed(estimator)

    @abstractmethod
    def _first_models(self) -> list[Any]:
        """Return the members before the first row."""

    @abstractmethod
    def _method(self, model: Any) -> str:
        """Return what a member is asked for."""

    def _member(self, model: Any) -> Member:
        return Member.of(model, self.task.asking(self._method(model)))

    def _fresh(self, *place: int) -> Member:
        return self._member(fresh_member(self.estimator, self._seed, *place))

    def _own_bytes(self, n_members: int) -> int:
        return 8 * self._n_classes * (n_members + 8)

    def _step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        shares = []
        for learns, asks in cuts(block, _AT_ONCE if self._replaces(state) else 8 * _AT_ONCE):
            part = part_of(block, learns, asks)
            members, memory, of_part = self._run_part(state.inner, state.memory, part)
            state = state.after(part, state.columns, memory, tuple(members))
            shares.append(of_part)
        answers = shares[0] if len(shares) == 1 else np.concatenate(shares)
        return state, answers_to(self.task, partial(best_or_all, answers))

    def _replaces(self, state: State) -> bool:
        """Whether members may be replaced."""
        return True

    @abstractmethod
    def _run_part(
        self, members: tuple[Member, ...], memory: Any, block: Block
    ) -> tuple[list[Member], Any, Floats]:
        """Members and memory after a block, and class probabilities at its asks."""

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        super().export(state)
        if state.has_learnt:
            self.estimator.estimators_ = [member.exported() for member in state.inner]
            self.estimator.seed_ = self._seed


def from_learn(block: Block, begin: int) -> tuple[Block, int]:
    """Return what is left of a block from a learn on, for a member that begins with it.

    Also how many asks come before; the first that is left comes after that learn.
    """
    first = int(np.searchsorted(block.stamp, begin, side="right"))
    return part_of(block, slice(begin, block.n_learns), slice(first, block.n_asks)), first


class _Replacements(NamedTuple):
    """Rows learnt, how often each member was replaced, and what detectors have read, if any."""

    n_rows: int
    n_replaced: Codes
    errors: ensemble.Errors | None


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
        if (
            refused is None
            and is_fitted(estimator)
            and ensemble.changed_parameter(estimator) is not None
        ):
            return "other parameters than in the first call"  # the loop says which
        return refused

    def _first_models(self) -> list[Any]:
        return ensemble.first_members(self.estimator, self._seed)

    def _method(self, model: Any) -> str:
        return "predict_proba" if hasattr(model, "predict_proba") else "predict"

    def _no_memory(self) -> _Replacements:
        n, detector = self.estimator.n_estimators, self.estimator.detector
        errors = None if detector is None else ensemble.Errors.none(detector, n)
        return _Replacements(0, np.zeros(n, dtype=np.int64), errors)

    def _read(self) -> _Replacements:
        one, errors = self.estimator, ensemble.Errors.of(self.estimator)
        return deepcopy(_Replacements(one.n_rows_learnt_, one.n_replaced_, errors))

    def _replaces(self, state: State) -> bool:
        return state.memory.errors is not None

    def _run_part(
        self, members: tuple[Member, ...], memory: _Replacements, block: Block
    ) -> tuple[list[Member], _Replacements, Floats]:
        n_rows, n_replaced, errors = memory
        is_first = n_rows == 0 and block.n_learns > 0
        tests = np.arange(is_first, block.n_learns if errors is not None else 0)
        tested = with_tests(block, tests)
        ran = [
            self._run(number, member, tested.block, n_rows, is_first)
            for number, member in enumerate(members)
        ]
        after, shares = [member for member, _ in ran], [its_shares for _, its_shares in ran]
        done, labels = 0, block.y[tests]
        wrong = np.array(
            [ensemble.is_wrong(its_shares[tested.tests], labels) for its_shares in shares]
        )
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
            n_replaced = n_replaced + (np.arange(len(after)) == worst)
            fresh = self._fresh(worst, int(n_replaced[worst]))
            rest, n_before = from_learn(tested.block, begin)
            after[worst], later = self._run(worst, fresh, rest, n_rows + begin, True)
            shares[worst] = np.concatenate([shares[worst][:n_before], later])
            wrong[worst, done:] = ensemble.is_wrong(
                shares[worst][tested.tests[done:]], labels[done:]
            )
        asked = ensemble.mean_shares(its_shares[tested.asked] for its_shares in shares)
        return after, _Replacements(n_rows + block.n_learns, n_replaced, errors), asked

    def _run(
        self, number: int, member: Member, block: Block, n_learnt: int, is_first: bool
    ) -> tuple[Member, Floats]:
        """Execute a block on a member; return it after the block, and its probabilities."""
        place, mean = (number, n_learnt, block.n_learns), self.estimator.mean_weight
        weights = ensemble.member_weights(self._seed, *place, mean, first=is_first)
        kept = np.flatnonzero(weights)
        own = (weights * block.weights)[kept]
        member, answers = member.step(some_learns(block, kept, own))
        return member, ensemble.votes(answers, self._n_classes) if answers.ndim == 1 else answers

    def _write(self, memory: _Replacements) -> None:
        self.estimator.n_rows_learnt_ = memory.n_rows
        self.estimator.n_replaced_ = memory.n_replaced.copy()
        if memory.errors is not None:
            deepcopy(memory.errors).write(self.estimator)


class DynamicWeightedMajorityKernel(EnsembleKernel):
    """Every member is executed to the end of a part of a block, from its first row on.

    Which of them answer, and with which weights, follows from their answers at the rows at which
    weights change. The memory is the rows learnt, the weights and how many members were made.
    """

    _attributes = ("n_rows_learnt_", "weights_", "n_made_")

    def _first_models(self) -> list[Any]:
        return [fresh_member(self.estimator, self._seed, 0)]

    def _method(self, model: Any) -> str:
        return "predict"

    def _no_memory(self) -> tuple[int, Floats, int]:
        return 0, np.ones(1), 1

    def _run_part(
        self, members: tuple[Member, ...], memory: tuple[int, Floats, int], block: Block
    ) -> tuple[list[Member], tuple[int, Floats, int], Floats]:
        n_rows, weights, n_made = memory
        updates = ensemble.rows_of_update(n_rows, block.n_learns, self.estimator.period)
        if block.batches is not None:  # a batch is learnt up to the row of a change, and from it on
            block = replace(block, batches=np.union1d(block.batches, updates))
        tested = with_tests(block, updates)
        ran = [member.step(tested.block) for member in members]
        after, answers = [member for member, _ in ran], [codes for _, codes in ran]
        sums = ensemble.no_votes(block.n_asks, self._n_classes)
        n_done = 0
        for learn, test in zip(updates.tolist(), tested.tests.tolist(), strict=True):
            asked = int(np.searchsorted(block.stamp, learn, side="right"))
            self._vote(sums, tested.asked, slice(n_done, asked), answers, weights)
            n_done = asked
            at_test = np.array([codes[test] for codes in answers])
            change = ensemble.changed_weights(
                self.estimator, weights, at_test, int(block.y[learn]), self._n_classes
            )
            after = [after[number] for number in change.kept]
            answers = [answers[number] for number in change.kept]
            weights = change.weights
            if change.adds:
                rest, n_before = from_learn(tested.block, learn)
                member, codes = self._fresh(n_made).step(rest)
                after.append(member)
                answers.append(np.concatenate([np.zeros(n_before, dtype=np.int64), codes]))
                n_made += 1
        self._vote(sums, tested.asked, slice(n_done, None), answers, weights)
        memory = n_rows + block.n_learns, weights, n_made
        return after, memory, ensemble.shares_of_votes(sums)

    def _vote(
        self, sums: Floats, asked: Any, some: slice, answers: list[Codes], weights: Floats
    ) -> None:
        """Add the votes at some asks, in place."""
        places = asked[some]
        if len(places):
            ensemble.add_votes(sums[some], [codes[places] for codes in answers], weights)


def some_learns(block: Block, learns: np.ndarray, weight: np.ndarray | None) -> Block:
    """Block that learns only some of its rows, given by their places, with other weights."""
    is_after = np.zeros(block.n_learns + 1, dtype=bool)
    is_after[learns + 1] = True
    n_before = is_after.cumsum()
    return replace(
        block,
        learn_index=block.learn_index[learns],
        y=block.y[learns],
        weight=weight,
        stamp=n_before[block.stamp],
        batches=None if block.batches is None else np.unique(n_before[block.batches]),
        learn_rows=None if block.learn_rows is None else block.learn_rows[learns],
        learn_time=None if block.learn_time is None else block.learn_time[learns],
        learn_came=None if block.learn_came is None else block.learn_came[learns],
    )
