"""What the trees of this library have in common: rows of any columns, answers, and tags."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstream.base import ForgetfulFit, check_classes, check_labels, check_rows, check_weight
from skstream.preprocessing._categories import MixedTypes
from skstream.tree._arrays import Settings
from skstream.tree._core import ADAPTIVE, BAYES, ENTROPY, GINI, MAJORITY
from skstream.tree._features import Features, Read, read_columns
from skstream.utils._few_columns import best_columns
from skstream.utils._label_space import LabelSpace
from skstream.utils._sklearn import Interval, StrOptions
from skstream.utils._values import holds_times

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


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

        The model given is not changed. Of the asks, `stamp` counts the rows learnt before, and
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
            All labels that can occur. Required at the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing at the first call, a label is not among them, the rows have
            another width than before, or a column holds texts and numbers.
        """
        self._validate_params()
        X = check_rows(self, X, reset=not self.__sklearn_is_fitted__())
        y = check_labels(self, y)
        check_consistent_length(X, y)
        weight = check_weight(sample_weight, len(y))
        check_classes(self, classes)
        codes = LabelSpace(self.classes_).encode(y)
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
                        f"nominal_features holds {place}, and the rows have {n_features} columns, "
                        "from 0 on."
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
                "X holds dates or durations, which are neither numbers nor categories. Make "
                "numbers of them by skstream.preprocessing.DatetimeFeatures."
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
        """Predict the most probable class of each row; of equal ones the lowest.

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
        answers: NDArray[Any] = self.classes_[codes]
        return answers

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
