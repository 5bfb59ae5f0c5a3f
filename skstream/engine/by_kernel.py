"""One way to execute a model: by its kernel, while there is one, and trying it again later."""

from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from skstream.engine.block import Block
from skstream.engine.failures import RAISED, BadAnswer, ends_program, in_short
from skstream.engine.kernels import Declined, Kernel, Task
from skstream.engine.kernels.base import Looped, NotFittedYet
from skstream.engine.kernels.scored import checked_step
from skstream.engine.loop import LoopFailed
from skstream.engine.retries import MOST_ROWS, Found, Retries, TooLarge
from skstream.utils._numba import seconds_of_loading


class ByKernel:
    """The kernel of a model and what it has learnt; else why there is none, and when to look again.

    Parameters
    ----------
    task : Task
        Classes, kind of answer, batch size.

    Attributes
    ----------
    is_there : bool
        Whether a kernel executes the model now.
    seconds : float
        Time in the kernel.
    seconds_loading : float
        Time to load or make compiled code, which is no time of the model.
    """

    def __init__(self, task: Task):
        self._task = task
        self._kernel: Kernel | None = None
        self._state: Any = None
        self._reason = ""  # why some rows are executed by the loop
        self._not_yet = ""  # why all are, until the first rows have been learnt
        self._retries: Retries | None = None
        self._was_used = False
        self._looped_before: list[Looped] = []  # by kernels that have ended
        self.seconds = 0.0
        self.seconds_loading = 0.0

    @property
    def is_there(self) -> bool:
        """Whether a kernel executes the model now."""
        return self._kernel is not None

    @property
    def may_come(self) -> bool:
        """Whether a kernel is there, or is tried again."""
        return self._kernel is not None or self._retries is not None

    @property
    def path(self) -> str:
        """How the model was executed; after a colon, why not completely by a kernel."""
        if self._kernel is None and not self._was_used:
            reason = self._reason or self._not_yet
            return f"loop: {reason}" if reason else "loop"
        kinds = ["kernel and loop" if self._reason else "kernel"]
        kinds += [f"{part.name} by loop: {part.reason}" for part in self.looped_parts]
        if not self._reason:
            return "; ".join(kinds)
        if len(kinds) == 1:
            return f"{kinds[0]}: {self._reason}"
        return f"{'; '.join(kinds)}; some rows by loop: {self._reason}"

    @property
    def path_in_short(self) -> str:
        """The same without reasons."""
        if self._kernel is None and not self._was_used:
            return "loop"
        looped = [f"{part.name} by loop" for part in self.looped_parts]
        return ", ".join(["kernel and loop" if self._reason else "kernel", *looped])

    @property
    def loops(self) -> bool:
        """Whether the model, or a part of it, is executed call by call."""
        return self._kernel is None or bool(self._kernel.looped(self._state))

    @property
    def looped_parts(self) -> list[Looped]:
        """Parts that were executed call by call where the others had kernels, each once."""
        newest = [] if self._kernel is None else self._kernel.looped(self._state)
        return _summed([*self._looped_before, *newest]) if newest else self._looped_before

    def look_for(self, estimator: Any) -> None:
        """Go on with the kernel of an estimator, if one is found, or wait for it."""
        found = Found.of(estimator, self._task)
        self._kernel, self._state = found.kernel, found.state
        if found.is_not_yet:
            self._wait(found.reason)
        elif found.kernel is None:
            self._retries = None
            self._reason = self._reason or found.reason
        elif self._retries is None or self._not_yet:
            self._retries, self._not_yet = Retries.of(found.kernel.looped(found.state)), ""

    def is_due(self) -> bool:
        """Whether to look for a kernel again before the next part."""
        return self._kernel is None and self._retries is not None and self._retries.is_due()

    def rows_at_once(self) -> int:
        """Rows to execute together: by the memory that they take, or until the next try."""
        if self._retries is None:
            return MOST_ROWS
        if self._kernel is None:
            return self._retries.n_rows_of_retry
        return self._retries.rows_at_once(self._kernel.row_bytes(self._state))

    def step(self, block: Block) -> np.ndarray | None:
        """Return the answers to a block; None if the loop has to execute it.

        Raises
        ------
        TooLarge
            If the kernel may execute most of the block, in smaller parts.
        LoopFailed
            If a part of the model that is looped has failed.
        BadAnswer
            If the kernel itself has given a bad answer.
        """
        kernel = self._kernel
        assert kernel is not None and self._retries is not None
        started, loading = perf_counter(), seconds_of_loading()
        try:
            self._state, answers = checked_step(kernel, self._state, block)
            self._retries.succeed()
            self._was_used = True
            return answers
        except NotFittedYet as declined:
            self._wait(declined.reason)
            if max(block.n_learns, block.n_asks) > self._task.n_warmup:
                raise TooLarge from declined
        except Declined as declined:
            self._reason = self._reason or declined.reason
            self._retries.decline()
            if max(block.n_learns, block.n_asks) > 2 * self._retries.n_rows_of_retry:
                raise TooLarge from declined  # the kernel may still execute most of it
        except LoopFailed as failure:
            self._state, self._was_used = failure.state, True
            raise
        except BadAnswer:
            raise
        except RAISED as error:
            if ends_program(error):
                raise
            # The loop meets the same error at its row, or continues without an error.
            self._reason = f"its kernel failed with a {in_short(error)}"
            self._retries = None
        finally:
            loading = seconds_of_loading() - loading
            self.seconds_loading += loading
            self.seconds += perf_counter() - started - loading
        return None

    def export(self) -> None:
        """Give the estimator the attributes that ``partial_fit`` would have left."""
        if self._kernel is not None:
            self._kernel.export(self._state)

    def leave(self) -> None:
        """Give the kernel up, after `export`: the loop goes on from there."""
        self._looped_before = self.looped_parts
        self._kernel = self._state = None

    @property
    def name(self) -> str:
        """Name of the kernel's class."""
        return type(self._kernel).__name__

    def _wait(self, reason: str) -> None:
        """Let the loop execute the first rows, as there is no kernel before."""
        self._not_yet = reason
        n = self._task.n_warmup
        self._retries = Retries(n_rows=n, n_rows_of_retry=n)


def _summed(parts: Iterable[Looped]) -> list[Looped]:
    """Add up the time of equal parts, as a kernel may be made several times in a run."""
    sums: dict[tuple[str, str], Looped] = {}
    for part in parts:
        key = part.name, part.reason
        if key in sums:
            part = replace(
                part,
                seconds_asking=part.seconds_asking + sums[key].seconds_asking,
                seconds_learning=part.seconds_learning + sums[key].seconds_learning,
            )
        sums[key] = part
    return list(sums.values())
