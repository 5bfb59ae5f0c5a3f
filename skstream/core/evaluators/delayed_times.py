"""When rows arrive and their labels come, of any kind of time; and counts of rows that wait."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np

from skstream.core.engine.answers import ModelError
from skstream.core.measures.checkpoints import CheckpointRecorder
from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Drift, as_drifts
from skstream.core.run.input import MissingLabelError
from skstream.core.timelines.delayed import History
from skstream.utils._labels import UNANSWERED, LabelSpace
from skstream.utils._times import (
    AWARE,
    DATETIMES,
    DURATIONS,
    LARGEST_EXACT,
    MISSING,
    NUMBERS,
    as_numbers,
    duration_column,
    kind_of,
    parse_duration,
    shown_time,
    time_column,
)

ROW_NUMBERS = "the row numbers, since arrival was not given"


@dataclass(frozen=True, slots=True)
class Times:
    """Times as numbers: unchanged, or as microseconds since 1970; infinite where missing.

    Attributes
    ----------
    values : ndarray of shape (n_rows,), dtype float64
        Exact for whole numbers up to 2**53, and for datetimes to the microsecond.
    given : ndarray of shape (n_rows,)
        The same as the user gave them, for messages.
    kind : str
        Numbers, datetimes with or without a time zone, or missing values alone.
    name : str
        The parameter they came from.
    """

    values: np.ndarray
    given: np.ndarray
    kind: str
    name: str

    def shown(self, at: int) -> str:
        """Show one of the times as the user gave it."""
        return shown_time(self.given[at:][:1])


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a run: the kind of its times, once the first is known, and the newest event.

    Attributes
    ----------
    kind : str or None
        Kind of all times of the run; None before the first.
    source : str
        The parameter that determined it, in words.
    now : float
        Time of the newest event.
    shown : str
        The same as the user gave it, for messages; empty before the first event.
    """

    kind: str | None = None
    source: str = ""
    now: float = -np.inf
    shown: str = ""

    @property
    def counts_microseconds(self) -> bool:
        """Whether the times are datetimes, which the run counts in microseconds."""
        return self.kind in (DATETIMES, AWARE)

    def at(self, time: float, shown: str) -> "Clock":
        """Return the clock at an event."""
        return Clock(self.kind, self.source, time, shown)

    def arrivals(self, given: Any, first_row: int, n_rows: int) -> "tuple[Clock, Times]":
        """Read the arrivals of rows, and return the clock of a run that has seen them.

        If they are not given, the rows arrive at their row numbers. Those given do not go back,
        which a stream has checked.
        """
        if given is None:
            clock, times = self._row_numbers(first_row, n_rows)
        else:
            times = self.read(given, "arrival", first_row)
            clock = self.after(times)
        return clock, times

    def event(self, t: Any, first_row: int, n_rows: int) -> "tuple[Clock, Times]":
        """Read the time of a live event, or of each of its rows; None: the numbers of the rows."""
        if t is None:
            clock, times = self._row_numbers(first_row, n_rows)
            if first_row < self.now:
                raise ValueError(
                    f"Without t, a row arrives at its row number ({first_row}), but the last event "
                    f"was at {self.shown}. Pass t=..., as in the earlier calls."
                )
            return clock, times
        alone = np.ndim(t) == 0
        times = self.read_one(t, "t") if alone else self.read(t, "t")
        n_times = len(times.values)
        if not alone and n_times != n_rows:
            raise ValueError(
                f"t has {n_times:,} times, but there are {n_rows:,} rows. Pass one time for all, "
                "or one per row."
            )
        at = self._first_wrong(times, np.append(self.now, times.values[:-1]))
        if at is not None:
            name, shown = "t" if alone else f"t[{at}]", times.shown(at)
            previous = times.shown(at - 1) if at else self.shown
            raise ValueError(
                f"{name} is {shown}, but the last event was at {previous}. Events must be passed "
                "in order of time."
                if previous and np.isfinite(times.values[at])
                else f"{name} is {shown}, which is not a time."
            )
        return self.after(times), times

    def unordered(self, given: Any, name: str) -> "tuple[Clock, Times]":
        """Read times of live events in any order, none of them before the newest event."""
        times = self.read(given, name)
        at = self._first_wrong(times, self.now)
        if at is not None:
            since = f", but the last event was at {self.shown}" if self.shown else ""
            raise ValueError(
                f"{name}[{at}] is {times.shown(at)}{since}. Pass finite times, none of them before "
                "an earlier event."
            )
        return self.after(times), times

    def _first_wrong(self, times: Times, earliest: Any) -> int | None:
        """Find the first time that is not finite or before the earliest that it may be."""
        wrong = ~np.isfinite(times.values) | (times.values < earliest)
        return int(wrong.argmax()) if wrong.any() else None

    def read(self, values: Any, name: str, first_row: int = 0) -> Times:
        """Read times of rows from `first_row` on, which must be of the clock's kind."""
        given = time_column(values, name)
        times = Times(as_numbers(given, name, first_row), given, kind_of(given), name)
        self._check(times.kind, name)
        return times

    def after(self, times: Times) -> "Clock":
        """Return the clock of a run that has seen these times."""
        if self.kind is not None or times.kind == MISSING:
            return self
        subject = times.name
        if subject == "t":
            subject = f"t of the first event, {times.shown(0)},"
        return replace(self, kind=times.kind, source=f"{subject} holds {times.kind}")

    def _row_numbers(self, first_row: int, n_rows: int) -> "tuple[Clock, Times]":
        """Return the clock of a run whose rows arrive at their numbers, and these times."""
        values = np.arange(first_row, first_row + n_rows, dtype=np.float64)
        if self.kind not in (None, NUMBERS):
            raise ValueError(
                f"arrival was not given, so the rows would arrive at their row numbers "
                f"({first_row}), but {self.source}. Give the time of arrival."
            )
        clock = self
        if self.kind is None:
            clock = replace(self, kind=NUMBERS, source=f"arrivals are {ROW_NUMBERS}")
        return clock, Times(values, values, NUMBERS, "arrival")

    def read_durations(self, values: Any, name: str, first_row: int = 0) -> np.ndarray:
        """Read durations as numbers, in microseconds where the times are datetimes."""
        durations = duration_column(values, name)
        kind = kind_of(durations)
        if kind == DURATIONS and not self.counts_microseconds:
            raise ValueError(
                f"{name} is a duration (timedelta), but {self.source}. Pass arrival= as datetimes "
                f"too, or a number as the {name}."
            )
        if kind == NUMBERS and self.counts_microseconds:
            raise ValueError(
                f"{name} is a number, but {self.source}. Pass a timedelta (datetime.timedelta or "
                f"numpy.timedelta64) as the {name}."
            )
        return as_numbers(durations, name, first_row)

    def read_one(self, value: Any, name: str) -> Times:
        """Read one time, as `read` does."""
        if self.kind == NUMBERS and (
            type(value) is float or (type(value) is int and abs(value) <= LARGEST_EXACT)
        ):
            given = np.array([value])
            return Times(as_numbers(given, name), given, NUMBERS, name)
        times = self.read([value], name)
        return replace(times, given=np.array([value], dtype=object))

    def _check(self, kind: str, name: str) -> None:
        if self.kind is None or kind in (self.kind, MISSING):
            return
        raise ValueError(
            f"{name} holds {kind}, but {self.source}. Times of a run must all be numbers, or all "
            "datetimes with a time zone, or all datetimes without one."
        )

    def times_for_user(self, times: np.ndarray) -> np.ndarray:
        """Times for the user's functions: numbers, or ``datetime64[us]`` (NaT where infinite)."""
        if not self.counts_microseconds:
            return times
        datetimes = np.full(times.shape, np.datetime64("NaT", "us"))
        known = np.isfinite(times)
        datetimes[known] = times[known].astype("datetime64[us]")
        return datetimes

    def durations_for_user(self, durations: np.ndarray) -> np.ndarray:
        """Durations for the user's functions: numbers, or ``timedelta64[us]``."""
        if not self.counts_microseconds:
            return durations
        return np.round(durations).astype("timedelta64[us]")

    def duration_for_user(self, duration: float) -> float | timedelta:
        """One duration as results show it: a number, or a timedelta."""
        if not self.counts_microseconds or not np.isfinite(duration):
            return duration
        return timedelta(microseconds=round(duration))


