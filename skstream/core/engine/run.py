"""The engine: executes all models together in one pass of the stream.

Each by a kernel where that is exact, else by the loop; failures name the model.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn import config_context, get_config

from skstream.base import asks_row_by_row
from skstream.core.engine.answers import (
    BadAnswer,
    ModelError,
    Task,
    failures_named,
    first_answers,
    marked,
    missing,
    model_error,
    no_answers,
)
from skstream.core.engine.block import Block, RowStore, SharedWork, cuts, part_of
from skstream.core.engine.kernel import ByKernel
from skstream.core.engine.loop import ByLoop, LoopFailed
from skstream.core.engine.times import RowTimes
from skstream.core.timelines.delayed import DatedArrivals, DelayedTimeline, Labels
from skstream.core.timelines.delayed_blocks import Features, block_in_company, with_current_features
from skstream.core.timelines.timeline import Arrivals, Operations, PrequentialTimeline, Timeline
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
            by_kernel.look_again(by_loop.estimator, max(block.n_learns, block.n_asks))
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
        position = int(wrong.argmax())
        self.n_unanswered += 1
        failure = LoopFailed("predicting", position)
        failure.__cause__ = BadAnswer(words_of_gap(answers[position], self.task))
        return failure, answers[:position]

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
    if failure.action == "training on":
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
        return f"its prediction is {answer}; predictions must be finite numbers."
    advice = (
        "" if task.classes is None else ' Pass unanswered="wrong" to score such rows as errors.'
    )
    if task.n_scores and answer[0] >= 0:
        shown = ", ".join(map(str, answer[1:].tolist()))
        return f"its {task.scores} gave NaN ({shown}) for a labelled row.{advice}"
    return f"its prediction was missing (None or NaN).{advice}"


HeldOut = Callable[[np.ndarray], tuple[Any, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Answered:
    """A step of one model: its operations, and the answers to their asks.

    Attributes
    ----------
    operations : Operations
        What was learnt and asked.
    answers : ndarray of shape (n_asks,)
        Codes or targets; with another method than ``predict``, what that returned.
    scores : ndarray of shape (n_asks, n_scores), or None
        What the task needs besides codes.
    """

    operations: Operations
    answers: np.ndarray
    scores: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What all models did with one event; `Engine.commit` makes it final.

    Attributes
    ----------
    event : Arrivals, Labels, End, ...
        What happened.
    states : list
        The state of every timeline after the event.
    answered : list of Answered
        The operations and answers of every model.
    """

    event: Any
    states: list[Any]
    answered: list[Answered]


