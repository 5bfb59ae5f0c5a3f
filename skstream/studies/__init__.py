"""Studies: models over many seeds and streams, recovery after drifts, detectors, forgetting."""

from skstream.studies._detector_study import Calibration, DetectorStudy, calibrate, detector_study
from skstream.studies._leaderboard import Leaderboard
from skstream.studies._loss_dependence import LossDependence, loss_dependence
from skstream.studies._over_seeds import StreamStudy, evaluate_over_seeds, evaluate_over_streams
from skstream.studies._recovery import RecoveryResult, recovery_after_drift
from skstream.studies._seed_study import SeedStudy
from skstream.studies._select_forgetting import ForgettingSelection, select_forgetting

__all__ = [
    "Calibration",
    "DetectorStudy",
    "ForgettingSelection",
    "Leaderboard",
    "LossDependence",
    "RecoveryResult",
    "SeedStudy",
    "StreamStudy",
    "calibrate",
    "detector_study",
    "evaluate_over_seeds",
    "evaluate_over_streams",
    "loss_dependence",
    "recovery_after_drift",
    "select_forgetting",
]
