"""Kernel of scikit-learn's ColumnTransformer as a step: each part's kernel on its columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.utils import check_array

from skstream.engine.block import Block, take_rows
from skstream.engine.kernels.base import (
    Declined,
    Task,
    TransformKernel,
    find_transform_kernel,
    kernel_of,
    value_of,
)
from skstream.engine.kernels.compose import check_weights
from skstream.engine.kernels.schema import Outside, outside_after, refused_output
from skstream.engine.kernels.transformers.row_by_row import laid_out_by_rows
from skstream.pipeline._transformers import learns, prepared
from skstream.utils._sklearn import column_positions, columns_of
from skstream.utils._validation import is_fitted


@dataclass(frozen=True)
class _Part:
    """Kernel of a part, and the columns it is shown."""

    kernel: TransformKernel
    columns: Any


@kernel_of(ColumnTransformer)
class ColumnTransformerKernel(TransformKernel):
    """Shows every part its columns, and puts what comes out side by side.

    Which columns go where, and the categories that a data frame declares, only the first rows
    tell. So a transformer is accepted first, and the first block declined if a part turns out
    to have no kernel.
    """

    def __init__(self, transformer: Any, task: Task):
        super().__init__(transformer, task)
        self._fitted: ColumnTransformer | None = None
        self._parts: list[_Part] = []
        self._outside: Outside | None = None
        if is_fitted(transformer):
            self._fitted = transformer
            self._outside = Outside.of(transformer)
            self._parts = _parts_of(transformer, task)

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse batches, and other output than arrays."""
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        if transformer.transformer_weights is not None:
            return value_of(transformer, "transformer_weights")
        return refused_output(transformer)

    def run(self, block: Block) -> Block:
        """Learn and transform; raise `Declined` with the state untouched if it cannot."""
        if not block.n_learns and not block.n_asks:
            return block
        check_weights(block)
        outside = outside_after(self._outside, block)
        fitted, parts = self._fitted, self._parts
        if fitted is None:
            fitted, parts = self._begin(take_rows(block.learn_X, block.learn_index[:1]))
        before = [part.kernel.snapshot() for part in parts]
        try:
            blocks = [part.kernel.run(_with_columns(block, part.columns)) for part in parts]
            result = _side_by_side(block, blocks, fitted.sparse_output_)
        except Declined:
            for part, state in zip(parts, before, strict=True):
                part.kernel.restore(state)
            raise
        self._fitted, self._parts, self._outside = fitted, parts, outside
        return result

    def _begin(self, first_row: Any) -> tuple[ColumnTransformer, list[_Part]]:
        """Settle which columns go where; parts that learn are yet to learn anything."""
        try:
            fitted = prepared("columns", self.transformer, first_row)
            fitted.fit(first_row)
        except Exception as error:  # whatever it is, the loop meets it at this row
            raise Declined("a ColumnTransformer that fails at a row has no kernel") from error
        fitted.transformers_ = [
            (name, clone(part) if learns(part) else part, columns)
            for name, part, columns in fitted.transformers_
        ]
        return fitted, _parts_of(fitted, self.task)

    def snapshot(self) -> Any:
        """Return a copy of the state."""
        states = [part.kernel.snapshot() for part in self._parts]
        return self._fitted, self._parts, self._outside, states

    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""
        self._fitted, self._parts, self._outside, states = snapshot
        for part, state in zip(self._parts, states, strict=True):
            part.kernel.restore(state)

    def export(self) -> None:
        """Write the fitted attributes into the transformer."""
        if self._fitted is None:
            return
        for part in self._parts:
            part.kernel.export()
        if self._fitted is not self.transformer:
            vars(self.transformer).update(vars(self._fitted))


def _parts_of(fitted: ColumnTransformer, task: Task) -> list[_Part]:
    parts = []
    for _, part, columns in fitted.transformers_:
        if (isinstance(part, str) and part == "drop") or _is_empty(columns):
            continue
        parts.append(_Part(find_transform_kernel(part, task), columns))
    return parts


def _is_empty(columns: Any) -> bool:
    """Whether a column transformer shows a part nothing, and so leaves it out."""
    if np.isscalar(columns) or isinstance(columns, slice):
        return False
    is_mask = all(isinstance(column, bool | np.bool_) for column in columns)
    return not any(columns) if is_mask else False


def _with_columns(block: Block, columns: Any) -> Block:
    if block.ask_X is block.learn_X or not block.n_asks:
        learn_X = ask_X = _columns_alone(block.learn_X, columns)
    else:
        ask_X = _columns_alone(block.ask_X, columns)
        learn_X = _columns_alone(block.learn_X, columns) if block.n_learns else ask_X
    return replace(block, learn_X=learn_X, ask_X=ask_X)


def _columns_alone(X: Any, columns: Any) -> Any:
    """Columns as the loop takes them from one row: a view of a slice of them, else a new row."""
    part = columns_of(X, columns)
    if isinstance(columns, slice) or (hasattr(X, "iloc") and _is_view(part, X, columns)):
        return part
    return laid_out_by_rows(part)


def _is_view(part: Any, X: Any, columns: Any) -> bool:
    """Whether columns of a data frame are no copy: pandas turns [3, 0] into a slice of step -3."""
    if part.ndim != 2 or not part.shape[1]:
        return True
    first = X.iloc[:, column_positions(X, columns)[0]].to_numpy()
    return np.may_share_memory(part.iloc[:, 0].to_numpy(), first)


def _side_by_side(block: Block, blocks: list[Block], is_sparse: bool) -> Block:
    learnt = [take_rows(part.learn_X, part.learn_index) for part in blocks]
    asked = [take_rows(part.ask_X, part.ask_index) for part in blocks]
    learn_X = _stacked(learnt, is_sparse) if block.n_learns else None
    ask_X = _stacked(asked, is_sparse) if block.n_asks else learn_X
    return replace(
        block,
        learn_X=ask_X if learn_X is None else learn_X,
        learn_index=np.arange(block.n_learns),
        ask_X=ask_X,
        ask_index=np.arange(block.n_asks),
    )


def _stacked(parts: list[Any], is_sparse: bool) -> Any:
    """Columns of all parts, as the column transformer itself would put them together."""
    if not is_sparse:
        return np.hstack([X.toarray() if sparse.issparse(X) else X for X in parts])
    try:
        checked = [check_array(X, accept_sparse=True, ensure_all_finite=False) for X in parts]
    except ValueError as error:
        raise Declined("columns that scipy cannot put side by side have no kernel") from error
    return sparse.hstack(checked).tocsr()
