"""RBFSampler for streams: it needs no more than the number of columns, so it starts at once."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from skstream.engine.block import Block
from skstream.engine.kernels import Task, TransformKernel, kernel_of


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

    def run(self, block: Block) -> Block:
        self.transformer.partial_fit(block.learn_X)
        learnt = self.transformer.transform(block.learn_X)
        same = block.ask_X is block.learn_X
        asked = learnt if same else self.transformer.transform(block.ask_X)
        return replace(block, learn_X=learnt, ask_X=asked)

    def snapshot(self) -> None:
        """Nothing changes after the first row, and drawing again gives the same."""

    def restore(self, snapshot: None) -> None:
        """Nothing to go back to."""

    def export(self) -> None:
        """The transformer itself is used."""
