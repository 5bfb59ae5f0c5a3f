"""Kernel for CategoricalNB: one count per class, feature and category."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.engine.kernels.base import Declined, Task, value_of
from skstream.engine.kernels.cuts import Floats
from skstream.engine.kernels.naive_bayes.counts import DiscreteKernel
from skstream.engine.kernels.naive_bayes.sparse import categorical_scores
from skstream.engine.kernels.sparse_events import Events
from skstream.utils._validation import is_fitted


class CategoricalKernel(DiscreteKernel):
    """CategoricalNB with `min_categories`, and no category beyond them.

    Otherwise the model grows with the categories that it learns, and fails when asked about others.
    A row is seen as the sparse row of its dummy variables.
    """

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Add that the categories are known beforehand, and that `alpha` is a number."""
        known = estimator.min_categories
        if known is None:
            return value_of(estimator, "min_categories")
        if not isinstance(estimator.alpha, Real):
            return value_of(estimator, "alpha")
        numbers = np.asarray(known)
        if isinstance(known, Integral):
            proper = int(known) >= 1 and not isinstance(known, bool)
        else:
            proper = numbers.ndim == 1 and numbers.dtype.kind == "i" and bool((numbers > 0).all())
        if not proper or not _has_only(estimator, numbers):
            return value_of(estimator, "min_categories")
        return super().refusal(estimator, task)

    def _n_categories(self, n_columns: int) -> NDArray[np.int64]:
        return np.broadcast_to(self.estimator.min_categories, n_columns).astype(np.int64)

    def _known_counts(self) -> Floats:
        return np.concatenate(self.estimator.category_count_, axis=1)

    def _n_counts(self, n_columns: int) -> int:
        return int(self._n_categories(n_columns).sum())

    def _prepare(self, X: Any) -> Any:
        known = self.estimator.min_categories
        if sparse.issparse(X) or (np.ndim(known) and len(known) != X.shape[1]):
            raise Declined("CategoricalNB has no kernel for sparse rows or another min_categories")
        numbers = self._n_categories(X.shape[1])
        if ((X != np.trunc(X)) | (X < 0) | (X >= numbers)).any():
            raise Declined("CategoricalNB has no kernel for categories from min_categories on")
        at = X.astype(np.int64) + (np.cumsum(numbers) - numbers)
        bounds = np.arange(len(X) + 1) * X.shape[1]
        shape = (len(X), int(numbers.sum()))
        return sparse.csr_array((np.ones(at.size), at.ravel(), bounds), shape=shape)

    def _event_scores(self, events: Events, weights: Floats, counts: Floats, sums: Any) -> Floats:
        # Of each feature a row has one stored value.
        numbers = self._n_categories(int(events.bounds[1] - events.bounds[0]))
        return categorical_scores(events, counts, weights, self.estimator.alpha, numbers)

    def _export_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.n_categories_ = self._n_categories(model.n_features_in_)
        parts = np.split(counts, np.cumsum(model.n_categories_)[:-1], axis=1)
        model.category_count_ = [part.copy() for part in parts]
        smoothed = [part + model.alpha for part in parts]
        model.feature_log_prob_ = [
            np.log(part) - np.log(part.sum(axis=1).reshape(-1, 1)) for part in smoothed
        ]


def _has_only(estimator: Any, numbers: NDArray[Any]) -> bool:
    """Whether a model, where it is fitted, has met no other categories."""
    return not is_fitted(estimator) or all(
        count.shape[1] == number
        for count, number in zip(
            estimator.category_count_,
            np.broadcast_to(numbers, len(estimator.category_count_)),
            strict=True,
        )
    )
