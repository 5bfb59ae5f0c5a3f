"""Models of River as estimators of scikit-learn, and the other way."""

import inspect
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from functools import cache
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from skstream.base import check_can_learn, learner, offered_if
from skstream.compat._by_row import (
    ByRow,
    ClassifierByRow,
    RegressorByRow,
    RowCalls,
    RowDicts,
    labels_at,
)
from skstream.core.evaluators.settings import offer_adapter
from skstream.utils._content import NotComparable, content
from skstream.utils._labels import LabelSpace, array_of, find_classes
from skstream.utils._optional import optional_import
from skstream.utils._seeds import derive_seed
from skstream.utils._sklearn import StrOptions
from skstream.utils._validation import is_classifier, is_fitted, is_regressor, unfitted_copy

Path = tuple[str, ...]


class RiverRegressorCalls(RowCalls):
    """Calls of a River regressor that has begun to learn."""

    def __init__(self, model: Any, missing: str, names: Sequence[Any] | None = None):
        self.model = model
        self._names = names
        self.learn_one = model.learn_one
        self.takes_no_weights = (
            f"River's {type(model).__name__}",
            ", or a model whose learn_one has a parameter w",
        )
        self._missing = missing
        self._dicts: list[RowDicts] = []

    def rows(self, X: Any, index: NDArray[np.intp]) -> Iterator[Any]:
        """Yield rows of a container as dictionaries; each is made once."""
        for dicts in self._dicts:
            if dicts.X is X:
                return dicts.rows(index)
        self._dicts.append(RowDicts(X, self._missing, self._names))
        return self._dicts[-1].rows(index)

    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return the River method that answers to one row."""
        ask: Callable[[Any], Any] = self.model.predict_one
        return ask

    def _learns_with_weight(self, row: Any, target: Any, weight: float) -> bool:
        takes = takes_weight(self.model)
        if takes:
            self.model.learn_one(row, target, w=weight)
        return takes


class RiverClassifierCalls(RiverRegressorCalls):
    """Calls of a River classifier that has begun to learn.

    Models of two classes learn False and True, the others the labels themselves.
    """

    def __init__(
        self,
        model: Any,
        missing: str,
        classes: NDArray[Any],
        names: Sequence[Any] | None = None,
    ):
        super().__init__(model, missing, names)
        self._classes = classes
        labels = classes.tolist()
        own = labels if is_multiclass(model) else [False, True][: len(labels)]
        self._own_labels = dict(zip(labels, own, strict=True))
        self._places = {label: place for place, label in enumerate(own)}

    def targets(self, y: NDArray[Any]) -> list[Any]:
        """Return what the River model is given for labels."""
        return [self._own_labels[label] for label in y.tolist()]

    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return the River method that answers to one row."""
        name = "predict_proba_one" if method == "predict_proba" else "predict_one"
        ask: Callable[[Any], Any] = getattr(self.model, name)
        if method != "predict_proba":
            return ask
        return lambda row: copy(ask(row))  # the model may write its next answer into the same dict

    def answered(self, answers: list[Any], method: str) -> NDArray[Any]:
        """Return labels, None for none, or probabilities in the order of the classes."""
        if method == "predict_proba":
            return self._probabilities(answers)
        return labels_at([self._places.get(one) for one in answers], self._classes, answers)

    def _probabilities(self, answers: list[dict[Any, float]]) -> NDArray[np.float64]:
        shares = np.zeros((len(answers), len(self._classes)))
        for share, answer in zip(shares, answers, strict=True):
            if not answer:
                share[:] = np.nan  # no answer
            for label, probability in answer.items():
                place = self._places.get(label)
                if place is not None:
                    share[place] = probability
                elif probability:
                    raise ValueError(LabelSpace(self._classes).unknown(label, "its answer is"))
        return shares


def takes_weight(model: Any) -> bool:
    """Whether ``learn_one`` of a model, or of the last step of a pipeline, has a parameter `w`."""
    kind: Any = type(getattr(model, "_last_step", model))
    return _has_weight(kind)


@cache
def _has_weight(kind: type) -> bool:
    return "w" in inspect.signature(kind.learn_one).parameters  # type: ignore[attr-defined]


#: Whether models learn more than two classes, which takes longer to find than to learn a row.
_MULTICLASS: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def is_multiclass(model: Any) -> bool:
    """Whether a classifier learns more than two classes."""
    try:
        if model not in _MULTICLASS:
            _MULTICLASS[model] = _learns_many(model)
        return _MULTICLASS[model]
    except TypeError:  # it has no hash, or no weak references
        return _learns_many(model)


