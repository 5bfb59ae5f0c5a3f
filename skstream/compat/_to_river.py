"""Estimators as models of River."""

from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np

from skstream.base import check_can_learn, learner
from skstream.utils._labels import array_of, find_classes
from skstream.utils._optional import optional_import
from skstream.utils._validation import is_classifier, is_fitted, is_regressor, unfitted_copy

_PURPOSE = "to_river"


def to_river(estimator: Any, *, classes: Any = None, features: Sequence[Any] | None = None) -> Any:
    """Give a classifier or regressor with ``partial_fit`` the interface of River.

    The meta-classifiers of this package and the models of scikit-learn then work in River's
    pipelines, ensembles and evaluations.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor. It does not change: a copy learns. If it has learnt something
        already, the copy goes on from there; River's ``clone`` makes one that knows nothing.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur. Needed for a classifier that has no `classes_` yet.
    features : sequence, default=None
        Names of the features, in the order of the columns that the estimator sees. By default
        those that the estimator has learnt, or those of the first row. Features that a row lacks
        are NaN, others than these are left out.

    Returns
    -------
    river.base.Classifier or river.base.Regressor
        A model with ``learn_one``, ``predict_one`` and, for classifiers that have it,
        ``predict_proba_one``. Before anything was learnt, classifiers answer None, regressors 0.

    Raises
    ------
    TypeError
        If the estimator is neither a classifier nor a regressor, or has no ``partial_fit``.
    ValueError
        If the classes are not known.
    ImportError
        If River is not installed.

    See Also
    --------
    from_river : The other way.

    Notes
    -----
    The estimator sees arrays of one row: of numbers where all values are numbers, else of objects.

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
            f"{type(estimator).__name__} is neither a classifier nor a regressor, and no others "
            "become models of River."
        )
    if is_regressor(estimator):
        return _river_type("Regressor")(estimator, features)
    if classes is None:
        classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise ValueError(
            f"{type(estimator).__name__} must know all labels before it learns the first: pass "
            "classes=[...]."
        )
    return _river_type("Classifier")(estimator, find_classes(classes, "classes").tolist(), features)


class _Estimator:
    """What both kinds do: the columns of a row, and a copy that learns."""

    estimator: Any
    classes: list[Any] | None = None
    features: Sequence[Any] | None

    def _start(self, estimator: Any, features: Sequence[Any] | None) -> None:
        self.estimator = unfitted_copy(estimator)
        self.features = features
        names = getattr(estimator, "feature_names_in_", None) if features is None else features
        self._columns = None if names is None else list(names)
        self._model = deepcopy(estimator) if is_fitted(estimator) else None

    @property
    def _wrapped(self) -> str:
        return type(self.estimator).__name__

    def __str__(self) -> str:
        return f"{type(self).__name__}({self._wrapped})"

    def _row(self, x: dict[Any, Any]) -> Any:
        if self._columns is None:
            self._columns = list(x)
        values = [x.get(name, np.nan) for name in self._columns]
        numbers = all(isinstance(value, int | float | np.number) for value in values)
        return np.array([values], dtype=np.float64 if numbers else object)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn a row."""
        first = self._model is None
        model = unfitted_copy(self.estimator) if first else self._model
        labels = np.array([y]) if self.classes is None else array_of([y])
        classes = None if self.classes is None else array_of(self.classes)
        learner(model)(self._row(x), labels, None, classes if first else None)
        self._model = model

    def __reduce__(self) -> Any:
        kind = "Regressor" if self.classes is None else "Classifier"
        return _restored, (kind, self.__dict__)


class _Classifier(_Estimator):
    def __init__(self, estimator: Any, classes: list[Any], features: Sequence[Any] | None = None):
        self.classes = classes
        self._start(estimator, features)

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Predict the label of a row; None before anything was learnt."""
        return None if self._model is None else self._model.predict(self._row(x)).tolist()[0]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Predict the probability of each class; nothing before anything was learnt."""
        if self._model is None:
            return {}
        if not hasattr(self._model, "predict_proba"):
            raise NotImplementedError(f"{self._wrapped} has no predict_proba.")
        shares = self._model.predict_proba(self._row(x))[0].tolist()
        return dict(zip(self.classes or (), shares, strict=True))


class _Regressor(_Estimator):
    def __init__(self, estimator: Any, features: Sequence[Any] | None = None):
        self._start(estimator, features)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Predict the target of a row; 0 before anything was learnt."""
        return 0.0 if self._model is None else float(self._model.predict(self._row(x))[0])


@cache
def _river_type(kind: str) -> type:
    """Class of River that wraps an estimator; made when it is wanted, as River is optional."""
    base = getattr(optional_import("river.base", _PURPOSE), kind)
    own = {"Classifier": _Classifier, "Regressor": _Regressor}[kind]
    return type(f"Estimator{kind}", (own, base), {"__doc__": f"A {kind.lower()} of scikit-learn."})


def _restored(kind: str, attributes: dict[str, Any]) -> Any:
    made: Any = _river_type(kind)
    model = made.__new__(made)
    model.__dict__.update(attributes)
    return model
