"""Which transformers a stream pipeline accepts, and how each of them learns."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import validate_data

from skstream.base import accepts_classes, supports_sample_weight
from skstream.utils._sklearn import (
    column_positions,
    columns_of,
    is_column_transformer,
    set_parts,
)
from skstream.utils._validation import (
    as_learner,
    is_fitted,
    reads_frame_as_names,
    tags_of,
    unfitted_copy,
)

_Weight = NDArray[np.float64] | None


def _has_categories(encoder: Any) -> bool:
    """Whether the categories are given, and no category is dropped for being rare."""
    return (
        not isinstance(encoder.categories, str)
        and encoder.min_frequency is None
        and encoder.max_categories is None
    )


# Transformers that learn nothing from the values of the rows under these parameters: they are
# fitted on the first rows, and any other rows would give the same. By name, because importing all
# of them takes longer than importing this package.
_FITTED_BY_PARAMETERS: dict[str, Callable[[Any], bool]] = {
    "OneHotEncoder": _has_categories,
    "OrdinalEncoder": _has_categories,
    "PolynomialFeatures": lambda transformer: True,
    "SimpleImputer": lambda imputer: (
        imputer.strategy == "constant" and imputer.keep_empty_features and not imputer.add_indicator
    ),
    "CountVectorizer": lambda vectorizer: vectorizer.vocabulary is not None,
    "GaussianRandomProjection": lambda projection: projection.n_components != "auto",
    "SparseRandomProjection": lambda projection: projection.n_components != "auto",
    "RBFSampler": lambda sampler: sampler.gamma != "scale",
}


def _name_in_sklearn(transformer: Any) -> str:
    """Name of a transformer's class if it is scikit-learn's own, not a subclass; else nothing."""
    kind = type(transformer)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


def is_passthrough(transformer: Any) -> bool:
    """Whether a step is left out."""
    return transformer is None or (isinstance(transformer, str) and transformer == "passthrough")


def learns(transformer: Any) -> bool:
    """Whether a transformer learns row by row. A frozen one shows its inner ``partial_fit``."""
    return not isinstance(transformer, FrozenEstimator) and hasattr(transformer, "partial_fit")


def _is_fitted_at_once(transformer: Any) -> bool:
    """Whether a transformer never needs to be fitted again after the first rows."""
    if not tags_of(transformer).requires_fit:
        return True
    by_parameters = _FITTED_BY_PARAMETERS.get(_name_in_sklearn(transformer))
    return by_parameters is not None and by_parameters(transformer)


def prepared(name: str, transformer: Any, X: Any) -> Any:
    """Return an unfitted copy of a transformer that can learn from the rows that come.

    A fitted transformer that cannot learn comes back as it is, frozen.

    Parameters
    ----------
    name : str
        Name of the step, for the error.
    transformer : transformer or "passthrough"
        What the user gave.
    X : {array-like, sparse matrix, dataframe}
        The first rows it will see.

    Raises
    ------
    TypeError
        If the transformer can neither learn row by row nor do without learning, or reads texts
        and gets a data frame.
    """
    if is_passthrough(transformer):
        return "passthrough"
    if reads_frame_as_names(transformer, X):
        kind = type(getattr(transformer, "estimator", transformer)).__name__
        raise TypeError(
            f"Step {name!r}: {kind} takes texts or dicts, but gets a data frame, and would see "
            "only its column names. Name the column to read, as a single name: "
            f"ColumnTransformer([('words', {kind}(), {X.columns[0]!r})])."
        )
    if reads_array_as_texts(transformer, X):
        kind = type(getattr(transformer, "estimator", transformer)).__name__
        raise TypeError(
            f"Step {name!r}: {kind} takes single texts, but gets an array of shape {X.shape}. Pass "
            "X.ravel(), an array of one dimension; in a ColumnTransformer give the column as a "
            "plain number, 0 instead of [0]."
        )
    if isinstance(transformer, FrozenEstimator):
        return transformer
    if not all(is_fitted(step) for _, step in getattr(transformer, "steps", ())):
        transformer = as_learner(transformer)
    if is_column_transformer(transformer):
        return _prepared_columns(name, transformer, X)
    transformer_with_categories = _with_declared_categories(transformer, X)
    if learns(transformer) or _is_fitted_at_once(transformer_with_categories):
        return unfitted_copy(transformer_with_categories)
    if is_fitted(transformer):
        return FrozenEstimator(transformer)
    raise TypeError(_refusal(name, transformer))


def check_goes_on(name: str, transformer: Any) -> None:
    """Raise a TypeError if a fitted transformer would have to be fitted again on later rows."""
    if is_passthrough(transformer) or isinstance(transformer, FrozenEstimator):
        return
    if is_column_transformer(transformer):
        for part_name, part, _ in transformer.transformers_:
            if not _is_dropped(part):
                check_goes_on(f"{name}__{part_name}", part)
    elif not (learns(transformer) or _is_fitted_at_once(transformer)):
        raise TypeError(_refusal(name, transformer))


#: Our transformers that learn along the stream, by the names of scikit-learn's, which cannot.
_COUNTERPARTS = {
    "SimpleImputer": 'StreamImputer, or strategy="constant" with keep_empty_features=True',
    "OneHotEncoder": "StreamOneHotEncoder, or categories= of all columns",
    "OrdinalEncoder": "StreamOrdinalEncoder, or categories= of all columns",
    "TargetEncoder": "TargetEncoder",
}


def _refusal(name: str, transformer: Any) -> str:
    said = f"Step {name!r}: {type(transformer).__name__} cannot be trained row by row. Use"
    ours = _COUNTERPARTS.get(_name_in_sklearn(transformer))
    if ours is not None:
        return f"{said} skstream.preprocessing.{ours}."
    return (
        f"{said} a transformer with partial_fit (StandardScaler, MinMaxScaler, MaxAbsScaler, "
        "MiniBatchNMF, a StreamPipeline of transformers; IncrementalPCA if the first call has "
        "enough rows), a stateless one (Normalizer, Binarizer, FunctionTransformer, "
        "HashingVectorizer, FeatureHasher), one determined by its parameters "
        "(PolynomialFeatures), or a fitted one in a sklearn.frozen.FrozenEstimator."
    )


def _with_declared_categories(transformer: Any, X: Any) -> Any:
    """Give an encoder the categories that the columns of a data frame declare."""
    if _name_in_sklearn(transformer) not in ("OneHotEncoder", "OrdinalEncoder") or not hasattr(
        X, "columns"
    ):
        return transformer
    if not isinstance(transformer.categories, str):
        return transformer
    categories = [_declared(X[column].dtype) for column in X.columns]
    if any(declared is None for declared in categories):
        return transformer
    return clone(transformer).set_params(categories=categories)


def _declared(dtype: Any) -> list[Any] | None:
    """Categories of a categorical dtype of pandas or polars; None for other dtypes."""
    categories = getattr(dtype, "categories", None)
    if categories is None:
        return None
    values = list(categories)
    # scikit-learn needs numeric categories sorted, and keeps the order of strings.
    return values if any(isinstance(value, str) for value in values) else sorted(values)


def learn_rows(
    transformer: Any, X: Any, y: Any, weight: _Weight, classes: Any, *, first: bool
) -> None:
    """Let a prepared transformer learn some rows.

    Weights and classes go to ``partial_fit`` where it takes them.
    """
    if is_passthrough(transformer) or isinstance(transformer, FrozenEstimator):
        return
    if is_column_transformer(transformer):
        _learn_columns(transformer, X, y, weight, classes, first=first, is_wanted=False)
    elif learns(transformer):
        transformer.partial_fit(X, y, **_taken(transformer, weight, classes))
    elif first:
        transformer.fit(X, y)


def learn_and_transform(
    transformer: Any, X: Any, y: Any, weight: _Weight, classes: Any, *, first: bool
) -> Any:
    """Let a prepared transformer learn some rows; return them as the next step learns them.

    They are transformed with what is known after all of them, but where a transformer has a method
    ``partial_fit_transform``: that one decides, so that a row's own label need not be in it.
    """
    if is_passthrough(transformer):
        return X
    if not shows_while_learning(transformer):
        learn_rows(transformer, X, y, weight, classes, first=first)
        return transformer.transform(X)
    if is_column_transformer(transformer):
        return _learn_columns(transformer, X, y, weight, classes, first=first, is_wanted=True)
    return transformer.partial_fit_transform(X, y, **_taken(transformer, weight, classes))


def shows_while_learning(transformer: Any) -> bool:
    """Whether a transformer, or a part of it, has its own way to show rows that it learns."""
    if not is_column_transformer(transformer):
        return learns(transformer) and hasattr(transformer, "partial_fit_transform")
    given = [*(part for _, part, _ in transformer.transformers), transformer.remainder]
    return any(map(shows_while_learning, given))


def _taken(transformer: Any, weight: _Weight, classes: Any) -> dict[str, Any]:
    """Those of weights and classes that ``partial_fit`` of a transformer takes."""
    known = {}
    if weight is not None and supports_sample_weight(transformer):
        known["sample_weight"] = weight
    if classes is not None and accepts_classes(transformer):
        known["classes"] = classes
    return known


def _prepared_columns(name: str, transformer: Any, X: Any) -> Any:
    copy = clone(transformer)
    parts, used = [], set()
    for part_name, part, given in transformer.transformers:
        columns = given(X) if callable(given) else given
        positions = column_positions(X, columns)
        used.update(positions)
        if len(positions) and not _is_dropped(part):
            part = prepared(f"{name}__{part_name}", part, columns_of(X, columns))
        parts.append((part_name, part, given))
    rest = [position for position in range(X.shape[1]) if position not in used]
    remainder = transformer.remainder
    if rest and not _is_dropped(remainder):
        remainder = prepared(f"{name}__remainder", remainder, columns_of(X, rest))
    return copy.set_params(transformers=parts, remainder=remainder)


def _is_dropped(part: Any) -> bool:
    return isinstance(part, str) and part == "drop"


def _learn_columns(
    transformer: Any,
    X: Any,
    y: Any,
    weight: _Weight,
    classes: Any,
    *,
    first: bool,
    is_wanted: bool,
) -> Any:
    """Let the parts of a column transformer learn their columns.

    Return the rows that they show while they learn side by side, if these are wanted.
    """
    if first:
        return _learn_first_columns(transformer, X, y, weight, classes)
    validate_data(transformer, X, reset=False, skip_check_array=True)
    learnt: dict[str, _PartWithRows] = {}
    for name, part, columns in transformer.transformers_:
        if _is_dropped(part) or not len(column_positions(X, columns)):
            continue
        rows = columns_of(X, columns), y, _weight_for(part, weight), None
        if not is_wanted:
            learn_rows(part, *rows, first=False)
        elif learns(part) or is_column_transformer(part):
            learnt[name] = _PartWithRows(part, learn_and_transform(part, *rows, first=False))
    if not is_wanted:
        return None
    parts = transformer.transformers_
    transformer.transformers_ = [
        (name, learnt.get(name, part), columns) for name, part, columns in parts
    ]
    try:
        return transformer.transform(X)
    finally:
        transformer.transformers_ = parts


def _learn_first_columns(transformer: Any, X: Any, y: Any, weight: _Weight, classes: Any) -> Any:
    """Assign columns to the parts by ``fit_transform`` of a column transformer; return the rows.

    Parts that learn are wrapped so that their ``fit`` calls ``partial_fit``: they learn their first
    rows in the same way as all others.
    """

    def shown(part: Any) -> Any:
        if not learns(part) and not is_column_transformer(part):
            return part
        return _FittedByLearning(part, _weight_for(part, weight), classes)

    given, remainder = transformer.transformers, transformer.remainder
    parts = [(name, shown(part), columns) for name, part, columns in given]
    set_parts(transformer, parts, shown(remainder))
    try:
        rows = transformer.fit_transform(X, y)
    finally:
        set_parts(transformer, given, remainder)
    transformer.transformers_ = [
        (name, part.part if isinstance(part, _FittedByLearning) else part, columns)
        for name, part, columns in transformer.transformers_
    ]
    return rows


class _Wrapped:
    """A part of a column transformer, of which some methods are other ones."""

    def __init__(self, part: Any):
        self.part = part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "part":  # not set yet while it is unpickled
            raise AttributeError(name)
        return getattr(self.part, name)


class _FittedByLearning(_Wrapped):
    """A part whose ``fit`` learns the rows by ``partial_fit``."""

    def __init__(self, part: Any, weight: _Weight, classes: Any):
        super().__init__(part)
        self._weight = weight
        self._classes = classes

    def __sklearn_clone__(self) -> "_FittedByLearning":
        return _FittedByLearning(unfitted_copy(self.part), self._weight, self._classes)

    def fit(self, X: Any, y: Any = None) -> "_FittedByLearning":
        """Learn the rows."""
        learn_rows(self.part, X, y, self._weight, self._classes, first=True)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the rows, and return them as they are shown while they are learnt."""
        return learn_and_transform(self.part, X, y, self._weight, self._classes, first=True)

    def transform(self, X: Any) -> Any:
        """Transform rows."""
        return self.part.transform(X)


class _PartWithRows(_Wrapped):
    """A part that has learnt the rows, and transformed them meanwhile."""

    def __init__(self, part: Any, rows: Any):
        super().__init__(part)
        self._rows = rows

    def transform(self, X: Any) -> Any:
        """Return the rows transformed."""
        return self._rows


def _weight_for(part: Any, weight: _Weight) -> _Weight:
    """Weights for a part: where metadata routing is on, if it asks for them."""
    if weight is None or not get_config()["enable_metadata_routing"]:
        return weight
    asked = get_routing_for_object(part).consumes("partial_fit", ["sample_weight"])
    return weight if "sample_weight" in asked else None


def reads_array_as_texts(transformer: Any, X: Any) -> bool:
    """Whether a vectorizer would take each row of an array of two dimensions for a text.

    One with an analyzer or preprocessor of the user's own may take anything.
    """
    transformer = getattr(transformer, "estimator", transformer)
    return (
        isinstance(X, np.ndarray)
        and X.ndim == 2
        and X.dtype.kind in "OUS"
        and hasattr(transformer, "build_analyzer")
        and not callable(getattr(transformer, "analyzer", None))
        and getattr(transformer, "preprocessor", None) is None
    )
