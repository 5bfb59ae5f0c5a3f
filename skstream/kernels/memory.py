"""Kernels whose state is columns, and what is remembered of the rows learnt."""

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Kernel, StateMachine, TransformKernel
from skstream.kernels.input import Columns, class_labels
from skstream.utils._seeds import drawn_seed
from skstream.utils._validation import is_fitted


class State(NamedTuple):
    """What has been learnt. No step changes what a state holds.

    Attributes
    ----------
    columns : Columns
        Number and names of the features.
    memory : object
        What a kernel remembers; None where an unfitted estimator has learnt nothing.
    inner : object
        State of the model inside, if there is one.
    has_learnt : bool
        Whether this kernel has learnt a row.
    """

    columns: Columns = Columns()
    memory: Any = None
    inner: Any = None
    has_learnt: bool = False

    def after(self, block: Block, columns: Columns, memory: Any, inner: Any = None) -> "State":
        """State after a block; `memory` and `inner` are those after it."""
        return State(columns, memory, inner, self.has_learnt or block.n_learns > 0)


class MemoryMachine(StateMachine):
    """What kernels of models and of transformers with such a state have in common."""

    #: Fitted attributes that hold the memory: one, or a tuple of several. Where they hold it in
    #: another form, `_read` and `_write` say how.
    _attributes: tuple[str, ...] = ()
    #: State of the model inside, if there is one, as the estimator has it.
    _first_inner: Any = None

    def initial_state(self) -> State:
        """Return what the estimator has learnt."""
        if not is_fitted(self.estimator):
            return State(memory=self._no_memory(), inner=self._first_inner)
        return State(Columns.of(self.estimator), self._read(), self._first_inner)

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.has_learnt:
            state.columns.export(self.estimator)
            self._write(state.memory)

    def _no_memory(self) -> Any:
        """Return the memory of an unfitted estimator."""
        return None

    def _read(self) -> Any:
        """Take the memory from the fitted estimator, as a copy."""
        values = tuple(copy(getattr(self.estimator, name)) for name in self._attributes)
        return values if len(values) > 1 else values[0]

    def _write(self, memory: Any) -> None:
        """Write the memory into the estimator, as a copy."""
        values = memory if len(self._attributes) > 1 else (memory,)
        for name, value in zip(self._attributes, values, strict=True):
            setattr(self.estimator, name, copy(value))


class MemoryKernel(MemoryMachine, Kernel):
    """A model that answers by what it remembers."""

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._classes: Any = None if task.classes is None else class_labels(task)
        self._n_classes = 0 if task.classes is None else len(task.classes)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        columns = state.columns.after(block)
        answers, memory = self._execute(state.memory, block)
        return state.after(block, columns, memory), answers

    def _execute(self, memory: Any, block: Block) -> tuple[NDArray[Any], Any]:
        """Answers to the asks, and the memory after the learns."""
        raise NotImplementedError

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.has_learnt and self._classes is not None:
            self.estimator.classes_ = self._classes.copy()
        super().export(state)


class SeededKernel(MemoryKernel):
    """A model whose answers are random, by the seed that it draws once and keeps as `seed_`."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._seed = estimator.seed_ if fitted else drawn_seed(estimator.random_state)

    def _write(self, memory: Any) -> None:
        super()._write(memory)
        self.estimator.seed_ = self._seed


class MemoryTransformKernel(MemoryMachine, TransformKernel):
    """A transformer that makes something of every row by what it remembers."""

    shareable = True

    def step(self, state: State, block: Block) -> tuple[State, Block]:
        """Learn and transform; return the state after it, and the block that comes out."""
        if not block.n_learns and not block.n_asks:
            return state, block
        columns, memory, shown = self._execute(state, block)
        return state.after(block, columns, memory) if block.n_learns else state, shown

    @abstractmethod
    def _execute(self, state: State, block: Block) -> tuple[Columns, Any, Block]:
        """Columns and memory after the learns, and the block that comes out."""


def showing(block: Block, learn_X: Any, ask_X: Any, ask_index: Any = None) -> Block:
    """Block with other rows: those learnt in their order, and those asked, too, or at an index."""
    asked = np.arange(block.n_asks) if ask_index is None else ask_index
    learnt = np.arange(block.n_learns)
    return replace(block, learn_X=learn_X, learn_index=learnt, ask_X=ask_X, ask_index=asked)
