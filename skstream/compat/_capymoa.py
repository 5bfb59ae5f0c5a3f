"""CapyMOA's learners as estimators, and rows as they take them, made of many rows at once."""

import io
import numbers
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from skstream.base import about_texts
from skstream.compat._by_row import ByRow, ClassifierByRow, RegressorByRow, RowCalls, labels_at
from skstream.core.evaluators.settings import offer_adapter
from skstream.streams._values import column_at, column_lists
from skstream.utils._labels import is_missing
from skstream.utils._optional import optional_import
from skstream.utils._rows import is_frame, take_rows

_ROWS_AT_ONCE = 1000
_TARGET = "target"


@dataclass(frozen=True)
class Columns:
    """Names of the columns, and of those with categories the places of their values.

    Attributes
    ----------
    names : list of str
        As they stand in the schema.
    places : dict of int to dict
        Numbers of the columns with categories, and the place of each category.
    """

    names: list[str]
    places: dict[int, dict[Any, int]]

    @classmethod
    def of(cls, X: Any, categories: Mapping[Any, Any] | None) -> "Columns":
        """Return what is known from the first rows and from what the user says."""
        if len(X.shape) == 1:
            raise ValueError(f"X contains raw texts. {about_texts('CapyMOA')}")
        own = list(X.columns) if is_frame(X) else list(range(X.shape[1]))
        given = dict(categories or {})
        unknown = [name for name in given if name not in own]
        if unknown:
            raise ValueError(f"categories names {unknown[0]!r}, but the columns are {own}.")
        places = {}
        for number, name in enumerate(own):
            values = given[name] if name in given else _declared(X, number)
            if values is not None:
                places[number] = {value: place for place, value in enumerate(values)}
            elif _has_texts(X, number):
                raise ValueError(
                    f"Column {name!r} holds texts, but CapyMOA must know all categories of a "
                    f"column before the first row. Pass categories={{{name!r}: [...]}}."
                )
        names = [str(name) for name in own]
        return cls([f"{name} " if name == _TARGET else name for name in names], places)

    def schema(self, schemas: Any, classes: NDArray[Any] | None) -> Any:
        """Return a schema, made by CapyMOA's own class."""
        categories = {
            self.names[number]: [str(value) for value in places]
            for number, places in self.places.items()
        }
        if classes is not None:
            categories[_TARGET] = [str(label) for label in classes.tolist()]
        return schemas.from_custom(
            features=[*self.names, _TARGET], target=_TARGET, categories=categories, name="stream"
        )

    def numbers(self, X: Any, index: NDArray[np.intp]) -> Iterator[NDArray[np.float64]]:
        """Yield rows at an index as arrays of many; NaN: missing, or no known category."""
        for begin in range(0, len(index), _ROWS_AT_ONCE):
            yield self._numbers(take_rows(X, index[begin : begin + _ROWS_AT_ONCE]))

    def _numbers(self, rows: Any) -> NDArray[np.float64]:
        if sparse.issparse(rows):
            rows = rows.toarray()
        if not self.places and not is_frame(rows):
            return np.array(rows, dtype=np.float64)
        numbers = np.empty(rows.shape)
        for number, values in enumerate(column_lists(rows)):
            places = self.places.get(number)
            if places is None:
                numbers[:, number] = [np.nan if is_missing(v) else float(v) for v in values]
            else:
                numbers[:, number] = [places.get(value, np.nan) for value in values]
        return numbers


def _declared(X: Any, number: int) -> list[Any] | None:
    """Categories that the type of a column lists; None if it is of another type."""
    categories = getattr(column_at(X, number).dtype, "categories", None) if is_frame(X) else None
    return None if categories is None else list(categories)


def _has_texts(X: Any, number: int) -> bool:
    if sparse.issparse(X) or (not is_frame(X) and X.dtype.kind not in "OUS"):
        return False
    return any(isinstance(value, str | bytes) for value in column_at(X, number))


