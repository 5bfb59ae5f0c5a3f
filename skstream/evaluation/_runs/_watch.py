"""Monitors at work, with a detector for each lane, and what they have found."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skstream.drift import DRIFT, NORMAL, WARNING, Detections, DriftDetector
from skstream.engine.tape import Recorder
from skstream.evaluation._runs._monitor import Watched
from skstream.evaluation._runs._run_outcome import Place
from skstream.metrics._rows import ScoredRows, Waiting
from skstream.metrics._running import block_length
from skstream.metrics._scores import Scores, make_sums
from skstream.utils._label_space import LabelSpace, is_given

#: By model: what a monitor found, a list with one for each of several folds.
FoundByModel = dict[str, Detections | list[Detections]]
FoundByMonitor = dict[str, FoundByModel]
#: Rows in a block, unless a window is long: those that wait are read anew whenever one asks.
_BLOCK = 8192


class Watch:
    """The monitors of a run.

    Parameters
    ----------
    monitors : sequence of Watched
        The monitors, resolved.
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    places : sequence of (str, int)
        Names and folds of the lanes.
    seed : int
        Seed of the evaluation.
    width : int
        Lines of answers per lane.
    score_methods : dict of str to str or None, default=None
        Method by which each model is asked for scores, where measures need them.

    Attributes
    ----------
    n_rows : int
        Number of rows read.
    """

    def __init__(
        self,
        monitors: Sequence[Watched],
        classes: np.ndarray | None,
        places: Sequence[Place],
        seed: int,
        width: int = 1,
        score_methods: Mapping[str, str | None] | None = None,
    ) -> None:
        self._places = list(places)
        self.n_rows = 0
        self._monitors = [
            _Monitor(one, classes, places, seed, width, score_methods or {}) for one in monitors
        ]

    def read(self, rows: ScoredRows) -> None:
        """Read the next rows, in order. If a detector fails, call it again with the same rows."""
        for monitor in self._monitors:
            monitor.read(rows, self.n_rows)
        self.n_rows += len(rows)

    def detections(self) -> list[dict[str, Detections]]:
        """Return what was found in each lane up to the last row, by the name of the monitor."""
        found: list[dict[str, Detections]] = [{} for _ in self._places]
        for monitor in self._monitors:
            lanes = monitor.lanes_now()
            for (model, fold), lane, by_name in zip(self._places, lanes, found, strict=True):
                by_name[monitor.name] = Detections(
                    monitor=monitor.name,
                    model=model,
                    fold=fold,
                    bin=monitor.bin,
                    alarms=lane.alarms.array().copy(),
                    warnings=lane.warnings.array().copy(),
                )
        return found


class _Lane:
    """A detector, and the rows at which it warned and raised alarms."""

    def __init__(self, detector: DriftDetector, owner: str) -> None:
        self.detector = detector
        self._owner = owner  # for messages
        self.alarms, self.warnings = Recorder(np.dtype(np.int64)), Recorder(np.dtype(np.int64))
        self._level = NORMAL
        self._last_row = -1

    def read(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Read the values of some rows, given by their numbers."""
        if len(rows) and rows[0] <= self._last_row:  # another detector failed, and they come again
            values, rows = values[rows > self._last_row], rows[rows > self._last_row]
        if not len(rows):
            return
        try:
            levels = self.detector.update_levels(values)
        except Exception as error:
            error.add_note(f"{self._owner} failed between rows {rows[0]:,} and {rows[-1]:,}.")
            raise
        warned = levels == WARNING
        began = warned & (np.concatenate(([self._level], levels[:-1])) != WARNING)
        self._level, self._last_row = int(levels[-1]), int(rows[-1])
        for recorder, found in ((self.alarms, levels == DRIFT), (self.warnings, began)):
            if found.any():
                recorder.append(rows[found])


