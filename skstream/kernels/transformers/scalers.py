"""Kernels of scalers that learn: StandardScaler, MinMaxScaler and MaxAbsScaler, bit for bit."""

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.cuts import Floats, Integers, merge_events, parts, rows_per_part
from skstream.kernels.input import (
    DENSE_AND_SPARSE,
    OTHER_PRECISION,
    Columns,
    check_stored_once,
    decline_uncompiled,
    read_block,
    refused_scaler,
    value_of,
)
from skstream.kernels.memory import MemoryTransformKernel, State, showing
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


class _Moments(NamedTuple):
    """What a StandardScaler has learnt; `n` counts rows, or sums their weights."""

    n: float
    mean: Floats
    var: Floats


class StandardScalerKernel(MemoryTransformKernel):
    """StandardScaler, taught row by row, by scikit-learn's recurrence; CSR rows without centring.

    Whole weights only, so that their sum is a whole number, as it is for rows without weights.
    """

    expands = False

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse batches, rows that are not copied, and a state of an unusual kind."""
        refused = refused_scaler(transformer, task, ("copy", "with_mean", "with_std"))
        if refused is not None:
            return refused
        if not (transformer.with_mean or transformer.with_std):
            return "with_mean=False and with_std=False"
        known = not is_fitted(transformer) or _is_usual(transformer)
        return None if known else "a fitted state of an unusual kind"

    def _read(self) -> _Moments:
        model = self.estimator
        var = np.zeros(model.n_features_in_) if model.var_ is None else model.var_.copy()
        return _Moments(float(model.n_samples_seen_), model.mean_.copy(), var)

    def _execute(self, state: State, block: Block) -> tuple[Columns, _Moments, Block]:
        learn, ask, columns = read_block(block, state.columns, accept_sparse=True, keep_single=True)
        is_sparse = sparse.issparse(learn) or sparse.issparse(ask)
        n, mean, var = state.memory or (0.0, *np.zeros((2, columns.number or 0)))
        self._check(block, (learn, ask), is_sparse, n)
        decline_uncompiled(len(mean), "features", _UNCOMPILED_FEATURES)
        mean, var = mean.copy(), var.copy()
        if is_sparse:
            n, learn, ask = _scale_stored_values(block, learn, ask, n, mean, var)
        else:
            out = np.empty_like(learn), np.empty_like(ask)
            weight = np.ones(block.n_learns) if block.weight is None else block.weight
            known = n, mean, var, _scale_of(var, mean, n)
            flags = bool(self.estimator.with_mean), bool(self.estimator.with_std)
            n = _run_rows(learn, weight, ask, block.stamp, *known, *flags, *out)
            learn, ask = out
        return columns, _Moments(n, mean, var), showing(block, learn, ask)

    def _check(self, block: Block, rows: tuple[Any, Any], is_sparse: bool, n_learnt: float) -> None:
        weight = block.weight
        if weight is not None and ((weight != np.trunc(weight)) | (weight > _MAX_WEIGHT)).any():
            raise Declined("StandardScaler has no kernel for fractional or huge weights")
        is_single = rows[0].dtype == np.float32
        if weight is not None and is_single and n_learnt + weight.sum() >= _MAX_SINGLE_COUNT:
            raise Declined("StandardScaler has no kernel for such weights of float32 rows")
        if not is_sparse:
            return
        mixed = any(len(X) for X in rows if not sparse.issparse(X))
        if mixed or weight is not None or self.estimator.with_mean:
            raise Declined("StandardScaler has no kernel for weighted or centred sparse rows")
        for X in rows:
            if sparse.issparse(X):
                check_stored_once(X)

    def _write(self, memory: _Moments) -> None:
        model = self.estimator
        model.n_samples_seen_ = np.float64(memory.n)
        model.mean_ = memory.mean.copy()
        model.var_ = model.scale_ = None
        if model.with_std:
            model.var_, model.scale_ = (
                memory.var.copy(),
                _scale_of(memory.var, memory.mean, memory.n),
            )


def _is_usual(scaler: Any) -> bool:
    """Whether a fitted scaler has one whole count for all features, and computes in float64."""
    count = scaler.n_samples_seen_
    return (
        np.ndim(count) == 0
        and float(count).is_integer()
        and scaler.mean_ is not None
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


def _scale_stored_values(
    block: Block, learn: Any, ask: Any, n: float, mean: Floats, var: Floats
) -> tuple[float, Any, Any]:
    """CSR rows: zeros stay zeros, and the others are multiplied, as scikit-learn does."""
    learnt = learn.copy() if block.n_learns else learn
    asked = ask.copy() if block.n_asks else ask
    for part in parts(block, rows_per_part(len(mean))):
        dense = learn[part.learns].toarray() if len(part.y) else np.empty((0, len(mean)))
        scales = np.empty((len(dense) + 1, len(mean)))
        scales[0] = _scale_of(var, mean, n)
        n = _learn_rows(dense, n, mean, var, scales)
        factors = 1 / scales
        if len(part.y):
            _multiply_rows(learnt, part.learns, factors, np.arange(1, len(factors)))
        if len(part.stamp):
            _multiply_rows(asked, part.asks, factors, part.stamp)
    return n, learnt, asked


def _multiply_rows(X: Any, rows: slice, factors: Floats, state: Integers) -> None:
    """Multiply the stored values of some rows by the factors of their states."""
    bounds = X.indptr[rows.start : rows.stop + 1]
    stored = slice(bounds[0], bounds[-1])
    X.data[stored] *= factors[np.repeat(state, np.diff(bounds)), X.indices[stored]]


class _Extremes(NamedTuple):
    """Rows learnt, and one array of shape (n_features,) per kind of extreme."""

    n_rows: int
    extremes: list[Floats]


class RangeKernel(MemoryTransformKernel):
    """What scalers by extreme values have in common."""

    expands = False
    #: Attributes with the extremes, and what each of them is where nothing has been learnt.
    _extremes: ClassVar[dict[str, float]]
    _accepts_sparse = False

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse batches, rows that are not copied, and a state that is not in float64 or 32."""
        refused = refused_scaler(transformer, task, ("copy", "clip"))
        if refused is not None:
            return refused
        known = not is_fitted(transformer) or transformer.scale_.dtype in (np.float64, np.float32)
        return None if known else f"a fitted state in {transformer.scale_.dtype}"

    def _read(self) -> _Extremes:
        extremes = [getattr(self.estimator, name).copy() for name in self._extremes]
        return _Extremes(int(self.estimator.n_samples_seen_), extremes)

    def _execute(self, state: State, block: Block) -> tuple[Columns, _Extremes, Block]:
        learn, ask, columns = read_block(
            block, state.columns, accept_sparse=self._accepts_sparse, keep_single=True
        )
        nothing = [np.full(columns.number or 0, of, learn.dtype) for of in self._extremes.values()]
        n_rows, extremes = state.memory or _Extremes(0, nothing)
        used = [rows.dtype for rows in (learn, ask) if rows.shape[0]]
        if any(dtype != extremes[0].dtype for dtype in used):
            raise Declined(OTHER_PRECISION)
        if sparse.issparse(learn) or sparse.issparse(ask):
            learn, ask, extremes = self._scale_stored_values(block, learn, ask, extremes)
        else:
            learn, ask, extremes = self._scale(block, learn, ask, extremes)
        return columns, _Extremes(n_rows + block.n_learns, extremes), showing(block, learn, ask)

    def _scale(
        self, block: Block, learn: Floats, ask: Floats, extremes: list[Floats]
    ) -> tuple[Floats, Floats, list[Floats]]:
        learnt, asked = learn.copy(), ask.copy()
        for part in parts(block, rows_per_part(learn.shape[1])):
            states = self._extremes_over_time(extremes, learn[part.learns])
            extremes = [of_kind[-1] for of_kind in states]
            after = np.arange(1, len(part.y) + 1)
            self._transform(learnt[part.learns], states, after)
            self._transform(asked[part.asks], states, part.stamp)
        return learnt, asked, [of_kind.copy() for of_kind in extremes]

    def _scale_stored_values(
        self, block: Block, learn: Any, ask: Any, extremes: list[Floats]
    ) -> tuple[Any, Any, list[Floats]]:
        raise Declined("sparse rows have no kernel")

    @abstractmethod
    def _extremes_over_time(self, extremes: list[Floats], x: Floats) -> list[Floats]:
        """Extremes after 0, 1, ... rows, each of shape (n_rows + 1, n_features)."""

    @abstractmethod
    def _transform(self, x: Floats, states: list[Floats], of_row: Integers) -> None:
        """Transform rows in place, each through one of the states."""

    def _write(self, memory: _Extremes) -> None:
        self.estimator.n_samples_seen_ = memory.n_rows
        for name, extremes in zip(self._extremes, memory.extremes, strict=True):
            setattr(self.estimator, name, extremes.copy())
        self._write_scale(memory.extremes)

    @abstractmethod
    def _write_scale(self, extremes: list[Floats]) -> None:
        """Write what the transformer makes of its extremes."""


