"""Kernels for MultinomialNB, BernoulliNB, ComplementNB and CategoricalNB.

On sparse rows the work follows the stored values, not the columns. Terms are formed and added as
scikit-learn forms and adds those of a row, so that classes tie where they tie for ``predict``, if
the sums of the counts are exact: those of whole numbers are.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.cuts import Events, Floats, Integers, Part, distinct
from skstream.kernels.input import decline_uncompiled, value_of
from skstream.kernels.naive_bayes.counts import CountsKernel, FeatureCountsKernel, class_sums
from skstream.pipeline._values_by_version import VersionedArray
from skstream.preprocessing._target_encoder import Groups
from skstream.utils._numba import jit
from skstream.utils._validation import is_fitted

# Sparse rows of fewer columns are made dense where that is simpler.
_WIDE = 512

Histogram = tuple[Floats, Floats]

_FRACTIONAL = "BernoulliNB has no kernel for fractional weights of sparse rows"


class MultinomialKernel(FeatureCountsKernel):
    """MultinomialNB: any dense or CSR rows; batches, too, since their counts add up."""

    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats]:
        counts += self.estimator.alpha
        totals = np.log(counts.sum(axis=2, keepdims=True))
        np.log(counts, out=counts)
        counts -= totals
        return counts, np.zeros(weights.shape)

    def _laid_out(self, counts: VersionedArray) -> VersionedArray:
        """Counts and their smoothed logarithms side by side: see `_fill_table`."""
        array = counts.read()
        if array.ndim == 3:
            return counts
        table = np.empty((*array.shape, 2))
        _fill_table(array, self._smoothing(len(table))[0], table)
        return VersionedArray(table)

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: Floats
    ) -> Floats:
        alpha, total = self._smoothing(len(counts))
        # Without numba half a microsecond each; the model's own loop looks at all columns.
        n_values = len(events.values) // events.number * self._n_classes
        decline_uncompiled(n_values, "values of classes in a row", 800 + counts.size // 50)
        scores = np.empty((events.number, self._n_classes))
        _multinomial_rows(*events, counts, sums, alpha, total, scores)
        return scores

    def _write_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        smoothed = counts + model.alpha
        totals = smoothed.sum(axis=1)
        model.feature_log_prob_ = np.log(smoothed) - np.log(totals.reshape(-1, 1))


class BernoulliKernel(FeatureCountsKernel):
    """BernoulliNB with one smoothing for all features; rows of zeros and ones after binarizing.

    Wide sparse rows need whole weights: absent features count too, and are grouped by their
    counts, of which few are different.
    """

    _min_sparse_columns = _WIDE
    # Its tables grow with the square of a part.
    _values_per_part = 1 << 14

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Add that `alpha` is one number, and not tiny.

        With a tiny one scikit-learn rounds the probability of an often seen feature to 1.
        """
        if not isinstance(estimator.alpha, Real) or float(estimator.alpha) < 1e-6:
            return value_of(estimator, "alpha")
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

    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats]:
        present, absent = _bernoulli_logs(counts, weights[..., np.newaxis], self.estimator.alpha)
        return present - absent, absent.sum(axis=2)

    def _sums_of(self, counts: Floats) -> list[Histogram]:
        if (counts != np.trunc(counts)).any():
            raise Declined(_FRACTIONAL)
        return [np.unique(count, return_counts=True) for count in counts]

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: list[Histogram]
    ) -> Floats:
        # What is absent counts, too, but only how many features have which count.
        alpha, rows = self.estimator.alpha, events.rows_of_values()
        scores = np.empty((events.number, self._n_classes))
        for k, before in enumerate(_counts_before(events, rows, counts)):
            present, absent = _bernoulli_logs(before, weights[rows, k], alpha)
            of_values = _sums_at(rows, present - absent, events.number)
            learns = np.flatnonzero(events.y == k)
            position = np.searchsorted(learns, np.arange(events.number))
            of_class = weights[np.append(learns, events.number), k]
            mine = events.y[rows] == k
            values, numbers = _histograms_over_time(
                sums[k],
                before[mine],
                events.weight[rows[mine]],
                position[rows[mine]],
                len(learns),
            )
            scores[:, k] = of_values + _absent_sums(values, numbers, of_class, alpha)[position]
            left = np.flatnonzero(numbers[-1])
            sums[k] = values[left], numbers[-1, left]
        return scores

    def _write_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        weights = model.class_count_ + model.alpha * 2
        smoothed = counts + model.alpha
        model.feature_log_prob_ = np.log(smoothed) - np.log(weights.reshape(-1, 1))


