"""Answers of models that have learnt nothing yet."""

from typing import Any

import numpy as np

from skstream.engine.kernels import Task
from skstream.engine.kernels.scored import answers_to
from skstream.engine.loop import no_answers


def states_first_answer(estimator: Any) -> bool:
    """Whether an estimator says what it answers before it has learnt anything.

    It does by an attribute of its class, ``first_answer``: the position of a class, or a number.
    """
    return getattr(type(estimator), "first_answer", None) is not None


def first_answers(estimator: Any, task: Task, n: int) -> np.ndarray:
    """`n` answers of a model that has learnt nothing: none, or the first answer that it states.

    It is used only without a warm-up. All classes are equally probable then.
    """
    stated = states_first_answer(estimator) and task.method != "decision_function"
    if task.n_warmup or not stated:
        return no_answers(task, n)
    first, classes = type(estimator).first_answer, task.classes
    if classes is None:
        return np.full(n, float(first))

    def answer(one: Task) -> np.ndarray:
        if one.method == "predict":
            return np.full(n, first, dtype=np.int64)
        return np.full((n, len(classes)), 1.0 / len(classes))

    return answers_to(task, answer)
