"""Execution of one model: by a kernel if that is exact, else by the loop; and its failures."""

from typing import Any, Literal

import numpy as np

from skstream.core.engine.answers import Task, first_answers, marked, missing, no_answers
from skstream.core.engine.block import Block, cuts, part_of
from skstream.core.engine.failures import BadAnswer, ModelError, failures_named, model_error
from skstream.core.engine.kernel import ByKernel
from skstream.core.engine.loop import ByLoop, LoopFailed
from skstream.utils._rows import not_finite, take_rows
from skstream.utils._validation import is_fitted, is_plain

#: How a missing answer (None or NaN) counts: as a failure of the model, a wrong answer, or the
#: first class.
Unanswered = Literal["error", "wrong", "first"]


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
    kernels : bool, default=True
        Whether a kernel may be used.
    unanswered : {"error", "wrong", "first"}, default="error"
        Whether None or NaN in answer to a question is a failure, or gets the code -2, or 0
        (of classifiers asked to predict).
    n_folds : int, default=1
        Number of folds; messages name the fold where there are several.

    Attributes
    ----------
    by_kernel : ByKernel
        Its kernel, if there is one, and why not.
    by_loop : ByLoop
        The model, and its calls.
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
        kernels: bool = True,
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
        self.by_kernel = ByKernel(task)
        self.by_loop = ByLoop(estimator, task, direct=kernels)
        with failures_named(name, fold, "being prepared", n_folds):
            # Without a warm-up a plain object is asked: only it knows what it has learnt.
            self.has_learnt = is_fitted(estimator) or (not task.n_warmup and is_plain(estimator))
            if kernels:
                self.by_kernel.look_for(estimator)
            if self.by_kernel.kernel is None:
                self.by_loop.begin(task.n_warmup)

    # -- what is known of it

    @property
    def is_measured_late(self) -> bool:
        """Whether measuring the size of the model before the end would slow it down."""
        kernel = self.by_kernel.kernel
        return self.by_loop.is_direct or (kernel is not None and kernel.exports_slowly)

    @property
    def seconds(self) -> dict[str, float]:
        """Time spent: asking and learning in the loop, both together in a kernel."""
        asking = learning = 0.0
        for part in self.by_kernel.looped_parts():
            asking += part.seconds_asking
            learning += part.seconds_learning
        kernel, loop = max(0.0, self.by_kernel.seconds - asking - learning), self.by_loop.loop
        if loop is not None:
            asking, learning = asking + loop.seconds_asking, learning + loop.seconds_learning
        return {"seconds_asking": asking, "seconds_learning": learning, "seconds_in_kernel": kernel}

    def estimator(self) -> Any:
        """Return the fitted estimator, as ``partial_fit`` would have left it."""
        kernel = self.by_kernel.kernel
        if kernel is not None:
            action = f"{type(kernel).__name__}.export wrote its fitted attributes"
            with failures_named(self.name, self.fold, action, self.n_folds):
                kernel.export(self.by_kernel.state)
        return self.by_loop.estimator

    # -- executing a block

    def run(self, block: Block) -> np.ndarray:
        """Execute a block; -1 or NaN where nothing had been learnt when asked.

        Without a warm-up, some models state an answer to such questions: see `first_answers`.

        If a model fails, its answers up to the failure are kept, in a kernel or in the loop, and
        all later answers are missing (-1 or NaN); `failure` says why.
        """
        if self.failure is not None or not (block.n_asks or block.n_learns):
            return no_answers(self.task, block.n_asks)
        if not self.has_learnt:
            early = int(np.searchsorted(block.stamp, 1)) if block.n_learns else block.n_asks
            self.has_learnt = block.n_learns > 0
            if early:
                before = first_answers(self.by_loop.estimator, self.task, early)
                rest = part_of(block, slice(0, block.n_learns), slice(early, block.n_asks))
                return np.concatenate([before, self.run(rest)])
        answers: list[np.ndarray] = []
        learnt = asked = 0
        while learnt < block.n_learns or asked < block.n_asks:
            part = part_of(block, slice(learnt, block.n_learns), slice(asked, block.n_asks))
            n_rows = self.by_kernel.rows_at_once()
            if max(part.n_learns, part.n_asks) > n_rows:
                part = part_of(part, *next(cuts(part, n_rows)))
            came = self._execute(part)
            if came is not None:
                answers.append(came)
                learnt, asked = learnt + part.n_learns, asked + part.n_asks
            if self.failure is not None:
                answers.append(no_answers(self.task, block.n_asks - asked))
                break
        return answers[0] if len(answers) == 1 else np.concatenate(answers)

    def _execute(self, block: Block) -> np.ndarray | None:
        """Answers to a block; None where the kernel declines it, but may execute parts of it."""
        by_kernel, by_loop, answers, try_smaller_parts = self.by_kernel, self.by_loop, None, False
        if by_kernel.kernel is None and not (by_loop.is_new or by_loop.gathers):
            by_kernel.look_again(by_loop.estimator)
        if by_kernel.kernel is not None:
            try:
                answers, try_smaller_parts = by_kernel.step(block)
            except LoopFailed as failure:
                self._leave_kernel()
                answers = self._after_failure_of_part(failure, block)
            except BadAnswer as error:
                self.failure = self._error("running its kernel", error)
                self.failure.__cause__ = error
                return no_answers(self.task, block.n_asks)
            if try_smaller_parts:
                return None
            if answers is None:
                self._leave_kernel()
        if answers is None:
            answers = self._run_loop(block)
        if self.failure is not None or missing(answers, self.task) is None:
            return answers
        gap, answers = self._without_gaps(answers)
        return answers if gap is None else self._note_failure(gap, answers, block)

    def _leave_kernel(self) -> None:
        """Give the estimator what the loop would have given it: the loop continues from there."""
        self.estimator()
        self.by_kernel.leave()
        self.by_loop.begin(self.task.n_warmup)

    def _run_loop(self, block: Block) -> np.ndarray:
        """Answers by the loop; none after a failure."""
        try:
            return self.by_loop.run(block)
        except LoopFailed as failure:
            assert failure.block is not None
            answers = self._note_failure(failure, failure.answers, failure.block)
            whole_warmup = failure.n_taken is not None
            return no_answers(self.task, block.n_asks) if whole_warmup else answers

    # -- failures

    def _after_failure_of_part(self, failure: LoopFailed, block: Block) -> np.ndarray:
        """Answers where a looped part has failed; what is wrong with one, the loop says."""
        before: np.ndarray = failure.answers
        if not (failure.stopped and failure.is_bad_answer):
            return self._note_failure(failure, before, block)
        learns = slice(failure.n_learnt, block.n_learns)
        asks = slice(failure.index, block.n_asks)
        answers = self._run_loop(part_of(block, learns, asks))
        if self.failure is not None:
            gap, before = self._without_gaps(before)
            if gap is not None:
                return self._note_failure(gap, before, block)
        return np.concatenate([before, answers])

    def _without_gaps(self, answers: np.ndarray) -> tuple[LoopFailed | None, np.ndarray]:
        """Handle missing answers, and answers that no measure can use."""
        wrong = missing(answers, self.task)
        if wrong is None:
            return None, answers
        if self._unanswered != "error":
            self.n_unanswered += int(np.count_nonzero(wrong))
            first = self._unanswered == "first"
            return None, marked(answers, wrong, self.task, first=first)
        place = int(wrong.argmax())
        self.n_unanswered += 1
        failure = LoopFailed("answering", place)
        failure.__cause__ = BadAnswer(words_of_gap(answers[place], self.task))
        return failure, answers[:place]

    def _note_failure(self, failure: LoopFailed, answers: np.ndarray, block: Block) -> np.ndarray:
        """Note the failure; return the earlier answers, and missing ones after them."""
        gap, answers = self._without_gaps(answers)
        failure = failure if gap is None else gap  # an earlier answer was missing
        cause = failure.__cause__
        assert cause is not None and block.ask_rows is not None
        rows, row, where = failed_call(failure, block)
        error = self._error(f"{failure.action} {where}", cause, row)
        error.__cause__, error.begin = cause, int(rows.min())
        self.failure = error
        n = len(answers)
        asked = block.ask_rows[:n]
        # Numbers of held-out rows recur in every set, and say nothing of the rows of the stream.
        while n and block.checkpoint is None and asked[n - 1] >= error.row and asked[n - 1] in rows:
            n -= 1
        return np.concatenate([answers[:n], no_answers(self.task, block.n_asks - n)])

    def _error(self, action: str, cause: BaseException, row: int = -1) -> ModelError:
        return model_error(self.name, self.fold, self.n_folds, action, cause, row)


