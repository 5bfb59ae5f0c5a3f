"""What models of libraries that take one row at a time have in common as estimators."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstream.base import (
    ForgetfulFit,
    check_classes,
    check_labels,
    check_rows,
    check_targets,
    check_weight,
)
from skstream.utils._labels import LabelSpace, is_missing
from skstream.utils._rows import is_frame, take_rows


class RowCalls:
    """Calls of a fitted regressor about rows of containers, without any check.

    They are made anew for every block of rows: what they have made of its rows they may keep.
    """

    #: Begin and end of the error where a model cannot learn a row with a weight.
    takes_no_weights: tuple[str, str]
    #: What learns a row and its target.
    learn_one: Callable[[Any, Any], Any]

    @abstractmethod
    def rows(self, X: Any, index: NDArray[np.intp]) -> Iterator[Any]:
        """Yield rows of a container as the model takes them."""

    @abstractmethod
    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return what answers to one row where ``predict`` or another method is wanted."""

    @abstractmethod
    def _learns_with_weight(self, row: Any, target: Any, weight: float) -> bool:
        """Learn a row with a weight where the model takes weights; return whether it does."""

    def learn_weighted(self, row: Any, target: Any, weight: float) -> None:
        """Learn a row with a weight; where the model takes none, as often as it says."""
        if weight == 1.0:
            self.learn_one(row, target)
        elif not self._learns_with_weight(row, target, weight):
            if weight != int(weight):
                name, advice = self.takes_no_weights
                raise ValueError(
                    f"{name} takes no weights, so a row of weight k is repeated k times, but a "
                    f"weight is {weight}. Use whole numbers{advice}."
                )
            for _ in range(int(weight)):
                self.learn_one(row, target)

    def targets(self, y: NDArray[Any]) -> list[Any]:
        """Return labels or targets as the model takes them."""
        return y.tolist()

    def answered(self, answers: list[Any], method: str) -> NDArray[Any]:
        """Return answers of the model as the method returns them; NaN or None for none."""
        return np.array(answers, dtype=np.float64)


def labels_at(places: list[Any], classes: NDArray[Any], others: list[Any]) -> NDArray[Any]:
    """Return the labels at some places among the classes; where the place is None, the other."""
    if None not in places:
        return classes[np.array(places, dtype=np.intp)]
    labels = np.empty(len(places), dtype=object)
    for number, (place, other) in enumerate(zip(places, others, strict=True)):
        labels[number] = other if place is None else classes.item(place)
    return labels


class ByRow(ForgetfulFit, BaseEstimator):
    """A model of another library, which is in `model_` once it has learnt something."""

    model_: Any
    n_features_in_: int

    @abstractmethod
    def _begin(self, X: Any) -> Any:
        """Return the model that is to learn, before its first rows."""

    @abstractmethod
    def row_calls(self) -> RowCalls:
        """Return the calls of the fitted model, for this class and for the loop of the engine."""

    def _learn(self, X: Any, y: NDArray[Any], sample_weight: Any) -> None:
        """Learn checked labels or targets."""
        check_consistent_length(X, y)
        weight = check_weight(sample_weight, len(y))
        index = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        if len(index) == 0:
            return
        first = not hasattr(self, "model_")
        if first:
            self.model_ = self._begin(X)
        try:
            calls = self.row_calls()
            weights = np.ones(len(y)) if weight is None else weight
            rows, targets = calls.rows(X, index), calls.targets(y[index])
            for row, target, w in zip(rows, targets, weights[index].tolist(), strict=True):
                calls.learn_weighted(row, target, w)
        except BaseException:
            if first:
                del self.model_  # so that it can begin again
            raise

    def _answers(self, X: Any, method: str) -> NDArray[Any]:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, texts=True)
        calls = self.row_calls()
        answers = [*map(calls.asker(method), calls.rows(X, np.arange(X.shape[0])))]
        return calls.answered(answers, method)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class ClassifierByRow(ClassifierMixin, ByRow):
    """A classifier of another library."""

    classes_: NDArray[Any]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows, one after another.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt; a model that takes no weights
            learns a row of weight k k times.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, a label is not among them, or the rows have a
            different number of columns than before.
        """
        first = not hasattr(self, "model_")
        X = check_rows(self, X, reset=first, texts=True)
        y = check_labels(self, y)
        if first and classes is not None and hasattr(self, "classes_"):
            del self.classes_  # left by a first call that failed
        check_classes(self, classes)
        LabelSpace(self.classes_).encode(y)  # raises an error about others
        self._learn(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; None where the model gives no answer.
        """
        return self._answers(X, "predict")


