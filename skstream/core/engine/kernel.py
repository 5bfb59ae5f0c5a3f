"""The kernel contract: the answers and attributes of the plain loop, for blocks of rows.

The engine knows this contract alone; what has kernels offers them by `offer_kernels`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from skstream.core.engine.answers import RAISED, BadAnswer, Task, ends_program, in_short, no_answers
from skstream.core.engine.block import Block, key_of
from skstream.core.engine.loop import LoopFailed
from skstream.utils._numba import LOADING


class Declined(Exception):
    """There is no kernel, or it cannot execute a block exactly; nothing has been changed.

    Parameters
    ----------
    reason : str
        Why, in a sentence without a full stop, for the user: "float32 rows have no kernel".
    """

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class NotFittedYet(Declined):
    """There is a kernel as soon as the estimator has learnt its first rows.

    So it is where a part has no kernel of its own: it is looped alone, from then on.
    """


@dataclass(frozen=True, slots=True)
class Looped:
    """A part without a kernel that is executed call by call among others that have one.

    Attributes
    ----------
    name : str
        Its type.
    reason : str
        Why it has no kernel, in a sentence without a full stop.
    seconds_asking, seconds_learning : float
        Time that its calls have taken so far.
    """

    name: str
    reason: str
    seconds_asking: float = 0.0
    seconds_learning: float = 0.0


class StateMachine(ABC):
    """What kernels of models and of transformers have in common.

    Making one raises `Declined` where a part of the estimator has no kernel: whether it applies is
    found out while it is made, once at every depth. It holds parameters and the kernels of the
    parts; what has been learnt is in the state, a value that is never changed. The caller keeps the
    state, and continues from the one that a step returns. A step that raises has changed nothing.
    """

    #: Whether models on one timeline may share a step, if these parts of them are alike. A state
    #: must then fit the kernel of any of them: it refers to no estimator that the loop may change,
    #: and `export` copies what it writes.
    shareable: bool = False
    #: Rows that may come alone, one after the other, before the loop is faster.
    most_alone: float = np.inf
    #: Whether `export` makes the objects of another library, which takes long.
    exports_slowly: bool = False

    def __init__(self, estimator: Any, task: Task):
        self.estimator = estimator
        self.task = task

    def likeness(self) -> bytes | None:
        """Return what is equal for kernels that may share a step; None if they may not.

        Called when a kernel is made.
        """
        return key_of(type(self), self.estimator, self.task) if self.shareable else None

    @classmethod
    @abstractmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Return what cannot be executed exactly, such as "average=True"; None: nothing.

        Conservative: whatever is not known to be exact is refused. Called before a kernel is
        made, for this estimator alone: the parts inside are checked when their kernels are
        made. The estimator may be unfitted or fitted (a warm start); the kernel continues from
        its state.
        """

    @abstractmethod
    def initial_state(self) -> Any:
        """Return what the estimator has learnt so far, or the state before the first row."""

    @abstractmethod
    def export(self, state: Any) -> None:
        """Write the fitted attributes into ``self.estimator`` as ``partial_fit`` would.

        May be called at any point; the kernel can continue afterwards. Does nothing when nothing
        has been learnt.
        """

    def looped(self, state: Any) -> list[Looped]:
        """Return the parts that are executed call by call."""
        return []


class Kernel(StateMachine):
    """Exact execution of one type of estimator, many rows at a time.

    Laws (tested for every kernel by introspection): the answers and the fitted attributes are
    those of ``predict`` and ``partial_fit`` called row by row; they do not depend on the division
    into blocks, to the last bit; `step` either executes the whole block or raises `Declined`.
    """

    #: Sequential models agree to the last bit, models of sufficient statistics within 1e-9.
    bitwise: bool = True
    #: Whether it is exact inside another estimator, too, which may ask other rows in one call.
    exact_inside: bool = True
    #: Whether it gives labels and scores at once, where a task needs both (`task.scores`), by
    #: `answers_to`; else the loop does. `refusal` is called for each kind of answer.
    gives_scores: ClassVar[bool] = False

    @abstractmethod
    def step(self, state: Any, block: Block) -> tuple[Any, np.ndarray]:
        """Execute a block; return the state after it, and the answers to its asks in order."""

    def row_bytes(self, state: Any) -> int | None:
        """Memory that a row takes while a block is executed; None: not known before the first row.

        The caller divides blocks accordingly. Decision values, class weights and scores
        need a number per class and row, several times over.
        """
        return 0 if self.task.classes is None else 64 * len(self.task.classes)


