"""Decision trees and forests that grow along a stream."""

from skstream.tree._forest import AdaptiveRandomForestClassifier
from skstream.tree._hoeffding import HoeffdingTreeClassifier

__all__ = ["AdaptiveRandomForestClassifier", "HoeffdingTreeClassifier"]
