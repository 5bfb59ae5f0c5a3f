"""Tests and statistics that compare models: over folds, over rows, and at any time."""

from skstream.stats._anytime import anytime_comparison
from skstream.stats._best import compare_with_best
from skstream.stats._fold_tests import sign_test, wilcoxon
from skstream.stats._mcnemar import mcnemar, mcnemar_curve
from skstream.stats._q_statistic import q_statistic
from skstream.stats._ranks import friedman_nemenyi
from skstream.stats._report import Comparison

__all__ = [
    "Comparison",
    "anytime_comparison",
    "compare_with_best",
    "friedman_nemenyi",
    "mcnemar",
    "mcnemar_curve",
    "q_statistic",
    "sign_test",
    "wilcoxon",
]
