"""The part of a run under delayed labels that takes rows whose label times are known."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.engine.delayed import DatedArrivals, DelayedState, Dropped, TimePassed
from skstream.engine.run import Answered
from skstream.evaluation._folder._read_checksums import LABEL_TIMES
from skstream.evaluation._results._assemble import assemble
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._runs._input import EncodedRows
from skstream.evaluation._runs._run_outcome import Place, RunOutcome
from skstream.evaluation._runs._stream_run import Advance, StreamRun, ignored
from skstream.evaluation._settings import Settings
from skstream.evaluation.delayed._clock import (
    Awaited,
    Clock,
    Times,
    advice_on_delays,
    check_label_times,
    check_one_is_given,
)
from skstream.evaluation.delayed._counts import Waits
from skstream.evaluation.delayed._live_input import Batch, LiveIds
from skstream.evaluation.delayed._scoring import AskedWhileWaiting, DelaySettings
from skstream.streams._chunk import Chunk
from skstream.utils._exclusive import exclusive
from skstream.utils._interrupt import deferred_interrupt

#: The latest finite time of a label.
MAX_TIME = float(np.finfo(np.float64).max)


class DatedRun(StreamRun):
    """Run of models along rows whose label times are known, as far as they are.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    delay : DelaySettings
        Bins and delays.
    """

    _rows_per_piece = 1 << 13

    def __init__(
        self,
        settings: Settings,
        models: Mapping[Place, Any],
        delay: DelaySettings,
    ):
        features = None if delay.features is None else self._features_at
        super().__init__(settings, models, features, width=delay.n_bins + 2)
        self._delay = delay
        self._scoring = AskedWhileWaiting(settings, delay, len(models))
        self._clock = Clock()
        self._awaited = Awaited()
        self._ids = LiveIds()
        self._n_delayed = 0  # rows up to the last that took its label time from `delay`
        self._label_times_read = 0  # checksum
        self._n_dropped = 0
        self._n_relabelled = 0
        self._n_refused = 0

    @property
    def _timeline_state(self) -> DelayedState:
        state: DelayedState = self._engine.states[0]
        return state

    @property
    def n_pending(self) -> int:
        """Number of rows that wait for their label."""
        return len(self._timeline_state.pending)

    def _features_at(self, rows: np.ndarray, times: np.ndarray) -> Any:
        """Call the user's `features`, with times of the kind that the user gave."""
        assert self._delay.features is not None
        return self._delay.features(rows, self._clock.times_for_user(times))

    @exclusive
    def feed(self, chunk: Chunk, advance: Advance = ignored) -> Self:
        """Process a chunk of a stream whose label times are known.

        Parameters
        ----------
        chunk : Chunk
            Rows that a stream has checked, with "arrival" and "label_time" unless the evaluator
            knows the delay.
        advance : callable, default=None
            Called with a number of rows whenever so many more are done.

        Returns
        -------
        self : DelayedRun
            The run.
        """
        self._require_open()
        with self._first_rows():
            rows, clock, arrival, label_time, awaited = self._dated(chunk)
        self._clock, self._awaited = clock, awaited
        if "label_time" not in chunk.meta:
            self._n_delayed = self._n_arrived + rows.n_rows
        with advice_on_delays(self._delay.label_times, chunk.X, self._n_arrived):
            self._take(rows, arrival, label_time, advance)
        return self

    def _dated(self, chunk: Chunk) -> tuple[EncodedRows, Clock, Times, np.ndarray, Awaited]:
        """Return the next rows of a stream, the clock after them, and their times."""
        rows = self._encoded(chunk, "skip")
        arrived, given = chunk.meta.get("arrival"), chunk.meta.get("label_time")
        clock, arrival = self._clock.arrivals(arrived, self._n_arrived, rows.n_rows)
        times = self._label_times_of(rows, arrival, clock, given)
        missing, now = np.flatnonzero(~rows.labelled), arrival.values[-1:].max(initial=-np.inf)
        awaited = self._awaited.after(
            self._n_arrived + missing,
            times[missing],
            now,
            optional=self._settings.missing_labels != "error",
        )
        return rows, clock, arrival, np.where(rows.labelled, times, np.inf), awaited

    def pass_over(self, chunk: Chunk) -> None:
        """Read label times that a function gives; others follow from what is compared anyway.

        Parameters
        ----------
        chunk : Chunk
            The next of these rows.
        """
        if callable(getattr(self._delay.label_times, "delay", None)):
            rows, clock, arrival, label_time, self._awaited = self._dated(chunk)
            self._label_times_read = crc32(label_time.data, self._label_times_read)
            self._clock = clock.at(float(arrival.values[-1]), arrival.shown(-1))
            self._n_arrived += rows.n_rows

    def go_on_as(self, new: Self) -> None:
        """Go on after rows to which the function given as delay gives the same label times.

        Parameters
        ----------
        new : DelayedRun
            The new run, which is not needed afterwards.

        Raises
        ------
        ValueError
            If it gives other ones.
        """
        super().go_on_as(new)
        if new.n_rows and new._label_times_read != self._label_times_read:
            raise ValueError(
                f"delay(X, arrival) gives the first {self.n_rows:,} rows other label times than "
                "those that the run has taken. Let it return the same every time, or begin again."
            )

    def _take(
        self,
        chunk: EncodedRows,
        arrival: Times,
        label_time: np.ndarray,
        advance: Advance = ignored,
        batch: Batch | None = None,
    ) -> None:
        """Take rows, piece by piece, with the labels between them.

        `batch` is what a user has passed to a live run: the rows have ids, those without a label
        wait, and labels come until its last event.
        """
        n, begin = chunk.n_rows, 0
        skip = batch is not None and batch.skip

        def rest(first: int) -> Callable[[], None]:
            times = arrival.piece(first, n), label_time[first:]
            left = None if batch is None else batch.after(first)
            return partial(self._take, chunk.take(slice(first, n)), *times, batch=left)

        while begin < n:
            if self._timeline_state.n_due(arrival.values[begin]) > self._pace.size:
                with self._before_rest(rest(begin)):
                    self._let_labels_come(arrival.values[begin], skip=skip)
            end = self._end_of_piece(begin, arrival.values, label_time)
            self._label_times_read = crc32(label_time[begin:end].data, self._label_times_read)
            with self._before_rest(rest(end)):
                self._arrive(
                    chunk.take(slice(begin, end)),
                    arrival.piece(begin, end),
                    label_time[begin:end],
                    None if batch is None else batch.ids[begin:end],
                    skip=skip,
                )
            advance(end - begin)
            begin = end
        if batch is not None:
            with self._before_rest(rest(n)):
                self._let_labels_come(batch.last, skip=skip)
            if batch.last > self._clock.now:
                self._clock = self._clock.at(batch.last, batch.shown)
            self._drop_oldest()

    def _end_of_piece(self, begin: int, arrival: np.ndarray, label_time: np.ndarray) -> int:
        """Find how many rows can be processed at once, with the labels that come between them."""
        size = self._pace.size
        end = min(begin + size, len(arrival))
        while end > begin + 1:
            horizon = arrival[end - 1]
            n_due = np.count_nonzero(label_time[begin:end] <= horizon)
            n_due += self._timeline_state.n_due(horizon)
            if n_due + end - begin <= 2 * size:
                break
            end = begin + (end - begin) // 2
        return end

    def _arrive(
        self,
        piece: EncodedRows,
        arrival: Times,
        label_time: np.ndarray,
        ids: list[Any] | None,
        *,
        skip: bool,
    ) -> None:
        arrivals = self._arrivals(piece, arrival.values, label_time, live=ids is not None)
        clock = self._clock.at(float(arrival.values[-1]), arrival.shown(-1))
        note = partial(self._note_arrived, arrivals, piece.y, clock, ids)
        self._take_event(note, arrivals, piece.X, piece.y, skip=skip)

    def _arrivals(
        self, rows: EncodedRows, arrival: np.ndarray, label_time: np.ndarray, *, live: bool
    ) -> DatedArrivals:
        """Return the event of rows that arrive; in a live run all of them wait for a label."""
        return DatedArrivals(
            self._n_arrived,
            rows.labelled,
            rows.weight,
            arrival=arrival,
            label_time=label_time,
            expected=np.isfinite(label_time) | live,
        )

    def _let_labels_come(self, horizon: float, *, skip: bool = False) -> None:
        """Let the labels come that are due by a time, not too many at once."""
        while self._timeline_state.n_due(horizon):
            due = TimePassed(horizon, most=self._pace.size)
            self._take_event(self._note, due, skip=skip)

    @exclusive
    def close(self) -> Self:
        """End the stream: let the labels come whose time is known. Nothing can follow.

        Returns
        -------
        self : DelayedRun
            The run.

        Raises
        ------
        ValueError
            If the evaluator has one delay per row, and there are more of them than rows. The run
            is closed.
        """
        was_open = self._state != "closed"
        if self._state == "open":
            with self._before_rest(self.close):
                self._let_labels_come(MAX_TIME)
        super().close()
        if was_open and self._delay.label_times is not None and self._n_delayed:
            self._delay.label_times.check_length(self._n_delayed, "had")
        return self

    def _note(self, answered: list[Answered]) -> None:
        self._scoring.note(answered)

    def _note_arrived(
        self,
        arrivals: DatedArrivals,
        y: np.ndarray,
        clock: Clock,
        ids: list[Any] | None,
        answered: list[Answered],
    ) -> None:
        """Note rows that arrived; those of a live run have ids, and some of them labels."""
        if ids is not None:
            self._ids.add(ids, self._n_arrived)
            self._ids.labelled([ids[at] for at in np.flatnonzero(np.isfinite(arrivals.label_time))])
        weighted = arrivals.weight is not None
        self._scoring.arrive(self._n_arrived, y, clock, weighted=weighted)
        self._n_arrived += len(y)
        self._labels_read = self._labels_read.after(y, arrivals.labelled)
        self._clock = clock
        self._note(answered)

    def _drop_oldest(self) -> None:
        """Keep no more than ``max_pending`` waiting rows."""
        limit, table = self._delay.max_pending, self._timeline_state.pending
        if limit is None or len(table) <= limit:
            return
        rows = table.take(table.oldest(len(table) - limit)).row
        step = self._engine.execute(Dropped(rows))
        self._engine.commit(step)
        self._ids.drop(int(rows[-1]))
        self._n_dropped += len(rows)
        self._note(step.lanes)

    def _label_times_of(
        self, chunk: EncodedRows, arrival: Times, clock: Clock, given: Any
    ) -> np.ndarray:
        delays = self._delay.label_times
        check_one_is_given(given, delays)
        times = (
            clock.read(given, "label_time", self._n_arrived)
            if delays is None
            else delays.times(chunk.X, arrival, self._n_arrived, clock)
        )
        check_label_times(times, arrival, self._n_arrived)
        return times.values

    def _score(self) -> None:
        if self._scoring.is_due:
            self._score_steps()

    def _score_all(self) -> None:
        self._score_steps()

    def _score_steps(self) -> None:
        self._scores.measure()  # what a function of the user has held up
        if self._scoring.n_steps:
            failed = self._engine.failures if self._ends_by_failure else ()
            self._scores.keep(self._scoring.settle(failed))
            if failed:
                self._n_arrived = self._scoring.n_arrived
            self._scores.measure()

    def _finish_scores(self) -> None:
        self._score_steps()
        super()._finish_scores()

    def _n_valid(self, lane: int) -> int:
        return self._scoring.n_answered[lane]

    @exclusive
    def result(self) -> EvaluationResult:
        """Return the result so far; the run can continue afterwards.

        Returns
        -------
        result : DelayedResult
            Scores of the rows whose label has come.
        """
        return assemble(self._settings.header, self.outcome())

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, and the counts of waiting rows."""
        with deferred_interrupt():
            self._score_steps()
        scoring = self._scoring
        n_labelled = scoring.poll_costs.n_labels
        n_awaited = int(np.count_nonzero(self._awaited.rows < self._n_arrived))
        n_never = scoring.n_never - n_awaited
        waits = Waits(
            n_bins=self._delay.n_bins,
            n_labelled=n_labelled,
            n_pending=self._n_arrived - n_labelled - n_never - self._n_dropped,
            n_never=n_never,
            n_unanswered=scoring.n_unanswered,
            n_dropped=self._n_dropped,
            n_relabelled=self._n_relabelled,
            n_refused=self._n_refused,
            n_polls=scoring.poll_costs.n_polls,
            poll_costs=scoring.poll_costs.curves(),
            delays={
                name: self._clock.duration_for_user(delay)
                for name, delay in scoring.delays.summary().items()
            },
        )
        read = {} if self._delay.label_times is None else {LABEL_TIMES: (self._label_times_read,)}
        return replace(super().outcome(), waits=waits, read=read, drifts=scoring.drifts.known())
