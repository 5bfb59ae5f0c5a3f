"""Drift detectors, which say when the distribution of a series of numbers has changed."""

from skstream.core.adwin import ADWIN
from skstream.core.detector import DriftDetector
from skstream.drift._detectors import DDM, ErrorRatio, PageHinkley, RandomAlarm
from skstream.drift._score import score_detections

__all__ = [
    "ADWIN",
    "DDM",
    "DriftDetector",
    "ErrorRatio",
    "PageHinkley",
    "RandomAlarm",
    "score_detections",
]
