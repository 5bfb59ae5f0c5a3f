"""CapyMOA's learners as estimators."""

import io
import numbers
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skstream.compat._by_row import ByRow, ClassifierByRow, RegressorByRow
from skstream.compat._capymoa_schema import Columns
from skstream.compat._moa_instances import MOAInstances, takes_prepared
from skstream.utils._optional import optional_import

_PURPOSE = "A learner of CapyMOA"
_LARGEST_SEED = 2**31 - 1  # of Java's int


class CapyMOARegressorCalls:
    """Calls of a CapyMOA regressor that has begun to learn."""

    instance = "RegressionInstance"

    def __init__(self, learner: Any, columns: Columns):
        self.learner = learner
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
        as_rows: Callable[[Any], Iterator[Any]] = (
            iter if self._prepared is None else self._prepared.rows
        )
        return chain.from_iterable(map(as_rows, many))

    def targets(self, y: NDArray[Any]) -> list[Any]:
        """Return targets as CapyMOA takes them."""
        targets: list[Any] = y.tolist()
        return targets

    def learn_one(self, row: Any, target: Any) -> None:
        """Learn a row."""
        self.learner.train(self._labelled(row, target))

    def learn_weighted(self, row: Any, target: Any, weight: float) -> None:
        """Learn a row with a weight; a learner that is not MOA's, as often as it says."""
        if weight == 1.0:
            self.learn_one(row, target)
        elif hasattr(self.learner, "moa_learner"):
            instance = self._labelled(row, target)
            instance.java_instance.setWeight(weight)
            self.learner.train(instance)
        elif weight == int(weight):
            for _ in range(int(weight)):
                self.learn_one(row, target)
        else:
            raise ValueError(
                f"{type(self.learner).__name__} takes no weights, so a row of weight k is learnt "
                f"k times, but a weight is {weight}. Use whole numbers."
            )

    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return what answers to one row, whose target it does not see."""
        answer, make = getattr(self.learner, method), self._unlabelled
        return lambda row: answer(make(row))

    def answered(self, answers: list[Any], method: str) -> NDArray[Any]:
        """Return predictions as an array; NaN for none."""
        return np.array(answers, dtype=np.float64)


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
        if None not in answers:
            known: NDArray[Any] = self._classes[np.array(answers, dtype=np.intp)]
            return known
        labels = np.empty(len(answers), dtype=object)
        for number, answer in enumerate(answers):
            labels[number] = None if answer is None else self._classes.item(answer)
        return labels


class _CapyMOA(ByRow):
    """What both have: a schema from the first rows, seeds, pickles."""

    #: How it is executed, for `result.paths`.
    why_looped: ClassVar[str] = (
        "CapyMOA's train and predict are called row by row (adapted by from_capymoa)"
    )
    learner: Any
    params: Any
    categories: Any
    random_state: Any
    columns_: Columns

    def _begin(self, X: Any) -> Any:
        check_learner(self.learner)
        self.columns_ = Columns.of(X, self.categories)
        schemas = optional_import("capymoa.stream", _PURPOSE).Schema
        schema = self.columns_.schema(schemas, getattr(self, "classes_", None))
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(_LARGEST_SEED)
        return self.learner.from_params(schema, dict(self.params or {}), int(seed) % _LARGEST_SEED)

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
    """A classifier of CapyMOA, one of MOA's for example, with the interface of scikit-learn.

    The schema is made from the first rows: names of the columns, categories, classes. Each copy
    begins with a new learner.

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
        Source of the learner's `random_seed`. Evaluators set it where it is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    columns_ : Columns
        Names and categories of the columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.
    model_ : capymoa.base.Classifier
        The learner.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_capymoa : Makes the estimator that fits a learner.

    Examples
    --------
    >>> from capymoa.classifier import HoeffdingTree  # doctest: +SKIP
    >>> from skstream.compat import CapyMOAClassifier
    >>> model = CapyMOAClassifier(HoeffdingTree, params={"grace_period": 50})  # doctest: +SKIP
    """

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

    def row_calls(self) -> CapyMOAClassifierCalls:
        """Return the calls of the fitted learner.

        Returns
        -------
        CapyMOAClassifierCalls
            Calls without checks.
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
            Probabilities; NaN where the learner gives no answer.
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
        Names of the features, where all of them are strings.
    model_ : capymoa.base.Regressor
        The learner.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    from_capymoa : Makes the estimator that fits a learner.

    Examples
    --------
    >>> from capymoa.regressor import FIMTDD  # doctest: +SKIP
    >>> from skstream.compat import CapyMOARegressor
    >>> model = CapyMOARegressor(FIMTDD)  # doctest: +SKIP
    """

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

    def row_calls(self) -> CapyMOARegressorCalls:
        """Return the calls of the fitted learner.

        Returns
        -------
        CapyMOARegressorCalls
            Calls without checks.
        """
        return CapyMOARegressorCalls(self.model_, self.columns_)


def from_capymoa(
    learner: Any, *, categories: Mapping[Any, Any] | None = None, random_state: Any = None
) -> CapyMOAClassifier | CapyMOARegressor:
    """Give a classifier or regressor of CapyMOA the interface of scikit-learn.

    Evaluators take the learners of CapyMOA as they are, and call this function. It needs CapyMOA
    and Java.

    Parameters
    ----------
    learner : capymoa.base.Classifier, capymoa.base.Regressor, or a class of them
        A class, such as `capymoa.classifier.HoeffdingTree`; or a learner with any schema, whose
        arguments and seed are taken over, and nothing else: the schema is made from the first rows.
    categories : dict, default=None
        Values of the columns with categories, by the name or number of the column.
    random_state : int, RandomState or None, default=None
        Source of the learner's `random_seed`; of a learner that is given, by default its own.

    Returns
    -------
    CapyMOAClassifier or CapyMOARegressor
        The estimator.

    Raises
    ------
    TypeError
        If it is no classifier or regressor of CapyMOA.

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
    raise TypeError(f"A classifier or regressor of CapyMOA is needed. Got {name} instead.")