class _Monitor:
    """One monitor of all lanes.

    A measure is read in blocks of rows that depend on their numbers alone, so that its sums, and
    with them the alarms, are the same to the last bit for any division of the stream.
    """

    def __init__(
        self,
        spec: Watched,
        classes: np.ndarray | None,
        places: Sequence[Place],
        seed: int,
        width: int,
        score_methods: Mapping[str, str | None],
    ) -> None:
        self.name = spec.name
        self._spec = spec
        self.bin = None if width == 1 else spec.bin
        self._width = width
        self._n_read = 0  # rows that the detectors have read
        kind = type(spec.detector).__name__
        self._lanes = [
            _Lane(
                spec.detector_of(seed, name, fold),
                f"{kind} of monitor {spec.name!r}, which watches model '{name}' (fold {fold}),",
            )
            for name, fold in places
        ]
        self._scores: Scores | None = None
        if spec.measure is not None and spec.forgetting is not None:
            # The persistent baseline of the last line knows later labels than that of the others.
            uses_previous = np.full(len(places), width == 1 or spec.bin < width - 1)
            mechanisms = {"": partial(make_sums, spec.forgetting)}
            methods = [score_methods.get(name) for name, _ in places] if score_methods else None
            self._scores = Scores({"": spec.measure}, mechanisms, classes, uses_previous, methods)
            self._block = block_length([spec.forgetting], _BLOCK)
            self._waiting = Waiting(self._block, LabelSpace(classes).dtype, len(places))

    def read(self, rows: ScoredRows, first: int) -> None:
        """Read rows from number `first` on; those that were read before a failure are left out."""
        n_taken = self._n_read + (0 if self._scores is None else self._waiting.n)
        rows = rows[n_taken - first :].models(slice(self._spec.bin, None, self._width))
        if self._scores is None:
            self._read_losses(rows)
            return
        if self._spec.loss_bound is not None:
            rows = self._bounded(rows)
        start, n = 0, len(rows)
        while start < n or self._waiting.n == self._block:
            if self._waiting.n == self._block:
                self._read_values(self._waiting.rows())
                self._waiting.clear()
            stop = min(n, start + self._block - self._waiting.n)
            self._waiting.append(rows[start:stop])
            start = stop

    def lanes_now(self) -> list[_Lane]:
        """Return all lanes after the last row, also where rows of a block are waiting."""
        if self._scores is None or not self._waiting.n:
            return self._lanes
        ahead = copy(self)
        ahead._lanes = deepcopy(self._lanes)
        ahead._read_values(self._waiting.rows())
        return ahead._lanes

    def _read_losses(self, rows: ScoredRows) -> None:
        scored = scored_rows(rows)
        numbers = np.arange(self._n_read, self._n_read + len(rows))
        for lane, answers, mask in zip(self._lanes, rows.answers, scored, strict=True):
            y, answers = rows.y[mask], answers[mask]
            if self._spec.loss_bound is None:
                losses = (y != answers).astype(np.float64)
            else:
                losses = bounded_losses(y, answers, self._spec.loss_bound)
            lane.read(losses, numbers[mask])
        self._n_read += len(rows)

    def _read_values(self, rows: ScoredRows) -> None:
        """Read values of the measure after each row; if a formula fails, nothing was read."""
        n = len(rows)
        if not n:
            return
        assert self._scores is not None
        scores = self._scores.copy()
        ends = np.arange(1, n + 1)
        values = scores.advance(rows, ends, self._n_read + ends)[""][""]
        scored = scored_rows(rows)
        numbers = np.arange(self._n_read, self._n_read + n)
        for lane, of_lane, mask in zip(self._lanes, values, scored, strict=True):
            losses = self._spec.loss_of(np.asarray(of_lane, dtype=np.float64))
            mask = mask & np.isfinite(losses)
            lane.read(losses[mask], numbers[mask])
        self._scores = scores
        self._n_read += n

    def _bounded(self, rows: ScoredRows) -> ScoredRows:
        """Return rows whose absolute errors are the bounded losses."""
        assert self._spec.loss_bound is not None
        targets = np.where(is_given(rows.y), 0.0, np.nan)
        losses = bounded_losses(rows.y, rows.answers, self._spec.loss_bound)
        return ScoredRows(targets, losses, rows.weight)


class _Series:
    """What a detector would read, and the numbers of the rows."""

    def __init__(self) -> None:
        self.values, self.rows = Recorder(np.dtype(np.float64)), Recorder(np.dtype(np.int64))

    def read(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Keep the values of some rows, given by their numbers."""
        self.values.append(values)
        self.rows.append(rows)


def values_read(
    spec: Watched,
    classes: np.ndarray | None,
    place: Place,
    width: int,
    score_methods: Mapping[str, str | None],
    pieces: Iterable[ScoredRows],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows that a monitor reads of one lane, and the values."""
    monitor = _Monitor(spec, classes, [place], 0, width, score_methods)
    series: Any = _Series()  # in the place of a detector
    monitor._lanes = [series]
    first = 0
    for rows in pieces:
        monitor.read(rows, first)
        first += len(rows)
    found: Any = monitor.lanes_now()[0]
    return found.rows.array().copy(), found.values.array().copy()


def scored_rows(rows: ScoredRows) -> np.ndarray:
    """Return for every lane which rows are scored: they have a label, an answer and a weight."""
    known = is_given(rows.y)
    if rows.weight is not None:
        known = known & (rows.weight > 0.0)
    scored: np.ndarray = known & is_given(rows.answers)
    return scored


def bounded_losses(y: np.ndarray, answers: np.ndarray, bound: float) -> np.ndarray:
    """Return absolute errors as losses from 0 to 1."""
    losses: np.ndarray = np.minimum(np.abs(answers - y) / bound, 1.0)
    return losses


def by_monitor(lanes: Iterable[Mapping[str, Detections]]) -> FoundByMonitor:
    """Return by monitor and model what was found in each lane."""
    folds: dict[str, dict[str, list[Detections]]] = {}
    for lane in lanes:
        for one in lane.values():
            folds.setdefault(one.monitor, {}).setdefault(one.model, []).append(one)
    return {
        monitor: {model: _one_or_all(_counted(listed)) for model, listed in by_model.items()}
        for monitor, by_model in folds.items()
    }


def _counted(folds: list[Detections]) -> list[Detections]:
    """Tell the detections of several folds how many there are, so that each names its own."""
    n = len(folds)
    return folds if n == 1 else [replace(one, n_folds=max(n, one.n_folds)) for one in folds]


def narrowed(
    found: Mapping[str, FoundByModel],
    models: Sequence[str],
    folds: Sequence[int] | None,
    bins: Sequence[int] | None,
) -> FoundByMonitor:
    """Return what was found in some models, at some positions among their folds and in some bins.

    None: all. A monitor watches one bin: it goes where its bin is left out.
    """

    def some(one: Detections | list[Detections]) -> Detections | list[Detections]:
        if folds is None or isinstance(one, Detections):
            return one
        return _one_or_all([one[place] for place in folds])

    return {
        monitor: {model: some(by_model[model]) for model in models}
        for monitor, by_model in found.items()
        if bins is None or {one.bin for one in each({monitor: by_model})} <= {*bins, None}
    }


def each(found: Mapping[str, FoundByModel]) -> list[Detections]:
    """Return all detections in their order."""
    return [
        one
        for by_model in found.values()
        for of_model in by_model.values()
        for one in ([of_model] if isinstance(of_model, Detections) else of_model)
    ]


def _one_or_all(folds: list[Detections]) -> Detections | list[Detections]:
    return folds[0] if len(folds) == 1 else folds
