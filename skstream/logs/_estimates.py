"""Estimates of scores before the labels are there, and how right such estimates have been."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.calibration import METHODS as MAPS
from skstream.core.engine.answers import TOLERANCE
from skstream.core.forgetting import duration_of
from skstream.core.measures.checkpoints import as_floats
from skstream.core.measures.registry import resolve_metrics, task_of
from skstream.core.measures.rows import ScoredRows
from skstream.logs._log import check_names, chunk_of, classes_in
from skstream.logs._log_rows import Coder, LogChunk
from skstream.logs._waiting_rows import Clock, of_model, row_values_of
from skstream.utils._choices import check_choice, check_count, is_real
from skstream.utils._labels import listed
from skstream.utils._optional import display, optional_import
from skstream.utils._rows import joined_weights
from skstream.utils._tables import aligned, filled

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
#: Moments of a track record, where `every` does not say.
N_MOMENTS = 200
# A calibrator is fitted at each moment.
_MOST_MOMENTS = 10_000
# With fewer moments that share no row, the errors are about a few stretches of the stream: no
# estimate is called the closest then; and with fewer than _SOME only one that is so clearly.
_FEW, _SOME = 10, 20
_QUANTILE = 0.9


class _Errors(NamedTuple):
    """How far one estimate was from the truth, at the moments whose truth is known."""

    model: str
    metric: str
    method: str
    now: float
    n_moments: int
    mae: float
    bias: float
    q90: float


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LabelEstimates:
    """Estimated scores of the rows that wait for their labels; `print` shows a table.

    The methods are "newest labels" (the score of the newest labelled rows), "confidence" (the score
    that is expected if the model's probabilities are right) and "calibrated" (the same after a map
    that was fitted to the rows labelled so far).

    Attributes
    ----------
    now : dict of str to dict of str to dict of str to float
        ``now[model][metric][method]``: estimates at the end of the log; NaN where no row waits.
    waiting_now : dict of str to int
        Rows of each model that have a prediction and no label at the end of the log.
    overdue : dict of str to int
        Those of them that have waited longer than any label took.
    given_up : dict of str to int
        Rows without a label that do not count as waiting, because of `max_wait`.
    rows : ndarray of shape (n_moments,), dtype int64
        Moments of the track record: each is that right after the arrival of this row.
    times : ndarray of shape (n_moments,), dtype datetime64[us] or float64
        Times of these arrivals.
    n_waiting : dict of str to ndarray of shape (n_moments,)
        Rows of each model that waited at each moment.
    n_labelled : dict of str to ndarray of shape (n_moments,)
        Those of them whose labels came later. Only they are in the truth.
    apart : dict of str to ndarray of shape (n_apart,), dtype int64
        Which moments with a truth share no labelled row with the one of them before.
    estimates : dict of str to dict of str to dict of str to ndarray of shape (n_moments,)
        ``estimates[model][metric][method]``: what was estimated at each moment, from labels that
        were known then. NaN where no row waited or no label was known.
    truth : dict of str to dict of str to ndarray of shape (n_moments,)
        ``truth[model][metric]``: the score of the rows that waited, by the labels that came later.
        NaN while more than 5 % of them may still get one.
    end : datetime64 or float
        End of the log: the last time in it.
    n_rows : int
        Rows of the log.

    See Also
    --------
    estimate_unlabelled : Makes it of arrays.
    PredictionLog.estimate : Makes it of files and frames.
    """

    now: Mapping[str, Mapping[str, Mapping[str, float]]]
    waiting_now: Mapping[str, int]
    overdue: Mapping[str, int]
    given_up: Mapping[str, int]
    rows: NDArray[np.int64]
    times: NDArray[Any]
    n_waiting: Mapping[str, NDArray[np.int64]]
    n_labelled: Mapping[str, NDArray[np.int64]]
    apart: Mapping[str, NDArray[np.int64]]
    estimates: Mapping[str, Mapping[str, Mapping[str, Floats]]]
    truth: Mapping[str, Mapping[str, Floats]]
    end: Any
    n_rows: int

    @property
    def track_record(self) -> Any:
        """Every estimate of the past beside its truth, as a pandas data frame.

        The columns are model, metric, method, row and time (of the moment), n_waiting, n_labelled,
        estimate, truth and error (the estimate less the truth).
        """
        pandas = optional_import("pandas", "track_record")
        parts = [
            pandas.DataFrame(
                {
                    "model": model,
                    "metric": metric,
                    "method": method,
                    "row": self.rows,
                    "time": self.times,
                    "n_waiting": self.n_waiting[model],
                    "n_labelled": self.n_labelled[model],
                    "estimate": values,
                    "truth": self.truth[model][metric],
                    "error": values - self.truth[model][metric],
                }
            )
            for model, metric, method, values in self._all()
        ]
        return pandas.concat(parts, ignore_index=True)

    @property
    def best(self) -> dict[str, dict[str, str | None]]:
        """Method with the smallest mean absolute error so far, by model and metric.

        Of equal ones "newest labels"; None where no truth is known.
        """
        found: dict[str, dict[str, str | None]]
        found = {model: dict.fromkeys(of_metric) for model, of_metric in self.estimates.items()}
        known = sorted((e for e in self._errors if e.n_moments), key=lambda one: one.mae)
        for one in reversed(known):  # the least error last, so that it stays
            found[one.model][one.metric] = one.method
        return found

    def summary(self) -> Any:
        """Return each estimate of today beside its errors of the past.

        All methods are compared at the same moments.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, metric, method, now, n_moments (with a truth), mae (mean absolute
            error), bias (mean of estimate less truth), q90 (90 % of the absolute errors are at most
            this), n_waiting (now) and n_apart (moments that share no row with the one before).
        """
        pandas = optional_import("pandas", "summary()")
        return pandas.DataFrame(
            {
                **one._asdict(),
                "n_waiting": self.waiting_now[one.model],
                "n_apart": len(self.apart[one.model]),
            }
            for one in self._errors
        )

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Plot the estimates over time, and the truth where it is known.

        Parameters
        ----------
        metric : str, default=None
            The measure; None: the first.
        **options
            Passed to ``EstimateDisplay.from_result``, such as ``model`` or ``ax``.

        Returns
        -------
        display : EstimateDisplay
            With attributes ``ax_``, ``figure_``, ``lines_`` and ``legend_``.
        """
        return display("EstimateDisplay").from_result(self, metric, **options)

    def _all(self) -> Iterator[tuple[str, str, str, Floats]]:
        for model, by_metric in self.estimates.items():
            for metric, by_method in by_metric.items():
                for method, values in by_method.items():
                    yield model, metric, method, values

    @cached_property
    def _errors(self) -> list[_Errors]:
        found = []
        for model, metric, method, values in self._all():
            truth = self.truth[model][metric]
            there = np.isfinite(truth)
            for other in self.estimates[model][metric].values():
                there &= np.isfinite(other)
            errors = (values - truth)[there]
            size = np.abs(errors)
            nan = float("nan")
            mean, bias, quantile = (
                (float(size.mean()), float(errors.mean()), float(np.quantile(size, _QUANTILE)))
                if len(errors)
                else (nan, nan, nan)
            )
            now = self.now[model][metric][method]
            found.append(_Errors(model, metric, method, now, len(errors), mean, bias, quantile))
        return found

    def __repr__(self) -> str:
        waiting = ", ".join(f"{name}: {n:,} rows" for name, n in self.waiting_now.items())
        return f"LabelEstimates({waiting} wait for labels; print() it, see summary(), plot())"

    def __str__(self) -> str:
        header = ["model", "measure", "now", "mean abs. error", "90 % within", "bias", "estimate"]
        lines = [
            [
                one.model,
                one.metric,
                *(_shown(value) for value in (one.now, one.mae, one.q90)),
                _shown(one.bias, sign=True),
                one.method,
            ]
            for one in self._errors
        ]
        return "\n".join(
            [*self._heading(), *aligned(header, lines), *map(filled, self._sentences())]
        )

    def _heading(self) -> list[str]:
        lines = []
        for model, n in self.waiting_now.items():
            words = f"{model}: {n:,} of {self.n_rows:,} rows wait for their labels"
            if not n:
                words = f"{model}: no row waits for its label, so there is nothing to estimate now"
            if self.overdue[model]:
                words += (
                    f", longer than any label took: {self.overdue[model]:,}, which may never get "
                    'one (max_wait=, such as "7D", is the time after which a row no longer waits)'
                )
            if self.given_up[model]:
                words += (
                    f"; not counted, having waited longer than max_wait: {self.given_up[model]:,}"
                )
            lines.append(f"{words}.")
        return lines

    def _sentences(self) -> list[str]:
        lines = []
        for model, by_metric in self.best.items():
            n_moments = next(one.n_moments for one in self._errors if one.model == model)
            if not n_moments:
                lines.append(f"{model}: no estimate could be checked yet.")
                continue
            n_apart = len(self.apart[model])
            apart = (
                f"{n_apart:,} of them share no rows" if n_apart > 1 else "all of them share rows"
            )
            little = {
                metric: self._by_how_much(model, metric, method)
                for metric, method in by_metric.items()
            }
            sure = [m for m in little if n_apart >= (_SOME if little[m] else _FEW)]
            words = ", ".join(f"{by_metric[m]} ({m}{little[m]})" for m in sure)
            if not sure:
                lines.append(
                    f"{model}: it is not known yet which estimate is closest to the truth."
                )
                lines.append(f"  Checked at {n_moments:,} moments; {apart}, too few to rely on.")
                continue
            lines.append(f"{model}: closest to the truth so far: {words}.")
            lines.append(f"  Checked at {n_moments:,} moments; {apart}.")
        return lines

    def _by_how_much(self, model: str, metric: str, best: str | None) -> str:
        """Say where the best is not closer by two standard errors, over moments that lie apart."""
        apart, by_method = self.apart[model], self.estimates[model][metric]
        truth = self.truth[model][metric][apart]
        sizes = {method: np.abs(values[apart] - truth) for method, values in by_method.items()}
        least = sizes[str(best)]
        closer = [size - least for method, size in sizes.items() if method != best]
        is_clear = len(apart) > 1 and all(
            one.mean() > 2.0 * one.std(ddof=1) / np.sqrt(len(one)) for one in closer
        )
        return "" if is_clear else ", by little"


