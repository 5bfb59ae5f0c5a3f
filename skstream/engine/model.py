"""Execution of one model: by a kernel if that is exact, else by the loop."""

from time import perf_counter
from typing import Any, Literal

import numpy as np

from skstream.base import asks_row_by_row
from skstream.engine.block import Block, part_of
from skstream.engine.explained import (
    advice_of_rows,
    advice_of_texts,
    advice_of_values,
    failed_call,
    words_of_gap,
)
from skstream.engine.failures import (
    RAISED,
    BadAnswer,
    ModelError,
    ends_program,
    failures_named,
    in_short,
    model_error,
)
from skstream.engine.first_answers import first_answers
from skstream.engine.gaps import marked, missing
from skstream.engine.kernels import Declined, Kernel, Task
from skstream.engine.kernels.base import Looped, NotFittedYet
from skstream.engine.kernels.step import checked_step
from skstream.engine.loop import Loop, LoopFailed, no_answers
from skstream.engine.parts import LoopedParts
from skstream.engine.resuming import Left, Resumed
from skstream.engine.retries import MOST_ROWS, Found, Retries, TooLarge, next_part
from skstream.engine.warmup import WarmUp
from skstream.utils._numba import seconds_of_loading
from skstream.utils._plain_objects import is_plain
from skstream.utils._validation import is_fitted, unfitted_copy

