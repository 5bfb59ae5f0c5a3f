"""Transformers that learn along the stream."""

from skstream.preprocessing._imputer import StreamImputer

__all__ = ["StreamImputer"]