class ComplementKernel(FeatureCountsKernel):
    """ComplementNB; with `norm=True`, sparse rows of few columns only."""

    _counts_own = False

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        # scikit-learn uses the prior only where there is nothing else.
        self._has_prior = self._n_classes == 1
        if estimator.norm:
            self._min_sparse_columns = _WIDE

    def _check(self, block: Block, learn: Any, is_sparse: bool, n_columns: int) -> None:
        super()._check(block, learn, is_sparse, n_columns)
        # With one feature the weights are NaN, and what counts is whether zeros are stored.
        if is_sparse and self.estimator.norm and not 1 < n_columns < _WIDE:
            raise Declined("ComplementNB(norm=True) has no kernel for wide sparse rows")

    def _part_scores(
        self, part: Part, ask: Floats, states: list[tuple[Floats, Integers]], weights: Floats
    ) -> Floats:
        # The state of a class is what the others have learnt, so that every learn changes it.
        first, which = distinct(part.stamp)
        at = part.stamp[first]
        counts = [of_class[position[at]] for of_class, position in states]
        # In scikit-learn's order, so that it rounds alike where most counts are of one class.
        smoothed = sum(counts[1:], start=counts[0]) + self.estimator.alpha
        scores = np.empty((len(ask), self._n_classes))
        for k, own in enumerate(counts):
            factors = self._factors(smoothed - own)
            scores[:, k] = np.einsum("ij,ij->i", ask, np.take(factors, which, axis=0))
        return scores

    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats]:
        smoothed = counts.sum(axis=1, keepdims=True) + self.estimator.alpha
        return self._factors(smoothed - counts), np.zeros(weights.shape)

    def _factors(self, others: Floats) -> Floats:
        """Weights of the features from the smoothed counts of the other classes."""
        logs: Floats = np.log(others / others.sum(axis=-1, keepdims=True))
        if not self.estimator.norm:
            return -logs
        with np.errstate(invalid="ignore"):  # a single feature: 0 / 0
            logs /= logs.sum(axis=-1, keepdims=True)
        return logs

    def _event_scores(
        self, events: Events, weights: Floats, counts: Floats, sums: Floats
    ) -> Floats:
        alpha, alpha_total = self._smoothing(len(counts))
        rows = events.rows_of_values()
        row_totals = _sums_at(rows, events.values, events.number)
        states = class_sums(sums, events.y, row_totals * events.weight)
        sums[:] = states[-1]
        of_class = list(_counts_before(events, rows, counts))
        # Added class by class and then reduced, as scikit-learn does, to round as it does.
        smoothed = sum(of_class[1:], start=of_class[0]) + (
            alpha[events.at] if len(alpha) > 1 else alpha
        )
        others = states[:-1].sum(axis=1, keepdims=True) + alpha_total - states[:-1]
        scores = np.empty((events.number, self._n_classes))
        for k, before in enumerate(of_class):
            logs = smoothed - before
            logs /= others[:, k][rows]
            np.log(logs, out=logs)
            scores[:, k] = _sums_at(rows, logs * events.values, events.number)
        return np.negative(scores, out=scores)

    def _write_counts(self, counts: Floats) -> None:
        model = self.estimator
        model.feature_count_ = counts
        model.feature_all_ = counts.sum(axis=0)
        others = model.feature_all_ + model.alpha - counts
        model.feature_log_prob_ = self._factors(others)


class CategoricalKernel(CountsKernel):
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
        alpha, rows = self.estimator.alpha, events.rows_of_values()
        # A row has one stored value per feature.
        n_categories = self._n_categories(int(events.bounds[1] - events.bounds[0]))
        numbers, of_feature = np.unique(n_categories, return_inverse=True)
        scores = np.empty((events.number, self._n_classes))
        for k, before in enumerate(_counts_before(events, rows, counts)):
            before += alpha
            logs = np.log(before, out=before).reshape(events.number, -1)
            log_totals = np.log(weights[:-1, k, np.newaxis] + alpha * numbers)
            logs -= log_totals if len(numbers) == 1 else log_totals[:, of_feature]
            scores[:, k] = _sums_at(rows, logs.ravel(), events.number)
        return scores

    def _write_counts(self, counts: Floats) -> None:
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


