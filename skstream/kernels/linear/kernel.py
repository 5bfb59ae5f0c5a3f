"""Kernels of scikit-learn's linear models by stochastic gradient descent.

Supported, each row by row: SGDClassifier, SGDRegressor, Perceptron and, where scikit-learn
still has them, PassiveAggressiveClassifier and PassiveAggressiveRegressor, with every loss,
penalty and learning rate, class weights, sample weights, dense and CSR rows. Coefficients,
intercepts and ``t_`` are those of ``partial_fit`` to the last bit; decision values are added
feature by feature where scikit-learn's ``predict`` calls BLAS, and agree to about 1e-15
relative; where that could decide the answer, they are scikit-learn's own (`rows`).
The one-class SVM is one of them, of dense float64 rows.
Refused: averaging, early stopping, verbose output, a ``RandomState`` instance (each call would
draw from it).
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import SGDClassifier
from sklearn.utils.class_weight import compute_class_weight

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block, key_of
from skstream.core.engine.kernel import Declined, Kernel
from skstream.kernels.input import (
    DENSE_AND_SPARSE,
    OTHER_PRECISION,
    Columns,
    Learnt,
    asks_of_next,
    check_stored_once,
    decline_uncompiled,
    read_block,
    refused_task,
)
from skstream.kernels.linear import rows as linear_rows
from skstream.kernels.linear.loops import PA1, Floats, Integers, Learns
from skstream.kernels.linear.settings import (
    AGGRESSIVE,
    agrees_with_sklearn,
    attributes_to_write,
    read_settings,
    refused,
)
from skstream.kernels.memory import MemoryMachine, State
from skstream.pipeline._values_by_version import VersionedArray
from skstream.utils._numba import numba_enabled

# Longer blocks run in parts.
PART_ROWS = 8192
# Without numba the loops take half a microsecond for a weight: with as many features as these they
# are three times as fast as the estimator's own, beyond twice as many no longer faster.
UNCOMPILED_FEATURES = 200


class _Memory(NamedTuple):
    """What has been learnt. No step changes its arrays.

    Attributes
    ----------
    W : VersionedArray
        Weights of shape (n_vectors, n_features); one vector for two classes or regression.
    b : ndarray of shape (n_vectors,)
        Intercepts.
    t : int or float
        scikit-learn's ``t_``: one more than the number of rows learnt.
    """

    W: VersionedArray
    b: NDArray[Any]
    t: float = 1.0


# Learns that are executed together, and bounds of the asks among them.
_Parts = list[tuple[slice, Integers]]
# Codes, targets, weights of steps for the own class and for others.
_Targets = tuple[Integers, Floats, Floats, Floats]


class LinearKernel(MemoryMachine, Kernel):
    """What classifiers and regressors have in common."""

    shareable = True
    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._settings = read_settings(estimator)
        n_classes = 1 if task.classes is None else len(task.classes)
        self._n_vectors = 1 if n_classes == 2 else n_classes
        self._class_weight = np.ones(n_classes)
        if task.classes is not None and getattr(estimator, "class_weight", None) is not None:
            self._class_weight = np.asarray(
                compute_class_weight(estimator.class_weight, classes=task.classes, y=task.classes),
                dtype=np.float64,
            )
        # What targets depend on.
        rule, is_regression = self._settings.rule, task.classes is None
        weights = self._class_weight.tobytes()
        self._key: tuple[Any, ...] = (weights, self._n_vectors, rule.low, is_regression)

    def likeness(self) -> bytes | None:
        """Return what is equal for kernels that may share a step: all but the seed.

        Row by row nothing is shuffled.
        """
        others = {name: of for name, of in vars(self.estimator).items() if name != "random_state"}
        return key_of(type(self.estimator), others, self.task)

    def _read(self) -> _Memory:
        model = self.estimator
        return _Memory(VersionedArray(np.array(model.coef_, ndmin=2)), self._intercepts(), model.t_)

    def _intercepts(self) -> NDArray[Any]:
        """Intercepts of the fitted estimator, as states have them."""
        return np.array(self.estimator.intercept_)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.batches is not None and len(block.batches) != block.n_learns + 1:
            raise Declined("batches of several rows have no kernel")
        if block.weight is not None and not (np.isfinite(block.weight) & (block.weight > 0)).all():
            raise Declined("weights that are not positive numbers have no kernel")
        if type(self.estimator) in AGGRESSIVE:
            block = _with_weights_as_repetition(block)
        memory: _Memory | None = state.memory
        if memory is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("predicting before any training has no kernel")
        read = partial(_read, block, state.columns)
        foreign, asked, parts, rows = block.once("linear rows", state.columns, read)
        columns = rows.columns
        if columns.number is None:
            nothing = np.empty((0, self._n_vectors))  # no work, and no state
            return state, answers_to(self.task, partial(self._answers, nothing))
        if memory is None:
            nothing = np.zeros((self._n_vectors, columns.number), rows.learn.dtype)
            # A single intercept is a Python float on its way through scikit-learn.
            b = np.zeros(len(nothing), np.float64 if len(nothing) == 1 else nothing.dtype)
            memory = _Memory(VersionedArray(nothing), b)
        dtype = memory.W.read().dtype
        for X in (rows.learn, rows.ask):
            if X.shape[0] and X.dtype != dtype:
                raise Declined(OTHER_PRECISION)
            if X.shape[0] and isinstance(self, OneClassKernel):
                _check_one_class(X)
        decline_uncompiled(columns.number, "features", UNCOMPILED_FEATURES)
        if dtype == np.float32 and not agrees_with_sklearn(np.float32, numba_enabled()):
            raise Declined("float32 rows have no kernel on this processor")
        b = memory.b.copy()
        W, margins, raw = self._learn_rows(asked, parts, rows, memory, b)
        if len(margins):  # decision values of rows learnt next, and those of the others
            others, raw = raw, margins.take(block.stamp, axis=0, mode="clip")
            raw = raw.astype(b.dtype, copy=False)
            raw[foreign] = others
        answers = answers_to(self.task, partial(self._answers, raw))
        if not block.n_learns:
            return state, answers
        return state.after(block, columns, _Memory(W, b, memory.t + block.n_learns)), answers

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        if state.has_learnt:
            # scikit-learn makes its attributes itself; then those that change are replaced.
            n_features = state.columns.number or 0
            made = attributes_to_write(self.estimator, self.task, n_features)
            vars(self.estimator).update(made)
        super().export(state)

    def _write(self, memory: _Memory) -> None:
        W = memory.W.read()
        self.estimator.coef_ = W.flatten() if self.task.classes is None else W.copy()
        self.estimator.intercept_ = memory.b.copy()
        self.estimator.t_ = memory.t

    def _learn_rows(
        self, block: Block, parts: _Parts, rows: Learnt, memory: _Memory, b: NDArray[Any]
    ) -> tuple[VersionedArray, Floats, NDArray[Any]]:
        """Weights after a block, margins of the rows learnt, decision values of the rows asked.

        The intercepts are changed in place. A short sparse block copies no weights but those in
        use.
        """
        is_sparse = sparse.issparse(rows.learn) or sparse.issparse(rows.ask)
        margins = np.empty((block.n_learns, len(b)))
        answers = np.empty((block.n_asks, len(b)), b.dtype)
        known, W = memory.W, memory.W.read()
        if not is_sparse or block.n_learns > PART_ROWS:
            W = W.copy()
            known = VersionedArray(W)
        for part, bounds in parts:
            asked = slice(bounds[0], bounds[-1])
            X, Q = rows.learn[part], rows.ask[asked]
            learns, rule = self._learns(block, part, X, memory.t), self._settings.rule
            results = bounds - bounds[0], margins[part], answers[asked]
            if is_sparse:
                pair = linear_rows.sparse_rows(X), linear_rows.sparse_rows(Q)
                known = linear_rows.learn_sparse(pair[0], learns, rule, known, b, pair[1], *results)
                continue
            shown = None
            if self.task.classes is not None or W.dtype == np.float32:
                learnt_rows = block.learn_X, block.learn_index[part]
                shown = linear_rows.Shown(*learnt_rows, block.ask_X, block.ask_index[asked])
            linear_rows.learn_dense(X, learns, rule, W, b, Q, *results, shown)
        if not is_sparse:
            linear_rows.check_bounded(margins, answers, W, b)
        return known, margins, answers

    def _learns(self, block: Block, part: slice, X: Any, t: float) -> Learns:
        """All that is known about the rows of a part before the first of them is learnt."""
        key = *self._key, part.start, part.stop, X.dtype
        targets = partial(self._targets, block, part, X.dtype)
        code, target, own_weight, weight = block.once(key, None, targets, (block.y, block.weight))
        eta, shrink, cut = self._settings.schedule(float(t) + part.start, len(code))
        if self._settings.rule.aggressive == PA1:
            # A row of norm 0 is passed over, penalty and all.
            with np.errstate(over="ignore"):
                wide = X.astype(np.float64, copy=False)
                squares = wide.multiply(wide) if sparse.issparse(X) else wide * wide
                passed_over = np.asarray(squares.sum(axis=1)).ravel() == 0
            shrink[passed_over], cut[passed_over] = 1.0, 0.0
        return Learns(code, target, own_weight, weight, eta, shrink, cut)

    def _targets(self, block: Block, part: slice, dtype: Any) -> _Targets:
        n, y = part.stop - part.start, block.y[part]
        read = _rounded if dtype == np.float32 else np.asarray
        weight = np.ones(n) if block.weight is None else read(block.weight[part])
        if block.weight is not None and not (np.isfinite(weight) & (weight > 0)).all():
            raise Declined("weights beyond the range of float32 have no kernel")
        if self.task.classes is None:
            target = read(np.asarray(y, dtype=np.float64))
            if not np.isfinite(target).all():
                raise Declined("targets that are not finite have no kernel")
            return np.zeros(n, np.int64), target, weight, weight
        own_weight = read(self._class_weight).take(y)
        if block.weight is not None:
            own_weight = read(own_weight * weight)
        if self._n_vectors == 1:
            target = np.array([self._settings.rule.low, 1.0]).take(y)
            return np.zeros(n, np.int64), target, own_weight, weight
        return y.astype(np.int64, copy=False), np.ones(n), own_weight, weight

    def _answers(self, raw: NDArray[Any], task: Task) -> NDArray[Any]:
        """Turn decision values of shape (n_asks, n_vectors) into one kind of answer."""
        raise NotImplementedError


class LinearClassifierKernel(LinearKernel):
    """Linear classifiers: one weight vector for two classes, one against all for more."""

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse what is not known to be exact of parameters, and of the fitted state."""
        methods = ["predict", "decision_function"]
        if type(estimator) is SGDClassifier and estimator.loss in ("log_loss", "modified_huber"):
            methods.append("predict_proba")
        if task.classes is not None and len(task.classes) < 2:
            return "a single class"
        return refused_task(estimator, task, methods) or refused(estimator, task)

    def _answers(self, raw: NDArray[Any], task: Task) -> NDArray[Any]:
        if task.method == "predict":  # of classes that tie the lowest
            if raw.shape[1] == 1:
                return (raw[:, 0] > 0).astype(np.int64)
            return raw.argmax(axis=1).astype(np.int64, copy=False)
        if task.method == "predict_proba":
            raw = probabilities(raw, self.estimator.loss)
        elif raw.shape[1] == 1:
            raw = raw[:, 0]
        return raw.astype(np.float64, copy=False)


