"""A scorer for scikit-learn's model selection that goes on test-then-train."""

import inspect
import numbers
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from skstream.base import check_can_learn
from skstream.evaluation import PrequentialEvaluator
from skstream.evaluation._settings import named_models
from skstream.forgetting import as_forgetting
from skstream.metrics import Measure
from skstream.metrics._measure import name_of
from skstream.metrics._resolve import resolve_metrics, task_of
from skstream.model_selection._time_order import warn_of_index
from skstream.pipeline._asking import FittedPipeline
from skstream.pipeline._pipeline import StreamPipeline
from skstream.pipeline._transformers import check_goes_on
from skstream.utils._label_space import NO_LABEL, UNKNOWN, LabelSpace
from skstream.utils._labels import as_labels, find_classes
from skstream.utils._sklearn import (
    Interval,
    MetadataRequester,
    StrOptions,
    n_rows_of,
    scorer_parts,
    validate_parameter_constraints,
    weights_of_fit_alone,
)
from skstream.utils._validation import is_classifier, is_fitted
from skstream.utils._warnings import warn


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


__all__ = ["prequential_scorer"]

_CONSTRAINTS = {
    "batch_size": [Interval(numbers.Integral, 1, None, closed="left")],
    "engine": [StrOptions({"auto", "loop"})],
}


class PrequentialScorer(MetadataRequester):
    """A scorer that starts from a copy of the fitted model; see `prequential_scorer`.

    It has no parameters of its own for a search, which prints the sign of its scores instead.
    """

    # Scikit-learn routes weights to scorers by the signature of a method of this name.
    __metadata_request__score: ClassVar[dict[str, Any]] = {"estimator": UNUSED}

    def __init__(
        self,
        metric: Any,
        *,
        forgetting: Any = "cumulative",
        batch_size: int = 1,
        engine: Literal["auto", "loop"] = "auto",
    ) -> None:
        self.metric = metric
        self.forgetting = forgetting
        self.batch_size = batch_size
        self.engine = engine

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score a copy of a fitted model; see `score`."""
        return self.score(estimator, X, y, sample_weight)

    def score(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score a copy of a fitted model test-then-train on rows that follow its training rows.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``partial_fit``; or a plain `Pipeline` of such steps. It does not change.
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            The test rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring.

        Returns
        -------
        float
            The measure after the last row; a measure of which lower values are better, times -1.
        """
        if y is None:
            raise ValueError(f"{self!r} needs y: the label of every test row is learnt after it.")
        model = continued(estimator) if is_plain_pipeline(estimator) else estimator
        named = named_models(model)
        (name,) = named
        if not is_fitted(model):
            raise ValueError(
                f"{self!r} starts from a fitted model, and this {type(model).__name__} has learnt "
                "nothing: call fit first, or use a PrequentialEvaluator."
            )
        classes = _classes_of(model, y) if is_classifier(model) else None
        warn_of_index(X)
        if sample_weight is None:
            _warn_of_lost_weights(self)
        ((metric, measure),) = resolve_metrics(self.metric, classes=classes).items()
        called = measure.function is not None  # it needs all rows, and is called at checkpoints
        evaluator = PrequentialEvaluator(
            self.metric,
            forgetting=self.forgetting,
            batch_size=min(self.batch_size, n_rows_of(X)),
            engine=self.engine,
            n_warmup=0,
            warm_start=True,
            record_every=n_rows_of(X) if called else None,
            keep_tape=called,
            random_state=0,
        )
        result = evaluator.evaluate(named, X, y, classes=classes, sample_weight=sample_weight)
        value = float(result.scores[name][metric])
        return -value if measure.higher_is_better is False else value

    def _accept_sample_weight(self) -> bool:
        """Whether scikit-learn may pass weights, where metadata routing is off."""
        return True

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = [
            f"{name}={value!r}"
            for name, value in vars(self).items()
            if name in defaults and name != "metric" and not _same(value, defaults[name].default)
        ]
        loss = _loss_of(self.metric)
        sign = f" -> -{loss}" if loss else ""
        return f"prequential_scorer({', '.join([_name_of(self.metric), *given])}){sign}"


