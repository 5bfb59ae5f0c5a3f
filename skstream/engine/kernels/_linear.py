"""Kernels of scikit-learn's linear models by stochastic gradient descent.

Supported, each row by row: SGDClassifier, SGDRegressor, Perceptron and, where scikit-learn
still has them, PassiveAggressiveClassifier and PassiveAggressiveRegressor, with every loss,
penalty and learning rate, class weights, sample weights, dense and CSR rows. Coefficients,
intercepts and ``t_`` are those of ``partial_fit`` to the last bit; decision values are added
feature by feature where scikit-learn's ``predict`` calls BLAS, and agree to about 1e-15
relative. Refused: averaging, early stopping, verbose output, a ``RandomState`` instance (each
call would draw from it), float32 rows.
"""

import functools
import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.utils.class_weight import compute_class_weight

from skstream.engine.block import Block, take_rows
from skstream.engine.kernels._base import Declined, Kernel, Task, kernel_of
from skstream.engine.kernels._linear_dense import Floats, Learns, learn_dense
from skstream.engine.kernels._linear_rows import Rows, SparseRows, feature_names_of, read_rows
from skstream.engine.kernels._linear_settings import (
    AGGRESSIVE_CLASSIFIERS,
    AGGRESSIVE_REGRESSORS,
    PA1,
    Settings,
    read_settings,
)
from skstream.engine.kernels._linear_sparse import learn_sparse
from skstream.utils._numba import numba_enabled


@dataclass(frozen=True)
class _State:
    """What has been learnt. Arrays are never changed in place, so a state is its own snapshot.

    Attributes
    ----------
    W : ndarray of shape (n_vectors, n_features)
        Weights; one vector for two classes or regression.
    b : ndarray of shape (n_vectors,)
        Intercepts.
    t : float
        scikit-learn's ``t_``: one more than the number of rows learnt.
    names : tuple of str or None
        Columns of the frame learnt first.
    first : tuple or None
        Row, target and weight learnt first by this kernel; None if nothing was.
    """

    W: Floats
    b: Floats
    t: float
    names: tuple[str, ...] | None
    first: tuple[Any, Any, float] | None


