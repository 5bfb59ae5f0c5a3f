"""Kernels for MinMaxScaler and MaxAbsScaler: running extremes, which no rounding touches."""

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skstream.engine.block import Block
from skstream.engine.kernels.base import (
    DENSE_AND_SPARSE,
    OTHER_PRECISION,
    Declined,
    Task,
    value_of,
)
from skstream.engine.kernels.cuts import Floats, Integers, merge_events, pieces, rows_per_piece
from skstream.engine.kernels.input import check_stored_once, read_block
from skstream.engine.kernels.memory import MemoryTransformKernel, State, showing
from skstream.engine.kernels.schema import Columns, refused_scaler
from skstream.utils._running_sums import Groups
from skstream.utils._validation import is_fitted

# Stored values per piece of sparse rows.
_PIECE_VALUES = 1 << 17


class _Memory(NamedTuple):
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

    def _read(self) -> _Memory:
        extremes = [getattr(self.estimator, name).copy() for name in self._extremes]
        return _Memory(int(self.estimator.n_samples_seen_), extremes)

    def _execute(self, state: State, block: Block) -> tuple[Columns, _Memory, Block]:
        learn, ask, columns = read_block(
            block, state.columns, accept_sparse=self._accepts_sparse, keep_single=True
        )
        nothing = [np.full(columns.number or 0, of, learn.dtype) for of in self._extremes.values()]
        n_rows, extremes = state.memory or _Memory(0, nothing)
        used = [rows.dtype for rows in (learn, ask) if rows.shape[0]]
        if any(dtype != extremes[0].dtype for dtype in used):
            raise Declined(OTHER_PRECISION)
        if sparse.issparse(learn) or sparse.issparse(ask):
            learn, ask, extremes = self._scale_stored_values(block, learn, ask, extremes)
        else:
            learn, ask, extremes = self._scale(block, learn, ask, extremes)
        return columns, _Memory(n_rows + block.n_learns, extremes), showing(block, learn, ask)

    def _scale(
        self, block: Block, learn: Floats, ask: Floats, extremes: list[Floats]
    ) -> tuple[Floats, Floats, list[Floats]]:
        learnt, asked = learn.copy(), ask.copy()
        for piece in pieces(block, rows_per_piece(learn.shape[1])):
            states = self._extremes_over_time(extremes, learn[piece.learns])
            extremes = [of_kind[-1] for of_kind in states]
            after = np.arange(1, len(piece.y) + 1)
            self._transform(learnt[piece.learns], states, after)
            self._transform(asked[piece.asks], states, piece.stamp)
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

    def _write(self, memory: _Memory) -> None:
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
        """Add the range, which scikit-learn wants as a tuple in ascending order."""
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
        for rows, piece in events.pieces(_PIECE_VALUES):
            stored = slice(events.bounds[rows.start], events.bounds[rows.stop])
            is_learnt = np.repeat(piece.learnt, np.diff(piece.bounds))
            groups = Groups(piece.at)
            sizes = np.where(is_learnt, np.abs(piece.values), 0.0)
            before, after = groups.running(largest[groups.columns], sizes, np.maximum)
            largest[groups.columns] = after
            asked[stored] = self._scaled(piece.values, before)
            learnt[stored] = self._scaled(piece.values, np.maximum(before, sizes))
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

    def _scaled(self, values: Floats, largest: Floats) -> Floats:
        scaled: Floats = values * (1.0 / _without_zeros(largest))
        return np.clip(scaled, -1.0, 1.0) if self.estimator.clip else scaled

    def _write_scale(self, extremes: list[Floats]) -> None:
        self.estimator.scale_ = _without_zeros(extremes[0])


def _running(operation: np.ufunc, start: Floats, x: Floats) -> Floats:
    """Extremes of the start and the first 0, 1, ... rows."""
    extremes: Floats = operation.accumulate(np.concatenate([start[None], x]), axis=0)
    return extremes


def _without_zeros(scale: Floats) -> Floats:
    """Copy of a scale with 1 instead of what scikit-learn takes for 0."""
    tiny = 10 * np.finfo(scale.dtype).eps  # what scikit-learn takes for a constant feature
    return np.where(scale < tiny, scale.dtype.type(1.0), scale)
