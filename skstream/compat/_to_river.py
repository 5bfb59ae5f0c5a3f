"""Classifiers and regressors with ``partial_fit`` as models of River."""

from collections import deque
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np

from skstream.base import check_can_learn, learner
from skstream.baselines import MajorityClass, MeanRegressor
from skstream.utils._choices import check_count
from skstream.utils._labels import array_of, find_classes
from skstream.utils._optional import optional_import
from skstream.utils._validation import is_classifier, is_fitted, is_regressor, unfitted_copy


def to_river(
    estimator: Any,
    *,
    classes: Any = None,
    features: Sequence[Any] | None = None,
    missing: float = np.nan,
    n_kept: int = 1000,
) -> Any:
    """Adapt a classifier or regressor with ``partial_fit`` to River's interface.

    This package's meta-classifiers and scikit-learn's models then work in River's pipelines,
    ensembles and evaluations.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor. It is left unchanged: a copy is trained. If it is already
        trained, the copy continues from there; River's ``clone`` makes an untrained one.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur. None: those of a fitted estimator, or else those that occur; see
        `n_kept`.
    features : sequence, default=None
        Names of the features, in the estimator's column order; others are left out. None: those of
        a fitted estimator, or else those that occur, in order of appearance; see `n_kept`.
    missing : float, default=nan
        Value for a feature that a row lacks: 0.0 for models that accept no NaN, and for rows of
        counts.
    n_kept : int, default=1000
        Number of the latest training rows to keep. When a new label or feature appears, the model
        is retrained from scratch on these rows, in order, as if it had been known. None are kept if
        `classes` (for a classifier) and `features` are known.

    Returns
    -------
    river.base.Classifier or river.base.Regressor
        A model with ``learn_one``, ``predict_one`` and, for classifiers that have it,
        ``predict_proba_one``. Before any training, classifiers predict None, regressors 0.

    Raises
    ------
    TypeError
        If the estimator is neither a classifier nor a regressor, or has no ``partial_fit``.
    ImportError
        If River is not installed.

    See Also
    --------
    from_river : The reverse adapter.

    Notes
    -----
    The estimator gets arrays of one row: of numbers if all values are numbers, else of objects.
    Retraining takes as long as training on the kept rows. If new features appear all the time, as
    words do, put a ``river.preprocessing.FeatureHasher`` before the model.

    Examples
    --------
    >>> from river import preprocessing
    >>> from skstream.compat import to_river
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.temporal import TemporalCorrection
    >>> corrected = to_river(TemporalCorrection(IncrementalGaussianNB()), classes=[0, 1])
    >>> model = preprocessing.StandardScaler() | corrected
    >>> model.learn_one({"price": 1.0}, 1)
    >>> model.predict_one({"price": 1.1})
    1
    """
    check_can_learn(estimator)
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(
            f"{type(estimator).__name__} is neither a classifier nor a regressor, so it cannot "
            "become a River model."
        )
    check_count(n_kept, "n_kept", 1)
    if is_regressor(estimator):
        return _river_type("Regressor")(estimator, features, missing, n_kept)
    known = getattr(estimator, "classes_", None) if classes is None else classes
    labels = None if known is None else find_classes(known, "classes").tolist()
    return _river_type("Classifier")(estimator, labels, features, missing, n_kept)


