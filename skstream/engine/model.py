"""Execution of one model: by a kernel if that is exact, else by the loop; and its failures."""

from typing import Any, Literal

import numpy as np

from skstream.base import asks_row_by_row
from skstream.engine.block import Block, part_of
from skstream.engine.by_kernel import ByKernel
from skstream.engine.by_loop import ByLoop, LoopStopped
from skstream.engine.error_advice import (
    advice_of_rows,
    advice_of_texts,
    advice_of_values,
    failed_call,
    words_of_gap,
)
from skstream.engine.failures import BadAnswer, ModelError, failures_named, model_error
from skstream.engine.first_answers import first_answers
from skstream.engine.kernels import Task
from skstream.engine.kernels.base import Looped
from skstream.engine.loop import LoopFailed, no_answers
from skstream.engine.missing_answers import marked, missing
from skstream.engine.resuming import Left, Resumed
from skstream.engine.retries import TooLarge, next_part
from skstream.utils._validation import is_fitted, is_plain

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
        self._unanswered = unanswered
        self._by_kernel = ByKernel(task)
        self._by_loop = ByLoop(estimator, task, direct=engine == "auto")
        self._left: Left | None = None
        with failures_named(name, fold, "being prepared", n_folds):
            # Without a warm-up a plain object is asked: only it knows what it has learnt.
            self._has_learnt = is_fitted(estimator) or (not task.n_warmup and is_plain(estimator))
            if engine == "auto":
                self._by_kernel.look_for(estimator)
            if not self._by_kernel.is_there:
                self._by_loop.begin(task.n_warmup)

    # -- what is known of it

    @property
    def has_learnt(self) -> bool:
        """Whether the model knows anything: from before, or of rows that it was shown."""
        return self._has_learnt

    @property
    def path(self) -> str:
        """How the model was executed; after a colon, why not completely by a kernel."""
        return self._by_kernel.path

    @property
    def path_in_short(self) -> str:
        """How the model is executed so far, without reasons, for a progress bar."""
        return self._by_kernel.path_in_short

    @property
    def looped_parts(self) -> list[Looped]:
        """Parts of the model that were executed call by call where the others had kernels."""
        return self._by_kernel.looped_parts

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
        return asks_row_by_row(self._by_loop.estimator)

    @property
    def loops(self) -> bool:
        """Whether the model, or a part of it, is executed call by call, and so slowly."""
        return self._by_kernel.loops

    @property
    def slows_when_pickled(self) -> bool:
        """Whether later calls are slower: pickling asks the objects inside for their attributes.

        CPython before 3.13 then looks these up in a dictionary of each object, not in the object.
        """
        return self._by_loop.is_direct

    @property
    def seconds(self) -> dict[str, float]:
        """Time spent: asking and learning in the loop, both together in a kernel."""
        parts = self.looped_parts
        asking = sum(part.seconds_asking for part in parts)
        learning = sum(part.seconds_learning for part in parts)
        return {
            "asking": asking + self._by_loop.seconds_asking,
            "learning": learning + self._by_loop.seconds_learning,
            "kernel": max(0.0, self._by_kernel.seconds - asking - learning),
        }

    @property
    def seconds_loading(self) -> float:
        """Time to load or make compiled code, which is no time of the model."""
        return self._by_kernel.seconds_loading

    def estimator(self) -> Any:
        """Return the fitted estimator, as ``partial_fit`` would have left it."""
        if self._by_kernel.is_there:
            self._export()
        return self._by_loop.estimator

    # -- executing a block

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
        before = first_answers(self._by_loop.estimator, self.task, early)
        if block.n_learns == 0:
            return before
        learns, asks = slice(0, block.n_learns), slice(early, block.n_asks)
        answers = self._execute(part_of(block, learns, asks))
        return np.concatenate([before, answers])

    def _execute(self, block: Block) -> np.ndarray:
        if not self._by_kernel.may_come:
            return self._execute_part(block)
        answers: list[np.ndarray] = []
        learns, asks = slice(0, 0), slice(0, 0)
        while learns.stop < block.n_learns or asks.stop < block.n_asks:
            done = learns, asks
            learns, asks = next_part(block, *done, self._by_kernel.rows_at_once())
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

    def _execute_part(self, block: Block) -> np.ndarray:
        answers, loop = None, self._by_loop
        if not (loop.is_new or loop.gathers) and self._by_kernel.is_due():
            self._by_kernel.look_for(loop.estimator)
        if self._by_kernel.is_there:
            answers = self._run_kernel(block)
        if answers is None:
            answers = self._run_loop(block)
        if self.failure is not None:
            return answers
        gap, answers = self._without_gaps(answers)
        return answers if gap is None else self._stopped(gap, answers, block)

    def _run_kernel(self, block: Block) -> np.ndarray | None:
        """Answers by the kernel; None if the loop has to execute the block."""
        try:
            answers = self._by_kernel.step(block)
        except LoopFailed as failure:
            self._leave_kernel()
            return self._after_failure_of_part(failure, block)
        except BadAnswer as error:
            self.failure = self._error("running its kernel", error)
            self.failure.__cause__ = error
            return no_answers(self.task, block.n_asks)
        if answers is None:
            self._leave_kernel()
        return answers

    def _leave_kernel(self) -> None:
        """Give the estimator what the loop would have given it: the loop continues from there."""
        self._export()
        self._by_kernel.leave()
        self._by_loop.begin(self.task.n_warmup)

    def _export(self) -> None:
        action = f"{self._by_kernel.name}.export wrote its fitted attributes"
        with failures_named(self.name, self.fold, action, self.n_folds):
            self._by_kernel.export()

    def _run_loop(self, block: Block) -> np.ndarray:
        """Answers by the loop; none after a failure."""
        try:
            return self._by_loop.run(block)
        except LoopStopped as stopped:
            answers = self._stopped(stopped.failure, stopped.failure.answers, stopped.block)
            if stopped.n_taken is None:
                return answers
            assert self.failure is not None
            row, nothing = np.array([self.failure.row]), no_answers(self.task)
            self._left = Left("learning", stopped.n_taken, row, nothing, block)
            return no_answers(self.task, block.n_asks)

    # -- stopping and going on

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
        if self._by_loop.gathers:
            block, n_skipped = self._by_loop.begin_again(left, skip=skip), 0
            self._has_learnt = False
        else:
            block, n_skipped = left.rest(skip)
        if skip and left.action == "learning":
            self._has_learnt = is_fitted(self._by_loop.estimator)
        skipped = no_answers(self.task, n_skipped)
        answers = np.concatenate([left.answers, skipped, self.run(block)])
        return Resumed(answers, left.rows if skip else left.rows[:0], bool(n_skipped))

    def forget_failure(self, n_unanswered: int) -> None:
        """Undo the last block, in which nothing was learnt."""
        self.failure, self._left, self.n_unanswered = None, None, n_unanswered

    def _after_failure_of_part(self, failure: LoopFailed, block: Block) -> np.ndarray:
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
        failure.__cause__ = BadAnswer(
            words_of_gap(answers[first], self.task, self._by_loop.estimator)
        )
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
        if failure.stopped and self._by_loop.has_begun:
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
        of_texts = advice_of_texts(failure.__cause__, X, self._by_loop.estimator)
        of_values = of_texts or advice_of_values(failure, block)
        if of_values:
            return of_values
        is_first = self._by_loop.is_new and failure.action == "learning" and failure.index == 0
        return advice_of_rows(failure.__cause__, self.task.n_warmup) if is_first else ""
