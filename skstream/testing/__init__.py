"""Checks that an estimator meets the requirements of evaluation on streams."""

from skstream.testing._stream_estimator import check_stream_estimator

__all__ = ["check_stream_estimator"]
