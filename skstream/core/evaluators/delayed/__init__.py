"""Evaluation where labels arrive late."""

from skstream.core.evaluators.delayed.evaluator import DelayedEvaluator

__all__ = ["DelayedEvaluator"]
