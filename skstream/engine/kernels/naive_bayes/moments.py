"""Mean and variance after every row: scikit-learn's recurrence, and a fast equivalent.

scikit-learn combines the mean and variance so far with each new row. Row by row in Python that
is slow, so that most features take another way: sums of deviations from an anchor (the mean of
the rows before), and of their squares, from which mean and variance follow after every row at
once. The two agree to about 1e-13 where the spread of a feature is not tiny beside its mean.
Where it is, and for the first rows of a class, the recurrence itself is used, because there
scikit-learn's own rounding decides (a variance of 1e-30 instead of 0 makes another answer).
"""

from dataclasses import dataclass, field

import numpy as np

from skstream.engine.kernels.base import Declined
from skstream.engine.kernels.cuts import Floats
from skstream.utils._running_sums import running_sums

# The first rows of a class go through the recurrence: variances may still be 0.
_FIRST_ROWS = 32
# Rows between two anchors. Counted by the rows learnt: not by how they were cut into blocks.
_ANCHOR_EVERY = 2048
# Features with a standard deviation below 1e-5 of their mean go through the recurrence.
_TINY_VARIANCE = 1e-10
# Share of a sum of squares that may cancel before the loop should take over.
_MAX_CANCELLATION = 1e6


@dataclass
class Moments:
    """Weight, mean and variance of the rows of one class so far.

    Attributes
    ----------
    mean, var : ndarray of shape (n_features,)
    weight : float
        Sum of the weights of the rows.
    n_rows : int
        Number of rows, as far as it matters: anchors lie on a grid of it.
    """

    mean: Floats
    var: Floats
    weight: float = 0.0
    n_rows: int = 0
    _squares: Floats = field(init=False, repr=False)
    _sum: Floats = field(init=False, repr=False)
    _sum_of_squares: Floats = field(init=False, repr=False)
    _anchor: Floats = field(init=False, repr=False)
    _tiny: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.n_rows = int(min(self.weight, _FIRST_ROWS))
        self.mean, self.var = self.mean.copy(), self.var.copy()
        self._drop_anchor()

    def learn(self, x: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
        """Learn rows; return means and variances after 0, 1, ... of them.

        Parameters
        ----------
        x : ndarray of shape (n_rows, n_features)
        weight : ndarray of shape (n_rows,) or None

        Returns
        -------
        means, variances : ndarray of shape (n_rows + 1, n_features)

        Raises
        ------
        Declined
            If too many digits cancel: only with weights of very different sizes.
        """
        means, variances = np.empty((2, len(x) + 1, len(self.mean)))
        means[0], variances[0] = self.mean, self.var
        first = 0
        while first < len(x):
            last = min(len(x), first + self._rows_to_next_anchor())
            part, after = slice(first, last), slice(first + 1, last + 1)
            w = None if weight is None else weight[part]
            known = np.full(last - first, 1.0) if w is None else w
            weights = running_sums(np.array([self.weight]), known[:, None])[:, 0]
            if self.n_rows < _FIRST_ROWS:
                means[after], variances[after] = recur(self.mean, self.var, weights, x[part], w)
            else:
                self._sum_up(x[part], w, weights, means[after], variances[after])
            self.mean, self.var = means[last].copy(), variances[last].copy()
            self.weight = float(weights[-1])
            self.n_rows += last - first
            if self.n_rows == _FIRST_ROWS or self._rows_to_next_anchor() == _ANCHOR_EVERY:
                self._drop_anchor()
            first = last
        return means, variances

    def _rows_to_next_anchor(self) -> int:
        if self.n_rows < _FIRST_ROWS:
            return _FIRST_ROWS - self.n_rows
        return _ANCHOR_EVERY - (self.n_rows - _FIRST_ROWS) % _ANCHOR_EVERY

    def _drop_anchor(self) -> None:
        """Let the sums begin anew, from the mean so far."""
        n_features = len(self.mean)
        self._anchor = self.mean
        self._squares = self.var * self.weight
        self._sum, self._sum_of_squares = np.zeros((2, n_features))
        self._tiny = (self.var <= _TINY_VARIANCE * self.mean**2) & (self.mean != 0)

    def _sum_up(
        self, x: Floats, weight: Floats | None, weights: Floats, means: Floats, variances: Floats
    ) -> None:
        """Fill in the means and variances after each row, from prefix sums."""
        deviations = x - self._anchor
        steps = deviations if weight is None else deviations * weight[:, None]
        sums = running_sums(self._sum, steps)[1:]
        np.multiply(steps, deviations, out=deviations)
        squares = running_sums(self._sum_of_squares, deviations)[1:]
        self._sum, self._sum_of_squares = sums[-1].copy(), squares[-1].copy()
        after = weights[1:, None]
        np.divide(sums, after, out=means)
        whole = None if weight is None else squares + self._squares
        squares -= np.multiply(sums, means, out=sums)
        squares += self._squares
        if whole is not None and (whole > squares * _MAX_CANCELLATION)[:, ~self._tiny].any():
            raise Declined("weights of very different sizes have no kernel")
        np.maximum(squares, 0.0, out=squares)
        np.divide(squares, after, out=variances)
        means += self._anchor
        tiny = np.flatnonzero(self._tiny)
        if len(tiny):
            exact = recur(self.mean[tiny], self.var[tiny], weights, x[:, tiny], weight)
            means[:, tiny], variances[:, tiny] = exact


def recur(
    mean: Floats, var: Floats, weights: Floats, x: Floats, weight: Floats | None
) -> tuple[Floats, Floats]:
    """Update mean and variance with one row after the other, exactly as scikit-learn does.

    Parameters
    ----------
    mean, var : ndarray of shape (n_features,)
        State before the first row.
    weights : ndarray of shape (n_rows + 1,)
        Weight before the first row and after each.
    x : ndarray of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.

    Returns
    -------
    means, variances : ndarray of shape (n_rows, n_features)
        States after each row.
    """
    means, variances = np.empty((2, *x.shape))
    first = _rows_that_change_nothing(mean, var, weights, x, weight)
    means[:first], variances[:first] = mean, var
    totals = weights.tolist()
    for i in range(first, len(x)):
        row, n, total = x[i], totals[i], totals[i + 1]
        row_weight, row_var = 1.0, 0.0
        if weight is not None:
            # A weighted mean of one row: not always the row itself.
            row_weight = weight[i]
            row = row * row_weight / row_weight
            row_var = (x[i] - row) ** 2 * row_weight / row_weight
        if n == 0.0:
            mean = row + 0.0  # NumPy's mean of -0.0 is 0.0
            var = np.broadcast_to(row_var, row.shape)
        else:
            squares = n * var + row_weight * row_var
            squares = squares + (row_weight * n / total) * (mean - row) ** 2
            mean, var = (row_weight * row + n * mean) / total, squares / total
        means[i], variances[i] = mean, var
    return means, variances


def _rows_that_change_nothing(
    mean: Floats, var: Floats, weights: Floats, x: Floats, weight: Floats | None
) -> int:
    """Leading rows at which constant features of few digits stay as they are, to the bit.

    A column of ones would otherwise go through the recurrence forever.
    """
    whole = weight is None or bool((weights == np.trunc(weights)).all())
    few_digits = bool((mean.astype(np.float32) == mean).all())
    if not (whole and few_digits) or var.any() or weights[0] == 0 or weights[-1] >= 2**29:
        return 0
    changed = (x != mean).any(axis=1)
    return int(changed.argmax()) if changed.any() else len(x)