def _shown(value: float, *, sign: bool = False) -> str:
    return "-" if np.isnan(value) else f"{value:{'+' if sign else ''}z.4f}"


def estimate_unlabelled(
    y_true: ArrayLike,
    probabilities: Any,
    *,
    arrival: ArrayLike,
    label_time: ArrayLike,
    predictions: ArrayLike | Mapping[str, ArrayLike] | None = None,
    metrics: Any = ("accuracy", "log_loss", "brier"),
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    every: Any = None,
    window: int | None = None,
    calibrate: str | None = "isotonic",
    max_wait: Any = None,
    unanswered: Literal["error", "skip"] = "error",
    tolerance: float = TOLERANCE,
) -> LabelEstimates:
    """Estimate the scores of unlabelled rows, and check such estimates in the past.

    At moments along the log, three estimates are made for the rows waiting for their labels, from
    what was known at that time. Once those labels have come, each estimate is compared with the
    actual score of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels in stream order. Missing ones (None, NaN) have not come yet.
    probabilities : array-like, or dict of str to array-like
        Probabilities of a model, or of models by name, as for `score_predictions`.
    arrival : array-like of shape (n_rows,)
        When each row arrived and was predicted: numbers or datetimes that never go back.
    label_time : array-like of shape (n_rows,)
        When each label became known, of the same kind; ignored for missing labels.
    predictions : array-like of shape (n_rows,) or dict of str to array-like, default=None
        Predictions of a model, or of models by name. None: the most probable class.
    metrics : str, Measure or list, default=("accuracy", "log_loss", "brier")
        Measures that are means of a value per row: "accuracy", "error", "log_loss", "brier",
        "top_k_accuracy" and ``cost(matrix)``.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur, as for `score_predictions`.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights.
    every : int, str or timedelta, default=None
        Moments of the track record: every that many rows, or the last arrival of every period, such
        as "1D" (periods are counted from 1970). None: about 200, spread evenly over the rows.
    window : int, default=None
        Number of the newest labelled rows in the naive estimate. None: as many as are waiting.
    calibrate : {"isotonic", "sigmoid", "beta", "temperature"} or None, default="isotonic"
        Map of the second estimate, as of `PrequentialCalibrator`. At each moment it is fitted to
        the newest labelled rows, at most 5,000. None: no such estimate.
    max_wait : number, str or timedelta, default=None
        Time after which a row without a label no longer counts as waiting, for logs where some
        labels never come: a duration such as "30D", or a number if the times are numbers.
    unanswered : {"error", "skip"}, default="error"
        How to handle missing probabilities (None, NaN): "skip" leaves the row out for that model.
    tolerance : float, default=0.01
        Tolerance for rounded probabilities, as for `score_predictions`.

    Returns
    -------
    estimates : LabelEstimates
        Current estimates, the track record of each, and which was closest so far.

    Raises
    ------
    ValueError
        If a model has no probabilities, no row has a label, times go back or are missing, or a
        measure is not a mean over rows or is for numeric targets.

    See Also
    --------
    score_predictions : Scores the labelled rows.
    PrequentialCalibrator : A model whose probabilities are calibrated along the stream.

    Notes
    -----
    "confidence" of a row is the mean of the measure over its classes, weighted by the model's
    probabilities; "calibrated" weights by the calibrated probabilities, but scores the model's own
    predictions. Both see only features, through the model: if the relation of labels to features
    changes, only "newest labels" notices, with the delay of the labels. No estimate uses a label
    before its time.

    Examples
    --------
    A model says 0.9, and is right in half of the rows; labels come two rows late:

    >>> from skstream import estimate_unlabelled
    >>> y_true = [1, 0, 1, 0, 1, 0, None, None]
    >>> estimates = estimate_unlabelled(
    ...     y_true,
    ...     [0.9] * 8,
    ...     arrival=range(8),
    ...     label_time=range(2, 10),
    ...     metrics="accuracy",
    ...     calibrate=None,
    ... )
    >>> print(estimates)
    model: 2 of 8 rows wait for their labels.
    model  measure      now  mean abs. error  90 % within     bias  estimate
    -----  --------  ------  ---------------  -----------  -------  -------------
    model  accuracy  0.5000           0.1250       0.3500  +0.1250  newest labels
    model  accuracy  0.9000           0.4000       0.4000  +0.4000  confidence
    model: it is not known yet which estimate is closest to the truth.
      Checked at 4 moments; 2 of them share no rows, too few to rely on.
    """
    given = {"sample_weight": sample_weight, "arrival": arrival, "label_time": label_time}
    check_is_classification(metrics, probabilities)
    chunk = chunk_of(y_true, predictions, probabilities, given)
    how = (metrics, every, window, calibrate, max_wait, unanswered, tolerance)
    return estimates_of([chunk], classes_in(chunk, classes), *how)


