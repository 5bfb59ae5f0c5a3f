"""Drift detectors, which say when the distribution of a series of numbers has changed."""

from skstream.core.adwin import ADWIN
from skstream.core.detector import DriftDetector
from skstream.drift._ddm import DDM
from skstream.drift._error_ratio import ErrorRatio
from skstream.drift._page_hinkley import PageHinkley
from skstream.drift._random_alarm import RandomAlarm
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
