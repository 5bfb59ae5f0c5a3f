"""Any model with ``fit`` along a stream: fitted again and again on the rows that came last."""

from datetime import timedelta
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import UNUSED, process_routing
from sklearn.utils.validation import check_is_fitted

from skstream._kept_rows import NO_TIME, Part, Window, appended, kept_part, last_rows
from skstream._meta import (
    InnerMethods,
    MetaEstimator,
    OrderedScore,
    answers_of,
    check_can_be_fitted,
    check_divisible_rows,
    weight_name,
    with_tags_of,
)
from skstream.adaptive import read_until_alarm
from skstream.base import (
    check_can_learn,
    check_classes,
    check_labels,
    check_some_weight,
    check_targets,
    check_weight,
    forget,
    learner,
    of_positive_weight,
    offered_if,
    repetitions,
)
from skstream.baselines import MajorityClass, MeanRegressor
from skstream.core.detector import fresh_detector
from skstream.drift import DriftDetector
from skstream.utils._labels import LabelSpace, array_of
from skstream.utils._rows import own_rows
from skstream.utils._sklearn import HasMethods, Interval, n_rows_of, rows_of
from skstream.utils._times import (
    AWARE,
    DATETIMES,
    MISSING,
    UNITS,
    Calendar,
    as_microseconds,
    calendar_of,
    parse_duration,
    time_column,
)
from skstream.utils._validation import (
    is_classifier,
    is_regressor,
    tags_of,
    unfitted_copy,
)

__all__ = ["PeriodicRefit"]

Floats = NDArray[np.float64]

#: Rows known before the first fit where only alarms are followed by others.
_ROWS_BEFORE_ALARMS = 100


class Progress(NamedTuple):
    """What a schedule of refits depends on, and what it has done: a value.

    Attributes
    ----------
    window : tuple of (X, y, weight, time)
        The rows learnt last, in parts.
    model : estimator or None
        The newest model that was fitted; None before the first.
    n_known : int
        Rows learnt.
    n_since : int
        Rows learnt since the last attempt to refit.
    detector : DriftDetector or None
        What reads the losses.
    n_warned : int
        Rows since its warning began; 0 where there is none.
    refits : tuple of int
        After how many rows learnt each model was fitted.
    n_failed : int
        Attempts that have failed.
    failure : str
        Why the last of them has; empty if none has.
    seconds : float
        Time of all attempts.
    times : tuple of int
        When each model was fitted, in microseconds since 1970; `NO_TIME` where no clock says it.
    models : tuple of estimator
        The models of all refits, where they are kept.
    end : int
        When the next period of the calendar begins; `NO_TIME` before the first time.
    """

    window: Window = ()
    model: Any = None
    n_known: int = 0
    n_since: int = 0
    detector: DriftDetector | None = None
    n_warned: int = 0
    refits: tuple[int, ...] = ()
    n_failed: int = 0
    failure: str = ""
    seconds: float = 0.0
    times: tuple[int, ...] = ()
    models: tuple[Any, ...] = ()
    end: int = NO_TIME


