"""Measures of a finished piece of a stream, in the style of scikit-learn: the running ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_consistent_length, column_or_1d

from skstream.core.measures.measure import Measure
from skstream.core.measures.registry import (
    CLASSIFICATION,
    MAJORITIES,
    NULL_VARIANCES,
    check_suits,
)
from skstream.core.measures.rows import Array, Floats
from skstream.core.measures.running import RunningMeasures
from skstream.forgetting import Cumulative
from skstream.utils._choices import check_choice
from skstream.utils._labels import NO_LABEL, encode_together
from skstream.utils._masked import refuse_masked
from skstream.utils._warnings import warn


def kappa_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Cohen's kappa: improvement over random predictions with the same frequencies.

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
        At most 1; 0 for chance. NaN, with an ``UndefinedMetricWarning``, if chance would always be
        right (a single class).

    See Also
    --------
    kappa_test : The same, with standard error and a test against chance.
    kappa_m_score : Comparison with the majority class.
    kappa_temporal_score : Comparison with the previous label.

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
    return _value(CLASSIFICATION["kappa"], y_true, y_pred, sample_weight)


def kappa_m_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    past: ArrayLike | None = None,
    majority: str = "past",
) -> float:
    """Kappa against the majority class: improvement over predicting the most frequent label.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, in the order of the stream.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out. The majority is weighted, too.
    past : array-like of shape (n_past,), default=None
        Labels known to the baseline before the first row.
    majority : {"past", "hindsight", "inclusive"}, default="past"
        What the baseline predicts: the most frequent label strictly before each row; the most
        frequent label of all rows, known only in hindsight; or the most frequent label up to and
        including the row's own, as MOA and River count (which uses the very label that it
        predicts).

    Returns
    -------
    float
        At most 1; 0 for the accuracy of the baseline. NaN, with an ``UndefinedMetricWarning``, if
        the baseline makes no error.

    Raises
    ------
    ValueError
        If `majority` is none of the three.

    Notes
    -----
    Ties go to the lowest class. With ``majority="past"`` and no `past`, the baseline has no
    prediction for the first row, which is left out of both its accuracy and the model's.

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
    check_choice(majority, "The 'majority' parameter of kappa_m_score", tuple(MAJORITIES))
    return _value(MAJORITIES[majority], y_true, y_pred, sample_weight, past)


def kappa_temporal_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    previous_label: Any = None,
) -> float:
    """Kappa against persistence: improvement over repeating the previous label.

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
        At most 1; 0 for predictions that repeat the previous label. NaN, with an
        ``UndefinedMetricWarning``, if the label never changes.

    Notes
    -----
    Renaming the labels changes nothing. (MOA starts with class 0 as the previous label.)

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
    return _value(
        CLASSIFICATION["kappa_temporal"], y_true, y_pred, sample_weight, _as_past(previous_label)
    )


def kappa_plus_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    previous_label: Any = None,
) -> float:
    """Geometric mean of kappa and kappa temporal, negative values counting as 0.

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
        In [0, 1]. NaN, with an ``UndefinedMetricWarning``, if one of the two is.

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
    return _value(
        CLASSIFICATION["kappa_plus"], y_true, y_pred, sample_weight, _as_past(previous_label)
    )


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
    check_choice(variance, "The 'variance' parameter of kappa_test", tuple(NULL_VARIANCES))
    measures = [CLASSIFICATION["kappa"], CLASSIFICATION["kappa_se"], NULL_VARIANCES[variance]]
    kappa, deviation, z = _classification_values(measures, y_true, y_pred, sample_weight)
    return KappaTest(kappa=kappa, standard_error=deviation, statistic=z, pvalue=float(ndtr(-z)))


