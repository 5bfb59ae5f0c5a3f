"""Predictions of one model along a stream, without scores."""

import numbers
import secrets
from time import perf_counter
from typing import Any

import numpy as np

from skstream.engine.kernels import Task
from skstream.engine.model import Engine as EngineName
from skstream.engine.model import ModelRun, Unanswered
from skstream.engine.run import Answered, Engine, Lane
from skstream.engine.timeline import Arrivals, End, PrequentialTimeline
from skstream.evaluation._bayes_optimal import check_rows_are_time
from skstream.evaluation._evaluator import (
    COMMON_CONSTRAINTS,
    found_classes,
    known_classes,
    warn_of_one_batch,
)
from skstream.evaluation._execution import EvaluationInterrupted, carry
from skstream.evaluation._parallel._progress import Bar, progress_bar
from skstream.evaluation._runs._input import EncodedRows, encoded, why_no_weight
from skstream.evaluation._runs._pace import Pace
from skstream.evaluation._settings import check_unanswered, named_models, prepared_models
from skstream.streams import as_stream
from skstream.streams._stream import refuse_endless
from skstream.utils._interrupt import deferred_interrupt
from skstream.utils._label_space import LabelSpace
from skstream.utils._sklearn import Interval, StrOptions, validate_parameter_constraints
from skstream.utils._validation import is_regressor
from skstream.utils._warnings import warn

# Parameters that mean what they mean for an evaluator.
_COMMON = (
    "n_warmup",
    "missing_labels",
    "unanswered",
    "engine",
    "warm_start",
    "random_state",
    "progress",
)
# Most rows of a piece, as in the runs of evaluators; and of the first one, if a kernel executes it.
_MOST_ROWS = 1 << 16
_FIRST_ROWS_OF_KERNELS = 1 << 12
_CONSTRAINTS = {
    "method": [StrOptions({"predict", "predict_proba", "decision_function"})],
    "batch_size": [Interval(numbers.Integral, 1, None, closed="left")],
    **{name: COMMON_CONSTRAINTS[name] for name in _COMMON},
}


def prequential_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "predict",
    classes: Any = None,
    sample_weight: Any = None,
    batch_size: int = 1,
    n_warmup: int = 1,
    missing_labels: str = "error",
    unanswered: Unanswered = "error",
    engine: EngineName = "auto",
    warm_start: bool = False,
    random_state: int | None = 0,
    return_rows: bool = False,
    progress: bool = False,
) -> Any:
    """Predict every row of a stream with a model that has learnt the rows before it.

    The streaming counterpart of `sklearn.model_selection.cross_val_predict`.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        The model; it is cloned.
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
        Features in time order, or (without `y`) an iterable of chunks.
    y : array-like of shape (n_rows,), default=None
        Labels or targets.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        Method of the model that is called.
    classes : array-like, default=None
        All labels that may come; found in `y` where it is an array.
    sample_weight : array-like of shape (n_rows,), default=None
        Learning weights; 0: asked and not learnt.
    batch_size : int, default=1
        Rows that are all predicted, then all learnt in one ``partial_fit``.
    n_warmup : int, default=1
        Rows learnt first, unasked; in one call where the model cannot learn the first row alone.
        0: as for evaluators.
    missing_labels : {"error", "skip"}, default="error"
        Rows without a label are an error, or are asked and not learnt.
    unanswered : {"error", "wrong"}, default="error"
        A row that was asked and got no answer (None or NaN) is a failure of the model, or keeps
        None among the predictions of a classifier (NaN among probabilities).
    engine : {"auto", "loop"}, default="auto"
        "auto" uses an exact kernel where there is one.
    warm_start : bool, default=False
        Start from a copy of the fitted model instead of an unfitted clone.
    random_state : int, default=0
        Seed of the estimator's random_state parameters that are None: the answers are those that
        an evaluator with this seed gets. None: drawn.
    return_rows : bool, default=False
        Return the numbers of the rows asked, too.
    progress : bool, default=False
        Show a progress bar (needs tqdm).

    Returns
    -------
    y_pred : ndarray of shape (n_asked,) or (n_asked, n_classes)
        Answers to the rows asked, in order. Where every row has a label these are all rows
        but the first `n_warmup`: compare with ``y[n_warmup:]``. Empty, with a warning, where
        no row was asked.
    rows : ndarray of shape (n_asked,)
        Their row numbers, if `return_rows`.

    Raises
    ------
    ModelError
        If the model fails; says at which row. Its attribute `result` is what would have been
        returned of the rows before.
    EvaluationInterrupted
        On Ctrl-C; its attribute `result` is what would have been returned of the rows so far, or
        None.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skstream import prequential_predict
    >>> X, y = [[1, 0], [0, 1], [1, 0], [0, 1]], ["a", "b", "a", "b"]
    >>> y_pred = prequential_predict(MultinomialNB(), X, y)
    >>> accuracy_score(y[1:], y_pred)
    0.666...
    """
    validate_parameter_constraints(
        _CONSTRAINTS,
        {
            "method": method,
            "batch_size": batch_size,
            "n_warmup": n_warmup,
            "missing_labels": missing_labels,
            "unanswered": unanswered,
            "engine": engine,
            "warm_start": warm_start,
            "random_state": random_state,
            "progress": progress,
        },
        caller_name="prequential_predict",
    )
    ((name, model),) = named_models(estimator).items()
    stream = as_stream(X, y, sample_weight=sample_weight)
    refuse_endless(stream)
    check_rows_are_time({name: model}, stream, missing_labels=missing_labels, warm_start=warm_start)
    warn_of_one_batch(batch_size, stream.n_rows, n_warmup)
    task = Task(_classes(model, stream, classes), method, batch_size, n_warmup)
    check_unanswered(unanswered, regression=task.classes is None)
    prepared = prepared_models(
        {name: model},
        task.classes,
        1,
        seed=secrets.randbits(32) if random_state is None else random_state,
        warm_start=warm_start,
        n_warmup=n_warmup,
    )
    timeline = PrequentialTimeline(n_warmup=n_warmup, batch_size=batch_size)
    lane = Lane(ModelRun(name, 0, prepared[name, 0], task, engine, unanswered), timeline)
    answers = _Answers(lane, LabelSpace(task.classes), return_rows)
    first_row = n_learnable = 0
    weightless = True
    with progress_bar(stream.n_rows, "prequential_predict", progress) as bar:
        try:
            for chunk in stream:
                rows = encoded(chunk, answers.space, missing_labels, first_row=first_row)
                first_row += rows.n_rows
                positive = np.ones(rows.n_rows, bool) if rows.weight is None else rows.weight > 0
                weightless = weightless and not positive.any()
                n_learnable += int(np.count_nonzero(positive & rows.labelled))
                answers.take(rows, bar)
            answers.take_event(End())
        except KeyboardInterrupt as interrupt:
            raise EvaluationInterrupted(answers.so_far()) from interrupt
        except (Exception, SystemExit) as error:
            carry(error, answers.so_far, stream)
            raise
    if not answers.n_asked:
        came = (
            why_no_weight(first_row)
            if weightless
            else f"the first {n_warmup:,} rows that can be learnt (with a label, and a weight "
            f"above 0) are learnt unasked (n_warmup), and {n_learnable:,} came."
        )
        warn(f"No row was asked, so that there is no prediction: {came}")
    return answers.all()


