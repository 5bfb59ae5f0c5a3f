"""A monitor that reads the tape of a result."""

from typing import TYPE_CHECKING, Any

from skstream.engine.tape import Tape
from skstream.evaluation._runs._monitor import Watched, resolved
from skstream.evaluation._runs._watch import FoundByModel, Watch, by_monitor
from skstream.evaluation._tape_rows import (
    check_has_scores,
    lanes_of,
    rows_of,
    tape_of,
    width_of,
)

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult


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
