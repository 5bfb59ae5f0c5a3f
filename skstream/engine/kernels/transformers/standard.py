"""Kernel for StandardScaler: scikit-learn's own recurrence, bit for bit."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, TransformKernel
from skstream.engine.kernels.cuts import Floats, Integers, pieces, rows_per_piece
from skstream.engine.kernels.input import check_stored_once, read_block
from skstream.engine.kernels.schema import Columns, refused_scaler
from skstream.utils._numba import jit, numba_enabled
from skstream.utils._validation import is_fitted

_EPS = np.finfo(np.float64).eps
# Up to this weight the spread that scikit-learn finds in a single weighted row is exactly 0:
# w·x/w may differ from x by a power of two, of which squares and products are exact.
_MAX_WEIGHT = 2.0**26
# Weights of float32 rows are counted in float32, which knows no more whole numbers.
_MAX_SINGLE_COUNT = 2.0**24


@dataclass(slots=True)
class _Moments:
    """What the scaler has learnt; `n` counts rows, or sums their weights."""

    n: float
    mean: Floats
    var: Floats

    def copy(self) -> "_Moments":
        """Copy, to be brought forward."""
        return _Moments(self.n, self.mean.copy(), self.var.copy())


class _State(NamedTuple):
    """Columns and moments; no step changes the moments of a state."""

    columns: Columns
    moments: _Moments | None
    newest_is_weighted: bool = False
    has_learnt: bool = False


class StandardScalerKernel(TransformKernel):
    """StandardScaler, taught row by row; CSR rows without centring.

    Whole weights only, so that their sum is a whole number, as it is for rows without weights.
    """

    expands = False
    shareable = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        # Without both, the scaler counts rows, and that is all.
        self._is_idle = not estimator.with_mean and not estimator.with_std

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse batches, rows that are not copied, and a state of an unusual kind."""
        refused = refused_scaler(transformer, task, ("copy", "with_mean", "with_std"))
        if refused is not None:
            return refused
        known = not is_fitted(transformer) or _is_usual(transformer)
        return None if known else "a fitted state of an unusual kind"

    def initial_state(self) -> _State:
        """Return what the scaler has learnt."""
        model = self.estimator
        if not is_fitted(model):
            return _State(Columns.of(model), None)
        nothing = np.zeros(model.n_features_in_)
        mean, var = (nothing if of is None else of for of in (model.mean_, model.var_))
        return _State(Columns.of(model), _Moments(float(model.n_samples_seen_), mean, var).copy())

    def step(self, state: _State, block: Block) -> tuple[_State, Block]:
        """Learn and transform; return the state after it, and the block that comes out."""
        if not block.n_learns and not block.n_asks:
            return state, block
        learn, ask, columns = read_block(block, state.columns, accept_sparse=True, keep_single=True)
        is_sparse = sparse.issparse(learn) or sparse.issparse(ask)
        n_learnt = 0.0 if state.moments is None else state.moments.n
        self._check(block, (learn, ask), is_sparse, n_learnt)
        assert columns.number is not None
        if state.moments is None:
            moments = _Moments(0.0, *np.zeros((2, columns.number)))
        else:
            moments = state.moments.copy()
        if self._is_idle or (is_sparse and not self.estimator.with_std):
            moments.n += block.n_learns
        elif is_sparse:
            learn, ask = self._scale_stored_values(block, learn, ask, moments)
        else:
            learn, ask = self._scale(block, learn, ask, moments)
        if block.n_learns:
            state = _State(columns, moments, block.weight is not None, has_learnt=True)
        scaled = replace(
            block,
            learn_X=learn,
            learn_index=np.arange(block.n_learns),
            ask_X=ask,
            ask_index=np.arange(block.n_asks),
        )
        return state, scaled

    def _check(self, block: Block, rows: tuple[Any, Any], is_sparse: bool, n_learnt: float) -> None:
        weight = block.weight
        if weight is not None and ((weight != np.trunc(weight)) | (weight > _MAX_WEIGHT)).any():
            raise Declined("StandardScaler has no kernel for fractional or huge weights")
        is_single = rows[0].dtype == np.float32
        if weight is not None and is_single:
            n_after = n_learnt + weight.sum()
            if self._is_idle or n_after >= _MAX_SINGLE_COUNT:
                raise Declined("StandardScaler has no kernel for such weights of float32 rows")
        if not is_sparse:
            return
        mixed = any(len(X) for X in rows if not sparse.issparse(X))
        if mixed or weight is not None or self.estimator.with_mean:
            raise Declined("StandardScaler has no kernel for weighted or centred sparse rows")
        for X in rows:
            if sparse.issparse(X):
                check_stored_once(X)

    def _scale(
        self, block: Block, learn: Floats, ask: Floats, moments: _Moments
    ) -> tuple[Any, Any]:
        """Dense rows through the states they see; `moments` is brought forward."""
        model = self.estimator
        out = np.empty_like(learn), np.empty_like(ask)
        if numba_enabled():
            weight = np.ones(block.n_learns) if block.weight is None else block.weight
            scale = _scale_of(moments.var, moments.mean, moments.n)
            known = moments.n, moments.mean, moments.var, scale
            flags = bool(model.with_mean), bool(model.with_std)
            moments.n = _run_rows(learn, weight, ask, block.stamp, *known, *flags, *out)
            return out
        for piece in pieces(block, rows_per_piece(len(moments.mean))):
            x = learn[piece.learns].astype(np.float64, copy=False)
            n, means, variances = _states(moments, x, piece.weight)
            scales = _scale_of(variances, means, n[:, None])
            for rows, of_row, into in (
                (learn[piece.learns], np.arange(1, len(n)), out[0][piece.learns]),
                (ask[piece.asks], piece.stamp, out[1][piece.asks]),
            ):
                into[:] = rows
                if model.with_mean:
                    into -= means[of_row].astype(into.dtype, copy=False)
                if model.with_std:
                    into /= scales[of_row].astype(into.dtype, copy=False)
        return out

    def _scale_stored_values(
        self, block: Block, learn: Any, ask: Any, moments: _Moments
    ) -> tuple[Any, Any]:
        """CSR rows: zeros stay zeros, and the others are multiplied, as scikit-learn does."""
        learnt = learn.copy() if block.n_learns else learn
        asked = ask.copy() if block.n_asks else ask
        n_columns = len(moments.mean)
        for piece in pieces(block, rows_per_piece(n_columns)):
            dense = learn[piece.learns].toarray() if len(piece.y) else np.empty((0, n_columns))
            n, means, variances = _states(moments, dense, None)
            factors = 1 / _scale_of(variances, means, n[:, None])
            if len(piece.y):
                _multiply_rows(learnt, piece.learns, factors, np.arange(1, len(n)))
            if len(piece.stamp):
                _multiply_rows(asked, piece.asks, factors, piece.stamp)
        return learnt, asked

    def export(self, state: _State) -> None:
        """Write the fitted attributes of scikit-learn."""
        if not state.has_learnt:
            return
        assert state.moments is not None
        model, moments = self.estimator, state.moments
        state.columns.export(model)
        if self._is_idle:
            model.mean_ = model.var_ = model.scale_ = None
            whole = np.float64 if state.newest_is_weighted else np.int64
            model.n_samples_seen_ = whole(moments.n)
            return
        model.n_samples_seen_ = np.float64(moments.n)
        model.mean_ = moments.mean.copy()
        model.var_ = moments.var.copy() if model.with_std else None
        model.scale_ = _scale_of(moments.var, moments.mean, moments.n) if model.with_std else None


