"""Regression measures that compare with persistence."""

from __future__ import annotations

from numpy.typing import ArrayLike

from skstream.metrics._batch import regression_values
from skstream.metrics._registry import REGRESSION


def persistent_skill_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    previous_target: float | None = None,
) -> float:
    """Skill against the persistent forecast, which repeats the target before.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Targets, in the order of the stream.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out.
    previous_target : float, default=None
        Target before the first row. None: the first row is left out of both errors.

    Returns
    -------
    float
        One minus the ratio of the mean squared errors: 1 for perfect answers, 0 for answers as
        good as persistence. NaN, with an ``UndefinedMetricWarning``, where the target never
        changes.

    Examples
    --------
    >>> from skstream.metrics import persistent_skill_score
    >>> persistent_skill_score([1.0, 2.0, 3.0], [9.0, 2.0, 2.0])
    0.5
    """
    measure = REGRESSION["persistent_skill"]
    return regression_values([measure], y_true, y_pred, sample_weight, previous_target)[0]
