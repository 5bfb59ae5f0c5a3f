"""Kernels for GaussianNB and IncrementalGaussianNB, by a loop over rows and features.

The loop keeps weight, mean and variance of several groups of rows: one per class, and for a model
with a floor that follows all rows, one of all rows.

GaussianNB keeps the precision of its rows. In float32 no two ways of adding agree, so states are
brought forward row by row, and scores are the sums of scikit-learn itself: NumPy adds the numbers
of a row in the same order in whatever company the row comes.
"""

import math
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import unique_labels

from skstream.engine.answers import answers_to
from skstream.engine.block import Block, part_of
from skstream.engine.kernels.base import (
    OTHER_PRECISION,
    Declined,
    Kernel,
    Task,
    decline_uncompiled,
    value_of,
)
from skstream.engine.kernels.cuts import Floats, Integers, distinct, pieces, rows_per_piece
from skstream.engine.kernels.input import EXACT_OR_SINGLE, read_block
from skstream.engine.kernels.naive_bayes import scores as scoring
from skstream.engine.kernels.schema import Columns
from skstream.naive_bayes import normalised
from skstream.utils._numba import jit
from skstream.utils._running_sums import running_sums
from skstream.utils._sklearn import log_sum_exp
from skstream.utils._validation import is_fitted

Singles = NDArray[np.float32]

_LOG_2_PI = math.log(2.0 * math.pi)


class MomentGroups:
    """The state as arrays.

    Parameters
    ----------
    n_classes : int
    weights : ndarray of shape (n_groups,)
    means, variances : ndarray of shape (n_groups, n_features)
    """

    def __init__(self, n_classes: int, weights: Floats, means: Floats, variances: Floats):
        self._n_classes = n_classes
        self.weights = weights.copy()
        self.means = np.array(means, order="C")
        self.variances = np.array(variances, order="C")

    def copy(self) -> Self:
        """Return a copy, to be brought forward."""
        return type(self)(self._n_classes, self.weights, self.means, self.variances)

    def log_likelihoods(
        self, block: Block, learn: NDArray[Any], ask: NDArray[Any], smoothing: float
    ) -> NDArray[Any]:
        """Learn and ask in order; of shape (n_asks, n_classes)."""
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        scores = np.empty((block.n_asks, self._n_classes))
        state = self.weights, self.means, self.variances
        _run_rows(learn, block.y, weight, ask, block.stamp, *state, smoothing, scores)
        return scores


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
    for j in range(x.shape[1]):
        row = x[t, j]
        row_var = 0.0
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


class SingleGroups(MomentGroups):
    """Weight, mean and variance of each class, in float32."""

    def log_likelihoods(
        self, block: Block, learn: NDArray[Any], ask: NDArray[Any], smoothing: float
    ) -> NDArray[Any]:
        """Learn and ask in order; of shape (n_asks, n_classes)."""
        scores = np.empty((block.n_asks, len(self.weights)), np.float32)
        for piece in pieces(block, rows_per_piece(learn.shape[1])):
            for k in range(len(self.weights)):
                mine = piece.y == k
                weight = None if piece.weight is None else piece.weight[mine]
                means, variances = self._learn_class(k, learn[piece.learns][mine], weight)
                state = np.concatenate([[0], np.cumsum(mine)])[piece.stamp]
                scores[piece.asks, k] = _single_scores(ask[piece.asks], means, variances, state)
        return scores

    def _learn_class(
        self, k: int, x: Singles, weight: NDArray[Any] | None
    ) -> tuple[Singles, Singles]:
        """Means and variances of a class before its first row, and after each."""
        w = np.ones(len(x), np.float32) if weight is None else weight.astype(np.float32)
        counts = np.add.accumulate(np.append(self.weights[k], w))
        column = w[:, np.newaxis]
        means, variances = np.empty((2, len(x) + 1, x.shape[1]), np.float32)
        means[0], variances[0] = self.means[k], self.variances[k]
        with np.errstate(all="ignore"):
            # The mean of one row is not always the row itself: of -0.0 it is 0.0.
            rows = x + 0.0 if weight is None else (x * column + 0.0) / column
            spread = (x - rows) ** 2 * column / column
            first = int(counts[0] == 0 and len(x) > 0)
            means[1 : 1 + first], variances[1 : 1 + first] = rows[:first], spread[:first]
            factors = w * counts[:-1] / counts[1:]
            steps = counts, factors, rows, column * rows, column * spread
            _learn_single_rows(first, *steps, means, variances)
        self.weights[k], self.means[k], self.variances[k] = counts[-1], means[-1], variances[-1]
        return means, variances


