"""Model selection on streams: splitters that train on the past and test on what follows."""

from skstream.model_selection._prequential_split import PrequentialSplit
from skstream.model_selection._windows import ExpandingWindowSplit, SlidingWindowSplit

__all__ = ["ExpandingWindowSplit", "PrequentialSplit", "SlidingWindowSplit"]