def _is_usual(scaler: Any) -> bool:
    """Whether a fitted scaler has one whole count for all features, and computes in float64."""
    count = scaler.n_samples_seen_
    idle = not scaler.with_mean and not scaler.with_std
    return (
        np.ndim(count) == 0
        and float(count).is_integer()
        and (scaler.mean_ is None) == idle
        and (scaler.var_ is None) == (not scaler.with_std)
        and all(
            moment is None or moment.dtype == np.float64 for moment in (scaler.mean_, scaler.var_)
        )
    )


def _scale_of(var: Floats, mean: Floats, n: Any) -> Floats:
    """Standard deviations; 1 for features that scikit-learn takes for constant."""
    bound = n * _EPS * var + (n * mean * _EPS) ** 2
    scale: Floats = np.sqrt(var)
    scale[var <= bound] = 1.0
    return scale


def _multiply_rows(X: Any, rows: slice, factors: Floats, state: Integers) -> None:
    """Multiply the stored values of some rows by the factors of their states."""
    bounds = X.indptr[rows.start : rows.stop + 1]
    stored = slice(bounds[0], bounds[-1])
    X.data[stored] *= factors[np.repeat(state, np.diff(bounds)), X.indices[stored]]


def _states(
    moments: _Moments, x: Floats, weight: Floats | None
) -> tuple[Floats, NDArray[np.float64], NDArray[np.float64]]:
    """Counts, means and variances after 0, 1, ... rows; `moments` is brought forward."""
    means, variances = np.empty((2, len(x) + 1, x.shape[1]))
    means[0], variances[0] = moments.mean, moments.var
    counts = [moments.n]
    total, change = np.empty((2, x.shape[1]))
    for i, row in enumerate(x):
        w = 1.0 if weight is None else weight[i]
        n = counts[-1]
        after = n + w
        row_sum = row if w == 1.0 else row * w
        np.multiply(means[i], n, out=total)
        mean = np.add(total, row_sum, out=means[i + 1])
        mean /= after
        var = variances[i + 1]
        if n == 0.0:
            var[:] = 0.0
        else:
            share = n / w
            np.divide(total, share, out=change)
            change -= row_sum
            change *= change
            change *= share / after
            np.multiply(variances[i], n, out=var)
            var += change
            var /= after
        counts.append(after)
    moments.n, moments.mean, moments.var = counts[-1], means[-1].copy(), variances[-1].copy()
    return np.array(counts), means, variances


