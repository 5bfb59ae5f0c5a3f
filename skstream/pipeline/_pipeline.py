"""A pipeline with ``partial_fit``."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from skstream.base import (
    check_can_learn,
    check_labels,
    check_some_weight,
    check_weight,
    forget,
    learner,
    supports_sample_weight,
)
from skstream.pipeline._asking import AsksFittedSteps
from skstream.pipeline._transformers import is_passthrough, learn_rows, learns, prepared
from skstream.utils._sklearn import is_column_transformer, n_rows_of, rows_of

# Methods that ask: transformers only transform in them.
_QUESTIONS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "score",
)


class StreamPipeline(AsksFittedSteps, Pipeline):
    """A pipeline that learns from a stream: a `Pipeline` with ``partial_fit``.

    When rows are learnt, each transformer learns them and then transforms them for the next
    step. When rows are asked, they are transformed with what the transformers know by then.

    The steps are cloned, and stay as they were given. Transformers may be

    - with ``partial_fit``, such as `StandardScaler`: they learn every row;
    - without state, or determined by their parameters, such as `Normalizer`,
      `HashingVectorizer`, or `OneHotEncoder` with categories (given, or declared by the
      categorical columns of a data frame);
    - a `ColumnTransformer` of such transformers;
    - fitted already; wrapped in a `FrozenEstimator`, they also survive cloning;
    - "passthrough".

    Others are refused when the first rows are learnt.

    Parameters
    ----------
    steps : list of (str, estimator) tuples
        Transformers, and last a model with ``partial_fit`` or another transformer.

    Attributes
    ----------
    pipeline_ : Pipeline
        The fitted steps, as a plain scikit-learn pipeline.
    named_steps : Bunch
        The steps by name: fitted ones once something has been learnt.
    classes_ : ndarray of shape (n_classes,)
        The labels, where the last step is a classifier.
    n_features_in_ : int
        Number of columns of the rows, where the first step counts them.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came in a data frame with string names.

    See Also
    --------
    make_stream_pipeline : Names the steps by their types.
    sklearn.pipeline.Pipeline : Learns all rows at once.

    Notes
    -----
    Unlike `Pipeline.fit`, which fits each step with its own ``fit`` (several epochs for
    `SGDClassifier`), `fit` here forgets and then is one ``partial_fit``.

    Weights go to the model and to every transformer whose ``partial_fit`` takes them. A model
    without weights sees a row of weight k repeated k times; a transformer without weights
    learns it once.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skstream.pipeline import StreamPipeline
    >>> model = StreamPipeline([("scale", StandardScaler()), ("sgd", SGDClassifier())])
    >>> X, y = [[0.0, 10.0], [1.0, 20.0]], ["a", "b"]
    >>> model.partial_fit(X, y, classes=["a", "b"]).predict(X)
    array(['a', 'b'], dtype='<U1')
    >>> model["scale"].mean_
    array([ 0.5, 15. ])
    """

    # Weights decide which rows are learnt, so they are asked for here; what the steps want is
    # routed to them. The classes are handed to the last step by the pipeline.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": True}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {
        "sample_weight": True,
        "classes": UNUSED,
    }
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

    _parameter_constraints: ClassVar[dict[str, Any]] = {"steps": [list]}

    # Settings of `Pipeline` without a meaning here, at the values that it takes for "off".
    memory = None
    transform_input = None
    verbose = False

    def __init__(self, steps: list[tuple[str, Any]]):
        self.steps = steps

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "StreamPipeline":
        """Forget everything, then learn the rows in one ``partial_fit``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first; or whatever the first step takes.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt.

        Returns
        -------
        self : object
            The pipeline itself.
        """
        self._validate_params()
        forget(self)
        weight = check_weight(sample_weight, n_rows_of(X))
        check_some_weight(weight)
        known = y is not None and is_classifier(self)
        classes = np.unique(check_labels(self, y)) if known else None
        return self.partial_fit(X, y, classes=classes, sample_weight=weight)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> "StreamPipeline":
        """Let every step learn the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first; or whatever the first step takes.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. A classifier needs them at the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt, by any step.

        Returns
        -------
        self : object
            The pipeline itself.

        Raises
        ------
        TypeError
            If a step cannot learn row by row. The message names steps that can.
        """
        first = not hasattr(self, "pipeline_")
        if first:
            self._validate_params()
            self._validate_steps()
        weight = None if sample_weight is None else check_weight(sample_weight, n_rows_of(X))
        if weight is not None and not weight.all():
            learnt = np.flatnonzero(weight)
            if len(learnt) == 0:
                return self
            X, weight = rows_of(X, learnt), weight[learnt]
            y = None if y is None else rows_of(y, learnt)
        steps = [] if first else self.pipeline_.steps
        weights = self._route_weight(weight)
        for number, (name, given) in enumerate(self.steps):
            is_last = number == len(self.steps) - 1
            if is_last and _is_model(given):
                step = self._model(given) if first else steps[number][1]
                learner(step)(X, y, weights[name], classes)
            else:
                step = prepared(name, given, X) if first else steps[number][1]
                learn_rows(step, X, y, weights[name], first=first)
                if not is_last and not is_passthrough(step):
                    X = step.transform(X)
            if first:
                steps.append((name, step))
        if first:
            self.pipeline_ = Pipeline(steps)
        return self

    def _model(self, given: Any) -> Any:
        if not isinstance(given, FrozenEstimator):
            check_can_learn(given)
        return clone(given)

    def _route_weight(self, weight: NDArray[np.float64] | None) -> dict[str, Any]:
        """Weight for each step: what it asked for, where metadata routing is on."""
        weights = dict.fromkeys([name for name, _ in self.steps], weight)
        if weight is None or not get_config()["enable_metadata_routing"]:
            return weights
        routed = process_routing(self, "partial_fit", sample_weight=weight)
        for _, name, step in self._iter():
            if not is_column_transformer(step) and supports_sample_weight(step):
                weights[name] = routed[name]["partial_fit"].get("sample_weight")
        return weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            steps = [get_tags(step).input_tags for _, _, step in self._iter()]
        except (AttributeError, TypeError, ValueError):
            return tags  # steps that are no pairs of a name and an estimator: `fit` will say so
        if steps:
            tags.input_tags.allow_nan = all(step.allow_nan for step in steps)
            tags.input_tags.positive_only = steps[0].positive_only
            tags.input_tags.string = steps[0].string
            tags.input_tags.categorical = steps[0].categorical
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pipeline_")

    def _newest(self) -> Pipeline:
        """Fitted steps where there are any, else the steps as given."""
        return getattr(self, "pipeline_", None) or Pipeline(self.steps)

    def __getitem__(self, key: int | str | slice) -> Any:
        """Return a step, or a stream pipeline of some steps.

        Fitted steps where something has been learnt. A part of a pipeline shares them: what it
        learns, the whole pipeline has learnt.
        """
        if not isinstance(key, slice):
            return self._newest()[key]
        if key.step not in (1, None):
            raise ValueError("Pipeline slicing only supports a step of 1")
        part = type(self)(self.steps[key])
        if hasattr(self, "pipeline_"):
            part.pipeline_ = self.pipeline_[key]
        return part

    @property
    def named_steps(self) -> Bunch:
        """The steps by name: fitted ones once something has been learnt."""
        return self._newest().named_steps

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, where the last step is a classifier."""
        return np.asarray(self._newest().classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the rows, where the first step counts them."""
        return int(self._first_step().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where the rows came in a data frame with string names."""
        return np.asarray(self._first_step().feature_names_in_)

    def _first_step(self) -> Any:
        return next(step for _, step in self._newest().steps if not is_passthrough(step))

    def set_output(self, *, transform: str | None = None) -> "StreamPipeline":
        """Set the container that transformers answer with, as given and as fitted.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            The container; None changes nothing.

        Returns
        -------
        self : object
            The pipeline itself.
        """
        super().set_output(transform=transform)
        if hasattr(self, "pipeline_"):
            self.pipeline_.set_output(transform=transform)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata goes: `fit` and `partial_fit` call ``partial_fit`` of the steps.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn describes it.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        for number, name, step in self._iter():
            mapping = MethodMapping()
            is_last = number == len(self.steps) - 1
            for question in _QUESTIONS:
                mapping.add(caller=question, callee=question if is_last else "transform")
            mapping.add(caller="inverse_transform", callee="inverse_transform")
            if not is_last:
                mapping.add(caller="fit", callee="transform")
                mapping.add(caller="partial_fit", callee="transform")
            if learns(step):
                mapping.add(caller="fit", callee="partial_fit")
                mapping.add(caller="partial_fit", callee="partial_fit")
            router.add(method_mapping=mapping, **{name: step})
        return router


def _is_model(step: Any) -> bool:
    """Whether a last step is a model to be taught, not one more transformer."""
    if is_passthrough(step):
        return False
    return is_classifier(step) or is_regressor(step) or not hasattr(step, "transform")


def make_stream_pipeline(*steps: Any) -> StreamPipeline:
    """Make a stream pipeline whose steps are named by their types.

    Parameters
    ----------
    *steps : estimators
        Transformers, and last a model with ``partial_fit`` or another transformer.

    Returns
    -------
    StreamPipeline
        The pipeline.

    See Also
    --------
    StreamPipeline : With names of your own.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skstream.pipeline import make_stream_pipeline
    >>> make_stream_pipeline(StandardScaler(), SGDClassifier()).get_params(deep=False)["steps"]
    [('standardscaler', StandardScaler()), ('sgdclassifier', SGDClassifier())]
    """
    return StreamPipeline(make_pipeline(*steps).steps)
