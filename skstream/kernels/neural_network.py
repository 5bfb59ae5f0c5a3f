"""Kernels of MLPClassifier and MLPRegressor, each row by row.

Weights, moments, losses and answers are those of ``partial_fit`` and ``predict`` to the last bit.
The first row is learnt by the estimator itself, which draws the first weights. Refused: early
stopping and lbfgs (so does ``partial_fit``), verbose output, a ``RandomState`` instance.

Every product of matrices is the call that scikit-learn makes, with operands of the same shapes, so
that BLAS rounds alike. Everything else is done number by number, and may as well be done to the
weights of all layers at once: they lie in one array, each layer at a multiple of 64 bytes.
"""

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.utils import check_array, check_random_state

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined, Kernel
from skstream.kernels.input import (
    Learnt,
    asks_of_next,
    has_valid_parameters,
    read_block,
    refused_task,
    value_of,
)
from skstream.kernels.memory import MemoryMachine, State
from skstream.utils._rows import own_rows, take_rows
from skstream.utils._sklearn import perceptron_functions, rows_of
from skstream.utils._validation import is_fitted

Floats = NDArray[np.float64]

ACTIVATIONS, DERIVATIVES, LOSS_FUNCTIONS = perceptron_functions()

#: Layers begin at multiples of so many numbers (64 bytes).
_ALIGNED = 8


class LossCurve:
    """Losses of the rows learnt so far: the first ones of a list that later states go on with."""

    __slots__ = ("_values", "n")

    def __init__(self, values: list[Any]):
        self._values = values
        self.n = len(values)

    def __reduce__(self) -> Any:
        return LossCurve, (self.as_list(),)  # nothing of later states

    def followed_by(self, values: list[Any]) -> "LossCurve":
        """Return the curve with further losses; this one stays as it is."""
        if len(self._values) > self.n:  # another state has gone on from here
            return LossCurve([*self.as_list(), *values])
        self._values.extend(values)
        return LossCurve(self._values)

    def as_list(self) -> list[Any]:
        """The losses, oldest first."""
        return self._values[: self.n]


@dataclass
class Weights:
    """Everything that changes while a network learns. No step changes those of a state.

    Attributes
    ----------
    flat : ndarray of shape (n_numbers,)
        Weights, then intercepts, of all layers.
    moments : list of ndarray of shape (n_numbers,)
        Of Adam the means of the gradients and of their squares, else the velocities.
    t : int
        Rows that Adam has seen.
    learning_rate : float
        The current one.
    n_rows : int
        scikit-learn's ``t_``.
    loss, best_loss : float
        Of the last row, and the smallest.
    n_no_improvement : int
        Rows in turn that did not improve it.
    losses : LossCurve
        Of all rows.
    """

    flat: Floats
    moments: list[Floats]
    t: int
    learning_rate: Any
    n_rows: int
    loss: Any
    best_loss: Any
    n_no_improvement: int
    losses: LossCurve


