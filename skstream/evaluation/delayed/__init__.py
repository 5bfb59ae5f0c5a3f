"""Evaluation where labels arrive late."""

from skstream.evaluation.delayed._counts import Waits
from skstream.evaluation.delayed._evaluator import DelayedEvaluator
from skstream.evaluation.delayed._result import DelayedResult
from skstream.evaluation.delayed._run import DelayedRun

__all__ = ["DelayedEvaluator", "DelayedResult", "DelayedRun", "Waits"]
