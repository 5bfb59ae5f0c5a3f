"""Measures of streams: batch functions in the scikit-learn style, and their running forms."""

from skstream.metrics._checkpoints import Curves
from skstream.metrics._class_means import (
    arithmetic_accuracy_score,
    cmd_score,
    geometric_accuracy_score,
    harmonic_accuracy_score,
)
from skstream.metrics._kappas import (
    KappaTest,
    kappa_m_score,
    kappa_plus_score,
    kappa_score,
    kappa_temporal_score,
    kappa_test,
)
from skstream.metrics._registry import Measure, MeasureFacts
from skstream.metrics._regression import persistent_skill_score
from skstream.metrics._resolve import resolve_metrics
from skstream.metrics._running import RunningMeasures

__all__ = [
    "Curves",
    "KappaTest",
    "Measure",
    "MeasureFacts",
    "RunningMeasures",
    "arithmetic_accuracy_score",
    "cmd_score",
    "geometric_accuracy_score",
    "harmonic_accuracy_score",
    "kappa_m_score",
    "kappa_plus_score",
    "kappa_score",
    "kappa_temporal_score",
    "kappa_test",
    "persistent_skill_score",
    "resolve_metrics",
]
