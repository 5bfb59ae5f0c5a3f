"""Kernel of dynamic weighted majority."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.ensemble.members import (
    Codes,
    EnsembleKernel,
    Floats,
    State,
    from_learn,
)
from skstream.engine.kernels.members import Member, with_tests
from skstream.ensemble._base import fresh_member
from skstream.ensemble._weighted_majority import (
    add_votes,
    changed_weights,
    no_votes,
    rows_of_update,
    shares_of_votes,
)


class _Memory(NamedTuple):
    """Weights of the members, and how many have been made."""

    weights: Floats
    n_made: int


class DynamicWeightedMajorityKernel(EnsembleKernel):
    """Every member is executed to the end of a part of a block, from its first row on.

    Which of them answer, and with which weights, follows from their answers at the rows at which
    weights change.
    """

    def _first_models(self) -> list[Any]:
        return [fresh_member(self.estimator, self._seed, 0)]

    def _method(self, model: Any) -> str:
        return "predict"

    def _no_memory(self) -> _Memory:
        return _Memory(np.ones(1), 1)

    def _memory(self) -> _Memory:
        return _Memory(self.estimator.weights_.copy(), self.estimator.n_made_)

    def _replaces(self, state: State) -> bool:
        return True

    def _step(self, state: State, block: Block) -> tuple[State, Floats]:
        updates = rows_of_update(state.n_learnt, block.n_learns, self.estimator.period)
        if block.batches is not None:  # a batch is learnt up to the row of a change, and from it on
            block = replace(block, batches=np.union1d(block.batches, updates))
        tested = with_tests(block, updates)
        members: list[Member] = []
        answers: list[Codes] = []
        for member in state.members:
            member, codes = member.step(tested.block)
            members.append(member)
            answers.append(codes)
        weights, n_made = state.memory
        sums = no_votes(block.n_asks, len(self._classes))
        n_done = 0
        for learn, test in zip(updates.tolist(), tested.tests.tolist(), strict=True):
            asked = int(np.searchsorted(block.stamp, learn, side="right"))
            self._vote(sums, tested.asked, slice(n_done, asked), answers, weights)
            n_done = asked
            at_test = np.array([codes[test] for codes in answers])
            change = changed_weights(
                self.estimator, weights, at_test, int(block.y[learn]), len(self._classes)
            )
            members = [members[number] for number in change.kept]
            answers = [answers[number] for number in change.kept]
            weights = change.weights
            if change.adds:
                rest, n_before = from_learn(tested.block, learn)
                member, codes = self._fresh(n_made).step(rest)
                members.append(member)
                answers.append(np.concatenate([np.zeros(n_before, dtype=np.int64), codes]))
                n_made += 1
        self._vote(sums, tested.asked, slice(n_done, None), answers, weights)
        memory = _Memory(weights, n_made)
        after = State(state.columns, state.n_learnt + block.n_learns, tuple(members), memory)
        return after, shares_of_votes(sums)

    def _vote(
        self, sums: Floats, asked: Any, some: slice, answers: list[Codes], weights: Floats
    ) -> None:
        """Add the votes at some asks, in place."""
        places = asked[some]
        if len(places):
            add_votes(sums[some], [codes[places] for codes in answers], weights)

    def _export_memory(self, memory: _Memory) -> None:
        self.estimator.weights_ = memory.weights.copy()
        self.estimator.n_made_ = memory.n_made
