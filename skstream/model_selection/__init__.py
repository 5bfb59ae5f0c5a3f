"""Model selection on streams: splitters that train on the past, and searches."""

from skstream.model_selection._prequential_split import PrequentialSplit
from skstream.model_selection._scorer import prequential_scorer
from skstream.model_selection._search import OptimisticScoreWarning, PrequentialSearch
from skstream.model_selection._time_order import FutureLeakWarning, check_time_order
from skstream.model_selection._windows import ExpandingWindowSplit, SlidingWindowSplit

__all__ = [
    "ExpandingWindowSplit",
    "FutureLeakWarning",
    "OptimisticScoreWarning",
    "PrequentialSearch",
    "PrequentialSplit",
    "SlidingWindowSplit",
    "check_time_order",
    "prequential_scorer",
]
