"""A run under delayed labels: rows come from a stream, or are asked and labelled live."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.engine.delayed import (
    DatedArrivals,
    DelayedTimeline,
    Dropped,
    Labels,
    TimePassed,
)
from skstream.engine.loop import no_answers
from skstream.engine.model import ModelError
from skstream.engine.run import Answered
from skstream.engine.tape import labels_of
from skstream.evaluation._input import Chunk, MissingLabelError, encoded_labels
from skstream.evaluation._progress import Advance, ignored
from skstream.evaluation._settings import Settings
from skstream.evaluation._stream_run import TakenEvent, check_on_error
from skstream.evaluation.delayed._clock import Clock, Times
from skstream.evaluation.delayed._live import LiveIds, LiveRows, as_ids, label_weights
from skstream.evaluation.delayed._scores import DelayedScores, DelaySettings
from skstream.utils._exclusive import exclusive


class DelayedRun(DelayedScores):
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

    def __init__(
        self,
        settings: Settings,
        models: Mapping[tuple[str, int], Any],
        places: list[tuple[str, int]],
        delay: DelaySettings,
    ):
        super().__init__(settings, models, places, delay)
        self._ids = LiveIds()
        self._n_delayed = 0  # rows up to the last that took its label time from `delay`
        self._live_rows = LiveRows(settings.classes, self._shape)
        self._previews: list[np.ndarray] = []

    def _forget_columns(self) -> None:
        super()._forget_columns()
        self._live_rows.forget()

    @property
    def n_refused(self) -> int:
        """Number of rows that a model could not answer when they were asked, and were skipped."""
        return self._n_refused

    @exclusive
    def feed(self, X: Any, y: Any, meta: Mapping[str, Any], advance: Advance = ignored) -> Self:
        """Process a chunk of a stream whose label times are known.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets.
        meta : mapping of str to array-like of shape (n_rows,)
            "arrival" and "label_time", unless the evaluator knows the delay; "sample_weight".
        advance : callable, default=None
            Called with a number of rows whenever so many more are done.

        Returns
        -------
        self : DelayedRun
            The run.
        """
        self._require_open()
        with self._first_rows():
            chunk = self._encoded(X, y, meta.get("sample_weight"), "skip")
            clock, arrival = self._arrivals_of(chunk.n_rows, meta.get("arrival"))
            self._check_order(arrival)
            label_time = self._label_times_of(chunk, arrival, clock, meta.get("label_time"))
        self._clock = clock
        self._label_times_read = crc32(label_time.tobytes(), self._label_times_read)
        if meta.get("label_time") is None:
            self._n_delayed = self._n_arrived + chunk.n_rows
        self._take(chunk, arrival, label_time, advance)
        return self

    def _take(
        self, chunk: Chunk, arrival: Times, label_time: np.ndarray, advance: Advance = ignored
    ) -> None:
        n, begin = chunk.n_rows, 0

        def rest(first: int) -> Callable[[], None]:
            times = arrival.piece(first, n), label_time[first:]
            return partial(self._take, chunk.piece(first, n), *times)

        while begin < n:
            if self._n_due(arrival.values[begin]) > self._pace.size:
                with self._before_rest(rest(begin)):
                    self._let_labels_come(arrival.values[begin])
            end = self._end_of_piece(begin, arrival.values, label_time)
            with self._before_rest(rest(end)):
                self._arrive(
                    chunk.piece(begin, end), arrival.piece(begin, end), label_time[begin:end]
                )
            advance(end - begin)
            begin = end

    def _end_of_piece(self, begin: int, arrival: np.ndarray, label_time: np.ndarray) -> int:
        """Find how many rows can be processed at once, with the labels that come between them."""
        size = self._pace.size
        end = min(begin + size, len(arrival))
        while end > begin + 1:
            horizon = arrival[end - 1]
            n_due = self._n_due(horizon) + np.count_nonzero(label_time[begin:end] <= horizon)
            if n_due + end - begin <= 2 * size:
                break
            end = begin + (end - begin) // 2
        return end

    def _arrive(self, piece: Chunk, arrival: Times, label_time: np.ndarray) -> None:
        expected = np.isfinite(label_time)
        arrivals = DatedArrivals(
            self._n_arrived, piece.labelled, piece.weight, arrival.values, label_time, expected
        )
        note = partial(
            self._note_arrived,
            piece.y,
            piece.weight,
            float(arrival.values[-1]),
            arrival.shown(-1),
            int(np.count_nonzero(~expected)),
        )
        self._take_event(TakenEvent(event=arrivals, note=note, X=piece.X, y=piece.y))

    @exclusive
    def close(self) -> Self:
        """End the stream: execute what is still waiting. No rows can follow.

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
        super().close()
        if was_open and self._delay.label_times is not None and self._n_delayed:
            self._delay.label_times.check_length(self._n_delayed, "had")
        return self

    @exclusive
    def ask(
        self, X: Any, ids: Any, t: Any = None, *, on_error: str = "raise"
    ) -> dict[str, np.ndarray]:
        """Ask about rows that arrive now, and keep them until their labels come.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features. They are copied: the same array may be filled again.
        ids : array-like of shape (n_rows,)
            What to call the rows when their labels come; hashable, each waiting only once.
        t : number or datetime, default=None
            Time of arrival; None: the number of the row.
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
            chunk = self._live_rows.chunk(X, ids, self._n_arrived)
            self._ids.check_new(ids)
            clock, arrival = self._arrivals_of(len(ids), None) if t is None else self._now(t)
            if t is None:
                self._check_row_numbers(arrival)
            else:
                self._check_order(arrival)
            times = arrival.values if t is None else np.full(len(ids), arrival.values[0])
            if self._engine.states[0].n_dated:  # rows of a stream: labels come by themselves
                due = TimePassed(float(times[0]))
                self._take_event(TakenEvent(event=due, note=self._note))
            at, asked = self._ask(chunk, ids, times, skip=on_error == "skip")
        if len(at) < len(ids):
            refused = np.delete(np.arange(len(ids)), at)
            self._ids.refuse([ids[place] for place in refused])
            self._n_refused += len(refused)
        if asked is not None:
            assert asked.step is not None
            codes = self._codes_of(asked.step.lanes, len(at))
            its_ids = [ids[place] for place in at]
            shown = arrival.shown(min(len(at), len(arrival.given)) - 1)
            last = float(times[len(at) - 1]), shown
            note = partial(self._note_asked, its_ids, chunk.y[at], clock, *last)
            self._commit(replace(asked, note=note))
        else:
            codes = [no_answers(self._settings.task) for _ in self._places]
        return {
            name: self._as_labels(some, at, len(ids))
            for (name, _), some in zip(self._places, codes, strict=True)
        }

    def _note_asked(
        self,
        ids: list[Any],
        y: np.ndarray,
        clock: Clock,
        time: float,
        shown: str,
        answered: list[Answered],
    ) -> None:
        self._ids.add(ids, self._n_arrived)
        self._clock = clock
        self._note_arrived(y, None, time, shown, 0, answered)
        self._drop_oldest()

    def _ask(
        self, chunk: Chunk, ids: list[Any], times: np.ndarray, *, skip: bool
    ) -> tuple[np.ndarray, TakenEvent | None]:
        """Ask about all rows, or those that can be answered; an error changes nothing."""
        at = np.arange(len(ids))
        while len(at):
            try:
                some = chunk.take(at)
                return at, self._ask_on_trial(some, times[: len(at)], skip=skip)
            except ModelError as error:
                row = at[error.row - self._n_arrived]
                if not skip:
                    error.add_note(
                        f"The row has the id {ids[row]!r}. No row of the call waits; pass "
                        "on_error='skip' to leave out the rows that a model cannot answer."
                    )
                    raise
                at = at[at != row]
        return at, None

    def _ask_on_trial(self, chunk: Chunk, times: np.ndarray, *, skip: bool) -> TakenEvent:
        n, engine = chunk.n_rows, self._engine
        arrivals = DatedArrivals(
            self._n_arrived,
            chunk.labelled,
            None,
            times,
            np.full(n, np.inf),
            np.ones(n, dtype=bool),
        )
        failed = set(engine.failures)
        try:
            with self._breakable():
                step = engine.execute(arrivals, chunk.X, chunk.y)
                self._previews = self._preview(chunk.X, n)
                new = [error for k, error in engine.failures.items() if k not in failed]
                if new and (skip or self._settings.error_score == "raise"):
                    raise min(new, key=lambda error: error.row)
            if self._interrupt is not None and self._interrupt.received:
                raise KeyboardInterrupt
        except BaseException:
            engine.abandon()
            raise
        return TakenEvent(event=arrivals, note=self._note, step=step)

    def _preview(self, X: Any, n: int) -> list[np.ndarray]:
        """Answers of models that were fitted before the run, while its warm-up lasts."""
        timeline = self._settings.timelines[0]
        assert isinstance(timeline, DelayedTimeline)
        warm = self._settings.parameters["warm_start"]
        if not warm or self._engine.states[0].n_learnt >= timeline.n_warmup:
            return []
        return self._engine.preview(X, np.arange(self._n_arrived, self._n_arrived + n))

    def _codes_of(self, answered: list[Answered], n: int) -> list[np.ndarray]:
        """What the models have answered to `n` rows, as codes or values."""
        previews, self._previews = self._previews, []
        asked = [one.answers for one in answered if len(one.answers)]
        return asked or previews or [no_answers(self._settings.task, n) for _ in answered]

    def _as_labels(self, codes: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
        """Answers to the rows at some of `n` positions as labels or values; none to the others."""
        answers = no_answers(self._settings.task, n)
        answers[at] = codes
        classes = self._settings.classes
        return answers if classes is None else labels_of(answers, classes)

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
            Time; None: the time of the last event.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring, as in `evaluate`; 0: neither learnt nor scored.
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
        if on_unknown not in ("error", "ignore"):
            raise ValueError(f'on_unknown must be "error" or "ignore". Got {on_unknown!r} instead.')
        ids = as_ids(ids)
        codes = encoded_labels(y, self._settings.classes)
        if len(ids) != len(codes):
            raise ValueError(f"There are {len(ids)} ids and {len(codes)} labels.")
        weight = label_weights(sample_weight, len(ids))
        clock, time, shown = self._clock, self._last_time, self._last_shown
        if t is not None:
            clock, now = self._now(t)
            time, shown = float(now.values[0]), now.shown(0)
        known = self._ids.rows_of(ids, self._delay.on_relabel, on_unknown)
        rows, kept = known.rows, known.places
        if not len(rows):
            self._n_relabelled += known.n_again
            return self
        codes, weight = codes[kept], weight[kept]
        note = partial(
            self._note_labelled,
            rows,
            codes,
            known.n_again,
            (clock, time, shown),
            sample_weight is not None,
        )
        self._take_event(
            TakenEvent(event=Labels(rows, time, weight), note=note, y=codes),
            skip=on_error == "skip",
        )
        return self

    def _note_labelled(
        self,
        rows: np.ndarray,
        codes: np.ndarray,
        n_again: int,
        now: tuple[Clock, float, str],
        weighted: bool,
        answered: list[Answered],
    ) -> None:
        self._waiting.label(rows, codes)
        self._ids.labelled(rows)
        self._n_relabelled += n_again
        self._clock, self._last_time, self._last_shown = now
        self._weighted = self._weighted or weighted
        self._note(answered)

    def _now(self, t: Any) -> tuple[Clock, Times]:
        now = self._clock.read_one(t, "t")
        time = now.values[0]
        if not np.isfinite(time) or time < self._last_time:
            raise ValueError(
                f"t is {now.shown(0)}, but the last event was at {self._last_shown}. Events must "
                "come in the order of their time."
                if self._last_shown
                else f"t is {now.shown(0)}, which is no time."
            )
        return self._clock.after(now), now

    def _drop_oldest(self) -> None:
        """Keep no more than ``max_pending`` waiting rows."""
        limit = self._delay.max_pending
        if limit is None or self.n_pending <= limit:
            return
        table = self._engine.states[0].pending
        dropped = table.take(table.oldest(self.n_pending - limit)).row
        self._engine.commit(self._engine.execute(Dropped(dropped)))
        self._ids.forget(dropped)
        self._n_dropped += len(dropped)

    def _arrivals_of(self, n_rows: int, given: Any) -> tuple[Clock, Times]:
        first_row = self._n_arrived
        if given is None:
            numbers = np.arange(first_row, first_row + n_rows, dtype=np.float64)
            return self._clock.after_row_numbers(numbers)
        times = self._clock.read(given, "arrival")
        return self._clock.after(times), times

    def _check_row_numbers(self, arrival: Times) -> None:
        if arrival.values[0] < self._last_time:
            raise ValueError(
                f"Without t, a row arrives at its row number ({self._n_arrived}), but the last "
                f"event was at {self._last_shown}. Pass t=..., as in the calls before."
            )

    def _check_order(self, arrival: Times) -> None:
        times = arrival.values
        before = np.concatenate([[self._last_time], times[:-1]])
        wrong = ~np.isfinite(times) | (times < before)
        if wrong.any():
            at = int(wrong.argmax())
            previous = arrival.shown(at - 1) if at else self._last_shown
            event = f", after an event at {previous}" if previous else ""
            raise ValueError(
                f"arrival[{self._n_arrived + at}] is {arrival.shown(at)}{event}: arrivals must be "
                "finite and must not go back in time. Sort the rows by arrival."
            )

    def _label_times_of(
        self, chunk: Chunk, arrivals: Times, clock: Clock, given: Any
    ) -> np.ndarray:
        first_row, arrival = self._n_arrived, arrivals.values
        if given is not None:
            times = clock.read(given, "label_time")
            label_time = times.values
        elif self._delay.label_times is not None:
            label_time = self._delay.label_times(chunk.X, arrival, first_row, clock)
            shown = clock.times_for_user(label_time)
            times = Times(label_time, shown, arrivals.kind, "label_time")
        else:
            raise ValueError(
                "When the labels come is not known: pass label_time, or give the evaluator a delay."
            )
        early = label_time < arrival
        if early.any():
            at = int(early.argmax())
            raise ValueError(
                f"label_time[{first_row + at}] is {times.shown(at)}, before "
                f"arrival[{first_row + at}] = {arrivals.shown(at)}. Labels cannot precede their "
                "rows; use np.inf (or NaT) for never."
            )
        missing = ~chunk.labelled & np.isfinite(label_time)
        if missing.any() and self._settings.missing_labels == "error":
            at = first_row + int(missing.argmax())
            raise MissingLabelError(
                f"Row {at} has no label (None or NaN), but a time at which it comes. Use np.inf "
                'as the time of labels that never come, or missing_labels="skip".',
                at,
            )
        return np.where(chunk.labelled, label_time, np.inf)
