"""Scoring of rows that are asked at arrival, while they wait, and when their label comes."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstream.core.engine.run import Answered
from skstream.core.evaluators.delayed_times import (
    Clock,
    DelayCounts,
    LabelledDrifts,
    PollCosts,
    UserReduce,
)
from skstream.core.evaluators.settings import Polling, Settings
from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.series import all_wrong
from skstream.core.run.input import EncodedRows
from skstream.core.timelines.delayed import (
    LAST,
    POLL,
    Columns,
    DelayedOperations,
    History,
    PendingRows,
    history_of,
)
from skstream.utils._labels import UNANSWERED, is_given


@dataclass(frozen=True, slots=True)
class Shown:
    """Answers in force between the arrival of rows and their labels.

    Attributes
    ----------
    row : ndarray of shape (n,), dtype int64
        Position of the row, non-decreasing; every row has at least its first answer.
    since : ndarray of shape (n,)
        Time since the row's arrival at which the answer was given; non-decreasing in a row.
    answer : ndarray of shape (n,)
        Code, or value.
    delay : ndarray of shape (n_rows,)
        Time from arrival to label, per row.
    """

    row: np.ndarray
    since: np.ndarray
    answer: np.ndarray
    delay: np.ndarray

    @property
    def newest(self) -> np.ndarray:
        """Per row, the answer in force when the label came."""
        last = np.append(np.flatnonzero(np.diff(self.row)), len(self.row) - 1)
        return self.answer[last]

    def among(self, wanted: np.ndarray) -> "Shown":
        """Leave the answers to some of the rows, given as a mask."""
        keep = wanted[self.row]
        return Shown(self.row[keep], self.since[keep], self.answer[keep], self.delay)


def answers_by_bin(
    shown: Shown,
    n_bins: int,
    reduce: str | Callable[..., Any],
    n_classes: int | None,
    scored: np.ndarray | None = None,
    numbers: np.ndarray | None = None,
) -> np.ndarray:
    """Reduce the answers in force to one per row and bin.

    The time between arrival and label is divided into `n_bins` equal parts. An answer counts in a
    bin for the time it was in force there, also if it was given in an earlier bin. If the label
    came at once, every bin takes the newest answer; a callable is then called once for all bins,
    with the newest answer and the duration 0.

    Parameters
    ----------
    shown : Shown
        Answers in force.
    n_bins : int
        Number of bins.
    reduce : {"dominant", "mean"} or callable
        The answer shown longest (ties: the lowest class), the mean weighted by time, or
        ``f(answers, durations)`` of the answers of one bin, called for every bin of every row
        that is scored.
    n_classes : int or None
        Number of classes; None for regression.
    scored : ndarray of shape (n_rows,), dtype bool, default=None
        Rows for which a callable is called; None: all.
    numbers : ndarray of shape (n_rows,), dtype int64, default=None
        Numbers of the rows, for messages; None: their positions.

    Returns
    -------
    answers : ndarray of shape (n_rows, n_bins)
        Codes, or values.
    """
    n_rows = len(shown.delay)
    if n_rows == 0:
        return np.empty((0, n_bins), dtype=shown.answer.dtype)
    answers = np.repeat(shown.newest[:, None], n_bins, axis=1)
    if not isinstance(reduce, str):
        every = np.ones(n_rows, dtype=bool) if scored is None else scored
        numbers = np.arange(n_rows) if numbers is None else numbers
        _reduce_all(shown, np.flatnonzero(every), n_bins, reduce, answers, numbers)
        return answers
    if reduce == "mean":
        return means_by_bin(shown, shown.answer[:, np.newaxis], n_bins)[:, :, 0]
    changed = _changes_of_mind(shown)
    rows = np.unique(changed.row)
    at_once = max(1, CELLS_AT_ONCE // (n_bins * ((n_classes or 0) + 2)))
    for begin in range(0, len(rows), at_once):
        some = rows[begin : begin + at_once]
        part = _spans(_of_rows(changed, some), n_bins)
        answers[some] = _dominant(part, len(some), n_bins, n_classes or 0)
    return answers


def means_by_bin(shown: Shown, scores: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the mean of the scores in force in each bin, weighted by time.

    Parameters
    ----------
    shown : Shown
        Answers in force.
    scores : ndarray of shape (n, n_columns)
        Their scores.
    n_bins : int
        Number of bins.

    Returns
    -------
    scores : ndarray of shape (n_rows, n_bins, n_columns)
        Where the label came at once, those given last.
    """
    n_rows = len(shown.delay)
    if not n_rows:
        return np.empty((0, n_bins, scores.shape[1]))
    # Each change of the scores has a number, which stands for the answer.
    changes = np.ones(len(scores), dtype=bool)
    changes[1:] = (scores[1:] != scores[:-1]).any(axis=1)
    numbered = Shown(shown.row, shown.since, np.cumsum(changes) - 1, shown.delay)
    values = scores[changes]
    means = np.repeat(values[numbered.newest][:, np.newaxis], n_bins, axis=1)
    changed = _changes_of_mind(numbered)
    if not len(changed.row):
        return means
    rows = np.unique(changed.row)
    part = _spans(_of_rows(changed, rows), n_bins)
    cell, n_cells = part.row * n_bins + part.bin, len(rows) * n_bins
    for k, column in enumerate(values.T):
        total = np.bincount(cell, column[part.answer] * part.duration, n_cells)
        means[rows, :, k] = total.reshape(len(rows), n_bins) / shown.delay[rows, None]
    return means