class _LinearKernel(Kernel):
    """What classifiers and regressors have in common."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        settings = read_settings(estimator)
        assert settings is not None  # as `supports` has made sure
        self._settings: Settings = settings
        self._class_weight = _class_weights(estimator, task)
        self._takes_weights = type(estimator) not in AGGRESSIVE_CLASSIFIERS + AGGRESSIVE_REGRESSORS
        self._state: _State | None = None
        self._is_prepared = False
        if _is_fitted(estimator):
            names = getattr(estimator, "feature_names_in_", None)
            self._state = _State(
                W=np.array(estimator.coef_, ndmin=2),
                b=np.array(estimator.intercept_),
                t=float(estimator.t_),
                names=None if names is None else tuple(names),
                first=None,
            )

    def snapshot(self) -> _State | None:
        """Return the state, which nothing changes any more."""
        return self._state

    def restore(self, snapshot: _State | None) -> None:
        """Go back to a state returned by `snapshot`."""
        self._state = snapshot

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block and return the answers to its asks, in their order."""
        block = _without_batches(block)
        if not self._takes_weights:
            block = _with_weights_as_repetition(block)
        state = self._state_before(block)
        if state is None:
            return self._answers(np.empty((0, self._n_vectors)))
        learnt = read_rows(block.learn_X, block.learn_index) if block.n_learns else None
        # A row asked right before it is learnt is answered by the margin that learning needs.
        foreign = _is_foreign(block)
        n_foreign = int(foreign.sum())
        asked = read_rows(block.ask_X, block.ask_index[foreign]) if n_foreign else None
        X = _empty_like(asked, state) if learnt is None else learnt
        Q = _empty_like(X, state) if asked is None else asked
        if isinstance(X, SparseRows) != isinstance(Q, SparseRows):
            raise Declined
        learns = self._learns(block, X, state.t)
        asks_at_stamp = np.bincount(block.stamp[foreign], minlength=block.n_learns + 1)
        bounds = np.concatenate([[0], np.cumsum(asks_at_stamp)])
        W, b = state.W.copy(), state.b.copy()
        if isinstance(X, SparseRows):
            margins, answers = learn_sparse(X, learns, self._settings.rule, W, b, Q, bounds)
        else:
            margins, answers = learn_dense(X, learns, self._settings.rule, W, b, Q, bounds)
        # Weights that stop being finite never are again; scikit-learn raises an error then.
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            raise Declined
        if block.n_learns:
            first = state.first or _first_learn(block)
            state = replace(state, W=W, b=b, t=state.t + block.n_learns, first=first)
            self._state = state
        raw = np.empty((block.n_asks, len(b)))
        raw[foreign] = answers
        raw[~foreign] = margins[block.stamp[~foreign]]
        return self._answers(raw)

    def export(self) -> None:
        """Write the fitted attributes into the estimator."""
        state = self._state
        if state is None or (state.first is None and not self._is_prepared):
            return
        estimator = self.estimator
        if not self._is_prepared:
            # scikit-learn makes its attributes itself, from the first row learnt; then those
            # that learning changes are replaced.
            assert state.first is not None
            self._learn_first(*state.first)
            self._is_prepared = True
        estimator.coef_ = state.W.reshape(estimator.coef_.shape).copy()
        estimator.intercept_ = state.b.copy()
        estimator.t_ = state.t

    @property
    def _n_vectors(self) -> int:
        classes = self.task.classes
        return 1 if classes is None or len(classes) == 2 else len(classes)

    def _state_before(self, block: Block) -> _State | None:
        """Return the state, begun if it must be, after a look at the width and names of the rows.

        None if there is neither a state nor work.
        """
        state = self._state
        storages = [block.learn_X] if block.n_learns else []
        if state is None:
            if block.n_asks and block.stamp[0] == 0:
                raise Declined  # scikit-learn raises NotFittedError
            if not storages:
                return None
            shape = getattr(block.learn_X, "shape", ())
            if len(shape) != 2:
                raise Declined
            names = feature_names_of(block.learn_X)
            W = np.zeros((self._n_vectors, shape[1]))
            state = _State(W, np.zeros(len(W)), t=1.0, names=names, first=None)
        if block.n_asks:
            storages.append(block.ask_X)
        for X in storages:
            if getattr(X, "shape", ())[1:] != state.W.shape[1:]:
                raise Declined
            if feature_names_of(X) != state.names:
                raise Declined
        return state

    def _learns(self, block: Block, X: Rows, t: float) -> Learns:
        """Everything known about the examples of a block before the first of them is learnt."""
        n = block.n_learns
        weight = np.ones(n) if block.weight is None else block.weight
        if not (np.isfinite(weight).all() and (weight > 0).all()):
            raise Declined
        eta, shrink, cut = self._settings.schedule(t, n)
        if self._settings.rule.aggressive == PA1:
            # A row of norm 0 is passed over, penalty and all.
            passed_over = _is_zero(X)
            shrink[passed_over], cut[passed_over] = 1.0, 0.0
        code = np.zeros(n, dtype=np.int64)
        if self.task.classes is None:
            target, own_weight = np.asarray(block.y, dtype=np.float64), weight
            if not np.isfinite(target).all():
                raise Declined
        else:
            own_weight = self._class_weight[block.y] * weight
            target = np.ones(n)
            if self._n_vectors > 1:
                code = block.y.astype(np.int64, copy=False)
            else:
                target[block.y == 0] = self._settings.rule.low
        return Learns(code, target, own_weight, weight, eta, shrink, cut)

    @abstractmethod
    def _learn_first(self, row: Any, target: Any, weight: float) -> None:
        """Let the estimator itself learn a row."""

    @abstractmethod
    def _answers(self, raw: Floats) -> NDArray[Any]:
        """Turn decision values of shape (n_asks, n_vectors) into answers."""


