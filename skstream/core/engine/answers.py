"""What models are asked for, and what an answer is: its shape, its checks, and where it is missing.

An answer to a `Task` is one row of an array: a code or a target; what another method than
``predict`` returned; or the code with scores in the columns after it. Errors of models name the
model, the fold and the row.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from traceback import walk_tb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._labels import UNANSWERED
from skstream.utils._rows import best_columns, row_sums
from skstream.utils._warnings import warn

#: What a model's methods may raise; of SystemExit see `ends_program`.
RAISED = (Exception, SystemExit)
#: What to do where a model refuses missing values.
FILL_GAPS = " To fill gaps first, wrap the model: make_stream_pipeline(StreamImputer(), model)."
#: What to do where it refuses columns that are not numbers.
ENCODE = ". Encode texts and dates: make_stream_pipeline(make_stream_preprocessor(X[:500]), model)."


class BadAnswer(ValueError):
    """An answer of the wrong shape or length, or one that is neither label nor number."""


class ModelError(ValueError):
    """A model failed during an evaluation; names the model, the fold and the row.

    A model that calls ``sys.exit`` has failed, too; in a signal handler, ``sys.exit`` ends the
    program.

    Attributes
    ----------
    model : str
        Name of the model.
    fold : int
        Fold it ran in.
    row : int
        Row, counted from 0, at which it failed; a holdout row if it failed while predicting these;
        -1 before the first row.
    result : EvaluationResult or None
        Scores before the failure, if there are any; with several workers, those of the models that
        had finished, or else of those that ran with the failed one; of some folds only, if no model
        finished all.
    """

    def __init__(self, message: str, model: str = "", fold: int = 0, row: int = -1):
        super().__init__(message)
        self.model = model
        self.fold = fold
        self.row = self.begin = row  # begin: the first row of the call that failed
        self.result: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        notes = {"__notes__": self.__notes__} if hasattr(self, "__notes__") else None
        return type(self), (str(self), self.model, self.fold, self.row), notes


@contextmanager
def failures_named(name: str, fold: int, action: str, n_folds: int = 1) -> Iterator[None]:
    """Turn any exception into a `ModelError` of a model and fold."""
    try:
        yield
    except ModelError:
        raise
    except RAISED as error:
        if ends_program(error):
            raise
        raise model_error(name, fold, n_folds, action, error) from error


def ends_program(error: BaseException) -> bool:
    """Whether this is a SystemExit raised by a handler of signals, and not by a model itself.

    A model that calls ``sys.exit`` has failed, and ``error_score`` applies. A program that is told
    to end by a signal (SIGTERM) must end, and its handler is called in the middle of whatever
    runs, mostly a model. Python gives the handler the frame that it interrupted, which is the one
    before it in the traceback; no other function has that.
    """
    if not isinstance(error, SystemExit):
        return False
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    for caller, frame in pairwise(frames):
        for value in frame.f_locals.values():
            values = value if isinstance(value, tuple) else (value,)
            if any(value is caller for value in values):
                return True
    return False


def model_error(
    name: str,
    fold: int,
    n_folds: int,
    action: str,
    cause: BaseException,
    row: int = -1,
) -> ModelError:
    """Return the error that says which model failed at what, and why."""
    of_fold = f" (fold {fold})" if n_folds > 1 else ""
    why = f"{type(cause).__name__}: {cause}"
    if isinstance(cause, BadAnswer):
        why = str(cause)
    elif isinstance(cause, AttributeError) and cause.__cause__ is not None:
        while cause.__cause__ is not None:  # the innermost model says when it offers a method
            cause = cause.__cause__
        why += f" ({cause})."
    elif re.search("Input (X )?contains NaN", why):
        why = in_short(cause) + FILL_GAPS
    elif re.search("string to float|float\\(\\) argument must|could not be promoted", why):
        why = in_short(cause) + ENCODE
    return ModelError(f"Model '{name}'{of_fold} failed while {action}: {why}", name, fold, row)


def in_short(error: BaseException) -> str:
    """Return the type of an error, and the first line of its text."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}{text and f': {text}'}"


