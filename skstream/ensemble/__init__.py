"""Classifiers made of several copies of another one."""

from skstream.ensemble._bagging import OnlineBagging
from skstream.ensemble._weighted_majority import DynamicWeightedMajority

__all__ = ["DynamicWeightedMajority", "OnlineBagging"]
