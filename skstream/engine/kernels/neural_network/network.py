"""The arithmetic of a multi-layer perceptron that learns one row at a time.

Every product of matrices is the call that scikit-learn makes, with operands of the same shapes, so
that BLAS rounds alike. Everything else is done number by number, and may as well be done to the
weights of all layers at once: they lie in one array, each layer at a multiple of 64 bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from skstream.utils._sklearn import perceptron_functions

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


@dataclass(frozen=True)
class Weights:
    """Everything that changes while a network learns. No step changes the arrays of a state.

    Attributes
    ----------
    flat : ndarray of shape (n_numbers,)
        Weights, then intercepts, of all layers.
    moments : tuple of ndarray of shape (n_numbers,)
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
    moments: tuple[Floats, ...]
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


class Network:
    """A network that learns rows in place, from a state on.

    Parameters
    ----------
    layout : Layout
        Of the weights.
    model : estimator
        A fitted perceptron, for its parameters.
    weights : Weights
        The state, which stays as it is.
    """

    def __init__(self, layout: Layout, model: Any, weights: Weights):
        self._layout, self._model, self._start = layout, model, weights
        self._flat, self._grad = layout.zeros(), layout.zeros()
        self._flat[:] = weights.flat
        self._coefs, self._intercepts = layout.views(self._flat)
        self._coef_grads, self._intercept_grads = layout.views(self._grad)
        self._moments = [moment.copy() for moment in weights.moments]
        self._tmp, self._tmp2 = np.empty_like(self._flat), np.empty_like(self._flat)
        self._activations = [np.empty((1, units)) for _, units in layout.shapes]
        self._deltas = [np.empty((1, units)) for _, units in layout.shapes]
        self._transposed = [coef.T for coef in self._coefs]
        self._ravelled = [coef.ravel() for coef in self._coefs]
        self._hidden = ACTIVATIONS[model.activation]
        self._out = ACTIVATIONS[model.out_activation_]
        self._derivative = DERIVATIVES[model.activation]
        is_binary = model.out_activation_ == "logistic"
        self._loss_name = (
            "binary_log_loss" if is_binary else getattr(model, "loss", "squared_error")
        )
        self._t, self._learning_rate = weights.t, weights.learning_rate
        self._n_rows, self._loss = weights.n_rows, weights.loss
        self._best, self._n_bad = weights.best_loss, weights.n_no_improvement
        self._losses: list[Any] = []
        is_adam = model.solver == "adam"
        self._update = self._update_adam if is_adam else self._update_sgd
        self._schedule = "constant" if is_adam else model._optimizer.lr_schedule

    def weights(self) -> Weights:
        """The state after the rows learnt."""
        if not self._losses:
            return self._start
        return replace(
            self._start,
            flat=self._flat.copy(),
            moments=tuple(moment.copy() for moment in self._moments),
            t=self._t,
            learning_rate=self._learning_rate,
            n_rows=self._n_rows,
            loss=self._loss,
            best_loss=self._best,
            n_no_improvement=self._n_bad,
            losses=self._start.losses.followed_by(self._losses),
        )

    def answer(self, row: Floats) -> Floats:
        """Output for one row of shape (1, n_features); overwritten by the next call."""
        shown = row
        last = len(self._coefs) - 1
        for k, coef in enumerate(self._coefs):
            came = np.matmul(shown, coef, out=self._activations[k])
            came += self._intercepts[k]
            (self._out if k == last else self._hidden)(came)
            shown = came
        return shown

    def answers(self, rows: Floats) -> Floats:
        """Output for several rows of one call."""
        shown = rows
        last = len(self._coefs) - 1
        for k, coef in enumerate(self._coefs):
            shown = np.matmul(shown, coef)
            shown += self._intercepts[k]
            (self._out if k == last else self._hidden)(shown)
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
            loss = _LOSSES[self._loss_name](target, activations[-1])
        else:
            loss = LOSS_FUNCTIONS[self._loss_name](target, activations[-1], weight)
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
        np.multiply(self._flat[:n], alpha, out=self._tmp[:n])
        self._grad[:n] += self._tmp[:n]
        if weight is not None:
            self._grad /= total
        self._update()
        self._note(0.0 + loss * 1)

    def _note(self, loss: Any) -> None:
        """Note the loss of a row, as the end of an epoch does."""
        model = self._model
        self._n_rows += 1
        self._loss = loss
        self._losses.append(loss)
        self._n_bad = self._n_bad + 1 if loss > self._best - model.tol else 0
        if loss < self._best:
            self._best = loss
        if self._schedule == "invscaling":
            optimizer = model._optimizer
            steps = (self._n_rows + 1) ** optimizer.power_t
            self._learning_rate = float(optimizer.learning_rate_init) / steps
        is_due = self._schedule == "adaptive" and self._n_bad > model.n_iter_no_change
        if is_due and not self._learning_rate <= 1e-6:
            self._learning_rate /= 5.0
            self._n_bad = 0

    def _update_adam(self) -> None:
        optimizer = self._model._optimizer
        beta_1, beta_2 = optimizer.beta_1, optimizer.beta_2
        means, squares = self._moments
        tmp, grad = self._tmp, self._grad
        self._t += 1
        np.multiply(means, beta_1, out=means)
        np.multiply(grad, 1 - beta_1, out=tmp)
        means += tmp
        np.multiply(squares, beta_2, out=squares)
        np.multiply(grad, grad, out=tmp)
        tmp *= 1 - beta_2
        squares += tmp
        self._learning_rate = (
            optimizer.learning_rate_init * np.sqrt(1 - beta_2**self._t) / (1 - beta_1**self._t)
        )
        np.sqrt(squares, out=tmp)
        tmp += optimizer.epsilon
        np.multiply(means, -self._learning_rate, out=self._tmp2)
        self._tmp2 /= tmp
        self._flat += self._tmp2

    def _update_sgd(self) -> None:
        momentum = self._model._optimizer.momentum
        (velocity,) = self._moments
        step = np.multiply(self._grad, self._learning_rate, out=self._tmp)
        np.multiply(velocity, momentum, out=velocity)
        velocity -= step
        if not self._model._optimizer.nesterov:
            self._flat += velocity
            return
        further = np.multiply(velocity, momentum, out=self._tmp2)
        further -= step
        self._flat += further


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