_PURPOSE = "A learner of CapyMOA"
# Methods of CapyMOA's wrappers that ask nothing else of an instance.
_METHODS = {
    "MOAClassifier": ("train", "predict", "predict_proba"),
    "MOARegressor": ("train", "predict"),
}


class Prepared:
    """What CapyMOA's wrappers of MOA's learners ask of an instance."""

    __slots__ = ("java_instance",)

    def __init__(self, java_instance: Any):
        self.java_instance = java_instance


class MOAInstances:
    """Maker of the Java objects that CapyMOA makes of the same rows, with fewer calls of Java."""

    def __init__(self, schema: Any):
        self._header = schema.get_moa_header()
        self._dense = optional_import("com.yahoo.labs.samoa.instances", _PURPOSE).DenseInstance
        self._example = optional_import("moa.core", _PURPOSE).InstanceExample
        self._arrays = optional_import("jpype", _PURPOSE).JArray

    def rows(self, numbers: NDArray[np.float64]) -> Iterator[Any]:
        """Yield rows as Java arrays; the last value is the target, which is missing."""
        complete = np.full((len(numbers), numbers.shape[1] + 1), np.nan)
        complete[:, :-1] = numbers
        yield from self._arrays.of(complete)

    def unlabelled(self, row: Any) -> Prepared:
        """Return an instance without its target."""
        instance = self._dense(1.0, row)
        instance.setDataset(self._header)
        return Prepared(self._example(instance))

    def labelled(self, row: Any, target: float) -> Prepared:
        """Return an instance with its target."""
        row[-1] = target
        return self.unlabelled(row)


def takes_prepared(learner: Any) -> bool:
    """Whether a learner is MOA's, and called by nothing but CapyMOA's wrapper of these."""
    base, kind = optional_import("capymoa.base", _PURPOSE), type(learner)
    for name, methods in _METHODS.items():
        wrapper = getattr(base, name, None)
        if wrapper is not None and issubclass(kind, wrapper):
            return all(getattr(kind, method) is getattr(wrapper, method) for method in methods)
    return False


_LARGEST_SEED = 2**31 - 1  # of Java's int


