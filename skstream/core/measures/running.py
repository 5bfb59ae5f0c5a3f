"""Measures of a stream while its rows arrive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.forgetting import Forgetting, duration_of
from skstream.core.measures.checkpoints import (
    CheckpointRecorder,
    Curves,
    PeriodRecorder,
    as_floats,
    of_floats,
)
from skstream.core.measures.measure import Measure, takes_no_weights, takes_weights
from skstream.core.measures.range_sums import SetSums
from skstream.core.measures.rows import Array, ScoredRows, Waiting
from skstream.core.measures.scores import Scores, Values, joined_values, make_sums
from skstream.core.measures.series import columns_of_kinds
from skstream.utils._choices import is_integer
from skstream.utils._labels import LabelSpace

# So many rows are buffered, then read at once, so that the arithmetic does not depend on chunking,
# and calls with a single row are cheap. A few arrays of this length fit the cache.
_BUFFER_SIZE = 32_768
# Values may be requested many times while rows are buffered: then a copy of the sums reads each
# whole part of so many rows once. Sums of real numbers may differ from one pass in the last digit.
_PART = 1024
_LARGEST_BUFFER = 1 << 20
_TIMED_BUFFER = 1 << 17
# With many classes buffers are smaller: a buffer holds the scores of every class.
_MOST_SCORES = 1 << 22


@dataclass
class _Ahead:
    """A copy of the scores that has read some of the buffered rows, and its values.

    Attributes
    ----------
    scores : Scores
        The copy.
    interval : int
        Distance of the checkpoints.
    n : int
        Waiting rows read.
    values : list of ndarray
        Measures at the checkpoints among them.
    """

    scores: Scores
    interval: int
    n: int = 0
    values: Values = field(default_factory=list)


class RunningMeasures:
    """Any measures under any forgetting, over a stream that arrives in parts of any size.

    Reads one model's answers, or a table of those of several models. Sums that depend on the labels
    alone are formed once for all models that were asked about the same rows.

    Parameters
    ----------
    metrics : dict of str to Measure
        From `resolve_metrics`.
    forgetting : dict of str to Forgetting
        Mechanisms by name.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; labels and answers are codes, positions in it. None for regression.
    record_every : int, str or timedelta, default=None
        Checkpoints are taken at its multiples and at the last row; of a duration, such as "1D", at
        the end of every period. None: at most 1,024 of them, at the multiples of a power of two
        that grows with the stream.
    bounded : bool, default=True
        Whether the stream ends and its rows may be kept. False: an error for functions of the user
        that need all rows.
    n_models : int, default=None
        Number of models in the table of answers. None: one model, without an axis of models.
    uses_previous : array-like of shape (n_models,), dtype bool, default=None
        Models whose persistent baseline answers `previous` where it is given; that of the others
        always repeats the label of the row before. None: all.
    methods : sequence of {"predict_proba", "decision_function"} or None, default=None
        Method that has given the scores of each model, None for none. Measures of probabilities
        are NaN for models with other scores. None: all are probabilities.
    expected_rows : int, default=0
        Rows that will come, where that is known: the curves are then never copied to a larger
        array. More or fewer may come.
    timed : bool, default=False
        Whether rows say when they came, and curves have times. Always, if a forgetting or
        `record_every` counts time.

    Raises
    ------
    ValueError
        If `record_every` is not a positive integer or None; if a forgetting does not suit a
        measure; if a user's function needs rows that may not be kept.

    See Also
    --------
    resolve_metrics : Names, functions and partials to measures.

    Notes
    -----
    A row is scored if it has a label, an answer and a positive weight. A row that was not asked
    (code -1; in regression NaN) is not scored, but every baseline learns its label. A row without a
    label or with weight 0 only counts in the number of rows.

    In a kappa the accuracies of model and baseline are taken over the same rows: a row before which
    no label was known is left out of both.

    Memory does not grow with the stream, but for the curves (with `record_every`) and, with
    functions of the user, the rows that the forgetting remembers.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.core.forgetting import as_forgetting
    >>> from skstream.core.measures.running import RunningMeasures
    >>> from skstream.core.measures.registry import resolve_metrics
    >>> classes = np.array(["DOWN", "UP"])
    >>> running = RunningMeasures(
    ...     resolve_metrics(["accuracy", "kappa_temporal"], classes=classes),
    ...     as_forgetting("window:1000"),
    ...     classes=classes,
    ... )
    >>> running.update([0, 0, 1, 1], [-1, 0, 0, 0])  # the first row was not asked
    >>> running.final()
    {'window:1000': {'accuracy': 0.33..., 'kappa_temporal': -1.0}}
    >>> running.curves().checkpoints
    array([1, 2, 3, 4])
    """

    def __init__(
        self,
        metrics: Mapping[str, Measure],
        forgetting: Mapping[str, Forgetting],
        *,
        classes: ArrayLike | None,
        record_every: Any = None,
        bounded: bool = True,
        n_models: int | None = None,
        uses_previous: ArrayLike | None = None,
        methods: Sequence[str | None] | None = None,
        expected_rows: int = 0,
        timed: bool = False,
    ) -> None:
        period = None
        if record_every is not None:
            period = duration_of("RunningMeasures", "record_every", record_every)
            if period is None and not (is_integer(record_every) and record_every >= 1):
                raise ValueError(
                    "The 'record_every' parameter of RunningMeasures must be an int in the range "
                    f"[1, inf), a duration or None. Got {record_every!r} instead."
                )
        self.metrics, self.forgetting = dict(metrics), dict(forgetting)
        self.classes = None if classes is None else np.asarray(classes)
        self.n_models = n_models
        _check_together(self.metrics, self.forgetting, self.classes, bounded)
        lines = 1 if n_models is None else n_models
        of_lines = np.asarray(True if uses_previous is None else uses_previous, dtype=bool)
        mechanisms, self._counting_time = [], []
        for name, mechanism in self.forgetting.items():
            mechanisms.append(partial(make_sums, mechanism))
            if mechanism.counts_time:
                self._counting_time.append(f"forgetting {name!r}")
        self._scores = Scores(
            self.metrics, mechanisms, self.classes, np.broadcast_to(of_lines, lines), methods
        )
        if period is not None:
            self._counting_time.append("record_every")
        self._timed = timed or bool(self._counting_time)
        self._time_type: np.dtype[Any] | None = None
        n_columns = self._scores.n_values + self._timed
        self._recorder: CheckpointRecorder
        if period is not None:
            self._recorder = PeriodRecorder(n_columns, period)
        else:
            self._recorder = CheckpointRecorder(n_columns, record_every, expected_rows)
        size = buffer_size(self.forgetting.values())
        if self._scores.of_scores and self.classes is not None:
            size = min(size, max(_PART, _MOST_SCORES // len(self.classes)))
        self._waiting = Waiting(size, LabelSpace(self.classes).dtype, lines)
        self._n_processed = 0
        self._ahead: _Ahead | None = None
        self._wanted_before = False

    def __getstate__(self) -> dict[str, Any]:
        # Not pickled: the copy can be made again.
        return {**self.__dict__, "_ahead": None, "_wanted_before": False}

    @property
    def n_rows(self) -> int:
        """Rows of the stream read so far."""
        return self._n_processed + self._waiting.n

    def update(
        self,
        y: ArrayLike,
        p: ArrayLike,
        weight: ArrayLike | None = None,
        previous: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> None:
        """Read the next rows of the stream, in order, from arrays that the caller has checked.

        Parameters
        ----------
        y : array-like of shape (n,)
            Codes of the labels, -1 where there is none. Regression: targets, NaN for none.
        p : array-like of shape (n,) or (n_models, n)
            Codes of the answers, -1 where the row was not asked. Regression: NaN.
        weight : array-like of shape (n,), default=None
            Scoring weights, not negative. None: all 1.
        previous : array-like of shape (n,), default=None
            Code (or target) that the persistent baseline answers to each row, -1 (NaN) for
            none. None: the label of the row before.
        scores : array-like of shape (n, n_classes) or (n_models, n, n_classes), default=None
            Probabilities, for measures that need them; of two classes also those of the second
            alone, without the last axis. NaN where the row was not asked, or a model has none: its
            measures of probabilities are then NaN.

        Raises
        ------
        ValueError
            If a measure needs probabilities and there are none.
        """
        dtype = LabelSpace(self.classes).dtype
        lines = (1 if self.n_models is None else self.n_models, -1)
        rows = ScoredRows(np.asarray(y, dtype=dtype), np.asarray(p, dtype=dtype).reshape(lines))
        rows.weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        rows.previous = None if previous is None else np.asarray(previous, dtype=dtype)
        if scores is not None and self.classes is not None:
            table = np.asarray(scores, dtype=np.float64).reshape(*rows.answers.shape, -1)
            if len(self.classes) == 1:
                table = np.where(np.isnan(table), table, 0.0)
            of_both = len(self.classes) == 2 and table.shape[2] == 2
            rows.scores = table[..., 1:] if of_both else table
        self.read(rows)

    def read(self, rows: ScoredRows) -> None:
        """Read rows whose codes are in the smallest type that holds them.

        Parameters
        ----------
        rows : ScoredRows
            The next rows of the stream.
        """
        self._scores.check(rows)
        if self._timed:
            self._check_times(rows)
        start, n, size = 0, len(rows), self._waiting.size
        while start < n:
            if self._waiting.n == 0 and n - start >= size:
                self._process(rows[start : start + size])
                start += size
            else:
                stop = min(n, start + size - self._waiting.n)
                self._waiting.append(rows if stop - start == n else rows[start:stop])
                start = stop
                if self._waiting.n == size:
                    self.finish()

    def _check_times(self, rows: ScoredRows) -> None:
        if rows.time is None:
            what = " and ".join(self._counting_time) or "the curves"
            raise ValueError(
                f"{what} counts time, but the rows have no arrival times: pass arrival=. A tape "
                "has times if the evaluation counted time, or if it is of a log with arrival=."
            )
        if self._counting_time and rows.time.dtype.kind != "M":
            what = " and ".join(self._counting_time)
            raise ValueError(
                f"{what} counts days or hours, but the times of arrival= are numbers: pass "
                "datetimes (from seconds since 1970: np.asarray(seconds, 'datetime64[s]')), give "
                "the unit of numbers in files, time_format='s', or count rows."
            )
        self._time_type = rows.time.dtype

    def _due(self, rows: ScoredRows) -> tuple[NDArray[np.int64], Array | None]:
        """Checkpoints among the next rows, and their times."""
        first = self._n_processed
        if isinstance(self._recorder, PeriodRecorder):
            return self._recorder.ended(np.empty(0) if rows.time is None else rows.time, first)
        due = self._recorder.due(first, first + len(rows))
        if not self._timed or rows.time is None:
            return due, None
        return due, rows.time[due - first - 1]

    def _process(self, rows: ScoredRows) -> None:
        last = self._n_processed + len(rows)
        due, now = self._due(rows)
        # If a function of the user fails, nothing has been read, and the call can be repeated.
        scores = self._scores.copy() if self._scores.calls_functions else self._scores
        values = scores.advance(rows, due - self._n_processed, due, now)
        self._scores = scores
        self._recorder.thin(last)
        self._recorder.record(due, [*values, as_floats(now)] if now is not None else values)
        if isinstance(self._recorder, PeriodRecorder) and rows.time is not None:
            self._recorder.go_on(rows.time)
        self._n_processed = last
        self._ahead = None

    def finish(self) -> None:
        """Read the buffered rows, as at the end of the stream."""
        if self._waiting.n:
            self._process(self._waiting.rows())
            self._waiting.clear()

    def curves(self) -> Curves:
        """Measures at the checkpoints so far; the last row read is always one.

        Returns
        -------
        Curves
            Nothing changes, and updates can continue.
        """
        last, rows = self.n_rows, self._waiting.rows()
        due, now = self._due(rows)
        if last > (int(due[-1]) if len(due) else self._recorder.last):
            due = np.append(due, last)
            newest = rows.time if len(rows) else self._scores.last_time
            if self._timed and newest is not None:
                now = newest[-1:] if now is None or not len(now) else np.append(now, newest[-1:])
        values = self._values_at(due, now)
        checkpoints, columns = self._recorder.curves_with(
            due, [*values, as_floats(now)] if now is not None else values, last
        )
        times = None
        if self._timed and self._time_type is not None:
            times, columns = of_floats(columns[-1], self._time_type), columns[:-1]
        elif self._timed:  # no row has come
            columns = columns[:-1]
        curves = Curves.of(checkpoints, columns, self.forgetting, self.metrics, times)
        return curves if self.n_models is not None else curves.of_models(0)

    def _values_at(self, due: NDArray[np.int64], now: Array | None = None) -> Values:
        """Measures at all checkpoints among the waiting rows, and after the last of these."""
        found: Values = []
        scores, n = self._scores, 0
        in_periods = isinstance(self._recorder, PeriodRecorder)
        if self._wanted_before and not in_periods:
            ahead = self._read_ahead()
            found, scores, n = ahead.values, ahead.scores, ahead.n
        self._wanted_before = True
        start = self._n_processed + n
        left = due[np.searchsorted(due, start, side="right") :] if n else due
        rows, times = self._waiting.rows()[n:], now if in_periods else None
        values = scores.copy().advance(rows, left - start, left, times)
        return joined_values(found, values)

    def _read_ahead(self) -> _Ahead:
        """Read whole parts of the buffered rows that have not been read before."""
        rows, ahead = self._waiting.rows(), self._ahead
        interval = self._recorder.interval_at(self.n_rows)
        if ahead is None or ahead.interval != interval:
            ahead = _Ahead(self._scores.copy(), interval)
        while len(rows) - ahead.n > _PART:
            start = self._n_processed + ahead.n
            inside = np.arange(start // interval + 1, (start + _PART) // interval + 1) * interval
            part = rows[ahead.n : ahead.n + _PART]
            more = ahead.scores.advance(part, inside - start, inside)
            ahead.values = joined_values(ahead.values, more)
            ahead.n += _PART
        self._ahead = ahead
        return ahead

    def final(self) -> dict[str, dict[str, Any]]:
        """Measures after the last row read.

        Returns
        -------
        dict of str to dict of str to (float or ndarray of shape (n_models,))
            ``values[forgetting][metric]``; NaN where it is undefined. Nothing changes.
        """
        last = np.array([self.n_rows])
        if self._scores.calls_functions:  # they would be called at every checkpoint read ahead
            left = last - self._n_processed
            values = self._scores.copy().advance(self._waiting.rows(), left, last)
        else:
            values = self._values_at(last)
        newest = np.array([column[-1] for column in values])
        curves = Curves.of(last, newest[:, np.newaxis], self.forgetting, self.metrics)
        if self.n_models is not None:
            return {f: {m: of[-1] for m, of in some.items()} for f, some in curves.values.items()}
        return {
            f: {m: float(of[-1, 0]) for m, of in some.items()} for f, some in curves.values.items()
        }


class SetMeasures:
    """Any measures of several models, on one set of rows after the other.

    At most 1,024 sets are kept: all, then every second, every fourth, and so on, and the last.

    Parameters
    ----------
    metrics : dict of str to Measure
        From `resolve_metrics`.
    names : sequence of str
        What results call the mechanism of forgetting, which does not apply here.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_models : int
        Number of models.
    methods : sequence of str or None, default=None
        As those of `RunningMeasures`.
    """

    def __init__(
        self,
        metrics: Mapping[str, Measure],
        names: Sequence[str],
        *,
        classes: ArrayLike | None,
        n_models: int,
        methods: Sequence[str | None] | None = None,
    ) -> None:
        for name, measure in metrics.items():
            columns = columns_of_kinds(measure.series)
            if any(column.follows and not column.of_labels for column in columns):
                raise ValueError(
                    f"Measure {name!r} is estimated from the rows before each row, but a holdout "
                    "evaluation scores every set of rows on its own. Use a fixed threshold=, or a "
                    "PrequentialEvaluator."
                )
        labels = None if classes is None else np.asarray(classes)
        self.forgetting, self.metrics = list(names), list(metrics)
        uses_previous, mechanisms = np.ones(n_models, dtype=bool), [SetSums] * len(names)
        self._scores = Scores(metrics, mechanisms, labels, uses_previous, methods)
        # The rows of the stream at each set are a column, as sets are thinned by their numbers.
        self._recorder = CheckpointRecorder(1 + self._scores.n_values)
        self.n_rows = 0

    def read(self, rows: ScoredRows) -> None:
        """Read whole sets. If a function of the user fails, nothing has been read."""
        assert rows.sets is not None
        self._scores.check(rows)
        ends, checkpoints = rows.sets
        scores = self._scores.copy()
        values = scores.advance(rows, ends, checkpoints)
        self._scores = scores
        self._recorder.follow(checkpoints.astype(np.float64), *values)
        self.n_rows += len(rows)

    def finish(self) -> None:
        """Do nothing: every set has been read at once."""

    def curves(self) -> Curves:
        """Measures of the sets that are kept, with a last axis of models."""
        _, columns = self._recorder.followed()
        return Curves.of(
            columns[0].astype(np.int64), columns[1:].copy(), self.forgetting, self.metrics
        )


def buffer_size(mechanisms: Iterable[Forgetting], shortest: int | None = None) -> int:
    """Rows per buffer: more for long windows, which are read once per buffer."""
    rows = _BUFFER_SIZE if shortest is None else shortest
    for mechanism in mechanisms:
        if mechanism.is_window:
            # How many rows a window of time holds is not known before.
            size = 2 * _TIMED_BUFFER if mechanism.counts_time else mechanism.memory(1.0) or 0
            while rows < min(size // 2, _LARGEST_BUFFER):
                rows *= 2
    return rows


def _check_together(
    metrics: Mapping[str, Measure],
    forgetting: Mapping[str, Forgetting],
    classes: Array | None,
    bounded: bool,
) -> None:
    """Raise an error if measures and forgetting do not fit together."""
    if classes is not None and len(classes) == 0:
        raise ValueError("classes is empty; pass the labels that can occur, or None to regress.")
    for name, mechanism in forgetting.items():
        if mechanism.follows_loss and classes is None:
            raise ValueError(
                f"Forgetting {name!r} is {mechanism}, which follows the 0/1 loss of a "
                "classifier and is not defined for regression. Use SlidingWindow or FadingFactor."
            )
        fades = mechanism.factor < 1.0
        for metric, measure in metrics.items():
            if measure.function is None:
                continue
            if mechanism.counts_time and not mechanism.is_window:
                raise ValueError(
                    f"Measure {metric!r} is a function, which {mechanism} cannot weigh. Use "
                    "SlidingWindow with a duration, or a named measure."
                )
            if not bounded and not fades and not mechanism.is_window:
                raise ValueError(
                    f"Measure {metric!r} is a function, and under {mechanism} it needs rows of "
                    "the whole stream, which are not kept. Keep the tape, or use "
                    "SlidingWindow, FadingFactor below 1, or a named measure."
                )
            if fades and not takes_weights(measure.function):
                raise takes_no_weights(metric)
