"""Kernels of MLPClassifier and MLPRegressor, each row by row.

Weights, moments, losses and answers are those of ``partial_fit`` and ``predict`` to the last bit.
The first row is learnt by the estimator itself, which draws the first weights. Refused: early
stopping and lbfgs (so does ``partial_fit``), verbose output, a ``RandomState`` instance.
"""

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from skstream.engine.answers import answers_to
from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Kernel, Task, value_of
from skstream.engine.kernels.compose import asks_of_next
from skstream.engine.kernels.input import Learnt, read_block
from skstream.engine.kernels.neural_network.network import (
    Floats,
    Layout,
    LossCurve,
    Network,
    Weights,
)
from skstream.engine.kernels.schema import Columns, has_valid_parameters, refused_task
from skstream.utils._rows import own_rows, take_rows
from skstream.utils._sklearn import rows_of
from skstream.utils._validation import is_fitted


@dataclass(frozen=True)
class _State:
    """What has been learnt.

    Attributes
    ----------
    columns : Columns
        Number and names of the features.
    first : estimator
        The estimator after the first row of the kernel, or as it came if it was fitted.
    layout : Layout
        Of the weights.
    weights : Weights
        The rest.
    """

    columns: Columns
    first: Any
    layout: Layout
    weights: Weights


class _PerceptronKernel(Kernel):
    """What classifiers and regressors have in common."""

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

    def initial_state(self) -> _State | None:
        """Return what the estimator has learnt; None before the first row."""
        return _state_of(self.estimator) if is_fitted(self.estimator) else None

    def step(self, state: _State | None, block: Block) -> tuple[_State | None, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.company is not None:
            raise Declined("rows asked in the company of others have no kernel")
        if block.batches is not None and len(block.batches) != block.n_learns + 1:
            raise Declined("batches of several rows have no kernel")
        if not block.n_learns and not block.n_asks:
            nothing = np.empty((0, self._n_outputs))
            return state, answers_to(self.task, partial(self._answers, nothing))
        if state is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("asking before anything is learnt has no kernel")
        rows = read_block(block, Columns() if state is None else state.columns)
        begin = 0
        if state is None:
            state, begin = self._begin(block), 1
        with np.errstate(all="ignore"):
            network, came = self._run(state, block, rows, begin)
        after = replace(state, weights=network.weights())
        if not np.isfinite(after.weights.flat.sum()):
            raise Declined("weights that are not finite have no kernel")
        return after, answers_to(self.task, partial(self._answers, came))

    def _run(self, state: _State, block: Block, rows: Learnt, begin: int) -> tuple[Network, Floats]:
        network = Network(state.layout, state.first, state.weights)
        came = np.empty((block.n_asks, self._n_outputs))
        bounds = (np.arange(block.n_asks + 1) if block.groups is None else block.groups).tolist()
        stamps, is_next = block.stamp.tolist(), asks_of_next(block).tolist()
        targets, weight = self._targets(block.y), block.weight
        learn_rows, ask_rows, alike = self._as_shown(block, rows)
        call, n_calls = 0, len(bounds) - 1
        for at in range(begin, block.n_learns + 1):
            asked = False
            while call < n_calls and stamps[bounds[call]] <= at:
                first, stop = bounds[call], bounds[call + 1]
                call += 1
                if stop == first + 1:
                    came[first] = network.answer(ask_rows(first))[0]
                    asked = alike and is_next[first]
                else:
                    X = _validated(block.ask_X, block.ask_index[first:stop])
                    came[first:stop] = network.answers(X)
                    asked = False
            if at < block.n_learns:
                own = None if weight is None else weight[at : at + 1]
                network.learn(learn_rows(at), targets[at : at + 1], own, asked=asked)
        return network, came

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

    def _begin(self, block: Block) -> _State:
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
        return _state_of(first)

    def export(self, state: _State | None) -> None:
        """Write the fitted attributes into the estimator."""
        if state is None:
            return
        estimator, weights = self.estimator, state.weights
        if state.first is not estimator:
            vars(estimator).update(vars(copy.deepcopy(state.first)))
        if weights.losses.n == len(state.first.loss_curve_):
            return  # nothing was learnt since
        n = state.layout.n_layers
        parts = state.layout.parted(weights.flat)
        estimator.coefs_, estimator.intercepts_ = parts[:n], parts[n:]
        optimizer = copy.copy(estimator._optimizer)
        optimizer.learning_rate = weights.learning_rate
        moments = [state.layout.parted(moment) for moment in weights.moments]
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

    gives_scores = True

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
    rows: NDArray[Any] = check_array(own_rows(take_rows(X, index)), ensure_all_finite=False)
    return rows


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


def _state_of(estimator: Any) -> _State:
    """What a fitted estimator has learnt."""
    coefs, intercepts = estimator.coefs_, estimator.intercepts_
    layout = Layout([len(coefs[0]), *(len(one) for one in intercepts)])
    optimizer, is_adam = estimator._optimizer, estimator.solver == "adam"
    moments = [optimizer.ms, optimizer.vs] if is_adam else [optimizer.velocities]
    weights = Weights(
        flat=layout.joined([*coefs, *intercepts]),
        moments=tuple(layout.joined(one) for one in moments),
        t=optimizer.t if is_adam else 0,
        learning_rate=optimizer.learning_rate,
        n_rows=estimator.t_,
        loss=estimator.loss_,
        best_loss=estimator.best_loss_,
        n_no_improvement=estimator._no_improvement_count,
        losses=LossCurve(list(estimator.loss_curve_)),
    )
    return _State(Columns.of(estimator), estimator, layout, weights)