def arithmetic_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Arithmetic mean of the accuracies on every class (balanced accuracy).

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
        In [0, 1]. Classes that are not among the labels do not count.

    See Also
    --------
    geometric_accuracy_score : Not larger.
    harmonic_accuracy_score : Smaller still.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD 2015, section 5.2.

    Examples
    --------
    >>> from skstream.metrics import arithmetic_accuracy_score
    >>> arithmetic_accuracy_score([0, 0, 1, 1], [0, 0, 1, 0])
    0.75
    """
    return _value(CLASSIFICATION["arithmetic_accuracy"], y_true, y_pred, sample_weight)


def geometric_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Geometric mean of the accuracies on every class: the k-th root of their product.

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
        In [0, 1]; 0 if no row of some class is right. Classes that are not among the labels do
        not count.

    See Also
    --------
    arithmetic_accuracy_score : Not smaller.
    harmonic_accuracy_score : Not larger.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD 2015, section 5.2.

    Examples
    --------
    >>> from skstream.metrics import geometric_accuracy_score
    >>> round(geometric_accuracy_score([0, 0, 1, 1], [0, 0, 1, 0]), 4)
    0.7071
    """
    return _value(CLASSIFICATION["geometric_accuracy"], y_true, y_pred, sample_weight)


def harmonic_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Harmonic mean of the accuracies on every class.

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
        In [0, 1]; 0 if no row of some class is right. Classes that are not among the labels do
        not count.

    See Also
    --------
    geometric_accuracy_score : Not smaller.
    arithmetic_accuracy_score : Larger still.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD 2015, section 5.2.

    Examples
    --------
    >>> from skstream.metrics import harmonic_accuracy_score
    >>> round(harmonic_accuracy_score([0, 0, 1, 1], [0, 0, 1, 0]), 4)
    0.6667
    """
    return _value(CLASSIFICATION["harmonic_accuracy"], y_true, y_pred, sample_weight)


def _classification_values(
    measures: Sequence[Measure],
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    past: ArrayLike | None = None,
) -> list[float]:
    """Values of measures on labels and answers, after some labels of the past."""
    earlier = np.empty(0, dtype=np.int64) if past is None else past
    codes, classes = encode_together({"y_true": y_true, "y_pred": y_pred, "past": earlier})
    check_consistent_length(codes["y_true"], codes["y_pred"], sample_weight)
    for measure in measures:
        check_suits(measure, classes)
    n_past = len(codes["past"])
    y = np.concatenate((codes["past"], codes["y_true"]))
    p = np.concatenate((np.full(n_past, NO_LABEL), codes["y_pred"]))
    return _values(measures, y, p, _weights(sample_weight, n_past), classes)


def _value(measure: Measure, *arrays: ArrayLike | None) -> float:
    return _classification_values([measure], *arrays)[0]


def _values(
    measures: Sequence[Measure],
    y: Array,
    p: Array,
    weight: Floats | None,
    classes: Array | None,
) -> list[float]:
    running = RunningMeasures(
        {measure.name: measure for measure in measures},
        {"all": Cumulative()},
        classes=classes,
        record_every=len(y) + 1,
    )
    running.update(y, p, weight)
    values = running.final()["all"]
    undefined = [name for name, value in values.items() if np.isnan(value)]
    if undefined:
        warn(
            f"{', '.join(undefined)}: undefined on these rows, and so NaN. A kappa is undefined "
            "where its baseline makes no error; every measure is where no row counts.",
            UndefinedMetricWarning,
        )
    return list(values.values())


def _targets(name: str, targets: ArrayLike) -> Floats:
    refuse_masked(targets, name)
    values: Floats = column_or_1d(targets).astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.isfinite(values).argmin())
        raise ValueError(f"{name}[{row}] is {values[row]}. Drop the row or clip the number.")
    return values


def _weights(sample_weight: ArrayLike | None, n_past: int) -> Floats | None:
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    weights = column_or_1d(sample_weight, dtype=np.float64)
    valid = (weights >= 0.0) & (weights < np.inf)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]}. Weights must be finite and not negative; 0 "
            "leaves a row out."
        )
    return np.concatenate((np.ones(n_past), weights))


# By this, evaluators compute them as running measures, and need no tape.
for _name, _function in [*vars().items()]:
    if _name.endswith("_score"):
        _function.running_measure = _name.removesuffix("_score")