@kernel_of(SGDClassifier, Perceptron, *AGGRESSIVE_CLASSIFIERS)
class LinearClassifierKernel(_LinearKernel):
    """Linear classifiers: one weight vector for two classes, one against all for more."""

    @classmethod
    def supports(cls, estimator: Any, task: Task) -> bool:
        """Whether every parameter, and the fitted state if there is one, is known to be exact."""
        methods = ["predict", "decision_function"]
        if type(estimator) is SGDClassifier and estimator.loss in ("log_loss", "modified_huber"):
            methods.append("predict_proba")
        if task.classes is None or len(task.classes) < 2 or task.method not in methods:
            return False
        return _supports(estimator, task)

    def _learn_first(self, row: Any, target: Any, weight: float) -> None:
        classes = self.task.classes
        assert classes is not None
        label = classes[[target]]
        new = None if _is_fitted(self.estimator) else classes
        if self._takes_weights:
            self.estimator.partial_fit(row, label, classes=new, sample_weight=[weight])
        else:
            self.estimator.partial_fit(row, label, classes=new)

    def _answers(self, raw: Floats) -> NDArray[Any]:
        is_binary = raw.shape[1] == 1
        if self.task.method == "predict":
            if is_binary:
                return (raw[:, 0] > 0).astype(np.int64)
            return raw.argmax(axis=1)  # the lowest code wins a tie
        if self.task.method == "decision_function":
            return raw[:, 0] if is_binary else raw
        if self.estimator.loss == "log_loss":
            return _logistic_probabilities(raw)
        return _huber_probabilities(raw)


@kernel_of(SGDRegressor, *AGGRESSIVE_REGRESSORS)
class LinearRegressorKernel(_LinearKernel):
    """Linear regressors."""

    @classmethod
    def supports(cls, estimator: Any, task: Task) -> bool:
        """Whether every parameter, and the fitted state if there is one, is known to be exact."""
        if task.classes is not None or task.method != "predict":
            return False
        return _supports(estimator, task)

    def _learn_first(self, row: Any, target: Any, weight: float) -> None:
        if self._takes_weights:
            self.estimator.partial_fit(row, [target], sample_weight=[weight])
        else:
            self.estimator.partial_fit(row, [target])

    def _answers(self, raw: Floats) -> NDArray[Any]:
        return raw[:, 0]


def _supports(estimator: Any, task: Task) -> bool:
    return (
        task.batch_size == 1
        and _is_accepted_by_sklearn(estimator, task)
        and read_settings(estimator) is not None
        and (not _has_fitted_attributes(estimator) or _can_be_taken_up(estimator, task))
        and _agrees_with_sklearn(numba_enabled())
    )


def _is_accepted_by_sklearn(estimator: Any, task: Task) -> bool:
    """Whether a copy learns one row in silence; errors and warnings are left to the loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the constructor of a deprecated class warns
        copy = clone(estimator).set_params(verbose=0, random_state=0)
        warnings.simplefilter("error")
        try:
            if task.classes is None:
                copy.partial_fit(np.zeros((1, 1)), [0.0])
            else:
                copy.partial_fit(np.zeros((1, 1)), task.classes[:1], classes=task.classes)
        except Exception:
            return False
    return True


def _has_fitted_attributes(estimator: Any) -> bool:
    return any(name.endswith("_") and not name.startswith("_") for name in vars(estimator))


def _is_fitted(estimator: Any) -> bool:
    return hasattr(estimator, "t_")


def _can_be_taken_up(estimator: Any, task: Task) -> bool:
    """Whether a fitted state is complete, of this task, and in double precision."""
    fitted = vars(estimator)
    if not {"coef_", "intercept_", "t_", "n_iter_", "n_features_in_"} <= fitted.keys():
        return False
    d = fitted["n_features_in_"]
    if task.classes is None:
        shapes: list[tuple[int, ...]] = [(d,), (1,)]
    elif not np.array_equal(fitted.get("classes_", ()), task.classes):
        return False
    else:
        n_vectors = 1 if len(task.classes) == 2 else len(task.classes)
        shapes = [(n_vectors, d), (n_vectors,)]
    arrays = [fitted["coef_"], fitted["intercept_"]]
    return all(
        isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
        for array, shape in zip(arrays, shapes, strict=True)
    )


@functools.cache
def _agrees_with_sklearn(compiled: bool) -> bool:
    """Whether the arithmetic of this machine and this scikit-learn is ours, to the last bit.

    Compilers may fuse a product and a sum into one rounding (usual on ARM), and another version
    may compute otherwise; after 40 rows of the default schedule either shows.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 2, size=40)
    plain, ours = (SGDClassifier(loss="log_loss", random_state=0) for _ in range(2))
    for i in range(len(X)):
        plain.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    kernel = LinearClassifierKernel(ours, Task(np.array([0, 1])))
    index, none = np.arange(len(X)), np.empty(0, dtype=np.int64)
    kernel.run(Block(X, index, y, None, X, none, none))
    kernel.export()
    return np.array_equal(plain.coef_, ours.coef_) and np.array_equal(
        plain.intercept_, ours.intercept_
    )


