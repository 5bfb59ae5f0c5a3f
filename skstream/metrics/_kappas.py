"""Kappas of a finished piece of a stream, in the style of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from scipy.special import ndtr

from skstream.metrics._batch import classification_values
from skstream.metrics._registry import CLASSIFICATION, MAJORITIES, NULL_VARIANCES


def kappa_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Cohen's kappa: how much better than answers by chance with the same frequencies.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out.

    Returns
    -------
    float
        At most 1, 0 for chance. NaN, with an ``UndefinedMetricWarning``, where chance would
        always be right (one class alone).

    See Also
    --------
    kappa_test : The same with its standard error and a test against chance.
    kappa_m_score : Comparison with the majority class.
    kappa_temporal_score : Comparison with the label before.

    References
    ----------
    J. Cohen. A coefficient of agreement for nominal scales. Educational and Psychological
    Measurement 20, 1960.

    Examples
    --------
    >>> from skstream.metrics import kappa_score
    >>> kappa_score([0, 0, 1, 1], [0, 0, 1, 0])
    0.5
    """
    return classification_values([CLASSIFICATION["kappa"]], y_true, y_pred, sample_weight)[0]


def kappa_m_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    past: ArrayLike | None = None,
    majority: str = "past",
) -> float:
    """Kappa against the majority class: how much better than the most frequent label.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, in the order of the stream.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out. The majority is weighted too.
    past : array-like of shape (n_past,), default=None
        Labels that the baseline knew before the first row.
    majority : {"past", "hindsight", "inclusive"}, default="past"
        What the baseline answers: the most frequent label strictly before each row; the label
        that turned out to be the most frequent of all rows; or the most frequent label up to
        and including each row's own, as MOA and River count (it uses the label that it predicts).

    Returns
    -------
    float
        At most 1; 0 for the accuracy of the baseline. NaN, with an ``UndefinedMetricWarning``,
        where the baseline makes no error.

    Raises
    ------
    ValueError
        If `majority` is none of the three.

    Notes
    -----
    Ties go to the lowest class. With ``majority="past"`` and no `past`, the baseline has no
    answer to the first row, which is left out of its accuracy and of the model's.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD 2015, section 5.3.

    Examples
    --------
    >>> from skstream.metrics import kappa_m_score
    >>> kappa_m_score([0, 0, 1, 0], [0, 0, 1, 1], majority="hindsight")
    0.0
    >>> kappa_m_score([0, 0, 1, 0], [0, 0, 1, 1])  # the first row has no past
    0.0
    """
    if majority not in MAJORITIES:
        raise ValueError(
            "The 'majority' parameter of kappa_m_score must be a str among "
            f"{set(MAJORITIES)}. Got {majority!r} instead."
        )
    return classification_values([MAJORITIES[majority]], y_true, y_pred, sample_weight, past)[0]


def kappa_temporal_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    previous_label: Any = None,
) -> float:
    """Kappa against persistence: how much better than repeating the label before.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, in the order of the stream.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out.
    previous_label : label, default=None
        Label before the first row. None: the first row is left out of the accuracies of both
        the baseline and the model.

    Returns
    -------
    float
        At most 1; 0 for answers that repeat the label before. NaN, with an
        ``UndefinedMetricWarning``, where the label never changes.

    Notes
    -----
    Renaming the labels changes nothing. (MOA begins with class 0 as the previous label.)

    References
    ----------
    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer and G. Holmes. Evaluation methods and decision
    theory for classification of streaming data with temporal dependence. Machine Learning 98,
    2015, section 4.4.

    Examples
    --------
    >>> from skstream.metrics import kappa_temporal_score
    >>> kappa_temporal_score(["a", "a", "b", "b", "a"], ["b", "a", "b", "b", "b"])
    0.5
    """
    return classification_values(
        [CLASSIFICATION["kappa_temporal"]], y_true, y_pred, sample_weight, _as_past(previous_label)
    )[0]


