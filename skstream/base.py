"""Helpers shared by the estimators and the engine: learning, checks and mixins."""

import inspect
import reprlib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_non_negative, column_or_1d, validate_data

from skstream.utils._labels import LabelSpace, array_of
from skstream.utils._masked import refuse_masked
from skstream.utils._rows import array_of_rows, check_names_of_one_type, single_texts
from skstream.utils._sklearn import is_column_transformer, rows_of
from skstream.utils._validation import as_learner, is_classifier, is_fitted, unfitted_copy

Method = TypeVar("Method", bound=Callable[..., Any])
Learn = Callable[[Any, Any, NDArray[np.float64] | None, Any], None]

# How labels follow from other answers.
_LABELS_OF_SCORES = {
    "predict_proba": "self.classes_[self.predict_proba(X).argmax(axis=1)]",
    "decision_function": "self.classes_[(self.decision_function(X) > 0).astype(int)]",
}
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
# Marks that a ``partial_fit`` accepts any further keywords.
_KEYWORDS = "**"


class StaleLabelWarning(UserWarning):
    """A scorer has a model that uses the previous label predict many rows in one call.

    The labels of these rows are not known yet, so all rows share one previous label: the newest
    label the model was trained on.

    See Also
    --------
    skstream.prequential_scorer : A scorer that goes row by row.

    Examples
    --------
    >>> import warnings
    >>> from skstream import StaleLabelWarning
    >>> warnings.simplefilter("error", StaleLabelWarning)  # for the tests of a project
    """


def asks_row_by_row(estimator: Any) -> bool:
    """Whether a model uses its prediction for one row of a call as a label for the next rows.

    A model in ``previous_label="predicted"`` mode does. What it answers depends on which rows are
    asked in one call: evaluators ask about a row together with the rows before it that are not
    learnt yet, and about rows whose labels are known in separate calls. Such an estimator has an
    attribute ``_asks_row_by_row`` that is True; estimators nested in its parameters are checked
    too.

    Parameters
    ----------
    estimator : estimator
        Model, meta-estimator or pipeline; fitted or not.

    Returns
    -------
    bool
        Whether the estimator, or one inside it, does so.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skstream.base import asks_row_by_row
    >>> from skstream.temporal import TemporalCorrection
    >>> asks_row_by_row(TemporalCorrection(GaussianNB(), previous_label="predicted"))
    True
    >>> asks_row_by_row(TemporalCorrection(GaussianNB()))
    False
    """
    return any(getattr(part, "_asks_row_by_row", False) is True for part in nested(estimator))


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


def nested(estimator: Any) -> Iterator[Any]:
    """Yield the estimator and all estimators in its parameters, to any depth, each once."""
    seen: set[int] = set()
    waiting = [estimator]
    while waiting:
        part = waiting.pop(0)
        has_params = hasattr(part, "get_params")
        if id(part) in seen or not (has_params or part is estimator):
            continue
        seen.add(id(part))
        yield part
        if has_params and not isinstance(part, type):
            # Pipelines hold their steps in a list: only deep parameters show them one by one.
            found = part.get_params(deep=True)
            if not isinstance(found, Mapping):
                raise TypeError(
                    f"get_params of {type(part).__name__} must return a dict, and returned "
                    f"{reprlib.repr(found)} of type {type(found).__name__}. An object that accepts "
                    "any attribute, such as a mock or a proxy, is not a model: give it a "
                    "get_params."
                )
            waiting += found.values()


def learning_parts(estimator: Any, *, refitted: bool = True) -> Iterator[Any]:
    """Yield the estimator and those in its parameters, to any depth, that are not frozen.

    With refitted=False, neither those that a `PeriodicRefit` fits on many rows in one call.
    """
    parts: list[Any] = list(nested(estimator))
    frozen: set[int] = set()
    for part in parts:
        is_refitted = not refitted and getattr(part, "_learns_by", "") == "fit"
        if is_refitted or isinstance(part, FrozenEstimator):
            frozen.update(map(id, nested(part.estimator)))
    for part in parts:
        if id(part) not in frozen:
            yield part