def estimates_of(
    chunks: Iterable[LogChunk],
    classes: NDArray[Any] | None,
    metrics: Any,
    every: Any,
    window: int | None,
    calibrate: str | None,
    max_wait: Any,
    unanswered: Any,
    tolerance: float,
) -> LabelEstimates:
    """Estimates of the chunks of a log; see `estimate_unlabelled`."""
    if window is not None:
        check_count(window, "window", 1)
    check_choice(calibrate, "calibrate", (*MAPS, None))
    check_choice(unanswered, "unanswered", ("error", "skip"))
    assert classes is not None, "there are probabilities"
    if len(classes) < 2:
        raise ValueError(
            f"There is only one class, {listed(classes.tolist())}: pass all labels that can occur "
            "as classes=."
        )
    coder = Coder(classes, unanswered, tolerance, as_known=False)
    classes = np.sort(classes)
    measures = resolve_metrics(metrics, classes=classes)
    values = {name: row_values_of(one) for name, one in measures.items()}
    models: list[str] = []
    parts: list[ScoredRows] = []
    for chunk in chunks:
        if not parts:
            check_names(chunk, classes)
            _check_first(chunk)
            models = chunk.models
        parts.append(coder.rows(chunk))
    if coder.n_unlabelled == coder.n_rows:
        raise ValueError(
            f"None of the {coder.n_rows:,} rows has a label: no estimate can be checked, and there "
            "are no newest labels. Also pass the earlier rows whose labels have arrived."
        )
    coder.check_end(models)
    rows = _joined(parts)
    assert rows.time is not None
    came, known = as_floats(rows.time), np.concatenate(coder.known)
    dates = rows.time.dtype.kind == "M"
    end = max(float(came[-1]), float(known[np.isfinite(known)].max()))
    places = _moments(rows.time, every)
    log = Clock.of(came, known, end, _length(max_wait, dates))
    found = {
        name: of_model(rows.models([k]), len(classes), log, places, values, window, calibrate)
        for k, name in enumerate(models)
    }
    fields = next(iter(found.values()))
    by_model = {field: {name: one[field] for name, one in found.items()} for field in fields}
    return LabelEstimates(
        **by_model,
        rows=places.astype(np.int64),
        times=rows.time[places],
        end=np.int64(end).astype(rows.time.dtype) if dates else end,
        n_rows=len(rows),
    )


