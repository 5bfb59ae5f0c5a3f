"""A run under delayed labels: rows wait, are asked again, and are scored when labels come."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstream.engine.delayed import (
    FIRST,
    DatedArrivals,
    DelayedOperations,
    History,
    history_of,
)
from skstream.engine.evolving import Features
from skstream.engine.run import Answered
from skstream.engine.tape import Recorder, labels_of
from skstream.evaluation._delayed_result import DelayedResult
from skstream.evaluation._delays import DelayCounts
from skstream.evaluation._input import Chunk, encoded_labels
from skstream.evaluation._ledger import Ledger
from skstream.evaluation._outcome import RunOutcome
from skstream.evaluation._poll_costs import PollCosts
from skstream.evaluation._rescore import stack_bins
from skstream.evaluation._result import EvaluationResult, assemble
from skstream.evaluation._run import StreamRun
from skstream.evaluation._settings import Settings
from skstream.evaluation._times import as_times
from skstream.evaluation._waiting import LiveIds, WaitingLabels
from skstream.evaluation._waits import Waits
from skstream.metrics import Curves
from skstream.utils._interrupt import deferred_interrupt

#: Rows between two points at which a run can be interrupted, loop and kernels.
ROWS_PER_LOOP_PIECE, ROWS_PER_PIECE = 256, 8192
#: Questions after whose answers the labelled rows are scored: a live run has few per call.
ASKS_PER_SCORING = 1 << 15
#: Calls of a live run after which they are scored in any case.
STEPS_PER_SCORING = 1 << 11


@dataclass(frozen=True, kw_only=True)
class DelaySettings:
    """What a delayed run needs to know beside the common settings.

    Attributes
    ----------
    n_bins : int
        Bins between arrival and label.
    reduce : str or callable
        How the answers of a bin become one.
    label_times : callable
        ``f(X, arrival, first_row) -> times`` where the stream does not give label times.
    previous_label : {"newest", "known_at_arrival"}
        What the persistent baseline knows.
    features : callable or None
        ``features(rows, times)`` where features change while a row waits.
    on_relabel : {"error", "ignore", "count"}
        What to do with the label of a live row that has one.
    max_pending : int or None
        Most rows that may wait in a live run.
    """

    n_bins: int
    reduce: str | Callable[..., Any]
    label_times: Callable[[Any, np.ndarray, int], np.ndarray] | None
    previous_label: str
    features: Features | None = None
    on_relabel: str = "error"
    max_pending: int | None = None


class DelayedRun(StreamRun):
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
        super().__init__(settings, models, places, delay.features)
        self._delay = delay
        n_answers = delay.n_bins + 2
        n_classes = None if settings.classes is None else len(settings.classes)
        self._measures = [[self._new_measures() for _ in range(n_answers)] for _ in places]
        self._ledgers = [Ledger(delay.n_bins, delay.reduce, n_classes) for _ in places]
        self._answers = [Recorder(settings.classes) for _ in places]
        self._y = Recorder(settings.classes)
        self._known = Recorder(settings.classes)
        self._weights: list[np.ndarray] | None = None
        self._waiting = WaitingLabels(settings.classes is None)
        self._poll_costs = PollCosts()
        self._delays = DelayCounts()
        self._steps: list[tuple[DelayedOperations, list[np.ndarray]]] = []
        self._n_unscored_asks = 0
        self._pending = np.empty(0, dtype=np.int64)
        self._ids = LiveIds()
        self._last_time = -np.inf
        self._n_labelled = 0
        self._n_scored = 0
        self._n_unanswered = 0
        self._first_answered: int | None = None
        self._n_never = 0
        self._n_dropped = 0
        self._n_relabelled = 0

    @property
    def n_pending(self) -> int:
        """Number of rows that wait for their label."""
        return len(self._pending)

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
        arrival = self._arrivals_of(chunk, meta.get("arrival"))
        label_time = self._label_times_of(chunk, arrival, meta.get("label_time"))
        size = ROWS_PER_LOOP_PIECE if self._engine.loops else ROWS_PER_PIECE
        for begin in range(0, chunk.n_rows, size):
            end = min(begin + size, chunk.n_rows)
            piece = chunk.piece(begin, end)
            times = label_time[begin:end]
            self._arrive(piece, arrival[begin:end], times, np.isfinite(times))
        return self

    def ask(self, X: Any, ids: Any, t: Any = None) -> dict[str, np.ndarray]:
        """Ask about rows that arrive now, and keep them until their labels come.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features.
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
            If an id waits already, or time goes back.

        Notes
        -----
        Rows and labels are taken in the order in which they are given. `evaluate` orders events
        of one time by row, label before the arrival of later rows; given so, the results agree.
        """
        self._require_open()
        ids = list(ids)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(ids) != n_rows:
            raise ValueError(f"There are {n_rows} rows and {len(ids)} ids.")
        unknown = np.full(len(ids), None, dtype=object)
        chunk = self._encoded(X, unknown, None, "skip")
        self._ids.check_new(ids)
        if t is None:
            arrival = self._arrivals_of(chunk, None)
        else:
            arrival = np.full(len(ids), self._now(t))
        first_row = self._n_arrived
        never_known = np.full(len(ids), np.inf)
        answered = self._arrive(chunk, arrival, never_known, np.ones(len(ids), dtype=bool))
        self._ids.add(ids, first_row)
        self._drop_oldest()
        return {
            name: self._first_answers(one, first_row, len(ids))
            for (name, _), one in zip(self._places, answered, strict=True)
        }

    def label(self, ids: Any, y: Any, t: Any = None) -> Self:
        """Let labels of waiting rows come: ask, score, then learn.

        Parameters
        ----------
        ids : array-like of shape (n_rows,)
            Which rows.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        t : number or datetime, default=None
            Time; None: the number of the newest row.

        Returns
        -------
        self : DelayedRun
            The run.

        Raises
        ------
        KeyError
            If no row of that id waits: it was never asked, was dropped, or has its label (see
            ``on_relabel``).
        ValueError
            If a label is unknown, or time goes back.
        """
        self._require_open()
        ids = list(ids)
        codes = encoded_labels(y, self._settings.classes)
        if len(ids) != len(codes):
            raise ValueError(f"There are {len(ids)} ids and {len(codes)} labels.")
        time = self._last_time if t is None else self._now(t)
        rows, kept, n_again = self._ids.rows_of(ids, self._delay.on_relabel)
        if not len(rows):
            self._n_relabelled += n_again
            return self
        self._state = "broken"
        self._waiting.label(rows, codes[kept])
        answered = self._engine.label(rows, codes[kept], time)
        with deferred_interrupt():
            self._ids.labelled(ids)
            self._n_relabelled += n_again
            self._last_time = time
            self._score(answered)
            self._state = "open"
        return self

    def _now(self, t: Any) -> float:
        time = float(as_times(np.asarray([t]), "t")[0])
        if not np.isfinite(time) or time < self._last_time:
            raise ValueError(
                f"t is {t}, but the last event was at {self._last_time:g}. Events must come in "
                "the order of their time."
            )
        return time

    def _first_answers(self, one: Answered, first_row: int, n: int) -> np.ndarray:
        classes = self._settings.classes
        answers = np.full(n, np.nan if classes is None else -1, dtype=one.answers.dtype)
        answers[one.operations.ask_rows - first_row] = one.answers
        return answers if classes is None else labels_of(answers, classes)

    def _drop_oldest(self) -> None:
        """Keep no more than ``max_pending`` waiting rows."""
        limit = self._delay.max_pending
        if limit is None or self.n_pending <= limit:
            return
        dropped, self._pending = np.split(self._pending, [self.n_pending - limit])
        self._engine.drop(dropped)
        self._ids.forget(dropped)
        self._n_dropped += len(dropped)

    def _arrivals_of(self, chunk: Chunk, arrival: Any) -> np.ndarray:
        first_row = self._n_arrived
        if arrival is None:
            arrival = np.arange(first_row, first_row + chunk.n_rows, dtype=np.float64)
        times = as_times(arrival, "arrival")
        before = np.concatenate([[self._last_time], times[:-1]])
        wrong = ~np.isfinite(times) | (times < before)
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(
                f"arrival[{first_row + at}] is {np.asarray(arrival)[at]}, after an event at "
                f"{before[at]:g}: arrivals must be finite and must not go back in time. Sort the "
                "rows by arrival."
            )
        return times

    def _label_times_of(self, chunk: Chunk, arrival: np.ndarray, given: Any) -> np.ndarray:
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
            raise ValueError(
                f"label_time[{first_row + at}] is {label_time[at]:g}, before "
                f"arrival[{first_row + at}] = {arrival[at]:g}. Labels cannot precede their rows; "
                "use np.inf (or NaT) for never."
            )
        missing = ~chunk.labelled & np.isfinite(label_time)
        if missing.any() and self._settings.missing_labels == "error":
            at = first_row + int(missing.argmax())
            raise ValueError(
                f"Row {at} has no label (None or NaN), but a time at which it comes. Use np.inf "
                'as the time of labels that never come, or missing_labels="skip".'
            )
        return np.where(chunk.labelled, label_time, np.inf)

    def _arrive(
        self,
        piece: Chunk,
        arrival: np.ndarray,
        label_time: np.ndarray,
        expected: np.ndarray,
    ) -> list[Answered]:
        self._state = "broken"  # until all models have done the piece
        arrivals = DatedArrivals(
            self._n_arrived, piece.labelled, piece.weight, arrival, label_time, expected
        )
        answered = self._engine.arrive(piece.X, piece.y, arrivals)
        with deferred_interrupt():
            rows = np.arange(self._n_arrived, self._n_arrived + piece.n_rows)
            self._waiting.add(rows, piece.y)
            self._n_arrived += piece.n_rows
            self._last_time = float(arrival[-1])
            self._n_never += int(np.count_nonzero(~expected))
            if piece.weight is not None and self._weights is None:
                self._weights = [np.ones(self._n_scored)]
            self._score(answered)
            self._state = "open"
        return answered

    def _score(self, answered: list[Answered]) -> None:
        """Note a step. Scoring waits for many: each has one table per model and many bins."""
        operations = answered[0].operations
        assert isinstance(operations, DelayedOperations)
        assert operations.asked is not None and operations.labelled is not None
        # Without the rows waiting: one list of them per step would be memory without bound.
        step = replace(operations, waiting=np.empty(0, dtype=np.int64))
        self._steps.append((step, [one.answers for one in answered]))
        self._n_unscored_asks += len(operations.asked.row)
        self._n_labelled += len(operations.labelled)
        self._pending = operations.waiting
        for lane, meter in zip(self._engine.lanes, self._meters, strict=True):
            meter.follow(self._n_arrived, lane.model)
        n_steps = len(self._steps)
        if self._n_unscored_asks >= ASKS_PER_SCORING or n_steps >= STEPS_PER_SCORING:
            self._score_steps()

    def _score_steps(self) -> None:
        """Score the rows whose label came lately, in the order in which labels came."""
        if not self._steps:
            return
        steps, self._steps, self._n_unscored_asks = self._steps, [], 0
        history = history_of([operations for operations, _ in steps])
        history = replace(history, waiting=self._pending)  # without dropped rows
        labelled = history.labelled
        y, known = self._waiting.settle(history)
        weight = None if self._weights is None else labelled.weight
        at_arrival = self._delay.previous_label == "known_at_arrival"
        for k, ledger in enumerate(self._ledgers):
            given = np.concatenate([answers[k] for _, answers in steps])
            table = ledger.settle(history, given)
            for b, measures in enumerate(self._measures[k]):
                last = b == table.shape[1] - 1
                measures.update(y, table[:, b], weight, known if at_arrival and not last else None)
            if self._settings.keep_tape:
                self._answers[k].append(table)
        self._n_scored += len(y)
        self._n_unanswered += self._count_unanswered(history)
        self._delays.add(labelled.label_time - labelled.arrival)
        self._poll_costs.follow(history)
        if self._settings.keep_tape:
            self._y.append(y)
            self._known.append(known)
            if self._weights is not None:
                self._weights.append(labelled.weight)

    def _count_unanswered(self, history: History) -> int:
        """Labelled rows that arrived before the models had learnt enough to be asked."""
        if self._first_answered is None:
            asked = history.asked
            answered = asked.row[asked.answered & (asked.kind == FIRST)]
            self._first_answered = int(answered[0]) if len(answered) else None
        if self._first_answered is None:
            return len(history.labelled)
        return int(np.count_nonzero(history.labelled.row < self._first_answered))

    def _curves(self, lane: int) -> Curves:
        return stack_bins([measures.curves() for measures in self._measures[lane]])

    def _recorded(self, lane: int) -> np.ndarray | None:
        if not self._settings.keep_tape:
            return None
        answers = self._answers[lane].array()
        return answers.reshape(-1, self._delay.n_bins + 2)

    def _truth(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        if not self._settings.keep_tape:
            return None, None
        weights = self._weights
        return self._y.array(), None if weights is None else np.concatenate(weights)

    def result(self) -> EvaluationResult:
        """Return the result so far; the run can go on afterwards.

        Returns
        -------
        result : DelayedResult
            Scores of the rows whose label has come.
        """
        outcome = self.outcome()
        return assemble(self._settings, [outcome], DelayedResult, waits=outcome.waits)

    def outcome(self) -> RunOutcome:
        """Return what this run's lanes did, and what became of the rows that waited."""
        self._score_steps()
        waits = Waits(
            n_bins=self._delay.n_bins,
            n_labelled=self._n_labelled,
            n_pending=self.n_pending,
            n_never=self._n_never,
            n_unanswered=self._n_unanswered,
            n_dropped=self._n_dropped,
            n_relabelled=self._n_relabelled,
            n_polls=self._poll_costs.n_polls,
            poll_costs=self._poll_costs.curves(),
            delays=self._delays.summary(),
        )
        known = None
        if self._settings.keep_tape and self._delay.previous_label == "known_at_arrival":
            known = self._known.array()
        return replace(super().outcome(), previous=known, waits=waits)