def still_awaited(
    rows: np.ndarray, times: np.ndarray, now: float, *, optional: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows without a label whose label should come after the last arrival, and when.

    The others should have come: that is an error, or, if labels are optional, they never come.
    """
    late = times <= now
    if late.any() and not optional:
        at = int(rows[late.argmax()])
        raise MissingLabelError(
            f"Row {at} has no label (None or NaN), but a label time. Use np.inf "
            'as the time of labels that never come, or missing_labels="skip".',
            at,
        )
    waits = ~late & np.isfinite(times)
    return rows[waits], times[waits]


def shown_duration(duration: float | timedelta) -> str:
    """Show a duration in a printed result: a number, or days and hours."""
    if not isinstance(duration, timedelta):
        return f"{duration:,.6g}"
    if duration >= timedelta(minutes=1):
        duration = timedelta(seconds=round(duration.total_seconds()))
    return str(duration).removesuffix(", 0:00:00") if duration else "0 s"


@dataclass(frozen=True)
class LabelTimes:
    """Label times of rows: those that the stream gives, or by the user's delay.

    Parameters
    ----------
    delay : ndarray, str, callable or None
        As in `DelayedEvaluator`; numbers and timedeltas as an array.
    """

    delay: Any

    @classmethod
    def of(cls, delay: Any) -> "LabelTimes":
        """Read the parameter of an evaluator."""
        as_given = delay is None or isinstance(delay, str) or callable(delay)
        return cls(delay if as_given else duration_column(delay, "delay"))

    def check_length(self, n_rows: int | None, has: str = "has") -> None:
        """Raise an error if the delays are not one for each of the rows of a stream."""
        n_delays = len(self.delay) if np.ndim(self.delay) == 1 else n_rows
        if n_rows is not None and n_delays != n_rows:
            raise ValueError(
                f"delay has {n_delays:,} values, but the stream {has} {n_rows:,} rows. Give one "
                "value per row, or one for all."
            )

    def times(self, chunk: Chunk, arrival: Times, first_row: int, clock: Clock) -> np.ndarray:
        """Return the label times of rows from `first_row` on."""
        given = chunk.meta.get("label_time")
        if given is not None and self.delay is not None:
            raise ValueError(
                "Both label_time and the evaluator's delay say when the labels come. Pass one of "
                "them: leave out label_time, or make the evaluator without delay."
            )
        if given is None and self.delay is None:
            raise ValueError(
                "The times of the labels are not known: pass label_time, or give the evaluator a "
                "delay."
            )
        if given is not None:
            times = clock.read(given, "label_time", first_row)
        else:
            values = arrival.values + self._delays(chunk.X, arrival.values, first_row, clock)
            times = Times(values, clock.times_for_user(values), arrival.kind, "label_time")
        early = times.values < arrival.values
        if early.any():
            at = int(early.argmax())
            raise ValueError(
                f"label_time[{first_row + at}] is {times.shown(at)}, before "
                f"arrival[{first_row + at}] = {arrival.shown(at)}. Labels cannot precede their "
                "rows; use np.inf (or NaT) for never."
            )
        return times.values

    def _delays(self, X: Any, arrival: np.ndarray, first_row: int, clock: Clock) -> Any:
        n_rows = len(arrival)
        if isinstance(self.delay, str):
            names = list(getattr(X, "columns", ()))
            length = parse_duration(self.delay)
            if self.delay not in names and length is None:
                raise ValueError(
                    f"delay={self.delay!r} is neither a duration, such as '3D', nor a column of "
                    f"the rows, which have {names or 'no column names'}."
                )
            its = X[self.delay] if self.delay in names else length
            return clock.read_durations(its, "delay", first_row)
        if callable(self.delay):
            try:
                given = self.delay(X, clock.times_for_user(arrival))
            except Exception as error:
                error.add_note(
                    f"Raised by delay(X, arrival) for rows {first_row} to {first_row + n_rows - 1}."
                )
                raise
            delays = clock.read_durations(given, "delay", first_row)
            if delays.ndim == 1 and len(delays) != n_rows:
                raise ValueError(
                    f"delay(X, arrival) got {n_rows} rows and returned {len(delays)} delays. It "
                    "must return one per row, or one for all."
                )
            return delays
        delays = clock.read_durations(self.delay, "delay")
        if delays.ndim == 0:
            return delays
        if len(delays) < first_row + n_rows:
            raise ValueError(
                f"delay has {len(delays)} values, but there are rows up to "
                f"{first_row + n_rows - 1}. Give one value per row, or one for all."
            )
        return delays[first_row : first_row + n_rows]

    @contextmanager
    def advice(self, X: Any, first_row: int) -> Iterator[None]:
        """Say of an error that the column of delays, also a feature, may be its cause."""
        try:
            yield
        except ModelError as error:
            at = error.row - first_row
            its_column = isinstance(self.delay, str) and self.delay in getattr(X, "columns", ())
            if its_column and 0 <= at < X.shape[0]:
                delay = duration_column(X[self.delay], "delay")[at]
                if not np.isfinite(delay):
                    error.add_note(
                        f"The column {self.delay!r}, which holds the delays, is also a feature, "
                        f"and is {delay} in row {error.row} (no label comes). If the model cannot "
                        "take that, pass the delays separately: "
                        f"delay=X[{self.delay!r}].to_numpy(), and X.drop(columns=[{self.delay!r}]) "
                        "as the features."
                    )
            raise


@dataclass(frozen=True)
class UserReduce:
    """The user's ``reduce``, on the run's codes and durations.

    Parameters
    ----------
    function : callable
        ``f(answers, durations)`` on labels, and on durations as the user gave the times.
    classes : ndarray or None
        Labels of the codes; None for regression.
    clock : Clock
        The kind of the times.
    """

    function: Callable[[np.ndarray, np.ndarray], Any]
    classes: np.ndarray | None
    clock: Clock

    def __call__(self, answers: np.ndarray, durations: np.ndarray) -> float:
        """Return the code, or value, of the reduced answer of a bin."""
        durations = self.clock.durations_for_user(durations)
        if self.classes is None:
            value = float(self.function(answers, durations))
            if not np.isfinite(value):
                raise ValueError(
                    f"reduce(answers, durations) returned {value} for the predictions "
                    f"{answers.tolist()}. It must return a finite number."
                )
            return value
        space = LabelSpace(self.classes)
        label = self.function(space.decode(answers), durations)
        if label is None and UNANSWERED in answers:  # an answer that is not a class
            return UNANSWERED
        try:
            (code,) = space.encode([label])
        except (TypeError, ValueError):
            code = -1
        if code < 0:
            raise ValueError(
                f"reduce(answers, durations) returned {label!r}, which is not among the classes "
                f"{self.classes.tolist()}. It must return one of the predictions, or another class."
            )
        return int(code)


#: Delays are counted in steps of this share of their size: whole numbers up to it exactly.
STEPS = 1 << 10
#: Events over which recent periodic answers are counted (Grzenda et al. 2020, Section 5).
RECENT_EVENTS = 100
_ALWAYS_SHOWN = ("n_labelled", "n_pending")


@dataclass(frozen=True, kw_only=True, repr=False)
class Waits:
    """Counts and costs of an evaluation with delayed labels.

    Those of a result that a failing model leaves end when the label of its last row came.

    Attributes
    ----------
    n_bins : int
        Bins between arrival and label.
    n_labelled : int
        Rows whose label came. With `n_pending`, `n_never` and `n_dropped` these are all rows.
    n_pending : int
        Rows that still wait; neither learnt nor scored.
    n_never : int
        Rows known to get no label: asked once, neither learnt nor scored.
    n_unanswered : int
        Those of the labelled rows that were asked before the models had learnt enough; unscored.
    n_dropped : int
        Rows of a live run dropped because too many waited.
    n_relabelled : int
        Labels of live rows that had one; they were left out.
    n_polls : int
        Periodic answers given, by every model.
    poll_costs : dict of str to ndarray of shape (n_points,)
        ``n_labels`` (labels so far) and, at these points, ``NC`` (periodic answers within the
        last 100 events), ``NB`` (periodic answers in memory) and ``NR`` (periodic answers per
        labelled row).
    delays : dict of str to (float or datetime.timedelta)
        ``mean``, ``median`` (to a thousandth of its size, never below the shortest) and ``max`` of
        the time from arrival to label of the labelled rows: numbers, or timedeltas where the times
        are datetimes; NaN where no label came.
    """

    n_bins: int
    n_labelled: int
    n_pending: int
    n_never: int
    n_unanswered: int
    n_dropped: int
    n_relabelled: int
    n_polls: int
    poll_costs: dict[str, np.ndarray]
    delays: dict[str, float | timedelta]

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{name}={count:,}"
            for name, count in vars(self).items()
            if name.startswith("n_") and name != "n_bins" and (count or name in _ALWAYS_SHOWN)
        )
        return f"Waits({counts}, delay: {self.delays_as_text()}; see delays, poll_costs)"

    def delays_as_text(self) -> str:
        """Mean, median and longest delay, in words."""
        return ", ".join(f"{name} {shown_duration(delay)}" for name, delay in self.delays.items())


class DelayCounts:
    """Mean, median and longest of the delays so far, in constant memory."""

    def __init__(self) -> None:
        self._n = 0
        self._total = 0.0
        self._shortest, self._longest = np.inf, 0.0
        self._value = np.empty(0)
        self._count = np.empty(0, dtype=np.int64)

    def add(self, delays: np.ndarray) -> None:
        """Add the delays of rows whose label came."""
        if not len(delays):
            return
        self._n += len(delays)
        self._total += float(delays.sum())
        self._shortest = min(self._shortest, float(delays.min()))
        self._longest = max(self._longest, float(delays.max()))
        mantissa, exponent = np.frexp(delays)
        rounded = np.ldexp(np.round(mantissa * STEPS), exponent) / STEPS
        self._value, inverse = np.unique(
            np.concatenate([self._value, rounded]), return_inverse=True
        )
        counts = np.concatenate([self._count, np.ones(len(rounded), dtype=np.int64)])
        self._count = np.bincount(inverse, weights=counts).astype(np.int64)

    def summary(self, clock: Clock) -> dict[str, float | timedelta]:
        """Return mean, median (the lower one; to a thousandth of its size) and maximum."""
        if not self._n:
            return dict.fromkeys(("mean", "median", "max"), float("nan"))
        middle = np.searchsorted(np.cumsum(self._count), (self._n + 1) // 2)
        median = min(max(float(self._value[middle]), self._shortest), self._longest)
        return {
            "mean": clock.duration_for_user(self._total / self._n),
            "median": clock.duration_for_user(median),
            "max": clock.duration_for_user(self._longest),
        }


class LabelledDrifts:
    """Where the truth changes in the order of labels, which may be another one than that of rows.

    Parameters
    ----------
    drifts : sequence of Drift
        Where the truth of the stream changes, in rows.
    """

    def __init__(self, drifts: Sequence[Drift]) -> None:
        rows = np.array(drifts, dtype=np.int64).reshape(-1, 2)
        self._start, self._end = rows.T  # in rows of the stream
        self._n_labels = 0
        self._first_later = np.full(len(rows), -1)  # label of a row from the start on
        self._last_earlier = np.zeros(len(rows), dtype=np.int64)  # labels up to it

    def add(self, rows: np.ndarray) -> None:
        """Add rows whose labels came, in that order."""
        if not len(rows):
            return
        n, start = self._n_labels, self._start
        if len(start):
            later = np.searchsorted(np.maximum.accumulate(rows), start)
            new = (self._first_later < 0) & (later < len(rows))
            self._first_later[new] = n + later[new]
            earlier = np.searchsorted(np.minimum.accumulate(rows[::-1])[::-1], self._end)
            self._last_earlier[earlier > 0] = n + earlier[earlier > 0]
        self._n_labels = n + len(rows)

    def known(self) -> tuple[Drift, ...]:
        """Return the drifts after which a label came, in labelled rows."""
        rows = np.stack([self._first_later, np.maximum(self._first_later, self._last_earlier)])
        return as_drifts(rows.T[(rows[0] >= 0) & (rows[1] > 0)])


class PollCosts:
    """Counts periodic answers along the stream, after every label or every few.

    Attributes
    ----------
    n_polls : int
        All periodic answers so far.
    n_labels : int
        All labels so far.
    """

    def __init__(self) -> None:
        self.n_polls = 0
        self.n_labels = 0
        self._n_events = 0
        self._in_memory = 0
        self._recent_event = np.empty(0, dtype=np.int64)
        self._recent_polls = np.empty(0, dtype=np.int64)
        self._recorder = CheckpointRecorder(3)

    def follow(self, history: History, gone: np.ndarray, n_held: int) -> None:
        """Add what happened since the last call.

        Parameters
        ----------
        history : History
            What happened.
        gone : ndarray of shape (n_labelled,), dtype int64
            Periodic answers that each label let be forgotten: those to its row, and those to rows
            dropped since the previous label.
        n_held : int
            Periodic answers still kept.
        """
        n, n_arrived = len(history.labelled), len(history.labels_before)
        # Arrivals between the labels: those with at most j labels before them precede label j.
        arrivals_before = np.searchsorted(history.labels_before, np.arange(n), side="right")
        event = self._n_events + arrivals_before + np.arange(n)
        polls = history.polls_per_label
        n_events = self._n_events + n + n_arrived
        # Polls within the last events, after each label.
        events = np.concatenate([self._recent_event, event])
        counts = np.concatenate([self._recent_polls, polls])
        summed = np.concatenate([[0], np.cumsum(counts)])
        end = len(self._recent_event) + 1 + np.arange(n)
        recent = summed[end] - summed[np.searchsorted(events, event - RECENT_EVENTS + 1)]
        kept = events > n_events - RECENT_EVENTS
        self._recent_event, self._recent_polls = events[kept], counts[kept]
        held = self._in_memory + np.cumsum(polls) - np.cumsum(gone)
        labels = self.n_labels + 1 + np.arange(n)
        total = self.n_polls + np.cumsum(polls)
        if n:
            self._recorder.follow(recent, held, total / labels)
            self.n_polls = int(total[-1])
        self._in_memory = n_held
        self.n_labels += n
        self._n_events = n_events

    def curves(self) -> dict[str, np.ndarray]:
        """Return NC, NB and NR (periodic answers recent, in memory, per row) by labels."""
        n_labels, (recent, held, per_row) = self._recorder.curves()
        return {"n_labels": n_labels.astype(float), "NC": recent, "NB": held, "NR": per_row}
