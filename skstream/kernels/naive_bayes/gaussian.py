"""Kernels for GaussianNB and IncrementalGaussianNB, by a loop over rows and features.

The loop keeps weight, mean and variance of several groups of rows: one per class, and for a model
with a floor that follows all rows, one of all rows.

GaussianNB keeps the precision of its rows. In float32 no two ways of adding agree, so scores are
the sums of scikit-learn itself: NumPy adds the numbers of a row in the same order in whatever
company the row comes.
"""

import math
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block, part_of
from skstream.core.engine.kernel import Declined
from skstream.kernels.cuts import Floats, distinct, parts, rows_per_part
from skstream.kernels.input import (
    EXACT_OR_SINGLE,
    OTHER_PRECISION,
    Columns,
    decline_uncompiled,
    read_block,
    value_of,
)
from skstream.kernels.memory import State
from skstream.kernels.naive_bayes.counts import (
    NaiveBayesKernel,
    class_sums,
    is_proper_prior,
    tied,
)
from skstream.naive_bayes import normalised
from skstream.utils._numba import jit
from skstream.utils._sklearn import log_sum_exp

_LOG_2_PI = math.log(2.0 * math.pi)
# Outside of these, squares over- or underflow, or scikit-learn takes a weight for 0.
_MIN_VALUE, _MAX_VALUE = 1e-40, 1e50
_MIN_WEIGHT, _MAX_WEIGHT = 1e-6, 1e6
# Without numba a mean of a class takes a microsecond at every row: so many are twice as fast as
# the estimator's own loop.
UNCOMPILED_MEANS = 200


class _Moments(NamedTuple):
    """Weight, mean and variance of groups of rows: of each class, perhaps of all rows.

    Attributes
    ----------
    weights : ndarray of shape (n_groups,)
    means, variances : ndarray of shape (n_groups, n_features)
    """

    weights: NDArray[Any]
    means: NDArray[Any]
    variances: NDArray[Any]

    def copy(self) -> "_Moments":
        """Return a copy, to be brought forward."""
        return _Moments(*(np.array(of, order="C") for of in self))


@jit
def _run_rows(  # type: ignore[no-untyped-def]
    learn, y, weight, ask, stamp, weights, means, variances, smoothing, scores
):
    """Execute learns and asks in order; `scores` receives the log likelihoods."""
    n_classes = scores.shape[1]
    n_features = means.shape[1]
    floored = len(weights) > n_classes
    factors = np.empty((n_classes, n_features))
    constants = np.empty(n_classes)
    terms = np.empty(n_features)
    floor = 0.0
    if floored:
        floor = smoothing * _largest(variances, n_classes)
    else:
        for k in range(n_classes):
            constants[k] = _prepare_class(variances, factors, k)
    done = 0
    for i in range(len(ask) + 1):
        until = stamp[i] if i < len(ask) else len(learn)
        for t in range(done, until):
            k = y[t]
            _learn_row(learn, t, weight[t], weights, means, variances, k)
            if floored:
                _learn_row(learn, t, weight[t], weights, means, variances, n_classes)
                floor = smoothing * _largest(variances, n_classes)
            else:
                constants[k] = _prepare_class(variances, factors, k)
        done = until
        if i == len(ask):
            break
        for k in range(n_classes):
            if not floored:
                total = 0.0
                for j in range(n_features):
                    deviation = ask[i, j] - means[k, j]
                    total += deviation * deviation * factors[k, j]
                scores[i, k] = -0.5 * (constants[k] + total)
            elif floor == 0.0 and smoothing > 0.0:
                scores[i, k] = 0.0
            else:
                # Apart from the sums, so that several divisions are made at a time.
                for j in range(n_features):
                    deviation = ask[i, j] - means[k, j]
                    terms[j] = deviation * deviation / (variances[k, j] + floor)
                total = n_features * _LOG_2_PI
                product = 1.0
                for j in range(n_features):
                    total += terms[j]
                    product *= variances[k, j] + floor
                    if not 1e-200 < product < 1e200:
                        total += np.log(product)
                        product = 1.0
                scores[i, k] = -0.5 * (total + np.log(product))


