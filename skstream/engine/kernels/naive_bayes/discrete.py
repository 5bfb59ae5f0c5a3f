"""Kernels for MultinomialNB, BernoulliNB, ComplementNB and CategoricalNB."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, decline_uncompiled, value_of
from skstream.engine.kernels.cuts import Events, Floats, Integers, Piece, distinct
from skstream.engine.kernels.naive_bayes import sparse as by_values
from skstream.engine.kernels.naive_bayes.counts import (
    DiscreteKernel,
    FeatureCountsKernel,
    OwnCountsKernel,
    learn_one_by_one,
)
from skstream.utils._validation import is_fitted
from skstream.utils._versions import VersionedArray

# Sparse rows of fewer columns are made dense where that is simpler.
_WIDE = 512

_FRACTIONAL = "BernoulliNB has no kernel for fractional weights of sparse rows"


class MultinomialKernel(OwnCountsKernel):
    """MultinomialNB: any dense or CSR rows; batches, too, since their counts add up."""

    def _linear(self, counts: Floats, weights: Floats) -> tuple[Floats, None]:
        counts += self.estimator.alpha
        totals = np.log(counts.sum(axis=1, keepdims=True))
        np.log(counts, out=counts)
        counts -= totals
        return counts, None

    def _sums_of(self, counts: Floats) -> Floats:
        totals: Floats = counts.sum(axis=1)
        return totals

    def _laid_out(self, counts: VersionedArray) -> VersionedArray:
        """Counts and their smoothed logarithms side by side: see `fill_table`."""
        array = counts.read()
        if array.ndim == 3:
            return counts
        table = np.empty((*array.T.shape, 2))
        by_values.fill_table(array, self._smoothing(len(table))[0], table)
        return VersionedArray(table)

    def _counts_in(self, array: Floats) -> Floats:
        return array if array.ndim == 2 else array[:, :, 0].T

    def _columns_at(self, at: Any) -> Any:
        return at

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: Floats
    ) -> Floats:
        alpha, total = self._smoothing(len(counts))
        # Without numba half a microsecond each; the model's own loop looks at all columns.
        n_values = len(events.values) // events.number * self._n_classes
        decline_uncompiled(n_values, "values of classes in a row", 800 + counts.size // 50)
        scores = np.empty((events.number, self._n_classes))
        by_values.multinomial_rows(*events, counts, sums, alpha, total, scores)
        return scores

    def _export_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        smoothed = counts + model.alpha
        totals = smoothed.sum(axis=1)
        model.feature_log_prob_ = np.log(smoothed) - np.log(totals.reshape(-1, 1))


class BernoulliKernel(OwnCountsKernel):
    """BernoulliNB with one smoothing for all features; rows of zeros and ones after binarizing.

    Wide sparse rows need whole weights: absent features count too, and are grouped by their
    counts, of which few are different.
    """

    _min_sparse_columns = _WIDE
    # Its tables grow with the square of a piece.
    _values_per_piece = 1 << 14

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Add what scikit-learn asks of `binarize`; with an array alpha it fails.

        With a tiny alpha it rounds the probability of an often seen feature to 1.
        """
        threshold = estimator.binarize
        if not isinstance(estimator.alpha, Real) or float(estimator.alpha) < 1e-6:
            return value_of(estimator, "alpha")
        if threshold is not None and not (
            isinstance(threshold, Real) and 0 <= float(threshold) < np.inf
        ):
            return value_of(estimator, "binarize")
        return super().refusal(estimator, task)

    def _prepare(self, X: Any) -> Any:
        threshold = self.estimator.binarize
        values = X.data if sparse.issparse(X) else X
        if threshold is None:
            binary = values
            if not ((values == 0) | (values == 1)).all():
                raise Declined("BernoulliNB(binarize=None) has a kernel for zeros and ones only")
        else:
            binary = (values > threshold).astype(np.float64)
        if not sparse.issparse(X):
            return binary
        X = type(X)((binary, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        X.sum_duplicates()
        X.eliminate_zeros()
        if X.nnz and X.data.max() > 1:
            raise Declined("sparse rows that store a feature twice have no kernel")
        return X

    def _check(self, block: Block, learn: Any, is_sparse: bool, n_columns: int) -> None:
        super()._check(block, learn, is_sparse, n_columns)
        is_wide = is_sparse and n_columns >= _WIDE
        if is_wide and block.weight is not None and (block.weight != np.trunc(block.weight)).any():
            raise Declined(_FRACTIONAL)

    def _linear(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats]:
        alpha = self.estimator.alpha
        present = np.log(counts + alpha) - np.log(weights + alpha * 2)[:, None]
        with np.errstate(divide="ignore"):
            absent = np.log(1 - np.exp(present))
        return present - absent, absent.sum(axis=1)

    def _sums_of(self, counts: Floats) -> list[by_values.Histogram]:
        if (counts != np.trunc(counts)).any():
            raise Declined(_FRACTIONAL)
        return [np.unique(count, return_counts=True) for count in counts]

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: list[by_values.Histogram]
    ) -> Floats:
        return by_values.bernoulli_scores(events, counts, sums, weights, self.estimator.alpha)

    def _export_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        weights = model.class_count_ + model.alpha * 2
        smoothed = counts + model.alpha
        model.feature_log_prob_ = np.log(smoothed) - np.log(weights.reshape(-1, 1))


class ComplementKernel(FeatureCountsKernel):
    """ComplementNB; with `norm=True`, sparse rows of few columns only."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        # scikit-learn uses the prior only where there is nothing else.
        self._has_prior = self._n_classes == 1
        if estimator.norm:
            self._min_sparse_columns = _WIDE

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Add the type of `norm`."""
        if not isinstance(estimator.norm, bool | np.bool_):
            return value_of(estimator, "norm")
        return super().refusal(estimator, task)

    def _check(self, block: Block, learn: Any, is_sparse: bool, n_columns: int) -> None:
        super()._check(block, learn, is_sparse, n_columns)
        # With one feature the weights are NaN, and what counts is whether zeros are stored.
        if is_sparse and self.estimator.norm and not 1 < n_columns < _WIDE:
            raise Declined("ComplementNB(norm=True) has no kernel for wide sparse rows")

    def _piece_scores(
        self, piece: Piece, ask: Floats, states: list[tuple[Floats, Integers]], weights: Floats
    ) -> Floats:
        # The state of a class is what the others have learnt, so that every learn changes it.
        first, which = distinct(piece.stamp)
        at = piece.stamp[first]
        counts = [of_class[position[at]] for of_class, position in states]
        # In scikit-learn's order, so that it rounds alike where most counts are of one class.
        smoothed = sum(counts[1:], start=counts[0]) + self.estimator.alpha
        scores = np.empty((len(ask), self._n_classes))
        for k, own in enumerate(counts):
            factors = self._factors(smoothed - own)
            scores[:, k] = np.einsum("ij,ij->i", ask, np.take(factors, which, axis=0))
        return scores

    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, None]:
        smoothed = counts.sum(axis=1, keepdims=True) + self.estimator.alpha
        return self._factors(smoothed - counts), None

    def _factors_at_asks(
        self, piece: Piece, x: Floats, weights: Floats, counts: Floats
    ) -> Iterator[tuple[Floats, None]]:
        rows = learn_one_by_one(piece, x, counts)
        done, factors = -1, np.empty(0)
        for stamp in piece.stamp.tolist():
            if stamp > done:
                for _ in range(max(done, 0), stamp):
                    next(rows)
                done = stamp
                smoothed = counts.sum(axis=0) + self.estimator.alpha
                factors = self._factors(smoothed - counts)
            yield factors, None
        for _ in rows:  # learnt after the last ask
            pass

    def _factors(self, others: Floats) -> Floats:
        """Weights of the features from the smoothed counts of the other classes."""
        logs: Floats = np.log(others / others.sum(axis=-1, keepdims=True))
        if not self.estimator.norm:
            return -logs
        with np.errstate(invalid="ignore"):  # a single feature: 0 / 0
            logs /= logs.sum(axis=-1, keepdims=True)
        return logs

    def _sums_of(self, counts: Floats) -> Floats:
        totals: Floats = counts.sum(axis=1)
        return totals

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: Floats
    ) -> Floats:
        alpha, total = self._smoothing(counts.shape[1])
        return by_values.complement_scores(events, counts, sums, alpha, total)

    def _export_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        model.feature_all_ = counts.sum(axis=0)
        others = model.feature_all_ + model.alpha - counts
        model.feature_log_prob_ = self._factors(others)


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
        return by_values.categorical_scores(events, counts, weights, self.estimator.alpha, numbers)

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