def prequential_scorer(
    metric: Any,
    *,
    forgetting: Any = "cumulative",
    batch_size: int = 1,
    engine: Literal["auto", "loop"] = "auto",
) -> PrequentialScorer:
    """Make a scorer that goes on test-then-train from the fitted model.

    For ``scoring=`` of `GridSearchCV`, `RandomizedSearchCV`, `cross_validate`, `learning_curve`
    and `validation_curve`, together with ``cv=PrequentialSplit(n_warmup)``: the model is fitted on
    the warm-up; a copy of it predicts every row that follows before it learns that row, by the
    engine of the evaluators.

    Parameters
    ----------
    metric : str, callable or Measure
        One measure, as evaluators take it: a name, a function ``f(y_true, y_pred)``, a
        ``functools.partial`` of one, a scorer of scikit-learn, or a `Measure`.
    forgetting : str or Forgetting, default="cumulative"
        Which test rows the score remembers. "cumulative": all of them.
    batch_size : int, default=1
        Rows that are all predicted, then all learnt in one ``partial_fit``.
    engine : {"auto", "loop"}, default="auto"
        "auto" uses an exact kernel where there is one.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None) -> float``, higher is better: measures of
        which lower values are better are multiplied by -1, as its printed form says. A function
        of your own counts as higher is better; pass ``Measure(function, higher_is_better=False)``
        otherwise. It has ``set_score_request`` for metadata routing. To score by several measures
        pass scikit-learn a dict of scorers.

    Raises
    ------
    ValueError
        If the measure or the forgetting is unknown, or the measure does not say how good a model
        is. Of the scorer: if the model is not fitted, or a test row has a label that the model
        has not met.
    TypeError
        If there are several measures or mechanisms. Of the scorer: if the model cannot learn row
        by row.

    Warns
    -----
    UserWarning
        By the scorer, if ``fit`` had weights and scikit-learn passes none to the scorer.
    FutureLeakWarning
        By the scorer, if the index of a data frame shows that the test rows go back in time, or
        are some of the first rows but not all of them, as in folds; or if a row has no time there.

    See Also
    --------
    PrequentialSplit : The splitter for it.
    check_time_order : Whether a splitter of your own trains on the future.
    skstream.PrequentialEvaluator : Models along a stream, without a split.
    skstream.DelayedEvaluator : The same, with labels that come late.

    Notes
    -----
    The score equals that of a `PrequentialEvaluator` with ``warm_start=True`` and ``n_warmup=0`` on
    the test rows, to the last bit. The baselines of the kappas begin with the first test row.

    The label of every test row is learnt before the next row is asked: a ``gap`` or
    ``label_times`` of a splitter protect the training part only. Use `DelayedEvaluator` where
    labels come late.

    Weights reach the scorer from ``fit(X, y, sample_weight=...)`` of a search, or by metadata
    routing, after ``set_score_request(sample_weight=True)``; a warning tells where they do not.

    A scorer sees neither the training rows nor the splitter: ask `check_time_order` whether a
    splitter trains on the future. A plain `Pipeline` goes on as a `StreamPipeline` with its fitted
    steps. Scikit-learn turns an error of a scorer into NaN; pass ``error_score="raise"`` to see it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skstream import TemporalCorrection
    >>> from skstream.model_selection import PrequentialSplit, prequential_scorer
    >>> from skstream.streams import make_demo_stream
    >>> X, y, _ = next(iter(make_demo_stream(500)))
    >>> search = GridSearchCV(
    ...     TemporalCorrection(SGDClassifier(loss="log_loss", random_state=0)),
    ...     {"fading_factor": [0.9, 0.99, 1.0]},
    ...     scoring=prequential_scorer("kappa_temporal"),
    ...     cv=PrequentialSplit(n_warmup=100),
    ... )
    >>> search.fit(X, y).best_params_
    {'fading_factor': 0.99}
    >>> prequential_scorer("error")
    prequential_scorer('error') -> -error
    """
    options = {"batch_size": batch_size, "engine": engine}
    validate_parameter_constraints(_CONSTRAINTS, options, caller_name="prequential_scorer")
    _check_metric(metric)
    if len(as_forgetting(forgetting)) > 1:
        raise TypeError(
            f"A scorer gives one number, under one mechanism of forgetting. Got {forgetting!r}. "
            "Pass scikit-learn a dict of scorers: {name: prequential_scorer(...), ...}."
        )
    return PrequentialScorer(metric, forgetting=forgetting, batch_size=batch_size, engine=engine)


