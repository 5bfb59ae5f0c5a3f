"""Continuous re-evaluation under delayed labels."""

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from skstream.core.evaluators.delayed.clock import LabelTimes
from skstream.core.evaluators.delayed.result import DelayedResult
from skstream.core.evaluators.delayed.run import DelayedRun
from skstream.core.evaluators.delayed.scoring import DelaySettings
from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, StreamEvaluator, evaluator
from skstream.core.evaluators.settings import Settings
from skstream.core.rows.arrays import as_stream
from skstream.core.rows.stream import Stream
from skstream.core.timelines.delayed import DelayedTimeline
from skstream.core.timelines.timeline import Timeline
from skstream.utils._sklearn import Interval, StrOptions
from skstream.utils._warnings import warn


@evaluator
class DelayedEvaluator(StreamEvaluator):
    """Evaluate models whose labels come late, each after its own delay, or never.

    Every row is asked when it arrives, again and again while its label is awaited, and a last time
    just before the label is learnt. The time between arrival and label is divided into bins, which
    show how good the answers are at each time after the arrival.

    Parameters
    ----------
    metrics : str, callable, list or dict, default=None
        Measures, as in `PrequentialEvaluator`.
    delay : number, timedelta, array-like, str or callable, default=None
        Time from arrival to label where no label times are given: the same for all rows (rows,
        where arrivals are row numbers); per row; the column of the features that holds it; or
        ``f(X, arrival) -> delays``. Timedeltas where arrivals are datetimes (not months or years,
        which have no fixed length), else numbers; what
        `f` gets as `arrival` is described in the notes. Infinite or NaT: the label never comes.
    n_bins : int, default=50
        Bins between arrival and label.
    poll_every : int, default=10
        A waiting row is asked again whenever this many labels have come since it arrived.
        None: never, which is the "delayed" protocol of Gomes et al. 2017.
    reduce : {"auto", "dominant", "mean"} or callable, default="auto"
        The answer of a bin: the one shown longest (ties: the lowest class), the mean weighted
        by time, or ``f(answers, durations)``, called for every bin of every scored row with the
        answers that were in force there and how long (where the label comes at once, one time for
        all bins, with the newest answer and the duration 0). "auto": "dominant" for classifiers
        and "mean" for regressors. Probabilities, where a measure needs them, are always the mean
        weighted by time.
    previous_label : {"newest", "known_at_arrival"}, default="newest"
        What the persistent baseline of kappa_temporal answers: the label that came before the
        row's own, or, in all bins but the last, the newest label known when the row arrived,
        which is the only label that a real predictor could repeat.
    features : callable, default=None
        ``features(rows, times)`` gives the features of rows (by number) as known at times, where
        they change while a row waits: for every question but the first, and for learning.
    max_pending : int, default=None
        Most rows that may wait in a live run: the oldest are dropped, and counted. None: no
        limit.
    forgetting : str, Forgetting or dict of str to Forgetting, default="cumulative"
        Which rows count in the running means, in the order of labels.
    n_warmup : int, default=1
        Labels learnt before anything is asked. Rows that arrive earlier are unscored. A model that
        cannot learn the first row alone (`IncrementalPCA`, `MiniBatchKMeans` as a step) learns all
        of them in one call. 0: there is no warm-up. Models must be able to answer then: fitted
        models, with `warm_start`, and the baselines that repeat, count or average labels, which
        begin with the lowest class, or 0.
    record_every : int, str or timedelta, default=None
        Distance of the checkpoints of the curves, in labels; or a duration, such as "1D", for the
        end of every day, where the stream says when its rows came. None: at most 1,024, the
        distance doubling as the stream grows. The last row is always a checkpoint.
    missing_labels : {"error", "skip"}, default="error"
        Rows whose label is missing at its label time are an error, or are treated as never
        labelled. Where that time is after the last arrival, the row is pending, and asked once.
    keep_tape : bool or "auto", default="auto"
        Keep labels and answers, with which a result can be scored again and compared row by row.
        "auto": up to a gigabyte of them.
    engine : {"auto", "loop"}, default="auto"
        "auto" uses an exact kernel where there is one; "loop" calls every model row by row.
    warm_start : bool, default=False
        Start from copies of fitted models instead of unfitted clones.
    return_models : bool, default=False
        Return the fitted copies in the attribute `models` of the result.
    random_state : int, default=None
        Seed of every random_state parameter that is None, nested ones too. None: drawn, and
        recorded in the result.
    n_jobs : int, default=None
        Workers at once, through joblib. Results do not depend on it. Each worker reads the stream
        once, for a group of models of about equal cost. Where workers would not be faster,
        all is done in this process, and the printed result says so.
    unanswered : {"error", "wrong", "first"}, default="error"
        A row that was asked and got no answer (None or NaN) is a failure of the model, or is
        scored as an error, or as the first of the classes, as CapyMOA 0.15.1 counts it (classifiers
        only). Rows asked before a model has learnt anything are none of these.
    error_score : "raise" or float, default="raise"
        Score of a model from the row on at which it fails, while the others go on; its earlier
        scores and answers stay. A measure of probabilities is NaN for a model that has none.
        "raise": a failure ends the evaluation, and a lack of probabilities is an error before it.
    progress : bool, default=False
        Show a progress bar (needs tqdm).
    checkpoint : str or path-like, default=None
        Folder from which the same call of `evaluate` resumes where it was stopped: the models are
        saved there every ten minutes. These files are pickles: use only folders that you trust.

    Notes
    -----
    All times of an evaluation are of one kind: numbers, datetimes without a time zone, or
    datetimes with one. They may come as Python, NumPy, pandas, polars or pyarrow datetimes; all
    are exact to the microsecond, from 1684 to 2255. A mixture is an error.

    `delay`, `features` and `reduce` get times of that kind: numbers, or ``datetime64[us]``
    (durations: ``timedelta64[us]``). Datetimes with a time zone become those of UTC.

    References
    ----------
    Grzenda, M., Gomes, H. M., & Bifet, A. (2020). Delayed labelling evaluation for data
    streams. Data Mining and Knowledge Discovery, 34. Sections 3 and 4.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import DelayedEvaluator
    >>> from skstream.streams import make_demo_stream
    >>> stream = make_demo_stream(2000)
    >>> evaluator = DelayedEvaluator("accuracy", delay=100, n_bins=5)
    >>> result = evaluator.evaluate({"sgd": SGDClassifier()}, stream)
    >>> result.by_bin("sgd", "accuracy").shape
    (7,)
    """

    protocol = "delayed"
    late_labels = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_bins": [Interval(numbers.Integral, 1, None, closed="left")],
        "poll_every": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "reduce": [StrOptions({"auto", "dominant", "mean"}), callable],
        "previous_label": [StrOptions({"newest", "known_at_arrival"})],
        "features": [callable, None],
        "max_pending": [Interval(numbers.Integral, 1, None, closed="left"), None],
    }
    #: Labels come one by one, and are learnt one by one.
    batch_size = 1

    delay: Any = None
    n_bins: int = 50
    poll_every: int | None = 10
    reduce: str | Callable[..., Any] = "auto"
    previous_label: str = "newest"
    features: Callable[..., Any] | None = None
    max_pending: int | None = None

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
        UserWarning
            If `max_pending` is set, which is for live runs alone.
        """
        stream = as_stream(
            X, y, sample_weight=sample_weight, arrival=arrival, label_time=label_time
        )
        if self.delay is not None:
            LabelTimes.of(self.delay).check_length(stream.n_rows)
        if self.max_pending is not None:
            warn(
                "max_pending is for live runs (start): in evaluate, every row waits for its label."
            )
        result = self._evaluate(models, stream, classes)
        assert isinstance(result, DelayedResult)
        return result

    def start(self, models: Any, *, classes: Any = None) -> DelayedRun:
        """Start a live run, to which rows and labels are passed as they become known.

        Parameters
        ----------
        models : estimator, list of estimators, or dict of str to estimator
            Models with ``partial_fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that may come; not for regressors.

        Returns
        -------
        run : DelayedRun
            With ``ask(X, ids, t)``, ``label(ids, y, t)``, ``result()``, ``save(path)``.

        Examples
        --------
        >>> from skstream import DelayedEvaluator, MajorityClass
        >>> run = DelayedEvaluator("accuracy", n_bins=2).start(MajorityClass(), classes=["a", "b"])
        >>> run.ask([[0.0]], ids=["first"], t=0)["MajorityClass"]
        array([None], dtype=object)
        >>> run = run.label(["first"], ["b"], t=5)
        >>> run.ask([[1.0]], ids=["second"], t=6)["MajorityClass"]
        array(['b'], dtype='<U1')
        >>> run.n_pending
        1
        """
        run = super().start(models, classes=classes)
        assert isinstance(run, DelayedRun)
        return run

    def _timelines(self, seed: int) -> list[Timeline]:
        return [DelayedTimeline(n_warmup=self.n_warmup, poll_every=self.poll_every)]

    @property
    def _n_bins(self) -> int:
        return self.n_bins

    def _n_answers(self, n_rows: int) -> int:
        return n_rows * (self.n_bins + 2)

    def _new_run(self, settings: Settings, stream: Stream | None) -> Callable[..., Any]:
        reduce = self.reduce
        if reduce == "auto":
            reduce = "mean" if settings.classes is None else "dominant"
        if reduce == "mean" and settings.classes is not None:
            raise ValueError('reduce="mean" is for regressors; classes have no mean.')
        if reduce == "dominant" and settings.classes is None:
            raise ValueError('reduce="dominant" is for classifiers; use "mean" for regressors.')
        delay = DelaySettings(
            n_bins=self.n_bins,
            reduce=reduce,
            label_times=LabelTimes.of(self.delay),
            previous_label=self.previous_label,
            features=self.features,
            max_pending=self.max_pending,
        )
        return partial(DelayedRun, settings, delay=delay)