# How far from one the probabilities of a row may sum; in lower precision more.
_ROUNDING = 1e-6
#: How far off probabilities may be that were rounded, with a warning.
TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Task:
    """What a model is asked for; `Kernel.refusal` decides on it.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; codes are positions in it. None for regression.
    method : {"predict", "predict_proba", "decision_function"}
        What asks return: codes (int64) or targets (float64) of shape (n_asks,);
        probabilities of shape (n_asks, n_classes); decision values as scikit-learn shapes them.
    batch_size : int
        Rows learnt per ``partial_fit``; 1 unless the user chose the batch protocol.
    n_warmup : int
        Rows learnt before anything is asked.
    late_labels : bool
        Whether rows are asked together with others whose labels are not learnt before them: where
        labels are delayed, and where rows are held out. In batches they are, too.
    scores : {"predict_proba", "decision_function"} or None
        What asks return besides the codes of classes, with the method "predict". Answers are then
        float64 of shape (n_asks, 1 + n_scores): the code that ``predict`` says, then the scores.
    expected_rows : int
        Rows of the stream, once for each fold; 0: not known.
    """

    classes: np.ndarray | None
    method: str = "predict"
    batch_size: int = 1
    n_warmup: int = 1
    late_labels: bool = False
    scores: str | None = None
    expected_rows: int = 0

    def seconds(self, per_row: float) -> float:
        """Return what all rows take, if one takes so long; infinite where they are not counted."""
        return self.expected_rows * per_row or np.inf

    def asking(self, method: str) -> "Task":
        """Return the same task with another kind of answer alone (for an inner model)."""
        return replace(self, method=method, scores=None)

    @property
    def n_scores(self) -> int:
        """Columns of scores: that of the second of two classes, else one per class; 0: none.

        Of a single class one column, too: the probability of a second one, which is 0.
        """
        if self.scores is None or self.classes is None:
            return 0
        return 1 if len(self.classes) <= 2 else len(self.classes)

    def alone(self) -> list["Task"]:
        """Return the same task for each kind of answer."""
        if self.scores is None:
            return [self]
        return [self.asking(self.method), self.asking(self.scores)]


def no_answers(task: Task, n: int = 0) -> np.ndarray:
    """`n` answers of a model that has learnt nothing: code -1, or NaN."""
    if task.classes is None:
        return np.full(n, np.nan)
    if task.n_scores:
        answers = np.full((n, 1 + task.n_scores), np.nan)
        answers[:, 0] = -1
        return answers
    if task.method == "predict":
        return np.full(n, -1, dtype=np.int64)
    n_classes = len(task.classes)
    has_columns = task.method == "predict_proba" or n_classes > 2
    return np.full((n, n_classes) if has_columns else n, np.nan)


def first_answers(estimator: Any, task: Task, n: int) -> np.ndarray:
    """`n` answers of a model that has learnt nothing: none, or the first answer that it states.

    It is used only without a warm-up. All classes are equally probable then.
    """
    if task.n_warmup or task.method == "decision_function" or not states_first_answer(estimator):
        return no_answers(task, n)
    first, classes = type(estimator).first_answer, task.classes
    if classes is None:
        return np.full(n, float(first))

    def answer(kind: Task) -> np.ndarray:
        if kind.method == "predict":
            return np.full(n, first, dtype=np.int64)
        return np.full((n, len(classes)), 1.0 / len(classes))

    return answers_to(task, answer)


def states_first_answer(estimator: Any) -> bool:
    """Whether an estimator says what it answers before it has learnt anything.

    It does by an attribute of its class, ``first_answer``: the position of a class, or a number.
    """
    return getattr(type(estimator), "first_answer", None) is not None


def answers_to(task: Task, answer: Callable[[Task], NDArray[Any]]) -> NDArray[Any]:
    """Answers to a task, of a function that answers a task with one kind of answer."""
    if task.scores is None:
        return answer(task)
    labels, scores = task.alone()
    return with_scores(answer(labels), answer(scores), task)


def best_or_all(probabilities: NDArray[Any], task: Task) -> NDArray[Any]:
    """Answers of one kind, of a model whose label is the class with the highest probability."""
    return best_columns(probabilities) if task.method == "predict" else probabilities


def with_scores(
    codes: NDArray[Any], values: NDArray[Any], task: Task, said: set[str] | None = None
) -> NDArray[np.float64]:
    """Answers of shape (n_asks, 1 + n_scores): codes, then probabilities or decision values.

    Of warnings, those in `said` were given before.

    Raises
    ------
    BadAnswer
        If there are not as many columns as classes, or if probabilities are negative or do not sum
        to one; those that are off by no more than rounded ones are made to, with a warning.
    """
    n, width = len(codes), task.n_scores
    if task.scores == "predict_proba":
        values = _checked_probabilities(values, n, set() if said is None else said)
    answers = np.empty((n, 1 + width))
    answers[:, 0] = codes
    if len(np.asarray(task.classes)) == 1:
        answers[:, 1] = np.where(np.isnan(values.reshape(n, -1)).any(axis=1), np.nan, 0.0)
    elif values.shape == (n,) and width == 1:
        answers[:, 1] = values
    elif values.shape == (n, 2) and width == 1:
        is_share = task.scores == "predict_proba"
        answers[:, 1] = _of_second(values) if is_share else values[:, 1] - values[:, 0]
    elif values.shape == (n, width):
        answers[:, 1:] = values
    else:
        raise BadAnswer(
            f"{task.scores} returned scores of shape {values.shape} for {n} rows; expected one "
            "column per class, or a single column for two classes; the classes here are "
            f"{np.asarray(task.classes).tolist()}."
        )
    return answers


