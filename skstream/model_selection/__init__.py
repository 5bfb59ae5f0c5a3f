"""Model selection on streams: splitters that train on the past, and searches."""

from skstream.model_selection._scorer import prequential_scorer
from skstream.model_selection._search import OptimisticScoreWarning, PrequentialSearch
from skstream.model_selection._splitters import (
    ExpandingWindowSplit,
    PrequentialSplit,
    SlidingWindowSplit,
)
from skstream.model_selection._time_order import FutureLeakWarning, check_time_order

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
