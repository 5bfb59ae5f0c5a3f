"""The generic path: the model's own ``predict`` and ``partial_fit``, call by call."""

from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from skstream.base import learner
from skstream.core.engine.answers import (
    RAISED,
    BadAnswer,
    Task,
    ends_program,
    no_answers,
    with_scores,
)
from skstream.core.engine.block import Block, Company, part_of
from skstream.utils._labels import UNKNOWN, LabelSpace, array_of
from skstream.utils._rows import (
    copy_rows,
    joined_weights,
    not_finite,
    own_rows,
    stack_rows,
    take_rows,
)
from skstream.utils._validation import is_fitted, is_outlier_detector, unfitted_copy

_METHOD_NAMES = (
    *("fit", "partial_fit", "transform", "fit_transform", "partial_fit_transform"),
    *("predict", "predict_proba", "predict_log_proba", "decision_function"),
)


class LoopFailed(Exception):
    """Failure of a model, with the position of the ask or learn in the block.

    Attributes
    ----------
    action : {"predicting", "training on"}
        What it was doing.
    index : int
        Position among the block's asks or learns.
    answers : ndarray
        Answers to the asks before the failure, as the loop returns them.
    n_learnt : int
        How many learns of the block the model has made.
    stopped : bool
        Whether the model did nothing after the failure. (A bad answer is found at the end.)
    block : Block or None
        The block that positions belong to, if not the one given: see `ByLoop`.
    n_taken : int or None
        Where that is a whole warm-up, how many of its rows the block given had.
    state : object
        State of the kernel that executed the model, as it was right before the failure, or after
        the block where the model had not stopped; None without a kernel.
    """

    def __init__(
        self,
        action: str,
        index: int,
        answers: Any = None,
        n_learnt: int = 0,
        *,
        stopped: bool = False,
    ):
        super().__init__(action, index)
        self.action, self.index, self.answers = action, index, answers
        self.n_learnt, self.stopped = n_learnt, stopped
        self.block: Block | None = None
        self.n_taken: int | None = None
        self.state: Any = None

    @property
    def is_bad_answer(self) -> bool:
        """Whether it gave an answer, but none that can be used."""
        return isinstance(self.__cause__, BadAnswer)


