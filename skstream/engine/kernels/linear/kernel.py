"""Kernels of scikit-learn's linear models by stochastic gradient descent.

Supported, each row by row: SGDClassifier, SGDRegressor, Perceptron and, where scikit-learn
still has them, PassiveAggressiveClassifier and PassiveAggressiveRegressor, with every loss,
penalty and learning rate, class weights, sample weights, dense and CSR rows. Coefficients,
intercepts and ``t_`` are those of ``partial_fit`` to the last bit; decision values are added
feature by feature where scikit-learn's ``predict`` calls BLAS, and agree to about 1e-15
relative; where that could decide the answer, they are scikit-learn's own (`ties`).
The one-class SVM is one of them, of dense float64 rows.
Refused: averaging, early stopping, verbose output, a ``RandomState`` instance (each call would
draw from it). Dense float32 rows have a loop of their own.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import SGDClassifier
from sklearn.utils.class_weight import compute_class_weight

from skstream.engine.answers import answers_to
from skstream.engine.block import Block
from skstream.engine.kernels.base import (
    DENSE_AND_SPARSE,
    OTHER_PRECISION,
    Declined,
    Kernel,
    Task,
    decline_uncompiled,
)
from skstream.engine.kernels.compose import asks_of_next
from skstream.engine.kernels.input import Learnt, check_stored_once, read_block
from skstream.engine.kernels.linear import blocks
from skstream.engine.kernels.linear.loops import PA1, Floats, Integers, Learns, Ties
from skstream.engine.kernels.linear.settings import Settings, is_aggressive, read_settings
from skstream.engine.kernels.linear.support import agrees_with_sklearn, refused
from skstream.engine.kernels.linear.ties import Decisions, room_for_ties
from skstream.engine.kernels.schema import Columns
from skstream.engine.sharing import key_of
from skstream.utils._numba import numba_enabled
from skstream.utils._rows import own_rows, take_rows
from skstream.utils._validation import is_fitted
from skstream.utils._versions import VersionedArray

# Longer blocks run in parts.
PART_ROWS = 8192
# Without numba the loops take half a microsecond for a weight: with as many features as these they
# are three times as fast as the estimator's own, beyond twice as many no longer faster.
UNCOMPILED_FEATURES = 200


@dataclass(frozen=True)
class _State:
    """What has been learnt. No step changes the arrays of a state.

    Attributes
    ----------
    columns : Columns
        Number and names of the features.
    W : VersionedArray
        Weights of shape (n_vectors, n_features); one vector for two classes or regression.
    b : ndarray of shape (n_vectors,)
        Intercepts.
    t : int or float
        scikit-learn's ``t_``: one more than the number of rows learnt.
    first : tuple or None
        Row, target and weight learnt first by this kernel; None if nothing was.
    """

    columns: Columns
    W: VersionedArray
    b: Floats
    t: float
    first: tuple[Any, Any, float] | None


# Weights after a block, margins of the rows learnt and decision values of the rows asked; the
# intercepts are changed in place.
_Learnt = tuple[VersionedArray, Floats, Floats]
# Learns that are executed together, and bounds of the asks among them.
_Parts = list[tuple[slice, Integers]]


class LinearKernel(Kernel):
    """What classifiers and regressors have in common."""

    shareable = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._settings: Settings = read_settings(estimator)
        n_classes = 1 if task.classes is None else len(task.classes)
        self._n_vectors = 1 if n_classes == 2 else n_classes
        self._class_weight = np.ones(n_classes)
        if task.classes is not None and getattr(estimator, "class_weight", None) is not None:
            self._class_weight = np.asarray(
                compute_class_weight(estimator.class_weight, classes=task.classes, y=task.classes),
                dtype=np.float64,
            )
        self._takes_weights = not is_aggressive(estimator)
        # What targets depend on.
        rule, is_regression = self._settings.rule, task.classes is None
        weights = self._class_weight.tobytes()
        self._key: tuple[Any, ...] = (weights, self._n_vectors, rule.low, is_regression)
        self._ties: Ties | None = None
        # The first learn whose traces are in the estimator, and the attributes it had before.
        self._exported: tuple[Any, Any, float] | None = None
        self._own_attributes = set(vars(estimator))

    def likeness(self) -> bytes | None:
        """Return what is equal for kernels that may share a step: all but the seed.

        Row by row nothing is shuffled.
        """
        others = {name: of for name, of in vars(self.estimator).items() if name != "random_state"}
        return key_of(type(self.estimator), others, self.task)

    def initial_state(self) -> _State | None:
        """Return what the estimator has learnt; None before the first row."""
        estimator = self.estimator
        if not is_fitted(estimator):
            return None
        W = VersionedArray(np.array(estimator.coef_, ndmin=2))
        return _State(Columns.of(estimator), W, self._fitted_intercepts(), estimator.t_, None)

    def step(self, state: _State | None, block: Block) -> tuple[_State | None, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.batches is not None and len(block.batches) != block.n_learns + 1:
            raise Declined("batches of several rows have no kernel")
        if block.weight is not None and not (np.isfinite(block.weight) & (block.weight > 0)).all():
            raise Declined("weights that are not positive numbers have no kernel")
        if not self._takes_weights:
            block = _with_weights_as_repetition(block)
        if state is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("asking before anything is learnt has no kernel")
        after, known = state, Columns() if state is None else state.columns
        read = partial(_read, block, known)
        foreign, asked, parts, rows = block.once("linear rows", known, read)
        if rows.columns.number is None:
            nothing = np.empty((0, self._n_vectors))  # no work, and no state
            return state, answers_to(self.task, partial(self._answers, nothing))
        if state is None:
            nothing = np.zeros((self._n_vectors, rows.columns.number), rows.learn.dtype)
            # A single intercept is a Python float on its way through scikit-learn.
            b = np.zeros(len(nothing), np.float64 if len(nothing) == 1 else nothing.dtype)
            state = _State(rows.columns, VersionedArray(nothing), b, t=1.0, first=None)
        dtype, b = state.W.read().dtype, state.b.copy()
        for X in (rows.learn, rows.ask):
            if X.dtype != dtype and X.shape[0]:
                raise Declined(OTHER_PRECISION)
        decline_uncompiled(rows.columns.number, "features", UNCOMPILED_FEATURES)
        if dtype == np.float32 and not agrees_with_sklearn(np.float32, numba_enabled()):
            raise Declined("float32 rows have no kernel on this processor")
        if dtype == np.float32 and not (sparse.issparse(rows.learn) or sparse.issparse(rows.ask)):
            W, margins, raw = self._learn_single(block, rows, state, b)
        else:
            W, margins, raw = self._learn_rows(asked, parts, rows, state, b)
        if block.n_learns:
            first = state.first
            if first is None:
                row = own_rows(take_rows(block.learn_X, block.learn_index[:1]))
                weight = 1.0 if block.weight is None else float(block.weight[0])
                first = (row, block.y[0], weight)
            after = replace(state, W=W, b=b, t=state.t + block.n_learns, first=first)
        if len(margins):  # decision values of rows learnt next, and those of the others
            others, raw = raw, margins.take(block.stamp, axis=0, mode="clip")
            raw[foreign] = others
        return after, answers_to(self.task, partial(self._answers, raw))

    def export(self, state: _State | None) -> None:
        """Write the fitted attributes into the estimator."""
        estimator = self.estimator
        first = None if state is None else state.first
        if first is None and self._exported is None:
            return
        if first is not self._exported:
            # scikit-learn makes its attributes itself, from the first row learnt (anew if this is
            # a state before it); then those that go on changing are replaced.
            for name in set(vars(estimator)) - self._own_attributes:
                delattr(estimator, name)
            if first is not None:
                row, target, weight = first
                weights = {"sample_weight": [weight]} if self._takes_weights else {}
                self._learn_first(row, target, **weights)
            self._exported = first
        if state is not None:
            self._write(state.W.read(), state.b)
            estimator.t_ = state.t

    def _fitted_intercepts(self) -> Floats:
        """Intercepts of a fitted estimator, as states have them."""
        return np.array(self.estimator.intercept_)

    def _write(self, W: Floats, b: Floats) -> None:
        """Write weights and intercepts into the estimator."""
        shape = (-1,) if self.task.classes is None else W.shape
        self.estimator.coef_ = W.reshape(shape).copy()
        self.estimator.intercept_ = b.copy()

    def _learn_rows(
        self, block: Block, parts: _Parts, rows: Learnt, state: _State, b: Floats
    ) -> _Learnt:
        """Of float64 rows, or CSR rows; a short sparse block copies no weights but those in use."""
        is_sparse = sparse.issparse(rows.learn) or sparse.issparse(rows.ask)
        margins, answers = (np.empty((n, len(b)), b.dtype) for n in (block.n_learns, block.n_asks))
        known, W = state.W, state.W.read()
        if not is_sparse or block.n_learns > PART_ROWS:
            W = W.copy()
            known = VersionedArray(W)
        for part, bounds in parts:
            asked = slice(bounds[0], bounds[-1])
            X, Q = rows.learn[part], rows.ask[asked]
            learns, rule = self._learns(block, part, X, state.t), self._settings.rule
            results = bounds - bounds[0], margins[part], answers[asked]
            if is_sparse:
                pair = blocks.sparse_rows(X), blocks.sparse_rows(Q)
                known = blocks.learn_sparse(pair[0], learns, rule, known, b, pair[1], *results)
                continue
            settling: tuple[Any, ...] = ()
            if self.task.classes is not None:
                if self._ties is None:
                    self._ties = room_for_ties(*W.shape)
                learnt_rows = block.learn_X, block.learn_index[part]
                asked_rows = block.ask_X, block.ask_index[asked]
                decisions = Decisions(*learnt_rows, *asked_rows, *results[1:])
                settling = decisions.settle, self._ties
            blocks.learn_dense(X, learns, rule, W, b, Q, *results, *settling)
        if not is_sparse:
            blocks.check_bounded(margins, answers, W, b)
        return known, margins, answers

    def _learn_single(self, block: Block, rows: Learnt, state: _State, b: Floats) -> _Learnt:
        """Of dense float32 rows: there, too, the margins are not those of ``predict``."""
        if not np.isfinite(rows.learn.sum(dtype=np.float64)):
            raise Declined("rows that are not finite have no kernel")
        W = state.W.read().copy()
        n, size = block.n_learns, blocks.rows_at_once(W)
        raw = np.empty((block.n_asks, len(b)), b.dtype)
        for begin in range(0, max(n, 1), size):
            part = slice(begin, min(begin + size, n))
            first, last = np.searchsorted(block.stamp, [begin, part.stop + (part.stop == n)])
            X = rows.learn[part]
            learns = self._learns(block, part, X, state.t)
            past = blocks.learn_single(X, learns, self._settings.rule, W, b)
            states = block.stamp[first:last] - begin
            raw[first:last] = blocks.raw_answers(
                block.ask_X, block.ask_index[first:last], states, *past
            )
        nothing = raw[:0]
        blocks.check_bounded(nothing, raw, W, b)
        return VersionedArray(W), nothing, raw

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ties": None}

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

    def _targets(
        self, block: Block, part: slice, dtype: Any
    ) -> tuple[Integers, Floats, Floats, Floats]:
        """Codes of a part, targets, and weights of steps for the own class and for others."""
        n, y = part.stop - part.start, block.y[part]
        read = blocks.rounded if dtype == np.float32 else np.asarray
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

    @abstractmethod
    def _learn_first(self, row: Any, target: Any, **weight: Any) -> None:
        """Let the estimator itself learn a row; `weight` is a ``sample_weight``, if it takes it."""

    @abstractmethod
    def _answers(self, raw: Floats, task: Task) -> NDArray[Any]:
        """Turn decision values of shape (n_asks, n_vectors) into one kind of answer."""


class LinearClassifierKernel(LinearKernel):
    """Linear classifiers: one weight vector for two classes, one against all for more."""

    gives_scores = True

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse what is not known to be exact of parameters, and of the fitted state."""
        methods = ["predict", "decision_function"]
        if type(estimator) is SGDClassifier and estimator.loss in ("log_loss", "modified_huber"):
            methods.append("predict_proba")
        if task.classes is None:
            return "a regression task"
        if len(task.classes) < 2:
            return "a single class"
        if task.method not in methods:
            return f"{task.method} as the answer"
        return refused(estimator, task)

    def _learn_first(self, row: Any, target: Any, **weight: Any) -> None:
        classes = self.task.classes
        assert classes is not None
        new = None if is_fitted(self.estimator) else classes
        self.estimator.partial_fit(row, classes[[target]], classes=new, **weight)

    def _answers(self, raw: Floats, task: Task) -> NDArray[Any]:
        if task.method == "predict":  # of classes that tie the lowest
            if raw.shape[1] == 1:
                return (raw[:, 0] > 0).astype(np.int64)
            best: NDArray[np.int64] = raw.argmax(axis=1).astype(np.int64, copy=False)
            return best
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

    def _learn_first(self, row: Any, target: Any, **weight: Any) -> None:
        self.estimator.partial_fit(row, [target], **weight)

    def _answers(self, raw: Floats, task: Task) -> NDArray[Any]:
        return raw[:, 0]