@dataclass(frozen=True, slots=True)
class _Spans:
    """The time of each answer in a bin, with the position of its row among the selected ones.

    Durations are in units in which every bin is as long as the row's whole delay.
    """

    row: np.ndarray
    bin: np.ndarray
    answer: np.ndarray
    duration: np.ndarray


def _changes(shown: Shown) -> Shown:
    """Select, of rows whose label did not come at once, the first answers and the changes."""
    new = np.concatenate(
        [[True], (np.diff(shown.row) > 0) | (shown.answer[1:] != shown.answer[:-1])]
    )
    keep = new & (shown.delay > 0)[shown.row]
    return Shown(shown.row[keep], shown.since[keep], shown.answer[keep], shown.delay)


def _changes_of_mind(shown: Shown) -> Shown:
    """Select the first answers and the changes of the rows whose answer has changed."""
    changed = _changes(shown)
    return changed.among(np.bincount(changed.row, minlength=len(shown.delay)) > 1)


def _of_rows(shown: Shown, rows: np.ndarray) -> Shown:
    """Some rows, numbered from 0."""
    begin, end = np.searchsorted(shown.row, [rows[0], rows[-1] + 1])
    part = slice(begin, end)
    row = np.searchsorted(rows, shown.row[part])
    return Shown(row, shown.since[part], shown.answer[part], shown.delay[rows])