def supports_sample_weight(estimator: Any) -> bool:
    """Whether ``partial_fit`` of an estimator has a parameter ``sample_weight``.

    Parameters
    ----------
    estimator : estimator
        Any model. The meta-estimators of this package always accept weights.

    Returns
    -------
    bool
        False also if there is no ``partial_fit``.

    Examples
    --------
    >>> from sklearn.decomposition import IncrementalPCA
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skstream.base import supports_sample_weight
    >>> supports_sample_weight(StandardScaler()), supports_sample_weight(IncrementalPCA())
    (True, False)
    """
    return "sample_weight" in _parameters_of_partial_fit(type(estimator))  # type: ignore[arg-type]


def accepts_classes(estimator: Any) -> bool:
    """Whether ``partial_fit`` of an estimator can be given ``classes``.

    A meta-estimator that passes on all its keywords (as `SelectFromModel` does) accepts what the
    estimator inside accepts.
    """
    parameters = _parameters_of_partial_fit(type(estimator))  # type: ignore[arg-type]
    if "classes" in parameters:
        return True
    inside = getattr(estimator, "estimator", None)
    return _KEYWORDS in parameters and inside is not None and accepts_classes(inside)


def learner(estimator: Any) -> Learn:
    """Return ``learn(X, y, weight, classes)``, which calls ``partial_fit`` as the model needs.

    The model's signature is inspected once, so the returned function is cheap enough to be called
    for every row of a stream.

    - `weight`, an array of shape (n_rows,) of positive weights or None, is passed on where
      ``partial_fit`` has a parameter ``sample_weight``. Otherwise, a row of weight k is repeated k
      times within that call.
    - `classes` is passed on unless it is None or ``partial_fit`` has no such parameter. Give it
      with the first rows.
    - A frozen estimator is left unchanged.

    Parameters
    ----------
    estimator : estimator
        A model with ``partial_fit``.

    Returns
    -------
    callable
        ``learn(X, y, weight, classes) -> None``.

    Raises
    ------
    TypeError
        If the estimator has no ``partial_fit``.

    Notes
    -----
    ``learn`` raises ValueError if the model takes no weights and a weight is not a whole number.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skstream.base import learner
    >>> model = GaussianNB()
    >>> learn = learner(model)
    >>> learn(np.array([[0.0], [1.0]]), ["a", "b"], np.array([1.0, 2.0]), ["a", "b"])
    >>> learn(np.array([[1.5]]), ["b"], None, None)
    >>> model.class_count_
    array([1., 3.])
    """
    if isinstance(estimator, FrozenEstimator):
        return _learn_nothing
    check_can_learn(estimator, as_it_is=True)
    parameters = _parameters_of_partial_fit(type(estimator))  # type: ignore[arg-type]
    takes_classes = accepts_classes(estimator)
    takes_weight = "sample_weight" in parameters
    partial_fit = estimator.partial_fit

    def learn(X: Any, y: Any, weight: NDArray[np.float64] | None, classes: Any) -> None:
        known = {"classes": classes} if takes_classes and classes is not None else {}
        if weight is None or not (takes_weight or (weight != 1.0).any()):
            partial_fit(X, y, **known)
        elif takes_weight:
            partial_fit(X, y, sample_weight=weight, **known)
        else:
            again = np.repeat(
                np.arange(len(weight)),
                repetitions(weight, f"{type(estimator).__name__}.partial_fit"),
            )
            partial_fit(rows_of(X, again), rows_of(y, again), **known)

    return learn


def _learn_nothing(X: Any, y: Any, weight: Any, classes: Any) -> None:
    """Leave a frozen estimator as it is."""


def check_can_learn(estimator: Any, *, as_it_is: bool = False) -> None:
    """Raise a TypeError that says what to do if an estimator has no ``partial_fit``."""
    model = estimator if as_it_is else as_learner(estimator)
    if hasattr(model, "partial_fit") or isinstance(estimator, FrozenEstimator):
        return
    adapter = _of_other_library(estimator)
    if adapter is not None:
        raise TypeError(adapter)
    asked = " It is already fitted: which of the two do you mean?" if is_fitted(estimator) else ""
    raise TypeError(
        f"{type(estimator).__name__} cannot learn from a stream: it has no partial_fit. Use a "
        "model with partial_fit, or else\n"
        "- to refit it along the stream: skstream.PeriodicRefit(model, every=1000);\n"
        f"- to evaluate it unchanged, as fitted: sklearn.frozen.FrozenEstimator(fitted).{asked}"
    )