class _Answers:
    """Answers of one model along a stream, as they come."""

    def __init__(self, lane: Lane, space: LabelSpace, return_rows: bool):
        self._engine = Engine([lane])
        self._model: ModelRun = lane.model
        self.space = space
        self._return_rows = return_rows
        self._answered: list[Answered] = []
        self._n_rows = 0
        self._pace = Pace(_MOST_ROWS)
        if not self._model.by_kernel.loops:
            self._pace.size = _FIRST_ROWS_OF_KERNELS

    def take(self, rows: EncodedRows, bar: Bar) -> None:
        """Take the next rows, in pieces between which Ctrl-C loses nothing."""
        begin = 0
        while begin < rows.n_rows:
            piece = rows.take(slice(begin, begin + self._pace.size))
            arrivals = Arrivals(self._n_rows, piece.labelled, piece.weight)
            self.take_event(arrivals, piece.X, piece.y)
            begin, self._n_rows = begin + piece.n_rows, self._n_rows + piece.n_rows
            place = self._model.name, 0
            path = self._model.by_kernel.path(reasons=False)
            bar.name_models({place: sum(self._model.seconds.values())}, {place: path})
            bar.advance(piece.n_rows)

    def take_event(self, event: Any, X: Any = None, y: np.ndarray | None = None) -> None:
        """Execute an event; a model that fails has answered the rows before."""
        started = perf_counter()
        step = self._engine.execute(event, X, y)
        with deferred_interrupt():
            self._engine.commit(step)
            self._answered.extend(step.lanes)
            self._pace.note(step.lanes, perf_counter() - started)
        self._engine.raise_failure()

    @property
    def n_asked(self) -> int:
        """Number of rows asked."""
        return sum(len(one.answers) for one in self._answered)

    def all(self) -> Any:
        """Return all answers as `prequential_predict` does."""
        answers = np.concatenate([one.answers for one in self._answered])
        asked = np.concatenate([one.operations.ask_rows for one in self._answered])
        failure = self._model.failure
        if failure is not None:
            before = asked < failure.row
            answers, asked = answers[before], asked[before]
        y_pred = self.space.decode(answers) if self._model.task.method == "predict" else answers
        return (y_pred, asked) if self._return_rows else y_pred

    def so_far(self) -> Any:
        """Return the answers before what ended the call; None if there are none."""
        failure = self._model.failure
        firsts = [one.operations.ask_rows[:1] for one in self._answered]
        first = next((int(rows[0]) for rows in firsts if len(rows)), None)
        if first is None or (failure is not None and first >= failure.row):
            return None
        return self.all()


def _classes(model: Any, stream: Any, classes: Any) -> np.ndarray | None:
    if is_regressor(model):
        return None
    known = known_classes(stream) if classes is None else classes
    return found_classes(known, "y" if classes is None else "classes")
