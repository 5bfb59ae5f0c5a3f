"""Displays of results; matplotlib is imported when one is drawn."""

from skstream.plotting._binned import BinnedPerformanceDisplay
from skstream.plotting._comparison import ComparisonDisplay
from skstream.plotting._critical_difference import CriticalDifferenceDisplay
from skstream.plotting._estimates import EstimateDisplay
from skstream.plotting._leaderboard import LeaderboardDisplay
from skstream.plotting._loss_dependence import LossDependenceDisplay
from skstream.plotting._operating_characteristic import OperatingCharacteristicDisplay
from skstream.plotting._prequential import FoldDisplay, PrequentialDisplay, SeedDisplay
from skstream.plotting._ranking import RankingDisplay
from skstream.plotting._reliability import ReliabilityDisplay
from skstream.plotting._search import SearchDisplay
from skstream.plotting._slices import SliceDisplay
from skstream.plotting._testbed import TestbedDisplay
from skstream.plotting._threshold import ThresholdDisplay

__all__ = [
    "BinnedPerformanceDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "EstimateDisplay",
    "FoldDisplay",
    "LeaderboardDisplay",
    "LossDependenceDisplay",
    "OperatingCharacteristicDisplay",
    "PrequentialDisplay",
    "RankingDisplay",
    "ReliabilityDisplay",
    "SearchDisplay",
    "SeedDisplay",
    "SliceDisplay",
    "TestbedDisplay",
    "ThresholdDisplay",
]
