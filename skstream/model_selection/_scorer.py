"""A scorer that goes on test-then-train, and guards of the order of time, for scikit-learn."""

import inspect
import numbers
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import UNUSED

from skstream.core.evaluators.settings import named_models
from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import resolve_metrics, task_of
from skstream.evaluation import PrequentialEvaluator, RunOptions
from skstream.metrics import Measure
from skstream.pipeline._pipeline import continued, is_plain_pipeline
from skstream.utils._labels import NO_LABEL, UNKNOWN, LabelSpace, as_labels, find_classes
from skstream.utils._rows import check_same_order
from skstream.utils._sklearn import (
    Interval,
    MetadataRequester,
    n_rows_of,
    validate_parameter_constraints,
    variables_of_fit_and_score,
)
from skstream.utils._validation import is_classifier, is_fitted
from skstream.utils._warnings import warn


class FutureLeakWarning(UserWarning):
    """A model is tested on rows that come before rows it was trained on, or out of order.

    See Also
    --------
    PrequentialSplit : Trains on the first rows and tests on those that follow.

    Examples
    --------
    >>> import warnings
    >>> from skstream.model_selection import FutureLeakWarning
    >>> warnings.simplefilter("error", FutureLeakWarning)  # for the tests of a project
    """


def check_time_order(cv: Any, X: Any, y: Any = None, groups: Any = None, **params: Any) -> Any:
    """Warn if a splitter trains on its test rows or later ones, or shuffles rows.

    In scikit-learn's searches, scorers and estimators see neither the splitter nor the other part
    of the rows. Check here, where the splitter and all rows are known: ``GridSearchCV(...,
    cv=check_time_order(cv, X, y))``.

    Parameters
    ----------
    cv : splitter, or iterable of (train, test)
        The value for ``cv=``. Numbers of folds are rejected.
    X : array-like of shape (n_rows, n_features)
        The rows, oldest first.
    y : array-like of shape (n_rows,), default=None
        Labels, for splitters that use them.
    groups : array-like of shape (n_rows,), default=None
        Groups, for splitters that use them.
    **params
        Further arguments of ``cv.split``: ``times=times`` for a window splitter that gets them by
        metadata routing.

    Returns
    -------
    cv : splitter or list of (train, test)
        The given splitter; an iterable as a list.

    Raises
    ------
    ValueError
        If `cv` is None or a number: scikit-learn makes folds of it, and all but the last are
        trained on the future. If it is not a splitter, or does not yield row positions; or if there
        are `params` but no splitter.
    TypeError
        If the splitter does not accept the `params`.

    Warns
    -----
    FutureLeakWarning
        Names the first split that trains on the future or on a row that it tests, whose rows are
        not in order, or that tests a row twice.

    Notes
    -----
    Only positions are checked. Whether labels are known in time depends on `gap` and `label_times`
    of the splitters for training rows, and on `DelayedEvaluator` for test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from skstream.model_selection import check_time_order
    >>> check_time_order(TimeSeriesSplit(3), np.zeros((20, 1))).get_n_splits()
    3
    """
    check_consistent_length(X, y)
    check_same_order({"X": X, "y": y, "groups": groups})
    if cv is None or isinstance(cv, numbers.Integral):
        raise ValueError(
            f"cv={cv!r} makes folds, and all but the last are trained on rows that come after "
            f"their test rows. Use PrequentialSplit(n_warmup={max(1, n_rows_of(X) // 10)}) with "
            "prequential_scorer, or a walk-forward splitter: ExpandingWindowSplit, "
            "SlidingWindowSplit, or scikit-learn's TimeSeriesSplit."
        )
    is_splitter = hasattr(cv, "split") and not isinstance(cv, type | str)
    name = type(cv).__name__ if is_splitter else "cv"
    splits = cv if is_splitter else _given_splits(cv, params)
    for number, split in enumerate(cv.split(X, y, groups, **params) if is_splitter else splits):
        train, test = _parts_of(split, n_rows_of(X), f"Split {number} of {name}")
        problem = _problem(train, test)
        if problem:
            _warn_of_problem(f"Split {number} of {name} {problem}")
            break
    return splits


def _given_splits(cv: Any, params: dict[str, Any]) -> list[Any]:
    """Return splits that were given themselves."""
    if isinstance(cv, type):
        raise ValueError(
            f"cv is the class {cv.__name__}. Pass one of its splitters: {cv.__name__}(...)."
        )
    if isinstance(cv, str | Mapping) or not isinstance(cv, Iterable):
        raise ValueError(
            "cv must be a splitter, such as PrequentialSplit(n_warmup=...), or an iterable of "
            f"(train, test) positions. Got {cv!r} of type {type(cv).__name__} instead."
        )
    if params:
        raise ValueError(
            f"{', '.join(params)} would be passed to cv.split, but cv already contains its splits."
        )
    return list(cv)


