"""Scoring: which of the answers count, and what is kept of them for a result.

One strategy per way of asking turns what models were asked and have answered into rows that can be
scored: once before a row is learnt, or again at checkpoints; `core.evaluators.delayed` has one
more. It knows rows and answers, neither measures nor models.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from skstream.core.engine.run import Answered
from skstream.core.evaluators.settings import Settings
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import check_take_weights
from skstream.core.measures.rows import ScoredRows, Sets
from skstream.core.measures.running import RunningMeasures
from skstream.core.run.holdout_sets import HeldOutRows
from skstream.core.run.input import EncodedRows
from skstream.core.run.run_outcome import Place
from skstream.core.run.tape import KeptTape, Tape, curves_of_lanes, lanes_of, measures_of, rows_of
from skstream.core.timelines.timeline import sets_of
from skstream.utils._labels import LabelSpace, is_given

_SETTLED = attrgetter("operations.settled")


class Scoring:
    """The labels of rows that have arrived, until it is settled which of them are scored.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    n_scores : int
        Columns of scores that measures need beside the answers.
    """

    def __init__(self, classes: np.ndarray | None, n_scores: int) -> None:
        space = LabelSpace(classes)
        self._dtype, self._nothing = space.dtype, space.nothing
        self._n_scores = n_scores
        self._none = ScoredRows(np.empty(0, self._dtype), np.empty((0, 0), self._dtype))
        self._arrived = self._none  # and not settled; without answers
        self._n_settled = 0

    def arrive(self, rows: EncodedRows) -> None:
        """Take the labels, weights and times of the next rows."""
        no_answers = np.empty((0, rows.n_rows), self._dtype)
        labels = ScoredRows(rows.y.astype(self._dtype), no_answers, rows.weight, time=rows.time)
        self._arrived = labels.after(self._arrived)


class AskedOnce(Scoring):
    """Every row is asked once, before it is learnt: prequential evaluation, and its folds."""

    def settle(self, answered: Sequence[Answered]) -> ScoredRows:
        """Return the rows that a step has finished for every model, perhaps none."""
        first = self._n_settled
        self._n_settled = min(map(_SETTLED, answered))
        n = self._n_settled - first
        answers = np.full((len(answered), n), self._nothing, self._dtype)
        scores = None
        if self._n_scores:
            scores = np.full((len(answered), n, self._n_scores), np.nan)
        operations: Any = None
        asked: Any = None
        for k, its in enumerate(answered):
            if its.operations is not operations:  # models of one timeline share them
                operations, asked = its.operations, its.operations.ask_rows - first
                if len(asked) == n and (n < 2 or np.array_equal(asked, np.arange(n))):
                    asked = slice(None)  # which is faster
            answers[k, asked] = its.answers
            if scores is not None and its.scores is not None:
                scores[k, asked] = its.scores
        rows = self._arrived
        if n < len(rows):
            rows, self._arrived = rows[:n], rows[n:]
        else:
            self._arrived = self._none
        return ScoredRows(rows.y, answers, rows.weight, scores=scores, time=rows.time)


class AskedAtCheckpoints(Scoring):
    """Models are asked about whole sets of rows, and do not learn meanwhile.

    The baselines do not learn either: within a set, the persistent one repeats the last label of
    the stream before the set, and the majority one answers the most frequent label up to there.

    Parameters
    ----------
    classes, n_scores
        As of `Scoring`.
    n_lanes : int
        Models times folds.
    held_out : HeldOutRows or None
        None: the rows asked about are the next rows of the stream.

    Attributes
    ----------
    n_valid : list of int
        By lane, the rows of the stream up to its last whole set of answers.
    """

    def __init__(
        self,
        classes: np.ndarray | None,
        n_scores: int,
        n_lanes: int,
        held_out: HeldOutRows | None,
    ) -> None:
        super().__init__(classes, n_scores)
        self._held_out = held_out
        self._sums = None if classes is None else np.zeros(len(classes))
        self._last = self._nothing
        self._n_passed = 0  # rows of the stream whose labels the baselines know
        self.n_valid = [0] * n_lanes

    def settle(self, answered: Sequence[Answered]) -> ScoredRows:
        """Return the sets of rows about which the models were asked."""
        operations = answered[0].operations
        (ends, checkpoints), numbers = sets_of(operations), operations.ask_rows
        sizes = np.diff(ends, prepend=0)
        if self._held_out is None:
            asked = self._arrived[numbers - self._n_settled]
            y, weight, n_learnt = asked.y, asked.weight, numbers[ends - sizes]
        else:
            y, weight = self._held_out.labels(numbers)
            self._held_out.release(numbers)
            n_learnt = checkpoints
        answers = np.array([lane.answers for lane in answered], dtype=self._dtype)
        for lane, line in enumerate(answers):
            if len(ends):
                whole = np.logical_and.reduceat(is_given(line), ends - sizes)
                self.n_valid[lane] = int(max(self.n_valid[lane], *(checkpoints * whole)))
        scores = None
        if self._n_scores:
            none = np.full((len(numbers), self._n_scores), np.nan)
            scores = np.array([none if lane.scores is None else lane.scores for lane in answered])
        baselines = self._baselines(n_learnt, sizes, y, weight)
        self._pass(operations.settled)
        self._arrived = self._arrived[operations.settled - self._n_settled :]
        self._n_settled = operations.settled
        return ScoredRows(y, answers, weight, *baselines, Sets(ends, checkpoints), scores)

    def _baselines(
        self, n_learnt: np.ndarray, sizes: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Return the answers of the baselines to the rows of sets, after so many rows each."""
        previous = np.empty(len(y), self._dtype)
        majority = inclusive = None
        if self._sums is not None:
            majority, inclusive = np.empty_like(previous), np.empty_like(previous)
        first = 0
        for n_rows, size in zip(n_learnt.tolist(), sizes.tolist(), strict=True):
            self._pass(n_rows)
            part = slice(first, first + size)
            first += size
            previous[part] = self._last
            if majority is not None and inclusive is not None and self._sums is not None:
                lead = int(self._sums.argmax())
                known = self._sums[lead] > 0.0
                own = self._sums[y[part]] + (1.0 if weight is None else weight[part])
                wins = (own > self._sums[lead]) | ((own == self._sums[lead]) & (y[part] < lead))
                majority[part] = lead if known else self._nothing
                inclusive[part] = np.where(wins, y[part], lead)
        return previous, majority, inclusive

    def _pass(self, n_rows: int) -> None:
        """Let the baselines know the labels of the stream's rows up to this number."""
        if n_rows <= self._n_passed:
            return
        part = slice(self._n_passed - self._n_settled, n_rows - self._n_settled)
        self._n_passed = n_rows
        y, weight = self._arrived.y[part], self._arrived.weight
        counted = is_given(y)
        if weight is not None:
            weight = weight[part]
            counted &= weight > 0.0
            weight = weight[counted]
        y = y[counted]
        if len(y):
            self._last = y[-1]
            if self._sums is not None:
                self._sums = self._sums + np.bincount(y, weight, minlength=len(self._sums))


