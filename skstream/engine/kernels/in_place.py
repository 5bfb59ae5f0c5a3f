"""Kernels that still change a state of their own, as state machines."""

from abc import abstractmethod
from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.kernels.base import Kernel


class InPlace(Kernel):
    """A kernel with a state of its own; a token says which state it is in."""

    _token: Any = None

    def initial_state(self) -> Any:
        """Return the token of the state in which the estimator was given."""
        self._token = [self.snapshot()]
        return self._token

    def step(self, state: Any, block: Block) -> tuple[Any, np.ndarray]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if state is not self._token:
            self.restore(state[0])
        self._token = state
        before = self.snapshot() if block.n_asks + block.n_learns > 2 else None
        state[0] = before
        try:
            answers = self.run(block)
        except BaseException:
            if before is not None:
                self.restore(before)
            raise
        self._token = [None]
        return self._token, answers

    def export(self, state: Any) -> None:
        """Write the fitted attributes into the estimator."""
        if state is not self._token:
            self.restore(state[0])
            self._token = state
        self.export_own()

    @abstractmethod
    def run(self, block: Block) -> np.ndarray:
        """Execute the block."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return a copy of the state."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Go back to a state."""

    @abstractmethod
    def export_own(self) -> None:
        """Write the fitted attributes."""