@jit
def _largest(variances, k):  # type: ignore[no-untyped-def]
    largest = variances[k, 0]
    for j in range(1, variances.shape[1]):
        largest = max(largest, variances[k, j])
    return largest


@jit
def _prepare_class(variances, factors, k):  # type: ignore[no-untyped-def]
    """Inverse variances of a class into `factors`; the constant of its log likelihood."""
    constant = variances.shape[1] * _LOG_2_PI
    # One logarithm of a product instead of many: the product stays in range.
    product = 1.0
    for j in range(variances.shape[1]):
        factors[k, j] = 1.0 / variances[k, j]
        product *= variances[k, j]
        if not 1e-200 < product < 1e200:
            constant += np.log(product)
            product = 1.0
    return constant + np.log(product)


@jit
def _learn_row(x, t, w, weights, means, variances, k):  # type: ignore[no-untyped-def]
    """Combine a group's mean and variance with a row, in scikit-learn's order of operations."""
    n = weights[k]
    total = n + w
    nothing = x.dtype.type(0.0)
    for j in range(x.shape[1]):
        row = x[t, j]
        row_var = nothing
        if w != 1.0:
            # A weighted mean of one row: not always the row itself.
            row = row * w / w
            row_var = (x[t, j] - row) * (x[t, j] - row) * w / w
        if n == 0.0:
            means[k, j] = row + 0.0  # NumPy's mean of -0.0 is 0.0
            variances[k, j] = row_var
        else:
            deviation = means[k, j] - row
            squares = n * variances[k, j] + w * row_var
            squares = squares + (w * n / total) * (deviation * deviation)
            means[k, j] = (w * row + n * means[k, j]) / total
            variances[k, j] = squares / total
    weights[k] = total


@jit
def _learn_class(x, weight, weights, means, variances, k, past):  # type: ignore[no-untyped-def]
    """Learn rows of one class; ``past[:, t]`` receives mean and variance before row ``t``."""
    for t in range(len(x)):
        past[0, t] = means[k]
        past[1, t] = variances[k]
        _learn_row(x, t, weight[t], weights, means, variances, k)
    past[0, len(x)] = means[k]
    past[1, len(x)] = variances[k]


def _log_likelihoods(
    moments: _Moments,
    n_classes: int,
    block: Block,
    learn: NDArray[Any],
    ask: NDArray[Any],
    smoothing: float,
) -> NDArray[Any]:
    """Scores of shape (n_asks, n_classes), learning in order; `moments` is brought forward."""
    dtype = moments.means.dtype
    weight = np.ones(block.n_learns) if block.weight is None else block.weight
    scores = np.empty((block.n_asks, n_classes), dtype)
    if dtype == np.float64:
        _run_rows(learn, block.y, weight, ask, block.stamp, *moments, smoothing, scores)
        return scores
    weight = weight.astype(dtype)
    for part in parts(block, rows_per_part(learn.shape[1])):
        asked = ask[part.asks]
        for k in range(n_classes):
            mine = part.y == k
            x = learn[part.learns][mine]
            past = np.empty((2, len(x) + 1, x.shape[1]), dtype)
            _learn_class(x, weight[part.learns][mine], *moments, k, past)
            state = np.concatenate([[0], np.cumsum(mine)])[part.stamp]
            first, which = distinct(state)
            with np.errstate(all="ignore"):
                constants = -0.5 * np.sum(np.log(2.0 * np.pi * past[1, state[first]]), axis=1)
                squares = (asked - past[0].take(state, axis=0)) ** 2
                squares /= past[1].take(state, axis=0)
                scores[part.asks, k] = constants[which] - 0.5 * np.sum(squares, axis=1)
    return scores


