"""Displays of results; matplotlib is imported when one is drawn."""

from skstream.plotting._binned import BinnedPerformanceDisplay
from skstream.plotting._comparison import ComparisonDisplay
from skstream.plotting._critical_difference import CriticalDifferenceDisplay
from skstream.plotting._estimates import EstimateDisplay
from skstream.plotting._prequential import FoldDisplay, PrequentialDisplay
from skstream.plotting._reliability import ReliabilityDisplay
from skstream.plotting._slices import SliceDisplay
from skstream.plotting._testbed import TestbedDisplay

__all__ = [
    "BinnedPerformanceDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "EstimateDisplay",
    "FoldDisplay",
    "PrequentialDisplay",
    "ReliabilityDisplay",
    "SliceDisplay",
    "TestbedDisplay",
]
