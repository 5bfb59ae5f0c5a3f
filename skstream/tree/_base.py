"""What the trees of this library have in common: rows of any columns, answers, and tags."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import date, timedelta
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skstream.base import (
    ForgetfulFit,
    check_labelled,
    check_rows,
)
from skstream.preprocessing._categories import MISSING, MixedTypes, Numbering, encode, kind_of
from skstream.streams._values import (
    Factorized,
    column_at,
    factorized_column,
    holds_times,
    joined_columns,
)
from skstream.tree._arrays import Settings
from skstream.tree._core import ADAPTIVE, BAYES, ENTROPY, GINI, MAJORITY
from skstream.utils._rows import best_columns, take_rows
from skstream.utils._sklearn import Interval, StrOptions

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Features(NamedTuple):
    """What is known of the columns.

    Attributes
    ----------
    is_nominal : tuple of bool or None
        By column; None as long as no value of it has been learnt.
    codes : tuple of dict
        Codes of the categories of each column.
    max_categories : int
        Codes of a column; the last one is for all categories that find no other left.
    """

    is_nominal: tuple[bool | None, ...]
    codes: tuple[dict[Any, int], ...]
    max_categories: int

    @classmethod
    def of(cls, n_features: int, nominal: Sequence[int], max_categories: int) -> "Features":
        """Columns that have shown no value yet, some of which are nominal."""
        is_nominal = [True if place in nominal else None for place in range(n_features)]
        return cls(tuple(is_nominal), tuple({} for _ in is_nominal), max_categories)

    def after_numbers(self, learnt: Floats) -> "Features":
        """Features after rows of numbers were learnt: they have turned out to be numeric."""
        if None not in self.is_nominal or not len(learnt):
            return self
        shown = np.flatnonzero(~np.isnan(learnt).all(axis=0)).tolist()
        found = [
            False if one is None and place in shown else one
            for place, one in enumerate(self.is_nominal)
        ]
        return self._replace(is_nominal=tuple(found))


class Read(NamedTuple):
    """Rows learnt and rows asked as numbers, and what is known of the columns afterwards."""

    features: Features
    learnt: Floats
    asked: Floats


def read_columns(
    features: Features,
    parts: Sequence[tuple[Any, Codes]],
    learnt: Codes,
    asked: Codes,
    stamp: Codes,
) -> Read:
    """Read rows column by column: numbers, or codes of categories in the order of learning.

    Parameters
    ----------
    features : Features
        What is known of the columns before.
    parts : sequence of tuple (X, index)
        Containers, and which of their rows are used; one after the other.
    learnt, asked : ndarray
        Which of these rows are learnt, and asked.
    stamp : ndarray of shape (n_asks,)
        Number of rows learnt before each ask.

    Returns
    -------
    Read
        NaN where a value is missing, negative codes for categories that are not known.

    Raises
    ------
    MixedTypes
        If a column holds texts and numbers, or values that are neither, or infinite numbers.
    """
    rows = [take_rows(X, index) for X, index in parts]
    n = len(features.is_nominal)
    of_learns, of_asks = np.empty((len(learnt), n)), np.empty((len(asked), n))
    is_nominal, codes = list(features.is_nominal), list(features.codes)
    numbering = Numbering(features.max_categories, counts_missing=False)  # a gap is no category
    for place in range(n):
        columns = [column_at(X, place) for X in rows]
        try:
            if is_nominal[place] is not True and all(map(_is_of_numbers, columns)):
                numbers = np.concatenate([np.asarray(one, dtype=np.float64) for one in columns])
                _check_finite(numbers)
                of_learns[:, place], of_asks[:, place] = numbers[learnt], numbers[asked]
                if is_nominal[place] is None and not np.isnan(of_learns[:, place]).all():
                    is_nominal[place] = False
                continue
            column = joined_columns([factorized_column(one) for one in columns])
            if is_nominal[place] is None:
                is_nominal[place] = _has_categories(column, learnt, columns)
            if is_nominal[place] is None:  # no value is learnt, so that none asked has a meaning
                of_learns[:, place] = of_asks[:, place] = np.nan
            elif is_nominal[place]:
                encoded = encode(codes[place], column, learnt, asked, stamp, numbering)
                codes[place] = encoded.known
                of_learns[:, place] = _as_numbers(encoded.learnt)
                of_asks[:, place] = _as_numbers(encoded.asked)
            else:
                numbers = _numbers(column, np.concatenate([learnt, asked]))
                of_learns[:, place] = numbers[column.positions[learnt]]
                of_asks[:, place] = numbers[column.positions[asked]]
        except MixedTypes as error:
            error.column = place
            raise
    after = features._replace(is_nominal=tuple(is_nominal), codes=tuple(codes))
    return Read(after, of_learns, of_asks)


def _is_of_numbers(column: Any) -> bool:
    """Whether the type of a column says that it holds numbers of NumPy."""
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"


def _check_finite(numbers: Floats) -> None:
    if np.isinf(numbers).any():
        raise MixedTypes("holds an infinite number")


def _has_categories(column: Factorized, learnt: Codes, columns: list[Any]) -> bool | None:
    """Whether the first value learnt is a category; None if none is learnt."""
    if any(hasattr(one.dtype, "categories") for one in columns):
        return True
    of_learns = column.positions[learnt]
    for place in of_learns[np.sort(np.unique(of_learns, return_index=True)[1])].tolist():
        value = column.values[place]
        if isinstance(value, date | timedelta):
            raise MixedTypes(f"holds {value!r}, which is neither a number nor a category")
        if value is not None:
            return kind_of(value) != "a number"
    return None


def _as_numbers(codes: NDArray[np.int64]) -> Floats:
    numbers = codes.astype(np.float64)
    numbers[codes == MISSING] = np.nan
    return numbers


def _numbers(column: Factorized, used: Codes) -> Floats:
    """Values of a column as numbers; NaN for those that are not used."""
    numbers = np.full(len(column.values), np.nan)
    for place in np.unique(column.positions[used]).tolist():
        value = column.values[place]
        if value is None:
            continue
        if kind_of(value) != "a number":
            raise MixedTypes(f"holds {value!r}, {kind_of(value)}, but numbers in the rows before")
        try:
            numbers[place] = value
        except (TypeError, OverflowError) as error:
            raise MixedTypes(f"holds {value!r}, which is not a real number of 64 bits") from error
    _check_finite(numbers)
    return numbers


LEAVES = {"mc": MAJORITY, "nb": BAYES, "nba": ADAPTIVE}
CRITERIA = {"entropy": ENTROPY, "gini": GINI}


class TreeLearner(ForgetfulFit, ClassifierMixin, BaseEstimator):
    """A tree, or a forest of them: columns of numbers, categories and gaps, read once.

    A subclass says how its model begins and how it asks and learns rows of numbers.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({*CRITERIA})],
        "grace_period": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, None, closed="left")],
        "leaf_prediction": [StrOptions({*LEAVES})],
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "zero_variance": [StrOptions({"exclude", "ignore"})],
        "pre_prune": ["boolean"],
        "nominal_features": ["array-like", None],
        "max_categories": [Interval(Integral, 2, None, closed="left")],
        "max_bytes": [Interval(Integral, 1, None, closed="left"), None],
    }
    #: Name of the attribute that holds the model.
    _model_name: ClassVar[str]

    criterion: str
    grace_period: float
    delta: float
    tau: float
    leaf_prediction: str
    max_depth: int | None
    n_splits: int
    zero_variance: str
    pre_prune: bool
    nominal_features: Sequence[Any] | None
    max_categories: int
    max_bytes: int | None
    classes_: NDArray[Any]
    columns_: Features
    n_features_in_: int

    @abstractmethod
    def _new_model(self, n_features: int, n_classes: int) -> Any:
        """Return a model that has learnt nothing."""

    @abstractmethod
    def _executed(
        self, model: Any, read: Read, y: Codes, weight: Floats, stamp: Codes, is_next: Bools
    ) -> tuple[Any, Floats]:
        """Ask and learn rows in order; return the model after them, and probabilities.

        The model given is not changed. For each ask, `stamp` counts the rows learnt before, and
        `is_next` says whether the row asked is the one that is learnt next.
        """

    @property
    def _settings(self) -> Settings:
        """Parameters as numbers."""
        return Settings(
            leaf=LEAVES[self.leaf_prediction],
            criterion=CRITERIA[self.criterion],
            grace_period=float(self.grace_period),
            delta=float(self.delta),
            tau=float(self.tau),
            max_depth=1 << 40 if self.max_depth is None else int(self.max_depth),
            n_splits=int(self.n_splits),
            constant_excludes=self.zero_variance == "exclude",
            null_gains_nothing=bool(self.pre_prune),
        )

    @property
    def _model(self) -> Any:
        return getattr(self, self._model_name)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows, one after another.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first. Numbers are finite, or missing.
        y : array-like of shape (n_rows,)
            Their labels.
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
            If `classes` is missing in the first call, a label is not among them, the rows have a
            different number of columns than before, or a column holds texts and numbers.
        """
        self._validate_params()
        X = check_rows(self, X, reset=not self.__sklearn_is_fitted__())
        _, codes, weight = check_labelled(self, X, y, classes, sample_weight)
        weight = np.ones(len(codes)) if weight is None else weight
        kept = np.flatnonzero(weight > 0)
        if len(kept) == 0:
            return self
        if self.__sklearn_is_fitted__():
            columns, model = self.columns_, self._model
        else:
            names = getattr(self, "feature_names_in_", None)
            columns, model = self._begun(self.n_features_in_, names, len(self.classes_))
        read = self._read(columns, X, kept, kept[:0])
        model, _ = self._executed(
            model, read, codes[kept], weight[kept], kept[:0], np.zeros(0, np.bool_)
        )
        setattr(self, self._model_name, model)
        self.columns_ = read.features
        return self

    def _begun(self, n_features: int, names: Any, n_classes: int) -> tuple[Features, Any]:
        """Return columns and a model that have learnt nothing."""
        nominal = self._places_of_nominal(n_features, names)
        columns = Features.of(n_features, nominal, self.max_categories)
        return columns, self._new_model(n_features, n_classes)

    def _places_of_nominal(self, n_features: int, names: Any) -> list[int]:
        """Positions of the features that are named as nominal."""
        places = []
        for name in [] if self.nominal_features is None else list(self.nominal_features):
            if isinstance(name, Integral) and not isinstance(name, bool):
                place = int(name)
                if not 0 <= place < n_features:
                    raise ValueError(
                        f"nominal_features holds {place}, but the rows have {n_features} columns, "
                        "numbered from 0."
                    )
            elif names is None or name not in names:
                known = "no names" if names is None else f"the names {list(names)}"
                raise ValueError(
                    f"nominal_features holds {name!r}, and the columns of X have {known}. Name "
                    "columns of a data frame, or give positions."
                )
            else:
                place = list(names).index(name)
            places.append(place)
        return places

    def _read(self, columns: Features, X: Any, learnt: Any, asked: Any) -> Read:
        """Read rows of one container, of which some are learnt and then others are asked."""
        if sparse.issparse(X):
            X = X.toarray()
        if holds_times(X):
            raise ValueError(
                "X contains dates or durations, which are neither numbers nor categories. Convert "
                "them to numbers with skstream.preprocessing.DatetimeFeatures."
            )
        try:
            return read_columns(
                columns,
                [(X, np.arange(X.shape[0]))],
                learnt,
                asked,
                np.full(len(asked), len(learnt)),
            )
        except MixedTypes as error:
            names = getattr(self, "feature_names_in_", None)
            name = str(error.column) if names is None else repr(names[error.column])
            raise ValueError(
                f"Column {name} {error}. Columns hold finite numbers, or categories (texts), one "
                "of the two throughout; missing values are NaN or None."
            ) from None

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; ties go to the lowest.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        codes = best_columns(self.predict_proba(X))
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probabilities of the classes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        asked = np.arange(X.shape[0])
        read = self._read(self.columns_, X, asked[:0], asked)
        none = asked[:0]
        _, shares = self._executed(
            self._model, read, none, np.zeros(0), np.zeros_like(asked), np.zeros(len(asked), bool)
        )
        return shares

    def __sklearn_is_fitted__(self) -> bool:
        # Rows of weight 0 set the classes, but nothing is learnt yet.
        return hasattr(self, self._model_name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
