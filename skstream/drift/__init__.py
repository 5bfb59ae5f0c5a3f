"""Drift detectors, which say when the distribution of a series of numbers has changed."""

from skstream.drift._adwin import ADWIN
from skstream.drift._base import DRIFT, NORMAL, WARNING, DriftDetector
from skstream.drift._ddm import DDM
from skstream.drift._detections import Detections
from skstream.drift._error_ratio import ErrorRatio
from skstream.drift._page_hinkley import PageHinkley
from skstream.drift._random_alarm import RandomAlarm
from skstream.drift._score import DetectionResult, DetectionScores, score_detections

__all__ = [
    "ADWIN",
    "DDM",
    "DRIFT",
    "NORMAL",
    "WARNING",
    "DetectionResult",
    "DetectionScores",
    "Detections",
    "DriftDetector",
    "ErrorRatio",
    "PageHinkley",
    "RandomAlarm",
    "score_detections",
]