Engine = Literal["auto", "loop"]
#: How a missing answer (None or NaN) counts: as a failure of the model, or as a wrong answer.
Unanswered = Literal["error", "wrong"]


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
    unanswered : {"error", "wrong"}, default="error"
        Whether None or NaN in answer to a question is a failure, or gets the code -2
        (of classifiers asked to predict).
    n_folds : int, default=1
        Number of folds; messages name the fold where there are several.

    Attributes
    ----------
    failure : ModelError or None
        Why the model has stopped; it then gives no more answers.
    n_unanswered : int
        Questions that it left without an answer.
    seconds_loading : float
        Time to load or make compiled code, which is no time of the model.

    Raises
    ------
    ModelError
        If the estimator cannot be prepared.
    """

    def __init__(
        self,
        name: str,
        fold: int,
        estimator: Any,
        task: Task,
        engine: Engine = "auto",
        unanswered: Unanswered = "error",
        *,
        n_folds: int = 1,
    ):
        self.name = name
        self.fold = fold
        self.n_folds = n_folds
        self.task = task
        self.failure: ModelError | None = None
        self.n_unanswered = 0
        self.seconds_loading = 0.0
        self._unanswered = unanswered
        self._direct = engine == "auto"
        self._estimator = estimator
        self._kernel: Kernel | None = None
        self._state: Any = None  # of the kernel: what the model has learnt
        self._reason = ""  # why some rows are executed by the loop
        self._not_yet = ""  # why all are, until the first rows have been learnt
        self._parts = LoopedParts()
        self._retries: Retries | None = None
        self._by_kernel = False
        self._loop: Loop | None = None
        self._is_new = False  # until the model has learnt something in the loop
        self._warmup: WarmUp | None = None
        self._gathers = False
        with failures_named(name, fold, "being prepared", n_folds):
            # Without a warm-up a plain object is asked: only it knows what it has learnt.
            self._has_learnt = is_fitted(estimator) or (not task.n_warmup and is_plain(estimator))
            if engine == "auto":
                self._take(Found.of(estimator, task))
            if self._kernel is None:
                self._begin_loop(task.n_warmup)
        self._left: Left | None = None
        self._seconds_in_kernel = 0.0

    @property
    def has_learnt(self) -> bool:
        """Whether the model knows anything: from before, or of rows that it was shown."""
        return self._has_learnt

    @property
    def path(self) -> str:
        """How the model was executed; after a colon, why not completely by a kernel."""
        if self._kernel is None and not self._by_kernel:
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
        """How the model is executed so far, without reasons, for a progress bar."""
        if self._kernel is None and not self._by_kernel:
            return "loop"
        looped = [f"{part.name} by loop" for part in self.looped_parts]
        return ", ".join(["kernel and loop" if self._reason else "kernel", *looped])

    @property
    def looped_parts(self) -> list[Looped]:
        """Parts of the model that were executed call by call where the others had kernels."""
        return self._parts.now(self._kernel, self._state)

    @property
    def seconds_of_parts(self) -> dict[str, float]:
        """Time in each of these parts, by its name."""
        seconds: dict[str, float] = {}
        for part in self.looped_parts:
            both = part.seconds_asking + part.seconds_learning
            seconds[part.name] = seconds.get(part.name, 0.0) + both
        return seconds

    @property
    def asks_row_by_row(self) -> bool:
        """Whether an answer of a call may be used as a label for the next rows."""
        return asks_row_by_row(self._estimator)

    @property
    def loops(self) -> bool:
        """Whether the model, or a part of it, is executed call by call, and so slowly."""
        return self._kernel is None or bool(self._kernel.looped(self._state))

    @property
    def slows_when_pickled(self) -> bool:
        """Whether later calls are slower: pickling asks the objects inside for their attributes.

        CPython before 3.13 then looks these up in a dictionary of each object, not in the object.
        """
        return self._loop is not None and self._loop.is_direct

    @property
    def seconds(self) -> dict[str, float]:
        """Time spent: asking and learning in the loop, both together in a kernel."""
        loop, parts = self._loop, self.looped_parts
        asking = sum(part.seconds_asking for part in parts)
        learning = sum(part.seconds_learning for part in parts)
        return {
            "asking": asking + (0.0 if loop is None else loop.seconds_asking),
            "learning": learning + (0.0 if loop is None else loop.seconds_learning),
            "kernel": max(0.0, self._seconds_in_kernel - asking - learning),
        }

    def estimator(self) -> Any:
        """Return the fitted estimator, as ``partial_fit`` would have left it."""
        if self._kernel is not None:
            self._export(self._kernel)
        return self._estimator

    def _export(self, kernel: Kernel) -> None:
        action = f"{type(kernel).__name__}.export wrote its fitted attributes"
        with failures_named(self.name, self.fold, action, self.n_folds):
            kernel.export(self._state)

    @property
    def can_resume(self) -> bool:
        """Whether the model has stopped at a point from which it can continue."""
        return self._left is not None

    @property
    def stopped_learning(self) -> bool:
        """Whether it was a row to learn at which the model has stopped."""
        return self._left is not None and self._left.action == "learning"

    def resume(self, *, skip: bool) -> Resumed:
        """Continue the block in which the model stopped.

        Parameters
        ----------
        skip : bool
            Whether to leave out the call that failed; else it is made again.

        Returns
        -------
        resumed : Resumed
            Answers to the last asks of the block. The model may have stopped again.
        """
        left = self._left
        assert left is not None
        self.failure, self._left = None, None
        if self._gathers:
            block, n_skipped = self._begin_again(left, skip), 0
        else:
            block, n_skipped = left.rest(skip)
        if skip and left.action == "learning":
            self._has_learnt = is_fitted(self._estimator)
        skipped = no_answers(self.task, n_skipped)
        answers = np.concatenate([left.answers, skipped, self.run(block)])
        return Resumed(answers, left.rows if skip else left.rows[:0], bool(n_skipped))

    def _begin_again(self, left: Left, skip: bool) -> Block:
        """Return the warm-up that failed as a whole, to be learnt row by row, and what follows."""
        assert self._warmup is not None
        if skip:
            self._warmup.leave_out(left.rows)
        block, n_held = self._warmup.before(left.rest(skip=False)[0])
        self._estimator, self._gathers, self._has_learnt = self._warmup.fresh, False, False
        self._begin_loop(n_held)
        return block

    def forget_failure(self, n_unanswered: int) -> None:
        """Undo the last block, in which nothing was learnt."""
        self.failure, self._left, self.n_unanswered = None, None, n_unanswered

    def run(self, block: Block) -> np.ndarray:
        """Execute a block; -1 or NaN where nothing had been learnt when asked.

        Without a warm-up, some models state an answer to such questions: see `first_answers`.

        If a model fails, its answers up to the failure are kept, in a kernel or in the loop, and
        all later answers are missing (-1 or NaN); `failure` says why.
        """
        if self.failure is not None or not (block.n_asks or block.n_learns):
            return no_answers(self.task, block.n_asks)
        early = 0
        if not self._has_learnt:
            early = int(np.searchsorted(block.stamp, 1)) if block.n_learns else block.n_asks
            self._has_learnt = block.n_learns > 0
        if early == 0:
            return self._execute(block)
        before = first_answers(self._estimator, self.task, early)
        if block.n_learns == 0:
            return before
        learns, asks = slice(0, block.n_learns), slice(early, block.n_asks)
        answers = self._execute(part_of(block, learns, asks))
        return np.concatenate([before, answers])

    def _execute(self, block: Block) -> np.ndarray:
        if self._kernel is None and self._retries is None:
            return self._execute_part(block)
        answers: list[np.ndarray] = []
        learns, asks = slice(0, 0), slice(0, 0)
        while learns.stop < block.n_learns or asks.stop < block.n_asks:
            done = learns, asks
            learns, asks = next_part(block, *done, self._rows_at_once())
            try:
                answers.append(self._execute_part(part_of(block, learns, asks)))
            except TooLarge:
                learns, asks = done
                continue
            if self.failure is not None:
                if self._left is not None:
                    self._left = self._left.within(block, learns, asks, answers[:-1])
                answers.append(no_answers(self.task, block.n_asks - asks.stop))
                break
        return answers[0] if len(answers) == 1 else np.concatenate(answers)

    def _rows_at_once(self) -> int:
        if self._retries is None:
            return MOST_ROWS
        if self._kernel is None:
            return self._retries.n_rows_of_retry
        return self._retries.rows_at_once(self._kernel.row_bytes(self._state))

    def _execute_part(self, block: Block) -> np.ndarray:
        answers = None
        if self._kernel is None and self._retries is not None:
            self._try_kernel()
        if self._kernel is not None:
            answers = self._run_kernel(block)
        if answers is None:
            answers = self._run_loop(block)
        if self.failure is not None:
            return answers
        gap, answers = self._without_gaps(answers)
        return answers if gap is None else self._stopped(gap, answers, block)

    def _try_kernel(self) -> None:
        """Try a kernel again after the newest part without one."""
        assert self._retries is not None
        if self._is_new or self._gathers or not self._retries.is_due():
            return
        self._take(Found.of(self._estimator, self.task))

    def _take(self, found: Found) -> None:
        """Go on with a kernel, if one was found, or wait for it."""
        self._kernel, self._state = found.kernel, found.state
        if found.is_not_yet:
            self._wait(found.reason)
        elif found.kernel is None:
            self._retries = None
            self._reason = self._reason or found.reason
        elif self._retries is None or self._not_yet:
            self._retries, self._not_yet = Retries.of(found.kernel.looped(found.state)), ""

    def _wait(self, reason: str) -> None:
        """Let the loop execute the first rows, as there is no kernel before."""
        self._not_yet = reason
        n = self.task.n_warmup
        self._retries = Retries(n_rows=n, n_rows_of_retry=n)

    def _run_kernel(self, block: Block) -> np.ndarray | None:
        """Answers by the kernel; None if the loop has to execute the block."""
        kernel = self._kernel
        assert kernel is not None and self._retries is not None
        started, loading = perf_counter(), seconds_of_loading()
        try:
            self._state, answers = checked_step(kernel, self._state, block)
            self._retries.succeed()
            self._by_kernel = True
            return answers
        except NotFittedYet as declined:
            self._wait(declined.reason)
            if max(block.n_learns, block.n_asks) > self.task.n_warmup:
                raise TooLarge from declined
        except Declined as declined:
            self._reason = self._reason or declined.reason
            self._retries.decline()
            if max(block.n_learns, block.n_asks) > 2 * self._retries.n_rows_of_retry:
                raise TooLarge from declined  # the kernel may still execute most of it
        except LoopFailed as failure:
            self._state, self._by_kernel = failure.state, True
            self._leave(kernel)
            return self._after_failure(failure, block)
        except BadAnswer as error:
            self.failure = self._error("running its kernel", error)
            self.failure.__cause__ = error
            return no_answers(self.task, block.n_asks)
        except RAISED as error:
            if ends_program(error):
                raise
            # The loop meets the same error at its row, or continues without an error.
            self._reason = f"its kernel failed with a {in_short(error)}"
            self._retries = None
        finally:
            loading = seconds_of_loading() - loading
            self.seconds_loading += loading
            self._seconds_in_kernel += perf_counter() - started - loading
        self._leave(kernel)
        return None

    def _leave(self, kernel: Kernel) -> None:
        """Give the estimator what the loop would have given it: the loop continues from there."""
        self._export(kernel)
        self._parts.keep(kernel, self._state)
        self._kernel = self._state = None
        self._begin_loop(self.task.n_warmup)

    def _after_failure(self, failure: LoopFailed, block: Block) -> np.ndarray:
        """Answers where a looped part has failed; what is wrong with one, the loop says."""
        before: np.ndarray = failure.answers
        if not (failure.stopped and failure.is_bad_answer):
            return self._stopped(failure, before, block)
        learns = slice(failure.n_learnt, block.n_learns)
        asks = slice(failure.index, block.n_asks)
        answers = self._run_loop(part_of(block, learns, asks))
        if self.failure is not None:
            gap, before = self._without_gaps(before)
            if gap is not None:
                self._left = None
                return self._stopped(gap, before, block)
        if self._left is not None:
            self._left = self._left.within(block, learns, asks, [before])
        return np.concatenate([before, answers])

    def _begin_loop(self, n_warmup: int) -> None:
        before = self._loop
        self._loop = Loop(self._estimator, self.task, direct=self._direct)
        if before is not None:
            self._loop.seconds_asking = before.seconds_asking
            self._loop.seconds_learning = before.seconds_learning
        self._is_new, self._warmup = not is_fitted(self._estimator), None
        if self._is_new and n_warmup > 1:
            self._warmup = WarmUp(self._estimator, n_warmup)

    def _run_loop(self, block: Block) -> np.ndarray:
        """Answers by the loop; none after a failure."""
        assert self._loop is not None
        if self._gathers:
            return self._run_gathering(block)
        try:
            answers = self._loop.run(block)
        except LoopFailed as failure:
            is_first = failure.action == "learning" and failure.index == 0
            if failure.index if failure.action == "learning" else block.stamp[failure.index]:
                self._is_new, self._warmup = False, None  # it has learnt the rows before
            # Models that need several rows raise a ValueError about it, or another error.
            hopeless = isinstance(failure.__cause__, TypeError | AttributeError | SystemExit)
            if self._warmup is not None and is_first and block.batches is None and not hopeless:
                self._gathers = True
                self._estimator = unfitted_copy(self._warmup.fresh)
                self._loop = Loop(self._estimator, self.task, direct=self._direct)
                return self._run_gathering(block)
            return self._stopped(failure, failure.answers, block)
        if block.n_learns:
            self._is_new, self._warmup = False, None
        return answers

    def _run_gathering(self, block: Block) -> np.ndarray:
        """Answers of a model that learns its whole warm-up at once."""
        assert self._loop is not None and self._warmup is not None
        parts = self._warmup.take(block)
        if not parts:
            return no_answers(self.task, block.n_asks)
        whole, rest = parts
        try:
            self._loop.run(whole)
        except LoopFailed as failure:
            self._stopped(failure, failure.answers, whole)
            assert self.failure is not None
            n_taken, row = block.n_learns - rest.n_learns, self.failure.row
            nothing = no_answers(self.task)
            self._left = Left("learning", n_taken, np.array([row]), nothing, block)
            return no_answers(self.task, block.n_asks)
        self._is_new, self._gathers, self._warmup = False, False, None
        return self._run_loop(rest)

    def _without_gaps(self, answers: np.ndarray) -> tuple[LoopFailed | None, np.ndarray]:
        """Handle missing answers, and answers that no measure can use."""
        wrong = missing(answers, self.task)
        if wrong is None:
            return None, answers
        if self._unanswered == "wrong":
            self.n_unanswered += int(np.count_nonzero(wrong))
            return None, marked(answers, wrong, self.task)
        first = int(wrong.argmax())
        self.n_unanswered += 1
        failure = LoopFailed("answering", first)
        failure.__cause__ = BadAnswer(words_of_gap(answers[first], self.task, self._estimator))
        return failure, answers[:first]

    def _stopped(self, failure: LoopFailed, answers: np.ndarray, block: Block) -> np.ndarray:
        """Note the failure; return the earlier answers, and missing ones after them."""
        gap, answers = self._without_gaps(answers)
        failure = failure if gap is None else gap  # an earlier answer was missing
        cause = failure.__cause__
        assert cause is not None and block.ask_rows is not None
        rows, row, where = failed_call(failure, block)
        error = self._error(f"{failure.action} {where}", cause, row, self._advice(failure, block))
        error.__cause__, error.begin = cause, int(rows.min())
        self.failure = error
        if failure.stopped and self._loop is not None:
            self._left = Left(failure.action, failure.index, rows, answers, block)
        n = len(answers)
        asked = block.ask_rows[:n]
        # Numbers of held-out rows recur in every set, and say nothing of the rows of the stream.
        while n and block.checkpoint is None and asked[n - 1] >= error.row and asked[n - 1] in rows:
            n -= 1
        return np.concatenate([answers[:n], no_answers(self.task, block.n_asks - n)])

    def _error(
        self, action: str, cause: BaseException, row: int = -1, advice: str = ""
    ) -> ModelError:
        return model_error(self.name, self.fold, self.n_folds, action, cause, row, advice)

    def _advice(self, failure: LoopFailed, block: Block) -> str:
        """Return advice for a model that fails at its first rows, or at values in rows."""
        X = block.learn_X if failure.action == "learning" else block.ask_X
        of_texts = advice_of_texts(failure.__cause__, X, self._estimator)
        of_values = of_texts or advice_of_values(failure, block)
        if of_values:
            return of_values
        is_first = self._is_new and failure.action == "learning" and failure.index == 0
        return advice_of_rows(failure.__cause__, self.task.n_warmup) if is_first else ""