class CapyMOARegressorCalls(RowCalls):
    """Calls of a CapyMOA regressor that has begun to learn."""

    instance = "RegressionInstance"

    def __init__(self, learner: Any, columns: Columns):
        self.learner = learner
        self.takes_no_weights = (type(learner).__name__, "")
        self._columns = columns
        self._prepared = MOAInstances(learner.schema) if takes_prepared(learner) else None
        core = optional_import("capymoa.core", _PURPOSE)
        labelled = getattr(core, self.instance).from_array
        self._unlabelled: Callable[..., Any] = partial(core.Instance.from_array, learner.schema)
        self._labelled: Callable[..., Any] = partial(labelled, learner.schema)
        if self._prepared is not None:
            self._unlabelled, self._labelled = self._prepared.unlabelled, self._prepared.labelled

    def rows(self, X: Any, index: NDArray[np.intp]) -> Iterator[Any]:
        """Yield rows of a container as vectors, of NumPy or of Java."""
        many = self._columns.numbers(X, index)
        as_rows: Any = iter if self._prepared is None else self._prepared.rows
        return chain.from_iterable(map(as_rows, many))

    def learn_one(self, row: Any, target: Any) -> None:
        """Learn a row."""
        self.learner.train(self._labelled(row, target))

    def _learns_with_weight(self, row: Any, target: Any, weight: float) -> bool:
        takes = hasattr(self.learner, "moa_learner")
        if takes:
            instance = self._labelled(row, target)
            instance.java_instance.setWeight(weight)
            self.learner.train(instance)
        return takes

    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return what answers to one row, whose target it does not see."""
        answer, make = getattr(self.learner, method), self._unlabelled
        # Copies: the learner may write its next answer into the same array.
        return lambda row: copy(answer(make(row)))


class CapyMOAClassifierCalls(CapyMOARegressorCalls):
    """Calls of a CapyMOA classifier that has begun to learn; labels are their places."""

    instance = "LabeledInstance"

    def __init__(self, learner: Any, columns: Columns, classes: NDArray[Any]):
        super().__init__(learner, columns)
        self._classes = classes
        self._places = {label: place for place, label in enumerate(classes.tolist())}

    def targets(self, y: NDArray[Any]) -> list[Any]:
        """Return the places of labels among the classes."""
        return [self._places[label] for label in y.tolist()]

    def answered(self, answers: list[Any], method: str) -> NDArray[Any]:
        """Return labels, None for none, or probabilities; NaN for none."""
        if method == "predict_proba":
            nothing = np.full(len(self._classes), np.nan)
            return np.array([nothing if p is None else np.asarray(p) for p in answers])
        return labels_at(answers, self._classes, answers)


class _CapyMOA(ByRow):
    """What both have: a schema from the first rows, seeds, pickles."""

    #: How it is executed, for `result.paths`.
    why_looped: ClassVar[str] = (
        "CapyMOA's train and predict are called row by row (adapted by from_capymoa)"
    )
    columns_: Columns

    def __init__(
        self,
        learner: Any,
        *,
        params: Mapping[str, Any] | None = None,
        categories: Mapping[Any, Any] | None = None,
        random_state: Any = None,
    ):
        self.learner = learner
        self.params = params
        self.categories = categories
        self.random_state = random_state

    def _begin(self, X: Any) -> Any:
        check_learner(self.learner)
        params = dict(self.params or {})
        for name in {"random_seed", "schema"} & params.keys():
            raise ValueError(
                f"params holds {name!r}, which {type(self).__name__} sets itself: the seed is "
                "random_state=, and the schema is made from the first rows. Leave it out."
            )
        self.columns_ = Columns.of(X, self.categories)
        schemas = optional_import("capymoa.stream", _PURPOSE).Schema
        schema = self.columns_.schema(schemas, getattr(self, "classes_", None))
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(_LARGEST_SEED)
        return self.learner.from_params(schema, params, int(seed) % _LARGEST_SEED)

    def inner_name(self) -> str:
        """Name of the learner.

        Returns
        -------
        name : str
            That of its type.
        """
        kind = self.learner if isinstance(self.learner, type) else type(self.learner)
        return kind.__name__

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "model_" in state:
            written = io.BytesIO()
            optional_import("capymoa.core.io", _PURPOSE).save_model(state["model_"], written)
            state = {**state, "model_": written.getvalue()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            read = optional_import("capymoa.core.io", _PURPOSE).load_model
            self.model_ = read(io.BytesIO(state["model_"]))


class CapyMOAClassifier(_CapyMOA, ClassifierByRow):
    """Adapt a CapyMOA classifier, for example from MOA, to scikit-learn's interface.

    The schema (column names, categories, classes) is made from the first rows. Each copy starts
    with a new learner.

    Parameters
    ----------
    learner : type
        Class of the learner, such as `capymoa.classifier.HoeffdingTree`.
    params : dict, default=None
        Arguments of its constructor, without `schema` and `random_seed`.
    categories : dict, default=None
        Values of the columns with categories, by the name of the column, or its number in an
        array. Categorical columns of data frames list them themselves. A value that is not among
        them counts as missing.
    random_state : int, RandomState or None, default=None
        Source of the learner's `random_seed`. Evaluators set it if it is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    columns_ : Columns
        Names and categories of the columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all of them are strings.
    model_ : capymoa.base.Classifier
        The learner.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_capymoa : Makes the matching estimator for a learner.

    Examples
    --------
    >>> from capymoa.classifier import HoeffdingTree  # doctest: +SKIP
    >>> from skstream.compat import CapyMOAClassifier
    >>> model = CapyMOAClassifier(HoeffdingTree, params={"grace_period": 50})  # doctest: +SKIP
    """

    def row_calls(self) -> CapyMOAClassifierCalls:
        """Return the calls of the fitted learner.

        Returns
        -------
        CapyMOAClassifierCalls
            Methods without checks.
        """
        return CapyMOAClassifierCalls(self.model_, self.columns_, self.classes_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probabilities of the classes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities; NaN if the learner makes no prediction.
        """
        return self._answers(X, "predict_proba")


