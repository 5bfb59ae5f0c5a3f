"""Tests and statistics that compare models: over folds, over rows, and at any time."""

from skstream.stats._anytime import AnytimeComparisonResult, anytime_comparison
from skstream.stats._best import BestModelResult, compare_with_best
from skstream.stats._fold_tests import SignTestResult, WilcoxonResult, sign_test, wilcoxon
from skstream.stats._mcnemar import McNemarCurve, McNemarResult, mcnemar, mcnemar_curve
from skstream.stats._q_statistic import QStatisticResult, q_statistic
from skstream.stats._ranks import FriedmanNemenyiResult, friedman_nemenyi
from skstream.stats._report import Comparison

__all__ = [
    "AnytimeComparisonResult",
    "BestModelResult",
    "Comparison",
    "FriedmanNemenyiResult",
    "McNemarCurve",
    "McNemarResult",
    "QStatisticResult",
    "SignTestResult",
    "WilcoxonResult",
    "anytime_comparison",
    "compare_with_best",
    "friedman_nemenyi",
    "mcnemar",
    "mcnemar_curve",
    "q_statistic",
    "sign_test",
    "wilcoxon",
]
