"""A fitted pipeline of scikit-learn that goes on as a stream pipeline."""

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skstream.base import check_can_learn
from skstream.pipeline._asking import FittedPipeline
from skstream.pipeline._pipeline import StreamPipeline
from skstream.pipeline._transformers import check_goes_on


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
    steps = []
    *transformers, (last_name, last) = pipeline.steps
    for name, step in transformers:
        step = continued(step) if is_plain_pipeline(step) else step
        check_goes_on(name, step)
        steps.append((name, step))
    last = continued(last) if is_plain_pipeline(last) else last
    if not isinstance(last, FrozenEstimator):
        try:
            check_can_learn(last)
        except TypeError as error:
            raise TypeError(f"Step {last_name!r}: {error}") from error
    whole = StreamPipeline([*steps, (last_name, last)])
    whole.check_steps()
    whole.pipeline_ = FittedPipeline(whole.steps)
    return whole
