"""Measures of streams: functions in the scikit-learn style, and what describes a measure."""

from skstream.core.measures.measure import Measure
from skstream.metrics import _skills  # noqa: F401  # offers measures by name alone
from skstream.metrics._calibration import calibration_error
from skstream.metrics._conformal_sets import coverage, set_size
from skstream.metrics._decisions import cost, gmean, top_k_accuracy
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
from skstream.metrics._quantiles import pinball

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