def _class_weights(estimator: Any, task: Task) -> Floats:
    if task.classes is None:
        return np.ones(0)
    weights = compute_class_weight(estimator.class_weight, classes=task.classes, y=task.classes)
    return np.asarray(weights, dtype=np.float64)


def _without_batches(block: Block) -> Block:
    if block.batches is None or len(block.batches) == block.n_learns + 1:
        return block
    raise Declined


def _with_weights_as_repetition(block: Block) -> Block:
    """Repeat rows where the estimator takes no weights: one call, the row several times."""
    if block.weight is None:
        return block
    times = block.weight.astype(np.int64)
    if (times != block.weight).any():
        raise Declined
    ends = np.concatenate([[0], np.cumsum(times)])
    return replace(
        block,
        learn_index=np.repeat(block.learn_index, times),
        y=np.repeat(block.y, times),
        weight=None,
        stamp=ends[block.stamp],
        batches=None,
    )


def _is_foreign(block: Block) -> NDArray[np.bool_]:
    """Which asks are not for the row that is learnt next."""
    if block.ask_X is not block.learn_X or block.n_learns == 0:
        return np.ones(block.n_asks, dtype=bool)
    following = np.minimum(block.stamp, block.n_learns - 1)
    same = block.learn_index[following] == block.ask_index
    return ~same | (block.stamp == block.n_learns)


def _empty_like(rows: Rows | None, state: _State) -> Rows:
    if isinstance(rows, SparseRows):
        return SparseRows(rows.values[:0], rows.at[:0], np.zeros(1, dtype=np.int64))
    return np.empty((0, state.W.shape[1]))


def _is_zero(X: Rows) -> NDArray[np.bool_]:
    """Rows whose squared norm is 0."""
    if isinstance(X, SparseRows):
        counts = np.concatenate([[0], np.cumsum(X.values * X.values != 0.0)])
        return counts[X.bounds[1:]] == counts[X.bounds[:-1]]
    return ~(X * X != 0.0).any(axis=1)


def _first_learn(block: Block) -> tuple[Any, Any, float]:
    row = take_rows(block.learn_X, block.learn_index[:1]).copy()
    return row, block.y[0], 1.0 if block.weight is None else float(block.weight[0])


def _logistic_probabilities(raw: Floats) -> Floats:
    probability = expit(raw)
    if raw.shape[1] == 1:
        return np.hstack([1 - probability, probability])
    total = probability.sum(axis=1, keepdims=True)
    # Since scikit-learn 1.9 classes that are all impossible are equally probable; before, NaN.
    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9):
        return _normalised(probability)
    with np.errstate(invalid="ignore"):
        return probability / total


def _huber_probabilities(raw: Floats) -> Floats:
    probability = (np.clip(raw, -1, 1) + 1.0) / 2.0
    if raw.shape[1] == 1:
        return np.hstack([1 - probability, probability])
    return _normalised(probability)


def _normalised(probability: Floats) -> Floats:
    total = probability.sum(axis=1, keepdims=True)
    impossible = total[:, 0] == 0
    probability[impossible] = 1.0
    total[impossible] = probability.shape[1]
    return probability / total
