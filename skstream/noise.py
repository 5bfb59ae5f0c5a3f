"""A classifier made worse by a known amount, to test significance tests."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream._meta import MetaClassifier, inner_has
from skstream.utils._labels import LabelSpace
from skstream.utils._running_sums import running_sums
from skstream.utils._seeds import Hashes, drawn_seed, row_hashes, uniform_draws
from skstream.utils._sklearn import Interval

__all__ = ["LabelNoise"]


class LabelNoise(MetaClassifier):
    """Replace a classifier's predictions with another class at random.

    The filter makes a model worse by a known amount: its accuracy p becomes p(1 - q) + (1 - p) q /
    (n_classes - 1), where q is `noise`. Comparing a model with its filtered copy therefore shows
    what a significance test can detect. Training of the inner model is not affected.

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit``.
    noise : float, default=0.1
        Probability that a prediction is replaced, in [0, 1]. The new class is drawn uniformly from
        the others; with a single class nothing is replaced.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model inside.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    weight_learnt_ : float
        Sum of the weights of the rows learnt; their number where none had a weight.
    seed_ : int
        The seed used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    skstream.stats.mcnemar : A test that can be checked with this noise.

    Notes
    -----
    ``predict`` changes nothing, and does not know the number of the row in the stream. A draw
    therefore depends on the seed, on the content of the row, and on `weight_learnt_`. Rows of a
    stream get independent draws: different rows because their content differs, equal rows because
    of the training between them. Only equal rows predicted without training in between get the same
    draw. The division of rows into calls and the order of the calls have no effect. Weighting a row
    has the same effect as repeating it.

    Bifet et al. print p(1 - q) + (1 - p) q / n_classes for the new accuracy, which holds for no way
    of drawing: a uniform draw over all classes would give p(1 - q) + q / n_classes.

    References
    ----------
    Bifet, A., De Francisci Morales, G., Read, J., Holmes, G., & Pfahringer, B. (2015).
    Efficient online evaluation of big data stream classifiers. KDD. Section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skstream.noise import LabelNoise
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> y = np.repeat(["a", "b"], 5)
    >>> noisy = LabelNoise(MultinomialNB(), noise=0.3, random_state=0).fit(X, y)
    >>> int((noisy.predict(X) != noisy.estimator_.predict(X)).sum())
    4
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "noise": [Interval(Real, 0, 1, closed="both")],
        "random_state": ["random_state"],
    }
    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False

    weight_learnt_: float
    seed_: int

    def __init__(self, estimator: Any, *, noise: float = 0.1, random_state: Any = None):
        self.estimator = estimator
        self.noise = noise
        self.random_state = random_state

    def _remember(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        if not hasattr(self, "seed_"):
            self.seed_ = drawn_seed(self.random_state)
        before = getattr(self, "weight_learnt_", 0.0)
        self.weight_learnt_ = float(weights_so_far(before, weight, len(codes))[-1])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels, some of them replaced.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        _, noisy = self._codes(X)
        return self.classes_[noisy]

    @inner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities, as wrong as the labels.

        Where an answer is replaced, its probability and that of the new one are exchanged.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        self._check_columns(self.estimator_)
        # A copy: the model answers once more, maybe into the same array.
        shares = np.array(self.estimator_.predict_proba(X), dtype=np.float64)
        return exchanged(shares, *self._codes(X))

    def _codes(self, X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Codes of the model's answers, and of those after noise."""
        codes = LabelSpace(self.classes_).encode(self.estimator_.predict(X))
        weight_learnt = np.array([self.weight_learnt_])
        noisy = with_noise(
            codes, row_hashes(X), weight_learnt, len(self.classes_), self.noise, self.seed_
        )
        return codes, noisy


def weights_so_far(
    before: float, weight: NDArray[np.float64] | None, n_learns: int
) -> NDArray[np.float64]:
    """Sum of weights before any of some learns, and after each; added in order, one by one."""
    return running_sums(before, np.ones(n_learns) if weight is None else weight)


def with_noise(
    codes: NDArray[np.int64],
    hashes: Hashes,
    weight_learnt: NDArray[np.float64],
    n_classes: int,
    noise: float,
    seed: int,
) -> NDArray[np.int64]:
    """Codes of the answers, some replaced by another.

    Parameters
    ----------
    codes : ndarray of shape (n_asks,), dtype int64
        The answers' codes.
    hashes : ndarray of shape (n_asks,), dtype uint64
        Hashes of the rows asked.
    weight_learnt : ndarray of shape (n_asks,) or (1,), dtype float64
        Weight learnt before each ask.
    n_classes : int
        Number of classes.
    noise : float
        Probability of another code.
    seed : int
        Seed.

    Returns
    -------
    ndarray of shape (n_asks,), dtype int64
        The codes after noise.
    """
    if n_classes == 1:
        return codes
    uniform = uniform_draws(hashes, weight_learnt, seed)
    replaced = uniform < noise
    # Given that it is below `noise`, the number is uniform, and selects one of the other classes.
    distance = 1 + (uniform[replaced] / noise * (n_classes - 1)).astype(np.int64)
    noisy = codes.copy()
    noisy[replaced] = (codes[replaced] + np.minimum(distance, n_classes - 1)) % n_classes
    return noisy


def exchanged(
    shares: NDArray[np.float64], codes: NDArray[np.int64], noisy: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Probabilities with those of two classes of every row exchanged."""
    rows = np.flatnonzero((codes >= 0) & (noisy >= 0))  # all but answers that are no class
    codes, noisy = codes[rows], noisy[rows]
    answers = shares.copy()
    answers[rows, codes], answers[rows, noisy] = shares[rows, noisy], shares[rows, codes]
    return answers