class Loop:
    """Executes blocks on any estimator by calls of its methods, in order.

    An estimator with a method `row_calls`, which wraps a model of another library, is called
    through what that returns once it is fitted: the same calls of that model, without the checks
    of ``predict`` and ``partial_fit`` (see `skstream.compat`). With `direct=False` it is not, and
    neither is a subclass, which may have other methods.

    Parameters
    ----------
    estimator : estimator
        The model; it is changed.
    task : Task
        Classes and kind of answer.
    direct : bool, default=True
        Whether to call the model that an estimator wraps.
    is_part : bool, default=False
        Whether this is the inner model of an estimator that has learnt its first rows. Such a model
        has been told the classes; and before anything else is learnt, it stops at an answer that is
        missing, or neither label nor number. (Others stop at the end of the block.)
    """

    #: The row of a frame that was taken last: of which frame, and where in it.
    _taken: tuple[Any, int, Any] | None = None

    def __init__(self, estimator: Any, task: Task, *, direct: bool = True, is_part: bool = False):
        self.estimator = estimator
        self.task = task
        self._is_part = is_part
        self._said: set[str] = set()  # warnings about answers
        self.seconds_asking = 0.0
        self.seconds_learning = 0.0
        self._learn = learner(estimator)
        self._is_told_time = hasattr(estimator, "time_passes")
        has_calls = direct and "row_calls" in vars(type(estimator))
        self.is_direct = has_calls and changed_methods(estimator) is None
        self._columns_are_known = False
        self._space = LabelSpace(task.classes)
        known = None if is_part or is_fitted(estimator) else task.classes
        self._classes = None if known is None else known.copy()  # the model may write into it

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_learn"]  # a bound function: made again after loading
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._learn = learner(self.estimator)

    def run(self, block: Block) -> np.ndarray:
        """Execute the block and return the answers to its asks, in their order."""
        try:
            return self._run_directly(block) if self._is_direct(block) else self._run_calls(block)
        finally:
            self._taken = None

    def _labels_and_weight(self, block: Block) -> tuple[np.ndarray, np.ndarray | None]:
        """Copies: models may write into what they are given, and other models read the same."""
        labels = block.y.copy() if self.task.classes is None else self.task.classes[block.y]
        return labels, None if block.weight is None else block.weight.copy()

    def _run_calls(self, block: Block) -> np.ndarray:
        labels, weight = self._labels_and_weight(block)
        answers: list[np.ndarray] = []
        for is_ask, begin, end in block.calls():
            started = perf_counter()
            try:
                if self._is_told_time:
                    times = block.ask_time if is_ask else block.learn_time
                    assert times is not None
                    assert block.learn_came is not None
                    came = None if is_ask else block.learn_came[begin:end].astype("datetime64[us]")
                    self.estimator.time_passes(np.datetime64(int(times[end - 1]), "us"), came)
                if is_ask:
                    answers.append(self._ask(block, begin, end))
                else:
                    self._learn_rows(block, labels, weight, begin, end)
            except RAISED as error:
                if ends_program(error):
                    raise
                n_learnt = int(block.stamp[begin]) if is_ask else begin
                action = "predicting" if is_ask else "training on"
                before = self._codes(answers)  # an earlier answer may be wrong, too
                raise LoopFailed(action, begin, before, n_learnt, stopped=True) from error
            if is_ask:
                self.seconds_asking += perf_counter() - started
            else:
                self.seconds_learning += perf_counter() - started
        return self._codes(answers)

    def _is_direct(self, block: Block) -> bool:
        """Whether the model inside can be called for each row of the block."""
        if not self.is_direct or (block.weight is not None and not block.weight.all()):
            return False
        if block.batches is not None or block.company is not None:
            return False
        if not is_fitted(self.estimator):
            return block.n_learns > 0 and not (block.stamp < 1).any()
        if self.task.classes is None:
            return True
        # If not, the checks say what is wrong.
        return self.estimator.classes_.tolist() == self.task.classes.tolist()

    def _run_directly(self, block: Block) -> np.ndarray:
        """Execute a block by calls of the model inside, as its users would write them."""
        n_learnt = 0
        if not is_fitted(self.estimator):  # the first call checks, and makes the model inside
            self._run_calls(part_of(block, slice(0, 1), slice(0, 0)))
            n_learnt = 1
        labels, weight = self._labels_and_weight(block)
        calls = self.estimator.row_calls()
        asks = [calls.asker(kind.method) for kind in self.task.alone()]
        ask = asks[0] if len(asks) == 1 else lambda row: tuple(its(row) for its in asks)
        rows_asked = calls.rows(block.ask_X, block.ask_index)
        rows_learnt = calls.rows(block.learn_X, block.learn_index[n_learnt:])
        answers: list[Any] = []
        stamps = [*block.stamp.tolist(), block.n_learns + 1]  # the last one is never reached
        next_stamp, action, clock = stamps[0], "predicting", perf_counter
        learn = calls.learn_one
        if weight is not None:
            weights = iter(weight[n_learnt:].tolist())

            def learn(row: Any, target: Any) -> None:
                calls.learn_weighted(row, target, next(weights))

        asking = learning = 0.0
        before = clock()
        try:
            targets = calls.targets(labels[n_learnt:])
            for row, target in zip(rows_learnt, targets, strict=True):
                while next_stamp <= n_learnt:
                    answers.append(ask(next(rows_asked)))
                    next_stamp = stamps[len(answers)]
                now = clock()
                asking += now - before
                action = "training on"
                learn(row, target)
                action = "predicting"
                n_learnt += 1
                before = clock()
                learning += before - now
            answers.extend(map(ask, rows_asked))
            asking += clock() - before
        except RAISED as error:
            if ends_program(error):
                raise
            index = n_learnt
            if action == "predicting":  # no answer of a call about several rows is kept
                bounds = block.ask_bounds
                index = int(bounds[np.searchsorted(bounds, len(answers), side="right") - 1])
                answers = answers[:index]
            kept = self._direct_codes(calls, answers)
            raise LoopFailed(action, index, kept, n_learnt, stopped=True) from error
        finally:
            self.seconds_asking += asking
            self.seconds_learning += learning
        return self._direct_codes(calls, answers)

    def _direct_codes(self, calls: Any, answers: list[Any]) -> np.ndarray:
        """Answers of the model inside, as `run` returns them."""
        if self.task.scores is None or not answers:
            return self._codes([calls.answered(answers, self.task.method)] if answers else [])
        columns = [list(column) for column in zip(*answers, strict=True)]
        kinds = zip(columns, self.task.alone(), strict=True)
        labels, scores = (calls.answered(column, task.method) for column, task in kinds)
        try:
            return self._scored(labels, scores)
        except BadAnswer as bad:
            kept = [no_answers(self.task)]
            rows = (slice(at, at + 1) for at in range(len(answers)))
            with suppress(BadAnswer):  # of the first bad row; those before it are kept
                kept.extend(self._scored(labels[at], scores[at]) for at in rows)
            raise LoopFailed("predicting", len(kept) - 1, np.concatenate(kept)) from bad

    def _ask(self, block: Block, begin: int, end: int) -> np.ndarray:
        self._check_columns()
        if block.company is None:
            answer = self._answers(block.ask_X, block.ask_index[begin:end])
        else:
            answer = self._ask_in_company(block.ask_X, block.company[block.n_asks - begin])
        if self._is_part:
            self._check_answer(answer)
        return answer

    def _answers(self, X: Any, index: np.ndarray) -> np.ndarray:
        """Answers of one call about some rows."""
        if self.task.scores is None:
            return self._answers_to(self.task, X, index)
        labels, scores = (self._answers_to(kind, X, index) for kind in self.task.alone())
        return self._scored(labels, scores)

    def _scored(self, labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Answers of labels with scores; `BadAnswer` where one of them is none."""
        codes = self._space.encode_answers(labels)
        if (codes == UNKNOWN).any():
            raise BadAnswer(self._unknown_answer(labels[int((codes == UNKNOWN).argmax())]))
        return with_scores(codes, scores, self.task, self._said)

    def _answers_to(self, task: Task, X: Any, index: np.ndarray) -> np.ndarray:
        """One kind of answer to some rows."""
        rows = self._own_rows(X, index)
        # A copy: the model may return an array of its own, and write its next answer into it.
        answer = array_of(getattr(self.estimator, task.method)(rows)).copy()
        return answer if answer.shape == (len(index),) else _reshaped(answer, len(index), task)

    def _own_rows(self, X: Any, index: np.ndarray) -> Any:
        """Copy of some rows: the model may change and keep them."""
        if len(index) != 1:
            return own_rows(take_rows(X, index))
        row = index.item(0)
        if type(X) is np.ndarray:
            return own_rows(X[row : row + 1])
        # pandas takes longer for a row than many models, and a row is asked, then learnt.
        taken = self._taken
        if taken is None or taken[0] is not X or taken[1] != row:
            self._taken = taken = X, row, take_rows(X, index)
        return own_rows(taken[2])

    def _ask_in_company(self, X: Any, company: Company) -> np.ndarray:
        """Answers to rows asked together with others, but for others that cannot be answered."""
        try:
            asked: np.ndarray = self._answers(X, company.index)[company.asked]
        except Exception:
            kept = np.ones(len(company.index), dtype=bool)
            kept[company.asked] = False
            bad = not_finite(take_rows(X, company.index)) & kept
            others = np.flatnonzero(bad if bad.any() else kept)
            kept[:] = True
            kept[others] = [self._can_answer(X, company.index[[at]]) for at in others]
            if kept.all():
                raise
            positions = np.cumsum(kept) - 1
            asked = self._answers(X, company.index[kept])[positions[company.asked]]
        return asked

    def _can_answer(self, X: Any, index: np.ndarray) -> bool:
        try:
            self._answers(X, index)
        except Exception:
            return False
        return True

    def _check_columns(self) -> None:
        """Raise an error, at the first question, if columns of answers are of other classes."""
        if self._columns_are_known:
            return
        self._columns_are_known = True
        classes, own = self.task.classes, getattr(self.estimator, "classes_", None)
        method = self.task.scores or self.task.method
        if method == "predict" or classes is None or own is None:
            return
        columns = array_of(own).tolist()
        if columns != classes.tolist():
            raise BadAnswer(
                f"{method} has columns for the classes {columns}, but the classes here are "
                f"{classes.tolist()}: there must be a column for each of these, in this order. "
                "Pass all classes to the model's first partial_fit (classes=), or wrap it so that "
                "its predict_proba has these columns."
            )

    def _learn_rows(
        self, block: Block, labels: np.ndarray, weights: np.ndarray | None, begin: int, end: int
    ) -> None:
        weight = None if weights is None else weights[begin:end]
        rows = self._own_rows(block.learn_X, block.learn_index[begin:end])
        self._learn(rows, labels[begin:end], weight, self._classes)
        self._classes = None

    def _check_answer(self, answer: np.ndarray) -> None:
        """Raise a `BadAnswer` at an answer that is neither label nor number, or missing."""
        try:
            codes = self._encoded([answer])
        except (TypeError, ValueError) as error:
            raise BadAnswer(str(error)) from error
        labels = codes[:, 0] if self.task.n_scores else codes
        if (codes.dtype.kind == "i" or self.task.n_scores) and (labels < 0).any():
            raise BadAnswer("a prediction is not one of the classes")
        if self.task.method == "predict_proba" and codes.ndim != 2:
            raise BadAnswer("probabilities have one column per class")

    def _codes(self, answers: list[np.ndarray]) -> np.ndarray:
        """Answers as codes or numbers; raises an error at the first that is neither."""
        if not answers:
            return no_answers(self.task)
        with suppress(TypeError, ValueError):
            codes = self._encoded(answers)
            if codes.dtype.kind == "f" or not np.count_nonzero(codes == UNKNOWN):
                return codes  # floats are numbers, of which each may be an answer, or checked codes
        kept, error = [no_answers(self.task)], None
        for answer in answers:
            try:
                codes = self._encoded([answer])
                if codes.dtype.kind != "f" and (codes == UNKNOWN).any():
                    first = int((codes == UNKNOWN).argmax())
                    codes, error = codes[:first], BadAnswer(self._unknown_answer(answer[first]))
            except (TypeError, ValueError) as bad:
                error = BadAnswer(f"{self.task.method} returned something else: {bad}")
                codes = codes[:0]
            kept.append(codes)
            if error is not None:
                break
        before = np.concatenate(kept)
        raise LoopFailed("predicting", len(before), before) from error

    def _unknown_answer(self, answer: Any) -> str:
        """Say that a prediction is no class, and which labels an outlier detector needs."""
        if is_outlier_detector(self.estimator):
            return (
                f"it predicted {answer}. {type(self.estimator).__name__} predicts 1 (inlier) and "
                "-1 (outlier): use labels 1 and -1."
            )
        return self._space.unknown(answer, "its prediction is")

    def _encoded(self, answers: list[np.ndarray]) -> np.ndarray:
        """Answers as numbers or codes, `UNKNOWN` where one is not among the classes."""
        joined = _joined(answers)
        if self.task.method != "predict" or self.task.classes is None or self.task.n_scores:
            return joined.astype(np.float64, copy=False)
        return self._space.encode_answers(joined)


def _reshaped(answer: np.ndarray, n_rows: int, task: Task) -> np.ndarray:
    """Return an answer after a check of its shape; one value per row for `predict`."""
    shape = answer.shape
    wanted = f"({n_rows},)"
    if task.method == "predict":
        if task.classes is None and shape == (n_rows, 1):
            return answer.reshape(n_rows)
    elif task.method == "predict_proba":
        n_classes = "n_classes" if task.classes is None else len(task.classes)
        wanted = f"({n_rows}, {n_classes})"
        if shape == (n_rows, n_classes) or (task.classes is None and answer.ndim == 2):
            return answer
    elif answer.ndim == 2 and len(answer) == n_rows:
        return answer
    raise BadAnswer(
        f"{task.method} of {n_rows} {'row' if n_rows == 1 else 'rows'} returned predictions of "
        f"shape {shape}; {wanted} is needed, one per row."
    )


def _joined(answers: list[np.ndarray]) -> np.ndarray:
    """Concatenate answers; labels of different types keep their types."""
    if len(answers) == 1:
        return answers[0]
    if len({answer.dtype.kind for answer in answers}) > 1:
        answers = [answer.astype(object) for answer in answers]
    return np.concatenate(answers)


def changed_methods(estimator: Any) -> str | None:
    """Name what was put in place of a method of an estimator, for `Kernel.refusal`.

    A method may be replaced on one instance, or on its class. Either way the loop calls what the
    kernel knows nothing of.
    """
    of_class: dict[str, Any] = {}
    for base in reversed(type(estimator).__mro__):
        of_class.update(vars(base))
    for name in getattr(estimator, "__dict__", ()):
        own = of_class.get(name)
        if callable(own) or hasattr(own, "__get__"):
            return f"a {name} of its own"
    for name in _METHOD_NAMES:
        for base in type(estimator).__mro__:
            if name in vars(base):
                if not _is_of(base, name):
                    return f"a changed {name}"
                break
    return None


def _is_of(home: type, name: str) -> bool:
    """Whether a method was written with its class: what is put there later tells where it is from.

    Decorators of scikit-learn wrap what they decorate.
    """
    packages = {"sklearn", home.__module__.partition(".")[0]}
    method = vars(home)[name]
    while True:
        module = getattr(method, "__globals__", {}).get("__name__", "sklearn")
        if module.partition(".")[0] not in packages:
            return False
        if not hasattr(method, "__wrapped__"):
            break
        method = method.__wrapped__
    return getattr(method, "__qualname__", None) == f"{home.__qualname__}.{name}"


class ByLoop:
    """Executes a model call by call.

    A model learns the rows of its warm-up one by one, as it does all others. If its very first
    ``partial_fit`` fails, as that of `IncrementalPCA` does with fewer rows than components, then it
    is replaced by a copy that has learnt nothing, which learns the whole warm-up in one call.

    Parameters
    ----------
    estimator : estimator
        The model.
    task : Task
        Classes, kind of answer, batch size.
    direct : bool
        As `Loop` takes it.

    Attributes
    ----------
    estimator : estimator
        The model, or the copy that replaces it.
    loop : Loop or None
        The calls of the model, once they have begun.
    is_new : bool
        Whether it was begun, and the model has not learnt anything in the loop.
    gathers : bool
        Whether the rows of the warm-up are collected, to be learnt in one call.
    """

    def __init__(self, estimator: Any, task: Task, *, direct: bool):
        self.estimator = estimator
        self.loop: Loop | None = None
        self.is_new = False
        self.gathers = False
        self._task = task
        self._direct = direct
        self._fresh: Any = None  # a copy that has learnt nothing, as long as it may be needed
        self._n_missing = 0  # of the rows of the warm-up
        self._held: list[Block] = []  # those that have come

    @property
    def is_direct(self) -> bool:
        """Whether a model of another library is called without its wrapper.

        Its calls are slower once it was pickled, which asks its objects for their attributes:
        CPython before 3.13 then looks these up in a dictionary of each object, not in the object.
        """
        return self.loop is not None and self.loop.is_direct

    def begin(self, n_warmup: int) -> None:
        """Begin, or go on from what the model has learnt by now."""
        self._begin_loop()
        self.is_new, self._fresh = not is_fitted(self.estimator), None
        if self.is_new and n_warmup > 1:
            self._fresh = unfitted_copy(self.estimator)
            self._n_missing, self._held = n_warmup, []

    def _begin_loop(self) -> None:
        before, self.loop = self.loop, Loop(self.estimator, self._task, direct=self._direct)
        if before is not None:
            self.loop.seconds_asking = before.seconds_asking
            self.loop.seconds_learning = before.seconds_learning

    def run(self, block: Block) -> np.ndarray:
        """Return the answers to a block.

        Raises
        ------
        LoopFailed
            If a call has failed; its `block` is the one given, its rest after the warm-up, or the
            whole warm-up.
        """
        assert self.loop is not None
        if self.gathers:
            return self._run_gathering(block)
        try:
            answers = self.loop.run(block)
        except LoopFailed as failure:
            is_first = failure.action == "training on" and failure.index == 0
            if failure.index if failure.action == "training on" else block.stamp[failure.index]:
                self.is_new, self._fresh = False, None  # it has learnt the rows before
            # Models that need several rows raise a ValueError about it, or an error of their own.
            other_cause = isinstance(failure.__cause__, TypeError | AttributeError | SystemExit)
            if self._fresh is None or not is_first or block.batches is not None or other_cause:
                failure.block = block
                raise
            self.gathers = True
            self.estimator = unfitted_copy(self._fresh)
            self._begin_loop()
            return self._run_gathering(block)
        if block.n_learns:
            self.is_new, self._fresh = False, None
        return answers

    def _run_gathering(self, block: Block) -> np.ndarray:
        """Collect rows of the warm-up; when all have come, learn them in one call, and go on."""
        assert self.loop is not None
        n = min(self._n_missing, block.n_learns)
        first = part_of(block, slice(0, n), slice(0, 0))
        X = copy_rows(first.learn_X, first.learn_index)
        self._held.append(replace(first, learn_X=X, learn_index=np.arange(n), ask_X=X, shared=None))
        self._n_missing -= n
        if self._n_missing:
            return no_answers(self._task, block.n_asks)
        whole = _joined_learns(self._held)
        whole = replace(whole, batches=np.array([0, whole.n_learns]))
        try:
            self.loop.run(whole)
        except LoopFailed as failure:
            failure.block, failure.n_taken = whole, n
            raise
        self.is_new, self.gathers, self._fresh = False, False, None
        return self.run(part_of(block, slice(n, block.n_learns), slice(0, block.n_asks)))


def _joined_learns(blocks: list[Block]) -> Block:
    """Return the last block with the learns of all, in their order."""
    starts = np.cumsum([0, *(block.learn_X.shape[0] for block in blocks[:-1])])
    index = [block.learn_index + start for block, start in zip(blocks, starts, strict=True)]
    return replace(
        blocks[-1],
        learn_X=stack_rows([block.learn_X for block in blocks]),
        learn_index=np.concatenate(index),
        y=np.concatenate([block.y for block in blocks]),
        weight=joined_weights(*((block.weight, block.n_learns) for block in blocks)),
        learn_rows=np.concatenate([block.learn_rows for block in blocks]),
        learn_time=joined_weights(*((block.learn_time, block.n_learns) for block in blocks)),
        learn_came=joined_weights(*((block.learn_came, block.n_learns) for block in blocks)),
    )
