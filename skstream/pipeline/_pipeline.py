"""A pipeline with ``partial_fit``."""

from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from skstream._meta import UsersOfLabels, score_in_order
from skstream.base import (
    Method,
    check_can_learn,
    check_labels,
    check_some_weight,
    check_weight,
    forget,
    learner,
    of_positive_weight,
    offered_if,
    set_fitted,
    supports_sample_weight,
)
from skstream.pipeline._transformers import (
    check_goes_on,
    is_passthrough,
    learn_and_transform,
    learn_rows,
    learns,
    prepared,
    shows_while_learning,
)
from skstream.pipeline._values_by_version import Value
from skstream.utils._labels import array_of
from skstream.utils._sklearn import is_column_transformer, n_rows_of
from skstream.utils._validation import (
    is_classifier,
    is_fitted,
    is_regressor,
    offer_learner,
    tags_of,
    unfitted_copy,
)

# Methods that predict: transformers only transform in them.
_QUESTIONS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "score",
)


def _last_step_has(method: str) -> Callable[[Method], Method]:
    """Offer a method only where the last step has it."""

    def check(pipeline: Any) -> bool:
        getattr(pipeline.steps[-1][1], method)  # raises the step's own AttributeError
        return True

    return offered_if(check)


def _can_transform(pipeline: Any) -> bool:
    """Whether the last step of a pipeline is a transformer, or left out."""
    last = pipeline.steps[-1][1]
    return is_passthrough(last) or hasattr(last, "transform")


def _can_invert(pipeline: Any) -> bool:
    return all(
        is_passthrough(step) or hasattr(step, "inverse_transform") for _, step in pipeline.steps
    )


class FittedPipeline(Pipeline):
    """The fitted steps of a stream pipeline.

    Unlike a plain `Pipeline`, this one is known to be fitted, and its last step may lack ``fit``.
    """

    def __sklearn_is_fitted__(self) -> bool:
        return True


FittedPipeline.__name__ = "StreamPipeline"  # as errors of scikit-learn call it


