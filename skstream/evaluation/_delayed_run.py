"""A run under delayed labels: rows come from a stream, or are asked and labelled live."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from skstream.engine.delayed import FIRST, DelayedOperations
from skstream.engine.run import Answered
from skstream.engine.tape import labels_of
from skstream.evaluation._delayed_scores import DelayedScores, DelaySettings
from skstream.evaluation._input import Chunk, encoded_labels
from skstream.evaluation._live import LiveIds, LiveRows, label_weights
from skstream.evaluation._settings import Settings
from skstream.evaluation._times import Clock, Times
from skstream.utils._interrupt import deferred_interrupt

#: Rows between two points at which a run can be interrupted, loop and kernels.
ROWS_PER_LOOP_PIECE, ROWS_PER_PIECE = 256, 8192


class DelayedRun(DelayedScores):
    """Models on their way along a stream whose labels come late.

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

    def feed(self, X: Any, y: Any, meta: Mapping[str, Any]) -> Self:
        """Take in a chunk of a stream whose label times are known.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets.
        meta : mapping of str to array-like of shape (n_rows,)
            "arrival" and "label_time", unless the evaluator knows the delay; "sample_weight".

        Returns
        -------
        self : DelayedRun
            The run.
        """
        self._require_open()
        chunk = self._encoded(X, y, meta.get("sample_weight"), "skip")
        clock, arrival = self._arrivals_of(chunk.n_rows, meta.get("arrival"))
        self._check_order(arrival)
        label_time = self._label_times_of(chunk, arrival, clock, meta.get("label_time"))
        self._clock = clock
        if meta.get("label_time") is None:
            self._n_delayed = self._n_arrived + chunk.n_rows
        size = ROWS_PER_LOOP_PIECE if self._engine.loops else ROWS_PER_PIECE
        for begin in range(0, chunk.n_rows, size):
            end = min(begin + size, chunk.n_rows)
            piece = chunk.piece(begin, end)
            times = label_time[begin:end]
            shown = arrival.shown(end - 1)
            self._arrive(piece, arrival.values[begin:end], times, np.isfinite(times), shown)
        return self

    def close(self) -> Self:
        """End the stream: do what was still waiting. Nothing can follow.

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

    def ask(self, X: Any, ids: Any, t: Any = None) -> dict[str, np.ndarray]:
        """Ask about rows that arrive now, and keep them until their labels come.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features. They are copied: the same array may be filled again.
        ids : array-like of shape (n_rows,)
            What to call the rows when their labels come; hashable, each waiting only once.
        t : number or datetime, default=None
            Time of arrival; None: the number of the row.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,)
            Predictions by model; None or NaN while it has not learnt enough to answer.

        Raises
        ------
        ValueError
            If an id waits already, or time goes back. The run stays as it was.

        Notes
        -----
        Calls are taken in the order in which they come, and the labels of one call in the order
        of their rows. `evaluate` orders events of one time by row, label before the arrival of
        later rows; given so, the results agree.
        """
        self._require_open()
        ids = list(ids)
        chunk = self._live_rows.chunk(X, ids, self._n_arrived)
        self._ids.check_new(ids)
        n, first_row = len(ids), self._n_arrived
        clock, arrival = self._arrivals_of(n, None) if t is None else self._now(t)
        self._check_order(arrival)
        self._clock = clock
        shown = arrival.shown(len(arrival.values) - 1)

        def remember() -> None:
            self._ids.add(ids, first_row)
            self._drop_oldest()

        answered = self._arrive(
            chunk,
            np.broadcast_to(arrival.values, n),
            np.full(n, np.inf),
            np.ones(n, dtype=bool),
            shown,
            remember,
        )
        return {
            name: self._first_answers(one, first_row, n)
            for (name, _), one in zip(self._places, answered, strict=True)
        }

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
            Time; None: the time of the last event.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring, as in `evaluate`; 0: neither learnt nor scored.
        on_unknown : {"error", "ignore"}, default="error"
            What to do with ids of which no row waits, dropped ones above all: fail, or leave them
            out. For rows that have their label, see ``on_relabel`` of the evaluator.

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
            If a label is unknown, an id comes twice, or time goes back. No label of the call has
            been taken then.
        """
        self._require_open()
        if on_unknown not in ("error", "ignore"):
            raise ValueError(f'on_unknown must be "error" or "ignore". Got {on_unknown!r} instead.')
        ids = list(ids)
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
        self._state = "broken"
        answered = self._engine.label(rows, codes, time, weight)
        self._raise_failure()
        with deferred_interrupt():
            self._waiting.label(rows, codes)
            self._ids.labelled(rows)
            self._n_relabelled += known.n_again
            self._clock, self._last_time, self._last_shown = clock, time, shown
            if sample_weight is not None:
                self._weigh()
            self._score(answered)
            self._state = "open"
        return self

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

    def _first_answers(self, one: Answered, first_row: int, n: int) -> np.ndarray:
        classes = self._settings.classes
        answers = np.full(n, np.nan if classes is None else -1, dtype=one.answers.dtype)
        assert isinstance(one.operations, DelayedOperations)
        asked = one.operations.asked  # and what the labels that are due asked of other rows
        assert asked is not None
        first = asked.kind[asked.answered] == FIRST
        answers[one.operations.ask_rows[first] - first_row] = one.answers[first]
        return answers if classes is None else labels_of(answers, classes)

    def _drop_oldest(self) -> None:
        """Keep no more than ``max_pending`` waiting rows."""
        limit = self._delay.max_pending
        if limit is None or self.n_pending <= limit:
            return
        dropped = self._engine.states[0].waiting.oldest(self.n_pending - limit)
        self._engine.drop(dropped)
        self._ids.forget(dropped)
        self._n_dropped += len(dropped)

    def _arrivals_of(self, n_rows: int, given: Any) -> tuple[Clock, Times]:
        first_row = self._n_arrived
        if given is None:
            numbers = np.arange(first_row, first_row + n_rows, dtype=np.float64)
            return self._clock.after_row_numbers(numbers)
        times = self._clock.read(given, "arrival")
        return self._clock.after(times), times

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
            raise ValueError(
                f"Row {at} has no label (None or NaN), but a time at which it comes. Use np.inf "
                'as the time of labels that never come, or missing_labels="skip".'
            )
        return np.where(chunk.labelled, label_time, np.inf)