class Layout:
    """Where the weights and intercepts of each layer are in one array."""

    def __init__(self, units: Sequence[int]):
        self.shapes = list(pairwise(units))
        self.n_layers = len(self.shapes)
        sizes = [a * b for a, b in self.shapes] + [b for _, b in self.shapes]
        room = [-(-size // _ALIGNED) * _ALIGNED for size in sizes]
        begins = np.concatenate([[0], np.cumsum(room)]).astype(int).tolist()
        self.places = [slice(at, at + n) for at, n in zip(begins[:-1], sizes, strict=True)]
        #: Weights come first, then intercepts; and how many numbers there are.
        self.n_weights, self.n_numbers = begins[self.n_layers], begins[-1]

    def views(self, flat: Floats) -> tuple[list[Floats], list[Floats]]:
        """Weights and intercepts of every layer, as views."""
        n = self.n_layers
        coefs = [flat[self.places[k]].reshape(self.shapes[k]) for k in range(n)]
        return coefs, [flat[place] for place in self.places[n:]]

    def zeros(self) -> Floats:
        """An array for all layers, at a multiple of 64 bytes."""
        room = np.zeros(self.n_numbers + _ALIGNED)
        skip = (-room.ctypes.data % (8 * _ALIGNED)) // 8
        return room[skip : skip + self.n_numbers]

    def joined(self, parts: Sequence[NDArray[Any]]) -> Floats:
        """One array of the weights and then the intercepts of all layers."""
        flat = self.zeros()
        for place, part in zip(self.places, parts, strict=True):
            flat[place] = part.ravel()
        return flat

    def parted(self, flat: Floats) -> list[Floats]:
        """Copies of the weights, then of the intercepts, of all layers."""
        coefs, intercepts = self.views(flat)
        return [part.copy() for part in (*coefs, *intercepts)]


class _Memory(NamedTuple):
    """What has been learnt.

    Attributes
    ----------
    first : estimator
        The estimator after the first row of the kernel, or as it came if it was fitted.
    layout : Layout
        Of the weights.
    weights : Weights
        The rest.
    """

    first: Any
    layout: Layout
    weights: Weights


class Network:
    """A network that learns rows, from a state on, which stays as it is.

    Parameters
    ----------
    memory : _Memory
        The state.
    """

    def __init__(self, memory: _Memory):
        model, layout, start = memory
        flat, self._grad = layout.zeros(), layout.zeros()
        flat[:] = start.flat
        self._start, self._layout, self._model = start, layout, model
        self._now = now = replace(start, flat=flat, moments=[one.copy() for one in start.moments])
        self._coefs, self._intercepts = layout.views(now.flat)
        self._coef_grads, self._intercept_grads = layout.views(self._grad)
        self._tmp, self._tmp2 = np.empty_like(now.flat), np.empty_like(now.flat)
        self._activations = [np.empty((1, units)) for _, units in layout.shapes]
        self._deltas = [np.empty((1, units)) for _, units in layout.shapes]
        self._transposed = [coef.T for coef in self._coefs]
        self._ravelled = [coef.ravel() for coef in self._coefs]
        self._hidden = ACTIVATIONS[model.activation]
        self._out = ACTIVATIONS[model.out_activation_]
        self._derivative = DERIVATIVES[model.activation]
        self._loss = getattr(model, "loss", "squared_error")
        if model.out_activation_ == "logistic":
            self._loss = "binary_log_loss"
        self._losses: list[Any] = []
        is_adam = model.solver == "adam"
        self._update = self._update_adam if is_adam else self._update_sgd
        self._schedule = "constant" if is_adam else model._optimizer.lr_schedule

    def weights(self) -> Weights:
        """The state after the rows learnt, after which the network is no longer used."""
        if not self._losses:
            return self._start
        return replace(self._now, losses=self._start.losses.followed_by(self._losses))

    def answer(self, rows: Floats) -> Floats:
        """Output for the rows of one call; for a single one overwritten by the next call."""
        n_layers = len(self._coefs)
        room = self._activations if len(rows) == 1 else [None] * n_layers
        shown = rows
        for k, coef in enumerate(self._coefs):
            shown = np.matmul(shown, coef, out=room[k])
            shown += self._intercepts[k]
            (self._out if k == n_layers - 1 else self._hidden)(shown)
        return shown

    def learn(self, row: Floats, target: Floats, weight: Floats | None, *, asked: bool) -> None:
        """Learn one row; `asked`: it was the last one to be answered, and nothing learnt since."""
        alpha = self._model.alpha
        if not asked:
            self.answer(row)
        activations, deltas = self._activations, self._deltas
        total = 1 if weight is None else weight.sum()
        squares: Any = 0
        for flat in self._ravelled:
            squares += np.dot(flat, flat)
        if weight is None:
            loss = _LOSSES[self._loss](target, activations[-1])
        else:
            loss = LOSS_FUNCTIONS[self._loss](target, activations[-1], weight)
        loss += (0.5 * alpha) * squares / total
        last = len(deltas) - 1
        np.subtract(activations[-1], target, out=deltas[last])
        if weight is not None:
            deltas[last] *= weight.reshape(-1, 1)
        for k in range(last, -1, -1):
            shown = row if k == 0 else activations[k - 1]
            np.matmul(shown.T, deltas[k], out=self._coef_grads[k])
            np.add.reduce(deltas[k], axis=0, out=self._intercept_grads[k])
            if k:
                np.matmul(deltas[k], self._transposed[k], out=deltas[k - 1])
                self._derivative(activations[k - 1], deltas[k - 1])
        n = self._layout.n_weights
        np.multiply(self._now.flat[:n], alpha, out=self._tmp[:n])
        self._grad[:n] += self._tmp[:n]
        if weight is not None:
            self._grad /= total
        self._update()
        self._note(0.0 + loss * 1)

    def _note(self, loss: Any) -> None:
        """Note the loss of a row, as the end of an epoch does."""
        model, now = self._model, self._now
        now.n_rows += 1
        now.loss = loss
        self._losses.append(loss)
        is_worse = loss > now.best_loss - model.tol
        now.n_no_improvement = now.n_no_improvement + 1 if is_worse else 0
        if loss < now.best_loss:
            now.best_loss = loss
        if self._schedule == "invscaling":
            optimizer = model._optimizer
            steps = (now.n_rows + 1) ** optimizer.power_t
            now.learning_rate = float(optimizer.learning_rate_init) / steps
        is_due = self._schedule == "adaptive" and now.n_no_improvement > model.n_iter_no_change
        if is_due and not now.learning_rate <= 1e-6:
            now.learning_rate /= 5.0
            now.n_no_improvement = 0

    def _update_adam(self) -> None:
        optimizer = self._model._optimizer
        beta_1, beta_2 = optimizer.beta_1, optimizer.beta_2
        now, tmp, grad = self._now, self._tmp, self._grad
        means, squares = now.moments
        now.t += 1
        np.multiply(means, beta_1, out=means)
        np.multiply(grad, 1 - beta_1, out=tmp)
        means += tmp
        np.multiply(squares, beta_2, out=squares)
        np.multiply(grad, grad, out=tmp)
        tmp *= 1 - beta_2
        squares += tmp
        rate = optimizer.learning_rate_init
        now.learning_rate = rate * np.sqrt(1 - beta_2**now.t) / (1 - beta_1**now.t)
        np.sqrt(squares, out=tmp)
        tmp += optimizer.epsilon
        np.multiply(means, -now.learning_rate, out=self._tmp2)
        self._tmp2 /= tmp
        now.flat += self._tmp2

    def _update_sgd(self) -> None:
        momentum = self._model._optimizer.momentum
        (velocity,) = self._now.moments
        step = np.multiply(self._grad, self._now.learning_rate, out=self._tmp)
        np.multiply(velocity, momentum, out=velocity)
        velocity -= step
        if not self._model._optimizer.nesterov:
            self._now.flat += velocity
            return
        further = np.multiply(velocity, momentum, out=self._tmp2)
        further -= step
        self._now.flat += further


_EPS = np.finfo(np.float64).eps


def _two_classes(target: Floats, came: Floats) -> Any:
    chances = np.clip(came, _EPS, 1 - _EPS)
    return -(xlogy(target, chances) + xlogy(1 - target, 1 - chances))[0].sum()


# scikit-learn's losses of one row without a weight; its own functions take means, which is slower.
_LOSSES: dict[str, Callable[[Floats, Floats], Any]] = {
    "binary_log_loss": _two_classes,
    "log_loss": lambda target, came: -xlogy(target, np.clip(came, _EPS, 1 - _EPS))[0].sum(),
    "squared_error": lambda target, came: 0.5 * ((target - came) ** 2)[0].mean(),
    "poisson": lambda target, came: (xlogy(target, target / came) - target + came)[0].sum(),
}


class _PerceptronKernel(MemoryMachine, Kernel):
    """What classifiers and regressors have in common."""

    gives_scores = True

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse what ``partial_fit`` refuses, batches, and draws that go on from call to call."""
        if estimator.solver not in ("sgd", "adam"):
            return value_of(estimator, "solver")
        if estimator.early_stopping or estimator.verbose:
            return value_of(estimator, "early_stopping" if estimator.early_stopping else "verbose")
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        if isinstance(estimator.random_state, np.random.RandomState):
            return "a random_state that draws on from call to call"
        if not has_valid_parameters(estimator):
            return "parameters that it refuses"
        return _refused_state(estimator) if is_fitted(estimator) else None

    def _read(self) -> _Memory:
        return _memory_of(self.estimator)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.company is not None:
            raise Declined("rows asked in the company of others have no kernel")
        if block.batches is not None and len(block.batches) != block.n_learns + 1:
            raise Declined("batches of several rows have no kernel")
        came = np.empty((block.n_asks, self._n_outputs))
        if not block.n_learns and not block.n_asks:
            return state, answers_to(self.task, partial(self._answers, came))
        memory: _Memory | None = state.memory
        if memory is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("predicting before any training has no kernel")
        rows = read_block(block, state.columns)
        n_known = 0
        if memory is None:
            memory, n_known = self._begin(block), 1
        with np.errstate(all="ignore"):
            weights = self._run(Network(memory), block, rows, n_known, came)
        if not np.isfinite(weights.flat.sum()):
            raise Declined("weights that are not finite have no kernel")
        after = state.after(block, rows.columns, memory._replace(weights=weights))
        return after, answers_to(self.task, partial(self._answers, came))

    def _run(
        self, network: Network, block: Block, rows: Learnt, n_known: int, came: Floats
    ) -> Weights:
        """Execute a block, whose first rows are known; fill in what the outputs were."""
        is_next = asks_of_next(block).tolist()
        targets, weight = self._targets(block.y), block.weight
        learn_rows, ask_rows, alike = self._as_shown(block, rows)
        asked = False
        for is_ask, first, stop in block.calls():
            if is_ask and stop == first + 1:
                came[first] = network.answer(ask_rows(first))[0]
                asked = alike and is_next[first]
            elif is_ask:
                X = _validated(block.ask_X, block.ask_index[first:stop])
                came[first:stop] = network.answer(X)
                asked = False
            elif first >= n_known:
                own = None if weight is None else weight[first:stop]
                network.learn(learn_rows(first), targets[first:stop], own, asked=asked)
                asked = False
        return network.weights()

    def _as_shown(
        self, block: Block, rows: Learnt
    ) -> tuple[Callable[[int], Floats], Callable[[int], Floats], bool]:
        """Return what gives a row to learn, what a row to ask, and whether both lie alike."""
        nothing = np.empty((1, 0))
        learnt = asked = nothing
        if block.n_asks:
            asked = _validated(block.ask_X, block.ask_index[:1])
        if block.n_learns:
            row = _validated(block.learn_X, block.learn_index[:1])
            learnt = check_array(row, dtype=np.float64, ensure_all_finite=False)
            if self.estimator.shuffle:
                learnt = rows_of(learnt, np.zeros(1, dtype=int))
        alike = learnt.dtype == asked.dtype and learnt.strides == asked.strides
        return _one_by_one(rows.learn, learnt), _one_by_one(rows.ask, asked), alike

    def _begin(self, block: Block) -> _Memory:
        """Let a copy of the estimator learn the first row."""
        first = copy.deepcopy(self.estimator)
        rows = own_rows(take_rows(block.learn_X, block.learn_index[:1]))
        known: dict[str, Any] = {}
        y = block.y[:1].copy()
        if self.task.classes is not None:
            y, known["classes"] = self.task.classes[y], self.task.classes.copy()
        if block.weight is not None:
            known["sample_weight"] = block.weight[:1].copy()
        try:
            first.partial_fit(rows, y, **known)
        except Exception as error:
            raise Declined("a first row at which the estimator fails has no kernel") from error
        refused = _refused_state(first)
        if refused is not None:
            raise Declined(f"{type(first).__name__} with {refused} has no kernel")
        return _memory_of(first)

    def _write(self, memory: _Memory) -> None:
        estimator, (first, layout, weights) = self.estimator, memory
        if first is not estimator:
            vars(estimator).update(vars(copy.deepcopy(first)))
        if weights.losses.n == len(first.loss_curve_):
            return  # nothing was learnt since
        n = layout.n_layers
        parts = layout.parted(weights.flat)
        estimator.coefs_, estimator.intercepts_ = parts[:n], parts[n:]
        optimizer = copy.copy(estimator._optimizer)
        optimizer.learning_rate = weights.learning_rate
        moments = [layout.parted(moment) for moment in weights.moments]
        if estimator.solver == "adam":
            optimizer.t = weights.t
            optimizer.ms, optimizer.vs = moments
        else:
            (optimizer.velocities,) = moments
        estimator._optimizer = optimizer
        estimator.loss_, estimator.best_loss_ = weights.loss, weights.best_loss
        estimator.t_, estimator.n_iter_ = weights.n_rows, 1
        estimator._no_improvement_count = weights.n_no_improvement
        estimator._random_state = check_random_state(estimator.random_state)
        estimator.loss_curve_ = weights.losses.as_list()

    @property
    @abstractmethod
    def _n_outputs(self) -> int:
        """Number of outputs of the network."""

    @abstractmethod
    def _targets(self, y: NDArray[Any]) -> Floats:
        """Return what the outputs should be, for rows with these codes or targets."""

    @abstractmethod
    def _answers(self, came: Floats, task: Task) -> NDArray[Any]:
        """Return the answers of one kind that outputs mean."""


class PerceptronClassifierKernel(_PerceptronKernel):
    """Kernel of `sklearn.neural_network.MLPClassifier`."""

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other tasks, too."""
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is None and len(task.classes) < 2:  # type: ignore[arg-type]
            refused = "a single class"
        return refused or super().refusal(estimator, task)

    @property
    def _n_outputs(self) -> int:
        assert self.task.classes is not None
        n = len(self.task.classes)
        return 1 if n == 2 else n

    def _targets(self, y: NDArray[Any]) -> Floats:
        if self._n_outputs == 1:
            return y.astype(np.float64).reshape(-1, 1)
        return np.asarray(y[:, np.newaxis] == np.arange(self._n_outputs), dtype=np.float64)

    def _answers(self, came: Floats, task: Task) -> NDArray[Any]:
        if task.method == "predict_proba":
            if self._n_outputs > 1:
                return came
            return np.column_stack([1 - came[:, 0], came[:, 0]])
        if self._n_outputs > 1:
            return np.asarray(np.argmax(came, axis=1))
        return (came[:, 0] > 0.5).astype(np.int64)


class PerceptronRegressorKernel(_PerceptronKernel):
    """Kernel of `sklearn.neural_network.MLPRegressor`."""

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other tasks, too."""
        if task.classes is not None:
            return "a classification task"
        if task.method != "predict":
            return f"{task.method} as the answer"
        return super().refusal(estimator, task)

    @property
    def _n_outputs(self) -> int:
        return 1

    def _targets(self, y: NDArray[Any]) -> Floats:
        return np.asarray(y, dtype=np.float64).reshape(-1, 1)

    def _answers(self, came: Floats, task: Task) -> NDArray[Any]:
        return came[:, 0]


def _validated(X: Any, index: NDArray[np.intp]) -> NDArray[Any]:
    """Rows as the loop shows them, after scikit-learn's check of them."""
    return check_array(own_rows(take_rows(X, index)), ensure_all_finite=False)


def _one_by_one(rows: Floats, shown: NDArray[Any]) -> Callable[[int], NDArray[Any]]:
    """Return what gives a row with the type and the strides of one that the loop has shown.

    BLAS is asked for another product, which may round otherwise, where a row lies in memory as
    those of an array do that is stored column by column.
    """
    if shown.dtype == np.float64 and shown.flags.c_contiguous and shown.strides[0] != 8:
        return lambda at: rows[at : at + 1]

    room = shown if shown.flags.writeable else np.empty(shown.shape[::-1], shown.dtype).T
    if room.strides != shown.strides:
        raise Declined("rows with such a layout in memory have no kernel")

    def filled(at: int) -> NDArray[Any]:
        room[0] = rows[at]
        return room

    return filled


def _refused_state(estimator: Any) -> str | None:
    """Refuse a fitted estimator whose parts are not those that its parameters make."""
    optimizer = getattr(estimator, "_optimizer", None)
    kind = {"adam": "AdamOptimizer", "sgd": "SGDOptimizer"}[estimator.solver]
    if type(optimizer).__name__ != kind or not hasattr(estimator, "loss_curve_"):
        return "weights that another solver has learnt"
    if any(part.dtype != np.float64 for part in (*estimator.coefs_, *estimator.intercepts_)):
        return "weights of another precision"
    hidden = np.atleast_1d(estimator.hidden_layer_sizes).tolist()
    if [len(one) for one in estimator.intercepts_[:-1]] != hidden:
        return "other hidden_layer_sizes than those learnt"
    if estimator.n_outputs_ != len(estimator.intercepts_[-1]):
        return "several outputs"
    return None


def _memory_of(estimator: Any) -> _Memory:
    """What a fitted estimator has learnt."""
    coefs, intercepts = estimator.coefs_, estimator.intercepts_
    layout = Layout([len(coefs[0]), *(len(one) for one in intercepts)])
    optimizer, is_adam = estimator._optimizer, estimator.solver == "adam"
    moments = [optimizer.ms, optimizer.vs] if is_adam else [optimizer.velocities]
    weights = Weights(
        flat=layout.joined([*coefs, *intercepts]),
        moments=[layout.joined(one) for one in moments],
        t=optimizer.t if is_adam else 0,
        learning_rate=optimizer.learning_rate,
        n_rows=estimator.t_,
        loss=estimator.loss_,
        best_loss=estimator.best_loss_,
        n_no_improvement=estimator._no_improvement_count,
        losses=LossCurve(list(estimator.loss_curve_)),
    )
    return _Memory(estimator, layout, weights)
