"""Evaluation where labels arrive late."""
