"""Evaluation where labels arrive late."""

from skstream.evaluation.delayed._evaluator import DelayedEvaluator

__all__ = ["DelayedEvaluator"]
