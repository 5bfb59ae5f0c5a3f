"""Kernel of scikit-learn's ColumnTransformer as a step: each part's kernel on its columns."""

from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.utils import check_array

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined, Looped, NotFittedYet, TransformKernel
from skstream.kernels.input import Columns, check_weights, refused_output, value_of
from skstream.kernels.looped import check_parts
from skstream.kernels.memory import showing
from skstream.kernels.registry import find_transform_part
from skstream.kernels.transformers.stateless import laid_out_by_rows
from skstream.pipeline._transformers import learn_rows, learns, prepared
from skstream.utils._rows import take_rows
from skstream.utils._sklearn import column_positions, columns_of, is_column_transformer
from skstream.utils._validation import is_fitted


class _Part(NamedTuple):
    """Kernel of a part, the columns it is shown, and its state."""

    kernel: TransformKernel
    columns: Any
    state: Any


class _State(NamedTuple):
    """What the first rows have settled, and what the parts have learnt since."""

    fitted: ColumnTransformer
    parts: list[_Part]
    columns: Columns


class ColumnTransformerKernel(TransformKernel):
    """Shows every part its columns, and puts what comes out side by side.

    Which columns go where, and the categories that a data frame declares, only the first rows
    tell. So a transformer is accepted first, and the first block declined if a part turns out
    to have no kernel. The parts that kernels export to belong to the state, not to the transformer.
    """

    shareable = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._start: _State | None = None
        if is_fitted(estimator):
            fitted = deepcopy(estimator)
            self._start = _State(fitted, _parts_of(fitted, task), Columns.of(estimator))

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse batches, and other output than arrays."""
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        if transformer.transformer_weights is not None:
            return value_of(transformer, "transformer_weights")
        return refused_output(transformer)

    def initial_state(self) -> _State | None:
        """Return what the parts have learnt; None before the first rows."""
        return self._start

    def step(self, state: _State | None, block: Block) -> tuple[_State | None, Block]:
        """Learn and transform; return the state after it, and the block that comes out."""
        if not block.n_learns and not block.n_asks:
            return state, block
        check_weights(block)
        columns = (Columns() if state is None else state.columns).after(block)
        if state is None:
            state = self._begin(block)
        block = _narrowed(block)
        parts, blocks = [], []
        for kernel, own, before in state.parts:
            after, shown = kernel.step(before, _with_columns(block, own))
            parts.append(_Part(kernel, own, after))
            blocks.append(shown)
        result = _side_by_side(block, blocks, state.fitted.sparse_output_)
        return _State(state.fitted, parts, columns), result

    def _begin(self, block: Block) -> _State:
        """Settle which columns go where; parts that learn are yet to learn anything."""
        first_row = take_rows(block.learn_X, block.learn_index[:1])
        classes = self.task.classes
        label = block.y[:1] if classes is None else classes[block.y[:1]]
        try:
            fitted = prepared("columns", self.estimator, first_row)
            learn_rows(fitted, first_row, label, None, classes, first=True)
        except Exception as error:  # whatever it is, the loop meets it at this row
            raise Declined("a ColumnTransformer that fails at a row has no kernel") from error
        _forget_first_row(fitted)
        try:
            parts = _parts_of(fitted, self.task)
        except Declined as declined:  # of fitted parts it is known for sure
            raise NotFittedYet(declined.reason) from declined
        state = _State(fitted, parts, Columns())
        for looped in self.looped(state):
            raise NotFittedYet(looped.reason)
        return state

    def export(self, state: _State | None) -> None:
        """Write the fitted attributes into the transformer."""
        if state is None:
            return
        for part in state.parts:
            part.kernel.export(part.state)
        vars(self.estimator).update(vars(deepcopy(state.fitted)))

    def looped(self, state: _State | None) -> list[Looped]:
        """Return the parts that are executed call by call."""
        if state is None:
            return []
        return [one for part in state.parts for one in part.kernel.looped(part.state)]


def _forget_first_row(fitted: ColumnTransformer) -> None:
    """Let the parts that learn start again, at any depth."""
    for _, part, _ in fitted.transformers_:
        if is_column_transformer(part):
            _forget_first_row(part)
    fitted.transformers_ = [
        (name, clone(part) if learns(part) else part, columns)
        for name, part, columns in fitted.transformers_
    ]


def _parts_of(fitted: ColumnTransformer, task: Task) -> list[_Part]:
    parts: list[_Part] = []
    for _, part, columns in fitted.transformers_:
        if (isinstance(part, str) and part == "drop") or _is_empty(columns):
            continue
        kernel = find_transform_part(part, task)
        parts.append(_Part(kernel, columns, kernel.initial_state()))
    check_parts([part.kernel for part in parts], fitted=True)
    return parts


def _is_empty(columns: Any) -> bool:
    """Whether a column transformer shows a part nothing, and so leaves it out."""
    if np.isscalar(columns) or isinstance(columns, slice):
        return False
    is_mask = all(isinstance(column, bool | np.bool_) for column in columns)
    return not any(columns) if is_mask else False


def _narrowed(block: Block) -> Block:
    """Block without most rows of its storage that it does not use: their columns are not copied."""
    index = np.concatenate([block.learn_index, block.ask_index])
    first, last = int(index.min()), int(index.max())
    n_rows = block.learn_X.shape[0]
    if block.ask_X is not block.learn_X or 2 * (last + 1 - first) > n_rows:
        return block
    X = take_rows(block.learn_X, slice(first, last + 1))
    learn_index, ask_index = block.learn_index - first, block.ask_index - first
    return replace(block, learn_X=X, learn_index=learn_index, ask_X=X, ask_index=ask_index)


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
    first = X.iloc[:1, column_positions(X, columns)[0]].to_numpy()
    return np.may_share_memory(part.iloc[:1, 0].to_numpy(), first)


def _side_by_side(block: Block, blocks: list[Block], is_sparse: bool) -> Block:
    learnt = [take_rows(part.learn_X, part.learn_index) for part in blocks]
    asked = [take_rows(part.ask_X, part.ask_index) for part in blocks]
    learn_X = _stacked(learnt, is_sparse) if block.n_learns else None
    ask_X = _stacked(asked, is_sparse) if block.n_asks else learn_X
    return showing(block, ask_X if learn_X is None else learn_X, ask_X)


def _stacked(parts: list[Any], is_sparse: bool) -> Any:
    """Columns of all parts, as the column transformer itself would put them together."""
    if not is_sparse:
        return np.hstack([X.toarray() if sparse.issparse(X) else X for X in parts])
    try:
        checked = [check_array(X, accept_sparse=True, ensure_all_finite=False) for X in parts]
    except ValueError as error:
        raise Declined("columns that scipy cannot put side by side have no kernel") from error
    return sparse.hstack(checked).tocsr()
