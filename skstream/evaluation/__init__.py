"""Evaluators and their results."""

from skstream.engine.failures import ModelError
from skstream.evaluation._class_report import class_report
from skstream.evaluation._detect import DriftMonitor, detect
from skstream.evaluation._estimates import estimate_unlabelled
from skstream.evaluation._execution import EvaluationInterrupted
from skstream.evaluation._holdout import HoldoutEvaluator
from skstream.evaluation._intervals import interval_scores
from skstream.evaluation._kfold import KFoldEvaluator
from skstream.evaluation._log import PredictionLog, score_predictions
from skstream.evaluation._predict import prequential_predict
from skstream.evaluation._prequential import PrequentialEvaluator
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._runs._checkpoint import load_run
from skstream.evaluation._slices import score_slices
from skstream.evaluation._verify import verify
from skstream.evaluation.delayed import DelayedEvaluator

__all__ = [
    "DelayedEvaluator",
    "DriftMonitor",
    "EvaluationInterrupted",
    "EvaluationResult",
    "HoldoutEvaluator",
    "KFoldEvaluator",
    "ModelError",
    "PredictionLog",
    "PrequentialEvaluator",
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
