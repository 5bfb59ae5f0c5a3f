"""Studies: models over many seeds and streams, recovery after drifts, detectors, forgetting."""

from skstream.studies._detector_study import calibrate, detector_study
from skstream.studies._over_seeds import evaluate_over_seeds, evaluate_over_streams
from skstream.studies._recovery import recovery_after_drift
from skstream.studies._select_forgetting import select_forgetting

__all__ = [
    "calibrate",
    "detector_study",
    "evaluate_over_seeds",
    "evaluate_over_streams",
    "recovery_after_drift",
    "select_forgetting",
]
