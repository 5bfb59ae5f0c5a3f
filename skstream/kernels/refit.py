"""Kernels of models that do not change between two refits, or never: asked in whole stretches."""

from copy import deepcopy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream._meta import answers_each_row_alone, answers_of
from skstream.base import learner, nested
from skstream.core.engine.answers import Task, no_answers
from skstream.core.engine.block import Block, part_of
from skstream.core.engine.kernel import Declined, Kernel
from skstream.core.engine.loop import Loop, LoopFailed
from skstream.kernels.inner import Member, with_tests
from skstream.kernels.input import (
    OTHER_CLASSES,
    class_labels,
    has_valid_parameters,
    knows_classes,
    value_of,
)
from skstream.kernels.memory import MemoryKernel, State
from skstream.refit import (
    PeriodicRefit,
    Progress,
    at_time,
    calendar,
    counts_time,
    learn_times,
    learnt_rows,
    losses_of,
    new_before,
    new_progress,
    read,
    rows_until_refit,
)
from skstream.utils._rows import copy_rows, has_texts
from skstream.utils._validation import is_fitted

# Packages whose models change only when they are fitted.
_LIBRARIES = ("sklearn", "imblearn", "lightgbm", "xgboost")
# Rows asked about together that an alarm may make worthless.
_AT_MOST = 8192


class _Asked:
    """A model as it is asked in a stretch: with a column for every class of the stream."""

    def __init__(self, model: Any, classes: NDArray[Any] | None):
        self._model = model
        if classes is not None:
            self.classes_ = classes
        self._learn = learner(model) if hasattr(model, "partial_fit") else None
        for method in ("predict", "predict_proba", "decision_function"):
            setattr(self, method, partial(answers_of, model, method, classes=classes))

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self._model)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> None:
        assert self._learn is not None
        self._learn(X, y, sample_weight, classes)


def _answers(model: Any, task: Task, block: Block) -> NDArray[Any]:
    """Answers of a model that learns nothing to all asks of a block."""
    if not block.n_asks:
        return no_answers(task)
    if not answers_each_row_alone(model):
        if sparse.issparse(block.ask_X) and block.ask_X.format != "csr":
            raise Declined("sparse rows of another format than CSR have no kernel")
        none, every = slice(0, 0), slice(0, block.n_asks)
        return _run(model, task, replace(part_of(block, none, every), stamp=block.stamp * 0))
    rows, places = np.unique(block.ask_index, return_inverse=True)
    stamp, groups = np.zeros(len(rows), dtype=np.int64), np.array([0, len(rows)])
    X = block.ask_X
    asks = Block(X, rows[:0], block.y[:0], None, X, rows, stamp, groups=groups)
    return _run(model, task, asks)[places]


def _run(model: Any, task: Task, block: Block) -> NDArray[Any]:
    """Answers to a block, call by call."""
    labels = None if task.classes is None else class_labels(task)
    try:
        return Loop(_Asked(model, labels), task, direct=False).run(block)
    except LoopFailed as failed:  # the loop meets the same error at its row
        raise Declined(f"rows at which {type(model).__name__} fails have no kernel") from failed


def _refused(estimator: Any, task: Task, model: Any) -> str | None:
    """What of a task has no kernel."""
    methods = ["predict"] if task.classes is None else ["predict_proba", "decision_function"]
    if task.method not in ["predict", *methods] or not hasattr(estimator, task.method):
        return f"{task.method} as the answer"
    if not has_valid_parameters(estimator):
        return "parameters that it refuses"
    if task.classes is not None and not knows_classes(estimator, task):
        return OTHER_CLASSES
    if not answers_each_row_alone(model) and not _is_asked_in_calls(estimator, model):
        return f"{type(model).__name__}, whose answers may depend on the rows asked in one call,"
    return None


def _is_asked_in_calls(estimator: Any, model: Any) -> bool:
    """Whether each call of the loop can be made between two refits, and made again after an error.

    Not so where calls may change something, as those of a user's own class or function may.
    """
    detectors = getattr(estimator, "detector", None), getattr(estimator, "detector_", None)
    if not isinstance(estimator, PeriodicRefit) or detectors != (None, None):
        return False
    for part in nested(model):
        own = type(part).__module__.partition(".")[0] not in _LIBRARIES
        values = part.get_params(deep=False).values()
        if own or any(callable(one) and not isinstance(one, type) for one in values):
            return False
    return True


