"""Executes a model by its kernel; after the kernel has declined rows, tries it again later."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from skstream.core.engine.answers import Task, checked_step, no_answers
from skstream.core.engine.block import Block
from skstream.core.engine.failures import RAISED, BadAnswer, ends_program, in_short
from skstream.core.engine.kernel import Declined, Kernel, Looped, NotFittedYet, find_kernel
from skstream.core.engine.loop import LoopFailed
from skstream.utils._numba import LOADING

# Memory that the rows of a part of a block may take in a kernel, and the least number of rows.
_BYTES_AT_ONCE = 1 << 26
_LEAST_ROWS = 64
# Rows of the first part, after which a kernel knows the memory per row.
_FIRST_ROWS = 32
# Rows of the parts in which a kernel is tried again after it declined some; and the largest number
# of parts executed by the loop before the next try.
ROWS_OF_RETRY = 512
_MOST_WAITING = 64
# The same where a part is looped, so that the loop of the whole gains little over a kernel.
ROWS_OF_MIXED_RETRY = 16
_MOST_ROWS = 1 << 40
_SPARED = "not compiled, which takes longer than plain Python for so few rows"


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
        self._state: Any = None
        self._reason = ""  # why some rows are executed by the loop
        self._not_yet = ""  # why all are, until the first rows have been learnt
        self.may_come = False
        self._n_declined = 0  # parts declined one after the other
        self._n_waiting = 0  # parts before the next try
        self._n_rows = self._n_rows_of_retry = _MOST_ROWS
        self._was_used = False
        self._was_spared = False  # calls ran as plain Python
        self._looped_before: list[Looped] = []  # by kernels that have ended
        self.seconds = 0.0
        self.seconds_loading = 0.0

    def path(self, *, reasons: bool = True) -> str:
        """How the model was executed; after a colon, why not completely by a kernel."""
        if self.kernel is None and not self._was_used:
            reason = self._reason or self._not_yet
            return f"loop: {reason}" if reason and reasons else "loop"
        kinds = ["kernel and loop" if self._reason else "kernel"]
        kinds += [
            f"{part.name} by loop" + (f": {part.reason}" if reasons else "")
            for part in self.looped_parts()
        ]
        if not reasons:
            return ", ".join(kinds)
        if self._reason:
            kinds[-1] += "; some rows by loop" if len(kinds) > 1 else ""
            kinds[-1] += f": {self._reason}"
        path = "; ".join(kinds)
        return path + ("; " if ": " in path else ": ") + _SPARED if self._was_spared else path

    @property
    def loops(self) -> bool:
        """Whether the model, or a part of it, is executed call by call."""
        return self.kernel is None or bool(self.kernel.looped(self._state))

    def looped_parts(self) -> list[Looped]:
        """Parts that were executed call by call where the others had kernels, each once."""
        newest = [] if self.kernel is None else self.kernel.looped(self._state)
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
            kernel = find_kernel(estimator, self._task)
            state = kernel.initial_state()
        except NotFittedYet as declined:
            self._wait(declined.reason)
        except Exception as error:  # left to the loop, which shows it at its row
            why = f"making its kernel failed with a {in_short(error)}"
            self._reason = self._reason or (error.reason if isinstance(error, Declined) else why)
            self.may_come = False
        else:
            self.kernel, self._state = kernel, state
            if not self.may_come or self._not_yet:
                size = ROWS_OF_MIXED_RETRY if kernel.looped(state) else ROWS_OF_RETRY
                self._begin_tries(_MOST_ROWS, size)
                self._not_yet = ""

    def _wait(self, reason: str) -> None:
        """Let the loop execute the first rows, as there is no kernel before."""
        self._not_yet = reason
        self._begin_tries(self._task.n_warmup, self._task.n_warmup)

    def _begin_tries(self, n_rows: int, n_rows_of_retry: int) -> None:
        self.may_come, self._n_declined, self._n_waiting = True, 0, 0
        self._n_rows, self._n_rows_of_retry = n_rows, n_rows_of_retry

    def look_again(self, estimator: Any) -> None:
        """Look for a kernel before the next part, if it is time for the next try."""
        self._n_waiting -= 1
        if self.may_come and self._n_waiting < 0:
            self.look_for(estimator)

    def rows_at_once(self) -> int:
        """Rows to execute together: by the memory that they take, or until the next try."""
        if self.kernel is None:
            return self._n_rows_of_retry if self.may_come else _MOST_ROWS
        row_bytes = self.kernel.row_bytes(self._state)
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
            self._state, answers = checked_step(self.kernel, self._state, block, self._wanted)
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
            self._state, self._was_used = failure.state, True
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

    def export(self) -> None:
        """Give the estimator the attributes that ``partial_fit`` would have left."""
        if self.kernel is not None:
            self.kernel.export(self._state)

    def leave(self) -> None:
        """Give the kernel up, after `export`: the loop goes on from there."""
        self._looped_before = self.looped_parts()
        self.kernel = self._state = None
