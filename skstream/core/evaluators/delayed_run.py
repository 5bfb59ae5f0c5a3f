"""A run with delayed labels: rows come from a stream, or are asked and labelled live."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.core.engine.answers import ModelError
from skstream.core.engine.run import Answered, Step
from skstream.core.evaluators.delayed_input import (
    DatedRows,
    KnownIds,
    LiveIds,
    as_ids,
    label_weights,
    read_batch,
)
from skstream.core.evaluators.delayed_scoring import AskedWhileWaiting
from skstream.core.evaluators.delayed_times import Clock, LabelTimes, Waits, still_awaited
from skstream.core.evaluators.settings import Polling, Settings
from skstream.core.rows.chunk import Chunk, last_time, table_times
from skstream.core.run.input import LABEL_TIMES, EncodedRows, encoded, encoded_labels
from skstream.core.run.run import EvaluationRun
from skstream.core.run.run_outcome import Place, RunOutcome
from skstream.core.timelines.delayed import (
    FIRST,
    Dated,
    DatedArrivals,
    DelayedState,
    Dropped,
    Labels,
    TimePassed,
)
from skstream.core.timelines.timeline import no_rows
from skstream.utils._choices import check_choice
from skstream.utils._concurrency import Deferred, exclusive
from skstream.utils._labels import is_given
from skstream.utils._rows import as_rows, check_same_order
from skstream.utils._times import shown_time

#: The latest finite time of a label.
MAX_TIME = float(np.finfo(np.float64).max)


class DelayedRun(EvaluationRun):
    """Run of models along a stream with delayed labels.

    Made by ``DelayedEvaluator.start``.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    polling : Polling
        Bins, and how their answers are reduced; not "auto".
    label_times : LabelTimes
        How label times follow from the arrivals, if the stream does not give them.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent
    >>> run = DelayedEvaluator("accuracy").start(Persistent(), classes=["a", "b"])
    >>> run.ask([[0.1], [0.2]], ["first", "second"], t=0)["Persistent"]
    array([None, None], dtype=object)
    >>> run.label(["second"], ["b"], t=3).n_pending
    1
    >>> run.ask([[0.3]], ["third"], t=4)["Persistent"]
    array(['b'], dtype='<U1')
    """

    _rows_per_step = 1 << 13
    _tells_last = False  # closing it asks nothing
    _scoring: AskedWhileWaiting

    def __init__(
        self,
        settings: Settings,
        models: Mapping[Place, Any],
        polling: Polling,
        label_times: LabelTimes,
    ) -> None:
        features = None if polling.features is None else self._features_at
        scoring = AskedWhileWaiting(settings, polling, len(models))
        super().__init__(settings, models, features, scoring, width=polling.n_bins + 2)
        self._polling, self._label_times = polling, label_times
        #: Most rows that may wait in a live run; None: no limit.
        self.max_pending: int | None = None
        self._clock = Clock()
        # Rows of a stream whose label is not there, and should come after the last arrival; when.
        self._awaited = no_rows(), np.empty(0)
        self._ids = LiveIds()
        self._n_delayed = 0  # rows up to the last that took its label time from `delay`
        self._label_times_read = 0  # checksum
        self._n_dropped = self._n_relabelled = 0

    @property
    def _timeline_state(self) -> DelayedState:
        return self._engine.states[0]

    @property
    def n_pending(self) -> int:
        """Number of rows that wait for their label."""
        return len(self._timeline_state.pending)

    # -- live calls

    @exclusive
    def ask(
        self, X: Any, ids: Any = None, t: Any = None, *, method: str = "predict"
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
        method : {"predict", "predict_proba"}, default="predict"
            Whether labels are returned, or probabilities where a measure needs them.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,) or (n_rows, n_classes)
            Predictions by model; None or NaN while it has not learnt enough to answer, and for
            rows that were refused. A fitted model given with ``warm_start=True`` answers from
            the first call on; what it answers before `n_warmup` labels were learnt is not
            scored, as in `evaluate`; with ``n_warmup=0`` all of it is.

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
        self._check_method(method)
        check_same_order({"X": X, "ids": ids, "t": t})
        ids, X, first_row = as_ids(ids), as_rows(X, first_row=self.n_rows), self.n_rows
        n = X.shape[0]
        if len(ids) != n:
            raise ValueError(f"There are {n} rows, but {len(ids)} ids.")
        self._check_columns(X)
        if not n:  # as an empty frame of a queue
            return self._at_arrival([], first_row, np.arange(n), method)
        self._ids.check_new(ids)
        clock, arrival = self._clock.event(t, self.n_rows, n)
        last = self._last_in_table
        if t is None:
            last = last_time(table_times(X), self.n_rows, last)
        rows = DatedRows.waiting(X, ids, arrival, self._space)
        state = self._timeline_state
        if state.n_dated:  # rows of a stream: labels come by themselves
            if state.n_due(rows.arrival[-1]) > state.n_due(rows.arrival[0]):
                raise ValueError(
                    "Labels of earlier rows, whose time is known, come between the times of these "
                    "rows. Make one call for the rows between two labels."
                )
            self._take_event(self._note, TimePassed(float(rows.arrival[0])))
        try:
            step, answered = self._ask(rows)
        except ModelError as error:
            its_id = ids[error.row - self.n_rows]
            error.add_note(f"The row has the id {its_id!r}. No row of the call was added.")
            raise
        self._clock, self._last_in_table = clock, last
        self._commit(step, partial(self._note_asked, rows))
        return self._at_arrival([answered], first_row, np.arange(n), method)

    def _at_arrival(
        self, heard: Sequence[Sequence[Answered]], first_row: int, order: np.ndarray, method: str
    ) -> dict[str, np.ndarray]:
        """Return what rows of a call were answered when they arrived, in the order of the call."""
        shape: tuple[int, ...] = len(self._places), len(order)
        if method == "predict":
            given = np.full(shape, self._space.nothing, self._space.dtype)
        else:
            given = np.full((*shape, self._settings.n_scores), np.nan)
        for step in heard:
            operations: Any = step[0].operations
            asked = operations.asked.take(operations.asked.answered)
            first = asked.kind == FIRST
            positions = order[asked.row[first] - first_row]
            for k, answered in enumerate(step):
                its = answered.answers if method == "predict" else answered.scores
                if its is not None:
                    given[k, positions] = its[first]
        return self._by_model(given)

    def _ask(self, rows: DatedRows) -> tuple[Step, list[Answered]]:
        """Ask about rows; return the step and the answers of all models. An error changes nothing.

        If models fail, it is an error where failures are raised.
        """
        engine = self._engine
        failed = set(engine.failures)
        try:
            with self._interrupt or nullcontext():
                arrivals = self._arrivals(rows)
                step = engine.execute(arrivals, rows.X, rows.y)
                answered = step.answered
                if self._settings.parameters["warm_start"] and not len(answered[0].answers):
                    answered = engine.preview(arrivals)  # in the warm-up
                new = [error for k, error in engine.failures.items() if k not in failed]
                if new and self._settings.error_score == "raise":
                    raise min(new, key=lambda error: error.row)
            if self._interrupt is not None and self._interrupt.received:
                raise KeyboardInterrupt
        except BaseException:
            engine.abandon()
            raise
        return step, answered

    @exclusive
    def label(
        self,
        ids: Any,
        y: Any,
        t: Any = None,
        *,
        sample_weight: Any = None,
        on_unknown: str = "error",
    ) -> Self:
        """Let labels of waiting rows come: ask, score, then learn.

        Parameters
        ----------
        ids : array-like of shape (n_rows,)
            Which rows.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        t : number or datetime, default=None
            Time of all labels; None: the time of the last event. Labels of several times go to
            `update`.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring, as in `evaluate`; 0: neither learnt nor scored. From
            the first call with weights on, models learn all rows with weights, 1 where there is
            none.
        on_unknown : {"error", "ignore"}, default="error"
            What to do with ids of rows that do not wait, such as dropped rows, and rows that have
            their label already: raise an error, or leave them out. A second label is never learnt.

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
            If a model fails; names the model and the row. The run ends there:
            `result` has what came before, and the last `save` goes on.
        """
        self._require_open()
        check_choice(on_unknown, "on_unknown", ("error", "ignore"))
        check_same_order({"ids": ids, "y": y, "sample_weight": sample_weight})
        ids, codes = as_ids(ids), encoded_labels(y, self._space)
        if len(ids) != len(codes):
            raise ValueError(f"There are {len(ids)} ids, but {len(codes)} labels.")
        weight = label_weights(sample_weight, len(ids))
        clock = self._clock
        if t is not None:
            if np.ndim(t):
                raise ValueError(
                    f"t holds {len(t):,} times. Pass one time for all labels of the call, or "
                    "labels of several times as a frame: update(None, labels)."
                )
            clock, now = clock.event(t, self.n_rows, len(ids))
            clock = clock.at(float(now.values[0]), now.shown(0))
        known = self._ids.rows_of(ids, on_unknown)
        its_weight = None if sample_weight is None else weight[known.positions]
        labels = Labels(known.rows, clock.now, its_weight)
        self._take_labels(known, codes[known.positions], labels, clock)
        return self

    @exclusive
    def update(  # type: ignore[override]
        self,
        rows: Any = None,
        labels: Any = None,
        *,
        id: str = "id",
        time: str = "time",
        label: str = "label",
        sample_weight: str | None = None,
        on_unknown: str = "error",
        method: str = "predict",
    ) -> dict[str, np.ndarray]:
        """Let rows arrive and labels come, in the order of their times; return the predictions.

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
        method : {"predict", "predict_proba"}, default="predict"
            As in `ask`.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,) or (n_rows, n_classes)
            By model, what was predicted when the rows arrived, in the order of `rows`; None or NaN
            before `n_warmup` labels were learnt. Rows whose label has not come wait for it
            (`n_pending`).

        Raises
        ------
        KeyError
            If no row of an id waits. Nothing of the call has been taken then.
        ValueError
            If something is wrong with the ids, times, rows or labels, as in `ask` and `label`, if
            a label comes before its row, or `rows` holds the column of labels or weights, too.
            Nothing of the call has been taken then.
        ModelError
            If a model fails; names the model and the row. The run ends there:
            `result` has what came before, and the last `save` goes on.

        Examples
        --------
        >>> from skstream import DelayedEvaluator, Persistent
        >>> run = DelayedEvaluator("accuracy").start(Persistent(), classes=["a", "b"])
        >>> rows = {"id": [1, 2, 3], "time": [0, 4, 6], "x": [0.5, 0.1, 0.9]}
        >>> labels = {"id": [2, 1], "time": [9, 5], "label": ["b", "a"]}
        >>> run.update(rows, labels)
        {'Persistent': array([None, None, 'a'], dtype=object)}
        >>> run.n_pending
        1
        """
        self._require_open()
        check_choice(on_unknown, "on_unknown", ("error", "ignore"))
        self._check_method(method)
        first_row = self.n_rows
        if rows is None and labels is None:
            return self._at_arrival([], first_row, np.arange(0), method)
        names = {"id": id, "time": time, "label": label, "sample_weight": sample_weight}
        batch = read_batch(
            rows, labels, names, self._ids, on_unknown, self._clock, self._space, self.n_rows
        )
        X = batch.rows.X
        if batch.rows.n_rows:
            self._check_columns(X)
            self._clock = batch.clock
        known = batch.known
        dated = Dated(known.rows, batch.known_times, batch.known_weight)
        self._take_labels(known, batch.known_y, dated, batch.clock)
        self._take(batch.rows)
        self._let_labels_come(batch.last.now)
        if batch.last.now > self._clock.now:
            self._clock = batch.last
        self._drop_oldest()
        return self._at_arrival(self._heard, first_row, batch.order, method)

    def _take_labels(self, known: KnownIds, y: np.ndarray, event: Labels, clock: Clock) -> None:
        """Take the labels of waiting rows: that they came, or when they will."""
        if len(known.rows):
            note = partial(self._note_labels, known, y, event, clock)
            self._take_event(note, event, None, y)
        else:
            self._n_relabelled += known.n_again

    def _note_labels(
        self, known: KnownIds, y: np.ndarray, event: Labels, clock: Clock, answered: list[Answered]
    ) -> None:
        self._n_relabelled += known.n_again
        self._clock = clock
        self._scoring.label(known.rows, y, weighted=event.weight is not None)
        self._ids.labelled(known.ids)
        self._note(answered)

    def _note_asked(self, rows: DatedRows, answered: list[Answered]) -> None:
        self._note_arrived(rows, answered)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Keep no more than ``max_pending`` waiting rows."""
        limit, table = self.max_pending, self._timeline_state.pending
        if limit is None or len(table) <= limit:
            return
        rows = table.take(table.oldest(len(table) - limit)).row
        step = self._engine.execute(Dropped(rows))
        self._engine.commit(step)
        self._ids.drop(int(rows[-1]))
        self._n_dropped += len(rows)
        self._note(step.answered)

    # -- rows whose label times are known

    def _rows_of(self, chunk: Chunk) -> DatedRows:
        first = self.n_rows
        rows = encoded(chunk, self._space, "skip", first_row=first)
        clock, arrival = self._clock.arrivals(chunk.meta.get("arrival"), first, rows.n_rows)
        times = self._label_times.times(chunk, arrival, first, clock)
        labelled = is_given(rows.y)
        missing, now = np.flatnonzero(~labelled), arrival.values[-1:].max(initial=-np.inf)
        awaited, due = self._awaited
        self._awaited = still_awaited(
            np.concatenate([awaited, first + missing]),
            np.concatenate([due, times[missing]]),
            now,
            optional=self._settings.missing_labels != "error",
        )
        self._clock = clock
        if "label_time" not in chunk.meta:
            self._n_delayed = first + rows.n_rows
        return DatedRows(
            **vars(rows),
            arrival=arrival.values,
            given=arrival.given,
            label_time=np.where(labelled, times, np.inf),
        )

    def _end_of_step(self, rows: EncodedRows, begin: int) -> int:
        """Let the labels come that are due before a row, if they are many.

        Return how far rows can be processed at once with the labels that come between them.
        """
        assert isinstance(rows, DatedRows)
        state, size, arrival = self._timeline_state, self._pace.size, rows.arrival
        if state.n_due(arrival[begin]) > size:
            self._let_labels_come(arrival[begin])
            state, size = self._timeline_state, self._pace.size
        end = min(begin + size, rows.n_rows)
        while end > begin + 1:
            horizon = arrival[end - 1]
            n_due = np.count_nonzero(rows.label_time[begin:end] <= horizon) + state.n_due(horizon)
            if n_due + end - begin <= 2 * size:
                break
            end = begin + (end - begin) // 2
        return end

    def _take_step(self, rows: EncodedRows) -> None:
        assert isinstance(rows, DatedRows)
        self._label_times_read = crc32(rows.label_time.data, self._label_times_read)
        note = partial(self._note_arrived, rows)
        with self._label_times.advice(rows.X, self.n_rows):
            self._take_event(note, self._arrivals(rows), rows.X, rows.y)

    def _arrivals(self, rows: DatedRows) -> DatedArrivals:
        """Return the event of rows that arrive; in a live run all of them wait for a label."""
        return DatedArrivals(
            self.n_rows,
            is_given(rows.y),
            rows.weight,
            rows.given,
            arrival=rows.arrival,
            label_time=rows.label_time,
            expected=np.isfinite(rows.label_time) | (rows.ids is not None),
        )

    def _note_arrived(self, rows: EncodedRows, answered: list[Answered]) -> None:
        assert isinstance(rows, DatedRows)
        if rows.ids is not None:
            self._ids.add(rows.ids.tolist(), self.n_rows)
            self._ids.labelled(rows.ids[np.isfinite(rows.label_time)].tolist())
        self._scoring.arrive(rows)
        self._note_rows(rows)
        self._clock = self._clock.at(float(rows.arrival[-1]), shown_time(rows.given[-1:]))
        self._note(answered)

    def _let_labels_come(self, horizon: float) -> None:
        """Let the labels come that are due by a time, not too many at once."""
        while self._timeline_state.n_due(horizon):
            due = TimePassed(horizon, most=self._pace.size)
            self._take_event(self._note, due)

    def _features_at(self, rows: np.ndarray, times: np.ndarray) -> Any:
        """Call the user's `features`, with times of the kind that the user gave."""
        assert self._polling.features is not None
        return self._polling.features(rows, self._clock.times_for_user(times))

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
            self._let_labels_come(MAX_TIME)
        super().close()
        if was_open and self._n_delayed:
            self._label_times.check_length(self._n_delayed, "had")
        return self

    # -- scores, of many steps at once

    def _note(self, answered: list[Answered]) -> None:
        if self.is_live:
            self._heard.append(answered)
        self._scoring.note(answered)

    def _score(self, *, all_of_it: bool = True) -> None:
        if not all_of_it and not self._scoring.is_due:
            return
        self._scores.measure()  # what a function of the user has held up
        if self._scoring.steps:
            failed = self._engine.failures if self._ends_by_failure else ()
            first = self._timeline_state.first_answered
            self._scores.keep(self._scoring.settle(self._clock, first, failed))
            if failed:
                self.n_rows = self._scoring.n_arrived
        self._scores.measure(is_end=self.is_closed)

    def _n_valid(self, lane: int) -> int:
        return self._scoring.n_answered[lane]

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, and the counts of waiting rows."""
        with Deferred(self):
            self._score()
        scoring = self._scoring
        n_labelled = scoring.poll_costs.n_labels
        n_never = scoring.n_never - int(np.count_nonzero(self._awaited[0] < self.n_rows))
        waits = Waits(
            n_bins=self._polling.n_bins,
            n_labelled=n_labelled,
            n_pending=self.n_rows - n_labelled - n_never - self._n_dropped,
            n_never=n_never,
            n_unanswered=scoring.n_unanswered,
            n_dropped=self._n_dropped,
            n_relabelled=self._n_relabelled,
            n_polls=scoring.poll_costs.n_polls,
            poll_costs=scoring.poll_costs.curves(),
            delays=scoring.delays.summary(self._clock),
        )
        delay = self._label_times.delay
        read = {} if delay is None else {LABEL_TIMES: (self._label_times_read,)}
        return replace(super().outcome(), waits=waits, read=read, drifts=scoring.drifts.known())
