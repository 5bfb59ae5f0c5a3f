"""Nearest neighbours among the rows learnt last."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream.base import ForgetfulFit, check_labelled
from skstream.utils._masked import refuse_masked
from skstream.utils._sklearn import Interval

__all__ = ["WindowedKNeighborsClassifier"]

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]

# Distances computed at once: they and one more array of their size stay in the second-level cache.
_PIECE = 1 << 15


class WindowedKNeighborsClassifier(ForgetfulFit, ClassifierMixin, BaseEstimator):
    """Classifier by the nearest neighbours within a window of the latest rows.

    It remembers only the latest rows. A small window follows a stream that changes fast; a large
    one predicts better if nothing changes.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of neighbours that vote, at least 1. If fewer rows are remembered, all vote.
    window_size : int, default=100
        Number of rows remembered, at least 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    window_rows_ : ndarray or CSR array of shape (at most window_size, n_features), dtype float64
        The rows remembered, oldest first; sparse if the first training rows were.
    window_codes_ : ndarray of shape (at most window_size,), dtype int64
        Positions in `classes_` of their labels.
    window_weights_ : ndarray of shape (at most window_size,), dtype float64
        Their weights.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.

    See Also
    --------
    sklearn.neighbors.KNeighborsClassifier : The same predictions, from rows in one batch.
    skstream.baselines.MajorityWindow : Takes the votes of all rows in the window, near or far.

    Notes
    -----
    Distances are Euclidean; scale the features, for instance in a
    :class:`~skstream.pipeline.StreamPipeline`. The squared differences are added feature by
    feature, so that a distance has the same bits wherever it is computed. No index is built: every
    prediction compares all rows of the window.

    Among rows at the same distance, newer rows count as nearer. Among classes with the same number
    of votes, the lowest is predicted.

    The window counts rows. A row of weight k votes k times, but takes one place in the window and
    is one neighbour; a row of weight 0 is skipped and takes none.

    A sparse row is compared only in the columns that have a value in it or in the window.

    Examples
    --------
    >>> from skstream.neighbors import WindowedKNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> model = WindowedKNeighborsClassifier(n_neighbors=3, window_size=4).fit(X, y)
    >>> model.predict([[1.5], [3.5]])
    array(['low', 'high'], dtype='<U4')
    >>> model.predict_proba([[1.5]]).round(2)
    array([[0.33, 0.67]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "window_size": [Interval(Integral, 1, None, closed="left")],
    }

    classes_: NDArray[Any]
    window_rows_: Any
    window_codes_: NDArray[np.int64]
    window_weights_: Floats

    def __init__(self, n_neighbors: int = 1, window_size: int = 100):
        self.n_neighbors = n_neighbors
        self.window_size = window_size

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "WindowedKNeighborsClassifier":
        """Add rows to the window, in their order, and forget the oldest.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Finite numbers, converted to float64.
        y : array-like of shape (n_rows,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, a label is not among them, or the rows have a
            different number of columns than before or are not finite.
        """
        self._validate_params()
        X = self._check_rows(X, reset=not hasattr(self, "classes_"))
        _, codes, weight = check_labelled(self, X, y, classes, sample_weight)
        weight = np.ones(len(codes)) if weight is None else weight
        kept = np.flatnonzero(weight > 0)[-self.window_size :]
        if len(kept):
            self._remember(X[kept], codes[kept], weight[kept])
        return self

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        refuse_masked(X, "X")
        return validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=reset)

    def _remember(self, X: Any, codes: NDArray[np.int64], weight: Floats) -> None:
        if hasattr(self, "window_codes_"):
            size = self.window_size
            X = _stacked(self.window_rows_, X)[-size:]
            codes = np.concatenate([self.window_codes_, codes])[-size:]
            weight = np.concatenate([self.window_weights_, weight])[-size:]
        self.window_rows_ = sparse.csr_array(X) if sparse.issparse(X) else X.copy()
        self.window_codes_, self.window_weights_ = codes.copy(), weight.copy()

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of most neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels, of the type the labels were learnt in.
        """
        # argmax takes the first of equal counts: ties go to the lowest class.
        codes = self._votes(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """Return each class's share of the neighbours' votes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of `classes_`.
        """
        return shares(self._votes(X))

    def _votes(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        rows, asked = _dense_pair(self.window_rows_[-self.window_size :], X)
        nearest = nearest_in_windows(
            np.ascontiguousarray(rows[::-1].T),
            np.ascontiguousarray(asked.T),
            np.zeros(len(asked), np.intp),
            len(rows),
            self.n_neighbors,
        )
        # Newest first, as the rows.
        codes, weights = self.window_codes_[::-1], self.window_weights_[::-1]
        return votes(codes[nearest], weights[nearest], len(self.classes_))

    def __sklearn_is_fitted__(self) -> bool:
        # Rows of weight 0 set the classes, but nothing is remembered yet.
        return hasattr(self, "window_codes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def nearest_in_windows(
    rows: Floats, asked: Floats, first: Integers, size: int, n_neighbors: int
) -> NDArray[np.intp]:
    """Nearest rows to each row asked, each among others.

    Parameters
    ----------
    rows : ndarray of shape (n_features, n_rows), dtype float64
        The rows learnt, newest first. They may end with rows of infinities, which are far from all.
    asked : ndarray of shape (n_features, n_asks), dtype float64
        The rows asked.
    first : ndarray of shape (n_asks,), dtype intp
        The first row, the newest, of each window.
    size : int
        Number of rows of each window.
    n_neighbors : int
        Number of neighbours; all of the window, if it has fewer rows.

    Returns
    -------
    ndarray of shape (n_asks, min(n_neighbors, size)), dtype intp
        Positions in `rows`. Of equal distances the newest rows are taken. A single position is
        that of the nearest; several are sorted from the newest row to the oldest.
    """
    windows = sliding_window_view(rows, size, axis=1)
    n_asks, k = len(first), min(n_neighbors, size)
    found = np.empty((n_asks, k), np.intp)
    n_at_once = max(_PIECE // size, 1)
    total, step = np.empty((2, min(n_at_once, n_asks), size))
    with np.errstate(over="ignore"):  # a distance of infinity is one
        for begin in range(0, n_asks, n_at_once):
            piece = slice(begin, min(begin + n_at_once, n_asks))
            seen = _windows_at(windows, first[piece])
            sums, squares = total[: piece.stop - begin], step[: piece.stop - begin]
            for feature, (window, values) in enumerate(zip(seen, asked, strict=True)):
                out = squares if feature else sums
                np.subtract(values[piece, np.newaxis], window, out=out)
                np.multiply(out, out, out=out)
                if feature:
                    np.add(sums, out, out=sums)
            found[piece] = _smallest(sums, k)
    found += first[:, np.newaxis]
    return found


def _windows_at(windows: Floats, first: Integers) -> Floats:
    """Windows that begin at some rows, as views where the rows are one or follow each other."""
    newest, oldest = int(first[0]), int(first[-1])
    if newest == oldest:  # they never grow
        return windows[:, newest : newest + 1]
    if newest - oldest == len(first) - 1 and (np.diff(first) == -1).all():
        return windows[:, oldest : newest + 1][:, ::-1]
    return windows[:, first]


def _smallest(distances: Floats, k: int) -> NDArray[np.intp]:
    """Columns of the `k` smallest distances of each row; ties go to the first."""
    if k == 1:
        return distances.argmin(axis=1)[:, np.newaxis]
    limit = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    chosen = distances <= limit
    tied = np.flatnonzero(np.count_nonzero(chosen, axis=1) > k)
    if len(tied):
        at_limit = distances[tied] == limit[tied]
        free = k - np.count_nonzero(distances[tied] < limit[tied], axis=1)
        chosen[tied] &= ~at_limit | (at_limit.cumsum(axis=1) <= free[:, np.newaxis])
    return chosen.nonzero()[1].reshape(len(distances), k)


def votes(codes: NDArray[np.int64], weights: Floats, n_classes: int) -> Floats:
    """Weight of each class among neighbours.

    Parameters
    ----------
    codes : ndarray of shape (n_asks, n_neighbors), dtype int64
        Their classes.
    weights : ndarray of shape (n_asks, n_neighbors), dtype float64
        Their weights.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n_asks, n_classes), dtype float64
        The weights; the neighbours of a row are added in their order.
    """
    n_asks = len(codes)
    places = codes + n_classes * np.arange(n_asks)[:, np.newaxis]
    sums = np.bincount(places.ravel(), weights.ravel(), n_asks * n_classes)
    # Without asks, the counts are integers.
    return sums.astype(np.float64, copy=False).reshape(n_asks, n_classes)


def shares(votes_of_classes: Floats) -> Floats:
    """Probabilities of the classes by their votes."""
    total = votes_of_classes.sum(axis=1, keepdims=True)
    return votes_of_classes / total


def _stacked(window: Any, X: Any) -> Any:
    """Rows remembered and new ones, stored as those remembered are."""
    if sparse.issparse(window):
        return sparse.vstack([window, sparse.csr_array(X)], format="csr")
    return np.concatenate([window, X.toarray() if sparse.issparse(X) else X])


def _dense_pair(window: Any, X: Any) -> tuple[Floats, Floats]:
    """Rows remembered and rows asked as arrays, without the columns that are empty in both.

    A column of zeros adds 0 to a distance, which changes no bit of it.
    """
    if sparse.issparse(window) and sparse.issparse(X):
        columns = np.union1d(window.indices, X.indices)
        # If no column is used, keep one, so that there are distances.
        columns = columns if len(columns) else np.zeros(1, np.intp)
        window, X = window[:, columns], X[:, columns]
    rows, asked = (part.toarray() if sparse.issparse(part) else part for part in (window, X))
    return rows, asked