class TransformKernel(StateMachine):
    """Exact execution of a transformer ahead of a model in a pipeline.

    `step` maps a block to the block that the next step of the pipeline sees: a learnt row is shown
    through the state that has just learnt it (through the state before, if the transformer has a
    ``partial_fit_transform`` that does so), an asked row through the state of its stamp.
    """

    #: Whether the rows that come out may have more columns than those that go in.
    expands: bool = True

    @abstractmethod
    def step(self, state: Any, block: Block) -> tuple[Any, Block]:
        """Learn and transform; return the state after it, and the block that comes out."""

    def likeness(self) -> bytes | None:
        """Return what is equal for kernels that may share a step, whatever is asked after it."""
        shown = self.task.asking("predict")
        return key_of(type(self), self.estimator, shown) if self.shareable else None

    def row_bytes(self, state: Any) -> int | None:
        """Memory that a row takes besides what comes out; None: not known before the first row."""
        return 0


def _no_kernels(estimator: Any, task: Task) -> Kernel:
    raise Declined("no kernels are offered")


#: What finds the kernel of an estimator; it raises `Declined` where only the loop is exact.
_FIND: list[Callable[[Any, Task], Kernel]] = [_no_kernels]


def offer_kernels(find: Callable[[Any, Task], Kernel]) -> None:
    """Let a function find the kernels of estimators; it raises `Declined` where there is none."""
    _FIND[:] = [find]


# Memory that the rows of a part of a block may take in a kernel, and the least number of rows.
_BYTES_AT_ONCE = 1 << 26
_LEAST_ROWS = 64
# Rows of the first part, after which a kernel knows the memory per row.
_FIRST_ROWS = 32
# Rows of the parts in which a kernel is tried again after it declined some; and the largest number
# of parts executed by the loop before the next try.
ROWS_OF_RETRY = 512
_MOST_WAITING = 64
#: Rows one after another that come alone before a kernel that is slow then is given up.
MOST_ALONE = 16
# The same where a part is looped, so that the loop of the whole gains little over a kernel.
ROWS_OF_MIXED_RETRY = 16
_MOST_ROWS = 1 << 40
_SPARED = "not compiled: for so few rows plain Python is faster"