def _counts_before(events: Events, rows: Integers, counts: Floats) -> Iterator[Floats]:
    """Count of each stored value's column before its event, class by class.

    Parameters
    ----------
    events : Events
    rows : ndarray of shape (n_values,)
        Event of each stored value.
    counts : ndarray of shape (n_columns, n_classes)
        Brought forward over the learns of `events`.

    Yields
    ------
    before : ndarray of shape (n_values,)
    """
    groups = Groups(events.at)
    y = events.y[rows]
    weighted = events.values * events.weight[rows]
    for k in range(counts.shape[1]):
        steps = np.where(y == k, weighted, 0.0)
        before, after = groups.running(counts[groups.columns, k], steps)
        counts[groups.columns, k] = after
        yield before


def _bernoulli_logs(counts: Floats, weights: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Log probabilities that features are present and absent, rounded as in scikit-learn."""
    present = np.log(counts + alpha) - np.log(weights + alpha * 2)
    with np.errstate(divide="ignore"):
        return present, np.log(1 - np.exp(present))


def _histograms_over_time(
    start: Histogram, before: Floats, steps: Floats, position: Integers, n_learns: int
) -> tuple[Floats, Floats]:
    """How many features have each count after 0, 1, ... learns of a class.

    Parameters
    ----------
    start : (values, numbers)
    before, steps, position : ndarray of shape (n_steps,)
        Count of a feature before a step, what is added, and after how many learns.
    n_learns : int

    Returns
    -------
    values : ndarray of shape (n_values,)
        The distinct counts, ascending.
    numbers : ndarray of shape (n_learns + 1, n_values)
    """
    after = before + steps
    known, how_many = start
    values = np.unique(np.concatenate([known, before, after]))
    n_values = len(values)
    changes = np.concatenate(
        [
            np.searchsorted(values, known),
            (position + 1) * n_values + np.searchsorted(values, before),
            (position + 1) * n_values + np.searchsorted(values, after),
        ]
    )
    by = np.concatenate([how_many, np.full(len(before), -1.0), np.ones(len(before))])
    numbers = _sums_at(changes, by, (n_learns + 1) * n_values)
    numbers = numbers.reshape(n_learns + 1, n_values)
    return values, np.cumsum(numbers, axis=0, out=numbers)


def _absent_sums(values: Floats, numbers: Floats, weights: Floats, alpha: float) -> Floats:
    """Sum over all features of the log probability that it is absent, after each learn."""
    states, which = np.nonzero(numbers)
    _, absent = _bernoulli_logs(values[which], weights[states], alpha)
    # In ascending order of the counts, whatever else is in the table.
    return _sums_at(states, absent * numbers[states, which], len(numbers))


def _sums_at(positions: Integers, values: Floats, number: int) -> Floats:
    """Sum the values at each position, one after the other: the same in any cutting."""
    return np.bincount(positions, weights=values, minlength=number).astype(np.float64, copy=False)


@jit
def _fill_table(counts, alpha, table):  # type: ignore[no-untyped-def]
    """Counts, and logarithms of the smoothed counts, of shape (n_columns, n_classes, 2)."""
    for j in range(len(counts)):
        smoothing = alpha[j] if len(alpha) > 1 else alpha[0]
        for k in range(counts.shape[1]):
            table[j, k, 0] = counts[j, k]
            table[j, k, 1] = np.log(counts[j, k] + smoothing)


@jit
def _multinomial_rows(  # type: ignore[no-untyped-def]
    values, at, bounds, y, weight, learnt, asked, table, totals, alpha, alpha_total, scores
):
    """Log likelihoods under MultinomialNB at every asked event, learning as it goes.

    What `table` holds of one feature lies side by side: a feature costs one look into memory.
    """
    for i in range(len(y)):
        first, last = bounds[i], bounds[i + 1]
        if asked[i]:
            for k in range(len(totals)):
                log_total = np.log(totals[k] + alpha_total)
                score = 0.0
                for q in range(first, last):
                    score += values[q] * (table[at[q], k, 1] - log_total)
                scores[i, k] = score
        if learnt[i]:
            k = y[i]
            total = 0.0
            for q in range(first, last):
                j = at[q]
                step = values[q] * weight[i]
                count = table[j, k, 0] + step
                table[j, k, 0] = count
                table[j, k, 1] = np.log(count + (alpha[j] if len(alpha) > 1 else alpha[0]))
                total += step
            totals[k] += total
