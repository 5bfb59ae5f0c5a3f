"""One model on its way through the stream: kernel where exact, else the loop."""

from dataclasses import replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from skstream.engine.block import Block, take_rows
from skstream.engine.kernels import Declined, Kernel, Task, make_kernel
from skstream.engine.loop import Loop, LoopFailed, no_answers
from skstream.engine.timeline import Operations
from skstream.utils._validation import is_fitted

Engine = Literal["auto", "loop"]


class ModelError(ValueError):
    """A model failed during an evaluation; names the model, the fold and the row.

    Attributes
    ----------
    model : str
        Name of the model.
    fold : int
        Fold it ran in.
    row : int
        Row, counted from 0, at which it failed.
    result : EvaluationResult or None
        What had been evaluated before, where there is something.
    """

    def __init__(self, message: str, model: str = "", fold: int = 0, row: int = -1):
        super().__init__(message)
        self.model = model
        self.fold = fold
        self.row = row
        self.result: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.model, self.fold, self.row)


class ModelRun:
    """Executes one model's operations, block after block.

    Parameters
    ----------
    name : str
        The model's name, for messages.
    fold : int
        Its fold, for messages.
    estimator : estimator
        The model itself: it is changed. Fitted or not.
    task : Task
        Classes, kind of answer, batch size.
    engine : {"auto", "loop"}, default="auto"
        "loop" never uses a kernel.

    Attributes
    ----------
    path : str
        How the model was executed: "kernel", "loop", or "kernel, then loop".
    """

    def __init__(
        self,
        name: str,
        fold: int,
        estimator: Any,
        task: Task,
        engine: Engine = "auto",
    ):
        self.name = name
        self.fold = fold
        self.task = task
        self._estimator = estimator
        self._has_learnt = is_fitted(estimator)
        self._kernel: Kernel | None = make_kernel(estimator, task) if engine == "auto" else None
        self._loop = None if self._kernel is not None else Loop(estimator, task)
        self._seconds_in_kernel = 0.0
        self.path = "loop" if self._kernel is None else "kernel"

    @property
    def loops(self) -> bool:
        """Whether the model is executed call by call, and so slowly."""
        return self._kernel is None

    @property
    def seconds(self) -> dict[str, float]:
        """Time spent: asking and learning in the loop, both together in a kernel."""
        loop = self._loop
        return {
            "asking": 0.0 if loop is None else loop.seconds_asking,
            "learning": 0.0 if loop is None else loop.seconds_learning,
            "kernel": self._seconds_in_kernel,
        }

    def estimator(self) -> Any:
        """Return the fitted estimator, as ``partial_fit`` would have left it."""
        if self._kernel is not None:
            self._kernel.export()
        return self._estimator

    def run(self, block: Block, operations: Operations) -> np.ndarray:
        """Execute a block; -1 or NaN where nothing had been learnt when asked."""
        if not block.n_asks and not block.n_learns:
            return no_answers(self.task)
        early = 0
        if not self._has_learnt:
            early = int(np.searchsorted(block.stamp, 1)) if block.n_learns else block.n_asks
            self._has_learnt = block.n_learns > 0
        if early == 0:
            return self._execute(block, operations)
        unanswered = no_answers(self.task, early)
        if block.n_learns == 0:
            return unanswered
        groups = None if block.groups is None else _shifted_bounds(block.groups, early)
        stamp = block.stamp[early:]
        block = replace(block, ask_index=block.ask_index[early:], stamp=stamp, groups=groups)
        asked = operations.ask_rows[early:]
        operations = replace(operations, ask_rows=asked, stamp=stamp, groups=groups)
        answers = self._execute(block, operations)
        return np.concatenate([unanswered, answers])

    def _execute(self, block: Block, operations: Operations) -> np.ndarray:
        if self._kernel is not None:
            started = perf_counter()
            try:
                return self._kernel.run(block)
            except Declined:
                # The estimator is as the loop would have left it: the loop goes on from here.
                self._estimator = self.estimator()
                self._kernel = None
                self._loop = Loop(self._estimator, self.task)
                self.path = "kernel, then loop"
            finally:
                self._seconds_in_kernel += perf_counter() - started
        assert self._loop is not None
        try:
            return self._loop.run(block)
        except LoopFailed as failure:
            raise self._explain(failure, block, operations) from failure.__cause__

    def _explain(self, failure: LoopFailed, block: Block, operations: Operations) -> ModelError:
        if failure.action == "learning":
            rows, begin = operations.learn_rows, failure.index
            bounds, X, index = block.batches, block.learn_X, block.learn_index
        else:
            rows, begin = operations.ask_rows, failure.index
            bounds, X, index = block.groups, block.ask_X, block.ask_index
        end = begin + 1
        if bounds is not None:
            end = int(bounds[np.searchsorted(bounds, begin, side="right")])
        at = begin + _first_not_finite(take_rows(X, index[begin:end]))
        row = int(rows[at])
        where = (
            f"row {row}"
            if end == begin + 1
            else f"rows {int(rows[begin:end].min())} to {int(rows[begin:end].max())}"
        )
        if at > begin:
            where += f" (row {row} is not finite)"
        fold = f" (fold {self.fold})" if self.fold else ""
        cause = failure.__cause__
        return ModelError(
            f"Model '{self.name}'{fold} failed while {failure.action} {where}: "
            f"{type(cause).__name__}: {cause}",
            self.name,
            self.fold,
            row,
        )


def _first_not_finite(rows: Any) -> int:
    """Position of the first row with NaN or infinity; 0 where none can be found."""
    values = getattr(rows, "toarray", lambda: rows)()
    try:
        bad = ~np.isfinite(np.asarray(values, dtype=np.float64)).all(axis=1)
    except (TypeError, ValueError):
        return 0
    return int(bad.argmax())


def _shifted_bounds(bounds: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], bounds[bounds > n] - n]).astype(np.int64)
