"""Evaluation where labels arrive late."""

from skstream.evaluation.delayed._evaluator import DelayedEvaluator
from skstream.evaluation.delayed._result import DelayedResult
from skstream.evaluation.delayed._run import DelayedRun
from skstream.evaluation.delayed._waits import Waits

__all__ = ["DelayedEvaluator", "DelayedResult", "DelayedRun", "Waits"]
