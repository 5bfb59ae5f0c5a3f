"""Exact, fast evaluation of classifiers that learn from data streams."""

__version__ = "0.1.0.dev0"
