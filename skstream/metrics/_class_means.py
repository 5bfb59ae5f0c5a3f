"""Means of the accuracies on every class, and the determinant of the confusion matrix."""

from __future__ import annotations

from numpy.typing import ArrayLike

from skstream.metrics._batch import classification_values
from skstream.metrics._registry import CLASSIFICATION


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
    return classification_values(
        [CLASSIFICATION["arithmetic_accuracy"]], y_true, y_pred, sample_weight
    )[0]


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
    return classification_values(
        [CLASSIFICATION["geometric_accuracy"]], y_true, y_pred, sample_weight
    )[0]


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
    return classification_values(
        [CLASSIFICATION["harmonic_accuracy"]], y_true, y_pred, sample_weight
    )[0]


def cmd_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Determinant of the confusion matrix of two classes, TP * TN - FN * FP.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of at most two classes.
    y_pred : array-like of shape (n_samples,)
        Answers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, not negative; rows of weight 0 are left out.

    Returns
    -------
    float
        Positive if the answers are better than chance; of the order of the squared number of
        rows. Either class may be called the positive one.

    Raises
    ------
    ValueError
        If there are more than two classes.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD 2015, section 5.1.

    Examples
    --------
    >>> from skstream.metrics import cmd_score
    >>> cmd_score([0, 0, 1, 1], [0, 0, 1, 0])
    2.0
    """
    return classification_values([CLASSIFICATION["cmd"]], y_true, y_pred, sample_weight)[0]
