"""Kernel of the label noise filter, by way of the inner model's kernel."""

from numbers import Integral
from typing import Any

from numpy.typing import NDArray

from skstream.engine.block import Block, take_rows
from skstream.engine.kernels.base import Kernel, Task, find_kernel, kernel_of, value_of
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.schema import (
    Outside,
    class_labels,
    outside_after,
    refused_task,
)
from skstream.noise import LabelNoise, drawn_seed, weights_so_far, with_noise
from skstream.utils._row_hashes import row_hashes
from skstream.utils._validation import is_fitted, unfitted_copy


@kernel_of(LabelNoise)
class LabelNoiseKernel(Kernel):
    """Replaces answers of the inner kernel, by the rows and by the weight learnt at each ask."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        fitted = is_fitted(estimator)
        self._model = estimator.estimator_ if fitted else unfitted_copy(estimator.estimator)
        self._inner = find_kernel(self._model, task)
        self._outside: Outside | None = Outside.of(estimator) if fitted else None
        self._seed = estimator.seed_ if fitted else drawn_seed(estimator.random_state)
        self._weight = estimator.weight_learnt_ if fitted else 0.0
        self.bitwise = self._inner.bitwise  # type: ignore[misc]

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other answers than labels, and a seed that would be drawn again."""
        refused = refused_task(estimator, task, ["predict"])
        if refused is not None:
            return refused
        known = is_fitted(estimator) or isinstance(estimator.random_state, Integral)
        return None if known else value_of(estimator, "random_state")

    @property
    def row_bytes(self) -> int | None:
        """That of the inner kernel."""
        return self._inner.row_bytes

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        check_weights(block)
        outside = outside_after(self._outside, block)
        codes = self._inner.run(block)
        weights = weights_so_far(self._weight, block.weight, block.n_learns)
        self._outside, self._weight = outside, float(weights[-1])
        if not block.n_asks:
            return codes
        hashes = row_hashes(take_rows(block.ask_X, block.ask_index))
        n_classes = len(class_labels(self.task))
        return with_noise(
            codes, hashes, weights[block.stamp], n_classes, self.estimator.q, self._seed
        )

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        return self._outside, self._weight, self._inner.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._outside, self._weight, inner = snapshot
        self._inner.restore(inner)

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        if self._outside is None:
            return
        self._inner.export()
        self._outside.write(self.estimator)
        self.estimator.classes_ = class_labels(self.task)
        self.estimator.estimator_ = self._model
        self.estimator.seed_ = self._seed
        self.estimator.weight_learnt_ = self._weight
