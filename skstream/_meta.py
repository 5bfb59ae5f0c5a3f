"""Base classes of estimators that wrap another one."""

from collections.abc import Callable
from copy import copy, deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from skstream.base import (
    ForgetfulFit,
    Method,
    StaleLabelWarning,
    check_can_learn,
    check_labelled,
    check_rows,
    learner,
    learning_parts,
    of_positive_weight,
    offered_if,
    set_fitted,
    supports_sample_weight,
    without_predict,
)
from skstream.utils._labels import LabelSpace, array_of
from skstream.utils._rows import own_rows, stack_rows
from skstream.utils._sklearn import first_scored_at_once, is_column_transformer, n_rows_of, rows_of
from skstream.utils._validation import (
    as_learner,
    is_classifier,
    is_regressor,
    tags_of,
    unfitted_copy,
)
from skstream.utils._warnings import warn

# Models that answer each row of a call alone, in every digit: sums over trees, row by row.
_ROW_BY_ROW = {
    "sklearn.dummy": ("DummyClassifier", "DummyRegressor"),
    "sklearn.tree": (
        *("DecisionTreeClassifier", "DecisionTreeRegressor"),
        *("ExtraTreeClassifier", "ExtraTreeRegressor"),
    ),
    "sklearn.ensemble": (
        *("RandomForestClassifier", "RandomForestRegressor"),
        *("ExtraTreesClassifier", "ExtraTreesRegressor"),
        *("GradientBoostingClassifier", "GradientBoostingRegressor"),
        *("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
    ),
    "skstream.tree": ("HoeffdingTreeClassifier", "AdaptiveRandomForestClassifier"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
    "xgboost": ("XGBClassifier", "XGBRegressor"),
    "catboost": ("CatBoostClassifier", "CatBoostRegressor"),
    # Transformers whose every number depends on one number of the row.
    "sklearn.preprocessing": (
        *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Binarizer"),
        *("OneHotEncoder", "OrdinalEncoder", "KBinsDiscretizer"),
    ),
    "sklearn.impute": ("SimpleImputer",),
    "skstream.preprocessing": ("StreamImputer", "StreamOneHotEncoder", "StreamOrdinalEncoder"),
}


def answers_each_row_alone(model: Any) -> bool:
    """Whether the answers of one call about many rows are known to be those to single rows.

    Not so where linear algebra adds up in an order that depends on the number of rows.
    """
    if isinstance(model, str) or model is None:  # "drop", "passthrough"
        return True
    if type(model) is Pipeline or type(model).__module__ == "skstream.pipeline._pipeline":
        return all(answers_each_row_alone(step) for _, step in model.steps)
    if is_column_transformer(model):
        parts = [one for _, one, _ in model.transformers]
        return all(answers_each_row_alone(one) for one in (*parts, model.remainder))
    if not answers_each_row_alone(getattr(model, "init", None)):  # of gradient boosting
        return False
    kind = type(model)
    if kind is DummyClassifier and model.strategy in ("stratified", "uniform"):  # draws per call
        return False
    places = (kind.__module__.partition("._")[0], kind.__module__.partition(".")[0])
    return any(kind.__name__ in _ROW_BY_ROW.get(place, ()) for place in places)


def inner_has(method: str) -> Callable[[Method], Method]:
    """Offer a method only where the inner model has it."""

    def check(meta: Any) -> bool:
        getattr(meta.estimator, method)  # raises the inner model's own AttributeError
        return True

    return offered_if(check)


def inner_classes(model: Any) -> NDArray[Any] | None:
    """Classes of a fitted inner model, in its order; None if it has no such attribute."""
    classes = getattr(model, "classes_", None)
    return None if classes is None else array_of(classes)


def check_can_be_fitted(estimator: Any) -> None:
    """Raise an error unless an estimator is a classifier or regressor with ``fit``."""
    kind = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"{estimator.__name__} is a class; pass an instance, {kind}().")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise TypeError(
            f"PeriodicRefit needs a classifier or regressor with fit and predict, but {kind} has "
            f"no {'predict' if hasattr(estimator, 'fit') else 'fit'}. Put a transformer into a "
            "pipeline that ends in a model."
        )
    if isinstance(estimator, FrozenEstimator):
        raise TypeError(
            "PeriodicRefit fits a copy again and again, but a FrozenEstimator never changes. Pass "
            "the model inside it to refit that model, or the FrozenEstimator alone to evaluate it "
            "as fitted."
        )
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(f"PeriodicRefit needs a classifier or regressor, but {kind} is neither.")


def weight_name(estimator: Any) -> str:
    """Name of the weights in ``fit``, of a pipeline in that of its last step; empty: none."""
    prefix = ""
    while isinstance(estimator, Pipeline) and estimator.steps:
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return f"{prefix}sample_weight" if has_fit_parameter(estimator, "sample_weight") else ""


def answers_of(model: Any, method: str, X: Any, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Answers of a model to rows, with a column for every class of the stream."""
    if classes is None or method == "predict":
        return array_of(model.predict(X))
    if not hasattr(model, method):  # what answers up to the first refit
        table = np.zeros((X.shape[0], len(classes)))
        if method == "decision_function":
            return table[:, 0] if len(classes) == 2 else table
        codes = LabelSpace(classes).encode(array_of(model.predict(X)))
        table[np.arange(len(codes)), codes] = 1.0
        return table
    values = array_of(getattr(model, method)(X))
    own = getattr(model, "classes_", None)
    own = classes.tolist() if own is None else array_of(own).tolist()
    known = classes.tolist()
    if own == known or not set(own) <= set(known):  # other labels: the caller says so
        return values
    if method == "decision_function" and len(own) > 2 and _decides_pairs(model):
        raise ValueError(
            f"The last refit saw {len(own)} of {len(known)} classes, and its decision values are "
            "for pairs of classes (decision_function_shape='ovo'), which cannot be aligned with "
            "all classes. Use decision_function_shape='ovr'."
        )
    columns = [known.index(label) for label in own]
    if method == "predict_proba":
        table = np.zeros((len(values), len(known)), dtype=values.dtype)
        # A single class is certain; histogram boosting has two columns even then.
        table[:, columns] = 1.0 if len(own) == 1 else values
        return table
    if values.ndim == 1 or len(own) == 1:
        values = values if values.ndim == 1 else values[:, 0]
        if len(known) == 2:  # one of two classes is known
            return np.full(len(values), 1.0 if columns == [1] else -1.0)
        values = np.column_stack([-values, values])[:, -len(own) :]
    table = np.repeat(values.min(axis=1, keepdims=True), len(known), axis=1)
    table[:, columns] = values
    return table


def _decides_pairs(model: Any) -> bool:
    """Whether decision values are those of pairs of classes, as support vector machines can."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return getattr(last, "decision_function_shape", None) == "ovo"


def with_tags_of(inner: Any, tags: Any) -> Any:
    """Return tags with what those of an inner model say of it, its rows and its targets."""
    kinds = ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags")
    for name in (*kinds, "non_deterministic"):
        setattr(tags, name, copy(getattr(inner, name)))
    return tags


def check_divisible_rows(meta: Any, X: Any, *, reset: bool) -> Any:
    """Rows in a container from which some can be taken, for a classifier that divides calls."""
    X = check_rows(meta, X, reset=reset, texts=True)
    return X.tocsr() if sparse.issparse(X) else X


class UsersOfLabels:
    """The fitted models inside another one that use the previous label, and how to ask it.

    Such a model has a method ``_labels_before(y)``: what it takes for the previous labels of each
    row of a call whose labels are `y`. It predicts with what an attribute ``_shown`` holds of this.

    Attributes
    ----------
    users : list of estimator
        Models that use the previous label.
    asked_alone : list of estimator
        Models whose answers to rows of one call may differ from those to single rows.
    in_one_call : bool
        Whether the outer model hands all rows of a call to each of `users` in one call.
    """

    def __init__(self, model: Any):
        self.users: list[Any] = []
        self.asked_alone: list[Any] = []
        self.in_one_call = True
        self._seen: set[int] = set()
        self._look(model, None)

    def _look(self, part: Any, classes: list[Any] | None) -> None:
        """Look at a part; `classes` are those of the nearest model around it of another kind."""
        if id(part) in self._seen or isinstance(part, type):
            return
        self._seen.add(id(part))
        n_users, n_alone = len(self.users), len(self.asked_alone)
        own, uses = getattr(part, "classes_", None), hasattr(type(part), "_labels_before")
        labels = classes if own is None else list(own)
        # Inside models of other kinds, labels may be codes, or one class against the rest.
        if uses and part.__sklearn_is_fitted__() and classes in (None, labels):
            self.users.append(part)
            self.in_one_call &= not getattr(part, "_asks_row_by_row", False)
        is_model = hasattr(part, "fit") or hasattr(part, "predict")
        hands_on = not is_model or isinstance(part, MetaEstimator | Pipeline | FrozenEstimator)
        inside: Any = part if isinstance(part, dict | list | tuple) else ()
        inside = getattr(part, "__dict__", {}) if is_model else inside
        for one in list(inside.values() if isinstance(inside, dict) else inside):
            self._look(one, classes if hands_on else labels)
        if not (hands_on or uses):
            self.in_one_call &= len(self.users) == n_users
            self.asked_alone[n_alone:] = [] if answers_each_row_alone(part) else [part]


def score_in_order(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Accuracy or R², where each row's label is known when the next row is predicted."""
    measure = accuracy_score if is_classifier(model) else r2_score
    return float(measure(y, _predict_in_order(model, X, y), sample_weight=sample_weight))


def _predict_in_order(model: Any, X: Any, y: Any) -> NDArray[Any]:
    """Predict rows with a copy of a model that is shown each row's label before the next row.

    The result is that of single rows, bit by bit. All rows are predicted in one call where the
    model answers each of them alone. Models inside that do not are asked row by row.
    """
    inside = UsersOfLabels(model)
    if not (inside.users and n_rows_of(X)):
        return array_of(model.predict(X))
    check_consistent_length(X, y)
    X, labels = X.tocsr() if sparse.issparse(X) else X, array_of(y).ravel()
    model, inside = deepcopy((model, inside))
    before = [(part, part._labels_before(labels)) for part in inside.users]
    if inside.in_one_call:
        for part, shown in before:
            part._shown = shown
        for part in inside.asked_alone:
            for name in _ANSWERS:
                if hasattr(part, name):
                    setattr(part, name, partial(_by_rows, getattr(part, name)))
        return array_of(model.predict(X))
    answers = []
    for row in range(n_rows_of(X)):
        for part, shown in before:
            part._shown = shown[row : row + 1]
            if getattr(part, "_asks_row_by_row", False):
                part._shown = getattr(part, "_answered", shown[:1])
        answers.append(array_of(model.predict(rows_of(X, slice(row, row + 1)))))
    return np.concatenate(answers)


_ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


def _by_rows(method: Any, X: Any) -> Any:
    """Answers of a method to rows, each in a call of its own."""
    X = X.tocsr() if sparse.issparse(X) else X
    calls = (method(rows_of(X, slice(row, row + 1))) for row in range(n_rows_of(X)))
    # Copies: the model may return an array of its own, and write its next answer into it.
    return stack_rows([own_rows(one if hasattr(one, "shape") else array_of(one)) for one in calls])


def warn_if_scored_in_one_call(model: Any, n_rows: int) -> None:
    """Warn where a scorer of scikit-learn has a model predict rows without their previous labels.

    Parameters
    ----------
    model : estimator
        A model that uses the previous label.
    n_rows : int
        How many rows are predicted in this call.
    """
    if n_rows < 2 or "_shown" in vars(model) or (asked := first_scored_at_once()) is None:
        return
    kind, name = type(asked).__name__, type(model).__name__
    advice = (
        "Use scoring=skstream.prequential_scorer(...), or leave scoring at its default: the "
        "model's own score(X, y) reveals each label before the next row."
    )
    if type(asked).score.__module__ == "sklearn.base":
        advice = (
            f"{kind} predicts all rows at once, whatever scoring is. Put it inside, as in "
            f"TemporallyAugmented(PeriodicRefit({kind}(...), every=1000)), or use a wrapper of "
            "skstream, such as OnlineBagging."
        )
    warn(
        f"A scorer calls {name} for {n_rows:,} rows at once. All of them get the newest training "
        f"label as previous label, so the score says little about the model. {advice}",
        StaleLabelWarning,
    )


class OrderedScore:
    """Mixin: ``score`` in the order of the rows, where a model uses the previous label."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or the coefficient of determination of a regressor.

        If the model, or one inside it, uses the previous label, rows are scored in their order:
        each row's label is known when the next row is predicted, and none is learnt. (With
        ``previous_label="predicted"``, it is the model's own answer that is known.)

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first; they follow the rows learnt.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights.

        Returns
        -------
        float
            The score.
        """
        return score_in_order(self, X, y, sample_weight)


class MetaEstimator(ForgetfulFit, MetaEstimatorMixin, BaseEstimator):
    """An estimator that wraps another one of its kind, which learns row by row."""

    #: What the inner model is: "classifier" or "regressor"; and the method by which it learns.
    _kind: ClassVar[str]
    _learns_by: ClassVar[str] = "partial_fit"

    # Weights decide what is learnt and counted here, so they are requested.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": True}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": True}

    estimator: Any
    estimator_: Any

    def _check_estimator(self) -> None:
        check_can_learn(self.estimator)
        if not hasattr(self.estimator, "predict"):
            raise TypeError(
                f"{type(self).__name__} needs a {self._kind} with partial_fit and predict. "
                f"{without_predict(self.estimator)}"
            )
        is_kind = is_classifier if self._kind == "classifier" else is_regressor
        if not is_kind(as_learner(self.estimator)):
            raise TypeError(
                f"{type(self).__name__} needs a {self._kind}. Got {type(self.estimator).__name__}, "
                "which is not one."
            )

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the inner model also where it is fitted.

        Parameters
        ----------
        **params : dict
            Parameters; those of the inner model as ``estimator__parameter``. A new `estimator` is
            used from the next ``fit`` on.

        Returns
        -------
        self : object
            The estimator itself.
        """
        if self.__sklearn_is_fitted__():
            for model in self._fitted_models():
                set_fitted({"estimator": model}, params)
        super().set_params(**params)
        return self

    def _fitted_models(self) -> list[Any]:
        """Return the fitted models inside."""
        return [self.estimator_]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: weights are used here and routed to the inner model.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn describes it.
        """
        mapping = MethodMapping().add(caller="fit", callee=self._learns_by)
        mapping.add(caller="partial_fit", callee=self._learns_by)
        router = MetadataRouter(owner=self).add_self_request(self)
        inner = self.estimator if self._learns_by == "fit" else as_learner(self.estimator)
        return router.add(estimator=inner, method_mapping=mapping)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _tags_as_inside(self, tags: Any) -> Any:
        """Return tags of this estimator, with what the inner model says of its rows and classes."""
        inner = tags_of(as_learner(self.estimator))  # once: it asks the model inside, and so on
        tags.input_tags = copy(inner.input_tags)
        tags.non_deterministic = inner.non_deterministic
        if tags.classifier_tags is not None and inner.classifier_tags is not None:
            tags.classifier_tags = copy(inner.classifier_tags)
            tags.classifier_tags.multi_label = False
        return tags


class InnerMethods:
    """Mixin: the methods of the inner model by which a row is asked."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels, or targets of a regressor.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels or targets.
        """
        return self._ask("predict", X)

    @inner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return self._ask("predict_proba", X)

    @inner_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute the inner model's decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Decision values.
        """
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        """Return the answers of a method."""
        raise NotImplementedError


class MetaClassifier(OrderedScore, ClassifierMixin, MetaEstimator):
    """A classifier that wraps another one.

    Subclasses define which columns the inner model sees when a row is learnt, and what they keep of
    the row.
    """

    _kind = "classifier"

    #: Whether fresh copies of the model take the place of others along the stream.
    _makes_fresh_models = False

    # This classifier knows the classes and passes them to the inner one.
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {
        "sample_weight": True,
        "classes": UNUSED,
    }

    classes_: NDArray[Any]

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "MetaClassifier":
        """Train on rows in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is skipped and changes nothing. Where the inner
            model takes no weights, it sees a row of weight k repeated k times; here the row still
            counts as one, with weight k.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        TypeError
            If the inner model is no classifier with the methods needed.
        ValueError
            If `classes` is missing in the first call, a label is not among them, or the rows have a
            different number of columns than before.
        """
        first = not self.__sklearn_is_fitted__()
        if first:
            self._validate_params()
            self._check_estimator()
            if classes is not None and hasattr(self, "classes_"):
                del self.classes_  # left by a first call that failed
        X = self._check_rows(X, reset=first)
        y, codes, weight = check_labelled(self, X, y, classes, sample_weight)
        if weight is None or weight.any():
            X, y, codes, weight = of_positive_weight(weight, X, y, codes)
            self._learn(X, y, codes, weight, first=first)
        return self

    def _learn(
        self,
        X: Any,
        y: Any,
        codes: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
        *,
        first: bool,
    ) -> None:
        """Learn checked rows, none of weight 0."""
        model = unfitted_copy(self.estimator) if first else self.estimator_
        learn = learner(model)
        learn(
            self._rows_to_learn(X, codes),
            y,
            self._route_weight(model, weight),
            self.classes_ if first else None,
        )
        if first:
            self._check_inner_classes(model)
        self.estimator_ = model
        self._remember(codes, weight)

    def _teach(
        self,
        model: Any,
        X: Any,
        y: Any,
        weight: NDArray[np.float64] | None,
        rows: NDArray[np.intp],
        *,
        first: bool,
    ) -> None:
        """Show a model inside some rows of a call; `weight` has a number for each of them."""
        # Copies: a model may write into what it is given, and others may get the same rows.
        X, y = own_rows(rows_of(X, rows)), rows_of(y, rows)
        learner(model)(X, y, weight, self.classes_.copy() if first else None)
        if first:
            self._check_inner_classes(model)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_rows(self, X, reset=reset, texts=True)

    def _rows_to_learn(self, X: Any, codes: NDArray[np.int64]) -> Any:
        return X

    def _remember(self, codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> None:
        raise NotImplementedError

    def why_not_evaluated(self, *_: Any) -> str | None:
        """Return why fresh copies of a model must not take the rows that they learn as the time."""
        for part in learning_parts(self.estimator) if self._makes_fresh_models else ():
            if getattr(type(part), "_rows_are_time", False) is True:
                return (
                    f"replaces models with fresh ones, and a fresh {type(part).__name__} counts "
                    "its rows from the start again: it would predict for other rows. Evaluate it "
                    "on its own, next to the other models."
                )
        return None

    def _check_estimator(self) -> None:
        if why := self.why_not_evaluated():
            raise ValueError(f"{type(self).__name__} {why}")
        super()._check_estimator()

    def _check_inner_classes(self, model: Any) -> None:
        """Raise an error if the inner model answers with labels that are not known here."""
        inner = inner_classes(model)
        # As lists: in arrays, the text "1" would equal the number 1.
        if inner is not None and not set(inner.tolist()) <= set(self.classes_.tolist()):
            raise ValueError(self._other_classes(model, inner))

    def _check_columns(self, model: Any) -> None:
        """Raise an error unless the columns of the inner model's answers are the classes here."""
        inner = inner_classes(model)
        if inner is not None and inner.tolist() != self.classes_.tolist():
            raise ValueError(self._other_classes(model, inner))

    def _other_classes(self, model: Any, inner: NDArray[Any]) -> str:
        return (
            f"The {type(model).__name__} in this {type(self).__name__} has the classes "
            f"{inner.tolist()}, but the classes here are {self.classes_.tolist()}. Fit the inner "
            "model with these classes, or pass its classes as classes=."
        )

    def _route_weight(self, model: Any, weight: Any) -> Any:
        """Weight for the inner model: what it asked for, where metadata routing is on."""
        routing = get_config()["enable_metadata_routing"]
        if weight is None or not routing or not supports_sample_weight(model):
            return weight
        routed = process_routing(self, "partial_fit", sample_weight=weight)
        return routed["estimator"]["partial_fit"].get("sample_weight")

    def __sklearn_tags__(self) -> Any:
        return self._tags_as_inside(super().__sklearn_tags__())