class OneClassKernel(LinearKernel):
    """One-class SVM: learns every row, whatever its label, and answers 1 or -1.

    The loops are those of the hinge loss where every row is of the positive class; each row also
    pulls the intercept down by the learning rate times `nu`. Intercepts of states are one less than
    those of the loss, minus scikit-learn's ``offset_``: what its decision values add.
    """

    gives_scores = True

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

    def _targets(
        self, block: Block, part: slice, dtype: Any
    ) -> tuple[Integers, Floats, Floats, Floats]:
        """Make all rows positive examples."""
        n = part.stop - part.start
        weight = np.ones(n) if block.weight is None else np.asarray(block.weight[part])
        return np.zeros(n, np.int64), np.ones(n), weight, weight

    def _learn_rows(self, block: Block, parts: _Parts, rows: Learnt, *known: Any) -> _Learnt:
        if sparse.issparse(rows.learn) or sparse.issparse(rows.ask):
            raise Declined("sparse rows have no kernel in SGDOneClassSVM")
        return super()._learn_rows(block, parts, rows, *known)

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


def _read(block: Block, known: Columns) -> tuple[NDArray[np.intp], Block, _Parts, Learnt]:
    """Which asks are not for the row learnt next, and the block with these alone, read in parts.

    A row asked right before it is learnt is answered by the margin that learning needs; not so
    sparse float32 rows: ``predict`` rounds otherwise than ``partial_fit``.
    """
    n, foreign = block.n_learns, np.arange(block.n_asks)
    if not (sparse.issparse(block.ask_X) and block.ask_X.dtype == np.float32):
        foreign = np.flatnonzero(~asks_of_next(block))
    asked = replace(block, ask_index=block.ask_index[foreign], stamp=block.stamp[foreign])
    if sparse.issparse(block.learn_X) or sparse.issparse(block.ask_X):
        _check_sparse(asked)
    rows = read_block(
        asked, known, accept_sparse=True, finite=False, keep_single=True, sparse_single=True
    )
    asks = np.zeros(n + 2, dtype=np.int64)
    if asked.n_asks:
        np.cumsum(np.bincount(asked.stamp, minlength=n + 1), out=asks[1:])
    # The arrays of a part stay in the processor's cache.
    ends = [(begin, min(begin + PART_ROWS, n)) for begin in range(0, max(n, 1), PART_ROWS)]
    parts = [(slice(begin, end), blocks.asks_between(asks, begin, end)) for begin, end in ends]
    return foreign, asked, parts, rows


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
    probability: Floats
    if loss == "log_loss":
        probability = expit(raw)
    else:
        probability = (np.clip(raw, -1, 1) + 1.0) / 2.0
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
