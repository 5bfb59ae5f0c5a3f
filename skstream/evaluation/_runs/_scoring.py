"""Scoring: which of the answers count, and what is kept of them for a result."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from skstream.drift import Detections
from skstream.engine.run import Answered
from skstream.evaluation._runs._tape_writer import KeptTape
from skstream.evaluation._runs._watch import Watch
from skstream.evaluation._settings import Settings
from skstream.evaluation._tape_rows import curves_of_lanes, measures_of
from skstream.metrics._checkpoints import Curves
from skstream.metrics._rows import ScoredRows
from skstream.metrics._running import RunningMeasures
from skstream.metrics._user import check_take_weights
from skstream.utils._label_space import LabelSpace
from skstream.utils._npy import StoredArray


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

    def arrive(
        self, y: np.ndarray, weight: np.ndarray | None, time: np.ndarray | None = None
    ) -> None:
        """Take labels, weights and times of the next rows, which this or a later step settles."""


class AskedOnce:
    """Every row is asked once, before it is learnt: prequential evaluation, and its folds.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    n_scores : int, default=0
        Columns of scores that measures need beside the answers.
    """

    def __init__(self, classes: np.ndarray | None, n_scores: int = 0) -> None:
        space = LabelSpace(classes)
        self._dtype, self._nothing = space.dtype, space.nothing
        self._n_scores = n_scores
        self._y = np.empty(0, dtype=self._dtype)
        self._weight: np.ndarray | None = None  # None as long as all weights are 1
        self._time: np.ndarray | None = None  # None where nothing counts time
        self._n_settled = 0

    def arrive(
        self, y: np.ndarray, weight: np.ndarray | None, time: np.ndarray | None = None
    ) -> None:
        """Take labels, weights and times of the next rows, which a later step finishes."""
        n_before = len(self._y)
        if time is not None:
            self._time = time if self._time is None else np.concatenate([self._time, time])
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
        scores = None
        if self._n_scores:
            scores = np.full((len(answered), n, self._n_scores), np.nan)
        in_order: dict[int, bool] = {}  # lanes of one timeline share their operations
        for lane, (line, one) in enumerate(zip(answers, answered, strict=True)):
            asked = one.operations.ask_rows
            if id(asked) not in in_order:
                in_order[id(asked)] = len(asked) == n and np.array_equal(
                    asked, np.arange(first, first + n)
                )
            at = slice(None) if in_order[id(asked)] else asked - first
            line[at] = one.answers
            if scores is not None and one.scores is not None:
                scores[lane, at] = one.scores
        weight = None if self._weight is None else self._weight[:n]
        time = None if self._time is None else self._time[:n]
        rows = ScoredRows(self._y[:n], answers, weight, scores=scores, time=time)
        self._y = self._y[n:]
        self._time = None if self._time is None else self._time[n:]
        self._weight = None if self._weight is None else self._weight[n:]
        return rows


class RunScores:
    """What a run keeps of its scored rows: the measures, and the tape if it is wanted.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : sequence of str
        Name of the model of every lane.
    width : int, default=1
        Lines of answers per lane. Of several, the last holds the answers given when the label came,
        whose persistent baseline is the label of the row before.
    tape : KeptTape, default=None
        What is kept of them, where it is there already.
    watch : Watch, default=None
        Monitors that read them, too.
    """

    def __init__(
        self,
        settings: Settings,
        models: Sequence[str],
        width: int = 1,
        tape: KeptTape | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._width = width
        self._models = list(models)
        n_lanes = len(self._models)
        self._measures = measures_of(
            settings.metrics,
            settings.forgetting,
            settings.classes,
            n_lanes,
            width,
            in_sets=bool(settings.scored_sets),
            record_every=settings.record_every,
            bounded=bool(settings.keep_tape),
            expected_rows=settings.expected_rows,
            methods=[settings.scores[name] for name in models] if settings.scores else None,
            **({"timed": True} if settings.counts_time else {}),
        )
        self._metrics = settings.metrics
        self._has_weights = False
        self._unmeasured: list[ScoredRows] = []
        self._n_measured = 0
        self._n_kept = 0
        on_disk = settings.keep_tape == "disk"
        if tape is None and settings.keep_tape:
            n_scores = [settings.task_of(name).n_scores for name in self._models]
            tape = KeptTape(
                settings.classes,
                n_lanes,
                width,
                on_disk=on_disk,
                n_scores=n_scores,
            )
        self._tape = tape
        self._watch = watch
        self._unwatched: list[ScoredRows] = []

    @property
    def n_rows(self) -> int:
        """Number of rows kept."""
        return self._n_kept

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows; `measure` lets the measures read them."""
        self._take(rows)
        if self._watch is not None:
            self._unwatched.append(rows)
        if self._tape is not None:
            self._tape.keep(rows)

    def _take(self, rows: ScoredRows) -> None:
        if rows.weight is not None and not self._has_weights:
            self._has_weights = True
            check_take_weights(self._metrics)
        self._unmeasured.append(rows)
        self._n_kept += len(rows)

    def measure(self) -> None:
        """Let monitors and measures read the rows kept; if a user's function fails, call again."""
        while self._watch is not None and self._unwatched:
            self._watch.read(self._unwatched[0])
            del self._unwatched[0]
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

    def keep_tape_in(self, folder: Path | None) -> None:
        """Name the folder of a tape that is kept on disk; see `KeptTape.keep_in`."""
        if self._tape is not None:
            self._tape.keep_in(folder)

    @property
    def tape_is_due(self) -> bool:
        """Whether much of the tape waits to be written to disk."""
        return self._tape is not None and self._tape.is_due

    def write_tape(self, *, all_of_it: bool, sync: bool = False) -> None:
        """Write to disk what waits for it; see `KeptTape.write`."""
        if self._tape is not None:
            self._tape.write(all_of_it=all_of_it, sync=sync)

    def measured_by(self, settings: Settings) -> "RunScores | None":
        """Return the rows on the tape, scored by other measures; None without a tape."""
        tape = self._whole_tape
        if tape is None:
            return None
        scores = RunScores(settings, self._models, self._width, tape)
        for rows in tape.pieces():
            scores._take(rows)
            scores.measure()
        scores._watch, scores._unwatched = self._watch, self._unwatched
        return scores

    def final(self) -> dict[str, dict[str, Any]]:
        """Return the last values, by mechanism and measure: one for each line of answers."""
        assert isinstance(self._measures, RunningMeasures)
        return self._measures.final()

    def curves(self) -> list[Curves]:
        """Return the curves of every lane, with a last axis of its lines where it has several."""
        return curves_of_lanes(self._measures.curves(), len(self._models), self._width)

    def curves_of(self, lanes: Sequence[int]) -> list[Curves]:
        """Return the curves of some lanes, ascending, with the least work."""
        measures = self._measures_of(lanes)
        return curves_of_lanes(measures.curves(), len(lanes), self._width)

    def keep_lanes(self, lanes: Sequence[int]) -> None:
        """Go on with some of the lanes, ascending, as if there had never been others."""
        assert self._watch is None  # searches have no monitors
        self._measures = self._measures_of(lanes)
        self._models = [self._models[lane] for lane in lanes]
        if self._tape is not None:
            self._tape.keep_lanes(lanes)

    def _measures_of(self, lanes: Sequence[int]) -> RunningMeasures:
        assert isinstance(self._measures, RunningMeasures)  # nothing ends early in sets
        assert not self._unmeasured
        lines = [lane * self._width + k for lane in lanes for k in range(self._width)]
        return self._measures.of_models(lines)

    def detections(self) -> list[dict[str, Detections]]:
        """Return what the monitors found in each lane, by their names."""
        if self._watch is None:
            return [{} for _ in self._models]
        return self._watch.detections()

    @property
    def _whole_tape(self) -> KeptTape | None:
        """The tape; None without one, or if it could not be written."""
        return self._tape if self._tape is not None and self._tape.is_whole else None

    def answers(self, lane: int) -> np.ndarray | StoredArray | None:
        """Return the answers of one lane on the tape; None without a tape."""
        tape = self._whole_tape
        return None if tape is None else tape.answers(lane)

    def scores(self, lane: int) -> np.ndarray | StoredArray | None:
        """Return the scores of one lane on the tape; None without them."""
        tape = self._whole_tape
        return None if tape is None else tape.scores(lane)

    def labels(self) -> dict[str, Any] | None:
        """Return what the tape holds of the rows themselves; None without a tape."""
        tape = self._whole_tape
        return None if tape is None else tape.labels()