@jit
def _run_rows(  # type: ignore[no-untyped-def]
    learn, weight, ask, stamp, n, mean, var, scale, with_mean, with_std, learn_out, ask_out
):
    """Execute learns and asks in order; returns the count, and updates the moments in place."""
    done = 0
    for i in range(len(ask) + 1):
        until = stamp[i] if i < len(ask) else len(learn)
        for t in range(done, until):
            n = _learn_row(learn, t, weight[t], n, mean, var, scale)
            _transform_row(learn, t, mean, scale, with_mean, with_std, learn_out)
        done = until
        if i < len(ask):
            _transform_row(ask, i, mean, scale, with_mean, with_std, ask_out)
    return n


@jit
def _transform_row(x, i, mean, scale, with_mean, with_std, out):  # type: ignore[no-untyped-def]
    for j in range(x.shape[1]):
        value = x[i, j]
        if with_mean:
            value = value - x.dtype.type(mean[j])
        if with_std:
            value = value / x.dtype.type(scale[j])
        out[i, j] = value


@jit
def _learn_row(x, t, w, n, mean, var, scale):  # type: ignore[no-untyped-def]
    """Combine the moments with a row, in scikit-learn's order of operations."""
    after = n + w
    share = n / w
    for j in range(x.shape[1]):
        row_sum = x[t, j] * w
        total = mean[j] * n
        squares = 0.0
        if n != 0.0:
            change = total / share - row_sum
            squares = var[j] * n + share / after * (change * change)
        mean[j] = (total + row_sum) / after
        var[j] = squares / after
        size = after * mean[j] * _EPS
        if var[j] <= after * _EPS * var[j] + size * size:
            scale[j] = 1.0
        else:
            scale[j] = np.sqrt(var[j])
    return after
