"""Naive Bayes for streams."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream.base import ForgetfulFit, check_labelled
from skstream.utils._masked import refuse_masked

__all__ = ["IncrementalGaussianNB"]

_Moments = tuple[float, NDArray[np.float64], NDArray[np.float64]]


class IncrementalGaussianNB(ForgetfulFit, GaussianNB):
    """Gaussian naive Bayes that can be trained row by row.

    scikit-learn's :class:`~sklearn.naive_bayes.GaussianNB` adds to every variance a floor, a small
    part of the largest variance of a feature, so that a feature that is constant within a class
    does no harm. But it takes that variance only from the rows of the current ``partial_fit``: with
    a single row it is 0, and then one constant feature makes all likelihoods of its class NaN, and
    that class is predicted for every row, without a warning (scikit-learn issue 19837). Here the
    floor is computed from the variance of all training rows. Training on rows one by one, in any
    batches, or in one ``fit`` gives the same model.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Probabilities of the classes. None: estimated from the rows.
    var_smoothing : float, default=1e-9
        Fraction of the largest variance of a feature that is added to all variances; at least 0. 0:
        no floor.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    epsilon_ : float
        The floor: `var_smoothing` times the largest of `total_var_`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.
    n_features_in_ : int
        Number of features.
    raw_var_ : ndarray of shape (n_classes, n_features)
        Variance of each feature per class, without the floor.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean of each feature per class.
    total_count_ : float
        Weight of all training rows.
    total_mean_ : ndarray of shape (n_features,)
        Mean of each feature over all training rows.
    total_var_ : ndarray of shape (n_features,)
        Variance of each feature over all training rows.
    var_ : ndarray of shape (n_classes, n_features)
        Variance of each feature per class, floor included.

    See Also
    --------
    sklearn.naive_bayes.GaussianNB : The same model, for data in one batch.

    Notes
    -----
    Without weights, ``fit`` gives the model of scikit-learn. With weights the floor differs:
    here a row of weight 2 counts like two rows, and a row of weight 0 not at all, while
    scikit-learn leaves the weights out of the floor.

    Variances are combined as by Chan, Golub and LeVeque (1979), equation 2.1b.

    A class without training rows is never predicted. As long as all training rows are equal, so
    that the floor is 0, the class with the largest prior is predicted.

    References
    ----------
    T. F. Chan, G. H. Golub and R. J. LeVeque (1979). Updating formulae and a pairwise algorithm
    for computing sample variances. Technical report STAN-CS-79-773, Stanford University.

    Examples
    --------
    The second feature is constant within class "a".

    >>> import numpy as np
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> X = np.array([[0.0, 5.0], [9.0, 7.0], [1.0, 5.0], [8.0, 6.0]])
    >>> y = np.array(["a", "b", "a", "b"])
    >>> model = IncrementalGaussianNB()
    >>> for i in range(4):
    ...     _ = model.partial_fit(X[i : i + 1], y[i : i + 1], classes=["a", "b"])
    >>> model.predict([[0.5, 5.0], [8.5, 6.5]])
    array(['a', 'b'], dtype='<U1')
    >>> bool(np.allclose(model.var_, IncrementalGaussianNB().fit(X, y).var_))
    True
    """

    class_count_: NDArray[np.float64]
    raw_var_: NDArray[np.float64]
    theta_: NDArray[np.float64]
    total_count_: float
    total_mean_: NDArray[np.float64]
    total_var_: NDArray[np.float64]

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "IncrementalGaussianNB":
        """Train on some rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers, converted to float64.
        y : array-like of shape (n_rows,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt; a model that has learnt no other
            rows cannot predict (NotFittedError).

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, a label is not among them, the rows have a
            different number of columns than before or are not finite, or `priors` do not fit the
            classes.
        """
        self._validate_params()
        first = not hasattr(self, "classes_")
        refuse_masked(X, "X")
        X = validate_data(self, X, dtype=np.float64, reset=first)
        _, codes, weight = check_labelled(self, X, y, classes, sample_weight)
        if first:
            self._start(X.shape[1])
        if weight is not None:
            X, codes, weight = X[weight > 0], codes[weight > 0], weight[weight > 0]
        if not len(X):
            return self
        known = self.total_count_, self.total_mean_, self.total_var_
        everything = _combine(known, _moments(X, weight))
        self.total_count_, self.total_mean_, self.total_var_ = everything
        for k in np.unique(codes):
            mine = codes == k
            new = _moments(X[mine], None if weight is None else weight[mine])
            known = self.class_count_[k], self.theta_[k], self.raw_var_[k]
            self.class_count_[k], self.theta_[k], self.raw_var_[k] = _combine(known, new)
        self.epsilon_ = self.var_smoothing * self.total_var_.max()
        self.var_ = self.raw_var_ + self.epsilon_
        if self.priors is None:
            self.class_prior_ = self.class_count_ / self.class_count_.sum()
        return self

    def _start(self, n_features: int) -> None:
        """Set up the state of a model that has learnt nothing."""
        n_classes = len(self.classes_)
        self.class_prior_ = np.zeros(n_classes)
        if self.priors is not None:
            self.class_prior_ = _check_priors(self.priors, n_classes)
        self.class_count_ = np.zeros(n_classes)
        self.theta_ = np.zeros((n_classes, n_features))
        self.raw_var_ = np.zeros((n_classes, n_features))
        self.var_ = np.zeros((n_classes, n_features))
        self.total_count_ = 0.0
        self.total_mean_ = np.zeros(n_features)
        self.total_var_ = np.zeros(n_features)
        self.epsilon_ = 0.0

    def _joint_log_likelihood(self, X: NDArray[Any]) -> NDArray[np.float64]:
        check_is_fitted(self)
        scores = np.full((len(X), len(self.classes_)), -np.inf)
        all_alike = self.epsilon_ == 0 and self.var_smoothing > 0
        for k in np.flatnonzero(self.class_count_ > 0):
            with np.errstate(divide="ignore"):  # a prior of 0
                scores[:, k] = np.log(self.class_prior_[k])
            if not all_alike:
                squares = (X - self.theta_[k]) ** 2 / self.var_[k]
                logs = np.log(2.0 * np.pi * self.var_[k])
                scores[:, k] -= 0.5 * (logs.sum() + squares.sum(axis=1))
        return scores

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms, in the order of `classes_`.
        """
        scores = shifted(self.predict_joint_log_proba(X))
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute class probabilities, which sum to one even if likelihoods are tiny.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return normalised(self.predict_joint_log_proba(X))

    def __sklearn_is_fitted__(self) -> bool:
        # Rows of weight 0 set the classes, but the model cannot predict yet.
        return getattr(self, "total_count_", 0.0) > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags


def normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of joint log likelihoods.

    Divided by their sum: of log likelihoods of -1e10, a difference to the logarithm of the sum, as
    scikit-learn takes it, is only known to 1e-6.
    """
    shares = np.exp(shifted(scores))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def shifted(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Joint log likelihoods less the largest of each row."""
    best = scores.max(axis=1, keepdims=True)
    return scores - np.where(np.isfinite(best), best, 0.0)


def _check_priors(priors: Any, n_classes: int) -> NDArray[np.float64]:
    values = np.array(priors, dtype=np.float64)
    if values.shape != (n_classes,):
        raise ValueError(
            "Number of priors must match number of classes. "
            f"Got priors of shape {values.shape} and {n_classes} classes."
        )
    if not np.isclose(values.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1. Got {values.sum()}.")
    if (values < 0).any():
        raise ValueError(f"Priors must be non-negative. Got {values.min()}.")
    return values


def _moments(X: NDArray[np.float64], weight: NDArray[np.float64] | None) -> _Moments:
    """Weight, mean and variance of some rows."""
    if weight is None:
        return float(len(X)), X.mean(axis=0), X.var(axis=0)
    mean = np.average(X, axis=0, weights=weight)
    return float(weight.sum()), mean, np.average((X - mean) ** 2, axis=0, weights=weight)


def _combine(known: _Moments, new: _Moments) -> _Moments:
    """Moments of two sets of rows together, in the order of operations of scikit-learn."""
    n_known, known_mean, known_var = known
    n_new, new_mean, new_var = new
    if n_known == 0:
        return new
    n = n_known + n_new
    mean = (n_new * new_mean + n_known * known_mean) / n
    squares = n_known * known_var + n_new * new_var
    squares = squares + (n_new * n_known / n) * (known_mean - new_mean) ** 2
    return n, mean, squares / n
