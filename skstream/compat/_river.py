"""Models of River as estimators of scikit-learn."""

import inspect
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from functools import cache, partial
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from skstream.base import offered_if
from skstream.compat._by_row import (
    ByRow,
    ClassifierByRow,
    RegressorByRow,
    RowCalls,
    RowDicts,
    labels_at,
)
from skstream.core.detector import (
    DRIFT,
    NORMAL,
    WARNING,
    DetectorState,
    DriftDetector,
    offer_detectors,
)
from skstream.core.evaluators.settings import offer_adapter
from skstream.utils._content import NotComparable, content
from skstream.utils._labels import LabelSpace
from skstream.utils._optional import optional_import
from skstream.utils._seeds import derive_seed
from skstream.utils._sklearn import StrOptions

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
        return self.model.predict_one

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
                    raise ValueError(LabelSpace(self._classes).unknown(label, "its prediction is"))
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


class _WithRiver(BaseEstimator):
    """What all have around an object of River: its parameters to any depth, and seeds."""

    model: Any
    random_state: Any

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

    def _seeded(self) -> Any:
        """Return the object of River, which has learnt nothing, with its seeds."""
        seed = self.random_state
        if seed is not None and not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        return seeded(self.model, seed)


class _River(_WithRiver, ByRow):
    """What models have: parameters of the River model to any depth, seeds, a copy that learns."""

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

    def _begin(self, X: Any) -> Any:
        self._validate_params()
        check_kind(self.model, self._kind)
        return self._seeded()

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
    """Adapt a River classifier to scikit-learn's interface.

    Rows become dictionaries: keys are the column names of a data frame, or else column numbers from
    0 on (the names, if the model was trained on a frame before); values are unchanged, so texts and
    categories keep their type. River's trees treat texts as categories; list numeric categories in
    the tree's own `nominal_attributes`.

    Parameters
    ----------
    model : river.base.Classifier
        A classifier, or a pipeline that ends in one. It is left unchanged: an untrained clone of it
        is trained, or, with ``warm_start=True`` of an evaluator, a copy with its state. Binary
        models get the labels False and True, others the original labels.
    missing : {"omit", "none"}, default="omit"
        How missing values (NaN, None) are passed: the row lacks the feature, as most River models
        expect, or the feature is None, as River's imputers expect. A sparse row has only its stored
        features.
    random_state : int, RandomState or None, default=None
        If parameters `seed` in the model are None, at any depth, they are derived from it, each by
        its position. None: they stay None. Evaluators set it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all of them are strings.
    model_ : river.base.Classifier
        The model that is trained.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_river : Makes the matching estimator for a model.

    Notes
    -----
    If ``learn_one`` has a parameter `w`, weights are passed on; otherwise a row of weight k is
    repeated k times.

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
                f"{type_of_target(self.classes_)}: River's {model_name(model)} supports two "
                f"classes, but here are {len(self.classes_)}. Wrap it in "
                "river.multiclass.OneVsRestClassifier."
            )
        return model

    def row_calls(self) -> RiverClassifierCalls:
        """Return the calls of the fitted model.

        Returns
        -------
        RiverClassifierCalls
            Methods without checks, for one container of rows.
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
    """Adapt a River regressor to scikit-learn's interface.

    Rows become dictionaries, as in `RiverClassifier`.

    Parameters
    ----------
    model : river.base.Regressor
        A regressor, or a pipeline that ends in one. It is left unchanged: an untrained clone of it
        is trained, or, with ``warm_start=True`` of an evaluator, a copy with its state.
    missing : {"omit", "none"}, default="omit"
        How missing values (NaN, None) are passed: the row lacks the feature, or the feature is
        None.
    random_state : int, RandomState or None, default=None
        If parameters `seed` in the model are None, at any depth, they are derived from it.

    Attributes
    ----------
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all of them are strings.
    model_ : river.base.Regressor
        The model that is trained.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_river : Makes the matching estimator for a model.

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
            Methods without checks, for one container of rows.
        """
        names = getattr(self, "feature_names_in_", None)
        return RiverRegressorCalls(self.model_, self.missing, names)