def _check_metric(metric: Any) -> None:
    """Raise an error now for what would be an error of every later call."""
    if metric is None or isinstance(metric, list | tuple | set | Mapping):
        raise TypeError(
            f"A scorer gives one number, by one measure. Got {metric!r}. For several measures pass "
            'scikit-learn a dict of scorers: {"kappa": prequential_scorer("kappa"), ...}.'
        )
    if not isinstance(metric, str | Measure) and not callable(metric):
        _resolved(metric)  # its error
    # Classes that a name speaks of are known later, and so are those that options of functions do.
    if isinstance(metric, str) and ":" not in metric and _resolved(metric).higher_is_better is None:
        raise ValueError(
            f"{metric!r} does not say how good a model is: no value of it is better than another. "
            "Choose by another measure."
        )


def _resolved(metric: Any) -> Measure:
    # Stand-ins for classes that are not known yet; an unknown name is told of "f1:<class>".
    classes = None if task_of(metric) == "targets" else ["<a>", "<class>"]
    (measure,) = resolve_metrics(metric, classes=classes).values()
    return measure


def _loss_of(metric: Any) -> str:
    """Name what the score is minus of; empty for a measure of which higher values are better."""
    parts = scorer_parts(metric)
    if parts is not None:
        return name_of(parts[0]) if parts[1] < 0 else ""
    with suppress(ValueError, TypeError):
        measure = _resolved(metric)
        return measure.name if measure.higher_is_better is False else ""
    return ""


def _name_of(metric: Any) -> str:
    return repr(metric) if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _warn_of_lost_weights(scorer: PrequentialScorer) -> None:
    """Warn if `fit` got weights, and scikit-learn gives the scorer none."""
    lost = weights_of_fit_alone()
    if lost:
        warn(
            f"{scorer!r} scores and learns the test rows without weights, and fit had {lost[0]}: "
            "scikit-learn passes weights on to a scorer from the fit of a search alone, as "
            "fit(X, y, sample_weight=...), or by metadata routing. Call "
            "sklearn.set_config(enable_metadata_routing=True) and ask for them: "
            "prequential_scorer(...).set_score_request(sample_weight=True); False: without weights."
        )


def _classes_of(model: Any, y: Any) -> np.ndarray:
    """Classes of a fitted classifier, which must be all that the test rows have."""
    known = getattr(model, "classes_", None)
    if known is None or np.ndim(known) != 1:
        return find_classes(y)
    classes = as_labels(known)
    labels = as_labels(y)
    space = LabelSpace(classes)
    codes = space.encode_answers(labels)
    if (codes == NO_LABEL).any():
        raise ValueError(
            f"Test row {int((codes == NO_LABEL).argmax())} has no label (None or NaN), and cannot "
            "be scored: leave such rows out before the search."
        )
    new = np.flatnonzero(codes == UNKNOWN)
    if len(new):
        row = int(new[0])
        subject = f"{type(model).__name__} has not learnt the label of test row {row},"
        raise ValueError(
            f"{space.unknown(labels[row], subject)} Take a longer warm-up that holds every class: "
            "PrequentialSplit(n_warmup=...)."
        )
    return classes