@jit
def _learn_single_rows(  # type: ignore[no-untyped-def]
    first, counts, factors, rows, sums, squares, means, variances
):
    """Combine mean and variance with one row after the other, from row `first` on."""
    for t in range(first, len(rows)):
        n, total = counts[t], counts[t + 1]
        deviation = means[t] - rows[t]
        within = n * variances[t] + squares[t]
        means[t + 1] = (sums[t] + n * means[t]) / total
        variances[t + 1] = (within + factors[t] * (deviation * deviation)) / total


def _single_scores(ask: Singles, means: Singles, variances: Singles, state: Integers) -> Singles:
    """Log likelihoods of a class, which is in one of several states when a row is asked about."""
    first, which = distinct(state)
    with np.errstate(all="ignore"):
        constants = -0.5 * np.sum(np.log(2.0 * np.pi * variances[state[first]]), axis=1)
        squares = (ask - means.take(state, axis=0)) ** 2
        squares /= variances.take(state, axis=0)
        scores: Singles = constants[which] - 0.5 * np.sum(squares, axis=1)
    return scores


def _single_answers(scores: NDArray[Any], task: Task) -> NDArray[Any]:
    """Answers of one kind, from joint log likelihoods of shape (n_asks, n_classes)."""
    if task.method == "predict":
        codes: NDArray[Any] = scores.argmax(axis=1)
        return codes
    with np.errstate(all="ignore"):
        rounded: Singles = np.exp(scores - log_sum_exp(scores)[:, np.newaxis])
    return rounded.astype(np.float64)


# Outside of these, squares over- or underflow, or scikit-learn takes a weight for 0.
_MIN_VALUE, _MAX_VALUE = 1e-40, 1e50
_MIN_WEIGHT, _MAX_WEIGHT = 1e-6, 1e6
# Without numba a mean of a class takes a microsecond at every row: so many are twice as fast as
# the estimator's own loop.
UNCOMPILED_MEANS = 200


class _State(NamedTuple):
    """Columns, weights of the classes, and moments; no step changes those of a state."""

    columns: Columns
    class_count: Floats
    groups: MomentGroups | None = None
    has_learnt: bool = False