def kappa_plus_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    previous_label: Any = None,
) -> float:
    """Geometric mean of kappa and kappa temporal, each no less than 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, in the order of the stream.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out.
    previous_label : label, default=None
        As for `kappa_temporal_score`.

    Returns
    -------
    float
        In [0, 1]. NaN, with an ``UndefinedMetricWarning``, where one of the two is.

    Notes
    -----
    Without temporal dependence it does not equal kappa, although the paper says so: with
    imbalanced independent labels kappa may be .36, kappa temporal -.08, and this is 0.

    References
    ----------
    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer and G. Holmes. Evaluation methods and decision
    theory for classification of streaming data with temporal dependence. Machine Learning 98,
    2015, section 4.5.

    Examples
    --------
    >>> from skstream.metrics import kappa_plus_score
    >>> kappa_plus_score([0, 0, 1, 1, 0], [0, 0, 1, 1, 0])
    1.0
    """
    return classification_values(
        [CLASSIFICATION["kappa_plus"]], y_true, y_pred, sample_weight, _as_past(previous_label)
    )[0]


def _as_past(previous_label: Any) -> list[Any] | None:
    return None if previous_label is None else [previous_label]


@dataclass(frozen=True, kw_only=True)
class KappaTest:
    """Kappa with its standard error, and a test of the hypothesis that answers are random.

    Attributes
    ----------
    kappa : float
        Cohen's kappa.
    standard_error : float
        Of kappa, approximately.
    statistic : float
        z: kappa over its standard error under the hypothesis.
    pvalue : float
        One-sided: probability of at least this z for answers by chance.
    """

    kappa: float
    standard_error: float
    statistic: float
    pvalue: float


def kappa_test(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    variance: str = "fleiss",
) -> KappaTest:
    """Cohen's kappa with its standard error, and a z-test against chance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative. The number of rows is then the effective one, the square of the
        sum of the weights over the sum of their squares.
    variance : {"fleiss", "cohen"}, default="fleiss"
        Variance of kappa under the hypothesis: that of Fleiss, Cohen and Everitt [2]_, which keeps
        the level for any shares of the classes, or the older one of Cohen [1]_, which is right only
        for balanced classes and gives the figures of many papers.

    Returns
    -------
    KappaTest
        NaN, with an ``UndefinedMetricWarning``, where kappa is undefined. The statistic is 0 where
        all labels or all answers are of one class.

    Raises
    ------
    ValueError
        If `variance` is neither of the two.

    Notes
    -----
    With p0 the accuracy, r and c the shares of the classes among labels and answers, and p = sum r
    c the accuracy of chance, the standard error of kappa on n rows is sqrt(p0 (1 - p0) / n) / (1 -
    p), and under the hypothesis sqrt((p + p**2 - sum r c (r + c)) / n) / (1 - p). Chance is
    rejected at 5 % if z > 1.645. The formula of 1960, sqrt(p / (n (1 - p))), rejects in 3.1 % of
    the cases where classes have the shares .7 and .3, and in .05 % at .9 and .1. The test assumes
    independent rows, but rows of a stream are seldom independent.

    References
    ----------
    .. [1] Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and
       Psychological Measurement 20.
    .. [2] Fleiss, J. L., Cohen, J. & Everitt, B. S. (1969). Large sample standard errors of kappa
       and weighted kappa. Psychological Bulletin 72.

    Examples
    --------
    >>> from skstream.metrics import kappa_test
    >>> y, p = [0] * 70 + [1] * 30, [0] * 40 + [1] * 30 + [0] * 5 + [1] * 25
    >>> result = kappa_test(y, p)
    >>> round(result.kappa, 4), round(result.standard_error, 4), round(result.statistic, 2)
    (0.3269, 0.0917, 3.73)
    >>> round(kappa_test(y, p, variance="cohen").statistic, 2)
    3.4
    """
    if variance not in NULL_VARIANCES:
        raise ValueError(
            f"The 'variance' parameter of kappa_test must be a str among {set(NULL_VARIANCES)}. "
            f"Got {variance!r} instead."
        )
    measures = [CLASSIFICATION["kappa"], CLASSIFICATION["kappa_se"], NULL_VARIANCES[variance]]
    kappa, deviation, z = classification_values(measures, y_true, y_pred, sample_weight)
    return KappaTest(kappa=kappa, standard_error=deviation, statistic=z, pvalue=float(ndtr(-z)))
