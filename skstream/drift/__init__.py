"""Drift detectors, which say when the distribution of a series of numbers has changed."""

from skstream.drift._adwin import ADWIN
from skstream.drift._base import DriftDetector

__all__ = ["ADWIN", "DriftDetector"]
