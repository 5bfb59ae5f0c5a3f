"""Kernel of the linear one-class SVM by stochastic gradient descent.

The loops are those of the hinge loss where every row is of the positive class; each row also pulls
the intercept down by the learning rate times `nu`. Intercepts of states are one less than those of
the loss, minus scikit-learn's ``offset_``: what its decision values add.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task
from skstream.engine.kernels.linear.kernel import LinearKernel
from skstream.engine.kernels.linear.loops import Floats, Integers
from skstream.engine.kernels.linear.support import refused

# What it answers.
_LABELS = (-1, 1)


class OneClassKernel(LinearKernel):
    """One-class SVM: learns every row, whatever its label, and answers 1 or -1."""

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key, self._n_vectors = (b"one class",), 1

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other labels than 1 and -1, and what all linear kernels refuse."""
        if task.classes is None or task.classes.tolist() != list(_LABELS):
            return "other labels than -1 and 1"
        if task.method not in ("predict", "decision_function"):
            return f"{task.method} as the answer"
        return refused(estimator, task)

    def _targets(
        self, block: Block, part: slice, dtype: Any
    ) -> tuple[Integers, Floats, Floats, Floats]:
        """Make all rows positive examples."""
        n = part.stop - part.start
        weight = np.ones(n) if block.weight is None else np.asarray(block.weight[part])
        return np.zeros(n, np.int64), np.ones(n), weight, weight

    def _learn_sparse(self, *_: Any) -> Any:
        raise Declined("sparse rows have no kernel in SGDOneClassSVM")

    def _learn_single(self, *_: Any) -> Any:
        raise Declined("float32 rows have no kernel in SGDOneClassSVM")

    def _learn_first(self, row: Any, target: Any, **weight: Any) -> None:
        self.estimator.partial_fit(row, **weight)

    def _fitted_intercepts(self) -> Floats:
        return -np.array(self.estimator.offset_)

    def _write(self, W: Floats, b: Floats) -> None:
        self.estimator.coef_ = W[0].copy()
        self.estimator.offset_ = 0.0 - b  # no negative zero

    def _answers(self, raw: Floats, task: Task) -> NDArray[Any]:
        if task.method == "predict":
            return (raw[:, 0] >= 0).astype(np.int64)
        return raw[:, 0].astype(np.float64, copy=False)
