"""Checks that an estimator meets the requirements of evaluation on streams."""

from skstream.testing._stream_estimator import (
    CheckReport,
    CheckResult,
    check_stream_estimator,
)

__all__ = ["CheckReport", "CheckResult", "check_stream_estimator"]