def _learns_many(model: Any) -> bool:
    """Whether it says so.

    Some models that choose among others, such as bandits, do not say it: those others do.
    """
    model = getattr(model, "_last_step", model)
    if model._multiclass:
        return True
    base = optional_import("river.base", "A model of River")
    if type(model)._multiclass is not base.Classifier._multiclass:
        return False  # it says so itself
    inner = [part for part in models_in(model) if part is not model]
    learners = [part for part in inner if isinstance(part, base.Classifier)]
    return bool(learners) and all(part._multiclass for part in learners)


_PREFIX = "model__"


class _River(ByRow):
    """What both have: parameters of the River model to any depth, seeds, a copy that learns."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "model": "no_validation",
        "missing": [StrOptions({"omit", "none"})],
        "random_state": ["random_state"],
    }
    _kind: ClassVar[str]
    #: How it is executed, for `result.paths`.
    why_looped: ClassVar[str] = (
        "River's learn_one and predict_one are called row by row (adapted by from_river)"
    )

    def __init__(self, model: Any, *, missing: str = "omit", random_state: Any = None):
        self.model = model
        self.missing = missing
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get parameters; those of the River model as ``model__grace_period``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to list the parameters of the River model, to any depth.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and hasattr(self.model, "_get_params") and not isinstance(self.model, type):
            inner = parameters_of(self.model)
            params |= {_PREFIX + "__".join(path): value for path, value in inner}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; with one of the River model, `model` becomes a new River model.

        Parameters
        ----------
        **params : dict
            Parameters; those of the River model as ``model__grace_period``, of a step of a
            pipeline as ``model__HoeffdingTreeClassifier__grace_period``. They apply from the next
            ``fit`` on.

        Returns
        -------
        self : object
            The estimator itself.
        """
        inner = {name: value for name, value in params.items() if name.startswith(_PREFIX)}
        super().set_params(**{name: params[name] for name in params if name not in inner})
        known = self.get_params()
        for name in inner:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {model_name(self.model)}. Valid parameters "
                    f"are: {sorted(name for name in known if name.startswith(_PREFIX))}."
                )
        if inner:
            paths = {tuple(name.split("__")[1:]): value for name, value in inner.items()}
            self.model = with_parameters(self.model, paths)
        return self

    def _begin(self, X: Any) -> Any:
        self._validate_params()
        check_kind(self.model, self._kind)
        seed = self.random_state
        if seed is not None and not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        return seeded(self.model, seed)

    def going_on(self, classes: NDArray[Any] | None) -> Self:
        """Return an estimator that goes on from what the River model has learnt.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,) or None
            Labels of the evaluation; None for regressors.

        Returns
        -------
        self or a copy : object
            The estimator itself if the River model has learnt nothing, or if the estimator has
            learnt: then its `model_` goes on.
        """
        if hasattr(self, "model_") or is_new(self.model):
            return self
        copy = deepcopy(self)
        if classes is not None:
            copy.classes_ = classes
        copy._begin(None)  # for its checks
        copy.model_ = deepcopy(self.model)
        return copy

    def is_new_around_learnt(self) -> bool:
        """Whether the estimator has learnt nothing, and the River model has.

        Returns
        -------
        bool
            False, too, where it is not known.
        """
        return not hasattr(self, "model_") and not is_new(self.model)

    def inner_name(self) -> str:
        """Name of the River model.

        Returns
        -------
        name : str
            That of its type; of a pipeline, that of its last step.
        """
        return self.model.__name__ if isinstance(self.model, type) else model_name(self.model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


class RiverClassifier(_River, ClassifierByRow):
    """A classifier of River with the interface of scikit-learn.

    Rows become dictionaries: keys are the names of the columns of a data frame, or else the numbers
    of the columns from 0 on (the names, where a frame was learnt before); values are what the
    columns hold, so that texts and categories stay what they are. Trees of River take texts as
    categories; numbers that are categories are listed in the tree's own `nominal_attributes`.

    Parameters
    ----------
    model : river.base.Classifier
        A classifier, or a pipeline that ends in one. It does not change: a clone of it learns,
        which knows nothing yet; with ``warm_start=True`` of an evaluator a copy, which knows what
        the model has learnt. Models of two classes are given False and True, others the labels.
    missing : {"omit", "none"}, default="omit"
        What becomes of missing values (NaN, None): the row has no such feature, as most models of
        River expect, or the feature is None, as its imputers expect. A sparse row has the features
        that are stored.
    random_state : int, RandomState or None, default=None
        Where parameters `seed` in the model are None, at any depth, they are derived from it, each
        by its place. None: they stay None. Evaluators set it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.
    model_ : river.base.Classifier
        The model that learns.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_river : Makes the estimator that fits a model.

    Notes
    -----
    Where ``learn_one`` has a parameter `w`, a weight is passed on; else a row of weight k is learnt
    k times.

    Evaluators call the methods of the River model directly, without checks of each row.

    Examples
    --------
    >>> from river import tree
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.compat._river import RiverClassifier
    >>> from skstream.streams import make_demo_stream
    >>> model = RiverClassifier(tree.HoeffdingTreeClassifier(grace_period=50))
    >>> result = PrequentialEvaluator("accuracy").evaluate(model, make_demo_stream(500))
    >>> model.set_params(model__grace_period=100).model.grace_period
    100
    """

    _kind = "Classifier"

    def _begin(self, X: Any) -> Any:
        model = super()._begin(X)
        if len(self.classes_) > 2 and not is_multiclass(model):
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(self.classes_)}: River's {model_name(model)} learns two classes, "
                f"and here are {len(self.classes_)}. Wrap it in "
                "river.multiclass.OneVsRestClassifier."
            )
        return model

    def row_calls(self) -> RiverClassifierCalls:
        """Return the calls of the fitted model.

        Returns
        -------
        RiverClassifierCalls
            Calls without checks, for one container of rows.
        """
        names = getattr(self, "feature_names_in_", None)
        return RiverClassifierCalls(self.model_, self.missing, self.classes_, names)

    @offered_if(lambda self: has_probabilities(self.model))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probabilities of the classes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, 0 for classes that the model has not learnt; NaN where it gives no
            answer.
        """
        return self._answers(X, "predict_proba")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.model, "_multiclass"):
            tags.classifier_tags.multi_class = is_multiclass(self.model)
        return tags


class RiverRegressor(_River, RegressorByRow):
    """A regressor of River with the interface of scikit-learn.

    Rows become dictionaries, as in `RiverClassifier`.

    Parameters
    ----------
    model : river.base.Regressor
        A regressor, or a pipeline that ends in one. It does not change: a clone of it learns,
        which knows nothing yet; with ``warm_start=True`` of an evaluator a copy, which knows what
        the model has learnt.
    missing : {"omit", "none"}, default="omit"
        What becomes of missing values (NaN, None): the row has no such feature, or the feature is
        None.
    random_state : int, RandomState or None, default=None
        Where parameters `seed` in the model are None, at any depth, they are derived from it.

    Attributes
    ----------
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.
    model_ : river.base.Regressor
        The model that learns.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_river : Makes the estimator that fits a model.

    Examples
    --------
    >>> import numpy as np
    >>> from river import linear_model, preprocessing
    >>> from skstream.compat._river import RiverRegressor
    >>> model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    >>> X = np.arange(200.0).reshape(-1, 1) % 10
    >>> RiverRegressor(model).fit(X, 2 * X[:, 0]).predict([[4.0]]).round()
    array([8.])
    """

    _kind = "Regressor"

    def row_calls(self) -> RiverRegressorCalls:
        """Return the calls of the fitted model.

        Returns
        -------
        RiverRegressorCalls
            Calls without checks, for one container of rows.
        """
        names = getattr(self, "feature_names_in_", None)
        return RiverRegressorCalls(self.model_, self.missing, names)


def from_river(
    model: Any, *, missing: str = "omit", random_state: Any = None
) -> RiverClassifier | RiverRegressor:
    """Give a classifier or regressor of River the interface of scikit-learn.

    Evaluators take the models of River as they are, and call this function. It is needed for other
    options, and inside the meta-estimators and pipelines of this package.

    Parameters
    ----------
    model : river.base.Classifier or river.base.Regressor
        A model, or a pipeline that ends in one. It does not change. What it has learnt is kept
        only by an evaluator with ``warm_start=True``.
    missing : {"omit", "none"}, default="omit"
        Whether a missing value (NaN, None) is left out of its row, or is None there.
    random_state : int, RandomState or None, default=None
        Source of the seeds that are None in the model.

    Returns
    -------
    RiverClassifier or RiverRegressor
        The estimator.

    Raises
    ------
    TypeError
        If the model is no classifier or regressor of River.

    See Also
    --------
    to_river : The other way.

    Examples
    --------
    >>> from river import forest
    >>> from skstream.compat import from_river
    >>> from skstream.temporal import TemporalCorrection
    >>> model = TemporalCorrection(from_river(forest.ARFClassifier(n_models=3)))
    """
    kind = "Classifier" if _is_a(model, "Classifier") else "Regressor"
    check_kind(model, kind)
    make = RiverClassifier if kind == "Classifier" else RiverRegressor
    return make(model, missing=missing, random_state=random_state)


def is_river(model: Any) -> bool:
    """Whether an object is a model of River; River is not imported for that."""
    homes = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    return "river" in homes and hasattr(model, "learn_one")


def check_kind(model: Any, kind: str) -> None:
    """Raise an error unless an object is a River model of a kind that can be evaluated."""
    if isinstance(model, type):
        raise TypeError(f"Pass an instance, {model.__name__}(), and not the class itself.")
    if not is_river(model):
        raise TypeError(
            f"A classifier or regressor of River is needed. Got {type(model).__name__} instead."
        )
    base = optional_import("river.base", "A model of River")
    active = optional_import("river.active.base", "A model of River")
    several = isinstance(model, base.MultiTargetRegressor)
    if several or isinstance(model, active.ActiveLearningClassifier) or not _is_a(model, kind):
        known = _is_a(model, "Classifier") or _is_a(model, "Regressor")
        what = f"is no {kind.lower()}" if known else "is neither a classifier nor a regressor"
        what = "answers several targets" if several else what
        if isinstance(model, active.ActiveLearningClassifier):
            what = "chooses itself which labels it asks for"
        raise TypeError(
            f"River's {model_name(model)} {what}. Classifiers and regressors of River, and "
            "pipelines that end in one, are taken."
        )


def has_probabilities(model: Any) -> bool:
    """Whether a classifier defines probabilities; by default they raise NotImplementedError."""
    base = optional_import("river.base", "A model of River")
    last = type(getattr(model, "_last_step", model))
    default = base.Classifier.predict_proba_one
    return getattr(last, "predict_proba_one", default) is not default


def model_name(model: Any) -> str:
    """Name of the type of a model; of the last step of a pipeline."""
    return type(getattr(model, "_last_step", model)).__name__


def _is_a(model: Any, kind: str) -> bool:
    if not is_river(model):
        return False
    return isinstance(model, getattr(optional_import("river.base", "A model of River"), kind))


def parameters_of(model: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the parameters of a River model, and those of the models in them, by their path."""
    for name, value in _own_parameters(model).items():
        yield (*path, name), value
        if _has_parameters(value):
            yield from parameters_of(value, (*path, name))