class GaussianKernel(NaiveBayesKernel):
    """GaussianNB, taught row by row: then its floor is 0, and constant features give NaN.

    Means and variances are scikit-learn's own recurrence, bit for bit; in float32 answers are to
    the last bit, too.
    """

    # What is learnt has the precision of the rows.
    _keeps_single: ClassVar[bool] = True
    # Groups of rows besides the classes.
    _n_others: ClassVar[int] = 0

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse parameters that ``partial_fit`` does not take, and a state not in float64."""
        refused = super().refusal(estimator, task)
        if refused is not None:
            return refused
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        assert task.classes is not None
        smoothing, priors = estimator.var_smoothing, estimator.priors
        if not np.isfinite(smoothing):
            return value_of(estimator, "var_smoothing")
        if priors is not None and not (
            is_proper_prior(priors, len(task.classes)) and np.isclose(np.sum(priors), 1.0)
        ):
            return value_of(estimator, "priors")
        known = not hasattr(estimator, "classes_") or (
            np.array_equal(estimator.classes_, task.classes) and cls._is_usual(estimator)
        )
        return None if known else "a fitted state of another kind than partial_fit leaves here"

    @classmethod
    def _is_usual(cls, estimator: Any) -> bool:
        """Whether the state of a fitted estimator is in one precision."""
        moments = estimator.class_count_, estimator.theta_, estimator.var_
        precisions = {array.dtype for array in moments}
        return precisions in ({np.dtype(np.float64)}, {np.dtype(np.float32)})

    def _read(self) -> _Moments:
        model = self.estimator
        return _Moments(model.class_count_, model.theta_, model.var_).copy()

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, self._n_classes)))
        before: _Moments | None = state.memory
        if before is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("predicting before any training has no kernel")
        learn, ask, columns = read_block(
            block, state.columns, dtypes=EXACT_OR_SINGLE, keep_single=self._keeps_single
        )
        if before is None:
            assert columns.number is not None
            nothing = np.zeros((self._n_classes + self._n_others, columns.number), learn.dtype)
            before = _Moments(np.zeros(len(nothing), learn.dtype), nothing, nothing)
        dtype = before.means.dtype
        if any(X.dtype != dtype for X in (learn, ask) if len(X)):
            raise Declined(OTHER_PRECISION)
        if dtype == np.float64 and _is_extreme(learn):
            raise Declined("values beyond 1e50 or within 1e-40 of 0 have no kernel")
        if block.weight is not None and _is_extreme_weight(block.weight):
            raise Declined("weights above 1e6 or below 1e-6 have no kernel")
        n_means = before.means.shape[1] * self._n_classes
        decline_uncompiled(n_means, "class means", UNCOMPILED_MEANS)
        moments = before.copy()
        scores = self._learn(moments, block, learn, ask)
        weights = class_sums(before.weights[: self._n_classes], block.y, block.weight)
        scores += self._log_priors(weights[block.stamp])
        answers = self._answers(scores)
        # If all rows are equal, only the shares of the classes are compared: these are exact.
        if dtype == np.float64 and moments.variances.any():
            self._settle(answers, tied(scores), block, learn, ask, before)
        return state.after(block, columns, moments), answers

    def _learn(
        self, moments: _Moments, block: Block, learn: NDArray[Any], ask: NDArray[Any]
    ) -> NDArray[Any]:
        smoothing = float(self.estimator.var_smoothing)
        return _log_likelihoods(moments, self._n_classes, block, learn, ask, smoothing)

    def _settle(
        self,
        answers: NDArray[Any],
        near: NDArray[np.intp],
        block: Block,
        learn: Floats,
        ask: Floats,
        before: _Moments,
    ) -> None:
        """Let scikit-learn itself give the answers of near ties, by what was learnt until then.

        Ensembles replace members by their answers: another order of a sum must not decide there.
        """
        if not len(near):
            return
        kernel, moments, done = type(self)(clone(self.estimator), self.task), before.copy(), 0
        for at in near.tolist():
            until = int(block.stamp[at])
            learnt = part_of(block, slice(done, until), slice(at, at))
            self._learn(moments, learnt, learn[done:until], ask[:0])
            done = until
            kernel.export(State(Columns(ask.shape[1]), moments, has_learnt=True))
            answers[at] = answers_to(
                self.task, partial(_answer_of, kernel.estimator, ask[at : at + 1])
            )[0]

    def _probabilities(self, scores: NDArray[Any]) -> Floats:
        if scores.dtype == np.float64:
            return super()._probabilities(scores)
        with np.errstate(all="ignore"):
            return np.exp(scores - log_sum_exp(scores)[:, np.newaxis]).astype(np.float64)

    def _log_priors(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Log probabilities of the classes, from their weights at each ask."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self._class_priors(weights))

    def _class_priors(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Probabilities of the classes, from their weights in the last axis."""
        if self.estimator.priors is not None:
            return np.array(self.estimator.priors, np.float64).astype(weights.dtype)
        return weights / weights.sum(axis=-1, keepdims=True)

    def _write(self, memory: _Moments) -> None:
        model = self.estimator
        model.class_count_ = memory.weights[: self._n_classes].copy()
        model.class_prior_ = self._class_priors(model.class_count_)
        self._write_moments(memory)

    def _write_moments(self, moments: _Moments) -> None:
        model = self.estimator
        model.theta_, model.var_ = moments.means.copy(), moments.variances.copy()
        # The variance of the newest row, which is all that scikit-learn looks at.
        model.epsilon_ = model.var_smoothing * moments.variances.dtype.type(0.0)


