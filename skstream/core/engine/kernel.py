"""The kernel contract: the answers and attributes of the plain loop, for blocks of rows.

The engine knows this contract alone; what has kernels offers them by `offer_kernels`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.sharing import key_of


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


_FIND: list[Callable[[Any, Task], Kernel]] = []


def offer_kernels(find: Callable[[Any, Task], Kernel]) -> None:
    """Let a function find the kernels of estimators; it raises `Declined` where there is none."""
    _FIND[:] = [find]


def find_kernel(estimator: Any, task: Task) -> Kernel:
    """Kernel for an estimator; `Declined` says why only the loop is exact."""
    if not _FIND:
        raise Declined("no kernels are offered")
    return _FIND[0](estimator, task)