# -- what the user gave


def check_is_classification(metrics: Any, probabilities: Any) -> None:
    """Refuse measures of numbers, and logs without probabilities."""
    if task_of(metrics) == "targets":
        raise ValueError(
            f"metrics={metrics!r} is for numeric targets. A regressor has no probabilities from "
            "which to expect an error: only the errors on the newest labels estimate it, which "
            "are scored with view='as_known' and forgetting='window:1000'."
        )
    if probabilities is None or (isinstance(probabilities, Mapping) and not probabilities):
        raise ValueError(
            "There are no probabilities: pass probabilities=. Without them only the newest labels "
            "say anything about unlabelled rows: score them with view='as_known' and "
            "forgetting='window:1000'."
        )


def _check_first(chunk: LogChunk) -> None:
    lacking = [name for name in chunk.models if name not in chunk.shares]
    if lacking:
        raise ValueError(
            f"There are no probabilities of {listed(lacking)}, but the confidence of a prediction "
            "is its probability. Pass them, or leave out the predictions of these models."
        )
    for role in ("arrival", "label_time"):
        if role not in chunk.meta:
            raise ValueError(
                "The rows waiting for labels are known only from the arrival times of rows and "
                f"labels: pass {role}=."
            )


def _length(value: Any, dates: bool) -> float:
    """Read `max_wait` in the unit of the times; infinite: none."""
    if value is None:
        return np.inf
    duration = duration_of("estimate_unlabelled", "max_wait", value)
    if dates != (duration is not None):
        kind, wanted = ("datetimes", '"30D"') if dates else ("numbers", "30")
        raise ValueError(
            f"The times are {kind}: pass max_wait= such as {wanted}. Got {value!r} instead."
        )
    length = value if duration is None else duration.astype(np.int64)
    if not is_real(length) or not length > 0:
        raise ValueError(
            f'max_wait must be a duration such as "30D", or a number above 0. Got {value!r} '
            "instead."
        )
    return float(length)