class IncrementalGaussianKernel(GaussianKernel):
    """IncrementalGaussianNB, taught row by row; the last group of rows is all of them."""

    _keeps_single = False
    _n_others = 1

    @classmethod
    def _is_usual(cls, estimator: Any) -> bool:
        return True

    def _read(self) -> _Moments:
        model = self.estimator
        return _Moments(
            np.append(model.class_count_, model.total_count_),
            np.vstack([model.theta_, model.total_mean_]),
            np.vstack([model.raw_var_, model.total_var_]),
        )

    def _probabilities(self, scores: NDArray[Any]) -> Floats:
        return normalised(scores)

    def _log_priors(self, weights: NDArray[Any]) -> NDArray[Any]:
        # A class of which nothing has been learnt is never the answer.
        return np.where(weights > 0, super()._log_priors(weights), -np.inf)

    def _write_moments(self, moments: _Moments) -> None:
        model, means, variances = self.estimator, moments.means, moments.variances
        model.total_count_ = float(moments.weights[-1])
        model.theta_, model.total_mean_ = means[:-1].copy(), means[-1].copy()
        model.raw_var_, model.total_var_ = variances[:-1].copy(), variances[-1].copy()
        model.epsilon_ = model.var_smoothing * model.total_var_.max()
        model.var_ = model.raw_var_ + model.epsilon_


def _answer_of(model: Any, row: Floats, task: Task) -> NDArray[Any]:
    """One kind of answer of the model itself, to a row."""
    if task.method == "predict":
        return model.predict_joint_log_proba(row).argmax(axis=1)
    return model.predict_proba(row)


def _is_extreme(x: Floats) -> bool:
    sizes = np.abs(x)
    if not sizes.size or (sizes.max() <= _MAX_VALUE and sizes.min() >= _MIN_VALUE):
        return False
    return bool((sizes > _MAX_VALUE).any() or ((sizes < _MIN_VALUE) & (x != 0)).any())


def _is_extreme_weight(weight: Floats) -> bool:
    return bool(((weight < _MIN_WEIGHT) | (weight > _MAX_WEIGHT)).any())
