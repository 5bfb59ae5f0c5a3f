"""Tests and statistics that compare models: over folds, over rows, and at any time."""

from skstream.stats._anytime import AnytimeComparisonResult, anytime_comparison
from skstream.stats._best import BestModelResult, compare_with_best
from skstream.stats._mcnemar import McNemarResult, mcnemar
from skstream.stats._mcnemar_curve import McNemarCurve, mcnemar_curve
from skstream.stats._q_statistic import QStatisticResult, q_statistic
from skstream.stats._ranks import FriedmanNemenyiResult, friedman_nemenyi
from skstream.stats._report import Comparison
from skstream.stats._sign_test import SignTestResult, sign_test
from skstream.stats._wilcoxon import WilcoxonResult, wilcoxon

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
