"""Answers that are missing where a model was asked, or that no measure can use."""

import numpy as np

from skstream.engine.kernels import Task

#: Code of a missing answer, if it counts as wrong.
UNANSWERED = -2


def missing(answers: np.ndarray, task: Task) -> np.ndarray | None:
    """Whether each answer is missing; None where none is.

    A label whose scores are NaN is missing, too: a row has both, or neither.
    """
    wrong: np.ndarray
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
    return wrong if wrong.any() else None


def marked(answers: np.ndarray, wrong: np.ndarray, task: Task) -> np.ndarray:
    """Return answers in which the missing ones count as wrong: codes alone can say so."""
    if task.n_scores:
        answers = answers.copy()
        answers[wrong, 0], answers[wrong, 1:] = UNANSWERED, np.nan
        return answers
    return answers if answers.dtype.kind == "f" else np.where(wrong, UNANSWERED, answers)
