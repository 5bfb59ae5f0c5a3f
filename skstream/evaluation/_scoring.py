"""Scoring: which of the answers count, and what is kept of them for a result."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from skstream.engine.run import Answered
from skstream.engine.tape import Recorder
from skstream.evaluation._rescore import BASELINES, curves_of_lanes, measures_of
from skstream.evaluation._settings import Settings
from skstream.metrics._checkpoints import Curves
from skstream.metrics._rows import ScoredRows, Sets
from skstream.metrics._user import check_take_weights


class Scoring(Protocol):
    """Turns what models were asked and have answered into rows that can be scored.

    One strategy per way of asking: once before a row is learnt, again at checkpoints, or while the
    label is awaited. It knows rows and answers, neither measures nor models.
    """

    def settle(self, answered: Sequence[Answered]) -> ScoredRows:
        """Return the rows that a step has finished, perhaps none.

        Parameters
        ----------
        answered : sequence of Answered
            The operations and answers of every lane, in their order.

        Returns
        -------
        rows : ScoredRows
            One or more lines of answers per lane, in the order of the lanes.
        """


class ScoringOfArrivals(Scoring, Protocol):
    """A scoring of rows that arrive with their labels."""

    def arrive(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Take the labels and weights of the next rows, which this or a later step settles."""


class AskedOnce:
    """Every row is asked once, before it is learnt: prequential evaluation, and its folds.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    """

    def __init__(self, classes: np.ndarray | None) -> None:
        self._dtype = Recorder(classes).dtype
        self._nothing: Any = np.nan if classes is None else -1
        self._y = np.empty(0, dtype=self._dtype)
        self._weight: np.ndarray | None = None  # None as long as all weights are 1
        self._n_settled = 0

    def arrive(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Take the labels and weights of the next rows, which a later step finishes."""
        n_before = len(self._y)
        self._y = np.concatenate([self._y, y.astype(self._dtype)])
        if weight is not None and self._weight is None:
            self._weight = np.ones(n_before)
        if self._weight is not None:
            more = np.ones(len(y)) if weight is None else weight
            self._weight = np.concatenate([self._weight, more])

    def settle(self, answered: Sequence[Answered]) -> ScoredRows:
        """Return the rows that are finished in every lane."""
        first = self._n_settled
        self._n_settled = min(one.operations.settled for one in answered)
        n = self._n_settled - first
        answers = np.full((len(answered), n), self._nothing, self._dtype)
        in_order: dict[int, bool] = {}  # lanes of one timeline share their operations
        for line, one in zip(answers, answered, strict=True):
            asked = one.operations.ask_rows
            if id(asked) not in in_order:
                in_order[id(asked)] = len(asked) == n and np.array_equal(
                    asked, np.arange(first, first + n)
                )
            line[slice(None) if in_order[id(asked)] else asked - first] = one.answers
        weight = None if self._weight is None else self._weight[:n]
        rows = ScoredRows(self._y[:n], answers, weight)
        self._y = self._y[n:]
        self._weight = None if self._weight is None else self._weight[n:]
        return rows


class RunScores:
    """What a run keeps of its scored rows: the measures, and the tape if it is wanted.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    n_lanes : int
        Models times folds.
    width : int, default=1
        Lines of answers per lane. Of several, the last holds the answers given when the label came,
        whose persistent baseline is the label of the row before.
    """

    def __init__(self, settings: Settings, n_lanes: int, width: int = 1) -> None:
        self._width = width
        self._measures = measures_of(
            settings.metrics,
            settings.forgetting,
            settings.classes,
            n_lanes,
            width,
            in_sets=bool(settings.scored_sets),
            record_every=settings.record_every,
            bounded=settings.keep_tape,
            expected_rows=settings.expected_rows,
        )
        self._metrics = settings.metrics
        self._has_weights = False
        self._keep_tape = settings.keep_tape
        self._unmeasured: list[ScoredRows] = []
        self._n_measured = 0
        self._n_kept = 0
        self._y = Recorder(settings.classes)
        self._answers = [Recorder(settings.classes) for _ in range(n_lanes)]
        self._weights: list[np.ndarray] | None = None
        self._baselines = {name: Recorder(settings.classes) for name in BASELINES}
        self._sets: list[Sets] = []

    @property
    def n_rows(self) -> int:
        """Number of rows kept."""
        return self._n_kept

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows; `measure` lets the measures read them."""
        if rows.weight is not None and not self._has_weights:
            self._has_weights = True
            check_take_weights(self._metrics)
        self._unmeasured.append(rows)
        if self._keep_tape:
            self._y.append(rows.y)
            for lane, recorder in enumerate(self._answers):
                lines = rows.answers[lane * self._width : (lane + 1) * self._width]
                recorder.append(lines[0] if self._width == 1 else lines.T)
            for name, recorder in self._baselines.items():
                answers = getattr(rows, name)
                if answers is not None:
                    recorder.append(answers)
            if rows.sets is not None:
                ends, checkpoints = rows.sets
                self._sets.append(Sets(ends + self._n_kept, checkpoints))
            if rows.weight is not None and self._weights is None:
                self._weights = [np.ones(self._n_kept)]
            if self._weights is not None:
                self._weights.append(np.ones(len(rows)) if rows.weight is None else rows.weight)
        self._n_kept += len(rows)

    def measure(self) -> None:
        """Let the measures read the rows kept. If a function of the user fails, call it again."""
        while self._unmeasured:
            rows = self._unmeasured[0]
            n_read = self._measures.n_rows - self._n_measured  # before a function failed
            self._measures.read(rows[n_read:] if n_read else rows)
            self._n_measured += len(rows)
            del self._unmeasured[0]

    def finish(self) -> None:
        """Measure the rows that the measures have buffered; no rows may follow."""
        self.measure()
        self._measures.finish()

    def measured_by(self, settings: Settings) -> "RunScores | None":
        """Return the rows on the tape, scored by other measures; None without a tape."""
        held = self.labels()
        if held is None:
            return None
        lanes = [self.answers(lane) for lane in range(len(self._answers))]
        table = np.concatenate([np.atleast_2d(p.T) for p in lanes if p is not None])
        scores = RunScores(settings, len(lanes), self._width)
        sets = held.pop("sets", None)
        scores.keep(ScoredRows(answers=table, **held, sets=None if sets is None else Sets(*sets)))
        scores.measure()
        return scores

    def curves(self) -> list[Curves]:
        """Return the curves of every lane, with a last axis of its lines where it has several."""
        return curves_of_lanes(self._measures.curves(), len(self._answers), self._width)

    def answers(self, lane: int) -> np.ndarray | None:
        """Return the answers of one lane on the tape; None without a tape."""
        if not self._keep_tape:
            return None
        answers = self._answers[lane].array()
        return answers if self._width == 1 else answers.reshape(-1, self._width)

    def labels(self) -> dict[str, Any] | None:
        """Return what the tape holds of the rows themselves; None without a tape."""
        if not self._keep_tape:
            return None
        weights, baselines = self._weights, self._baselines
        held: dict[str, Any] = {
            name: recorder.array() for name, recorder in baselines.items() if recorder
        }
        if self._sets:
            held["sets"] = tuple(map(np.concatenate, zip(*self._sets, strict=True)))
        weight = None if weights is None else np.concatenate(weights)
        return {"y": self._y.array(), "weight": weight, **held}
