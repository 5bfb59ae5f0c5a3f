"""A run under delayed labels: rows wait, are asked again, and are scored when labels come."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstream.engine.delayed import DatedArrivals, DelayedOperations, Waiting
from skstream.engine.run import Answered
from skstream.engine.tape import Recorder
from skstream.evaluation._delayed_result import DelayedResult
from skstream.evaluation._input import Chunk
from skstream.evaluation._ledger import Ledger
from skstream.evaluation._outcome import RunOutcome
from skstream.evaluation._poll_costs import PollCosts
from skstream.evaluation._rescore import stack_bins
from skstream.evaluation._result import EvaluationResult, assemble
from skstream.evaluation._run import StreamRun
from skstream.evaluation._settings import Settings
from skstream.evaluation._times import as_times
from skstream.evaluation._waits import Waits
from skstream.metrics import Curves
from skstream.utils._interrupt import deferred_interrupt

#: Rows between two points at which a run can be interrupted, loop and kernels.
ROWS_PER_LOOP_PIECE, ROWS_PER_PIECE = 256, 8192


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
    """

    n_bins: int
    reduce: str | Callable[..., Any]
    label_times: Callable[[Any, np.ndarray, int], np.ndarray] | None
    previous_label: str


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
    """

    def __init__(
        self,
        settings: Settings,
        models: Mapping[tuple[str, int], Any],
        places: list[tuple[str, int]],
        delay: DelaySettings,
    ):
        super().__init__(settings, models, places)
        self._delay = delay
        n_answers = delay.n_bins + 2
        n_classes = None if settings.classes is None else len(settings.classes)
        self._measures = [[self._new_measures() for _ in range(n_answers)] for _ in places]
        self._ledgers = [Ledger(delay.n_bins, delay.reduce, n_classes) for _ in places]
        self._answers = [Recorder(settings.classes) for _ in places]
        self._y = Recorder(settings.classes)
        self._known = Recorder(settings.classes)
        self._weights: list[np.ndarray] | None = None
        self._waiting = _WaitingLabels(settings.classes is None)
        self._poll_costs = PollCosts()
        self._last_arrival = -np.inf
        self._n_labelled = 0
        self._n_never = 0

    @property
    def n_pending(self) -> int:
        """Number of rows that wait for their label."""
        return len(self._waiting.rows)

    def feed(self, X: Any, y: Any, meta: Mapping[str, Any]) -> Self:
        """Take in a chunk of a stream whose label times are known."""
        self._require_open()
        chunk = self._encoded(X, y, meta.get("sample_weight"))
        arrival = self._arrivals_of(chunk, meta.get("arrival"))
        label_time = self._label_times_of(chunk, arrival, meta.get("label_time"))
        size = ROWS_PER_LOOP_PIECE if self._engine.loops else ROWS_PER_PIECE
        for begin in range(0, chunk.n_rows, size):
            end = min(begin + size, chunk.n_rows)
            piece = chunk.piece(begin, end)
            self._arrive(piece, arrival[begin:end], label_time[begin:end])
        return self

    def _arrivals_of(self, chunk: Chunk, arrival: Any) -> np.ndarray:
        first_row = self._n_arrived
        if arrival is None:
            return np.arange(first_row, first_row + chunk.n_rows, dtype=np.float64)
        times = as_times(arrival, "arrival")
        before = np.concatenate([[self._last_arrival], times[:-1]])
        wrong = ~np.isfinite(times) | (times < before)
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(
                f"arrival[{first_row + at}] is {arrival[at]}: arrivals must be finite and must "
                "not go back in time. Sort the rows by arrival."
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

    def _arrive(self, piece: Chunk, arrival: np.ndarray, label_time: np.ndarray) -> None:
        self._state = "broken"  # until all models have done the piece
        expected = np.isfinite(label_time)
        arrivals = DatedArrivals(
            self._n_arrived, piece.labelled, piece.weight, arrival, label_time, expected
        )
        answered = self._engine.arrive(piece.X, piece.y, arrivals)
        with deferred_interrupt():
            rows = np.arange(self._n_arrived, self._n_arrived + piece.n_rows)
            self._waiting.add(rows, piece.y)
            self._n_arrived += piece.n_rows
            self._last_arrival = float(arrival[-1])
            self._n_never += int(np.count_nonzero(~expected))
            if piece.weight is not None and self._weights is None:
                self._weights = [np.ones(self._n_labelled)]
            self._score(answered)
            self._state = "open"

    def _score(self, answered: list[Answered]) -> None:
        """Score the rows whose label came, in the order in which labels came."""
        operations = answered[0].operations
        assert isinstance(operations, DelayedOperations)
        labelled = operations.labelled
        assert labelled is not None
        y, known_at_arrival = self._waiting.settle(operations, labelled)
        weight = None if self._weights is None else labelled.weight
        for k, one in enumerate(answered):
            table = self._ledgers[k].settle(one)
            for b, measures in enumerate(self._measures[k]):
                last = b == table.shape[1] - 1
                previous = None
                if self._delay.previous_label == "known_at_arrival" and not last:
                    previous = known_at_arrival
                measures.update(y, table[:, b], weight, previous)
            if self._settings.keep_tape:
                self._answers[k].append(table)
            self._meters[k].follow(self._n_arrived, self._engine.lanes[k].model)
        self._n_labelled += len(y)
        if self._settings.keep_tape:
            self._y.append(y)
            self._known.append(known_at_arrival)
            if self._weights is not None:
                self._weights.append(labelled.weight)
        self._poll_costs.follow(operations)

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
        waits = Waits(
            n_bins=self._delay.n_bins,
            n_labelled=self._n_labelled,
            n_pending=len(self._waiting.rows),
            n_never=self._n_never,
            n_unanswered=self._ledgers[0].n_unanswered,
            n_polls=self._poll_costs.n_polls,
            poll_costs=self._poll_costs.curves(),
        )
        known = None
        if self._settings.keep_tape and self._delay.previous_label == "known_at_arrival":
            known = self._known.array()
        return replace(super().outcome(), previous=known, waits=waits)


class _WaitingLabels:
    """Labels of waiting rows, and for each the newest label known when it arrived."""

    def __init__(self, regression: bool):
        self._nothing: Any = np.nan if regression else -1
        dtype: Any = np.float64 if regression else np.int64
        self.rows = np.empty(0, dtype=np.int64)
        self._y = np.empty(0, dtype=dtype)
        self._known = np.empty(0, dtype=dtype)
        self._newest = np.full(1, self._nothing, dtype=dtype)

    def add(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Take in rows that arrived."""
        self.rows = np.concatenate([self.rows, rows])
        self._y = np.concatenate([self._y, y])

    def label(self, rows: np.ndarray, y: np.ndarray) -> None:
        """Give rows their labels."""
        self._y[np.searchsorted(self.rows, rows)] = y

    def settle(
        self, operations: DelayedOperations, labelled: Waiting
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give labels, and newest labels known at arrival, of rows whose label came."""
        at = np.searchsorted(self.rows, labelled.row)
        y = self._y[at]
        # The newest label before each event of this step: rows of weight 0 are as absent.
        counts = np.flatnonzero(labelled.learnable)
        newest = np.concatenate([self._newest, y[counts]])
        n_before = np.concatenate([[0], np.cumsum(labelled.learnable)])
        newest_before = newest[n_before]
        self._known = np.concatenate([self._known, newest_before[operations.labels_before]])
        self._newest = newest[-1:]
        known = self._known[at]
        kept = np.searchsorted(self.rows, operations.waiting)
        self.rows, self._y, self._known = self.rows[kept], self._y[kept], self._known[kept]
        return y, known
