"""Model selection on streams: splitters that train on the past, and the choice of forgetting."""

from skstream.model_selection._prequential_split import PrequentialSplit
from skstream.model_selection._select_forgetting import ForgettingSelection, select_forgetting
from skstream.model_selection._windows import ExpandingWindowSplit, SlidingWindowSplit

__all__ = [
    "ExpandingWindowSplit",
    "ForgettingSelection",
    "PrequentialSplit",
    "SlidingWindowSplit",
    "select_forgetting",
]
