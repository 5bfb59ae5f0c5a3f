"""RBFSampler for streams: it needs no more than the number of columns, so it starts at once."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from skstream.core.engine.block import Block
from skstream.kernels import Task, TransformKernel, kernel_of


class StreamRBFSampler(RBFSampler):
    """RBFSampler that draws its features at the first row, and keeps them."""

    def partial_fit(self, X: Any, y: Any = None) -> "StreamRBFSampler":
        return self if hasattr(self, "random_weights_") else self.fit(X)


@kernel_of(StreamRBFSampler)
class StreamRBFSamplerKernel(TransformKernel):
    """Transforms all rows of a block at once."""

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        known = isinstance(transformer.random_state, int | np.integer)
        return None if known else "a random_state that is no number"

    def initial_state(self) -> None:
        """Nothing changes after the first row, and drawing again gives the same."""

    def step(self, state: None, block: Block) -> tuple[None, Block]:
        if len(block.learn_X):
            self.estimator.partial_fit(block.learn_X)
        learnt = self._features(block.learn_X)
        same = block.ask_X is block.learn_X
        asked = learnt if same else self._features(block.ask_X)
        return None, replace(block, learn_X=learnt, ask_X=asked)

    def _features(self, X: Any) -> Any:
        """Random features; of no rows, which scikit-learn refuses, none."""
        return self.estimator.transform(X) if len(X) else np.empty((0, self.estimator.n_components))

    def export(self, state: None) -> None:
        """The transformer itself is used."""