def with_parameters(model: Any, values: Mapping[Path, Any]) -> Any:
    """Return a River model that has learnt nothing, with some parameters set."""
    return _remade(model, lambda path, value: values.get(path, value))


def seeded(model: Any, seed: int | None) -> Any:
    """Return a River model that has learnt nothing; seeds that are None are derived from `seed`.

    Each seed depends on its place in the model alone. Without `seed` they stay None.
    """

    def filled_in(path: Path, value: Any) -> Any:
        unset = seed is not None and path[-1] == "seed" and value is None
        return derive_seed(seed, "river", *path) if unset and seed is not None else value

    return _remade(model, filled_in)


def is_new(model: Any) -> bool:
    """Whether a River model is known to have learnt nothing: it is as its own clone.

    River does not say it. Where clones of one model differ, by random numbers that they draw when
    they are made, or cannot be compared, it is not known.
    """
    try:
        return content(model, with_random=False) == content(seeded(model, None), with_random=False)
    except NotComparable:
        return False


def models_in(model: Any) -> Iterator[Any]:
    """Yield a River model and everything of River's in its parameters, in lists of them too."""
    yield model
    for value in _own_parameters(model).values():
        parts = value if isinstance(value, list | tuple) else [value]
        for part in parts:
            if _has_parameters(part):
                yield from models_in(part)


