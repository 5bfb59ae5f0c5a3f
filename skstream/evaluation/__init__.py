"""Evaluators and their results."""

from skstream.core.engine.answers import ModelError
from skstream.core.evaluators.delayed import DelayedEvaluator
from skstream.core.evaluators.execution import EvaluationInterrupted
from skstream.core.evaluators.holdout import HoldoutEvaluator
from skstream.core.evaluators.prequential import (
    KFoldEvaluator,
    PrequentialEvaluator,
    prequential_predict,
)
from skstream.core.evaluators.settings import Polling, RunOptions
from skstream.core.result.result import EvaluationResult
from skstream.core.run.checkpoint import load_run
from skstream.drift._detect import DriftMonitor, detect
from skstream.logs._estimates import estimate_unlabelled
from skstream.logs._intervals import interval_scores
from skstream.logs._log import PredictionLog, score_predictions
from skstream.logs._slices import score_slices
from skstream.reports._class_report import class_report
from skstream.reports._verify import verify

__all__ = [
    "DelayedEvaluator",
    "DriftMonitor",
    "EvaluationInterrupted",
    "EvaluationResult",
    "HoldoutEvaluator",
    "KFoldEvaluator",
    "ModelError",
    "Polling",
    "PredictionLog",
    "PrequentialEvaluator",
    "RunOptions",
    "class_report",
    "detect",
    "estimate_unlabelled",
    "interval_scores",
    "load_run",
    "prequential_predict",
    "score_predictions",
    "score_slices",
    "verify",
]
