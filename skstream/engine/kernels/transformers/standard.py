"""Kernel for StandardScaler: scikit-learn's own recurrence, bit for bit."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, decline_uncompiled
from skstream.engine.kernels.cuts import Floats, Integers, pieces, rows_per_piece
from skstream.engine.kernels.input import check_stored_once, read_block
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import Columns, refused_scaler
from skstream.utils._numba import jit
from skstream.utils._validation import is_fitted

_EPS = np.finfo(np.float64).eps
# Up to this weight the spread that scikit-learn finds in a single weighted row is exactly 0:
# w·x/w may differ from x by a power of two, of which squares and products are exact.
_MAX_WEIGHT = 2.0**26
# Weights of float32 rows are counted in float32, which knows no more whole numbers.
_MAX_SINGLE_COUNT = 2.0**24
# Without numba the loops take two microseconds for a feature: with so many, nearly as long as the
# scaler's own calls.
_UNCOMPILED_FEATURES = 150


@dataclass(slots=True)
class _Moments:
    """What the scaler has learnt; `n` counts rows, or sums their weights."""

    n: float
    mean: Floats
    var: Floats
    newest_is_weighted: bool = False

    def copy(self) -> "_Moments":
        """Copy, to be brought forward."""
        return replace(self, mean=self.mean.copy(), var=self.var.copy())


class StandardScalerKernel(MemoryTransformKernel):
    """StandardScaler, taught row by row; CSR rows without centring.

    Whole weights only, so that their sum is a whole number, as it is for rows without weights.
    """

    expands = False

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

    def _read(self) -> _Moments:
        model, nothing = self.estimator, np.zeros(self.estimator.n_features_in_)
        mean, var = (nothing if of is None else of for of in (model.mean_, model.var_))
        return _Moments(float(model.n_samples_seen_), mean, var).copy()

    def _execute(self, state: State, block: Block) -> tuple[Columns, _Moments, Block]:
        learn, ask, columns = read_block(block, state.columns, accept_sparse=True, keep_single=True)
        is_sparse = sparse.issparse(learn) or sparse.issparse(ask)
        nothing = _Moments(0.0, *np.zeros((2, columns.number or 0)))
        moments = (state.memory or nothing).copy()
        moments.newest_is_weighted = block.weight is not None
        self._check(block, (learn, ask), is_sparse, moments.n)
        if self._is_idle or (is_sparse and not self.estimator.with_std):
            moments.n += block.n_learns
        else:
            decline_uncompiled(len(moments.mean), "features", _UNCOMPILED_FEATURES)
            scale = self._scale_stored_values if is_sparse else self._scale
            learn, ask = scale(block, learn, ask, moments)
        return columns, moments, showing(block, learn, ask)

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
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        scale = _scale_of(moments.var, moments.mean, moments.n)
        known = moments.n, moments.mean, moments.var, scale
        flags = bool(model.with_mean), bool(model.with_std)
        moments.n = _run_rows(learn, weight, ask, block.stamp, *known, *flags, *out)
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
            scales = np.empty((len(dense) + 1, n_columns))
            scales[0] = _scale_of(moments.var, moments.mean, moments.n)
            moments.n = _learn_rows(dense, moments.n, moments.mean, moments.var, scales)
            factors = 1 / scales
            if len(piece.y):
                _multiply_rows(learnt, piece.learns, factors, np.arange(1, len(factors)))
            if len(piece.stamp):
                _multiply_rows(asked, piece.asks, factors, piece.stamp)
        return learnt, asked

    def _write(self, moments: _Moments) -> None:
        model = self.estimator
        if self._is_idle:
            model.mean_ = model.var_ = model.scale_ = None
            whole = np.float64 if moments.newest_is_weighted else np.int64
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


@jit
def _learn_rows(x, n, mean, var, scales):  # type: ignore[no-untyped-def]
    """Learn rows of weight 1; row ``t + 1`` of `scales` receives the scale after row ``t``."""
    for t in range(len(x)):
        n = _learn_row(x, t, 1.0, n, mean, var, scales[t + 1])
    return n


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