class RunScores:
    """What a run keeps of its scored rows: the measures, and the tape if it is wanted.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    places : sequence of (str, int)
        Names and folds of the lanes.
    width : int, default=1
        Lines of answers per lane. Of several, the last holds the answers given when the label came,
        whose persistent baseline is the label of the row before.

    Attributes
    ----------
    n_rows : int
        Number of rows kept.
    tape : KeptTape or None
        Their labels and answers.
    """

    def __init__(self, settings: Settings, places: Sequence[Place], width: int = 1) -> None:
        self._width = width
        self._places = list(places)
        methods, n_scores = [], []
        for name, _ in places:
            methods.append(settings.score_methods.get(name))
            n_scores.append(settings.task_of(name).n_scores)
        self._measures = measures_of(
            settings.metrics,
            settings.forgetting,
            settings.classes,
            len(places),
            width,
            in_sets=bool(settings.scored_sets),
            record_every=settings.record_every,
            bounded=bool(settings.keep_tape),
            expected_rows=settings.expected_rows,
            methods=methods if settings.score_methods else None,
            timed=settings.counts_time,
        )
        self._metrics = settings.metrics
        self._has_weights = False
        self._unread: list[ScoredRows] = []  # by the measures
        self._n_read = self.n_rows = 0
        self.tape: KeptTape | None = None
        if settings.keep_tape:
            self.tape = KeptTape(settings.classes, len(places), width, n_scores=n_scores)

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows; `measure` lets the measures read them."""
        if not len(rows):
            return
        if rows.weight is not None and not self._has_weights:
            self._has_weights = True
            check_take_weights(self._metrics)
        self._unread.append(rows)
        self.n_rows += len(rows)
        if self.tape is not None:
            self.tape.keep(rows)

    def measure(self, *, is_end: bool = False) -> None:
        """Let the measures read the rows kept; if a user's function fails, call again.

        At the end they also measure the rows that they have buffered; no rows may follow.
        """
        while self._unread:
            rows = self._unread[0]
            n_done = self._measures.n_rows - self._n_read  # before a function failed
            self._measures.read(rows[n_done:] if n_done else rows)
            self._n_read += len(rows)
            del self._unread[0]
        if is_end:
            self._measures.finish()

    def measured_by(self, settings: Settings) -> "RunScores | None":
        """Return the rows on the tape, scored by named measures; None without a tape."""
        tape = self.tape
        if tape is None:
            return None
        scores = RunScores(replace(settings, keep_tape=False), self._places, self._width)
        lanes = {str(k): tape.lane(k) for k in range(len(self._places))}
        whole = Tape(
            classes=settings.classes,
            answers={name: [answers] for name, (answers, _) in lanes.items()},
            scores={name: [its] for name, (_, its) in lanes.items() if its is not None},
            **tape.labels(),
        )
        for rows in rows_of(whole, lanes_of(whole)):
            scores.keep(rows)
            scores.measure()
        scores.tape = tape
        return scores

    def final(self) -> dict[str, dict[str, Any]]:
        """Return the last values, by mechanism and measure: one for each line of answers."""
        assert isinstance(self._measures, RunningMeasures)
        return self._measures.final()

    def curves(self) -> Iterator[Curves]:
        """Yield the curves of every lane, with a last axis of its lines where it has several."""
        return curves_of_lanes(self._measures.curves(), len(self._places), self._width)
