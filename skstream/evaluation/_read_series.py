"""What a monitor reads of one model, value by value."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.drift import DriftDetector
from skstream.evaluation._detections import seed_of, tape_and_monitor
from skstream.evaluation._rescore import lanes_of, rows_of, width_of
from skstream.evaluation._result import EvaluationResult
from skstream.evaluation._select import number
from skstream.evaluation._watch import values_read


@dataclass(frozen=True, kw_only=True)
class ReadSeries:
    """What a monitor reads of one model and fold.

    Attributes
    ----------
    rows : ndarray of shape (n_values,), dtype int64
        Numbers of the rows, from 0 on.
    values : ndarray of shape (n_values,)
        What is read after each.
    detector : DriftDetector
        The detector that reads them, which has read nothing.
    """

    rows: np.ndarray
    values: np.ndarray
    detector: DriftDetector


def series_of(result: EvaluationResult, monitor: Any, model: str, fold: int) -> ReadSeries:
    """Return what a monitor reads of one model and fold, and its detector."""
    tape, one = tape_and_monitor(result, monitor)
    position = result.folds.index(number(fold, result.folds, "fold"))
    lane = (model, position)
    lanes = {lane: lanes_of(tape)[lane]}
    place = (model, result.folds[position])
    rows, values = values_read(
        one, tape.classes, place, width_of(lanes[lane]), tape.methods, rows_of(tape, lanes)
    )
    return ReadSeries(rows=rows, values=values, detector=one.detector_of(seed_of(result), *place))
