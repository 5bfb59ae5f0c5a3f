"""The kernel of River's trees and forests: numeric rows, River objects read and written."""

import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skstream.compat._river_tree import Executed, TreeForm, Whole, Work
from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.kernels.compose import asks_of_next
from skstream.kernels.input import EXACT_OR_SINGLE, read_block
from skstream.kernels.memory import MemoryKernel, State
from skstream.kernels.schema import Columns, class_labels, refused_task
from skstream.tree._arrays import SECONDS_OF_A_ROW
from skstream.utils._content import content
from skstream.utils._numba import Jitted, numba_enabled
from skstream.utils._validation import is_fitted

_LARGEST = 1e150  # the squares of larger numbers overflow, which is an error in River
_LARGEST_WHOLE = 2.0**53


class _Form(Protocol):
    """What the kernel knows of a kind of model: how it is refused, executed, written and read."""

    core: ClassVar[Jitted[..., Any]]

    @staticmethod
    def refused(estimator: Any) -> str | None: ...
    def begin(self, names: Sequence[Any]) -> Any: ...
    def execute(self, learnt: Any, names: Sequence[Any], work: Work) -> Executed: ...
    def write(self, learnt: Any, names: Sequence[Any], is_whole: Whole) -> Any: ...
    def read(self, model: Any, names: Sequence[Any]) -> tuple[Any, Whole]: ...


class _Memory(NamedTuple):
    learnt: Any
    is_whole: Whole


def _form_of(model: Any) -> tuple[str, Any] | None:
    """Name and form of a River model; None where it has no kernel."""
    if type(model) is getattr(sys.modules.get("river.tree"), "HoeffdingTreeClassifier", None):
        return "tree", TreeForm
    if type(model) is getattr(sys.modules.get("river.forest"), "ARFClassifier", None):
        from skstream.compat._river_forest import ForestForm  # late: few need it

        return "forest", ForestForm
    return None


class RiverKernel(MemoryKernel):
    """A Hoeffding tree or an adaptive random forest of River, with numeric features."""

    exports_slowly = True

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse other models of River, and trees and forests that work in other ways."""
        found = _form_of(estimator.model)
        if found is None:
            raise Declined(estimator.why_looped)
        refused = refused_task(estimator, task, ("predict", "predict_proba"))
        if refused is not None:
            return refused
        name, form = found
        reason = None if numba_enabled() else 'without numba (pip install "skstream[fast]")'
        n_trees = getattr(estimator.model, "n_models", 1)
        form.core.expect(task.seconds(SECONDS_OF_A_ROW * n_trees))
        if reason is None and not form.core.pays:  # before a test model is compiled
            reason = f"for so few rows: compiling, once, takes {form.core.seconds:.0f} s"
        reason = reason or form.refused(estimator)
        if reason is not None:
            raise Declined(f"River's {name} is called row by row {reason}")
        return None

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        found = _form_of(estimator.model)
        assert found is not None
        self._labels = class_labels(task).tolist()
        self._form: _Form = found[1](estimator, self._labels)

    def _read(self) -> None:
        """Take nothing yet: a model of River need not say which columns it knows."""

    def _first(self, names: list[Any], is_whole: Whole) -> _Memory:
        """Return what a model has learnt, which must come out the same when it is written again."""
        if not is_fitted(self.estimator):
            return _Memory(self._form.begin(names), is_whole)
        model = self.estimator.model_
        try:
            memory = _Memory(*self._form.read(model, names))
            written = self._form.write(memory.learnt, names, memory.is_whole)
            # Without random numbers: each normal distribution has a generator, which is not used.
            if content(written, with_random=False) == content(model, with_random=False):
                return memory
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            pass
        raise Declined("what a model of River has learnt cannot be read from it exactly")

    def row_bytes(self, state: State) -> int:
        """Memory of a row as numbers, and of its probabilities."""
        return 64 * len(self._labels) + 32 * (state.columns.number or 0)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._answers(np.empty((0, len(self._labels))), np.empty(0, np.int64))
        is_new = state.memory is None and not is_fitted(self.estimator)
        if is_new and block.n_asks and block.stamp[0] == 0:
            raise Declined("asking before anything is learnt has no kernel")
        learn, ask, columns = read_block(block, state.columns, dtypes=EXACT_OR_SINGLE, finite=True)
        names, is_whole = _names(columns), _check_values(block, learn, ask)
        memory = self._first(names, is_whole) if state.memory is None else state.memory
        known = memory.is_whole
        if block.n_learns and ((known >= 0) & (known != is_whole)).any():
            raise Declined("columns that were whole numbers before, or were not, have no kernel")
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        work = Work(learn, block.y, weight, ask, block.stamp, asks_of_next(block))
        self._form.core.expect(np.inf)  # also in another process, where a run goes on
        learnt, shares, codes = self._form.execute(memory.learnt, names, work)
        memory = _Memory(learnt, is_whole if block.n_learns else known)
        return state.after(block, columns, memory), self._answers(shares, codes)

    def _answers(self, shares: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
        def answer(task: Task) -> NDArray[Any]:
            return codes if task.method == "predict" else shares

        return answers_to(self.task, answer)

    def _write(self, memory: _Memory) -> None:
        names = _names(Columns.of(self.estimator))
        self.estimator.model_ = self._form.write(memory.learnt, names, memory.is_whole)


def _names(columns: Columns) -> list[Any]:
    """Keys of the dictionaries that River gets for rows."""
    assert columns.number is not None
    if columns.names is None:
        return list(range(columns.number))
    if len(set(columns.names)) < columns.number:
        raise Declined("columns of the same name have no kernel with River's models")
    return [str(name) for name in columns.names]


def _check_values(block: Block, learn: Any, ask: Any) -> Whole:
    """Decline values that River computes with in another way; which columns are whole numbers."""
    for X in (learn, ask):
        if len(X) and np.abs(X).max() > _LARGEST:
            raise Declined(f"rows with numbers beyond {_LARGEST:g} have no kernel")
    for X in (block.learn_X, block.ask_X):
        names = list(getattr(X, "columns", ()))
        if names and names != list(range(len(names))) and not isinstance(names[0], str):
            raise Declined("columns with numbers for names have no kernel with River's models")
    X = block.learn_X if block.n_learns else block.ask_X
    dtypes = [X.dtype] * X.shape[1] if isinstance(X, np.ndarray) else list(X.dtypes)
    kinds = np.array([getattr(dtype, "kind", "?") for dtype in dtypes])
    if not np.isin(kinds, list("fiu")).all() or not all(isinstance(d, np.dtype) for d in dtypes):
        raise Declined("River's models have a kernel for NumPy's floats and integers alone")
    is_whole: NDArray[np.bool_] = kinds != "f"
    for X in (learn, ask):
        if len(X) and is_whole.any() and np.abs(X[:, is_whole]).max() > _LARGEST_WHOLE:
            raise Declined("whole numbers beyond 2 ** 53 have no kernel with River's models")
    return np.asarray(is_whole, np.int8)