class PeriodicRefitKernel(MemoryKernel):
    """Rows are collected; a whole stretch between two refits is asked together.

    That is one call where the model answers each row alone, else the calls of the loop.

    The memory is the progress of the estimator. Inside is what answers up to the first refit: a
    member, an estimator without a kernel, or None after it.
    """

    _attributes = ("_progress",)

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._first_inner = self._member_before()
        self.exact_inside = answers_each_row_alone(estimator.estimator)

    def _member_before(self) -> Any:
        """What answers up to the first refit: by a kernel, if it has one that is bitwise."""
        one: PeriodicRefit = self.estimator
        if is_fitted(one) and one._before is None:
            return None
        model = deepcopy(one._before) if is_fitted(one) else new_before(one)
        try:
            member = Member.of(model, self.task)
        except (Declined, TypeError):
            return model
        return member if member.kernel.bitwise else model

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse models whose answers to many rows differ, and seeds that would be drawn again."""
        detector = getattr(estimator, "detector_", estimator.detector)
        if not isinstance(getattr(detector, "random_state", 0), Integral):
            return f"a detector with {value_of(detector, 'random_state')}"
        return _refused(estimator, task, estimator.estimator)

    def _no_memory(self) -> Progress:
        self.estimator._begin()
        return new_progress(self.estimator)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.company is not None:
            raise Declined("rows asked in the company of others have no kernel")
        columns = state.columns
        if not (has_texts(block.learn_X) or has_texts(block.ask_X)):
            columns = columns.after(block)
        progress, before = state.memory, state.inner
        if not isinstance(before, Member):
            before = deepcopy(before)
        answers, learnt, asked = [], 0, 0
        while learnt < block.n_learns or asked < block.n_asks:
            progress, period = self._period(progress, block, learnt, asked)
            before = before if progress.model is None else None
            part = self._stretch(progress, period, learnt, asked)
            alarm, n_rows = False, part.n_learns
            if progress.model is None:
                before, given = self._asked_before(before, part)
            else:
                given, losses = self._asked(progress, part)
                progress = progress._replace(detector=deepcopy(progress.detector))
                progress, alarm, n_rows = read(progress, losses, n_rows)
                if alarm and n_rows < part.n_learns:
                    given = given[: np.searchsorted(part.stamp, n_rows)]
            if n_rows:
                progress = self._learnt(progress, part, n_rows, alarm=alarm)
                before = before if progress.model is None else None
            answers.append(given)
            learnt, asked = learnt + n_rows, asked + len(given)
        every = answers[0] if len(answers) == 1 else np.concatenate(answers)
        return state.after(block, columns, progress, before), every

    def _period(
        self, progress: Progress, block: Block, learnt: int, asked: int
    ) -> tuple[Progress, Block]:
        """Make the refit that is due at the next row; return what is done before another is."""
        asks, learns = block.ask_time, block.learn_time
        if asks is None or learns is None or not counts_time(self.estimator):
            return progress, block
        is_ask = asked < block.n_asks and block.stamp[asked] <= learnt
        now = int(asks[asked] if is_ask else learns[learnt])
        progress = at_time(self.estimator, progress, now, self._classes)
        if calendar(self.estimator) is None:
            return progress, block
        n_learns, n_asks = (int(np.searchsorted(time, progress.end)) for time in (learns, asks))
        return progress, part_of(block, slice(0, n_learns), slice(0, n_asks))

    def _stretch(self, progress: Progress, block: Block, learnt: int, asked: int) -> Block:
        """Return the next rows up to a refit, or where an alarm may be, and those asked before."""
        due = rows_until_refit(self.estimator, progress)
        end = block.n_learns if due is None else min(learnt + due, block.n_learns)
        if progress.detector is not None:
            end = min(end, learnt + _AT_MOST)
        stays = end == learnt or (progress.detector is None and due != end - learnt)
        last = block.n_asks
        if end < block.n_learns or not stays:
            last = int(np.searchsorted(block.stamp, end))
        return part_of(block, slice(learnt, end), slice(asked, last))

    def _asked_before(self, before: Any, part: Block) -> tuple[Any, NDArray[Any]]:
        """Let what answers up to the first refit execute a part."""
        if isinstance(before, Member):
            try:
                return before.step(replace(part, groups=None))
            except Declined:  # from here on by the loop
                before = deepcopy(before.exported())
        return before, _run(before, self.task, part)

    def _asked(self, progress: Progress, part: Block) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Answers to the asks of a stretch, and the losses of its rows where these are read."""
        if progress.detector is None or not part.n_learns:
            return _answers(progress.model, self.task, part), None
        part = replace(part, batches=None, groups=None)
        if self.task.method == "predict":
            tested = with_tests(part, np.arange(part.n_learns))
            came = _answers(progress.model, self.task, tested.block)
            labels = came[tested.tests]
            labels = labels[:, 0] if labels.ndim == 2 else labels
            given = came[tested.asked]
        else:
            given = _answers(progress.model, self.task, part)
            learns = replace(part, ask_X=part.learn_X, ask_index=part.learn_index)
            labels = _answers(progress.model, self.task.asking("predict"), learns)
        if self._classes is None:
            return given, losses_of(labels, part.y, None)
        return given, labels != part.y

    def _learnt(self, progress: Progress, part: Block, n_rows: int, *, alarm: bool) -> Progress:
        """Return the progress after rows, and after the refit that is due then."""
        X = copy_rows(part.learn_X, part.learn_index[:n_rows])
        weight = None if part.weight is None else part.weight[:n_rows].copy()
        rows = X, part.y[:n_rows].copy(), weight, learn_times(self.estimator, part, n_rows)
        return learnt_rows(self.estimator, progress, rows, self._classes, alarm=alarm)

    def export(self, state: State) -> None:
        """Write the fitted attributes into the estimator."""
        super().export(state)
        if state.has_learnt:
            one, before, progress = self.estimator, state.inner, state.memory
            one._progress = progress._replace(detector=deepcopy(progress.detector))
            one._before = deepcopy(before.exported() if isinstance(before, Member) else before)
            one.estimator_ = one._before if progress.model is None else progress.model


class FrozenKernel(Kernel):
    """A fitted model that never changes: all rows of a block are asked in one call."""

    gives_scores = True

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse models whose answers to many rows differ from those to single ones."""
        if not is_fitted(estimator.estimator):
            return "a model that is not fitted"
        return _refused(estimator, task, estimator.estimator)

    def initial_state(self) -> None:
        """Return nothing: it learns nothing."""

    def step(self, state: None, block: Block) -> tuple[None, NDArray[Any]]:
        """Answer the asks of a block."""
        if block.company is not None:
            raise Declined("rows asked in the company of others have no kernel")
        return None, _answers(self.estimator.estimator, self.task, block)

    def export(self, state: None) -> None:
        """Do nothing: it has learnt nothing."""