def _parts_of(split: Any, n_rows: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the rows to train on and to test on."""
    with suppress(TypeError, ValueError):
        train, test = (_positions(rows, n_rows) for rows in split)
        return train, test
    shown = repr(split)
    raise ValueError(
        f"{name} must be a pair (train, test) of positions of rows, from 0 to {n_rows - 1:,}, or "
        f"of masks of {n_rows:,} values. Got {shown if len(shown) < 200 else shown[:200] + '...'}"
    )


def _positions(rows: Any, n_rows: int) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.shape == (0,):  # a list without rows would be one of floats
        return np.zeros(0, dtype=np.intp)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if (
        rows.dtype.kind not in "iu"
        or rows.ndim != 1
        or rows.min() < -n_rows
        or rows.max() >= n_rows
    ):
        raise ValueError
    return np.where(rows < 0, rows + n_rows, rows)  # as NumPy takes them


def _problem(train: np.ndarray, test: np.ndarray) -> str:
    """Say what is wrong with a split; empty if it keeps the order of time."""
    if not len(train) or not len(test):
        return ""
    both = np.intersect1d(train, test)
    if len(both):
        more = f" and {len(both) - 1:,} more" if len(both) > 1 else ""
        return f"trains on row {both[0]:,}{more} and also tests it: the model knows the label."
    late = int(np.count_nonzero(train > test.min()))
    if late:
        return (
            f"tests row {test.min():,} and trains on {late:,} "
            f"{'row that comes' if late == 1 else 'rows that come'} after it (up to row "
            f"{train.max():,}): the model has seen the future of that row."
        )
    repeated = np.flatnonzero(np.diff(np.sort(test)) == 0)
    if len(repeated):
        row = np.sort(test)[repeated[0]]
        return f"tests row {row:,} more than once: it counts repeatedly, and is trained on again."
    for part, rows in (("training", train), ("test", test)):
        if len(rows) > 1 and (np.diff(rows) < 0).any():
            return (
                f"has its {part} rows in shuffled order: the model is not trained in order of time."
            )
    return ""


#: What each scorer has warned of: a search has many candidates, and sets the filters back.
_problems_told: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def _warn_of_split(scorer: Any) -> None:
    """Warn, once for each split, if scikit-learn calls a scorer for one that knows the future."""
    split = variables_of_fit_and_score()
    problem = _problem(split["train"], split["test"]) if split else ""
    told = _problems_told.setdefault(scorer, set())
    if problem and problem not in told:
        told.add(problem)
        _warn_of_problem(f"The split {problem}")


def _warn_of_problem(problem: str) -> None:
    warn(
        f"{problem} Use PrequentialSplit(n_warmup=...) with prequential_scorer, or a walk-forward "
        "splitter such as ExpandingWindowSplit.",
        FutureLeakWarning,
    )


_CONSTRAINTS = {
    "batch_size": [Interval(numbers.Integral, 1, None, closed="left")],
    "kernels": ["boolean"],
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
        kernels: bool = True,
    ) -> None:
        self.metric = metric
        self.forgetting = forgetting
        self.batch_size = batch_size
        self.kernels = kernels

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
            Weights for training and scoring.

        Returns
        -------
        float
            The measure after the last row; a measure of which lower values are better, times -1.
        """
        if y is None:
            raise ValueError(
                f"{self!r} needs y: the model is trained on every test row after predicting it."
            )
        model = continued(estimator) if is_plain_pipeline(estimator) else estimator
        named = named_models(model)
        ((name, model),) = named.items()
        if not is_fitted(model):
            raise ValueError(
                f"{self!r} starts from a fitted model, but this {type(model).__name__} is not "
                "fitted: call fit first, or use a PrequentialEvaluator."
            )
        classes = _classes_of(model, y) if is_classifier(model) else None
        _warn_of_split(self)
        ((metric, measure),) = resolve_metrics(self.metric, classes=classes).items()
        called = measure.function is not None  # it needs all rows, and is called at checkpoints
        evaluator = PrequentialEvaluator(
            self.metric,
            forgetting=self.forgetting,
            batch_size=min(self.batch_size, n_rows_of(X)),
            n_warmup=0,
            record_every=n_rows_of(X) if called else None,
            run=RunOptions(kernels=self.kernels, keep_tape=called),
            random_state=0,
        )
        result = evaluator.evaluate(
            named, X, y, classes=classes, sample_weight=sample_weight, warm_start=True
        )
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
    kernels: bool = True,
) -> PrequentialScorer:
    """Make a scorer that continues test-then-train from the fitted model.

    For ``scoring=`` of `GridSearchCV`, `RandomizedSearchCV`, `cross_validate`, `learning_curve`
    and `validation_curve`, together with ``cv=PrequentialSplit(n_warmup)``: the model is fitted on
    the warm-up; a copy of it predicts every following row before training on it, with the engine of
    the evaluators.

    Parameters
    ----------
    metric : str, callable or Measure
        One measure, as for evaluators: a name, a function ``f(y_true, y_pred)``, a
        ``functools.partial`` of one, or a `Measure`.
    forgetting : str or Forgetting, default="cumulative"
        Which test rows count in the score. "cumulative": all of them.
    batch_size : int, default=1
        Rows that are all predicted, then all used for training in one ``partial_fit``.
    kernels : bool, default=True
        Use an exact kernel where one exists. False: call the model row by row.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None) -> float``, higher is better: measures for
        which lower values are better are multiplied by -1, as its printed form says. For your own
        function, higher is assumed to be better; pass ``Measure(function, higher_is_better=False)``
        otherwise. It has ``set_score_request`` for metadata routing. For several measures, pass
        scikit-learn a dict of scorers.

    Raises
    ------
    ValueError
        If the measure or the forgetting is unknown, or the measure has no better direction. From
        the scorer: if the model is not fitted, or a test row has a label that the model does not
        know.
    TypeError
        If there are several measures or mechanisms. From the scorer: if the model cannot be trained
        row by row.

    Warns
    -----
    FutureLeakWarning
        From the scorer, if scikit-learn calls it for a split that trains on rows after the test
        rows, or in a different order, as folds do.

    See Also
    --------
    PrequentialSplit : The splitter for it.
    check_time_order : Checks whether your own splitter trains on the future.
    skstream.PrequentialEvaluator : Evaluates models along a stream, without a split.
    skstream.DelayedEvaluator : The same, with delayed labels.

    Notes
    -----
    The score equals that of a `PrequentialEvaluator` with ``n_warmup=0`` and ``warm_start=True`` on
    the test rows, to the last bit. The baselines of the kappas start at the first test row.

    The model is trained on every test row before the next is predicted: a ``gap`` or
    ``label_times`` of a splitter protect the training part only. Use `DelayedEvaluator` for delayed
    labels.

    Weights reach the scorer from ``fit(X, y, sample_weight=...)`` of a search, or by metadata
    routing, after ``set_score_request(sample_weight=True)``.

    Before the search, `check_time_order` checks whether a splitter trains on the future. A plain
    `Pipeline` continues as a `StreamPipeline` with its fitted steps. Scikit-learn turns an error of
    a scorer into NaN; pass ``error_score="raise"`` to see it.

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
    options = {"batch_size": batch_size, "kernels": kernels}
    validate_parameter_constraints(_CONSTRAINTS, options, caller_name="prequential_scorer")
    _check_metric(metric)
    if len(as_forgetting(forgetting)) > 1:
        raise TypeError(
            f"A scorer returns one number, for one forgetting mechanism. Got {forgetting!r}. Pass "
            "scikit-learn a dict of scorers: {name: prequential_scorer(...), ...}."
        )
    return PrequentialScorer(metric, forgetting=forgetting, batch_size=batch_size, kernels=kernels)


def _check_metric(metric: Any) -> None:
    """Raise an error now for what would be an error of every later call."""
    if metric is None or isinstance(metric, list | tuple | set | Mapping):
        raise TypeError(
            f"A scorer returns one number, for one measure. Got {metric!r}. For several measures "
            'pass scikit-learn a dict of scorers: {"kappa": prequential_scorer("kappa"), ...}.'
        )
    if not isinstance(metric, str | Measure) and not callable(metric):
        _resolved(metric)  # its error
    # Classes that a name speaks of are known later, and so are those that options of functions do.
    if isinstance(metric, str) and ":" not in metric and _resolved(metric).higher_is_better is None:
        raise ValueError(
            f"{metric!r} has no better direction: none of its values is better than another. Use "
            "another measure."
        )


def _resolved(metric: Any) -> Measure:
    # Stand-ins for classes that are not known yet; an unknown name is told of "f1:<class>".
    classes = None if task_of(metric) == "targets" else ["<other class>", "<class>"]
    (measure,) = resolve_metrics(metric, classes=classes).values()
    return measure


def _loss_of(metric: Any) -> str:
    """Name what the score is minus of; empty for a measure of which higher values are better."""
    with suppress(ValueError, TypeError):
        measure = _resolved(metric)
        return measure.name if measure.higher_is_better is False else ""
    return ""


def _name_of(metric: Any) -> str:
    return repr(metric) if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


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
            f"Test row {int((codes == NO_LABEL).argmax())} has no label (None or NaN) and cannot "
            "be scored: leave such rows out before the search."
        )
    new = np.flatnonzero(codes == UNKNOWN)
    if len(new):
        row = int(new[0])
        subject = f"{type(model).__name__} does not know the label of test row {row},"
        raise ValueError(
            f"{space.unknown(labels[row], subject)} Use a longer warm-up that contains every "
            "class: PrequentialSplit(n_warmup=...)."
        )
    return classes