class LinearRegressorKernel(LinearKernel):
    """Linear regressors."""

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse what is not known to be exact of parameters, and of the fitted state."""
        if task.classes is not None or task.method != "predict":
            return "these answers"
        return refused(estimator, task)

    def _answers(self, raw: NDArray[Any], task: Task) -> NDArray[Any]:
        return raw[:, 0]


class OneClassKernel(LinearKernel):
    """One-class SVM: learns every row, whatever its label, and answers 1 or -1.

    The loops are those of the hinge loss where every row is of the positive class; each row also
    pulls the intercept down by the learning rate times `nu`. Intercepts of states are one less than
    those of the loss, minus scikit-learn's ``offset_``: what its decision values add.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key, self._n_vectors = (b"one class",), 1

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other labels than 1 and -1, and what all linear kernels refuse."""
        if task.classes is None or task.classes.tolist() != [-1, 1]:
            return "other labels than -1 and 1"
        if task.method not in ("predict", "decision_function"):
            return f"{task.method} as the answer"
        return refused(estimator, task)

    def _targets(self, block: Block, part: slice, dtype: Any) -> _Targets:
        n = part.stop - part.start
        weight = np.ones(n) if block.weight is None else np.asarray(block.weight[part])
        return np.zeros(n, np.int64), np.ones(n), weight, weight

    def _intercepts(self) -> NDArray[Any]:
        return -np.array(self.estimator.offset_)

    def _write(self, memory: _Memory) -> None:
        self.estimator.coef_ = memory.W.read()[0].copy()
        self.estimator.offset_ = 0.0 - memory.b  # no negative zero
        self.estimator.t_ = memory.t

    def _answers(self, raw: NDArray[Any], task: Task) -> NDArray[Any]:
        if task.method == "predict":
            return (raw[:, 0] >= 0).astype(np.int64)
        return raw[:, 0].astype(np.float64, copy=False)


def _read(block: Block, known: Columns) -> tuple[NDArray[np.intp], Block, _Parts, Learnt]:
    """Which asks are not for the row learnt next, and the block with these alone, read in parts.

    A row asked right before it is learnt is answered by the margin that learning needs; not so
    sparse float32 rows: ``predict`` rounds otherwise than ``partial_fit``.
    """
    n, foreign = block.n_learns, np.arange(block.n_asks)
    if not (sparse.issparse(block.ask_X) and block.ask_X.dtype == np.float32):
        foreign = np.flatnonzero(~asks_of_next(block))
    learns = block.learn_X, block.learn_index, block.y, block.weight
    asks = block.ask_X, block.ask_index[foreign], block.stamp[foreign]
    asked = Block(*learns, *asks, shared=block.shared)
    if sparse.issparse(block.learn_X) or sparse.issparse(block.ask_X):
        _check_sparse(asked)
    rows = read_block(
        asked, known, accept_sparse=True, finite=False, keep_single=True, sparse_single=True
    )
    n_before = np.zeros(n + 2, dtype=np.int64)
    if asked.n_asks:
        np.cumsum(np.bincount(asked.stamp, minlength=n + 1), out=n_before[1:])
    # The arrays of a part stay in the processor's cache.
    parts = []
    for begin in range(0, max(n, 1), PART_ROWS):
        end = min(begin + PART_ROWS, n)
        parts.append((slice(begin, end), linear_rows.asks_between(n_before, begin, end)))
    return foreign, asked, parts, rows


def _check_one_class(X: Any) -> None:
    if sparse.issparse(X) or X.dtype == np.float32:
        kind = "sparse" if sparse.issparse(X) else "float32"
        raise Declined(f"{kind} rows have no kernel in SGDOneClassSVM")


def _rounded(numbers: Floats) -> Floats:
    """Weights and targets as scikit-learn reads them beside float32 rows."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def _with_weights_as_repetition(block: Block) -> Block:
    """Repeat rows where the estimator takes no weights: one call, the row several times."""
    if block.weight is None:
        return block
    times = block.weight.astype(np.int64)
    if (times != block.weight).any():
        raise Declined("fractional weights have no kernel in a model without sample_weight")
    ends = np.concatenate([[0], np.cumsum(times)])
    return replace(
        block,
        learn_index=np.repeat(block.learn_index, times),
        y=np.repeat(block.y, times),
        weight=None,
        stamp=ends[block.stamp],
        batches=None,
    )