class Engine:
    """Executes models along their timelines, and stores the waiting rows.

    Models that share a timeline object share its computation.

    Parameters
    ----------
    models : sequence of ModelRun
        The models. If one fails, the others continue.
    timelines : sequence of Timeline
        That of each model.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.

    Attributes
    ----------
    states : list
        The state of every timeline.
    held_out : callable or None
        ``held_out(numbers)`` returns rows that are not of the stream, and where in them those of
        some numbers are: the features that a `HoldoutTimeline` asks about.
    is_even : bool
        Whether each row is asked and then learnt at once, but for the warm-up and rows without a
        label or weight.
    is_inconsistent : bool
        Whether an interrupt or an error of the engine has stopped models while they learnt, so that
        their state is unknown.
    """

    def __init__(
        self,
        models: Sequence[ModelRun],
        timelines: Sequence[Timeline],
        features: Features | None = None,
    ):
        self.models = list(models)
        self.states: list[Any] = []
        self.held_out: HeldOut | None = None
        self.is_inconsistent = False
        self._features = features
        self._timelines: list[Any] = []
        self._timeline_of: list[int] = []
        self._chains: list[bool] = []  # models that answer rows that get no label again
        numbers: dict[int, int] = {}
        told = []
        for model, timeline in zip(models, timelines, strict=True):
            if hasattr(model.by_loop.estimator, "time_passes"):
                told.append(model.by_loop.estimator)
            number = numbers.setdefault(id(timeline), len(numbers))
            if number == len(self._timelines):
                self._timelines.append(timeline)
                self.states.append(timeline.initial())
            self._timeline_of.append(number)
            late = isinstance(timeline, DelayedTimeline)
            self._chains.append(late and asks_row_by_row(model.by_loop.estimator))
        if any(self._chains):
            self._timelines[0] = replace(self._timelines[0], keep_unlabelled=True)
        self._times = RowTimes(told) if told else None
        first = self._timelines[0]
        self.is_even = isinstance(first, PrequentialTimeline) and first.batch_size == 1 and not told
        self._store = RowStore()
        self._shared = SharedWork() if len(self.models) > len(self._timelines) else None
        self._failures_before: list[tuple[ModelError | None, int]] = []

    @property
    def failures(self) -> dict[int, ModelError]:
        """Why models have stopped, by position."""
        failures = {}
        for k, model in enumerate(self.models):
            if model.failure is not None:
                failures[k] = model.failure
        return failures

    def keep(self, numbers: Sequence[int]) -> None:
        """Go on with some of the models, in their order; the others are not called any more."""
        self.models = [self.models[k] for k in numbers]
        self._timeline_of = [self._timeline_of[k] for k in numbers]
        self._chains = [self._chains[k] for k in numbers]
        self._failures_before = []
        if len(self.models) <= len(self._timelines):
            self._shared = None

    def execute(self, event: Any, X: Any = None, y: np.ndarray | None = None) -> Step:
        """Let every model do what follows from an event.

        Only the models change; all else does in `commit`. If this raises an exception before a
        model has learnt, as `features` may, the same event can be executed again.

        Parameters
        ----------
        event : Arrivals, Labels, End, ...
            What happened.
        X, y : array-like of shape (n_rows, n_features), ndarray of shape (n_rows,)
            Features of the rows that arrived; codes or targets of these, or of the rows whose
            labels became known.
        """
        self._failures_before = []
        for model in self.models:
            self._failures_before.append((model.failure, model.n_unanswered))
        states, operations = [], []
        try:
            if isinstance(event, Arrivals):
                assert y is not None
                if self._times is not None:
                    self._times.add(event)
                self._store.add(event.first_row, X, y)
            elif isinstance(event, Labels):
                assert y is not None
                self._store.set_labels(event.rows, y)
            for timeline, state in zip(self._timelines, self.states, strict=True):
                after, its = timeline.step(state, event)
                states.append(after)
                operations.append(its)
            return Step(event, states, self._answered(operations))
        except BaseException:
            if not self.is_inconsistent:
                self.abandon()
            raise
        finally:
            if self._shared is not None:
                self._shared.clear()

    def _answered(self, operations: list[Any]) -> list[Answered]:
        """Let all models execute the operations of their timelines."""
        blocks = list(map(self._block, operations))
        if any(self._chains):
            blocks.append(block_in_company(operations[0], self.states[0].unlearnt(), self._block))
        if self._shared is not None:
            blocks = list(map(self._shared.show, blocks))
        routes, answered = get_config()["enable_metadata_routing"], []
        for model, k, is_chain in zip(self.models, self._timeline_of, self._chains, strict=True):
            its, block = operations[k], blocks[-1] if is_chain else blocks[k]
            # Weights of a fold mean that rows are left out or repeated. They are no metadata of the
            # user: they reach every model and step, as without routing.
            hides = routes and its.only_protocol_weights and its.weight is not None
            self.is_inconsistent = self.is_inconsistent or block.n_learns > 0
            with config_context(enable_metadata_routing=False) if hides else nullcontext():
                answers = model.run(block)
            scores = None
            if model.task.n_scores:
                answers, scores = answers[:, 0].astype(np.int64), answers[:, 1:]
            answered.append(Answered(its, answers, scores))
        self.is_inconsistent = False
        return answered

    def ahead(self, row: int, X: Any, y: np.ndarray) -> list[np.ndarray]:
        """Let every model be asked about a row and learn it; return the answers of each.

        `follow` lets the timeline take the step of all such rows.
        """
        rows, first = np.array([row]), np.zeros(1, np.intp)
        block = Block(X, first, y, None, X, first, first, learn_rows=rows, ask_rows=rows)
        self.is_inconsistent = True
        answers = [model.run(block) for model in self.models]
        self.is_inconsistent = False
        return answers

    def follow(self, event: Arrivals, ahead: Sequence[Any]) -> Step:
        """Let the timeline take the step of rows that the models have done."""
        after, its = self._timelines[0].step(self.states[0], event)
        lanes = map(np.concatenate, zip(*ahead, strict=True))
        return Step(event, [after], [Answered(its, answers) for answers in lanes])

    def commit(self, step: Step) -> None:
        """Make the event that was executed last final, and forget the rows no longer needed."""
        self.states = step.states
        if self._times is not None:
            self._times.release(min(its.operations.settled for its in step.answered))
        self._store.release(step.answered[0].operations.released)

    def abandon(self) -> None:
        """Undo the event that was executed last, in which nothing was learnt."""
        self._store.take_back()
        for model, (failure, n_unanswered) in zip(self.models, self._failures_before, strict=True):
            if failure is None:
                model.failure, model.n_unanswered = None, n_unanswered

    def preview(self, event: DatedArrivals) -> list[Answered]:
        """Answers to the rows of the event executed last, as if the warm-up were over."""
        timeline = self._timelines[0]
        state = replace(self.states[0], n_learnt=timeline.n_warmup)
        return self._answered([timeline.step(state, event)[1]])

    def _block(self, operations: Any) -> Block:
        asked: tuple[Any, ...] = ()
        if operations.checkpoint is not None and len(operations.ask_rows):
            assert self.held_out is not None
            asked = self.held_out(operations.ask_rows)
        block = self._store.block(operations, *asked)
        if self._times is not None:
            block = self._times.shown(block, operations)
        if self._features is None:
            return block
        return with_current_features(block, operations, self._features)  # delayed labels only
