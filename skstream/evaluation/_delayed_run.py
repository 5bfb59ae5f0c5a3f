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
from skstream.evaluation._times import as_time, as_times, given_at, is_number, shown_time
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
        given = meta.get("arrival")
        arrival = self._arrivals_of(chunk, given)
        label_time = self._label_times_of(chunk, arrival, given, meta.get("label_time"))
        size = ROWS_PER_LOOP_PIECE if self._engine.loops else ROWS_PER_PIECE
        for begin in range(0, chunk.n_rows, size):
            end = min(begin + size, chunk.n_rows)
            piece = chunk.piece(begin, end)
            times = label_time[begin:end]
            shown = given_at(given, end - 1, arrival)
            self._arrive(piece, arrival[begin:end], times, np.isfinite(times), shown)
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
        if t is None:
            arrival = self._arrivals_of(chunk, None)
            t = first_row + n - 1
        else:
            arrival = np.full(n, self._now(t))

        def remember() -> None:
            self._ids.add(ids, first_row)
            self._drop_oldest()

        answered = self._arrive(
            chunk, arrival, np.full(n, np.inf), np.ones(n, dtype=bool), t, remember
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
        time = self._last_time if t is None else self._now(t)
        known = self._ids.rows_of(ids, self._delay.on_relabel, on_unknown)
        rows, kept = known.rows, known.places
        if not len(rows):
            self._n_relabelled += known.n_again
            return self
        codes, weight = codes[kept], weight[kept]
        self._state = "broken"
        answered = self._engine.label(rows, codes, time, weight)
        with deferred_interrupt():
            self._waiting.label(rows, codes)
            self._ids.labelled(rows)
            self._n_relabelled += known.n_again
            if t is not None:
                self._last_time, self._last_given = time, t
            if sample_weight is not None:
                self._weigh()
            self._score(answered)
            self._state = "open"
        return self

    def _now(self, t: Any) -> float:
        time = as_time(t, "t")
        if self._last_given is not None and is_number(t) != is_number(self._last_given):
            raise ValueError(
                f"t is {shown_time(t)}, but the last event was at "
                f"{shown_time(self._last_given)}. Times must all be numbers, or all datetimes."
            )
        if not np.isfinite(time) or time < self._last_time:
            raise ValueError(
                f"t is {shown_time(t)}, but the last event was at "
                f"{shown_time(self._last_given)}. Events must come in the order of their time."
            )
        return time

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

    def _arrivals_of(self, chunk: Chunk, given: Any) -> np.ndarray:
        first_row = self._n_arrived
        if given is None:
            given = np.arange(first_row, first_row + chunk.n_rows, dtype=np.float64)
        times = as_times(given, "arrival")
        before = np.concatenate([[self._last_time], times[:-1]])
        wrong = ~np.isfinite(times) | (times < before)
        if wrong.any():
            at = int(wrong.argmax())
            previous = given_at(given, at - 1, times) if at else self._last_given
            raise ValueError(
                f"arrival[{first_row + at}] is {shown_time(given_at(given, at, times))}, after an "
                f"event at {shown_time(previous)}: arrivals must be finite and must not go back "
                "in time. Sort the rows by arrival."
            )
        return times

    def _label_times_of(
        self, chunk: Chunk, arrival: np.ndarray, given_arrival: Any, given: Any
    ) -> np.ndarray:
        first_row = self._n_arrived
        if given is not None:
            label_time = as_times(given, "label_time")
        elif self._delay.label_times is not None:
            label_time = self._delay.label_times(chunk.X, arrival, first_row)
        else:
            raise ValueError(
                "When the labels come is not known: pass label_time, or give the evaluator a delay."
            )
        early = label_time < arrival
        if early.any():
            at = int(early.argmax())
            shown = shown_time(given_at(given, at, label_time, given_arrival))
            raise ValueError(
                f"label_time[{first_row + at}] is {shown}, before arrival[{first_row + at}] = "
                f"{shown_time(given_at(given_arrival, at, arrival))}. Labels cannot precede their "
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
