"""Parts without a kernel, looped alone over the rows that kernels have made for them."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from skstream.core.engine.answers import RAISED, Task, ends_program, in_short
from skstream.core.engine.block import Block, cuts, part_of
from skstream.core.engine.kernel import Declined, Kernel, Looped, NotFittedYet, TransformKernel
from skstream.core.engine.loop import Loop, LoopFailed
from skstream.pipeline._transformers import is_passthrough, learn_and_transform, learns
from skstream.utils._rows import is_frame, own_rows, stack_rows, take_rows
from skstream.utils._sklearn import is_column_transformer


def check_parts(parts: Sequence[Kernel | TransformKernel], *, fitted: bool) -> bool:
    """Return whether some parts are looped; `Declined` where there is nothing but the loop.

    Which rows a part gets, and whether its first call fails, is not known before something has been
    learnt: till then the loop executes the whole.
    """
    looped = [part for part in parts if isinstance(part, LoopedModel | LoopedTransformer)]
    if not looped:
        return False
    if len(looped) == len(parts):
        raise Declined(looped[0].reason)
    if not fitted:
        raise NotFittedYet(looped[0].reason)
    return True


class LoopedModel(Kernel):
    """A fitted model, at the end of whatever kernels do for its rows: they have done it all before.

    Unlike other kernels, it changes the model itself. So there is one valid state at a time, and
    nothing may decline a block after this one has begun with it.
    """

    def __init__(self, estimator: Any, task: Task, reason: str):
        super().__init__(estimator, task)
        self.reason = reason
        self._loop = Loop(estimator, task, is_part=True)
        self._n_steps = 0

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse nothing: the loop executes anything."""
        return None

    def initial_state(self) -> int:
        """Return the number of steps that the model has made."""
        return self._n_steps

    def step(self, state: int, block: Block) -> tuple[int, NDArray[Any]]:
        """Execute a block on the model; `LoopFailed` tells where it has failed."""
        self._check(state)
        if block.company is not None:
            raise Declined(self.reason)
        self._n_steps += 1
        try:
            return self._n_steps, self._loop.run(block)
        except LoopFailed as failure:
            failure.state = self._n_steps
            if not failure.stopped:
                failure.n_learnt = block.n_learns
            raise
        except (KeyboardInterrupt, SystemExit):
            self._n_steps -= 1  # broken off: of what is written, nothing is said to be complete
            raise

    def export(self, state: int) -> None:
        """Do nothing: the model has learnt already."""
        self._check(state)

    def _check(self, state: int) -> None:
        if state != self._n_steps:
            raise RuntimeError(
                f"{type(self.estimator).__name__} has learnt rows that the steps before it have not"
            )

    def looped(self, state: int) -> list[Looped]:
        """Return the model."""
        loop = self._loop
        name = type(self.estimator).__name__
        return [Looped(name, self.reason, loop.seconds_asking, loop.seconds_learning)]


@dataclass(slots=True)
class _Held:
    """A transformer as it is after a block; after the next one, a copy of that."""

    transformer: Any

    def copied(self) -> "_Held":
        """Return the same with a transformer of its own."""
        return _Held(deepcopy(self.transformer))


