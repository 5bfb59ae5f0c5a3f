"""Prediction methods of a stream pipeline, through its fitted steps."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skstream.base import Method, offered_if
from skstream.pipeline._transformers import is_passthrough
from skstream.utils._labels import array_of


def last_step_has(method: str) -> Callable[[Method], Method]:
    """Offer a method only where the last step has it."""

    def check(pipeline: Any) -> bool:
        getattr(pipeline.steps[-1][1], method)  # raises the step's own AttributeError
        return True

    return offered_if(check)


def can_transform(pipeline: Any) -> bool:
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


class AsksFittedSteps:
    """Mixin: the prediction methods of `Pipeline`, on the fitted steps in ``pipeline_``."""

    pipeline_: Pipeline

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Forget everything, then learn the rows; see `StreamPipeline`."""
        raise NotImplementedError

    def _fitted(self) -> Pipeline:
        check_is_fitted(self)
        return self.pipeline_

    @last_step_has("predict")
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

    @last_step_has("predict_proba")
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

    @last_step_has("predict_log_proba")
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

    @last_step_has("decision_function")
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

    @last_step_has("score_samples")
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

    @last_step_has("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Transform the rows and score the last step on them.

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
        return float(self._fitted().score(X, y, sample_weight=sample_weight, **params))

    @offered_if(can_transform)
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

    @last_step_has("fit_predict")
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
        """Names of the columns that come out of the pipeline.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns that go in.

        Returns
        -------
        ndarray of str
            The names.
        """
        return self._fitted().get_feature_names_out(input_features)
