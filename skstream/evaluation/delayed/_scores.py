"""Scoring of the answers to waiting rows, once their labels have come."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstream.engine.delayed import (
    FIRST,
    DelayedOperations,
    History,
    TimePassed,
    history_of,
)
from skstream.engine.evolving import Features
from skstream.engine.run import Answered
from skstream.engine.tape import has_answer
from skstream.evaluation._outcome import RunOutcome
from skstream.evaluation._passes import LABEL_TIMES
from skstream.evaluation._result import EvaluationResult, assemble
from skstream.evaluation._settings import Settings
from skstream.evaluation._stream_run import StreamRun, TakenEvent
from skstream.evaluation.delayed._answers import Ledger
from skstream.evaluation.delayed._clock import Clock, LabelTimes, UserReduce
from skstream.evaluation.delayed._delay_counts import DelayCounts
from skstream.evaluation.delayed._labels import WaitingLabels
from skstream.evaluation.delayed._poll_costs import PollCosts
from skstream.evaluation.delayed._result import DelayedResult
from skstream.evaluation.delayed._waits import Waits
from skstream.metrics import ScoredRows
from skstream.utils._exclusive import exclusive
from skstream.utils._interrupt import deferred_interrupt

#: Questions after whose answers the labelled rows are scored: a live run has few per call.
ASKS_PER_SCORING = 1 << 15
#: Calls of a live run after which they are scored in any case.
STEPS_PER_SCORING = 1 << 11


@dataclass(frozen=True, kw_only=True)
class DelaySettings:
    """Settings of a delayed run, in addition to the common settings.

    Attributes
    ----------
    n_bins : int
        Bins between arrival and label.
    reduce : str or callable
        How the answers of a bin are reduced to one.
    label_times : LabelTimes or None
        How label times follow from the arrivals, if the stream does not give them.
    previous_label : {"newest", "known_at_arrival"}
        Which label the persistent baseline repeats.
    features : callable or None
        ``features(rows, times)`` where features change while a row waits.
    on_relabel : {"error", "ignore", "count"}
        What to do with the label of a live row that has one.
    max_pending : int or None
        Most rows that may wait in a live run.
    """

    n_bins: int
    reduce: str | Callable[..., Any]
    label_times: LabelTimes | None
    previous_label: str
    features: Features | None = None
    on_relabel: str = "error"
    max_pending: int | None = None


#: The latest finite time of a label.
MAX_TIME = float(np.finfo(np.float64).max)


class DelayedScores(StreamRun):
    """Base class of delayed runs: notes the answers and scores them.

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
        n_classes = None if settings.classes is None else len(settings.classes)
        self._ledgers = [Ledger(delay.n_bins, n_classes) for _ in places]
        self._weighted = False
        self._waiting = WaitingLabels(settings.classes is None)
        self._poll_costs = PollCosts()
        self._delays = DelayCounts()
        self._steps: list[tuple[DelayedOperations, list[np.ndarray]]] = []
        self._n_unscored_asks = 0
        self._clock = Clock()
        self._n_answered = [0] * len(places)  # labelled rows up to a lane's last answer
        self._last_time = -np.inf
        self._last_shown = ""  # the same, for messages
        self._n_labelled = 0
        self._n_unanswered = 0
        self._first_answered: int | None = None
        self._n_never = 0
        self._n_dropped = 0
        self._n_relabelled = 0
        self._n_refused = 0
        self._label_times_read = 0  # checksum

    @property
    def n_pending(self) -> int:
        """Number of rows that wait for their label."""
        return self._n_arrived - self._n_never - self._n_labelled - self._n_dropped

    def _features_at(self, rows: np.ndarray, times: np.ndarray) -> Any:
        """Call the user's `features`, with times of the kind that the user gave."""
        assert self._delay.features is not None
        return self._delay.features(rows, self._clock.times_for_user(times))

    def _note_arrived(
        self,
        y: np.ndarray,
        weight: np.ndarray | None,
        time: float,
        shown: str,
        n_never: int,
        answered: list[Answered],
    ) -> None:
        """Note rows that arrived, the last at a time shown so to the user."""
        self._waiting.add(self._n_arrived, y)
        self._n_arrived += len(y)
        self._last_time, self._last_shown = time, shown
        self._n_never += n_never
        self._weighted = self._weighted or weight is not None
        self._note(answered)

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

    def _n_due(self, horizon: float) -> int:
        """Count the rows waiting whose labels have come by a time."""
        state = self._engine.states[0]
        if not state.n_dated:
            return 0
        return int(np.count_nonzero(state.pending.rows().label_time <= horizon))

    def _let_labels_come(self, horizon: float) -> None:
        """Let the labels come that are due by a time, not too many at once."""
        while self._n_due(horizon):
            due = TimePassed(horizon, most=self._pace.size)
            self._take_event(TakenEvent(event=due, note=self._note))

    @exclusive
    def close(self) -> Self:
        """End the stream: let the labels come whose time is known. Nothing can follow.

        Returns
        -------
        self : DelayedScores
            The run.
        """
        if self._state == "open":
            with self._before_rest(self.close):
                self._let_labels_come(MAX_TIME)
        return super().close()

    def _note(self, answered: list[Answered]) -> None:
        operations = answered[0].operations
        assert isinstance(operations, DelayedOperations)
        assert operations.asked is not None and operations.labelled is not None
        self._steps.append((operations, [one.answers for one in answered]))
        self._n_unscored_asks += len(operations.asked.row)
        self._n_labelled += len(operations.labelled)
        for lane, meter in zip(self._engine.lanes, self._meters, strict=True):
            meter.follow(self._n_arrived, lane.model)

    def _score(self) -> None:
        """Score what was noted once there is enough, as each scoring has a fixed cost."""
        # Scoring looks at all that waits: the more there is of it, the rarer it must be.
        n_asks = max(ASKS_PER_SCORING, self._ledgers[0].n_held // 2)
        n_steps = max(STEPS_PER_SCORING, self.n_pending // 8)
        if self._n_unscored_asks >= n_asks or len(self._steps) >= n_steps:
            self._score_steps()

    def _score_steps(self) -> None:
        """Score the rows whose label came lately, in the order in which labels came.

        Functions of the user may fail. The rows to be scored are dropped only after the functions
        were called, so that no row is lost and no row is scored twice.
        """
        self._scores.measure()
        if not self._steps:
            return
        steps = self._steps
        history = history_of(
            [operations for operations, _ in steps], self._engine.states[0].pending.numbers()
        )
        labelled = history.labelled
        y, known, waiting = self._waiting.look_up(history)
        reduce = self._reduce()
        found = [
            ledger.look_up(history, np.concatenate([answers[k] for _, answers in steps]), reduce)
            for k, ledger in enumerate(self._ledgers)
        ]
        self._steps, self._n_unscored_asks, self._waiting = [], 0, waiting
        for k, (table, left) in enumerate(found):
            self._ledgers[k].keep(left)
            given = np.flatnonzero(has_answer(table[:, -1]))
            if len(given):
                self._n_answered[k] = self._scores.n_rows + int(given[-1]) + 1
        past = known if self._delay.previous_label == "known_at_arrival" else None
        answers = np.concatenate([table.T for table, _ in found])
        weight = labelled.weight if self._weighted else None
        self._scores.keep(ScoredRows(y, answers, weight, past))
        self._n_unanswered += self._count_unanswered(history)
        self._delays.add(labelled.label_time - labelled.arrival)
        self._poll_costs.follow(history)
        self._scores.measure()

    def _reduce(self) -> str | Callable[..., Any]:
        """Return `reduce` for codes and for times in the units of the run."""
        reduce = self._delay.reduce
        if isinstance(reduce, str):
            return reduce
        return UserReduce(reduce, self._settings.classes, self._clock)

    def _count_unanswered(self, history: History) -> int:
        """Labelled rows that arrived before the models had learnt enough to be asked."""
        if self._first_answered is None:
            asked = history.asked
            answered = asked.row[asked.answered & (asked.kind == FIRST)]
            self._first_answered = int(answered[0]) if len(answered) else None
        if self._first_answered is None:
            return len(history.labelled)
        return int(np.count_nonzero(history.labelled.row < self._first_answered))

    def _finish_scores(self) -> None:
        self._score_steps()
        super()._finish_scores()

    def _n_valid(self, lane: int) -> int:
        return self._n_answered[lane]

    @exclusive
    def result(self) -> EvaluationResult:
        """Return the result so far; the run can continue afterwards.

        Returns
        -------
        result : DelayedResult
            Scores of the rows whose label has come.
        """
        outcome = self.outcome()
        return assemble(self._settings, [outcome], DelayedResult, waits=outcome.waits)

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, and the counts of waiting rows."""
        with deferred_interrupt():
            self._score_steps()
        waits = Waits(
            n_bins=self._delay.n_bins,
            n_labelled=self._n_labelled,
            n_pending=self.n_pending,
            n_never=self._n_never,
            n_unanswered=self._n_unanswered,
            n_dropped=self._n_dropped,
            n_relabelled=self._n_relabelled,
            n_refused=self._n_refused,
            n_polls=self._poll_costs.n_polls,
            poll_costs=self._poll_costs.curves(),
            delays={
                name: self._clock.duration_for_user(delay)
                for name, delay in self._delays.summary().items()
            },
        )
        read = {LABEL_TIMES: (self._label_times_read,)}
        return replace(super().outcome(), waits=waits, read=read)
