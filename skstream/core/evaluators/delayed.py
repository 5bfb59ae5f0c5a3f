"""Continuous re-evaluation with delayed labels, and its result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from skstream.core.evaluators.delayed_run import DelayedRun
from skstream.core.evaluators.delayed_times import LabelTimes, Waits
from skstream.core.evaluators.evaluator import (
    COMMON_CONSTRAINTS,
    StreamEvaluator,
    advise,
    evaluator,
)
from skstream.core.evaluators.settings import COUNT, Polling, Settings
from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import checkpoint, in_words
from skstream.core.rows.arrays import as_stream
from skstream.core.rows.stream import Stream
from skstream.core.run.input import why_no_weight
from skstream.core.run.tape import tape_of
from skstream.core.timelines.delayed import DelayedTimeline
from skstream.core.timelines.timeline import Timeline
from skstream.utils._choices import check_choice
from skstream.utils._optional import display
from skstream.utils._rows import check_same_order
from skstream.utils._sklearn import validate_parameter_constraints
from skstream.utils._tables import filled


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DelayedResult(EvaluationResult):
    """Result of an evaluation with delayed labels.

    As `EvaluationResult`, with a last axis of bins: bin 0 holds the first answers, given at
    arrival; bins 1 to `n_bins` the answers shown while the label was awaited; bin
    ``n_bins + 1`` the last answers, given when the label came (test-then-train). `n_rows`
    counts labelled rows, in the order in which labels came, and so do `drifts`: one starts where
    the first label of a row of the new truth came, and ends after the last label of a row of the
    old one. ``scores`` are those of the last
    bin.

    Attributes
    ----------
    values : dict
        ``values[model][forgetting][metric]``: ndarray of shape (n_checkpoints, 1, n_bins + 2).
    waits : Waits
        Counts of rows pending, never labelled and unanswered, and the costs of polling.
    selected_bins : tuple of int or None
        The bins that are left, where `select` left some out; None: all.
    """

    waits: Waits
    selected_bins: tuple[int, ...] | None = None

    @property
    def n_bins(self) -> int:
        """Number of bins between arrival and label."""
        return self.waits.n_bins

    @property
    def bins(self) -> tuple[int, ...]:
        """Numbers of the bins, 0 to ``n_bins + 1``; fewer where `select` left some out."""
        return tuple(range(self.n_bins + 2)) if self.selected_bins is None else self.selected_bins

    def rescore(
        self,
        metrics: Any = None,
        *,
        forgetting: Any = "cumulative",
        record_every: Any = None,
    ) -> Self:
        """Score the tape again with other measures or forgetting; no model is run.

        Parameters
        ----------
        metrics : str, callable, list or dict, default=None
            As for the evaluator; None: the standard measures.
        forgetting : str, Forgetting, list or dict, default="cumulative"
            As for the evaluator.
        record_every : int, str or timedelta, default=None
            As for the evaluator.

        Returns
        -------
        result : DelayedResult
            The same answers with new scores.

        Raises
        ------
        ValueError
            If no tape was kept.
        """
        whole = replace(self, selected_bins=None)  # the tape holds the answers of all bins
        rescored = super(DelayedResult, whole).rescore(
            metrics, forgetting=forgetting, record_every=record_every
        )
        return rescored if self.selected_bins is None else rescored.select(bins=self.bins)

    def predictions(
        self,
        model: str,
        *,
        fold: int | None = None,
        bin: int | None = None,
        order: str = "rows",
        every_row: bool = False,
    ) -> Any:
        """Return the labelled rows that a model has answered, and its answers.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=None
            Fold; None: the first.
        bin : int, default=None
            Bin, such as 0 for the first answers; None: all, of the rows answered in each.
        order : {"rows", "labels"}, default="rows"
            "rows": as they arrived. "labels": as their labels came, as on the tape.
        every_row : bool, default=False
            Return the answers in all bins alone, one line for each row that arrived, or by labels
            for each labelled row.

        Returns
        -------
        rows : ndarray of shape (n_answered,), dtype int
            Numbers of the rows in the stream: ``y[rows]`` are their labels.
        y_pred : ndarray of shape (n_answered,), or (n_answered, n_bins + 2) of all bins
            Predicted labels, of the type of the labels, or targets. With `every_row`
            ``(n_arrived, n_bins + 2)``, or ``(n_rows, n_bins + 2)`` by labels, and None or NaN for
            rows without an answer or label.
        """
        check_choice(order, "order", ("rows", "labels"))
        tape, waits, position = tape_of(self), self.waits, self._position_on_tape(model, fold)
        if not every_row:
            rows, answers = tape.answered(model, position, bin)
            by = np.argsort(rows) if order == "rows" else slice(None)
            return rows[by], answers[by]
        answers = tape.predictions(model, position)
        if order == "labels":
            return answers
        n_arrived = waits.n_labelled + waits.n_never + waits.n_pending + waits.n_dropped
        shape = n_arrived, answers.shape[1]
        if n_arrived == len(answers):
            by_row = np.empty(shape, dtype=answers.dtype)
        elif tape.classes is None:
            by_row = np.full(shape, np.nan)
        else:
            by_row = np.full(shape, None, dtype=object)
        by_row[tape.row] = answers
        return by_row

    def _why_nothing_scored(self) -> str:
        """Return why no row was scored; an empty text if a row was, or may still be, scored."""
        waits = self.waits
        if self._has_no_weight:
            return why_no_weight(self.n_rows)
        if waits.n_labelled > waits.n_unanswered:
            return ""
        if waits.n_labelled:
            return (
                f"{waits.n_labelled:,} labels came, but all their rows had arrived before the "
                f"models had enough training labels to predict (delay: {waits.delays_as_text()}). "
                "Compare the delays with the length of the stream, and see n_warmup."
            )
        if waits.n_pending:  # of a live run
            return ""
        return f"no label came; {waits.n_never:,} rows will never get one."

    def by_bin(
        self,
        model: str,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        at: int | None = None,
    ) -> np.ndarray:
        """Return the values of a measure by bin (Grzenda et al.'s Lambda of T and b).

        Parameters
        ----------
        model : str
            Name of the model.
        metric : str, default=None
            Name of the measure; None: the first.
        forgetting : str, default=None
            Name of the mechanism; None: the first.
        at : int, default=None
            Number of labelled rows to look at; None: all.

        Returns
        -------
        values : ndarray of shape (len(bins),)
            Values of the ``bins``, at the last checkpoint not after `at`; NaN where no label has
            come.
        """
        curve = self.curve(model, metric, forgetting=forgetting)
        if at is None and not len(curve):
            return np.full(len(self.bins), np.nan)
        return curve[checkpoint(self, at), 0]

    def summary(
        self,
        metric: str | None = None,
        *,
        weights: str | Sequence[float] = "uniform",
        forgetting: str | None = None,
    ) -> dict[str, float]:
        """Return a weighted mean over the bins by model (Grzenda et al.'s Psi).

        Parameters
        ----------
        metric : str, default=None
            Name of the measure; None: the first.
        weights : str or sequence of float of length len(bins), default="uniform"
            Weight of every one of the ``bins``, or the name of a preset: "first", "last",
            "first_and_last", "uniform", "second_half", "exponential" (doubling with every tenth
            of the bins).
        forgetting : str, default=None
            Name of the mechanism; None: the first.

        Returns
        -------
        summary : dict of str to float
            Weighted mean by model.
        """
        w = bin_weights(weights, self.n_bins, self.bins)
        return {
            model: float(w @ self.by_bin(model, metric, forgetting=forgetting) / w.sum())
            for model in self.model_names
        }

    def __str__(self) -> str:
        waits = self.waits
        counts = (
            f"{waits.n_labelled:,} labels arrived ({waits.n_unanswered:,} too early to be scored); "
            f"{waits.n_pending:,} rows pending, {waits.n_never:,} never labelled, "
            f"{waits.n_dropped:,} dropped\n"
            f"delay: {waits.delays_as_text()}; {waits.n_polls:,} periodic predictions"
        )
        return f"{super().__str__()}\n{filled(counts)}"

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Plot a measure by bin.

        Parameters
        ----------
        metric : str, default=None
            Measure; None: the first one of the scores.
        **options
            Passed to ``BinnedPerformanceDisplay.from_result``. A result of one bin is plotted
            over time, others by bin, if there is no ``kind``.

        Returns
        -------
        display : BinnedPerformanceDisplay
            With attributes ``ax_``, ``figure_``, ``lines_`` and ``legend_``.
        """
        options.setdefault("kind", "time" if len(self.bins) == 1 else "bins")
        return display("BinnedPerformanceDisplay").from_result(self, metric, **options)


def bin_weights(weights: str | Sequence[float], n_bins: int, bins: Sequence[int]) -> np.ndarray:
    """Weights of some of the bins 0 to ``n_bins + 1``.

    Parameters
    ----------
    weights : str or sequence of float
        Name of a preset, or the weights.
    n_bins : int
        Number of bins between arrival and label.
    bins : sequence of int
        Numbers of the bins.

    Returns
    -------
    weights : ndarray of shape (len(bins),)
        The weights.
    """
    n = n_bins + 2
    if not isinstance(weights, str):
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != (len(bins),) or (given < 0).any() or not given.sum() > 0:
            raise ValueError(
                f"weights must be {len(bins)} numbers (bins {in_words(bins)}), none negative "
                f"and not all 0. Got shape {given.shape} instead."
            )
        return given
    bin = np.arange(n)
    presets = {
        "first": bin == 0,
        "last": bin == n - 1,
        "first_and_last": (bin == 0) | (bin == n - 1),
        "uniform": bin >= 0,
        "second_half": bin >= n / 2,
        "exponential": 2.0 ** (10 * bin / n),
    }
    if weights not in presets:
        raise ValueError(f"weights must be one of {list(presets)}, or numbers. Got {weights!r}.")
    picked: np.ndarray = presets[weights][list(bins)].astype(np.float64)
    if not picked.any():
        raise ValueError(
            f"The bins of this result, {bins}, have weight 0 under {weights!r}. Select other bins, "
            "or pass a weight for each."
        )
    return picked


@evaluator
class DelayedEvaluator(StreamEvaluator):
    """Evaluate models with delayed labels, each after its own delay, or never.

    Every row is predicted when it arrives, again and again while its label is awaited, and a last
    time just before training on it. The time between arrival and label is divided into bins, which
    show how good the predictions are at each time after the arrival.

    Parameters
    ----------
    delay : number, timedelta, array-like, str or callable, default=None
        Time from arrival to label, if no label times are given: one for all rows (a number of rows
        if arrivals are row numbers); one per row; the name of the feature column that holds it; or
        ``f(X, arrival) -> delays``. Timedeltas if arrivals are datetimes (not months or years,
        which have no fixed length), or for all rows a text such as "3D", else numbers; the notes
        describe what `f` gets as `arrival`. Infinite or NaT: the label never comes.
    polling : Polling, default=Polling()
        Bins between arrival and label, how often a waiting row is predicted again, and which of its
        predictions are scored.
    missing_labels : {"error", "skip"}, default="error"
        Rows whose label is missing at its label time are an error, or are treated as never
        labelled. If that time is after the last arrival, the row is pending, and predicted once.

    Notes
    -----
    All times of an evaluation are of one kind: numbers, datetimes without a time zone, or
    datetimes with one. They may be Python, NumPy, pandas, polars or pyarrow datetimes; all are
    exact to the microsecond, from 1684 to 2255. Mixing kinds is an error.

    `delay`, and `features` and `reduce` of `polling`, get times of that kind: numbers, or
    ``datetime64[us]`` (durations: ``timedelta64[us]``). Datetimes with a time zone are converted to
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
    # Labels come one by one, and are learnt one by one.
    batch_size = 1

    delay: Any = None
    polling: Polling = field(default_factory=Polling)

    @advise
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
        """Evaluate models on a stream with delayed labels.

        Parameters
        ----------
        models : estimator, list of estimators, or dict of str to estimator
            Models with ``partial_fit``. They are cloned; yours are left unchanged.
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
            Features in the order of their arrival; or, without `y`, any iterable of chunks
            ``(X, y, meta)`` with "arrival" and "label_time" among the meta data.
        y : array-like of shape (n_rows,), default=None
            Labels or targets; may be missing if they never come.
        arrival : array-like of shape (n_rows,), default=None
            When the features become known, as numbers or datetimes that do not decrease; None:
            the row numbers.
        label_time : array-like of shape (n_rows,), default=None
            When the label becomes known, as numbers or datetimes like the arrivals; infinite,
            None, NaN or NaT: never. None: arrival plus `delay`, which may only be set in this case.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; found in `y` if it is an array.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for training and scoring.
        warm_start : bool, default=False
            Start from copies of fitted models instead of unfitted clones.
        return_models : bool, default=False
            Return the fitted copies in the attribute `models` of the result.

        Returns
        -------
        result : DelayedResult
            Scores by bin, and counts of rows with and without labels.

        Raises
        ------
        ValueError
            If a label precedes its row, arrivals go back in time, or times are of different kinds;
            the message names the row. If both `delay` and label times are given.

        Warns
        -----
        UndefinedMetricWarning
            If no row could be scored, so that all scores are NaN; the message says why.
        """
        stream = as_stream(
            X, y, sample_weight=sample_weight, arrival=arrival, label_time=label_time
        )
        if self.delay is not None:
            LabelTimes.of(self.delay).check_length(stream.n_rows)
            if hasattr(self.delay, "iloc"):
                check_same_order({"X": X, "delay": self.delay})
        called = {"warm_start": warm_start, "return_models": return_models}
        result = self._evaluate(models, stream, classes, **called)
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
            All labels that can occur; not for regressors.
        warm_start : bool, default=False
            Start from copies of fitted models instead of unfitted clones.
        return_models : bool, default=False
            Return the fitted copies in the attribute `models` of results.
        max_pending : int, default=None
            Largest number of waiting rows: beyond it the oldest are dropped, and counted. None: no
            limit.

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
            {"max_pending": [COUNT, None]},
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