class ByKernel:
    """The kernel of a model and what it has learnt; else why there is none, and when to look again.

    Parameters
    ----------
    task : Task
        Classes, kind of answer, batch size.

    Attributes
    ----------
    kernel : Kernel or None
        What executes the model now.
    state : object
        What the kernel has learnt.
    may_come : bool
        Whether there is a kernel, or one is tried again.
    seconds : float
        Time in the kernel.
    seconds_loading : float
        Time to load or make compiled code, which is no time of the model.
    """

    def __init__(self, task: Task):
        self._task = task
        self._wanted = no_answers(task)
        self.kernel: Kernel | None = None
        self.state: Any = None
        self._reason = ""  # why some rows are executed by the loop
        self._not_yet = ""  # why all are, until the first rows have been learnt
        self.may_come = False
        self._n_declined = 0  # parts declined one after the other
        self._n_alone = MOST_ALONE - 1  # rows that came one at a time
        self._n_waiting = 0  # parts before the next try
        self._n_rows = self._n_rows_of_retry = _MOST_ROWS
        self._was_used = False
        self._was_spared = False  # calls ran as plain Python
        self._looped_before: list[Looped] = []  # by kernels that have ended
        self.seconds = 0.0
        self.seconds_loading = 0.0

    def path(self) -> str:
        """How the model was executed; after a colon, why not completely by a kernel."""
        if self.kernel is None and not self._was_used:
            reason = self._reason or self._not_yet
            return f"loop: {reason}" if reason else "loop"
        path = "kernel and loop" if self._reason else "kernel"
        parts = self.looped_parts()
        for part in parts:
            path += f"; {part.name} by loop: {part.reason}"
        if self._reason:
            path += f"; some rows by loop: {self._reason}" if parts else f": {self._reason}"
        if self._was_spared:
            path += f"{';' if ': ' in path else ':'} {_SPARED}"
        return path

    @property
    def loops(self) -> bool:
        """Whether the model, or a part of it, is executed call by call."""
        return self.kernel is None or bool(self.kernel.looped(self.state))

    def looped_parts(self) -> list[Looped]:
        """Parts that were executed call by call where the others had kernels, each once."""
        newest = [] if self.kernel is None else self.kernel.looped(self.state)
        if not newest:
            return self._looped_before
        sums: dict[tuple[str, str], Looped] = {}
        for part in [*self._looped_before, *newest]:  # a kernel may be made several times
            before = sums.get((part.name, part.reason), Looped(part.name, part.reason))
            sums[part.name, part.reason] = replace(
                part,
                seconds_asking=part.seconds_asking + before.seconds_asking,
                seconds_learning=part.seconds_learning + before.seconds_learning,
            )
        return list(sums.values())

    def look_for(self, estimator: Any) -> None:
        """Go on with the kernel of an estimator, if there is one, or wait for it."""
        try:
            kernel = _FIND[0](estimator, self._task)
            state = kernel.initial_state()
        except NotFittedYet as declined:
            self._wait(declined.reason)
        except Exception as error:  # left to the loop, which shows it at its row
            why = f"making its kernel failed with a {in_short(error)}"
            self._reason = self._reason or (error.reason if isinstance(error, Declined) else why)
            self.may_come = False
        else:
            self.kernel, self.state = kernel, state
            if not self.may_come or self._not_yet:
                self._n_rows, self._n_rows_of_retry = _MOST_ROWS, ROWS_OF_RETRY
                if kernel.looped(state):
                    self._n_rows_of_retry = ROWS_OF_MIXED_RETRY
                self.may_come, self._n_declined, self._n_waiting = True, 0, 0
                self._not_yet = ""

    def _wait(self, reason: str) -> None:
        """Let the loop execute the first rows, as there is no kernel before."""
        self._not_yet = reason
        self.may_come, self._n_declined, self._n_waiting = True, 0, 0
        self._n_rows = self._n_rows_of_retry = self._task.n_warmup

    def look_again(self, estimator: Any, n_rows: int) -> None:
        """Look for a kernel before the next part, if it is time for the next try."""
        self._n_waiting -= 1
        few = n_rows < _LEAST_ROWS and self._n_alone > MOST_ALONE
        if self.may_come and self._n_waiting < 0 and not few:
            self.look_for(estimator)

    def rows_at_once(self) -> int:
        """Rows to execute together: by the memory that they take, or until the next try."""
        if self.kernel is None:
            return self._n_rows_of_retry if self.may_come else _MOST_ROWS
        row_bytes = self.kernel.row_bytes(self.state)
        if row_bytes is None:  # not known yet
            return min(_FIRST_ROWS, self._n_rows)
        return min(max(_BYTES_AT_ONCE // max(row_bytes, 1), _LEAST_ROWS), self._n_rows)

    def step(self, block: Block) -> tuple[np.ndarray | None, bool]:
        """Return the answers to a block, or None where the kernel declines it.

        Also whether it may execute most of a block that it declines, in smaller parts; else the
        loop has to execute the block.

        Raises
        ------
        LoopFailed
            If a part of the model that is looped has failed.
        BadAnswer
            If the kernel itself has given a bad answer.
        """
        n_rows = max(block.n_learns, block.n_asks)
        started, loading, n_spared = perf_counter(), LOADING.seconds, LOADING.n_spared
        try:
            assert self.kernel is not None
            self._n_alone = self._n_alone + 1 if n_rows == 1 else 0
            if self._n_alone > self.kernel.most_alone:
                raise Declined("the loop is faster where rows come one at a time")
            came: Any = self.kernel.step(self.state, block)
            answers = came[1] if isinstance(came, tuple) and len(came) == 2 else None
            shape, kind = (block.n_asks, *self._wanted.shape[1:]), self._wanted.dtype.kind
            if (
                not isinstance(answers, np.ndarray)
                or answers.shape != shape
                or answers.dtype.kind != kind
            ):
                shown = came if answers is None else answers
                raise BadAnswer(
                    f"{type(self.kernel).__name__}.step returned {shown!r:.200}. A kernel "
                    "returns two values: the next state, and an array with one answer per ask, in "
                    f"their order; here {self._wanted.dtype} of shape {shape}."
                )
            self.state = came[0]
            self._n_declined = self._n_waiting = 0
            self._was_used = True
            self._n_rows = min(2 * self._n_rows, _MOST_ROWS)
            return answers, False
        except NotFittedYet as declined:
            self._wait(declined.reason)
            return None, n_rows > self._n_rows
        except Declined as declined:
            self._reason = self._reason or declined.reason
            self._n_waiting = min(2**self._n_declined, _MOST_WAITING) - 1
            self._n_declined += 1
            self._n_rows = self._n_rows_of_retry
            return None, n_rows > 2 * self._n_rows
        except LoopFailed as failure:
            self.state, self._was_used = failure.state, True
            raise
        except BadAnswer:
            raise
        except RAISED as error:
            if ends_program(error):
                raise
            # The loop meets the same error at its row, or continues without an error.
            self._reason = f"its kernel failed with a {in_short(error)}"
            self.may_come = False
            return None, False
        finally:
            loading = LOADING.seconds - loading
            self.seconds_loading += loading
            self._was_spared = self._was_spared or LOADING.n_spared > n_spared
            self.seconds += perf_counter() - started - loading

    def leave(self) -> None:
        """Give the kernel up, once its state was exported: the loop goes on from there."""
        self._looped_before = self.looped_parts()
        self.kernel = self.state = None
