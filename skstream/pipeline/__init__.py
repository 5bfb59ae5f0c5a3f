"""Pipelines that learn from a stream."""

from skstream.pipeline._pipeline import StreamPipeline, make_stream_pipeline

__all__ = ["StreamPipeline", "make_stream_pipeline"]