def _of_other_library(estimator: Any) -> str | None:
    """Say what to pass for a model of another library, a search, or no model at all."""
    name = type(estimator).__name__
    if isinstance(estimator, tuple):
        return "A tuple is not a model. Pass models with names as a dict: {'name': model, ...}."
    if name.endswith("SearchCV"):
        return (
            f"{name} has no partial_fit, and its folds are trained on later rows. To search along "
            "the stream, use skstream.PrequentialSearch; to search anew at times, "
            "skstream.PeriodicRefit."
        )
    if hasattr(estimator, "learn_one"):
        return (
            f"{name} has learn_one, like a River model, but no partial_fit. Pass "
            "skstream.compat.from_river(model)."
        )
    if hasattr(estimator, "train") and hasattr(estimator, "schema"):
        return (
            f"{name} has train, like a CapyMOA learner, but no partial_fit. Pass "
            "skstream.compat.from_capymoa(learner)."
        )
    return None


def without_predict(estimator: Any) -> str:
    """Say what to do with a model that has no ``predict``, or whose last step has none."""
    last = estimator
    while isinstance(last, Pipeline) and last.steps:
        last = last.steps[-1][1]
    adapter = None if hasattr(last, "partial_fit") else _of_other_library(last)
    if adapter is not None:
        return adapter
    inside = "" if last is estimator else f", the last step of this {type(estimator).__name__},"
    scores = next((s for s in _LABELS_OF_SCORES if hasattr(last, s)), None)
    if scores is not None:
        return (
            f"{type(last).__name__}{inside} has {scores} but no predict, which decides the label "
            "of a row. Give it a predict method, such as one that returns "
            f"{_LABELS_OF_SCORES[scores]}."
        )
    return (
        f"{type(last).__name__}{inside} has no predict; put it into a StreamPipeline that ends in "
        "a classifier or regressor."
    )


def offered_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Offer a method only where a check of the estimator holds (typed ``available_if``)."""
    return cast("Callable[[Method], Method]", available_if(check))


@lru_cache(maxsize=256)
def _parameters_of_partial_fit(estimator_type: type) -> frozenset[str]:
    partial_fit = getattr(estimator_type, "partial_fit", None)
    try:
        parameters = inspect.signature(partial_fit).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # there is none, or it is compiled and has no signature
        return frozenset()
    return frozenset(
        _KEYWORDS if parameter.kind is parameter.VAR_KEYWORD else name
        for name, parameter in parameters.items()
    )


def repetitions(weight: NDArray[np.float64], method: str) -> NDArray[np.intp]:
    """How often each row is repeated for a method, named in errors, that takes no weights."""
    times = weight.astype(np.intp)
    fractional = np.flatnonzero(times != weight)
    if len(fractional):
        first = int(fractional[0])
        raise ValueError(
            f"{method} has no sample_weight, so a row of weight k "
            f"is repeated k times, but weight[{first}] is {weight[first]}. "
            f"Use whole numbers, or a model with sample_weight."
        )
    return times


class ForgetfulFit:
    """Mixin: ``fit`` forgets everything, then learns the rows in one ``partial_fit``."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Forget everything, then train on the rows in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The estimator itself.
        """
        forget(self)
        y = check_labels(self, y) if is_classifier(self) else check_targets(self, y)
        weight = check_weight(sample_weight, len(y))
        check_some_weight(weight)
        known = {"classes": np.unique(y)} if is_classifier(self) else {}
        return self.partial_fit(X, y, sample_weight=weight, **known)  # type: ignore[attr-defined]


def forget(estimator: Any) -> None:
    """Delete the fitted attributes: those whose names end in an underscore."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def set_fitted(fitted: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    """Set parameters of fitted parts, so that they apply to what is learnt from now on.

    Parameters
    ----------
    fitted : mapping of str to estimator
        Fitted parts by name.
    params : mapping of str to object
        Parameters as for ``set_params``; those not named ``part__parameter`` are left out.
        Values are copied, as a clone would copy them.
    """
    by_part: dict[str, dict[str, Any]] = {}
    for path, value in params.items():
        name, _, parameter = path.partition("__")
        if parameter and hasattr(fitted.get(name), "set_params"):
            by_part.setdefault(name, {})[parameter] = unfitted_copy(value, learns=False)
    for name, own in by_part.items():
        part = fitted[name]
        part.set_params(**own)
        if is_column_transformer(part) and hasattr(part, "transformers_"):
            set_fitted({name: one for name, one, _ in part.transformers_}, own)


def check_rows(estimator: Any, X: Any, *, reset: bool, texts: bool = False) -> Any:
    """Check the user's rows: at least one, and the number and names of their columns.

    The values may be anything. Lists become arrays; arrays, sparse matrices and data frames
    are returned as they are. Single texts, without columns, are refused unless `texts` is true.
    """
    refuse_masked(X, "X")
    if not hasattr(X, "columns"):
        single = single_texts(X)
        if single is not None and len(single):
            if texts and (reset or not hasattr(estimator, "n_features_in_")):
                return single
            if not texts:
                raise ValueError(f"X contains raw texts. {about_texts(type(estimator).__name__)}")
        if isinstance(X, (list, tuple)):
            X = array_of_rows(X)
        return validate_data(
            estimator, X, reset=reset, accept_sparse=True, dtype=None, ensure_all_finite=False
        )
    check_names_of_one_type(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) == 0:
        raise ValueError(f"Found a data frame with 0 sample(s) (shape={X.shape}).")
    return X


def about_texts(name: str) -> str:
    """Say what to do where a model, whose name is given, needs columns and gets texts."""
    return (
        f"{name} needs rows with columns: turn the texts into numbers before it, as in "
        f"make_stream_pipeline(HashingVectorizer(), {name}(...))."
    )


def check_labels(estimator: Any, y: Any) -> Any:
    """Class labels as a one-dimensional array, or scikit-learn's error about them."""
    y = _check_column(estimator, y)
    assert_all_finite(y, input_name="y", estimator_name=type(estimator).__name__)
    check_classification_targets(y)
    return y


