"""Decision trees that grow along a stream."""

from skstream.tree._hoeffding import HoeffdingTreeClassifier

__all__ = ["HoeffdingTreeClassifier"]