def _check_sparse(block: Block) -> None:
    """Leave to the loop what is not all CSR, in the form that SGD reads."""
    storages = [block.learn_X] if block.n_learns else []
    if block.n_asks:
        storages.append(block.ask_X)
    are_sparse = [sparse.issparse(X) for X in storages]
    if any(are_sparse) and not all(are_sparse):
        raise Declined(DENSE_AND_SPARSE)
    for X in storages if all(are_sparse) else ():
        check_stored_once(X)
        # Rows of a csr_matrix get 32-bit indices when they are taken, those of a csr_array keep
        # theirs, and scikit-learn refuses them.
        if X.indices.dtype != np.int32 and X[:1].indices.dtype != np.int32:
            raise Declined("a csr_array with 64-bit indices has no kernel")


# Since 1.9 classes that are all impossible (margins below -745) are equally probable; before
# that their probabilities are NaN.
NORMALISES_IMPOSSIBLE = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def probabilities(raw: Floats, loss: str) -> Floats:
    """Probabilities of all classes from decision values, for the two losses that have them."""
    probability = expit(raw) if loss == "log_loss" else (np.clip(raw, -1, 1) + 1.0) / 2.0
    if raw.shape[1] == 1:
        return np.hstack([1 - probability, probability])
    total = probability.sum(axis=1, keepdims=True)
    if loss != "log_loss" or NORMALISES_IMPOSSIBLE:
        impossible = total[:, 0] == 0
        probability[impossible] = 1.0
        total[impossible] = probability.shape[1]
    with np.errstate(invalid="ignore"):
        probability /= total
    return probability