def _of_second(probabilities: NDArray[Any]) -> NDArray[Any]:
    """Probability of the second of two classes, from which that of the first follows.

    Near one, numbers of single precision are too far apart for that: there it is one minus the
    probability of the first class, in double precision.
    """
    first, second = probabilities[:, 0], probabilities[:, 1]
    if probabilities.dtype.kind != "f" or probabilities.dtype.itemsize >= 8:
        return second
    return np.where(first < second, 1.0 - first.astype(np.float64), second)


def divided(table: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return probabilities of which some rows, of rounded ones, are made to sum to one."""
    table = np.clip(np.asarray(table, dtype=np.float64), 0.0, 1.0)
    table[rows] /= table[rows].sum(axis=1, keepdims=True)
    return table


def _checked_probabilities(values: NDArray[Any], n_rows: int, said: set[str]) -> NDArray[Any]:
    """Raise a `BadAnswer` at the first row of no probabilities; NaN is no answer at all."""
    if values.ndim == 1:
        raise BadAnswer(
            f"predict_proba of {n_rows} {'row' if n_rows == 1 else 'rows'} returned shape "
            f"{values.shape}; expected one column per class."
        )
    if values.dtype.kind not in "fiub":
        raise BadAnswer(
            f"predict_proba returned {values[:1].tolist()}, which has dtype {values.dtype}, not "
            "numbers."
        )
    if values.ndim != 2 or not values.size:
        return values
    kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    rounding = max(_ROUNDING, float(np.sqrt(np.finfo(kind).eps)))
    with np.errstate(invalid="ignore"):
        off = np.abs(row_sums(values) - 1.0)[:, 0]
        if off.max() <= rounding and values.min() >= 0.0:
            return values
        off = np.maximum(off, -values.min(axis=1))
        rounded = (off > rounding) | (values < 0.0).any(axis=1)
    bad = off > TOLERANCE
    if bad.any():
        row = values[bad.argmax()]
        raise BadAnswer(
            f"predict_proba returned {row.tolist()}, which sums to {row.sum():.10g}. The "
            f"probabilities of a row must not be negative, and must sum to one within {TOLERANCE}."
        )
    words = f"predict_proba returned rounded probabilities, off by at most {TOLERANCE}: they are "
    if rounded.any() and words not in said:
        said.add(words)
        warn(f"{words}normalised.")
    return divided(values, rounded)


def missing(answers: np.ndarray, task: Task) -> np.ndarray | None:
    """Whether each answer is missing; None where none is.

    A label whose scores are NaN is missing, too: a row has both, or neither.
    """
    codes = answers[:, 0] if task.n_scores else answers
    if answers.dtype.kind == "f":
        with np.errstate(all="ignore"):
            # One sum is cheaper than a test per number, and misses nothing.
            if np.isfinite(answers.sum()) and not (task.n_scores and (codes < 0).any()):
                return None
        # Probabilities and decision values are not scored as answers: they may be infinite.
        targets = task.method == "predict" and not task.n_scores
        bad = ~np.isfinite(answers) if targets else np.isnan(answers)
        wrong = bad if bad.ndim == 1 else bad.any(axis=1)
        if task.n_scores:
            wrong |= codes < 0
    else:
        wrong = answers < 0
    return wrong if np.count_nonzero(wrong) else None


def marked(answers: np.ndarray, gaps: np.ndarray, task: Task, *, first: bool) -> np.ndarray:
    """Return answers in which the missing ones count as wrong, or as the first class."""
    code = 0 if first else UNANSWERED
    if task.n_scores:
        answers = answers.copy()
        answers[gaps, 0], answers[gaps, 1:] = code, 0.0 if first else np.nan
        if first and task.n_scores > 1:
            answers[gaps, 1] = 1.0
        return answers
    return answers if answers.dtype.kind == "f" else np.where(gaps, code, answers)
