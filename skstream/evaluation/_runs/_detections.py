"""Detections of results: of a run as they are, and from a tape."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skstream.drift import Detections
from skstream.engine.tape import Tape
from skstream.evaluation._runs._monitor import Watched, resolved
from skstream.evaluation._runs._watch import Watch
from skstream.evaluation._tape_rows import (
    check_has_scores,
    lanes_of,
    rows_of,
    tape_of,
    width_of,
)

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult

#: By model: what a monitor found, a list with one for each of several folds.
FoundByModel = dict[str, Detections | list[Detections]]
FoundByMonitor = dict[str, FoundByModel]


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


def detected(result: "EvaluationResult", monitor: Any) -> FoundByModel:
    """Let a monitor read the tape of a result; see `EvaluationResult.detect`."""
    tape, one = tape_and_monitor(result, monitor)
    lanes = lanes_of(tape)
    places = [(model, result.folds[position]) for model, position in lanes]
    width = width_of(next(iter(lanes.values())))
    watch = Watch([one], tape.classes, places, seed_of(result), width, tape.methods)
    for rows in rows_of(tape, lanes):
        watch.read(rows)
    return by_monitor(watch.detections())[one.name]


def tape_and_monitor(result: "EvaluationResult", monitor: Any) -> tuple[Tape, Watched]:
    """Return the tape, and the monitor as it reads it."""
    if result.details.scored_sets:
        raise ValueError(
            "A monitor watches the losses of rows that are asked one after another, and "
            f"{result.details.scored_sets} are asked in sets. Evaluate with PrequentialEvaluator."
        )
    tape = tape_of(result)
    n_bins, last = result.n_bins, None if result.bins is None else result.bins[-1]
    name = type(getattr(monitor, "detector", monitor)).__name__
    one = resolved(name, monitor, result.classes, n_bins, last)
    if one.measure is not None:
        check_has_scores({one.measure.name: one.measure}, tape)
    return tape, one


def seed_of(result: "EvaluationResult") -> int:
    """Return the seed of an evaluation."""
    seed = result.parameters.get("seed")
    return 0 if seed is None else seed


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