class _Estimator:
    """What both kinds do: the columns of a row, and a copy that learns."""

    estimator: Any
    classes: list[Any] | None = None
    features: Sequence[Any] | None
    missing: float
    n_kept: int

    def _start(
        self, estimator: Any, features: Sequence[Any] | None, missing: float, n_kept: int
    ) -> None:
        self.estimator = unfitted_copy(estimator)
        self.features, self.missing, self.n_kept = features, missing, n_kept
        names = getattr(estimator, "feature_names_in_", None) if features is None else features
        self._columns = None if names is None else dict.fromkeys(names)
        self._model = deepcopy(estimator) if is_fitted(estimator) else None
        self._labels = list(self.classes or ())
        # What is not known before, and so may grow.
        self._finds_features = names is None and self._model is None
        self._finds_labels = isinstance(self, _Classifier) and self.classes is None
        self._kept: deque[tuple[Any, Any]] = deque(maxlen=n_kept)

    @property
    def _wrapped(self) -> str:
        return type(self.estimator).__name__

    def __str__(self) -> str:
        return f"{type(self).__name__}({self._wrapped})"

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield parameters for River's checks."""
        yield {"estimator": MajorityClass() if issubclass(cls, _Classifier) else MeanRegressor()}

    def _row(self, x: dict[Any, Any]) -> Any:
        if self._columns is None:
            self._columns = dict.fromkeys(x)
        values = [x.get(name, self.missing) for name in self._columns]
        numbers = all(isinstance(value, int | float | np.number) for value in values)
        return np.array([values], dtype=np.float64 if numbers else object)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn a row."""
        before = self._columns, self._labels
        try:
            self._learn_row(dict(x), y)
        except BaseException:
            self._columns, self._labels = before
            raise
        if self._finds_features or self._finds_labels:
            self._kept.append((dict(x), y))

    def _learn_row(self, x: dict[Any, Any], y: Any) -> None:
        is_new = self._notes_what_is_new(x, y)
        if self._finds_labels and len(self._labels) < 2:
            return  # there is nothing to choose from
        model, rows = self._model, [(x, y)]
        if is_new or model is None:
            model = unfitted_copy(self.estimator)
            rows = [*self._kept, *rows][-self.n_kept :]
        for number, (row, label) in enumerate(rows):
            first = model is not self._model and number == 0
            labels = array_of([label]) if self._labels else np.array([label])
            classes = array_of(self._labels) if first and self._labels else None
            learner(model)(self._row(row), labels, None, classes)
        self._model = model

    def _notes_what_is_new(self, x: dict[Any, Any], y: Any) -> bool:
        """Note features and labels that come for the first time; return whether there are any."""
        known = self._columns or {}
        new = [name for name in x if name not in known] if self._finds_features else []
        if new:
            self._columns = known | dict.fromkeys(new)
        if not self._finds_labels or y in self._labels:
            return bool(new)
        self._labels = find_classes([*self._labels, y], "y").tolist()
        return True

    def __reduce__(self) -> Any:
        kind = "Classifier" if isinstance(self, _Classifier) else "Regressor"
        return _restored, (kind, self.__dict__)


class _Classifier(_Estimator):
    def __init__(
        self,
        estimator: Any,
        classes: list[Any] | None = None,
        features: Sequence[Any] | None = None,
        missing: float = np.nan,
        n_kept: int = 1000,
    ):
        self.classes = classes
        self._start(estimator, features, missing, n_kept)

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Predict the label of a row; None before anything was learnt."""
        if self._model is None:
            return self._labels[0] if self._kept else None
        return self._model.predict(self._row(x)).tolist()[0]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Predict the probability of each class; nothing before anything was learnt."""
        if self._model is None:
            return dict.fromkeys(self._labels, 1.0) if self._kept else {}
        if not hasattr(self._model, "predict_proba"):
            raise NotImplementedError(f"{self._wrapped} has no predict_proba.")
        shares = self._model.predict_proba(self._row(x))[0].tolist()
        return dict(zip(self._labels, shares, strict=True))


class _Regressor(_Estimator):
    def __init__(
        self,
        estimator: Any,
        features: Sequence[Any] | None = None,
        missing: float = np.nan,
        n_kept: int = 1000,
    ):
        self._start(estimator, features, missing, n_kept)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Predict the target of a row; 0 before anything was learnt."""
        return 0.0 if self._model is None else float(self._model.predict(self._row(x))[0])


@cache
def _river_type(kind: str) -> type:
    """Class of River that wraps an estimator; made when it is wanted, as River is optional."""
    base = getattr(optional_import("river.base", "to_river"), kind)
    own = {"Classifier": _Classifier, "Regressor": _Regressor}[kind]
    return type(f"Estimator{kind}", (own, base), {"__doc__": f"A {kind.lower()} of scikit-learn."})


def _restored(kind: str, attributes: dict[str, Any]) -> Any:
    made: Any = _river_type(kind)
    model = made.__new__(made)
    model.__dict__.update(attributes)
    return model