def _has_parameters(value: Any) -> bool:
    return hasattr(value, "_get_params") and not isinstance(value, type)


def _parts_by_name(model: Any) -> dict[str, Any] | None:
    """Steps of a pipeline or parts of a union; None for any other model."""
    if not hasattr(model, "learn_one"):
        return None
    for attribute in ("steps", "transformers"):
        parts = getattr(model, attribute, None)
        if isinstance(parts, dict):
            return dict(parts)
    return None


def _own_parameters(model: Any) -> dict[str, Any]:
    parts = _parts_by_name(model)
    if parts is not None:
        return parts
    return {
        name: getattr(model, name, value)
        for name, value in model._get_params().items()
        if name != "_POSITIONAL_ARGS"
    }


def _remade(model: Any, change: Callable[[Path, Any], Any]) -> Any:
    # River's clones share what was given to their constructor by position.
    model = deepcopy(model)
    return model.clone(_new_parameters(model, change, ()))


def _new_parameters(model: Any, change: Callable[[Path, Any], Any], path: Path) -> dict[str, Any]:
    """Parameters that change, in the form that River's ``clone`` takes."""
    by_name = _parts_by_name(model) is not None
    made: dict[str, Any] = {}
    for name, value in _own_parameters(model).items():
        here = (*path, name)
        changed = change(here, value)
        if changed is not value:
            made[name] = changed
        elif _has_parameters(value):
            inner = _new_parameters(value, change, here)
            if inner:
                made[name] = inner if by_name else (type(value), inner)
        elif isinstance(value, list | tuple) and any(map(_has_parameters, value)):
            made[name] = type(value)(
                part.clone(_new_parameters(part, change, (*here, str(place))))
                if _has_parameters(part)
                else part
                for place, part in enumerate(value)
            )
    return made


offer_adapter(is_river, from_river)


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
