"""Measures of streams: functions in the scikit-learn style, and what describes a measure."""

from skstream.core.measures.bins import calibration_error
from skstream.core.measures.conformal_sets import coverage, set_size
from skstream.core.measures.decisions import cost, gmean, top_k_accuracy
from skstream.core.measures.measure import Measure
from skstream.core.measures.quantiles import pinball
from skstream.metrics._functions import (
    arithmetic_accuracy_score,
    geometric_accuracy_score,
    harmonic_accuracy_score,
    kappa_m_score,
    kappa_plus_score,
    kappa_score,
    kappa_temporal_score,
    kappa_test,
)

__all__ = [
    "Measure",
    "arithmetic_accuracy_score",
    "calibration_error",
    "cost",
    "coverage",
    "geometric_accuracy_score",
    "gmean",
    "harmonic_accuracy_score",
    "kappa_m_score",
    "kappa_plus_score",
    "kappa_score",
    "kappa_temporal_score",
    "kappa_test",
    "pinball",
    "set_size",
    "top_k_accuracy",
]