class RegressorByRow(RegressorMixin, ByRow):
    """A regressor of another library."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rows, one after another.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt; a model that takes no weights
            learns a row of weight k k times.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If a target is no finite number, or the rows have a different number of columns than
            before.
        """
        X = check_rows(self, X, reset=not hasattr(self, "model_"), texts=True)
        self._learn(X, check_targets(self, y), sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions; NaN where the model gives no answer.
        """
        return self._answers(X, "predict")


# Values turned into Python objects at once, and parts of the rows kept that way: rows are asked
# when they come and learnt when their label comes, which may be much later.
_VALUES_AT_ONCE = 20_000
_PARTS_KEPT = 4


class RowDicts:
    """Rows of one container, by their position; each is turned into a dictionary once.

    Parameters
    ----------
    X : {ndarray, sparse matrix, dataframe} with rows
        Names of features are those of the columns of a frame, else 0, 1, 2, ...
    missing : {"omit", "none"}
        Whether missing values (NaN, None) are left out of the row, or passed as None. The values
        that a sparse matrix does not store are left out.
    names : sequence, optional
        Names of the columns of an array or sparse matrix, if they are known.
    """

    def __init__(self, X: Any, missing: str, names: Sequence[Any] | None = None):
        self.X = X
        self._source = X if type(X) is np.ndarray or not sparse.issparse(X) else X.tocsr()
        self._missing = missing
        self._names = names
        width = X.shape[1] if len(X.shape) > 1 else 1
        self._n_rows = max(1, _VALUES_AT_ONCE // max(1, width))
        self._parts: dict[int, list[Any]] = {}

    def rows(self, index: NDArray[np.intp]) -> Iterator[Any]:
        """Yield rows in the order of their positions."""
        number, part = -1, []
        for row in index.tolist():
            if row // self._n_rows != number:
                number = row // self._n_rows
                if number not in self._parts:
                    if len(self._parts) == _PARTS_KEPT:
                        del self._parts[next(iter(self._parts))]
                    self._parts[number] = self._made(number)
                part = self._parts[number]
            yield part[row - number * self._n_rows]

    def _made(self, number: int) -> list[Any]:
        begin = number * self._n_rows
        rows = take_rows(self._source, slice(begin, begin + self._n_rows))
        return dicts_of(rows, self._missing, self._names)


def dicts_of(X: Any, missing: str, known: Sequence[Any] | None = None) -> list[Any]:
    """Rows as dictionaries; texts of an array without columns stay what they are."""
    if type(X) is not np.ndarray and sparse.issparse(X):
        return _sparse_dicts(X, missing, range(X.shape[1]) if known is None else known)
    if not is_frame(X):
        if X.ndim == 1:
            return list(X.tolist())
        names, rows = [*(range(X.shape[1]) if known is None else known)], X.tolist()
        gaps = _gaps(rows) if X.dtype.kind == "O" else {}
        if X.dtype.kind == "f" and np.count_nonzero(holes := np.isnan(X)):
            with_gaps = np.flatnonzero(holes.any(axis=1)).tolist()
            gaps = {row: np.flatnonzero(holes[row]).tolist() for row in with_gaps}
    elif hasattr(X, "iloc"):
        names = list(X.columns)
        columns = [X.iloc[:, place].tolist() for place in range(len(names))]
        rows = list(zip(*columns, strict=True)) if columns else [()] * len(X)
        gaps = _gaps(rows)
    else:
        names, rows = X.columns, X.rows()
        gaps = _gaps(rows)
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    for row, places in gaps.items():
        for place in places:
            if missing == "omit":
                del dicts[row][names[place]]
            else:
                dicts[row][names[place]] = None
    return dicts


def _gaps(rows: list[Any]) -> dict[int, list[int]]:
    """Places of missing values by row."""
    found = {}
    for number, row in enumerate(rows):
        places = [place for place, value in enumerate(row) if is_missing(value)]
        if places:
            found[number] = places
    return found


def _sparse_dicts(X: Any, missing: str, names: Sequence[Any]) -> list[dict[Any, Any]]:
    if not X.has_canonical_format:  # a feature that is stored twice has the sum of both
        X = X.copy()
        X.sum_duplicates()
    bounds, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    if X.data.dtype.kind == "f" and np.isnan(X.data).any():
        if missing == "omit":
            known = ~np.isnan(X.data)
            bounds = np.concatenate([[0], np.cumsum(known)])[X.indptr].tolist()
            columns, values = X.indices[known].tolist(), X.data[known].tolist()
        else:
            values = [None if value != value else value for value in values]
    columns = [names[column] for column in columns]
    return [
        dict(zip(columns[begin:end], values[begin:end], strict=True))
        for begin, end in pairwise(bounds)
    ]