class StreamPipeline(Pipeline):
    """A pipeline for streams: a `Pipeline` with ``partial_fit``.

    In training, each transformer is updated with the rows and then transforms them for the next
    step. In prediction, rows are transformed with the current state of the transformers. The steps
    are cloned; yours are left unchanged. Transformers may be

    - with ``partial_fit``, such as `StandardScaler`: updated with every row;
    - stateless, or determined by their parameters, such as `Normalizer`, `HashingVectorizer`, or
      `OneHotEncoder` with categories (given, or declared by the categorical columns of a data
      frame);
    - a `ColumnTransformer` of such transformers;
    - fitted already; wrapped in a `FrozenEstimator`, they also survive cloning;
    - "passthrough".

    Others are rejected at the first training rows. Transformers and models need not derive from
    scikit-learn's base class: ``partial_fit`` and ``transform``, or ``partial_fit`` and
    ``predict``, are enough. Those without ``get_params`` are copied by `copy.deepcopy`.

    Parameters
    ----------
    steps : list of (str, estimator) tuples
        Transformers, and finally a model with ``partial_fit`` or another transformer. Names must be
        unique, must not contain a double underscore, and must not be "steps".

    Attributes
    ----------
    pipeline_ : Pipeline
        The fitted steps, as a plain scikit-learn pipeline.
    named_steps : Bunch
        The steps by name: the fitted ones after the first training rows.
    classes_ : ndarray of shape (n_classes,)
        The labels, if the last step is a classifier.
    n_features_in_ : int
        Number of columns of the rows, if the first step counts them.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    make_stream_pipeline : Names the steps after their types.
    sklearn.pipeline.Pipeline : Fits all rows at once.

    Notes
    -----
    Unlike `Pipeline.fit`, which fits each step with its own ``fit`` (several epochs for
    `SGDClassifier`), `fit` here forgets everything and calls ``partial_fit`` once.

    If a step fails, the steps before it forget the rows of that call, so the call can be repeated
    with other rows. The failing step remains as its own ``partial_fit`` left it.

    `set_params` changes the given steps and, after training, also the fitted ones. A step that is
    replaced after training is used from the next `fit` on; until then `partial_fit` is an error,
    because the new step was not trained on the rows of the others.

    Transformers that need several rows at first, such as `IncrementalPCA`, need them in the first
    call. Evaluators train row by row from the first; if that fails, they pass the whole warm-up in
    one call: see their parameter ``n_warmup``.

    A transformer whose output for a row must not depend on that row's own label or values, such as
    a target encoder, has a method ``partial_fit_transform(X, y)``: it is updated with the rows,
    like ``partial_fit``, and returns them transformed, row i with the state before row i. The
    pipeline calls it instead of ``partial_fit`` and ``transform``, also for parts of a
    `ColumnTransformer` and of nested pipelines; ``classes`` and ``sample_weight`` are passed if its
    ``partial_fit`` accepts them. The next step is trained on these rows. In prediction, rows go
    through ``transform``, as always.

    Weights are passed to the model and to every transformer whose ``partial_fit`` accepts them. For
    a model without weights, a row of weight k is repeated k times; a transformer without weights
    gets it once.

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

    pipeline_: Pipeline
    # Name of a step replaced since rows were learnt; `fit` forgets it, as it forgets all the rest.
    _replaced_: str
    # Whether the user gave a `Pipeline`, which results note.
    _is_made_of_pipeline = False

    # Weights decide which rows are learnt, so they are requested here, and routed to the steps that
    # request them. The pipeline passes the classes to the last step.
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
        """Forget everything, then train on the rows in one ``partial_fit``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first; or whatever the first step accepts.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The pipeline itself.
        """
        classes, weight = self._start_again(X, y, sample_weight)
        return self.partial_fit(X, y, classes=classes, sample_weight=weight)

    def _start_again(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Forget everything; return the classes and weights of the rows to learn."""
        self._validate_params()
        forget(self)
        weight = check_weight(sample_weight, n_rows_of(X))
        check_some_weight(weight)
        if y is None and tags_of(self).target_tags.required:
            check_labels(self, y)  # scikit-learn's error
        known = y is not None and is_classifier(self)
        return np.unique(check_labels(self, y)) if known else None, weight

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> "StreamPipeline":
        """Train every step on the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first; or whatever the first step accepts.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call for a classifier.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped by every step.

        Returns
        -------
        self : object
            The pipeline itself.

        Raises
        ------
        TypeError
            If a step cannot be trained row by row. The message names steps that can.
        ValueError
            If the names of the steps are not unique, or one is reserved.
        """
        self.check_steps()
        weight = None if sample_weight is None else check_weight(sample_weight, n_rows_of(X))
        if weight is None or weight.any():
            X, y, weight = of_positive_weight(weight, X, y)
            self._learn_rows(X, y, weight, classes, is_wanted=False)
        return self

    @offered_if(_can_transform)
    def partial_fit_transform(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Let every step learn the rows, and return them as a further step would learn them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first; or whatever the first step accepts.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur.
        sample_weight : array-like of shape (n_rows,), default=None
            Positive weights.

        Returns
        -------
        {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features_out)
            The rows transformed. Each step has learnt the rows before it transforms them, unless it
            has a ``partial_fit_transform`` of its own: then that method decides.

        Raises
        ------
        ValueError
            If a weight is 0: a row that is not learnt is not shown to a further step.
        """
        self.check_steps()
        weight = None if sample_weight is None else check_weight(sample_weight, n_rows_of(X))
        if weight is not None and not weight.all():
            raise ValueError(
                f"sample_weight is 0 at row {int(weight.argmin())}. A row of weight 0 is skipped, "
                "so partial_fit_transform has nothing to return for it: leave it out, or call "
                "transform for it."
            )
        return self._learn_rows(X, y, weight, classes, is_wanted=True)

    @offered_if(_can_transform)
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Forget, learn the rows, and transform them with what is known then.

        If a step has a ``partial_fit_transform`` of its own, rows are transformed as
        `partial_fit_transform` of the pipeline does it.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights.

        Returns
        -------
        {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features_out)
            The rows transformed.
        """
        if not any(shows_while_learning(step) for _, step in self.steps):
            return self.fit(X, y, sample_weight=sample_weight).transform(X)
        classes, weight = self._start_again(X, y, sample_weight)
        return self.partial_fit_transform(X, y, classes=classes, sample_weight=weight)

    def check_steps(self) -> None:
        """Raise an error if these steps cannot be trained.

        Raises
        ------
        TypeError
            If steps are not pairs of a name and an estimator, or lack a method.
        ValueError
            If there are none, names are not unique or reserved, or a step was replaced by one not
            trained on the rows of the others.
        """
        if not hasattr(self, "pipeline_"):
            self._validate_params()
            self._validate_steps()
        elif hasattr(self, "_replaced_"):
            raise ValueError(
                f"{self._replaced_!r} was set after training, and the new step was not trained on "
                "these rows. Call fit, which starts again with it; partial_fit cannot continue."
            )

    def _learn_rows(self, X: Any, y: Any, weight: Any, classes: Any, *, is_wanted: bool) -> Any:
        """Let the steps learn rows of positive weight; return them transformed if wanted.

        At first copies of the steps learn. Later, those before a failing step forget the rows.
        """
        first = not hasattr(self, "pipeline_")
        given = self.steps if first else self.pipeline_.steps
        weights, steps, rollback = self._route_weight(weight), [], Rollback()
        try:
            for number, (name, step) in enumerate(given):
                is_last = number == len(given) - 1
                if is_last and _is_model(step):
                    if first:
                        _check_model(name, step)
                        step = unfitted_copy(step)
                    learner(step)(X, y, weights[name], classes)
                else:
                    if first:
                        step = prepared(name, step, X)
                    elif not is_last:
                        rollback.keep(step)
                    learn = learn_and_transform if is_wanted or not is_last else learn_rows
                    X = learn(step, X, y, weights[name], classes, first=first)
                steps.append((name, step))
        except BaseException:
            rollback.restore()
            raise
        if first:
            self.pipeline_ = FittedPipeline(steps)
        return X

    def _validate_steps(self) -> None:
        """Check names and abilities of the steps; replaces the checks of `Pipeline`."""
        if not self.steps:
            raise ValueError("The pipeline is empty. Please add steps.")
        for step in self.steps:
            if not isinstance(step, tuple | list) or len(step) != 2 or not isinstance(step[0], str):
                raise TypeError(
                    f"Every step must be a pair of a name and an estimator. Got {step!r}."
                )
        # Otherwise two steps would have parameters of the same name.
        names = [name for name, _ in self.steps]
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(
                f"Names of steps are not unique: {names}. Give another name to one of the steps "
                f"{repeated[0]!r}."
            )
        for name in names:
            if "__" in name or name in self._get_param_names():
                why = "holds '__'" if "__" in name else "is a parameter of the pipeline itself"
                raise ValueError(
                    f"The step name {name!r} {why}, so the step's parameters could not be "
                    "addressed as name__parameter. Give the step another name."
                )
        for name, step in self.steps:
            if isinstance(step, type):
                raise TypeError(
                    f"Step {name!r} is the class {step.__name__}, not an instance; "
                    f"pass {step.__name__}()."
                )
        for name, step in self.steps[:-1]:
            if not is_passthrough(step) and not hasattr(step, "transform"):
                raise TypeError(
                    f"Step {name!r}: {type(step).__name__} comes before the last step, so it must "
                    "be a transformer, but it has no method transform."
                )

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
        # Not those of scikit-learn's Pipeline, which asks steps for their tags two or three times,
        # and so nested pipelines two or three times as often at every depth.
        tags = super(Pipeline, self).__sklearn_tags__()
        try:
            steps = [step for _, _, step in self._iter()]
            given = [tags_of(step) for step in steps]
        except (AttributeError, TypeError, ValueError):
            return tags  # not pairs of a name and an estimator: `fit` raises an error about it
        if not given:
            return tags
        inputs = [step.input_tags for step in given]
        first, last = inputs[0], deepcopy(given[-1])
        if steps[0] is self.steps[0][1]:  # no "passthrough"
            tags.input_tags.pairwise = first.pairwise
        tags.input_tags.allow_nan = all(step.allow_nan for step in inputs)
        tags.input_tags.sparse = all(step.sparse for step in inputs)
        for name in ("positive_only", "string", "categorical"):
            setattr(tags.input_tags, name, getattr(first, name))
        tags.non_deterministic = any(step.non_deterministic for step in given)
        if steps[-1] is self.steps[-1][1]:  # no "passthrough"
            kinds = ("classifier_tags", "regressor_tags", "transformer_tags")
            for name in ("estimator_type", "target_tags", *kinds):
                setattr(tags, name, getattr(last, name))
        return tags

    def _fitted(self) -> Pipeline:
        check_is_fitted(self)
        return self.pipeline_

    @_last_step_has("predict")
    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Transform the rows and predict with the last step.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        **params : dict
            As for `Pipeline.predict`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels or numbers.
        """
        return array_of(self._fitted().predict(X, **params))

    @_last_step_has("predict_proba")
    def predict_proba(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Transform the rows and predict class probabilities with the last step.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        **params : dict
            As for `Pipeline.predict_proba`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return np.asarray(self._fitted().predict_proba(X, **params))

    @_last_step_has("predict_log_proba")
    def predict_log_proba(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Transform the rows and predict logarithms of class probabilities with the last step.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        **params : dict
            As for `Pipeline.predict_log_proba`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms, in the order of `classes_`.
        """
        return np.asarray(self._fitted().predict_log_proba(X, **params))

    @_last_step_has("decision_function")
    def decision_function(self, X: Any, **params: Any) -> NDArray[np.float64]:
        """Transform the rows and compute decision values with the last step.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        **params : dict
            As for `Pipeline.decision_function`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Decision values.
        """
        return np.asarray(self._fitted().decision_function(X, **params))

    @_last_step_has("score_samples")
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Transform the rows and score each with the last step.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        return np.asarray(self._fitted().score_samples(X))

    @_last_step_has("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Transform the rows and score the last step on them.

        Where a step uses the previous label, each row's label is known when the next row is
        predicted, and none is learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,), default=None
            True labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the last step's ``score``.
        **params : dict
            As for `Pipeline.score`.

        Returns
        -------
        float
            The score.
        """
        fitted = self._fitted()
        if params or get_config()["enable_metadata_routing"] or not UsersOfLabels(self).users:
            return float(fitted.score(X, y, sample_weight=sample_weight, **params))
        return score_in_order(self, X, y, sample_weight)

    @offered_if(_can_transform)
    def transform(self, X: Any, **params: Any) -> Any:
        """Transform the rows with all steps.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        **params : dict
            As for `Pipeline.transform`.

        Returns
        -------
        {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features_out)
            The rows transformed.
        """
        return self._fitted().transform(X, **params)

    @offered_if(_can_invert)
    def inverse_transform(self, X: Any, **params: Any) -> Any:
        """Undo the transformations, last step first.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features_out)
            Transformed rows.
        **params : dict
            As for `Pipeline.inverse_transform`.

        Returns
        -------
        {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features)
            The rows.
        """
        return self._fitted().inverse_transform(X, **params)

    @_last_step_has("fit_predict")
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """Forget, learn the rows, and predict them with what is known then.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions of the last step.
        """
        return array_of(self.fit(X, y, sample_weight=sample_weight).predict(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input columns.

        Returns
        -------
        ndarray of str
            The names.
        """
        return self._fitted().get_feature_names_out(input_features)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pipeline_")

    def _newest(self) -> Pipeline:
        """Fitted steps where there are any, else the steps as given."""
        return self.pipeline_ if hasattr(self, "pipeline_") else Pipeline(self.steps)

    def __getitem__(self, key: int | str | slice) -> Any:
        """Return a step, or a stream pipeline of some steps.

        Fitted steps once something has been learnt. A part of a pipeline shares them: what the part
        learns, the whole pipeline has learnt too.
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
        """The steps by name: the fitted ones after the first training rows."""
        return self._newest().named_steps

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, if the last step is a classifier."""
        return np.asarray(self._newest().classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the rows, if the first step counts them."""
        return int(self._first_step().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where the rows came in a data frame with string names."""
        return np.asarray(self._first_step().feature_names_in_)

    def _first_step(self) -> Any:
        return next(step for _, step in self._newest().steps if not is_passthrough(step))

    def set_params(self, **params: Any) -> "StreamPipeline":
        """Set parameters of the pipeline and its steps, as given and as fitted.

        Parameters
        ----------
        **params : dict
            Parameters; those of a step as ``name__parameter``.

        Returns
        -------
        self : object
            The pipeline itself.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        names = [name for name in params if name == "steps" or name in dict(self.steps)]
        if hasattr(self, "pipeline_"):
            set_fitted(dict(self.pipeline_.steps), params)
            if names:
                self._replaced_ = names[0]
        super().set_params(**params)
        return self

    def set_output(self, *, transform: str | None = None) -> "StreamPipeline":
        """Set the output container of transformers, as given and as fitted.

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
        """Return the metadata routing: `fit` and `partial_fit` call the steps' ``partial_fit``.

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
    """Whether the last step is a model that learns, not one more transformer."""
    if is_passthrough(step):
        return False
    return is_classifier(step) or is_regressor(step) or not hasattr(step, "transform")


def _check_model(name: str, model: Any) -> None:
    """Raise a TypeError that names the step if its model cannot learn."""
    try:
        check_can_learn(model)
    except TypeError as error:
        raise TypeError(f"Step {name!r}: {error}") from error


def is_plain_pipeline(model: Any) -> bool:
    """Whether a model is a pipeline that cannot learn row by row."""
    return isinstance(model, Pipeline) and not hasattr(model, "partial_fit")


def continued(pipeline: Pipeline) -> StreamPipeline:
    """Return a stream pipeline that goes on from a fitted `Pipeline`; it shares the steps.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted; pipelines among its steps may be plain ones, too.

    Returns
    -------
    StreamPipeline
        With the fitted steps. Copy it before it learns, if the given one shall stay as it is.

    Raises
    ------
    TypeError
        If a step would not learn the rows that follow, and is not frozen either.
    """
    check_is_fitted(pipeline)
    steps = [(n, continued(one) if is_plain_pipeline(one) else one) for n, one in pipeline.steps]
    for number, (name, step) in enumerate(steps, start=1):
        if number < len(steps) or not _is_model(step):
            check_goes_on(name, step)
        else:
            _check_model(name, step)
    whole = StreamPipeline(steps)
    whole.check_steps()
    whole.pipeline_ = FittedPipeline(whole.steps)
    return whole


def as_stream_pipeline(pipeline: Pipeline) -> StreamPipeline:
    """Return the stream pipeline of the steps of a `Pipeline`, which goes on if that is fitted."""
    whole = StreamPipeline(pipeline.steps)
    whole.check_steps()
    if all(is_passthrough(step) or is_fitted(step) for _, step in whole.steps):
        whole = continued(pipeline)
    whole._is_made_of_pipeline = True
    return whole


offer_learner(Pipeline, as_stream_pipeline)


def make_stream_pipeline(*steps: Any) -> StreamPipeline:
    """Make a stream pipeline whose steps are named after their types.

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
    StreamPipeline : With custom step names.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skstream.pipeline import make_stream_pipeline
    >>> make_stream_pipeline(StandardScaler(), SGDClassifier()).get_params(deep=False)["steps"]
    [('standardscaler', StandardScaler()), ('sgdclassifier', SGDClassifier())]
    """
    return StreamPipeline(make_pipeline(*steps).steps)


class Rollback:
    """Copies of the state of steps, made before they learn, to be put back if one fails.

    A copy takes some ten microseconds and the memory of the fitted arrays, far less than the
    ``partial_fit`` that follows. Values that cannot be copied, such as open files, and what an
    object stores outside its attributes (in compiled code) are not put back.
    """

    def __init__(self) -> None:
        self._states: list[tuple[Any, dict[str, Any]]] = []
        self._arrays: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._memo: dict[int, Any] = {}

    def keep(self, step: Any) -> None:
        """Copy the state of a step, if it learns, and that of estimators inside it."""
        is_columns = is_column_transformer(step)
        if is_columns or learns(step):
            self._keep(step, step.transformers_ if is_columns else ())

    def _keep(self, step: Any, parts: Any) -> None:
        for _, part, *_ in parts:
            self.keep(part)
        state = dict(vars(step)) if hasattr(step, "__dict__") else {}
        for name, value in state.items():
            if isinstance(value, BaseEstimator):
                self._keep(value, value.steps if isinstance(value, Pipeline) else ())
            # What holds the parts, and names of columns, are set with the first rows.
            elif not parts and not isinstance(value, Value) and name != "feature_names_in_":
                self._keep_arrays(value)
                with suppress(Exception):  # a lock, an open file: it stays
                    state[name] = deepcopy(value, self._memo)
        self._states.append((step, state))

    def _keep_arrays(self, value: Any) -> None:
        """Copy arrays, whose content is put back: their layout can decide about the last digit."""
        if isinstance(value, list | deque | dict):
            for element in value.values() if isinstance(value, dict) else value:
                self._keep_arrays(element)
        elif type(value) is np.ndarray and not value.dtype.hasobject and value.flags.writeable:
            self._arrays.append((value, value.copy(order="K")))
            self._memo[id(value)] = value

    def restore(self) -> None:
        """Put the state of all steps back."""
        for step, state in self._states:
            if state:
                vars(step).clear()
                vars(step).update(state)
        for array, content in self._arrays:
            array[...] = content