class LoopedTransformer(TransformKernel):
    """A fitted transformer, with the calls that a pipeline makes, row by row.

    The transformer itself goes on, as in the loop, and the state before keeps a copy of it.
    """

    def __init__(self, estimator: Any, task: Task, reason: str):
        super().__init__(estimator, task)
        self.reason = reason
        # What scikit-learn's transformers have learnt once, ``transform`` does not change.
        own = not type(estimator).__module__.startswith("sklearn.")
        self._changes = own or learns(estimator) or is_column_transformer(estimator)
        self._changes &= not isinstance(estimator, FrozenEstimator)
        self._seconds_asking = 0.0
        self._seconds_learning = 0.0

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse nothing: the loop executes anything."""
        return None

    def initial_state(self) -> _Held:
        """Return the transformer."""
        return _Held(self.estimator)

    def step(self, state: _Held, block: Block) -> tuple[_Held, Block]:
        """Learn and transform, call by call; return the state after it, and what comes out."""
        if not block.n_learns and not block.n_asks:
            return state, block
        name, current = type(self.estimator).__name__, state.transformer
        if self._changes:
            try:
                state.transformer = deepcopy(current)
            except Exception as error:  # a lock, an open file
                raise Declined(f"{name} cannot be copied: {in_short(error)}") from error
        try:
            learnt, asked = self._called(current, block)
            learn_X, ask_X = _stacked(learnt), _stacked(asked)
        except RAISED as error:
            if isinstance(error, Declined) or ends_program(error):
                raise
            raise Declined(f"rows at which {name} fails have no kernel") from error
        return _Held(current), replace(
            block,
            learn_X=ask_X if learn_X is None else learn_X,
            learn_index=np.arange(block.n_learns),
            ask_X=learn_X if ask_X is None else ask_X,
            ask_index=np.arange(block.n_asks),
        )

    def _called(self, transformer: Any, block: Block) -> tuple[list[Any], list[Any]]:
        """Rows learnt, and rows asked, as each call returns them."""
        learnt, asked, classes = [], [], self.task.classes
        labels = block.y.copy() if classes is None else classes[block.y]
        for is_ask, begin, end in block.calls():
            started = perf_counter()
            if is_ask:
                rows = own_rows(take_rows(block.ask_X, block.ask_index[begin:end]))
                asked.append(_checked(transformer.transform(rows), end - begin))
                self._seconds_asking += perf_counter() - started
                continue
            rows = own_rows(take_rows(block.learn_X, block.learn_index[begin:end]))
            weight = None if block.weight is None else block.weight[begin:end].copy()
            rows = learn_and_transform(
                transformer, rows, labels[begin:end], weight, None, first=False
            )
            learnt.append(_checked(rows, end - begin))
            self._seconds_learning += perf_counter() - started
        return learnt, asked

    def export(self, state: _Held) -> None:
        """Write what the transformer has learnt."""
        if state.transformer is not self.estimator:
            own = vars(self.estimator)
            own.clear()
            own.update(vars(deepcopy(state.transformer)))

    def looped(self, state: _Held) -> list[Looped]:
        """Return the transformer."""
        seconds = self._seconds_asking, self._seconds_learning
        return [Looped(type(self.estimator).__name__, self.reason, *seconds)]


def first_rows(steps: list[tuple[str, Any]], task: Task, block: Block) -> Block:
    """First rows of a block, as a pipeline shows them to the step after some fitted ones."""
    block = part_of(block, *next(cuts(block, 2)))
    for _, step in steps:
        if not is_passthrough(step):
            loop = LoopedTransformer(step, task, "")
            _, block = loop.step(loop.initial_state().copied(), block)
    return block


def laid_out(block: Block) -> Block:
    """Block of dense rows each of which lies in memory as one that a step has made alone."""
    learn_X = _laid_out(block.learn_X)
    ask_X = learn_X if block.ask_X is block.learn_X else _laid_out(block.ask_X)
    if learn_X is block.learn_X and ask_X is block.ask_X:
        return block
    return replace(block, learn_X=learn_X, ask_X=ask_X)


def _laid_out(X: Any) -> Any:
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) and X.ndim == 2 else X


def check_same_rows(expected: Block, shown: Block) -> None:
    """Decline a block where kernels make other first rows for a part than the loop does.

    They may differ in what no other kernel sees: the container, its type of number, its names.
    """
    n_learns, n_asks = expected.n_learns, expected.n_asks
    pairs = [
        (expected.learn_X, take_rows(shown.learn_X, shown.learn_index[:n_learns]), n_learns),
        (expected.ask_X, take_rows(shown.ask_X, shown.ask_index[:n_asks]), n_asks),
    ]
    if any(n and not _are_same(one, other) for one, other, n in pairs):
        raise Declined("rows that a part is shown otherwise in the loop have no kernel")


def _are_same(one: Any, other: Any) -> bool:
    if _kind(one) != _kind(other) or one.shape != other.shape:
        return False
    if is_frame(one):
        return bool(one.equals(other))
    if sparse.issparse(one):
        parts = ("data", "indices", "indptr")
        return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in parts)
    if one.dtype.hasobject:
        return bool(repr(one.tolist()) == repr(other.tolist()))
    return bool(one.tobytes() == other.tobytes())


def _checked(rows: Any, n_rows: int) -> Any:
    """Copy of rows that a transformer returned, if they can be stacked and cut again unchanged.

    A copy: the transformer may return an array of its own, and write the next rows into it.
    """
    if isinstance(rows, np.ndarray):
        known = type(rows) is np.ndarray and rows.ndim == 2 and rows.flags.c_contiguous
    else:
        known = is_frame(rows) or (sparse.issparse(rows) and rows.format == "csr")
    if not known or rows.shape[0] != n_rows:
        raise Declined(f"rows in a {type(rows).__name__} of their own have no kernel")
    return rows.clone() if hasattr(rows, "clone") else rows.copy()


def _stacked(parts: list[Any]) -> Any:
    """Rows of all calls, or `Declined` where they are not of one kind; None if there are none."""
    if not parts:
        return None
    kinds = {_kind(rows) for rows in parts}
    if len(kinds) > 1:
        raise Declined("rows of several types have no kernel")
    stacked = stack_rows(parts)
    if _kind(stacked) not in kinds:
        raise Declined("rows that change when they are stacked have no kernel")
    return stacked


def _kind(rows: Any) -> tuple[Any, ...]:
    """Type, columns and types of the columns of some rows."""
    if is_frame(rows):
        types = rows.dtypes
        return type(rows), tuple(rows.columns), tuple(map(str, types))
    return type(rows), rows.shape[1], rows.dtype
