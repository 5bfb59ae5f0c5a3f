"""Predictions of one model along a stream, without scores."""

import numbers
from typing import Any

import numpy as np

from skstream.engine.failures import failures_named
from skstream.engine.kernels import Task
from skstream.engine.model import Engine as EngineName
from skstream.engine.model import ModelRun, Unanswered
from skstream.engine.run import Answered, Engine, Lane
from skstream.engine.timeline import Arrivals, End, PrequentialTimeline
from skstream.evaluation._evaluator import (
    COMMON_CONSTRAINTS,
    found_classes,
    known_classes,
    warn_of_one_batch,
)
from skstream.evaluation._input import encoded, why_no_weight
from skstream.evaluation._settings import check_unanswered, named_models, warn_of_kept_state
from skstream.streams import as_stream
from skstream.utils._label_space import LabelSpace
from skstream.utils._seeds import seed_estimator
from skstream.utils._sklearn import Interval, StrOptions, validate_parameter_constraints
from skstream.utils._validation import is_regressor, unfitted_copy
from skstream.utils._warnings import warn

# Parameters that mean what they mean for an evaluator.
_COMMON = ("n_warmup", "missing_labels", "unanswered", "engine", "random_state")
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
    random_state: int | None = 0,
    return_rows: bool = False,
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
    missing_labels : {"error", "skip"}, default="error"
        Rows without a label are an error, or are asked and not learnt.
    unanswered : {"error", "wrong"}, default="error"
        A row that was asked and got no answer (None or NaN) is a failure of the model, or keeps
        None among the predictions of a classifier (NaN among probabilities).
    engine : {"auto", "loop"}, default="auto"
        "auto" uses an exact kernel where there is one.
    random_state : int, default=0
        Seed of the estimator's random_state parameters that are None.
    return_rows : bool, default=False
        Return the numbers of the rows asked, too.

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
        If the model fails; says at which row.

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
            "random_state": random_state,
        },
        caller_name="prequential_predict",
    )
    ((name, model),) = named_models(estimator).items()
    stream = as_stream(X, y, sample_weight=sample_weight)
    warn_of_one_batch(batch_size, stream.n_rows, n_warmup)
    task = Task(_classes(model, stream, classes), method, batch_size, n_warmup)
    check_unanswered(unanswered, regression=task.classes is None)
    warn_of_kept_state({name: model})
    with failures_named(name, 0, "being copied"):
        copy = unfitted_copy(model)
        if random_state is not None:
            copy = seed_estimator(copy, random_state, name)
    timeline = PrequentialTimeline(n_warmup=n_warmup, batch_size=batch_size)
    pass_through = Engine([Lane(ModelRun(name, 0, copy, task, engine, unanswered), timeline)])
    space = LabelSpace(task.classes)
    answered: list[Answered] = []
    first_row = n_learnable = 0
    weightless = True
    for chunk in stream:
        rows = encoded(chunk, space, missing_labels, first_row=first_row)
        arrivals = Arrivals(first_row, rows.labelled, rows.weight)
        answered.extend(_taken(pass_through, arrivals, rows.X, rows.y))
        first_row += rows.n_rows
        positive = np.ones(rows.n_rows, bool) if rows.weight is None else rows.weight > 0
        weightless = weightless and not positive.any()
        n_learnable += int(np.count_nonzero(positive & rows.labelled))
    answered.extend(_taken(pass_through, End()))
    answers = np.concatenate([one.answers for one in answered])
    asked = np.concatenate([one.operations.ask_rows for one in answered])
    if not len(asked):
        came = (
            why_no_weight(first_row)
            if weightless
            else f"the first {n_warmup:,} rows that can be learnt (with a label, and a weight "
            f"above 0) are learnt unasked (n_warmup), and {n_learnable:,} came."
        )
        warn(f"No row was asked, so that there is no prediction: {came}")
    y_pred = space.decode(answers) if method == "predict" else answers
    return (y_pred, asked) if return_rows else y_pred


def _taken(
    engine: Engine, event: Any, X: Any = None, y: np.ndarray | None = None
) -> list[Answered]:
    step = engine.execute(event, X, y)
    engine.commit(step)
    engine.raise_failure()
    return step.lanes


def _classes(model: Any, stream: Any, classes: Any) -> np.ndarray | None:
    if is_regressor(model):
        return None
    known = known_classes(stream) if classes is None else classes
    return found_classes(known, "y" if classes is None else "classes")
