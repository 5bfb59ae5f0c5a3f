"""Detectors and names of their parameters, as users give them."""

from typing import Any

from skstream.drift._base import DriftDetector


def check_detector(detector: Any, name: str = "detector") -> None:
    """Say what is wrong with what should be a drift detector."""
    if not isinstance(detector, DriftDetector):
        raise TypeError(
            f"{name} must be an instance of a drift detector, such as PageHinkley(). Got "
            f"{detector!r} instead."
        )


def check_parameter(detector: DriftDetector, parameter: Any) -> None:
    """Say which parameters a detector has, where it has no such one."""
    names = sorted(detector.get_params(deep=False))
    if parameter not in names:
        raise ValueError(
            f"{type(detector).__name__} has no parameter {parameter!r}. It has {names}."
        )
