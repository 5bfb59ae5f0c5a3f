"""Model selection on streams: splitters that train on the past, and searches."""

from skstream.base import StaleLabelWarning
from skstream.model_selection._scorer import FutureLeakWarning, check_time_order, prequential_scorer
from skstream.model_selection._search import OptimisticScoreWarning, PrequentialSearch
from skstream.model_selection._splitters import (
    ExpandingWindowSplit,
    PrequentialSplit,
    SlidingWindowSplit,
)

__all__ = [
    "ExpandingWindowSplit",
    "FutureLeakWarning",
    "OptimisticScoreWarning",
    "PrequentialSearch",
    "PrequentialSplit",
    "SlidingWindowSplit",
    "StaleLabelWarning",
    "check_time_order",
    "prequential_scorer",
]
