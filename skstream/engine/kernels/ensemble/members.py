"""What the kernels of ensembles have in common: blocks as each member learns them."""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block, cuts, part_of
from skstream.engine.kernels.base import Kernel, Task
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.members import Member, make_member
from skstream.engine.kernels.schema import (
    Columns,
    class_labels,
    refused_seed,
    refused_task,
)
from skstream.engine.kernels.scored import answers_to, best_or_all
from skstream.ensemble._base import fresh_member, start_seed
from skstream.utils._validation import is_fitted

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Learns that members execute before it is found out which of them are replaced: one that is added
# in between is executed up to the last of them.
_AT_ONCE = 2048


class State(NamedTuple):
    """What an ensemble has learnt; `memory` is what it knows of its members."""

    columns: Columns
    n_learnt: int
    members: tuple[Member, ...]
    memory: Any


class EnsembleKernel(Kernel):
    """Members are executed one after the other over the same rows, as none depends on another.

    They are told apart by what is made of their answers, at known rows. A state holds the kernels,
    because a member may be replaced.
    """

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._is_fitted = is_fitted(estimator)
        self._seed = start_seed(estimator)
        self._classes = class_labels(task)
        models = estimator.estimators_ if self._is_fitted else self._first_models()
        self._members = tuple(map(self._member, models))
        self.bitwise = all(member.kernel.bitwise for member in self._members)

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
        return make_member(model, self.task.asking(self._method(model)))

    def _fresh(self, *place: int) -> Member:
        return self._member(fresh_member(self.estimator, self._seed, *place))

    def initial_state(self) -> State:
        """Return what the estimator has learnt, and its members."""
        if not self._is_fitted:
            return State(Columns(), 0, self._members, self._no_memory())
        columns = Columns.of(self.estimator)
        return State(columns, self.estimator.n_rows_learnt_, self._members, self._memory())

    @abstractmethod
    def _no_memory(self) -> Any:
        """Return what is known of the members before the first row."""

    @abstractmethod
    def _memory(self) -> Any:
        """Take what is known of the members from the estimator, as a copy."""

    def row_bytes(self, state: State) -> int | None:
        """The most that a member takes, and the answers of all."""
        taken = [member.kernel.row_bytes(member.state) for member in state.members]
        if any(one is None for one in taken):
            return None
        per_member = 8 * len(self._classes) * len(taken)
        return max(one or 0 for one in taken) + per_member + 64 * len(self._classes)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        check_weights(block)
        columns = state.columns.after(block)
        state = state._replace(columns=columns)
        shares = []
        # Calls of kernels are not told apart by the lanes that share them.
        block = replace(block, groups=None, company=None)
        for learns, asks in cuts(block, _AT_ONCE if self._replaces(state) else 8 * _AT_ONCE):
            state, of_part = self._step(state, part_of(block, learns, asks))
            shares.append(of_part)
        answers = shares[0] if len(shares) == 1 else np.concatenate(shares)
        return state, answers_to(self.task, partial(best_or_all, answers))

    @abstractmethod
    def _replaces(self, state: State) -> bool:
        """Whether members may be replaced."""

    @abstractmethod
    def _step(self, state: State, block: Block) -> tuple[State, Floats]:
        """Execute a block; return the state after it, and class probabilities at its asks."""

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        if not state.n_learnt:
            return
        state.columns.export(self.estimator)
        for member in state.members:
            member.kernel.export(member.state)
        self.estimator.classes_ = self._classes.copy()
        self.estimator.estimators_ = [member.kernel.estimator for member in state.members]
        self.estimator.n_rows_learnt_ = state.n_learnt
        self.estimator.seed_ = self._seed
        self._export_memory(state.memory)

    @abstractmethod
    def _export_memory(self, memory: Any) -> None:
        """Write what is known of the members."""


def from_learn(block: Block, begin: int) -> tuple[Block, int]:
    """Return what is left of a block from a learn on, for a member that begins with it.

    Also how many asks come before; the first that is left comes after that learn.
    """
    first = int(np.searchsorted(block.stamp, begin, side="right"))
    return part_of(block, slice(begin, block.n_learns), slice(first, block.n_asks)), first


def with_weights(block: Block, weights: Floats) -> Block:
    """Block whose learns have weights of a member's own, times those of the block; 0: left out."""
    kept = np.flatnonzero(weights)
    n_before = np.concatenate([[0], np.cumsum(weights > 0)])
    own = weights if block.weight is None else weights * block.weight
    own = own[kept]
    return replace(
        block,
        learn_index=block.learn_index[kept],
        y=block.y[kept],
        weight=own,
        stamp=n_before[block.stamp],
        batches=None if block.batches is None else np.unique(n_before[block.batches]),
    )
