"""Continuous re-evaluation under delayed labels."""

import numbers
from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar

from skstream.core.evaluators.delayed.clock import LabelTimes
from skstream.core.evaluators.delayed.result import DelayedResult
from skstream.core.evaluators.delayed.run import DelayedRun
from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, StreamEvaluator, evaluator
from skstream.core.evaluators.options import Polling
from skstream.core.evaluators.settings import Settings
from skstream.core.rows.arrays import as_stream
from skstream.core.rows.stream import Stream
from skstream.core.timelines.delayed import DelayedTimeline
from skstream.core.timelines.timeline import Timeline
from skstream.utils._sklearn import Interval, validate_parameter_constraints


@evaluator
class DelayedEvaluator(StreamEvaluator):
    """Evaluate models whose labels come late, each after its own delay, or never.

    Every row is asked when it arrives, again and again while its label is awaited, and a last time
    just before the label is learnt. The time between arrival and label is divided into bins, which
    show how good the answers are at each time after the arrival.

    Parameters
    ----------
    delay : number, timedelta, array-like, str or callable, default=None
        Time from arrival to label where no label times are given: the same for all rows (rows,
        where arrivals are row numbers); per row; the column of the features that holds it; or
        ``f(X, arrival) -> delays``. Timedeltas where arrivals are datetimes (not months or years,
        which have no fixed length), else numbers; what
        `f` gets as `arrival` is described in the notes. Infinite or NaT: the label never comes.
    polling : Polling, default=Polling()
        Bins between arrival and label, how often a waiting row is asked again, and what of its
        answers is scored.
    missing_labels : {"error", "skip"}, default="error"
        Rows whose label is missing at its label time are an error, or are treated as never
        labelled. Where that time is after the last arrival, the row is pending, and asked once.

    Notes
    -----
    All times of an evaluation are of one kind: numbers, datetimes without a time zone, or
    datetimes with one. They may come as Python, NumPy, pandas, polars or pyarrow datetimes; all
    are exact to the microsecond, from 1684 to 2255. A mixture is an error.

    `delay`, and `features` and `reduce` of `polling`, get times of that kind: numbers, or
    ``datetime64[us]`` (durations: ``timedelta64[us]``). Datetimes with a time zone become those of
    UTC.

    References
    ----------
    Grzenda, M., Gomes, H. M., & Bifet, A. (2020). Delayed labelling evaluation for data
    streams. Data Mining and Knowledge Discovery, 34. Sections 3 and 4.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import DelayedEvaluator, Polling
    >>> from skstream.streams import make_demo_stream
    >>> stream = make_demo_stream(2000)
    >>> evaluator = DelayedEvaluator("accuracy", delay=100, polling=Polling(n_bins=5))
    >>> result = evaluator.evaluate({"sgd": SGDClassifier()}, stream)
    >>> result.by_bin("sgd", "accuracy").shape
    (7,)
    """

    protocol = "delayed"
    late_labels = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "polling": [Polling],
    }
    #: Labels come one by one, and are learnt one by one.
    batch_size = 1

    delay: Any = None
    polling: Polling = field(default_factory=Polling)

    def evaluate(
        self,
        models: Any,
        X: Any,
        y: Any = None,
        *,
        arrival: Any = None,
        label_time: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        warm_start: bool = False,
        return_models: bool = False,
    ) -> DelayedResult:
        """Evaluate models on a stream whose labels come late.

        Parameters
        ----------
        models : estimator, list of estimators, or dict of str to estimator
            Models with ``partial_fit``. They are cloned, and do not change.
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
            Features in the order of their arrival; or, without `y`, any iterable of chunks
            ``(X, y, meta)`` with "arrival" and "label_time" among the meta data.
        y : array-like of shape (n_rows,), default=None
            Labels or targets; may be missing where they never come.
        arrival : array-like of shape (n_rows,), default=None
            When the features become known, as numbers or datetimes that do not decrease; None:
            the row numbers.
        label_time : array-like of shape (n_rows,), default=None
            When the label becomes known, as numbers or datetimes like the arrivals; infinite,
            None, NaN or NaT: never. None: arrival plus `delay`, which must not be set otherwise.
        classes : array-like of shape (n_classes,), default=None
            All labels that may come; found in `y` where it is an array.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring.
        warm_start : bool, default=False
            Start from copies of fitted models instead of unfitted clones.
        return_models : bool, default=False
            Return the fitted copies in the attribute `models` of the result.

        Returns
        -------
        result : DelayedResult
            Scores by bin, and counts of rows with and without a label.

        Raises
        ------
        ValueError
            If a label precedes its row, arrivals go back in time, or times are of different
            kinds; says which row. If both `delay` and label times are given.

        Warns
        -----
        UndefinedMetricWarning
            If no row could be scored, so that all scores are NaN; says why.
        """
        stream = as_stream(
            X, y, sample_weight=sample_weight, arrival=arrival, label_time=label_time
        )
        if self.delay is not None:
            LabelTimes.of(self.delay).check_length(stream.n_rows)
        result = self._evaluate(models, stream, classes, warm_start, return_models)
        assert isinstance(result, DelayedResult)
        return result

    def start(
        self,
        models: Any,
        *,
        classes: Any = None,
        warm_start: bool = False,
        return_models: bool = False,
        max_pending: int | None = None,
    ) -> DelayedRun:
        """Start a live run, to which rows and labels are passed as they become known.

        Parameters
        ----------
        models : estimator, list of estimators, or dict of str to estimator
            Models with ``partial_fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that may come; not for regressors.
        warm_start : bool, default=False
            Start from copies of fitted models instead of unfitted clones.
        return_models : bool, default=False
            Return the fitted copies in the attribute `models` of results.
        max_pending : int, default=None
            Most rows that may wait: the oldest are dropped, and counted. None: no limit.

        Returns
        -------
        run : DelayedRun
            With ``ask(X, ids, t)``, ``label(ids, y, t)``, ``result()``, ``save(path)``.

        Examples
        --------
        >>> from skstream import DelayedEvaluator, MajorityClass
        >>> run = DelayedEvaluator("accuracy").start(MajorityClass(), classes=["a", "b"])
        >>> run.ask([[0.0]], ids=["first"], t=0)["MajorityClass"]
        array([None], dtype=object)
        >>> run = run.label(["first"], ["b"], t=5)
        >>> run.ask([[1.0]], ids=["second"], t=6)["MajorityClass"]
        array(['b'], dtype='<U1')
        >>> run.n_pending
        1
        """
        validate_parameter_constraints(
            {"max_pending": [Interval(numbers.Integral, 1, None, closed="left"), None]},
            {"max_pending": max_pending},
            caller_name="DelayedEvaluator.start",
        )
        run = super().start(
            models, classes=classes, warm_start=warm_start, return_models=return_models
        )
        assert isinstance(run, DelayedRun)
        run.max_pending = max_pending
        return run

    def _timelines(self, seed: int) -> list[Timeline]:
        return [DelayedTimeline(n_warmup=self.n_warmup, poll_every=self.polling.poll_every)]

    def _n_answers(self, n_rows: int) -> int:
        return n_rows * (self.polling.n_bins + 2)

    def _new_run(self, settings: Settings, stream: Stream | None) -> Callable[..., Any]:
        reduce = self.polling.reduce
        if reduce == "auto":
            reduce = "mean" if settings.classes is None else "dominant"
        if reduce == "mean" and settings.classes is not None:
            raise ValueError('reduce="mean" is for regressors; classes have no mean.')
        if reduce == "dominant" and settings.classes is None:
            raise ValueError('reduce="dominant" is for classifiers; use "mean" for regressors.')
        polling = replace(self.polling, reduce=reduce)
        return partial(DelayedRun, settings, polling=polling, label_times=LabelTimes.of(self.delay))