class CapyMOARegressor(_CapyMOA, RegressorByRow):
    """A regressor of CapyMOA with the interface of scikit-learn.

    Parameters
    ----------
    learner : type
        Class of the learner, such as `capymoa.regressor.FIMTDD`.
    params : dict, default=None
        Arguments of its constructor, without `schema` and `random_seed`.
    categories : dict, default=None
        Values of the columns with categories, as in `CapyMOAClassifier`.
    random_state : int, RandomState or None, default=None
        Source of the learner's `random_seed`.

    Attributes
    ----------
    columns_ : Columns
        Names and categories of the columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all of them are strings.
    model_ : capymoa.base.Regressor
        The learner.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_capymoa : Makes the matching estimator for a learner.

    Examples
    --------
    >>> from capymoa.regressor import FIMTDD  # doctest: +SKIP
    >>> from skstream.compat._capymoa import CapyMOARegressor
    >>> model = CapyMOARegressor(FIMTDD)  # doctest: +SKIP
    """

    def row_calls(self) -> CapyMOARegressorCalls:
        """Return the calls of the fitted learner.

        Returns
        -------
        CapyMOARegressorCalls
            Methods without checks.
        """
        return CapyMOARegressorCalls(self.model_, self.columns_)


def from_capymoa(
    learner: Any, *, categories: Mapping[Any, Any] | None = None, random_state: Any = None
) -> CapyMOAClassifier | CapyMOARegressor:
    """Adapt a CapyMOA classifier or regressor to scikit-learn's interface.

    Evaluators accept CapyMOA learners directly and call this function. It needs CapyMOA and Java.

    Parameters
    ----------
    learner : capymoa.base.Classifier, capymoa.base.Regressor, or a class of them
        A class, such as `capymoa.classifier.HoeffdingTree`; or a learner with any schema, of which
        only the arguments and the seed are used: the schema is made from the first rows.
    categories : dict, default=None
        Values of the columns with categories, by the name or number of the column.
    random_state : int, RandomState or None, default=None
        Source of the learner's `random_seed`; for a learner instance, by default its own.

    Returns
    -------
    CapyMOAClassifier or CapyMOARegressor
        The estimator.

    Raises
    ------
    TypeError
        If it is not a CapyMOA classifier or regressor.

    Examples
    --------
    >>> from capymoa.classifier import AdaptiveRandomForestClassifier  # doctest: +SKIP
    >>> from skstream.compat import from_capymoa
    >>> model = from_capymoa(AdaptiveRandomForestClassifier)  # doctest: +SKIP
    """
    kind = learner
    params: Mapping[str, Any] | None = None
    if not isinstance(learner, type):
        kind, params = type(learner), getattr(learner, "get_params", dict)()
        if random_state is None:
            random_state = getattr(learner, "random_seed", None)
    check_learner(kind)
    base = optional_import("capymoa.base", _PURPOSE)
    make = CapyMOAClassifier if issubclass(kind, base.Classifier) else CapyMOARegressor
    return make(kind, params=params, categories=categories, random_state=random_state)


def is_capymoa(learner: Any) -> bool:
    """Whether an object, or a class, is of CapyMOA; it is not imported for that."""
    kind = learner if isinstance(learner, type) else type(learner)
    homes = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return "capymoa" in homes and hasattr(kind, "train")


def check_learner(kind: Any) -> None:
    """Raise an error unless a class is one of CapyMOA's classifiers or regressors."""
    name = getattr(kind, "__name__", repr(kind))
    if isinstance(kind, type) and is_capymoa(kind):
        base = optional_import("capymoa.base", _PURPOSE)
        if issubclass(kind, (base.Classifier, base.Regressor)):
            return
    raise TypeError(f"Expected a CapyMOA classifier or regressor. Got {name} instead.")


offer_adapter(is_capymoa, from_capymoa)
