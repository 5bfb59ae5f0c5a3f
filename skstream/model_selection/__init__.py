"""Model selection on streams: splitters that train on the past and test on what follows."""

from skstream.model_selection._prequential_split import PrequentialSplit

__all__ = ["PrequentialSplit"]