def _moments(times: NDArray[Any], every: Any) -> Integers:
    """Rows whose arrivals are the moments of the track record."""
    n = len(times)
    if every is None:
        return np.unique(np.linspace(0, n, min(n, N_MOMENTS) + 1)[1:].astype(np.intp) - 1)
    period = duration_of("estimate_unlabelled", "every", every)
    if period is None:
        found = np.arange(check_count(every, 'every (or a duration such as "1D")', 1) - 1, n, every)
    elif times.dtype.kind != "M":
        raise ValueError(f"every={every!r} is a duration, but the times are numbers: pass rows.")
    else:
        numbers = times.astype(np.int64) // period.astype(np.int64)
        found = np.flatnonzero(np.append(numbers[1:] != numbers[:-1], True))
    if len(found) > _MOST_MOMENTS:
        raise ValueError(
            f"every={every!r} makes {len(found):,} moments, and a calibrator is fitted at each: "
            f"choose at most {_MOST_MOMENTS:,}."
        )
    return found


def _joined(parts: list[ScoredRows]) -> ScoredRows:
    return ScoredRows(
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.answers for part in parts], axis=1),
        joined_weights(*((part.weight, len(part)) for part in parts)),
        scores=np.concatenate([part.scores for part in parts], axis=1),
        time=np.concatenate([part.time for part in parts]),
    )
