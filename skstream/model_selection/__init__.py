"""Model selection on streams: splitters that train on the past, searches, choice of forgetting."""

from skstream.model_selection._prequential_split import PrequentialSplit
from skstream.model_selection._search import OptimisticScoreWarning, PrequentialSearch
from skstream.model_selection._select_forgetting import ForgettingSelection, select_forgetting
from skstream.model_selection._windows import ExpandingWindowSplit, SlidingWindowSplit

__all__ = [
    "ExpandingWindowSplit",
    "ForgettingSelection",
    "OptimisticScoreWarning",
    "PrequentialSearch",
    "PrequentialSplit",
    "SlidingWindowSplit",
    "select_forgetting",
]
