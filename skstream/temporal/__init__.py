"""Meta-classifiers that use the labels learnt just before."""

from skstream.temporal._augmentation import TemporallyAugmented
from skstream.temporal._correction import TemporalCorrection

__all__ = ["TemporalCorrection", "TemporallyAugmented"]
