"""Evaluators and their results."""

from skstream.engine.failures import ModelError
from skstream.engine.tape import Tape
from skstream.evaluation._class_report import ClassReport, class_report
from skstream.evaluation._estimates import LabelEstimates, estimate_unlabelled
from skstream.evaluation._execution import EvaluationInterrupted
from skstream.evaluation._holdout import HoldoutEvaluator
from skstream.evaluation._intervals import IntervalScores, interval_scores
from skstream.evaluation._kfold import KFoldEvaluator
from skstream.evaluation._log import PredictionLog, score_predictions
from skstream.evaluation._predict import prequential_predict
from skstream.evaluation._prequential import PrequentialEvaluator
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._runs._checkpoint import load_run
from skstream.evaluation._runs._cost import Cost
from skstream.evaluation._runs._monitor import DriftMonitor
from skstream.evaluation._runs._run import EvaluationRun
from skstream.evaluation._slices import SliceScores, score_slices
from skstream.evaluation._verify import Verification, verify
from skstream.evaluation.delayed import DelayedEvaluator, DelayedResult, DelayedRun

__all__ = [
    "ClassReport",
    "Cost",
    "DelayedEvaluator",
    "DelayedResult",
    "DelayedRun",
    "DriftMonitor",
    "EvaluationInterrupted",
    "EvaluationResult",
    "EvaluationRun",
    "HoldoutEvaluator",
    "IntervalScores",
    "KFoldEvaluator",
    "LabelEstimates",
    "ModelError",
    "PredictionLog",
    "PrequentialEvaluator",
    "SliceScores",
    "Tape",
    "Verification",
    "class_report",
    "estimate_unlabelled",
    "interval_scores",
    "load_run",
    "prequential_predict",
    "score_predictions",
    "score_slices",
    "verify",
]