class GaussianKernel(Kernel):
    """GaussianNB, taught row by row: then its floor is 0, and constant features give NaN.

    Means and variances are scikit-learn's own recurrence, bit for bit; in float32 answers are to
    the last bit, too.
    """

    bitwise = False
    shareable = True
    gives_scores = True
    # What is learnt has the precision of the rows.
    _keeps_single: ClassVar[bool] = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        assert task.classes is not None
        self._n_classes = len(task.classes)
        self._priors: Floats | None = None
        if estimator.priors is not None:
            self._priors = np.array(estimator.priors, dtype=np.float64)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse parameters that ``partial_fit`` does not take, and a state not in float64."""
        refused = scoring.refused_answers(task)
        if refused is not None:
            return refused
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        assert task.classes is not None
        smoothing, priors = estimator.var_smoothing, estimator.priors
        if not isinstance(smoothing, Real) or not 0 <= float(smoothing) < np.inf:
            return value_of(estimator, "var_smoothing")
        if priors is not None and not (
            scoring.is_proper_prior(priors, len(task.classes)) and np.isclose(np.sum(priors), 1.0)
        ):
            return value_of(estimator, "priors")
        known = not hasattr(estimator, "classes_") or cls._takes_up(estimator, task.classes)
        return None if known else "a fitted state of another kind than partial_fit leaves here"

    @classmethod
    def _takes_up(cls, estimator: Any, classes: NDArray[Any]) -> bool:
        """Whether the state of a fitted estimator is of the usual kind."""
        moments = estimator.class_count_, estimator.theta_, estimator.var_
        precisions = {array.dtype for array in moments}
        return np.array_equal(estimator.classes_, classes) and precisions in (
            {np.dtype(np.float64)},
            {np.dtype(np.float32)},
        )

    def initial_state(self) -> _State:
        """Return what the estimator has learnt."""
        model = self.estimator
        if not is_fitted(model):
            return _State(Columns.of(model), np.zeros(self._n_classes))
        groups = self._new_groups(*self._known_moments())
        return _State(Columns.of(model), np.array(model.class_count_), groups)

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, self._n_classes)))
        if state.groups is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("asking before anything is learnt has no kernel")
        learn, ask, columns = read_block(
            block, state.columns, dtypes=EXACT_OR_SINGLE, keep_single=self._keeps_single
        )
        count = state.class_count if state.groups else np.zeros(self._n_classes, learn.dtype)
        if any(X.dtype != count.dtype for X in (learn, ask) if len(X)):
            raise Declined(OTHER_PRECISION)
        if count.dtype == np.float64 and _is_extreme(learn):
            raise Declined("values beyond 1e50 or within 1e-40 of 0 have no kernel")
        if block.weight is not None and _is_extreme_weight(block.weight):
            raise Declined("weights above 1e6 or below 1e-6 have no kernel")
        assert columns.number is not None
        if count.dtype == np.float64:
            decline_uncompiled(columns.number * self._n_classes, "class means", UNCOMPILED_MEANS)
        if state.groups is None:
            groups = self._new_groups(*self._no_moments(columns.number, count.dtype))
        else:
            groups = state.groups.copy()
        scores = groups.log_likelihoods(block, learn, ask, float(self.estimator.var_smoothing))
        steps = np.zeros((block.n_learns, self._n_classes), count.dtype)
        steps[np.arange(block.n_learns), block.y] = 1.0 if block.weight is None else block.weight
        if count.dtype == np.float32:
            weights = np.add.accumulate(np.vstack([count, steps]), axis=0)
        else:
            weights = running_sums(count, steps)
        scores += self._log_priors(weights[block.stamp])
        has_learnt = state.has_learnt or block.n_learns > 0
        after = _State(columns, weights[-1].copy(), groups, has_learnt)
        near = scoring.tied(scores, self.task.asking("predict"))
        # Of rows that are all alike only the shares of the classes are compared: these are exact.
        if len(near) and count.dtype == np.float64 and groups.variances.any():
            begin = state.groups or self._new_groups(*self._no_moments(columns.number, count.dtype))
            return after, self._settled(scores, near, block, learn, ask, begin, weights)
        if count.dtype == np.float32:
            return after, answers_to(self.task, partial(_single_answers, scores))
        return after, self._answers(scores)

    def _answers(self, scores: Floats) -> NDArray[Any]:
        """Answers of the model, from joint log likelihoods of shape (n_asks, n_classes)."""
        return scoring.answers(scores, self.task)

    def _settled(
        self,
        scores: Floats,
        near: NDArray[np.intp],
        block: Block,
        learn: Floats,
        ask: Floats,
        groups: MomentGroups,
        weights: Floats,
    ) -> NDArray[Any]:
        """Answers, those of near ties by scikit-learn itself, with what was learnt until then.

        Ensembles replace members by their answers: another order of a sum must not decide there.
        """
        given = self._answers(scores)
        model, groups, done = clone(self.estimator), groups.copy(), 0
        kernel = type(self)(model, self.task)
        kernel.export(_State(Columns(ask.shape[1]), weights[-1], groups, has_learnt=True))
        for at in near.tolist():
            until = int(block.stamp[at])
            learnt = part_of(block, slice(done, until), slice(at, at))
            groups.log_likelihoods(
                learnt, learn[done:until], ask[:0], float(self.estimator.var_smoothing)
            )
            done = until
            kernel._export_learnt(weights[until], groups)
            row = ask[at : at + 1]
            settled = partial(_answers_of, model, row)
            given[at] = answers_to(self.task, settled)[0]
        return given

    def _new_groups(
        self, weights: NDArray[Any], means: NDArray[Any], variances: NDArray[Any]
    ) -> MomentGroups:
        kind = SingleGroups if means.dtype == np.float32 else MomentGroups
        return kind(self._n_classes, weights, means, variances)

    def _known_moments(self) -> tuple[Floats, Floats, Floats]:
        """Weights, means and variances by group, of a fitted estimator."""
        model = self.estimator
        return model.class_count_, model.theta_, model.var_

    def _no_moments(self, n_features: int, dtype: Any) -> tuple[Floats, Floats, Floats]:
        """Weights, means and variances by group where nothing has been learnt."""
        nothing = np.zeros((self._n_classes, n_features), dtype)
        return nothing[:, 0], nothing, nothing

    def _log_priors(self, weights: Floats) -> Floats:
        """Log probabilities of the classes, from their weights at each ask."""
        with np.errstate(divide="ignore", invalid="ignore"):
            priors: Floats = np.log(self._class_priors(weights))
        return priors

    def _class_priors(self, weights: Floats) -> Floats:
        """Probabilities of the classes, from their weights in the last axis."""
        if self._priors is not None:
            return self._priors.astype(weights.dtype)
        shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
        return shares

    def export(self, state: _State) -> None:
        """Write the fitted attributes of scikit-learn."""
        if not state.has_learnt:
            return
        assert state.groups is not None
        model = self.estimator
        state.columns.export(model)
        model.classes_ = unique_labels(self.task.classes)
        self._export_learnt(state.class_count, state.groups)

    def _export_learnt(self, class_count: Floats, groups: MomentGroups) -> None:
        self.estimator.class_count_ = class_count.copy()
        self.estimator.class_prior_ = self._class_priors(class_count)
        self._export_moments(groups)

    def _export_moments(self, groups: MomentGroups) -> None:
        model = self.estimator
        model.theta_, model.var_ = groups.means.copy(), groups.variances.copy()
        # The variance of the newest row, which is all that scikit-learn looks at.
        model.epsilon_ = model.var_smoothing * groups.variances.dtype.type(0.0)


class IncrementalGaussianKernel(GaussianKernel):
    """IncrementalGaussianNB, taught row by row; the last group of rows is all of them."""

    _keeps_single = False

    def _answers(self, scores: Floats) -> NDArray[Any]:
        return scoring.answers(scores, self.task, normalised)

    @classmethod
    def _takes_up(cls, estimator: Any, classes: NDArray[Any]) -> bool:
        return np.array_equal(estimator.classes_, classes)

    def _known_moments(self) -> tuple[Floats, Floats, Floats]:
        model = self.estimator
        return (
            np.append(model.class_count_, model.total_count_),
            np.vstack([model.theta_, model.total_mean_]),
            np.vstack([model.raw_var_, model.total_var_]),
        )

    def _no_moments(self, n_features: int, dtype: Any) -> tuple[Floats, Floats, Floats]:
        nothing = np.zeros((self._n_classes + 1, n_features), dtype)
        return nothing[:, 0], nothing, nothing

    def _log_priors(self, weights: Floats) -> Floats:
        # A class of which nothing has been learnt is never the answer.
        return np.where(weights > 0, super()._log_priors(weights), -np.inf)

    def _export_moments(self, groups: MomentGroups) -> None:
        model, means, variances = self.estimator, groups.means, groups.variances
        model.total_count_ = float(groups.weights[-1])
        model.theta_, model.total_mean_ = means[:-1].copy(), means[-1].copy()
        model.raw_var_, model.total_var_ = variances[:-1].copy(), variances[-1].copy()
        model.epsilon_ = model.var_smoothing * model.total_var_.max()
        model.var_ = model.raw_var_ + model.epsilon_


def _answers_of(model: Any, row: Floats, task: Task) -> NDArray[Any]:
    """One kind of answer of the model itself, to a row."""
    if task.method == "predict":
        codes: NDArray[Any] = model.predict_joint_log_proba(row).argmax(axis=1)
        return codes
    probabilities: NDArray[Any] = model.predict_proba(row)
    return probabilities


def _is_extreme(x: Floats) -> bool:
    sizes = np.abs(x)
    if not sizes.size or (sizes.max() <= _MAX_VALUE and sizes.min() >= _MIN_VALUE):
        return False
    return bool((sizes > _MAX_VALUE).any() or ((sizes < _MIN_VALUE) & (x != 0)).any())


def _is_extreme_weight(weight: Floats) -> bool:
    return bool(((weight < _MIN_WEIGHT) | (weight > _MAX_WEIGHT)).any())