def _spans(shown: Shown, n_bins: int) -> _Spans:
    """Divide the time of every answer at the bounds of the bins.

    Times are scaled by the number of bins, so that bounds are multiples of the delay: whole
    numbers stay whole, and nothing is rounded.
    """
    width = shown.delay[shown.row]
    begin = shown.since * n_bins
    end = np.append(begin[1:], 0.0)
    last = np.append(np.diff(shown.row) > 0, True)
    end[last] = width[last] * n_bins
    first_bin = (begin // width).astype(np.int64)
    n_spanned = np.maximum(0, -(-end // width).astype(np.int64) - first_bin)
    which = np.repeat(np.arange(len(begin)), n_spanned)
    bins = (
        first_bin[which]
        + np.arange(len(which))
        - np.repeat(np.cumsum(n_spanned) - n_spanned, n_spanned)
    )
    bound = width[which] * bins
    duration = np.minimum(end[which], bound + width[which]) - np.maximum(begin[which], bound)
    kept = (bins < n_bins) & (duration > 0)
    return _Spans(shown.row[which[kept]], bins[kept], shown.answer[which[kept]], duration[kept])


def _dominant(part: _Spans, n_rows: int, n_bins: int, n_classes: int) -> np.ndarray:
    # The first columns are for missing answers, codes -2 and -1.
    width = n_classes + 2
    cell = (part.row * n_bins + part.bin) * width + part.answer.astype(np.int64) + 2
    shown_for = np.bincount(cell, weights=part.duration, minlength=n_rows * n_bins * width)
    return shown_for.reshape(n_rows, n_bins, width).argmax(axis=2) - 2


def _reduce_all(
    shown: Shown,
    rows: np.ndarray,
    n_bins: int,
    reduce: Any,
    answers: np.ndarray,
    numbers: np.ndarray,
) -> None:
    """Call a function for every bin of some rows, ascending; once where there was no wait."""
    at_once = shown.delay[rows] == 0
    for row in rows[at_once]:
        with _noted(f"all bins of row {numbers[row]}, whose label came immediately"):
            answers[row] = reduce(answers[row, :1], np.zeros(1))
    rows = rows[~at_once]
    if not len(rows):
        return
    wanted = np.zeros(len(shown.delay), dtype=bool)
    wanted[rows] = True
    part = _spans(_of_rows(_changes(shown).among(wanted), rows), n_bins)
    cell = part.row * n_bins + part.bin
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    bounds = np.append(starts, len(order))
    for k, number in enumerate(cells):
        members = order[bounds[k] : bounds[k + 1]]
        row, in_bin = divmod(int(number), n_bins)
        with _noted(f"bin {in_bin + 1} of row {numbers[rows[row]]}"):
            shown_for = part.duration[members] / n_bins
            answers[rows[row], in_bin] = reduce(part.answer[members], shown_for)


@contextmanager
def _noted(where: str) -> Iterator[None]:
    """Add to an error of the user's function for which row and bin it was called."""
    try:
        yield
    except Exception as error:
        error.add_note(f"Raised by reduce(answers, durations) for {where}.")
        raise


#: Questions after whose answers the labelled rows are scored: a live run has few per call.
ASKS_PER_SCORING = 1 << 15
#: Steps of a live run after which they are scored in any case.
STEPS_PER_SCORING = 1 << 11


@dataclass(frozen=True, slots=True)
class PendingLabels(Columns):
    """Rows to be scored later: their labels, and the newest label known when each arrived."""

    row: np.ndarray
    y: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, slots=True)
class PendingAnswers(Columns):
    """Answers to rows that wait, in the order in which they were given.

    `row` is the row, `time` when it was asked, `is_poll` whether again; `answers` of shape
    (n_asks, n_lanes) are those of all models, and `scores` of shape (n_asks, n_lanes, n_scores)
    what they gave besides.
    """

    row: np.ndarray
    time: np.ndarray
    is_poll: np.ndarray
    answers: np.ndarray
    scores: np.ndarray


class AskedWhileWaiting:
    """Rows are asked at arrival, again while they wait, and when their label comes.

    Scoring has a fixed cost, so it is done for many steps together: `note` takes a step, and
    `settle` scores those noted. If a function of the user fails, `settle` can be repeated.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    polling : Polling
        Bins, and how their answers are reduced; not "auto".
    n_lanes : int
        Number of models.

    Attributes
    ----------
    n_arrived, n_never : int
        Rows that arrived, and those of them that get no label.
    n_unanswered : int
        Labelled rows that arrived before the models had learnt enough to be asked.
    n_answered : list of int
        By lane, the labelled rows up to its last answer.
    delays : DelayCounts
        Delays of the labelled rows.
    poll_costs : PollCosts
        Costs of asking again.
    drifts : LabelledDrifts
        Where the truth of the labelled rows changes.
    """

    def __init__(self, settings: Settings, polling: Polling, n_lanes: int) -> None:
        self._n_scores = n_scores = settings.n_scores
        self._classes = classes = settings.classes
        self._n_bins, self._reduce = polling.n_bins, polling.reduce
        self._known_at_arrival = polling.previous_label == "known_at_arrival"
        self._counts_time = settings.counts_time
        self._nothing: Any = np.nan if classes is None else -1
        dtype: Any = np.float64 if classes is None else np.int64
        rows, y = np.empty(0, dtype=np.int64), np.empty(0, dtype=dtype)
        self._labels = PendingLabels(rows, y, y)
        self._answers = PendingAnswers(
            rows,
            np.empty(0),
            np.empty(0, dtype=bool),
            np.empty((0, n_lanes), dtype=dtype),
            np.empty((0, n_lanes, n_scores)),
        )
        self._newest = np.full(1, self._nothing, dtype=dtype)  # label
        self._is_weighted = False
        self._n_noted = self._n_settled = 0
        self.n_arrived = self.n_never = 0
        self._at_newest_label = 0, 0  # these two
        self.n_unanswered = 0
        self.n_answered = [0] * n_lanes
        self.delays = DelayCounts()
        self.poll_costs = PollCosts()
        self.drifts = LabelledDrifts(settings.drifts)
        self._forget_steps()

    def _forget_steps(self) -> None:
        # A live run has one step per call.
        self.steps: list[Sequence[Answered]] = []
        self._n_asks = 0
        self._arrived: list[PendingLabels] = []
        self._labelled: list[tuple[np.ndarray, np.ndarray]] = []

    def arrive(self, rows: EncodedRows) -> None:
        """Take the labels of the next rows, as far as they are known."""
        numbers = np.arange(self._n_noted, self._n_noted + rows.n_rows)
        self._n_noted += rows.n_rows
        self._arrived.append(PendingLabels(numbers, rows.y, rows.y))
        self._is_weighted |= rows.weight is not None

    def label(self, rows: np.ndarray, y: np.ndarray, *, weighted: bool) -> None:
        """Take the labels of pending rows."""
        self._labelled.append((rows, y))
        self._is_weighted |= weighted

    def note(self, answered: Sequence[Answered]) -> None:
        """Take a step: the same operations for every lane, and their answers."""
        self.steps.append(answered)
        operations = answered[0].operations
        assert isinstance(operations, DelayedOperations)
        self._n_asks += len(operations.asked.row)

    @property
    def is_due(self) -> bool:
        """Whether to score the steps noted: the more rows and answers wait, the rarer."""
        return self._n_asks >= max(ASKS_PER_SCORING, len(self._answers) // 2) or (
            len(self.steps) >= max(STEPS_PER_SCORING, len(self._labels) // 8)
        )

    def settle(self, clock: Clock, first_answered: int, failed: Collection[int] = ()) -> ScoredRows:
        """Return the rows labelled in the steps noted.

        `clock` says of what kind the times are, and `first_answered` from which row on the models
        had learnt enough to be asked.

        If lanes are given whose failure ends the evaluation, nothing counts that came after the
        last row that all of them have answered: how much of it is in a step depends on time.
        """
        history = history_of([step[0].operations for step in self.steps])
        labelled, answers = history.labelled, self._all_answers(history)
        labels, y, known, newest = self._look_up_labels(history)
        left, settled = self._look_up_answers(history, answers)
        last = answers.take(history.asked.kind == LAST)
        of_labelled = settled.take(slice(int(np.searchsorted(settled.row, len(labelled)))))
        since = of_labelled.time - labelled.arrival[of_labelled.row]
        delay = labelled.label_time - labelled.arrival
        # While the answers of every lane were in force.
        shown = [Shown(of_labelled.row, since, its, delay) for its in of_labelled.answers.T]
        lines, n_answered = self._lines(of_labelled, shown, labelled, last.answers, clock)
        scores = None
        if self._n_scores:
            scores = self._lines_of_scores(of_labelled, shown, last, lines, y)
        # Nothing has changed so far: a function of the user may have failed.
        self._labels, self._answers, self._newest = labels, left, newest
        for lane, n in enumerate(n_answered):
            if n:
                self.n_answered[lane] = self._n_settled + n
        weight = labelled.weight if self._is_weighted else None
        previous = known if self._known_at_arrival else None
        rows = ScoredRows(y, lines, weight, previous, scores=scores, row=labelled.row)
        if self._counts_time:
            rows.time = clock.times_for_user(labelled.label_time)
        if failed:
            rows = rows[: max(0, min(self.n_answered[lane] for lane in failed) - self._n_settled)]
        self._n_settled += len(rows)
        self._count_arrivals(history, len(rows))
        if failed:
            history = history.until(len(rows))
            self.n_arrived, self.n_never = self._at_newest_label
        self.n_unanswered += int(np.count_nonzero(history.labelled.row < first_answered))
        self.delays.add(history.labelled.label_time - history.labelled.arrival)
        self._count_polls(history, settled, left)
        self.drifts.add(history.labelled.row)
        self._forget_steps()
        return rows

    def _all_answers(self, history: History) -> PendingAnswers:
        """Answers to all questions, with none to those that were too early."""
        lanes = list(zip(*self.steps, strict=True))
        asked = history.asked
        n_asked = len(asked.row)
        answers = np.full((n_asked, len(lanes)), self._nothing, dtype=self._newest.dtype)
        scores = np.full((n_asked, len(lanes), self._n_scores), np.nan)
        for k, lane in enumerate(lanes):
            answers[asked.answered, k] = np.concatenate([step.answers for step in lane])
            some = [step.scores for step in lane if step.scores is not None]
            if some:
                scores[asked.answered, k] = np.concatenate(some)
        return PendingAnswers(asked.row, asked.time, asked.kind == POLL, answers, scores)

    def _look_up_labels(
        self, history: History
    ) -> tuple[PendingLabels, np.ndarray, np.ndarray, np.ndarray]:
        """Labels of rows that still wait; those that came, and those known; the newest."""
        rows, labelled = self._labels.followed_by(*self._arrived), history.labelled
        labels = rows.y.copy()
        for numbers, given in self._labelled:
            labels[rows.look_up(numbers)] = given
        at = rows.look_up(labelled.row)
        y = labels[at]
        # The newest label before each event: rows of weight 0 are as absent.
        newest = np.concatenate([self._newest, y[labelled.learnable]])
        n_before = np.concatenate([[0], np.cumsum(labelled.learnable)])
        newest_before = newest[n_before[history.labels_before]]
        known = np.concatenate([self._labels.known, newest_before])
        waits = np.ones(len(rows), dtype=bool)
        waits[rows.look_up(history.released)] = False
        left = PendingLabels(rows.row[waits], labels[waits], known[waits])
        return left, y, known[at], newest[-1:]

    def _look_up_answers(
        self, history: History, answers: PendingAnswers
    ) -> tuple[PendingAnswers, PendingAnswers]:
        """Answers to rows that still wait; and to others, with their position instead of the row.

        The latter are ordered by position: labelled rows, then dropped ones, then those that get no
        label.
        """
        labelled, dropped = history.labelled, history.dropped
        rows = self._answers.followed_by(answers.take(history.asked.kind != LAST))
        n_labelled, n_gone = len(labelled), len(labelled) + len(dropped)
        released = np.sort(history.released)
        position = np.full(len(released), n_gone)
        position[np.searchsorted(released, labelled.row)] = np.arange(n_labelled)
        position[np.searchsorted(released, dropped)] = np.arange(n_labelled, n_gone)
        at = np.searchsorted(released, rows.row)
        leaves = np.append(released, -1)[at] == rows.row
        settled = replace(rows.take(leaves), row=position[at[leaves]])
        return rows.take(~leaves), settled.take(np.argsort(settled.row, kind="stable"))

    def _lines(
        self,
        settled: PendingAnswers,
        shown: list[Shown],
        labelled: PendingRows,
        last: np.ndarray,
        clock: Clock,
    ) -> tuple[np.ndarray, list[int]]:
        """Lines of answers: by lane the first, one per bin, and the last.

        All -1 or NaN where the first was too early, or the last is missing because the model had
        failed. Also the number of rows up to the last answer of each lane.
        """
        n_rows, n_lanes = last.shape
        n_classes = None if self._classes is None else len(self._classes)
        reduce = self._reduce
        if not isinstance(reduce, str):
            reduce = UserReduce(reduce, self._classes, clock)
        lines = np.empty((n_lanes, self._n_bins + 2, n_rows), dtype=last.dtype)
        n_answered = []
        for lane, its_lines in enumerate(lines):
            its_lines[0] = shown[lane].answer[~settled.is_poll]
            its_lines[-1] = last[:, lane]
            scored = is_given(its_lines[0]) & is_given(its_lines[-1])
            its_lines[1:-1] = answers_by_bin(
                shown[lane], self._n_bins, reduce, n_classes, scored, labelled.row
            ).T
            its_lines[:, ~scored] = self._nothing
            given = np.flatnonzero(scored)
            n_answered.append(int(given[-1]) + 1 if len(given) else 0)
        return lines.reshape(n_lanes * (self._n_bins + 2), n_rows), n_answered

    def _lines_of_scores(
        self,
        settled: PendingAnswers,
        shown: list[Shown],
        last: PendingAnswers,
        lines: np.ndarray,
        y: np.ndarray,
    ) -> np.ndarray:
        """Scores of all lines of answers, of shape (n_lines, n_rows, n_scores).

        Those of a bin are the mean weighted by time.
        """
        assert self._classes is not None
        n_rows, n_lanes, n_classes = len(y), last.answers.shape[1], len(self._classes)
        table = np.empty((n_lanes, self._n_bins + 2, n_rows, self._n_scores))
        for lane, of_lane in enumerate(table):
            scores = settled.scores[:, lane]
            # So that the means of other bins are numbers.
            unanswered = shown[lane].answer == UNANSWERED
            scores[unanswered] = all_wrong(y[settled.row[unanswered]], n_classes)
            of_lane[0] = scores[~settled.is_poll]
            of_lane[1:-1] = means_by_bin(shown[lane], scores, self._n_bins).transpose(1, 0, 2)
            of_lane[-1] = last.scores[:, lane]
        flat = table.reshape(len(lines), n_rows, self._n_scores)
        flat[~is_given(lines)] = np.nan
        return flat

    def _count_arrivals(self, history: History, n_labels: int) -> None:
        """Count the rows that arrived, and those before the last of so many labels."""

        def counts(n_arrived: int) -> tuple[int, int]:
            n_arrived += self.n_arrived
            n_released = np.count_nonzero(history.released < n_arrived) - len(history.dropped)
            n_labelled = np.count_nonzero(history.labelled.row < n_arrived)
            return n_arrived, self.n_never + int(n_released - n_labelled)

        if n_labels:
            n_arrived = int(np.searchsorted(history.labels_before, n_labels))
            self._at_newest_label = counts(n_arrived)
        self.n_arrived, self.n_never = counts(len(history.labels_before))

    def _count_polls(self, history: History, settled: PendingAnswers, left: PendingAnswers) -> None:
        n_labelled, n_gone = len(history.labelled), len(history.labelled) + len(history.dropped)
        polls_of_row = np.bincount(settled.row[settled.is_poll], minlength=n_gone)
        gone = polls_of_row[:n_labelled]
        if len(history.dropped):
            gone = gone + np.bincount(
                history.dropped_after, polls_of_row[n_labelled:], minlength=n_labelled + 1
            )[:n_labelled].astype(np.int64)
        n_held = int(np.count_nonzero(left.is_poll))
        self.poll_costs.follow(history, gone, n_held)


#: Largest number of cells of the table of durations per row, bin and class.
CELLS_AT_ONCE = 1 << 22
