"""A run under delayed labels: rows come from a stream, or are asked and labelled live."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.engine.delayed import (
    Dated,
    DatedArrivals,
    DelayedState,
    Dropped,
    Labels,
    TimePassed,
)
from skstream.engine.failures import ModelError
from skstream.engine.loop import no_answers
from skstream.engine.run import Answered, Step
from skstream.evaluation._decisions import check_on_error
from skstream.evaluation._input import EncodedRows, encoded_labels
from skstream.evaluation._outcome import RunOutcome
from skstream.evaluation._passes import LABEL_TIMES
from skstream.evaluation._progress import Advance, ignored
from skstream.evaluation._result import EvaluationResult, assemble
from skstream.evaluation._settings import Settings
from skstream.evaluation._stream_run import StreamRun
from skstream.evaluation.delayed._clock import (
    Clock,
    Times,
    advice_on_delays,
    check_label_times,
    check_one_is_given,
)
from skstream.evaluation.delayed._counts import Waits
from skstream.evaluation.delayed._live_input import (
    Batch,
    KnownIds,
    LiveIds,
    as_ids,
    asked_rows,
    label_weights,
    read_batch,
)
from skstream.evaluation.delayed._scoring import AskedWhileWaiting
from skstream.evaluation.delayed._settings import DelaySettings
from skstream.streams._chunk import Chunk
from skstream.utils._exclusive import exclusive
from skstream.utils._interrupt import deferred_interrupt

#: The latest finite time of a label.
MAX_TIME = float(np.finfo(np.float64).max)


class DelayedRun(StreamRun):
    """Run of models along a stream with delayed labels.

    Made by ``DelayedEvaluator.start``.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold.
    places : list of (str, int)
        Names and folds, in the order of the result.
    delay : DelaySettings
        Bins and delays.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent
    >>> run = DelayedEvaluator("accuracy", n_bins=2).start(Persistent(), classes=["a", "b"])
    >>> run.ask([[0.1], [0.2]], ["first", "second"], t=0)["Persistent"]
    array([None, None], dtype=object)
    >>> run.label(["second"], ["b"], t=3).n_pending
    1
    >>> run.ask([[0.3]], ["third"], t=4)["Persistent"]
    array(['b'], dtype='<U1')
    """

    _rows_per_piece = 1 << 13

    def __init__(
        self,
        settings: Settings,
        models: Mapping[tuple[str, int], Any],
        places: list[tuple[str, int]],
        delay: DelaySettings,
    ):
        features = None if delay.features is None else self._features_at
        super().__init__(settings, models, places, features, width=delay.n_bins + 2)
        self._delay = delay
        self._scoring = AskedWhileWaiting(
            settings.classes,
            len(places),
            delay.n_bins,
            delay.reduce,
            delay.previous_label == "known_at_arrival",
            settings.drifts,
            settings.n_scores,
        )
        self._clock = Clock()
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

    @property
    def n_refused(self) -> int:
        """Number of rows that a model could not answer when they were asked, and were skipped."""
        return self._n_refused

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
            rows, clock, arrival, label_time = self._dated(chunk)
        self._clock = clock
        if "label_time" not in chunk.meta:
            self._n_delayed = self._n_arrived + rows.n_rows
        with advice_on_delays(self._delay.label_times, chunk.X, self._n_arrived):
            self._take(rows, arrival, label_time, advance)
        return self

    def _dated(self, chunk: Chunk) -> tuple[EncodedRows, Clock, Times, np.ndarray]:
        """Return the next rows of a stream, the clock after them, and their times."""
        rows = self._encoded(chunk, "skip")
        arrived, given = chunk.meta.get("arrival"), chunk.meta.get("label_time")
        clock, arrival = self._clock.arrivals(arrived, self._n_arrived, rows.n_rows)
        return rows, clock, arrival, self._label_times_of(rows, arrival, clock, given)

    def pass_over(self, chunk: Chunk) -> None:
        """Read label times that a function gives; others follow from what is compared anyway.

        Parameters
        ----------
        chunk : Chunk
            The next of these rows.
        """
        if callable(getattr(self._delay.label_times, "delay", None)):
            rows, clock, arrival, label_time = self._dated(chunk)
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
        expected = np.isfinite(label_time)
        arrivals = DatedArrivals(
            self._n_arrived,
            piece.labelled,
            piece.weight,
            arrival=arrival.values,
            label_time=label_time,
            expected=expected if ids is None else np.ones(len(expected), dtype=bool),
        )
        clock = self._clock.at(float(arrival.values[-1]), arrival.shown(-1))
        note = partial(self._note_arrived, arrivals, piece.y, clock)
        if ids is not None:
            labelled = [ids[at] for at in np.flatnonzero(expected)]
            note = partial(self._note_batch, ids, labelled, arrivals, piece.y, clock)
        self._take_event(note, arrivals, piece.X, piece.y, skip=skip)

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

    @exclusive
    def ask(
        self, X: Any, ids: Any = None, t: Any = None, *, on_error: str = "raise"
    ) -> dict[str, np.ndarray]:
        """Ask about rows that arrive now, and keep them until their labels come.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features. They are copied: the same array may be filled again. No rows at all, as in an
            empty frame of a queue, are no event: time does not pass.
        ids : array-like of shape (n_rows,)
            What to call the rows when their labels come; hashable, each waiting only once.
        t : number, datetime, or array-like of shape (n_rows,), default=None
            Time of arrival of all rows, or of each; None: the number of the row.
        on_error : {"raise", "skip"}, default="raise"
            What to do with rows that a model cannot answer (NaN, say). "raise": the whole call is
            an error. "skip": only these rows are left out, for all models; they do not wait,
            `n_refused` counts them, and their labels are ignored.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,)
            Predictions by model; None or NaN while it has not learnt enough to answer, and for
            rows that were refused. A fitted model given with ``warm_start=True`` answers from
            the first call on; what it answers before `n_warmup` labels were learnt is not
            scored, as in `evaluate`.

        Raises
        ------
        ValueError
            If an id waits already or is missing, or time goes back. The run is then unchanged.
        ModelError
            If a model cannot answer a row; names both. No row of the call waits then, and the run
            is unchanged.

        Notes
        -----
        Calls are taken in the order in which they come, and the labels of one call in the order of
        their rows. `evaluate` orders events of equal time by row, each label before the arrival of
        later rows; in this order, the results are equal.
        """
        self._require_open()
        check_on_error(on_error)
        ids = as_ids(ids)
        with self._first_rows():
            chunk = asked_rows(X, ids, self._space, self._n_arrived)
            self._check_schema(chunk.X)
            if not ids:  # as an empty frame of a queue
                none = no_answers(self._settings.task)
                return {name: self._as_labels(none, np.arange(0), 0) for name, _ in self._places}
            self._ids.check_new(ids)
            clock, arrival = self._clock.event(t, self._n_arrived, len(ids))
            times = np.broadcast_to(arrival.values, len(ids))
            state = self._timeline_state
            if state.n_dated:  # rows of a stream: labels come by themselves
                if state.n_due(times[-1]) > state.n_due(times[0]):
                    raise ValueError(
                        "Labels of earlier rows, whose time is known, come between the times of "
                        "these rows. Ask in one call about the rows between two labels."
                    )
                due = TimePassed(float(times[0]))
                self._take_event(self._note, due)
            at, step, codes = self._ask(
                chunk, ids, times, skip=on_error == "skip", numbered=t is None
            )
        if len(at) < len(ids):
            refused = np.delete(np.arange(len(ids)), at)
            self._ids.refuse([ids[place] for place in refused])
            self._n_refused += len(refused)
        if step is not None:
            newest = len(at) - 1 if t is None else int(at[-1])
            shown = arrival.shown(min(newest, len(arrival.given) - 1))
            clock = clock.at(float(step.event.arrival[-1]), shown)
            its_ids = [ids[place] for place in at]
            note = partial(self._note_asked, its_ids, step.event, chunk.y[at], clock)
            self._commit(step, note)
        return {
            name: self._as_labels(some, at, len(ids))
            for (name, _), some in zip(self._places, codes, strict=True)
        }

    def _ask(
        self, chunk: EncodedRows, ids: list[Any], times: np.ndarray, *, skip: bool, numbered: bool
    ) -> tuple[np.ndarray, Step | None, list[np.ndarray]]:
        """Ask about all rows, or those that can be answered; an error changes nothing.

        `numbered` says that the times are the numbers of the rows, which follow each other.
        Returns which rows, the step, and the answers of all models.
        """
        at = np.arange(len(ids))
        while len(at):
            try:
                some = chunk.take(at)
                its_times = times[: len(at)] if numbered else times[at]
                return at, *self._ask_on_trial(some, its_times, skip=skip)
            except ModelError as error:
                row = at[error.row - self._n_arrived]
                if not skip:
                    error.add_note(
                        f"The row has the id {ids[row]!r}. No row of the call waits; pass "
                        "on_error='skip' to leave out the rows that a model cannot answer."
                    )
                    raise
                at = at[at != row]
        return at, None, [no_answers(self._settings.task) for _ in self._places]

    def _ask_on_trial(
        self, chunk: EncodedRows, times: np.ndarray, *, skip: bool
    ) -> tuple[Step, list[np.ndarray]]:
        n, engine = chunk.n_rows, self._engine
        arrivals = DatedArrivals(
            self._n_arrived,
            chunk.labelled,
            arrival=times,
            label_time=np.full(n, np.inf),
            expected=np.ones(n, dtype=bool),
        )
        failed = set(engine.failures)
        try:
            with self._breakable():
                step = engine.execute(arrivals, chunk.X, chunk.y)
                asked = [one.answers for one in step.lanes if len(one.answers)]
                codes = asked or self._early_answers(chunk.X, n)
                new = [error for k, error in engine.failures.items() if k not in failed]
                if new and (skip or self._settings.error_score == "raise"):
                    raise min(new, key=lambda error: error.row)
            if self._interrupt is not None and self._interrupt.received:
                raise KeyboardInterrupt
        except BaseException:
            engine.abandon()
            raise
        return step, codes

    def _early_answers(self, X: Any, n: int) -> list[np.ndarray]:
        """Answers in the warm-up: those of models that were fitted before the run, else none."""
        if self._settings.parameters["warm_start"]:
            return self._engine.preview(X, np.arange(self._n_arrived, self._n_arrived + n))
        return [no_answers(self._settings.task, n) for _ in self._places]

    def _as_labels(self, codes: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
        """Answers to the rows at some of `n` positions as labels or values; none to the others."""
        answers = no_answers(self._settings.task, n)
        answers[at] = codes
        return self._space.decode(answers)

    @exclusive
    def label(
        self,
        ids: Any,
        y: Any,
        t: Any = None,
        *,
        sample_weight: Any = None,
        on_unknown: str = "error",
        on_error: str = "raise",
    ) -> Self:
        """Let labels of waiting rows come: ask, score, then learn.

        Parameters
        ----------
        ids : array-like of shape (n_rows,)
            Which rows.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        t : number or datetime, default=None
            Time of all labels; None: the time of the last event. (Labels of several times:
            `update`.)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring, as in `evaluate`; 0: neither learnt nor scored. From
            the first call with weights on, models learn all rows with weights, 1 where there is
            none.
        on_unknown : {"error", "ignore"}, default="error"
            What to do with ids of rows that do not wait, such as dropped rows: raise an error, or
            leave them out. For rows that have their label, see ``on_relabel`` of the evaluator.
        on_error : {"raise", "skip"}, default="raise"
            What to do where a model cannot learn a row. "raise": stop, and wait for a call of
            `go_on` with your decision. "skip": this model does not learn this row; `n_skipped`
            counts it.

        Returns
        -------
        self : DelayedRun
            The run.

        Raises
        ------
        KeyError
            If no row of an id waits: it was never asked, was dropped, or has its label. No label
            of the call has been taken then.
        ValueError
            If a label is unknown, an id comes twice or is missing, or time goes back. No label of
            the call has been taken then.
        ModelError
            If a model fails; names the model and the row. See `go_on`.
        """
        self._require_open()
        check_on_error(on_error)
        _check_on_unknown(on_unknown)
        ids = as_ids(ids)
        codes = encoded_labels(y, self._space)
        if len(ids) != len(codes):
            raise ValueError(f"There are {len(ids)} ids and {len(codes)} labels.")
        weight = label_weights(sample_weight, len(ids))
        clock = self._clock
        if t is not None:
            if np.ndim(t):
                raise ValueError(
                    f"t holds {len(t):,} times. Pass one time for all labels of the call, or "
                    "labels of several times as a frame: update(None, labels)."
                )
            clock, now = clock.event(t, self._n_arrived, len(ids))
            clock = clock.at(float(now.values[0]), now.shown(0))
        known = self._ids.rows_of(ids, self._delay.on_relabel, on_unknown)
        rows, kept = known.rows, known.places
        if not len(rows):
            self._n_relabelled += known.n_again
            return self
        codes, weight = codes[kept], weight[kept]
        weighted = sample_weight is not None
        labels = Labels(rows, clock.now, weight if weighted else None)
        note = partial(self._note_labelled, known, codes, clock, weighted)
        self._take_event(note, labels, None, codes, skip=on_error == "skip")
        return self

    @exclusive
    def update(
        self,
        rows: Any = None,
        labels: Any = None,
        *,
        id: str = "id",
        time: str = "time",
        label: str = "label",
        sample_weight: str | None = None,
        on_unknown: str = "error",
        on_error: str = "raise",
    ) -> Self:
        """Let rows arrive and labels come, in the order of their times.

        The rows and labels of a period, in two frames: all events are taken in the order in which
        `evaluate` takes them. So `evaluate` can be continued: pass the past in the first call, and
        go on with `ask` and `label`, or with further frames.

        Parameters
        ----------
        rows : dataframe of shape (n_rows, n_features + 2), default=None
            Rows that arrive, in any order: features, ids and times of arrival. None: no rows.
        labels : dataframe of shape (n_labels, 3), default=None
            Labels that become known, in any order: ids (of rows of this call, or that wait), times
            and labels. Other columns are ignored. None: no labels.
        id, time, label : str, default="id", "time", "label"
            Names of the columns.
        sample_weight : str, default=None
            Column of `labels` that holds weights of learning and scoring, as in `label`.
        on_unknown : {"error", "ignore"}, default="error"
            As in `label`.
        on_error : {"raise", "skip"}, default="raise"
            As in `label`. A row that a model cannot answer stops the run, which waits for
            `go_on`.

        Returns
        -------
        self : DelayedRun
            The run. Rows whose label has not come wait for it (`n_pending`).

        Raises
        ------
        KeyError
            If no row of an id waits. Nothing of the call has been taken then.
        ValueError
            If something is wrong with the ids, times, rows or labels, as in `ask` and `label`, or
            a label comes before its row. Nothing of the call has been taken then.
        ModelError
            If a model fails; names the model and the row. See `go_on`.

        Examples
        --------
        >>> from skstream import DelayedEvaluator, Persistent
        >>> run = DelayedEvaluator("accuracy", n_bins=2).start(Persistent(), classes=["a", "b"])
        >>> rows = {"id": [1, 2, 3], "time": [0, 4, 6], "x": [0.5, 0.1, 0.9]}
        >>> labels = {"id": [2, 1], "time": [9, 5], "label": ["b", "a"]}
        >>> run.update(rows, labels).n_pending
        1
        """
        self._require_open()
        check_on_error(on_error)
        _check_on_unknown(on_unknown)
        if rows is None and labels is None:
            return self
        with self._first_rows():
            batch = read_batch(
                rows,
                labels,
                {"id": id, "time": time, "label": label, "sample_weight": sample_weight},
                self._ids,
                (self._delay.on_relabel, on_unknown),
                self._clock,
                self._space,
                self._n_arrived,
                skip=on_error == "skip",
            )
            if batch.n_rows:
                self._check_schema(batch.rows.X)
        known, self._clock = batch.known, batch.clock
        self._n_relabelled += known.n_again
        take = partial(self._take, batch.rows, batch.arrival, batch.label_time, batch=batch)
        if len(known.rows):
            dated = Dated(known.rows, batch.known_times, batch.known_weight)
            note = partial(self._note_dated, known, batch.known_y, dated)
            with self._before_rest(take):
                self._take_event(note, dated, None, batch.known_y)
        take()
        return self

    def _note(self, answered: list[Answered]) -> None:
        self._scoring.note(answered)

    def _note_arrived(
        self, arrivals: DatedArrivals, y: np.ndarray, clock: Clock, answered: list[Answered]
    ) -> None:
        weighted = arrivals.weight is not None
        self._scoring.arrive(self._n_arrived, y, clock, weighted=weighted)
        self._n_arrived += len(y)
        self._clock = clock
        self._note(answered)

    def _note_asked(
        self,
        ids: list[Any],
        arrivals: DatedArrivals,
        y: np.ndarray,
        clock: Clock,
        answered: list[Answered],
    ) -> None:
        self._ids.add(ids, self._n_arrived)
        self._note_arrived(arrivals, y, clock, answered)
        self._drop_oldest()

    def _note_batch(self, ids: list[Any], labelled: list[Any], *arrived: Any) -> None:
        """Note rows of a live run, with ids, and those of them whose label is known."""
        self._ids.add(ids, self._n_arrived)
        self._ids.labelled(labelled)
        self._note_arrived(*arrived)

    def _note_dated(
        self, known: KnownIds, y: np.ndarray, dated: Dated, answered: list[Answered]
    ) -> None:
        """Note when labels of waiting rows come, and which."""
        self._scoring.label(known.rows, y, weighted=dated.weight is not None)
        self._ids.labelled(known.ids)
        self._note(answered)

    def _note_labelled(
        self,
        known: KnownIds,
        y: np.ndarray,
        clock: Clock,
        weighted: bool,
        answered: list[Answered],
    ) -> None:
        self._scoring.label(known.rows, y, weighted=weighted)
        self._ids.labelled(known.ids)
        self._n_relabelled += known.n_again
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

    def _can_skip(self, failed: list[int]) -> bool:
        return all(self._engine.lanes[k].model.stopped_learning for k in failed)

    def _check_skip(self, failed: list[int]) -> None:
        for k in failed:
            if not self._engine.lanes[k].model.stopped_learning:
                failure = self._engine.failures[k]
                raise ValueError(
                    f"Model '{failure.model}' failed to answer row {failure.row}, which waits for "
                    "its label: only a row that is learnt can be skipped. Decide 'retry' or "
                    "'leave_out'."
                )

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
        optional = self._settings.missing_labels != "error"
        check_label_times(times, arrival, chunk.labelled | optional, self._n_arrived)
        return np.where(chunk.labelled, times.values, np.inf)

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
        return assemble(self._settings.header, [self.outcome()])

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, and the counts of waiting rows."""
        with deferred_interrupt():
            self._score_steps()
        scoring = self._scoring
        n_labelled = scoring.poll_costs.n_labels
        waits = Waits(
            n_bins=self._delay.n_bins,
            n_labelled=n_labelled,
            n_pending=self._n_arrived - n_labelled - scoring.n_never - self._n_dropped,
            n_never=scoring.n_never,
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


def _check_on_unknown(on_unknown: str) -> None:
    if on_unknown not in ("error", "ignore"):
        raise ValueError(f'on_unknown must be "error" or "ignore". Got {on_unknown!r} instead.')