def check_targets(estimator: Any, y: Any) -> Any:
    """Regression targets as a one-dimensional float array, or scikit-learn's error."""
    y = _check_column(estimator, y)
    return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)


def _check_column(estimator: Any, y: Any) -> Any:
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    refuse_masked(y, "y")
    return column_or_1d(array_of(y) if isinstance(y, (list, tuple)) else y, warn=True)


def check_classes(estimator: Any, classes: Any) -> None:
    """Set ``classes_`` at the first ``partial_fit``; later, check that they are the same."""
    known = getattr(estimator, "classes_", None)
    if known is None:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        estimator.classes_ = _sorted_classes(classes)
    elif classes is not None and not np.array_equal(known, _sorted_classes(classes)):
        raise ValueError(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}"
        )


def _sorted_classes(classes: Any) -> NDArray[Any]:
    given = array_of(classes)
    labels: NDArray[Any] = unique_labels(given)
    if given.dtype == object and labels.dtype.kind == "U":  # may have lost NUL characters
        return array_of(sorted(set(given.tolist())))
    return labels


def check_labelled(
    estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any
) -> tuple[Any, NDArray[np.int64], NDArray[np.float64] | None]:
    """Check what a classifier is to learn; return the labels, their codes, and the weights."""
    y = check_labels(estimator, y)
    check_consistent_length(X, y)
    weight = check_weight(sample_weight, len(y))
    check_classes(estimator, classes)
    return y, LabelSpace(estimator.classes_).encode(y), weight


def check_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Learning weights as float64, one per row and none negative; None stays None."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    weight: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. "
            f"Expected either a scalar value or a 1D array of length {n_rows}."
        )
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    check_non_negative(weight, "`sample_weight`")
    return weight


def check_some_weight(weight: NDArray[np.float64] | None) -> None:
    """Raise an error if ``fit`` is given weights that leave nothing to learn."""
    if weight is not None and not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")


def of_positive_weight(weight: NDArray[np.float64] | None, *rows: Any) -> tuple[Any, ...]:
    """Rows, labels and so on without those of weight 0, which are not learnt; then the weights."""
    if weight is None or weight.all():
        return (*rows, weight)
    learnt = np.flatnonzero(weight)
    return (*(None if one is None else rows_of(one, learnt) for one in rows), weight[learnt])