def failed_call(failure: LoopFailed, block: Block) -> tuple[np.ndarray, int, str]:
    """Return the rows of the call that failed, the one to name, and where that is, in words."""
    numbers, bounds, checkpoint = block.ask_rows, block.groups, block.checkpoint
    X, index = block.ask_X, block.ask_index
    if failure.action == "learning":
        numbers, bounds, checkpoint = block.learn_rows, block.batches, None
        X, index = block.learn_X, block.learn_index
    begin, end = failure.index, failure.index + 1
    if bounds is not None and not isinstance(failure.__cause__, BadAnswer):
        end = int(bounds[np.searchsorted(bounds, begin, side="right")])
    assert numbers is not None
    rows, held_out = numbers[begin:end], "" if checkpoint is None else "holdout "
    row, where = int(rows[0]), f"{held_out}row {rows[0]}"
    if len(rows) > 1:
        where = f"{held_out}rows {int(rows.min())} to {int(rows.max())}"
        at = int(not_finite(take_rows(X, index[begin:end])).argmax())
        row = int(rows[at])
        where += f" (row {row} is not finite)" if at else ""
    if checkpoint is not None:
        where += f" at checkpoint {checkpoint[begin]} of the stream"
    return rows, row, where


def words_of_gap(answer: Any, task: Task) -> str:
    """Say that an answer is missing or infinite, and what can be done."""
    if task.method == "predict" and task.classes is None and np.isinf(answer):
        return f"its answer is {answer}; predictions must be finite numbers."
    advice = (
        "" if task.classes is None else ' Pass unanswered="wrong" to score such rows as errors.'
    )
    if task.n_scores and answer[0] >= 0:
        shown = ", ".join(map(str, answer[1:].tolist()))
        return f"its {task.scores} gave NaN ({shown}) beside a label.{advice}"
    return f"it gave no answer (None or NaN) where one was asked.{advice}"