class PeriodicRefit(OrderedScore, InnerMethods, MetaEstimator):
    """Refit a model from scratch on the newest labelled rows, at regular intervals.

    This lets you evaluate any estimator with ``fit`` on a stream, next to models with
    ``partial_fit``: boosting, forests, pipelines with column transformers, LightGBM or XGBoost
    models. It collects the rows whose labels have arrived, in the order of arrival of the labels.
    After every `every` of them, a copy of the estimator is fitted on the last `window` and makes
    all predictions until the next refit.

    Parameters
    ----------
    estimator : classifier or regressor
        Model with ``fit`` and ``predict``; every refit fits a copy.
    every : int, str, timedelta or None
        Number of training rows between two refits; or a calendar period, to refit at its beginning:
        a duration such as ``"12h"`` or ``"7D"`` (which begins on Monday), or a pandas alias of a
        period's first date, such as ``"MS"`` (month start), or of a period, such as ``"W-SUN"``
        (weeks ending on Sunday). None: refit only on alarms of `detector`; without a detector, the
        model is fitted once, after `min_rows`, and never again.
    window : int, str or timedelta, default=None
        Each refit uses this many of the newest rows, or the rows that arrived (with delayed labels:
        whose labels arrived) within this time, such as ``"90D"``. None: all rows so far, which are
        all kept in memory.
    min_rows : int, default=None
        Training rows before the first refit, and smallest number of rows for a refit shortened by
        an alarm. None: `every`, or 100 if that is not a number of rows.
    detector : DriftDetector, default=None
        Reads whether the model was wrong about each row (for a regressor: the absolute error) right
        before the row is used for training; an alarm triggers a refit at once. That refit uses the
        rows since the warning began, if these are `min_rows` or more and fewer than `window`, else
        the last `window`. A fresh copy is used from the first row on: setting another detector
        later has no effect.
    before : estimator, default=None
        Model with ``partial_fit`` that predicts until the first refit; it is trained on the rows as
        they arrive. None: the majority class, or the mean.
    weight_decay : float, default=None
        Fading factor in (0, 1]: in a refit, a row followed by n others has weight ``weight_decay **
        n``. None: all rows have the same weight.
    time_zone : str, default=None
        Time zone in which the periods of `every` begin, such as ``"Europe/Berlin"``, if arrivals
        have a time zone. None: UTC.
    keep_models : bool, default=False
        Whether to keep the models of all refits, in memory and when saved.

    Attributes
    ----------
    estimator_ : estimator
        The model that predicts: that of the last refit, or `before` until there is one.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; only for classifiers.
    n_refits_ : int
        Number of refits.
    refit_rows_ : ndarray of shape (n_refits_,), dtype int64
        Number of training rows before each refit.
    refit_times_ : ndarray of shape (n_refits_,), dtype datetime64[us]
        Time of each refit, in UTC if arrivals have a time zone: the beginning of its period, or
        else the time of the newest row. NaT if neither `every` nor `window` is a time.
    refit_models_ : list of estimator
        The models of all refits, oldest first; only with ``keep_models=True``.
    n_failed_refits_ : int
        Number of refits that have failed. The previous model is kept.
    last_failure_ : str
        Why the last of these failed; empty if none did.
    detector_ : DriftDetector or None
        The detector in use.
    n_rows_learnt_ : int
        Number of training rows; rows of weight 0 do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    sklearn.frozen.FrozenEstimator : A fitted model that never changes.
    skstream.adaptive.DriftReset : A model with ``partial_fit`` that starts again on alarms.

    Notes
    -----
    A refit happens right after the row that completes the period, before the next prediction.
    Between two refits the model does not change, so an evaluator predicts many rows in one call if
    that gives the same values in every digit as single rows: for trees and ensembles of trees, also
    at the end of pipelines. Other models predict row by row.

    Probabilities have a column for every class of the stream: classes missing from a refit have
    probability 0. Their decision value is the lowest of its row.

    If a refit fails, as many classifiers do if the window contains a single class, the previous
    model stays in use, the next attempt is `every` rows later, and `n_failed_refits_` counts the
    failure. If the very first refit fails for another reason, an error is raised.

    A calendar refit happens before the first row of a period is predicted or used for training, on
    the training rows before it; if the window is a time, on those that arrived within that time
    before the period began. A period without rows has no refit. Evaluators report the time of every
    call through `time_passes`: the arrival of the row, or of its label if that is late; if several
    rows share a call, the time of the last, and when each arrived. Only the evaluated model itself
    receives it, not a model nested in another one.

    ``fit`` fits once, on the last `window` of the given rows; ``partial_fit`` continues from there.
    Rows of weight 0 are skipped. Other weights are passed to the estimator's ``fit``; if it takes
    none, a row of weight k is repeated k times. Each counts as one row of the window.

    All refits have the same `random_state`: that of the given estimator. An evaluator sets it if it
    is None.

    References
    ----------
    Gama, J., Žliobaitė, I., Bifet, A., Pechenizkiy, M., & Bouchachia, A. (2014). A survey on
    concept drift adaptation. ACM Computing Surveys 46(4). Section 3.3.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skstream import PrequentialEvaluator
    >>> from skstream.refit import PeriodicRefit
    >>> from skstream.streams import make_demo_stream
    >>> tree = DecisionTreeClassifier(max_depth=4)
    >>> models = {
    ...     "weekly": PeriodicRefit(tree, every=336, window=1000),
    ...     "daily": PeriodicRefit(tree, every=48, window=1000),
    ... }
    >>> evaluator = PrequentialEvaluator("accuracy", random_state=0)
    >>> result = evaluator.evaluate(models, make_demo_stream(2000), return_models=True)
    >>> {name: model.n_refits_ for name, model in result.models.items()}
    {'weekly': 5, 'daily': 41}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "every": [Interval(Integral, 1, None, closed="left"), str, timedelta, None],
        "window": [Interval(Integral, 1, None, closed="left"), str, timedelta, None],
        "min_rows": [Interval(Integral, 1, None, closed="left"), None],
        "detector": [HasMethods("update"), None],
        "before": "no_validation",
        "weight_decay": [Interval(Real, 0, 1, closed="right"), None],
        "time_zone": [str, None],
        "keep_models": ["boolean"],
    }
    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False

    _learns_by = "fit"

    # The classes are known here.
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {
        "sample_weight": True,
        "classes": UNUSED,
    }

    classes_: NDArray[Any]
    _before: Any
    _progress: Progress
    _now = NO_TIME  # as `time_passes` has told it
    _came: Any = NO_TIME  # when the rows of the next `partial_fit` came: one time, or one of each

    def __init__(
        self,
        estimator: Any,
        *,
        every: int | str | timedelta | None,
        window: int | str | timedelta | None = None,
        min_rows: int | None = None,
        detector: DriftDetector | None = None,
        before: Any = None,
        weight_decay: float | None = None,
        time_zone: str | None = None,
        keep_models: bool = False,
    ):
        self.estimator = estimator
        self.every = every
        self.window = window
        self.min_rows = min_rows
        self.detector = detector
        self.before = before
        self.weight_decay = weight_decay
        self.time_zone = time_zone
        self.keep_models = keep_models

    @property
    def n_refits_(self) -> int:
        """Number of refits."""
        return len(self._progress.refits)

    @property
    def refit_rows_(self) -> NDArray[np.int64]:
        """Number of training rows before each refit."""
        return np.array(self._progress.refits, dtype=np.int64)

    @property
    def refit_times_(self) -> NDArray[np.datetime64]:
        """When each refit was made."""
        times = self._progress.times or (NO_TIME,) * self.n_refits_
        return np.array(times, dtype="datetime64[us]")

    @property
    def refit_models_(self) -> list[Any]:
        """The models of all refits."""
        if not self.keep_models:
            raise AttributeError("The models of earlier refits are kept with keep_models=True.")
        return list(self._progress.models)

    @property
    def n_failed_refits_(self) -> int:
        """Number of refits that have failed."""
        return self._progress.n_failed

    @property
    def last_failure_(self) -> str:
        """Why the last of these failed; empty if none did."""
        return self._progress.failure

    def refits_so_far(self) -> tuple[int, tuple[int, ...], int, str, float]:
        """Return the cost of the refits so far, for the costs of an evaluation.

        Returns
        -------
        n_known : int
            Number of training rows.
        rows : tuple of int
            Number of training rows before each refit.
        n_failed : int
            Number of refits that failed.
        failure : str
            Why the last of them failed.
        seconds : float
            Time taken by all refits.
        """
        now = self._progress
        return now.n_known, now.refits, now.n_failed, now.failure, now.seconds

    @property
    def detector_(self) -> DriftDetector | None:
        """The detector in use."""
        return self._progress.detector

    @property
    def n_rows_learnt_(self) -> int:
        """Rows learnt."""
        return self._progress.n_known

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PeriodicRefit":
        """Forget everything, then fit the model once, on the last `window` of these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If the model cannot be fitted on these rows; from its own error.
        """
        forget(self)
        self._begin()
        check_some_weight(check_weight(sample_weight, n_rows_of(X)))
        classes = np.unique(check_labels(self, y)) if is_classifier(self) else None
        X, y, weight = self._checked(X, y, sample_weight, classes, first=True)
        if isinstance(self.window, str | timedelta):
            raise ValueError(
                f"window={self.window!r} counts time, but fit does not know when the rows arrived. "
                "Call time_passes and partial_fit, or give a number of rows."
            )
        part = last_rows((kept_part(X, y, weight),), self.window)
        started = perf_counter()
        model = _fitted(self, part, self._classes())
        self._progress = new_progress(self)._replace(
            window=(part,),
            model=model,
            n_known=len(y),
            refits=(len(y),),
            seconds=perf_counter() - started,
            times=(NO_TIME,) * counts_time(self),
            models=(model,) * self.keep_models,
        )
        self._before, self.estimator_ = None, model
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "PeriodicRefit":
        """Train on rows in their order, and refit the model whenever it is due.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; classifiers require it in the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is skipped and changes nothing.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        TypeError
            If the estimator is neither a classifier nor a regressor, or cannot be fitted.
        ValueError
            If `classes` is missing in the first call, a label is not among them, the rows have a
            different number of columns than before, the time is needed but unknown, or the very
            first refit fails.
        """
        first = not self.__sklearn_is_fitted__()
        self._begin()  # every time: parameters may be set between two calls
        if first and classes is not None and hasattr(self, "classes_"):
            del self.classes_  # left by a first call that failed
        if counts_time(self) and self._now == NO_TIME:
            raise ValueError(
                f"{self._counting()} of PeriodicRefit counts time, but no time was given: call "
                "time_passes before partial_fit, as evaluators do."
            )
        came = np.asarray(self._came)
        if came.ndim and len(came) != n_rows_of(X):
            raise ValueError(
                f"time_passes got the times of {len(came)} rows, but partial_fit got "
                f"{n_rows_of(X)} rows."
            )
        if came.ndim and sample_weight is not None:
            came, _ = of_positive_weight(check_weight(sample_weight, len(came)), came)
        if "_came" in vars(self):
            self._came = self._now
        X, y, weight = self._checked(X, y, sample_weight, classes, first=first)
        if not len(y):
            return self
        came = np.broadcast_to(came, len(y))
        progress = at_time(self, new_progress(self), self._now) if first else self._progress
        before = new_before(self) if first else self._before
        begin, labels = 0, y if self._classes() is None else self.classes_[y]
        while begin < len(y):
            rows = np.arange(begin, len(y))[: rows_until_refit(self, progress)]
            losses = None
            if progress.detector is not None and progress.model is not None:
                answers = array_of(progress.model.predict(own_rows(rows_of(X, rows))))
                losses = losses_of(answers, y[rows], self._classes())
            progress, alarm, n_rows = read(progress, losses, len(rows))
            rows = rows[:n_rows]
            rows_weight = None if weight is None else weight[rows]
            part = kept_part(rows_of(X, rows), y[rows], rows_weight, came[rows])
            if before is not None:
                known = self._classes() if not begin and first else None
                learner(before)(own_rows(part[0]), labels[rows], part[2], known)
            progress = learnt_rows(self, progress, part, self._classes(), alarm=alarm)
            before = before if progress.model is None else None
            begin += n_rows
            self._before, self._progress = before, progress
            self.estimator_ = before if progress.model is None else progress.model
        return self

    @offered_if(lambda self: counts_time(self))
    def time_passes(self, now: Any, came: Any = None) -> "PeriodicRefit":
        """Set the current time before rows are predicted or used for training; refit if due.

        Evaluators call this. Only with a period or a duration as `every` or `window`.

        Parameters
        ----------
        now : datetime
            The time, not before that of earlier training rows; in UTC if it has a time zone.
        came : array-like of shape (n_rows,), default=None
            When the rows of the next ``partial_fit`` arrived, if the window is a time. None: now.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If time goes backwards.
        """
        time = int(as_microseconds(time_column([now], "now"), "now")[0])
        if self.__sklearn_is_fitted__():
            progress = at_time(self, self._progress, time, self._classes())
            if progress is not self._progress:
                self._progress = progress
                self._before = self._before if progress.model is None else None
                self.estimator_ = self._before if progress.model is None else progress.model
        self._now = self._came = time
        if came is not None:
            self._came = as_microseconds(time_column(came, "came"), "came").astype(np.int64)
        return self

    def check_clock(self, kind: str) -> None:
        """Raise an error if the parameters do not suit this kind of times.

        Parameters
        ----------
        kind : str
            Such as "datetimes with a time zone", or "missing values".

        Raises
        ------
        ValueError
            If they do not.
        """
        self._begin()
        if kind not in (AWARE, DATETIMES):
            given = "the rows have no arrival times"
            if kind != MISSING:
                given = f"the arrivals here are {kind}"
            raise ValueError(
                f"{self._counting()} of PeriodicRefit counts time, but {given}: pass arrival= as "
                "datetimes, or count rows."
            )
        if self.time_zone is not None and kind != AWARE:
            raise ValueError(
                f"time_zone={self.time_zone!r} is for arrivals with a time zone, but these have "
                "none: their days begin at their own midnight. Leave it out, or give arrivals "
                "with a time zone."
            )

    def _counting(self) -> str:
        """Show the first parameter that counts time."""
        name = "every" if isinstance(self.every, str | timedelta) else "window"
        return f"{name}={getattr(self, name)!r}"

    def _begin(self) -> None:
        """Check the parameters, before anything is learnt."""
        self._validate_params()
        if isinstance(self.every, str | timedelta):
            calendar_of(self.every, self.time_zone)
        elif self.time_zone is not None:
            raise ValueError(
                f"time_zone={self.time_zone!r} applies to a calendar period in every=, but "
                f"every={self.every} is none. Leave it out, or give a period, such as every='7D'."
            )
        if isinstance(self.window, str | timedelta) and _microseconds(self.window) < 1:
            raise ValueError(
                f"window={self.window!r} is not a duration. Give a number of rows, or a duration "
                f"in {UNITS}, such as '90D'; months have no fixed length."
            )
        check_can_be_fitted(self.estimator)
        if self.every is None and self.detector is None and self.min_rows is None:
            raise ValueError(
                "every=None refits only on alarms of a detector, but detector=None. Pass one of "
                "them, such as every=1000 or detector=ADWIN(); or the number of rows after which "
                "the model is fitted once and for all: min_rows=5000."
            )
        if self.weight_decay not in (None, 1.0) and not weight_name(self.estimator):
            raise ValueError(
                f"weight_decay={self.weight_decay} needs sample weights, but "
                f"{type(self.estimator).__name__}.fit has no sample_weight. Leave it out, or use a "
                "smaller window."
            )
        if self.before is not None:
            if isinstance(self.before, type):
                raise TypeError(f"before={self.before.__name__} is a class; pass an instance.")
            check_can_learn(self.before)
            if is_regressor(self.before) != is_regressor(self.estimator):
                raise TypeError(
                    f"before={self.before!r} predicts until the first refit of "
                    f"{type(self.estimator).__name__}: it must be of the same kind, classifier or "
                    "regressor."
                )

    def _classes(self) -> NDArray[Any] | None:
        """Sorted labels; None of a regressor."""
        return self.classes_ if is_classifier(self) else None

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, first: bool
    ) -> tuple[Any, ...]:
        """Rows to learn, codes of their labels or targets, and weights."""
        X = check_divisible_rows(self, X, reset=first)
        y = check_labels(self, y) if is_classifier(self) else check_targets(self, y)
        check_consistent_length(X, y)
        if is_classifier(self):
            check_classes(self, classes)
            y = LabelSpace(self.classes_).encode(y)
            if not isinstance(self.window, str | timedelta | None) and self.window < len(
                self.classes_
            ):
                raise ValueError(
                    f"window={self.window} rows cannot hold a row of each of "
                    f"{len(self.classes_)} classes. Use a larger window."
                )
        weight = check_weight(sample_weight, len(y))
        if weight is not None and not weight_name(self.estimator):
            repetitions(weight, f"{type(self.estimator).__name__}.fit")
        return of_positive_weight(weight, X, y)

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = check_divisible_rows(self, X, reset=False)
        return answers_of(self.estimator_, method, X, self._classes())

    def _fitted_models(self) -> list[Any]:
        return []  # parameters that are set apply to the next refit

    def __sklearn_tags__(self) -> Any:
        tags = with_tags_of(tags_of(self.estimator), super().__sklearn_tags__())
        tags.target_tags.multi_output = tags.target_tags.two_d_labels = False
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags


# -- the schedule, which the estimator and its kernel share


def new_progress(model: PeriodicRefit) -> Progress:
    """Progress before the first row."""
    return Progress(detector=None if model.detector is None else fresh_detector(model.detector))


def new_before(model: PeriodicRefit) -> Any:
    """What answers up to the first refit."""
    if model.before is not None:
        return unfitted_copy(model.before)
    return MajorityClass() if is_classifier(model) else MeanRegressor()


def counts_time(model: PeriodicRefit) -> bool:
    """Whether a model must be told the time."""
    return isinstance(model.every, str | timedelta) or isinstance(model.window, str | timedelta)


def calendar(model: PeriodicRefit) -> Calendar | None:
    """Return the periods at whose beginnings a model is refitted; None: it is by rows."""
    is_timed = isinstance(model.every, str | timedelta)
    return calendar_of(model.every, model.time_zone) if is_timed else None


def fewest_rows(model: PeriodicRefit) -> int:
    """Rows known before the first refit, and of one that an alarm cuts short."""
    of_period = _ROWS_BEFORE_ALARMS if isinstance(model.every, str | timedelta) else model.every
    return int(model.min_rows or of_period or _ROWS_BEFORE_ALARMS)


def at_time(
    model: PeriodicRefit, progress: Progress, now: int, classes: NDArray[Any] | None = None
) -> Progress:
    """Return the progress at a time, after the refit that is due by the calendar then."""
    if progress.window and now < (last := int(progress.window[-1][3][-1])):
        its, of_last = (str(np.datetime64(time, "us")) for time in (now, last))
        raise ValueError(
            f"It is {its}, but PeriodicRefit was trained on a row of {of_last}: time cannot go "
            "backwards. A model that continues from earlier rows (warm_start=True) needs later "
            "rows."
        )
    periods = calendar(model)
    if periods is None or now < progress.end:
        return progress
    is_first = progress.end == NO_TIME
    start, end = periods.period(now)
    progress = progress._replace(end=end)
    if is_first or (progress.model is None and progress.n_known < fewest_rows(model)):
        return progress
    return _refitted(model, progress, classes, alarm=False, at=start)


def rows_until_refit(model: PeriodicRefit, progress: Progress) -> int | None:
    """Rows to be learnt up to the next refit of the schedule; None: it is not by rows."""
    if isinstance(model.every, str | timedelta):
        return None
    was_tried = progress.model is not None or progress.n_failed
    distance = model.every if was_tried else fewest_rows(model)
    if distance is None and progress.model is None:
        distance = fewest_rows(model)
    return None if distance is None else max(1, distance - progress.n_since)


def _is_final(model: PeriodicRefit, progress: Progress) -> bool:
    """Whether no refit can follow any more, so that no row is needed."""
    return model.every is None and model.detector is None and progress.model is not None


def losses_of(answers: NDArray[Any], y: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    """Whether answers are wrong, or by how much those of a regressor are off."""
    if classes is None:
        return np.abs(np.asarray(answers, dtype=np.float64).ravel() - y)
    return LabelSpace(classes).encode(answers) != y


def read(
    progress: Progress, losses: NDArray[Any] | None, n_rows: int
) -> tuple[Progress, bool, int]:
    """Let the detector read the losses of the next rows, up to an alarm.

    Returns the progress, whether there is an alarm, and how many of the rows come up to it. The
    detector of the progress given may be changed.
    """
    if losses is None or progress.detector is None:
        return progress, False, n_rows
    detector, alarm, n_rows, n_in_zone = read_until_alarm(progress.detector, losses, n_rows)
    n_warned = n_in_zone + (progress.n_warned if n_in_zone == n_rows else 0)
    return progress._replace(detector=detector, n_warned=n_warned), alarm, n_rows


def learnt_rows(
    model: PeriodicRefit,
    progress: Progress,
    part: Part,
    classes: NDArray[Any] | None,
    *,
    alarm: bool = False,
) -> Progress:
    """Return the progress after rows, none beyond the next refit, which is made if it is due."""
    n_rows = len(part[1])
    n_known = progress.n_known + n_rows
    if _is_final(model, progress):
        return progress._replace(n_known=n_known)
    is_due = rows_until_refit(model, progress) == n_rows
    most, since = model.window, NO_TIME
    if isinstance(most, str | timedelta):
        since, most = int(part[3][-1]) - _microseconds(most), None
    window = appended(progress.window, part, most, since)
    progress = progress._replace(window=window, n_known=n_known, n_since=progress.n_since + n_rows)
    return _refitted(model, progress, classes, alarm=alarm) if alarm or is_due else progress


def _microseconds(duration: str | timedelta) -> int:
    """Length of a duration; 0 where it is none."""
    length = parse_duration(duration) if isinstance(duration, str) else duration
    return 0 if length is None else length // timedelta(microseconds=1)


def _rows_since(model: PeriodicRefit, progress: Progress, at: int | None) -> int | None:
    """Count the rows of a refit in its window; None: all. `at` is when a period begins."""
    if not isinstance(model.window, str | timedelta):
        return model.window
    time = np.concatenate([part[3] for part in progress.window])
    since = (int(time[-1]) if at is None else at) - _microseconds(model.window)
    # A window up to a row does not hold one that is just as old as it is long.
    return int(np.count_nonzero(time > since if at is None else time >= since))


def _refitted(
    model: PeriodicRefit,
    progress: Progress,
    classes: NDArray[Any] | None,
    *,
    alarm: bool,
    at: int | None = None,
) -> Progress:
    """Return the progress after a refit; if that fails, with the model before it.

    `at` is when the period begins, of a refit by the calendar.
    """
    n_rows = _rows_since(model, progress, at)
    most = progress.n_known if n_rows is None else n_rows
    cut = alarm and fewest_rows(model) <= progress.n_warned < most
    time = int(progress.window[-1][3][-1]) if at is None else at
    if not most:
        failure = (
            f"The refit of {type(model.estimator).__name__} after {progress.n_known:,} rows "
            f"failed: no training row lies within window={model.window!r}."
        )
        return progress._replace(n_since=0, n_failed=progress.n_failed + 1, failure=failure)
    part = last_rows(progress.window, progress.n_warned if cut else n_rows)
    if not cut:
        progress = progress._replace(window=(part,))
    progress = progress._replace(n_since=0, n_warned=0 if alarm else progress.n_warned)
    started = perf_counter()
    try:
        fitted = _fitted(model, part, classes)
    except MemoryError:
        raise
    except Exception as error:
        y = part[1]
        failure = (
            f"The refit of {type(model.estimator).__name__} after {progress.n_known:,} rows, on "
            f"{len(y):,} of them, failed: {type(error).__name__}: {error}"
        )
        if hasattr(part[0], "tocsr") and "dense" in str(error):
            failure += " Let the steps before it return arrays: sparse_output=False."
        has_one_class = classes is not None and bool((y == y[0]).all())
        if progress.model is None and not has_one_class:
            raise ValueError(failure.replace("The refit", "The first refit", 1)) from error
        progress = progress._replace(n_failed=progress.n_failed + 1, failure=failure)
    else:
        progress = progress._replace(
            model=fitted,
            refits=(*progress.refits, progress.n_known),
            times=(*progress.times, time) if counts_time(model) else (),
            models=(*progress.models, fitted) if model.keep_models else (),
        )
        if _is_final(model, progress):
            progress = progress._replace(window=())
    return progress._replace(seconds=progress.seconds + perf_counter() - started)


def _fitted(model: PeriodicRefit, part: Part, classes: NDArray[Any] | None) -> Any:
    """Fit a copy of the estimator to rows, which stay as they are."""
    X, y, weight, _ = part
    y = y.copy() if classes is None else classes[y]
    estimator = unfitted_copy(model.estimator, learns=False)
    if model.weight_decay is not None and model.weight_decay < 1.0:
        decay: Floats = np.power(float(model.weight_decay), np.arange(len(y) - 1, -1, -1))
        weight = decay if weight is None else weight * decay
    X = own_rows(np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X)
    if weight is None or not (weight != 1.0).any():
        return estimator.fit(X, y)
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(model, "partial_fit", sample_weight=weight)
        return estimator.fit(X, y, **routed["estimator"]["fit"])
    if name := weight_name(estimator):
        return estimator.fit(X, y, **{name: weight})
    again = np.repeat(np.arange(len(y)), repetitions(weight, f"{type(estimator).__name__}.fit"))
    return estimator.fit(rows_of(X, again), y[again])


def learn_times(model: PeriodicRefit, block: Any, n_rows: int) -> NDArray[np.int64]:
    """Return when the first rows of a block came, as a part of a window holds it."""
    if not counts_time(model):
        return np.full(n_rows, NO_TIME)
    return block.learn_came[:n_rows].copy()
