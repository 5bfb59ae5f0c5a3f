"""Kernels for MultinomialNB, BernoulliNB and ComplementNB."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, value_of
from skstream.engine.kernels.cuts import Floats, Integers, Piece, distinct
from skstream.engine.kernels.naive_bayes.counts import (
    FeatureCountsKernel,
    OwnCountsKernel,
    learn_one_by_one,
)
from skstream.engine.kernels.naive_bayes.sparse import (
    Histogram,
    bernoulli_scores,
    complement_scores,
    fill_table,
    multinomial_rows,
    multinomial_scores,
)
from skstream.engine.kernels.sparse_events import Events
from skstream.utils._numba import numba_enabled
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
        """With numba, counts and their smoothed logarithms side by side: see `fill_table`."""
        array = counts.read()
        if numba_enabled() == (array.ndim == 3):
            return counts
        if array.ndim == 3:
            return VersionedArray(np.array(self._counts_in(array), order="C"))
        table = np.empty((*array.T.shape, 2))
        fill_table(array, self._smoothing(len(table))[0], table)
        return VersionedArray(table)

    def _counts_in(self, array: Floats) -> Floats:
        return array if array.ndim == 2 else array[:, :, 0].T

    def _columns_at(self, at: Any) -> Any:
        return at if numba_enabled() else super()._columns_at(at)

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: Floats
    ) -> Floats:
        alpha, total = self._smoothing(self._counts_in(counts).shape[1])
        if counts.ndim == 2:
            return multinomial_scores(events, counts, sums, alpha, total)
        scores = np.empty((events.number, self._n_classes))
        multinomial_rows(*events, counts, sums, alpha, total, scores)
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

    def _sums_of(self, counts: Floats) -> list[Histogram]:
        if (counts != np.trunc(counts)).any():
            raise Declined(_FRACTIONAL)
        return [np.unique(count, return_counts=True) for count in counts]

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: list[Histogram]
    ) -> Floats:
        return bernoulli_scores(events, counts, sums, weights, self.estimator.alpha)

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
        return complement_scores(events, counts, sums, alpha, total)

    def _export_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        model.feature_all_ = counts.sum(axis=0)
        others = model.feature_all_ + model.alpha - counts
        model.feature_log_prob_ = self._factors(others)