class MinMaxScalerKernel(RangeKernel):
    """MinMaxScaler: dense rows."""

    _extremes: ClassVar = {"data_min_": np.inf, "data_max_": -np.inf}

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Add the range, which scikit-learn takes as a tuple in ascending order."""
        bounds = transformer.feature_range
        proper = (
            isinstance(bounds, tuple)
            and len(bounds) == 2
            and all(isinstance(bound, Real) and np.isfinite(float(bound)) for bound in bounds)
            and bounds[0] < bounds[1]
        )
        if not proper:
            return value_of(transformer, "feature_range")
        return super().refusal(transformer, task)

    def _extremes_over_time(self, extremes: list[Floats], x: Floats) -> list[Floats]:
        lowest, highest = extremes
        return [_running(np.minimum, lowest, x), _running(np.maximum, highest, x)]

    def _transform(self, x: Floats, states: list[Floats], of_row: Integers) -> None:
        scale, offset = self._scale_and_offset(*states)
        x *= scale[of_row]
        x += offset[of_row]
        if self.estimator.clip:
            np.clip(x, *self._bounds(x.dtype), out=x)

    def _bounds(self, dtype: Any) -> tuple[Any, Any]:
        """Ends of the range in the precision of the rows."""
        low, high = self.estimator.feature_range
        return dtype.type(low), dtype.type(high)

    def _scale_and_offset(self, lowest: Floats, highest: Floats) -> tuple[Floats, Floats]:
        low, high = self._bounds(lowest.dtype)
        scale = (high - low) / _without_zeros(highest - lowest)
        return scale, low - lowest * scale

    def _write_scale(self, extremes: list[Floats]) -> None:
        model, (lowest, highest) = self.estimator, extremes
        model.data_range_ = highest - lowest
        model.scale_, model.min_ = self._scale_and_offset(lowest, highest)


class MaxAbsScalerKernel(RangeKernel):
    """MaxAbsScaler: dense or CSR rows."""

    _accepts_sparse = True
    _extremes: ClassVar = {"max_abs_": 0.0}

    def _extremes_over_time(self, extremes: list[Floats], x: Floats) -> list[Floats]:
        return [_running(np.maximum, extremes[0], np.abs(x))]

    def _transform(self, x: Floats, states: list[Floats], of_row: Integers) -> None:
        x /= _without_zeros(states[0])[of_row]
        if self.estimator.clip:
            np.clip(x, -1.0, 1.0, out=x)

    def _scale_stored_values(
        self, block: Block, learn: Any, ask: Any, extremes: list[Floats]
    ) -> tuple[Any, Any, list[Floats]]:
        """Only stored values change, and only columns with some in the row."""
        for X in (learn, ask):
            if sparse.issparse(X):
                check_stored_once(X)
        if any(len(X) for X in (learn, ask) if not sparse.issparse(X)):
            raise Declined(DENSE_AND_SPARSE)
        events, event_of_ask = merge_events(block, learn, ask, as_stored=True)
        largest = extremes[0].copy()
        learnt, asked = np.empty((2, len(events.values)))
        _scale_by_largest(*events, largest, _tiny(largest.dtype), learnt, asked)
        if self.estimator.clip:
            learnt, asked = np.clip(learnt, -1.0, 1.0), np.clip(asked, -1.0, 1.0)
        like = learn if block.n_learns else ask
        # With indices of the type that the rows came with: some models refuse wider ones.
        at, bounds = (numbers.astype(like.indices.dtype) for numbers in (events.at, events.bounds))
        shape = (events.number, len(largest))
        learnt_rows, asked_rows = (
            type(like)((values, at, bounds), shape=shape)[rows]
            for values, rows in (
                (learnt, np.flatnonzero(events.learnt)),
                (asked, event_of_ask),
            )
        )
        return learnt_rows, asked_rows, [largest]

    def _write_scale(self, extremes: list[Floats]) -> None:
        self.estimator.scale_ = _without_zeros(extremes[0])


def _running(operation: np.ufunc, start: Floats, x: Floats) -> Floats:
    """Extremes of the start and the first 0, 1, ... rows."""
    return operation.accumulate(np.concatenate([start[None], x]), axis=0)


def _tiny(dtype: Any) -> Any:
    """Below this, scikit-learn takes a scale for that of a constant feature."""
    return 10 * np.finfo(dtype).eps


def _without_zeros(scale: Floats) -> Floats:
    """Copy of a scale with 1 instead of what scikit-learn takes for 0."""
    return np.where(scale < _tiny(scale.dtype), scale.dtype.type(1.0), scale)


@jit
def _scale_by_largest(  # type: ignore[no-untyped-def]
    values, at, bounds, y, weight, learnt, asked, largest, tiny, learnt_out, asked_out
):
    """Stored values of rows by the largest size in their columns before them, and with them."""
    for i in range(len(y)):
        for q in range(bounds[i], bounds[i + 1]):
            j = at[q]
            if asked[i]:
                asked_out[q] = values[q] * (1.0 / (1.0 if largest[j] < tiny else largest[j]))
            if learnt[i]:
                largest[j] = max(largest[j], abs(values[q]))
                learnt_out[q] = values[q] * (1.0 / (1.0 if largest[j] < tiny else largest[j]))


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