class RiverDetector(_WithRiver, DriftDetector):
    """A drift detector of River as one of this package.

    Parameters
    ----------
    model : object of river.drift
        The detector. It does not change: a clone of it reads. One of ``river.drift.binary`` reads
        0 (right) and 1 (wrong) alone.
    random_state : int, RandomState or None, default=None
        Where a parameter `seed` of it is None, it is derived from this.

    Notes
    -----
    What it says of a value is what River's own loop of ``update`` and ``drift_detected`` says.

    Examples
    --------
    >>> from river import drift
    >>> from skstream.compat import from_river
    >>> from_river(drift.PageHinkley(threshold=5)).update_many([0.0] * 50 + [1.0] * 50)
    array([55])
    """

    def __init__(self, model: Any, *, random_state: Any = None):
        self.model = model
        self.random_state = random_state

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the detector of River in one line."""
        return f"{type(self).__name__}({' '.join(repr(self.model).split())})"

    def _start(self) -> DetectorState:
        return _RiverState(self._seeded())

    @property
    def _is_binary(self) -> bool:
        return _is_based_on(self.model, "BinaryDriftDetector")

    def _wrong(self, values: Any) -> Any:
        return ((values != 0) & (values != 1)) & self._is_binary

    @property
    def _wanted(self) -> str:  # type: ignore[override]
        return f"River's {type(self.model).__name__} reads 0 (right) or 1 (wrong)."

    @property
    def has_read(self) -> bool:
        """Whether it, or the detector that it was made of, has read a value."""
        return super().has_read or not is_new(self.model)

    @property
    def mean(self) -> float:
        """Mean of the window, where River's detector has one; an AttributeError elsewhere."""
        return float(self._started().peer.estimation)


class _RiverState(DetectorState):
    """What a detector of River has read."""

    def __init__(self, peer: Any):
        self.peer = peer
        self._read = bool if _is_based_on(peer, "BinaryDriftDetector") else float

    @property
    def alarm(self) -> bool:
        """Whether the value read last raised an alarm."""
        return bool(self.peer.drift_detected)

    @property
    def level(self) -> int:
        """The level after the value read last."""
        if self.alarm:
            return DRIFT
        return WARNING if getattr(self.peer, "warning_detected", False) else NORMAL

    def feed_one(self, value: float) -> None:
        """Read one value."""
        self.peer.update(self._read(value))
        self.n_alarms += self.alarm


def is_river_detector(given: Any) -> bool:
    """Whether an object is a drift detector of River; River is not imported for that."""
    return _is_based_on(given, "_BaseDriftDetector") and hasattr(given, "update")


def _is_based_on(given: Any, name: str) -> bool:
    home = "river.base.drift_detector"
    return any((base.__module__, base.__name__) == (home, name) for base in type(given).__mro__)


def from_river(
    model: Any, *, missing: str = "omit", random_state: Any = None
) -> RiverClassifier | RiverRegressor | RiverDetector:
    """Adapt a River classifier, regressor or drift detector to this package's interface.

    Evaluators accept River models directly and call this function, as does everything that accepts
    a detector. Call it yourself for other options, to search parameters, and for models inside the
    meta-estimators and pipelines of this package.

    Parameters
    ----------
    model : river.base.Classifier, river.base.Regressor or object of river.drift
        A model, or a pipeline that ends in one; or a detector. It is left unchanged. Earlier
        training is kept only by an evaluator with ``warm_start=True``.
    missing : {"omit", "none"}, default="omit"
        Whether missing values (NaN, None) are left out of the row, or passed as None.
    random_state : int, RandomState or None, default=None
        Source of seeds that are None in the model.

    Returns
    -------
    RiverClassifier, RiverRegressor or RiverDetector
        The estimator, or the detector.

    Raises
    ------
    TypeError
        If the model is not a River classifier or regressor.

    See Also
    --------
    to_river : The reverse adapter.

    Examples
    --------
    >>> from river import forest
    >>> from skstream.compat import from_river
    >>> from skstream.temporal import TemporalCorrection
    >>> model = TemporalCorrection(from_river(forest.ARFClassifier(n_models=3)))
    """
    if is_river_detector(model):
        return RiverDetector(model, random_state=random_state)
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
        raise TypeError(f"Pass an instance, {model.__name__}(), not the class itself.")
    if not is_river(model):
        raise TypeError(
            f"Expected a River classifier or regressor. Got {type(model).__name__} instead."
        )
    base = optional_import("river.base", "A model of River")
    active = optional_import("river.active.base", "A model of River")
    several = isinstance(model, base.MultiTargetRegressor)
    if several or isinstance(model, active.ActiveLearningClassifier) or not _is_a(model, kind):
        known = _is_a(model, "Classifier") or _is_a(model, "Regressor")
        what = f"is no {kind.lower()}" if known else "is neither a classifier nor a regressor"
        what = "answers several targets" if several else what
        if isinstance(model, active.ActiveLearningClassifier):
            what = "chooses itself which labels to request"
        raise TypeError(
            f"River's {model_name(model)} {what}. River classifiers and regressors, and pipelines "
            "that end in one, are accepted."
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
    changed = _new_parameters(model, change, ())
    if "new_params" in inspect.signature(model.clone).parameters:
        return model.clone(changed)
    # A detector that draws its parameters anew when it is cloned.
    return optional_import("river.base", "A model of River").Base.clone(model, changed)


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
# A fixed seed: models and evaluators do not look into a detector for seeds that are None.
offer_detectors(is_river_detector, partial(RiverDetector, random_state=0))
